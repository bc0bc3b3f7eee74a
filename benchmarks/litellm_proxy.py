"""Measure what callback and guardrail add to a call in a real proxy of LiteLLM.

    python -m venv /tmp/litellm && /tmp/litellm/bin/pip install 'litellm[proxy]==1.83.0' aiokafka
    python -m benchmarks.litellm_proxy --litellm /tmp/litellm/bin/litellm --rate 200
    python -m benchmarks.litellm_proxy --litellm /tmp/litellm/bin/litellm --highest

Two proxies run beside each other: one as it is, one with the callback, and with the guardrail for requests that ask
for it. Stretches of calls without anything, with the callback, and with callback and guardrail take turns, so that what
else the machine does falls on all; of the differences of their percentiles the median counts. The model and the console
are servers in this process that answer at once: the duration of a check itself is measured by ``benchmarks.check``.
Calls begin at their times whether or not earlier ones have ended; where fewer end than begin, the rate is too high for
the machine, and the run says so. ``--highest`` finds the highest rate that a proxy without Touchstone carries.
"""

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import numpy as np
import yaml
from aiohttp import web

from workers.local.ports import free_port
from workers.local.services import LocalServices

SECONDS = 4.0
"""Duration of a stretch."""
ROUNDS = 5
START_SECONDS = 180.0
STEP = 10
"""Calls a second by which the rate grows to find the highest one."""
CARRIED = 0.99
"""Share of the calls that must end within a second after their stretch, for a proxy that carries the rate."""
KINDS = ("plain", "callback", "callback and guardrail")
ANSWER = "The warranty lasts 24 months from delivery [1]."
REPLY = {
    "id": "chatcmpl-1", "object": "chat.completion", "created": 1793606043, "model": "gpt-4o-mini",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": ANSWER}}],
    "usage": {"prompt_tokens": 40, "completion_tokens": 12, "total_tokens": 52},
}  # fmt: skip
VERDICT = {"state": "released", "content": ANSWER, "notice": ""}
SOURCES = Path(__file__).resolve().parent.parent / "workers" / "gateways"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--litellm", required=True, type=Path, help="the program litellm of an environment of its own")
    parser.add_argument("--rate", type=int, default=200, help="calls a second")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="stretches of each kind; the first warms up")
    parser.add_argument("--json", type=Path, help="write the figures there")
    parser.add_argument("--highest", action="store_true", help="find the highest rate without Touchstone instead")
    arguments = parser.parse_args()
    if arguments.highest:
        print(f"highest rate without Touchstone: {asyncio.run(highest_rate(arguments.litellm))} calls a second")
        return
    figures = asyncio.run(measure(arguments.litellm, arguments.rate, arguments.rounds))
    for name, found in figures.items():
        print(f"{name}: " + ", ".join(f"{key} {value:g}" for key, value in found.items()))
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n")


