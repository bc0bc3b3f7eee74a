"""Erase a person from all stores and compacted topics, and record the erasure.

The order matters. First the erasure is published, then the digests of the person's answers, so that agents drop
these records from now on. ClickHouse comes last because it lists the person's answers: an interrupted run finds them
again. Every step is idempotent, and so is the whole run.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from schemas.identifiers import DEFAULT_TENANT, answer_digest, person_digest, record_key
from schemas.privacy import Erasure
from schemas.topics import ANSWERS_RELEASED, FEEDBACK_REWARDS, TOPICS, topic_named
from workers.delivery.followers.erasure_follower import erasure_output
from workers.delivery.followers.record_subjects import subject_of
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Output
from workers.delivery.topics.topic_administration import TopicAdministration
from workers.delivery.topics.topic_reading import BoundedReader
from workers.errors import StoreUnavailable, TouchstoneError
from workers.gateways.adapted import bounded_identifier
from workers.privacy.record_masking import Privacy
from workers.settings import KafkaSettings, Settings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore, connect
from workers.stores.clickhouse.migrations import migrate_database
from workers.stores.lancedb.memory_store import forget_turns
from workers.stores.queries.person_queries import PersonStore
from workers.stores.redis.append_only_file import rewrite_append_only_file
from workers.stores.redis.client import REDIS_ERRORS
from workers.stores.redis.query_history import QueryHistory

NAME = "forget"

TOMBSTONED = (ANSWERS_RELEASED, FEEDBACK_REWARDS)
"""Compacted topics whose records are keyed by answer."""

FOREVER = datetime.max.replace(tzinfo=UTC)
"""End of a retention without an end."""

ANSWERS_A_RECORD = 1_000
"""Maximum number of answers named in one erasure record, about 67 kB."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Result of an erasure.

    Attributes:
        digest: digest that identifies the person from now on.
        answers: number of answers to the person's queries.
        rows: number of rows removed from ClickHouse, by table.
        turns: number of turns removed from memory.
        queries: number of queries removed from Redis.
        tombstones: number of tombstones written to compacted topics.
        kept_until: topics that keep records until their retention ends, with the latest end; also those of replays.
        rewritten: true if the append-only file of the local Redis server was rewritten.
    """

    digest: str
    answers: int
    rows: dict[str, int]
    turns: int
    queries: int
    tombstones: int
    kept_until: dict[str, datetime]
    rewritten: bool = False

    @property
    def found_anything(self) -> bool:
        """Return true if a store held something of the person."""
        return bool(self.answers or any(self.rows.values()) or self.turns or self.queries)


async def forget(
    settings: Settings, addresses: Addresses, tenant: str, user: str, now: Callable[[], datetime], by: str = ""
) -> Forgotten:
    """Erase a person.

    Args:
        settings: all settings.
        addresses: addresses of the broker and the stores.
        tenant: the person's tenant.
        user: user identifier as written in answers.
        now: returns the current time.
        by: who runs the erasure, as auditors see it.

    Raises:
        TouchstoneError: user or tenant is empty; or a store or the broker did not acknowledge: run the erasure again.
    """
    # Stores hold an empty text where an answer names no person: all these answers would be erased.
    if not user.strip() or not tenant.strip():
        raise TouchstoneError("the user and the tenant of an erasure must not be empty; nothing was erased")
    # Where user identifiers are masked, the stores hold the mask instead of the identifier. The intake bounds identifiers
    # before it masks them; a letter of a record that was refused holds them as they came, and only masked.
    privacy = Privacy(settings.privacy, settings.kafka.max_input_bytes)
    refused = tenant, privacy.user_id(tenant, user)
    by = "" if by.casefold() == user.casefold() else by[:200]  # the register never names the person
    tenant = bounded_identifier(tenant)
    user = privacy.user_id(tenant, bounded_identifier(user))
    digest = person_digest(tenant, user)
    requested_at = now()
    erasure = Erasure(digest=digest, tenant=tenant, requested_at=requested_at, by=by)
    # Agents know a refused record that is sent again by the digest of the identifiers that it holds.
    digests = dict.fromkeys([digest, person_digest(*refused)])
    await migrate_database(settings.clickhouse, addresses.clickhouse)
    client = await connect(settings.clickhouse, addresses.clickhouse)
    producer = ConfirmedProducer(settings, addresses.kafka)
    try:
        await producer.start()
        published = [erasure_output(erasure.model_copy(update={"digest": each}), NAME) for each in digests]
        await producer.send(published, agent=NAME)
        database = settings.clickhouse.database
        persons = PersonStore(AnalyticsStore(client, database), database)
        answers = await persons.own_answers(tenant, user)
        await producer.send(_naming(erasure, answers), agent=NAME)
        tombstones = _tombstones(tenant, answers)
        tombstones += await earlier_tombstones(settings, addresses.kafka, tenant, answers)
        await producer.send(tombstones, agent=NAME)
        turns = await forget_turns(settings.memory_uri, tenant, user, answers)
        queries = await _forget_queries(settings, addresses, digest)
        rows = await persons.remove(tenant, user, answers)
        if refused != (tenant, user):
            rows["dead_letters"] += await persons.remove_letters(*refused)
        async with TopicAdministration(settings, addresses.kafka) as administration:
            shadows = await administration.shadows()
    finally:
        await producer.stop()
        await client.close()
    return Forgotten(
        digest, len(answers), rows, turns, queries, len(tombstones), _kept_until(requested_at, settings.kafka, shadows),
        rewritten=settings.redis_url is None,
    )  # fmt: skip


def _naming(erasure: Erasure, answers: Sequence[str]) -> list[Output]:
    """Return erasure records that name the person's answers, each of bounded size."""
    digests = [answer_digest(erasure.tenant, answer_id) for answer_id in answers]
    parts = [digests[start : start + ANSWERS_A_RECORD] for start in range(0, len(digests), ANSWERS_A_RECORD)]
    return [erasure_output(erasure.model_copy(update={"answers": part}), NAME) for part in parts]


