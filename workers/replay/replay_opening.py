"""Open and close the resources of a replay: erasures, stored results, stores, topics and the model."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from schemas.topics import ANSWERS_ENRICHED, ANSWERS_GENERATED, SHADOWED, shadow
from workers.agents.assembly import ASSEMBLY
from workers.agents.citations import CITATIONS
from workers.agents.grounding import GROUNDING
from workers.agents.quality import QUALITY
from workers.archive.archive_copy import note_archived
from workers.archive.archive_files import Archive
from workers.delivery.followers.erasure_follower import ErasureFollower
from workers.delivery.topics.topic_administration import TopicAdministration
from workers.inference.backends import EmbeddingBackend
from workers.inference.opening import open_embedding, open_verification
from workers.pipeline.versions import pipeline_version, version_parts
from workers.replay.answer_sources import AnswerSource, ArchiveSource, FileSource, Offsets, TopicSource
from workers.replay.replay_options import ReplayOptions
from workers.replay.replay_outputs import ReplayOutputs
from workers.replay.replay_run import FollowedErasures, Progress, Replay, ReplayRefused, Selection
from workers.replay.stored_reports import StoredJudgements
from workers.replay.throttle import GroupLag, Pace, Throttle
from workers.services.openers import open_clickhouse, open_producer
from workers.settings import Settings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore
from workers.stores.clickhouse.rows.clickhouse_rows import version_row
from workers.stores.queries.runs.replay_records import ReplayStore, StoredReplay

LIVE_JUDGES = (CITATIONS, GROUNDING, QUALITY, ASSEMBLY)
"""Agents whose lag pauses a replay."""


@dataclass(frozen=True, slots=True)
class Listeners:
    """Callbacks that a replay reports to.

    Attributes:
        stage: receives the name of the current stage.
        progress: called after every step.
        waiting: receives the lag of live traffic during a pause, and ``None`` at its end.
    """

    stage: Callable[[str], None]
    progress: Progress
    waiting: Callable[[int | None], None]


async def count_replay(
    settings: Settings, addresses: Addresses, options: ReplayOptions, listeners: Listeners
) -> dict[str, int]:
    """Count the answers that a replay would read, and those left out by reason; evaluate and write nothing.

    Raises:
        TouchstoneError: the answers cannot be read.
    """
    async with AsyncExitStack() as stack:
        selection = Selection(settings, options, (await _erasures(stack, settings, addresses, options)).register)
        source = _source(settings, addresses, options, {}, {})
        stack.push_async_callback(source.close)
        listeners.stage("counting")
        counts: dict[str, int] = {"read": 0, "wanted": 0}
        async for records in source.batches():
            part = await asyncio.to_thread(selection.part, records)
            counts["read"] += len(records)
            counts["wanted"] += len(part.cases)
            for reason, number in part.left_out.items():
                counts[reason] = counts.get(reason, 0) + number
            listeners.progress(source.done, source.total)
        return counts


@asynccontextmanager
async def open_replay(
    settings: Settings,
    addresses: Addresses,
    options: ReplayOptions,
    listeners: Listeners,
    rate: float | None = None,
    backend: EmbeddingBackend | None = None,
) -> AsyncIterator[Replay | StoredReplay]:
    """Open a replay; return its state if it is finished already.

    Args:
        settings: settings of the evaluation.
        addresses: addresses of broker and ClickHouse.
        options: options of the replay.
        listeners: callbacks.
        rate: maximum number of answers per second.
        backend: the model, if it is loaded already.

    Raises:
        ReplayRefused: a replay of this name has other options or another version.
        TouchstoneError: a service does not respond.
    """
    async with AsyncExitStack() as stack:
        analytics = await stack.enter_async_context(open_clickhouse(settings, addresses.clickhouse))
        store = ReplayStore(analytics, settings.clickhouse.database)
        row = await _row(store, settings, options)
        if row.state == "finished":
            yield row
            return
        await _note_version(analytics, settings, row)
        erasures = await _erasures(stack, settings, addresses, options)
        stored = StoredJudgements(options.agents)
        stack.callback(stored.close)
        source = _source(settings, addresses, options, row.progress, row.bounds)
        stack.push_async_callback(source.close)
        listeners.stage("reading stored results")
        await _read_stored(stored, settings, addresses, options, source)
        async with TopicAdministration(settings, addresses.kafka) as topics:
            await topics.create_beside({topic: shadow(topic, options.run) for topic in SHADOWED})
        producer = await stack.enter_async_context(open_producer(settings, addresses.kafka))
        listeners.stage("loading the model")
        embedding = await open_embedding(settings, backend)
        stack.push_async_callback(embedding.stop)
        verifier = await open_verification(settings)
        if verifier is not None:
            stack.push_async_callback(verifier.stop)
        groups = [settings.group_name(agent.name) for agent in LIVE_JUDGES]
        lag = GroupLag(settings, addresses.kafka, ANSWERS_GENERATED, groups)
        stack.push_async_callback(lag.stop)
        await lag.start()
        listeners.stage("replaying")
        yield Replay(
            settings,
            options,
            source=source,
            selection=Selection(settings, options, erasures.register),
            stored=stored,
            embedding=embedding,
            verifier=verifier,
            outputs=ReplayOutputs(producer, analytics, row, settings, memory=options.memory),
            store=store,
            row=row,
            erasures=erasures,
            throttle=Throttle(Pace(rate), lag.records, settings.replay.max_live_lag, listeners.waiting),
            progress=listeners.progress,
        )


async def _row(store: ReplayStore, settings: Settings, options: ReplayOptions) -> StoredReplay:
    version, now = pipeline_version(settings), datetime.now(UTC)
    now = now.replace(microsecond=now.microsecond // 1_000 * 1_000)
    known = await store.find(options.run)
    if known is None:
        return await store.save(StoredReplay(options.run, version, options.model_dump_json(), "running", now, now))
    before = ReplayOptions.model_validate_json(known.options)
    differing = options.differences(before)
    if differing:
        changed = "; ".join(
            f"{name} was {getattr(before, name)} and is now {getattr(options, name)}" for name in differing
        )
        raise ReplayRefused(
            f"the replay {options.run} exists with other options ({changed}); continue it with: touchstone replay "
            f"--resume {options.run}; or choose another --version; or remove it with: touchstone runs delete "
            f"{options.run}"
        )
    if known.state == "running" and known.pipeline_version != version:
        raise ReplayRefused(
            f"the replay {options.run} was started by version {known.pipeline_version}, but these settings give "
            f"{version}; continue with the old settings, choose another --version, or remove it with: touchstone "
            f"runs delete {options.run}"
        )
    return known


async def _note_version(analytics: AnalyticsStore, settings: Settings, row: StoredReplay) -> None:
    await analytics.store([version_row(row.pipeline_version, version_parts(settings), row.started_at)])


async def _erasures(
    stack: AsyncExitStack, settings: Settings, addresses: Addresses, options: ReplayOptions
) -> FollowedErasures:
    follower = ErasureFollower(settings, addresses.kafka)
    await follower.start()
    if options.source == "archive":
        # The archive's own register counts as well, because a new broker may lack its erasures.
        await asyncio.to_thread(note_archived, Archive(options.path or ""), follower.register)
    followed = FollowedErasures(follower)
    stack.push_async_callback(followed.stop)
    return followed


async def _read_stored(
    stored: StoredJudgements, settings: Settings, addresses: Addresses, options: ReplayOptions, source: AnswerSource
) -> None:
    if isinstance(source, FileSource):
        for enriched in source.stored.values():
            stored.note(enriched)
    elif options.source == "archive":
        await stored.read(ArchiveSource(options.path or "", {}, {}, ANSWERS_ENRICHED).batches())
    else:
        # Read the whole time range, because the offset and time of a result differ from those of its answer.
        whole = ReplayOptions(run=options.run, since=options.since)
        await stored.read(TopicSource(settings, addresses.kafka, whole, {}, {}, ANSWERS_ENRICHED).batches())


def _source(
    settings: Settings, addresses: Addresses, options: ReplayOptions, progress: Offsets, bounds: Offsets
) -> AnswerSource:
    if options.source == "answers":
        return FileSource(options.path or "", progress, settings.files.max_line_bytes)
    if options.source == "archive":
        return ArchiveSource(options.path or "", progress, bounds)
    group = settings.group_name(f"replay-{options.run}")
    return TopicSource(settings, addresses.kafka, options, progress, bounds, group=group)
