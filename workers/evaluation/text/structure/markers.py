"""Find the citation markers of an answer, with offsets.

Forms: ``[1]``, ``[1, 2]``, ``[1 and 2]``, ``[1-3]``, ``[1, p. 3]``, ``[^1]``, ``[^1^]``, ``【1】``, ``[[1]](address)``,
``[Source 1]``, ``[doc1]``, ``[Doc 1, Doc 2]``, ``[Document 1: name]``, ``[citation:1]``, ``[cite: 1, 2]`` and OpenAI's
``【4:0†name】``, whose second number counts from 0 (numeric); ``[Source: 1, 2]`` unless a context has that name;
``[Source: table/record]``, ``[Evidence: metric at timestamp]``, ``[Memory: …]``, ``[Tool: name or call]`` and a bare
identifier of a call, ``[call_Xy12]``;
``[AI Inference …]`` (names no source); Markdown links and bare addresses (link).

Not a marker:

1. Anything in code, inline or fenced.
2. A footnote or reference definition, ``[1]: …`` at the start of a line.
3. A task-list box ``[ ]``, ``[x]`` (it holds no number).
4. An interval: several numbers of which one is 0, as in "values in [0, 1]". A lone ``[0]`` is
   a marker, an invalid one.
5. An array index. Directly behind a letter, digit, ``_`` or ``)`` without a space, a number in
   brackets is a citation only if all its numbers are within the contexts and the token before it is not an identifier:
   letters only and at least two of them in ordinary case ("limit[1]"), or digits only ("in 2024[1]"), or a closing
   parenthesis of prose ("(2 GiB)[1]"). So ``arr[0]``, ``x[1]``, ``max_size[1]``, ``node2[1]``, ``maxSize[1]``,
   ``spec.limits[1]`` and ``f(x)[1]`` are not citations.
6. The second half of a reference link ``[text][1]`` whose definition is in the answer.

A number that cannot be cited is kept as ``out_of_range``; ranges are clipped to the contexts
before they are expanded, so ``[1-999999999]`` costs nothing.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from schemas.citations import CitationForm
from workers.evaluation.text.structure.segmentation import Sentence, code_ranges, segment


@dataclass(frozen=True, slots=True)
class Marker:
    """Describe a reference in the answer.

    Attributes:
        start: offset in the answer, code points.
        end: offset after its last character.
        text: ``answer[start:end]``.
        form: format of the reference.
        numbers: contexts named by number, from 1, ascending, all within the contexts.
        out_of_range: True if it contains a number without a context.
        target: other reference: a record, a metric, an address or a remark.
    """

    start: int
    end: int
    text: str
    form: CitationForm
    numbers: tuple[int, ...] = ()
    out_of_range: bool = False
    target: str = ""

    @property
    def is_bare(self) -> bool:
        """Return true for an address without words of its own."""
        return self.form == "link" and not self.text.startswith("[")


_NUMBERS = r"\^?\d{1,18}\^?(?:\s{0,3}(?:[-–—,;&]|,? and\b)\s{0,3}\^?\d{1,18}\^?){0,60}+"
_PLACE = r"(?:,?\s{1,3}(?:pp?\.|pages?|§|sec\.|section|chapter|ch\.)\s{0,3}[\w.–-]{1,20})?"
"""Page or section within a source: "[1, p. 3]"."""
_NUMERIC = re.compile(
    rf"\[\s{{0,3}}({_NUMBERS}){_PLACE}\s{{0,3}}\]|【\s{{0,3}}({_NUMBERS})\s{{0,3}}(?:†[^【】]{{0,100}})?】"
)
_LABEL = r"(?:sources?|documents?|docs?|passages?|contexts?|chunks?|citations?|cite|references?|refs?|tool(?: (?:call|result|output))?)"
_NUMBERED = rf"(?:{_LABEL}\s{{0,2}}[:#]?\s{{0,2}})?#?(?:{_LABEL}\s{{0,2}})?#?\d{{1,18}}"
_LABELLED = re.compile(
    rf"\[{_LABEL}\s{{0,2}}[:#]?\s{{0,2}}({_NUMBERED}(?:\s{{0,3}}(?:[-–—,;&]|,? and\b)\s{{0,3}}{_NUMBERED}){{0,60}}+)"
    rf"(?:{_PLACE}|\s{{0,2}}:[^\[\]\n]{{1,200}}+)\](?!\()",
    re.IGNORECASE,
)
_LISTED = re.compile(
    rf"#?(?:{_LABEL}\s?)?#?\d{{1,3}}(?:\s?(?:[-–—,;&]|,? and\b)\s?#?(?:{_LABEL}\s?)?#?\d{{1,3}}){{0,60}}+{_PLACE}",
    re.IGNORECASE,
)
"""Numbers of contexts behind "Source:", which name no record: "1, 2", "1-2", "#1", "Document 1"."""
_PAGE = re.compile(rf"{_PLACE}$", re.IGNORECASE)
"""Numbers behind a word for sources: "[Source: 1, 2]", "[Doc 1, Doc 2]", "[cite: 1]", "[Document 7: name]"."""
_RETRIEVED = re.compile(r"【\s{0,3}\d{1,9}:(\d{1,9})(?:†([^【】]{0,200}))?】")
_RANGE = re.compile(r"(\d+)(?:\^?\s*[-–—]\s*\^?(\d+))?")
_TYPED = re.compile(
    r"\[(source|evidence|memory|tool(?: (?:call|result|output))?|function)\s{0,3}:\s{0,3}([^\[\]]{1,500}+)\]",
    re.IGNORECASE,
)
_CALL = re.compile(r"\[((?:call|toolu|srvtoolu|tooluse|fc|fs|ci|ws|mcp)_[\w-]{1,190})\](?!\()")
"""Identifiers that services give to calls of tools."""
_INFERENCE = re.compile(
    r"\[(?:AI[ -])?inference\b([^\[\]]{0,500}+)\](?!\()|\(AI[ -]inference\b([^()]{0,500}+)\)", re.IGNORECASE
)
_LINK = re.compile(
    r"(?<!!)\[((?:\[\^?\d{1,18}\]|[^\[\]]{0,300}+))\]\(\s{0,3}<?((?:[^\s()<>]|\([^\s()<>]{0,200}+\)){1,2000}+)>?"
    r"(?:\s{1,3}\"([^\"\n]{0,200}+)\")?\s{0,3}\)"
)
_ADDRESS = re.compile(r"(?<!\]\()(?:https?://|(?<![\w./@-])www\.)[^\s<>()\[\]]{0,2000}[^\s<>()\[\].,;:!?'\"*_]")
_DEFINITION = re.compile(r"(?m)^[ \t>]{0,12}\[\^?([^\[\]\n]{1,80})\]:")
_TOKEN_BEFORE = re.compile(r"[\w.]+$")
_PROSE_WORD = re.compile(r"[^\W\d_]?[^\W\d_A-Z]+|[A-Z]{2,}s?")


def find_markers(text: str, contexts: int, sentences: Sequence[Sentence] | None = None) -> list[Marker]:
    """Find the citation markers of an answer.

    Args:
        text: the raw answer.
        contexts: number of contexts of the answer, the maximum valid number.
        sentences: its segmentation, if it exists already.

    Returns:
        Markers in order and without overlap.
    """
    code = code_ranges(text, list(segment(text) if sentences is None else sentences))
    # Label of each definition with the position of its bracket.
    defined = {match[1]: text.index("[", match.start()) for match in _DEFINITION.finditer(text)}
    definitions = set(defined.values())
    found = [
        *_links(text, contexts),
        *_typed(text, contexts),
        *_numeric(text, contexts, defined),
        *_labelled(text, contexts),
    ]
    markers: list[Marker] = []
    for marker in sorted(found, key=lambda marker: (marker.start, -marker.end)):
        if markers and marker.start < markers[-1].end:
            continue
        if marker.start not in definitions and not _inside(marker.start, code):
            markers.append(marker)
    return markers


def with_markers(sentences: Sequence[Sentence], markers: Sequence[Marker]) -> Iterator[tuple[Sentence, list[Marker]]]:
    """Yield each sentence with the markers that overlap it; both in order of the text."""
    first = 0
    for sentence in sentences:
        while first < len(markers) and markers[first].end <= sentence.start:
            first += 1
        last = first
        while last < len(markers) and markers[last].start < sentence.end:
            last += 1
        yield sentence, list(markers[first:last])


def without_markers(text: str, start: int, markers: Sequence[Marker]) -> str:
    """Remove the markers from a span of the answer; links keep their words and their title.

    Args:
        text: ``answer[start:start + len(text)]``.
        start: its offset in the answer.
        markers: markers of the answer, in order.
    """
    parts, position = [], 0
    for marker in markers:
        left, right = marker.start - start, marker.end - start
        if left < position or right > len(text):
            continue
        words = _LINK.fullmatch(marker.text) if marker.form == "link" else None
        parts += [text[position:left], words[1] if words and not _is_numeric(words[1]) else ""]
        if words and words[3]:
            parts.append(f" {words[3]}")
        position = right
    return "".join([*parts, text[position:]])


def _is_numeric(words: str) -> bool:
    return words.strip().strip("[]^").isdecimal()


def _inside(offset: int, ranges: list[tuple[int, int]]) -> bool:
    index = bisect_right(ranges, offset, key=lambda span: span[0]) - 1
    return index >= 0 and offset < ranges[index][1]


def _numbers(written: str, contexts: int) -> tuple[tuple[int, ...], bool]:
    """Return the numbers within the range of contexts, and true if there are others."""
    chosen: set[int] = set()
    outside = False
    for match in _RANGE.finditer(written):
        first = int(match[1])
        last = int(match[2]) if match[2] else first
        low, high = min(first, last), max(first, last)
        outside = outside or low < 1 or high > contexts
        chosen.update(range(max(low, 1), min(high, contexts) + 1))
    return tuple(sorted(chosen)), outside


def _numeric(text: str, contexts: int, defined: dict[str, int]) -> list[Marker]:
    markers = []
    for match in _NUMERIC.finditer(text):
        written = match[1] or match[2]
        if _is_interval(written) or (match[1] and text.startswith("](", match.end() - 1)):
            continue
        numbers, outside = _numbers(written, contexts)
        before = text[max(0, match.start() - 80) : match.start()]
        if match[1] and _is_index(before, outside):
            continue
        if before.endswith("]") and written in defined and not re.search(r"\[[\^\d,;\s–-]+\]$", before):
            continue
        markers.append(Marker(match.start(), match.end(), match[0], "numeric", numbers, outside))
    return markers


def _labelled(text: str, contexts: int) -> list[Marker]:
    """Find numbers after a label word, and the marks of OpenAI's file search."""
    markers = []
    for match in _LABELLED.finditer(text):
        numbers, outside = _numbers(match[1], contexts)
        markers.append(Marker(match.start(), match.end(), match[0], "numeric", numbers, outside))
    for match in _RETRIEVED.finditer(text):
        numbers, outside = _numbers(str(int(match[1]) + 1), contexts)
        name = (match[2] or "").strip()
        target = "" if name.casefold() == "source" else name
        markers.append(Marker(match.start(), match.end(), match[0], "numeric", numbers, outside, target))
    return markers


