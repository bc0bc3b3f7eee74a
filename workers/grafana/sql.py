"""Named questions in the words of Grafana's ClickHouse data source: macros and variables for parameters."""

from collections.abc import Mapping, Sequence

from workers.stores.queries import NamedQuery, named_query

MACROS = {
    "from": "toTimeZone($__fromTime_ms, 'UTC')",
    "to": "toTimeZone($__toTime_ms, 'UTC')",
    "interval": "toUInt32(greatest(3600, $__interval_s))",
    "tenant": "${tenant:sqlstring}",
    "run": "${run:sqlstring}",
    "by": "${by:raw}",
}
"""What stands for a parameter that the reader chooses by the time picker or a variable."""

_DATABASE = "{database:Identifier}."


def panel_sql(name: str, given: Mapping[str, str | float] | None = None, columns: Sequence[str] = ()) -> str:
    """The SQL of a panel; tables are those of the data source's database.

    Args:
        name: of the question.
        given: values of parameters that this panel fixes; they win over variables.
        columns: of its columns only these, where a panel draws a part.

    Raises:
        UnknownQuery: there is none of that name.
        ValueError: a parameter has neither a value nor a variable.
    """
    query = named_query(name)
    fixed = {parameter: _literal(value) for parameter, value in (given or {}).items()}
    sql = _filled(query, MACROS | fixed).strip()
    if not columns:
        return sql
    inner = sql.replace("\n", "\n    ")
    order = ", ".join(column for column in columns if column in ("time", "name"))
    # An order within is none outside.
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
