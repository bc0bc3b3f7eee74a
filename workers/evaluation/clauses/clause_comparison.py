"""Compare the clauses of a claim with those of its evidence: whose value, which act, denied or not.

A claim can have all of its words from one passage and still say what the passage does not: it gives a value to another
subject, takes another verb, turns a permission round or drops a condition. Vectors and word lists do not see this. Each
rule here needs a clause of the evidence that says it otherwise, and is silent where another clause says it as the claim
does or may do so (a pronoun, "the company").
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from schemas.grounding import Mismatch
from workers.evaluation.clauses.clause_reader import Clause, Phrase, read_clauses
from workers.evaluation.clauses.predicates import are_opposite, are_related, converses, permission, predicate_stem
from workers.evaluation.contradictions.antonyms import SHARES
from workers.evaluation.facts.units import MONTHS, NUMBER_WORDS, UNITS
from workers.evaluation.text.words import word_set

MAX_CLAUSES = 60
"""Most clauses of the evidence that a claim is compared with."""

SHORTEST_ABBREVIATION = 3
"""Fewest letters of a word that may stand for the initials of others."""

_WITH = frozenset({"with", "without"})
_LINKING = frozenset({"be", "become"})
_LIMITS = frozenset({"until", "till", "through", "from", "since", "after", "before"})
_YEAR = re.compile(r"1\d{3}|20\d{2}")
_FROM_NOW = word_set("night yesterday today tonight")
"""Heads of times that count from now, beside a clause and without a preposition: "last night"."""
_UNTOLD = word_set(
    "be have do make say state note mention describe list show report explain according use include"
    " serve allow cause help refer derive base locate call know consider characterize become remain need want try keep"
    " seem appear take get give go come contain require ensure exceed"
)
"""Verbs that say little: another verb in their place changes nothing."""


class Relation(IntEnum):
    """Order how far two phrases mean one thing."""

    UNRELATED = 0
    DIFFERENT = 1
    POSSIBLE = 2
    SAME = 3


def relation(one: Phrase, two: Phrase) -> Relation:
    """Compare two phrases."""
    if one.is_pronoun or two.is_pronoun:
        return Relation.POSSIBLE
    if one.numbers and two.numbers:
        return _of_numbers(one, two)
    if one.names and two.names:
        if one.names <= two.names or two.names <= one.names or _are_initials(one, two) or _are_initials(two, one):
            return Relation.SAME
        return Relation.POSSIBLE if one.names & two.names else Relation.DIFFERENT
    if one.names or two.names:
        named, other = (one, two) if one.names else (two, one)
        if named.names & other.words or other.head in named.words:
            return Relation.SAME
        return Relation.POSSIBLE if other.is_definite or _is_abbreviated(named, other) else Relation.UNRELATED
    return _of_nouns(one, two)


def _are_initials(one: Phrase, two: Phrase) -> bool:
    """Return true for "UN" and "United Nations"; the order of the words is not known here."""
    return len(two.names) > 1 and any(
        len(name) == len(two.names) and sorted(name) == sorted(word[0] for word in two.names) for name in one.names
    )


def _of_numbers(one: Phrase, two: Phrase) -> Relation:
    counted = {
        phrase.head
        for phrase in (one, two)
        if not (phrase.head in UNITS or phrase.head in NUMBER_WORDS or phrase.head == "one" or phrase.head[0].isdigit())
    }
    if len(counted) == 2:
        return Relation.UNRELATED  # "84 rooms" and "12 suites"
    if one.numbers & two.numbers and not (one.bound and one.bound == -two.bound):
        return Relation.SAME
    if (kept := _keeps_bound(one, two)) is not None:
        return Relation.SAME if kept else Relation.DIFFERENT
    alike = one.head == two.head or one.role == two.role or "any" in (one.role, two.role)
    return Relation.DIFFERENT if alike else Relation.UNRELATED


def _keeps_bound(one: Phrase, two: Phrase) -> bool | None:
    """Return whether "28 days" keeps the bound "more than 25 days"; ``None`` without a bound or a figure of its own."""
    bound, other = (one, two) if one.bound else (two, one)
    if not bound.bound or other.bound or len(bound.numbers) != 1 or len(other.numbers) != 1:
        return None
    try:
        limit, value = (float(next(iter(phrase.numbers))) for phrase in (bound, other))
    except ValueError:
        return None  # "10:30"
    return (value - limit) * bound.bound > 0


def _of_nouns(one: Phrase, two: Phrase) -> Relation:
    if one.words <= two.words or two.words <= one.words:
        return Relation.SAME
    if one.head == two.head:
        mine, theirs = one.modifiers, two.modifiers
        if not mine or not theirs or mine & theirs:
            return Relation.SAME
        is_short = _is_abbreviated(one, two) or _is_abbreviated(two, one)
        return Relation.POSSIBLE if is_short else Relation.DIFFERENT
    if one.head in two.words or two.head in one.words or _may_stand_for(one, two):
        return Relation.POSSIBLE
    if _is_abbreviated(one, two) or _is_abbreviated(two, one):
        return Relation.POSSIBLE
    return Relation.UNRELATED


def _is_abbreviated(one: Phrase, two: Phrase) -> bool:
    """Return true for "the cause of IBS" and "the cause of irritable bowel syndrome"; the order is not known here."""
    initials = [word[0] for word in two.words - one.words]
    return len(initials) >= SHORTEST_ABBREVIATION and any(
        SHORTEST_ABBREVIATION <= len(word) <= len(initials)
        and word.isalpha()
        and all(word.count(letter) <= initials.count(letter) for letter in word)
        for word in one.words - two.words
    )


def _may_stand_for(one: Phrase, two: Phrase) -> bool:
    """Return true for "the company" and "the firm": each may stand for what was named before."""
    return one.is_definite and two.is_definite and "attribute" not in (one.role, two.role)


@dataclass(frozen=True, slots=True)
class _Match:
    """Hold the best relation of each phrase of a claim's clause with a clause of the evidence."""

    clause: Clause
    relations: tuple[Relation, ...]
    same_predicate: bool
    is_negated: bool


