"""An empty value is refused: it is mostly a variable of a shell that is not set, and would select everything."""

import pytest
from typer.testing import CliRunner

from workers.cli.main import app

REFUSED = [
    ("forget", "--user", "", "--tenant", "acme", "--yes"),
    ("forget", "--user", " \t", "--yes"),
    ("forget", "--user=", "--yes"),
    ("forget", "--user", "user-17", "--tenant", "", "--yes"),
    ("dlq", "requeue", "--since", "1d", "--agent", "", "--yes"),
    ("dlq", "requeue", "--topic= ", "--since", "1d"),
    ("dlq", "export", "letters.jsonl", "--error", ""),
    ("export", "labels", "labels.jsonl", "--tenant", ""),
    ("export", "preferences", "pairs.jsonl", "--tenant="),
    ("replay", "--from", "1d", "--tenant", ""),
    ("replay", "--from", "1d", "--model", ""),
    ("runs", "delete", ""),
    ("archive", "erase", ""),
    ("insights", "--tenant", ""),
]


@pytest.mark.parametrize("arguments", REFUSED, ids=" ".join)
def test_an_empty_value_selects_nothing(arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    for store in ("KAFKA_BOOTSTRAP_SERVERS", "REDIS_URL", "CLICKHOUSE_URL"):
        monkeypatch.setenv(store, "")
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2, result.output
    assert "has an empty value" in " ".join(result.stderr.split())


def test_the_option_with_the_empty_value_is_named() -> None:
    for arguments in (("forget", "--user", "", "--yes"), ("forget", "--yes", "--user=")):
        assert "--user has an empty value" in " ".join(CliRunner().invoke(app, arguments).stderr.split())
