"""Read what English texts permit, forbid and require, and answer questions about it.

"May I drink alcohol with this medicine?" and "The medicine must not be taken with alcohol" have other verbs and speak of
one thing. The nouns of the question tell which sentence is meant.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from workers.evaluation.text.parser import parse
from workers.evaluation.text.words import KEPT_TEXTS, content_words, word_set

_FORBIDDEN = re.compile(
    r"\b(?:must not|mustn['’]t|may not|can ?not|can['’]t|(?:is|are)(?: \w+ly)? not (?:allowed|permitted|possible|welcome)"
    r"|(?:isn|aren)['’]t (?:allowed|permitted|possible|welcome)|prohibited|forbidden|banned|not be|(?:do|does|did)(?: not|n['’]t) accept|not accepted|no (?:one|smoking|pets|dogs|entry))\b",
    re.I,
)
_PERMITTED = re.compile(r"\b(?:may|can|allowed|permitted|possible|welcome|free to|entitled)\b", re.I)
_NEEDLESS = re.compile(
    r"\b(?:need not|needn['’]t|(?:do|does) ?(?:not|n['’]t) (?:have|need) to|(?:not|never) (?:required|necessary|needed|mandatory|obliged)"
    r"|no need|not (?:a |an )?(?:requirement|must|obligation|condition|prerequisite)|optional|voluntary|free(?! to))\b",
    re.I,
)
_REQUIRED = re.compile(
    r"\b(?:must|have to|has to|needs?|required|requires?|mandatory|compulsory|obligatory|necessary|obliged|needed)\b",
    re.I,
)
_LIMITED = re.compile(r"\b(?:only|unless|except|if|without|until|before|after|but|when|with|provided)\b", re.I)
_FROM_THEN = re.compile(r"\b(?:after|before|until|unless|if|when)\b", re.I)
_ASKS_EXEMPTION = re.compile(
    r"\W*(?:is|are|am)\s(?P<who>[^,;?]{2,60}?)\s(?:exempt(?:ed)?|excluded|excused|left out|released|free)\s(?:from|of)\s(?P<matter>[^,;?]{2,80})",
    re.I,
)
_INCLUDED = re.compile(r",?\s(?:including|also|even|not excepting)\s[^,;.]{2,80}|,\s[^,;.]{2,40}\sincluded\b", re.I)
_ALL = re.compile(r"\b(?:all|every|everyone|everybody|each|any)\b", re.I)
KEY = 5
"""Letters by which nouns are compared: "photos" and "photography"."""
_GENERAL = word_set("charge fee cost price time way thing person people one")


def answer_of(question: str, sentences: Iterable[str]) -> bool | None:
    """Return the answer that a text gives to whether something is permitted or required; ``None`` if it gives none.

    Args:
        question: a question for yes or no.
        sentences: the evidence.
    """
    asks = norm_of(question)
    nouns = _nouns(question)
    if asks is None or not nouns:
        return None
    found = {
        says[1]
        for text in sentences
        if (says := norm_of(text)) is not None
        and says[0] == asks[0]
        and nouns <= _nouns(text)
        and not _is_limited(says, text)
    }
    return (found.pop() == asks[1]) if len(found) == 1 else None


def answer_by_inclusion(question: str, sentences: Iterable[str]) -> bool | None:
    """Return false if a question asks for an exemption of those whom a sentence on all includes: "all staff, also interns"."""
    asked = _ASKS_EXEMPTION.match(question)
    if asked is None:
        return None
    who, matter = content_words(asked["who"]), content_words(asked["matter"])
    for text in sentences:
        included = _INCLUDED.search(text)
        told = content_words(text)
        if (
            included
            and _ALL.search(text[: included.start()])
            and who <= content_words(included[0])
            and len(matter & told) * 2 >= len(matter)
        ):
            return None if _NEEDLESS.search(text) or _FORBIDDEN.search(text) else False
    return None


def norm_of(text: str) -> tuple[str, bool] | None:
    """Return what kind of norm a text has, permission or duty, and whether it affirms it."""
    if _NEEDLESS.search(text):
        return "duty", False
    if _FORBIDDEN.search(text):
        return "permission", False
    if _REQUIRED.search(text):
        return "duty", True
    return ("permission", True) if _PERMITTED.search(text) else None


def _is_limited(says: tuple[str, bool], text: str) -> bool:
    """Return true for "allowed only on Mondays" and "not accepted after five days", which answer nothing without that."""
    kind, affirms = says
    return kind == "permission" and bool((_LIMITED if affirms else _FROM_THEN).search(text))


@lru_cache(maxsize=KEPT_TEXTS)
def _nouns(text: str) -> frozenset[str]:
    return frozenset(
        token.lemma_.lower()[:KEY]
        for token in parse(text)
        if (token.pos_ in ("NOUN", "PROPN") or (token.pos_ == "ADV" and not token.is_stop and token.suffix_ != "ly"))
        and token.lemma_ not in _GENERAL
        and not any(child.lower_ in ("this", "these") for child in token.children)
    )
