"""Every command of the documents on backup, rebuild, upgrade and rollback, in containers of docker-compose.yml."""

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.deploy.test_image import IMAGE
from tests.harness.compose import ANSWERS, OURS, Compose, container, get, query, stored, wait_healthy
from tests.harness.containers import podman, run, wait_until
from tests.harness.documented_commands import documented_commands
from tests.harness.paths import ROOT
from workers.stores.clickhouse.migrations import read_migrations

pytestmark = [pytest.mark.containers, pytest.mark.timeout(3_600)]

OPERATIONS = ROOT / "docs" / "operations"
BACKUP, UPGRADE = OPERATIONS / "backups-and-rebuild.md", OPERATIONS / "upgrade.md"
WITHOUT_ARGUMENTS = {"touchstone forget", "touchstone roles", "touchstone archive restore", "touchstone rebuild"}
"""Commands that a sentence only names; the documents give them with their arguments elsewhere."""

OWN = read_migrations()[-1].version
EXPAND = (
    f"-- Oldest worker: {OWN}\nALTER TABLE {{database}}.answers ADD COLUMN IF NOT EXISTS tone String DEFAULT 'plain';\n"
)
CONTRACT = f"-- Oldest worker: {OWN + 2}\nALTER TABLE {{database}}.answers DROP COLUMN IF EXISTS tone;\n"
NEXT, AFTER = "next", "after-next"
"""Tags of versions that do not exist: the next one expands the schema, the one after it contracts the schema."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of backups, which belongs to the user of the image."""
    made = tmp_path_factory.mktemp("backup")
    os.chown(made, 10001, 10001)
    return made


@pytest.fixture(scope="module")
def filled(compose: Compose) -> Compose:
    """The compose project, with the examples stored."""
    compose.up("feed")
    wait_until(lambda: stored(compose) == f"{ANSWERS}\t0", "every answer is stored, none degraded")
    # Alerts and requests follow the answers.
    wait_until(lambda: lag() == 0, "the agents have read all records")
    return compose


def lag() -> float:
    """Return the number of records that no agent has read yet, as Prometheus has scraped it."""
    found = json.loads(get("http://127.0.0.1:9090/api/v1/query?query=sum(touchstone_consumer_lag_records)"))
    return float(found["data"]["result"][0]["value"][1])


@pytest.fixture(scope="module")
def versions(compose: Compose) -> Iterator[None]:
    """Images of the two next versions, which differ from this one by their migrations."""
    for tag, migrations in ((NEXT, [EXPAND]), (AFTER, [EXPAND, CONTRACT])):
        name = f"touchstone-tests-{tag}"
        podman("run", "--detach", "--name", name, "--user", "root", "--entrypoint", "sleep", IMAGE, "infinity")
        shipped = podman("exec", name, "find", "/opt/touchstone", "-name", read_migrations()[-1].name).strip()
        for number, migration in enumerate(migrations, OWN + 1):
            command = f"cat > {Path(shipped).parent}/{number:04d}_next.sql"
            assert run("podman", "exec", "--interactive", name, "sh", "-c", command, text=migration).returncode == 0
        podman(
            "commit", "--change", "USER touchstone", "--change", 'ENTRYPOINT ["touchstone"]',
            name, f"docker.io/library/touchstone-worker:{tag}",
        )  # fmt: skip
        podman("rm", "--force", "--time", "0", name)
    yield
    for tag in (NEXT, AFTER):
        run("podman", "rmi", "--force", f"docker.io/library/touchstone-worker:{tag}")


def done(compose: Compose, folder: Path, command: str, code: int = 0) -> str:
    """Run a command, which must end with this code; return what it printed."""
    ended = compose.touchstone(command, folder)
    assert ended.returncode == code, f"{command}: {ended.stdout[-2_000:]}\n{ended.stderr[-3_000:]}"
    return ended.stdout + ended.stderr


def rows(compose: Compose) -> dict[str, str]:
    """Return the number of rows by table."""
    tables = ("answers", "claims", "citations", "reviews", "review_queue", "alerts")
    found = query(compose, f"SHOW TABLES FROM touchstone WHERE name IN {tables}").split()
    return {name: query(compose, f"SELECT count() FROM touchstone.{name} FINAL") for name in found}


