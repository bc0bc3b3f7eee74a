"""Rebuild the list of references below a corrected answer: the sources that the correction cites."""

from collections.abc import Mapping

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.base import Metadata
from schemas.citations import Citation
from schemas.review import ReviewRequest
from workers.decision.finality import still_cited
from workers.decision.reference_list import (
    HEADING,
    Style,
    entries_of,
    format_interactive,
    format_references,
    list_of_entries,
)
from workers.evaluation.citations.citation_finder import cite
from workers.evaluation.citations.resolution import SourceIndex, resolve
from workers.evaluation.text.markers import find_markers

SHARED_FIELDS = frozenset(ContextChunk.model_fields) - {"tool"}


def correction_references(
    request: ReviewRequest, text: str, style: Style = "standard", rules: Mapping[str, str] | None = None
) -> tuple[str, list[Metadata]]:
    """Return the list of references below a correction, and the citations that a user interface may need for it.

    Entries of the original list stay as they are where the correction still cites their sources. Sources that it cites
    newly get entries of their own. Calculations are left out: they derive figures of the original answer.

    Args:
        request: the review request.
        text: the corrected answer.
        style: style of new entries, that of the original list.
        rules: addresses of sources, see ``source_address``.

    Returns:
        The list, empty if the correction cites nothing or has a list of its own, and the citations of the original
        answer followed by the new ones.
    """
    shown = request.releasable
    known = list(shown.citations) if shown is not None else []
    kept = {number for each in still_cited(text, known) if isinstance(number := each.get("number"), int)}
    new = [each for each in _cited(request, text) if each.number not in kept]
    old = {each.get("number") for each in known}
    citations = known + format_interactive([each for each in new if each.number not in old], rules)
    if HEADING.strip() in text:
        return "", citations
    original = entries_of(shown.references) if shown is not None else {}
    entries = {number: original[number] for number in kept if number in original}
    entries |= entries_of(format_references(new, style=style, rules=rules))
    return list_of_entries(entries, style), citations


def _cited(request: ReviewRequest, text: str) -> list[Citation]:
    """Return the contexts of a request that a text cites."""
    chunks = [ContextChunk.model_validate(each.model_dump(include=set(SHARED_FIELDS))) for each in request.contexts]
    index = SourceIndex(chunks)
    numbers = {number for marker in find_markers(text, len(chunks)) for number in resolve(marker, index)[0]}
    answer = GeneratedAnswer(
        answer_id=request.answer_id, tenant=request.tenant, query=request.query, answer=text, contexts=chunks,
        completed_at=request.requested_at,
    )  # fmt: skip
    return cite(answer, sorted(numbers))
