"""Say in words what was found when a corrected text was compared with the sources of its answer."""

from collections.abc import Sequence
from typing import NamedTuple

from schemas.grounding import Claim
from schemas.review import CorrectionComparison
from workers.console.presentation.verdicts import MEANINGS, VERDICTS
from workers.review.correction_comparisons import VERDICTS as DOUBTED
from workers.review.correction_comparisons import doubted_claims

NOT_COMPARED = "This text was not compared with the sources."
"""Sentence about a correction without a comparison."""


class DoubtedWords(NamedTuple):
    """Hold a statement that the sources do not support, with the reason in words.

    Attributes:
        verdict: verdict of the evaluation.
        text: the statement.
        reason: why it is not supported.
        evidence: the passage that it was compared with; empty if it is not kept.
    """

    verdict: str
    text: str
    reason: str
    evidence: str = ""


def comparison_words(comparison: CorrectionComparison | None, *, saved: bool = True) -> str:
    """Return what was found for a corrected text as a sentence.

    Args:
        comparison: what was found; ``None`` if the text was not compared.
        saved: false for a text that is still being edited.
    """
    if comparison is None:
        return NOT_COMPARED
    numbers = {name: getattr(comparison, name) for name in DOUBTED}
    total = comparison.supported + sum(numbers.values())
    some = comparison.sources < comparison.sources_total
    sources = f"{comparison.sources} of the {comparison.sources_total} sources" if some else "the sources"
    when = " when it was saved" if saved else ""
    if not total:
        return f"Compared with {sources}{when}: it has no statement that needs a source."
    others = "".join(f", {number} {VERDICTS[name][1]}" for name, number in numbers.items() if number)
    return f"Compared with {sources}{when}: {comparison.supported} of {total} statement{'s' * (total > 1)} supported{others}."


def saved_words(decision: str, text: str) -> str:
    """Return the sentence about a stored correction; empty for a record without one.

    Args:
        decision: what was found, as JSON; empty without a comparison.
        text: text of the correction.
    """
    if not text:
        return ""
    return comparison_words(CorrectionComparison.model_validate_json(decision) if decision else None)


def doubted_of_claims(claims: Sequence[Claim]) -> list[DoubtedWords]:
    """Return the claims of a text that the sources do not support, the worst first, each with the reason in words."""
    return [
        DoubtedWords(
            claim.verdict, claim.text,
            _reason(claim.verdict, claim.mismatches, claim.evidence.number if claim.evidence else None),
            claim.evidence.excerpt if claim.evidence else "",
        )
        for claim in doubted_claims(claims)
    ]  # fmt: skip


def doubted_of_saved(text: str, comparison: CorrectionComparison | None) -> list[DoubtedWords]:
    """Return the statements of a stored correction that the sources did not support, the worst first."""
    return [
        DoubtedWords(
            each.verdict, text[each.span.start : each.span.end], _reason(each.verdict, each.mismatches, each.number)
        )
        for each in (comparison.doubted if comparison else [])
    ]


def _reason(verdict: str, mismatches: Sequence[str], number: int | None) -> str:
    differs = f" It differs in {', '.join(mismatches)}." if mismatches else ""
    place = "The evidence" if verdict == "contradicted" else "The nearest passage"
    return f"{MEANINGS[verdict]}{differs}{f' {place} is in source [{number}].' if number else ''}"
