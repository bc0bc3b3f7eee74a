"""Compare the clauses of a claim with those of its evidence: whose value, which act, denied or not.

A claim can have all of its words from one passage and still say what the passage does not: it gives a value to another
subject, takes another verb, turns a permission round or drops a condition. Vectors and word lists do not see this. Each
rule here needs a clause of the evidence that says it otherwise, and is silent where another clause says it as the claim
does or may do so (a pronoun, "the company").
"""

from collections.abc import Iterable, Iterator, Sequence

from schemas.grounding import Mismatch
from workers.evaluation.clauses.clause_matches import (
    Match,
    agrees,
    denies,
    exceeds,
    is_turned,
    is_widened,
    match_clauses,
    says,
)
from workers.evaluation.clauses.clause_reader import Clause, read_clauses
from workers.evaluation.clauses.other_subjects import (
    is_named_otherwise,
    is_of_other_act,
    is_other_figure,
    is_other_name,
    is_other_verb,
    is_swapped,
    is_taken,
    with_two_doers,
)
from workers.evaluation.clauses.phrase_relations import Relation, relation
from workers.evaluation.clauses.predicates import are_opposite, converses, permission
from workers.evaluation.text.words import word_set

_DECIDED = word_set(
    "approve accept grant adopt ratify enact allow permit authorise authorize admit uphold pass reject refuse deny dismiss veto"
)
"""Verbs of decisions: who has approved a thing has not rejected it. What opened may have closed."""
MAX_CLAUSES = 60
"""Most clauses of the evidence that a claim is compared with."""


def clause_mismatches(claims: Iterable[Clause], evidence: Sequence[str], question: str = "") -> tuple[Mismatch, ...]:
    """Return the kinds of mismatch between the clauses of a claim and all clauses of its evidence.

    Args:
        claims: the claim's clauses.
        evidence: sentences of the evidence, those of one source in order.
        question: the question, if the claim is a short answer to it; its figures are then compared too.
    """
    theirs = _read(evidence)
    found: dict[Mismatch, None] = {}
    sentences = [read_clauses(text) for text in evidence]
    for own in _normal(claims):
        found |= dict.fromkeys(_mismatches(own, theirs, sentences, is_short=bool(question)))
    return tuple(found)


def is_doer_named_otherwise(claims: Iterable[Clause], evidence: Sequence[str]) -> bool:
    """Return true if the evidence names another doer for the act of a claim that answers who did it."""
    theirs = _read(evidence)
    return any(is_named_otherwise(own, match_clauses(own, theirs)) for own in claims)


def are_confirmed(claims: Iterable[Clause], evidence: Sequence[str]) -> bool:
    """Return true if the evidence confirms every clause of a claim; false for a claim without clauses.

    The evidence confirms a clause if it states the clause with all parts, or if the claim correctly denies the clause.
    """
    theirs, claims = _read(evidence), list(claims)
    return bool(claims) and all(
        any(
            (says(normal, each) and _is_whole(normal, each)) or _is_denied_rightly(normal, each)
            for normal in _normal([own])
            for each in match_clauses(normal, theirs)
        )
        for own in claims
    )


def are_opposed(claims: Iterable[Clause], evidence: Sequence[str]) -> bool:
    """Return true if the evidence has the opposite act of each clause of a claim, of what may be the same thing.

    "It rejected the plan" opposes "the merger was approved", unless a sentence says that too.
    """
    theirs, claims = _read(evidence), list(claims)
    return bool(claims) and all(_is_opposed(own, match_clauses(own, theirs)) for own in claims)


def _is_opposed(own: Clause, matches: Sequence[Match]) -> bool:
    if own.predicate not in _DECIDED or own.is_negated or own.is_state or any(says(own, each) for each in matches):
        return False
    return any(
        are_opposite(own.predicate, each.clause.predicate)
        and not (each.clause.is_negated or each.clause.is_conditional or each.clause.is_open)
        and bool(each.relations)
        and all(how >= Relation.POSSIBLE for how in each.relations)
        for each in matches
    )


def have_own_figures(claims: Iterable[Clause], evidence: Sequence[str]) -> bool:
    """Return true if each clause of the evidence with the act of a claim and a figure there has the claim's figure."""
    theirs, dated = _read(evidence), [own for own in claims if any(phrase.numbers for phrase in own.phrases)]
    return bool(dated) and all(_has_own_figure(own, match_clauses(own, theirs)) for own in dated)


def _has_own_figure(own: Clause, matches: Sequence[Match]) -> bool:
    places = [place for place, phrase in enumerate(own.phrases) if phrase.numbers]
    alike = [
        each
        for each in matches
        if each.same_predicate
        and each.is_negated == own.is_negated
        and any(phrase.numbers for phrase in each.clause.phrases)
    ]
    return bool(alike) and all(each.relations[place] is Relation.SAME for each in alike for place in places)


def _is_denied_rightly(own: Clause, match: Match) -> bool:
    """Return true if a claim denies what the evidence has another figure for, or has the other way round."""
    if not own.is_negated or match.is_negated:
        return False
    if own.is_comparison:
        return is_turned(own, match.clause)
    other = [phrase for phrase, how in zip(own.phrases, match.relations, strict=True) if how is not Relation.SAME]
    return (
        match.same_predicate
        and len(other) == 1
        and bool(other[0].numbers)
        and not other[0].bound
        and any(how is Relation.SAME for how in match.relations)
        and any(phrase.numbers and relation(other[0], phrase) is Relation.DIFFERENT for phrase in match.clause.phrases)
    )


def _is_whole(own: Clause, match: Match) -> bool:
    told = [how for phrase, how in zip(own.phrases, match.relations, strict=True) if not phrase.is_pronoun]
    return bool(told) and all(how is Relation.SAME for how in told)


def _read(evidence: Sequence[str]) -> list[Clause]:
    theirs = [clause for text in evidence for clause in read_clauses(text)][:MAX_CLAUSES]
    return _normal(theirs)


def _normal(clauses: Iterable[Clause]) -> list[Clause]:
    return [normal for clause in clauses for normal in (clause, *permission(clause), *converses(clause))]


def _mismatches(
    own: Clause, evidence: Sequence[Clause], sentences: Sequence[Sequence[Clause]], *, is_short: bool
) -> Iterator[Mismatch]:
    if own.is_comparison:
        if any(is_turned(own, each) and own.is_negated == each.is_negated for each in evidence):
            yield "comparative"
        return
    matches = [with_two_doers(own, each, sentences) for each in match_clauses(own, evidence)]
    if is_widened(own, matches):
        yield "quantifier"
    if any(says(own, each) for each in matches):
        return
    if is_taken(own, matches, sentences):
        yield "subject"
    if is_short and is_other_figure(own, matches):
        yield "number"
    if is_short and is_other_name(own, matches):
        yield "subject"
    if is_swapped(own, matches) or is_of_other_act(own, matches):
        yield "role"
    close = [each for each in matches if each.same_predicate and agrees(own, each)]
    if close and all(each.is_negated != own.is_negated for each in close):
        # "Has not signed yet" agrees with "plans to sign" and with "until she signs".
        if any(denies(own, each) for each in close if not (own.is_negated and each.clause.is_open)):
            yield "negation"
    elif close and all(exceeds(own, each.clause) for each in close):
        yield "quantifier"
    if not close and not is_short and is_other_verb(own, matches):
        yield "predicate"
