"""Compare claims on all or none with a share of what the text named before: "some of them have a socket"."""

import re
from collections.abc import Sequence

from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import content_words

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""
SHARED = 0.5
"""Share of what a claim says of all of them that is said of some."""

_CLAIMED = PrefilteredPattern(
    r"^\W*(?:(?P<all>all|every|each)|(?P<none>none|no))\s(?:one\s)?(?:of\s)?(?:the\s|its\s|their\s|our\s|these\s|those\s)?(?:\d+\s)?(?P<rest>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_SHARE = PrefilteredPattern(
    r"\b(?:some|most|many|half|several|a\sfew|few|a\snumber|the\smajority|(?:only\s)?(?:one|two|three|four|five|ten|\d+%?))\sof\s(?:them|these|those|which|whom)\b(?P<said>[^.;]*)",
    re.IGNORECASE,
)
_WHOLE = re.compile(r"\b(?:all|every|each|both|none|any|everyone|everybody|always|whole)\b", re.IGNORECASE)
_NOWHERE = re.compile(r"\bnowhere\b|\bno(?:where)?\sother\b", re.IGNORECASE)
_ANYWHERE = re.compile(r"\b(?:anywhere|any\sother|elsewhere|another)\b", re.IGNORECASE)
_NARROWED = re.compile(
    r"(?<!\bon\s)(?<!\bin\s)(?<!\bat\s)(?<!\bof\s)(?<!\bfrom\s)\bthat\b|\b(?:which|who|whose|marked|labelled|having|carrying|bearing|except|but|other|only|if|when|where|unless|almost|nearly)\b",
    re.IGNORECASE,
)
"""Words of a claim that may speak of a part of them."""
_PRONOUN = re.compile(r"\b(?:they|them|their|these|those|which|whom)\b", re.IGNORECASE)
_COUNTS = content_words("one two three four five six seven eight nine ten hundred")


def is_share_of_them_kept(claim: str, sentences: Sequence[str]) -> bool | None:
    """Return false if a claim says of all things or of none what the evidence says of a share of them.

    Args:
        claim: the claim, or the short answer.
        sentences: the evidence, sentences of one source in order.

    Returns:
        ``None`` unless the claim begins with "all", "every", "each", "none" or "no" and the evidence has "some of them".
    """
    own = _CLAIMED.match(claim[:MAX_TEXT])
    if not own or _NARROWED.search(own["rest"]):
        return None
    rest = own["rest"]
    thing = next((words for word in rest.split() if (words := content_words(word) - _COUNTS)), frozenset[str]())
    before, is_wrong = frozenset[str](), False
    for sentence in sentences:
        sentence = sentence[:MAX_TEXT]
        found = _SHARE.search(sentence)
        named = before | (content_words(sentence[: found.start()]) if found else frozenset())
        told = content_words(rest) - _COUNTS - named
        if found and thing and thing <= named:
            said = content_words(found["said"])
            if told & said and _WHOLE.search(found["said"]):
                return None
            is_denied = bool(DENIED.search(found["said"]) or _NOWHERE.search(found["said"]))
            is_same = is_denied == bool(own["none"]) if _ANYWHERE.search(rest) or own["all"] else not is_denied
            is_wrong |= bool(said) and len(told & said) >= max(1, SHARED * len(told)) and is_same
        elif told & content_words(sentence) and _WHOLE.search(sentence):
            return None
        before = content_words(sentence) | (before if _PRONOUN.search(sentence) else frozenset())
    return False if is_wrong and not DENIED.search(rest) else None
