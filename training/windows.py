"""Select evidence windows for training pairs with the code of ``workers.evaluation.grounding.verifier_evidence``."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np

from schemas.answers import ContextChunk
from schemas.base import MAX_SOURCE_LENGTH
from training.pairs import Pair, RawPair
from workers.evaluation.claims.claim_extraction import ExtractedClaim
from workers.evaluation.grounding.evidence import EvidenceUnit, collect_evidence, single_units
from workers.evaluation.grounding.grounding_evaluator import compared_texts, embedded_texts, similarities
from workers.evaluation.grounding.verifier_evidence import CLAIM, WINDOW, WINDOW_UNITS, verifier_pairs
from workers.evaluation.text.words import content_words
from workers.inference.backends import EmbeddingBackend
from workers.measurement.measured_answers import Vectors, embed_in_batches

TOGETHER = 512
"""Pairs whose texts are embedded together."""


def windowed(raw: Iterable[RawPair], backend: EmbeddingBackend) -> Iterator[Pair]:
    """Yield pairs with the window instead of the whole contexts; omit pairs without evidence."""
    for some in _batched(raw):
        prepared = [(pair, _units(pair), _claim(pair)) for pair in some]
        texts = [
            text
            for _, units, claim in prepared
            if _chooses(units)
            for text in (*compared_texts([claim], units), *embedded_texts(claim))
        ]
        vectors: Vectors = {}
        for part in embed_in_batches(texts, backend):
            vectors |= part
        for pair, units, claim in prepared:
            if units:
                yield _pair(pair, units, claim, vectors)


def _pair(raw: RawPair, units: Sequence[EvidenceUnit], claim: ExtractedClaim, vectors: Vectors) -> Pair:
    if _chooses(units):
        alone, leaning = similarities([claim], units, vectors)
    else:
        alone = leaning = np.zeros((1, len(units)), dtype=np.float32)
    (read,) = verifier_pairs([claim], units, alone, leaning)
    spans = None
    if raw.spans is not None:
        shift = len(read.claim) - len(claim.plain)
        moved = ((max(0, start + shift), min(CLAIM, end + shift)) for start, end in raw.spans)
        spans = tuple((start, end) for start, end in moved if start < end)
    return Pair(raw.id, raw.set, raw.document, read.evidence, read.claim, raw.label, raw.held_out, spans)


def _units(pair: RawPair) -> list[EvidenceUnit]:
    """Return the units that a window may hold; other units need no vector."""
    chunks = [
        ContextChunk(chunk_id=str(number), content=text[:MAX_SOURCE_LENGTH])
        for number, text in enumerate(pair.contexts, 1)
        if text.strip()
    ]
    units = collect_evidence(chunks, content_words(pair.claim))
    return [units[index] for index in single_units(units)]


def _claim(pair: RawPair) -> ExtractedClaim:
    return ExtractedClaim(0, len(pair.claim), pair.claim, pair.claim, "factual", antecedent=pair.antecedent)


def _chooses(units: Sequence[EvidenceUnit]) -> bool:
    """Return true if similarity decides the window's content; evidence that fits as a whole needs no vectors."""
    return len(units) > WINDOW_UNITS or sum(len(unit.text) + 1 for unit in units) > WINDOW


def _batched(raw: Iterable[RawPair]) -> Iterator[list[RawPair]]:
    pairs = iter(raw)
    while some := list(islice(pairs, TOGETHER)):
        yield some
