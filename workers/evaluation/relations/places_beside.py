"""Compare on which side of each other two things lie: "the mill is south of the church" over "the church is north of the mill"."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from workers.evaluation.budget import spend
from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import KEPT_TEXTS, content_words, key_of, word_set

MAX_TEXT = 300
"""Longest claim, question and sentence that are read, code points."""

_Side = tuple[int, int, int, int, int, int]
"""North, east, right, above, in front, upstream; each 1, -1 for the other side, or 0."""

_SIDES = {
    "north": (0, 1),
    "south": (0, -1),
    "east": (1, 1),
    "west": (1, -1),
    "right": (2, 1),
    "left": (2, -1),
    "above": (3, 1),
    "below": (3, -1),
    "beneath": (3, -1),
    "underneath": (3, -1),
    "in front": (4, 1),
    "behind": (4, -1),
    "upstream": (5, 1),
    "upriver": (5, 1),
    "downstream": (5, -1),
    "downriver": (5, -1),
}
"""By the beginning of a word its axis and direction."""
_POINT = r"(?:(?:due\s)?(?:north|south)(?:[\s-]?(?:east|west))?|(?:due\s)?(?:east|west)|left|right|up(?:stream|river)|down(?:stream|river))"
_PLACE = (
    rf"(?:(?:(?:just|directly|immediately|slightly|far|further)\s)?(?:(?:to|on|at)\s(?:the\s)?)?(?P<side>{_POINT})(?:[\s-]?hand\sside)?\s(?:of|from)"
    r"|(?:just\s|directly\s|immediately\s)?(?P<other>above|below|beneath|underneath|in\sfront\sof|behind))"
)
_BESIDE = PrefilteredPattern(rf"\b{_PLACE}\s", re.IGNORECASE)
_OTHER = r"(?!\W*\d)(?:(?!\sand\s)[^,;:.?]){2,60}"
"""A thing; what is below a figure is a value."""
_VERB = (
    r"(?:is|are|was|were|lies?|lay|stands?|stood|sits?|sat|hangs?|goes|be)"
    r"(?:\s(?:situated|located|placed|mounted|found|installed|built|set|positioned|fitted))?"
)
_FAR = r"(?:\s(?:about\s|around\s|some\s|roughly\s|only\s|just\s)?(?:\d[\d.,]*|[^\W\d_]{3,6}|an?|half\san?)\s?(?:km|m|cm|mm|kilomet(?:re|er)s?|met(?:re|er)s?|miles?|minutes?|hours?)(?:['’]\s?(?:walk|drive))?)?"
_STRAIGHT = PrefilteredPattern(rf"^(?P<one>[^;:]{{2,80}}?)\s{_VERB}{_FAR}\s{_PLACE}\s(?P<two>{_OTHER})", re.IGNORECASE)
_FURTHER = PrefilteredPattern(rf"(?:,|\sand|,\sand)\s{_PLACE}\s(?P<two>{_OTHER})", re.IGNORECASE)
"""A second side of one thing: "north of the mill and south of the river"."""
_INVERTED = PrefilteredPattern(
    rf"^{_PLACE}\s(?P<two>(?!\W*\d)[^,;:.]{{2,60}}?),?\s{_VERB}\s(?P<one>[^,;:.]{{2,60}})", re.IGNORECASE
)
_ASKED = PrefilteredPattern(
    rf"^(?:is|are|was|were|do|does|did)\s(?P<one>[^;:,]{{2,80}}?)\s(?:(?:lie|stand|sit|located|situated|placed)\s)?{_FAR.strip()}(?:\s)?{_PLACE}\s(?P<two>{_OTHER})",
    re.IGNORECASE,
)
_PIECE = re.compile(r"[.;]\s|,\s(?:and|but|while|whereas)\s|\s(?:while|whereas|but)\s", re.IGNORECASE)
_CONDITION = re.compile(r"\b(?:if|until|till|when|unless|whether|where|once|while|because|who|that)\b", re.IGNORECASE)
_REFERENT = word_set("it they this that these those he she there here which both")
_GENERAL = content_words("situated located placed mounted found installed built positioned fitted directly little")


@dataclass(frozen=True, slots=True)
class _Position:
    """Hold the stems of a thing, those of another, and on which side of the other the thing lies."""

    thing: frozenset[str]
    other: frozenset[str]
    side: _Side


def is_side_right(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return whether a claim has two things on the side of each other on which the evidence has them.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence.

    Returns:
        ``None`` if the claim gives no side, or the evidence gives none for these two things.
    """
    claim = claim[:MAX_TEXT]
    own = next(iter(_positions(claim)), None)
    if own is None or DENIED.search(claim):
        return None
    thing = own.thing or content_words(question[:MAX_TEXT]) - own.other
    own = _Position(thing - own.other, own.other - thing, own.side)
    found = set[bool]()
    for sentence in sentences:
        positions = _positions(sentence[:MAX_TEXT])
        spend(len(positions))
        found |= {
            holds for each in positions if not DENIED.search(sentence) and (holds := _compare(own, each)) is not None
        }
    return found.pop() if len(found) == 1 else None


def without_side(claim: str) -> str:
    """Return a claim without the words for the side on which it has a thing."""
    return _BESIDE.sub(" ", claim)


def _compare(own: _Position, known: _Position) -> bool | None:
    thing, other = known.thing - known.other, known.other - known.thing
    straight = bool(own.thing & thing and own.other & other)
    crossed = bool(own.thing & other and own.other & thing)
    if straight == crossed:
        return None
    side = known.side if straight else _opposite(known.side)
    if side == own.side:
        return True
    return False if any(one * two < 0 for one, two in zip(side, own.side, strict=True)) else None


def _opposite(side: _Side) -> _Side:
    north, east, right, above, front, upstream = side
    return (-north, -east, -right, -above, -front, -upstream)


@lru_cache(maxsize=KEPT_TEXTS)
def _positions(text: str) -> tuple[_Position, ...]:
    return tuple(each for piece in _PIECE.split(text) for each in _read(piece))


def _read(piece: str) -> Iterator[_Position]:
    match = _INVERTED.match(piece) or _ASKED.match(piece) or _STRAIGHT.match(piece)
    if match is None or _CONDITION.search(match["one"]):
        return
    one = frozenset[str]() if key_of(match["one"].strip()) in _REFERENT else content_words(match["one"])
    for each in (match, *_FURTHER.finditer(piece)):
        side = _side(key_of(each["side"] or each["other"]))
        yield _Position(one - _GENERAL, content_words(each["two"]) - _GENERAL, side)


def _side(name: str) -> _Side:
    axes = [0] * 6
    name = name.removeprefix("due ")
    for word, (axis, sign) in _SIDES.items():
        if name.startswith(word) or (word in ("east", "west") and name.endswith(word)):
            axes[axis] = sign
    north, east, right, above, front, upstream = axes
    return (north, east, right, above, front, upstream)
