"""Measure a claim and its evidence as features that grow with doubt.

Every feature is 0 if the evidence contains the claim word for word, and grows with the missing part. Every feature uses
the best match in all of the evidence, so that an additional source never increases it. Together with weights that are
never negative (``calibration``) this makes the risk monotone.

| feature | what it measures |
|---|---|
| distance | 1 - best cosine of its words, alone or after its antecedent, with those of a unit |
| unseen_share | share of its content words that no unit has |
| unseen_weight | sum of the weights of those words |
| unseen_weight_share | the same as a share of the weights of all its words |
| unseen_rarest | the highest weight among them |
| apart | 1 - highest share (by weight) of its words that one unit has |
| detail_apart | the same for the units that have one of its names or figures; of the worst of these |
| unseen_pairs | share of its neighbouring content words that are nowhere near each other |
| unseen_pair_count | how many these are |
| missing_numbers, missing_dates, missing_names | exact details that no unit has, nor numbers give |
| record_denied, record_unknown | fields of a record that contradict the claim or are unknown (``json_evidence``) |

The weight of a word is the significance of its absence. Answers often add words such as "popular", "located" or
"overall", so their absence from the source means little. The table is part of the calibration.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from workers.evaluation.contradictions.json_evidence import RecordFacts, RecordVerdict, check_record
from workers.evaluation.facts.addresses import Address, KnownAddresses, read_addresses
from workers.evaluation.facts.calculation.named_calculations import (
    CALCULATION_WORDS,
    has_wrong_change,
    has_wrong_share,
    named_figures,
)
from workers.evaluation.facts.evidence_facts import KnownFacts, MissingDetails, is_one_unit, missing_details
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.text_details import Details, read_details
from workers.evaluation.facts.units import MONTHS, NUMBER_WORDS, ORDINALS, SCALES, UNITS
from workers.evaluation.facts.verb_forms import all_forms
from workers.evaluation.grounding.sources.evidence import EvidenceUnit
from workers.evaluation.ownership.value_owners import OwnedValues
from workers.evaluation.text.languages.local_words import LOCAL_LANGUAGES, local_sequence
from workers.evaluation.text.words import STOP_WORDS, kept_for_sentences, parts_of_word, stem, undotted, word_set

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
    "record_denied",
    "record_unknown",
)
"""Names of the features, in the order of the columns."""

PAIR_WINDOW = 5
"""Maximum distance in content words within which two words count as neighbours."""

MAX_PLACES = 300
"""Maximum number of places of the rarer of two words that are looked at; the limit bounds the time."""

AROUND = 15
"""Number of units on each side of a near one whose numbers are inputs of the calculation that a claim names."""

MOST_PERIODS = 12
"""Largest number of days, months or the like that a claim counts itself."""

MAX_OWN_WORDS = 2
"""Most words of its own, no name among them, that an answer may have beside the figures of the calculation that its question asks for."""

WORKED_WORDS = frozenset(
    stem(word) for word in word_set("plus minus less times makes further spent result results so you")
)
"""Stems of further words beside a calculation that an answer writes out."""

NUMERIC = frozenset(
    stem(word)
    for word in (*NUMBER_WORDS, *UNITS, *SCALES, *MONTHS, *ORDINALS, "minus")
    if word not in ("first", "second")
)
"""Words for numbers, units and months, which are compared by value."""

_WORD = re.compile(r"[^\W_]+(?:[.'’][^\W_]+)*")
_FIGURE = re.compile(
    r"[\d.,'’]+([^\W\d_]{0,4}|o'?clock)|[\d.]+e\d{1,2}|10[⁰-⁹]{1,2}|[1-4]q\d\d|(?:q[1-4]|h[12]|fy)(?:['’]?\d\d(?:\d\d)?)?|w[0-5]\d|m(?:cm|m)[xlcvi]{1,8}"
    r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ties|\w{4,7}zigern?|noon|midnight|midday|v\d[\d.]*"
)
"""Words that are read as figures, dates or periods."""


@dataclass(frozen=True, slots=True)
class WordWeights:
    """Weight words by the significance of their absence from the evidence.

    Attributes:
        weights: by stem, for words that answers often add by themselves.
        unknown: weight of all other words.
    """

    weights: Mapping[str, float]
    unknown: float

    def __getitem__(self, word: str) -> float:
        return self.weights.get(word, self.unknown)


class EvidenceIndex:
    """Index the evidence of one answer by words.

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
            for word in content_sequence(unit.text, unit.language):
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
        """Return true if any unit has this stem."""
        return word in self._unit_words

    def units_with(self, word: str) -> set[int]:
        """Return the indices of the units that have this stem."""
        return self._unit_words.get(word, set())

    def has_pair(self, one: str, two: str) -> bool:
        """Return true if two stems occur together in a unit."""
        few, many = sorted((self._places.get(one, []), self._places.get(two, [])), key=len)
        for place in few[:MAX_PLACES]:
            index = bisect_left(many, place - PAIR_WINDOW)
            if index < len(many) and many[index] <= place + PAIR_WINDOW:
                return True
        return False

    def around(self, places: Sequence[int]) -> list[tuple[str, ...]]:
        """Return the sentences, fields and rows beside the given units, for each of their sources."""
        found: dict[int, tuple[str, ...]] = {}
        for place in places:
            number = self.units[place].number
            if number not in found:
                first, last = max(0, place - AROUND), place + AROUND
                found[number] = tuple(
                    unit.text
                    for unit, following in pairwise((*self.units[first:last], None))
                    if unit and unit.number == number and not _contains(unit, following)
                )
        return list(found.values())

    @cached_property
    def known(self) -> KnownFacts:
        """Index the numbers, dates and names of all units; compute the index on first use."""
        return KnownFacts(read_details(unit.text) for unit in self.units)

    @cached_property
    def addresses(self) -> KnownAddresses:
        """Index the addresses of all units; compute the index on first use."""
        return KnownAddresses(unit.text for unit in self.units)

    @cached_property
    def owned(self) -> OwnedValues:
        """Index the values of all units with their subjects; compute the index on first use."""
        sources: dict[int, list[str]] = {}
        for unit in self.units:
            sources.setdefault(unit.number, []).append(unit.text)
        return OwnedValues(list(sources.values()))


