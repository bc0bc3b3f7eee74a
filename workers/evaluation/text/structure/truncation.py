"""Detect texts that end abruptly, the sign of a truncated answer."""

import re
import unicodedata

_TERMINAL = frozenset(".!?…。！？．؟۔।॥")
_CLOSING = frozenset(")]}>\"'”’»›」』）】`|")
_OPEN_ENDED = frozenset(",;:，；：、([{-–—/=+&")
_DANGLING = frozenset(
    """and or but the a an of to with from because which whose that than whether then und oder aber der die das den dem ein eine
    einen mit für von zu weil dass et ou mais le la les un une des du de avec pour que y o pero el los las con para e i
    il lo gli di del della per che os as um uma do da com""".split()  # noqa: SIM905
)
_LAST_WORD = re.compile(r"(?<![.@/\\\w])([^\W\d_]+)$")
"""The last word, not a part of an address: "com" is a preposition in Portuguese."""
_URL_END = re.compile(r"https?://\S+$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*$", re.MULTILINE)
_ITEM = re.compile(r"(?:[-*+•]|\d{1,9}[.)])[ \t]")
SHORT_LINE = 12
"""Maximum number of words of a last line that may end without a stop: "Paris", "Total: 42 MB"."""
TAIL = 2_000
"""Number of last code points of the last line to check."""


def is_cut_off(text: str) -> bool:
    """Return true if a text ends abruptly.

    Complete endings: full stops of all scripts, closing quotes and brackets (also of citation markers), code,
    tables, symbols, addresses, list items and short lines. Truncated endings: an open fence, a heading without
    content, a comma, colon, dash or opening bracket, a word such as "the" or "and", a long line without a stop.
    """
    if ("```" in text or "~~~" in text) and _has_open_fence(text):
        return True
    before, _, line = text.rstrip().rpartition("\n")
    line = line.strip()
    if line.startswith("#") and line.lstrip("#")[:1] in (" ", ""):
        return bool(before.strip())
    if line.startswith("|") and line.endswith("|"):
        return False
    is_item = bool(_ITEM.match(line))
    line = line[-TAIL:].rstrip("*_~").rstrip()
    return bool(line) and _line_is_cut_off(line, is_item=is_item)


def _has_open_fence(text: str) -> bool:
    opened = ""
    for match in _FENCE.finditer(text):
        if not opened:
            opened = match[1]
        elif match[1].startswith(opened) and match[0].strip() == match[1]:
            opened = ""
    return bool(opened)


def _line_is_cut_off(line: str, *, is_item: bool) -> bool:
    end = line[-1]
    if end in _OPEN_ENDED:
        return not _URL_END.search(line[-500:])
    if end in _TERMINAL or end in _CLOSING or unicodedata.category(end)[0] == "S":
        return False
    word = _LAST_WORD.search(line[-40:])
    # A capital is a name or an option ("vitamin A"), not an article.
    if word and word[1] in _DANGLING:
        return True
    return not is_item and len(line.split()) > SHORT_LINE and not _URL_END.search(line[-500:])