def clause_mismatches(claims: Iterable[Clause], evidence: Sequence[str], question: str = "") -> tuple[Mismatch, ...]:
    """Return the kinds of mismatch between the clauses of a claim and all clauses of its evidence.

    Args:
        claims: the claim's clauses.
        evidence: sentences of the evidence, those of one source in order.
        question: the question, if the claim is a short answer to it; its figures are then compared too.
    """
    theirs = _read(evidence)
    found: dict[Mismatch, None] = {}
    for own in _normal(claims):
        found |= dict.fromkeys(_mismatches(own, theirs, is_short=bool(question)))
    return tuple(found)


def are_confirmed(claims: Iterable[Clause], evidence: Sequence[str]) -> bool:
    """Return true if the evidence confirms every clause of a claim; false for a claim without clauses.

    The evidence confirms a clause if it states the clause with all parts, or if the claim correctly denies the clause.
    """
    theirs, claims = _read(evidence), list(claims)
    return bool(claims) and all(
        any(
            (_says(normal, each) and _is_whole(normal, each)) or _is_denied_rightly(normal, each)
            for normal in _normal([own])
            for each in _matches(normal, theirs)
        )
        for own in claims
    )


def _is_denied_rightly(own: Clause, match: _Match) -> bool:
    """Return true if a claim denies what the evidence has another figure for, or has the other way round."""
    if not own.is_negated or match.is_negated:
        return False
    if own.is_comparison:
        return _is_turned(own, match.clause)
    other = [phrase for phrase, how in zip(own.phrases, match.relations, strict=True) if how is not Relation.SAME]
    return (
        match.same_predicate
        and len(other) == 1
        and bool(other[0].numbers)
        and not other[0].bound
        and any(how is Relation.SAME for how in match.relations)
        and any(phrase.numbers and relation(other[0], phrase) is Relation.DIFFERENT for phrase in match.clause.phrases)
    )


def _is_whole(own: Clause, match: _Match) -> bool:
    told = [how for phrase, how in zip(own.phrases, match.relations, strict=True) if not phrase.is_pronoun]
    return bool(told) and all(how is Relation.SAME for how in told)


def _read(evidence: Sequence[str]) -> list[Clause]:
    theirs = [clause for text in evidence for clause in read_clauses(text)][:MAX_CLAUSES]
    return _normal(theirs)


def _normal(clauses: Iterable[Clause]) -> list[Clause]:
    return [normal for clause in clauses for normal in (clause, *permission(clause), *converses(clause))]


def _matches(own: Clause, evidence: Sequence[Clause]) -> list[_Match]:
    named = [phrase for clause in evidence for phrase in clause.phrases]
    return _contrasted(own, [_match(own, clause, named) for clause in evidence])