def _contains(unit: EvidenceUnit, following: EvidenceUnit | None) -> bool:
    return following is not None and unit.number == following.number and unit.end >= following.end


@dataclass(frozen=True, slots=True)
class ClaimMeasures:
    """Hold the features of one claim and the findings from which they are computed.

    Attributes:
        values: float64 of shape (len(FEATURES),).
        record: result of the check against the fields of records.
        unknown_figures: number of figures (``MissingDetails.figures``) and addresses that no evidence has.
        unknown_addresses: these addresses.
        is_calculated: whether the calculation that the claim names gives the figures that no evidence states.
        is_confirmed: whether the evidence has all its other words as well.
    """

    values: NDArray[np.float64]
    record: RecordVerdict
    unknown_figures: int
    unknown_addresses: frozenset[Address] = frozenset()
    is_calculated: bool = False
    is_confirmed: bool = False


def content_sequence(text: str, language: str = "en") -> tuple[str, ...]:
    """Return the stems of a text's content words in order; split hyphenated words."""
    return _content_sequence(text) if language not in LOCAL_LANGUAGES else local_sequence(text, language)


@kept_for_sentences
def _content_sequence(text: str) -> tuple[str, ...]:
    lowered = (part.lower() for match in _WORD.finditer(undotted(text)) for part in parts_of_word(match[0]))
    return tuple(stem(word) for word in lowered if word not in STOP_WORDS)


