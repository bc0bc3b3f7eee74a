"""Find and remove everything that belongs to a person in ClickHouse."""

from collections.abc import Iterable, Sequence
from typing import Any

from schemas.identifiers import DEFAULT_TENANT, record_key
from workers.errors import StoreUnavailable
from workers.stores.clickhouse.analytics_store import CLIENT_ERRORS
from workers.stores.clickhouse.row_reading import Reading, ask, in_parameters
from workers.stores.tables.all_tables import FACTS, FILLED, WRITTEN
from workers.stores.tables.answer_tables import AnswerRow, CitationLogRow
from workers.stores.tables.feedback_tables import FeedbackRow
from workers.stores.tables.review_tables import DecisionRow, ReviewRow
from workers.stores.tables.table_row import TableRow, column_names

# In feedback of kind 'execution' the user is the person who asked. In other feedback it is the person who gave it.
# Every table that names the asker is searched: each has its own retention, and an answer may be in only one of them.
OWN_ANSWERS = """
SELECT DISTINCT answer_id FROM (
    SELECT answer_id FROM {database}.answers WHERE tenant = {{tenant:String}} AND user_id = {{user:String}}
    UNION ALL
    SELECT answer_id FROM {database}.feedback
    WHERE tenant = {{tenant:String}} AND user_id = {{user:String}} AND kind = 'execution'
    UNION ALL
    SELECT response_id FROM {database}.citation_logs WHERE tenant = {{tenant:String}} AND user_id = {{user:String}}
    UNION ALL
    SELECT answer_id FROM {database}.reviews
    WHERE tenant = {{tenant:String}} AND JSONExtractString(request, 'user_id') = {{user:String}}
    UNION ALL
    SELECT answer_id FROM {database}.review_decisions
    WHERE tenant = {{tenant:String}} AND JSONExtractString(decision, 'user_id') = {{user:String}}
)
ORDER BY answer_id
"""

_LINKS: tuple[type[TableRow], ...] = (FeedbackRow, ReviewRow, DecisionRow, CitationLogRow, AnswerRow)


def _named(tables: Iterable[type[TableRow]]) -> dict[str, str]:
    names = ("answer_id", "query_id", "response_id")
    return {each.table: name for each in tables for name in names if name in column_names(each)}


KEY = "answer_key"
"""Column with the hash of an answer's identifier, in tables that do not hold the identifier itself."""

BY_ANSWER = (
    _named(each for each in (*WRITTEN, *FILLED, *FACTS) if each not in _LINKS)
    | {"worst_hours": "answer_id", "answer_places": KEY, "answer_moves": KEY}
    | _named(_LINKS)
)
"""Tables with rows of an answer, and the column that names it. The tables that link an answer to a
person come last, so that a repeat of an interrupted run finds the answer again."""

GIVEN = "tenant = {tenant:String} AND user_id = {user:String}"
_VALUE = "base64Decode(assumeNotNull(ifNull(value_base64, '')))"
_OF_TENANT = f"""
    coalesce(
        JSONExtract({_VALUE}, 'tenant', 'Nullable(String)'),
        JSONExtract({_VALUE}, 'columns', 'tenant', 'Nullable(String)'),
        JSONExtract({_VALUE}, 'answer', 'tenant', 'Nullable(String)'), '{DEFAULT_TENANT}'
    ) = {{tenant:String}}
"""
# The tenant of an unreadable value is unknown, and nothing of an erased person may be stored.
LETTERS_OF_ANSWERS = f"""
    base64Decode(ifNull(key_base64, '')) IN {{keys:Array(String)}} AND (NOT isValidJSON({_VALUE}) OR {_OF_TENANT})
"""
# Records hold the person themselves, in their answer, in the columns of a row, or in one of several packed rows.
_COLUMN = "indexOf(JSONExtract(part, 'columns', 'Array(String)'), 'user_id')"
LETTERS = f"""
    (
        {{user:String}} IN (
            JSONExtractString({_VALUE}, 'user_id'), JSONExtractString({_VALUE}, 'answer', 'user_id'),
            JSONExtractString({_VALUE}, 'columns', 'user_id')
        ) OR arrayExists(
            part -> {_COLUMN} > 0 AND arrayExists(
                row -> JSONExtractString(row, {_COLUMN}) = {{user:String}}, JSONExtractArrayRaw(part, 'values')
            ),
            JSONExtractArrayRaw({_VALUE}, 'rows')
        )
    ) AND {_OF_TENANT}
"""
# ClickHouse keeps earlier rows of a place in the list, of other answers. One would show again if only the last were
# deleted. The time is hardly moved, because the view looks for facts since the latest one.
EMPTIED = """
INSERT INTO {database}.worst_hours (tenant, run, hour, place, computed_at)
SELECT tenant, run, hour, place, computed_at + toIntervalMillisecond(1) FROM {database}.worst_hours FINAL
WHERE tenant = {{tenant:String}} AND answer_id IN {{answers:Array(String)}}
"""
OF_ANSWERS = "tenant = {{tenant:String}} AND {column} IN {{answers:Array(String)}}"
OF_KEYS = "tenant = {{tenant:String}} AND {column} IN arrayMap(name -> sipHash64(name), {{answers:Array(String)}})"