def _mismatches(own: Clause, evidence: Sequence[Clause], *, is_short: bool) -> Iterator[Mismatch]:
    if own.is_comparison:
        if any(_is_turned(own, each) and own.is_negated == each.is_negated for each in evidence):
            yield "comparative"
        return
    matches = _matches(own, evidence)
    if any(_says(own, each) for each in matches):
        return
    if _is_taken(own, matches):
        yield "subject"
    if is_short and _is_other_figure(own, matches):
        yield "number"
    if is_short and _is_other_name(own, matches):
        yield "subject"
    if _is_swapped(own, matches) or _is_of_other_act(own, matches):
        yield "role"
    close = [each for each in matches if each.same_predicate and _agrees(own, each)]
    if close and all(each.is_negated != own.is_negated for each in close):
        if any(_denies(own, each) for each in close):
            yield "negation"
    elif close and all(_exceeds(own, each.clause) for each in close):
        yield "quantifier"
    if not close and not is_short and _is_other_verb(own, matches):
        yield "predicate"


def _is_turned(own: Clause, clause: Clause) -> bool:
    """Return true for "Peter is older than Paul" over "Paul is older than Peter"."""
    mine, theirs = ({phrase.role: phrase for phrase in each.phrases} for each in (own, clause))
    return (
        clause.is_comparison
        and own.predicate == clause.predicate
        and all({"subject", "than"} <= set(each) for each in (mine, theirs))
        and relation(mine["subject"], theirs["than"]) is Relation.SAME
        and relation(mine["than"], theirs["subject"]) is Relation.SAME
    )


def _match(own: Clause, clause: Clause, named: Sequence[Phrase]) -> _Match:
    relations, turned = [], are_opposite(own.predicate, clause.predicate)
    left = list(clause.phrases)
    for phrase in own.phrases:
        others = [other for other in left if _fits(own, phrase, clause, other)]
        bound = next((found for other in others if (found := _within(phrase, other)) is not None), None)
        if (
            bound is None
            and phrase.role in _WITH
            and any(
                other.role in _WITH and other.role != phrase.role and relation(phrase, other) is Relation.SAME
                for other in others
            )
        ):
            bound = False
        if bound is not None:
            relations.append(Relation.SAME)
            turned ^= not bound
        elif _is_opposite(phrase, others):
            relations.append(Relation.SAME)
            turned = not turned
        else:
            best = max(others, key=lambda other: relation(phrase, other), default=None)
            how = Relation.UNRELATED if best is None else relation(phrase, best)
            if (
                how < Relation.POSSIBLE
                and best is not None
                and phrase.role == best.role == "subject"
                and "only" in best.shares
            ):
                how, turned = Relation.SAME, not turned  # "Only staff can enter" denies it of visitors.
            if how is Relation.POSSIBLE and _stands_elsewhere(phrase, best, clause):
                how = Relation.DIFFERENT
            if how is Relation.SAME and best is not None and _is_other_kind(phrase, best, named):
                how = Relation.DIFFERENT
            relations.append(how)
            if best is not None and how is Relation.SAME:
                left.remove(best)
    related = are_related(own.predicate, clause.predicate) or are_opposite(own.predicate, clause.predicate)
    return _Match(clause, tuple(relations), related, clause.is_negated != turned)


def _is_other_kind(phrase: Phrase, other: Phrase, named: Iterable[Phrase]) -> bool:
    """Return true for "international calls" and "domestic calls" where the evidence speaks of international ones too."""
    if phrase.head != other.head or phrase.words <= other.words or other.words <= phrase.words or phrase.numbers:
        return False
    if phrase.is_definite or other.is_definite:
        return False  # "The kidnap victim" may be the same as "the teenage victim".
    return any(phrase.words <= each.words and not other.words <= each.words for each in named)


def _is_opposite(phrase: Phrase, others: Sequence[Phrase]) -> bool:
    """Return true for "in winter" over "in summer", unless the clause goes on with another: "in summer and in 2004"."""
    return any(are_opposite(phrase.head, other.head) for other in others) and (
        sum(other.role == phrase.role for other in others) < 2
    )


def _stands_elsewhere(phrase: Phrase, place: Phrase | None, clause: Clause) -> bool:
    """Return true if a clause has a phrase itself in another part: "the Comets beat the Harriers" names both."""
    return not phrase.is_pronoun and any(
        other is not place and other.role in ("subject", "object") and relation(phrase, other) is Relation.SAME
        for other in clause.phrases
    )


