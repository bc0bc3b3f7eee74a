"""Read what a short answer says together with its question: "No." to "Is smoking allowed?", "Paris." to "Where …?"."""

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from workers.evaluation.claims.short_answers import consents, without_opening
from workers.evaluation.clauses.clause_reader import (
    MAX_LENGTH,
    NOW,
    Clause,
    Phrase,
    clauses_of,
    phrases_at,
    read_clauses,
)
from workers.evaluation.facts.numbers.number_words import tens_in_digits
from workers.evaluation.text.parser import parse
from workers.evaluation.text.words import KEPT_TEXTS, word_set

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

MAX_ASKED = 14
"""Most words of a question that is read; longer ones ask several things."""
MAX_ANSWER = 8
"""Most words of a short answer."""

_POLAR = re.compile(
    r"\W*(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must)(?:n['’]t)?\s",
    re.I,
)
_ALTERNATIVES = re.compile(r",|\bor\b", re.I)
"""Questions that are left alone: they offer a choice, or say more than they ask."""
_STATE = re.compile(
    r"^\W*(?P<verb>is|are|was|were)\s+(?P<subject>(?:\w+\s+){0,5}?(?!(?:the|an?|this|that|any|my|your|our|all|no)\b)\w+)\s+"
    r"(?P<state>(?:allowed|permitted|forbidden|prohibited|banned|possible|required|needed|necessary|mandatory|optional|included"
    r"|excluded|available|closed|open|welcome|covered|refunded|free|valid|safe|ready|full|active|legal|compulsory|(?!.*\d)\w{3,}[^e\W]ed)\b)",
    re.I,
)
_WH = frozenset({"WDT", "WP", "WP$", "WRB"})
_OPEN = word_set("who whom whose what which when where how")


@lru_cache(maxsize=KEPT_TEXTS)
def answered_clauses(question: str, plain: str) -> tuple[Clause, ...]:
    """Return the clauses that a short answer makes of its question; empty where it needs none or is not understood.

    Args:
        question: the question.
        plain: the answer, without markers and Markdown.
    """
    asked = re.split(r"(?<=[.!?])\s+", question.strip())[-1]
    if not _is_readable(asked, plain):
        return ()
    if _POLAR.match(asked):
        affirmed, told = polar_clauses(question, plain) or ((), ())
        return (*affirmed, *told)
    return _filled(asked, tens_in_digits(plain)) if len(plain.split()) <= MAX_ANSWER else ()


@lru_cache(maxsize=KEPT_TEXTS)
def polar_clauses(question: str, plain: str) -> tuple[tuple[Clause, ...], tuple[Clause, ...]] | None:
    """Return what an answer of yes or no affirms or denies of its question, and what it states itself.

    Args:
        question: the question.
        plain: the answer, without markers and Markdown.

    Returns:
        ``None`` if the question is not read or the answer says neither.
    """
    asked = re.split(r"(?<=[.!?])\s+", question.strip())[-1]
    says = consents(question, plain)
    if not _is_readable(asked, plain) or not _POLAR.match(asked) or says is None:
        return None
    # As a statement a question on a participle is read with more certainty: "smoking is allowed in the lab".
    stated = _STATE.sub(r"\g<subject> \g<verb> \g<state>", asked)
    doc = parse(stated)
    main = [clause for clause in clauses_of(doc) if clause.phrases and clause.is_main and _is_whole(doc)]
    rest = without_opening(plain)
    affirmed = tuple(replace(clause, is_negated=clause.is_negated == says) for clause in main)
    return affirmed, read_clauses(rest) if rest else ()


def with_asked_parts(clauses: Iterable[Clause], question: str) -> tuple[Clause, ...]:
    """Return clauses with the parts of a question in the place of pronouns: "the union wrote it" to "Who wrote the report?".

    Args:
        clauses: the clauses of a statement that answers the question.
        question: the question; may be empty.
    """
    asked = {clause.predicate: clause for clause in read_clauses(question) if clause.is_main} if question else {}
    return tuple(_with_parts(clause, asked.get(clause.predicate)) for clause in clauses)


def _with_parts(clause: Clause, asked: Clause | None) -> Clause:
    named = (
        {phrase.role: phrase for phrase in asked.phrases if not phrase.is_pronoun and phrase.head not in _OPEN}
        if asked
        else {}
    )
    return replace(
        clause,
        phrases=tuple(named.get(phrase.role, phrase) if phrase.is_pronoun else phrase for phrase in clause.phrases),
    )


def _is_readable(asked: str, plain: str) -> bool:
    return (
        bool(asked) and not _ALTERNATIVES.search(asked) and len(asked.split()) <= MAX_ASKED and len(plain) <= MAX_LENGTH
    )


def _filled(asked: str, plain: str) -> tuple[Clause, ...]:
    question, answer = parse(asked), parse(plain)
    if any(
        (token.pos_ in ("VERB", "AUX") and token.dep_ == "ROOT") or token.dep_ in ("nsubj", "nsubjpass")
        for token in answer
    ):
        return ()
    gap = next((token for token in question if token.tag_ in _WH and token.lower_ in _OPEN), None)
    root = next((token for token in answer if token.dep_ == "ROOT"), None)
    if gap is None or root is None:
        return ()
    noun = next((child for child in root.children if child.dep_ == "pobj"), root) if root.pos_ == "ADP" else root
    told = next(phrases_at(noun, "any"))
    clauses = [clause for clause in clauses_of(question) if clause.is_main and _is_whole(question)]
    return tuple(_replaced(clause, gap, told) for clause in clauses[:1])


def _is_whole(question: "Doc") -> bool:
    """Return true if the clauses have all nouns and names of their question; else it was parsed wrongly."""
    told = {word for clause in clauses_of(question) for phrase in clause.phrases for word in phrase.words}
    told |= {clause.predicate for clause in clauses_of(question)}
    return all(
        token.lemma_.lower() in told
        for token in question
        if token.pos_ in ("NOUN", "PROPN", "NUM") and not token.is_stop and token.lower_ not in NOW
    )


def _replaced(clause: Clause, gap: "Token", told: Phrase) -> Clause:
    """Return the question's clause with the answer in the place of the word that asks."""
    kept, role = [], "any"
    counted = gap.lower_ == "how" and gap.head.lower_ in ("many", "much") and gap.head.head.pos_ == "NOUN"
    asked = (
        gap.head.head
        if counted
        else gap.head
        if gap.tag_ == "WDT" or (gap.lower_ in ("what", "whose") and gap.dep_ == "det")
        else gap
    )
    measured = gap.head.lemma_.lower() if gap.lower_ == "how" and not counted else ""
    for phrase in clause.phrases:
        if phrase.head == measured:
            continue
        if phrase.head == asked.lemma_.lower() and role == "any":
            role = phrase.role
            if asked is not gap and not told.names:
                told = replace(told, words=told.words | {asked.lemma_.lower()}, head=asked.lemma_.lower())
        else:
            kept.append(phrase)
    predicate = "be" if clause.predicate == measured else clause.predicate
    return replace(clause, predicate=predicate, phrases=(*kept, replace(told, role=role)))
