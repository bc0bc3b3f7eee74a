"""Grounding with a verifier: what it is asked, what its word does, and what it cannot change."""

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.grounding import GroundingFindings
from tests.unit.test_verifier_combination import DOCUMENT
from workers.steps.grounding import (
    PreparedGrounding,
    Verdicts,
    judge_grounding,
    prepare_grounding,
    weigh_grounding,
)
from workers.steps.support import rule_odds
from workers.steps.thresholds import GroundingThresholds
from workers.steps.verification import VerifierPair
from workers.steps.verifier_combination import VerifierCombination

THRESHOLDS = GroundingThresholds()
ALL_OPEN = VerifierCombination(DOCUMENT | {"lower": -50.0, "upper": 50.0, "verifier": 3.0})
NONE_OPEN = VerifierCombination(DOCUMENT | {"lower": 50.0, "upper": 50.0})
MANUAL = "The rotor turns at 47 rpm. The bearing is greased every month. The cover is painted green."
TEXT = "The rotor turns at 47 rpm [1]. Workshop staff enjoy sunny holidays abroad [1]."


class SomeVector(dict[str, NDArray[np.float32]]):
    """A vector of its own for every text."""

    def __missing__(self, text: str) -> NDArray[np.float32]:
        vector = np.random.default_rng(sum(map(ord, text))).standard_normal(64).astype(np.float32)
        return vector / np.linalg.norm(vector)


VECTORS = SomeVector()


def prepared(text: str = TEXT, *contexts: str) -> PreparedGrounding:
    chunks = [ContextChunk(chunk_id=f"c{n}", content=each) for n, each in enumerate(contexts or (MANUAL,))]
    return prepare_grounding(
        GeneratedAnswer(answer_id="a", answer=text, contexts=chunks, completed_at=datetime(2026, 11, 2, tzinfo=UTC))
    )


def says(supported: float, asked: tuple[VerifierPair, ...]) -> Verdicts:
    return dict.fromkeys(asked, np.array([supported, 0.0, 1.0 - supported], dtype=np.float32))


def judged(
    supported: float, combination: VerifierCombination = ALL_OPEN, *given: str, **more: Any
) -> GroundingFindings:
    case = prepared(*given) if given else prepared()
    asked = weigh_grounding(case, VECTORS, combination=combination).questions
    return judge_grounding(case, VECTORS, THRESHOLDS, verdicts=says(supported, asked), combination=combination)


def test_it_is_asked_about_open_claims_alone_and_in_their_words() -> None:
    weighed = weigh_grounding(prepared(), VECTORS, combination=ALL_OPEN)
    assert [pair.claim for pair in weighed.questions] == [
        "The rotor turns at 47 rpm.",
        "Workshop staff enjoy sunny holidays abroad.",
    ]
    assert all("47 rpm" in pair.evidence for pair in weighed.questions)
    assert weigh_grounding(prepared(), VECTORS, combination=NONE_OPEN).questions == ()
    assert weigh_grounding(prepared(), VECTORS).questions == ()
    odds = rule_odds(weighed.measured, weighed.calibration)
    edge = VerifierCombination(DOCUMENT | {"lower": odds.mean(), "upper": 50.0})
    asked = weigh_grounding(prepared(), VECTORS, combination=edge).questions
    assert [pair.claim for pair in asked] == ["Workshop staff enjoy sunny holidays abroad."]


@pytest.mark.parametrize("text", ["The rotor turns at 470 rpm [1].", "The cover is not painted green [1]."])
def test_a_claim_that_the_sources_contradict_is_not_asked_and_stays_contradicted(text: str) -> None:
    vectors = dict.fromkeys(prepared(text).texts, np.array([1.0], dtype=np.float32))
    weighed = weigh_grounding(prepared(text), vectors, combination=ALL_OPEN)
    assert weighed.questions == ()
    findings = judge_grounding(prepared(text), vectors, THRESHOLDS, verdicts={}, combination=ALL_OPEN)
    assert [claim.verdict for claim in findings.claims] == ["contradicted"]


def test_a_claim_said_twice_is_asked_once() -> None:
    weighed = weigh_grounding(prepared(f"{TEXT} {TEXT}"), VECTORS, combination=ALL_OPEN)
    assert len(weighed.checked) == 4
    assert len(weighed.questions) == len(set(weighed.questions)) < 4


def test_without_evidence_or_context_nothing_is_asked() -> None:
    assert weigh_grounding(prepared(TEXT, "---"), VECTORS, combination=ALL_OPEN).questions == ()
    nothing = prepare_grounding(GeneratedAnswer(answer_id="a", answer=TEXT, completed_at=datetime.now(UTC)))
    assert weigh_grounding(nothing, VECTORS, combination=ALL_OPEN).questions == ()
    assert judge_grounding(nothing, VECTORS, THRESHOLDS, verdicts={}, combination=ALL_OPEN).status == "skipped"


def test_its_word_makes_the_verdict_and_the_risk() -> None:
    yes, no = judged(0.999), judged(0.001)
    assert {claim.verdict for claim in yes.claims} == {"supported"}
    assert {claim.verdict for claim in no.claims} == {"unsupported"}
    assert [claim.verifier_score for claim in yes.claims] == pytest.approx([0.999] * 2)
    assert yes.risk_score is not None and no.risk_score is not None
    assert yes.risk_score < 0.1 < 0.9 < no.risk_score


def test_attribution_follows_the_verdict() -> None:
    sources = (TEXT, MANUAL, "Holidays abroad are sunny. Staff of the workshop enjoy them.")
    yes, no = judged(0.999, ALL_OPEN, *sources), judged(0.001, ALL_OPEN, *sources)
    assert all(claim.primary_number for claim in yes.claims)
    assert all(claim.primary_number is None for claim in no.claims)
    assert {source.verdict for claim in no.claims for source in claim.sources} == {"unsupported"}


def test_where_nothing_is_open_the_verdicts_are_those_of_the_rules() -> None:
    rules = judge_grounding(prepared(), VECTORS, THRESHOLDS)
    both = judged(0.001, NONE_OPEN)
    assert [claim.verdict for claim in both.claims] == [claim.verdict for claim in rules.claims]
    assert [claim.score for claim in both.claims] == pytest.approx([claim.score for claim in rules.claims])
    assert {claim.verifier_score for claim in both.claims} == {None}


def test_more_support_never_raises_the_risk() -> None:
    risks = [judged(supported).risk_score or 0.0 for supported in np.linspace(0, 1, 21)]
    assert risks == sorted(risks, reverse=True)


def test_a_pair_without_a_verdict_is_an_error_of_the_caller() -> None:
    with pytest.raises(KeyError):
        judge_grounding(prepared(), VECTORS, THRESHOLDS, verdicts={}, combination=ALL_OPEN)
