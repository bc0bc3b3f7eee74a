"""Parse the Markdown structure that formatting must preserve: blocks by line, protected inline ranges.

Blocks come from markdown-it-py's block parser with CommonMark and tables, like in a renderer (segmentation differs
intentionally). The inline parser is not used, because it is slow on hostile text and only the ranges that must not
change are needed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

_PARSER = MarkdownIt("commonmark").enable("table")
_DEEPEST = 17
"""Maximum level of tokens that are certainly parsed completely: markdown-it omits content nested 20 levels deep, and a
list adds two levels.
"""

_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
_LINE_END = re.compile(r"\r\n?")
_CODE_BLOCKS = ("fence", "code_block", "html_block")


@dataclass(frozen=True, slots=True)
class Document:
    """Represent a text by lines and blocks.

    Attributes:
        lines: raw lines with their line ends; joined they give the text.
        tokens: block tokens of markdown-it, whose maps count ``lines``.
        code: numbers of the lines with code blocks or HTML blocks.
        complete: True if the parser read everything; otherwise the text must not be changed.
    """

    lines: list[str]
    tokens: list[Token]
    code: frozenset[int]
    complete: bool

    def is_blank(self, number: int) -> bool:
        """Return true if a line is blank in Markdown: empty, or only spaces and tabs."""
        return not self.lines[number].strip(" \t\r\n")


def parse(text: str) -> Document:
    """Parse the blocks of a text."""
    tokens: list[Token] = []
    _PARSER.block.parse(_LINE_END.sub("\n", text).replace("\0", "\ufffd"), _PARSER, {}, tokens)
    code = {number for token in tokens if token.type in _CODE_BLOCKS and token.map for number in range(*token.map)}
    return Document(_LINE.findall(text), tokens, frozenset(code), all(token.level <= _DEEPEST for token in tokens))


def paragraphs(document: Document) -> Iterator[tuple[int, int]]:
    """Yield line ranges (end exclusive) of paragraphs outside quotations; omit headings and tables."""
    quotes = 0
    for opening, token in pairwise(document.tokens):
        quotes += {"blockquote_open": 1, "blockquote_close": -1}.get(opening.type, 0)
        if token.type == "inline" and opening.type == "paragraph_open" and not quotes and token.map:
            yield token.map[0], token.map[1]


_SPECIAL = re.compile(r"\\|`+|<|https?://|www\.|\[|\]", re.IGNORECASE)
_TAG = re.compile(r"<[A-Za-z/!?][^<>]*+>")
_ADDRESS = re.compile(r"[^\s<>`]*+")
_DESTINATION = re.compile(r"\]\([^()]*+(?:\([^()]*+\)[^()]*+)*+\)|\]\[[^\[\]]*+\]")


def protected_ranges(text: str) -> list[tuple[int, int]]:
    """Return the ranges of a paragraph that must not change, merged and in order.

    These are inline code, links with their text, images, anything else in square brackets
    (citation markers), HTML tags and addresses. One pass runs from left to right, because the range that begins first
    has
    priority: a backtick inside a tag does not open code.
    """
    closings = _backtick_runs(text)
    brackets: list[int] = []
    ranges: list[tuple[int, int]] = []
    position = 0
    while special := _SPECIAL.search(text, position):
        start, position = special.span()
        mark = special[0]
        if mark == "\\":
            position += 1
        elif mark[0] == "`":
            ends = closings.get(len(mark), [])
            while ends and ends[-1] <= position:
                ends.pop()
            position = ends[-1] if ends else position
        elif mark == "<":
            tag = _TAG.match(text, start)
            position = tag.end() if tag else position
        elif mark == "[":
            brackets.append(start)
            continue
        elif mark == "]":
            destination = _DESTINATION.match(text, start)
            position = destination.end() if destination else position
            start = brackets.pop() if brackets else start
        else:
            address = _ADDRESS.match(text, position)
            position = address.end() if address else position
        ranges.append((start, position))
    return _merged(ranges)


def _backtick_runs(text: str) -> dict[int, list[int]]:
    """Map the length of each run of backticks to the ends of such runs, the first on top."""
    runs: dict[int, list[int]] = {}
    for match in reversed(list(re.finditer("`+", text))):
        runs.setdefault(len(match[0]), []).append(match.end())
    return runs


def _merged(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


_HTML_ENDS = (
    (re.compile(r"<!--"), re.compile("-->"), "-->"),
    (re.compile(r"<\?"), re.compile(r"\?>"), "?>"),
    (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>"), "]]>"),
    (re.compile(r"<![A-Za-z]"), re.compile(">"), ">"),
    (
        re.compile(r"<(?:script|pre|style|textarea)(?:\s|>|$)", re.IGNORECASE),
        re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE),
        "</pre>",
    ),
)
"""Start and end of HTML blocks that a blank line does not end (CommonMark 4.6)."""


def closed(text: str) -> str:
    """Close a fence or HTML block that a text leaves open, so that appended text is read as text."""
    if not any(mark in text for mark in ("```", "~~~", "<")):
        return text
    # Add a line end, so that each line of the content counts as one.
    tokens = parse(text + "\n").tokens
    # A block in a list or quotation ends with its container.
    if not tokens or tokens[-1].level or not tokens[-1].map:
        return text
    ending = ""
    if tokens[-1].type == "fence":
        ending = _fence_end(tokens[-1])
    elif tokens[-1].type == "html_block":
        ending = _html_end(tokens[-1].content)
    separator = "" if not ending or text.endswith("\n") else "\n"
    return f"{text}{separator}{ending}"


def _fence_end(fence: Token) -> str:
    first, last = fence.map or (0, 0)
    # A fence spans its opening line, its content and, only if it is closed, one line more.
    is_closed = last - first == fence.content.count("\n") + 2
    return "" if is_closed else fence.markup


def _html_end(content: str) -> str:
    for opening, closing, ending in _HTML_ENDS:
        if opening.match(content.lstrip()):
            return "" if closing.search(content) else ending
    return ""
