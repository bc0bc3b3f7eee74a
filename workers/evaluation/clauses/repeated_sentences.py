"""Align a claim with a sentence that it repeats but for one part: "hold the (volume | power) button for ten seconds".

Only content words are aligned. Each keeps the preposition before it, so that a place is compared with a place.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from workers.evaluation.text.parser import NOUNS, VERBS, parse
from workers.evaluation.text.words import STOP_WORDS, kept_for_sentences, stem, word_set

MAX_PART = 3
"""Most words of the part in which claim and sentence differ."""
MIN_SHARED = 2
"""Fewest words that they have in common."""
OF_STATEMENTS = word_set("because due that who")
"""Words after which a part states something, and is no thing."""

_WORD = re.compile(r"[^\W_]+(?:[.'’-][^\W_]+)*|[,;:()—–.]")
_BORDERS = word_set(", ; : ( ) — – . and or but while whereas although though so then if")
_PREPOSITIONS = word_set(
    "at in on for by to from near with without before after during until since under over above below between through into onto about"
    " against because behind beside beyond across along around inside outside than as of that who which whose where when due like via per"
)
_POINTING = word_set("the its their his her our your")
_STANDING_IN = word_set(
    "it they he she him them hers theirs ones both each this these those such all some most many few none there another"
)
"""Words that may stand for a thing named before, or for several."""
_SMALL = STOP_WORDS | word_set(
    "one being am having could might shall not also only just never still already now even very less least another too usually often always"
)


@dataclass(frozen=True, slots=True)
class Word:
    """Describe a content word of a sentence.

    Attributes:
        text: the word.
        stem: its stem.
        place: its offset in the sentence.
        preposition: the preposition or relative pronoun between it and the word before it; else empty.
        article: "a", "the" or the like before it; else empty.
        opens: whether it is the first word behind a comma or conjunction.
        is_behind_pronoun: whether a pronoun stands between it and the word before it.
    """

    text: str
    stem: str
    place: int
    preposition: str
    article: str
    opens: bool
    is_behind_pronoun: bool


@dataclass(frozen=True, slots=True)
class Sentence:
    """Hold a sentence with its content words and their stems."""

    text: str
    words: tuple[Word, ...]
    stems: frozenset[str]


@dataclass(frozen=True, slots=True)
class Repetition:
    """Hold where a claim repeats a sentence.

    Attributes:
        start: first word of the claim's own part.
        end: word behind it.
        held: places of the words of the sentence that the claim has too, in order.
        part: places of the words that the sentence has instead of the claim's part.
    """

    start: int
    end: int
    held: tuple[int, ...]
    part: tuple[int, ...]


@kept_for_sentences
def read_sentence(text: str) -> Sentence:
    """Return the content words of a sentence."""
    words = tuple(_words(text))
    return Sentence(text, words, frozenset(word.stem for word in words))


def _words(text: str) -> Iterator[Word]:
    preposition = article = ""
    opens, is_behind_pronoun = True, False
    for match in _WORD.finditer(text):
        word = match[0].lower()
        if word in _BORDERS:
            preposition, article, opens = "", "", True
        elif word in _PREPOSITIONS:
            # "because of" states a cause
            preposition, article = preposition if word == "of" and preposition in OF_STATEMENTS else word, ""
        elif word in _POINTING or word in ("a", "an"):
            article = "a" if word in ("a", "an") else "the"
        elif word in _STANDING_IN:
            is_behind_pronoun = True
        elif word not in _SMALL:
            yield Word(match[0], stem(word), match.start(), preposition, article, opens, is_behind_pronoun)
            preposition = article = ""
            opens = is_behind_pronoun = False


@kept_for_sentences
def kinds_of(text: str) -> dict[int, str]:
    """Return the parts of speech of the words of a sentence, by their offset; those of plural nouns end in "s"."""
    return {word.idx: f"{word.pos_}s" if word.tag_ in ("NNS", "NNPS") else word.pos_ for word in parse(text)}


@kept_for_sentences
def clause_borders(text: str) -> frozenset[int]:
    """Return the places of the words that begin a clause; "lunch" of "books and lunch" begins none."""
    words = read_sentence(text).words
    opening = [at for at, word in enumerate(words) if word.opens]
    if len(opening) < 2:
        return frozenset(opening)
    verbs = [place for place, kind in kinds_of(text).items() if kind in VERBS]
    has_verb = []
    for at, end in pairwise([*opening, len(words)]):
        start = words[at - 1].place + 1 if at else 0
        has_verb.append(any(start <= place <= words[end - 1].place for place in verbs))
    found, is_told = [0], has_verb[0]
    for at, verb in zip(opening[1:], has_verb[1:], strict=True):
        if is_told and verb:
            found.append(at)
        is_told = is_told or verb
    return frozenset(found)


def without_items(sentence: Sentence) -> Iterator[Sentence]:
    """Yield a sentence with one of two joined things: "The fee includes parking" of "includes books and parking"."""
    words, borders = sentence.words, clause_borders(sentence.text)
    for at, word in enumerate(words):
        if not word.opens or at in borders:
            continue
        first = next((left for left in range(at - 1, 0, -1) if not _goes_on(words, left, sentence.text)), 0)
        last = next(
            (right for right in range(at + 1, len(words)) if not _goes_on(words, right, sentence.text)), len(words)
        )
        own = replace(word, opens=words[first].opens, preposition=words[first].preposition)
        for kept in ((*words[:first], own, *words[at + 1 :]), (*words[:at], *words[last:])):
            yield Sentence(sentence.text, kept, frozenset(each.stem for each in kept))


def _goes_on(words: Sequence[Word], at: int, text: str) -> bool:
    """Return true if a word and the one before it are of one noun phrase."""
    kinds = kinds_of(text)
    return not (words[at].preposition or words[at].article or words[at].opens) and all(
        kinds.get(word.place, "").removesuffix("s") in (*NOUNS, "ADJ") for word in words[at - 1 : at + 1]
    )


def repetitions(claim: Sequence[Word], sentence: Sentence) -> Iterator[Repetition]:
    """Yield how a claim repeats a sentence but for a part of at most ``MAX_PART`` words."""
    missing = [place for place, word in enumerate(claim) if word.stem not in sentence.stems]
    first, last = (missing[0], missing[-1]) if missing else (len(claim) - 1, 0)
    for start in range(first + 1):
        for end in range(max(start, last) + 1, min(len(claim), start + MAX_PART) + 1):
            if start + len(claim) - end >= MIN_SHARED and (found := _aligned(claim, start, end, sentence)):
                yield found


def _aligned(claim: Sequence[Word], start: int, end: int, sentence: Sentence) -> Repetition | None:
    """Align the words before and behind a part of a claim in their order."""
    words, held, place = sentence.words, list[int](), 0
    for word in (*claim[:start], *claim[end:]):
        place = next((at for at in range(place, len(words)) if words[at].stem == word.stem), len(words)) + 1
        if place > len(words):
            return None
        held.append(place - 1)
    before = held[start - 1] if start else None
    behind = held[start] if end < len(claim) else None
    preposition, borders = claim[start].preposition, clause_borders(sentence.text)
    if behind is not None and (words[behind].preposition != claim[end].preposition or words[behind].is_behind_pronoun):
        return None
    if before is None:
        part = [] if preposition or behind is None else _part_before(words, behind, borders)
    else:
        rest = _until_border(borders, before + 1, len(words) if behind is None else behind)
        part = _part_behind(rest, words, preposition)
        if behind is not None and part and part[-1] != behind - 1 and not words[behind].preposition:
            return None
        if behind is not None and len(rest) < behind - before - 1:
            return None
    part = [at for at in part if not words[at].text.endswith("ly")]
    own = {word.stem for word in claim}
    if not part or any(words[at].stem in own or words[at].is_behind_pronoun for at in part):
        return None
    return Repetition(start, end, tuple(held), tuple(part))


def _part_before(words: Sequence[Word], behind: int, borders: frozenset[int]) -> list[int]:
    """Return the places before a word as far as its clause goes: its subject."""
    if behind in borders:
        return []
    start = max(at for at in borders if at < behind)
    return [] if words[start].preposition else list(range(start, behind))


def _until_border(borders: frozenset[int], start: int, end: int) -> list[int]:
    return list(range(start, min((at for at in borders if start <= at < end), default=end)))


def _part_behind(rest: Sequence[int], words: Sequence[Word], preposition: str) -> list[int]:
    """Return the places of the part with a preposition; one without stands directly behind the verb."""
    is_anywhere = preposition not in ("", "of")
    found = next((at for at in (rest if is_anywhere else rest[:1]) if words[at].preposition == preposition), None)
    if found is None:
        return []
    end = rest[-1] + 1
    if preposition not in OF_STATEMENTS:
        end = next((at for at in range(found + 1, end) if words[at].preposition), end)
    return list(range(found, end))
