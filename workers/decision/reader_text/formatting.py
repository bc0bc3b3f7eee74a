"""Format an answer for readers: normalised Markdown with references.

The formatter changes: runs of blank lines, bullets, labels such as "Note:" at the start of a line, a missing space
between two sentences, and the missing language of a code block if the code identifies it. Code, named languages, HTML,
tables, quotations, links, addresses and anything in square brackets are never changed. The standard style is idempotent.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise, takewhile

from schemas.citations import Citation
from workers.decision.reader_text.reference_list import Style, format_references
from workers.evaluation.text.structure.code_language import detect_language
from workers.evaluation.text.structure.markdown import Document, closed, paragraphs, parse, protected_ranges

CACHED = 100
"""Number of cached formatted answers; the longest ones take about 10 MB together."""
_THEMATIC_BREAK = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")
_FOREIGN_BULLET = re.compile(r"^( {0,3})[•●▪◦‣][ \t]+(?!\d+[.)])(?=\*{0,2}[\w(\"'„“«])")
"""A bullet that Markdown does not know, before a text that cannot open another block."""
_LABEL = re.compile(
    r"(?P<before>[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(?P<label>Error|Warning|Critical|Important|Note)(?=:(?:\s|$))"
)
_LINE_END = re.compile(r"[\r\n]")
_EMPHASIS = re.compile(r"\*|(?<!\w)_|_(?!\w)")
_SENTENCE_STARTS = (
    "The|This|That|These|Those|There|It|Its|If|In|You|Your|We|They|However|For|To|When|While|After|Before|Also|As|At|By"
    "|Then|And|But|So|Please|Der|Die|Das|Es|Wenn|Sie|Le|La|Les|Il|Elle|El|Los|Las"
)
_MISSING_SPACE = re.compile(rf"(?<!\S)(?P<before>[^\s./\\@]*(?:[a-z]{{2}}|[)\]]))\.(?=(?:{_SENTENCE_STARTS})\s)")


def format_answer(
    text: str, citations: Sequence[Citation], *, style: Style = "standard", include_references: bool = True
) -> str:
    """Format an answer for readers.

    Args:
        text: the raw answer, Markdown.
        citations: citations of the answer, for the references.
        style: ``standard``; ``compact`` without blank lines in lists, after headings and between references;
            ``verbose`` with the heading "Response" if the answer has none.
        include_references: append the list of references.
    """
    formatted = _styled(text, style)
    if include_references and citations:
        formatted = closed(formatted) + format_references(citations, style=style)
    return formatted


@lru_cache(maxsize=CACHED)
def _styled(text: str, style: Style) -> str:
    """Return the formatted answer without references; cache the result, so that a repeat is not parsed again."""
    formatted = _tidied(text)
    if style == "compact":
        return _compacted(formatted)
    return _headed(formatted) if style == "verbose" else formatted


def _tidied(text: str) -> str:
    document = parse(text)
    if not document.complete:
        return text
    named = _name_languages(document)
    document = document if named == text else parse(named)
    text = named
    # Bullets first: they decide what a list is, and so where a line starts.
    unified = _unify_bullets(document)
    document = document if unified == text else parse(unified)
    lines = list(document.lines)
    for first, last in paragraphs(document):
        raw = "".join(lines[first:last])
        prose = _space_sentences(_emphasise_labels(raw))
        lines[first:last] = [prose, *[""] * (last - first - 1)]
    return _strip_blank_lines(document, lines)


def _name_languages(document: Document) -> str:
    """Add the language to fenced code without one, where it is certain."""
    lines = list(document.lines)
    for token in document.tokens:
        if token.type != "fence" or not token.map or token.info.strip():
            continue
        number = token.map[0]
        opening = lines[number].rstrip()
        language = detect_language(token.content) if opening.endswith(token.markup) else None
        if language is not None:
            lines[number] = opening + language + lines[number][len(opening) :]
    return "".join(lines)


def _unify_bullets(document: Document) -> str:
    """Write every bullet as ``-``; a numbered list keeps its numbers."""
    lines = list(document.lines)
    for token in document.tokens:
        if token.type == "list_item_open" and token.markup in ("*", "+") and token.map:
            number = token.map[0]
            stripped = lines[number].lstrip(" \t")
            dashed = lines[number][: len(lines[number]) - len(stripped)] + "-" + stripped[1:]
            if stripped.startswith(token.markup) and not _THEMATIC_BREAK.match(dashed.rstrip()):
                lines[number] = dashed
    for first, last in paragraphs(document):
        bullets = [number for number in range(first, last) if _FOREIGN_BULLET.match(lines[number])]
        if bullets and _is_plain_list(document, first, bullets, last):
            for number in bullets:
                lines[number] = _FOREIGN_BULLET.sub(r"\1- ", lines[number])
    return "".join(lines)


def _is_plain_list(document: Document, first: int, bullets: Sequence[int], last: int) -> bool:
    """Return true if lines with foreign bullets can become a list without any other change.

    They must end their paragraph, code or a link must not span a line end, and no indented text may follow, which would
    become part of the list.
    """
    if len(bullets) != last - bullets[0] or not _is_followed_by_text(document, last):
        return False
    paragraph = "".join(document.lines[first:last]).rstrip("\r\n")
    return not any(_LINE_END.search(paragraph, start, end) for start, end in protected_ranges(paragraph))


def _is_followed_by_text(document: Document, number: int) -> bool:
    """Return true if no indented text follows, which would become part of the new list."""
    while number < len(document.lines) and document.is_blank(number):
        number += 1
    return number == len(document.lines) or document.lines[number][0] not in " \t"


def _emphasise_labels(paragraph: str) -> str:
    """Embolden a label at the start of a line: ``Note: …``.

    A label is followed by a colon. It is changed only where no emphasis can be open: inside emphasis it is emphasised
    already, and in running text "Error" is an ordinary word.
    """
    if not any(label in paragraph for label in ("Error:", "Warning:", "Critical:", "Important:", "Note:")):
        return paragraph
    starts, ends = _bounds(paragraph)
    emphasis = (match.start() for match in _EMPHASIS.finditer(paragraph))
    first_emphasis = next((start for start in emphasis if not _is_protected(start, starts, ends)), len(paragraph))
    parts: list[str] = []
    position = 0
    for line in paragraph.splitlines(keepends=True):
        match = _LABEL.match(line)
        label = position + match.start("label") if match else 0
        if match and label < first_emphasis and not _is_protected(label, starts, ends):
            line = f"{match['before']}**{match['label']}**{line[match.end() :]}"
        parts.append(line)
        position += len(line)
    return "".join(parts)


def _space_sentences(paragraph: str) -> str:
    """Insert a space between sentences without one: ``restarts.The limit``.

    A word that starts sentences must follow and an ordinary word must precede, so that names such
    as "Node.JS" and "U.S.A" stay unchanged.
    """
    if not _MISSING_SPACE.search(paragraph):
        return paragraph
    starts, ends = _bounds(paragraph)

    def spaced(match: re.Match[str]) -> str:
        return match[0] if _is_protected(match.end() - 1, starts, ends) else match[0] + " "

    return _MISSING_SPACE.sub(spaced, paragraph)


def _bounds(paragraph: str) -> tuple[list[int], list[int]]:
    ranges = protected_ranges(paragraph)
    return [start for start, _ in ranges], [end for _, end in ranges]


def _is_protected(position: int, starts: list[int], ends: list[int]) -> bool:
    index = bisect_right(starts, position) - 1
    return index >= 0 and position < ends[index]


def _strip_blank_lines(document: Document, lines: list[str]) -> str:
    """Keep one blank line of a run outside of code, and no white space at either end."""
    filled = [number for number in range(len(lines)) if number in document.code or not document.is_blank(number)]
    if not filled:
        return ""
    kept: list[str] = []
    previous = filled[0] - 1
    for number in filled:
        kept += [lines[number - 1], lines[number]] if number - previous > 1 else [lines[number]]
        previous = number
    text = "".join(kept)
    if document.tokens and document.tokens[0].type == "paragraph_open":
        text = text.lstrip(" \t")
    return text if filled[-1] in document.code else text.rstrip(" \t\r\n")


def _compacted(text: str) -> str:
    """Remove blank lines between items of one list and after headings."""
    document = parse(text)
    if not document.complete:
        return text
    dropped: set[int] = set()
    for previous, token in pairwise([*document.tokens[:1], *document.tokens]):
        if not token.map:
            continue
        if token.type == "heading_open" and token.markup.startswith("#"):
            blank = [*_blank_lines(document, range(token.map[1], len(document.lines)))]
            # Without the line, indented code behind a heading in a quotation would be read as part of it.
            if blank and blank[-1] + 1 not in document.code:
                dropped.update(blank)
        elif token.type == "list_item_open" and previous.type == "list_item_close":
            dropped.update(_blank_lines(document, range(token.map[0] - 1, -1, -1)))
    return "".join(line for number, line in enumerate(document.lines) if number not in dropped)


def _blank_lines(document: Document, numbers: range) -> Iterator[int]:
    """Yield the blank lines, outside of code, at the start of a range."""
    return takewhile(lambda number: document.is_blank(number) and number not in document.code, numbers)


def _headed(text: str) -> str:
    """Add a heading to an answer that does not begin with one."""
    tokens = parse(text).tokens
    return text if not text or (tokens and tokens[0].type == "heading_open") else f"## Response\n\n{text}"
