"""Measure grounding of one answer and of one claim alone, without caches (goals: 500 ms and 200 ms).

    python -m benchmarks.grounding_times

Each answer of the examples is segmented, its citations resolved, its claims judged and
attributed, one after the other and without a cache: the worst case of a single request. A claim's
time is that of its answer by the claims in it; beside it that of answers cut to one claim.
"""

import argparse
import statistics
import time

from benchmarks.feedback_times import show
from schemas.answers import GeneratedAnswer
from workers.evaluation.citations.citation_finder import find_citations
from workers.evaluation.grounding.grounding_evaluator import checked_claims, evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.thresholds import GroundingThresholds
from workers.process.paths import examples_directory

ROUNDS = 3
"""The best of so many counts: what else the machine does is not the answer's."""


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=120, help="answers of the examples (default 120)")
    options = parser.parse_args()
    lines = (examples_directory() / "answers.jsonl").read_bytes().splitlines()[: options.answers]
    answers = [answer for answer in map(GeneratedAnswer.from_bytes, lines) if checked_claims(prepare_grounding(answer))]
    _judge(answers[0])
    print(f"{'':<36}{'p50 ms':>9}{'p95 ms':>9}")
    whole = [_seconds(answer) for answer in answers]
    claims = [len(checked_claims(prepare_grounding(answer))) for answer in answers]
    show("grounding and citations, one answer", whole)
    show("  by its claims", [each / count for each, count in zip(whole, claims, strict=True)])
    show("one claim and its contexts alone", [_seconds(_one_claim(answer)) for answer in answers])
    print(f"{'claims an answer, mean':<36}{statistics.mean(claims):>9.1f}")


def _seconds(answer: GeneratedAnswer) -> float:
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        _judge(answer)
        times.append(time.perf_counter() - started)
    return min(times)


def _judge(answer: GeneratedAnswer) -> None:
    find_citations(answer)
    evaluate_grounding(prepare_grounding(answer), GroundingThresholds())


def _one_claim(answer: GeneratedAnswer) -> GeneratedAnswer:
    claim = checked_claims(prepare_grounding(answer))[0]
    return answer.model_copy(update={"answer": claim.text})


if __name__ == "__main__":
    main()
