"""Detect exchanged roles ("Contoso sued Northwind" for "Northwind sued Contoso") and exchanged steps.

Two sentences with the same words contradict each other if two groups of words have exchanged places around the same
middle, unless the middle is symmetric ("and", "met", "equals"), or the words themselves show the role of a group in any
place: a preposition, a German article ("den Aufzug"), a Slavic ending ("сауной"), a Korean particle.
"""

import re
from functools import lru_cache
from itertools import islice, pairwise

from workers.evaluation.text.languages.language import guess_language
from workers.evaluation.text.words import KEPT_TEXTS, content_words, stem, word_set

MAX_WORDS = 40
"""Maximum number of words of a sentence that is compared word by word."""

_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_THEN = re.compile(r",? (?:and )?then |,? after which |; then ", re.IGNORECASE)
_IN_ORDER = re.compile(r"\b(?:first|then|afterwards|next|finally|later|subsequently)\b", re.IGNORECASE)
_ARTICLES = word_set("a an the der die das den dem le la les el los las")
_SYMMETRIC = word_set(
    """
    and or is are was were be equals equal with to from between vs versus met meets meet married marries marry near
    borders border resembles resemble differs differ matches match joins joined shares share und oder et y both
    have has had been being also part include includes included consist consists
    while whereas nor plus well along
    in on at of by as same like different similar apart together alongside linked connected compared
    ist sind war waren es son era eran fue fueron est sont était étaient fut è sono fu erano é são foi foram eram zijn
    """
)
"""Words around which two groups change places without changing what is said: conjunctions and forms of "to be"."""
_WITH_EACH_OTHER = frozenset(
    map(
        stem,
        word_set(
            """
            merge merged interact interacts interacted compete competes competed cooperate cooperates cooperated collaborate
            collaborates collaborated correlate correlates correlated overlap overlaps overlapped coincide coincides coincided
            conflict conflicts conflicted intersect intersects intersected alternate alternates alternated communicate
            communicates communicated negotiate negotiates negotiated coexist coexists coexisted clash clashes clashed collide
            collides collided associated compatible incompatible interchangeable identical synonymous trade trades traded chat
            chats chatted debate debates debated
            """
        ),
    )
)
"""Stems of what two sides do with each other, so that either may stand first before "with"."""
_PREPOSITIONS = word_set(
    """
    in on at by for with without to from into onto over under of after before during since until through between against
    im am an auf aus bei bis durch für gegen mit nach ohne seit über um unter von vom vor zu zum zur
    en dans sur sous chez pour par avec sans de du des à au aux vers depuis pendant
    por para con sin del al desde hasta sobre entre nel nella nei nelle di da dal dalla per tra fra su sul sulla
    em na nos nas do dos das ao aos pelo pela com sem até op met voor naar bij uit van zonder tot tijdens
    w we z ze na do od po przed przez bez dla u o pod nad за в во на с со к ко у о об от до из по без для при под над через
    """
)
_CASED_ARTICLES = word_set("den dem des der einen einem einer eines")
"""German articles that show a case; "die", "das" and "eine" are subject and object alike."""
_SLAVIC_CASES = re.compile(
    r"(?:[аяую]|[оеё][йюм]|[аяиы]ми?|[аяиы]х|[ое]го|[ое]му|[aąęu]|[eo]m|ami|ach|ego|emu|ów|ej|[yi]mi?|[yi]ch)$"
)
"""Endings with which a noun or its adjective is not both subject and object in one form."""


def swapped(claim: str, evidence: str) -> bool:
    """Return true if a claim exchanges two roles of the evidence."""
    own, theirs = _tokens(claim), _tokens(evidence)
    if not 3 <= len(own) <= MAX_WORDS or len(own) != len(theirs) or own == theirs or sorted(own) != sorted(theirs):
        return False
    start = next(index for index, (one, two) in enumerate(zip(own, theirs, strict=True)) if one != two)
    end = next(index for index, (one, two) in enumerate(zip(own[::-1], theirs[::-1], strict=True)) if one != two)
    first, second = own[start : len(own) - end], theirs[start : len(theirs) - end]
    for left in range(1, len(first) - 1):
        for right in range(1, len(first) - left):
            middle = first[left : len(first) - right]
            turned = first[len(first) - right :] + middle + first[:left]
            if turned == second and not _is_symmetric(middle):
                return not _shows_roles(claim, evidence, first[:left], first[len(first) - right :])
    return False


def _is_symmetric(middle: tuple[str, ...]) -> bool:
    rest = set(middle) - _SYMMETRIC
    return not rest or (
        middle[-1] == "with" and any(stem(word) in _WITH_EACH_OTHER for word in rest) and len(rest) <= 2
    )


def _shows_roles(claim: str, evidence: str, *groups: tuple[str, ...]) -> bool:
    """Return true if the form of one of two exchanged groups shows its role wherever it stands."""
    if any(group[0] in _PREPOSITIONS for group in groups):
        return True
    language = guess_language(f"{claim} {evidence}")
    if language == "de":
        own, theirs = _cased(claim), _cased(evidence)
        return any(word in own and own[word] == theirs.get(word) for group in groups for word in group)
    if language in ("pl", "ru"):
        return any(_SLAVIC_CASES.search(word) for group in groups for word in group)
    return language in ("ko", "ja")


def _cased(text: str) -> dict[str, str]:
    """Return the German article that shows a case by the word that follows it."""
    words = [match[0].lower() for match in _WORD.finditer(text)]
    return {word: article for article, word in pairwise(words) if article in _CASED_ARTICLES}


def reordered(claim: str, evidence: str) -> bool:
    """Return true if the evidence has the two steps of a claim ("…, then …") in the reverse order.

    The evidence must state an order and contain all words of both steps.
    """
    parts = _THEN.split(claim)
    if len(parts) != 2 or not _IN_ORDER.search(evidence):
        return False
    steps = [[stem(match[0]) for match in _WORD.finditer(part) if content_words(match[0])] for part in parts]
    matches = list(_WORD.finditer(evidence))
    places = {stem(match[0]): match.start() for match in reversed(matches)}
    last = {stem(match[0]): match.start() for match in matches}
    if min(map(len, steps)) < 2 or not all(word in places for step in steps for word in step):
        return False
    # In an instruction the verb comes first: "then start the pump".
    return places[steps[0][0]] > last[steps[1][0]]


@lru_cache(maxsize=KEPT_TEXTS)
def _tokens(text: str) -> tuple[str, ...]:
    words = [match[0] for match in _WORD.finditer(text)]
    # The "A" of "plan A" is a name; at the start of a sentence it is an article.
    kept = (
        word
        for index, word in enumerate(words)
        if word.lower() not in _ARTICLES or (index and word in ("A", "LA", "EL"))
    )
    return tuple(word.lower() for word in islice(kept, MAX_WORDS + 1))
