"""Compare claims with the turns before the query: what was said before, and what contradicts an earlier answer.

An earlier turn is no source. A claim that only an earlier turn states is *said before*: a user's word about themselves,
or an earlier answer, which may have been wrong itself. A claim that contradicts an earlier answer is a finding unless
the answer says that it corrects itself.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from schemas.answers import ContextChunk, Turn
from schemas.grounding import MAX_PASSAGE, EarlierStatement, Mismatch
from schemas.reports import Span
from workers.evaluation.budget import spend
from workers.evaluation.claims.claim_extraction import ExtractedClaim
from workers.evaluation.claims.clauses import has_verb
from workers.evaluation.claims.short_answers import resolve_short_answer
from workers.evaluation.contradictions.contradiction_checks import compare
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.facts.units import UNITS
from workers.evaluation.grounding.sources.evidence import EvidenceUnit, collect_evidence, word_cosines
from workers.evaluation.text.wording import plain_text
from workers.evaluation.text.words import content_words, stem

MAX_TURNS = 16
"""Most turns that claims are compared with, the latest ones."""
MAX_READ = 5_000
"""Most code points of a turn that are read."""
MAX_UNITS = 200
"""Most sentences of turns that claims are compared with, the latest ones."""
MIN_COVERED = 0.5
"""Least share of the words that the sources lack and an earlier sentence must have."""
MIN_RECALLED = 0.3
"""The same for a claim with a figure or name that says that it was said before ("the 900 euros you set yourself")."""
MIN_STATED = 0.6
"""The same for a claim without figures and names."""
MIN_COMMON = 0.5
"""Least share of the words of the shorter text that two statements on one matter have in common."""
MIN_SAME = 0.8
"""Least share of common words from which texts that differ in one figure speak of one thing."""
OPPOSED: frozenset[Mismatch] = frozenset(("number", "date", "name", "negation", "antonym", "quantifier"))
"""Mismatches that make two statements contradict each other."""

_OF_SPEECH = content_words(
    "said say mentioned mention told tell explained explain stated state given gave set yourself earlier before keep mind note"
    " remember remind exactly yes no indeed already"
)
"""Words about what was said, which no source needs to have."""
_FIGURE = re.compile(r"(?<!\w)\d+(?:[.,:]\d+)*")
_CASE = re.compile(
    r"\b(for|in|at|on|with|without|to|from|under|of|per)\s+(?:the\s+|an?\s+|your\s+|our\s+)?([^\W\d_][\w-]*)",
    re.IGNORECASE,
)
_PARTS = re.compile(r"[;:]\s+|,\s+(?:and|but|while)\s+")
_CORRECTS = re.compile(
    r"\b(?:correct(?:ion|ed|ing)?|mistaken|mistake|wrong(?:ly)?|slip|sorry|apolog\w+|misspoke|misread|revis(?:e|ing)\s+my|contrary\s+to|unlike\s+what"
    r"|(?:not|rather\s+than|instead\s+of)\b[^.]{0,40}\b(?:as\s+I|I\s+(?:said|gave|stated|told|mentioned|wrote))"
    r"|(?:my|I)\b[^.]{0,40}\b(?:earlier|before|previous(?:ly)?|above)|(?:earlier|previous(?:ly)?)\b[^.]{0,20}\b(?:I|my|answer|figure|statement)"
    r"|no\s+longer|has\s+(?:since\s+)?changed|update:)\b",
    re.IGNORECASE,
)
_ASCRIBES = re.compile(
    r"\b(?:you(?:['’]ve)?\s+(?:have\s+)?(?:set|said|told|mentioned|gave|given|named|wrote|asked\s+for|wanted|planned)|your\s+(?:own\s+)?"
    r"(?:budget|limit|goal|target|deadline|wish|request))\b",
    re.IGNORECASE,
)
_RECALLS = re.compile(
    r"\b(?:you(?:r|rs|rself)?|you['’](?:ve|re|d)|as\s+I|I\s+(?:said|explained|mentioned|told|wrote|gave)|(?:mentioned|said|stated|given)"
    r"\s+(?:earlier|before|above)|earlier|remember)\b",
    re.IGNORECASE,
)


_UNITS = frozenset(map(stem, UNITS))


@dataclass(frozen=True, slots=True)
class EarlierSentence:
    """Describe a sentence of an earlier turn.

    Attributes:
        turn: position of the turn in the conversation, from 1.
        role: author of the turn.
        unit: the sentence as it is compared: a short answer has the words of its question too.
        written: the words of the turn.
    """

    turn: int
    role: Literal["user", "assistant"]
    unit: EvidenceUnit
    written: str


@dataclass(frozen=True, slots=True)
class Contradicted:
    """Describe an earlier sentence that a claim contradicts."""

    sentence: EarlierSentence
    mismatches: tuple[Mismatch, ...]


def earlier_sentences(turns: Sequence[Turn], answer_words: frozenset[str]) -> tuple[EarlierSentence, ...]:
    """Return the statements of the earlier turns; questions state nothing, and "Yes." states what was asked.

    Args:
        turns: the turns, the oldest first.
        answer_words: stems of the answer, which select sentences if there are too many.
    """
    first = max(0, len(turns) - MAX_TURNS)
    chunks = [
        ContextChunk(chunk_id=f"turn-{place}", content=turn.content[:MAX_READ])
        for place, turn in enumerate(turns[first:], first + 1)
    ]
    spend(sum(len(chunk.content) for chunk in chunks))
    found = []
    seen: set[int] = set()
    for unit in collect_evidence(chunks, answer_words):
        place = first + unit.number - 1
        turn = turns[place]
        before = turns[place - 1] if place else None
        written = unit.excerpt
        if turn.role == "assistant" and before is not None and before.role == "user" and place not in seen:
            seen.add(place)
            stated = resolve_short_answer(plain_text(before.content[-MAX_READ:]), unit.text)
            unit = replace(unit, text=stated, words=content_words(stated))
        if not unit.text.rstrip().endswith("?"):
            found.append(EarlierSentence(place + 1, turn.role, unit, written))
    return tuple(found[-MAX_UNITS:])


def said_before(
    claim: ExtractedClaim, units: Sequence[EvidenceUnit], earlier: Sequence[EarlierSentence]
) -> EarlierSentence | None:
    """Return the earlier sentence that states what the sources lack of a claim; ``None`` if there is none.

    All figures and names that the sources lack must be in that sentence, and nothing in it may speak against the claim.
    """
    spend(len(claim.plain) + len(earlier))
    sourced = frozenset[str]().union(*(unit.words for unit in units))
    lacking = content_words(claim.plain) - sourced - _OF_SPEECH
    pinned = pinned_words(claim.plain)
    recalls = _RECALLS.search(claim.plain) is not None
    if recalls and pinned and not pinned & lacking:
        # "the 3:45 you're aiming for": the sources have the figure, and the user has said that it is theirs.
        return next((each for each in earlier if each.role == "user" and pinned <= each.unit.words), None)
    pinned &= lacking
    least = (MIN_RECALLED if recalls else MIN_COVERED) if pinned else MIN_STATED
    best: tuple[float, EarlierSentence] | None = None
    for sentence in earlier:
        if not lacking or not pinned <= sentence.unit.words:
            continue
        share = len(lacking & sentence.unit.words) / len(lacking)
        if share >= least and (best is None or share > best[0]) and not _speaks_against(sentence, claim):
            best = share, sentence
    return best[1] if best else None


def recalls_figures(claim: ExtractedClaim, units: Sequence[EvidenceUnit]) -> bool:
    """Return true if a claim ascribes to the user a figure or name that no source has ("the 900 euros you set").

    Sources may support the rest ("under 900 euros"), and never what the user has said.
    """
    if _ASCRIBES.search(claim.plain) is None:
        return False
    return bool(pinned_words(claim.plain) - frozenset[str]().union(*(unit.words for unit in units)))


def _speaks_against(sentence: EarlierSentence, claim: ExtractedClaim) -> bool:
    """Return true if a sentence has other details than a claim, or names another subject than its antecedent."""
    text = sentence.unit.text
    spend(len(text))
    if OPPOSED & set(compare(claim.plain, text)) or _other_units(claim.plain, text):
        return True
    subject = read_details(claim.antecedent or claim.question).names - read_details(claim.plain).names
    part = max(_PARTS.split(text), key=lambda each: len(content_words(each) & content_words(claim.plain)))
    named = read_details(f"It is so: {part}").names
    return bool(subject and named) and not subject & named


def _other_units(claim: str, text: str) -> bool:
    """Return true if a figure of a claim has another unit in the sentence: "8 bar" and "8 litres"."""
    told = [each for each in read_details(text).quantities if each.is_unit]
    for figure in read_details(claim).quantities:
        same = {each.dimension for each in told if each.face == figure.face}
        if figure.is_unit and same and figure.dimension not in same:
            return True
    return False


def pinned_words(text: str) -> frozenset[str]:
    """Return the stems of the figures and names of a text: what makes a statement this one and no other."""
    details, words = read_details(text), content_words(text)
    named = content_words(" ".join((*details.names, *("-".join(code) for code in details.codes))))
    return frozenset(word for word in words if word[0].isdigit()) | (named & words)


def contradicted_earlier(
    claim: ExtractedClaim, earlier: Sequence[EarlierSentence], answer: str, follow_up: str = ""
) -> Contradicted | None:
    """Return the earlier sentence of an answer that a claim contradicts; ``None`` if none, or if the answer says so.

    Args:
        claim: the claim.
        earlier: sentences of the earlier turns.
        answer: the answer, which may say that it corrects an earlier one.
        follow_up: the query, if it asks the question before it about something else ("And over 90 days?").
    """
    own = [each for each in earlier if each.role == "assistant"]
    if not own or _CORRECTS.search(answer):
        return None
    spend(len(claim.plain) + len(own))
    words = content_words(f"{claim.antecedent} {claim.plain}")
    named = {word for word in content_words(claim.plain) if word not in _UNITS and not word[0].isdigit()}
    # A short answer to a follow-up is about what that asks, which it need not name.
    is_short = not has_verb(claim.reply or claim.plain) or named <= content_words(claim.question)
    told = f"{claim.question} {claim.plain}" if is_short else claim.plain
    cosines = word_cosines([words], [each.unit.words for each in own])[0]
    for place in sorted(range(len(own)), key=lambda each: (-cosines[each], -each))[:3]:
        other = own[place]
        spend(len(other.unit.text))
        shared = len(words & other.unit.words)
        if _of_another_case(told, other.unit.text, content_words(follow_up)):
            continue
        if shared < MIN_COMMON * min(len(words), len(other.unit.words)):
            continue
        mismatches = tuple(each for each in compare(claim.plain, other.unit.text) if each in OPPOSED)
        if "name" in mismatches and len(mismatches) > 1:
            continue  # another value of another subject
        if not mismatches and _differ_in_one_figure(claim.plain, other.unit.text):
            mismatches = ("number",)
        if mismatches:
            return Contradicted(other, mismatches)
    return None


def _of_another_case(claim: str, text: str, asked: frozenset[str]) -> bool:
    """Return true if a claim speaks of another case than a sentence, so that other values are no contradiction.

    That is so if the claim has what the follow-up asks about and the sentence has not, if both have several figures and
    none in common ("30 days 2.1 %", "90 days 2.6 %"), or if they have other words behind the same preposition ("for
    adults", "for children").
    """
    words, others = content_words(claim), content_words(text)
    if asked & words - others:
        return True
    figures, remaining = set(_FIGURE.findall(claim)), set(_FIGURE.findall(text))
    if min(len(figures), len(remaining)) > 1 and not figures & remaining:
        return True
    cases, other_cases = _cases(claim), _cases(text)
    return any(cases[name].isdisjoint(other_cases[name]) for name in cases.keys() & other_cases.keys())


def _cases(text: str) -> dict[str, set[str]]:
    """Return the words behind the prepositions of a text; figures there may be the value itself ("in 1898")."""
    found: dict[str, set[str]] = {}
    for name, word in _CASE.findall(text):
        found.setdefault(name.lower(), set()).update(content_words(word))
    return {name: words for name, words in found.items() if words}


def _differ_in_one_figure(one: str, two: str) -> bool:
    """Return true for "TLS 1.2 and newer" and "TLS 1.1 and newer": the same words with another figure."""
    figures, others = set(_FIGURE.findall(one)), set(_FIGURE.findall(two))
    words, remaining = (frozenset(w for w in content_words(each) if not w[0].isdigit()) for each in (one, two))
    shorter = min(len(words), len(remaining))
    if not len(figures - others) == len(others - figures) == 1 or shorter < 2:
        return False
    return len(words & remaining) >= MIN_SAME * shorter


def statement_of(sentence: EarlierSentence) -> EarlierStatement:
    """Return the part of a report that shows an earlier sentence."""
    return EarlierStatement(
        turn=sentence.turn,
        role=sentence.role,
        span=Span(start=sentence.unit.start, end=sentence.unit.end),
        excerpt=sentence.written[:MAX_PASSAGE],
    )
