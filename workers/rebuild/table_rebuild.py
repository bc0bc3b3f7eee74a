"""Rebuild ClickHouse: stage rows of topics, then write only missing or different rows into the tables."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from schemas.feedback import Reward
from schemas.identifiers import DEFAULT_TENANT, named_by_key
from schemas.topics import (
    DEAD_LETTERS,
    FEEDBACK_ANALYTICS,
    FEEDBACK_EVENTS,
    FEEDBACK_REWARDS,
    REVIEW_DECISIONS,
    Topic,
)
from workers.delivery.records import Record
from workers.errors import RejectedByStore, StoreUnavailable, UnreadableRecord
from workers.feedback.rewards import combine, reward_of
from workers.rebuild.rebuild_result import MENDING_ROUNDS, ROUNDS, SETTLING_SECONDS, Progress, Rebuilt
from workers.rebuild.rebuild_sources import RecordSource
from workers.rebuild.rebuild_targets import Store
from workers.settings import Settings
from workers.stores.clickhouse.analytics_store import CLIENT_ERRORS, AnalyticsStore
from workers.stores.clickhouse.clickhouse_roles import INSERTED
from workers.stores.clickhouse.retention import ttl_expressions
from workers.stores.clickhouse.rollups import refresh_rollups
from workers.stores.clickhouse.row_reading import in_parameters
from workers.stores.clickhouse.rows.feedback_rows import feedback_row, implicit_feedback_row, reward_row
from workers.stores.clickhouse.rows.recorded_rows import feedback_of, stored_rows
from workers.stores.clickhouse.staging import DERIVED, Derived, Differences, Staging
from workers.stores.queries.feedback_store import ANSWERS_AT_ONCE, FeedbackStore, KnownFeedback
from workers.stores.tables.table_row import TableRow

REWARDED = ("feedback", "implicit_feedback", "rewards")
"""Tables in this order, because rewards are computed from the stored feedback."""

STAGED_RECORDS = 2_000
"""Number of rows of an insert into staging tables. A rebuild need not write its first rows soon, and fewer inserts take
less time: 1.4 times as many rows a second as inserts of 500."""

OF_COMMANDS = ("replays", "promotions")
"""Tables that commands write directly, without a topic."""

UNFOLDED = """
SELECT tenant, answer_id FROM (
    SELECT tenant, answer_id, count() AS noted FROM {database}.{noted} FINAL
    WHERE (tenant, answer_id) IN (SELECT tenant, answer_id FROM {feedback}) GROUP BY tenant, answer_id
) AS f
LEFT JOIN (SELECT tenant, answer_id, revision FROM {rewards} FINAL) AS r USING (tenant, answer_id)
WHERE noted > revision ORDER BY tenant, answer_id
"""
"""Answers with more stored feedback than any recorded reward was computed from."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Tables to rebuild and their source topics.

    Attributes:
        tables: tables to fill, in this order.
        topics: groups of topics, read one after the other; of two rows with the same version the later one counts.
        needed: topics of which at least one must hold records; all others may be empty.
    """

    tables: tuple[str, ...]
    topics: tuple[tuple[Topic, ...], ...]
    needed: tuple[Topic, ...] = (FEEDBACK_ANALYTICS,)

    @property
    def derived(self) -> list[Derived]:
        """Return the tables that views fill from these tables."""
        return [each for each in DERIVED if each.source in self.tables]


_FEEDBACK = (FEEDBACK_ANALYTICS, FEEDBACK_EVENTS, REVIEW_DECISIONS)
PLANS: Mapping[Store, Plan] = {
    Store.CLICKHOUSE: Plan(
        tuple(table for table in INSERTED if table not in (*REWARDED, *OF_COMMANDS)) + REWARDED,
        ((FEEDBACK_REWARDS,), (*_FEEDBACK, DEAD_LETTERS)),
    ),
    Store.QUEUE: Plan(("reviews", "review_queue", "review_decisions", "review_events"), ((FEEDBACK_ANALYTICS,),)),
    # Compacted rewards are kept for ever, but only rows name the other places where an answer was counted.
    # The rows are therefore read later and win.
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
        source: started source of records.
        analytics: connected store with existing tables; its user may create and drop tables.
        settings: names, retention and the rules of rewards.
        progress: called after every step.
        dry_run: compare without writing.

    Raises:
        TouchstoneError: the broker or ClickHouse does not respond, or there is nothing to rebuild from.
    """
    plan, now, database = PLANS[store], datetime.now(UTC), settings.clickhouse.database
    staging = Staging(analytics.client, database, ttl_expressions(settings.retention), now)
    stager = _Stager(plan, staging, analytics, settings)
    restored: Counter[str] = Counter()
    parts: dict[str, Differences] = {}
    try:
        await staging.open(plan.tables)
        for number in range(ROUNDS):
            # The last rounds read no new records, because agents may not have written them yet.
            if number < (1 if dry_run else MENDING_ROUNDS):
                await _stage(plan, source, stager, is_first=number == 0)
            else:
                await asyncio.sleep(SETTLING_SECONDS)
            mend = not dry_run and number < MENDING_ROUNDS
            before, parts = parts, await _look(plan, staging, stager, progress, now, mend=mend)
            if mend:
                restored.update({name: part.missing + part.different for name, part in parts.items()})
            # A difference that neither writing nor waiting has changed is permanent.
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
    """Read the topics into staging tables, from the start or from the end of the last read."""
    for group in plan.topics:
        async for batch in source.read(group) if is_first else source.read_on(group):
            await stager.take(batch)
    await stager.settle()
    source.require(plan.needed)