def _is_interval(written: str) -> bool:
    parts = re.findall(r"\d+", written)
    return len(parts) > 1 and any(int(part) == 0 for part in parts)


def _is_index(before: str, outside: bool) -> bool:
    """Return true if brackets after this text are an index (rule 5 of the module)."""
    last = before[-1:]
    if not (last.isalnum() or last in ("_", ")")):
        return False
    if outside:
        return True
    if last == ")":
        opening = before.rfind("(")
        return opening < 0 or (opening > 0 and (before[opening - 1].isalnum() or before[opening - 1] == "_"))
    token = _TOKEN_BEFORE.search(before)
    word = token[0].lstrip(".") if token else ""
    if word.replace(".", "").isdigit():
        return False
    return len(word) < 2 or not _PROSE_WORD.fullmatch(word)


def _typed(text: str, contexts: int) -> list[Marker]:
    markers = []
    for match in _TYPED.finditer(text):
        form: CitationForm = "source"
        if match[1].lower() == "evidence":
            form = "evidence"
        elif match[1].lower() == "memory":
            form = "memory"
        target = " ".join(match[2].split())
        is_number = (target.isdigit() and len(target) < 19) or _LISTED.fullmatch(target) is not None
        numbers, outside = _numbers(_PAGE.sub("", target), contexts) if is_number else ((), False)
        markers.append(Marker(match.start(), match.end(), match[0], form, numbers, outside, target))
    markers += [Marker(m.start(), m.end(), m[0], "source", target=m[1]) for m in _CALL.finditer(text)]
    for match in _INFERENCE.finditer(text):
        remark = " ".join((match[1] or match[2] or "").split()).lstrip("-–—: ")
        markers.append(Marker(match.start(), match.end(), match[0], "inference", target=remark))
    return markers


def _links(text: str, contexts: int) -> list[Marker]:
    """Find Markdown links and bare addresses."""
    markers = []
    for match in _LINK.finditer(text):
        words = match[1].strip().strip("[]").lstrip("^")
        numbers, outside = _numbers(words, contexts) if words.isdecimal() and len(words) < 19 else ((), False)
        markers.append(Marker(match.start(), match.end(), match[0], "link", numbers, outside, match[2]))
    bare = _ADDRESS.finditer(text)
    markers.extend(Marker(match.start(), match.end(), match[0], "link", target=match[0]) for match in bare)
    return markers
