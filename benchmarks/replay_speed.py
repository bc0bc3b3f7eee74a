"""Measure a replay against live ingestion of the same answers in one run (goal: 1.5 times the rate).

One worker with all agents judges answers from the topic; it counts from the first record sent until the
last answer is confirmed in ClickHouse. Then it is stopped, and a replay judges all of them again: from its
first record to its last row, with the model loaded in both cases. Contexts repeat, as retrieval's do;
every answer has a sentence of its own.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.harness.deployment import Deployment, until
from workers.inference.backends import PACKAGED_MODEL, SentenceTransformerBackend
from workers.local.services import LocalServices
from workers.process.paths import examples_directory
from workers.replay.replay_opening import Listeners, open_replay
from workers.replay.replay_options import ReplayOptions
from workers.replay.replay_run import Replay
from workers.settings.addresses import Addresses, local_addresses

SILENT = Listeners(lambda _: None, lambda _, __: None, lambda _: None)


def main() -> None:
    """Measure and print; write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=1_000, help="answers (default 1000)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds, each on a deployment of its own (default 3)")
    parser.add_argument("--json", type=Path, help="write the figures to a file")
    options = parser.parse_args()
    rounds = asyncio.run(_measure(options.answers, options.rounds))
    live, replayed = (statistics.median(each[name] for each in rounds) for name in ("live", "replay"))
    ratio = statistics.median(each["replay"] / each["live"] for each in rounds)
    print(f"live     {live:7.1f} answers/s\nreplay   {replayed:7.1f} answers/s\nratio    {ratio:7.2f}")
    if options.json:
        document = {"answers": options.answers, "rounds": rounds, "ratio": ratio}
        options.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


async def _measure(answers: int, rounds: int) -> list[dict[str, float]]:
    backend = SentenceTransformerBackend(PACKAGED_MODEL)
    with tempfile.TemporaryDirectory(prefix="touchstone-bench-") as folder:
        async with LocalServices(Path(folder) / "services") as services:
            addresses = local_addresses(services.addresses)
            return [await _round(addresses, Path(folder), answers, number, backend) for number in range(rounds)]


async def _round(
    addresses: Addresses, folder: Path, answers: int, number: int, backend: SentenceTransformerBackend
) -> dict[str, float]:
    directory = folder / f"round-{number}"
    directory.mkdir()
    deployment = Deployment(addresses, directory, environment={"TOUCHSTONE_INFERENCE__THREADS": "0"})
    await deployment.prepare()
    client = await deployment.client()
    try:
        worker = await deployment.start_worker()
        traffic = _traffic(answers)
        began = time.perf_counter()
        await deployment.send([(each["answer_id"].encode(), json.dumps(each).encode()) for each in traffic])

        async def stored() -> bool:
            sql = "SELECT count() FROM {db}.answers FINAL WHERE run = 'live'"
            return int((await deployment.query(client, sql))[0]) >= answers

        await until(stored, "all answers stored", 3_600, 0.2)
        live = answers / (time.perf_counter() - began)
        await worker.terminate()
        options = ReplayOptions(run="again", since=datetime(2026, 1, 1, tzinfo=UTC))
        began = time.perf_counter()
        async with open_replay(deployment.settings, addresses, options, SILENT, backend=backend) as replay:
            assert isinstance(replay, Replay)
            row = await replay.run()
        assert row.counts["judged"] == answers, row.counts
        return {"live": live, "replay": answers / (time.perf_counter() - began)}
    finally:
        await deployment.stop()
        await client.command(f"DROP DATABASE IF EXISTS {deployment.name}")
        await client.close()


def _traffic(answers: int) -> list[dict[str, Any]]:
    lines = (examples_directory() / "answers.jsonl").read_bytes().splitlines()
    examples = [json.loads(line) for line in lines]
    return [
        each | {"answer_id": f"a-{number}", "answer": f"{each['answer']}\n\nThis was case {number}."}
        for number in range(answers)
        for each in [examples[number % len(examples)]]
    ]


if __name__ == "__main__":
    main()
