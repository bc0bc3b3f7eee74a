"""Comparison of a claim with a piece of evidence on what embeddings are blind to.

MiniLM puts "fell by 30 %" next to "fell by 40 %", and "was restarted" next to "was not
restarted". The checks here are exact where meaning is not: numbers with units, dates, names
and identifiers, negation (all here), antonyms, comparatives and quantifiers (``oppositions``),
figures that are compared (``comparisons``), exchanged roles and steps (``roles``). Each speaks of
a mismatch only where both sides say something comparable (the same unit, the same kind of date,
the same series of identifiers, the same matter): what the evidence does not mention at all is
unsupported, not contradicted, and shows in ``known_details``.
"""

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from schemas.grounding import Mismatch
from workers.steps.antonyms import POLES, SHARES
from workers.steps.arithmetic import Pool, is_derived, same_dimension, satisfies
from workers.steps.comparisons import wrong_change, wrong_order, wrong_share
from workers.steps.dates import Date, Period, months_of, read_dates, read_periods, read_weekdays
from workers.steps.language import guess_language
from workers.steps.oppositions import opposites, same_matter
from workers.steps.quantities import Quantity, implied_quantities, undated_quantities
from workers.steps.rivals import own_row
from workers.steps.roles import reordered, swapped
from workers.steps.series import COMMON_WORDS, find_codes
from workers.steps.units import FAMILIES, FRACTIONS, MONTHS, NUMBER_WORDS, SCALES, UNITS, WEEKDAYS
from workers.steps.words import STOP_WORDS, content_words, stem, undotted, word_set

NAME_OVERLAP = 0.7
"""Share of the claim's other words that must be in the evidence before a different name counts:
two sentences on different things have different names by right."""
CLAUSE_OVERLAP = (0.7, 0.5)
"""Share of the shorter and of the longer clause's words that two clauses must have in common to be
on one matter; a sentence that compares two things denies of one what it says of the other."""
PERIOD_OVERLAP = 0.5
"""Share of words in common from which a period of the one excludes a date of the other."""
MAX_LENGTH = 2_000
"""Longest text that is read, code points; sentences are shorter."""

_NAME = re.compile(r"(?<![\w.])([A-ZÄÖÜÉÈÀÇ][\w'’-]{1,40}(?:\.[a-z]\w{1,20})?)")
_ACRONYM = re.compile(r" [A-Z]{2}|[A-Z]\b(?!\.)| [A-Z]\b(?!\.)")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_HYPHENATED = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_NEGATION = re.compile(
    r"\b(?:not(?! (?:only|all|every|necessarily|just|always|until)\b)|no(?! more than|\.)|never|neither|nor|none|nobody|nothing|cannot"
    r"|\w+n['’]t|fail(?:s|ed)? to|nicht|kein(?:e[nmrs]?)?|nie|niemals|weder|ne|n['’](?=\w)|jamais|aucune?)\b",
    re.IGNORECASE,
)
_TOTAL = re.compile(
    r"\b(?:in total|a total of|total(?:l?ed|s)?|altogether|together|combined|in all|in sum|sum of|insgesamt|zusammen|au total)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"[,;:()–—]\s|\s(?:but|while|whereas|although|because|who|which|aber|während|weil|mais)\s", re.IGNORECASE
)
_SOFT_NEGATIONS = frozenset(
    stem(word)
    for word in word_set(
        "avoid avoids avoided refuse refuses refused prevent prevents prevented stop stops stopped lack lacks lacked few"
        " little hardly rarely seldom unable deny denies denied decline declined reject rejected limited instead unlike"
    )
)
_PARTLY = re.compile(r"\b(?:few|little|not (?:all|every|necessarily|always))\b", re.IGNORECASE)
"""What neither affirms nor denies: "few prospects" is near to "no prospects"."""
_AUXILIARIES = word_set(
    """
    be been being longer yet any the a an to have has had do does did is are was were will would can could
    may might must should ever also even actually currently very wurde wird werden ist sind hat haben war
    pas est sont été a
    """
)

_VARYING = frozenset(
    stem(word) for word in (*UNITS, *MONTHS, *WEEKDAYS, *POLES, *SHARES, *NUMBER_WORDS, *SCALES, *FRACTIONS)
)
"""Stems of words by which a claim and its evidence may differ and still speak of one matter."""


