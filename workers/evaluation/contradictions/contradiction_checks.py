"""Compare a claim with evidence on details that embeddings do not distinguish.

MiniLM gives "fell by 30 %" and "fell by 40 %" similar vectors, and also "was restarted" and "was not restarted". The
checks compare such details exactly: numbers with units, dates, names, identifiers and negation (this module); antonyms,
comparatives and quantifiers (``lexical_contradictions``); compared figures (``comparisons``); exchanged roles and steps
(``roles``). A check reports a mismatch only if both sides are comparable: the same unit, kind of date, series of
identifiers or subject. Details that the evidence does not mention are unsupported, not contradicted; see
``evidence_facts``.
"""

import re
from collections.abc import Sequence

from schemas.grounding import Mismatch
from workers.evaluation.contradictions.antonyms import POLES, SHARES, without_privative
from workers.evaluation.contradictions.cases import is_same_case
from workers.evaluation.contradictions.converses import is_other_side
from workers.evaluation.contradictions.denials import (
    adds_condition,
    admits_outsiders,
    affirms_denied,
    crosses_contrast,
    crosses_non,
    denies_outsiders,
    drops_condition,
    has_ended,
    is_due,
    is_exception_of,
    is_refused_unless,
)
from workers.evaluation.contradictions.lexical_contradictions import denies_share, opposites, same_matter
from workers.evaluation.contradictions.needless import are_both_needless, waive_one_thing
from workers.evaluation.contradictions.roles import reordered, swapped
from workers.evaluation.contradictions.universals import says_same_of_all
from workers.evaluation.contradictions.values.claimed_limits import denies_other_figure
from workers.evaluation.contradictions.values.comparisons import (
    is_end_taken_for_change,
    wrong_change,
    wrong_order,
    wrong_share,
)
from workers.evaluation.contradictions.values.dated_values import is_course_wrong
from workers.evaluation.contradictions.values.row_mismatch import is_cell_named, own_row
from workers.evaluation.contradictions.values.rule_limits import has_other_limit, is_beyond_limit, keeps_limit
from workers.evaluation.contradictions.values.time_sides import says_same_side
from workers.evaluation.facts.calculation.arithmetic import MAX_INPUTS, Pool, is_derived, same_dimension, same_quantity
from workers.evaluation.facts.calculation.written_calculations import is_miscalculated
from workers.evaluation.facts.dates import DatePool, PeriodPool, months_of, read_weekdays
from workers.evaluation.facts.lettered_codes import has_other_code, is_in_range, runs_of
from workers.evaluation.facts.numbers.quantity import PLACE
from workers.evaluation.facts.quantities import spans_between
from workers.evaluation.facts.text_details import CONDITION, MAX_LENGTH, WORD, Details, periods_of, read_details
from workers.evaluation.facts.units import FAMILIES, FRACTIONS, MONTHS, NUMBER_WORDS, SCALES, UNITS, WEEKDAYS
from workers.evaluation.text.words import stem, word_set

NAME_OVERLAP = 0.7
"""Share of the claim's other words that must be in the evidence before a different name is a mismatch. Sentences about
different things have different names.
"""
CLAUSE_OVERLAP = (0.7, 0.5)
"""Share of the shorter and of the longer clause's words that two clauses on one subject have in common. A sentence that
compares two things denies of one thing what it affirms of the other.
"""
MIN_STATED = 4
"""Least number of words of a claim that the evidence has word for word."""
PERIOD_OVERLAP = 0.5
"""Share of common words from which a period in one text excludes a date in the other."""

_CLAUSE_START = re.compile(r"(?:^|[.;:]\s|,?\s(?:and|but)\s)$")
_SOFT_NEGATIONS = frozenset(
    stem(word)
    for word in word_set(
        "avoid avoids avoided block blocks blocked deter deters deterred hinder hinders hindered refuse refuses refused prevent prevents prevented stop stops stopped lack lacks "
        "lacked few"
        " little hardly rarely seldom unable deny denies denied decline declined reject rejected limited instead unlike"
        " forbid forbids forbidden ban bans banned prohibit prohibits prohibited exclude excludes excluded exempt barred"
    )
)
_VARYING = frozenset(
    stem(word) for word in (*UNITS, *MONTHS, *WEEKDAYS, *POLES, *SHARES, *NUMBER_WORDS, *SCALES, *FRACTIONS)
)
"""Stems of words that may differ between texts on one subject."""


