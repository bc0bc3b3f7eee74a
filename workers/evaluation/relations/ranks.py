"""Compare ranks: "the second-largest city", "one of the largest cities", "finished third", "won the silver medal"."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import content_words, key_of, stem, word_set

MAX_TEXT = 300
"""Longest claim and sentence that are read, code points."""

_AMONG, _BEHIND = 0, -1
"""Places of what is one of several, and of what is the first behind another one."""
_LAST = 1_000
_PLACES = {
    **{
        word: place
        for place, words in enumerate(
            (
                "first 1st gold winner winners", "second 2nd silver runner-up runners-up", "third 3rd bronze", "fourth 4th",
                "fifth 5th", "sixth 6th", "seventh 7th", "eighth 8th", "ninth 9th", "tenth 10th",
            ),
            start=1,
        )
        for word in words.split()
    },
    "last": _LAST,
}  # fmt: skip
_SAME = {stem(word): stem(other) for word, other in (("biggest", "largest"), ("main", "leading"), ("top", "leading"))}
_ORDINAL = r"(?:second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|2nd|3rd|[4-9]th|10th)"
_NO_GRADES = word_set(
    """
    forest interest test rest west guest request contest harvest arrest protest honest modest invest suggest digest
    manifest priest quest chest conquest northwest southwest midwest everest behest reinvest attest detest crest vest
    pest nest zest jest inquest bequest disinterest latest earliest budapest
    """
)
"""Words on "est" that state no rank, or a time."""
_GRADE = r"(?P<grade>(?:most|least)\s[^\W\d_]{4,}|[^\W\d_]{2,}est|best|worst|leading)"
_BETWEEN = r"(?:(?!(?:in|of|on|at|by|for|to|with|from|is|are|was|were|and|or|that|which)\b)[\w'’-]+\s){0,3}?"
_RANK = PrefilteredPattern(
    rf"\b(?:(?P<part>(?:one|some|two|three|many|several)\sof|among(?:st)?|an?(?=\s(?:leading|top|main)\b))\s{_BETWEEN}(?:{_ORDINAL}[-\s])?"
    rf"|(?P<several>(?:the|its|their|our|[\w-]+['’]s?)\s(?:top\s)?(?:two|three|four|five|six|seven|eight|nine|ten|twenty|\d+)\s)"
    rf"|(?P<place>{_ORDINAL})[-\s](?:single[-\s])?"
    rf"|(?:the|its|their|our|his|her|my|your|[\w-]+['’]s?)\s(?:single\s|very\s|current\s|overall\s)?){_GRADE}\b",
    re.IGNORECASE,
)
_BARE = re.compile(
    rf"\b(?P<place>first|last|{_ORDINAL}|gold|silver|bronze)(?=\s(?:place|position|in|at|on|by|behind|after|with|for|overall|and)\b|[,.;]|$)",
    re.IGNORECASE,
)
"""An ordinal that leaves out what an earlier rank of its sentence has: "and the third by area"."""
_FINISHED = PrefilteredPattern(
    rf"\b(?:finish(?:ed|es|ing)?|came|comes?|coming|placed|ranks?|ranked|ended(?:\sup)?|took|takes|in|secured|claimed)\s(?:in\s)?(?P<place>first|last|{_ORDINAL})"
    r"(?=\s(?:place|position|in|at|on|behind|with|for|overall|and|out)\b|[,.;]|$)",
    re.IGNORECASE,
)
_MEDAL = PrefilteredPattern(
    r"(?P<place>\b(?:gold|silver|bronze)(?=\smedals?\b)|(?<=\bwon )(?:gold|silver|bronze)\b|(?<=\btook )(?:gold|silver|bronze)\b|\brunners?-up\b)",
    re.IGNORECASE,
)
_WON = PrefilteredPattern(
    r"\b(?:won|wins|winning)\s(?:the|her|his|their|this)\s(?:[\w'’-]+\s){0,2}?(?:race|marathon|title|tournament|championship|cup|trophy|league|election|award|prize)\b",
    re.IGNORECASE,
)
_BEFORE = re.compile(r"\b(?:in|by|since|for|at|on|from|until|during|with|of|after|behind|unlike|besides|among|within)\s[^,;]*?(?=,|;|\b(?:is|are|was|were|has|have)\b|$)", re.IGNORECASE)  # fmt: skip
_FOLLOWED = re.compile(r"[^,;]*?,?\s(?:after|behind)\s(?:the\s)?(?=[A-Z])")
_SEPARATOR = re.compile(r"[;,:()–—]\s?|\s(?:and|but|while|whereas|although|though)\s", re.IGNORECASE)
_COPULA = re.compile(r"\b(?:is|are|was|were|became|remains?|remained|being|be)\b", re.IGNORECASE)
_REPLY_START = re.compile(r"\W*(?:what|which|who|where)\b", re.IGNORECASE)
_RANKING_WORDS = content_words(
    "place position medal finish come came took take rank secure claim won win single one two several among"
    " second third fourth fifth sixth seventh eighth ninth tenth"
)


@dataclass(frozen=True, slots=True)
class _Rank:
    """Hold a rank.

    Attributes:
        grade: what it is by: the stem of "largest"; empty for places of a contest.
        place: 1 for the first; ``_AMONG`` and ``_BEHIND`` for what is not given exactly.
        subject: stems of what has the rank; empty for a pronoun.
        rest: the other stems of its clause.
        around: the stems of its sentence.
    """

    grade: str
    place: int
    subject: frozenset[str]
    rest: frozenset[str]
    around: frozenset[str]


def is_rank_kept(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return false if a claim gives a thing another rank than the evidence, true if it gives it the same.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence.

    Returns:
        ``None`` if the claim states no rank, or the evidence ranks nothing of the kind.
    """
    claim = claim[:MAX_TEXT]
    if DENIED.search(claim):
        return None
    own = list(_ranks(claim, ""))
    if not own and _REPLY_START.match(question):
        # "Leeds" to "What is the largest city?" states a rank.
        own = [
            _Rank(rank.grade, rank.place, _words(claim) - rank.rest, rank.rest, rank.around)
            for rank in _ranks(question[:MAX_TEXT], "")
        ]
    found = set()
    asked = _words(question[:MAX_TEXT]) if own else frozenset[str]()
    stated = list(_evidence_ranks(sentences)) if own else []
    for rank in own:
        found.add(_compare(rank, [each for each in stated if each.grade == rank.grade], asked))
    return False if False in found else True if found == {True} else None


