"""Compare the side of a limit: "at least 40" over "no more than 40", "after 15 March" over "before 15 March"."""

import re
from collections.abc import Iterator, Sequence

from workers.evaluation.clauses.limits import is_comparable, read_limits
from workers.evaluation.clauses.predicates import are_opposite
from workers.evaluation.facts.arithmetic import same_quantity
from workers.evaluation.facts.dates import Date, agrees, read_dates
from workers.evaluation.facts.denials import DENIED
from workers.evaluation.facts.quantities import Quantity
from workers.evaluation.text.words import content_words, stem, word_set

MAX_TEXT = 300
"""Longest claim, question and sentence that are read, code points."""

_TIME_LIMIT = re.compile(
    r"\b(?:(?P<upper>before|by|until|till|no later than|not later than|at the latest by)"
    r"|(?P<lower>after|from|since|as of|starting|not before|no earlier than|not earlier than))\s(?:the\s)?(?P<time>.{3,40})",
    re.IGNORECASE,
)
_OF_LIMITS = frozenset(
    map(
        stem,
        word_set(
            "least most maximum minimum more less fewer than over under above below up until till before after by from since late"
            " later early earlier age aged year years old max min limit only"
        ),
    )
)
_WORD = re.compile(r"[^\W\d_]+")

_Limit = tuple[int, Quantity | Date]


def is_limit_kept(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return whether a claim keeps the side of a limit that the evidence sets.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence.

    Returns:
        ``None`` if the claim sets no limit at a figure or time that the evidence has as a limit, or says more than that.
    """
    claim, question = claim[:MAX_TEXT], question[:MAX_TEXT]
    own = list(_limits(claim))
    if len(own) != 1:
        return None
    ((side, value),) = own
    words = _told(claim) - _told(question)
    sides, is_all = set(), True
    for sentence in sentences:
        told = content_words(sentence)
        opposite = {
            stem(word)
            for word in _words(claim)
            if stem(word) not in told and any(are_opposite(word, each) for each in _words(sentence))
        }
        # "Closed after 8" is "open until 8".
        turns = len(opposite) + (bool(_denials(claim)) != bool(_denials(sentence[:MAX_TEXT])))
        if words - opposite <= told and turns < 2:
            limits = list(_limits(sentence[:MAX_TEXT]))
            sides |= {-other if turns else other for other, limit in limits if _is_same(value, limit)}
            is_all = is_all and (not words or (bool(turns) and len(limits) == 1))
    if len(sides) != 1:
        return None
    # Words alone do not show that a whole statement is right: "opens above 8 bar and closes below 7 bar".
    return False if sides.pop() != side else True if is_all else None


def _denials(text: str) -> list[str]:
    """Return the denials of a text beside those of limits: "no more than 40" denies nothing."""
    return DENIED.findall(
        re.sub(
            r"\b(?:no|not) (?:more|less|fewer|later|earlier|before|older|younger|exceed\w*|under|over)\b",
            " ",
            text.lower(),
        )
    )


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text) if stem(word.lower()) not in _OF_LIMITS]


def _told(text: str) -> frozenset[str]:
    return frozenset(word for word in content_words(text) - _OF_LIMITS if not word[0].isdigit())


def _limits(text: str) -> Iterator[_Limit]:
    for limit in read_limits(text):
        if limit.side:
            yield limit.side, limit.figure
    for match in _TIME_LIMIT.finditer(text):
        dates, _ = read_dates(match["time"])
        if dates:
            yield (-1 if match["upper"] else 1), dates[0]


def _is_same(one: Quantity | Date, two: Quantity | Date) -> bool:
    if isinstance(one, Date) or isinstance(two, Date):
        return isinstance(one, Date) and isinstance(two, Date) and agrees(one, two)
    return is_comparable(one, two) and (same_quantity(one, two) or one.face == two.face)