def compare(claim: str, evidence: str, other_evidence: Sequence[str] = ()) -> tuple[Mismatch, ...]:
    """Return the mismatches between a claim and a piece of evidence.

    Args:
        claim: plain text of the claim.
        evidence: plain text of the best evidence.
        other_evidence: further evidence; details found there are not mismatches.

    Returns:
        Kinds of mismatch in a fixed order; empty if there are none.
    """
    claim, evidence, other_evidence = (
        claim[:MAX_LENGTH],
        evidence[:MAX_LENGTH],
        [t[:MAX_LENGTH] for t in other_evidence],
    )
    if _is_stated(claim, evidence):
        return ()
    evidence, other_evidence = own_row(claim, evidence, other_evidence)
    own, theirs = read_details(claim), read_details(evidence)
    others = [read_details(text) for text in other_evidence]
    found: list[Mismatch] = []
    wrong = wrong_change(claim, evidence) or wrong_share(claim) or is_course_wrong(claim, [evidence, *other_evidence])
    wrong = wrong or any(is_end_taken_for_change(claim, text) for text in (evidence, *other_evidence))
    wrong = wrong or has_other_limit(claim, evidence, own, theirs, others) or is_miscalculated(claim)
    is_stated = bool(own.quantities) and is_cell_named(claim, [evidence, *other_evidence])
    if wrong or (
        number_mismatch(own, theirs, others, is_derivable=not is_stated)
        and not keeps_limit(claim, own, theirs)
        and not is_beyond_limit(claim, own, theirs, [evidence, *other_evidence])
    ):
        found.append("number")
    if date_mismatch(own, theirs, others):
        found.append("date")
    if name_mismatch(own, theirs, others):
        found.append("name")
    is_of_other = denies_other_figure(claim, [evidence, *other_evidence])
    denies = negation_mismatch(own, theirs) and not (
        is_of_other
        or any(
            same(claim, evidence)
            for same in (
                is_exception_of,
                is_due,
                denies_share,
                are_both_needless,
                waive_one_thing,
                says_same_side,
                is_same_case,
                denies_outsiders,
            )
        )
    )
    denials = (crosses_contrast, affirms_denied, drops_condition, adds_condition, has_ended, admits_outsiders)
    if denies or any(denial(claim, evidence) for denial in denials) or crosses_non(claim, evidence, other_evidence):
        found.append("negation")
    calculated = own.dates and all(date in theirs.implied_dates for date in own.dates)
    if not _other_subject(own, theirs) and not calculated:
        excused = {
            "antonym": is_other_side(claim, evidence)
            or is_refused_unless(claim, evidence)
            or are_both_needless(claim, evidence)
            or waive_one_thing(claim, evidence),
            "negation": is_of_other,
        }
        found += [kind for kind in opposites(claim, evidence, other_evidence) if not excused.get(kind)]
    if wrong_order(claim, [evidence, *other_evidence]):
        found.append("comparative")
    turned = swapped(claim, evidence) or reordered(claim, evidence)
    if turned and not any(_same_words(claim, text) for text in other_evidence):
        found.append("role")
    if says_same_of_all(claim, evidence):
        found = [kind for kind in found if kind not in ("negation", "antonym", "quantifier")]
    return tuple(dict.fromkeys(found))


def _is_stated(claim: str, evidence: str) -> bool:
    """Return true if the evidence has a claim word for word as a clause that nothing before it denies."""
    words = claim.strip().rstrip(".!").lower().split()
    if len(words) < MIN_STATED:
        return False
    text = " ".join(evidence.lower().split())
    place = text.find(stated := " ".join(words))
    return (
        place >= 0
        and bool(_CLAUSE_START.search(text[:place]))
        and text[place + len(stated) : place + len(stated) + 1] in ("", ".", ";", "!")
    )


def _other_subject(claim: Details, evidence: Details) -> bool:
    """Return true if both texts have names and none in common; their statements then do not exclude each other."""
    known = evidence.names | evidence.words
    strange = claim.names and not any(name in known or stem(name) in known for name in claim.names)
    return bool(strange and evidence.names)


def _same_words(one: str, two: str) -> bool:
    return WORD.findall(one.lower()) == WORD.findall(two.lower())


