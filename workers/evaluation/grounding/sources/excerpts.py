"""Choose the part of a long piece of evidence that readers are shown: where the facts of the claim stand."""

import re
from bisect import bisect_right

from workers.evaluation.text.words import key_of, stem

CUT = "…"
_WORD = re.compile(r"[^\W_]+")
_SHARED, _FIGURE = 2, 1
"""Weights of a word that the claim has as well, and of any other figure: that of a contradiction is not the claim's."""
_BEFORE = 3
"""A third of the room that is left stands before the claim's words: what is said of them mostly follows."""
_TAKEN = re.compile(r"\d+(?:[.,:'’]\d+)*|[^\W\d_]+")
_FIELD_END = "; "


def excerpt_for(text: str, claim: str, limit: int, *, of_record: bool = False) -> str:
    """Return a text, or the part of it with most of the claim's words and with figures.

    Args:
        text: the evidence.
        claim: text of the claim.
        limit: maximum length, code points; a cut is marked within it.
        of_record: whether the text is a record, of which whole fields are shown.
    """
    if len(text) <= limit:
        return text
    if of_record and (fields := _fields_for(text.split(_FIELD_END), claim, limit)):
        return fields
    room = limit - 2 * len(CUT)
    begin, needed = _begin(text, claim, room)
    if begin:
        space = text.find(" ", begin, begin + room // 4)
        begin = space + 1 if space >= 0 else begin
    end = min(len(text), begin + room)
    if end < len(text) and (space := text.rfind(" ", max(needed, end - room // 4), end + 1)) >= 0:
        end = space
    return (CUT if begin else "") + text[begin:end].strip() + (CUT if end < len(text) else "")


def taken(claim: str, text: str) -> frozenset[str]:
    """Return the words and figures that a claim and a text share: what the claim may have taken from it."""
    return _told(claim) & _told(text)


def figures_of(text: str) -> frozenset[str]:
    """Return the figures of a text in the form in which they are looked for."""
    return frozenset(each for each in _told(text) if each[0].isdigit())


def _told(text: str) -> frozenset[str]:
    return frozenset(map(_form, _TAKEN.findall(text)))


def _form(word: str) -> str:
    """Return the form in which a word is looked for: "186,500" and "186500.0" are one figure."""
    if not word[0].isdigit():
        return stem(key_of(word))
    whole = re.sub(r"[,'’](?=\d{3}(?!\d))", "", word)
    return re.sub(r"\.0+$", "", whole)


def _fields_for(fields: list[str], claim: str, limit: int) -> str:
    """Return the fields of a record with most of the claim's words, as many as there is room for; empty if none fits."""
    wanted = _told(claim)
    shared = [len(_told(field) & wanted) for field in fields]
    chosen: set[int] = set()
    # The first field mostly names the record.
    for place in sorted(range(len(fields)), key=lambda place: (-shared[place], place)):
        if len(_shown(fields, chosen | {place})) <= limit:
            chosen.add(place)
        elif not chosen:
            return ""  # the field that the claim rests on is too long: readers see a part of it
    return _shown(fields, chosen) if chosen else ""


def _shown(fields: list[str], chosen: set[int]) -> str:
    text, last = "", -1
    for place in sorted(chosen):
        gap = f" {CUT} " if text else f"{CUT} "
        text += (_FIELD_END if text else "") if place == last + 1 else gap
        text += fields[place]
        last = place
    return text if last == len(fields) - 1 else f"{text} {CUT}"


def _begin(text: str, claim: str, room: int) -> tuple[int, int]:
    """Return where the part begins, the start of the text unless a later part holds more, and the end of what it must hold."""
    wanted = {word.casefold() for word in _WORD.findall(claim)}
    marks = [(match.start(), match.end(), match[0].casefold()) for match in _WORD.finditer(text)]
    marks = [mark for mark in marks if mark[2] in wanted or mark[2].isdecimal()]
    ends = [end for _, end, _ in marks]

    def weight(place: int) -> int:
        words = {word for _, _, word in marks[place : bisect_right(ends, marks[place][0] + room)]}
        return sum(_SHARED if word in wanted else _FIGURE for word in words)

    if not marks or ends[-1] <= room:
        return 0, ends[-1] if marks else 0
    best = max(range(len(marks)), key=lambda place: (weight(place), -place))
    first, last = marks[best][0], ends[bisect_right(ends, marks[best][0] + room) - 1]
    return max(0, min(first - (room - (last - first)) // _BEFORE, len(text) - room)), last
