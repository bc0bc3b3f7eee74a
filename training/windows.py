"""Select evidence windows for training pairs with the code of ``workers.evaluation.grounding.sources.verifier_evidence``."""

from collections.abc import Iterable, Iterator, Sequence

from schemas.answers import ContextChunk
from schemas.base import MAX_SOURCE_LENGTH
from training.pairs import Pair, RawPair
from workers.evaluation.claims.claim_extraction import ExtractedClaim
from workers.evaluation.grounding.grounding_evaluator import similarities
from workers.evaluation.grounding.sources.evidence import EvidenceUnit, collect_evidence, single_units
from workers.evaluation.grounding.sources.verifier_evidence import CLAIM, verifier_pairs
from workers.evaluation.text.words import content_words


def windowed(raw: Iterable[RawPair]) -> Iterator[Pair]:
    """Yield pairs with the window instead of the whole contexts; omit pairs without evidence."""
    for pair in raw:
        units = _units(pair)
        if units:
            yield _pair(pair, units, _claim(pair))


def _pair(raw: RawPair, units: Sequence[EvidenceUnit], claim: ExtractedClaim) -> Pair:
    (read,) = verifier_pairs([claim], units, *similarities([claim], units))
    spans = None
    if raw.spans is not None:
        shift = len(read.claim) - len(claim.plain)
        moved = ((max(0, start + shift), min(CLAIM, end + shift)) for start, end in raw.spans)
        spans = tuple((start, end) for start, end in moved if start < end)
    return Pair(raw.id, raw.set, raw.document, read.evidence, read.claim, raw.label, raw.held_out, spans)


def _units(pair: RawPair) -> list[EvidenceUnit]:
    """Return the units that a window may hold."""
    chunks = [
        ContextChunk(chunk_id=str(number), content=text[:MAX_SOURCE_LENGTH])
        for number, text in enumerate(pair.contexts, 1)
        if text.strip()
    ]
    units = collect_evidence(chunks, content_words(pair.claim))
    return [units[index] for index in single_units(units)]


def _claim(pair: RawPair) -> ExtractedClaim:
    return ExtractedClaim(0, len(pair.claim), pair.claim, pair.claim, "factual", antecedent=pair.antecedent)
