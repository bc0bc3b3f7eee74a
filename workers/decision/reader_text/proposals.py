"""Choose the claims that a proposed citation may follow: whole sentences whose source has their values and names."""

from collections.abc import Iterable, Sequence

from schemas.answers import GeneratedAnswer
from schemas.citations import InvalidReference
from schemas.grounding import Claim
from workers.decision.reader_text.reader_texts import ENGLISH, ReaderTexts, as_note
from workers.decision.reader_text.reference_list import escape
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.text.languages.language import guess_language
from workers.evaluation.text.structure.markdown import closed
from workers.evaluation.text.structure.truncation import is_cut_off
from workers.evaluation.text.wording import plain_text

CUT_REASONS = frozenset({"length", "max_tokens", "max_output_tokens", "model_length", "token_limit"})
"""Finish reasons of models that stopped at their limit of tokens."""
MAX_NAMED = 5
"""Maximum number of references that the note on references without a source names."""
_INFLECTED = 2
_LEAST = 4
"""A name counts as known without its last two letters, which may be an ending, but with at least four."""


def was_cut_off(answer: GeneratedAnswer) -> bool:
    """Return true if the model reported its limit of tokens, or if the text ends within a sentence."""
    reason = (answer.finish_reason or "").strip().casefold()
    return reason in CUT_REASONS or (reason == "" and is_cut_off(answer.answer))


def citable(answer: GeneratedAnswer, claims: Sequence[Claim], invalid: Sequence[InvalidReference]) -> list[Claim]:
    """Return claims without the proposed citations that would mislead readers.

    No citation is proposed within half a sentence, beside a reference that leads nowhere, and of a source whose passage
    lacks a figure of the claim, or whose text lacks a name of it.
    """
    half = _half_sentence(answer, claims) if was_cut_off(answer) else None
    return [
        claim.model_copy(update={"proposed_numbers": _proposed(answer, claim, invalid, half)})
        if claim.proposed_numbers
        else claim
        for claim in claims
    ]


def note_dangling(text: str, invalid: Sequence[InvalidReference], texts: ReaderTexts = ENGLISH) -> str:
    """Add a note that names the references of an answer that lead to no source."""
    markers = list(dict.fromkeys(each.marker for each in invalid))
    if not markers:
        return text
    named = ", ".join([*(escape(marker) for marker in markers[:MAX_NAMED]), *["…"] * (len(markers) > MAX_NAMED)])
    return closed(text) + as_note(texts.dangling.format(markers=named))


def _half_sentence(answer: GeneratedAnswer, claims: Sequence[Claim]) -> Claim | None:
    """Return the claim at the end of a text that was cut off within it."""
    last = max(claims, key=lambda claim: claim.span.end, default=None)
    end = answer.answer.rstrip()
    if last is None or last.span.end < len(end) or end[-1:] in ".!?。！？":
        return None
    return last


def _proposed(
    answer: GeneratedAnswer, claim: Claim, invalid: Iterable[InvalidReference], half: Claim | None
) -> list[int]:
    if claim is half or any(_is_beside(each, claim) for each in invalid):
        return []
    return [number for number in claim.proposed_numbers if _has_values(answer, claim, number)]


def _is_beside(reference: InvalidReference, claim: Claim) -> bool:
    """Return true if a reference stands in a claim or behind its full stop."""
    span = reference.span
    return span is not None and claim.span.start <= span.start <= claim.span.end + 2


def _has_values(answer: GeneratedAnswer, claim: Claim, number: int) -> bool:
    """Return true if the passage of a source has a figure of a claim and its text has the names; German names are all nouns."""
    content = (answer.contexts or [])[number - 1].content
    passage = next((each.span for each in claim.sources if each.number == number), None)
    if passage is None and claim.evidence is not None and claim.evidence.number == number:
        passage = claim.evidence.span
    told, plain = content[passage.start : passage.end] if passage is not None else content, plain_text(claim.text)
    details = read_details(plain)
    own = {value for each in details.quantities for value in each.values}
    if own and not claim.calculations and own.isdisjoint(v for q in read_details(told).quantities for v in q.values):
        return False
    if guess_language(plain) != "en" or guess_language(content) != "en":
        return True
    folded = content.casefold()
    return all(name[: max(_LEAST, len(name) - _INFLECTED)] in folded for name in details.names)
