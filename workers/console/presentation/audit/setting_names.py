"""Name the parts of a pipeline version, and write their values, in plain words."""

from collections.abc import Mapping
from typing import Any

from workers.console.presentation.minima import whole
from workers.console.presentation.words import words_of

LIMITS: Mapping[str, str] = {
    "gate.gate_score": "minimum of the gate score",
    "grounding.grounding_minimum": "minimum of the grounding score",
    "grounding.risk_medium": "medium risk from a risk score of",
    "grounding.risk_high": "high risk from a risk score of",
    "decision.audit_share": "share of good answers that people review",
    "decision.unevaluated_share": "share of answers without an evaluation of their grounding that people review",
    "decision.contexts_optional": "answers without sources are expected",
    "decision.citations_required": "each claim needs a citation by the author",
    "decision.ungrounded_observer": "text of an observer's answer that rests on no source",
    "release.default_risk_mode": "mode of answers that name none",
    "release.style": "formatting of the text for readers",
    "release.inline_citations": "citation markers of the answer",
    "release.ungrounded_claims": "claims without support",
    "memory.remember_without_context": "answers without sources are remembered",
    "memory.earlier_answers": "earlier answers that an answer is compared with",
    "grounding.context_similarity": "minimum of the similarity of answer and sources",
    "grounding.facts_verified": "minimum share of verified facts",
    "grounding.citation_coverage": "minimum share of cited claims",
    "grounding.uncertainty_markers": "maximum number of uncertainty markers",
    "quality.overall": "minimum of the quality",
    "quality.relevance": "minimum of the relevance",
    "quality.completeness": "minimum of the completeness",
    "quality.clarity": "minimum of the clarity",
    "quality.actionability": "minimum of the actionability",
    "quality.max_issues": "number of issues that fails the validation",
    "quality.min_length": "minimum length of an answer in characters",
    "quality.escalation": "failure signals: minimum of the validator score",
    "quality.strict_escalation": "failure signals: minimum of the validator score in strict mode",
    "quality.strict_mode": "failure signals: strict mode",
    "quality.max_signals": "failure signals: maximum number",
    "gate.freshness_half_life_days": "age at which the freshness of a source is 0.5",
}
"""Names of limits, in the order of pages."""

BEGINNINGS: Mapping[str, str] = {
    "gate.freshness_half_lives.": "age at which the freshness is 0.5, source of the type",
    "gate.weights.": "weight in the gate score:",
    "quality.weights.": "weight in the quality:",
    "quality.custom_patterns": "own patterns of failure signals",
    "decision.evaluators.": "minimum of the score of the evaluator",
    "release.url_rules": "address of sources by the rule",
    "privacy.patterns": "own pattern of masked data",
    "privacy.phone_regions": "countries of masked phone numbers",
    "privacy.mask": "kinds of masked data",
}
"""Names of limits by the beginning of their part; the rest of the part follows."""

READER_TEXTS: Mapping[str, str] = {
    "note": "warning beneath an answer",
    "warning": "warning beneath an answer of high risk",
    "fallback": "notice that the sources do not support an answer",
    "held": "notice that an answer waits for a decision",
    "rejected": "notice in place of a rejected answer",
    "withdrawn": "notice in place of a withdrawn answer",
    "said_before": "note on statements that only an earlier turn has",
}
"""Names of the texts for readers."""

SOFTWARE: Mapping[str, str] = {
    "rules": "code of the rules",
    "calibration": "calibration of the grounding score",
    "placement": "model of where the value of a claim stands",
    "model": "embedding model",
    "precision": "precision of the embedding model",
    "verifier": "verifier model",
    "verifier.rules": "code of the verifier",
    "verifier.combination": "combination of verifier and rules",
    "risk_mapping": "mapping of the risk by your own labels",
    "quality.packs": "further pattern packs",
    "privacy.rules": "code that masks",
}
"""Names of parts that say which code, models and data evaluated."""

SOFTWARE_BEGINNINGS: Mapping[str, str] = {
    "pack.": "pattern pack", "library.": "library", "evaluator.": "evaluator plug-in",
}  # fmt: skip
"""Names of the same by the beginning of their part."""

NOTHING = "none"
"""Words for an empty value."""
_CODED = frozenset({"gate.freshness_half_lives.", "gate.weights.", "quality.weights.", "quality.custom_patterns"})
"""Beginnings that a code follows, and not a name of the settings."""
_SHARES = frozenset({"decision.audit_share", "decision.unevaluated_share"})
_CHOICES: Mapping[str, Mapping[str, str]] = {
    "decision.ungrounded_observer": {"warn": "shown with a warning", "fallback": "replaced by a notice"},
    "release.inline_citations": {
        "keep": "kept", "link": "linked to their sources", "propose": "linked to their sources, and missing ones added",
    },
    "release.ungrounded_claims": {"keep": "kept", "mark": "marked as AI inference", "omit": "left out"},
}  # fmt: skip


def limit_name(part: str) -> str:
    """Return the name of a limit; that of an unknown one is its part."""
    if part in LIMITS:
        return LIMITS[part]
    for beginning, words in BEGINNINGS.items():
        if part.startswith(beginning):
            rest = part.removeprefix(beginning).removeprefix(".").removesuffix(".minimum")
            return f"{words} {words_of(rest) if beginning in _CODED else rest}" if rest else words
    return part


def software_name(part: str) -> str | None:
    """Return the name of a part that says which code, model or data evaluated; ``None`` for other parts."""
    for beginning, words in SOFTWARE_BEGINNINGS.items():
        if part.startswith(beginning):
            return f"{words} {part.removeprefix(beginning)}"
    return SOFTWARE.get(part)


def reason_words(reason: str) -> str:
    """Return the words for a reason, also for one about the score of an evaluator plug-in."""
    group, _, rest = reason.partition(".")
    if group != "evaluations":
        return words_of(reason)
    evaluator, _, fact = rest.rpartition(".")
    return f"score of {evaluator} {'below its minimum' if fact == 'below_minimum' else words_of(fact)}"


def effect_words(effect: Mapping[str, Any] | None) -> str:
    """Return the words for an effect: the state of the answer and the review."""
    if effect is None:
        return "without effect"
    state, review = str(effect.get("state")), bool(effect.get("review"))
    if state == "released":
        return "asks for a review" if review else "only noted"
    return f"{state}, with a review" if review else state


def value_words(part: str, value: Any) -> str:
    """Return the value of a setting in words.

    Args:
        part: part that holds it.
        value: the value, as JSON has it.
    """
    if value is None or value in ([], {}):
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return "; ".join(f"{name}: {value_words('', each)}" for name, each in value.items())
    if isinstance(value, (int, float)):
        return _number_words(part, value)
    return _CHOICES.get(part, {}).get(value, str(value))


def _number_words(part: str, value: float) -> str:
    if part in _SHARES:
        return f"{100 * value:.4g} %"
    if part.startswith("gate.freshness_half_li"):
        return f"{value:g} days"
    if isinstance(value, int) or ".weights." in part:
        return f"{value:g}"
    return whole(value)
