"""Give the text of Markdown without its syntax, for places that show one line: claims, and the beginnings of answers."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from markdown_it.token import Token

from workers.console.presentation.rendering import MARKDOWN
from workers.console.presentation.views import ClaimView
from workers.evaluation.text.visible_text import MAX_SHOWN

BETWEEN_CELLS, BETWEEN_ROWS = " · ", "; "
_LINE_END = re.compile(r"\r\n?|\n")
_CELL_END = re.compile(r"(?<!\\)\|")
_BREAKS = frozenset({"softbreak", "hardbreak"})


def plain_text(text: str) -> str:
    """Return Markdown as one line of text; cells and rows of tables are kept apart."""
    return _joined(_parts(MARKDOWN.parse(text[:MAX_SHOWN])))


def claim_words(text: str, claims: Sequence[ClaimView]) -> dict[str, str]:
    """Return the words of each claim of an answer by ``claim_id``, without Markdown.

    Args:
        text: the raw answer.
        claims: claims with their offsets in it, code points.
    """
    text = text[:MAX_SHOWN]
    begins = [0, *(match.end() for match in _LINE_END.finditer(text))]
    rows = {
        line for token in MARKDOWN.parse(text) if token.type == "table_open" and token.map for line in range(*token.map)
    }
    return {claim.claim_id: _claim(text, claim, begins, rows) or claim.text for claim in claims}


def _claim(text: str, claim: ClaimView, begins: Sequence[int], rows: set[int]) -> str:
    line = bisect_right(begins, claim.start) - 1
    if line in rows:
        return BETWEEN_CELLS.join(filter(None, map(_inline_text, _CELL_END.split(claim.text))))
    # Within a line, what looks like the begin of a list or a quotation is a sign of the text: "> 5 kg".
    begins_line = not text[begins[line] : claim.start].strip()
    return plain_text(claim.text) if begins_line else _inline_text(claim.text)


def _inline_text(text: str) -> str:
    return _joined(_parts(MARKDOWN.parseInline(text.strip())))


def _joined(parts: Iterator[str]) -> str:
    return " ".join("".join(parts).split())


def _parts(tokens: Sequence[Token]) -> Iterator[str]:
    """Yield texts and what separates them."""
    cells = 0
    for token in tokens:
        match token.type:
            case "inline":
                yield "".join(_words(token.children or [])) + ("" if cells else " ")
            case "fence" | "code_block":
                yield f"{token.content} "
            case "td_open" | "th_open":
                yield BETWEEN_CELLS if cells else ""
                cells += 1
            case "tr_close":
                yield BETWEEN_ROWS
                cells = 0


def _words(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        yield " " if token.type in _BREAKS else token.content
