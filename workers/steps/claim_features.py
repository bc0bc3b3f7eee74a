"""What can be measured on a claim and the evidence for it, as numbers that grow with doubt.

Every feature is 0 where the evidence says the claim word for word and grows as less of it is
found there. None of them grows when a source is added that says the claim: each looks for the
best place in all of the evidence. That, and weights that are never negative (``calibration``),
make the risk monotone.

| feature | what it measures |
|---|---|
| distance | 1 - best cosine of the claim, alone or with what it leans on, with a unit |
| unseen_share | share of its content words that no unit has |
| unseen_weight | sum of the weights of those words |
| unseen_weight_share | the same as a share of the weights of all its words |
| unseen_rarest | the highest weight among them |
| apart | 1 - highest share (by weight) of its words that one unit has |
| detail_apart | the same for the units that have one of its names or figures; of the worst of these |
| unseen_pairs | share of its neighbouring content words that stand nowhere near each other |
| unseen_pair_count | how many these are |
| missing_numbers, missing_dates, missing_names | exact details that no unit has, nor numbers give |
| mismatched_number, _date, _name, _negation, _words | what stands against the best unit (``checks``) |
| unconfirmed | 0 if the claim has exact details, the best unit is on the same matter and has them all |
| record_denied, record_unknown | fields of a record that say the opposite or nothing (``records``) |

A word's weight tells how much its absence means: answers say "popular", "located" or "overall"
of their own accord, so their absence from the source means little. The table is part of the
calibration.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from schemas.grounding import Mismatch
from workers.steps.checks import on_one_matter, read_details
from workers.steps.evidence import EvidenceUnit
from workers.steps.known_details import KnownDetails, MissingDetails, missing_details
from workers.steps.records import RecordFacts, RecordVerdict, check_record
from workers.steps.units import MONTHS, NUMBER_WORDS, SCALES, UNITS
from workers.steps.words import KEPT_LENGTH, KEPT_TEXTS, STOP_WORDS, stem, undotted

FEATURES = (
    "distance",
    "unseen_share",
    "unseen_weight",
    "unseen_weight_share",
    "unseen_rarest",
    "apart",
    "detail_apart",
    "unseen_pairs",
    "unseen_pair_count",
    "missing_numbers",
    "missing_dates",
    "missing_names",
    "mismatched_number",
    "mismatched_date",
    "mismatched_name",
    "mismatched_negation",
    "mismatched_words",
    "unconfirmed",
    "record_denied",
    "record_unknown",
)
"""Names of the features, in the order of the columns."""

WORD_MISMATCHES: frozenset[Mismatch] = frozenset(("antonym", "comparative", "quantifier", "role"))

PAIR_WINDOW = 5
"""Content words within which two words count as standing together."""

_NUMERIC = frozenset(stem(word) for word in (*NUMBER_WORDS, *UNITS, *SCALES, *MONTHS))
"""Words that write a number, a unit or a month: what they say is compared by value."""

_WORD = re.compile(r"[^\W_]+(?:[.'’][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class WordWeights:
    """How much the absence of a word from the evidence means.

    Attributes:
        weights: by stem, for words that answers often add by themselves.
        unknown: for all other words.
    """

    weights: Mapping[str, float]
    unknown: float

    def __getitem__(self, word: str) -> float:
        return self.weights.get(word, self.unknown)


class EvidenceIndex:
    """The evidence of one answer, made ready for the words of its claims.

    Args:
        units: the evidence.
        vocabulary: stems of the claims' content words; others are not indexed.
        records: the JSON records among the contexts.
    """

    def __init__(
        self, units: Sequence[EvidenceUnit], vocabulary: frozenset[str], records: Sequence[RecordFacts]
    ) -> None:
        self.units = units
        self.records = records
        self._places: dict[str, list[int]] = defaultdict(list)
        self._unit_words: dict[str, set[int]] = defaultdict(set)
        place = 0
        for number, unit in enumerate(units):
            for word in unit.words & vocabulary:
                self._unit_words[word].add(number)
            previous = ""
            for word in content_sequence(unit.text):
                if word in vocabulary:
                    self._places[word].append(place)
                # "take out" is "takeout" and "wi fi" is "wifi".
                if previous + word in vocabulary:
                    self._places[previous + word].append(place)
                    self._unit_words[previous + word].add(number)
                previous = word
                place += 1
            place += PAIR_WINDOW + 1

    def has(self, word: str) -> bool:
        """Whether any unit has this stem."""
        return word in self._unit_words

    def units_with(self, word: str) -> set[int]:
        """Indices of the units that have it."""
        return self._unit_words.get(word, set())

    def has_pair(self, one: str, two: str) -> bool:
        """Whether two stems stand together somewhere."""
        others = self._places.get(two, [])
        for place in self._places.get(one, ()):
            index = bisect_left(others, place - PAIR_WINDOW)
            if index < len(others) and others[index] <= place + PAIR_WINDOW:
                return True
        return False

    @cached_property
    def known(self) -> KnownDetails:
        """Numbers, dates and names of all units; read once, and only if a claim asks."""
        return KnownDetails(read_details(unit.text) for unit in self.units)


@dataclass(frozen=True, slots=True)
class ClaimMeasures:
    """Features of one claim, with what they come from.

    Attributes:
        values: float64 of shape (len(FEATURES),).
        record: what the fields of records say to it.
    """

    values: NDArray[np.float64]
    record: RecordVerdict


def content_sequence(text: str) -> tuple[str, ...]:
    """Stems of the content words of a text in order; parts of hyphenated words by themselves."""
    return _kept_sequence(text) if len(text) <= KEPT_LENGTH else _content_sequence(text)


def _content_sequence(text: str) -> tuple[str, ...]:
    lowered = (match[0].lower() for match in _WORD.finditer(undotted(text)))
    return tuple(stem(word) for word in lowered if word not in STOP_WORDS)


_kept_sequence = lru_cache(maxsize=KEPT_TEXTS)(_content_sequence)


def measure_claim(
    plain: str,
    best_similarity: float,
    index: EvidenceIndex,
    nearest: Sequence[str],
    mismatches: Sequence[Mismatch],
    weights: WordWeights,
) -> ClaimMeasures:
    """Measure one claim.

    Args:
        plain: its plain text.
        best_similarity: highest cosine with a unit, -1..1.
        index: the evidence.
        nearest: texts of the nearest units, from whose numbers others may follow.
        mismatches: what stands against the best unit.
        weights: of words.
    """
    details = read_details(plain)
    missing = MissingDetails()
    if details.is_exact:
        near = [read_details(text) for text in nearest]
        missing = missing_details(
            details, index.known, [number for text in near for number in (*text.quantities, *text.implied)]
        )
    sequence: Sequence[str] = content_sequence(plain)
    if not missing.numbers and not missing.dates:
        # "0.75 hours" is written nowhere in "45 minutes" and yet is there.
        sequence = [word for word in sequence if index.has(word) or not _is_numeric(word)]
    words = list(dict.fromkeys(sequence))
    joined = {a: a + b for a, b in pairwise(sequence)} | {b: a + b for a, b in pairwise(sequence)}
    unseen = [word for word in words if not index.has(word) and not index.has(joined.get(word, ""))]
    total = sum(weights[word] for word in words)
    lost = sum(weights[word] for word in unseen)
    pairs = list(dict.fromkeys(pair for pair in pairwise(sequence) if pair[0] != pair[1]))
    apart_pairs = sum(not index.has_pair(one, two) and not index.has(one + two) for one, two in pairs)
    record = check_record(plain, index.records) if index.records else RecordVerdict()
    confirmed = (
        bool(nearest and (details.quantities or details.dates))
        and not (mismatches or missing)
        and on_one_matter(plain, nearest[0])
    )
    values = (
        1.0 - max(0.0, best_similarity),
        len(unseen) / len(words) if words else 0.0,
        lost,
        lost / total if total else 0.0,
        max((weights[word] for word in unseen), default=0.0),
        *_apart(words, detail_words(plain), total, index, weights),
        apart_pairs / len(pairs) if pairs else 0.0,
        apart_pairs,
        missing.numbers,
        missing.dates,
        missing.names,
        *(kind in mismatches for kind in ("number", "date", "name", "negation")),
        any(kind in WORD_MISMATCHES for kind in mismatches),
        not confirmed,
        record.denied,
        record.unknown,
    )
    return ClaimMeasures(np.array(values, dtype=np.float64), record)


def _is_numeric(word: str) -> bool:
    return word in _NUMERIC or any(character.isdigit() for character in word)


def detail_words(text: str) -> frozenset[str]:
    """Stems of a text's names and figures: what is capitalised inside of it or has a digit."""
    return _kept_details(text) if len(text) <= KEPT_LENGTH else _detail_words(text)


def _detail_words(text: str) -> frozenset[str]:
    words = [match[0] for match in _WORD.finditer(undotted(text))]
    return frozenset(
        stem(word)
        for place, word in enumerate(words)
        if (place and word[0].isupper()) or any(character.isdigit() for character in word)
    )


_kept_details = lru_cache(maxsize=KEPT_TEXTS)(_detail_words)


def _apart(
    words: Sequence[str], details: frozenset[str], total: float, index: EvidenceIndex, weights: WordWeights
) -> tuple[float, float]:
    """How much of a claim no unit says together: any unit, and one that has its worst detail."""
    if not total:
        return 0.0, 0.0
    owned: dict[int, float] = defaultdict(float)
    for word in words:
        for unit in index.units_with(word):
            owned[unit] += weights[word]
    of_details = [
        max((owned[unit] for unit in index.units_with(word)), default=0.0) for word in words if word in details
    ]
    best = max(owned.values(), default=0.0)
    return max(0.0, 1.0 - best / total), max(0.0, 1.0 - min(of_details, default=total) / total)
