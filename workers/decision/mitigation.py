"""Add a disclaimer to a risky answer, report conflicts of its sources, or replace its text."""

from collections.abc import Sequence

from schemas.base import RiskLevel
from schemas.grounding import Claim, ClaimSource, Conflict, EarlierContradiction
from workers.decision.reference_list import escape
from workers.evaluation.text.markdown import closed

DISCLAIMERS: dict[RiskLevel, str] = {
    "low": "",
    "medium": (
        "\n\n> **Note**: This response may contain information not fully verified against the source material."
        " Please verify critical details.\n"
    ),
    "high": (
        "\n\n> **Warning**: This response has high hallucination risk. Consider rephrasing your query or requesting"
        " more specific information.\n"
    ),
}
"""Disclaimers by risk level."""

FALLBACK_TEXT = (
    "There is insufficient evidence in the available sources to answer this question reliably."
    " Please rephrase the question, or ask for the sources to be extended."
)
"""Text shown instead of an answer whose grounding is below the minimum."""


def mitigate(text: str, risk: RiskLevel | None) -> str:
    """Add the disclaimer of a risk level to an answer.

    An open code fence is closed first, because the disclaimer would otherwise be part of the code. An answer that
    already ends with the disclaimer is returned unchanged.
    """
    disclaimer = DISCLAIMERS[risk] if risk else ""
    readable = closed(text)
    is_there = readable == text and text.rstrip().endswith(disclaimer.strip())
    return text if not disclaimer or is_there else readable + disclaimer


MAX_SHOWN_CONFLICTS = 3
"""Maximum number of conflicts shown below an answer; the grounding report lists all."""


def note_conflicts(text: str, conflicts: Sequence[Conflict]) -> str:
    """Add a note on each conflict between two sources, with both passages."""
    pairs = dict.fromkeys((_statement(each.supporting), _statement(each.contradicting)) for each in conflicts)
    notes = [
        f"\n\n> **Note**: The sources disagree. {one}; {other}.\n" for one, other in list(pairs)[:MAX_SHOWN_CONFLICTS]
    ]
    return closed(text) + "".join(notes) if notes else text


SAID_BEFORE_NOTE = "\n\n> **Note**: Parts of this answer repeat what was said earlier in this conversation; the sources do not say it.\n"


def note_earlier_turns(text: str, claims: Sequence[Claim], contradictions: Sequence[EarlierContradiction]) -> str:
    """Add a note on each earlier answer that is contradicted, and one if something was only said before."""
    excerpts = dict.fromkeys(escape(each.earlier.excerpt) for each in contradictions)
    notes = [
        f"\n\n> **Note**: Earlier in this conversation the answer was otherwise: “{excerpt}”\n"
        for excerpt in list(excerpts)[:MAX_SHOWN_CONFLICTS]
    ]
    if any(claim.verdict == "said_before" for claim in claims):
        notes.append(SAID_BEFORE_NOTE)
    return closed(text) + "".join(notes) if notes else text


def _statement(source: ClaimSource) -> str:
    return f"[{source.number}] says “{escape(source.excerpt)}”"