def _within(bound: Phrase, other: Phrase) -> bool | None:
    """Return whether a year is "before 1900"; ``None`` if the phrase sets no bound on the other."""
    if (months := _within_months(bound, other)) is not None:
        return months
    if bound.role not in ("before", "after") or other.role not in ("in", "on", "any") or not other.numbers:
        return None
    years = [[float(number) for number in phrase.numbers if _YEAR.fullmatch(number)] for phrase in (bound, other)]
    if not all(len(each) == 1 for each in years) or years[0] == years[1]:
        return None
    (limit,), (year,) = years
    return (year < limit) == (bound.role == "before")


def _within_months(bound: Phrase, other: Phrase) -> bool | None:
    """Return whether "in July" lies in "until 30 June" or in "from May"; ``None`` without a month on both sides."""
    limit, place = (bound, other) if bound.role in _LIMITS else (other, bound)
    if limit.role not in _LIMITS or place.role not in ("in", "on", "any", "during"):
        return None
    months = [{MONTHS[word] for word in phrase.words if word in MONTHS} for phrase in (limit, place)]
    if not all(len(each) == 1 for each in months) or months[0] == months[1]:
        return None
    (last,), (month,) = months
    return (month > last) == (limit.role in ("from", "since", "after"))


def _contrasted(own: Clause, matches: Sequence[_Match]) -> list[_Match]:
    """Return the matches without what a phrase only may stand for, where the evidence has the phrase itself.

    "The bakery closes at 6. The pharmacy closes at 8." speaks of two things; "the bakery" does not stand for the other.
    """
    told = [
        any(each.same_predicate and each.relations[place] is Relation.SAME for each in matches)
        and not phrase.is_pronoun
        and phrase.role in ("subject", "object")
        for place, phrase in enumerate(own.phrases)
    ]
    return [
        replace(
            each,
            relations=tuple(
                Relation.DIFFERENT
                if known and how is Relation.POSSIBLE and _is_named(own.phrases[place], each.clause)
                else how
                for place, (known, how) in enumerate(zip(told, each.relations, strict=True))
            ),
        )
        for each in matches
    ]


def _is_named(phrase: Phrase, clause: Clause) -> bool:
    """Return true if the phrase in the same role is a noun of its own and no pronoun."""
    other = next((each for each in clause.phrases if each.role == phrase.role), None)
    return other is not None and not other.is_pronoun and not other.words & phrase.words


def _fits(own: Clause, phrase: Phrase, clause: Clause, other: Phrase) -> bool:
    """Return true if two phrases can have one part in their clauses."""
    roles = {phrase.role, other.role}
    if len(roles) == 1 or "any" in roles:
        return True
    if {own.predicate, clause.predicate} <= _LINKING:
        return True
    if roles == {"subject", "object"}:
        # "The hall opened" and "the hall was opened".
        return not all(any(each.role == "subject" for each in sides.phrases) for sides in (own, clause))
    return not roles & {"subject", "object"}


def _says(own: Clause, match: _Match) -> bool:
    """Return true if a clause says, or may say, what the claim says."""
    clause = match.clause
    return (
        match.same_predicate
        and own.is_negated == match.is_negated
        and not _exceeds(own, clause)
        and all(each >= Relation.POSSIBLE for each in match.relations)
        and (any(each is Relation.SAME for each in match.relations) or not match.relations)
    )


def _agrees(own: Clause, match: _Match) -> bool:
    """Return true if a clause is about the same: no part that both have differs, and most parts are the same."""
    relations = match.relations
    theirs = {phrase.role for phrase in match.clause.phrases}
    for phrase, how in zip(own.phrases, relations, strict=True):
        if how is Relation.DIFFERENT or (how is Relation.UNRELATED and phrase.role in theirs):
            return False
    told = [how for phrase, how in zip(own.phrases, relations, strict=True) if not phrase.is_pronoun]
    return Relation.SAME in told and 3 * sum(how is Relation.SAME for how in told) >= 2 * len(told)


