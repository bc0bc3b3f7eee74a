"""ClickHouse: everything that belongs to a person, found and removed."""

import asyncio
from collections.abc import Sequence
from typing import Any

from clickhouse_connect.driver.exceptions import Error

from workers.delivery.errors import StoreUnavailable
from workers.stores.analytics import AnalyticsStore
from workers.stores.feedback import ask

# The call behind an answer is told with who asked; of other feedback the user is who gave it.
OWN_ANSWERS = """
SELECT DISTINCT answer_id FROM (
    SELECT answer_id FROM {database}.answers WHERE tenant = {{tenant:String}} AND user_id = {{user:String}}
    UNION ALL
    SELECT answer_id FROM {database}.feedback
    WHERE tenant = {{tenant:String}} AND user_id = {{user:String}} AND kind = 'execution'
)
ORDER BY answer_id
"""

BY_ANSWER = {
    "claims": "answer_id",
    "citations": "answer_id",
    "citation_logs": "response_id",
    "citations_by_id": "answer_id",
    "reviews": "answer_id",
    "review_queue": "answer_id",
    "review_decisions": "answer_id",
    "review_events": "answer_id",
    "alerts": "answer_id",
    "implicit_feedback": "query_id",
    "rewards": "answer_id",
    "feedback": "answer_id",
    "answers": "answer_id",
}
"""Tables with rows of an answer, and the column that names it; last those that tell whose an answer
is, so that a run that is cut off finds them again."""

GIVEN = "tenant = {tenant:String} AND user_id = {user:String}"
LETTERS_OF_ANSWERS = "base64Decode(ifNull(key_base64, '')) IN {answers:Array(String)}"
LETTERS = """
    JSONExtractString(base64Decode(assumeNotNull(ifNull(value_base64, ''))), 'user_id') = {user:String}
    AND ifNull(JSONExtract(base64Decode(assumeNotNull(ifNull(value_base64, ''))), 'tenant', 'Nullable(String)'), 'default')
        = {tenant:String}
"""

CHUNK = 1_000
"""Answers in one statement."""


class PersonStore:
    """Finds and removes a person's rows.

    Args:
        analytics: connected store, whose user may alter tables.
        database: where the tables are.
    """

    def __init__(self, analytics: AnalyticsStore, database: str) -> None:
        self._analytics = analytics
        self._database = database

    async def own_answers(self, tenant: str, user: str) -> list[str]:
        """Identifiers of the answers to what a person asked.

        Raises:
            StoreUnavailable: ClickHouse does not answer.
        """
        sql = OWN_ANSWERS.format(database=self._database)
        return [row[0] for row in await ask(self._analytics, sql, {"tenant": tenant, "user": user})]

    async def remove(self, tenant: str, user: str, answer_ids: Sequence[str]) -> dict[str, int]:
        """Remove the rows of a person's answers, of the feedback that they gave, and their dead letters.

        Returns:
            Rows removed, by table; counted with all their revisions.

        Raises:
            StoreUnavailable: ClickHouse does not confirm; run it again.
        """
        removed = dict.fromkeys([*BY_ANSWER, "dead_letters"], 0)
        person = {"tenant": tenant, "user": user}
        removed["dead_letters"] += await self._delete("dead_letters", LETTERS, person)
        for start in range(0, len(answer_ids), CHUNK):
            chosen = {"answers": list(answer_ids[start : start + CHUNK])}
            removed["dead_letters"] += await self._delete("dead_letters", LETTERS_OF_ANSWERS, chosen)
            for table, column in BY_ANSWER.items():
                removed[table] += await self._delete(table, f"{column} IN {{answers:Array(String)}}", chosen)
        removed["feedback"] += await self._delete("feedback", GIVEN, person)
        return removed

    async def _delete(self, table: str, condition: str, parameters: dict[str, Any]) -> int:
        rows = await ask(self._analytics, f"SELECT count() FROM {self._database}.{table} WHERE {condition}", parameters)
        count = int(rows[0][0])
        if count:
            # A mutation and no lightweight delete, which only hides rows until some merge comes by.
            statement = f"ALTER TABLE {self._database}.{table} DELETE WHERE {condition} SETTINGS mutations_sync = 2"
            try:
                await self._analytics.client.command(statement, parameters=parameters)
            except (Error, OSError, TimeoutError, asyncio.IncompleteReadError) as error:
                raise StoreUnavailable(f"ClickHouse did not remove rows of {table} ({type(error).__name__})") from error
        return count