def _tombstones(tenant: str, answers: Sequence[str]) -> list[Output]:
    keys = [record_key(tenant, answer_id).encode() for answer_id in answers]
    return [Output(topic, key, None) for key in keys for topic in TOMBSTONED]


async def earlier_tombstones(
    settings: Settings, bootstrap_servers: str, tenant: str, answers: Sequence[str]
) -> list[Output]:
    """Return tombstones for records of earlier versions, whose keys are identifiers without a tenant.

    Another tenant may have written its answer under the same key. Compaction then keeps only the last record, so a
    tombstone is written only if the last record belongs to this tenant. The default tenant's keys have not changed.

    Raises:
        TouchstoneError: a topic cannot be read.
    """
    if tenant == DEFAULT_TENANT or not answers:
        return []
    last: dict[tuple[str, bytes], str | None] = {}
    keys = {answer_id.encode() for answer_id in answers}
    async for batch in BoundedReader(settings, bootstrap_servers, TOMBSTONED).batches():
        for record in batch:
            if record.key in keys:
                last[record.topic, record.key] = subject_of(record).tenant if record.value else None
    ours = [place for place, owner in last.items() if owner == tenant]
    return [Output(topic_named(topic), key, None) for topic, key in ours]


async def _forget_queries(settings: Settings, addresses: Addresses, digest: str) -> int:
    history = QueryHistory(addresses.redis, settings.redis, settings.feedback.retry_window_seconds)
    try:
        removed = await history.forget(digest)
        # The file of the local server holds removed values, also those of decided reviews, until it is rewritten.
        if settings.redis_url is None:
            await rewrite_append_only_file(addresses.redis, settings.redis)
        return removed
    except (*REDIS_ERRORS, TimeoutError) as error:
        raise StoreUnavailable(
            f"Redis did not respond ({type(error).__name__}); its entries expire within "
            f"{settings.feedback.retry_window_seconds:g} s; run the command again for the other stores"
        ) from error
    finally:
        await history.close()


def _kept_until(
    requested_at: datetime, kafka: KafkaSettings, shadows: dict[str, timedelta | None]
) -> dict[str, datetime]:
    kept = {topic.name: kafka.retention_of(topic) for topic in TOPICS if topic.cleanup == "delete"} | shadows
    # Somebody may have a topic of a replay kept for ever: it is named all the same.
    return {name: FOREVER if retention is None else requested_at + retention for name, retention in kept.items()}
