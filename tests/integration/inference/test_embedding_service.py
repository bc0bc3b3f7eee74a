"""The embedding service: each text once, the same vector in any company, and a life after faults."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from workers.errors import InferenceFailed, InferenceTimeout
from workers.inference.backends import EmbeddingBackend, SentenceTransformerBackend, Vectors
from workers.inference.embedding import EmbeddingService
from workers.settings import InferenceSettings

TEXTS = [
    "Loki restarts because the ingester exceeds its memory limit.",
    "Le chargeur redémarre.",
    "ローキ",
    "42",
    "Raise the limit to 4 GiB. " * 40,
    "naïve café — “quoted” 👩‍👩‍👧‍👦",
]


class LocalBackend:
    """A backend for faults: counts, waits and fails as told."""

    name = "local"
    dimensions = 4

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.failure: Callable[[Sequence[str]], Vectors] | None = None
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.calls.append(list(texts))
        self.entered.set()
        assert self.gate.wait(60)
        if self.failure is not None:
            return self.failure(texts)
        return np.array([[len(text), 0, 0, 1] for text in texts], dtype=np.float32)

    @property
    def embedded(self) -> list[str]:
        return [text for call in self.calls for text in call]


@pytest.fixture
async def make() -> AsyncIterator[Callable[..., EmbeddingService]]:
    running: list[tuple[EmbeddingService, object]] = []

    def start(backend: EmbeddingBackend, **settings: float) -> EmbeddingService:
        service = EmbeddingService(backend, InferenceSettings.model_validate(settings))
        service.start()
        running.append((service, backend))
        return service

    yield start
    for service, backend in running:
        if isinstance(backend, LocalBackend):
            backend.gate.set()
        await service.stop()


Make = Callable[..., EmbeddingService]


# --- the real model ----------------------------------------------------------------------------


@pytest.fixture(params=["fp32", "int8"])
def model(request: pytest.FixtureRequest) -> EmbeddingBackend:
    """The packaged model in either precision."""
    name = {"fp32": "backend", "int8": "int8"}[request.param]
    found: EmbeddingBackend = request.getfixturevalue(name)
    return found


async def test_vectors_are_normalised_and_of_the_models_length(model: EmbeddingBackend, make: Make) -> None:
    vectors = await make(model).embed(TEXTS)
    assert set(vectors) == set(TEXTS)
    for vector in vectors.values():
        assert vector.dtype == np.float32
        assert vector.shape == (model.dimensions,) == (384,)
        assert abs(float(np.linalg.norm(vector)) - 1) < 1e-5


async def test_meaning_is_near_and_strangers_are_far(model: EmbeddingBackend, make: Make) -> None:
    texts = ["The pump overheats.", "The pump gets too hot.", "Quarterly revenue rose by 4 %."]
    vectors = await make(model).embed(texts)
    near, far = (float(vectors[texts[0]] @ vectors[text]) for text in texts[1:])
    assert near > 0.6 > 0.3 > far


async def test_company_changes_no_bit_of_a_vector(model: EmbeddingBackend, make: Make) -> None:
    """Alone, in pairs, among many and in another order: the same, so that a replay sees the same."""
    others = [f"Pump {number} runs at {number * 7} rpm" + " and more" * (number % 25) for number in range(60)]
    crowd = make(model, batch_texts=64)
    among = await crowd.embed([*others, *TEXTS])
    for size in (1, 2, 5):
        service = make(model, batch_texts=size)
        for text in TEXTS:
            assert np.array_equal((await service.embed([text]))[text], among[text])
    reverse = await make(model).embed([*reversed(TEXTS), *others])
    assert all(np.array_equal(reverse[text], among[text]) for text in among)


async def test_all_threads_of_the_machine_change_nothing_either(backend: SentenceTransformerBackend) -> None:
    import torch

    texts = [f"Pump {number} runs" + " on" * (number % 20) for number in range(30)]
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        together = backend.encode(texts)
        for place in (0, 7, 29):
            assert np.array_equal(backend.encode([texts[place]])[0], together[place])
    finally:
        torch.set_num_threads(threads)


async def test_texts_longer_than_the_model_reads_and_empty_ones_have_a_vector(
    model: EmbeddingBackend, make: Make
) -> None:
    vectors = await make(model).embed(["", " ", "word " * 5_000, "\x00"])
    assert all(np.isfinite(vector).all() for vector in vectors.values())


# --- in turn -----------------------------------------------------------------------------------


async def test_an_enormous_answer_does_not_hold_up_a_small_one(make: Make) -> None:
    backend = LocalBackend()
    backend.gate.clear()
    service = make(backend, batch_texts=16)
    enormous = asyncio.ensure_future(service.embed(f"sentence {number}" for number in range(1_000)))
    assert await asyncio.to_thread(backend.entered.wait, 60)
    small = asyncio.ensure_future(service.embed(["one", "two"]))
    await asyncio.sleep(0)
    backend.gate.set()
    assert set(await small) == {"one", "two"}
    assert not enormous.done(), "it goes on behind"
    assert len(await enormous) == 1_000
    place = next(number for number, call in enumerate(backend.calls) if "two" in call)
    assert place <= 2


# --- once, bounded, together -------------------------------------------------------------------


async def test_the_same_text_is_embedded_once(make: Make) -> None:
    backend = LocalBackend()
    service = make(backend)
    await asyncio.gather(*(service.embed(["a", "b", "a"]) for _ in range(20)))
    await service.embed(["b", "a"])
    assert sorted(backend.embedded) == ["a", "b"]


async def test_answers_at_once_share_a_batch(make: Make) -> None:
    backend = LocalBackend()
    service = make(backend, batch_wait_seconds=0.05)
    await asyncio.gather(*(service.embed([f"text {number}"]) for number in range(10)))
    assert len(backend.calls) == 1


async def test_a_batch_is_bounded(make: Make) -> None:
    backend = LocalBackend()
    await make(backend, batch_texts=8).embed(str(number) for number in range(50))
    assert max(map(len, backend.calls)) == 8
    assert sorted(backend.embedded, key=int) == [str(number) for number in range(50)]


async def test_the_cache_forgets_what_was_used_longest_ago(make: Make) -> None:
    backend = LocalBackend()
    service = make(backend, cache_texts=3)
    for text in ("a", "b", "c", "a", "d"):
        await service.embed([text])
    backend.calls.clear()
    await service.embed(["a", "c", "d"])
    assert backend.embedded == []
    await service.embed(["b"])
    assert backend.embedded == ["b"]


async def test_more_texts_than_the_cache_holds_are_all_returned(make: Make) -> None:
    vectors = await make(LocalBackend(), cache_texts=2).embed(str(number) for number in range(30))
    assert len(vectors) == 30


async def test_nothing_is_asked_of_the_model_for_nothing(make: Make) -> None:
    backend = LocalBackend()
    assert await make(backend).embed([]) == {}
    assert backend.calls == []


async def test_vectors_cannot_be_changed_for_others(make: Make) -> None:
    vectors = await make(LocalBackend()).embed(["a"])
    with pytest.raises(ValueError, match="read-only"):
        vectors["a"][0] = 7


# --- faults ------------------------------------------------------------------------------------


def raising(_: Sequence[str]) -> Vectors:
    raise RuntimeError("out of memory near 'a secret text'")


@pytest.mark.parametrize(
    "failure",
    [
        raising,
        lambda texts: np.zeros((len(texts), 3), dtype=np.float32),
        lambda texts: np.zeros((len(texts) + 1, 4), dtype=np.float32),
        lambda texts: np.full((len(texts), 4), np.nan, dtype=np.float32),
    ],
    ids=["raises", "too narrow", "too many", "not a number"],
)
async def test_a_failing_model_fails_all_who_wait_and_the_service_goes_on(
    make: Make, failure: Callable[[Sequence[str]], Vectors]
) -> None:
    backend = LocalBackend()
    backend.failure = failure
    service = make(backend, batch_wait_seconds=0.05)
    results = await asyncio.gather(*(service.embed(["same", str(n)]) for n in range(5)), return_exceptions=True)
    assert [type(result) for result in results] == [InferenceFailed] * 5
    assert all("secret" not in str(result) for result in results)
    backend.failure = None
    assert set(await service.embed(["same", "0"])) == {"same", "0"}


async def test_a_text_that_the_model_refuses_fails_alone(model: EmbeddingBackend, make: Make) -> None:
    service = make(model, batch_wait_seconds=0.2)
    good, bad = [f"text {number}" for number in range(20)], ["\ud800", "plugin \udfff"]
    asked = [[text] for text in [*good[:7], *bad, *good[7:]]]
    results = await asyncio.gather(*(service.embed(texts) for texts in asked), return_exceptions=True)
    failed = [texts for texts, result in zip(asked, results, strict=True) if isinstance(result, InferenceFailed)]
    assert failed == [[text] for text in bad]
    assert sum(isinstance(result, dict) for result in results) == len(good)


@pytest.mark.parametrize("seconds", [60.0, 0.0001], ids=["fails at once", "fails later than its deadline"])
async def test_a_model_that_fails_at_everything_is_called_for_a_limited_time(make: Make, seconds: float) -> None:
    backend = LocalBackend()
    backend.failure = raising
    service = make(backend, batch_wait_seconds=0.05)
    service._limits = replace(service._limits, timeout_seconds=seconds)
    results = await asyncio.gather(*(service.embed([str(n)]) for n in range(8)), return_exceptions=True)
    assert all(isinstance(result, InferenceFailed | InferenceTimeout) for result in results)
    assert len(backend.calls) == (15 if seconds == 60.0 else 1)


async def test_who_gives_up_takes_nothing_from_the_others(make: Make) -> None:
    backend = LocalBackend()
    backend.gate.clear()
    service = make(backend)
    first, second = (asyncio.create_task(service.embed(["text"])) for _ in range(2))
    await asyncio.to_thread(backend.entered.wait, 60)
    first.cancel()
    backend.gate.set()
    assert set(await second) == {"text"}
    assert first.cancelled()
    assert backend.embedded == ["text"]


async def test_what_nobody_waits_for_any_more_is_not_embedded(make: Make) -> None:
    backend = LocalBackend()
    backend.gate.clear()
    service = make(backend, batch_texts=4)
    in_work = asyncio.create_task(service.embed(["in work"]))
    assert await asyncio.to_thread(backend.entered.wait, 60)
    gone = asyncio.create_task(service.embed([*(f"given up {number}" for number in range(50)), "shared"]))
    await asyncio.sleep(0)
    stays = asyncio.create_task(service.embed(["shared", "wanted"]))
    await asyncio.sleep(0)
    gone.cancel()
    backend.gate.set()
    assert set(await stays) == {"shared", "wanted"}
    await in_work
    assert sorted(backend.embedded) == ["in work", "shared", "wanted"]
    assert len(backend.calls) == 2, "what was given up leaves no gap in a batch"


async def test_what_was_given_up_may_be_asked_for_again(make: Make) -> None:
    backend = LocalBackend()
    backend.gate.clear()
    service = make(backend, batch_texts=4)
    in_work = asyncio.create_task(service.embed(["in work"]))
    assert await asyncio.to_thread(backend.entered.wait, 60)
    for _ in range(3):
        gone = asyncio.create_task(service.embed(["again", "never again"]))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
    again = asyncio.create_task(service.embed(["again"]))
    await asyncio.sleep(0)
    backend.gate.set()
    assert set(await again) == {"again"}
    await in_work
    assert backend.embedded == ["in work", "again"]
    assert set(await service.embed(["never again"])) == {"never again"}


async def test_a_hanging_model_times_out_and_works_once_it_returns(make: Make) -> None:
    backend = LocalBackend()
    backend.gate.clear()
    service = make(backend, timeout_seconds=0.1)
    with pytest.raises(InferenceTimeout, match=r"1 texts within 0\.1 s"):
        await service.embed(["first"])
    with pytest.raises(InferenceTimeout):
        await service.embed(["second"])
    assert backend.embedded == ["first"], "nothing piles up behind a call that hangs"
    backend.gate.set()
    service._limits = replace(service._limits, timeout_seconds=60.0)
    assert set(await service.embed(["first", "third"])) == {"first", "third"}


async def test_a_hanging_model_does_not_hold_up_the_loop(make: Make) -> None:
    backend = LocalBackend()
    backend.gate.clear()
    asked = asyncio.create_task(make(backend).embed(["text"]))
    await asyncio.to_thread(backend.entered.wait, 60)
    for _ in range(100):
        await asyncio.sleep(0)
    assert not asked.done()
    backend.gate.set()
    await asked


async def test_a_stop_leaves_nobody_waiting(make: Make) -> None:
    backend = LocalBackend()
    backend.gate.clear()
    service = make(backend)
    asked = asyncio.create_task(service.embed(["text"]))
    await asyncio.to_thread(backend.entered.wait, 60)
    await service.stop()
    async with asyncio.timeout(60):
        assert isinstance((await asyncio.gather(asked, return_exceptions=True))[0], BaseException)


async def test_a_stop_ends_a_task_that_loses_its_first_cancellation(make: Make) -> None:
    """redis-py loses a cancellation that arrives together with its reply."""
    lost = asyncio.Event()

    class Losing:
        async def find(self, digests: Sequence[bytes], dimensions: int) -> dict[bytes, Vectors]:
            lookups.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if lost.is_set():
                    raise
                lost.set()
            return {}

        async def close(self) -> None:
            pass

    lookups = asyncio.Event()
    service = EmbeddingService(LocalBackend(), InferenceSettings(), Losing())  # type: ignore[arg-type]
    service.start()
    asked = asyncio.create_task(service.embed(["text"]))
    await lookups.wait()
    async with asyncio.timeout(30):
        await service.stop()
        assert lost.is_set()
        await asyncio.gather(asked, return_exceptions=True)  # nobody is left waiting
