"""Add a disclaimer to a risky answer, and report conflicts of its sources and with earlier answers."""

from collections.abc import Sequence

from schemas.grounding import Claim, ClaimSource, Conflict, EarlierContradiction
from workers.decision.reader_text.reader_texts import ENGLISH, ReaderTexts, as_note
from workers.decision.reader_text.reference_list import escape
from workers.evaluation.text.structure.markdown import closed


def mitigate(text: str, disclaimer: str) -> str:
    """Add a disclaimer to an answer; an empty one changes nothing.

    An open code fence is closed first, because the disclaimer would otherwise be part of the code. An answer that
    already ends with the disclaimer is returned unchanged.
    """
    readable = closed(text)
    is_there = readable == text and text.rstrip().endswith(disclaimer.strip())
    return text if not disclaimer or is_there else readable + disclaimer


MAX_SHOWN_CONFLICTS = 3
"""Maximum number of conflicts shown below an answer; the grounding report lists all."""


def note_conflicts(text: str, conflicts: Sequence[Conflict], texts: ReaderTexts = ENGLISH) -> str:
    """Add a note on each conflict between two sources, with both passages."""
    pairs = dict.fromkeys(
        (_statement(each.supporting, texts), _statement(each.contradicting, texts)) for each in conflicts
    )
    notes = [as_note(texts.disagree.format(one=one, other=other)) for one, other in list(pairs)[:MAX_SHOWN_CONFLICTS]]
    return closed(text) + "".join(notes) if notes else text


def note_earlier_turns(
    text: str,
    claims: Sequence[Claim],
    contradictions: Sequence[EarlierContradiction],
    texts: ReaderTexts = ENGLISH,
) -> str:
    """Add a note on each earlier answer that is contradicted, and one if something was only said before."""
    excerpts = dict.fromkeys(escape(each.earlier.excerpt) for each in contradictions)
    notes = [as_note(texts.otherwise.format(text=excerpt)) for excerpt in list(excerpts)[:MAX_SHOWN_CONFLICTS]]
    if any(claim.verdict == "said_before" for claim in claims):
        notes.append(as_note(texts.said_before))
    return closed(text) + "".join(notes) if notes else text


def _statement(source: ClaimSource, texts: ReaderTexts) -> str:
    return texts.says.format(number=source.number, text=escape(source.excerpt))
