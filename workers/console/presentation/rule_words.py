"""Say in words what each rule of a decision measured and needed, and which rule won."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from workers.console.presentation.minima import beside, whole
from workers.console.presentation.words import words_of
from workers.decision.explanation import ExplainedRow, Explanation
from workers.decision.policy import AUDIT, SEVERITY, Effect, Reason


class Condition(NamedTuple):
    """Describe what a rule looks at.

    Attributes:
        field: the measured field.
        needed: the value that passes; empty for a threshold.
        none: words for a count of which only "none" or "some" is stored, if it is none.
        some: the same, if it is not.
        unasked: why a count passes that the settings do not ask about.
    """

    field: str
    needed: str = ""
    none: str = "none"
    some: str = "some"
    unasked: str = ""


CONDITIONS: Mapping[Reason, Condition] = {
    "no_evidence": Condition("share of supported claims, with grounding_score below its minimum", "more than 0, or a contradiction"),
    "grounding_below_minimum": Condition("grounding_score"),
    "empty_answer": Condition("characters of the answer", "at least 1"),
    "tool_failure": Condition("status of the call, and signals of tools", "success, no tool failure"),
    "failed_tool": Condition("failed calls of tools that the answer does not admit", "none"),
    "refusal": Condition("refusal to answer", "no", "no", "yes"),
    "high_hallucination_risk": Condition("hallucination_risk", "low or medium"),
    "gate_score_unknown": Condition("gate_score", "a known score"),
    "gate_score_below_minimum": Condition("gate_score"),
    "medium_hallucination_risk": Condition("hallucination_risk", "not medium; high has its own rule"),
    "failure_signals": Condition("failure signals", "none that the validator escalates"),
    "grounding_not_evaluated": Condition("missing reports", "not grounding"),
    "text_not_sent": Condition("texts that the gateway has and did not send", "none"),
    "no_contexts": Condition("sources given to the model", "at least 1, or no claims", "some", "none"),
    "degraded": Condition("missing reports", "none"),
    "invalid_citation": Condition("references that lead nowhere", "none"),
    "citation_of_other_source": Condition("citations of another source than the supporting one", "none"),
    "uncited_claim": Condition("claims without a citation", "none, where citations are required", unasked="citations are not required"),
    "uncited_recommendation": Condition("recommendations without a source", "none"),
    "conflicting_sources": Condition("claims on which sources disagree", "none"),
    "said_before": Condition("claims that only an earlier turn states", "none"),
    "contradicts_earlier": Condition("claims against an earlier answer", "none"),
    "words_not_compared": Condition("claims whose words could not be compared", "none"),
}  # fmt: skip


STORED_MINIMA = frozenset({"grounding_below_minimum", "gate_score_below_minimum"})
"""Rules whose minimum is stored with an answer."""


class RuleWords(NamedTuple):
    """A rule of a decision in words."""

    name: str
    field: str
    measured: str
    needed: str
    result: str
    won: bool


def rules_in_words(explanation: Explanation) -> list[RuleWords]:
    """Return the rules of a decision in words, in the order of the table."""
    won = set(winners(explanation))
    return [_rule(row, explanation, won=row.fact in won) for row in explanation.rows]


def winners(explanation: Explanation) -> list[str]:
    """Return the rules that set the state of the answer; none if all passed, or none of those that failed keeps it back."""
    if explanation.state == "released":
        return []
    failed = [row for row in explanation.rows if row.decided and row.effect is not None]
    setting = [row.fact for row in failed if row.effect is not None and row.effect.state == explanation.state]
    return setting or [reason for reason in explanation.reasons if reason != AUDIT]


def winning_words(explanation: Explanation) -> str:
    """Return a sentence that names the winning rules, and one about the review if others asked for it."""
    effect = _effect_words(explanation.state, review=explanation.review)
    won = winners(explanation)
    failed = [row for row in explanation.rows if row.decided and row.effect is not None]
    # An answer without a review, such as a fallback, has none that a rule asked for.
    asking = [row.fact for row in failed if row.effect is not None and row.effect.review and explanation.review]
    further = "" if not asking or set(asking) & set(won) else f" {_named(asking)} asked for the review."
    if not won and failed:
        noted = ", ".join(f"“{words_of(row.fact)}”" for row in failed if row.fact not in asking)
        return f"No failed rule keeps the answer from readers: {effect}.{further}{f' Noted: {noted}.' if noted else ''}"
    if not won:
        sampled = " It is part of the random sample that people review." if AUDIT in explanation.reasons else ""
        return f"Every rule passed: {effect}.{sampled}"
    return f"{_named(won)} decided: {effect}.{further}"


def _named(rules: list[str]) -> str:
    quoted = [f"“{words_of(rule)}”" for rule in rules]
    return f"The rule {quoted[0]}" if len(quoted) == 1 else f"The rules {', '.join(quoted[:-1])} and {quoted[-1]}"


def _effect_words(state: str, *, review: bool) -> str:
    return f"{state}, with a review" if review else state


def _rule(row: ExplainedRow, explanation: Explanation, *, won: bool) -> RuleWords:
    condition = condition_of(row.fact)
    stored = row.kept or (explanation.minima_kept and row.fact in STORED_MINIMA)
    present = "" if stored else " (present setting)"
    needed = f"at least {whole(row.threshold)}{present}" if row.threshold is not None else condition.needed
    return RuleWords(
        words_of(row.fact),
        condition.field,
        _measured(row.value, condition, row.threshold),
        needed,
        _result(row, explanation, condition),
        won,
    )


def condition_of(fact: str) -> Condition:
    """Return what a rule looks at, also one about an evaluator of another package: ``evaluations.NAME.below_minimum``."""
    if fact in CONDITIONS:
        return CONDITIONS[fact]  # type: ignore[index]
    name = fact.partition(".")[2].rpartition(".")[0]
    return Condition(f"score of {name}", "a known score")


def _measured(value: Any, condition: Condition, threshold: float | None) -> str:
    if value is None:
        return "not known"
    if isinstance(value, bool):
        return condition.some if value else condition.none
    if isinstance(value, list):
        return ", ".join(words_of(str(each)) for each in value) or "none"
    return beside(value, threshold) if isinstance(value, float) else words_of(str(value))


def _would_have_decided(effect: Effect, state: str) -> bool:
    """Return true if a rule with this effect would be a reason of an answer in this state: it is at least as bad."""
    return state in SEVERITY and SEVERITY[effect.state] >= SEVERITY[state]  # type: ignore[index]


def _result(row: ExplainedRow, explanation: Explanation, condition: Condition) -> str:
    effect: Effect | None = row.effect
    if row.applies is None:
        return "not known"
    if not row.applies and row.decided and row.threshold is not None:
        return "failed then; it would pass with the present setting"
    if not row.applies and row.value and condition.unasked:
        return f"passed: {condition.unasked}"
    if not row.applies:
        return "passed" if row.value is not None else "not measured"
    if effect is None:
        return f"failed, without effect in {explanation.risk_mode} mode"
    if not row.decided and row.threshold is not None and _would_have_decided(effect, explanation.state):
        return "passed then; it would fail with the present setting"
    if not row.decided:
        return "failed; a rule with a worse effect decided"
    review = effect.review and explanation.review
    if effect.state == "released":
        return "failed: asked for a review" if review else "failed; only noted"
    return f"failed: {_effect_words(effect.state, review=review)}"
