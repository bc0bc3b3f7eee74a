"""From judged answers to rows: what is different has keys of its own."""

from datetime import UTC, datetime

import pytest

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.citations import CitationReport
from schemas.enriched import EnrichedAnswer
from schemas.grounding import GroundingReport
from schemas.identifiers import judgement_id
from tests.harness.paths import ROOT
from workers.decision.enrichment import enrich
from workers.evaluation.citations.citation_finder import find_citations
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.thresholds import GateThresholds, GroundingThresholds
from workers.stores.clickhouse.rows.clickhouse_rows import enriched_rows

WHEN = datetime(2026, 11, 2, 8, tzinfo=UTC)


def enriched(answer_id: str, text: str) -> EnrichedAnswer:
    """An answer with its citations, and nothing else judged."""
    answer = GeneratedAnswer(
        answer_id=answer_id,
        answer=text,
        contexts=[ContextChunk(chunk_id="c-1", content="The pump runs at 4 bar.")],
        completed_at=WHEN,
    )
    report = CitationReport(
        **dict(find_citations(answer)), judgement_id=judgement_id("default", answer_id, "citations"), answer_id=answer_id,
        agent="citations", pipeline_version="1", answer_partition=0, answer_offset=0, judged_at=WHEN,
    )  # fmt: skip
    return enrich(
        answer, {"citations": report}, partition=0, offset=0, now=WHEN, pipeline_version="1",
        default_risk_mode="observer", gate=GateThresholds(), grounding_thresholds=GroundingThresholds(),
        style="numbered", remember_without_context=False,
    )  # fmt: skip


def invalid_ids(answer: EnrichedAnswer) -> list[str]:
    rows = [row.columns for row in enriched_rows(answer) if row.table == "citations"]
    return [columns["citation_id"] for columns in rows if not columns["valid"]]


@pytest.mark.parametrize("text", ["The pump runs at 4 bar [7].", "As [8] and again [8] says."])
def test_the_same_invalid_marker_in_two_answers_makes_two_rows(text: str) -> None:
    one, other = invalid_ids(enriched("a-1", text)), invalid_ids(enriched("a-2", text))
    assert one and len({*one, *other}) == len(one) + len(other)
    assert invalid_ids(enriched("a-1", text)) == one


def test_a_claim_has_its_earlier_turn_and_its_step() -> None:
    found = {}
    for line in (ROOT / "examples" / "conversations.jsonl").read_bytes().splitlines():
        answer = GeneratedAnswer.from_bytes(line)
        findings = evaluate_grounding(prepare_grounding(answer), GroundingThresholds())
        report = GroundingReport(
            **dict(findings), judgement_id=judgement_id("default", answer.answer_id, "grounding"),
            answer_id=answer.answer_id, agent="grounding", pipeline_version="1", answer_partition=0, answer_offset=0,
            judged_at=WHEN,
        )  # fmt: skip
        made = enriched(answer.answer_id, answer.answer).model_copy(update={"answer": answer, "grounding": report})
        found[answer.answer_id] = [row.columns for row in enriched_rows(made) if row.table == "claims"]
    said, opposed, run = found["conversation-2"][1], found["conversation-3"][1], found["run-1"][0]
    assert (said["verdict"], said["earlier_turn"], said["earlier"]) == ("said_before", 1, "My budget is 900 euros.")
    assert opposed["contradicted_turn"] == 2
    assert opposed["contradicted_earlier"] == "You can return them within 30 days of delivery."
    assert (run["step"], run["step_name"]) == (3, "model draft")
