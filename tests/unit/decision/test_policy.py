"""The decision policy: overrides by tenant and query type, the audit sample, and how a decision is explained."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from typer.testing import CliRunner

from schemas.enriched import Decision, EnrichedAnswer
from schemas.export import example
from schemas.review import POLICY, ReleasableAnswer, ReviewDecision
from workers.agents.decisions import remembered_turn
from workers.cli.main import app
from workers.decision.decision import decide
from workers.decision.explanation import explain
from workers.decision.policy import REASONS, TABLE, DecisionPolicy, Effect, Override, Row, in_audit_sample
from workers.decision.reader_text.best_answer import rank_answers
from workers.decision.release_events import alerts
from workers.evaluation.thresholds import GateThresholds, GroundingThresholds
from workers.settings import Settings

ENRICHED = EnrichedAnswer.model_validate(example(EnrichedAnswer))
NO_AUDIT = DecisionPolicy(audit_share=0.0)


def decided(
    enriched: EnrichedAnswer, policy: DecisionPolicy, gate: GateThresholds | None = None
) -> tuple[str, list[str]]:
    decision = decide_again(enriched, policy, gate)
    return decision.state, list(decision.reasons)


def decide_again(enriched: EnrichedAnswer, policy: DecisionPolicy, gate: GateThresholds | None = None) -> Decision:
    return decide(
        enriched.answer, enriched.risk_mode, enriched.citations, enriched.grounding, enriched.quality,
        enriched.evaluation, enriched.degraded, gate or GateThresholds(), GroundingThresholds(), policy=policy,
    )  # fmt: skip


def with_score(score: float, **fields: object) -> EnrichedAnswer:
    evaluation = ENRICHED.evaluation.model_copy(update={"score": score})
    answer = ENRICHED.answer.model_copy(update=fields)
    return ENRICHED.model_copy(update={"evaluation": evaluation, "risk_mode": "gatekeeper", "answer": answer})


def test_the_table_has_every_fact_in_order() -> None:
    assert tuple(TABLE) == REASONS


def test_a_tenant_may_ask_for_more_and_a_query_type_for_less() -> None:
    policy = DecisionPolicy(
        audit_share=0.0,
        overrides=(
            Override(tenant="acme", query_type="factual", gate_score=0.5),
            Override(tenant="acme", gate_score=0.95),
            Override(query_type="factual", gate_score=0.7),
        ),
    )
    for tenant, query_type, score, state in (
        ("other", None, 0.85, "released"),
        ("other", None, 0.75, "held"),
        ("other", "factual", 0.75, "released"),
        ("acme", "howto", 0.90, "held"),
        # The narrowest wins, wherever it stands.
        ("acme", "factual", 0.60, "released"),
    ):
        enriched = with_score(score, tenant=tenant, query_type=query_type)
        assert decided(enriched, policy)[0] == state, (tenant, query_type)


def test_a_row_may_be_replaced() -> None:
    refused = ENRICHED.model_copy(update={"quality": ENRICHED.quality.model_copy(update={"refusal": True})})
    assert decided(refused, NO_AUDIT)[1] == ["refusal"]
    lenient = DecisionPolicy(audit_share=0.0, rows={"refusal": Row(gatekeeper=Effect(state="warned"))})
    assert decided(refused, lenient) == ("released", [])
    held = refused.model_copy(update={"risk_mode": "gatekeeper"})
    assert decided(held, lenient) == ("warned", ["refusal"])


def without_contexts(tenant: str = "default", query_type: str | None = None) -> EnrichedAnswer:
    assert ENRICHED.citations is not None
    citations = ENRICHED.citations.model_copy(update={"claims": 2, "invalid_references": []})
    answer = ENRICHED.answer.model_copy(update={"contexts": [], "tenant": tenant, "query_type": query_type})
    return ENRICHED.model_copy(update={"answer": answer, "citations": citations})


def test_a_tenant_or_a_class_of_queries_may_expect_answers_without_contexts() -> None:
    policy = DecisionPolicy.model_validate(
        {"audit_share": 0, "overrides": [{"tenant": "chat", "query_type": "smalltalk", "contexts_optional": True}]}
    )
    assert decided(without_contexts(), policy) == ("warned", ["no_contexts"])
    assert decided(without_contexts(tenant="chat", query_type="smalltalk"), policy) == ("released", [])
    assert decided(without_contexts(tenant="chat", query_type="factual"), policy) == ("warned", ["no_contexts"])
    assert decided(without_contexts(), DecisionPolicy(audit_share=0, contexts_optional=True)) == ("released", [])


def test_a_sample_of_the_answers_without_an_evaluation_is_reviewed() -> None:
    unknown = ENRICHED.model_copy(update={"grounding": None})
    for share, review in ((0.0, False), (1.0, True)):
        policy = DecisionPolicy(audit_share=0.0, unevaluated_share=share)
        decision = decide_again(unknown, policy)
        assert (decision.state, decision.reasons, decision.review) == ("warned", ["grounding_not_evaluated"], review)


def test_an_observer_cannot_be_made_to_wait() -> None:
    with pytest.raises(ValidationError, match="never waits"):
        Row(observer=Effect(state="held"))


def test_an_unknown_fact_is_refused() -> None:
    with pytest.raises(ValidationError):
        DecisionPolicy.model_validate({"rows": {"bad_mood": {}}})


def test_the_minimum_of_a_tenant_counts_for_its_alerts_and_its_memory() -> None:
    policy = DecisionPolicy(
        overrides=(Override(tenant="strict", grounding_minimum=0.9), Override(query_type="lax", grounding_minimum=0.1))
    )

    def alerting(score: float, tenant: str, query_type: str | None = None) -> list[float]:
        assert ENRICHED.grounding is not None
        found = ENRICHED.model_copy(
            update={
                "tenant": tenant,
                "answer": ENRICHED.answer.model_copy(update={"tenant": tenant, "query_type": query_type}),
                "grounding": ENRICHED.grounding.model_copy(update={"grounding_score": score}),
            }
        )
        made = alerts(found, ENRICHED.enriched_at, GroundingThresholds(), policy)
        return [alert.metadata["minimum"] for alert in made if alert.alert_type == "low_grounding_score"]

    assert (alerting(0.8, "strict"), alerting(0.8, "other"), alerting(0.4, "other")) == ([0.9], [], [0.5])
    assert (alerting(0.4, "other", "lax"), alerting(0.05, "other", "lax")) == ([], [0.1])

    def turns(score: float, tenant: str, query_type: str | None = None) -> int:
        shown = ReleasableAnswer(state="warned", query_type=query_type, completed_at=ENRICHED.enriched_at)
        decision = ReviewDecision.model_validate(
            example(ReviewDecision)
            | {"tenant": tenant, "decided_by": POLICY, "user_action": "approve", "grounding_score": score,
               "contexts": ["c1"], "releasable": shown}
        )  # fmt: skip
        settings = Settings(_env_file=None, decision=policy)
        turn = remembered_turn(decision, "final", settings)
        return int(turn is not None)

    assert (turns(0.8, "strict"), turns(0.8, "other"), turns(0.3, "other"), turns(0.3, "other", "lax")) == (0, 1, 0, 1)


@pytest.mark.parametrize(
    ("medium", "high", "fits"), [(0.8, 0.7, False), (0.7, 0.7, True), (0.3, 0.2, False), (0.0, 1.0, True)]
)
def test_bands_of_risk_are_in_order(medium: float, high: float, fits: bool) -> None:
    if fits:
        assert GroundingThresholds(risk_medium=medium, risk_high=high).risk_high == high
        return
    with pytest.raises(ValidationError, match=f"risk_medium {medium} is above risk_high {high}"):
        GroundingThresholds(risk_medium=medium, risk_high=high)


def test_overrides_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    value = [{"tenant": "acme", "rows": {"degraded": {"observer": {"state": "warned", "review": True}}}}]
    monkeypatch.setenv("TOUCHSTONE_DECISION__OVERRIDES", json.dumps(value))
    resolved = Settings().decision.resolved("acme", None)
    assert resolved.effect("degraded", "observer") == Effect(state="warned", review=True)


def test_the_audit_sample_is_deterministic_and_of_about_the_share() -> None:
    names = [f"answer-{number}" for number in range(20_000)]
    sampled = [name for name in names if in_audit_sample("acme", name, 0.05)]
    assert sampled == [name for name in names if in_audit_sample("acme", name, 0.05)]
    assert 850 <= len(sampled) <= 1_150
    assert all(in_audit_sample("acme", name, 0.2) for name in sampled), "a larger share holds the smaller one"
    assert not any(in_audit_sample("acme", name, 0.0) for name in names)
    assert all(in_audit_sample("acme", name, 1.0) for name in names)


def test_a_sampled_answer_is_released_and_reviewed_and_a_bad_one_is_never_called_a_sample() -> None:
    everything = DecisionPolicy(audit_share=1.0)
    assert decided(ENRICHED, everything) == ("released", ["audit_sample"])
    assert decided(with_score(0.1), everything) == ("held", ["gate_score_below_minimum"])


@given(st.floats(0, 1), st.sampled_from(["observer", "gatekeeper"]), st.booleans(), st.booleans())
def test_an_explanation_agrees_with_the_decision(score: float, mode: str, degraded: bool, refusal: bool) -> None:
    quality = ENRICHED.quality.model_copy(update={"refusal": refusal})
    enriched = with_score(score).model_copy(update={"risk_mode": mode, "degraded": degraded, "quality": quality})
    state, reasons = decided(enriched, NO_AUDIT)
    decision = enriched.decision.model_copy(update={"state": state, "reasons": reasons})
    enriched = enriched.model_copy(update={"decision": decision})
    explained = explain(enriched, GateThresholds(), GroundingThresholds(), NO_AUDIT)
    assert [row.fact for row in explained.rows] == list(REASONS)
    assert [row.fact for row in explained.rows if row.decided] == reasons
    for row in explained.rows:
        if row.decided:
            assert row.applies
            assert row.effect is not None
    worst = max((row.effect.state for row in explained.rows if row.decided and row.effect), default="released",
                key=["released", "warned", "fallback", "held"].index)  # fmt: skip
    assert worst == state


def test_explain_tells_people_and_machines(tmp_path: Path) -> None:
    file = tmp_path / "enriched.json"
    file.write_bytes(ENRICHED.to_bytes())
    told = CliRunner().invoke(app, ["explain", str(file)])
    assert told.exit_code == 0, told.output
    assert ENRICHED.answer_id in told.output
    assert "faithfulness" in told.output
    (read,) = json.loads(CliRunner().invoke(app, ["explain", str(file), "--json"]).stdout)
    assert read["state"] == ENRICHED.decision.state
    assert set(read["characteristics"]) == set(ENRICHED.evaluation.metrics)


# ---------------------------------------------------------------- best


def answer_of(name: str, score: float | None, validator: float = 1.0, escalated: bool = False) -> EnrichedAnswer:
    validation = {"score": validator, "should_escalate": escalated, "assessment_confidence": 0.9}
    enriched = EnrichedAnswer.model_validate(
        example(EnrichedAnswer)
        | {"answer_id": name, "quality": {**example(EnrichedAnswer)["quality"], "validation": validation}}
    )
    metrics = enriched.evaluation.metrics | {"relevance": score}
    return enriched.model_copy(
        update={"evaluation": enriched.evaluation.model_copy(update={"score": score, "metrics": metrics})}
    )


def test_the_best_answer_has_the_highest_score_and_says_why() -> None:
    ranked = rank_answers([answer_of("b", 0.7), answer_of("a", 0.9), answer_of("c", 0.95, 0.25, escalated=True)])
    assert [each.answer_id for each in ranked] == ["a", "b", "c"]
    assert ranked[0].reasons == ["relevance +0.20 against the second"]
    assert ranked[1].reasons == ["relevance -0.20 against the best"]


@given(st.permutations(["a", "b", "c", "d"]))
def test_the_order_given_does_not_matter_and_equals_share_a_rank(order: list[str]) -> None:
    scores = {"a": 0.8, "b": 0.8, "c": None, "d": 0.9}
    ranked = rank_answers([answer_of(name, scores[name]) for name in order])
    assert [(each.rank, each.answer_id) for each in ranked] == [(1, "d"), (2, "a"), (2, "b"), (4, "c")]


def test_one_answer_is_the_best() -> None:
    (only,) = rank_answers([answer_of("a", 0.5)])
    assert (only.rank, only.reasons) == (1, ["no difference worth telling"])


def test_best_judges_a_file_and_names_one_for_each_query(tmp_path: Path) -> None:
    query = "How long is the warranty?"
    context = [{"chunk_id": "t", "content": "The warranty period is 24 months from the date of delivery."}]
    rows = [
        {"answer_id": "good", "query": query, "answer": "The warranty lasts 24 months from the date of delivery [1]."},
        {"answer_id": "refusal", "query": query, "answer": "I cannot help with that request."},
        {"answer_id": "wrong", "query": query, "answer": "The warranty lasts 36 months from the date of delivery [1]."},
    ]
    file = tmp_path / "answers.jsonl"
    file.write_text("".join(json.dumps(row | {"contexts": context}) + "\n" for row in rows))
    result = CliRunner().invoke(app, ["best", str(file), "--json"])
    assert result.exit_code == 0, result.output
    (found,) = json.loads(result.stdout)
    assert found["best"] == "good"
    assert [each["answer_id"] for each in found["answers"]] == ["good", "wrong", "refusal"]


@pytest.mark.parametrize("content", ["", "nonsense", "[1]", '{"answer": 3}'])
def test_a_file_that_holds_no_answers_is_told_in_words(content: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text(content)
    for command in ("best", "explain"):
        result = CliRunner().invoke(app, [command, str(file)])
        assert result.exit_code != 0
        assert "bad.jsonl" in str(result.exception)
