"""Prometheus files: accepted by its own tool, about metrics that exist, and each alert can be looked up."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import generate_latest

from tests.harness.paths import ROOT
from workers.observability import metrics
from workers.runtime.agent_choice import AGENTS, EXPORTERS

FOLDER = ROOT / "deploy" / "prometheus"
RULES = sorted((FOLDER / "rules").glob("*.rules.yml"))
OPERATIONS = (ROOT / "docs" / "operations" / "alerts.md").read_text(encoding="utf-8")
METRIC = re.compile(r"\b(?:touchstone|process)_\w+")


def rules(kind: str) -> list[dict[str, Any]]:
    content = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in RULES]
    return [rule for file in content for group in file["groups"] for rule in group["rules"] if kind in rule]


ALERTS = {rule["alert"]: rule for rule in rules("alert")}
RECORDED = {rule["record"]: rule for rule in rules("record")}


def exposed() -> set[str]:
    """Names of all series that a worker tells, those of its process included."""
    assert metrics.BUILD
    names = set(re.findall(r"^# TYPE (\S+)", generate_latest().decode(), re.M))
    return names | {f"{name}_{part}" for name in names for part in ("bucket", "count", "sum")}


def promtool(*arguments: str | Path) -> None:
    tool = shutil.which("promtool")
    if tool is None:
        pytest.skip("promtool is not installed; Debian's package prometheus brings it (make tools)")
    finished = subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr


def test_prometheus_accepts_its_configuration_and_the_rules_that_it_names() -> None:
    promtool("check", "config", FOLDER / "prometheus.yml")
    promtool("check", "rules", "--lint-fatal", *RULES)
    named = yaml.safe_load((FOLDER / "prometheus.yml").read_text(encoding="utf-8"))["rule_files"]
    assert {path for pattern in named for path in FOLDER.glob(pattern)} == set(RULES)


def test_each_alert_fires_on_its_trouble_and_none_in_an_ordinary_hour() -> None:
    promtool("test", "rules", FOLDER / "tests" / "alerts.test.yml")


def test_a_process_that_does_nothing_yet_changes_no_alert(tmp_path: Path) -> None:
    """The shipped tests hold beside a further process with all that it exports from its start."""
    program = "from prometheus_client import generate_latest; import workers.observability.metrics; "
    command = [sys.executable, "-c", program + "print(generate_latest().decode())"]
    exported = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    series = re.findall(r"^(touchstone_\w+)(?:\{(.*)\})? (\S+)$", exported, re.M)
    beside = [
        {"series": f'{name}{{{labels + "," if labels else ""}instance="new"}}', "values": f"{value}x120"}
        for name, labels, value in series
        if not name.endswith("_created")
    ]
    content = yaml.safe_load((FOLDER / "tests" / "alerts.test.yml").read_text(encoding="utf-8"))
    content["rule_files"] = [str(path) for path in RULES]
    for test in content["tests"]:
        test["input_series"] += beside
    (tmp_path / "beside.test.yml").write_text(yaml.safe_dump(content))
    promtool("test", "rules", tmp_path / "beside.test.yml")


def test_every_alert_is_tested_to_fire_and_to_be_silent() -> None:
    tests = yaml.safe_load((FOLDER / "tests" / "alerts.test.yml").read_text(encoding="utf-8"))["tests"]
    cases = [case for test in tests for case in test["alert_rule_test"]]
    assert {case["alertname"] for case in cases if case["exp_alerts"]} == set(ALERTS)
    assert {case["alertname"] for case in cases if not case["exp_alerts"]} == set(ALERTS)


@pytest.mark.parametrize("rule", [*ALERTS.values(), *RECORDED.values()], ids=[*ALERTS, *RECORDED])
def test_every_series_of_a_rule_exists(rule: dict[str, Any]) -> None:
    expression = rule["expr"]
    for name in RECORDED:
        expression = expression.replace(name, "")
    named = set(METRIC.findall(expression))
    assert named <= exposed()
    assert named or any(name in rule["expr"] for name in RECORDED) or "up{" in rule["expr"]


@pytest.mark.parametrize("alert", ALERTS.values(), ids=ALERTS)
def test_every_alert_says_how_bad_it_is_and_leads_to_its_section(alert: dict[str, Any]) -> None:
    assert alert["labels"]["severity"] in ("warning", "critical")
    link, _, anchor = alert["annotations"]["runbook_url"].partition("#")
    assert link == "{{ $externalLabels.runbooks }}"
    assert anchor == alert["alert"].lower()
    section = re.search(rf"^### {alert['alert']}\n\n(.+?)(?=\n#)", OPERATIONS, re.M | re.S)
    assert section is not None
    assert len(section[1]) > 60


def test_no_section_is_about_an_alert_that_does_not_exist() -> None:
    assert set(re.findall(r"^### (Touchstone\w+)$", OPERATIONS, re.M)) == set(ALERTS)


def test_every_recorded_series_is_asked_for() -> None:
    asked = "".join(rule["expr"] for rule in ALERTS.values())
    boards = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "deploy").rglob("*.json"))
    assert {name for name in RECORDED if name not in asked + boards} == set()


def test_the_alerts_on_waiting_tell_exporters_from_all_other_agents() -> None:
    """One is for the night, the other for the morning; an agent without either would wait unseen."""
    (others,) = re.findall(r'kind!="([^"]+)"', ALERTS["TouchstoneSinkPaused"]["expr"])
    (exporters,) = re.findall(r'kind="([^"]+)"', ALERTS["TouchstoneReceiverAway"]["expr"])
    assert {others} == {exporters} == {agent.kind for agent in EXPORTERS.values()}
    assert exporters not in {agent.kind for agent in AGENTS.values()}


def test_every_agent_that_always_runs_is_missed() -> None:
    watched = re.findall(
        r'absent\(touchstone_consumer_lag_records\{agent="([^"]+)"\}\)', ALERTS["TouchstoneAgentMissing"]["expr"]
    )
    assert watched == list(AGENTS)