def _denies(own: Clause, match: _Match) -> bool:
    """Return true if the denied side has no part that the other lacks: "not a rock album" does not deny "an album"."""
    denied, other = (own, match.clause) if own.is_negated else (match.clause, own)
    if match.clause.subject is not None and "only" in match.clause.subject.shares:
        return True
    if any(SHARES.get(word) in ("all", "most", "many") for phrase in denied.phrases for word in phrase.shares):
        return False
    known = frozenset().union(*(phrase.words for phrase in other.phrases))
    told = [phrase for phrase in denied.phrases if not phrase.is_pronoun]
    return (
        all(
            phrase.head in known
            or any(
                relation(phrase, each) >= Relation.POSSIBLE or are_opposite(phrase.head, each.head)
                for each in other.phrases
            )
            for phrase in told
            if phrase.role in ("subject", "object", "attribute")
        )
        and (not own.is_negated or not _has_more(own, match))
        and (denied.predicate != "be" or all(phrase.words <= known for phrase in told if phrase.role == "attribute"))
    )


def _has_more(own: Clause, match: _Match) -> bool:
    """Return true if a claim denies with a part that the evidence does not have: "cannot be returned in the shop".

    Evidence without a year may be of "last night": it rarely names a time in words that count from now.
    """
    is_dated = any(_YEAR.fullmatch(number) for phrase in match.clause.phrases for number in phrase.numbers)
    return any(
        how is Relation.UNRELATED
        and not phrase.is_pronoun
        and not phrase.words & set(_all_words(match.clause))
        and (is_dated or phrase.role != "any" or phrase.head not in _FROM_NOW)
        for phrase, how in zip(own.phrases, match.relations, strict=True)
    )


def _is_taken(own: Clause, matches: Sequence[_Match]) -> bool:
    """Return true if the evidence says the claim of another subject, and nothing of it of the claim's own."""
    return any(
        _is_of_others(own, place, matches)
        for place, phrase in enumerate(own.phrases)
        if phrase.role in ("subject", "object") and not phrase.is_pronoun and not phrase.numbers
    )


def _is_of_others(own: Clause, place: int, matches: Sequence[_Match]) -> bool:
    subject = own.phrases[place]
    rest = [
        index
        for index, phrase in enumerate(own.phrases)
        if index != place and not phrase.is_pronoun and not any(phrase.words < other.words for other in own.phrases)
    ]
    if not rest:
        return _is_said_of_another(own, subject, matches)
    if any(_speaks_of(own, subject, rest, each) for each in matches):
        return False
    contrasted = any(each.relations[place] is Relation.SAME and each.same_predicate for each in matches)
    return any(_is_of_another(own, place, rest, each, matches, contrasted=contrasted) for each in matches)


def _is_said_of_another(own: Clause, subject: Phrase, matches: Sequence[_Match]) -> bool:
    """Return true for "breakfast is charged separately" over "breakfast is included. Dinner is charged separately."."""
    if subject.is_pronoun or subject.names:
        return False
    alike = [each for each in matches if each.same_predicate and each.is_negated == own.is_negated]
    owners = [
        phrase
        for each in alike
        for phrase in each.clause.phrases
        if phrase.role == subject.role
        and ((own.adverbs and each.clause.adverbs == own.adverbs) or phrase.head == subject.head)
    ]
    return (
        bool(owners)
        and not any(how >= Relation.POSSIBLE for each in alike for how in each.relations)
        and not any(owner.is_pronoun or _is_called(subject, owner, matches) for owner in owners)
        and any(relation(subject, phrase) is Relation.SAME for each in matches for phrase in each.clause.phrases)
    )


def _speaks_of(own: Clause, subject: Phrase, rest: Sequence[int], match: _Match) -> bool:
    """Return true if a clause has the claim's subject and what it says of it."""
    phrases = match.clause.phrases
    named = [phrase for phrase in phrases if relation(subject, phrase) is Relation.SAME]
    if match.same_predicate:
        named = [phrase for phrase in named if _fits(own, subject, match.clause, phrase)]
    return bool(named) and any(
        relation(own.phrases[index], phrase) is Relation.SAME
        and not (phrase.role in ("subject", "attribute") and relation(subject, phrase) is Relation.SAME)
        for index in rest
        if own.phrases[index].role in ("object", "attribute", "any") or len(rest) == 1
        for phrase in phrases
    )