class PersonStore(Reading):
    """Store that finds and removes a person's rows."""

    async def own_answers(self, tenant: str, user: str) -> list[str]:
        """Return the identifiers of the answers to a person's questions.

        Raises:
            StoreUnavailable: ClickHouse does not respond.
        """
        sql = OWN_ANSWERS.format(database=self._database)
        return [row[0] for row in await ask(self._analytics, sql, {"tenant": tenant, "user": user})]

    async def remove(self, tenant: str, user: str, answer_ids: Sequence[str]) -> dict[str, int]:
        """Remove the rows of a person's answers and feedback, and the dead letters with them.

        Returns:
            Rows removed, by table; counted with all their revisions.

        Raises:
            StoreUnavailable: ClickHouse does not acknowledge; run it again.
        """
        removed = dict.fromkeys([*BY_ANSWER, "dead_letters"], 0)
        person = {"tenant": tenant, "user": user}
        removed["dead_letters"] += await self.remove_letters(tenant, user)

        def keys(answer_id: str) -> tuple[str, str]:
            # Gateways write keys without a tenant.
            return answer_id, record_key(tenant, answer_id)

        for chosen in in_parameters(answer_ids, keys):
            letters = {"tenant": tenant, "keys": [key for answer_id in chosen for key in keys(answer_id)]}
            removed["dead_letters"] += await self._delete("dead_letters", LETTERS_OF_ANSWERS, letters)
            of_answers = {"tenant": tenant, "answers": chosen}
            await self._command(EMPTIED.format(database=self._database), of_answers, "worst_hours")
            for table, column in BY_ANSWER.items():
                removed[table] += await self._delete(
                    table, (OF_KEYS if column == KEY else OF_ANSWERS).format(column=column), of_answers
                )
        removed["feedback"] += await self._delete("feedback", GIVEN, person)
        return removed

    async def remove_letters(self, tenant: str, user: str) -> int:
        """Remove the dead letters whose records name a person, and return their number.

        Raises:
            StoreUnavailable: ClickHouse does not acknowledge; run it again.
        """
        return await self._delete("dead_letters", LETTERS, {"tenant": tenant, "user": user})

    async def _delete(self, table: str, condition: str, parameters: dict[str, Any]) -> int:
        rows = await ask(self._analytics, f"SELECT count() FROM {self._database}.{table} WHERE {condition}", parameters)
        count = int(rows[0][0])
        if count:
            # A mutation removes rows. A lightweight delete only hides them until the next merge.
            statement = f"ALTER TABLE {self._database}.{table} DELETE WHERE {condition} SETTINGS mutations_sync = 2"
            await self._command(statement, parameters, table)
        return count

    async def _command(self, statement: str, parameters: dict[str, Any], table: str) -> None:
        try:
            await self._analytics.client.command(statement, parameters=parameters)
        except CLIENT_ERRORS as error:
            raise StoreUnavailable(
                f"ClickHouse did not remove rows of {table} ({type(error).__name__}); run the command again"
            ) from error
