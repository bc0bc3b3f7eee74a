"""Generate benchmark traffic: the examples or labelled sets, once each or with repeated sources."""

import argparse
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from schemas.answers import GeneratedAnswer
from workers.gateways.labelled_rows import labelled_answer
from workers.measurement.labelled_answers import read_labelled
from workers.process.paths import examples_directory

COMPLETED = datetime(2026, 11, 2, tzinfo=UTC)
DRAW = 7
"""Seed of what is drawn, the same in every round."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a benchmark's traffic."""
    parser.add_argument(
        "--data", type=Path, action="append", help="labelled answers to use instead of the examples; repeatable"
    )
    parser.add_argument("--zipf", type=float, default=1.1, help="exponent of the ranks of sources (default 1.1)")


def answers_with_contexts(files: Sequence[Path] | None) -> list[GeneratedAnswer]:
    """Return answers with contexts from labelled files or from the examples, in a fixed shuffled order."""
    read = _labelled(files) if files else _examples()
    answers = [answer for answer in read if answer.contexts]
    order = np.random.default_rng(DRAW).permutation(len(answers))
    return [answers[place] for place in order.tolist()]


def repeated(answers: Sequence[GeneratedAnswer], count: int, exponent: float) -> list[GeneratedAnswer]:
    """Repeat answers over sources drawn by Zipf's law; each answer has a unique name and a unique sentence.

    Args:
        answers: whose sources come back, the most frequent first.
        count: how many are drawn.
        exponent: of the ranks; 0 draws all alike.
    """
    chance = np.arange(1, len(answers) + 1, dtype=np.float64) ** -exponent
    drawn = np.random.default_rng(DRAW).choice(len(answers), size=count, p=chance / chance.sum())
    return [_renamed(answers[place], number) for number, place in enumerate(drawn.tolist())]


def distinct(answers: Sequence[GeneratedAnswer], count: int) -> list[GeneratedAnswer]:
    """Return the first answers, each once.

    Raises:
        SystemExit: there are not so many.
    """
    if count > len(answers):
        raise SystemExit(f"there are {len(answers)} different answers; ask for fewer or give --data")
    return list(answers[:count])


def _renamed(answer: GeneratedAnswer, number: int) -> GeneratedAnswer:
    text = f"{answer.answer}\n\nCase {number} was like it."
    return answer.model_copy(update={"answer_id": f"r-{number}", "answer": text})


def _examples() -> Iterator[GeneratedAnswer]:
    lines = (examples_directory() / "answers.jsonl").read_bytes().splitlines()
    return (GeneratedAnswer.from_bytes(line) for line in lines)


def _labelled(files: Sequence[Path]) -> Iterator[GeneratedAnswer]:
    for row in read_labelled(files):
        fields = {
            "id": row.id,
            "dataset": row.set,
            "task": row.task,
            "query": row.query,
            "answer": row.answer,
            "contexts": list(row.contexts),
        }
        yield GeneratedAnswer.model_validate(labelled_answer(fields, COMPLETED))
