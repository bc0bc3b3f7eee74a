"""Callers without a token that send slowly or nothing: the console does not keep their connections."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from fastapi import FastAPI, Request

from workers.console.http import middleware, problems, slow_callers
from workers.console.http.middleware import BodyLimit
from workers.console.http.server import ConsoleServer
from workers.console.presentation import page_basics
from workers.settings import ConsoleSettings

HEAD = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 6\r\n\r\n"
SECONDS = 0.3

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@pytest_asyncio.fixture
async def port(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[int]:
    """A server with short time limits."""
    monkeypatch.setattr(slow_callers, "HEADER_SECONDS", SECONDS)
    monkeypatch.setattr(middleware, "BODY_SECONDS", SECONDS)
    app = FastAPI()
    problems.install(app, page_basics.respond)
    app.add_middleware(BodyLimit, max_bytes=1_000, seconds={"/stream": 60.0})

    @app.post("/")
    async def _length(body: dict[str, int]) -> int:
        return len(body)

    @app.post("/stream")
    async def _stream(request: Request) -> int:
        return len(await request.body())

    server = ConsoleServer(app, ConsoleSettings())
    yield int((await server.start()).rpartition(":")[2])
    await server.stop()


async def everything(reader: asyncio.StreamReader) -> bytes:
    """All bytes until the server closes the connection."""
    return await asyncio.wait_for(reader.read(), 30)


@pytest.mark.parametrize("sent", [b"", b"P", b"POST / HTTP/1.1\r\nHost: x\r\nX-A: "])
async def test_a_connection_without_a_request_is_closed(port: int, sent: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    assert await everything(reader) == b""
    writer.close()


async def test_a_head_that_arrives_byte_by_byte_does_not_keep_a_connection_open(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    ended = asyncio.create_task(everything(reader))
    while not ended.done():
        writer.write(b"P")
        await asyncio.wait([ended], timeout=SECONDS / 10)
    writer.close()


async def test_a_body_that_does_not_end_is_refused_and_its_connection_closed(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(HEAD + b"{")
    assert (await everything(reader)).startswith(b"HTTP/1.1 408 ")
    writer.close()


async def test_a_body_that_is_written_slowly_for_a_route_of_streams_is_read(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(HEAD.replace(b"/ ", b"/stream ", 1))
    for number in range(6):
        await asyncio.sleep(SECONDS / 2)  # the time that the body takes is what is tested
        writer.write(b"%d" % number)
    assert (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 60)).startswith(b"HTTP/1.1 200 ")
    writer.close()


async def test_a_caller_that_sends_requests_keeps_its_connection(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    end = asyncio.get_running_loop().time() + 4 * SECONDS
    count = 0
    while asyncio.get_running_loop().time() < end:
        writer.write(HEAD + b'{"":1}')
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 60)
        assert head.startswith(b"HTTP/1.1 200 ")
        assert await reader.readexactly(1) == b"1"
        count += 1
    assert count > 1
    assert await everything(reader) == b"", "then it waits for nothing"
    writer.close()
