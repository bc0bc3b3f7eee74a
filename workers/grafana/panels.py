"""Define panels in Grafana's JSON model, one class for each kind, and their layout."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from workers.grafana.sql import panel_sql
from workers.stores.clickhouse.named_queries import named_query

CLICKHOUSE = {"type": "grafana-clickhouse-datasource", "uid": "touchstone-clickhouse"}
PROMETHEUS = {"type": "prometheus", "uid": "touchstone-prometheus"}
"""Data sources, with the identifiers from deploy/grafana/provisioning."""

WIDTH = 24
"""Columns of Grafana's grid."""

ANSWER_LINK = {
    "title": "Open in the console",
    # Identifiers come from other systems: a ?, # or % would end or change the path.
    "url": "${console}/answers/${__value.raw:percentencode}?tenant=${__data.fields.tenant:percentencode}",
    "targetBlank": True,
}
"""Link from a cell with an answer's identifier to the answer of the row's tenant: two tenants can use one identifier."""

COLOURS: Mapping[str, tuple[str, ...]] = {
    "red": ("high", "held", "rejected"),
    "orange": ("medium", "warned", "fallback"),
    "green": ("low", "released"),
    "blue": ("replaced",),
    "gray": ("none", "not_judged"),
}
"""Names of series by colour: risks and states have the colours that they have in the console."""

Kind = Literal["timeseries", "table", "barchart", "stat"]
_FORMATS = {"timeseries": ("timeseries", 0), "table": ("table", 1)}


@dataclass(frozen=True, slots=True)
class Panel:
    """The common properties of all panels.

    Attributes:
        title: title of the panel.
        description: meaning of the values, and the action to take.
        kind: Grafana's type of the visualization.
        unit: Grafana's name of the unit, such as ``percentunit`` or ``s``.
        width: width in columns, of 24.
        height: height in rows of 30 pixels.
        stacked: true if series are stacked.
        maximum: upper end of the scale, if fixed.
        links: titles and paths in the console, instead of the links of the dashboard.
        is_coloured: true if series are risks or states, which have fixed colours.
        shades: colour of all series, in shades, if all are bad or doubtful; else colours only tell series apart.
    """

    title: str
    description: str
    kind: Kind = "timeseries"
    unit: str = "short"
    width: int = 12
    height: int = 8
    stacked: bool = False
    maximum: float | None = None
    links: Mapping[str, str] = field(default_factory=dict)
    is_coloured: bool = False
    shades: str = ""

    def targets(self) -> list[dict[str, Any]]:
        """Return the queries of the panel with their data sources."""
        raise NotImplementedError

    def overrides(self) -> list[dict[str, Any]]:
        """Return Grafana's overrides for single columns."""
        return []

    def as_json(self, number: int, x: int, y: int, links: Mapping[str, str]) -> dict[str, Any]:
        """Return the panel at a position of the grid.

        Args:
            number: number of the panel on its dashboard.
            x: first column.
            y: first row.
            links: titles and paths in the console, for a panel without links.
        """
        targets = self.targets()
        return {
            "id": number,
            "type": self.kind,
            "title": self.title,
            "description": self.description,
            "datasource": targets[0]["datasource"],
            "gridPos": {"x": x, "y": y, "w": self.width, "h": self.height},
            "fieldConfig": {"defaults": self._defaults(), "overrides": [*self.overrides(), *self._colours()]},
            "options": self._options(),
            "links": [
                {"title": title, "url": f"${{console}}{path}", "targetBlank": True}
                for title, path in (self.links or links).items()
            ],
            "targets": targets,
        }

    def _colours(self) -> list[dict[str, Any]]:
        return [
            {
                "matcher": {"id": "byRegexp", "options": f"/^(?:{'|'.join(names)})$/"},
                "properties": [{"id": "color", "value": {"mode": "fixed", "fixedColor": colour}}],
            }
            for colour, names in (COLOURS if self.is_coloured else {}).items()
        ]

    def _defaults(self) -> dict[str, Any]:
        defaults: dict[str, Any] = {"unit": self.unit, "noValue": "no data"}
        if self.kind == "timeseries":
            defaults["min"] = 0
            defaults["custom"] = {
                "lineWidth": 1,
                "fillOpacity": 60 if self.stacked else 10,
                "showPoints": "auto",
                "stacking": {"mode": "normal" if self.stacked else "none", "group": "A"},
            }
        if self.shades:
            defaults["color"] = {"mode": "shades", "fixedColor": self.shades}
        if self.kind == "stat":
            steps = [{"value": None, "color": "red"}, {"value": 1, "color": "green"}]
            defaults["thresholds"] = {"mode": "absolute", "steps": steps}
        if self.maximum is not None:
            defaults["max"] = self.maximum
        return defaults

    def _options(self) -> dict[str, Any]:
        if self.kind == "timeseries":
            return {
                "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
                "tooltip": {"mode": "multi", "sort": "desc"},
            }
        if self.kind == "stat":
            return {"reduceOptions": {"calcs": ["lastNotNull"], "values": False}, "textMode": "value_and_name"}
        return {}


@dataclass(frozen=True, slots=True)
class Asked(Panel):
    """A panel on a named query to ClickHouse.

    Attributes:
        query: name of the query.
        columns: columns to show; all if empty.
        given: parameter values that this panel fixes.
        units: units of single columns.
    """

    query: str = ""
    columns: Sequence[str] = ()
    given: Mapping[str, str | float] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)

    def targets(self) -> list[dict[str, Any]]:
        """Return one query, as SQL."""
        query_type, form = _FORMATS["timeseries" if self.kind == "timeseries" else "table"]
        return [
            {
                "refId": "A",
                "datasource": CLICKHOUSE,
                "editorType": "sql",
                "queryType": query_type,
                "format": form,
                "rawSql": panel_sql(self.query, self.given, self.columns),
            }
        ]

    def overrides(self) -> list[dict[str, Any]]:
        """Return the units of columns, and links from answers to the console."""
        found = [_override(column, {"id": "unit", "value": unit}) for column, unit in self.units.items()]
        columns = named_query(self.query).sql.rpartition("\nSELECT")[2].partition("\nFROM")[0]
        if self.kind == "table" and re.search(r"\banswer_id\b", columns):
            found.append(_override("answer_id", {"id": "links", "value": [ANSWER_LINK]}))
        return found


def _override(column: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"matcher": {"id": "byName", "options": column}, "properties": [value]}


@dataclass(frozen=True, slots=True)
class Measured(Panel):
    """A panel on the worker's metrics.

    Attributes:
        series: PromQL by legend.
    """

    series: Mapping[str, str] = field(default_factory=dict)

    def targets(self) -> list[dict[str, Any]]:
        """Return one query for each series, as PromQL."""
        return [
            {"refId": chr(ord("A") + place), "datasource": PROMETHEUS, "expr": expression, "legendFormat": legend}
            for place, (legend, expression) in enumerate(self.series.items())
        ]


def laid_out(panels: Sequence[Panel], links: Mapping[str, str]) -> list[dict[str, Any]]:
    """Place panels from left to right in rows; a row is as high as its highest panel.

    Args:
        panels: panels in order.
        links: titles and paths in the console, for panels without links.
    """
    placed, x, y, height = [], 0, 0, 0
    for number, panel in enumerate(panels, 1):
        if x + panel.width > WIDTH:
            x, y, height = 0, y + height, 0
        placed.append(panel.as_json(number, x, y, links))
        x, height = x + panel.width, max(height, panel.height)
    return placed
