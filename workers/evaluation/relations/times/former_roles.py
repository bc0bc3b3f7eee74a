"""Compare the role that a claim gives to somebody with a role that has ended: "is the director" over "the former director"."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import content_words, word_set

MAX_TEXT = 300
"""Longest claim, question and sentence that are read, code points."""

_FORMER = r"(?:former\s|ex-|previous\s|one-time\s|erstwhile\s)"
_WHO = r"(?P<who>[^,;:]{2,60}?)"
_ROLE = r"(?P<role>[^,;:.]{2,60}?)"
_UNTIL = r"(?:until|till|up to)\s(?!now\b|today\b|\d{1,2}(?:[:.]\d\d)?\s?(?:am|pm|o['’]clock|h)?\b(?!\s[A-Z]))"
_ENDED: tuple[PrefilteredPattern, ...] = tuple(
    PrefilteredPattern(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:^|[,;]\s){_WHO},\s(?:(?:the|a|an|its|his|her|their|our)\s)?{_FORMER}{_ROLE}(?=[,;.]|$)",
        rf"(?:^|[,;]\s){_WHO},\s(?:formerly|previously|once)\s(?:the\s|an?\s)?{_ROLE}(?=[,;.]|$)",
        rf"(?:^|[,;]\s){_WHO},\swho\s(?:was|had been|used to be)\s(?:the\s|an?\s|its\s)?{_ROLE}\s{_UNTIL}",
        rf"(?:^|[,;]\s|\b(?:and|but)\s)(?:the\s|an?\s|its\s|our\s)?{_FORMER}(?P<role>(?-i:[^,;:.A-Z]){{2,60}}?),?\s(?P<who>(?-i:[A-Z])[\w.'’-]+(?:\s(?-i:[A-Z])[\w.'’-]+){{0,3}})",
        rf"(?:^|[,;]\s|\b(?:and|but)\s){_WHO}\s(?:is|are)\s(?:the\s|an?\s|its\s|our\s)?{_FORMER}{_ROLE}(?=[,;.]|$|\sand\s)",
        rf"(?:^|[,;]\s){_WHO}\s(?:was|were|had been|served as|worked as|acted as)\s(?:the\s|an?\s|its\s|our\s)?{_ROLE}\s(?:{_UNTIL}|from\s[^,;]{{3,20}}?\s(?:to|until|till)\s\w)",
        rf"(?:^|[,;]\s){_WHO}\sused to be\s(?:the\s|an?\s|its\s|our\s)?{_ROLE}(?=[,;.]|$|\sand\s|\sbut\s)",
        rf"(?:^|[,;]\s){_WHO}\s(?:(?:has\s)?(?:stepped down|resigned|retired|quit)|was\s(?:dismissed|removed|ousted|voted out))\sas\s(?:the\s|an?\s|its\s|our\s)?{_ROLE}(?=[,;.]|$|\s(?:in|on|last|after|because|and|but|at)\s)",
    )
)  # fmt: skip
CUE = PrefilteredPattern(
    r"\b(?:former|ex-|previous|one-time|erstwhile|formerly|previously|once|until|till|up to|from|used to be|stepped down|resigned|retired|quit|dismissed|removed|ousted|voted out)",
    re.IGNORECASE,
)
"""Words without which no sentence says that a role has ended."""
_HOLDS = re.compile(
    r"^\W*(?P<who>[^,;:]{2,60}?)(?:\s(?:is|are)|['’]s)\s(?P<end>no longer\s)?(?:(?:still|currently|now|today|also)\s)?(?P<former>not\s)?(?:the\s|an?\s|its\s|our\s|their\s|his\s|her\s)?(?P<role>[^,;:]{2,80}?)(?P<more>\sany\s?(?:more|longer))?[\s.!]*$",
    re.IGNORECASE,
)
_ASKS = re.compile(r"\W*who(?:\s(?:is|are)|['’]s)\s(?:the\s|an?\s)?(?P<role>[^,;:]{2,80}?)[\s?]*$", re.IGNORECASE)
_PAST = re.compile(
    r"\b(?:was|were|had|been|until|former|formerly|previously|once|used to|ex)\b|\bex-|\b(?:future|designate|acting|deputy|honorary)\b",
    re.IGNORECASE,
)
_PRESENT = re.compile(
    r"\b(?:is|are|remains?|has been|became|serves|acts|returned|re-?elected|re-?appointed|again|since|now)\b",
    re.IGNORECASE,
)
_PAST_ROLE = re.compile(
    r"\b(?:former|ex-\w+|previous|formerly|previously|once|was|until|no longer|not)\b", re.IGNORECASE
)
"""Words of a role that is no longer held."""
_CURRENT = re.compile(r"\b(?:current|present|now|new)\b", re.IGNORECASE)
"""Words of a role that somebody has today: "former head of sales and current head of marketing"."""
_PIECE = re.compile(r"[.;:,]\s|\s(?:but|and|while|whereas|although|though|when|who)\s", re.IGNORECASE)
_OF = re.compile(r"\s(?:of|at|for|in|to)\s", re.IGNORECASE)
_PRONOUN = re.compile(r"\b(?:he|she|they|it)\b", re.IGNORECASE)
_TITLES = content_words("Mr Mrs Ms Miss Dr Prof Professor Sir Dame Lord Lady actor")
_PRONOUNS = word_set("he she they it")


@dataclass(frozen=True, slots=True)
class _Role:
    """Hold an ended role: stems of its holder, of its name without what it is of, and of all of it."""

    who: frozenset[str]
    head: frozenset[str]
    words: frozenset[str]


def is_role_current(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return false if a claim gives somebody a role that has ended, and true if it says that it has.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence.

    Returns:
        ``None`` if the claim gives no such role, or the evidence gives it as well.
    """
    claim, question = claim[:MAX_TEXT], question[:MAX_TEXT]
    if not any(map(CUE.search, sentences)) or _PAST.search(claim):
        return None
    holds, asks = _HOLDS.match(claim), _ASKS.match(question)
    if holds is None and (asks is None or DENIED.search(claim)):
        return None
    who = content_words(holds["who"] if holds else claim) - _TITLES
    role = content_words(holds["role"] if holds else asks["role"] if asks else "")
    is_over = bool(holds and (holds["end"] or (holds["former"] and holds["more"])))
    if not is_over and DENIED.search(claim):
        return None
    asked = content_words(question)
    if not who and holds and holds["who"].lower().split()[-1] in _PRONOUNS:
        who = asked - role - _TITLES
    ended = [each for sentence in sentences for each in _ended(sentence[:MAX_TEXT])]
    for each in ended:
        is_same = bool(who & each.who) and (who <= each.who or each.who <= who)
        if (
            is_same
            and each.head
            and each.head <= role
            and role <= each.words | asked
            and not _is_held(who, each.head, sentences)
        ):
            return is_over
    return None


def _ended(sentence: str) -> Iterator[_Role]:
    if not CUE.search(sentence):
        return
    sentence = sentence.rstrip(" .!")
    for pattern in _ENDED:
        for match in pattern.finditer(sentence):
            who = content_words(match["who"]) - _TITLES
            if who and not DENIED.search(match[0]) and not _CURRENT.search(match["role"]):
                yield _Role(who, content_words(_OF.split(match["role"])[0]) - who, content_words(match["role"]))


def _is_held(who: frozenset[str], head: frozenset[str], sentences: Sequence[str]) -> bool:
    """Return true if a piece of the evidence may give the role to the same holder today."""
    for sentence in sentences:
        before, is_open = frozenset[str](), False
        for piece in _PIECE.split(sentence[:MAX_TEXT]):
            words = content_words(piece)
            is_open = is_open or bool(_PRONOUN.search(piece))
            is_own = is_open or bool(who & (words | before))
            if head <= words and is_own and _PRESENT.search(piece) and not _PAST_ROLE.search(piece):
                return True
            before |= words
    return False
