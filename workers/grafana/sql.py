"""Write named queries for Grafana's ClickHouse data source: macros and variables replace parameters."""

from collections.abc import Mapping, Sequence

from workers.stores.clickhouse.named_queries import NamedQuery, named_query

MACROS = {
    "from": "toTimeZone($__fromTime_ms, 'UTC')",
    "to": "toTimeZone($__toTime_ms, 'UTC')",
    "interval": "toUInt32(greatest(3600, $__interval_s))",
    "tenant": "${tenant:sqlstring}",
    "run": "${run:sqlstring}",
    "by": "${by:raw}",
}
"""Replacements of parameters that the viewer sets by the time picker or a variable."""

_DATABASE = "{database:Identifier}."


def panel_sql(name: str, given: Mapping[str, str | float] | None = None, columns: Sequence[str] = ()) -> str:
    """Return the SQL of a panel; tables are read from the data source's database.

    Args:
        name: name of the query.
        given: parameter values that this panel fixes; they override variables.
        columns: columns to select; all if empty.

    Raises:
        UnknownQuery: no query has that name.
        ValueError: a parameter has neither a value nor a variable.
    """
    query = named_query(name)
    fixed = {parameter: _literal(value) for parameter, value in (given or {}).items()}
    sql = _filled(query, MACROS | fixed).strip()
    if not columns:
        return sql
    inner = sql.replace("\n", "\n    ")
    order = ", ".join(column for column in columns if column in ("time", "name"))
    # The outer query does not keep the order of the inner query.
    return f"SELECT {', '.join(columns)}\nFROM (\n    {inner}\n)\nORDER BY {order}"


def _filled(query: NamedQuery, words: Mapping[str, str]) -> str:
    sql = query.sql.replace(_DATABASE, "")
    for parameter, kind in query.parameters.items():
        if parameter == "database":
            continue
        if parameter not in words:
            raise ValueError(f"the panel of {query.name} must fix {parameter}")
        sql = sql.replace(f"{{{parameter}:{kind}}}", words[parameter])
    return sql


def _literal(value: str | float) -> str:
    return str(value) if isinstance(value, int | float) else "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
