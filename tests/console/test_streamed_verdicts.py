"""An answer that arrives in pieces has the verdict of the whole answer, at a bounded cost, and stops where it is set."""

import hashlib
import json
import random
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.answer_cases import read_cases
from tests.console.test_check import Checking, Model
from tests.harness.paths import ROOT
from tests.harness.variants import variants
from workers.check.check_models import AnswerToCheck, CheckedAnswer, CheckedPart
from workers.check.growing_answer import GrowingAnswer, checked_parts
from workers.decision.stream_stop import StopOn
from workers.evaluation.grounding import support
from workers.evaluation.text.structure.finished_sentences import finished_ends
from workers.settings import CheckSettings, Settings

CASES = [
    json.loads(line)
    for name in ("answer_cases", "claim_cases", "outsider_cases")
    for line in (ROOT / "tests" / "data" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
]
STREAMED = read_cases(ROOT / "tests" / "data" / "streamed_cases.jsonl")
"""Answers of several sentences with abbreviations, citations, lists, tables, headings, code and other scripts."""
CHOSEN = [15, 50]
"""Number of other cases that are streamed alone, and of answers of three cases each, which have several sentences."""
SECONDS = 30.0


class WordModel(Model):
    """A model whose vectors depend on the text."""

    def encode(self, texts: Sequence[str]) -> Any:
        seeds = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") for text in texts]
        vectors = np.array([np.random.default_rng(seed).random(4) for seed in seeds], dtype=np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture
async def checking(tmp_path: Path) -> AsyncIterator[Checking]:
    settings = Settings(_env_file=None, check=CheckSettings(concurrent=1), state_dir=tmp_path)
    made = Checking(settings, WordModel())
    yield made
    await made.stop()


def joined(cases: Sequence[dict[str, Any]]) -> AnswerToCheck:
    """Return one answer with the texts and contexts of cases."""
    contexts = [
        text
        for case in cases
        for text in (case.get("contexts") or [case[name] for name in ("context",) if name in case])
    ]
    return AnswerToCheck.model_validate(
        {
            "answer_id": "-".join(str(case["id"]) for case in cases),
            "query": cases[0].get("query") or "What is known?",
            "answer": "\n".join(case.get("answer") or case.get("claim") or "" for case in cases),
            "contexts": [{"chunk_id": f"c-{place}", "content": text} for place, text in enumerate(contexts)] or None,
            "risk_mode": "gatekeeper",
            "completed_at": "2026-11-02T10:00:00Z",
        }
    )


def answers(number: int) -> Iterator[AnswerToCheck]:
    chosen = random.Random(31)
    for case in STREAMED:
        yield joined([case.model_dump()])
    for case in chosen.sample(CASES, number):
        yield joined([case])
    for _ in range(number):
        yield joined(chosen.sample(CASES, 3))


def pieces(text: str, chosen: random.Random) -> list[str]:
    """Cut a text at random places; a piece may be empty, a part of a word or several sentences."""
    cuts = sorted(chosen.choices(range(len(text) + 1), k=chosen.randint(0, 12)))
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


async def streamed(
    checking: Checking, answer: AnswerToCheck, texts: Sequence[str], stop_on: StopOn = "nothing"
) -> tuple[list[CheckedPart], CheckedAnswer | None]:
    """Add texts, and wait after each for the findings on the sentences that it has finished."""
    growing, found = GrowingAnswer(), list[CheckedPart]()
    parts = checked_parts(
        growing,
        lambda text, memory: checking.service.check(answer.model_copy(update={"answer": text}), SECONDS, memory),
        stop_on,
    )
    for text in texts:
        growing.add(text)
        checked = found[-1].end if found else 0
        if finished_ends(growing.text, checked):
            part = await anext(parts)
            assert isinstance(part, CheckedPart)
            found.append(part)
            if part.stop:
                assert await anext(parts, None) is None
                return found, None
    growing.end()
    whole = await anext(parts)
    assert isinstance(whole, CheckedAnswer)
    return found, whole


def told(checked: CheckedAnswer) -> Any:
    return checked.model_dump(exclude={"seconds"})


@pytest.mark.parametrize("number", variants(CHOSEN, in_every_run=CHOSEN[:1]))
async def test_the_verdict_does_not_depend_on_where_the_text_was_cut(checking: Checking, number: int) -> None:
    chosen, parts_of_all = random.Random(7), 0
    for answer in answers(number):
        parts, whole = await streamed(checking, answer, pieces(answer.answer, chosen))
        assert whole is not None
        assert told(whole) == told(await checking.service.check(answer, SECONDS)), answer.answer_id
        for part in parts:
            begun = answer.model_copy(update={"answer": answer.answer[: part.end]})
            alone = await checking.service.check(begun, SECONDS)
            assert (part.state, part.reasons, part.hallucination_risk) == (
                alone.state, alone.reasons, alone.hallucination_risk,
            ), answer.answer_id  # fmt: skip
        parts_of_all += len(parts)
    assert parts_of_all > number, "the answers of several sentences had findings before their end"


async def test_a_claim_is_measured_once_while_the_answer_grows(
    checking: Checking, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[str] = []
    measure = support._measure

    def counting(claim: Any, *rest: Any) -> Any:
        measured.append(claim.plain)
        return measure(claim, *rest)

    monkeypatch.setattr(support, "_measure", counting)
    facts = [f"The rotor number {number} turns at {number}7 rpm." for number in range(1, 31)]
    answer = joined([{"id": "long", "contexts": [" ".join(facts[:15]), " ".join(facts[15:])], "answer": ""}])
    parts, whole = await streamed(checking, answer, [f"{fact} " for fact in facts])
    of_stream = len(measured)
    measured.clear()
    assert whole is not None
    assert told(whole) == told(
        await checking.service.check(
            answer.model_copy(update={"answer": "".join(f"{fact} " for fact in facts)}), SECONDS
        )
    )
    assert len(parts) == len(facts) - 1
    assert of_stream <= 2 * len(measured), "once as it arrives, and once for the verdict"


FIGURES = ["The rotor turns at 470 rpm. ", "It is blue. ", "It is new."]
CONTEXTS = ["The rotor turns at 47 rpm. It is blue."]


@pytest.mark.parametrize(
    ("texts", "stop_on", "stops"),
    [
        (FIGURES, "nothing", [None, None]),
        (FIGURES, "contradicted_figure", ["contradicted_figure"]),
        (FIGURES, "high_risk", ["contradicted_figure"]),
        (["Unicorns graze on the moon. ", "They eat cheese. ", "It is new."], "contradicted_figure", [None, None]),
        (["Unicorns graze on the moon. ", "They eat cheese. ", "It is new."], "high_risk", ["high_risk"]),
        (["The rotor turns at 47 rpm. ", "It is blue. ", "It is new."], "contradicted_figure", [None, None]),
        (["| Device | Speed |\n|", "---|---|\n|", " Rotor | 47 rpm |\n\n", "It is blue."], "high_risk", [None]),
        (["# Velocity of it\n\n", "The rotor turns at 47 rpm. ", "It is blue."], "high_risk", [None]),
    ],
)
async def test_a_stream_stops_at_the_findings_that_are_set(
    checking: Checking, texts: list[str], stop_on: StopOn, stops: list[str | None]
) -> None:
    answer = joined([{"id": "stop", "query": "What of the rotor?", "contexts": CONTEXTS, "answer": ""}])
    parts, whole = await streamed(checking, answer, texts, stop_on)
    assert [part.stop for part in parts] == stops
    assert (whole is None) == (stops[-1] is not None)