def measure_claim(
    plain: str,
    best_similarity: float,
    index: EvidenceIndex,
    nearest: Sequence[int],
    weights: WordWeights,
    topic: str = "",
    language: str = "en",
    worked: frozenset[float] = frozenset(),
) -> ClaimMeasures:
    """Measure one claim.

    Args:
        plain: its plain text.
        best_similarity: highest cosine with a unit, 0..1.
        index: the evidence.
        nearest: places of the nearest units, from whose numbers others may be derived.
        weights: weights of words.
        topic: the question that the claim answers, or an empty text.
        language: language of the claim and its topic.
        worked: figures that the calculations of the answer bear out.
    """
    details = read_details(plain)
    missing = MissingDetails()
    if details.is_exact:
        near = [read_details(index.units[place].text) for place in nearest]
        missing = missing_details(details, index.known, near, is_mean=read_details(topic).is_mean)
    sequence: Sequence[str] = content_sequence(plain, language)
    unknown = [number for number in dict.fromkeys(details.quantities) if not index.known.numbers.has(number)]
    is_calculated = bool(nearest) and _is_calculated(plain, details, index, nearest, topic, worked)
    texts = tuple(index.units[place].text for place in nearest)
    if (unknown and texts and has_wrong_change(plain, unknown, texts[0])) or has_wrong_share(
        plain, topic, details.quantities, texts
    ):
        is_calculated, missing = False, replace(missing, figures=missing.figures + 1)
    if is_calculated:
        missing = replace(missing, numbers=0, figures=missing.dates)
        counted = (number.dimension.removeprefix("noun:") for number in details.quantities if not number.is_unit)
        told = CALCULATION_WORDS.union(content_sequence(topic, language), counted, WORKED_WORDS if worked else ())
        told |= all_forms(_WORD.findall(topic.lower()))
        sequence = [word for word in sequence if index.has(word) or not (_is_numeric(word) or word in told)]
        best_similarity = max(best_similarity, sum(map(index.has, sequence)) / max(1, len(sequence)))
    elif details.has_figures and not missing.numbers and not missing.dates:
        # "0.75 hours" is not written in "45 minutes" but has the same value.
        sequence = [word for word in sequence if index.has(word) or not _is_numeric(word)]
    elif details.quantities:
        # "21" is written as "twenty-one" in the evidence.
        sequence = [word for word in sequence if index.has(word) or word not in index.known.digits]
    words = list(dict.fromkeys(sequence))
    joined = {a: a + b for a, b in pairwise(sequence)} | {b: a + b for a, b in pairwise(sequence)}
    unseen = [word for word in words if not index.has(word) and not index.has(joined.get(word, ""))]
    total = sum(weights[word] for word in words)
    lost = sum(weights[word] for word in unseen)
    pairs = list(dict.fromkeys(pair for pair in pairwise(sequence) if pair[0] != pair[1]))
    apart_pairs = sum(not index.has_pair(one, two) and not index.has(one + two) for one, two in pairs)
    record = check_record(plain, index.records, topic) if index.records else RecordVerdict()
    values = (
        1.0 - best_similarity,
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
        record.denied,
        record.unknown,
    )
    is_told = not unseen or (len(unseen) <= MAX_OWN_WORDS and not detail_words(plain).intersection(unseen))
    strange = {each for each in read_addresses(plain) - read_addresses(topic) if not index.addresses.has(each)}
    is_confirmed = is_calculated and is_told and bool(topic) and not any((missing.dates, missing.names, strange))
    return ClaimMeasures(
        np.array(values, dtype=np.float64),
        record,
        missing.figures + len(strange),
        frozenset(strange),
        is_calculated,
        is_confirmed,
    )


def _is_calculated(
    plain: str,
    details: Details,
    index: EvidenceIndex,
    nearest: Sequence[int],
    topic: str,
    worked: frozenset[float],
) -> bool:
    """Return true if the figures that no evidence states follow from those that it states.

    They follow by the calculation that the claim names, by one that the answer writes out, by another unit or from two
    dates. Counts are taken as the claim and its question have them.
    """
    if not (details.quantities or details.dates):
        return False
    known = index.known
    unstated = [
        number
        for number in dict.fromkeys(details.quantities)
        if number.face not in known.faces or not known.numbers.has(number)
    ]
    clock = [date for date in details.dates if not known.stated_dates.agrees(date)]
    if not all(known.dates.agrees(date) for date in clock):
        return False
    if not (unstated or clock) or any(number.bound for number in unstated):
        return False
    unknown = [number for number in unstated if not known.numbers.restates(number) and not known.spans.has(number)]
    unknown = [number for number in unknown if number.face not in worked]
    if worked and not unknown:
        return True
    given = named_figures(plain, topic, unknown, index.around(nearest)) if unknown else frozenset()
    asked = read_details(topic).quantities
    if not given and (not topic or (len(unknown) == len(unstated) and not clock)):
        return False
    return all(number in given or number in asked or _is_count(number) for number in unknown)


def _is_count(number: Quantity) -> bool:
    """Return true for a count that a claim may bring itself: "three sites", "over the two days", "in one day"."""
    is_few = number.face == int(number.face) and 0 < number.face <= MOST_PERIODS
    return not number.is_unit or is_one_unit(number) or (number.dimension in ("time", "month") and is_few)


def _is_numeric(word: str) -> bool:
    """Return true for a word that is read as a number; "m0nths" and "MzYg" are none, and count where they are missing."""
    return word in NUMERIC or bool(_FIGURE.fullmatch(word))


@kept_for_sentences
def detail_words(text: str) -> frozenset[str]:
    """Return the stems of a text's names and figures: words with an inner capital or with a digit."""
    words = [match[0] for match in _WORD.finditer(undotted(text))]
    return frozenset(
        stem(word)
        for place, word in enumerate(words)
        if (place and word[0].isupper()) or any(character.isdigit() for character in word)
    )


def _apart(
    words: Sequence[str], details: frozenset[str], total: float, index: EvidenceIndex, weights: WordWeights
) -> tuple[float, float]:
    """Return the unsupported share of a claim in its best unit, and in the best unit with its rarest detail."""
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
