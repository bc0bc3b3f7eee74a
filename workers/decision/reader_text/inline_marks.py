"""Insert marks into an answer for its readers: citation links, proposed citations, "AI inference".

Every mark is an edit at an offset of the raw answer. Edits are made before other changes, so that the offsets of the
reports are valid. Code is never edited.

| mark | policy | example |
|---|---|---|
| a link on a marker whose source has an address | ``link`` and ``propose`` | ``[1]`` becomes ``[[1]](https://…)`` |
| a marker that a supported claim lacks | ``propose`` | "… at 14:03." becomes "… at 14:03 [1]." |
| the calculation behind a derived figure | ``propose`` | "… cost $2,350 [Calculation: 47 minutes × $3,000 per hour =
$2,350]." | | "AI inference" after an unsupported claim | ``mark`` | "… by a leak. [AI Inference - not supported by the
sources]" | | the claim left out | ``omit`` | only a whole sentence, list item or row; a part of one is marked |
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from schemas.citations import Citation
from schemas.grounding import Claim
from workers.decision.reader_text.reference_list import escape
from workers.decision.reader_text.source_addresses import source_address
from workers.evaluation.text.structure.segmentation import Sentence, code_ranges, segment

InlinePolicy = Literal["keep", "link", "propose"]
UngroundedPolicy = Literal["keep", "mark", "omit"]

UNSUPPORTED_MARK = " [AI Inference - not supported by the sources]"
"""Mark after a claim that no source supports."""
CONTRADICTED_MARK = " [AI Inference - contradicted by the sources]"
"""Mark after a claim that a source contradicts."""
MAX_ADDED = 30_000
"""Maximum number of code points that marks add to an answer. An answer of 60,000, formatted, with references and marks,
fits the 200,000 of ``FormattedResponse.content``. Marks on claims have priority.
"""
MAX_ADDRESS = 500
"""Maximum length of an address in a link, code points."""

_CLOSING = re.compile(r"[.!?。！？…*_\s]*$")

_EMPTY_LINE = re.compile(r"[ \t>]*(?:(?:[-*+•]|\d{1,9}[.)])[ \t]*)?(?:\[[^\[\]\n]{0,500}\][ \t]*)*[*_]*\s*")


class Edit(NamedTuple):
    """Replace ``text[start:end]``."""

    start: int
    end: int
    replacement: str


def annotate(
    text: str,
    citations: Sequence[Citation],
    claims: Sequence[Claim],
    *,
    inline: InlinePolicy = "keep",
    ungrounded: UngroundedPolicy = "keep",
    rules: Mapping[str, str] | None = None,
    markers: Mapping[int, str] | None = None,
) -> str:
    """Insert the marks for readers into an answer.

    Args:
        text: the raw answer, to which all spans refer.
        citations: its citations.
        claims: its claims with their verdicts.
        inline: policy for its citations.
        ungrounded: policy for its claims without support.
        rules: see ``source_address``.
        markers: the marker to write for a source by its number; ``[n]`` for others.
    """
    if inline == "keep" and ungrounded == "keep":
        return text
    sentences = segment(text)
    code = code_ranges(text, sentences)
    edits: list[Edit] = []
    if ungrounded != "keep":
        edits.extend(_ungrounded(text, claims, sentences, omit=ungrounded == "omit"))
        edits.extend(_emptied_lines(text, [edit for edit in edits if not edit.replacement]))
    if inline != "keep":
        edits.extend(_links(text, citations, rules))
    if inline == "propose":
        edits.extend(_proposals(text, claims, markers or {}))
    return _applied(text, _affordable(edit for edit in edits if not _in_code(edit, code)))


def _links(text: str, citations: Sequence[Citation], rules: Mapping[str, str] | None) -> Iterator[Edit]:
    """Convert markers of one source to links; keep "[1, 2]", which names several."""
    named: dict[tuple[int, int], list[Citation]] = {}
    for citation in citations:
        for span in citation.spans:
            named.setdefault((span.start, span.end), []).append(citation)
    for (start, end), sources in named.items():
        marker = text[start:end]
        address = source_address(sources[0], rules) if len(sources) == 1 else None
        is_marker = marker.startswith("[") and marker.endswith("]") and "](" not in marker
        if (
            address
            and len(address) <= MAX_ADDRESS
            and is_marker
            and text[end : end + 1] not in ("(", ":")
            and "\n" not in marker
        ):
            # Brackets in the text of a link must be balanced. They are: markers contain no others.
            yield Edit(
                start, end, f"[{marker}](<{address}>)" if re.search(r"[()]", address) else f"[{marker}]({address})"
            )


def _proposals(text: str, claims: Sequence[Claim], markers: Mapping[int, str]) -> Iterator[Edit]:
    for claim in claims:
        if claim.calculations:
            place = _end_of_words(text, claim)
            yield Edit(
                place, place, "".join(f" [Calculation: {escape(each.expression)}]" for each in claim.calculations)
            )
        if claim.proposed_numbers and not claim.cited_numbers:
            place = _end_of_words(text, claim)
            yield Edit(place, place, "".join(f" {markers.get(n, f'[{n}]')}" for n in claim.proposed_numbers))


def _ungrounded(text: str, claims: Sequence[Claim], sentences: Sequence[Sentence], *, omit: bool) -> Iterator[Edit]:
    whole = {(sentence.start, sentence.end) for sentence in sentences if sentence.block != "table_row"}
    for claim in claims:
        if claim.verdict not in ("unsupported", "contradicted"):
            continue
        start, end = claim.span.start, claim.span.end
        if omit and (start, end) in whole:
            yield Edit(start, end, "")
        else:
            mark = CONTRADICTED_MARK if claim.verdict == "contradicted" else UNSUPPORTED_MARK
            place = end if text[end - 1 : end] in ".!?。！？" else _end_of_words(text, claim)
            yield Edit(place, place, mark)


def _emptied_lines(text: str, removals: Sequence[Edit]) -> Iterator[Edit]:
    """Remove the lines of which removals leave only a bullet, a number or citations."""
    lines = {text.rfind("\n", 0, edit.start) + 1 for edit in removals}
    for start in sorted(lines):
        end = text.find("\n", start) + 1 or len(text)
        inner = [edit for edit in removals if start <= edit.start and edit.end <= end]
        left = _applied(text[start:end], [Edit(edit.start - start, edit.end - start, "") for edit in inner])
        if _EMPTY_LINE.fullmatch(left):
            yield Edit(start, end, "")


def _end_of_words(text: str, claim: Claim) -> int:
    """Return the offset after a claim's last word and the bracket or quotation mark behind it, before its full stop."""
    closing = _CLOSING.search(text[claim.span.start : claim.span.end])
    return claim.span.start + closing.start() if closing else claim.span.end


def _in_code(edit: Edit, code: Sequence[tuple[int, int]]) -> bool:
    """Return true if an edit overlaps code; an edit next to code is allowed."""
    index = bisect_right(code, edit.start, key=lambda span: span[0])
    if index and edit.start < code[index - 1][1] and (edit.start > code[index - 1][0] or edit.end > edit.start):
        return True
    return index < len(code) and code[index][0] < edit.end


def _affordable(edits: Iterable[Edit]) -> list[Edit]:
    """Return the edits, in order, that add at most ``MAX_ADDED``."""
    kept, added = [], 0
    for edit in edits:
        longer = len(edit.replacement) - (edit.end - edit.start)
        if longer <= 0 or added + longer <= MAX_ADDED:
            kept.append(edit)
            added += max(0, longer)
    return kept


def _applied(text: str, edits: Sequence[Edit]) -> str:
    parts, position = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, -edit.end if not edit.replacement else edit.end)):
        # Edits within an omitted sentence are omitted as well.
        if edit.start < position:
            continue
        parts += [text[position : edit.start], edit.replacement]
        position = edit.end
    return "".join([*parts, text[position:]])