def number_mismatch(
    claim: Details, evidence: Details, others: Sequence[Details] = (), *, is_derivable: bool = True
) -> bool:
    """Return true if a number of the claim differs from every number of its kind in the evidence.

    Args:
        claim: the claim.
        evidence: its best evidence.
        others: further evidence.
        is_derivable: whether a number may follow from others by a calculation.
    """
    if claim.is_endless and not any(other.is_endless for other in (evidence, *others)):
        # "Lifelong" excludes every duration.
        return any(other.dimension in ("time", "month") for other in evidence.quantities)
    if not claim.quantities:
        return False
    near = [*evidence.quantities, *evidence.implied]
    pool = [*near, *(number for other in others for number in (*other.quantities, *other.implied))]
    known, claimed = Pool(pool), Pool(claim.quantities)
    # A number that the claim also contains does not contradict: "$1,000 deductible for $150" and "a $1,000 deductible".
    spans = spans_between([date for each in (evidence, *others) for date in each.dates])
    rivals = Pool(other for other in near if not claimed.has(other))
    exact = Pool(number for number in claim.quantities if not number.bound)
    outside = Pool(other for other in near if not exact.has(other))
    faces = {(FAMILIES[other.dimension], other.face) for other in near if other.dimension in FAMILIES}
    distinct = list(dict.fromkeys(claim.quantities))
    for number in distinct:
        if number.bound and outside.measures(number):
            if not known.satisfy(number):
                return True
            continue
        if known.has(number) or any(same_quantity(number, span) for span in spans):
            continue
        # The same figure in a unit that cannot be converted to the claim's unit is a different amount.
        in_another_unit = (FAMILIES.get(number.dimension), number.face) in faces
        is_amount = number.dimension and not number.dimension.startswith(PLACE)
        if not (is_amount and rivals.measures(number)) and not in_another_unit:
            continue
        if not is_derivable:
            return True
        # Of many numbers those of its own kind can give it: the weights of two cameras do not give a price.
        alike = sorted(pool, key=lambda other: not same_dimension(other.dimension, number.dimension))
        inputs = [
            *(pool if len(pool) <= MAX_INPUTS else alike)[:MAX_INPUTS],
            *(other for other in distinct[: MAX_INPUTS + 1] if other != number),
        ]
        if not is_derived(
            number,
            inputs,
            only_sums=claim.is_total,
            is_compared=claim.is_compared,
            is_mean=claim.is_mean,
        ):
            return True
    return False


def date_mismatch(claim: Details, evidence: Details, others: Sequence[Details] = ()) -> bool:
    """Return true if a date of the claim differs from every comparable date of the evidence."""
    if claim.weekdays and claim.weekdays == evidence.weekdays:
        # Times on another day do not support times on this day.
        others = [other for other in others if other.weekdays <= claim.weekdays]
    pool = DatePool(date for each in (evidence, *others) for date in (*each.dates, *each.implied_dates))
    claimed = DatePool(claim.dates)
    unclaimed = DatePool(other for other in evidence.dates if not claimed.agrees(other))
    if any(unclaimed.has_comparable(date) and not pool.agrees(date) for date in claim.dates):
        return True
    return _period_mismatch(claim, evidence, others) or _weekday_mismatch(claim, evidence, others)


def _period_mismatch(claim: Details, evidence: Details, others: Sequence[Details]) -> bool:
    """Return true if no date of the evidence lies in a century, decade or quarter of the claim, or the reverse."""
    if not same_matter(_wordy(claim), _wordy(evidence), PERIOD_OVERLAP, PERIOD_OVERLAP):
        return False
    pool = PeriodPool(span for other in (evidence, *others) for span in periods_of(other))
    checked = list(claim.periods)
    if evidence.periods and not any(months_of(date) for date in evidence.dates):
        checked += filter(None, map(months_of, claim.dates))
    return bool(periods_of(evidence)) and any(not pool.overlaps(period) for period in checked)


def _wordy(details: Details) -> frozenset[str]:
    return frozenset(word for word in details.words if not word[0].isdigit() and word != "century")


def _weekday_mismatch(claim: Details, evidence: Details, others: Sequence[Details]) -> bool:
    """Return true if the claim names other days of the week for the same subject."""
    if not claim.weekdays or not evidence.weekdays or claim.weekdays & evidence.weekdays:
        return False
    if any(claim.weekdays & other.weekdays for other in others):
        return False
    days = {stem(name) for name in WEEKDAYS}
    return same_matter(claim.words - days, evidence.words - days)


