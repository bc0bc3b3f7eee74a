"""Compare whose value a claim states with whose value it is in the evidence.

"Bob was born in 1815" has all its words in "Ann was born in 1815. Bob was born in 1791." The clause that holds the
claim's value is compared with the clauses that hold other values of its kind: a clause on another value that has
everything of the claim that the first has, and the claim's subject in addition, shows that the claim gives the value to
the wrong subject. The clause with the claim's value must name another subject. If any of this is open, there is no
result.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import islice

from workers.evaluation.budget import spend
from workers.evaluation.contradictions.values.claimed_limits import side_of
from workers.evaluation.facts.addresses import FORMS as ADDRESS_FORMS
from workers.evaluation.facts.addresses import read_addresses
from workers.evaluation.facts.calculation.arithmetic import same_dimension, same_quantity
from workers.evaluation.facts.dates import Date, agrees
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.sentence_pieces import AGGREGATES, NAMED_MONTH, Value, kind_of, kinds_of
from workers.evaluation.facts.units import MONTHS
from workers.evaluation.facts.verb_forms import is_verb, verb_stem
from workers.evaluation.ownership.combined_values import (
    FOR_EACH,
    Claimed,
    Group,
    combines_others,
    groups_of,
)
from workers.evaluation.ownership.held_values import Clause, HeldSentence, read_clauses, read_sentences
from workers.evaluation.ownership.labelled_lines import Line, from_another_line, lines_of
from workers.evaluation.ownership.record_owners import Record, from_another_record, is_record, join_groups, read_records
from workers.evaluation.text.wording import RECOMMENDATION
from workers.evaluation.text.words import stem

MAX_CLAUSES = 100
"""Maximum number of clauses with values of one kind that a claim is compared with."""
MAX_HOLDING = 20
"""Number of clauses with the same value from which nothing is concluded."""
MAX_CLAIMED = 8
"""Maximum number of values of a claim that are compared."""
KEPT_CLAIMS = 512
"""Number of claims whose values are kept: a claim is compared with all sources together and with each of them."""
BARE = 100
"""Least number without a unit or noun that is compared; smaller ones number passages and steps."""
YEARS = (1000, 2100)
"""Numbers without a unit or noun that are probably years."""
ADJACENT = 1
"""Maximum distance in sentences of two subjects that are common nouns."""
LEAST_IN_COMPOUND = 4
"""Least letters of the stem of a word that may be a part of a compound."""
_CHANGE = re.compile(
    r"\b(?:from|von|de|da|van|från|fra)\s+[^\s\d]{0,4}\s?\d[^;!?]{0,30}?\s(?:to|auf|à|a|para|naar|till|til)\s+[^\s\d]{0,4}\s?\d",
    re.IGNORECASE,
)
_EITHER = re.compile(r"\d[^,;.!?]{0,30}\bor\s[^\s\d]{0,4}\d", re.IGNORECASE)
"""Values of which a claim leaves open which one holds: "43 degrees (first source) or 48 degrees"."""
_SET_ASIDE = re.compile(
    r"\b(?:rather than|instead of|as opposed to)\s+[^\s\d]{0,4}\s?\d[\d.,]*(?:\s?%|\s[^\W\d_]+)?(?=[,;:.)]|\s(?:and|so|but)\b|$)",
    re.IGNORECASE,
)
"""A value that a claim gives to another than its subject: "charges €2.95 rather than €3.15"."""
_EXCESS = re.compile(
    r"\d[\d.,]*\s?(?:%|[^\W\d_]{1,12})?\s(?:more|extra|dearer|older|longer|taller|higher|heavier|bigger|larger|wider|deeper|warmer)\b",
    re.IGNORECASE,
)
"""A difference that may be the value of the smaller subject by chance: 100 euros more than 100 euros."""
_AGE = re.compile(r"\bold\b|\bage", re.IGNORECASE)
_MONTHS = frozenset(map(stem, MONTHS))
_STRICT = re.compile(r"\b(?:less|fewer|under|below)\b", re.IGNORECASE)
"""Words of a limit that the figure itself does not keep."""
_WORD = re.compile(r"[^\W_]+")
_EVENTS = frozenset(("year", "date", "clock", NAMED_MONTH, "weekday"))
"""Kinds of which one subject has several values, one for each thing that happens to it."""
_KINDS_OF_DAYS = {
    stem(day): stem("weekend" if day in ("saturday", "sunday") else "weekday")
    for day in ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
}


class OwnedValues:
    """Index the values of the evidence by kind.

    Args:
        sources: the texts of the sentences of each source, in order.
    """

    def __init__(self, sources: Sequence[Sequence[str]]) -> None:
        self.sources = sources
        self._sentences: list[tuple[HeldSentence, ...]] | None = None
        self._clauses: dict[str, list[tuple[int, Clause]]] = {}
        self._records: list[list[Record]] | None = None
        self._holders: dict[str, list[Group]] = {}

    @property
    def sentences(self) -> list[tuple[HeldSentence, ...]]:
        """Return the sentences of each source, without records."""
        if self._sentences is None:
            self._sentences = [
                read_sentences(tuple(text for text in texts if not is_record(text))) for texts in self.sources
            ]
        return self._sentences

    @property
    def records(self) -> list[list[Record]]:
        """Return the records of the evidence by their keys."""
        if self._records is None:
            self._records = list(join_groups(read_records(texts) for texts in self.sources))
        return self._records

    @cached_property
    def lines(self) -> list[Line]:
        """Return the labelled lines of the evidence."""
        return lines_of([[text for text in texts if not is_record(text)] for texts in self.sources])

    @cached_property
    def kinds(self) -> frozenset[str]:
        """Return the kinds of the values."""
        return frozenset(
            kind for sentences in self.sentences for sentence in sentences for kind in kinds_of(sentence.pieces)
        )

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """Return the words of the evidence in lower case."""
        return frozenset(word.lower() for texts in self.sources for text in texts for word in _WORD.findall(text))

    def holders(self, kind: str) -> list[Group]:
        """Return the things with values of a kind, those of a sentence together."""
        if kind not in self._holders:
            self._holders[kind] = [each for sentences in self.sentences for each in groups_of(sentences, kind)]
        return self._holders[kind]

    def clauses(self, kind: str) -> list[tuple[int, Clause]]:
        """Return the clauses that hold values of a kind, with the number of their source."""
        if kind not in self._clauses:
            found = (
                (number, clause)
                for number, sentences in enumerate(self.sentences)
                for sentence in sentences
                for clause in read_clauses(sentence, kind)
            )
            self._clauses[kind] = list(islice(found, MAX_CLAUSES))
        return self._clauses[kind]


def has_other_owner(claim: str, topic: str, evidence: OwnedValues) -> bool:
    """Return true if the evidence gives a value of the claim to another subject, and the claim's subject another value.

    Args:
        claim: plain text of the claim.
        topic: text that names the claim's subject where the claim does not: the question, or the statement before it.
        evidence: the values of the evidence.
    """
    # "Fell from 79.8 % to 76.3 %" gives one subject the values of two times.
    if (RECOMMENDATION.match(claim) and not read_addresses(claim)) or _CHANGE.search(claim) or _EITHER.search(claim):
        return False
    if from_another_record(claim, topic, evidence.records) or from_another_line(
        claim, topic, evidence.lines, evidence.sources
    ):
        return True
    side = side_of(claim)
    stated = _EXCESS.sub(" ", _SET_ASIDE.sub(" ", claim))
    claimed = [*_claimed(stated, topic)]
    kinds = [kind_of(value) for value, _ in claimed]
    if topic and len(set(kinds)) < len(kinds):
        # "What do skis and a bicycle cost?" names both things; a claim with two values tells them apart itself.
        claimed += [each for each in _claimed(stated, "") if kinds.count(kind_of(each[0])) > 1]
    return any(not words & AGGREGATES and _misplaced(value, words, evidence, side) for value, words in claimed)


def combines_values(claim: str, topic: str, evidence: OwnedValues) -> bool:
    """Return true if a figure of a claim is the sum or the difference of values that do not make that of its subject.

    Args:
        claim: plain text of the claim.
        topic: text that names the claim's subject where the claim does not.
        evidence: the values of the evidence.
    """
    return any(
        value.dimension
        and not any(
            same_value(value, other) for _, clause in evidence.clauses(kind_of(value)) for other in clause.values
        )
        and combines_others(Claimed(value, words, _nouns(claim), f"{topic} {claim}"), evidence.holders(kind_of(value)))
        for value, words in _claimed(claim, topic)
        if isinstance(value, Quantity)
    )


def _nouns(claim: str) -> frozenset[str]:
    """Return the stems of the words of a claim that are no verbs."""
    words = frozenset().union(*(piece.words for each in read_sentences((claim,)) for piece in each.pieces))
    others = (word for word in map(str.lower, _WORD.findall(claim)) if is_verb(word) or FOR_EACH.fullmatch(word))
    return words - frozenset(map(verb_stem, others))


def gives_numbers(claim: str, topic: str, evidence: OwnedValues) -> bool:
    """Return true if the evidence gives each number of a claim to the claim's subject, also in words left out.

    "Full-time staff get 27 days, part-time staff 14" gives 14 days to part-time staff.
    """
    numbers = [(value, words) for value, words in _claimed(claim, topic) if isinstance(value, Quantity)]
    is_strict = bool(_STRICT.search(claim))
    return bool(numbers) and all(
        any(
            words & clause.subject
            and any(
                _states(value, each, is_strict) and _same_noun(value, each) and same_quantity(value, each)
                for each in held
            )
            for _, clause in evidence.clauses(kind_of(value))
            if (held := [each for each in clause.values if isinstance(each, Quantity)])
        )
        for value, words in numbers
    )


def _states(claimed: Quantity, told: Quantity, is_strict: bool) -> bool:
    """Return true if a figure can be that of a claim; "up to five" is that of "two are allowed to students, five to teachers"."""
    return not claimed.bound or (claimed.bound < 0 and not is_strict and told.bound in (0, claimed.bound))


@lru_cache(maxsize=KEPT_CLAIMS)
def _claimed(claim: str, topic: str) -> tuple[tuple[Value, frozenset[str]], ...]:
    """Return the values of a claim, each with the words of its clause and of the topic."""
    return tuple(_values_of(claim, topic))


def _values_of(claim: str, topic: str) -> Iterator[tuple[Value, frozenset[str]]]:
    sentences = read_sentences((topic, claim) if topic else (claim,))
    if not sentences:
        return
    asked = frozenset().union(*(piece.words for each in sentences[:-1] for piece in each.pieces))
    for kind in kinds_of(sentences[-1].pieces):
        for clause in read_clauses(sentences[-1], kind):
            for value in clause.values:
                if words := clause.words | asked:
                    # "On Saturday" is a case of "at weekends".
                    yield value, words.union(_KINDS_OF_DAYS[word] for word in words if word in _KINDS_OF_DAYS)


def _misplaced(value: Value, words: frozenset[str], evidence: OwnedValues, side: int | None) -> bool:
    if isinstance(value, Quantity) and (value.bound or value.approximate):
        return False
    kind = kind_of(value)
    spend(len(evidence.clauses(kind)))
    everything = [each for each in enumerate(evidence.clauses(kind)) if _comparable(value, each[1][1])]
    holding = [each for each in everything if any(same_value(value, other) for other in each[1][1].values)]
    if not 0 < len(holding) <= MAX_HOLDING:
        return False
    rivals = [each for each in everything if not any(same_value(value, other) for other in each[1][1].values)]
    return any(
        all(
            _dominated(words, kind, held, rival, same_source=n == m, is_first=place < other)
            for place, (n, held) in holding
        )
        and not _is_kept(value, rival, side)
        for other, (m, rival) in rivals
    )


def _is_kept(value: Value, rival: Clause, side: int | None) -> bool:
    """Return true if the value of a claim's subject makes its denial or bound of another's value right."""
    if side is None or len(rival.values) != 1:
        return False
    own, told = _size(rival.values[0]), _size(value)
    if own is None or told is None or len(own) != len(told):
        return False
    return own != told if not side else own >= told if side > 0 else own <= told


def _size(value: Value) -> tuple[float, ...] | None:
    if isinstance(value, Quantity):
        return value.values[:1]
    return tuple(part for part in value.parts if part is not None) if isinstance(value, Date) else None


def _comparable(value: Value, clause: Clause) -> bool:
    if not isinstance(value, Quantity):
        return True
    return any(isinstance(each, Quantity) and _same_noun(value, each) for each in clause.values)


def _same_noun(one: Quantity, two: Quantity) -> bool:
    if bool(_AGE.search(one.written)) != bool(_AGE.search(two.written)):
        return False  # "an 8-year-old" and "spent 14 years in the army"
    if not (one.dimension and two.dimension):
        # "Has grown to 2,900" over "640 inhabitants" leaves the noun out.
        if one.is_unit or two.is_unit:
            return False
        return all(abs(each.values[0]) >= BARE and not YEARS[0] <= each.values[0] <= YEARS[1] for each in (one, two))
    return one.is_unit == two.is_unit and same_dimension(one.dimension, two.dimension)


def same_value(one: Value, two: Value) -> bool:
    """Return true if two values are the same."""
    if isinstance(one, Quantity) and isinstance(two, Quantity):
        return same_quantity(one, two)
    if isinstance(one, Date) and isinstance(two, Date):
        return agrees(one, two)
    return one == two


def _compounds(words: frozenset[str], held: frozenset[str], rival: frozenset[str]) -> frozenset[str]:
    """Return the compounds of a clause with a word of a claim that no word of a rival has: "Lachsfilet" of "Lachs"."""
    parts = [word for word in words if len(word) >= LEAST_IN_COMPOUND]
    return frozenset(
        whole
        for whole in held - words
        for part in parts
        if (whole.startswith(part) or whole.endswith(part)) and not any(part in other for other in rival)
    )


def _dominated(
    words: frozenset[str], kind: str, held: Clause, rival: Clause, *, same_source: bool, is_first: bool
) -> bool:
    """Return true if a clause on another value fits a claim better than the clause that holds its value.

    Args:
        words: stems of the claim's clause and topic.
        kind: the kind of the value.
        held: the clause that holds the claim's value.
        rival: the clause on another value.
        same_source: whether one source has both clauses.
        is_first: whether the clause with the claim's value stands before the other.
    """
    if not held.explicit:
        return False
    kept, better = (words & held.words) | _compounds(words, held.words, rival.words), words & rival.words
    gained = better - held.words
    if held.subject and held.subject <= words:
        return False  # "the Lady Braves, who begin their season in May against Alcorn": Alcorn is another's name
    # An address belongs to a purpose as well as to a subject: "to see what would be deleted, use --dry-run".
    is_address = kind in ADDRESS_FORMS
    foreign = held.words - words - rival.words if is_address else (held.subject | held.names) - words - rival.subject
    if not gained or not foreign:
        return False
    near = same_source and abs(held.sentence - rival.sentence) <= ADJACENT
    in_one = same_source and held.sentence == rival.sentence
    # In one sentence the second clause leaves out what it shares with the first: "ethanol boils at 78, acetone at 56".
    shared = held.words if is_address else held.words - held.subject
    lost = kept - rival.words - (shared if in_one and is_first else frozenset())
    # Two dates in April have the month in common, and no subject.
    shared_head = near and bool((held.subject & rival.subject & words) - _MONTHS) and bool(foreign & held.subject)
    named = bool(gained & rival.names) and bool(foreign & held.names)
    # "Borealis Pension with 38% of the stock. The Lindqvist family retains 21%": two names need not repeat the rest.
    if lost and not (shared_head or (named and near and not lost & (held.subject | held.names))):
        return False
    subject = gained if is_address else gained & (rival.subject | rival.names)
    if not subject:
        return False
    if kind in _EVENTS and not (better - rival.subject) and not in_one:
        return False
    return named or shared_head or near
