"""Rebuild the posteriors: compute them from ClickHouse's rewards and publish missing or different ones."""

from datetime import UTC, datetime
from math import isclose
from typing import Any

from schemas.feedback import ModelPosterior
from schemas.topics import ROUTING_POSTERIORS
from workers.delivery.producer import ConfirmedProducer
from workers.rebuild.rebuild_result import ROUNDS, RebuildImpossible, Rebuilt
from workers.rebuild.rebuild_sources import RecordSource
from workers.rebuild.rebuild_targets import Store
from workers.settings import RoutingSettings
from workers.stores.clickhouse.staging import SHOWN, Differences
from workers.stores.lancedb.remembered_turns import checksum, hashed
from workers.stores.queries.feedback_store import FeedbackStore
from workers.stores.queries.posterior_queries import (
    NAME,
    learned,
    linear_posteriors,
    model_posteriors,
    posterior_outputs,
)

RELATIVE, ABSOLUTE = 1e-6, 1e-9
"""Tolerances between two sums of the same rewards: the order of additions in ClickHouse varies."""

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
    """Publish the posteriors that are missing or different on the topic, and compare the topic afterwards.

    Args:
        source: started source of the topic's records.
        feedback: store of the rewards.
        producer: started producer.
        settings: prior and half-life.
        pipeline_version: version in the published records.
        dry_run: compare without publishing.

    Raises:
        TouchstoneError: the broker or ClickHouse does not respond, or there are no rewards.
    """
    published: Posteriors = {}
    restored = unreadable = 0
    for number in range(ROUNDS):
        unreadable += await _follow(source, published, number)
        now = datetime.now(UTC)
        current = await model_posteriors(feedback, settings, now, await linear_posteriors(feedback, settings, now))
        if not current and not published:
            raise RebuildImpossible(
                "there is nothing to rebuild from: ClickHouse contains no rewards of known models; run "
                "`touchstone rebuild rewards` first"
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
    """Read the published posteriors, the last record of each key, and return the number of unreadable records."""
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
        # Routers still use a published posterior that has no rewards.
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
