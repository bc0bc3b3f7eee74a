"""Measure where the value of a claim stands in short evidence, relative to the claim's subject.

"The north tower is 44 m high" has all of its words in "The north tower rises 31 m; its sister in Lund reaches 44 m",
but its value stands in another clause than its subject, and another value stands beside the subject. The measures are
distances in words, clauses and sentences between the value, the subject and the rival values of its kind. They need no
grammar; ``placement_model`` weighs them.

The value of a claim is its number, else the two rarest words of a short answer, else the two rarest names in the
claim's second half; a claim without any of these states no value. The subject is made of the words of the question,
else of the claim's first half.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from workers.evaluation.budget import spend
from workers.evaluation.facts.units import NUMBER_WORDS
from workers.evaluation.text.words import STOP_WORDS, kept_for_sentences, stem, word_set

MEASURES = (
    "distance",
    "farthest",
    "nearest",
    "share_in_clause",
    "share_in_sentence",
    "subject_farthest",
    "subject_nearest",
    "subject_in_clause",
    "subject_in_sentence",
    "name_distance",
    "name_weight",
    "name_in_clause",
    "name_in_sentence",
    "left_known",
    "right_known",
    "left_is_known",
    "right_is_known",
    "foreign_names",
    "own_names",
    "foreign_words",
    "clause_words",
    "clause_opens_known",
    "sentence_opens_known",
    "has_pronoun",
    "rival_distance",
    "rival_gain",
    "rival_in_clause",
    "rival_in_sentence",
    "rivals",
    "rival_share",
    "rival_share_gain",
    "rival_sentence_gain",
    "subject_before",
    "turned",
    "is_short",
)
"""Names of the measures, in the order of the columns."""

MAX_EVIDENCE = 700
"""Maximum length of the evidence, code points; in longer texts subjects are named in ways that distances do not tell."""
MAX_WORDS = 24
"""Maximum number of content words of a claim that is measured."""
MAX_PLACES = 20
"""Maximum number of places of a word, of a value and of its rivals that are looked at; bounds the time."""
SENTENCE, CLAUSE = 6, 2
"""Distance in words that a boundary between sentences and between clauses adds."""
FAR = 40
"""Distance from which on words do not belong together."""
LEFT, RIGHT = 8, 6
"""Number of words before and after a value among which its neighbours are looked for."""

_WORD = re.compile(r"[^\W_]+(?:[.,:'’][^\W_]+)*")
_BOUNDARY = re.compile(
    r"(?P<sentence>[.!?](?=\s|$)|\n)|[,;:()|–—]\s|\s[-–—]\s|\b(?:while|whereas|but|and|unlike|although|though)\b",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"\b(?:than|more|less|fewer|both|each|every|all|together|total|average|combined|overall|respectively|difference)\b",
    re.IGNORECASE,
)
"""Words of claims about several subjects, which have no place of their own."""
_GROUPED = re.compile(r"[,'’](?=\d{3}\b)")
_PRONOUNS = word_set("it its he she his her they their")
_SMALL = STOP_WORDS | word_set("per s t much many long old what yes no not never none neither cannot nothing")


class Token(NamedTuple):
    """Describe a word of a text.

    Attributes:
        key: its stem; a number without separators.
        sentence: number of its sentence.
        clause: number of its clause, counted through the text.
        is_number: whether it is a number, also in words.
        is_name: whether it has a capital inside a sentence.
        is_small: whether it has no meaning of its own.
        is_pronoun: whether it stands for something named before.
    """

    key: str
    sentence: int
    clause: int
    is_number: bool
    is_name: bool
    is_small: bool
    is_pronoun: bool


@kept_for_sentences
def read_tokens(text: str) -> tuple[Token, ...]:
    """Read the words of a text with their sentences and clauses."""
    return tuple(_tokens(text))


def _tokens(text: str) -> Iterator[Token]:
    boundaries = list(_BOUNDARY.finditer(text))
    sentence = clause = place = 0
    opens = True
    for match in _WORD.finditer(text):
        while place < len(boundaries) and boundaries[place].start() <= match.start():
            clause += 1
            if boundaries[place]["sentence"]:
                sentence, opens = sentence + 1, True
            place += 1
        word = match[0].lower().removesuffix("'s").removesuffix("’s")
        is_number = word[0].isdigit() or word in NUMBER_WORDS
        yield Token(
            key=_number_key(word) if is_number else stem(word)[:7],
            sentence=sentence,
            clause=clause,
            is_number=is_number,
            is_name=match[0][0].isupper() and not opens and not is_number,
            is_small=word in _SMALL and not is_number,
            is_pronoun=word in _PRONOUNS,
        )
        opens = False


def _number_key(word: str) -> str:
    return f"{NUMBER_WORDS[word]:g}" if word in NUMBER_WORDS else _GROUPED.sub("", word).strip(".,")


@dataclass(frozen=True, slots=True)
class _Claim:
    """Hold the words of a claim that the evidence has.

    Attributes:
        value: keys of its value.
        subject: keys of its subject.
        others: keys besides the value.
        words: all keys, also those that the evidence does not have.
        order: keys in their order.
        is_short: whether it is read with its question.
    """

    value: tuple[str, ...]
    subject: tuple[str, ...]
    others: tuple[str, ...]
    words: frozenset[str]
    order: tuple[str, ...]
    is_short: bool


class _Evidence:
    """Index the words of the evidence.

    Attributes:
        tokens: its words in order.
        weights: weight of each word, which falls with the number of clauses that have it.
    """

    def __init__(self, text: str, wanted: frozenset[str]) -> None:
        self.tokens = read_tokens(text)
        self.places: dict[str, list[int]] = {}
        self.clauses: dict[int, set[str]] = {}
        self.sentences: dict[int, set[str]] = {}
        for place, token in enumerate(self.tokens):
            if token.key in wanted and len(known := self.places.setdefault(token.key, [])) < MAX_PLACES:
                known.append(place)
            self.clauses.setdefault(token.clause, set()).add(token.key)
            self.sentences.setdefault(token.sentence, set()).add(token.key)
        count = 1 + max((token.clause for token in self.tokens), default=0)
        owners = Counter(key for keys in self.clauses.values() for key in keys & wanted)
        self.weights: Mapping[str, float] = {key: math.log1p(count / number) for key, number in owners.items()}

    def distance(self, one: int, two: int) -> int:
        """Return the distance of two places in words; boundaries between them count as words."""
        a, b = self.tokens[one], self.tokens[two]
        return abs(one - two) + SENTENCE * abs(a.sentence - b.sentence) + CLAUSE * abs(a.clause - b.clause)

    def nearest(self, place: int, key: str) -> int:
        """Return the distance of a place to the nearest occurrence of a word."""
        return min(self.distance(place, other) for other in self.places[key])

    def share(self, keys: Sequence[str], within: set[str]) -> float:
        """Return the share by weight of words that a clause or sentence has."""
        total = sum(self.weights[key] for key in keys)
        return sum(self.weights[key] for key in keys if key in within) / total if total else 0.0


def measure_placement(claim: str, question: str, evidence: str) -> list[float] | None:
    """Measure the placement of a claim's value, in the order of ``MEASURES``.

    Args:
        claim: the claim.
        question: the question, if the claim is a short answer to it; else empty.
        evidence: the evidence, at most ``MAX_EVIDENCE`` code points.

    Returns:
        ``None`` if the evidence is too long, has no value or nothing else of the claim, or if the claim is about several
        subjects.
    """
    if len(evidence) > MAX_EVIDENCE or _SEVERAL.search(claim):
        return None
    told, asked = (_telling(text) for text in (claim, question))
    words = frozenset(token.key for token in (*told, *asked))
    if not told or len(words) > MAX_WORDS:
        return None
    index = _Evidence(evidence, words)
    parts = _divide(told, asked, words, index)
    if parts is None:
        return None
    places = [place for key in parts.value for place in index.places[key]][:MAX_PLACES]
    spend(len(evidence) + len(places) * len(parts.others))
    distances = {place: [index.nearest(place, key) for key in parts.others] for place in places}
    weights = [index.weights[key] for key in parts.others]
    means = {
        place: sum(min(each, FAR) * weight for each, weight in zip(found, weights, strict=True)) / sum(weights)
        for place, found in distances.items()
    }
    best = min(places, key=means.__getitem__)
    return [
        means[best],
        max(distances[best]),
        min(distances[best]),
        index.share(parts.others, index.clauses[index.tokens[best].clause]),
        index.share(parts.others, index.sentences[index.tokens[best].sentence]),
        *_of_subject(best, parts, index),
        *_of_neighbours(best, parts, index),
        *_of_clause(best, parts, index),
        *_of_rivals(best, parts, index),
        sum(index.places[key][0] < best for key in parts.subject) / max(1, len(parts.subject)),
        _turned([index.places[key][0] for key in parts.order]),
        float(parts.is_short),
    ]


def _telling(text: str) -> list[Token]:
    return [token for token in read_tokens(text) if not token.is_small]


def _divide(told: Sequence[Token], asked: Sequence[Token], words: frozenset[str], index: _Evidence) -> _Claim | None:
    """Divide a claim into value, subject and other words; ``None`` if the evidence does not have them."""
    is_short = bool(asked)
    seen = [key for key in dict.fromkeys(token.key for token in (*asked, *told)) if key in index.places]
    numbers = [token.key for token in told if token.is_number and token.key in index.places]
    half = told if is_short else [token for token in told[len(told) // 2 :] if _is_name(token, index)]
    rare = sorted(
        {token.key for token in half if token.key in index.places}, key=lambda key: (-index.weights[key], key)
    )
    value = tuple(dict.fromkeys(numbers)) or tuple(rare[:2])
    others = tuple(key for key in seen if key not in value)
    if not value or not others:
        return None
    first = asked if is_short else told[: max(1, len(told) // 2)]
    subject = tuple(dict.fromkeys(token.key for token in first if token.key in others))
    order = tuple(token.key for token in (*asked, *told) if token.key in index.places)
    return _Claim(value, subject, others, words, order, is_short)


def _is_name(token: Token, index: _Evidence) -> bool:
    return token.is_name or any(index.tokens[place].is_name for place in index.places.get(token.key, ()))


def _of_subject(best: int, claim: _Claim, index: _Evidence) -> Iterator[float]:
    clause, sentence = index.clauses[index.tokens[best].clause], index.sentences[index.tokens[best].sentence]
    distances = [index.nearest(best, key) for key in claim.subject] or [0]
    count = max(1, len(claim.subject))
    yield max(distances)
    yield min(distances)
    yield sum(key in clause for key in claim.subject) / count
    yield sum(key in sentence for key in claim.subject) / count
    name = _name(claim, index)
    if name is None:
        yield from (0.0, 0.0, -1.0, -1.0)
        return
    yield index.nearest(best, name)
    yield index.weights[name]
    yield float(name in clause)
    yield float(name in sentence)


def _name(claim: _Claim, index: _Evidence) -> str | None:
    """Return the rarest word of the subject."""
    return max(claim.subject, key=lambda key: (index.weights[key], key), default=None)


def _of_neighbours(best: int, claim: _Claim, index: _Evidence) -> Iterator[float]:
    """Yield how many words around the value the claim has."""
    tokens, sentence = index.tokens, index.tokens[best].sentence
    around = [
        [
            token.key in claim.words
            for token in part
            if token.sentence == sentence and not token.is_small and token.key not in claim.value
        ]
        for part in (tokens[max(0, best - LEFT) : best], tokens[best + 1 : best + 1 + RIGHT])
    ]
    left, right = around[0][-4:], around[1][:3]
    yield sum(left) / max(1, len(left))
    yield sum(right) / max(1, len(right))
    yield float(bool(left) and left[-1])
    yield float(bool(right) and right[0])


def _of_clause(best: int, claim: _Claim, index: _Evidence) -> Iterator[float]:
    """Yield what else stands in the clause and sentence of the value."""
    own = index.tokens[best]
    clause = [token for token in index.tokens if token.clause == own.clause]
    sentence = [token for token in index.tokens if token.sentence == own.sentence]
    names = [token.key in claim.words for token in clause if token.is_name]
    telling = [token.key in claim.words for token in clause if not token.is_small]
    opening = [token.key in claim.words for token in sentence if not token.is_small]
    yield names.count(False)
    yield names.count(True)
    yield telling.count(False)
    yield len(telling)
    yield float(telling[0])
    yield float(opening[0])
    yield float(any(token.is_pronoun for token in (*clause, sentence[0])))


def _of_rivals(best: int, claim: _Claim, index: _Evidence) -> Iterator[float]:
    """Yield where other values of the kind stand: numbers beside a number, names beside a word."""
    is_number = index.tokens[best].is_number
    rivals = [
        place
        for place, token in enumerate(index.tokens)
        if token.key not in claim.words and (token.is_number if is_number else token.is_name)
    ][:MAX_PLACES]
    name = _name(claim, index)
    if not rivals or name is None:
        yield from (99.0, -99.0, 0.0, 0.0, 0.0, 0.0, -1.0, -1.0)
        return
    own, tokens = index.tokens[best], index.tokens
    near = min(index.nearest(place, name) for place in rivals)
    share = max(index.share(claim.others, index.clauses[tokens[place].clause]) for place in rivals)
    in_sentence = max(index.share(claim.others, index.sentences[tokens[place].sentence]) for place in rivals)
    yield near
    yield index.nearest(best, name) - near
    yield float(any(name in index.clauses[tokens[place].clause] for place in rivals))
    yield float(any(name in index.sentences[tokens[place].sentence] for place in rivals))
    yield len(rivals)
    yield share
    yield share - index.share(claim.others, index.clauses[own.clause])
    yield in_sentence - index.share(claim.others, index.sentences[own.sentence])


def _turned(places: Sequence[int]) -> float:
    """Return the share of pairs of words that stand in another order than in the claim."""
    pairs = list(combinations(places, 2))
    return sum(one > two for one, two in pairs) / max(1, len(pairs))
