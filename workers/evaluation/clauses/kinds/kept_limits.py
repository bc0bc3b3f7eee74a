"""Compare the side of a limit: "at least 40" over "no more than 40", "after 15 March" over "before 15 March"."""

import re
from collections.abc import Iterator, Sequence

from workers.evaluation.claims.short_answers import depends_on_question
from workers.evaluation.clauses.kinds.limits import is_comparable, read_limits
from workers.evaluation.clauses.predicates import are_opposite
from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.facts.calculation.arithmetic import same_quantity
from workers.evaluation.facts.dates import Date, agrees, read_dates
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.text.words import content_words, stem, word_set

MAX_TEXT = 300
"""Longest claim, question and sentence that are read, code points."""

_TIME_LIMIT = re.compile(
    r"\b(?:(?P<upper>before|by|until|till|no later than|not later than|at the latest by)"
    r"|(?P<lower>after|from|since|as of|starting|not before|no earlier than|not earlier than))\s(?:the\s)?(?P<time>.{3,40})",
    re.IGNORECASE,
)
_AT_THE = re.compile(r"(?P<time>\S{1,12}(?:\s[ap]\.?m\b\.?|\s\w+)?)\sat the (?P<side>latest|earliest)", re.IGNORECASE)
_OF_LIMITS = frozenset(
    map(
        stem,
        word_set(
            "least most maximum minimum more less fewer than over under above below up until till before after by from since late"
            " later early earlier age aged year years old max min limit only latest earliest am pm"
        ),
    )
)
_LIMITING = re.compile(
    r"\b(?:no|not) (?:more|less|fewer|later|earlier|before|older|younger|exceed\w*|under|over)\b", re.IGNORECASE
)
_PIECE = re.compile(r"[:;,]\s")
_NAME = re.compile(r"(?<=\s)[A-Z][^\W\d_]+")
_WORD = re.compile(r"[^\W\d_]+")

_Limit = tuple[int, Quantity | Date]


def is_limit_kept(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return whether a claim keeps the side of a limit that the evidence sets.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence.

    Returns:
        ``None`` if the claim stands without its question, sets no limit at a figure or time that the evidence has as a
        limit, or says more than that.
    """
    claim, question = claim[:MAX_TEXT], question[:MAX_TEXT]
    own = list(_limits(claim)) if depends_on_question(question, claim) else []
    if len(own) != 1:
        return None
    ((side, value),) = own
    # What the question names must be there too: "He led it from 2012" is not about "Anna led it until 2012".
    named = frozenset(stem(name.lower()) for text in (claim, question) for name in _NAME.findall(text))
    words, is_denied = (_told(claim) - _told(question)) | named, _is_denied(claim)
    sides, is_all = set(), True
    for sentence in sentences:
        told = content_words(sentence)
        opposite = {
            stem(word)
            for word in _words(claim)
            if stem(word) not in told and any(are_opposite(word, each) for each in _words(sentence))
        }
        if not words - opposite <= told or len(opposite) > 1:
            continue
        for piece in _PIECE.split(sentence[:MAX_TEXT]):
            # "Closed after 8" is "open until 8".
            turns = bool(opposite) != (is_denied != _is_denied(piece))
            limits = list(_limits(piece))
            sides |= {-other if turns else other for other, limit in limits if _is_same(value, limit)}
            is_all = is_all and (not words - named or (bool(opposite) and len(limits) < 2))
    if len(sides) != 1:
        return None
    # Words alone do not show that a whole statement is right: "opens above 8 bar and closes below 7 bar".
    return False if sides.pop() != side else True if is_all else None


def _is_denied(text: str) -> bool:
    """Return true if a text denies, beside limits: "no more than 40" denies nothing."""
    return bool(DENIED.search(_LIMITING.sub(" ", text)))


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text) if stem(word.lower()) not in _OF_LIMITS]


def _told(text: str) -> frozenset[str]:
    return frozenset(word for word in content_words(text) - _OF_LIMITS if len(word) > 1 and not word[0].isdigit())


def _limits(text: str) -> Iterator[_Limit]:
    for limit in read_limits(text):
        if limit.side:
            yield limit.side, limit.figure
    times = [(-1 if match["upper"] else 1, match["time"]) for match in _TIME_LIMIT.finditer(text)]
    times += [(-1 if match["side"].lower() == "latest" else 1, match["time"]) for match in _AT_THE.finditer(text)]
    for side, time in times:
        dates, _ = read_dates(time)
        # "Since 2010 Ben" and "before 2010 Ann" tell a history; deadlines have a day or a time.
        if dates and (dates[0].month is not None or dates[0].minute is not None):
            yield side, dates[0]


def _is_same(one: Quantity | Date, two: Quantity | Date) -> bool:
    if isinstance(one, Date) or isinstance(two, Date):
        return isinstance(one, Date) and isinstance(two, Date) and agrees(one, two)
    return is_comparable(one, two) and (same_quantity(one, two) or one.face == two.face)
