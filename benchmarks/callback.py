"""Measure the overhead of the LiteLLM callback for a call, with and without a broker.

Run: ``python -m benchmarks.callback``. Two figures:

* the callback by itself: what the gateway's process waits for before it goes on;
* the whole call, with the callback less without it. The thread that serialises and sends takes turns with the
  gateway at the interpreter's lock, so it costs calls time that the callback does not see. A call here does
  as much as the gateway does to log one: it writes and reads the payload, and waits twice for a socket, where it
  gives the lock away and must get it back.

Stretches with and without the callback take turns, so that what else the machine does falls on both; of the
differences of their percentiles the median counts. The limit is 0.2 ms at the 99th percentile, for both figures; the
program ends with 1 where one is exceeded.
"""

import argparse
import asyncio
import json
import socket
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

LIMIT_MS = 0.2
RATE = 200
"""Calls a second, as many as a busy process of a gateway serves."""
SECONDS = 2
"""Of a stretch with the callback, or without it."""
PAIRS = 12
"""Stretches with the callback, and as many without; the first of each warms up."""
GOLDEN = Path(__file__).resolve().parent.parent / "tests" / "data" / "gateways" / "litellm.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the figures there")
    parser.add_argument("--rate", type=int, default=RATE, help="calls a second")
    arguments = parser.parse_args()
    figures = {
        "broker away": asyncio.run(measure("127.0.0.1:1", arguments.rate)),
        "broker there": with_broker(arguments.rate),
    }
    for name, found in figures.items():
        print(f"{name}: " + ", ".join(f"{key} {value:g}" for key, value in found.items()))
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n")
    sys.exit(int(any(max(found["callback_p99_ms"], found["added_p99_ms"]) > LIMIT_MS for found in figures.values())))


def with_broker(rate: int) -> dict[str, float]:
    from workers.local.services import LocalServices

    with tempfile.TemporaryDirectory() as folder, asyncio.Runner() as runner:
        services = LocalServices(Path(folder), kafka=True, redis=False, clickhouse=False)
        started = runner.run(services.start())
        try:
            return runner.run(measure(started.kafka_bootstrap_servers or "", rate))
        finally:
            runner.run(services.stop())


async def measure(servers: str, rate: int) -> dict[str, float]:
    """Measure calls with and without the callback, in milliseconds, at the rate."""
    from workers.gateways.callback import TouchstoneCallback

    callback = TouchstoneCallback(servers)
    gateway = Gateway(json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"][0]["record"])
    own: list[NDArray[np.float64]] = []
    added: list[list[float]] = []
    for number in range(PAIRS):
        calls, _ = await gateway.stretch(None, rate)
        logged, taken = await gateway.stretch(callback, rate)
        await settled(callback)
        if number:
            own.append(taken)
            added.append([percentile(logged, share) - percentile(calls, share) for share in (50, 99)])
    gateway.close()
    await asyncio.to_thread(callback.close, 30)
    median = np.median(added, axis=0)
    stats = callback.stats
    return {
        "callback_p50_ms": round(percentile(np.concatenate(own), 50), 4),
        "callback_p99_ms": round(percentile(np.concatenate(own), 99), 4),
        "added_p50_ms": round(float(median[0]), 4),
        "added_p99_ms": round(float(median[1]), 4),
        "offered": stats.offered,
        "sent": stats.sent,
        "dropped": stats.dropped,
    }


async def settled(callback: Any) -> None:
    """Wait until the other thread has sent what waits, or sends nothing since the broker is away."""
    sent = -1
    while sent != callback.stats.sent:
        sent = callback.stats.sent
        await asyncio.sleep(0.2)


def percentile(values: NDArray[np.float64], share: float) -> float:
    return float(np.percentile(values, share))


class Gateway:
    """Simulate a process that serves calls and holds its lock.

    Args:
        payload: what is logged of a call.
    """

    def __init__(self, payload: dict[str, Any]) -> None:
        self._payload = payload
        self._near, self._far = socket.socketpair()
        self._near.setblocking(False)
        self._far.setblocking(False)
        self._served = 0

    def close(self) -> None:
        self._near.close()
        self._far.close()

    async def stretch(self, callback: Any, rate: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Serve a series of calls; return the milliseconds of each call and of its callback."""
        calls, logged = np.empty(rate * SECONDS), np.zeros(rate * SECONDS)
        begun = time.perf_counter()
        for number in range(rate * SECONDS):
            # Evenly spread: in a burst the other thread would have no turn at all.
            await asyncio.sleep(max(0.0, begun + number / rate - time.perf_counter()))
            before = time.perf_counter()
            payload = await self._serve()
            if callback is not None:
                ended = time.perf_counter()
                await callback.async_log_success_event({"standard_logging_object": payload}, None, None, None)
                logged[number] = (time.perf_counter() - ended) * 1_000
            calls[number] = (time.perf_counter() - before) * 1_000
        return calls, logged

    async def _serve(self) -> dict[str, Any]:
        loop = asyncio.get_running_loop()
        self._served += 1
        for _ in range(2):
            await loop.sock_sendall(self._near, b"x")
            await loop.sock_recv(self._far, 1)
        payload: dict[str, Any] = json.loads(json.dumps(self._payload | {"id": f"call-{self._served}"}))
        return payload


if __name__ == "__main__":
    main()
