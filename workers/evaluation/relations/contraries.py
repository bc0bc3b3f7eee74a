"""Compare a claim with what the evidence excludes, in any language: alternatives, additions, changes,
treatments, months, parties.
"""

from collections.abc import Callable, Sequence

from schemas.grounding import Mismatch
from workers.evaluation.relations.alternatives import is_addition_kept, is_alternative_kept
from workers.evaluation.relations.equated import is_treatment_kept
from workers.evaluation.relations.figures.changes_and_levels import is_change_no_level
from workers.evaluation.relations.figures.named_amounts import is_noun_kept
from workers.evaluation.relations.figures.parties import is_party_right
from workers.evaluation.relations.times.calendar_parts import is_month_right

_Rule = Callable[[str, Sequence[str], str], bool | None]
_RULES: tuple[tuple[_Rule, Mismatch], ...] = (
    (is_alternative_kept, "negation"),
    (is_addition_kept, "negation"),
    (is_treatment_kept, "negation"),
    (is_month_right, "date"),
    (is_noun_kept, "subject"),
)
"""Rules on a claim, sentences of the evidence and the language of the claim, each with its mismatch."""


def contrary_mismatch(claim: str, question: str, sentences: Sequence[str], language: str) -> Mismatch | None:
    """Return what the evidence says otherwise, or ``None``.

    Args:
        claim: the claim, or what a short answer states with its question.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence, those of one source in order.
        language: language of the claim, ISO 639-1.
    """
    if is_party_right(claim, question, sentences, language) is False:
        return "subject"
    if is_change_no_level(claim, question, sentences, language) is False:
        return "number"
    return next((mismatch for rule, mismatch in _RULES if rule(claim, sentences, language) is False), None)
