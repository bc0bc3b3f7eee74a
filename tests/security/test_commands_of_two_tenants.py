"""Commands that take a tenant: those of one tenant tell and change nothing of another that uses the same identifiers."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner, Result

from tests.harness.paths import ROOT
from tests.harness.tenants import BOTH, CORRECTED, NEEDS, SHARED, TwoTenants
from workers.cli.main import app
from workers.settings.addresses import Addresses

ELSEWHERE = {
    "forget": "tests/security/test_two_tenants.py::test_forgetting_a_user_leaves_the_same_user_and_answer_of_another_tenant",
    "replay": "tests/integration/rebuild/test_replay.py::test_only_what_is_asked_for_is_replayed_and_nobody_who_is_erased",
    "compare": "tests/integration/measurement/test_compare.py::test_how_much_is_read_at_once_changes_nothing_and_filters_choose",
    "export preferences": "tests/integration/measurement/test_export_labels.py::test_a_correction_is_a_preference_pair",
    "roles": "tests/integration/stores/test_retention_and_roles.py::test_policies_cover_every_table_with_a_tenant_and_readers_see_no_other",
}
"""Commands whose tenant is tested where their scenario is."""
HERE = {"explain", "export labels", "insights"}
OF_NO_TENANT = {
    "runs promote", "runs delete", "dlq show", "dlq export", "dlq requeue", "archive write", "archive restore", "archive erase",
    "archive list", "topics create", "topics check", "topics acls", "topics list", "migrate", "dlq list", "doctor", "rebuild",
    "runs demote", "runs history", "runs list", "versions", "services", "worker", "console", "up", "backup write", "backup drill",
    "backup restore",
}  # fmt: skip
"""Commands of operators about runs, dead letters, archives, backups, topics and processes, which hold records of all tenants."""
OF_FILES = {
    "adapt", "best", "calibrate grounding", "calibrate labels", "eval grounding", "eval quality", "golden add", "golden check", "ingest",
    "schemas export", "settings", "bench", "chaos", "demo", "plan",
}  # fmt: skip
"""Commands that show only what their caller gave them."""

Command = Callable[..., Result]


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every command of the command line by its words."""
    context = typer.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        if hasattr(found, "list_commands"):
            yield from commands(found, (*path, name))
        else:
            yield " ".join((*path, name)), found


def takes_tenant(command: Any) -> bool:
    return "--tenant" in {name for parameter in command.params for name in parameter.opts}


@pytest.fixture
def run(two: TwoTenants, addresses: Addresses, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    """Run a command against the deployment of both tenants."""
    settings = two.console.settings
    environment = {
        "KAFKA_BOOTSTRAP_SERVERS": addresses.kafka, "REDIS_URL": addresses.redis, "CLICKHOUSE_URL": addresses.clickhouse,
        "TOUCHSTONE_KAFKA__TOPIC_PREFIX": settings.kafka.topic_prefix,
        "TOUCHSTONE_KAFKA__GROUP_PREFIX": settings.kafka.group_prefix,
        "TOUCHSTONE_CLICKHOUSE__DATABASE": settings.clickhouse.database,
    }  # fmt: skip
    for name in [name for name in os.environ if name.startswith("TOUCHSTONE_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(app, arguments, env=environment)

    return invoke


def test_every_command_with_a_tenant_is_tested() -> None:
    found = dict(commands(typer.main.get_command(app)))
    assert {name for name, command in found.items() if takes_tenant(command)} == HERE | ELSEWHERE.keys()
    assert set(found) == HERE | ELSEWHERE.keys() | OF_NO_TENANT | OF_FILES, "of whom does a new command show something?"
    for place in ELSEWHERE.values():
        path, _, name = place.partition("::")
        assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8")


@pytest.mark.parametrize(("tenant", "other"), [BOTH, BOTH[::-1]])
def test_an_explanation_is_that_of_the_own_answer(run: Command, tenant: str, other: str) -> None:
    done = run("explain", SHARED, "--tenant", tenant, "--json")
    assert done.exit_code == 0, done.output
    assert len(json.loads(done.stdout)) == 1
    assert other not in done.output.replace("keyse", "") and NEEDS[other] not in done.output


def test_an_explanation_without_a_tenant_is_refused_where_two_have_the_answer(run: Command) -> None:
    done = run("explain", SHARED)
    assert done.exit_code == 1
    assert "several tenants (acme, keys); choose one with --tenant" in str(done.exception)


@pytest.mark.parametrize(("tenant", "other"), [BOTH, BOTH[::-1]])
def test_exported_labels_are_those_of_the_own_reviews(run: Command, tmp_path: Path, tenant: str, other: str) -> None:
    file = tmp_path / f"{tenant}.jsonl"
    done = run("export", "labels", str(file), "--tenant", tenant, "--json")
    assert done.exit_code == 0, done.output
    counts = json.loads(done.stdout)
    assert counts["written"] + sum(counts["left_out"].values()) == 1, "one decision of each tenant"
    text = file.read_text()
    assert NEEDS[other] not in text and f"Only {other}" not in text and CORRECTED[other] not in text


def test_insights_count_the_ratings_of_the_own_tenant(run: Command) -> None:
    def rated(*arguments: str) -> int:
        done = run("insights", "--since", "3650d", "--dry-run", "--json", *arguments)
        assert done.exit_code == 0, done.output
        return int(json.loads(done.stdout)["rated"])

    own = [rated("--tenant", tenant) for tenant in BOTH]
    assert all(own)
    assert rated() == sum(own)
    assert rated("--tenant", "nobody") == 0