async def _refresh(analytics: AnalyticsStore, database: str) -> None:
    try:
        await refresh_rollups(analytics.client, database)
    except CLIENT_ERRORS as error:
        raise StoreUnavailable(
            f"the tables are restored, but the hourly figures were not refreshed ({type(error).__name__}); "
            "ClickHouse refreshes them every minute"
        ) from error


async def _look(
    plan: Plan, staging: Staging, stager: "_Stager", progress: Progress, now: datetime, *, mend: bool
) -> dict[str, Differences]:
    """Compare every table, and write missing or different rows if wanted."""
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
        plan: tables to fill.
        staging: open staging tables.
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
        self._tombstoned: set[tuple[str, str]] = set()
        self._earlier_keys: dict[str, set[str]] = defaultdict(set)
        self.unreadable = 0
        self.refused = 0

    async def take(self, records: Sequence[Record]) -> None:
        """Stage the rows of records."""
        for record in records:
            try:
                rows = self._rows_of(record)
            except (ValueError, UnreadableRecord):
                self.unreadable += 1
                continue
            for table, columns in rows:
                if table in self._plan.tables:
                    at = datetime.fromtimestamp(record.timestamp, UTC).isoformat()
                    self._add(table, dict.fromkeys(self._staging.clocks(table), at) | columns)
                elif table not in INSERTED:
                    self.refused += 1
            self._bytes += len(record.value or b"")
            delivery = self._settings.delivery
            waiting = sum(map(len, self._rows.values()))
            if waiting >= max(STAGED_RECORDS, delivery.sink_batch_records) or self._bytes >= delivery.sink_batch_bytes:
                await self._flush()

    async def settle(self) -> None:
        """Write the remaining rows, and remove the rows that a tombstone has ended."""
        await self._flush()
        ended = sorted(self._tombstoned) if "rewards" in self._plan.tables else []
        for answers in in_parameters(ended, lambda answer: answer):
            await self._staging.remove("rewards", answers)

    async def fold(self, noted: str, now: datetime) -> None:
        """Compute rewards for answers with more stored feedback than their rewards contain, as the agent does.

        Args:
            noted: name of the table with the stored feedback.
            now: time of the rewards.
        """
        database = self._settings.clickhouse.database
        sql = UNFOLDED.format(
            database=database,
            noted=noted,
            feedback=self._staging.name("feedback"),
            rewards=self._staging.name("rewards"),
        )
        found = [(str(tenant), str(name)) for tenant, name in await self._staging.ask(sql)]
        answers = [answer for answer in found if answer not in self._tombstoned]
        feedback = FeedbackStore(self._analytics, database, noted)
        for start in range(0, len(answers), ANSWERS_AT_ONCE):
            known = await feedback.known(answers[start : start + ANSWERS_AT_ONCE])
            for table, columns in await asyncio.to_thread(self._folded, known, now):
                self._add(table, columns)
            await self._flush()

    def _rows_of(self, record: Record) -> list[tuple[str, dict[str, Any]]]:
        if record.topic == FEEDBACK_REWARDS.name:
            return self._reward(record)
        if record.topic in (FEEDBACK_EVENTS.name, REVIEW_DECISIONS.name):
            if record.withheld:
                raise UnreadableRecord("the record could not be masked")
            event = feedback_of(record)
            return [] if event is None else [("feedback", feedback_row(event).columns)]
        return stored_rows(record)

    def _reward(self, record: Record) -> list[tuple[str, dict[str, Any]]]:
        owner, name = named_by_key((record.key or b"").decode("utf-8", "replace"))
        if record.value is None:
            # Earlier versions wrote the rewards of all tenants under the answer's identifier alone.
            owners = {owner or DEFAULT_TENANT} | (self._earlier_keys[name] if owner is None else set())
            self._tombstoned |= {(tenant, name) for tenant in owners}
            return []
        reward = Reward.from_bytes(record.value)
        self._tombstoned.discard((reward.tenant, reward.answer_id))
        if owner is None and reward.tenant != DEFAULT_TENANT:
            self._earlier_keys[name].add(reward.tenant)
        row = reward_row(reward)
        return [(row.table, row.columns)]

    def _folded(
        self, known: Mapping[tuple[str, str], KnownFeedback], now: datetime
    ) -> list[tuple[str, dict[str, Any]]]:
        rules = self._settings.feedback
        rows: list[TableRow | None] = []
        for each in known.values():
            feedback = combine(each.events, each.noted)
            reward = reward_of(feedback, rules, now)
            rows.append(reward_row(reward, feedback.elsewhere) if reward else None)
            rows.append(implicit_feedback_row(feedback, rules))
        return [(row.table, row.columns) for row in rows if row is not None]

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
        """Insert rows one by one, because one refused row fails its batch; the agent has dead-lettered it."""
        for row in rows:
            try:
                await self._analytics.insert(self._staging.bare(table), [row])
            except RejectedByStore:
                self.refused += 1
