"""Secrets from files, as Docker and Kubernetes mount them."""

from pathlib import Path

import pytest
from pydantic_settings import SettingsError

from workers.settings import Settings
from workers.settings.secret_files import secret_names


def test_every_secret_can_come_from_a_file_and_nothing_else() -> None:
    assert {
        "touchstone_kafka__sasl_password", "touchstone_clickhouse__password", "touchstone_privacy__key",
    } <= set(secret_names(Settings))  # fmt: skip
    assert "touchstone_kafka__sasl_username" not in secret_names(Settings)


def test_the_file_is_read_without_its_last_line_end(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("pässword \n")
    monkeypatch.setenv("TOUCHSTONE_CLICKHOUSE__PASSWORD_FILE", str(file))
    monkeypatch.setenv("TOUCHSTONE_CLICKHOUSE__USERNAME", "writer")
    settings = Settings(_env_file=None)
    assert settings.clickhouse.password.get_secret_value() == "pässword"
    assert settings.clickhouse.username == "writer"


@pytest.mark.parametrize("name", ["REDIS_URL", "TOUCHSTONE_REDIS_URL"])
def test_the_address_of_redis_may_contain_a_password_and_come_from_a_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    for each in ("REDIS_URL", "TOUCHSTONE_REDIS_URL"):
        monkeypatch.delenv(each, raising=False)
    file = tmp_path / "redis-url"
    file.write_text("rediss://:hunter2@valkey:6379/0\n")
    monkeypatch.setenv(f"{name}_FILE", str(file))
    assert Settings(_env_file=None).redis_url == "rediss://:hunter2@valkey:6379/0"


@pytest.mark.parametrize(
    ("content", "told"),
    [(None, "cannot be read"), (b"", "holds nothing"), (b"\xff", "not valid UTF-8"), (b"x" * 10_001, "more than")],
)
def test_a_file_that_holds_no_secret_is_told_by_variable_and_never_by_content(
    content: bytes | None, told: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "password"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setenv("TOUCHSTONE_CLICKHOUSE__PASSWORD_FILE", str(file))
    with pytest.raises(SettingsError, match=f"TOUCHSTONE_CLICKHOUSE__PASSWORD_FILE.*{told}"):
        Settings(_env_file=None)


def test_both_ways_at_once_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOUCHSTONE_CLICKHOUSE__PASSWORD_FILE", "/somewhere")
    monkeypatch.setenv("TOUCHSTONE_CLICKHOUSE__PASSWORD", "x")
    with pytest.raises(SettingsError, match="both set"):
        Settings(_env_file=None)


@pytest.mark.parametrize("name", ["REDIS_URL", "TOUCHSTONE_CLICKHOUSE__PASSWORD"])
def test_a_file_named_in_dot_env_is_read_as_well(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for each in ("REDIS_URL", "TOUCHSTONE_REDIS_URL"):
        monkeypatch.delenv(each, raising=False)
    file = tmp_path / "secret"
    file.write_text("redis://:hunter2@valkey:6379/0\n")
    (tmp_path / "settings.env").write_text(f"{name}_FILE={file}\n")
    settings = Settings(_env_file=tmp_path / "settings.env")
    found = settings.redis_url if name == "REDIS_URL" else settings.clickhouse.password.get_secret_value()
    assert found == "redis://:hunter2@valkey:6379/0"
    monkeypatch.setenv(name, "redis://environment:1")
    settings = Settings(_env_file=tmp_path / "settings.env")
    found = settings.redis_url if name == "REDIS_URL" else settings.clickhouse.password.get_secret_value()
    assert found == "redis://environment:1", "the environment wins"


def test_a_file_named_in_dot_env_that_cannot_be_read_is_told_by_variable(tmp_path: Path) -> None:
    (tmp_path / "settings.env").write_text(f"REDIS_URL_FILE={tmp_path / 'none'}\n")
    with pytest.raises(SettingsError, match=r"REDIS_URL_FILE.*cannot be read"):
        Settings(_env_file=tmp_path / "settings.env")
