"""Compare the events that periods count from: "six weeks after the keys are handed over" and "after you give notice"."""

import re
from collections.abc import Iterator, Sequence

from workers.evaluation.facts.text_details import read_details
from workers.evaluation.facts.units import ORDINALS
from workers.evaluation.facts.verb_forms import verb_stem
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import STOP_WORDS, kept_for_sentences, word_set

MAX_TEXT = 400
"""Longest claim and sentence that are read, code points."""
PREFIX = 4
"""Letters that two forms of one word share: "confirm" and "confirmation"."""

_PERIOD = r"(?P<period>[\w.,]+(?:\s(?:full|working|business|calendar|school))?[\s-](?:second|minute|hour|day|night|week|month|quarter|year)s?['’]?)"
_ANCHORED = PrefilteredPattern(
    rf"\b{_PERIOD}\s(?P<side>after|following|from|of|since|before|prior to|ahead of)\s(?P<event>[^.;:!?,()]{{3,120}})",
    re.IGNORECASE,
)
_BEFORE = word_set("before prior ahead")
_EVENT_END = re.compile(r"\s(?:and|but|or|if|unless|while|whereas|with|without|in|at|by|on)\s.*", re.IGNORECASE)
_PRONOUN = re.compile(r"\b(?:its?|they|them|their|this|that|these|those|he|she|his|her)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]{2,}")
_OF_TIME = frozenset(
    map(verb_stem, word_set("date day time moment end start begin beginning receipt hour week month year"))
)
"""Stems of the point that a period counts from, which say nothing of the event."""

Anchor = tuple[bool, frozenset[str]]
"""Side on which the period lies, true for before the event, and the stems of the event; without stems it may be any."""


def is_anchor_kept(claim: str, sentences: Sequence[str]) -> bool | None:
    """Return false if a period of a claim counts from another event than the one that the evidence names for it.

    Args:
        claim: the claim, or the short answer.
        sentences: all sentences of short evidence, or the nearest ones.

    Returns:
        ``None`` if no period of both counts from an event, if an event may be the same in other words, or if the evidence
            does not have the claim's event elsewhere.
    """
    for period, (is_before, event) in _anchored(claim[:MAX_TEXT]):
        anchors = [
            anchor
            for sentence in sentences
            for other, anchor in _anchored(sentence[:MAX_TEXT])
            if other == period and anchor[0] == is_before
        ]
        if not event or not anchors or any(not other or _share(event, other) for _, other in anchors):
            continue
        known = frozenset().union(*(_stems(sentence) for sentence in sentences))
        if all(_share(frozenset({word}), known) for word in event):
            return False
    return None


@kept_for_sentences
def _anchored(text: str) -> tuple[tuple[tuple[object, ...], Anchor], ...]:
    return tuple(_read(text))


def _read(text: str) -> Iterator[tuple[tuple[object, ...], Anchor]]:
    for match in _ANCHORED.finditer(text):
        quantities = read_details(match["period"]).quantities
        if len(quantities) == 1:
            (period,) = quantities
            named = _EVENT_END.sub("", match["event"])
            event = frozenset() if _PRONOUN.search(named) else _stems(named)
            side = match["side"].split()[0].lower() in _BEFORE
            yield (period.dimension, period.values), (side, event - _OF_TIME or event)


def _stems(text: str) -> frozenset[str]:
    words = (word.lower() for word in _WORD.findall(text))
    return frozenset(verb_stem(word) for word in words if word in ORDINALS or word not in STOP_WORDS)


def _share(one: frozenset[str], two: frozenset[str]) -> bool:
    places = [words & ORDINALS.keys() for words in (one, two)]
    if all(places) and not places[0] & places[1]:
        return False  # "the first dose" and "the second dose"
    return any(mine == theirs or _is_form(mine, theirs) for mine in one for theirs in two)


def _is_form(one: str, two: str) -> bool:
    shorter = min(len(one), len(two))
    return shorter >= PREFIX and one[:shorter] == two[:shorter]
