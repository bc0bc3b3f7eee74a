"""Find claims that take one part from one of two parallel clauses and another part from the other.

"Anna vive a Roma e Marco vive a Milano" has two clauses of one form, which differ in who and where. "Marco vive a Roma"
has all its words there, but takes "Marco" from the second and "Roma" from the first. Two clauses are aligned word by
word, so that the rule needs no grammar and holds for every language, also for those without spaces.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import combinations
from typing import Literal

from workers.evaluation.facts.units import NUMBER_WORDS, UNITS
from workers.evaluation.text.languages.language import FUNCTION_WORDS, guess_language
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import KEPT_TEXTS, STOP_WORDS, kept_for_sentences, stem, word_set

Parallel = Literal["mixed", "kept", ""]

MAX_WORDS = 16
"""Most words of a clause that is aligned; longer ones are rarely of one form."""
MAX_LETTERS = 32
"""The same for a script without spaces, whose characters count as words."""
MAX_PARTS = 3
"""Most parts in which parallel clauses differ."""
MAX_PART = 4
"""Most words of such a part."""
MAX_ALONE = 2
"""Most words that one of the clauses has in addition."""
MAX_UNLIKE = 9
"""Most words of two clauses of one sentence that have only small words in common."""
NAMED = 0.5
"""Share of a part that names it: the surname of a person."""
MAX_PIECES = 8
"""Most clauses of a sentence that are aligned with each other."""
ALIKE = 0.4
"""Least share of the longer of two clauses that both have word for word, if they differ in no figure; steps of an
instruction have an article and a noun in common, and a statement of one may take its words from both."""
KNOWN = 0.7
"""Least share of the claim's words that both clauses have together."""

