"""Rebuilding ClickHouse: rows of topics into staging tables, then only what is missing or wrong into the tables."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from clickhouse_connect.driver.exceptions import Error

from schemas.feedback import Reward
from schemas.topics import (
    DEAD_LETTERS,
    FEEDBACK_ANALYTICS,
    FEEDBACK_EVENTS,
    FEEDBACK_REWARDS,
    REVIEW_DECISIONS,
    Topic,
)
from workers.delivery.errors import RejectedByStore, StoreUnavailable, UnreadableRecord
from workers.delivery.records import Record
from workers.replay.rebuilding import MENDING_ROUNDS, ROUNDS, SETTLING_SECONDS, Progress, Rebuilt
from workers.replay.rebuilding_records import RecordSource
from workers.replay.rebuilding_targets import Store
from workers.settings import Settings
from workers.steps.rewards import combine, reward_of
from workers.steps.rows import implicit_feedback_row, reward_row
from workers.stores.analytics import AnalyticsStore
from workers.stores.feedback import ANSWERS_AT_ONCE, FeedbackStore, KnownFeedback, feedback_row
from workers.stores.recorded import feedback_of, stored_row
from workers.stores.retention import ttl_expressions
from workers.stores.roles import WRITTEN
from workers.stores.rollups import refresh_rollups
from workers.stores.staging import DERIVED, Derived, Differences, Staging

REWARDED = ("feedback", "implicit_feedback", "rewards")
"""In this order: what answers earned is computed of the feedback that is noted."""

OF_COMMANDS = ("replays", "promotions")
"""Tables that commands write by themselves, without a topic."""

REMOVED_AT_ONCE = 1_000

UNFOLDED = """
SELECT answer_id FROM (
    SELECT answer_id, count() AS noted FROM {database}.{noted} FINAL
    WHERE answer_id IN (SELECT answer_id FROM {feedback}) GROUP BY answer_id
) AS f
LEFT JOIN (SELECT answer_id, revision FROM {rewards} FINAL) AS r USING answer_id
WHERE noted > revision ORDER BY answer_id
"""
"""Answers of which more feedback is noted than any recorded reward was made of."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What of ClickHouse is rebuilt, of what.

    Attributes:
        tables: filled with rows, in this order.
        topics: read group after group; of rows that are alike in version the later one counts.
        needed: of one of these there must be records: of all others there may be none.
    """

    tables: tuple[str, ...]
    topics: tuple[tuple[Topic, ...], ...]
    needed: tuple[Topic, ...] = (FEEDBACK_ANALYTICS,)

    @property
    def derived(self) -> list[Derived]:
        """The tables that views fill from these."""
        return [each for each in DERIVED if each.source in self.tables]


_FEEDBACK = (FEEDBACK_ANALYTICS, FEEDBACK_EVENTS, REVIEW_DECISIONS)
PLANS: Mapping[Store, Plan] = {
    Store.CLICKHOUSE: Plan(
        tuple(table for table in WRITTEN if table not in (*REWARDED, *OF_COMMANDS)) + REWARDED,
        ((FEEDBACK_REWARDS,), (*_FEEDBACK, DEAD_LETTERS)),
    ),
    Store.QUEUE: Plan(("reviews", "review_queue", "review_decisions", "review_events"), ((FEEDBACK_ANALYTICS,),)),
    # Compacted rewards are kept for ever, but only rows say where else an answer was counted: those come later.
    Store.REWARDS: Plan(
        REWARDED, ((FEEDBACK_REWARDS,), _FEEDBACK), (FEEDBACK_REWARDS, FEEDBACK_EVENTS, FEEDBACK_ANALYTICS)
    ),
}


async def rebuild_tables(
    store: Store,
    source: RecordSource,
    analytics: AnalyticsStore,
    settings: Settings,
    progress: Progress,
    *,
    dry_run: bool = False,
) -> Rebuilt:
    """Restore the tables of a store and compare them with the source.

    Args:
        store: clickhouse, queue or rewards.
        source: records, started.
        analytics: connected store whose tables are there, whose user may create and drop tables.
        settings: names, retention and the rules of rewards.
        progress: told of every step.
        dry_run: compare only.

    Raises:
        TouchstoneError: the broker or ClickHouse does not answer, or there is nothing to rebuild from.
    """
    plan, now, database = PLANS[store], datetime.now(UTC), settings.clickhouse.database
    staging = Staging(analytics.client, database, ttl_expressions(settings.retention), now)
    stager = _Stager(plan, staging, analytics, settings)
    restored: Counter[str] = Counter()
    parts: dict[str, Differences] = {}
    try:
        await staging.open(plan.tables)
        for number in range(ROUNDS):
            # The last looks read no further: what came since, agents may still be about to write.
            if number < (1 if dry_run else MENDING_ROUNDS):
                await _stage(plan, source, stager, is_first=number == 0)
            else:
                await asyncio.sleep(SETTLING_SECONDS)
            mend = not dry_run and number < MENDING_ROUNDS
            before, parts = parts, await _look(plan, staging, stager, progress, now, mend=mend)
            if mend:
                restored.update({name: part.missing + part.different for name, part in parts.items()})
            # What neither writing nor waiting changes will stay so.
            if parts == before or all(part.are_none for part in parts.values()):
                break
        if plan.derived and not dry_run:
            await _refresh(analytics, database)
    finally:
        await staging.close()
    return Rebuilt(
        store, dict(source.records), source.erased, stager.unreadable, stager.refused, +restored, parts,
        await source.erased_meanwhile(),
    )  # fmt: skip


async def _stage(plan: Plan, source: RecordSource, stager: "_Stager", *, is_first: bool) -> None:
    """Read the topics, or on from where they ended the last time, into staging tables."""
    for group in plan.topics:
        async for batch in source.read(group) if is_first else source.read_on(group):
            await stager.take(batch)
    await stager.settle()
    source.require(plan.needed)


async def _refresh(analytics: AnalyticsStore, database: str) -> None:
    try:
        await refresh_rollups(analytics.client, database)
    except (Error, OSError, TimeoutError, asyncio.IncompleteReadError) as error:
        raise StoreUnavailable(
            f"the tables are restored, but figures by the hour were not refreshed ({type(error).__name__}); ClickHouse "
            "does it each minute by itself"
        ) from error


async def _look(
    plan: Plan, staging: Staging, stager: "_Stager", progress: Progress, now: datetime, *, mend: bool
) -> dict[str, Differences]:
    """Compare every table, and write what is missing or wrong if that is wanted."""
    derived = plan.derived
    parts: dict[str, Differences] = {}
    total = len(plan.tables) + len(derived)
    for table in plan.tables:
        if table == REWARDED[1]:
            await stager.fold(REWARDED[0] if mend else staging.bare(REWARDED[0]), now)
        parts[table] = await staging.compare(table)
        if mend and not parts[table].are_none:
            await staging.restore(table)
        progress("tables", len(parts), total)
    for each in derived:
        parts[each.table] = await staging.compare_derived(each)
        if mend and not parts[each.table].are_none:
            await staging.restore_derived(each)
        progress("tables", len(parts), total)
    return parts


class _Stager:
    """Puts records into staging tables.

    Args:
        plan: which tables.
        staging: open.
        analytics: connected store.
        settings: size of batches, rules of rewards.
    """

    def __init__(self, plan: Plan, staging: Staging, analytics: AnalyticsStore, settings: Settings) -> None:
        self._plan = plan
        self._staging = staging
        self._analytics = analytics
        self._settings = settings
        self._rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self._bytes = 0
        self._tombstoned: set[str] = set()
        self.unreadable = 0
        self.refused = 0

    async def take(self, records: Sequence[Record]) -> None:
        """Stage what the tables keep of records."""
        for record in records:
            try:
                row = self._row(record)
            except (ValueError, UnreadableRecord):
                self.unreadable += 1
                continue
            if row is None:
                continue
            table, columns = row
            if table in self._plan.tables:
                at = datetime.fromtimestamp(record.timestamp, UTC).isoformat()
                self._add(table, dict.fromkeys(self._staging.clocks(table), at) | columns)
            elif table not in WRITTEN:
                self.refused += 1
            self._bytes += len(record.value or b"")
            delivery = self._settings.delivery
            waiting = sum(map(len, self._rows.values()))
            if waiting >= delivery.sink_batch_records or self._bytes >= delivery.sink_batch_bytes:
                await self._flush()

    async def settle(self) -> None:
        """Stage the rest, and take out what a tombstone has ended."""
        await self._flush()
        ended = sorted(self._tombstoned) if "rewards" in self._plan.tables else []
        for start in range(0, len(ended), REMOVED_AT_ONCE):
            await self._staging.remove("rewards", "answer_id", ended[start : start + REMOVED_AT_ONCE])

    async def fold(self, noted: str, now: datetime) -> None:
        """Compute rewards where more feedback is noted than they were made of, as the agent would.

        Args:
            noted: the table with the feedback that is noted.
            now: time of the rewards.
        """
        database = self._settings.clickhouse.database
        sql = UNFOLDED.format(
            database=database,
            noted=noted,
            feedback=self._staging.name("feedback"),
            rewards=self._staging.name("rewards"),
        )
        answers = [str(name) for (name,) in await self._staging.ask(sql) if name not in self._tombstoned]
        feedback = FeedbackStore(self._analytics, database, noted)
        for start in range(0, len(answers), ANSWERS_AT_ONCE):
            known = await feedback.known(answers[start : start + ANSWERS_AT_ONCE])
            for table, columns in await asyncio.to_thread(self._folded, known, now):
                self._add(table, columns)
            await self._flush()

    def _row(self, record: Record) -> tuple[str, dict[str, Any]] | None:
        if record.topic == FEEDBACK_REWARDS.name:
            return self._reward(record)
        if record.topic in (FEEDBACK_EVENTS.name, REVIEW_DECISIONS.name):
            if record.withheld:
                raise UnreadableRecord("it could not be masked")
            event = feedback_of(record)
            return None if event is None else ("feedback", feedback_row(event))
        return stored_row(record)

    def _reward(self, record: Record) -> tuple[str, dict[str, Any]] | None:
        answer_id = (record.key or b"").decode("utf-8", "replace")
        if record.value is None:
            self._tombstoned.add(answer_id)
            return None
        reward = Reward.from_bytes(record.value)
        self._tombstoned.discard(answer_id)
        row = reward_row(reward)
        return row.table, row.columns

    def _folded(self, known: Mapping[str, KnownFeedback], now: datetime) -> list[tuple[str, dict[str, Any]]]:
        rules, rows = self._settings.feedback, []
        for each in known.values():
            feedback = combine(each.events, each.noted)
            reward = reward_of(feedback, rules, now)
            rows += [] if reward is None else [reward_row(reward, feedback.elsewhere)]
            implicit = implicit_feedback_row(feedback, rules)
            rows += [] if implicit is None else [implicit]
        return [(row.table, row.columns) for row in rows]

    def _add(self, table: str, columns: dict[str, Any]) -> None:
        self._rows[table].append(columns)

    async def _flush(self) -> None:
        waiting, self._rows, self._bytes = self._rows, defaultdict(list), 0
        for table, rows in waiting.items():
            try:
                await self._analytics.insert(self._staging.bare(table), rows)
            except RejectedByStore:
                await self._insert_singly(table, rows)

    async def _insert_singly(self, table: str, rows: Sequence[dict[str, Any]]) -> None:
        """One row that is refused takes its batch along; the agent has dead-lettered it."""
        for row in rows:
            try:
                await self._analytics.insert(self._staging.bare(table), [row])
            except RejectedByStore:
                self.refused += 1
