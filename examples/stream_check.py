"""Send an answer to /v1/check/stream while it is written, and print the events as they come.

python examples/stream_check.py http://127.0.0.1:8080 TOKEN
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator

import aiohttp

TEXTS = ["The rotor turns at 47", " rpm [1]. It weighs 120 kg [1]. ", "Its housing is", " made of steel."]
FIELDS = {
    "query": "Tell me about the rotor.",
    "contexts": [{"chunk_id": "manual-7", "content": "The rotor turns at 47 rpm. It weighs 12 kg."}],
}


async def lines() -> AsyncIterator[bytes]:
    """Yield the answer without its text, and then each piece of text, as a model would write them."""
    yield json.dumps(FIELDS).encode() + b"\n"
    for text in TEXTS:
        yield json.dumps({"text": text}).encode() + b"\n"
        await asyncio.sleep(0.3)


async def lines_of(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """Yield the lines of a reply; iterating over it fails at a line of a long verdict."""
    rest = b""
    async for data in content.iter_any():
        *complete, rest = (rest + data).split(b"\n")
        for line in complete:
            yield line


async def main(console: str, token: str) -> None:
    """Print each event with the verdicts on its claims."""
    headers = {"Authorization": f"Bearer {token}"}
    parameters = {"deadline_ms": "5000", "stop_on": "contradicted_figure"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(f"{console}/v1/check/stream", data=lines(), params=parameters) as response,
    ):
        response.raise_for_status()
        name = ""
        async for line in lines_of(response.content):
            field, _, value = line.decode().partition(": ")
            if field == "event":
                name = value
            elif field == "data":
                found = json.loads(value)
                print(name, found.get("state"), [claim["verdict"] for claim in found.get("claims", [])])


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
