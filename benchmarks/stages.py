"""Measure the CPU of each stage of an answer's evaluation in one thread without caches.

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
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.traffic import add_options, answers_with_contexts, distinct
from schemas.answers import GeneratedAnswer
from schemas.reports import Findings
from schemas.topics import ANSWERS_GENERATED
from workers.delivery.records import Record
from workers.inference.opening import open_backend
from workers.pipeline.evaluator_registry import open_evaluators
from workers.pipeline.pipeline import AnswerCase, EvaluationPipeline
from workers.pipeline.reports import Origin, build_enriched_answer
from workers.pipeline.versions import pipeline_version
from workers.settings import Settings

Stage = Callable[[str], AbstractContextManager[None]]
"""Entered around a stage of judgement, with its name."""


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
        stages = measure_stages(lines, open_judgement(options.precision, Path(folder)), options.rounds)
    total = sum(stages.values())
    for name, milliseconds in sorted(stages.items(), key=lambda item: -item[1]):
        print(f"{name:<28}{milliseconds:8.2f} ms{milliseconds / total:8.0%}")
    print(f"{'all':<28}{total:8.2f} ms")
    if options.json:
        document = {"precision": options.precision, "answers": len(lines), "milliseconds": stages}
        options.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


class Stopwatch:
    """Measure CPU seconds of the process by stage.

    Attributes:
        seconds: spent so far, by the stage's name.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Attribute the CPU of the block to this stage."""
        started = time.process_time()
        yield
        self.seconds[name] += time.process_time() - started


class Judgement:
    """Run all steps of a worker between reading and sending, in one thread and without caches.

    Args:
        settings: the model among them.
    """

    def __init__(self, settings: Settings) -> None:
        self._backend = open_backend(settings)
        self._pipeline = EvaluationPipeline(settings, [])
        self._evaluators = open_evaluators(settings)
        self._origin = Origin(settings, pipeline_version(settings), datetime(2026, 11, 2, tzinfo=UTC))

    def judge(self, answers: Sequence[GeneratedAnswer], stage: Stage) -> list[dict[str, Findings]]:
        """Return the findings of each agent for a batch of answers whose distinct texts are embedded at once.

        Args:
            answers: of one batch.
            stage: entered around every stage with its name.

        Returns:
            By answer, findings by agent.
        """
        return [
            {name: each.findings for name, each in case.evaluations.items() if each.findings is not None}
            for case in self._evaluated(answers, stage)
        ]

    def _evaluated(
        self, answers: Sequence[GeneratedAnswer], stage: Stage, line: bytes | None = None
    ) -> list[AnswerCase]:
        cases = [
            AnswerCase(
                answer,
                Record(ANSWERS_GENERATED.name, 0, 0, answer.answer_id.encode(), line),
                (), {}, {each.name: each.begin(answer, ()) for each in self._evaluators},
            )
            for answer in answers
        ]  # fmt: skip
        for case in cases:
            for each in case.builtin:
                with stage(f"prepare {each.name}"):
                    each.prepare()
        texts = list(dict.fromkeys(text for case in cases for text in case.texts))
        with stage("embed"):
            vectors = dict(zip(texts, self._backend.encode(texts), strict=True)) if texts else {}
        for case in cases:
            for each in case.builtin:
                with stage(f"judge {each.name}"):
                    each.evaluate(vectors, {})
                if each.failure is not None:
                    raise each.failure
        return cases

    def enrich(self, line: bytes, offset: int, stage: Stage) -> None:
        """Process one answer from its record to its enriched answer.

        Args:
            line: the answer as it stands on the topic.
            offset: of its record.
            stage: entered around every stage with its name.
        """
        with stage("read the answer"):
            answer = GeneratedAnswer.from_bytes(line)
        (case,) = self._evaluated([answer], stage, line)
        case.record = Record(ANSWERS_GENERATED.name, 0, offset, answer.answer_id.encode(), line)
        with stage("write reports"):
            reports = {report.agent: report for report, _ in self._pipeline.reports(case, self._origin)}
        with stage("put together"):
            build_enriched_answer(answer, reports, case.record, self._origin)


def open_judgement(precision: str, folder: Path) -> Judgement:
    """Open evaluation with a model in one thread.

    Args:
        precision: of the model, fp32 or int8.
        folder: where the model is exported to, for as long as this takes.
    """
    inference = {"precision": precision, "threads": 1, "export_dir": str(folder)}
    return Judgement(Settings.model_validate({"inference": inference}))


def measure_stages(lines: Sequence[bytes], judgement: Judgement, rounds: int) -> dict[str, float]:
    """Return the CPU milliseconds an answer by stage.

    Args:
        lines: answers as they stand on the topic.
        judgement: what judges them.
        rounds: how often all of them are judged; one more warms up and does not count.
    """
    found: dict[str, list[float]] = defaultdict(list)
    for number in range(rounds + 1):
        watch = Stopwatch()
        for offset, line in enumerate(lines):
            judgement.enrich(line, offset, watch.stage)
        if number:
            for name, each in watch.seconds.items():
                found[name].append(1_000 * each / len(lines))
    return {name: statistics.median(each) for name, each in found.items()}


if __name__ == "__main__":
    main()
