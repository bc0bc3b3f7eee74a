"""Measure what it costs to hide from a reviewer the decisions of requests that they may still review.

    python -m benchmarks.blind_reviews

The rows of ``benchmarks.queue_pages`` on the local ClickHouse engine: as many decided requests as open ones, decided evenly
over the last days, a tenth of them in the sample, and a second opinion asked for on one of a thousand. Each query runs in turns
with the condition and with nothing in its place; a figure is the mean of the fastest third of the rounds.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.queue_pages import fill_beside
from benchmarks.review_queue import IDENTIFIER, TENANT, fill
from workers.local.services import LocalServices
from workers.settings import ClickHouseSettings
from workers.stores.clickhouse.analytics_store import AnalyticsStore, connect
from workers.stores.clickhouse.migrations import migrate
from workers.stores.queries.answer_queries import AnswerFilter, AnswerStore
from workers.stores.queries.audit_queries import AuditFilter, AuditStore
from workers.stores.queries.reviews.blind_reviews import (
    DUE,
    DUE_OF_CHOSEN,
    EVERY_TENANT,
    HIDDEN_ANSWERS,
    HIDDEN_OF_CHOSEN,
    Sample,
)
from workers.stores.queries.reviews.review_queries import ReviewStore
from workers.stores.queries.reviews.review_queue_rows import QueueFilters

Case = Callable[[], Awaitable[Any]]
BOTH = ("with", "without")


class Unhiding:
    """Send statements to ClickHouse, those of every second turn without the condition."""

    def __init__(self, client: Any, database: str) -> None:
        self._client = client
        self._parts = [
            *(
                (each.format(database=database), "(SELECT '', '' WHERE false)")
                for each in (HIDDEN_ANSWERS, HIDDEN_OF_CHOSEN)
            ),
            *((each.format(database=database), "false") for each in (DUE, DUE_OF_CHOSEN)),
        ]
        self.hides = True

    async def query(self, statement: str, **how: Any) -> Any:
        """Send a statement."""
        if not self.hides:
            for condition, instead in self._parts:
                statement = statement.replace(condition, instead)
        return await self._client.query(statement, **how)


def main() -> None:
    """Measure and print; write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--open", type=int, default=100_000, help="open requests, and as many decided ones (default 100000)"
    )
    parser.add_argument("--days", type=int, default=90, help="time in which all was decided (default 90)")
    parser.add_argument("--rounds", type=int, default=15, help="times that each query runs each way (default 15)")
    parser.add_argument("--json", type=Path, help="write the figures to a file")
    options = parser.parse_args()
    figures = asyncio.run(_measure(options.open, options.rounds, options.days * 86_400 // options.open))
    for name, each in figures.items():
        cost = f"{each['with'] / each['without'] - 1:+.0%}" if "without" in each else ""
        print(f"{name:<44}" + "".join(f" {way} {each[way]:7.1f} ms" for way in each) + f"  {cost}")
    if options.json:
        options.json.write_text(
            json.dumps({"open": options.open, "days": options.days, "ms": figures}, indent=2) + "\n",
            encoding="utf-8",
        )


async def _measure(count: int, rounds: int, gap: int) -> dict[str, dict[str, float]]:
    with tempfile.TemporaryDirectory() as folder:
        services = LocalServices(Path(folder), kafka=False, redis=False, clickhouse=True)
        addresses = await services.start()
        try:
            settings = ClickHouseSettings()
            client = await connect(settings, addresses.clickhouse_url or "")
            await migrate(client, settings.database)
            await fill(client, settings.database, count, gap)
            await fill_beside(client, settings.database, count, gap)
            await _ask_opinions(client, settings.database, count)
            found = await _timed(Unhiding(client, settings.database), settings.database, rounds)
            await client.close()
            return found
        finally:
            await services.stop()


async def _ask_opinions(client: Any, database: str, count: int) -> None:
    """Ask for second opinions on one decided request of a thousand: of anyone, or of one of nine people."""
    await client.command(
        f"INSERT INTO {database}.review_events (review_id, event_id, answer_id, tenant, kind, reviewer, assignee, occurred_at)"
        f" SELECT {IDENTIFIER}, concat('o', toString(number)), concat('a-', toString(number)), {TENANT}, 'opinion_asked', 'lead',"
        f" if(number % 2000 = 0, '', concat('p', toString((number + 3) % 9))), now64(3) FROM numbers({count}, {count}) WHERE number % 1000 = 0"
    )
    await client.command(
        f"INSERT INTO {database}.review_events (review_id, event_id, answer_id, tenant, kind, reviewer, occurred_at)"
        f" SELECT {IDENTIFIER}, concat('e', toString(number)), concat('a-', toString(number)), {TENANT}, 'assigned',"
        f" concat('p', toString(number % 9)), now64(3) - number FROM numbers({count}, {count})"
    )


async def _timed(client: Unhiding, database: str, rounds: int) -> dict[str, dict[str, float]]:
    analytics = AnalyticsStore(client, database)
    reviews, answers = ReviewStore(analytics, database), AnswerStore(analytics, database)
    audit = AuditStore(analytics, database)
    sample = Sample("p3", {EVERY_TENANT: (0.1, 2)}, datetime.now(UTC) - timedelta(days=7))
    decided, second = QueueFilters(state="decided"), QueueFilters(state="second")
    page = await reviews.decided(decided, sample, limit=26)
    names = [(place.tenant, place.answer_id) for place in page]
    both: dict[str, Case] = {
        "list of decided requests": lambda: reviews.decided(decided, sample, limit=51),
        "count of decided requests": lambda: reviews.count(decided, sample),
        "search without a filter": lambda: answers.listed(AnswerFilter(blind=sample), 26),
        "search for words": lambda: answers.listed(AnswerFilter(text="restart again", blind=sample), 26),
        "search for a state": lambda: answers.listed(AnswerFilter(state="released", blind=sample), 26),
        "search for what readers saw": lambda: answers.listed(AnswerFilter(seen=True, blind=sample), 26),
        "search for a verdict": lambda: answers.listed(AnswerFilter(verdict="contradicted", blind=sample), 26),
        "count of a search": lambda: answers.count(AnswerFilter(state="released", blind=sample)),
        "audit of decisions": lambda: audit.listed("decisions", AuditFilter(blind=sample, without=("automatic", "unassigned")), 51),
        "count of the audit": lambda: audit.count("decisions", AuditFilter(blind=sample, without=("automatic", "unassigned"))),
    }  # fmt: skip
    alone: dict[str, Case] = {
        "hidden ones of 26 remembered answers": lambda: answers.hidden(names, sample),
        "list for a second opinion": lambda: reviews.for_second_review(second, sample, limit=51),
        "second opinions asked of a reviewer": lambda: reviews.for_second_review(second, sample, limit=50, asked=True),
        "whether one request is hidden": lambda: reviews.for_second_review(second, sample, limit=1, review_ids=[page[0].review_id]),
    }  # fmt: skip
    seconds: dict[str, dict[str, list[float]]] = {name: {} for name in (*both, *alone)}
    for number in range(rounds + 1):
        for name, case in (both | alone).items():
            # The way that comes first changes with each round.
            for way in (BOTH if number % 2 else BOTH[::-1]) if name in both else BOTH[:1]:
                client.hides = way == "with"
                started = time.perf_counter()
                await case()
                if number:
                    seconds[name].setdefault(way, []).append(time.perf_counter() - started)
    client.hides = True
    # The machine may be busy with other work, which the fastest rounds have least of.
    return {
        name: {way: statistics.mean(sorted(each[way])[: max(1, rounds // 3)]) * 1_000 for way in BOTH if way in each}
        for name, each in seconds.items()
    }


if __name__ == "__main__":
    main()