def _is_of_another(
    own: Clause, place: int, rest: Sequence[int], match: _Match, matches: Sequence[_Match], *, contrasted: bool
) -> bool:
    """Return true if a clause says all that the claim says, of a subject that is another one for certain."""
    if not match.same_predicate or match.is_negated != own.is_negated:
        return False
    roles = {phrase.role for phrase in match.clause.phrases}
    for index in rest:
        role, how = own.phrases[index].role, match.relations[index]
        if how is not Relation.SAME and (role in ("object", "attribute", "any") or role in roles):
            return False
    if not any(
        match.relations[index] is Relation.SAME and relation(own.phrases[index], each) is Relation.SAME
        for index in rest
        for each in match.clause.phrases
    ):
        return False
    subject = own.phrases[place]
    if any(
        relation(subject, each) is Relation.SAME and _fits(own, subject, match.clause, each)
        for each in match.clause.phrases
    ):
        return False  # "Tighten the bolts" of "Bolts M12: tighten crosswise", whose bolts are read as a subject
    owners = _owners(match.clause, own, place, rest)
    if not owners or any(owner.is_pronoun or _is_called(subject, owner, matches) for owner in owners):
        return False
    said = [relation(subject, owner) for owner in owners]
    if any(each is Relation.SAME for each in said):
        return False
    if any(
        each is Relation.POSSIBLE and (subject.names or owner.names) for each, owner in zip(said, owners, strict=True)
    ):
        return False  # "The employer" may be the university, also where both are named.
    if subject.role == "object":
        # Somebody may do one thing to several: "removes the door panel" does not deny that of the wiring.
        return all(_are_told_apart(subject, owner) for owner in owners)
    return contrasted or any(each is Relation.DIFFERENT for each in said)


def _are_told_apart(one: Phrase, two: Phrase) -> bool:
    """Return true for two names or two figures; "a connection with soldiers" and "with men" may be one."""
    values = (one.names and two.names) or (one.numbers and two.numbers)
    return bool(values) and relation(one, two) is Relation.DIFFERENT


def _owners(clause: Clause, own: Clause, place: int, rest: Sequence[int]) -> list[Phrase]:
    """Return the phrases of a clause that have the part of the claim's subject."""
    if clause.predicate not in _LINKING:
        return [phrase for phrase in clause.phrases if phrase.role == own.phrases[place].role]
    sides = [phrase for phrase in clause.phrases if phrase.role in ("subject", "attribute")]
    values = [own.phrases[index] for index in rest]
    return [side for side in sides if not any(relation(side, value) is Relation.SAME for value in values)]


def _is_called(subject: Phrase, other: Phrase, matches: Sequence[_Match]) -> bool:
    """Return true if the evidence says that a phrase is the subject: "Ann Lee, the treasurer,", "Tenacious is a duo"."""
    for match in matches:
        if match.clause.predicate != "be" or match.clause.is_negated:
            continue
        how = [phrase for phrase in match.clause.phrases if phrase.role in ("subject", "attribute")]
        if any(
            relation(one, subject) is Relation.SAME and relation(two, other) is Relation.SAME
            for one in how
            for two in how
            if one is not two
        ):
            return True
    return False


def _is_other_figure(own: Clause, matches: Sequence[_Match]) -> bool:
    """Return true if every clause with the claim's other parts has another figure."""
    figures = [place for place, phrase in enumerate(own.phrases) if phrase.numbers]
    for place in figures:
        rest = [other for other in range(len(own.phrases)) if other != place]
        same = [
            each
            for each in matches
            if each.same_predicate and rest and all(each.relations[other] >= Relation.POSSIBLE for other in rest)
        ]
        if any(each.relations[place] is Relation.DIFFERENT for each in same) and not any(
            each.relations[place] is Relation.SAME for each in same
        ):
            return True
    return False


def _is_other_name(own: Clause, matches: Sequence[_Match]) -> bool:
    """Return true if a clause has all other parts of a short answer's clause and another name in its place."""
    for place, phrase in enumerate(own.phrases):
        rest = [other for other in range(len(own.phrases)) if other != place]
        if not phrase.names or not rest:
            continue
        same = [
            each
            for each in matches
            if each.same_predicate
            and each.is_negated == own.is_negated
            and all(each.relations[other] is Relation.SAME for other in rest)
        ]
        if any(each.relations[place] is Relation.DIFFERENT for each in same) and not any(
            each.relations[place] >= Relation.POSSIBLE for each in same
        ):
            return True
    return False


