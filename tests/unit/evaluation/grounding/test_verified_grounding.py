"""Grounding with a verifier: what it is asked, what its word does, and what it cannot change."""

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.grounding import GroundingFindings
from tests.unit.evaluation.grounding.test_verifier_combination import DOCUMENT
from workers.evaluation.grounding.grounding_evaluator import Verdicts, evaluate_grounding, score_with_rules
from workers.evaluation.grounding.prepared_grounding import PreparedGrounding, prepare_grounding
from workers.evaluation.grounding.sources.verifier_evidence import VerifierPair
from workers.evaluation.grounding.support import rule_margins
from workers.evaluation.grounding.verifier_combination import VerifierCombination
from workers.evaluation.thresholds import GroundingThresholds

THRESHOLDS = GroundingThresholds()
SURE = {"intercept": -0.4, "rules": 0.7, "verifier": 3.0}
ALL_OPEN = VerifierCombination(DOCUMENT | {"lower": -50.0, "upper": 50.0, "texts": SURE, "records": SURE})
TEXTS_OPEN = VerifierCombination(DOCUMENT | {"lower": -50.0, "upper": 50.0, "texts": SURE, "records": None})
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
    asked = score_with_rules(case, combination=combination).questions
    return evaluate_grounding(case, THRESHOLDS, verdicts=says(supported, asked), combination=combination)


def test_it_is_asked_about_open_claims_alone_and_in_their_words() -> None:
    weighed = score_with_rules(prepared(), combination=ALL_OPEN)
    assert [pair.claim for pair in weighed.questions] == [
        "The rotor turns at 47 rpm.",
        "Workshop staff enjoy sunny holidays abroad.",
    ]
    assert all("47 rpm" in pair.evidence for pair in weighed.questions)
    assert score_with_rules(prepared(), combination=NONE_OPEN).questions == ()
    assert score_with_rules(prepared()).questions == ()
    margins = rule_margins(weighed.measured, weighed.calibration)
    edge = VerifierCombination(DOCUMENT | {"lower": margins.mean(), "upper": 50.0})
    asked = score_with_rules(prepared(), combination=edge).questions
    assert [pair.claim for pair in asked] == ["Workshop staff enjoy sunny holidays abroad."]


@pytest.mark.parametrize("text", ["The rotor turns at 470 rpm [1].", "The cover is not painted green [1]."])
def test_a_claim_that_the_sources_contradict_is_not_asked_and_stays_contradicted(text: str) -> None:
    weighed = score_with_rules(prepared(text), combination=ALL_OPEN)
    assert weighed.questions == ()
    findings = evaluate_grounding(prepared(text), THRESHOLDS, verdicts={}, combination=ALL_OPEN)
    assert [claim.verdict for claim in findings.claims] == ["contradicted"]


RECORD = '{"turbine": {"rotor speed": "47 rpm", "cover": "green"}, "review": "' + "The staff are kind. " * 12 + '"}'
TABLE = "| asset | speed |\n| --- | --- |\n| Rotor | 47 rpm |\n| Pump | 12 rpm |"


@pytest.mark.parametrize(
    ("text", "source", "of_record"),
    [
        ("The rotor speed is 47 rpm.", RECORD, True),
        ("The rotor has a speed of 47 rpm.", TABLE, True),
        ("The rotor has a speed of 47 rpm.", "asset,speed,site\nRotor,47 rpm,north\nPump,12 rpm,south\n", True),
        ("The staff are kind.", RECORD, True),
        ("The rotor turns at 47 rpm.", MANUAL, False),
    ],
)
def test_a_claim_rests_on_a_record_or_on_a_text_by_the_unit_nearest_to_it(
    text: str, source: str, of_record: bool
) -> None:
    assert list(score_with_rules(prepared(text, source)).of_records) == [of_record]
    asked = score_with_rules(prepared(text, source), combination=TEXTS_OPEN).questions
    assert bool(asked) is not of_record
    assert score_with_rules(prepared(text, source), combination=ALL_OPEN).questions


def test_each_source_of_a_claim_is_weighed_as_the_claim_is() -> None:
    text, sources = "The rotor speed is 47 rpm.", ("The rotor speed is 47 rpm.", RECORD)
    case = prepared(text, *sources)
    asked = score_with_rules(case, combination=TEXTS_OPEN).questions
    assert len(asked) == 1
    verdicts = says(0.0001, asked)
    (claim,) = evaluate_grounding(case, THRESHOLDS, verdicts=verdicts, combination=TEXTS_OPEN).claims
    assert claim.verdict == "unsupported"
    assert {source.verdict for source in claim.sources} == {"unsupported"}, "the record's as well"


def test_a_claim_said_twice_is_asked_once() -> None:
    weighed = score_with_rules(prepared(f"{TEXT} {TEXT}"), combination=ALL_OPEN)
    assert len(weighed.checked) == 4
    assert len(weighed.questions) == len(set(weighed.questions)) < 4


def test_without_evidence_or_context_nothing_is_asked() -> None:
    assert score_with_rules(prepared(TEXT, "---"), combination=ALL_OPEN).questions == ()
    nothing = prepare_grounding(GeneratedAnswer(answer_id="a", answer=TEXT, completed_at=datetime.now(UTC)))
    assert score_with_rules(nothing, combination=ALL_OPEN).questions == ()
    assert evaluate_grounding(nothing, THRESHOLDS, verdicts={}, combination=ALL_OPEN).status == "skipped"


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
    rules = evaluate_grounding(prepared(), THRESHOLDS)
    both = judged(0.001, NONE_OPEN)
    assert [claim.verdict for claim in both.claims] == [claim.verdict for claim in rules.claims]
    assert [claim.score for claim in both.claims] == pytest.approx([claim.score for claim in rules.claims])
    assert {claim.verifier_score for claim in both.claims} == {None}


def test_more_support_never_raises_the_risk() -> None:
    risks = [judged(supported).risk_score or 0.0 for supported in np.linspace(0, 1, 21)]
    assert risks == sorted(risks, reverse=True)


def test_a_pair_without_a_verdict_is_an_error_of_the_caller() -> None:
    with pytest.raises(KeyError):
        evaluate_grounding(prepared(), THRESHOLDS, verdicts={}, combination=ALL_OPEN)
