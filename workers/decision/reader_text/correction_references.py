"""Rebuild the list of references below a corrected answer: the sources that the correction cites.

The list also has the sources that the formatted answer proposes for sentences without a marker, if the correction keeps
those sentences: the editor shows the answer as the model wrote it, without the proposed markers.
"""

import re
from collections.abc import Mapping, Sequence

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.base import Metadata
from schemas.citations import Citation
from schemas.review import ReviewRequest
from workers.decision.finality import marked_places, still_cited
from workers.decision.reader_text.reference_list import (
    HEADING,
    Style,
    entries_of,
    format_interactive,
    format_references,
    list_of_entries,
)
from workers.evaluation.citations.citation_finder import cite
from workers.evaluation.citations.resolution import SourceIndex, resolve
from workers.evaluation.text.structure.markers import find_markers
from workers.evaluation.text.structure.segmentation import segment

SHARED_FIELDS = frozenset(ContextChunk.model_fields) - {"tool"}
_LINKED = re.compile(r"\[(\[[^\[\]\n]*\])\]\((?:<[^<>\n]*>|[^()\s]*)\)")
_MARK = re.compile(r"\[(?:\\.|[^\[\]\\])*\](?!\()")
"""A marker with its link, and a marker or another mark in brackets."""
_WORD = re.compile(r"\w+")


def correction_references(
    request: ReviewRequest, text: str, style: Style = "standard", rules: Mapping[str, str] | None = None
) -> tuple[str, list[Metadata]]:
    """Return the list of references below a correction, and the citations that a user interface may need for it.

    Entries of the original list stay as they are where the correction still cites their sources, or keeps a sentence for
    which they were proposed. Sources that it cites newly get entries of their own. Calculations are left out: they derive
    figures of the original answer.

    Args:
        request: the review request.
        text: the corrected answer.
        style: style of new entries, that of the original list.
        rules: addresses of sources, see ``source_address``.

    Returns:
        The list, empty if the correction rests on no source or has a list of its own, and the citations of the original
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
    kept |= _proposed(request, text)
    entries = {number: original[number] for number in kept if number in original}
    entries |= entries_of(format_references(new, style=style, rules=rules))
    return list_of_entries(entries, style), citations


def _proposed(request: ReviewRequest, text: str) -> set[int]:
    """Return the sources that the formatted answer proposes for sentences that a text keeps without a marker."""
    shown = request.releasable
    if shown is None or shown.body is None:
        return set()
    written = _sources_of_sentences(request.answer, shown.citations)
    formatted = _sources_of_sentences(shown.body, shown.citations)
    kept = [words for words, cited in _sources_of_sentences(text, shown.citations).items() if not cited]
    # A sentence that cited sources by itself has lost its markers to the reviewer.
    return {number for words in kept if written.get(words) == set() for number in formatted.get(words, ())}


def _sources_of_sentences(text: str, known: Sequence[Metadata]) -> dict[str, set[int]]:
    """Return the numbers of the sources that each sentence of a text cites, by its words without marks."""
    found: dict[str, set[int]] = {}
    marked = marked_places(text, known)
    for sentence in segment(text):
        words = " ".join(_WORD.findall(_MARK.sub(" ", _LINKED.sub(r"\1", sentence.text))))
        places = {place for start, places in marked if sentence.start <= start < sentence.end for place in places}
        numbers = {known[place - 1].get("number") for place in places}
        found.setdefault(words, set()).update(number for number in numbers if isinstance(number, int))
    # A sentence of marks alone says nothing.
    found.pop("", None)
    return found


def dangling_references(request: ReviewRequest, text: str) -> list[str]:
    """Return the references of a correction that lead to no source, as they are written.

    A correction with a list of references of its own has none. A name or a link is looked up only if the request
    has all sources of the answer. An address in the text is the reviewer's own.

    Args:
        request: the review request.
        text: the corrected answer.
    """
    if HEADING.strip() in text:
        return []
    complete = len(request.contexts) >= request.contexts_total
    markers = find_markers(text, max(request.contexts_total, len(request.contexts)))
    known = request.releasable.citations if request.releasable else []
    index = SourceIndex(_chunks(request))
    return list(
        dict.fromkeys(
            marker.text
            for marker in markers
            if marker.out_of_range
            or (
                complete
                and not marker.numbers
                and not marker.is_bare
                and resolve(marker, index)[1]
                and not still_cited(marker.text, known)
            )
        )
    )


def _chunks(request: ReviewRequest) -> list[ContextChunk]:
    return [ContextChunk.model_validate(each.model_dump(include=set(SHARED_FIELDS))) for each in request.contexts]


def _cited(request: ReviewRequest, text: str) -> list[Citation]:
    """Return the contexts of a request that a text cites."""
    chunks = _chunks(request)
    index = SourceIndex(chunks)
    numbers = {number for marker in find_markers(text, len(chunks)) for number in resolve(marker, index)[0]}
    answer = GeneratedAnswer(
        answer_id=request.answer_id, tenant=request.tenant, query=request.query, answer=text, contexts=chunks,
        completed_at=request.requested_at,
    )  # fmt: skip
    return cite(answer, sorted(numbers))