@dataclass(frozen=True, slots=True)
class Details:
    """What a text says exactly.

    Attributes:
        quantities: its numbers with units.
        implied: durations that follow from its dates.
        is_total: whether it speaks of a total.
        dates: its dates and times of day.
        periods: its centuries, decades and quarters as first and last month.
        weekdays: the days of the week it names, 0..6.
        codes: identifiers with a number, as (series, number): ("inc", "4711"), ("grinder", "5").
        names: capitalised words that are names, lower case.
    beside: by name, stems of the nearest words before and behind it that are no names.
        words: stems of its content words.
        clauses: for each clause its content words and those under a negation.
    """

    quantities: tuple[Quantity, ...]
    implied: tuple[Quantity, ...]
    is_total: bool
    dates: tuple[Date, ...]
    periods: tuple[Period, ...]
    weekdays: frozenset[int]
    codes: frozenset[tuple[str, str]]
    names: frozenset[str]
    beside: Mapping[str, frozenset[str]]
    words: frozenset[str]
    clauses: tuple[tuple[frozenset[str], frozenset[str]], ...]

    @property
    def is_exact(self) -> bool:
        """Whether it has anything that can be looked up."""
        return bool(self.quantities or self.dates or self.periods or self.codes or self.names)


@lru_cache(maxsize=4_096)
def read_details(text: str) -> Details:
    """Read what a text says exactly; pure, so its results may be kept."""
    text = text[:MAX_LENGTH]
    periods, rest = read_periods(text)
    dates, rest = read_dates(rest)
    codes = frozenset(code for code, _, _ in find_codes(rest))
    members = {number for _, number in codes}
    names = _names(undotted(rest))
    return Details(
        tuple(number for number in undated_quantities(rest) if number.is_unit or f"{number.face:g}" not in members),
        tuple(implied_quantities(text, dates)),
        bool(_TOTAL.search(text)),
        tuple(dates),
        tuple(periods),
        read_weekdays(text),
        codes,
        names,
        _beside(undotted(rest), names),
        content_words(text),
        _clauses(text),
    )


def compare(claim: str, evidence: str, other_evidence: Sequence[str] = ()) -> tuple[Mismatch, ...]:
    """What in a claim stands against a piece of evidence.

    Args:
        claim: plain text of the claim.
        evidence: plain text of the evidence that matches it best.
        other_evidence: further evidence; a detail found there is no mismatch.

    Returns:
        Kinds of mismatch in a fixed order; empty where nothing contradicts.
    """
    claim, evidence, other_evidence = (
        claim[:MAX_LENGTH],
        evidence[:MAX_LENGTH],
        [t[:MAX_LENGTH] for t in other_evidence],
    )
    evidence, other_evidence = own_row(claim, evidence, other_evidence)
    own, theirs = read_details(claim), read_details(evidence)
    others = [read_details(text) for text in other_evidence]
    found: list[Mismatch] = []
    if number_mismatch(own, theirs, others) or wrong_change(claim, evidence) or wrong_share(claim):
        found.append("number")
    if date_mismatch(own, theirs, others):
        found.append("date")
    if name_mismatch(own, theirs, others):
        found.append("name")
    if negation_mismatch(own, theirs):
        found.append("negation")
    if not _other_subject(own, theirs):
        found += opposites(claim, evidence, other_evidence)
    if wrong_order(claim, [evidence, *other_evidence]):
        found.append("comparative")
    turned = swapped(claim, evidence) or reordered(claim, evidence)
    if turned and not any(_same_words(claim, text) for text in other_evidence):
        found.append("role")
    return tuple(dict.fromkeys(found))


def _other_subject(claim: Details, evidence: Details) -> bool:
    """Whether both name somebody and nobody in common: what they say does not exclude each other."""
    known = evidence.names | evidence.words
    strange = claim.names and not any(name in known or stem(name) in known for name in claim.names)
    return bool(strange and evidence.names)


def _same_words(one: str, two: str) -> bool:
    return _WORD.findall(one.lower()) == _WORD.findall(two.lower())


def number_mismatch(claim: Details, evidence: Details, others: Sequence[Details] = ()) -> bool:
    """A number of the claim differs from every number of its kind in the evidence."""
    if not claim.quantities:
        return False
    near = [*evidence.quantities, *evidence.implied]
    pool = [*near, *(number for other in others for number in (*other.quantities, *other.implied))]
    known = Pool(pool)
    claimed = Pool(claim.quantities)
    # What the claim says too is no rival: "$1,000 deductible for $150" beside "a $1,000 deductible".
    unclaimed = [other for other in near if not claimed.has(other)]
    for number in claim.quantities:
        if number.bound and any(same_dimension(other.dimension, number.dimension) for other in near):
            if not any(satisfies(other, number) for other in pool if same_dimension(other.dimension, number.dimension)):
                return True
            continue
        if known.has(number):
            continue
        rivals = number.dimension and any(same_dimension(other.dimension, number.dimension) for other in unclaimed)
        if not rivals and not _in_another_unit(number, near):
            continue
        inputs = [*pool, *(other for other in claim.quantities if other is not number)]
        if not is_derived(number, inputs, only_sums=claim.is_total):
            return True
    return False


