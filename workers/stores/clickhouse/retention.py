"""Set the retention of each ClickHouse table: the days in the settings become a TTL."""

from clickhouse_connect.driver.asyncclient import AsyncClient
from clickhouse_connect.driver.exceptions import Error

from workers.settings import RetentionSettings
from workers.stores.clickhouse.migrations import MigrationError
from workers.stores.tables.all_tables import FACTS, FILLED, SUMS, WRITTEN, table_names

TIMES = {table.table: table.kept_from for table in (*WRITTEN, *FILLED) if table.kept_from}
"""Column from which the days of each table count. The settings name the days after the table."""

SAME = {
    "scores": "answers",
    "citations_by_id": "citations",
    "answer_texts": "answers",
    "review_queue": "reviews",
    "review_events": "reviews",
}
"""Tables that have the same retention as another table."""

FIGURES = (*table_names(FACTS), *SUMS)
"""Tables without texts. They share one setting: an hour must not outlive the facts that it sums."""


def days_kept(settings: RetentionSettings) -> dict[str, int]:
    """Return the days for which the rows of each table are kept, 0 for ever."""
    by_table: dict[str, int] = {table: getattr(settings, SAME.get(table, table)) for table in TIMES}
    return by_table | dict.fromkeys(FIGURES, settings.figures)


def ttl_expressions(settings: RetentionSettings) -> dict[str, str]:
    """Return the TTL of each table, empty for rows that are kept for ever."""
    return {
        # Not every ClickHouse version accepts a DateTime64 in a TTL.
        table: f"toDateTime({TIMES.get(table, 'hour')}) + toIntervalDay({days})" if days else ""
        for table, days in days_kept(settings).items()
    }


async def apply_retention(client: AsyncClient, database: str, settings: RetentionSettings) -> list[str]:
    """Apply the retention of the settings to every table that does not have it yet.

    Args:
        client: a client that may alter tables.
        database: name of the database with the tables.
        settings: days by table.

    Returns:
        Names of the tables changed now.

    Raises:
        MigrationError: ClickHouse refuses.
    """
    changed = []
    try:
        rows = await client.query(
            "SELECT name, engine_full FROM system.tables WHERE database = {database:String}",
            parameters={"database": database},
        )
        engines = {str(name): str(engine) for name, engine in rows.result_rows}
        expressions = ttl_expressions(settings)
        if missing := sorted(expressions.keys() - engines.keys()):
            raise MigrationError(
                f"database {database} lacks {', '.join(missing)}, although the migrations that create them are noted as applied; "
                "run 'touchstone rebuild clickhouse'"
            )
        for table, expression in expressions.items():
            present = engines[table].partition(" TTL ")[2].partition(" SETTINGS ")[0]
            if present == expression:
                continue
            change = f"MODIFY TTL {expression}" if expression else "REMOVE TTL"
            await client.command(f"ALTER TABLE {database}.{table} {change}")
            changed.append(table)
    except Error as error:
        raise MigrationError(f"the retention of database {database} cannot be set: {error}") from error
    return changed
