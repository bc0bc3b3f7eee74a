"""What the LiteLLM callback adds to a call, with a broker and without one.

Run: ``python -m benchmarks.callback``. A call of the callback is timed by itself, since that is all that the
gateway's process waits for; serialising and sending happen in another thread, which takes turns with it.
The limit is 0.2 ms at the 99th percentile; the program ends with 1 where it is exceeded.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

LIMIT_MS = 0.2
CALLS = 20_000
RATE = 1_000
"""Calls a second, many times what one process of a gateway serves."""
GOLDEN = Path(__file__).resolve().parent.parent / "tests" / "data" / "gateways" / "litellm.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the figures there")
    parser.add_argument("--calls", type=int, default=CALLS)
    arguments = parser.parse_args()
    figures = {"broker away": measure("127.0.0.1:1", arguments.calls), "broker there": with_broker(arguments.calls)}
    for name, found in figures.items():
        print(f"{name}: " + ", ".join(f"{key} {value:g}" for key, value in found.items()))
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n")
    sys.exit(int(any(found["p99_ms"] > LIMIT_MS for found in figures.values())))


def with_broker(calls: int) -> dict[str, float]:
    from workers.local.services import LocalServices

    with tempfile.TemporaryDirectory() as folder, asyncio.Runner() as runner:
        services = LocalServices(Path(folder), kafka=True, redis=False, clickhouse=False)
        started = runner.run(services.start())
        try:
            return measure(started.kafka_bootstrap_servers or "", calls)
        finally:
            runner.run(services.stop())


def measure(servers: str, calls: int) -> dict[str, float]:
    """Time each call of the callback, in milliseconds, at the rate."""
    from workers.gateways.callback import TouchstoneCallback

    payload = json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"][0]["record"]
    callback = TouchstoneCallback(servers)
    taken = np.empty(calls)
    begun = time.perf_counter()
    for number in range(calls):
        kwargs = {"standard_logging_object": payload | {"id": f"call-{number}"}}
        # Evenly spread: in a burst the other thread would have no turn at all.
        time.sleep(max(0.0, begun + number / RATE - time.perf_counter()))
        before = time.perf_counter()
        callback.log_success_event(kwargs, None, None, None)
        taken[number] = (time.perf_counter() - before) * 1_000
    callback.close(30)
    stats = callback.stats
    return {
        "p50_ms": round(float(np.percentile(taken, 50)), 4),
        "p99_ms": round(float(np.percentile(taken, 99)), 4),
        "max_ms": round(float(taken.max()), 3),
        "offered": stats.offered,
        "sent": stats.sent,
        "dropped": stats.dropped,
    }


if __name__ == "__main__":
    main()
