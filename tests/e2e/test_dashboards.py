"""Every panel and every named question on ClickHouse as the real pipeline fills it, and again after a redelivery."""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.metrics import MetricWrapperBase

from tests.harness.deployment import Deployment
from tests.harness.paths import ROOT
from tests.harness.pipeline import EXAMPLES, UNHURRIED, WHEN, Pipeline
from workers.grafana.__main__ import files
from workers.grafana.dashboards import DASHBOARDS, drift_alert
from workers.grafana.panels import CLICKHOUSE, PROMETHEUS
from workers.observability import metrics
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.named_queries import read_queries

GRAFANA = ROOT / "deploy" / "grafana"
WEEK = timedelta(days=7)


def a_week_earlier(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The same answer, asked and given a week earlier."""
    times = {name: answer[name] for name in ("requested_at", "completed_at") if answer.get(name)}
    return {**answer, **{name: (datetime.fromisoformat(time) - WEEK).isoformat() for name, time in times.items()}}


def chosen() -> Iterator[dict[str, Any]]:
    """Every sixth example; of the first week's every other one is put before the time that is asked about."""
    for number, answer in enumerate(EXAMPLES[::6]):
        at = datetime.fromisoformat(answer["completed_at"]).replace(tzinfo=None)
        yield a_week_earlier(answer) if number % 2 and at < WHEN["from"] + WEEK else answer


ANSWERS = list(chosen())
"""Enough for every figure, invalid references and a week before to have drifted from among them, and few enough to be
judged in half a minute."""

pytestmark = pytest.mark.timeout(1200)


@pytest.fixture(scope="module")
def pipeline(addresses: Addresses, tmp_path_factory: pytest.TempPathFactory, int8_folder: Path) -> Iterator[Pipeline]:
    directory = tmp_path_factory.mktemp("dashboards")
    deployment = Deployment(addresses, directory, environment=dict(UNHURRIED), int8=int8_folder)
    with asyncio.Runner() as runner:
        filled = Pipeline(deployment, runner, ANSWERS)
        try:
            runner.run(filled.fill())
            yield filled
        finally:
            runner.run(deployment.close())


def as_grafana(sql: str, by: str = "model_id") -> str:
    """What the data source makes of macros and variables: all tenants, the live run."""
    since, until_ = (int(WHEN[name].replace(tzinfo=UTC).timestamp() * 1000) for name in ("from", "to"))
    for macro, value in (
        ("$__fromTime_ms", f"fromUnixTimestamp64Milli({since})"),
        ("$__toTime_ms", f"fromUnixTimestamp64Milli({until_})"),
        ("$__interval_s", "86400"),
        ("${tenant:sqlstring}", "''"),
        ("${run:sqlstring}", "'live'"),
        ("${by:raw}", by),
    ):
        sql = sql.replace(macro, value)
    assert "$" not in sql, sql
    assert "{" not in sql, sql
    return sql


CLICKHOUSE_PANELS = {
    f"{dashboard.title}: {panel.title}": target["rawSql"]
    for dashboard in DASHBOARDS
    for panel in dashboard.panels
    for target in panel.targets()
    if target["datasource"] == CLICKHOUSE
}


@pytest.mark.parametrize("name", read_queries())
def test_every_question_is_answered_with_rows(pipeline: Pipeline, name: str) -> None:
    assert pipeline.answered(name)


@pytest.mark.parametrize("panel", CLICKHOUSE_PANELS)
def test_every_panel_shows_something(pipeline: Pipeline, panel: str) -> None:
    assert pipeline.ask(as_grafana(CLICKHOUSE_PANELS[panel]))


@pytest.mark.parametrize("by", ["prompt_version", "query_type"])
def test_the_panels_that_compare_do_so_by_each_choice(pipeline: Pipeline, by: str) -> None:
    for panel, sql in CLICKHOUSE_PANELS.items():
        if "${by:raw}" in sql:
            assert pipeline.ask(as_grafana(sql, by)), panel


def test_figures_agree_with_the_raw_rows(pipeline: Pipeline) -> None:
    """Counted by another way: from the raw tables, without facts and hours."""
    (raw,) = pipeline.ask(
        "SELECT count(), countIf(hallucination_risk = 'high'), sum(claims_contradicted), avg(grounding_score), "
        "sum(citations_total) FROM answers FINAL WHERE run = 'live'"
    )
    (figures,) = pipeline.ask(
        "SELECT sum(answers), sum(risk_high), sum(h.claims_contradicted), sum(grounding_sum) / sum(grounding_scored), "
        "sum(citations) FROM answer_hours AS h FINAL WHERE run = 'live'"
    )
    assert raw[0] == len(ANSWERS)
    assert figures == pytest.approx(raw)
    # Figures count the author's citations, the table also those that were added for readers.
    (cited,) = pipeline.ask(
        "SELECT count() FROM citations FINAL WHERE valid AND NOT has(forms, 'attributed') AND run = 'live'"
    )
    assert pipeline.ask("SELECT sum(citations) FROM source_hours FINAL WHERE run = 'live'") == [cited]
    assert figures[-1] == cited[0]


def comparable(value: Any) -> Any:
    """Sums of floats depend on their order in the last digits."""
    return round(value, 9) if isinstance(value, float) else value


def compared(rows: Sequence[Mapping[str, Any]], *, without: Set[str], ordered: bool) -> list[dict[str, Any]]:
    """Rows without some columns, in their order or in that of what they hold."""
    kept = [{name: comparable(value) for name, value in row.items() if name not in without} for row in rows]
    return kept if ordered else sorted(kept, key=str)


# Last in this file, since it writes again what the others read; they would see the same.
def test_a_redelivered_topic_leaves_every_figure_as_it_was(pipeline: Pipeline) -> None:
    # Durations are measured anew at each judgement, and those of the last one are told: they differ, and so does the
    # order by them. What the stages have judged, and when, stays as it was.
    measured = {
        "slowest_stages": {"mean_seconds", "median_seconds", "p95_seconds", "p99_seconds", "max_seconds"},
        "stages_over_time": {"p95_seconds"},
    }
    anew = {"response_seconds", "grounding_seconds", "validated_at", "created_at"}

    def figures() -> dict[str, Any]:
        return {
            name: compared(
                pipeline.answered(name), without=anew | measured.get(name, set()), ordered=name not in measured
            )
            for name in read_queries()
        }

    before = figures()
    pipeline.runner.run(pipeline.redeliver())
    after = figures()
    for name, rows in before.items():
        assert after[name] == rows, name


# --- what is checked in ----------------------------------------------------------------------


def test_the_files_are_what_the_generator_makes() -> None:
    """After a change: python -m workers.grafana"""
    made = files()
    for path, text in made.items():
        assert (GRAFANA / path).read_text(encoding="utf-8") == text, path
    assert {path.name for path in (GRAFANA / "dashboards").iterdir()} == {
        Path(path).name for path in made if path.startswith("dashboards/")
    }


def test_panels_have_titles_units_descriptions_and_links_and_do_not_overlap() -> None:
    for dashboard in DASHBOARDS:
        content = dashboard.as_json()
        assert len({panel["title"] for panel in content["panels"]}) == len(content["panels"])
        cells: set[tuple[int, int]] = set()
        for panel in content["panels"]:
            assert panel["description"], panel["title"]
            assert panel["fieldConfig"]["defaults"]["unit"], panel["title"]
            assert panel["links"], panel["title"]
            assert all(link["url"].startswith("${console}/") for link in panel["links"]), panel["title"]
            place = panel["gridPos"]
            covered = {
                (x, y)
                for x in range(place["x"], place["x"] + place["w"])
                for y in range(place["y"], place["y"] + place["h"])
            }
            assert place["x"] + place["w"] <= 24
            assert not cells & covered, panel["title"]
            cells |= covered
    assert len({dashboard.uid for dashboard in DASHBOARDS}) == len(DASHBOARDS) == 5


def test_answers_and_reviews_open_in_the_console() -> None:
    text = "".join(files("https://console.example.com").values())
    assert '"https://console.example.com"' in text
    assert "${console}/answers/${__value.raw:percentencode}?tenant=" in text
    assert "${console}/review" in text


def test_data_sources_have_the_identifiers_that_panels_name() -> None:
    source = yaml.safe_load((GRAFANA / "provisioning" / "datasources" / "touchstone.yaml").read_text())
    provisioned = {(one["uid"], one["type"]) for one in source["datasources"]}
    assert provisioned == {(one["uid"], one["type"]) for one in (CLICKHOUSE, PROMETHEUS)}
    provider = yaml.safe_load((GRAFANA / "provisioning" / "dashboards" / "touchstone.yaml").read_text())
    assert provider["providers"][0]["type"] == "file"


def test_variables_that_panels_use_are_there() -> None:
    for dashboard in DASHBOARDS:
        content = dashboard.as_json()
        there = {variable["name"] for variable in content["templating"]["list"]}
        text = json.dumps(content["panels"])
        used = set(re.findall(r"\$\{(\w+)[:}]", text)) - {"__value"}
        assert used <= there, dashboard.title


METRICS = {
    name: set(metric._labelnames)
    for metric in vars(metrics).values()
    if isinstance(metric, MetricWrapperBase)
    for name in (
        [metric._name + ending for ending in ("_bucket", "_sum", "_count")] if metric._type == "histogram"
        else [metric._name + "_total"] if metric._type == "counter"
        else [metric._name + "_info"] if metric._type == "info"
        else [metric._name]
    )
}  # fmt: skip
"""Series of the worker with their labels."""


def test_every_series_that_operations_shows_is_one_of_the_workers_with_these_labels() -> None:
    (operations,) = (dashboard for dashboard in DASHBOARDS if dashboard.uid == "touchstone-operations")
    expressions = [target["expr"] for panel in operations.panels for target in panel.targets()]
    named = {name for expression in expressions for name in re.findall(r"touchstone_\w+", expression)}
    assert named <= set(METRICS)
    assert len(named) > 20
    for panel in operations.panels:
        for target in panel.targets():
            labels = set().union(*(METRICS[name] for name in re.findall(r"touchstone_\w+", target["expr"])))
            grouped = {
                label.strip()
                for group in re.findall(r"by \(([^)]*)\)", target["expr"])
                for label in group.split(",")
            }  # fmt: skip
            selected = set(re.findall(r"(\w+)=\"", target["expr"]))
            shown = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
            assert (grouped | selected | shown) - {"le", "instance"} <= labels, (panel.title, target)


def test_the_alert_on_drift_asks_what_clickhouse_can_answer(pipeline: Pipeline) -> None:
    (rule,) = drift_alert()["groups"][0]["rules"]
    pipeline.ask(as_grafana(rule["data"][0]["model"]["rawSql"]))
    assert "${" not in rule["data"][0]["model"]["rawSql"], "alerts know no variables"