_TOKEN = re.compile(
    r"\d+(?:[.,:/]\d+)*|[\u30a0-\u30ff]+|[\u3040-\u309f]|[\u3400-\u9fff]|[^\W\d_\u3040-\u30ff\u3400-\u9fff][^\W_\u3040-\u30ff\u3400-\u9fff]*"
)
_CUT = re.compile(
    r"(?:[,:](?!\d)|[;，；、。])\s*|\s+(?:(?i:and|while|whereas|but|und|während|aber|et|mais|tandis\s+que|mientras\s+que|pero|mentre|ma"
    r"|enquanto|mas|terwijl|maar|natomiast|ale|och|og|men)|y|e|i|и|а|но)\s+"
)
_CUT_DUTCH = re.compile(rf"{_CUT.pattern}|\s+en\s+")
"""In Dutch "en" is a conjunction, in French and Spanish a preposition."""
_LISTED = PrefilteredPattern(
    r"\b(?:respectively|each|both|jeweils|beide|respectivement|respectivamente|rispettivamente)\b", re.IGNORECASE
)
_SMALL = (
    STOP_WORDS
    | frozenset().union(*FUNCTION_WORDS.values())
    | word_set("а и но в на с по о a i w z na we uno ich du man je tu yo io eu ik")
)
_UNTELLING = word_set(
    "give given gave giving get got have has had receive received require required need needed take took taken make made"
)
"""Verbs that say little: a claim may have the other clause's verb in the place of one of them."""
_LINKS = word_set(
    "it he she they them his her its their this that there which who es er sie il elle lo la ello esso"
    " then also and but or so because than as if when while the a an"
)
_STANDING_IN = word_set("it he she they one ones")
"""Words that stand for what was named before: "the train to Basel and the one to Milan"."""
_STEP = re.compile(r"^\W*\d{1,2}[.)]?\s+(?=[A-Z])")
"""The number of a step before its instruction."""
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_HIRAGANA = re.compile(r"[\u3040-\u309f]")
_DIGIT = re.compile(r"\d")
_FRONTED = re.compile(
    r"^(?P<phrase>(?i:in|on|at|by|during|since)\s(?:[A-Z][^\W\d_]+|\d{4})),?\s(?P<rest>.+)$", re.DOTALL
)
"""A time or place before its clause: "In June it raised 650 euros"."""
_NAMES = frozenset({"May", "Will"})
"""Names that are small words without their capital."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """Hold a clause: the number of its sentence and its stems in order."""

    sentence: int
    stems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Pair:
    """Hold two clauses and the content words of the parts in which they differ."""

    one: _Piece
    two: _Piece
    parts: tuple[tuple[frozenset[str], frozenset[str]], ...]


def read_parallels(
    words: Sequence[str],
    topic: Sequence[str],
    sources: Sequence[Sequence[str]],
    keeps: Callable[[Collection[str], Collection[str], str], bool] | None = None,
) -> Parallel:
    """Return whether a claim mixes two parallel clauses of a source, or keeps to one of them.

    Args:
        words: stems of the claim.
        topic: stems of its question, if it is understood only with it; else empty.
        sources: the sentences of each source, in order.
        keeps: function that returns true if the figure of the claim's subject, first, makes the claim with the figure of
            another right; the last argument is the sentence with the first.
    """
    told = frozenset(word for word in words if not is_small(word))
    claim = frozenset((*words, *topic))
    pieces = [list(_pieces(texts)) for texts in sources]
    found: Parallel = ""
    for own, texts in zip(pieces, sources, strict=True):
        for pair in _pairs(own, claim, ALIKE if not topic else 0.0):
            known = told & {*pair.one.stems, *pair.two.stems}
            if not known or len(known) < KNOWN * len(told):
                continue
            taken = [
                from_
                for mine, theirs in pair.parts
                if (from_ := _taken(mine, theirs, claim)) and not (theirs, mine)[from_ - 1] <= _UNTELLING_STEMS
            ]
            if len(taken) > 1 and len(set(taken)) == 1 and len(known) == len(told):
                found = "kept"
            elif (
                len(set(taken)) > 1
                and not _stands_elsewhere(pair, claim, pieces)
                and not (keeps and _is_kept(pair, claim, texts, keeps))
            ):
                return "mixed"
    return found


def _is_kept(
    pair: _Pair,
    claim: frozenset[str],
    texts: Sequence[str],
    keeps: Callable[[Collection[str], Collection[str], str], bool],
) -> bool:
    """Return true if the claim's figure is that of another subject and its own subject's figure makes the claim right."""
    for mine, theirs in pair.parts:
        if not all(map(_is_figure, (*mine, *theirs))):
            continue
        if taken := _taken(mine, theirs, claim):
            own, told = (theirs, mine) if taken == 1 else (mine, theirs)
            piece = pair.two if taken == 1 else pair.one
            return keeps(own, told, texts[piece.sentence])
    return False


@lru_cache(maxsize=KEPT_TEXTS)
def stems_of(text: str) -> tuple[str, ...]:
    """Return the stems of a text in order; for scripts without spaces its characters."""
    words = _TOKEN.findall(text)
    return tuple(_key(word, is_first=not place) for place, word in enumerate(words))


def _key(word: str, *, is_first: bool) -> str:
    if ((len(word) == 1 and word.isupper()) or word in _NAMES) and not is_first:
        return word  # "server A" is a name, "a server" is none
    key = stem(word.lower())
    if len(key) == 4 and key.endswith("e"):
        return key[:-1]
    return key[:-1] if len(key) > 4 and key.endswith("y") else key


_UNTELLING_STEMS = frozenset(_key(word, is_first=True) for word in _UNTELLING)
_COUNTS = frozenset(_key(word, is_first=True) for word in (*NUMBER_WORDS, "one"))
_NUMBERS = _COUNTS | frozenset(_key(word, is_first=True) for word in UNITS)


@kept_for_sentences
def cut_clauses(text: str) -> tuple[str, ...]:
    """Cut a sentence at commas and conjunctions."""
    cut = _CUT_DUTCH if guess_language(text) == "nl" else _CUT
    return tuple(part for part in cut.split(text) if part.strip())


def _pieces(texts: Sequence[str]) -> Iterator[_Piece]:
    for number, text in enumerate(texts):
        for stems in _aligned(text):
            yield _Piece(number, stems)


@kept_for_sentences
def _aligned(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the stems of the clauses of a sentence, and of the whole sentence, that are short enough to align."""
    if not text or _LISTED.search(text):
        return ()
    text = _STEP.sub("", text)
    clauses = cut_clauses(text)
    if len(clauses) > MAX_PIECES:
        return ()
    turned = [f"{match['rest'].rstrip('.')} {match['phrase']}" for part in clauses if (match := _FRONTED.match(part))]
    parts = [stems for part in (*clauses, *turned) if len(stems := stems_of(part)) > 1]
    longest = MAX_LETTERS if _UNSPACED.search(text) else MAX_WORDS
    return tuple(stems for stems in dict.fromkeys((*parts, stems_of(text))) if 1 < len(stems) <= longest)


def _pairs(pieces: Sequence[_Piece], claim: frozenset[str], alike: float) -> Iterator[_Pair]:
    """Yield parallel clauses of one sentence, or of two sentences in a row, that the claim's words tell apart."""
    close = [piece for piece in pieces if claim.intersection(piece.stems)]
    for one, two in combinations(close, 2):
        if two.sentence - one.sentence > 1:
            continue
        mine, theirs = frozenset(one.stems), frozenset(two.stems)
        if mine <= theirs or theirs <= mine or not claim & (mine ^ theirs):
            continue
        if parts := _parts(one.stems, two.stems, alike, in_one=one.sentence == two.sentence):
            yield _Pair(one, two, parts)


