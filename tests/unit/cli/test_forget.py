"""The erasure of a user of whom nothing is stored says so: it may be a typing error."""

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from workers.cli.main import app
from workers.privacy import erasure
from workers.privacy.erasure import Forgotten

NOTHING = {
    "digest": "d",
    "answers": 0,
    "rows": {"answers": 0, "feedback": 0},
    "turns": 0,
    "queries": 0,
    "tombstones": 0,
}
SAYS = "nothing of user 'user-17' of tenant 'acme' was found"


@pytest.mark.parametrize(
    ("found", "says"),
    [
        ({}, True),
        ({"answers": 1}, False),
        ({"rows": {"answers": 0, "feedback": 2}}, False),
        ({"turns": 1}, False),
        ({"queries": 3}, False),
    ],
)
@pytest.mark.parametrize("machine", [True, False])
def test_a_user_without_any_data_is_named(
    found: dict[str, Any], says: bool, machine: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def forgotten(*_: Any) -> Forgotten:
        return Forgotten(**{**NOTHING, **found}, kept_until={})

    monkeypatch.setattr(erasure, "forget", forgotten)
    for store in ("KAFKA_BOOTSTRAP_SERVERS", "REDIS_URL", "CLICKHOUSE_URL"):
        monkeypatch.setenv(store, "http://127.0.0.1:1" if store == "CLICKHOUSE_URL" else "redis://127.0.0.1:1")
    result = CliRunner().invoke(
        app, ["forget", "--user", "user-17", "--tenant", "acme", "--yes", *(["--json"] if machine else [])]
    )
    assert result.exit_code == 0, result.output
    assert (SAYS in " ".join(result.stderr.split())) == says
    assert not machine or json.loads(result.stdout)["digest"] == "d"
