"""Match the parts of a claim's clause with those of clauses of the evidence."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from workers.evaluation.clauses.clause_reader import Clause, Phrase
from workers.evaluation.clauses.phrase_relations import Relation, relation
from workers.evaluation.clauses.predicates import are_opposite, are_related, predicate_stem
from workers.evaluation.contradictions.antonyms import SHARES
from workers.evaluation.facts.units import MONTHS
from workers.evaluation.text.words import word_set

_WITH = frozenset({"with", "without"})
LINKING = frozenset({"be", "become"})
_TOLD_OF = {"be": "attribute", "have": "object"}
"""By verb the part whose words are denied together: who has no dense bones may have bones."""
_LIMITS = frozenset({"until", "till", "through", "from", "since", "after", "before"})
_YEAR = re.compile(r"1\d{3}|20\d{2}")
_BEGINNING = frozenset({"begin", "start", "commence"})
_ACT = re.compile(r"works?|\w{3,}(?:ion|ment|ing)")
"""Nouns of acts, which begin before the thing that they make: "construction", "building"."""
_GENERAL_NAMES = word_set(
    "device unit appliance machine apparatus equipment instrument product item article vehicle garment medicine medication drug"
    " preparation tool animal plant building substance"
)
"""Nouns by which a text speaks again of a thing that it has named."""
_FROM_NOW = word_set("night yesterday today tonight")
"""Heads of times that count from now, beside a clause and without a preposition: "last night"."""


@dataclass(frozen=True, slots=True)
class Match:
    """Hold the best relation of each phrase of a claim's clause with a clause of the evidence."""

    clause: Clause
    relations: tuple[Relation, ...]
    same_predicate: bool
    is_negated: bool


def match_clauses(own: Clause, evidence: Sequence[Clause]) -> list[Match]:
    """Match a claim's clause with each clause of the evidence."""
    named = [phrase for clause in evidence for phrase in clause.phrases]
    found = [_with_general_names(own, _match(own, clause, named), evidence) for clause in evidence]
    return _contrasted(own, _without_other_verbs(own, found))


def _without_other_verbs(own: Clause, matches: Sequence[Match]) -> list[Match]:
    """Return matches in which "built" is not "designed" where the evidence has both of one thing, each with its doer."""
    places = [place for place, phrase in enumerate(own.phrases) if phrase.role == "object" and not phrase.is_pronoun]
    of_thing = [
        each
        for each in matches
        if each.clause.subject is not None and any(each.relations[place] is Relation.SAME for place in places)
    ]
    if not any(each.clause.predicate == own.predicate for each in of_thing):
        return list(matches)
    return [
        replace(each, same_predicate=False)
        if each in of_thing and predicate_stem(each.clause.predicate) != predicate_stem(own.predicate)
        else each
        for each in matches
    ]


def _with_general_names(own: Clause, match: Match, evidence: Sequence[Clause]) -> Match:
    """Return a match in which "the device" is the router of the claim, unless a clause has both."""
    if Relation.POSSIBLE not in match.relations:
        return match
    general = [phrase for phrase in match.clause.phrases if phrase.head in _GENERAL_NAMES and phrase.is_definite]
    relations = tuple(
        Relation.SAME
        if how is Relation.POSSIBLE
        and phrase.is_definite
        and any(phrase.role == other.role and not _are_beside(phrase, other, evidence) for other in general)
        else how
        for phrase, how in zip(own.phrases, match.relations, strict=True)
    )
    return replace(match, relations=relations)


def _are_beside(phrase: Phrase, other: Phrase, evidence: Sequence[Clause]) -> bool:
    return any({phrase.head, other.head} <= {each.head for each in clause.phrases} for clause in evidence)


def is_turned(own: Clause, clause: Clause) -> bool:
    """Return true for "Peter is older than Paul" over "Paul is older than Peter"."""
    mine, theirs = ({phrase.role: phrase for phrase in each.phrases} for each in (own, clause))
    return (
        clause.is_comparison
        and own.predicate == clause.predicate
        and all({"subject", "than"} <= set(each) for each in (mine, theirs))
        and relation(mine["subject"], theirs["than"]) is Relation.SAME
        and relation(mine["than"], theirs["subject"]) is Relation.SAME
    )


def _match(own: Clause, clause: Clause, named: Sequence[Phrase]) -> Match:
    relations, turned = [], are_opposite(own.predicate, clause.predicate)
    left = list(clause.phrases)
    for phrase in own.phrases:
        others = [other for other in left if fits(own, phrase, clause, other)]
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
    return Match(clause, tuple(relations), related and not _is_start_of_act(own, clause), clause.is_negated != turned)


def _is_start_of_act(own: Clause, clause: Clause) -> bool:
    """Return true for "it opened" over "construction began": the act begins, and not the thing."""
    return (
        clause.predicate in _BEGINNING
        and own.predicate not in _BEGINNING
        and clause.subject is not None
        and not clause.subject.names
        and bool(_ACT.fullmatch(clause.subject.head))
        and (own.subject is None or own.subject.head != clause.subject.head)
    )


def _is_other_kind(phrase: Phrase, other: Phrase, named: Iterable[Phrase]) -> bool:
    """Return true for "international calls" and "domestic calls" where the evidence speaks of international ones too."""
    if phrase.head != other.head or phrase.words <= other.words or other.words <= phrase.words or phrase.numbers:
        return False
    if phrase.is_definite or other.is_definite:
        return False  # "The kidnap victim" may be the same as "the teenage victim".
    return any(phrase.words <= each.words and not other.words <= each.words for each in named)


