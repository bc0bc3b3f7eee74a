"""Compare the order of events: "once the valve is open, start the pump" over "start the pump, then open the valve"."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from workers.evaluation.budget import spend
from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.facts.units import MONTHS, NUMBER_WORDS, UNITS, WEEKDAYS
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import KEPT_TEXTS, content_words, stem

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""
SHARED = 0.6
"""Share of the words of each of the claim's events that the event of the evidence has."""
COVERED = 0.5
"""The same for the words of the evidence."""

Order = tuple[frozenset[str], frozenset[str]]
"""The words of an event, and those of a later one."""

_SENTENCE = re.compile(
    r"[.;:!?]\s|,\s(?:and|but|while|whereas)\s(?!(?:then|later|afterwards|subsequently|next|before|after)\b)",
    re.IGNORECASE,
)
_STEP = PrefilteredPattern(
    r",?\s(?:and\s)?then,?\s|,?\sand\s(?:later|afterwards|subsequently|next),?\s|,\s(?:later|afterwards|subsequently|after which|whereupon)\s|,\sfollowed\sby\s",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"^(?:then|next|afterwards|after that|later|subsequently|finally)\b,?\s", re.IGNORECASE)
_LEADING = re.compile(
    r"^(?P<word>before|prior\sto|after|once|as\ssoon\sas|following)\s(?P<one>.{3,120}?)(?:,\s(?:then\s)?|\s(?=(?:she|he|they|it|you|we|I)\s))(?P<two>.{3,200})",
    re.IGNORECASE,
)
_MIDDLE = PrefilteredPattern(
    r"\s(?P<word>(?:is|are|was|were|being)\s(?:followed|preceded)\sby|preced(?:e|es|ed|ing)|follow(?:s|ed)|before|prior\sto|ahead\sof|after(?!\sall\b)|as\ssoon\sas"
    r"|once(?=\s(?:the|he|she|it|they|you|all|your|his|her|its|their)\b)|(?<!the\s)following(?=\s(?:the|an?|his|her|its)\s))\s",
    re.IGNORECASE,
)
_EARLIER_SECOND = re.compile(r"^(?:after|once|as\ssoon\sas|following|follow(?:s|ed))$|preceded\sby$", re.IGNORECASE)
"""Words behind which the earlier event stands."""
_COME = content_words(
    "come came comes coming take took takes taken place happen happened occur occurred first again held"
)
_OF_TIMES = frozenset(map(stem, (*UNITS, *MONTHS, *WEEKDAYS, *NUMBER_WORDS)))
_IF = re.compile(r"^(?:if|when|whether)\b", re.IGNORECASE)


def is_sequence_kept(claim: str, sentences: Sequence[str]) -> bool | None:
    """Return false if the evidence has the two events of a claim in the other order only.

    Args:
        claim: the claim, or the short answer.
        sentences: the evidence, those of one source in order.

    Returns:
        ``None`` if the claim orders no two events, or the evidence has them in the same order or in none.
    """
    claim = claim[:MAX_TEXT]
    own = () if DENIED.search(claim) else read_orders(claim)
    if not own:
        return None
    known: list[Order] = []
    for before, sentence in pairwise(("", *(sentence[:MAX_TEXT] for sentence in sentences))):
        if DENIED.search(sentence):
            continue
        known += read_orders(sentence)
        if before and (goes_on := _GOES_ON.match(sentence)):
            known += _of(before, sentence[goes_on.end() :])
    spend(len(own) * len(known))
    found = {result for order in own for other in known if (result := _compare(order, other)) is not None}
    return False if found == {False} else None


@lru_cache(maxsize=KEPT_TEXTS)
def read_orders(text: str) -> tuple[Order, ...]:
    """Return the pairs of events that a text orders by words, the earlier one first."""
    return tuple(order for sentence in _SENTENCE.split(text) for order in _read(sentence.strip()))


def _read(sentence: str) -> Iterator[Order]:
    if _IF.match(sentence):
        return
    if leading := _LEADING.match(sentence):
        one, two = leading["one"], leading["two"]
        is_later = leading["word"].lower().startswith(("before", "prior"))
        yield from _of(two, one) if is_later else _of(one, two)
        return
    steps = [step for step in _STEP.split(sentence) if step.strip()]
    for place, step in enumerate(steps):
        for later in steps[place + 1 :]:
            yield from _of(step, later)
    if len(steps) > 1:
        return
    pivots = list(_MIDDLE.finditer(sentence))
    ends = [*(pivot.start() for pivot in pivots[1:]), len(sentence)]
    for pivot, end in zip(pivots, ends, strict=False):
        one, two = sentence[: pivot.start()], sentence[pivot.end() : end]
        yield from _of(two, one) if _EARLIER_SECOND.search(pivot["word"]) else _of(one, two)


def _of(earlier: str, later: str) -> Iterator[Order]:
    one, two = _words(earlier), _words(later)
    if one - two and two - one:
        yield one - two, two - one


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in content_words(text) - _COME if not word[0].isdigit() and word not in _OF_TIMES)


def _compare(own: Order, known: Order) -> bool | None:
    """Return whether two pairs of events have one order, false for the other one."""
    is_straight = bool(own[0] & known[0] and own[1] & known[1])
    is_crossed = _is_same(own[0], known[1]) and _is_same(own[1], known[0])
    return None if is_straight == is_crossed else is_straight


def _is_same(own: frozenset[str], known: frozenset[str]) -> bool:
    shared = len(own & known)
    return shared >= SHARED * len(own) and shared >= COVERED * len(known)