def _in_another_unit(number: Quantity, near: Sequence[Quantity]) -> bool:
    """Whether the evidence has the same figure in a unit that does not convert to the claim's."""
    family = FAMILIES.get(number.dimension)
    return family is not None and any(
        FAMILIES.get(other.dimension) == family and other.face == number.face for other in near
    )


def date_mismatch(claim: Details, evidence: Details, others: Sequence[Details] = ()) -> bool:
    """A date of the claim differs from every comparable date of the evidence."""
    if claim.weekdays and claim.weekdays == evidence.weekdays:
        # The hours of another day do not vouch for those of this one.
        others = [other for other in others if other.weekdays <= claim.weekdays]
    pool = [*evidence.dates, *(date for other in others for date in other.dates)]
    unclaimed = [other for other in evidence.dates if not any(agrees(date, other) for date in claim.dates)]
    for date in claim.dates:
        rivals = any(_comparable(date, other) for other in unclaimed)
        if rivals and not any(agrees(date, other) for other in pool):
            return True
    return _period_mismatch(claim, evidence, others) or _weekday_mismatch(claim, evidence, others)


def _period_mismatch(claim: Details, evidence: Details, others: Sequence[Details]) -> bool:
    """A century, decade or quarter of the claim contains no date of the evidence, or the other way round."""
    if not same_matter(_wordy(claim), _wordy(evidence), PERIOD_OVERLAP, PERIOD_OVERLAP):
        return False
    pool = [span for other in (evidence, *others) for span in periods_of(other)]
    checked = list(claim.periods)
    if evidence.periods and not any(months_of(date) for date in evidence.dates):
        checked += filter(None, map(months_of, claim.dates))
    return bool(periods_of(evidence)) and any(
        not any(first <= end and start <= last for start, end in pool) for first, last in checked
    )


def _wordy(details: Details) -> frozenset[str]:
    return frozenset(word for word in details.words if not word[0].isdigit() and word != "century")


def periods_of(details: Details) -> list[Period]:
    """What a text says of months and longer times, by name or by a date in them."""
    return [*details.periods, *filter(None, map(months_of, details.dates))]


def _weekday_mismatch(claim: Details, evidence: Details, others: Sequence[Details]) -> bool:
    """The claim names other days of the week for the same matter."""
    if not claim.weekdays or not evidence.weekdays or claim.weekdays & evidence.weekdays:
        return False
    if any(claim.weekdays & other.weekdays for other in others):
        return False
    days = {stem(name) for name in WEEKDAYS}
    return same_matter(claim.words - days, evidence.words - days)


def name_mismatch(claim: Details, evidence: Details, others: Sequence[Details] = ()) -> bool:
    """The claim names another member of a series ("Grinder 3" for "Grinder 5") or somebody else."""
    codes = evidence.codes.union(*(other.codes for other in others))
    series = {name for name, _ in evidence.codes}
    if any(code not in codes and code[0] in series for code in claim.codes):
        return True
    known = evidence.words.union(evidence.names, *(other.words | other.names for other in others))
    strange = {name for name in claim.names if not _is_known(name, known)}
    unnamed = {name for name in evidence.names if name not in claim.names and stem(name) not in claim.words}
    # In the same place of what is said: "approved by the board" beside "Anna Schmidt approved".
    if not any(claim.beside[one] & evidence.beside[two] for one in strange for two in unnamed):
        return False
    rest = claim.words - {stem(name) for name in claim.names}
    theirs = evidence.words - {stem(name) for name in evidence.names}
    common = len(rest & theirs)
    return len(rest) >= 2 and common >= NAME_OVERLAP * len(rest) and common >= 0.5 * len(theirs)


def _is_known(name: str, known: frozenset[str]) -> bool:
    parts = [part for part in name.split("-") if part]
    return name in known or stem(name) in known or all(part in known or stem(part) in known for part in parts)


def negation_mismatch(claim: Details, evidence: Details) -> bool:
    """One side denies a word that the other side affirms, in clauses on the same matter."""
    return _denies(claim, evidence) or _denies(evidence, claim)


def _denies(denying: Details, affirming: Details) -> bool:
    if any(denied & governed for _, governed in denying.clauses for _, denied in affirming.clauses):
        return False
    for words, governed in denying.clauses:
        for others, denied in affirming.clauses:
            # A clause that denies something else, or denies softly ("few"), is no plain affirmation.
            if denied or others & _SOFT_NEGATIONS or not governed & others:
                continue
            common = len(words & others)
            shorter, longer = sorted((len(words), len(others)))
            if common >= max(2.0, CLAUSE_OVERLAP[0] * shorter, CLAUSE_OVERLAP[1] * longer):
                return True
    return False


