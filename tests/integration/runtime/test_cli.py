"""The command line: help with examples, and errors in words with a way out."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
import typer
from typer.testing import CliRunner

from tests.harness.command import bare_environment, run_command_as_text
from tests.harness.forked_process import run_forked
from tests.harness.paths import ROOT
from workers.cli.main import app
from workers.cli.operation.bench import benchmarks
from workers.cli.output import read_settings
from workers.errors import TouchstoneError
from workers.runtime.agent_choice import AGENTS, UnknownAgent, agents_without, chosen_agents
from workers.settings import Settings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.migrations import read_migrations

Touchstone = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def touchstone(tmp_path: Path) -> Touchstone:
    """The command in an empty directory, with no services and no settings around."""

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        around = bare_environment() | {"NO_COLOR": "1", "COLUMNS": "200"} | environment
        return run_command_as_text(*arguments, folder=tmp_path, environment=around)

    return run


@pytest.fixture
def forked(tmp_path: Path) -> Touchstone:
    """The same as a process of its own, forked from one with the libraries imported."""

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        around = bare_environment() | {"NO_COLOR": "1", "COLUMNS": "200"} | environment
        done = asyncio.run(run_forked(*arguments, folder=tmp_path, environment=around))
        return subprocess.CompletedProcess(arguments, *done)

    return run


@pytest.fixture
def process(tmp_path: Path) -> Touchstone:
    """The same as a process that starts an interpreter."""
    clean = bare_environment() | {"PYTHONPATH": str(ROOT), "NO_COLOR": "1", "COLUMNS": "200"}

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "workers.cli", *arguments],
            cwd=tmp_path, env=clean | environment, capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip

    return run


def commands(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    children = getattr(command, "commands", None)
    if children is None:
        yield " ".join(path), command
        return
    for name, child in children.items():
        yield from commands(child, (*path, name))


COMMANDS = dict(commands(typer.main.get_command(app)))


def assert_told(done: subprocess.CompletedProcess[str], code: int, *parts: str) -> None:
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    # Libraries may have logged why; the last word is ours.
    assert "\nerror: " in "\n" + done.stderr
    for part in parts:
        assert part in done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_says_what_it_does_with_an_example(name: str) -> None:
    command = COMMANDS[name]
    text = command.help or ""
    assert "Example" in text
    assert f"touchstone {name}" in text
    assert text.partition("\n")[0].rstrip().endswith((".", ";", ","))
    for parameter in command.params:
        assert getattr(parameter, "help", None), f"{parameter.name} has no help"


def test_help_and_version_need_no_services_and_no_settings(process: Touchstone) -> None:
    done = process("worker", "--help", TOUCHSTONE_KAFKA__PARTITIONS="many")
    assert (done.returncode, done.stderr) == (0, "")
    assert "touchstone worker --agents citations,grounding,quality" in done.stdout
    assert process("--version").stdout.startswith("touchstone ")


@pytest.mark.parametrize(
    ("command", "missing"),
    [
        (["worker"], "KAFKA_BOOTSTRAP_SERVERS, REDIS_URL, CLICKHOUSE_URL not set"),
        (["ingest", "answers.jsonl"], "KAFKA_BOOTSTRAP_SERVERS not set"),
        (["topics", "create"], "KAFKA_BOOTSTRAP_SERVERS not set"),
        (["topics", "check", "--json"], "KAFKA_BOOTSTRAP_SERVERS not set"),
        (["migrate"], "CLICKHOUSE_URL not set"),
    ],
    ids=str,
)
def test_without_services_a_command_says_what_to_set_or_start(
    touchstone: Touchstone, command: list[str], missing: str
) -> None:
    assert_told(touchstone(*command), 1, missing, "touchstone services")


@pytest.mark.parametrize("command", [["worker"], ["ingest", "a.jsonl"], ["topics", "create"], ["migrate"]], ids=str)
def test_services_that_do_not_answer_are_told_by_address(
    forked: Touchstone, tmp_path: Path, command: list[str]
) -> None:
    (tmp_path / "a.jsonl").write_text("{}\n")
    done = forked(
        *command,
        KAFKA_BOOTSTRAP_SERVERS="127.0.0.1:1", REDIS_URL="redis://127.0.0.1:1", CLICKHOUSE_URL="http://127.0.0.1:1",
    )  # fmt: skip
    assert_told(done, 1, "127.0.0.1:1")


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({"TOUCHSTONE_KAFKA__PARTITIONS": "many"}, "kafka.partitions"),
        ({"TOUCHSTONE_KAFKA__PARTITION": "4"}, "kafka.partition"),
        ({"TOUCHSTONE_KAFKA": "{broken"}, "TOUCHSTONE_KAFKA is not JSON"),
        ({"TOUCHSTONE_KAFAK__PARTITIONS": "4"}, "TOUCHSTONE_KAFAK__PARTITIONS"),
        ({"TOUCHSTONE_GATE__GATE_SCORE": "7", "TOUCHSTONE_LOG_LEVEL": "LOUD"}, "gate.gate_score"),
        ({"TOUCHSTONE_CLICKHOUSE": "{hunter2"}, "TOUCHSTONE_CLICKHOUSE is not JSON"),
        ({"TOUCHSTONE_HTTP__METRICS_PORT": "[/b]hunter2[red]"}, "http.metrics_port"),
    ],
    ids=str,
)
def test_wrong_settings_are_named_without_their_value_and_end_with_2(
    environment: dict[str, str],
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as caught:
        read_settings()
    assert caught.value.code == 2
    message = capsys.readouterr().err
    assert "settings are invalid" in message
    assert told in message
    assert ".env" in message
    assert "hunter2" not in message


def test_wrong_settings_end_a_command_without_a_traceback(process: Touchstone) -> None:
    assert_told(process("topics", "list", TOUCHSTONE_KAFKA__PARTITIONS="many"), 2, "kafka.partitions")


def test_an_unknown_agent_is_told_with_those_there_are(touchstone: Touchstone) -> None:
    assert_told(touchstone("worker", "--agents", "grounding,nonsense"), 1, "nonsense", *AGENTS)


def test_no_agent_is_not_all_of_them(touchstone: Touchstone) -> None:
    assert_told(touchstone("worker", "--agents", ", "), 1, "no agent is given", *AGENTS)


def test_agents_are_chosen_once_each_and_in_order() -> None:
    assert [agent.name for agent in chosen_agents(None, Settings(_env_file=None))] == list(AGENTS)
    assert [agent.name for agent in chosen_agents(["quality", "citations", "quality"], Settings(_env_file=None))] == [
        "quality",
        "citations",
    ]
    for none in ([], iter(())):
        with pytest.raises(UnknownAgent, match="no agent is given"):
            chosen_agents(none, Settings(_env_file=None))


def test_all_agents_but_those_that_run_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOUCHSTONE_OTEL__ENDPOINT", "https://collector:4318")
    settings = Settings(_env_file=None)
    judging = {"citations", "grounding", "quality"}
    rest = [name for name in AGENTS if name not in judging]
    assert agents_without(judging, settings) == [*rest, "otel"]
    assert agents_without({*judging, "otel", "langfuse", "intake"}, settings) == rest, "off, so it is left out already"
    with pytest.raises(UnknownAgent, match="unknown agent nonsense; choose from citations"):
        agents_without({"grounding", "nonsense"}, settings)
    with pytest.raises(UnknownAgent, match="no agent is left to run"):
        agents_without({*AGENTS, "otel"}, settings)


def test_a_worker_is_told_which_agents_run_or_which_do_not(touchstone: Touchstone) -> None:
    both = touchstone("worker", "--agents", "quality", "--without", "grounding")
    assert both.returncode == 2
    assert "--agents or --without" in both.stderr
    assert_told(touchstone("worker", "--without", "nonsense"), 1, "nonsense", *AGENTS)


def test_a_worker_without_topics_says_how_to_make_them(
    forked: Touchstone, addresses: Addresses, settings: Settings
) -> None:
    done = forked("worker", "--agents", "analytics", **at(addresses, settings))
    assert_told(done, 1, f"{settings.topic_name('answers.generated')}: is missing", "touchstone topics create")


def test_topics_are_listed_created_and_checked(
    touchstone: Touchstone, addresses: Addresses, settings: Settings
) -> None:
    environment = at(addresses, settings)
    listed = json.loads(touchstone("topics", "list", "--json", **environment).stdout)
    names = [topic["topic"] for topic in listed]
    assert settings.topic_name("answers.generated") in names
    missing = touchstone("topics", "check", "--json", **environment)
    assert missing.returncode == 1
    assert all(topic["problems"] for topic in json.loads(missing.stdout))
    assert json.loads(touchstone("topics", "create", "--json", **environment).stdout) == {"created": names}
    assert json.loads(touchstone("topics", "create", "--json", **environment).stdout) == {"created": []}
    assert touchstone("topics", "check", **environment).returncode == 0


def test_migrate_needs_clickhouse_alone(touchstone: Touchstone, addresses: Addresses, settings: Settings) -> None:
    """As its own example says."""
    environment = {
        "CLICKHOUSE_URL": addresses.clickhouse,
        "TOUCHSTONE_CLICKHOUSE__DATABASE": "cli_" + os.urandom(4).hex(),
    }
    names = [migration.name for migration in read_migrations()]
    checked = touchstone("migrate", "--check", "--json", **environment)
    assert (checked.returncode, json.loads(checked.stdout)["pending"]) == (1, names)
    done = json.loads(touchstone("migrate", "--json", **environment).stdout)
    assert done["applied"] == names
    assert [version["name"] for version in done["versions"]] == names
    assert {"answers", "answer_hours", "dead_letters"} <= set(done["retention_changed"])
    again = touchstone("migrate", TOUCHSTONE_RETENTION__ANSWERS="7", **environment).stdout
    assert again.count("present") == len(names)
    assert "retention set for answers, scores, answer_texts\n" in again
    assert touchstone("migrate", "--check", **environment).returncode == 0


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["ingest"], ["ingest", "-", "--format", "csv"], ["topics", "drop"]], ids=str
)
def test_wrong_usage_ends_with_2_and_says_how(arguments: list[str]) -> None:
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2
    assert "Usage" in done.output


def at(addresses: Addresses, settings: Settings) -> dict[str, str]:
    return {
        "KAFKA_BOOTSTRAP_SERVERS": addresses.kafka,
        "REDIS_URL": addresses.redis,
        "CLICKHOUSE_URL": addresses.clickhouse,
        "TOUCHSTONE_KAFKA__TOPIC_PREFIX": settings.kafka.topic_prefix,
        "TOUCHSTONE_KAFKA__IDEMPOTENT_PRODUCER": "false",
    }


def test_bench_lists_what_it_can_measure_and_hands_the_rest_of_the_line_on(
    touchstone: Touchstone, process: Touchstone
) -> None:
    listed = touchstone("bench")
    assert listed.returncode == 0
    assert "pipeline" in listed.stdout and "Measure answers a second from topic to ClickHouse" in listed.stdout
    handed_on = process("bench", "limit", "--help")
    assert handed_on.returncode == 0
    assert "touchstone bench limit" in handed_on.stdout


def test_bench_names_what_there_is_instead_of_what_there_is_not(touchstone: Touchstone) -> None:
    result = touchstone("bench", "nothing")
    assert result.returncode == 1
    assert "there is no benchmark nothing; choose one of " in result.stderr
    assert "analytics, answer_cases, " in result.stderr


def test_bench_without_a_checkout_says_where_it_works(tmp_path: Path) -> None:
    with pytest.raises(TouchstoneError, match="checkout"):
        benchmarks(tmp_path / "benchmarks")
