"""Segment and measure labelled answers as input of every method and every fit."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from schemas.answers import GeneratedAnswer
from workers.evaluation.claims.claim_extraction import ExtractedClaim
from workers.evaluation.grounding.calibration import GroundingCalibration
from workers.evaluation.grounding.claim_features import FEATURES
from workers.evaluation.grounding.grounding_evaluator import checked_claims, similarities
from workers.evaluation.grounding.prepared_grounding import PreparedGrounding, prepare_grounding
from workers.evaluation.grounding.support import MeasuredClaim, measure_claims
from workers.evaluation.trees import Floats
from workers.gateways.labelled_rows import labelled_answer
from workers.inference.backends import EmbeddingBackend
from workers.measurement.labelled_answers import LabelledRow, UnreadableSet

COMPLETED = datetime(2026, 1, 1, tzinfo=UTC)
"""Time of labelled rows, which have none; grounding does not use it."""

EMBED_TEXTS = 256
"""Number of texts per call of the model."""

Vectors = dict[str, NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class MeasuredRow:
    """Hold a labelled answer with its claims and their features.

    Attributes:
        row: the labelled answer.
        prepared: the segmented answer.
        claims: the n checked claims.
        features: shape (n, len(FEATURES)).
        words: distinct content words of each, shape (n,).
        marked: True for each checked claim that overlaps a span; ``None`` without spans.
        seconds: CPU seconds of segmentation and measurement.
        measured: the n claims with all that the rules found.
    """

    row: LabelledRow
    prepared: PreparedGrounding
    claims: tuple[ExtractedClaim, ...]
    features: Floats
    words: Floats
    marked: tuple[bool, ...] | None
    seconds: float
    measured: tuple[MeasuredClaim, ...] = ()


def answer_of(row: LabelledRow) -> GeneratedAnswer:
    """Convert a labelled row to an answer of the gateway.

    Raises:
        UnreadableSet: the row is not a valid answer; the message names set, row and field.
    """
    fields = {
        "id": row.id,
        "dataset": row.set,
        "query": row.query,
        "answer": row.answer,
        "contexts": list(row.contexts),
    }
    try:
        return GeneratedAnswer.model_validate(labelled_answer(fields, COMPLETED))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise UnreadableSet(f"{row.set}, row {row.id}: field {field}: {first['msg']}") from error


def embed_in_batches(texts: Iterable[str], backend: EmbeddingBackend) -> Iterator[Vectors]:
    """Embed distinct texts in batches, so that a progress bar can be shown."""
    distinct = list(dict.fromkeys(texts))
    for start in range(0, len(distinct), EMBED_TEXTS):
        part = distinct[start : start + EMBED_TEXTS]
        yield dict(zip(part, backend.encode(part), strict=True))


def measure_row(row: LabelledRow, calibration: GroundingCalibration) -> MeasuredRow:
    """Segment and measure one answer; only the word weights of the calibration matter.

    Raises:
        UnreadableSet: the row is not a valid answer.
    """
    started = time.process_time()
    prepared = prepare_grounding(answer_of(row))
    checked = checked_claims(prepared)
    alone, leaning = similarities(checked, prepared.units)
    measured = measure_claims(checked, prepared.units, alone, leaning, prepared.records, calibration)
    features = np.array([each.values for each in measured], dtype=np.float64).reshape(-1, len(FEATURES))
    words = np.array([each.words for each in measured], dtype=np.float64)
    marked = None
    if row.spans is not None:
        marked = tuple(any(start < claim.end and end > claim.start for start, end in row.spans) for claim in checked)
    seconds = time.process_time() - started
    return MeasuredRow(row, prepared, tuple(checked), features, words, marked, seconds, tuple(measured))