def has_unknown_day(claim: str, evidence: Sequence[str]) -> bool:
    """Return true if a claim names a day of the week that the evidence, which names others, has not."""
    own, known = read_details(claim).weekdays, read_weekdays("\n".join(evidence))
    return bool(own and known) and not own <= known


def name_mismatch(claim: Details, evidence: Details, others: Sequence[Details] = ()) -> bool:
    """Return true if the claim names another series member ("Grinder 3" for "Grinder 5") or another person."""
    codes = evidence.codes.union(*(other.codes for other in others))
    series = {name for name, _ in evidence.codes}
    ranges = evidence.code_ranges.union(*(other.code_ranges for other in others))
    if any(code not in codes and code[0] in series and not is_in_range(code, ranges) for code in claim.codes):
        return True
    if claim.codes & evidence.with_letter - codes or claim.with_letter & codes - evidence.with_letter:
        return True  # "Room 12" for "Room 12b", or the reverse
    lettered = evidence.lettered.union(*(other.lettered for other in others))
    outside = {runs for runs in claim.lettered if not is_in_range(runs, ranges)}
    if has_other_code(outside, evidence.lettered, lettered):
        return True
    known = evidence.words.union(evidence.names, *(other.words | other.names for other in others))
    # Days are compared as days: "Wednesday" lies in "Monday to Thursday".
    strange = {
        name
        for name in claim.names
        if name not in WEEKDAYS and not _is_known(name, known) and not is_in_range(runs_of(name), ranges)
    }
    unnamed = {name for name in evidence.names if name not in claim.names and stem(name) not in claim.words}
    # Compare names in the same position: "approved by the board" and "Anna Schmidt approved".
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
    """Return true if one side negates a word that the other side affirms, in clauses on the same subject."""
    return _denies(claim, evidence) or _denies(evidence, claim)


def _denies(denying: Details, affirming: Details) -> bool:
    doubly_denied = frozenset().union(*(denied for _, denied in affirming.clauses))
    if any(governed & doubly_denied for _, governed in denying.clauses):
        return False
    # Ignore clauses that deny something else or deny weakly ("few").
    affirmed = [words for words, denied in affirming.clauses if not denied]
    affirmed_too = [words for words, denied in denying.clauses if not denied]
    for words, governed in denying.clauses:
        for others in affirmed if governed else ():
            if CONDITION in others and CONDITION not in words:
                continue  # "if you pull it" does not say that one pulls it
            if not governed & others or _has_privative(others, words | affirming.words):
                continue
            if _SOFT_NEGATIONS & others - words:
                continue  # "to block the birds' access" is "to deter birds from accessing it"
            # "The old pump does not need oil, the new pump needs oil" affirms it of the new one.
            if any(own and own <= also and governed & also for also in affirmed_too if (own := others - words)):
                continue
            common = len(words & others)
            shorter, longer = sorted((len(words), len(others)))
            if common >= max(2.0, CLAUSE_OVERLAP[0] * shorter, CLAUSE_OVERLAP[1] * longer):
                return True
    return False


def _has_privative(clause: frozenset[str], known: frozenset[str]) -> bool:
    """Return true for a clause that denies by a prefix: "ineffective in infants" beside "effective in adults"."""
    return any(without_privative(word) in known for word in clause)


def on_one_matter(claim: str, evidence: str) -> bool:
    """Return true if a claim and its evidence concern one subject, apart from figures and opposites.

    Changed figures and short texts ("Bearing weight: 500 g.") lower a cosine, so it cannot tell whether both
    texts concern one subject. Numbers, units, dates, quantifiers and words with an opposite are therefore left
    out. Half of the claim's remaining words must be in the evidence; one word suffices if both texts have the
    same identifier.

    Args:
        claim: plain text.
        evidence: plain text of the evidence given to ``compare``.
    """
    own, theirs = read_details(claim), read_details(evidence)
    rest = _matter(own)
    common = rest & _matter(theirs)
    if own.codes & theirs.codes:
        return bool(common) or len(rest) <= 1
    if not rest:
        # If all words of the claim may differ ("Profit improved in May."), use them unchanged.
        rest, common = own.words, own.words & theirs.words
    return bool(common) and 2 * len(common) >= len(rest)


def _matter(details: Details) -> frozenset[str]:
    numbers = {number for _, number in details.codes}
    return frozenset(
        word for word in details.words if not word[0].isdigit() and word not in _VARYING and word not in numbers
    )