def _is_opposite(phrase: Phrase, others: Sequence[Phrase]) -> bool:
    """Return true for "in winter" over "in summer", unless the clause goes on with another: "in summer and in 2004".

    The "loss of profit" of a claim is that of "liability for loss of profit", and not the opposite of its profit.
    """
    return (
        any(are_opposite(phrase.head, other.head) for other in others)
        and sum(other.role == phrase.role for other in others) < 2
        and not any(phrase.head == other.head for other in others)
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


def _contrasted(own: Clause, matches: Sequence[Match]) -> list[Match]:
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


def fits(own: Clause, phrase: Phrase, clause: Clause, other: Phrase) -> bool:
    """Return true if two phrases can have one part in their clauses."""
    roles = {phrase.role, other.role}
    if len(roles) == 1 or "any" in roles:
        return True
    if phrase.numbers and other.numbers and "by" in roles and roles & {"to", "from"}:
        return False  # a level and a change
    if {own.predicate, clause.predicate} <= LINKING:
        return True
    if roles == {"subject", "object"}:
        # "The hall opened" and "the hall was opened".
        return not all(any(each.role == "subject" for each in sides.phrases) for sides in (own, clause))
    return not roles & {"subject", "object"}


def says(own: Clause, match: Match) -> bool:
    """Return true if a clause says, or may say, what the claim says."""
    clause = match.clause
    return (
        match.same_predicate
        and own.is_negated == match.is_negated
        and not exceeds(own, clause)
        and all(each >= Relation.POSSIBLE for each in match.relations)
        and (any(each is Relation.SAME for each in match.relations) or not match.relations)
    )


def agrees(own: Clause, match: Match) -> bool:
    """Return true if a clause is about the same: no part that both have differs, and most parts are the same."""
    relations = match.relations
    theirs = {phrase.role for phrase in match.clause.phrases}
    for phrase, how in zip(own.phrases, relations, strict=True):
        if how is Relation.DIFFERENT or (how is Relation.UNRELATED and phrase.role in theirs):
            return False
    told = [how for phrase, how in zip(own.phrases, relations, strict=True) if not phrase.is_pronoun]
    return Relation.SAME in told and 3 * sum(how is Relation.SAME for how in told) >= 2 * len(told)


def denies(own: Clause, match: Match) -> bool:
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
            _has_part(phrase, other, known)
            # "Gift cards and downloads cannot be refunded" denies it of each.
            or (
                denied is match.clause
                and any(_has_part(each, other, known) for each in told if each.role == phrase.role)
            )
            for phrase in told
            if phrase.role in ("subject", "object", "attribute")
        )
        and (not own.is_negated or not _has_more(own, match))
        and all(phrase.words <= known for phrase in told if phrase.role == _TOLD_OF.get(denied.predicate))
    )


def _has_part(phrase: Phrase, other: Clause, known: Collection[str]) -> bool:
    """Return true if a clause with these words has what may be a phrase, or its opposite."""
    return phrase.head in known or any(
        relation(phrase, each) >= Relation.POSSIBLE or are_opposite(phrase.head, each.head) for each in other.phrases
    )


def _has_more(own: Clause, match: Match) -> bool:
    """Return true if a claim denies with a part that the evidence does not have: "cannot be returned in the shop".

    Evidence without a year may be of "last night": it rarely names a time in words that count from now.
    """
    is_dated = any(_YEAR.fullmatch(number) for phrase in match.clause.phrases for number in phrase.numbers)
    return any(
        how is Relation.UNRELATED
        and not phrase.is_pronoun
        and not phrase.words & set(all_words(match.clause))
        and (is_dated or phrase.role != "any" or phrase.head not in _FROM_NOW)
        for phrase, how in zip(own.phrases, match.relations, strict=True)
    )


def exceeds(own: Clause, clause: Clause) -> bool:
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


def is_widened(own: Clause, matches: Sequence[Match]) -> bool:
    """Return true for "all dogs" where only guide dogs are said to do so, and the evidence speaks of other dogs too."""
    stated = [each.clause for each in matches if says(own, each)]
    for phrase in own.phrases:
        if phrase.is_restricted or not any(SHARES.get(word) == "all" for word in phrase.shares):
            continue
        named = [other for each in matches for other in each.clause.phrases if _is_of_kind(other, phrase)]
        narrower = [
            next(filter(phrase.words.__lt__, (each.words for each in named if each in clause.phrases)), None)
            for clause in stated
        ]
        if stated and all(narrower) and not any(each.shares for each in named):
            return any(not words <= each.words for words in narrower if words for each in named)
    return False


def _is_of_kind(other: Phrase, phrase: Phrase) -> bool:
    return predicate_stem(other.head) == predicate_stem(phrase.head)


def _is_restricted(own: Clause, clause: Clause) -> bool:
    """Return true for "all members" over "members who have paid"."""
    return any(
        phrase.shares and not phrase.is_restricted and other.is_restricted and phrase.head == other.head
        for phrase in own.phrases
        for other in clause.phrases
    )


def all_words(clause: Clause) -> Iterator[str]:
    """Yield the words of all phrases of a clause."""
    for phrase in clause.phrases:
        yield from phrase.words
