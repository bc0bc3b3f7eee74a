"""How long ClickHouse keeps each table's rows: the settings' days as TTL."""

from clickhouse_connect.driver.asyncclient import AsyncClient
from clickhouse_connect.driver.exceptions import Error

from workers.settings import RetentionSettings
from workers.stores.migrations import MigrationError

TIMES = {
    "answers": "completed_at",
    "claims": "completed_at",
    "citations": "completed_at",
    "citations_by_id": "completed_at",
    "sources": "stored_at",
    "citation_logs": "completed_at",
    "alerts": "completed_at",
    "reviews": "completed_at",
    "review_queue": "completed_at",
    "review_decisions": "decided_at",
    "review_events": "occurred_at",
    "accesses": "at",
    "feedback": "occurred_at",
    "implicit_feedback": "timestamp",
    "rewards": "answered_at",
    "insights": "until",
    "dead_letters": "failed_at",
}
"""From which time each table's days count; the settings have the days under the table's name."""

SAME = {"citations_by_id": "citations", "review_queue": "reviews", "review_events": "reviews"}
"""Tables that are kept as long as the ones that they belong to."""

FIGURES = ("answer_facts", "reward_facts", "answer_hours", "source_hours", "stage_hours", "worst_hours", "reward_hours")
"""Tables without texts, which share one setting: an hour must not outlive the facts that it is made of."""


def ttl_expressions(settings: RetentionSettings) -> dict[str, str]:
    """The TTL of each table; empty for rows that are kept for ever."""
    by_table = {table: (column, getattr(settings, SAME.get(table, table))) for table, column in TIMES.items()}
    by_table |= dict.fromkeys(FIGURES, ("hour", settings.figures))
    return {
        # A time of milliseconds or less is none that every ClickHouse takes for a TTL.
        table: f"toDateTime({column}) + toIntervalDay({days})" if days else ""
        for table, (column, days) in by_table.items()
    }


async def apply_retention(client: AsyncClient, database: str, settings: RetentionSettings) -> list[str]:
    """Give every table the retention of the settings; what has it already is left alone.

    Args:
        client: a client that may alter tables.
        database: where the tables are.
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
        for table, expression in ttl_expressions(settings).items():
            present = engines[table].partition(" TTL ")[2].partition(" SETTINGS ")[0]
            if present == expression:
                continue
            change = f"MODIFY TTL {expression}" if expression else "REMOVE TTL"
            await client.command(f"ALTER TABLE {database}.{table} {change}")
            changed.append(table)
    except Error as error:
        raise MigrationError(f"the retention of database {database} cannot be set: {error}") from error
    return changed
