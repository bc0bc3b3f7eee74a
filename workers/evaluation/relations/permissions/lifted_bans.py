"""Compare what a claim forbids with bans that have ended: "is banned" over "the ban was lifted"."""

import re
from collections.abc import Iterator, Sequence

from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.facts.verb_forms import verb_stem
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import STOP_WORDS, key_of, word_set

MAX_TEXT = 300
"""Longest claim, question and sentence that are read, code points."""
SHARED = 0.5
"""Share of the words of what was forbidden that a claim or its question must have."""

_BAN = r"(?:bans?|prohibitions?|embargo(?:es)?|moratorium|restrictions?|curfews?|suspensions?|blockades?|sanctions?)"
_ENDED = r"(?:lifted|ended|revoked|repealed|withdrawn|withdrew|abolished|scrapped|dropped|removed|overturned|rescinded|struck down)"
_BARRED = r"(?:(?:strictly\s)?(?:banned|prohibited|forbidden|barred)|not\s(?:allowed|permitted)|suspended|restricted|outlawed|illegal)"
_PHRASE = rf"(?P<ban>[^,;:]{{0,60}}?\b{_BAN}\b(?:\s(?:on|of|against|for|in|from|at)\s[^,;:]{{2,80}}?)?)"
_FOR = r"(?:\s(?:in\s\w+\s)?for\s(?P<case>(?!good\b)[^,;.]{3,60}))?"
_LIFTED: tuple[PrefilteredPattern, ...] = tuple(
    PrefilteredPattern(pattern, re.IGNORECASE)
    for pattern in (
        rf"^(?:.{{0,40}}?,\s)?{_PHRASE}\s(?:was|were|has\sbeen|have\sbeen)\s{_ENDED}\b{_FOR}",
        rf"^(?:.{{0,40}}?,\s)?{_PHRASE}\s(?:(?:has\s|have\s)?(?:ended|expired|lapsed)|(?:is|are)\sover|no longer appl(?:y|ies)|(?:is|are)\sno longer\sin\s(?:force|place|effect))\b{_FOR}",
        rf"\b(?<!to\s){_ENDED}\s(?:the|its|their|his|her|a|an|all)\s{_PHRASE}(?=[,;:.]|$|\s(?:in|last|this|on|after|for)\s){_FOR}",
        rf"^(?:.{{0,40}}?,\s)?(?P<ban>[^,;:]{{3,80}}?)\s(?:is|are)\sno longer\s{_BARRED}(?P<more>[^,;.]{{0,60}}){_FOR}",
        rf"\b(?<!to\s){_ENDED}\s(?:the|its|their|a|an)\s(?:\w+\s)?(?:law|rule|act|order|decree|clause|regulation)\s(?:that|which)\s(?:prohibited|banned|forbade|outlawed|restricted)\s(?P<ban>[^,;:.]{{3,80}}){_FOR}",
    )
)  # fmt: skip
CUE = PrefilteredPattern(rf"\b(?:{_ENDED}|expired|lapsed|over|no longer)\b", re.IGNORECASE)
"""Words without which no sentence says that a ban has ended."""
_KEPT = re.compile(
    r"\b(?:re-?introduced|re-?imposed|reinstated|restored|extended|renewed|partly|partially|temporarily|briefly|will|would|should|if|unless|until|not|never|n't|refus\w+|calls?|called|may)\b",
    re.IGNORECASE,
)
"""Words of a ban that has not ended, or is back."""
_FORBIDS = re.compile(
    rf"\b(?:is|are|remains?|stays?)\b[^.;]{{0,60}}?\b{_BARRED}\b|\bthere\s(?:is|are)\s(?:still\s|currently\s)?(?:an?\s)?[^.;]{{0,40}}?\b{_BAN}\b"
    rf"|\b(?:may|must|can)\s?not\b|\b{_BAN}\b[^.;]{{0,60}}\b(?:is|are|remains?)\s(?:still\s)?in\s(?:force|place|effect)\b|\b{_BAN}\b[^.;]{{0,60}}\bstill\sappl",
    re.IGNORECASE,
)
_PERMITS = re.compile(
    rf"\b(?:is|are)\b[^.;]{{0,60}}?\b(?:allowed|permitted|legal|possible|operating|running)\b|\b(?:may|can)\b|\bno longer\b|\bno more\s{_BAN}|\b{_BAN}\b[^.;]{{0,60}}\b(?:is|are)\sover\b",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:was|were|had|been|until|before|former(?:ly)?|previous(?:ly)?|once|originally|used to|ago|lifted|ended|expired)\b",
    re.IGNORECASE,
)
_DENIAL = re.compile(rf"\bno longer\s(?:{_BARRED}|under|subject)|\bno\s(?:more|longer)\b", re.IGNORECASE)
_PIECE = re.compile(r"[.;:,]\s|\s(?:but|and|while|whereas|although|though)\s", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")
_OF_BANS = frozenset(
    map(
        verb_stem,
        word_set(
            "ban bans banned prohibition prohibited embargo moratorium restriction restrictions restricted curfew suspension suspended blockade"
            " sanctions forbidden barred outlawed illegal allowed permitted legal possible currently still force place effect under subject again"
            " running operating applies apply yes general strictly planned since there longer lifted exist exists"
        ),
    )
)


def is_ban_current(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return false if a claim forbids what is no longer forbidden, and true if it says no more than that it is allowed.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence.

    Returns:
        ``None`` if no ban on it has ended, or the evidence forbids it as well.
    """
    claim = claim[:MAX_TEXT]
    if not any(map(CUE.search, sentences)) or _PAST.search(claim):
        return None
    is_denial = bool(_DENIAL.search(claim))
    forbids = bool(_FORBIDS.search(claim)) and not is_denial
    permits = bool(_PERMITS.search(claim)) and (is_denial or not DENIED.search(claim))
    own, asked = _stems(claim), _stems(question[:MAX_TEXT])
    if forbids == permits or not own:
        return None
    for sentence in sentences:
        for thing, case in _lifted(sentence[:MAX_TEXT]):
            told = own | asked
            if (
                own <= _stems(sentence) | asked
                and len(thing & told) >= SHARED * len(thing)
                and case <= told
                and not any(_forbids(own, other) for other in sentences)
            ):
                return permits
    return None


def _lifted(sentence: str) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """Yield the words of what a sentence says is no longer forbidden, and those of the case in which it is not."""
    sentence = sentence.rstrip(" .!")
    if not CUE.search(sentence) or _KEPT.search(sentence):
        return
    for pattern in _LIFTED:
        for match in pattern.finditer(sentence):
            parts = match.groupdict(default="")
            if thing := _stems(f"{match['ban']} {parts.get('more', '')}"):
                yield thing, _stems(parts["case"])


def _forbids(own: frozenset[str], sentence: str) -> bool:
    return any(
        _FORBIDS.search(piece) and not _DENIAL.search(piece) and own <= _stems(piece)
        for piece in _PIECE.split(sentence[:MAX_TEXT])
    )


def _stems(text: str) -> frozenset[str]:
    """Return the stems of the content words but those of bans, the same for all forms of a verb."""
    words = map(key_of, _WORD.findall(text))
    return frozenset(verb_stem(word) for word in words if word not in STOP_WORDS) - _OF_BANS
