"""Colours mean the same in the console and on every dashboard: high was green where colours followed the order."""

import json
import re
from typing import Any, get_args

from benchmarks import dashboard_pictures
from schemas.base import RiskLevel
from schemas.enriched import ReleaseState
from tests.harness.paths import ROOT

DASHBOARDS = {path.stem: json.loads(path.read_text()) for path in (ROOT / "deploy/grafana/dashboards").glob("*.json")}
PANELS = [panel for dashboard in DASHBOARDS.values() for panel in dashboard["panels"]]
NAMED = [*get_args(RiskLevel), *get_args(ReleaseState), "none", "not_judged"]
"""Series that have a meaning: risks and states."""
SAME = {"bad": "red", "doubt": "orange", "good": "green", "data": "blue"}
"""Colours of Grafana by the console's names."""
COLOURED = {
    "Answers",
    "Answers by hallucination risk",
    "Answers shown without evaluation",
    "Decisions",
    "Hallucination risk",
    "Requests",
}
BAD = {"Dead letters", "Failed evaluations", "High risk", "Invalid references", "Repeated, failed, slow"}
DOUBTFUL = {"Degraded answers", "Retries", "Waiting and stopped agents"}
"""Panels all of whose series are bad or doubtful, whatever their names."""


def colour_of(panel: dict[str, Any], series: str) -> str | None:
    """Return the colour that a panel fixes for a series."""
    for override in panel["fieldConfig"]["overrides"]:
        if override["matcher"]["id"] == "byRegexp" and re.search(override["matcher"]["options"].strip("/"), series):
            return next(each["value"]["fixedColor"] for each in override["properties"] if each["id"] == "color")
    return None


def in_console(name: str) -> str:
    """Return the colour of a risk or a state in the console; neutral if its style names none."""
    style = (ROOT / "workers/console/static/css/console.css").read_text()
    kind = "risk" if name in get_args(RiskLevel) else "state"
    found = re.search(
        rf"^[^{{}}\n]*\.{kind}\.{name}\b[^{{}}\n]*\{{[^}}]*[; ]color: var\(--(\w+)\)", style, re.MULTILINE
    )
    return SAME[found[1]] if found else "gray"


def drawn(panel: dict[str, Any]) -> set[str]:
    """Return the risks and states among the series of a panel."""
    asked = " ".join(target.get("rawSql", "") + target.get("legendFormat", "") for target in panel["targets"])
    if panel["type"] == "table":
        return set()
    labels = {"{{risk_level}}": {*get_args(RiskLevel), "none"}, "{{state}}": {*get_args(ReleaseState)}}
    of_labels = [names for label, names in labels.items() if label in asked]
    return set(re.findall(r"\w+", asked)).intersection(NAMED).union(*of_labels)


def test_a_risk_and_a_state_have_their_colour_wherever_they_are_drawn() -> None:
    panels = [panel for panel in PANELS if drawn(panel)]
    assert {panel["title"] for panel in panels} >= COLOURED
    for panel in panels:
        names = sorted(drawn(panel))
        assert {name: colour_of(panel, name) for name in names} == {name: in_console(name) for name in names}, panel[
            "title"
        ]
        assert colour_of(panel, "highest") is None


def test_meanings_of_the_colours() -> None:
    assert [in_console(name) for name in ("high", "medium", "low", "rejected", "not_judged")] == [
        "red", "orange", "green", "red", "gray",
    ]  # fmt: skip


def test_a_panel_of_what_is_bad_or_doubtful_has_no_green_line() -> None:
    shades = {panel["title"]: panel["fieldConfig"]["defaults"].get("color") for panel in PANELS}
    for titles, colour in ((BAD, "red"), (DOUBTFUL, "orange")):
        for title in titles:
            assert shades[title] == {"mode": "shades", "fixedColor": colour}, title


def test_a_figure_that_says_whether_something_is_available_is_red_when_it_is_not() -> None:
    for panel in (panel for panel in PANELS if panel["type"] == "stat"):
        steps = panel["fieldConfig"]["defaults"]["thresholds"]["steps"]
        assert [(step["value"], step["color"]) for step in steps] == [(None, "red"), (1, "green")], panel["title"]


def test_the_pictures_of_the_dashboards_have_the_same_colours() -> None:
    assert {name: dashboard_pictures.COLOURS[name] for name in NAMED} == {
        name: f"tab:{in_console(name)}" for name in NAMED
    }
