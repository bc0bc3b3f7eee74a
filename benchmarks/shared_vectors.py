"""Measure a batch of vectors from Valkey against computing it: the saving of a hit and the cost of a miss.

    python -m benchmarks.shared_vectors

Batches of 64 distinct texts of the examples, as grounding asks for them; Valkey on the same machine, the model in int8
on all cores. Wall-clock time.
"""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

from benchmarks.feedback_times import show
from benchmarks.limit import BATCH, texts_of
from benchmarks.traffic import add_options, answers_with_contexts, distinct
from workers.inference.backends import PACKAGED_MODEL
from workers.inference.embedding import EmbeddingService
from workers.inference.int8 import Int8Backend
from workers.local.services import LocalServices
from workers.pipeline.shared_vectors import open_shared_vectors
from workers.settings import Settings
from workers.stores.redis.shared_vector_store import SharedVectors


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=139, help="answers (default 139)")
    add_options(parser)
    options = parser.parse_args()
    texts = texts_of(distinct(answers_with_contexts(options.data), options.answers))
    whole = range(0, len(texts) - len(texts) % BATCH, BATCH)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_measure([texts[start : start + BATCH] for start in whole], Path(folder)))


async def _measure(batches: list[list[str]], folder: Path) -> None:
    settings = Settings(_env_file=None)
    settings.inference.precision, settings.inference.shared_cache_seconds = "int8", 3_600
    backend = await asyncio.to_thread(Int8Backend, PACKAGED_MODEL, folder)
    async with LocalServices(folder / "services", kafka=False, clickhouse=False) as services:
        url = services.addresses.redis_url or ""

        def shared() -> SharedVectors:
            opened = open_shared_vectors(settings, url)
            assert opened is not None
            return opened

        print(f"{f'{len(batches)} batches of {BATCH} texts':<36}{'p50 ms':>9}{'p95 ms':>9}")
        show("the model alone", await _times(batches, EmbeddingService(backend, settings.inference)))
        show(
            "nothing in Valkey, then the model",
            await _times(batches, EmbeddingService(backend, settings.inference, shared())),
        )
        show("all from Valkey", await _times(batches, EmbeddingService(backend, settings.inference, shared())))
        probe = shared()
        vectors = await asyncio.to_thread(backend.encode, batches[0])
        digests = [number.to_bytes(16) for number in range(BATCH)]
        probe.keep(dict(zip(digests, vectors, strict=True)))
        await probe.close()
        show("one request for a batch alone", await _finds(probe, digests, backend.dimensions))
        await probe.close()


async def _times(batches: list[list[str]], service: EmbeddingService) -> list[float]:
    service.start()
    await service.embed(["the first one connects"])
    times = []
    for batch in batches:
        started = time.perf_counter()
        await service.embed(batch)
        times.append(time.perf_counter() - started)
    await service.stop()
    return times


async def _finds(shared: SharedVectors, digests: list[bytes], dimensions: int) -> list[float]:
    times = []
    for _ in range(200):
        started = time.perf_counter()
        found = await shared.find(digests, dimensions)
        times.append(time.perf_counter() - started)
        assert len(found) == len(digests)
    return times


if __name__ == "__main__":
    main()
