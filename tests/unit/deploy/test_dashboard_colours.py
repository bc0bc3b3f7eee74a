"""A risk and a release state have one colour on every dashboard: high was green where colours followed the order."""

import re
from typing import Any

from workers.grafana.dashboards import DASHBOARDS, DEFAULT_CONSOLE

COLOURED = {
    "Answers",
    "Answers by hallucination risk",
    "Answers shown without evaluation",
    "Decisions",
    "Hallucination risk",
}
"""Panels whose series are risks or states."""


def _colour(panel: dict[str, Any], series: str) -> str | None:
    for override in panel["fieldConfig"]["overrides"]:
        pattern = override["matcher"]["options"]
        if override["matcher"]["id"] == "byRegexp" and re.search(pattern.strip("/"), series):
            return str(override["properties"][0]["value"]["fixedColor"])
    return None


def test_risks_and_states_have_one_colour_on_every_dashboard() -> None:
    panels = [panel for dashboard in DASHBOARDS for panel in dashboard.as_json(DEFAULT_CONSOLE)["panels"]]
    coloured = [panel for panel in panels if panel["title"] in COLOURED and panel["type"] == "timeseries"]
    assert {panel["title"] for panel in coloured} == COLOURED
    for panel in coloured:
        found = [_colour(panel, name) for name in ("high", "held", "medium", "warned", "low", "released", "not_judged")]
        assert found == ["red", "red", "orange", "orange", "green", "green", "gray"], panel["title"]
        assert _colour(panel, "highest") is None
