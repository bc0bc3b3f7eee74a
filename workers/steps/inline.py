"""Marks inside an answer for its readers: links on citations, proposed citations, "AI inference".

Every mark is an edit at an offset of the raw answer, made before anything else is changed, so
that the offsets of the reports hold. An edit never lies in code.

| mark | policy | example |
|---|---|---|
| a link on a marker whose source has an address | ``link`` and ``propose`` | ``[1]`` becomes ``[[1]](https://…)`` |
| a marker that a supported claim lacks | ``propose`` | "… at 14:03." becomes "… at 14:03 [1]." |
| the calculation behind a derived figure | ``propose`` | "… cost $2,350 [Calculation: 47 minutes × $3,000 per hour = $2,350]." |
| "AI inference" behind a claim without support (seed 004) | ``mark`` | "… by a leak. [AI Inference - not supported by the sources]" |
| the claim left out | ``omit`` | only a whole sentence, list item or row; a part of one is marked |
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from schemas.citations import Citation
from schemas.grounding import Claim
from workers.steps.addresses import source_address
from workers.steps.references import escape
from workers.steps.segmentation import Sentence, code_ranges, segment

InlinePolicy = Literal["keep", "link", "propose"]
UngroundedPolicy = Literal["keep", "mark", "omit"]

UNSUPPORTED_MARK = " [AI Inference - not supported by the sources]"
"""Put behind a claim that no source supports."""
CONTRADICTED_MARK = " [AI Inference - contradicted by the sources]"
"""Put behind a claim that a source contradicts."""
MAX_ADDED = 30_000
"""Most code points that marks add to an answer: an answer of 60,000, formatted, its references and
these still fit the 200,000 of ``FormattedResponse.content``. Marks on claims come first."""
MAX_ADDRESS = 500
"""Longest address that a marker is linked to, code points."""

_CLOSING = re.compile(r"[.!?。！？…\"”’»)*_\s]*$")


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
) -> str:
    """Mark an answer for its readers.

    Args:
        text: the raw answer, to which all spans refer.
        citations: what it cites.
        claims: its claims with their verdicts.
        inline: what is done to its citations.
        ungrounded: what is done to its claims without support.
        rules: see ``source_address``.
    """
    if inline == "keep" and ungrounded == "keep":
        return text
    sentences = segment(text)
    code = code_ranges(text, sentences)
    edits: list[Edit] = []
    if ungrounded != "keep":
        edits.extend(_ungrounded(text, claims, sentences, omit=ungrounded == "omit"))
    if inline != "keep":
        edits.extend(_links(text, citations, rules))
    if inline == "propose":
        edits.extend(_proposals(text, claims))
    return _applied(text, _affordable(edit for edit in edits if not _in_code(edit, code)))


def _links(text: str, citations: Sequence[Citation], rules: Mapping[str, str] | None) -> Iterator[Edit]:
    """Markers of one source become links to it; "[1, 2]" names several and stays."""
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
            # Inside a link's words brackets must be balanced, and they are: markers hold no others.
            yield Edit(
                start, end, f"[{marker}](<{address}>)" if re.search(r"[()]", address) else f"[{marker}]({address})"
            )


def _proposals(text: str, claims: Sequence[Claim]) -> Iterator[Edit]:
    for claim in claims:
        if claim.calculations:
            place = _end_of_words(text, claim)
            yield Edit(
                place, place, "".join(f" [Calculation: {escape(each.expression)}]" for each in claim.calculations)
            )
        if claim.proposed_numbers and not claim.cited_numbers:
            place = _end_of_words(text, claim)
            yield Edit(place, place, "".join(f" [{number}]" for number in claim.proposed_numbers))


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


def _end_of_words(text: str, claim: Claim) -> int:
    """The offset behind a claim's last word, before its full stop and closing marks."""
    closing = _CLOSING.search(text[claim.span.start : claim.span.end])
    return claim.span.start + closing.start() if closing else claim.span.end


def _in_code(edit: Edit, code: Sequence[tuple[int, int]]) -> bool:
    """Whether an edit touches code; beside it, it may add."""
    index = bisect_right(code, edit.start, key=lambda span: span[0])
    if index and edit.start < code[index - 1][1] and (edit.start > code[index - 1][0] or edit.end > edit.start):
        return True
    return index < len(code) and code[index][0] < edit.end


def _affordable(edits: Iterable[Edit]) -> list[Edit]:
    """The edits, in order, that add at most ``MAX_ADDED``."""
    kept, added = [], 0
    for edit in edits:
        longer = len(edit.replacement) - (edit.end - edit.start)
        if longer <= 0 or added + longer <= MAX_ADDED:
            kept.append(edit)
            added += max(0, longer)
    return kept


def _applied(text: str, edits: Sequence[Edit]) -> str:
    parts, position = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        # What lies in a sentence that is left out goes with it.
        if edit.start < position:
            continue
        parts += [text[position : edit.start], edit.replacement]
        position = edit.end
    return "".join([*parts, text[position:]])
