"""The packaged verifier, as files, checks and the stream are judged with it, and what it adds to the rules."""

from datetime import UTC, datetime

import pytest

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.grounding import GroundingReport
from workers.pipeline.local_pipeline import LocalPipeline
from workers.settings import Settings

SOURCE = "A man in a red jacket is playing a guitar on the stairs of the station while people walk past."
SAID = ("A man is playing a guitar on the stairs of the station.", "A man in a red jacket is playing a guitar.")
NOT_SAID = (
    "A man is playing a piano on the stairs of the station.",
    "A woman is playing a guitar on the stairs of the station.",
)

SWAPPED = (
    ("The customer sued the bank.", "The bank sued the customer who had posted the complaint."),
    ("The pupils praised the teacher.", "The teacher praised the pupils who had cleaned the beach."),
)
"""Claims and their sources, in which the parts are exchanged: the rules tell, so the verifier is not asked."""
OTHER_SUBJECT = (
    "The passengers delayed the ferry.",
    "The storm delayed the ferry, and passengers waited in the hall until the morning. No one was hurt.",
)
"""A claim and its source, in which another subject did it. The written scenes of roles do not have this verb."""


@pytest.fixture(scope="module")
def rules() -> LocalPipeline:
    return LocalPipeline(Settings(_env_file=None))


@pytest.fixture(scope="module")
def both() -> LocalPipeline:
    return LocalPipeline(Settings.model_validate({"grounding": {"verifier": "builtin"}}))


def judged(pipeline: LocalPipeline, answer: str, source: str = SOURCE) -> GroundingReport:
    context = ContextChunk(chunk_id="c", content=source)
    found = pipeline.evaluate(
        GeneratedAnswer(
            answer_id="a", answer=answer, contexts=[context], completed_at=datetime(2026, 11, 2, tzinfo=UTC)
        )
    ).grounding
    assert found is not None
    return found


@pytest.mark.parametrize("text", NOT_SAID)
def test_a_changed_word_that_the_rules_miss_is_caught(text: str, rules: LocalPipeline, both: LocalPipeline) -> None:
    without, with_it = judged(rules, text), judged(both, text)
    assert [claim.verdict for claim in without.claims] == ["supported"], "else there is nothing to catch here"
    assert [claim.verdict for claim in with_it.claims] == ["unsupported"]
    assert with_it.claims[0].verifier_score is not None and with_it.claims[0].verifier_score < 0.5
    assert (with_it.risk_score or 0.0) > (without.risk_score or 0.0)
    assert with_it.without_verifier is None
    assert with_it.versions["verifier"].startswith("builtin@") and with_it.versions["verifier.combination"]


@pytest.mark.parametrize("text", SAID)
def test_what_the_source_says_stays_supported(text: str, both: LocalPipeline) -> None:
    (claim,) = judged(both, text).claims
    assert claim.verdict == "supported"
    assert claim.verifier_score is not None and claim.verifier_score > 0.5


def test_it_is_off_unless_it_is_set(rules: LocalPipeline) -> None:
    found = judged(rules, NOT_SAID[0])
    assert {claim.verifier_score for claim in found.claims} == {None}
    assert not any("verifier" in name for name in found.versions)


def test_claims_on_records_are_left_to_the_rules(both: LocalPipeline) -> None:
    (claim,) = judged(both, "The jacket is red.", '{"jacket": "red", "instrument": "guitar"}').claims
    assert claim.verifier_score is None


@pytest.mark.parametrize(("text", "source"), SWAPPED)
def test_exchanged_parts_are_left_to_the_rules(text: str, source: str, both: LocalPipeline) -> None:
    (claim,) = judged(both, text, source).claims
    assert claim.verdict == "contradicted"
    assert claim.verifier_score is None


@pytest.mark.parametrize(
    ("text", "source", "verdict"),
    [(*OTHER_SUBJECT, "contradicted"), ("A man in a red jacket is playing a flute.", SOURCE, "unsupported")],
)
def test_another_subject_or_thing_that_the_rules_catch_is_not_rescued(
    text: str, source: str, verdict: str, rules: LocalPipeline, both: LocalPipeline
) -> None:
    for pipeline in (rules, both):
        (claim,) = judged(pipeline, text, source).claims
        assert claim.verdict == verdict
