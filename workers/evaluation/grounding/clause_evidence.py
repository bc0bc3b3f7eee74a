"""Choose the sentences of the evidence whose clauses are compared with those of a claim."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from schemas.grounding import Mismatch
from workers.evaluation.claims.claim_extraction import ExtractedClaim
from workers.evaluation.clauses.clause_comparison import are_confirmed, clause_mismatches
from workers.evaluation.clauses.clause_reader import read_clauses
from workers.evaluation.clauses.question_clauses import answered_clauses
from workers.evaluation.grounding.evidence import EvidenceUnit
from workers.evaluation.text.language import guess_language
from workers.evaluation.text.words import content_words

MAX_SENTENCES = 8
"""Most sentences that a claim is compared with; parsing is the cost of this check."""

MAX_WORDS = 20
"""Most words of a claim that is compared; longer ones say several things, which a parse often joins wrongly."""

_WORDS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class ClauseFindings:
    """Hold the result of comparing clauses.

    Attributes:
        mismatches: what the evidence says otherwise.
        is_confirmed: whether the evidence says what a short answer makes of its question.
    """

    mismatches: tuple[Mismatch, ...] = ()
    is_confirmed: bool = False


def compare_clauses(claim: ExtractedClaim, units: Sequence[EvidenceUnit], *, is_covered: bool) -> ClauseFindings:
    """Compare the clauses of a claim with the sentences that share most of its words.

    Only English is parsed. A claim that a sentence has word for word is not compared.

    Args:
        claim: the claim.
        units: the evidence.
        is_covered: whether the evidence has most words of the claim; else only a short answer is compared.
    """
    sentences = _chosen(claim, units) if is_covered or claim.asked else []
    if not sentences or guess_language(" ".join((claim.plain, *sentences))) != "en":
        return ClauseFindings()
    short = answered_clauses(claim.asked, claim.reply) if claim.asked else ()
    if short:
        return ClauseFindings(clause_mismatches(short, sentences, claim.asked), are_confirmed(short, sentences))
    if not is_covered or not _is_compared(claim, sentences):
        return ClauseFindings()
    main = [clause for clause in read_clauses(claim.plain) if clause.is_main]
    return ClauseFindings(clause_mismatches(main, sentences))


def parsed_texts(claim: ExtractedClaim, units: Sequence[EvidenceUnit]) -> list[str]:
    """Return the texts that ``compare_clauses`` parses for a claim that is no short answer and is covered."""
    sentences = [] if claim.asked else _chosen(claim, units)
    return [claim.plain, *sentences] if sentences and _is_compared(claim, sentences) else []


def _is_compared(claim: ExtractedClaim, sentences: Sequence[str]) -> bool:
    words = _WORDS.findall(claim.plain.lower())
    plain = " ".join(words)
    return (
        len(words) <= MAX_WORDS
        and guess_language(" ".join((claim.plain, *sentences))) == "en"
        and not any(plain in " ".join(_WORDS.findall(text.lower())) for text in sentences)
    )


def _chosen(claim: ExtractedClaim, units: Sequence[EvidenceUnit]) -> list[str]:
    words = content_words(f"{claim.asked if claim.question or claim.reply != claim.plain else ''} {claim.plain}")
    shared = [(len(unit.words & words), -place) for place, unit in enumerate(units) if not unit.of_record]
    best = sorted((each for each in shared if each[0]), reverse=True)[:MAX_SENTENCES]
    return [units[-place].text for _, place in sorted(best, key=lambda each: -each[1])]