async def measure(program: Path, rate: int, rounds: int) -> dict[str, dict[str, float]]:
    """Return the milliseconds of a call, and what callback and guardrail add to it."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        services = LocalServices(Path(folder) / "state", kafka=True, redis=False, clickhouse=False)
        started = await services.start()
        address = await serve()
        settings = {
            "LITELLM_TOUCHSTONE_KAFKA": started.kafka_bootstrap_servers or "",
            "OPENAI_BASE_URL": f"{address}/v1",
        }
        plain = stack.enter_context(proxy(program, Path(folder) / "plain", address, settings, touchstone=False))
        equipped = stack.enter_context(proxy(program, Path(folder) / "equipped", address, settings, touchstone=True))
        targets: dict[str, tuple[str, dict[str, Any]]] = {"plain": (plain, {}), "callback": (equipped, {})}
        targets["callback and guardrail"] = (equipped, {"guardrails": ["touchstone"]})
        taken: dict[str, list[np.ndarray[Any, Any]]] = {kind: [] for kind in KINDS}
        try:
            async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
                for url in (plain, equipped):
                    await until_ready(session, url)
                for _ in range(rounds):
                    for kind, (url, fields) in targets.items():
                        taken[kind].append(await stretch(session, url, fields, rate))
        finally:
            stack.close()
            await services.stop()
    return figures_of({kind: found[1:] for kind, found in taken.items()}, rate)


async def highest_rate(program: Path) -> int:
    """Return the highest rate that a proxy carries as it is, beside a caller and a model on the same cores."""
    with tempfile.TemporaryDirectory() as folder:
        address = await serve()
        plain = proxy(program, Path(folder) / "plain", address, {"OPENAI_BASE_URL": f"{address}/v1"}, touchstone=False)
        with plain as url:
            async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
                await until_ready(session, url)
                await stretch(session, url, {}, STEP)
                rate = STEP
                while True:
                    took = await stretch(session, url, {}, rate)
                    ended = len(took) / round(rate * SECONDS)
                    p50, p99 = np.percentile(took, (50, 99)) if len(took) else (0.0, 0.0)
                    print(f"{rate} calls a second: ended {ended:.3f}, p50_ms {p50:.1f}, p99_ms {p99:.1f}", flush=True)
                    if ended < CARRIED:
                        return rate - STEP
                    rate += STEP


def figures_of(taken: dict[str, list[np.ndarray[Any, Any]]], rate: int) -> dict[str, dict[str, float]]:
    """Return percentiles of the calls of each kind, and the median of the differences of each round."""
    found: dict[str, dict[str, float]] = {}
    if not all(len(calls) for stretches in taken.values() for calls in stretches):
        sys.exit(f"no call of a stretch ended: {rate} calls a second are too many for this machine")
    for kind, stretches in taken.items():
        calls = np.concatenate(stretches)
        share = round(len(calls) / (rate * SECONDS * len(stretches)), 3)
        found[kind] = {f"p{at}_ms": round(float(np.percentile(calls, at)), 2) for at in (50, 99)} | {"ended": share}
        if kind == "plain":
            continue
        for at in (50, 99):
            pairs = zip(stretches, taken["plain"], strict=True)
            added = [float(np.percentile(one, at) - np.percentile(other, at)) for one, other in pairs]
            found[kind][f"added_p{at}_ms"] = round(float(np.median(added)), 2)
    return found


async def stretch(session: aiohttp.ClientSession, url: str, fields: dict[str, Any], rate: int) -> np.ndarray[Any, Any]:
    """Return the milliseconds of the calls that end within a second after the stretch."""
    took: list[float] = []
    body = {
        "model": "fast",
        "messages": [{"role": "user", "content": "How long is the warranty?"}],
        "metadata": {"contexts": [{"id": "terms-4", "text": "The warranty period is 24 months from delivery."}]},
    }

    async def call() -> None:
        before = time.perf_counter()
        async with session.post(f"{url}/v1/chat/completions", json=body | fields) as reply:
            text = await reply.text()
            if ANSWER not in text:
                raise RuntimeError(f"the answer is not the model's: {text[:500]}")
        took.append((time.perf_counter() - before) * 1_000)

    begun, calls = time.perf_counter(), []
    for number in range(round(rate * SECONDS)):
        await asyncio.sleep(max(0.0, begun + number / rate - time.perf_counter()))
        calls.append(asyncio.create_task(call()))
    done, late = await asyncio.wait(calls, timeout=1.0)
    ended = np.array(took)
    if wrong := next((each.exception() for each in done if isinstance(each.exception(), RuntimeError)), None):
        raise wrong
    for each in late:
        each.cancel()
    await asyncio.gather(*late, return_exceptions=True)
    return ended


async def serve() -> str:
    """Serve a model and a console that answer at once; return their address."""
    app = web.Application()

    async def model(request: web.Request) -> web.Response:
        await request.read()
        return web.json_response(REPLY)

    async def check(request: web.Request) -> web.Response:
        await request.read()
        return web.json_response(VERDICT)

    app.router.add_post("/v1/chat/completions", model)
    app.router.add_post("/v1/check/openai", check)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    return f"http://127.0.0.1:{port}"


@contextmanager
def proxy(program: Path, folder: Path, console: str, settings: dict[str, str], *, touchstone: bool) -> Iterator[str]:
    """Run a proxy; return its address."""
    folder.mkdir()
    config: dict[str, Any] = {
        "model_list": [{"model_name": "fast", "litellm_params": {"model": "openai/gpt-4o-mini", "api_key": "none"}}]
    }
    if touchstone:
        for name in ("callback", "guardrail"):
            shutil.copy(SOURCES / f"{name}.py", folder / f"touchstone_{name}.py")
        config["litellm_settings"] = {"callbacks": ["touchstone_callback.touchstone"]}
        parameters = {
            "guardrail": "touchstone_guardrail.TouchstoneGuardrail",
            "mode": "post_call",
            "api_base": console,
            "api_key": "none",
        }
        config["guardrails"] = [{"guardrail_name": "touchstone", "litellm_params": parameters}]
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    port = free_port()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | settings
    command = [str(program), "--config", "config.yaml", "--host", "127.0.0.1", "--port", str(port)]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()  # an overloaded proxy would first finish its calls
            process.wait()


async def until_ready(session: aiohttp.ClientSession, url: str) -> None:
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            async with session.get(f"{url}/health/liveliness"):
                return
        except aiohttp.ClientError:
            if time.monotonic() > until:
                sys.exit("the proxy does not listen")
            await asyncio.sleep(0.2)


if __name__ == "__main__":
    main()
