"""Panels as Grafana reads them: one small class a kind, and how they are laid out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from workers.grafana.sql import panel_sql
from workers.stores.queries import named_query

CLICKHOUSE = {"type": "grafana-clickhouse-datasource", "uid": "touchstone-clickhouse"}
PROMETHEUS = {"type": "prometheus", "uid": "touchstone-prometheus"}
"""Data sources by the identifiers that deploy/grafana/provisioning gives them."""

WIDTH = 24
"""Columns of Grafana's grid."""

ANSWER_LINK = {
    "title": "Open in the console",
    # Identifiers are of others' making: a ?, # or % in one would end or change the path.
    "url": "${console}/answers/${__value.raw:percentencode}",
    "targetBlank": True,
}
"""From a cell with an answer's identifier to the answer."""

Kind = Literal["timeseries", "table", "barchart", "stat"]
_FORMATS = {"timeseries": ("timeseries", 0), "table": ("table", 1)}


@dataclass(frozen=True, slots=True)
class Panel:
    """What all panels have.

    Attributes:
        title: of the panel.
        description: what is seen, and what to do about it.
        kind: how it is drawn.
        unit: Grafana's name of the unit, as ``percentunit`` or ``s``.
        width: of 24 columns.
        height: in rows of 30 pixels.
        stacked: whether series add up.
        maximum: upper end of the scale, if it has one.
        links: titles and paths in the console, instead of those of the dashboard.
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

    def targets(self) -> list[dict[str, Any]]:
        """What is asked, and whom."""
        raise NotImplementedError

    def overrides(self) -> list[dict[str, Any]]:
        """What holds for single columns."""
        return []

    def as_json(self, number: int, x: int, y: int, links: Mapping[str, str]) -> dict[str, Any]:
        """The panel at a place of the grid.

        Args:
            number: of the panel on its dashboard.
            x: its first column.
            y: its first row.
            links: titles and paths in the console, for a panel that has none of its own.
        """
        targets = self.targets()
        return {
            "id": number,
            "type": self.kind,
            "title": self.title,
            "description": self.description,
            "datasource": targets[0]["datasource"],
            "gridPos": {"x": x, "y": y, "w": self.width, "h": self.height},
            "fieldConfig": {"defaults": self._defaults(), "overrides": self.overrides()},
            "options": self._options(),
            "links": [
                {"title": title, "url": f"${{console}}{path}", "targetBlank": True}
                for title, path in (self.links or links).items()
            ],
            "targets": targets,
        }

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
    """A panel on a named question to ClickHouse.

    Attributes:
        query: the question's name.
        columns: of its columns only these.
        given: values of parameters that this panel fixes.
        units: units of single columns.
    """

    query: str = ""
    columns: Sequence[str] = ()
    given: Mapping[str, str | float] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)

    def targets(self) -> list[dict[str, Any]]:
        """One query, as SQL."""
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
        """Units of columns, and answers that open in the console."""
        found = [_override(column, {"id": "unit", "value": unit}) for column, unit in self.units.items()]
        if self.kind == "table" and "answer_id" in named_query(self.query).sql.partition("FROM")[0]:
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
        """One query a series, as PromQL."""
        return [
            {"refId": chr(ord("A") + place), "datasource": PROMETHEUS, "expr": expression, "legendFormat": legend}
            for place, (legend, expression) in enumerate(self.series.items())
        ]


def laid_out(panels: Sequence[Panel], links: Mapping[str, str]) -> list[dict[str, Any]]:
    """Panels from left to right in rows; a row is as high as its highest panel.

    Args:
        panels: in order.
        links: titles and paths in the console, for panels that have none of their own.
    """
    placed, x, y, height = [], 0, 0, 0
    for number, panel in enumerate(panels, 1):
        if x + panel.width > WIDTH:
            x, y, height = 0, y + height, 0
        placed.append(panel.as_json(number, x, y, links))
        x, height = x + panel.width, max(height, panel.height)
    return placed
