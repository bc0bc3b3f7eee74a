"""Rules and verifier together: monotone in both, within bounds, and a file that says what is wrong with it."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workers.steps.calibration import AnswerClaims, shipped_calibration
from workers.steps.verifier_combination import VerifierCombination, read_combination

RULES = shipped_calibration()
DOCUMENT: dict[str, Any] = {
    "version": "1", "intercept": -0.4, "rules": 0.7, "verifier": 0.9, "lower": -3.0, "upper": 2.5, "cut": -0.2,
    "answer": {"intercept": 1.0, "top": 2.0, "unsaid": 0.5, "threshold": 0.4},
}  # fmt: skip
COMBINATION = VerifierCombination(DOCUMENT)
LOG_ODDS = st.floats(-9, 9)
PROBABILITY = st.one_of(st.floats(0, 1), st.just(float("nan")))


def combined(rules: list[float], supported: list[float], combination: VerifierCombination = COMBINATION) -> list[float]:
    return list(combination.log_odds(np.array(rules), np.array(supported), RULES.cut))


@st.composite
def combinations(draw: st.DrawFn) -> VerifierCombination:
    lower, upper = sorted((draw(LOG_ODDS), draw(LOG_ODDS)))
    weights = {name: draw(st.floats(0, 5)) for name in ("rules", "verifier")}
    others = {"intercept": draw(LOG_ODDS), "cut": draw(LOG_ODDS), "lower": lower, "upper": upper}
    return VerifierCombination(DOCUMENT | weights | others)


@settings(max_examples=300)
@given(combinations(), LOG_ODDS, LOG_ODDS, PROBABILITY)
def test_more_doubt_of_the_rules_is_never_less_doubt_of_both(
    combination: VerifierCombination, one: float, other: float, supported: float
) -> None:
    less, more = combined(sorted((one, other)), [supported, supported], combination)
    assert more >= less - 1e-9


@settings(max_examples=300)
@given(combinations(), LOG_ODDS, LOG_ODDS, PROBABILITY, PROBABILITY)
def test_a_claim_that_is_asked_passes_none_that_the_rules_decide(
    combination: VerifierCombination, one: float, other: float, first: float, second: float
) -> None:
    rules = np.array(sorted((one, other)))
    if combination.is_open(rules).sum() == 1:
        less, more = combined(list(rules), [first, second], combination)
        assert more >= less - 1e-9


@settings(max_examples=300)
@given(combinations(), LOG_ODDS, st.floats(0, 1), st.floats(0, 1))
def test_more_support_by_the_verifier_is_never_more_doubt(
    combination: VerifierCombination, rules: float, one: float, other: float
) -> None:
    less, more = combined([rules, rules], sorted((one, other)), combination)
    assert more <= less + 1e-9


@given(LOG_ODDS)
def test_what_is_not_asked_keeps_the_verdict_and_the_confidence_of_the_rules(rules: float) -> None:
    (kept,) = combined([rules], [float("nan")])
    assert COMBINATION.confidences(np.array([kept]))[0] == pytest.approx(RULES.confidences(np.array([rules]))[0])


def test_between_the_bounds_the_verifier_decides_and_beyond_them_it_does_not() -> None:
    edge = (COMBINATION.lower + COMBINATION.upper) / 2
    yes, no = COMBINATION.confidences(np.array(combined([edge, edge], [0.99, 0.01])))
    assert yes > 0.6 > no
    for rules in (COMBINATION.lower - 0.1, COMBINATION.upper + 0.1):
        assert combined([rules], [0.99]) == combined([rules], [0.01]) == combined([rules], [float("nan")])


def test_the_formula_is_that_of_the_documentation() -> None:
    shift = COMBINATION.cut - RULES.cut
    assert combined([0.5], [0.8])[0] == pytest.approx(-0.4 + 0.7 * 0.5 + 0.9 * np.log(0.2 / 0.8))
    assert combined([2.4], [0.0001])[0] == pytest.approx(COMBINATION.upper + shift), "kept within the bounds"


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
        ({"verifier": None}, "lacks verifier"),
        ({"rules": "much"}, "lacks rules"),
        ({"cut": float("inf")}, "lacks cut"),
        ({"answer": {}}, "lacks intercept"),
        ({"rules": -0.1}, "0 or more"),
        ({"verifier": -0.1}, "0 or more"),
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