def on_one_matter(claim: str, evidence: str) -> bool:
    """Whether a claim and its evidence speak of one thing, whatever their figures and opposites say.

    A cosine falls with every changed figure and with brevity ("Bearing weight: 500 g."), so that a
    contradiction can hide behind a low one. Here what may differ is left out: numbers, units, dates,
    quantifiers and words with an opposite. Of what is left, half of the claim's words must be in the
    evidence, or one beside a common identifier.

    Args:
        claim: plain text.
        evidence: plain text of the evidence that ``compare`` holds it against.
    """
    own, theirs = read_details(claim), read_details(evidence)
    rest = _matter(own)
    common = rest & _matter(theirs)
    if own.codes & theirs.codes:
        return bool(common) or len(rest) <= 1
    if not rest:
        # All that the claim says may differ ("Profit improved in May."): its words as they stand decide.
        rest, common = own.words, own.words & theirs.words
    return bool(common) and 2 * len(common) >= len(rest)


def _matter(details: Details) -> frozenset[str]:
    numbers = {number for _, number in details.codes}
    return frozenset(
        word for word in details.words if not word[0].isdigit() and word not in _VARYING and word not in numbers
    )


def _comparable(one: Date, two: Date) -> bool:
    """Whether two dates name the same parts, so that they can differ."""
    return any(a is not None and b is not None for a, b in zip(one.parts, two.parts, strict=True))


def agrees(one: Date, two: Date) -> bool:
    """Whether two dates name a part in common and no part differently."""
    pairs = list(zip(one.parts, two.parts, strict=True))
    return _comparable(one, two) and all(a == b for a, b in pairs if a is not None and b is not None)


def _names(text: str) -> frozenset[str]:
    """Capitalised words that are not so by position or by the rules of the language."""
    words = _WORD.findall(text)
    inner = [word for word in words[1:] if len(word) > 2 and word.isalpha()]
    capitals = sum(word[0].isupper() for word in inner)
    # German nouns and titles are capitalised throughout: a capital says nothing there.
    if guess_language(text) == "de" or (len(inner) >= 4 and capitals > 0.4 * len(inner)):
        return frozenset()
    names = set()
    for match in _NAME.finditer(text):
        before = text[: match.start()].rstrip(" \"'“„(*")
        starts = not before or before[-1] in ".!?:;"
        word = match[1].lower().removesuffix("'s").removesuffix("’s")
        followed = text[match.end() : match.end() + 2]
        surname = followed[:1] == " " and followed[1:].isupper() and not _ACRONYM.match(text, match.end())
        if word in UNITS:
            continue
        if (not starts or surname or match[1].isupper()) and word not in COMMON_WORDS:
            names.add(word)
    return frozenset(names)


def _beside(text: str, names: frozenset[str]) -> dict[str, frozenset[str]]:
    """By name the nearest content words before and behind it that are no names, within its clause."""
    found: dict[str, set[str]] = {name: set() for name in names}
    if not names:
        return {}
    for clause in _CLAUSE.split(text):
        words = [match[0] for match in _HYPHENATED.finditer(clause)]
        keys = [word.lower().removesuffix("'s").removesuffix("’s") for word in words]
        plain = [
            place
            for place, key in enumerate(keys)
            if key not in names and key not in STOP_WORDS and key not in _AUXILIARIES
        ]
        for place, key in enumerate(keys):
            if key in found:
                after = bisect_left(plain, place)
                found[key].update(stem(keys[index]) for index in plain[max(0, after - 1) : after + 1])
    return {name: frozenset(words) for name, words in found.items()}


def _clauses(text: str) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """For each clause its content words and those that a negation governs.

    A negation governs the next content word, else the one before it ("startet nicht").
    """
    clauses = []
    for clause in _CLAUSE.split(text):
        words = content_words(clause)
        if words:
            partly = frozenset(("few",)) if _PARTLY.search(clause) else frozenset()
            clauses.append((words | partly, _governed(clause)))
    return tuple(clauses)


def _governed(clause: str) -> frozenset[str]:
    found = set()
    for match in _NEGATION.finditer(clause):
        after = _governable(clause[match.end() : match.end() + 80])[:1]
        found.update(after or _governable(clause[max(0, match.start() - 80) : match.start()])[-1:])
    return frozenset(stem(word) for word in found)


def _governable(text: str) -> list[str]:
    words = [word.lower() for word in _WORD.findall(text)]
    return [word for word in words if word not in _AUXILIARIES and word not in STOP_WORDS and not word.endswith("ly")]
