"""Planted patterns are found, and no others (seed 002, test 11.3)."""

import random
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from schemas.feedback import FeedbackAggregation
from workers.feedback.insight_events import Period, pattern_message
from workers.feedback.patterns import (
    RatedAnswer,
    difference_interval,
    find_patterns,
    trend,
    wilson_interval,
)
from workers.inference.backends import SentenceTransformerBackend

TOPICS = {
    "invoices": ("How do I {} an invoice?", "Open billing, choose the invoice and {} it; the tax line is recomputed."),
    "backups": ("Can the nightly backup be {}?", "The nightly backup of the database can be {} from the archive."),
    "holidays": ("Are holidays {} next year?", "Employees see how many holidays are {} in the leave calendar."),
    "printers": ("Why is the office printer {}?", "The office printer is {} when its toner cartridge is empty."),
    "passwords": ("My password was {}, what now?", "A password that was {} is reset on the account page."),
}
WORDS = ("cancelled", "moved", "printed", "checked", "copied", "restored", "locked", "shared", "dated", "found")


def draw(count: int, seed: int, planted: bool = True) -> list[RatedAnswer]:
    """Answers of three models, three prompts and eight sources; without planting, chance alone makes them bad."""
    rng = random.Random(seed)
    answers = []
    for number in range(count):
        topic, model = rng.choice(list(TOPICS)), rng.choice(["llama", "qwen", "mistral"])
        prompt, source = rng.choice(["p6", "p7", "p8"]), f"runbook-{rng.randrange(8)}"
        chance = 0.12
        if planted:
            chance = max(chance, 0.6 * (source == "runbook-3"), 0.5 * (prompt == "p7"), 0.55 * (topic == "invoices"))
        bad = rng.random() < chance
        query, text = (part.format(rng.choice(WORDS)) for part in TOPICS[topic])
        answers.append(
            RatedAnswer(
                f"a-{number}", 0.2 if bad else 0.9, f"{query}\n{text}",
                {"model": (model,), "prompt version": (prompt,), "source": (source,), "query type": ("ops",)},
                frozenset({"ungrounded"} if bad and source == "runbook-3" else ()),
            )
        )  # fmt: skip
    return answers


@pytest.fixture(scope="module")
def embed(backend: SentenceTransformerBackend) -> object:
    known: dict[str, NDArray[np.float32]] = {}

    def vectors(answers: list[RatedAnswer]) -> NDArray[np.float32]:
        new = sorted({answer.text for answer in answers} - set(known))
        known.update(zip(new, backend.encode(new), strict=True) if new else ())
        return np.stack([known[answer.text] for answer in answers])

    return vectors


@pytest.mark.parametrize("seed", range(5))
def test_the_planted_patterns_are_found_and_no_others(embed: object, seed: int) -> None:
    answers = draw(1_000, seed)
    patterns = find_patterns(answers, embed(answers))  # type: ignore[operator]
    facets = {(pattern.kind, pattern.name) for pattern in patterns if pattern.kind != "topic"}
    (topic,) = [pattern for pattern in patterns if pattern.kind == "topic"]
    assert facets == {("source", "runbook-3"), ("prompt version", "p7")}
    assert "invoic" in topic.name
    for pattern in patterns:
        assert pattern.difference[0] > 0
        assert pattern.rate > pattern.rate_elsewhere
        assert 0 < pattern.impact <= 1
    assert next(pattern for pattern in patterns if pattern.kind == "source").feedback_type == "factual_error"


@pytest.mark.parametrize("seed", range(20))
def test_where_nothing_is_planted_nothing_is_found(embed: object, seed: int) -> None:
    answers = draw(1_000, 1_000 + seed, planted=False)
    assert find_patterns(answers, embed(answers)) == []  # type: ignore[operator]


def test_what_only_shares_answers_with_a_pattern_is_told_as_common_and_not_as_a_second(embed: object) -> None:
    """A model that is used with the bad prompt alone."""
    answers = [
        replace(answer, facets={**answer.facets, "model": ("only-p7",)})
        if answer.facets["prompt version"] == ("p7",) else answer
        for answer in draw(600, 3)
    ]  # fmt: skip
    patterns = find_patterns(answers, embed(answers))  # type: ignore[operator]
    named = {(pattern.kind, pattern.name) for pattern in patterns}
    assert len(named & {("model", "only-p7"), ("prompt version", "p7")}) == 1
    (pattern,) = [pattern for pattern in patterns if pattern.kind in ("model", "prompt version")]
    assert {"prompt version p7", "model only-p7"} & set(pattern.in_common)


def test_an_insight_gives_the_number_of_bad_answers_that_share_a_property(embed: object) -> None:
    """Four in five are not all."""
    answers = [
        replace(answer, facets={**answer.facets, "language": ("de" if number % 8 else "en",)})
        for number, answer in enumerate(draw(600, 3))
    ]
    pattern = next(each for each in find_patterns(answers, embed(answers)) if "language de" in each.in_common)  # type: ignore[operator]
    named = {answer.answer_id: answer for answer in answers}
    shared = sum(named[answer_id].facets["language"] == ("de",) for answer_id in pattern.answers)
    assert len(pattern.answers) == pattern.bad > shared == pattern.in_common["language de"]
    now = datetime(2026, 11, 2, tzinfo=UTC)
    payload = pattern_message(pattern, Period("acme", now, now), now).payload
    assert isinstance(payload, FeedbackAggregation)
    assert f"language de ({shared} of {pattern.bad})" in payload.pattern
    assert ", mostly with " in payload.pattern and "always" not in payload.pattern


def test_too_few_answers_are_no_pattern() -> None:
    answers = [
        RatedAnswer(f"a{n}", 0.0 if n < 10 else 1.0, "x", {"model": ("m" if n < 10 else "n",)}) for n in range(100)
    ]
    assert find_patterns(answers, np.full((100, 4), 0.5, dtype=np.float32)) == []
    assert find_patterns([], np.zeros((0, 4), dtype=np.float32)) == []


def test_a_wilson_interval_is_the_published_one() -> None:
    assert wilson_interval(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson_interval(0, 10)[0] == 0.0


def test_the_interval_of_a_difference_is_newcombes() -> None:
    """Example (a) of the paper: 56 of 70 against 48 of 80."""
    assert difference_interval(56, 70, 48, 80) == pytest.approx((0.0524, 0.3339), abs=5e-5)


@given(st.integers(1, 200), st.integers(1, 200), st.data())
def test_an_interval_holds_the_difference(total: int, rest: int, data: st.DataObject) -> None:
    bad, bad_rest = data.draw(st.integers(0, total)), data.draw(st.integers(0, rest))
    low, high = difference_interval(bad, total, bad_rest, rest)
    assert -1 - 1e-9 <= low <= bad / total - bad_rest / rest <= high <= 1 + 1e-9


def test_a_trend_is_told_once_it_is_one() -> None:
    rng = random.Random(2)
    now, before = ([min(1.0, max(0.0, rng.gauss(mean, 0.2))) for _ in range(200)] for mean in (0.6, 0.75))
    found = trend(now, before)
    assert found is not None
    assert found.moves
    assert found.difference[0] < found.mean - found.mean_before < found.difference[1] < 0
    same = trend(now[::2], now[1::2])
    assert same is not None
    assert not same.moves
    assert trend(now[:5], before) is None
