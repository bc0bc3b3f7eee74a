"""Measure grounding against the baseline detector on the same answers, with and without repeated contexts.

    python -m benchmarks.seed

The seed encodes an answer and its contexts, and its contexts again for every claim, with plain
sentence-transformers. Here claims are segmented, citations resolved, and words, figures and structure
compared: in *distinct* traffic nothing is known from the answer before, in *repeated* traffic sources come
back as retrieval's do (their ranks by Zipf's law), and every answer has a sentence of its own. Rounds in
turns, medians; quote the ratios, since machines differ.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.traffic import add_options, answers_with_contexts, distinct, repeated
from schemas.answers import GeneratedAnswer
from workers.evaluation.citations.citation_finder import find_citations
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.thresholds import GroundingThresholds
from workers.inference.backends import PACKAGED_MODEL, load_sentence_transformer
from workers.process.cores import available_cores


def main() -> None:
    """Measure and print; write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=60, help="answers in each traffic (default 60)")
    add_options(parser)
    parser.add_argument("--rounds", type=int, default=3, help="rounds (default 3)")
    parser.add_argument("--json", type=Path, help="write the figures to a file")
    options = parser.parse_args()
    answers = answers_with_contexts(options.data)
    traffics = {
        "distinct": distinct(answers, options.answers),
        "repeated": repeated(answers, options.answers, options.zipf),
    }
    figures = {name: _measure(answers, options.rounds) for name, answers in traffics.items()}
    for name, figure in figures.items():
        rates = figure["seed"], figure["ours"]
        print(f"{name:<10}seed {rates[0]:7.1f}  ours {rates[1]:7.1f} answers/s  ratio {rates[1] / rates[0]:6.1f}")
    if options.json:
        document = {"cores": available_cores(), "zipf": options.zipf, **figures}
        options.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def _measure(answers: Sequence[GeneratedAnswer], rounds: int) -> dict[str, float]:
    plain = load_sentence_transformer(PACKAGED_MODEL)
    cases: dict[str, Callable[[], object]] = {
        "seed": lambda: [_seed(answer, plain) for answer in answers],
        "ours": lambda: _ours(answers),
    }
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(rounds):
        for name, work in cases.items():
            started = time.perf_counter()
            work()
            seconds[name].append(time.perf_counter() - started)
    return {name: len(answers) / statistics.median(each) for name, each in seconds.items()}


def _ours(answers: Sequence[GeneratedAnswer]) -> None:
    for answer in answers:
        find_citations(answer)
        evaluate_grounding(prepare_grounding(answer), GroundingThresholds())


def _seed(answer: GeneratedAnswer, model: Any) -> list[float]:
    """Return the baseline's similarity check and fact verification."""

    def encode(texts: list[str]) -> NDArray[np.float32]:
        return np.asarray(model.encode(texts, normalize_embeddings=True, show_progress_bar=False))

    contexts = [chunk.content for chunk in answer.contexts or []]
    scores = [float((encode([answer.answer]) @ encode(contexts).T).max())]
    claims = [claim for part in answer.answer.split(". ") if (claim := part.strip()) and not claim.endswith("?")]
    scores += [float((encode([claim]) @ encode(contexts).T).max()) for claim in claims]
    return scores


if __name__ == "__main__":
    main()
