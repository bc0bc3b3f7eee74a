"""Generate ClickHouse roles with the least privileges, and keep tenants apart.

The statements are generated for an administrator to run; the worker never grants anything.

==============================  =======================================================================
role                            may
==============================  =======================================================================
``touchstone_migrator``         create and alter tables and views, set their retention (``touchstone migrate``)
``touchstone_writer``           insert rows, read what agents read: feedback, rewards, answers, citations
``touchstone_eraser``           find and delete a person's rows (``touchstone forget``)
``touchstone_promoter``         list, promote, demote and delete replays (``touchstone runs``)
``touchstone_reader``           read all tenants' rows: dashboards, console
``touchstone_reader_<tenant>``  read only that tenant's rows, within limits that its queries cannot raise
==============================  =======================================================================
"""

from collections.abc import Sequence

from workers.stores.clickhouse.retention import FIGURES
from workers.stores.tables.all_tables import FILLED, OF_RUN, WRITTEN, table_names

READ_BY_WORKERS = (
    "answers", "scores", "citations", "feedback", "rewards", "reviews", "review_queue", "review_decisions", "review_events",
    "dead_letters", "versions", "replays", "schema_migrations",
)  # fmt: skip
"""Tables that agents and commands read: known feedback, ratings, the applied schema."""

INSERTED = table_names(WRITTEN)
"""Tables that workers insert into. Views fill the others with the rights of their definer."""

ALL = (*INSERTED, *table_names(FILLED), *FIGURES)
"""All tables with rows of answers."""

BY_TENANT = (*table_names((*WRITTEN, *FILLED), "tenant"), *FIGURES)
"""Tables whose rows have a tenant. No tenant's reader sees the other ones."""

MIGRATOR, WRITER, ERASER, READER = "touchstone_migrator", "touchstone_writer", "touchstone_eraser", "touchstone_reader"
PROMOTER = "touchstone_promoter"

DEFINITION = (
    "SELECT, INSERT, ALTER TABLE, ALTER VIEW, CREATE DATABASE, CREATE TABLE, CREATE VIEW, DROP TABLE, DROP VIEW, "
    "OPTIMIZE, SYSTEM VIEWS"
)
"""Privileges for migrations. SYSTEM VIEWS allows an immediate refresh of figures."""


READER_LIMITS = (
    "max_execution_time = 30 MIN 1 MAX 60, max_memory_usage = 2000000000 MIN 1 MAX 2000000000, "
    "max_threads = 4 MIN 1 MAX 4, max_result_rows = 1000000 MIN 1 MAX 1000000, readonly = 2"
)
"""Limits of a tenant's reader. A query may lower them, and neither raise them nor switch them off with 0."""


def role_statements(database: str, tenants: Sequence[str] = ()) -> list[str]:
    """Return the statements that an administrator runs once, and again for further tenants.

    Args:
        database: name of the database with the tables, which must exist.
        tenants: tenants that get a reader of their own.
    """
    readers = {tenant: _name(f"{READER}_{tenant}") for tenant in tenants}
    roles = [MIGRATOR, WRITER, ERASER, PROMOTER, READER, *readers.values()]
    statements = [f"CREATE ROLE IF NOT EXISTS {role}" for role in roles]
    statements.append(f"GRANT {DEFINITION} ON {database}.* TO {MIGRATOR}")
    statements += [f"GRANT INSERT ON {database}.{table} TO {WRITER}" for table in INSERTED]
    statements += [f"GRANT SELECT ON {database}.{table} TO {WRITER}" for table in READ_BY_WORKERS]
    statements += [f"GRANT SELECT, ALTER DELETE ON {database}.{table} TO {ERASER}" for table in ALL]
    # An erasure looks at the version of the schema, and empties places in the list of the worst answers.
    statements.append(f"GRANT SELECT ON {database}.schema_migrations TO {ERASER}")
    statements.append(f"GRANT INSERT ON {database}.worst_hours TO {ERASER}")
    statements += [f"GRANT SELECT, ALTER DELETE ON {database}.{table} TO {PROMOTER}" for table in OF_RUN]
    statements += [
        f"GRANT SELECT ON {database}.{table} TO {PROMOTER}"
        for table in ("promoted_hours", "promotions", "schema_migrations")
    ]
    statements.append(f"GRANT INSERT ON {database}.promotions TO {PROMOTER}")
    # A promotion refreshes the figures.
    statements.append(f"GRANT SYSTEM VIEWS ON {database}.* TO {PROMOTER}")
    statements += [
        f"GRANT SELECT ON {database}.{table} TO {', '.join([READER, *readers.values()])}" for table in BY_TENANT
    ]
    statements += [
        f"CREATE SETTINGS PROFILE IF NOT EXISTS {role} SETTINGS {READER_LIMITS} TO {role}" for role in readers.values()
    ]
    # A role that no policy of a table names sees none of its rows.
    everybody = ", ".join((MIGRATOR, WRITER, ERASER, PROMOTER, READER))
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
