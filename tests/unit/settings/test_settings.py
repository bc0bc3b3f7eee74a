"""Settings: names, aliases, bounds, and that a wrong one is told."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr, ValidationError
from pydantic_settings import SettingsError

from schemas.topics import DEFAULT_PARTITIONS
from workers.pipeline.versions import pipeline_version
from workers.settings import ConsoleSettings, Settings, UnknownSetting, load_settings, refuse_unknown_groups
from workers.settings.addresses import Addresses, NotConfigured, apply_local_defaults, find_addresses


@pytest.fixture(autouse=True)
def nothing_around(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No variable and no .env of the machine that runs the tests."""
    for name in ("KAFKA_BOOTSTRAP_SERVERS", "REDIS_URL", "CLICKHOUSE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def test_defaults_need_nothing() -> None:
    settings = Settings()
    assert settings.kafka_bootstrap_servers is None
    assert settings.kafka.partitions == DEFAULT_PARTITIONS
    assert settings.release.default_risk_mode == "observer"
    assert settings.grounding.grounding_minimum == 0.5
    assert settings.gate.gate_score == 0.8


def test_names_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOUCHSTONE_KAFKA__TOPIC_PREFIX", "prod.")
    monkeypatch.setenv("TOUCHSTONE_KAFKA__PARTITIONS", "12")
    monkeypatch.setenv("TOUCHSTONE_GROUNDING__RISK_HIGH", "0.75")
    monkeypatch.setenv("TOUCHSTONE_RELEASE__DEFAULT_RISK_MODE", "gatekeeper")
    monkeypatch.setenv("TOUCHSTONE_STATE_DIR", "/var/lib/touchstone")
    monkeypatch.setenv("TOUCHSTONE_KAFKA__IDEMPOTENT_PRODUCER", "false")
    settings = load_settings()
    assert (settings.kafka.topic_prefix, settings.kafka.partitions) == ("prod.", 12)
    assert settings.kafka.idempotent_producer is False
    assert settings.grounding.risk_high == 0.75
    assert settings.release.default_risk_mode == "gatekeeper"
    assert settings.state_dir == Path("/var/lib/touchstone")
    # The others of the group keep their defaults.
    assert settings.kafka.replication == 1


@pytest.mark.parametrize(
    ("field", "name"),
    [
        ("kafka_bootstrap_servers", "KAFKA_BOOTSTRAP_SERVERS"),
        ("redis_url", "REDIS_URL"),
        ("clickhouse_url", "CLICKHOUSE_URL"),
    ],
)
def test_addresses_answer_to_both_names_and_ours_wins(monkeypatch: pytest.MonkeyPatch, field: str, name: str) -> None:
    monkeypatch.setenv(name, "usual:1")
    assert getattr(Settings(), field) == "usual:1"
    monkeypatch.setenv(f"TOUCHSTONE_{name}", "ours:2")
    assert getattr(Settings(), field) == "ours:2"
    assert getattr(Settings(**{field: "argument:3"}), field) == "argument:3"


def test_an_empty_variable_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As compose files make them: otherwise the local broker passes for one of the settings."""
    monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", "")
    monkeypatch.setenv("TOUCHSTONE_KAFKA__SASL_PASSWORD", "")
    settings = Settings()
    assert settings.kafka_bootstrap_servers is None
    assert settings.kafka.sasl_password is None


def test_a_dot_env_file_is_read_and_the_environment_wins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        "REDIS_URL=redis://file:1\nTOUCHSTONE_LOG_LEVEL=WARNING\nTOUCHSTONE_HTTP__METRICS_PORT=9100\nSOME_OTHER=1\n"
    )
    monkeypatch.setenv("TOUCHSTONE_LOG_LEVEL", "ERROR")
    settings = Settings()
    assert settings.redis_url == "redis://file:1"
    assert settings.http.metrics_port == 9100
    assert settings.log_level == "ERROR"


@pytest.mark.parametrize(
    ("name", "value", "field"),
    [
        ("TOUCHSTONE_KAFKA__PARTITION", "4", "kafka.partition"),
        ("TOUCHSTONE_KAFKA__PARTITIONS", "0", "kafka.partitions"),
        ("TOUCHSTONE_KAFKA__PARTITIONS", "many", "kafka.partitions"),
        ("TOUCHSTONE_KAFKA__TOPIC_PREFIX", "a/b", "kafka.topic_prefix"),
        ("TOUCHSTONE_CLICKHOUSE__DATABASE", "x; DROP DATABASE y", "clickhouse.database"),
        ("TOUCHSTONE_GROUNDING__RISK_HIGH", "1.5", "grounding.risk_high"),
        ("TOUCHSTONE_GROUNDING__RISKHIGH", "0.7", "grounding.riskhigh"),
        ("TOUCHSTONE_DELIVERY__COMMIT_INTERVAL_SECONDS", "nan", "delivery.commit_interval_seconds"),
        ("TOUCHSTONE_DELIVERY__COMMIT_INTERVAL_SECONDS", "0", "delivery.commit_interval_seconds"),
        ("TOUCHSTONE_HTTP__METRICS_PORT", "70000", "http.metrics_port"),
        ("TOUCHSTONE_LOG_LEVEL", "LOUD", "log_level"),
    ],
)
def test_a_wrong_or_unknown_setting_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, field: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ValidationError) as caught:
        load_settings()
    assert [".".join(map(str, error["loc"])) for error in caught.value.errors()] == [field]


def test_an_unknown_group_is_refused_with_those_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOUCHSTONE_KAFAK__PARTITIONS", "4")
    with pytest.raises(UnknownSetting, match=r"TOUCHSTONE_KAFAK__PARTITIONS.*kafka, delivery"):
        load_settings()


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("TOUCHSTONE_GATE_GATE_SCORE", "TOUCHSTONE_GATE__GATE_SCORE"),
        ("touchstone_kafka_topic_prefix", "TOUCHSTONE_KAFKA__TOPIC_PREFIX"),
        ("TOUCHSTONE_PRIVACY_KEY_FILE", "TOUCHSTONE_PRIVACY__KEY"),
    ],
)
def test_a_setting_with_one_underscore_is_refused_with_its_name(name: str, meant: str) -> None:
    with pytest.raises(UnknownSetting, match=f"^{name}: write {meant}"):
        refuse_unknown_groups([name])
    refuse_unknown_groups([meant])


def test_names_that_kubernetes_sets_are_let_pass() -> None:
    refuse_unknown_groups(["TOUCHSTONE_PORT", "TOUCHSTONE_SERVICE_HOST", "TOUCHSTONE_PORT_9100_TCP_ADDR", "OTHER__X"])
    services = ("SERVICE_HOST", "SERVICE_PORT", "PORT", "PORT_8080_TCP", "PORT_8080_TCP_PORT", "PORT_8080_TCP_ADDR")
    refuse_unknown_groups(f"TOUCHSTONE_{each}_{name}" for each in ("CONSOLE", "KAFKA", "METRICS") for name in services)


def test_secrets_are_not_shown() -> None:
    settings = Settings(
        kafka={"sasl_password": "hunter2hunter2"}, clickhouse={"password": SecretStr("correct-horse")}
    )  # fmt: skip
    for shown in (repr(settings), str(settings), settings.model_dump_json()):
        assert "hunter2" not in shown
        assert "correct-horse" not in shown
    assert settings.clickhouse.password.get_secret_value() == "correct-horse"


def test_names_at_the_broker_take_the_prefixes() -> None:
    settings = Settings(kafka={"topic_prefix": "prod.", "group_prefix": "judges"})
    assert settings.topic_name("answers.generated") == "prod.answers.generated"
    assert settings.group_name("grounding") == "judges-grounding"


def test_an_input_is_at_most_a_third_of_a_record() -> None:
    assert Settings(kafka={"max_record_bytes": 900_000}).kafka.max_input_bytes == 300_000


def test_addresses_that_are_missing_are_named_with_both_remedies(tmp_path: Path) -> None:
    settings = Settings(redis_url="redis://r:1", state_dir=tmp_path)
    with pytest.raises(NotConfigured) as caught:
        find_addresses(settings)
    message = str(caught.value)
    assert "KAFKA_BOOTSTRAP_SERVERS, CLICKHOUSE_URL not set" in message
    assert "touchstone services" in message


def test_only_what_is_needed_must_be_there(tmp_path: Path) -> None:
    settings = Settings(clickhouse_url="http://c:8123", state_dir=tmp_path)
    assert find_addresses(settings, ["clickhouse"]).clickhouse == "http://c:8123"
    with pytest.raises(NotConfigured, match=r"KAFKA_BOOTSTRAP_SERVERS not set.*set it"):
        find_addresses(settings, ["kafka"])


def test_only_the_local_broker_goes_without_the_idempotent_producer(tmp_path: Path) -> None:
    given = Settings(
        kafka_bootstrap_servers="k:1", redis_url="redis://r:1", clickhouse_url="http://c:1", state_dir=tmp_path
    )
    addresses = find_addresses(given)
    assert not addresses.local
    assert apply_local_defaults(given, addresses).kafka == given.kafka


def test_the_embedded_broker_gets_settings_that_it_needs() -> None:
    given = Settings(_env_file=None)
    kafka = apply_local_defaults(given, Addresses("127.0.0.1:9092", "", "", local=True)).kafka
    assert not kafka.idempotent_producer
    assert kafka.fetch_wait_seconds < given.kafka.fetch_wait_seconds


@pytest.mark.parametrize(
    "changes",
    [
        {"grounding": {"risk_high": 0.71}},
        {"quality": {"clarity": 0.69}},
        {"gate": {"gate_score": 0.79}},
        {"inference": {"model": "other"}},
        {"release": {"style": "compact"}},
        {"release": {"default_risk_mode": "gatekeeper"}},
        {"memory": {"remember_without_context": True}},
    ],
    ids=str,
)
def test_whatever_changes_a_judgement_changes_the_version(changes: dict[str, object]) -> None:
    assert pipeline_version(Settings(**changes)) != pipeline_version(Settings())


@pytest.mark.parametrize(
    "changes", [{"kafka": {"partitions": 9}}, {"inference": {"batch_texts": 8}}, {"log_level": "ERROR"}], ids=str
)
def test_what_changes_no_judgement_leaves_the_version(changes: dict[str, object]) -> None:
    assert pipeline_version(Settings(**changes)) == pipeline_version(Settings())


def test_pattern_packs_are_read_by_name_and_by_path_and_change_the_pipeline_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "shop.toml"
    file.write_text('name = "shop"\nversion = "1"\n[[rules]]\nsignal = "refusal"\nmatch = ["sold out"]\n')
    plain = pipeline_version(Settings())
    monkeypatch.setenv("TOUCHSTONE_QUALITY__PACKS", f'["software", "{file}"]')
    settings = Settings()
    assert [pack.name for pack in settings.quality.packs] == ["software", "shop"]
    assert pipeline_version(settings) != plain


@pytest.mark.parametrize(
    "content", [None, "name = 1", 'name = "a"\nversion = "1"\n[[rules]]\nsignal = "refusal"\nmatch = ["("]']
)
def test_a_pattern_pack_that_cannot_be_used_is_named(
    content: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "broken.toml"
    if content is not None:
        file.write_text(content)
    monkeypatch.setenv("TOUCHSTONE_QUALITY__PACKS", f'["{file}"]')
    with pytest.raises(ValidationError, match=r"broken\.toml"):
        Settings()


@pytest.mark.parametrize("name", ["policy", "pipeline", "nobody", "Policy"])
def test_a_name_that_stands_for_no_person_is_no_name_of_an_access_token(tmp_path: Path, name: str) -> None:
    token = {"name": name, "token": "a-secret-of-24-characters", "scopes": ["review"]}
    with pytest.raises(ValidationError, match=f"{name} is reserved.*rename the token"):
        ConsoleSettings.model_validate({"tokens": [token]})
    file = tmp_path / "tokens.json"
    file.write_text(json.dumps([token]))
    with pytest.raises(ValidationError, match=f"{name} is reserved.*rename the token") as caught:
        ConsoleSettings(tokens_file=file)
    assert "a-secret" not in str(caught.value)


@pytest.mark.parametrize("before", ["", "\ufeff", "SOME__OTHER=1\nTOUCHSTONE_PORT=1\n"], ids=["first", "mark", "third"])
@pytest.mark.parametrize("name", ["TOUCHSTONE_PRIVCY__MASK", "touchstone_privcy__mask", "export TOUCHSTONE_KAFAK__X"])
def test_an_unknown_group_in_dot_env_is_refused(
    name: str, before: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text(f"{before}{name}=true\n", encoding="utf-8")
    with pytest.raises(UnknownSetting, match="unknown group"):
        load_settings()


MASKING = 'TOUCHSTONE_PRIVACY__MASK=["mail"]\nTOUCHSTONE_PRIVACY__KEY=0123456789abcdef0123456789abcdef\n'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_dot_env_file_of_any_editor_is_read_from_its_first_line(
    encoding: str, line_end: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_bytes(MASKING.replace("\n", line_end).encode(encoding))
    assert load_settings().privacy.mask == ("mail",)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (MASKING.encode("utf-16"), "not valid UTF-8; save it as UTF-8"),
        (b'SOME=1\nTOUCHSTONE_PRIVACY__MASK: ["mail"]\n', "line 2 cannot be read; write NAME=value"),
        (b'TOUCHSTONE_PRIVACY__MASK="["mail"]"\n', "line 1 cannot be read; write NAME=value"),
    ],
    ids=["UTF-16", "YAML", "quotation"],
)
def test_a_dot_env_file_that_cannot_be_read_is_refused_and_not_ignored(
    content: bytes, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_bytes(content)
    with pytest.raises(SettingsError, match=message):
        load_settings()


def test_lines_of_other_programs_in_dot_env_are_left_to_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text(f"other: program\n{MASKING}")
    assert load_settings().privacy.mask == ("mail",)


OVERFLOWS = [
    ("TOUCHSTONE_KAFKA__RETENTION_DAYS", '{"answers.released": 1e10}'),
    ("TOUCHSTONE_KAFKA__RETENTION_DAYS", '{"answers.released": 20001}'),
    ("TOUCHSTONE_CONSOLE__SESSION_HOURS", "1e12"),
    ("TOUCHSTONE_RELEASE__REVIEW_DEADLINE_HOURS", "1e12"),
    ("TOUCHSTONE_REVIEW__ESCALATION_HOURS", "1e12"),
    ("TOUCHSTONE_REVIEW__FINALITY_DAYS", "1e10"),
    ("TOUCHSTONE_EXPORTS__MAX_AGE_HOURS", "1e12"),
    ("TOUCHSTONE_ROUTING__HALF_LIFE_DAYS", "1e10"),
]


@pytest.mark.parametrize(("name", "value"), OVERFLOWS)
def test_durations_that_no_time_can_hold_are_refused_by_name(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ValidationError) as caught:
        Settings()
    field = name.removeprefix("TOUCHSTONE_").lower().replace("__", ".")
    assert ".".join(map(str, caught.value.errors()[0]["loc"])).startswith(field)


def durations(model: type[BaseModel], path: str = "") -> Iterator[str]:
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from durations(kind, f"{path}{name}.")
        elif name.endswith(("_days", "_hours")) and kind in (int, float):
            yield f"{path}{name}"


def test_every_setting_of_days_or_hours_has_an_upper_bound() -> None:
    names = list(durations(Settings))
    assert {"review.finality_days", "console.session_hours", "memory.retention_days"} <= set(names)
    for name in set(names) - {"gate.freshness_half_life_days"}:  # a divisor, and no time
        *groups, field = name.split(".")
        value: Any = 1e15
        for part in (field, *reversed(groups)):
            value = {part: value}
        with pytest.raises(ValidationError, match=field):
            pytest.fail(name) if Settings(**value) else None


def numbers(model: type[BaseModel], path: str = "") -> Iterator[tuple[str, bool]]:
    """Yield the settings that are a number, or numbers by name (true)."""
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from numbers(kind, f"{path}{name}.")
        elif kind is float or "float" in str(kind):
            yield f"{path}{name}", str(kind).startswith("dict")


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "-1"])
def test_every_number_of_the_settings_is_finite_and_not_negative(value: str) -> None:
    found = dict(numbers(Settings))
    assert {"feedback.retry_window_seconds", "gateways.tenants_answers_per_second"} <= found.keys()
    accepted = []
    for path, by_name in found.items():
        *groups, field = path.split(".")
        given: Any = {"acme": value} if by_name else value
        for part in (field, *reversed(groups)):
            given = {part: given}
        try:
            Settings(_env_file=None, **given)
        except ValidationError as error:
            assert field in str(error)
        else:
            accepted.append(path)
    assert accepted == []


NO_ADDRESSES = ["https://host:99999", "https://collector:port/v1", "https://a..b/v1", "https:///v1/logs", "https://",
                "http://:4318", "https://[::1", "https://" + "a" * 64 + ".org", "ftp://host", "https://host:0"]  # fmt: skip


@pytest.mark.parametrize("url", NO_ADDRESSES)
def test_an_address_without_a_valid_host_or_port_is_refused_and_not_shown(url: str) -> None:
    keys = {"public_key": "pk", "secret_key": "sk"}
    groups: dict[str, Any] = {
        "otel": {"endpoint": url}, "tracing": {"endpoint": url}, "langfuse": {"url": url, **keys},
        "alert_webhook": {"url": url, "format": "slack"}, "exports": {"console_url": url},
    }  # fmt: skip
    for name, group in groups.items():
        with pytest.raises(ValidationError) as caught:
            Settings(**{name: group})
        message = caught.value.errors()[0]["msg"]
        assert "host or port" in message or "must begin with https://" in message or "pattern" in message
        assert url.split("//")[1] not in message or url == "https://"


@pytest.mark.parametrize(
    "url", ["http://localhost:4318/v1/logs", "https://[::1]:4318/v1", "https://bücher.example/x", "https://10.0.0.1"]
)
def test_an_address_of_any_kind_is_accepted(url: str) -> None:
    assert Settings(otel={"endpoint": url}, exports={"plaintext": True}).otel.endpoint == url
