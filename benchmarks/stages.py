"""CPU of each stage of an answer's judgement, one thread, nothing in a cache: where the time goes.

    python -m benchmarks.stages --precision int8

Stages are timed by the process's CPU time over all answers of the examples, several rounds, the median
of which counts. What a worker adds around them (broker, loop, ClickHouse's client) is measured by
``python -m benchmarks.pipeline``.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.traffic import add_options, answers_with_contexts, distinct
from schemas.answers import GeneratedAnswer
from schemas.reports import Report
from schemas.topics import ANSWERS_GENERATED
from workers.agents.assembly import put_together
from workers.agents.citations import CITATIONS_JUDGE
from workers.agents.grounding import grounding_judge
from workers.agents.judging import Origin, make_report
from workers.agents.quality import quality_judge
from workers.delivery.records import Record
from workers.inference.opening import open_backend
from workers.settings import Settings
from workers.steps.trimming import fit_report
from workers.versions import pipeline_version


def main() -> None:
    """Measure and print; write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=100, help="answers (default 100)")
    add_options(parser)
    parser.add_argument("--rounds", type=int, default=3, help="rounds (default 3)")
    parser.add_argument("--precision", choices=["fp32", "int8"], default="fp32", help="of the model (default fp32)")
    parser.add_argument("--json", type=Path, help="write the figures to a file")
    options = parser.parse_args()
    lines = [each.to_bytes() for each in distinct(answers_with_contexts(options.data), options.answers)]
    with tempfile.TemporaryDirectory() as folder:
        inference = {"precision": options.precision, "threads": 1, "export_dir": folder}
        settings = Settings.model_validate({"inference": inference})
        stages = measure_stages(lines, settings, options.rounds)
    total = sum(stages.values())
    for name, milliseconds in sorted(stages.items(), key=lambda item: -item[1]):
        print(f"{name:<28}{milliseconds:8.2f} ms{milliseconds / total:8.0%}")
    print(f"{'all':<28}{total:8.2f} ms")
    if options.json:
        document = {"precision": options.precision, "answers": len(lines), "milliseconds": stages}
        options.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def measure_stages(lines: list[bytes], settings: Settings, rounds: int) -> dict[str, float]:
    """CPU milliseconds an answer by stage.

    Args:
        lines: answers as they stand on the topic.
        settings: the model among them.
        rounds: how often all of them are judged; the first round warms up and does not count.
    """
    backend = open_backend(settings)
    judges = (CITATIONS_JUDGE, grounding_judge(settings), quality_judge(settings))
    origin = Origin(settings, pipeline_version(settings), datetime(2026, 11, 2, tzinfo=UTC))
    found: dict[str, list[float]] = defaultdict(list)
    for number in range(rounds + 1):
        seconds: dict[str, float] = defaultdict(float)

        @contextmanager
        def stage(name: str, seconds: dict[str, float] = seconds) -> Iterator[None]:
            started = time.process_time()
            yield
            seconds[name] += time.process_time() - started

        for offset, line in enumerate(lines):
            with stage("read the answer"):
                answer = GeneratedAnswer.from_bytes(line)
            record = Record(ANSWERS_GENERATED.name, 0, offset, answer.answer_id.encode(), line)
            prepared: dict[str, Any] = {}
            for judge in judges:
                with stage(f"prepare {judge.agent}"):
                    prepared[judge.agent] = judge.prepare(answer, *(([],) if judge.agent == "quality" else ()))
            texts = list(dict.fromkeys(text for each in prepared.values() for text in each.texts))
            with stage("embed"):
                vectors = dict(zip(texts, backend.encode(texts), strict=True)) if texts else {}
            reports: dict[str, Report] = {}
            for judge in judges:
                with stage(f"judge {judge.agent}"):
                    findings = judge.judge(prepared[judge.agent], vectors)
                with stage("write reports"):
                    report, _ = fit_report(
                        make_report(judge, answer, record, findings, 0.0, origin),
                        settings.kafka.max_record_bytes * 9 // 10,
                    )
                    reports[judge.agent] = report
            with stage("put together"):
                put_together(answer, reports, record, origin)
        if number:
            for name, each in seconds.items():
                found[name].append(1_000 * each / len(lines))
    return {name: statistics.median(each) for name, each in found.items()}


if __name__ == "__main__":
    main()