@lru_cache(maxsize=KEPT_TEXTS)
def _parts(
    one: tuple[str, ...], two: tuple[str, ...], alike: float, *, in_one: bool
) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """Return the parts in which two clauses of one or two sentences differ, at least two; empty if they are not parallel."""
    steps = SequenceMatcher(None, one, two, autojunk=False).get_opcodes()
    same = [word for kind, start, end, _, _ in steps if kind == "equal" for word in one[start:end]]
    if not same:
        return _elided(one, two) if in_one else ()
    alone = [
        word
        for kind, start, end, first, last in steps
        if kind in ("delete", "insert")
        for word in (*one[start:end], *two[first:last])
        if not is_small(word)
    ]
    parts = [
        part
        for kind, start, end, first, last in steps
        if kind == "replace"
        for part in _figures_apart(*_both_told(one[start:end], two[first:last]))
    ]
    kept = tuple((mine, theirs) for mine, theirs in parts if mine and theirs)
    has_figures = any(all(any(map(_is_count, part)) for part in both) for both in kept)
    is_parallel = (
        1 < len(kept) <= MAX_PARTS
        and len(alone) <= MAX_ALONE
        and (has_figures or len(same) >= alike * max(len(one), len(two)))
        and all(len(part) <= MAX_PART for both in kept for part in both)
        and (
            any(not is_small(word) and not _is_figure(word) for word in same)
            # Without a word in common they are parts of one sentence: "starts at 10:00 and ends at 11:30".
            or (in_one and max(len(one), len(two)) <= MAX_UNLIKE)
        )
    )
    return kept if is_parallel else ()


def _both_told(one: Sequence[str], two: Sequence[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words of two parts; a small word counts opposite a word with a meaning ("sur" is French or Spanish)."""
    if any(part and part[-1] in _STANDING_IN for part in (one, two)) and not all(map(_is_count_of, (one, two))):
        return frozenset(), frozenset()
    mine, theirs = _told(one), _told(two)
    if not (mine or theirs) or len(one) != len(two) or _LINKS.intersection((*one, *two)):
        return mine, theirs
    return mine or frozenset(one), theirs or frozenset(two)


def _is_count_of(part: Sequence[str]) -> bool:
    return any(_is_count(word) for word in part if word not in _STANDING_IN)


def _figures_apart(mine: frozenset[str], theirs: frozenset[str]) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """Yield the figures and the other words of a part apart, if both sides have figures."""
    own, other = (frozenset(word for word in part if _is_figure(word)) for part in (mine, theirs))
    if own and other:
        yield own, other
        mine, theirs = mine - own, theirs - other
    yield mine, theirs


def _is_count(word: str) -> bool:
    return bool(_DIGIT.match(word)) or word in _COUNTS


def _is_figure(word: str) -> bool:
    return bool(_DIGIT.match(word)) or word in _NUMBERS


def _elided(one: Sequence[str], two: Sequence[str]) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """Return subject and figure of "Babbage 1791" beside those of "Lovelace was born in 1815"."""
    figures = [frozenset(word for word in stems if _is_figure(word)) for stems in (one, two)]
    rest = [_told(stems) - own for stems, own in zip((one, two), figures, strict=True)]
    if all(len(own) == 1 for own in figures) and all(rest):
        return ((rest[0], rest[1]), (figures[0], figures[1]))
    return ()


def _told(stems: Sequence[str]) -> frozenset[str]:
    return frozenset(word for word in stems if not is_small(word))


def is_small(word: str) -> bool:
    """Return true for an article, a particle and other words without a meaning of their own."""
    return word in _SMALL or bool(_HIRAGANA.fullmatch(word))


def _taken(mine: frozenset[str], theirs: frozenset[str], claim: frozenset[str]) -> int:
    """Return from which clause a claim takes a part: 1, 2, or 0 if that is open."""
    own, other = (len(part & claim) / len(part) for part in (mine, theirs))
    if (own == 1 and other < 1) or (own == NAMED and not other):
        return 1
    if (other == 1 and own < 1) or (other == NAMED and not own):
        return 2
    return 0


def _stands_elsewhere(pair: _Pair, claim: frozenset[str], sources: Sequence[Sequence[_Piece]]) -> bool:
    """Return true if another clause has all words of the claim that tell the two clauses apart."""
    known = claim & frozenset().union(*(mine | theirs for mine, theirs in pair.parts))
    return any(
        known <= frozenset(piece.stems)
        for pieces in sources
        for piece in pieces
        if not (set(pair.one.stems) <= set(piece.stems) and set(pair.two.stems) <= set(piece.stems))
    )
