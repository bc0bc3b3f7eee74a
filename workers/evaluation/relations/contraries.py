"""Compare a claim with what the evidence excludes, in any language: alternatives, additions, treatments, months."""

from collections.abc import Callable, Sequence

from schemas.grounding import Mismatch
from workers.evaluation.relations.alternatives import is_addition_kept, is_alternative_kept
from workers.evaluation.relations.calendar_parts import is_month_right
from workers.evaluation.relations.equated import is_treatment_kept

_Rule = Callable[[str, Sequence[str], str], bool | None]
_RULES: tuple[tuple[_Rule, Mismatch], ...] = (
    (is_alternative_kept, "negation"),
    (is_addition_kept, "negation"),
    (is_treatment_kept, "negation"),
    (is_month_right, "date"),
)
"""Rules on a claim, sentences of the evidence and the language of the claim, each with its mismatch."""


def contrary_mismatch(claim: str, sentences: Sequence[str], language: str) -> Mismatch | None:
    """Return what the evidence says otherwise, or ``None``.

    Args:
        claim: the claim, or what a short answer states with its question.
        sentences: the evidence, those of one source in order.
        language: language of the claim, ISO 639-1.
    """
    return next((mismatch for rule, mismatch in _RULES if rule(claim, sentences, language) is False), None)
