"""Compare what a claim permits with what the evidence forbids: "may enter the lab" over "must not enter the lab"."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.facts.verb_forms import verb_stem
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import STOP_WORDS, word_set

MAX_TEXT = 300
"""Longest claim, question and sentence that are read, code points."""

_NOT_ALLOWED = (
    r"(?:(?:strictly |expressly |absolutely )?(?:forbidden|prohibited|banned|barred)|not (?:permitted|allowed))"
)
_FORBIDS: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^(?P<who>[^,;:]{0,80}?) ?\b(?:(?:must|may|can|shall)(?: not| never)|cannot|mustn['’]t|can['’]t) (?:ever )?(?P<be>be )?(?P<act>[^,;.:]{3,120})",
        rf"^(?P<who>[^,;:]{{2,80}}?) (?:is|are) {_NOT_ALLOWED} (?:to|from)(?P<be> be)? (?P<act>[^,;.:]{{3,120}})",
        rf"\b(?P<who>)it is {_NOT_ALLOWED} to(?P<be> be)? (?P<act>[^,;.:]{{3,120}})",
        rf"^(?P<who>)(?P<be>)(?P<act>[^,;:]{{4,80}}?) (?:is|are) {_NOT_ALLOWED}(?! (?:to|from)\b)(?P<more>[^,;.:]{{0,80}})",
        r"^(?P<who>)(?P<be>)(?:do not|don['’]t|never) (?P<act>[^,;.:]{3,120})",
    )
)
_FORBIDDEN = PrefilteredPattern(
    rf"\b(?:must|may|can|shall)(?: not| never)\b|\b(?:cannot|mustn['’]t|can['’]t)\b|\b{_NOT_ALLOWED}\b|^(?:do not|don['’]t|never)\b",
    re.IGNORECASE,
)
"""Words without which no sentence forbids anything."""
_PERMITS = re.compile(
    r"^(?P<who>.{0,100}?)\b(?:(?:may|can)(?: also| even| then)?|(?:is|are) (?:allowed|permitted|free|welcome|entitled) to) (?P<be>be )?(?P<act>[^;.:]{3,150})"
    r"|^(?P<done>.{3,100}?) (?:is|are) (?:also )?(?:allowed|permitted)(?! to\b)(?P<where>[^;.:]{0,100})",
    re.IGNORECASE,
)
_LIMITED = re.compile(
    r"\b(?:only|unless|except|if|when|while|without|before|after|until|once|other than|apart from|provided|alone|more than|less than|under|over)\b",
    re.IGNORECASE,
)
"""Words of a case or an exception: what holds there does not hold elsewhere."""
_WITH = re.compile(r"\bwith\b", re.IGNORECASE)
_OTHERS = re.compile(r"\b(?:other|all|every|each|any|everyone|everybody|anyone)\b", re.IGNORECASE)
_ANYBODY = word_set("you one we i everyone everybody anyone people")
_PRONOUNS = word_set("it they he she this that these those you one we")
_WORD = re.compile(r"[^\W_]+")
_UNTOLD = frozenset(map(verb_stem, word_set("ever strictly please also even then well")))


@dataclass(frozen=True, slots=True)
class _Ban:
    """Hold what a sentence forbids.

    Attributes:
        who: words of those to whom it is forbidden, or of what is not to be treated so; empty if it is forbidden to all.
        act: words of the act.
        is_of_others: whether it is forbidden to others than those named before.
        is_pronoun: whether a pronoun stands for those.
    """

    who: frozenset[str]
    act: frozenset[str]
    is_of_others: bool
    is_pronoun: bool


def is_act_permitted(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return false if a claim permits an act that a sentence of the evidence forbids.

    The claim has all words of what is forbidden, and of those to whom it is. A case or an exception on either side
    ("unless", "if", "without") decides nothing.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence, those of one source in order.

    Returns:
        ``None`` if the claim permits nothing that is forbidden.
    """
    claim, question = claim[:MAX_TEXT], question[:MAX_TEXT]
    if not any(map(_FORBIDDEN.search, sentences)) or DENIED.search(claim) or _LIMITED.search(claim):
        return None
    permitted = _PERMITS.search(claim)
    if not permitted:
        return None
    subject = (permitted["who"] or "").split()
    is_anybody = bool(subject) and subject[-1].lower() in _ANYBODY
    own = _words(claim)
    told = own | _words(question)
    for place, sentence in enumerate(sentences):
        before = _words(sentences[place - 1]) if place else frozenset[str]()
        for ban in _bans(sentence[:MAX_TEXT]):
            if ban.is_of_others and not _OTHERS.search(claim):
                continue
            if _WITH.search(claim) and not _WITH.search(sentence):
                continue  # "with a parent" is a case of its own
            known = told if is_anybody or not subject else own
            is_same = bool(before & told) if ban.is_pronoun else ban.who <= (known | before if not subject else known)
            if subject and subject[-1].lower() in _PRONOUNS and not is_anybody:
                is_same = True  # "It can be frozen" goes on with what was named before.
            if is_same and ban.act <= told and ban.act & own and not _is_allowed(own, sentence, sentences):
                return False
    return None


def _bans(sentence: str) -> Iterator[_Ban]:
    if not _FORBIDDEN.search(sentence):
        return
    for pattern in _FORBIDS:
        match = pattern.search(sentence)
        if match is None or _LIMITED.search(match["act"]) or DENIED.search(match["act"]):
            continue
        more = match.groupdict().get("more") or ""
        who, act = _words(match["who"]), _words(f"{match['act']} {more}") - _UNTOLD
        words = match["who"].split()
        if act and not _LIMITED.search(more):
            is_pronoun = len(words) == 1 and words[0].lower() in _PRONOUNS
            yield _Ban(who, act, words[:1] == ["Other"] or "other" in words, is_pronoun)


def _is_allowed(own: frozenset[str], sentence: str, sentences: Sequence[str]) -> bool:
    """Return true if another sentence has all words of the claim and forbids nothing."""
    return any(other != sentence and own <= _words(other) and not _FORBIDDEN.search(other) for other in sentences)


def _words(text: str) -> frozenset[str]:
    return frozenset(verb_stem(word) for word in _WORD.findall(text.lower()) if word not in STOP_WORDS)