def _is_swapped(own: Clause, matches: Sequence[_Match]) -> bool:
    """Return true if a clause has subject and object, or subject and recipient, the other way round."""
    subject = own.subject
    others = [phrase for phrase in own.phrases if phrase.role in ("object", "to", "from") and not phrase.is_pronoun]
    if subject is None or subject.is_pronoun or own.predicate in ("be", "meet", "marry", "resemble", "border", "join"):
        return False
    for match in matches:
        theirs = match.clause.subject
        if not match.same_predicate or theirs is None or match.is_negated != own.is_negated:
            continue
        for other in others:
            turned = [
                phrase
                for phrase in match.clause.phrases
                if phrase.role == other.role and relation(phrase, subject) is Relation.SAME
            ]
            if turned and relation(theirs, other) is Relation.SAME:
                return True
    return False


def _is_of_other_act(own: Clause, matches: Sequence[_Match]) -> bool:
    """Return true if a date, figure or name belongs to another act, and the claim's act has one of its own.

    "The hall opened in 2011 and was renovated in 2019." says that the hall did not open in 2019.
    """
    for place, value in enumerate(own.phrases):
        if not (value.numbers or value.names) or own.predicate == "be":
            continue
        holders = [
            each for each in matches if any(relation(value, other) is Relation.SAME for other in each.clause.phrases)
        ]
        # "Twelve weeks' notice is required" says nothing of another act.
        if not holders or any(each.same_predicate or each.clause.predicate in _UNTOLD for each in holders):
            continue
        rest = [other for other in range(len(own.phrases)) if other != place and not own.phrases[other].is_pronoun]
        if any(
            own.phrases[other].role != "subject" and each.relations[other] is Relation.SAME
            for each in holders
            for other in rest
        ):
            continue
        if any(_has_own(own, place, rest, each) for each in matches):
            return True
    return False


def _has_own(own: Clause, place: int, rest: Sequence[int], match: _Match) -> bool:
    """Return true if a clause with the claim's act and its other parts has another value of the same kind."""
    value = own.phrases[place]
    return (
        match.same_predicate
        and match.is_negated == own.is_negated
        and all(match.relations[other] >= Relation.POSSIBLE for other in rest)
        and any(
            bool(value.numbers) == bool(phrase.numbers)
            and bool(value.names) == bool(phrase.names)
            and (
                phrase.role == value.role
                or value.role == "any"
                or not {phrase.role, value.role} & {"subject", "object"}
            )
            for phrase in match.clause.phrases
        )
    )


def _exceeds(own: Clause, clause: Clause) -> bool:
    """Return true if the claim says more: must for may, all for some, always for on a condition."""
    if {own.modality, clause.modality} == {"must", "may"} or (own.modality == "must" and clause.modality == "should"):
        return True
    if own.is_past and not own.is_open and clause.is_open and not clause.is_past:
        return True
    mine = frozenset().union(*(phrase.shares for phrase in own.phrases)) | own.adverbs
    theirs = frozenset().union(*(phrase.shares for phrase in clause.phrases)) | clause.adverbs
    of_all = {word for word in mine if SHARES.get(word) == "all"}
    if "only" in mine and "only" not in theirs and any(SHARES.get(word) == "all" for word in theirs):
        return True
    if not of_all or any(SHARES.get(word) == "all" for word in theirs):
        return False
    return (
        clause.is_conditional
        or _is_restricted(own, clause)
        or "only" in theirs
        or any(SHARES.get(word) in ("most", "many", "some", "few", "half") for word in theirs)
    )


def _is_restricted(own: Clause, clause: Clause) -> bool:
    """Return true for "all members" over "members who have paid"."""
    return any(
        phrase.shares and not phrase.is_restricted and other.is_restricted and phrase.head == other.head
        for phrase in own.phrases
        for other in clause.phrases
    )


def _is_other_verb(own: Clause, matches: Sequence[_Match]) -> bool:
    """Return true if a clause has all that the claim's has but the verb, and no clause has that."""
    if own.is_state or own.predicate in _UNTOLD or not any(phrase.role == "object" for phrase in own.phrases):
        return False
    stem = predicate_stem(own.predicate)
    if any(
        predicate_stem(word) == stem for each in matches for word in (each.clause.predicate, *_all_words(each.clause))
    ):
        return False
    return any(
        each.clause.predicate not in _UNTOLD
        and not each.clause.is_state
        and all(how is Relation.SAME for how in each.relations)
        and all(any(relation(phrase, mine) is Relation.SAME for mine in own.phrases) for phrase in each.clause.phrases)
        for each in matches
    )


def _all_words(clause: Clause) -> Iterator[str]:
    for phrase in clause.phrases:
        yield from phrase.words
