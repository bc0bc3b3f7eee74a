"""Opening what a replay needs, and closing it: erasures, stored results, stores, topics and the model."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import orjson

from schemas.topics import ANSWERS_ENRICHED, ANSWERS_GENERATED
from workers.addresses import Addresses
from workers.agents.assembly import ASSEMBLY
from workers.agents.citations import CITATIONS
from workers.agents.grounding import GROUNDING
from workers.agents.quality import QUALITY
from workers.delivery.erasures import ErasureFollower
from workers.delivery.producer import ConfirmedProducer
from workers.inference.backends import EmbeddingBackend
from workers.inference.opening import open_embedding, open_verification
from workers.replay.archive import Archive
from workers.replay.archiving import note_archived
from workers.replay.options import ReplayOptions
from workers.replay.outputs import SHADOWED, ReplayOutputs, shadow
from workers.replay.replaying import FollowedErasures, Progress, Replay, ReplayRefused, Selection
from workers.replay.sources import AnswerSource, ArchiveSource, FileSource, Offsets, TopicSource
from workers.replay.stored import StoredJudgements
from workers.replay.throttling import GroupLag, Pace, Throttle
from workers.settings import Settings
from workers.stores.analytics import AnalyticsStore, connect
from workers.stores.migrations import migrate
from workers.stores.replays import ReplayRow, ReplayStore
from workers.topics import TopicAdministration
from workers.versions import pipeline_version, version_parts

LIVE_JUDGES = (CITATIONS, GROUNDING, QUALITY, ASSEMBLY)
"""Agents that must not be kept from live answers."""


@dataclass(frozen=True, slots=True)
class Listeners:
    """Who is told what.

    Attributes:
        stage: told what is being done, in a few words.
        progress: told of every step.
        waiting: told the lag of live traffic while it is waited for, and ``None`` when that is over.
    """

    stage: Callable[[str], None]
    progress: Progress
    waiting: Callable[[int | None], None]


async def count_replay(
    settings: Settings, addresses: Addresses, options: ReplayOptions, listeners: Listeners
) -> dict[str, int]:
    """What a replay would read, and leave out by reason; nothing is judged or written.

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
) -> AsyncIterator[Replay | ReplayRow]:
    """A replay, ready to run; where it is finished already, how it stands.

    Args:
        settings: what is judged by.
        addresses: of broker and ClickHouse.
        options: what is asked for.
        listeners: who is told what.
        rate: most answers a second.
        backend: the model, if it is loaded already.

    Raises:
        ReplayRefused: there is one of that name with other options, or of another version.
        TouchstoneError: something does not answer.
    """
    async with AsyncExitStack() as stack:
        client = await connect(settings.clickhouse, addresses.clickhouse)
        stack.push_async_callback(client.close)
        await migrate(client, settings.clickhouse.database)
        analytics = AnalyticsStore(client, settings.clickhouse.database)
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
        producer = ConfirmedProducer(settings, addresses.kafka)
        stack.push_async_callback(producer.stop)
        await producer.start()
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
            outputs=ReplayOutputs(producer, analytics, row, settings.clickhouse.database, memory=options.memory),
            store=store,
            row=row,
            erasures=erasures,
            throttle=Throttle(Pace(rate), lag.records, settings.replay.max_live_lag, listeners.waiting),
            progress=listeners.progress,
        )


async def _row(store: ReplayStore, settings: Settings, options: ReplayOptions) -> ReplayRow:
    version, now = pipeline_version(settings), datetime.now(UTC)
    now = now.replace(microsecond=now.microsecond // 1_000 * 1_000)
    known = await store.find(options.run)
    if known is None:
        return await store.save(ReplayRow(options.run, version, options.model_dump_json(), "running", now, now))
    before = ReplayOptions.model_validate_json(known.options)
    differing = options.differences(before)
    if differing:
        told = "; ".join(f"{name} was {getattr(before, name)} and is {getattr(options, name)}" for name in differing)
        raise ReplayRefused(
            f"there is a replay {options.run} of something else ({told}); to go on with it: touchstone replay --resume "
            f"{options.run}; to begin this one, name it with --version, or remove that one: touchstone runs delete "
            f"{options.run}"
        )
    if known.state == "running" and known.pipeline_version != version:
        raise ReplayRefused(
            f"the replay {options.run} has been begun by {known.pipeline_version}, and these settings make {version}; "
            f"go on with the old ones, name this one with --version, or begin anew: touchstone runs delete {options.run}"
        )
    return known


async def _note_version(analytics: AnalyticsStore, settings: Settings, row: ReplayRow) -> None:
    columns = {
        "version": row.pipeline_version,
        "parts": orjson.dumps(version_parts(settings)).decode(),
        "started_at": row.started_at.isoformat(),
    }
    await analytics.insert("versions", [columns])


async def _erasures(
    stack: AsyncExitStack, settings: Settings, addresses: Addresses, options: ReplayOptions
) -> FollowedErasures:
    follower = ErasureFollower(settings, addresses.kafka)
    await follower.start()
    if options.source == "archive":
        # Its own register counts as well: a new broker need not know of those who are erased there.
        await asyncio.to_thread(note_archived, Archive(Path(options.path or "")), follower.register)
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
        await stored.read(ArchiveSource(Path(options.path or ""), {}, {}, ANSWERS_ENRICHED).batches())
    else:
        # Of the whole time, since a result stands at other offsets than its answer, and later.
        whole = ReplayOptions(run=options.run, since=options.since)
        await stored.read(TopicSource(settings, addresses.kafka, whole, {}, {}, ANSWERS_ENRICHED).batches())


def _source(
    settings: Settings, addresses: Addresses, options: ReplayOptions, progress: Offsets, bounds: Offsets
) -> AnswerSource:
    if options.source == "answers":
        return FileSource(options.path or "", progress)
    if options.source == "archive":
        return ArchiveSource(Path(options.path or ""), progress, bounds)
    group = settings.group_name(f"replay-{options.run}")
    return TopicSource(settings, addresses.kafka, options, progress, bounds, group=group)