def stop_workers() -> None:
    podman("stop", "--time", "40", *(container(name) for name in OURS))


def test_every_command_for_backup_and_rebuild_succeeds(filled: Compose, folder: Path) -> None:
    before = rows(filled)
    assert before["answers"] == str(ANSWERS)
    for command in dict.fromkeys(documented_commands(BACKUP)):
        if command not in WITHOUT_ARGUMENTS:
            # Nothing is lost here, so a restore refuses.
            done(filled, folder, command, code=int(command.startswith("touchstone backup restore")))
    assert rows(filled) == before


def test_an_archive_brings_answers_back_once(filled: Compose, folder: Path) -> None:
    done(filled, folder, "touchstone archive write /backup/touchstone")
    assert "answers.generated" in done(filled, folder, "touchstone archive list /backup/touchstone")
    evaluated = query(filled, "SELECT max(enriched_at) FROM touchstone.answers")
    sent = done(filled, folder, "touchstone archive restore /backup/touchstone --topic answers.generated")
    assert f"{ANSWERS} records sent" in sent
    again = f"SELECT countIf(enriched_at > '{evaluated}') FROM touchstone.answers FINAL"
    wait_until(lambda: query(filled, again) == str(ANSWERS), "every answer is evaluated again")
    assert stored(filled) == f"{ANSWERS}\t0"


def test_a_table_that_was_emptied_is_rebuilt(filled: Compose, folder: Path) -> None:
    before = rows(filled)
    query(filled, "TRUNCATE TABLE touchstone.claims")
    assert rows(filled)["claims"] == "0"
    assert "verified" in done(filled, folder, "touchstone rebuild clickhouse")
    assert rows(filled) == before


@pytest.mark.usefixtures("versions")
def test_an_upgrade_keeps_the_data_and_a_rollback_goes_on_with_the_newer_schema(filled: Compose, folder: Path) -> None:
    newer = replace(filled, version=NEXT)
    for command in dict.fromkeys(documented_commands(UPGRADE)):
        if command.startswith("touchstone") and command not in WITHOUT_ARGUMENTS:
            missing = command.endswith("migrate --check")
            printed = done(newer, folder, command, code=1 if missing else 0)
            assert not missing or f"{OWN + 1:04d}_next.sql" in printed
    assert stored(filled) == f"{ANSWERS}\t0"
    for project, tone in ((newer, "next"), (filled, "rolled-back")):
        stop_workers()
        podman("rm", *(container(name) for name in OURS))
        project.up(*OURS)
        wait_healthy(*OURS)
        send(folder, tone, project)
    assert "newer_schema_accepted" in run("podman", "logs", container("worker")).stderr


@pytest.mark.usefixtures("versions")
def test_a_rollback_before_a_contracted_schema_is_refused_and_done_with_a_rebuild(
    filled: Compose, folder: Path
) -> None:
    before = rows(filled)
    done(replace(filled, version=AFTER), folder, "touchstone migrate")
    stop_workers()
    refused = filled.touchstone("touchstone worker", folder)
    assert refused.returncode == 1
    assert f"allows no worker before {OWN + 2}" in refused.stderr
    query(filled, "DROP DATABASE touchstone SYNC")
    assert "verified" in done(filled, folder, "touchstone rebuild clickhouse")
    assert rows(filled) == before
    podman("rm", *(container(name) for name in OURS))
    filled.up(*OURS)
    wait_healthy(*OURS)
    send(folder, "rebuilt", filled)


def send(folder: Path, name: str, compose: Compose) -> None:
    """Send an answer, and wait until it is stored."""
    example = json.loads((ROOT / "examples" / "answers.jsonl").read_text(encoding="utf-8").splitlines()[0])
    (folder / "one.jsonl").write_text(json.dumps(example | {"answer_id": name}) + "\n")
    done(compose, folder, "touchstone ingest /backup/one.jsonl")
    found = f"SELECT count() FROM touchstone.answers FINAL WHERE answer_id = '{name}'"
    wait_until(lambda: query(compose, found) == "1", f"the answer {name} is stored")
