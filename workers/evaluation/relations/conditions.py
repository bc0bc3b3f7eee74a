"""Compare conditions and exceptions: "only if accompanied", "unless the door is closed", "all flights except one"."""

import re
from collections.abc import Sequence

from workers.evaluation.contradictions.cases import CASE, Case, read_case, without_yes
from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.contradictions.universals import says_same_of_all
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import content_words

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""
MIN_WORDS = 2
"""Least number of words of a claim whose condition can be missing."""

_ALLOWED = re.compile(
    r"\b(?:may|can|could|allowed|permitted|free|eligible|entitled|available|valid|possible|accepted|covered|refunded|welcome)\b",
    re.IGNORECASE,
)
"""Words for what holds under a condition; in a report "only after" is a time: "agreed only after she had called"."""
_LIMITED = re.compile(
    r"\b(?:if|when|only|unless|with|without|provided|as\slong\sas|after|once|while|where|who|whose|except|under|subject|depend\w*|restricted|limited|certain|some|sometimes|condition\w*|must|whether)\b",
    re.IGNORECASE,
)
_EXCEPT = PrefilteredPattern(
    r"\b(?:all|every|everyone|everybody|each|no|none|nobody)\b[^.;]{0,60}?\b(?:except(?:\sfor)?|but|apart\sfrom|other\sthan|excluding)\s(?P<out>[^.;,]{2,60}?)(?=\s(?:is|are|was|were|has|have|had|may|must|can|will|did|do|does)\b|[.;,]|$)",
    re.IGNORECASE,
)
_ALL = PrefilteredPattern(r"\b(?:all|every|everyone|everybody|each)\b", re.IGNORECASE)
_COUNTED = PrefilteredPattern(
    r"(?:^|\b)(?:(?!(?:1[5-9]|20)\d\d\b)[1-9]\d*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|several|many|some|dozens)\b",
    re.IGNORECASE,
)
_NONE = PrefilteredPattern(
    r"\b(?:none|no\sone|nobody|no(?!\s(?:more|less|fewer|later|earlier|longer|sooner|other|need)\b)(?=\s\w))\b",
    re.IGNORECASE,
)
_PIECE = re.compile(r"[,;.:]\s|\s(?:and|but|while|whereas)\s", re.IGNORECASE)
_FLIPPED = frozenset({("if", "unless"), ("only", "unless"), ("unless", "only"), ("unless", "if"), ("only", "even")})
"""Words for the same case that say the contrary in claim and evidence."""


def is_case_kept(claim: str, sentences: Sequence[str]) -> bool | None:
    """Return false if a claim leaves out the condition or exception of the evidence, or takes it for its contrary.

    Args:
        claim: the claim, or the short answer.
        sentences: the evidence.

    Returns:
        ``None`` if the evidence has neither, or states the claim without it as well.
    """
    claim = without_yes(claim[:MAX_TEXT])
    own = read_case(claim)
    texts = [sentence[:MAX_TEXT] for sentence in sentences]
    if any(_is_turned(own, other) or _is_dropped(claim, own, other) for other in map(read_case, texts)):
        words = content_words(claim)
        is_elsewhere = any(words <= content_words(text) for text in texts if not CASE.search(text))
        return None if is_elsewhere else False
    if any(_drops_exception(claim, text) for text in texts) or _denies_counted(claim, texts):
        return False
    return None


def _is_turned(own: Case, other: Case) -> bool:
    return (
        (own.word, other.word) in _FLIPPED
        and own.denials == other.denials
        and bool(own.case)
        and own.case <= other.case
        and bool(own.main)
        and own.main <= other.main
    )


def _is_dropped(claim: str, own: Case, other: Case) -> bool:
    return (
        not own.word
        and other.word == "only"
        and len(own.main) >= MIN_WORDS
        and own.main <= other.main
        and own.denials[0] == other.denials[0]
        and bool(_ALLOWED.search(claim))
        and not _LIMITED.search(claim)
    )


def _drops_exception(claim: str, text: str) -> bool:
    """Return true for "all flights were cancelled" over "all flights except the one to Oslo were cancelled"."""
    if not (excepted := _EXCEPT.search(text)) or not _ALL.search(claim) or DENIED.search(claim) or DENIED.search(text):
        return False
    out, own = content_words(excepted["out"]), content_words(claim)
    return not _LIMITED.search(claim) and bool(own) and own <= content_words(text) - out and not _EXCEPT.search(claim)


def _denies_counted(claim: str, texts: Sequence[str]) -> bool:
    """Return true for "no one was injured" over "three people were injured"."""
    if (
        not _NONE.search(claim)
        or len(DENIED.findall(claim)) != 1
        or any(says_same_of_all(claim, text) for text in texts)
    ):
        return False
    own = content_words(_NONE.sub(" ", claim))
    return bool(own) and any(
        _COUNTED.search(piece) and not DENIED.search(piece) and own <= content_words(piece)
        for text in texts
        for piece in _PIECE.split(text)
    )
