"""A panic of a library in Rust, whose exception is no ``Exception``, costs one evaluation or one record."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest
import sentencex

from schemas.topics import DEAD_LETTERS
from tests.unit.delivery.test_processing import Start
from tests.unit.delivery.test_processing import start as start
from workers.delivery.limits import BatchLimits
from workers.delivery.records import Record, Result, WorkItem
from workers.errors import InferenceFailed, LibraryPanicked, panics_as_errors
from workers.inference.backends import Vectors
from workers.inference.embedding import EmbeddingService
from workers.settings import InferenceSettings


def panic() -> None:
    """Panic as sentencex does; should a later version be mended, another library must stand in here."""
    sentencex.get_sentence_boundaries("en", "Rich in vitamin A\u00a0. Take it daily.")


def test_the_library_panics_and_its_exception_passes_every_handler() -> None:
    with pytest.raises(BaseException) as raised:
        panic()
    assert not isinstance(raised.value, Exception)
    with pytest.raises(LibraryPanicked) as told, panics_as_errors():
        panic()
    assert "vitamin" not in str(told.value)


async def test_a_record_at_which_a_library_panics_is_dead_lettered_and_its_neighbours_are_processed(
    start: Start,
) -> None:
    async def handle(works: Sequence[WorkItem]) -> Sequence[Result]:
        if any(item.record.offset == 2 for item in works):
            await asyncio.to_thread(panic)
        return [[] for _ in works]

    processor, producer, acknowledgements = start(handle, BatchLimits(8, 0.001, 256, 1))
    for offset in range(5):
        await processor.submit(WorkItem(Record("answers.generated", 0, offset, b"k", b"{}")))
    assert await processor.drain(60)
    assert sorted(acknowledgements.offsets) == list(range(5))
    (letter,) = [output for output in producer.sent if output.topic is DEAD_LETTERS]
    assert dict(letter.headers)["dlq_error_class"] == b"LibraryPanicked"
    assert not processor.failure.done()


async def test_texts_at_which_a_model_panics_fail_alone() -> None:
    class Panicking:
        name, dimensions = "panicking", 3

        def encode(self, texts: Sequence[str]) -> Vectors:
            if "bad" in texts:
                panic()
            return np.ones((len(texts), 3), dtype=np.float32)

    service = EmbeddingService(Panicking(), InferenceSettings(batch_texts=1))
    service.start()
    try:
        with pytest.raises(InferenceFailed):
            await service.embed(["bad"])
        assert set(await service.embed(["good"])) == {"good"}
    finally:
        await service.stop()
