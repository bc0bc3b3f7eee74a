"""Forgetting a person: every store, compacted topics, and a record that it was done.

The order: the erasure is recorded first, with the person's answers, so that agents drop what
they read of them from now on; last comes ClickHouse, which knows the answers: a run that is
cut off finds them again. Every step can be repeated, and so can the whole.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from redis.exceptions import RedisError

from schemas.identifiers import answer_digest, fact_id, person_digest
from schemas.privacy import Erasure
from schemas.topics import ANSWERS_RELEASED, FEEDBACK_REWARDS, TOPICS
from workers.addresses import Addresses
from workers.delivery.erasures import erasure_output
from workers.delivery.errors import StoreUnavailable
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Output
from workers.settings import Settings
from workers.stores.analytics import AnalyticsStore, connect
from workers.stores.history import QueryHistory
from workers.stores.memory import forget_turns
from workers.stores.migrations import migrate
from workers.stores.persons import PersonStore

NAME = "forget"

TOMBSTONED = (ANSWERS_RELEASED, FEEDBACK_REWARDS)
"""Compacted topics that hold records of single answers, by answer."""

ANSWERS_A_RECORD = 1_000
"""Answers named in one record, 67 kB."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was removed, and what time will remove.

    Attributes:
        digest: what the person is known by from now on.
        answers: answers to what they asked.
        rows: rows removed from ClickHouse, by table.
        turns: turns removed from memory.
        queries: queries removed from Redis.
        tombstones: records written to compacted topics.
        kept_until: topics that keep records until their retention is over, with the latest end.
    """

    digest: str
    answers: int
    rows: dict[str, int]
    turns: int
    queries: int
    tombstones: int
    kept_until: dict[str, datetime]


async def forget(
    settings: Settings, addresses: Addresses, tenant: str, user: str, now: Callable[[], datetime]
) -> Forgotten:
    """Remove a person.

    Args:
        settings: all settings.
        addresses: of broker and stores.
        tenant: whose person.
        user: identifier as it stands in answers.
        now: the clock.

    Raises:
        TouchstoneError: a store or the broker did not confirm; run it again.
    """
    digest = person_digest(tenant, user)
    requested_at = now()
    erasure = Erasure(digest=digest, tenant=tenant, requested_at=requested_at)
    client = await connect(settings.clickhouse, addresses.clickhouse)
    producer = ConfirmedProducer(settings, addresses.kafka)
    try:
        await migrate(client, settings.clickhouse.database)
        await producer.start()
        await producer.send([erasure_output(erasure, NAME)], agent=NAME)
        database = settings.clickhouse.database
        persons = PersonStore(AnalyticsStore(client, database), database)
        answers = await persons.own_answers(tenant, user)
        await producer.send(_naming(erasure, answers), agent=NAME)
        tombstones = _tombstones(answers)
        await producer.send(tombstones, agent=NAME)
        turn_ids = ["turn_" + fact_id(answer_id, "turn") for answer_id in answers]
        turns = await forget_turns(settings.memory_uri, tenant, user, turn_ids)
        queries = await _forget_queries(settings, addresses, digest)
        rows = await persons.remove(tenant, user, answers)
    finally:
        await producer.stop()
        await client.close()
    return Forgotten(digest, len(answers), rows, turns, queries, len(tombstones), _kept_until(requested_at))


def _naming(erasure: Erasure, answers: Sequence[str]) -> list[Output]:
    """The erasure with the person's answers, in records of bounded size."""
    digests = [answer_digest(answer_id) for answer_id in answers]
    parts = [digests[start : start + ANSWERS_A_RECORD] for start in range(0, len(digests), ANSWERS_A_RECORD)]
    return [erasure_output(erasure.model_copy(update={"answers": part}), NAME) for part in parts]


def _tombstones(answers: Sequence[str]) -> list[Output]:
    return [Output(topic, answer_id.encode(), None) for answer_id in answers for topic in TOMBSTONED]


async def _forget_queries(settings: Settings, addresses: Addresses, digest: str) -> int:
    history = QueryHistory(addresses.redis, settings.redis, settings.feedback.retry_window_seconds)
    try:
        return await history.forget(digest)
    except (RedisError, OSError) as error:
        raise StoreUnavailable(
            f"Redis did not confirm ({type(error).__name__}); its entries expire within "
            f"{settings.feedback.retry_window_seconds:g} s by themselves, but run this again for the rest"
        ) from error
    finally:
        await history.close()


def _kept_until(requested_at: datetime) -> dict[str, datetime]:
    return {topic.name: requested_at + topic.retention for topic in TOPICS if topic.retention is not None}
