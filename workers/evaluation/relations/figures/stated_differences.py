"""Check orders against differences that the evidence states: "B is heavier" over "A weighs 900 g more than B".

``ranked_subjects`` compares the values of two subjects. Here the evidence gives no values, but says which thing is more
than the other, by how much or how many times.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workers.evaluation.contradictions.antonyms import DEGREES, POLES
from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import STOP_WORDS, stem, word_set

MAX_TEXT = 300
"""Longest claim, question and sentence that are read, code points."""

_TIMES = r"(?:(?P<half>half)|twice|thrice|double|(?:\d[\d.,]*|two|three|four|five|six|seven|eight|nine|ten) times)"
_ORDERS: tuple[PrefilteredPattern, ...] = tuple(
    PrefilteredPattern(pattern, re.IGNORECASE)
    for pattern in (
        rf"^(?P<one>[^,;]+?) {_TIMES} as (?P<word>\w+)(?P<noun>(?: \w+){{0,4}}?) as (?P<two>[^,;.]+)",
        r"^(?P<one>[^,;]+?) (?:is|are|was|were)(?: not|n['’]t) (?P<half>as|so) (?P<word>\w+)(?P<noun>) as (?P<two>[^,;.]+)",
        r"^(?P<one>[^,;]+?) (?:born|built|founded|opened|completed|published|released|launched) (?P<noun>(?:[\w.,]+ ){0,4}?)"
        r"(?P<word>after|before|later than|earlier than) (?P<two>[^,;.]+)",
        r"^(?P<one>[^,;]+?) (?P<word>"
        + "|".join(sorted(DEGREES, key=len, reverse=True))
        + r")(?P<noun>(?: \w+){0,3}?) than (?P<two>[^,;.]+)",
    )
)
_OF_VERBS = (
    (re.compile(r"\bweigh\w*", re.IGNORECASE), "heavier"),
    (re.compile(r"\b(?:cost|price|charge)\w*|[$€£]|\b(?:euros?|dollars?|pounds?|francs?)\b", re.IGNORECASE), "expensive"),
    (re.compile(r"\b(?:last|take|measure|run)s?\b|\b(?:km|kilometres?|kilometers?|miles?|minutes?|hours?)\b", re.IGNORECASE), "longer"),
)  # fmt: skip
"""Meanings of "more" beside a verb or unit."""
_IS_LATER = {"after": True, "later than": True, "before": False, "earlier than": False}
_INHABITANTS = word_set("inhabitants residents people")
_DEGREE = re.compile(r"\b(more|most|less|least) (\w+)", re.IGNORECASE)
_PIECE = re.compile(r";\s|,\s(?:but|and|while|whereas)\s", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")
_UNTOLD = frozenset(
    map(stem, word_set("weigh weighs cost costs take takes last lasts measure measures run runs one two"))
)


@dataclass(frozen=True, slots=True)
class _Order:
    """Hold that one thing is more than another by a comparative; the stems of both, and the noun that is counted."""

    more: frozenset[str]
    less: frozenset[str]
    word: str
    noun: frozenset[str] = frozenset()


def is_order_stated(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return whether a claim orders two things as a difference in the evidence does.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence.

    Returns:
        ``None`` if the claim gives no order, or the evidence states no difference between these two things.
    """
    claim, question = claim[:MAX_TEXT], question[:MAX_TEXT]
    own, _, rival = claim.partition(" than ")
    found = _comparatives(own) or ([] if rival or len(claim) > len(question) else _comparatives(question))
    if len(found) != 1:
        return None
    word, is_turned = found[0]
    noun = _stems(own.lower().partition(f" {word} ")[2]) if word in ("more", "fewer", "less") else frozenset()
    results = {
        result != is_turned
        for sentence in sentences
        for piece in _PIECE.split(sentence[:MAX_TEXT])
        for order in _orders(piece)
        if (result := _compare(_stems(own), _stems(rival), word, noun, order)) is not None
    }
    if len(results) != 1:
        return None
    holds = results.pop() != bool(DENIED.search(own))
    # The heavier of two need not be the heaviest of all.
    return None if holds and word.endswith("st") else holds


def _compare(own: frozenset[str], rival: frozenset[str], word: str, noun: frozenset[str], order: _Order) -> bool | None:
    side = _side(word, order.word)
    if not side or (noun and not noun & order.noun):
        return None
    is_more, is_less = _is_named(own, order.more, order.less), _is_named(own, order.less, order.more)
    other = order.less if is_more else order.more
    if is_more == is_less or (rival and not _is_named(rival, other, order.more if is_less else order.less)):
        return None
    return is_more == (side > 0)


def _is_named(words: frozenset[str], thing: frozenset[str], other: frozenset[str]) -> bool:
    """Return true if words name a thing and not the other: by what it alone has, or by all it has."""
    return bool(words & thing - other) or (bool(thing) and thing <= words and not words & other - thing)


def _side(word: str, known: str) -> int:
    """Return 1 if two words order alike, -1 if they order the other way round, 0 if they measure two things."""
    if word == known:
        return 1
    theirs = dict(POLES.get(known, ()))
    sides = {side * theirs[row] for row, side in POLES.get(word, ()) if row in theirs}
    return sides.pop() if len(sides) == 1 else 0


def _comparatives(text: str) -> list[tuple[str, bool]]:
    """Return the comparatives of a text, each with whether "less" turns it round."""
    found = [
        (match[2].lower(), match[1].lower() in ("less", "least"))
        for match in _DEGREE.finditer(text)
        if match[2].lower() in POLES
    ]
    if found:
        return found
    words = [word.lower() for word in _WORD.findall(text)]
    return [(word, False) for word in words if word in DEGREES]


def _orders(piece: str) -> Iterator[_Order]:
    for pattern in _ORDERS:
        if not (match := pattern.match(piece)):
            continue
        parts = match.groupdict(default="")
        if DENIED.search(parts["one"]):
            return
        word, is_turned = parts["word"].lower(), bool(parts.get("half"))
        if word in _IS_LATER:
            word = "older" if not _IS_LATER[word] else "younger" if re.search(r"\bborn\b", piece) else "newer"
        is_turned ^= word in ("less", "fewer")
        if word in ("more", "less") and (told := parts["noun"].strip().lower()) in POLES:
            word = told
        if word in ("more", "less", "fewer", "many", "much"):
            noun = parts["noun"].split()
            meant = next((what for known, what in _OF_VERBS if known.search(parts["one"])), "")
            if not meant and not noun:
                return
            meant = meant or ("larger" if _INHABITANTS & set(noun) else "more")
            yield from _of(parts, meant, is_turned)
            if noun and meant == "larger":
                yield from _of(parts, "more", is_turned)
        elif word in POLES:
            yield from _of(parts, word, is_turned)
        return


def _of(parts: dict[str, str], word: str, is_turned: bool) -> Iterator[_Order]:
    sides = _stems(parts["one"]), _stems(parts["two"])
    one, two = reversed(sides) if is_turned else sides
    if one and two:
        yield _Order(one, two, word, _stems(parts["noun"]))


def _stems(text: str) -> frozenset[str]:
    """Return the stems that tell things apart, with letters: "parcel A"."""
    words = _WORD.findall(text)
    return (
        frozenset(
            stem(word.lower())
            for place, word in enumerate(words)
            if (word.lower() not in STOP_WORDS or (place and len(word) == 1 and word.isupper() and word != "I"))
            and word.lower() not in DEGREES
        )
        - _UNTOLD
    )
