"""Rules and verifier together: monotone in both, within bounds, and a file that says what is wrong with it."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workers.evaluation.grounding.calibration import AnswerClaims, shipped_calibration
from workers.evaluation.grounding.verifier_combination import VerifierCombination, read_combination

RULES = shipped_calibration()
DOCUMENT: dict[str, Any] = {
    "version": "1", "lower": -3.0, "upper": 2.5, "cut": -0.2,
    "texts": {"intercept": -0.4, "rules": 0.7, "verifier": 0.9},
    "records": {"intercept": 0.1, "rules": 0.8, "verifier": 0.2},
    "answer": {"intercept": 1.0, "top": 2.0, "unsaid": 0.5, "threshold": 0.4},
}  # fmt: skip
COMBINATION = VerifierCombination(DOCUMENT)
LOG_ODDS = st.floats(-9, 9)
PROBABILITY = st.one_of(st.floats(0, 1), st.just(float("nan")))


def combined(
    margins: list[float], supported: list[float], combination: VerifierCombination = COMBINATION, kind: str = "texts"
) -> list[float]:
    of_records = np.full(len(margins), kind == "records")
    return list(combination.log_odds(np.array(margins), np.array(supported), of_records))


WEIGHTS = st.fixed_dictionaries({"intercept": LOG_ODDS, "rules": st.floats(0, 5), "verifier": st.floats(0, 5)})


@st.composite
def combinations(draw: st.DrawFn) -> VerifierCombination:
    lower, upper = sorted((draw(LOG_ODDS), draw(LOG_ODDS)))
    weights = {kind: draw(st.none() | WEIGHTS) for kind in ("texts", "records")}
    return VerifierCombination(DOCUMENT | weights | {"cut": draw(LOG_ODDS), "lower": lower, "upper": upper})


KIND = st.sampled_from(["texts", "records"])


@settings(max_examples=300)
@given(combinations(), LOG_ODDS, LOG_ODDS, PROBABILITY, KIND)
def test_more_doubt_of_the_rules_is_never_less_doubt_of_both(
    combination: VerifierCombination, one: float, other: float, supported: float, kind: str
) -> None:
    less, more = combined(sorted((one, other)), [supported, supported], combination, kind)
    assert more >= less - 1e-9


@settings(max_examples=300)
@given(combinations(), LOG_ODDS, LOG_ODDS, PROBABILITY, PROBABILITY, KIND)
def test_a_claim_that_is_asked_passes_none_on_such_evidence_that_the_rules_decide(
    combination: VerifierCombination, one: float, other: float, first: float, second: float, kind: str
) -> None:
    margins = np.array(sorted((one, other)))
    if combination.is_open(margins, np.full(2, kind == "records")).sum() == 1:
        less, more = combined(list(margins), [first, second], combination, kind)
        assert more >= less - 1e-9


@settings(max_examples=300)
@given(combinations(), LOG_ODDS, st.floats(0, 1), st.floats(0, 1), KIND)
def test_more_support_by_the_verifier_is_never_more_doubt(
    combination: VerifierCombination, margin: float, one: float, other: float, kind: str
) -> None:
    less, more = combined([margin, margin], sorted((one, other)), combination, kind)
    assert more <= less + 1e-9


@given(LOG_ODDS)
def test_what_is_not_asked_keeps_the_verdict_and_the_confidence_of_the_rules(rules: float) -> None:
    (kept,) = combined([rules - RULES.cut], [float("nan")])
    assert COMBINATION.confidences(np.array([kept]))[0] == pytest.approx(RULES.confidences(np.array([rules]))[0])


def test_each_kind_of_evidence_has_weights_of_its_own() -> None:
    asked = COMBINATION.log_odds(np.array([0.5, 0.5]), np.array([0.8, 0.8]), np.array([False, True]))
    assert list(asked) == combined([0.5], [0.8], kind="texts") + combined([0.5], [0.8], kind="records")
    assert asked[0] != asked[1]


def test_a_kind_without_weights_is_not_asked_about() -> None:
    texts_alone = VerifierCombination(DOCUMENT | {"records": None})
    margins, of_records = np.array([0.5, 0.5]), np.array([False, True])
    assert list(texts_alone.is_open(margins, of_records)) == [True, False]
    assert list(COMBINATION.is_open(margins, of_records)) == [True, True]
    assert combined([0.5], [0.01], texts_alone, "records") == [0.5 + texts_alone.cut]
    assert combined([0.5], [0.01], texts_alone) == combined([0.5], [0.01])


def test_between_the_bounds_the_verifier_decides_and_beyond_them_it_does_not() -> None:
    edge = (COMBINATION.lower + COMBINATION.upper) / 2
    yes, no = COMBINATION.confidences(np.array(combined([edge, edge], [0.99, 0.01])))
    assert yes > 0.6 > no
    for rules in (COMBINATION.lower - 0.1, COMBINATION.upper + 0.1):
        assert combined([rules], [0.99]) == combined([rules], [0.01]) == combined([rules], [float("nan")])


def test_the_formula_is_that_of_the_documentation() -> None:
    assert combined([0.5], [0.8])[0] == pytest.approx(-0.4 + 0.7 * 0.5 + 0.9 * np.log(0.2 / 0.8))
    bound = COMBINATION.upper + COMBINATION.cut
    assert combined([2.4], [0.0001])[0] == pytest.approx(bound), "kept within the bounds"


def test_no_probability_is_certain() -> None:
    assert np.isfinite(combined([0.0, 0.0], [0.0, 1.0])).all()


def test_the_risk_of_an_answer_has_weights_of_its_own() -> None:
    claims = AnswerClaims(np.array([0.0]), np.array([0.5]), np.array([4.0]), np.array([True]))
    expected = 1.0 + 2.0 * np.log(0.5) + 0.5 * 0.5
    assert COMBINATION.risk(claims) == pytest.approx(1 / (1 + np.exp(-expected)))
    assert COMBINATION.threshold == 0.4


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"texts": {"intercept": 0.0, "rules": 1.0}}, "verifier is missing or invalid"),
        ({"records": {"intercept": 0.0, "rules": "much", "verifier": 1.0}}, "rules is missing or invalid"),
        ({"cut": float("inf")}, "cut is missing or invalid"),
        ({"answer": {}}, "intercept is missing or invalid"),
        ({"texts": {"intercept": 0.0, "rules": -0.1, "verifier": 1.0}}, "0 or more"),
        ({"records": {"intercept": 0.0, "rules": 1.0, "verifier": -0.1}}, "0 or more"),
        ({"answer": None}, "answer is missing or invalid"),
        ({"texts": 5}, "texts is missing or invalid"),
        ({"records": [1.0, 1.0, 1.0]}, "records is missing or invalid"),
        ({"weights": 7}, "SHA-256 of a file"),
        ({"weights": ""}, "SHA-256 of a file"),
        ({"lower": 3.0}, "lower must not be above upper"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_combination(json.dumps(DOCUMENT | changed))


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b"{}"])
def test_what_is_no_such_file_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_combination(content)
