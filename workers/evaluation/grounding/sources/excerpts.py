"""Choose the part of a long piece of evidence that readers are shown: where the facts of the claim stand."""

import re
from bisect import bisect_right

CUT = "…"
_WORD = re.compile(r"[^\W_]+")
_SHARED, _FIGURE = 2, 1
"""Weights of a word that the claim has as well, and of any other figure: that of a contradiction is not the claim's."""


def excerpt_for(text: str, claim: str, limit: int) -> str:
    """Return a text, or the part of it with most of the claim's words and with figures.

    Args:
        text: the evidence.
        claim: text of the claim.
        limit: maximum length, code points; a cut is marked within it.
    """
    if len(text) <= limit:
        return text
    room = limit - 2 * len(CUT)
    begin = _begin(text, claim, room)
    if begin:
        space = text.find(" ", begin, begin + room // 4)
        begin = space + 1 if space >= 0 else begin
    end = min(len(text), begin + room)
    return (CUT if begin else "") + text[begin:end].strip() + (CUT if end < len(text) else "")


def _begin(text: str, claim: str, room: int) -> int:
    """Return where the part begins; the start of the text unless a later part holds more."""
    wanted = {word.casefold() for word in _WORD.findall(claim)}
    marks = [(match.start(), match.end(), match[0].casefold()) for match in _WORD.finditer(text)]
    marks = [mark for mark in marks if mark[2] in wanted or mark[2].isdecimal()]
    ends = [end for _, end, _ in marks]

    def weight(place: int) -> int:
        words = {word for _, _, word in marks[place : bisect_right(ends, marks[place][0] + room)]}
        return sum(_SHARED if word in wanted else _FIGURE for word in words)

    if not marks or ends[-1] <= room:
        return 0
    best = max(range(len(marks)), key=lambda place: (weight(place), -place))
    first, last = marks[best][0], ends[bisect_right(ends, marks[best][0] + room) - 1]
    return max(0, min(first - (room - (last - first)) // 2, len(text) - room))
