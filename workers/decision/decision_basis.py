"""Keep what a decision rests on: the minima of its scores, and what rules found that no column of the answer tells."""

from collections.abc import Mapping
from typing import NamedTuple

from pydantic_core import from_json, to_json

from schemas.enriched import EnrichedAnswer
from workers.decision.decision import Fact, evaluator_facts, facts, scores_of
from workers.decision.minima import Minima, minima_of
from workers.decision.policy import DecisionPolicy, Reason
from workers.evaluation.thresholds import GateThresholds, GroundingThresholds

UNSTORED: tuple[Reason, ...] = (
    "text_not_sent", "no_contexts", "citation_of_other_source", "uncited_claim", "uncited_recommendation",
    "conflicting_sources", "said_before", "contradicts_earlier", "failed_tool", "words_not_compared",
)  # fmt: skip
"""Facts whose values are in no column of their own."""
UNCERTAIN: tuple[Reason, ...] = ("failure_signals", "grounding_not_evaluated")
"""Facts whose values are in columns, which do not tell whether they hold."""


class DecisionBasis(NamedTuple):
    """Hold what an answer was decided by.

    Attributes:
        minima: minima of its scores.
        findings: what rules found that no other column tells, by name of the rule.
    """

    minima: Minima
    findings: Mapping[str, Fact]


def found_facts(
    enriched: EnrichedAnswer, gate: GateThresholds, grounding: GroundingThresholds, policy: DecisionPolicy
) -> dict[str, Fact]:
    """Return the facts of the decision on an answer, those about evaluator plug-ins included."""
    query_type = enriched.answer.query_type
    resolved = policy.resolved(enriched.tenant, query_type)
    minima = minima_of(gate, grounding, policy, enriched.tenant, query_type)
    return facts(
        enriched.answer,
        enriched.citations,
        enriched.grounding,
        enriched.quality,
        enriched.evaluation,
        degraded=enriched.degraded,
        gate_score=minima.gate,
        grounding_minimum=minima.grounding,
        contexts_optional=resolved.contexts_optional,
        citations_required=resolved.citations_required,
    ) | evaluator_facts(resolved.evaluators, scores_of(enriched.evaluations))


def basis_of(
    enriched: EnrichedAnswer, gate: GateThresholds, grounding: GroundingThresholds, policy: DecisionPolicy
) -> DecisionBasis:
    """Return what an answer was decided by, to keep with it."""
    found = found_facts(enriched, gate, grounding, policy)
    named = policy.resolved(enriched.tenant, enriched.answer.query_type).evaluators
    kept = (*UNSTORED, *UNCERTAIN, *evaluator_facts(named, {}))
    minima = minima_of(gate, grounding, policy, enriched.tenant, enriched.answer.query_type)
    return DecisionBasis(minima, {name: found[name] for name in kept})


def findings_text(findings: Mapping[str, Fact]) -> str:
    """Return findings as JSON: a list of "holds", measured value and threshold by name of the rule."""
    return to_json({name: list(fact) for name, fact in findings.items()}).decode()


def findings_of(text: str) -> dict[str, Fact]:
    """Return the findings that were stored as JSON; none of an earlier answer, which has an empty text."""
    return {name: Fact(*fact) for name, fact in from_json(text).items()} if text else {}
