"""Choose what the list of references quotes of a source: the passage on which the answer rests, not its beginning."""

from collections.abc import Sequence

from schemas.citations import MAX_EXCERPT, Citation
from schemas.grounding import GroundingReport
from workers.evaluation.grounding.excerpts import CUT


def quoted(citations: Sequence[Citation], grounding: GroundingReport | None) -> list[Citation]:
    """Return citations whose excerpts are the passages of the claims that cite them.

    The excerpt of a citation is the beginning of its source. It stays if it is the whole source or a part with the
    passage, and of a source that no claim was compared with.

    Args:
        citations: citations of an answer.
        grounding: verdicts on its claims; ``None`` if they are not known.
    """
    passages = _passages(grounding) if grounding is not None else {}
    return [
        each.model_copy(update={"excerpt": passages[each.number]})
        if each.number in passages and _lacks(each.excerpt, passages[each.number])
        else each
        for each in citations
    ]


def _passages(grounding: GroundingReport) -> dict[int, str]:
    """Return the passage of each cited source by its number: that of the first claim that cites it."""
    found: dict[int, str] = {}
    for claim in grounding.claims:
        for source in claim.sources:
            if source.number in claim.cited_numbers:
                found.setdefault(source.number, source.excerpt)
    return found


def _lacks(excerpt: str, passage: str) -> bool:
    """Return true if an excerpt is cut and does not hold a passage; one of half the length is the whole source."""
    if not passage or len(excerpt) <= MAX_EXCERPT // 2:
        return False
    return excerpt.endswith(CUT) or passage.strip(CUT) not in excerpt
