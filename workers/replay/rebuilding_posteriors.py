"""Rebuilding the posteriors: computed of ClickHouse's rewards, published where readers know others or none."""

from datetime import UTC, datetime
from math import isclose
from typing import Any

from schemas.feedback import ModelPosterior
from schemas.topics import ROUTING_POSTERIORS
from workers.delivery.producer import ConfirmedProducer
from workers.replay.rebuilding import ROUNDS, RebuildImpossible, Rebuilt
from workers.replay.rebuilding_records import RecordSource
from workers.replay.rebuilding_targets import Store
from workers.settings import RoutingSettings
from workers.stores.feedback import FeedbackStore
from workers.stores.posteriors import NAME, learned, linear_posteriors, model_posteriors, posterior_outputs
from workers.stores.remembered import checksum, hashed
from workers.stores.staging import SHOWN, Differences

RELATIVE, ABSOLUTE = 1e-6, 1e-9
"""What two sums of the same rewards may differ by: ClickHouse adds in whatever order its threads come."""

Posteriors = dict[bytes, ModelPosterior]


async def rebuild_posteriors(
    source: RecordSource,
    feedback: FeedbackStore,
    producer: ConfirmedProducer,
    settings: RoutingSettings,
    pipeline_version: str,
    *,
    dry_run: bool = False,
) -> Rebuilt:
    """Publish what routers should know and do not, and compare what is on the topic then.

    Args:
        source: of the topic's records, started.
        feedback: rewards are asked of it.
        producer: started.
        settings: prior and half-life.
        pipeline_version: of the published records.
        dry_run: compare only.

    Raises:
        TouchstoneError: the broker or ClickHouse does not answer, or there are no rewards at all.
    """
    published: Posteriors = {}
    restored = unreadable = 0
    for number in range(ROUNDS):
        unreadable += await _follow(source, published, number)
        now = datetime.now(UTC)
        current = await model_posteriors(feedback, settings, now, await linear_posteriors(feedback, settings, now))
        if not current and not published:
            raise RebuildImpossible(
                "there is nothing to rebuild from: ClickHouse holds no rewards of known models; "
                "run `touchstone rebuild rewards` first"
            )
        part = _differences(current, published)
        if part.are_none or dry_run or number == ROUNDS - 1:
            break
        same = {key: current[key] for key in current.keys() & published.keys() if _same(current[key], published[key])}
        outputs = posterior_outputs(current, published | same, pipeline_version)
        await producer.send(outputs, agent=NAME)
        restored += len(outputs)
    name = ROUTING_POSTERIORS.name
    return Rebuilt(
        Store.POSTERIORS, dict(source.records), source.erased, unreadable, 0,
        {name: restored} if restored else {}, {name: part},
    )  # fmt: skip


async def _follow(source: RecordSource, published: Posteriors, number: int) -> int:
    """Read what is published; of each key the last record counts. Returns how many nobody can read."""
    unreadable = 0
    topics = (ROUTING_POSTERIORS,)
    async for batch in source.read_on(topics) if number else source.read(topics):
        for record in batch:
            key = record.key or b""
            published.pop(key, None)
            try:
                if record.value is not None:
                    published[key] = ModelPosterior.from_bytes(record.value)
            except ValueError:
                unreadable += 1
    return unreadable


def _differences(current: Posteriors, published: Posteriors) -> Differences:
    missing = current.keys() - published.keys()
    common = current.keys() & published.keys()
    different = {key for key in common if not _same(current[key], published[key])}
    gone = published.keys() - current.keys()
    return Differences(
        expected=len(current),
        found=len(common),
        missing=len(missing),
        # Readers still believe in what no reward speaks for.
        different=len(different) + len(gone),
        newer=0,
        beyond=0,
        checksum=checksum(hashed(_told(current[key])) for key in current),
        checksum_found=checksum(
            hashed(_told(current[key] if key in common - different else published[key])) for key in published
        ),
        examples=tuple(key.decode("utf-8", "replace") for key in sorted(missing | different | gone)[:SHOWN]),
    )


def _same(one: ModelPosterior, other: ModelPosterior) -> bool:
    return _alike(_told(one), _told(other))


def _told(posterior: ModelPosterior) -> dict[str, Any]:
    return learned(posterior).model_dump(mode="json", exclude={"computed_at"})


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return isclose(one, other, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[name], other[name]) for name in one)
    return bool(one == other)
