"""Check which of several subjects has the higher or lower value: "Engine B is older" over the years of two engines.

The values of the evidence are those that ``value_owners`` reads, each with its subject. A claim, or a short answer with
its question, says by a comparative or superlative in which order two subjects stand, or which one is first. There is no
result unless each compared subject has exactly one value of the compared kind.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workers.evaluation.budget import spend
from workers.evaluation.claims.short_answers import depends_on_question, needs_question
from workers.evaluation.contradictions.values.rankings import is_negated, without_bounds
from workers.evaluation.facts.calculation.arithmetic import ABOUT, EXACT, same_dimension
from workers.evaluation.facts.dates import Date
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.sentence_pieces import Value, kind_of, read_pieces, told_stems
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.facts.units import FAMILIES
from workers.evaluation.facts.verb_forms import verb_stem
from workers.evaluation.ownership.held_values import Clause
from workers.evaluation.ownership.value_owners import OwnedValues
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import PEOPLE, key_of, stem, word_set

MAX_TEXT = 300
"""Longest claim and question that are read, code points."""

_LENGTH, _MASS, _SPAN = frozenset({"metre"}), frozenset({"gram", "pound"}), frozenset({"time", "month"})
_MONEY = frozenset(unit for unit, family in FAMILIES.items() if family == "money")
_HEAT = frozenset(unit for unit, family in FAMILIES.items() if family == "temperature") | {"degree"}
_DAYS, _COUNT, _AREA = frozenset({"year", "date", "clock"}), frozenset({"count"}), frozenset({"area"})
_SIZE = _LENGTH | _MASS | _AREA | _COUNT | {"litre"}
_RANKS: dict[str, tuple[tuple[int, frozenset[str]], ...]] = {
    word: meaning
    for words, meaning in (
        ("older oldest", ((-1, _DAYS), (1, _SPAN))),
        ("younger youngest", ((1, _DAYS), (-1, _SPAN))),
        ("newer newest", ((1, _DAYS),)),
        ("earlier earliest", ((-1, _DAYS),)),
        ("later latest", ((1, _DAYS),)),
        ("faster fastest quicker quickest", ((-1, _SPAN), (1, frozenset({"km/h"})))),
        ("slower slowest", ((1, _SPAN), (-1, frozenset({"km/h"})))),
        ("longer longest", ((1, _LENGTH | _SPAN),)),
        ("shorter shortest", ((-1, _LENGTH | _SPAN),)),
        ("taller tallest deeper deepest wider widest", ((1, _LENGTH),)),
        ("shallower shallowest narrower narrowest", ((-1, _LENGTH),)),
        ("higher highest", ((1, _LENGTH | _HEAT | {"percent"}),)),
        ("lower lowest", ((-1, _LENGTH | _HEAT | {"percent"}),)),
        ("heavier heaviest", ((1, _MASS),)),
        ("lighter lightest", ((-1, _MASS),)),
        ("hotter hottest warmer warmest", ((1, _HEAT),)),
        ("colder coldest cooler coolest", ((-1, _HEAT),)),
        ("dearer dearest costlier costliest expensive", ((1, _MONEY),)),
        ("cheaper cheapest", ((-1, _MONEY),)),
        ("larger largest bigger biggest", ((1, _SIZE),)),
        ("smaller smallest", ((-1, _SIZE),)),
        ("more most", ((1, _COUNT | _MONEY),)),
        ("fewer fewest less least", ((-1, _COUNT | _MONEY),)),
    )
    for word in words.split()
}
"""By comparative or superlative its direction for each set of kinds of values."""
ORDER_WORDS = frozenset(map(stem, _RANKS))
"""Stems of the comparatives and superlatives."""
_OTHER_DAYS = word_set("working business")
"""Words for days that are read as no spans of time: "delivery within 15 working days" is ranked by none of the other spans."""
_OF_COUNTS = word_set("more most fewer fewest less least")
_TITLES = {
    word: frozenset(map(verb_stem, titles.split()))
    for words, titles in (
        ("deeper deepest shallower shallowest", "depth"),
        ("taller tallest higher highest lower lowest", "height elevation altitude"),
        ("wider widest narrower narrowest", "width breadth"),
        ("heavier heaviest lighter lightest", "weight mass"),
        ("cheaper cheapest dearer dearest costlier costliest", "price cost costs fee rent"),
    )
    for word in words.split()
}
"""Titles of the columns that hold what a comparative or superlative compares."""
_OF_KIND = (
    _RANKS.keys()
    - _OF_COUNTS
    - word_set(
        "longer longest shorter shortest higher highest lower lowest larger largest bigger biggest smaller smallest"
    )
)
"""Comparatives and superlatives that tell what is measured: "cheaper", "older"."""
_PRICED = frozenset(map(verb_stem, word_set("cost costs price pay earn charge expensive salary paid spend spent")))
_LESS_OF = PrefilteredPattern(
    r"\b(?P<degree>more|most|less|least)\s+(?P<word>expensive|costly|recent|heavy|old|modern)\b", re.I
)
_SWAPPED = {
    "expensive": ("dearer", "cheaper"),
    "costly": ("dearer", "cheaper"),
    "recent": ("newer", "older"),
    "modern": ("newer", "older"),
    "heavy": ("heavier", "lighter"),
    "old": ("older", "newer"),
}
_ASKED_DIFFERENCE = PrefilteredPattern(r"\b(?:how (?:much|many|far)|by what)\b[^?]{1,80}\bthan\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class _Ranking:
    """Hold what a claim says of an order.

    Attributes:
        word: word for the order.
        subject: stems of the subject.
        words: stems of the statement.
        rival: stems of what follows "than".
        holds: False for a denial.
        is_first: whether the subject is before all others.
        difference: difference to the rival that the claim states.
    """

    word: str
    subject: frozenset[str]
    words: frozenset[str]
    rival: frozenset[str]
    holds: bool
    is_first: bool
    difference: Quantity | None = None


def is_ranked_rightly(claim: str, question: str, evidence: OwnedValues) -> bool | None:
    """Return whether the values of the evidence bear out the order that a claim gives its subjects.

    Args:
        claim: plain text of the claim.
        question: the question that the claim answers, or an empty text.
        evidence: the values of the evidence.

    Returns:
        ``None`` if the claim gives no order, or the evidence does not give one value to each subject.
    """
    if _ASKED_DIFFERENCE.search(question[:MAX_TEXT]) and depends_on_question(question, claim):
        return None  # "It is 325 metres higher." tells how much, and the question has the order.
    ranking = _read_ranking(claim[:MAX_TEXT], question[:MAX_TEXT])
    if ranking is None or _is_told(ranking, evidence):
        return None
    asked = told_stems(f"{question} {claim}")
    titles = _TITLES.get(ranking.word, frozenset()) | (
        frozenset() if ranking.word in _OF_KIND else told_stems(question)
    )
    named = list(_columns(None, ranking.word, titles, evidence)) if titles else []
    if named:
        (direction, _), *others = _RANKS[ranking.word]
        found = None if others or len(named) > 1 else _compare(ranking, direction, named[0])
        return None if found is None else found == ranking.holds
    results = {
        found == ranking.holds
        for direction, kinds in _RANKS[ranking.word]
        for owners in (
            *(_owners(kind, ranking.word, asked, evidence) for kind in evidence.kinds & kinds),
            *_columns(kinds, ranking.word, asked, evidence),
        )
        if (found := _compare(ranking, direction, owners)) is not None
    }
    return results.pop() if len(results) == 1 else None


def _columns(
    kinds: frozenset[str] | None, word: str, asked: frozenset[str], evidence: OwnedValues
) -> Iterator[list[tuple[Clause, float]]]:
    """Yield the columns of records that hold one value of the kinds in each record, as clauses on its first field.

    Without kinds, those are yielded whose title is asked for: "the shorter charging time".
    """
    for group in evidence.records:
        spend(len(group))
        for place in range(1, min(map(len, group))):
            found = []
            for number, record in enumerate(group):
                cell, subject = record[place], record[0].words
                values: tuple[Value, ...] = (*cell.quantities, *cell.dates)
                is_of_kind = len(values) == 1 and (kinds is None or kind_of(values[0]) in kinds)
                size = _size(values[0]) if is_of_kind else None
                is_priced = bool(asked & _PRICED) and kind_of(values[0]) in _MONEY if values else False
                is_asked = is_priced or _is_asked(cell.key, asked) or (kinds is not None and word not in _OF_COUNTS)
                if size is None or not subject or not is_asked:
                    break
                found.append((Clause(number, values, subject | cell.key, subject, frozenset(), explicit=True), size))
            else:
                yield found


def says_only_order(claim: str, texts: Sequence[str]) -> bool:
    """Return true if all words of a claim but that for the order stand in texts."""
    return told_stems(claim) <= told_stems(" ".join((*texts, *_RANKS)))


def _read_ranking(claim: str, question: str) -> _Ranking | None:
    claim, question = _LESS_OF.sub(_comparative, claim), _LESS_OF.sub(_comparative, question)
    told = [word for word in _words(without_bounds(claim)) if word in _RANKS]
    asked = [word for word in _words(question) if word in _RANKS]
    if len(told) > 1 or (not told and not (len(asked) == 1 and needs_question(question, claim))):
        return None
    word = told[0] if told else asked[0]
    # "Not higher than" also holds for equal values, which no comparison here tells apart.
    holds = not is_negated(claim, word)
    own, _, rival = claim.partition(" than ")
    pieces = read_pieces(own)
    subject = pieces[0].subject | pieces[0].classes if pieces else frozenset()
    words, beside = (
        frozenset().union(*(piece.words | piece.classes for piece in read_pieces(text))) for text in (own, rival)
    )
    if not told:
        subject, words = subject | told_stems(own), words | told_stems(own)
    known = told_stems(question).union(*(piece.words for piece in read_pieces(question)))
    # "The southern tower" to "Which tower is taller?" is named by "southern".
    return _Ranking(
        word,
        subject - known or subject,
        words - known or words,
        beside,
        holds,
        word.endswith("st"),
        _difference(own, word) if rival and told else None,
    )


def _difference(own: str, word: str) -> Quantity | None:
    """Return the amount in front of a comparative: "3.50 euros more than"."""
    before = re.split(rf"\b{word}\b", own, maxsplit=1, flags=re.IGNORECASE)[0].rstrip()
    quantities = read_details(before).quantities
    if len(quantities) != 1 or not before.endswith(quantities[0].written):
        return None
    return quantities[0] if quantities[0].is_unit and not quantities[0].bound else None


def _comparative(match: re.Match[str]) -> str:
    up, down = _SWAPPED[key_of(match["word"])]
    degree = key_of(match["degree"])
    word = up if degree.startswith("mo") else down
    if not degree.endswith("st"):
        return word
    return re.sub("er$", "est", word)


def _is_told(ranking: _Ranking, evidence: OwnedValues) -> bool:
    """Return true if the evidence itself uses such a word; other checks then compare the statements.

    A claim that names both sides is compared with their values nevertheless.
    """
    if ranking.rival:
        return False
    meaning = {kinds for _, kinds in _RANKS[ranking.word]}
    return any(kinds in meaning for word in evidence.vocabulary & _RANKS.keys() for _, kinds in _RANKS[word])


def _owners(kind: str, word: str, asked: frozenset[str], evidence: OwnedValues) -> list[tuple[Clause, float]]:
    """Return the clauses that hold values of a kind, each with its value; empty where the values measure several things."""
    clauses = [clause for _, clause in evidence.clauses(kind) if clause.subject]
    spend(len(clauses))
    if kind in _SPAN and evidence.vocabulary & _OTHER_DAYS:
        return []
    sizes = [_size(clause.values[0]) for clause in clauses if len(clause.values) == 1]
    if len(sizes) != len(clauses) or None in sizes:
        return []
    rates = {getattr(clause.values[0], "per", None) for clause in clauses}
    nouns = {_noun(clause.values[0]) for clause in clauses} - {""}
    if len(rates) > 1 or len(nouns) > 1 or (kind == "count" and word in _OF_COUNTS and not _is_asked(nouns, asked)):
        return []
    if word in _OF_COUNTS and kind in _MONEY and not asked & _PRICED:
        return []
    return [(clause, size) for clause, size in zip(clauses, sizes, strict=True) if size is not None]


def _is_asked(nouns: frozenset[str] | set[str], asked: frozenset[str]) -> bool:
    return bool(nouns & asked) or bool(nouns & PEOPLE and asked & PEOPLE)


def _noun(value: Value) -> str:
    if not isinstance(value, Quantity) or value.is_unit:
        return ""
    return verb_stem(value.dimension.removeprefix("noun:"))


def _size(value: Value) -> float | None:
    if isinstance(value, Quantity):
        return None if value.bound or len(value.values) != 1 else value.values[0]
    if not isinstance(value, Date):
        return None
    if value.minute is not None:
        return float(value.minute) if value.year is None and value.month is None else None
    return None if value.year is None else value.year * 372.0 + (value.month or 0) * 31 + (value.day or 0)


def _compare(ranking: _Ranking, direction: int, owners: Sequence[tuple[Clause, float]]) -> bool | None:
    """Return whether the subject of a claim is ranked before its rival, or before all others."""
    if len(owners) < 2:
        return None
    common = frozenset.intersection(*(_subject(clause) for clause, _ in owners))
    # "Filtered oil … than unfiltered oil": what both sides name tells neither.
    shared = ranking.subject & ranking.rival | common
    own = _named(ranking.subject - shared, owners) or _named(ranking.words - common, owners)
    others = _named(ranking.rival - shared, owners) if ranking.rival else [each for each in owners if each not in own]
    is_between_two = not ranking.is_first and not ranking.rival
    sizes, rivals = {size for _, size in own}, {size for _, size in others}
    if len(sizes) != 1 or not rivals or (len(rivals) > 1 and (ranking.rival or is_between_two)):
        return None
    if any(each in own for each in others):
        return None
    is_right = all((size - rival) * direction > 0 for size in sizes for rival in rivals)
    return is_right and (
        ranking.difference is None or _differ_by(ranking.difference, owners, sizes.pop(), rivals.pop())
    )


def _differ_by(difference: Quantity, owners: Sequence[tuple[Clause, float]], size: float, rival: float) -> bool:
    """Return true if two values differ by an amount, or are of another kind than it."""
    values = owners[0][0].values
    if not isinstance(values[0], Quantity) or not same_dimension(difference.dimension, values[0].dimension):
        return True
    slack = ABOUT * abs(size - rival) if difference.approximate else difference.step
    return abs(abs(size - rival) - difference.values[0]) <= slack + EXACT * abs(size)


def _named(words: frozenset[str], owners: Sequence[tuple[Clause, float]]) -> list[tuple[Clause, float]]:
    """Return the clauses that words name: by their subject where one does, else by any word."""
    return [each for each in owners if words & _subject(each[0])] or [each for each in owners if words & each[0].words]


def _subject(clause: Clause) -> frozenset[str]:
    return clause.subject | clause.names


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]
