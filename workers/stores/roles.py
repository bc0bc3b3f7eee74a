"""Who may do what in ClickHouse: roles with as little as they need, and tenants kept apart.

The statements are generated for an administrator to run; the worker never grants anything.

==============================  =======================================================================
role                            may
==============================  =======================================================================
``touchstone_migrator``         create and alter tables and views, set their retention (``touchstone migrate``)
``touchstone_writer``           insert rows, read what agents read: feedback, rewards, answers, citations
``touchstone_eraser``           find and delete a person's rows (``touchstone forget``)
``touchstone_reader``           read all tenants' rows: dashboards, console
``touchstone_reader_<tenant>``  read that tenant's rows alone
==============================  =======================================================================
"""

from collections.abc import Sequence

from workers.stores.retention import FIGURES

WRITTEN = (
    "answers", "claims", "citations", "sources", "citation_logs", "alerts", "reviews", "review_queue",
    "review_decisions", "review_events", "feedback", "implicit_feedback", "rewards", "insights", "dead_letters",
    "versions", "accesses", "replays", "promotions",
)  # fmt: skip
"""Tables that rows are inserted into; facts and figures are filled by views, in their definer's name."""

READ_BY_WORKERS = (
    "answers", "citations", "feedback", "rewards", "reviews", "review_queue", "review_decisions", "review_events",
    "dead_letters", "versions", "replays", "schema_migrations",
)  # fmt: skip
"""Tables that agents and commands read: what feedback is known, what was rated, which schema is there."""

NO_TENANT = ("dead_letters", "versions", "replays", "promotions")
"""Tables whose rows have none, or none that anybody could read; no reader sees them."""

FILLED = ("citations_by_id", "promoted_hours")
"""Tables that a view fills from others, and that have no setting of their own for how long."""

BY_TENANT = tuple(table for table in WRITTEN if table not in NO_TENANT) + FILLED + FIGURES
"""Tables whose rows have a tenant."""

MIGRATOR, WRITER, ERASER, READER = "touchstone_migrator", "touchstone_writer", "touchstone_eraser", "touchstone_reader"

DEFINITION = (
    "SELECT, INSERT, ALTER TABLE, ALTER VIEW, CREATE DATABASE, CREATE TABLE, CREATE VIEW, DROP TABLE, DROP VIEW, "
    "OPTIMIZE, SYSTEM VIEWS"
)
"""What defining the schema takes; SYSTEM VIEWS is to refresh figures at once."""


def role_statements(database: str, tenants: Sequence[str] = ()) -> list[str]:
    """The statements that an administrator runs once, and again for further tenants.

    Args:
        database: where the tables are; they must be there.
        tenants: those that get a reader of their own.
    """
    readers = {tenant: _name(f"{READER}_{tenant}") for tenant in tenants}
    roles = [MIGRATOR, WRITER, ERASER, READER, *readers.values()]
    statements = [f"CREATE ROLE IF NOT EXISTS {role}" for role in roles]
    statements.append(f"GRANT {DEFINITION} ON {database}.* TO {MIGRATOR}")
    statements += [f"GRANT INSERT ON {database}.{table} TO {WRITER}" for table in WRITTEN]
    statements += [f"GRANT SELECT ON {database}.{table} TO {WRITER}" for table in READ_BY_WORKERS]
    statements += [
        f"GRANT SELECT, ALTER DELETE ON {database}.{table} TO {ERASER}" for table in (*WRITTEN, *FILLED, *FIGURES)
    ]
    statements += [
        f"GRANT SELECT ON {database}.{table} TO {', '.join([READER, *readers.values()])}" for table in BY_TENANT
    ]
    # Where a table has policies, a role that none of them names sees nothing of it.
    everybody = ", ".join((MIGRATOR, WRITER, ERASER, READER))
    for table in BY_TENANT:
        statements.append(_policy("touchstone_all", database, table, "1", everybody))
        statements += [
            _policy(role, database, table, f"tenant = {_text(tenant)}", role) for tenant, role in readers.items()
        ]
    return statements


def _policy(name: str, database: str, table: str, condition: str, roles: str) -> str:
    return f"CREATE ROW POLICY IF NOT EXISTS {name} ON {database}.{table} FOR SELECT USING {condition} TO {roles}"


def _name(name: str) -> str:
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"


def _text(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