def _compare(rank: _Rank, stated: Sequence[_Rank], asked: frozenset[str]) -> bool | None:
    same = [each for each in stated if _is_of_same(rank, each, asked)]
    most = max((len(rank.rest & each.rest) for each in same), default=0)
    kept = {_is_kept(rank.place, each.place) for each in same if len(rank.rest & each.rest) == most}
    return None if len(kept) != 1 else kept.pop()


def _is_of_same(rank: _Rank, other: _Rank, asked: frozenset[str]) -> bool:
    """Return true if a rank of the evidence is one of the claim's subject, in the claim's scope."""
    subject = rank.subject or (other.subject & asked)
    if rank.subject and not 2 * len(rank.subject & other.subject) >= len(rank.subject):
        return False
    if not rank.subject and asked and other.subject and not subject:
        return False
    return rank.rest <= other.around


def _is_kept(own: int, stated: int) -> bool | None:
    if own == stated:
        return True
    if own == _AMONG:
        return None if stated == _LAST else True
    if _BEHIND in (own, stated):
        return None if max(own, stated) > 1 else False
    return False


def _evidence_ranks(sentences: Sequence[str]) -> Iterator[_Rank]:
    before = ""
    for sentence in sentences:
        if not DENIED.search(sentence):
            yield from _ranks(sentence[:MAX_TEXT], before)
        before = sentence[:MAX_TEXT]


def _ranks(text: str, before: str) -> Iterator[_Rank]:
    """Yield the ranks of a sentence, each with the words of its clause."""
    matches = list(_matches(text))
    around = _words(text)
    start, carried = 0, frozenset[str]()
    for number, (match, grade, place) in enumerate(matches):
        following = matches[number + 1][0].start() if number + 1 < len(matches) else len(text)
        separator = _SEPARATOR.search(text, match.end(), following) if number + 1 < len(matches) else None
        end = separator.start() if separator else following
        head, tail = text[start : match.start()], text[match.end() : end]
        ranking = _words(match[0]) | _RANKING_WORDS
        subject = _words(_BEFORE.sub(" ", head)) - ranking
        if not subject and not number and (verb := _COPULA.search(tail)) and not _COPULA.search(head):
            # "The second-largest city is Leeds": the thing stands behind the verb.
            subject = _words(_SEPARATOR.split(tail[verb.end() :])[0]) - ranking
        if not subject and not number and before:
            around |= _words(before)
            subject = _words(before)
        subject = subject or carried
        carried = subject
        rest = _words(f"{head} {tail}") - subject - ranking
        yield _Rank(grade, place, subject, rest, around)
        start = end


def _matches(text: str) -> Iterator[tuple[re.Match[str], str, int]]:
    """Yield the words for ranks in the order of a text, each with its grade and its place."""
    found: list[tuple[re.Match[str], str, int]] = []
    for match in _RANK.finditer(text):
        words = key_of(match["grade"]).split()
        if words[-1] not in _NO_GRADES:
            grade = stem(words[-1]) if len(words) == 1 else " ".join((words[0], stem(words[1])))
            found.append((match, _SAME.get(grade, grade), _place(match, text)))
    found += [
        (match, "", _PLACES[key_of(match["place"])])
        for pattern in (_FINISHED, _MEDAL)
        for match in pattern.finditer(text)
    ]
    found += [(match, "", 1) for match in _WON.finditer(text)]
    found.sort(key=lambda each: each[0].start())
    if found:
        first = found[0]
        taken = [(match.start(), match.end()) for match, _, _ in found]
        for match in _BARE.finditer(text, first[0].end()):
            if not any(start <= match.start() < end for start, end in taken):
                grade = next(grade for earlier, grade, _ in reversed(found) if earlier.start() < match.start())
                found.append((match, grade, _PLACES[key_of(match["place"])]))
        found.sort(key=lambda each: each[0].start())
    yield from found


def _place(match: re.Match[str], text: str) -> int:
    if match["part"] or match["several"]:
        return _AMONG
    if match["place"]:
        return _PLACES[key_of(match["place"])]
    return _BEHIND if _FOLLOWED.match(text, match.end()) else 1


def _words(text: str) -> frozenset[str]:
    """Return the stems of a text's content words; "cities" and "city" have different ones without their ends."""
    return frozenset(word.removesuffix("y") for word in content_words(text))
