"""Connection arguments and topics as the settings describe them."""

import ssl
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from schemas.topics import ANSWERS_GENERATED, ANSWERS_RELEASED
from tests.harness.secured_kafka import make_certificates
from workers.delivery.connections import TlsFilesUnreadable, connection_arguments, ssl_context
from workers.delivery.topics.topic_findings import topic_configuration
from workers.privacy.erasure import _kept_until
from workers.settings import KafkaSettings, Settings

PASSWORD = SecretStr("secret")
NOW = datetime(2026, 11, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificates")
    make_certificates(folder, ["worker"])
    encrypt = ["openssl", "ec", "-in", "worker.key", "-aes256", "-passout", "pass:secret", "-out", "locked.key"]
    subprocess.run(encrypt, cwd=folder, capture_output=True, check=True)
    (folder / "both.pem").write_text((folder / "worker.pem").read_text() + (folder / "worker.key").read_text())
    return folder


def of_files(
    folder: Path, certificate: str, key: str | None = None, password: SecretStr | None = None
) -> KafkaSettings:
    return KafkaSettings(
        security_protocol="SSL", ssl_cafile=folder / "ca.pem", ssl_certfile=folder / certificate,
        ssl_keyfile=None if key is None else folder / key, ssl_key_password=password,
    )  # fmt: skip


def test_certificate_and_key_come_from_one_file_or_two(certificates: Path) -> None:
    for kafka in (
        of_files(certificates, "worker.pem", "worker.key"),
        of_files(certificates, "both.pem"),
        of_files(certificates, "worker.pem", "locked.key", PASSWORD),
    ):
        context = ssl_context(kafka)
        assert context.verify_mode == ssl.CERT_REQUIRED
        assert context.check_hostname
        assert connection_arguments(kafka, "kafka:9093")["security_protocol"] == "SSL"


@pytest.mark.parametrize(
    ("certificate", "key", "password"),
    [
        ("worker.pem", "locked.key", None),  # nobody is asked at the terminal
        ("worker.pem", "locked.key", SecretStr("another-secret")),
        ("worker.pem", "node.key", None),
        ("worker.pem", None, None),
        ("absent.pem", "worker.key", None),
        ("worker.pem", "absent.key", None),
        ("extensions", "worker.key", None),
    ],
)
def test_unusable_files_are_named(certificates: Path, certificate: str, key: str | None, password: SecretStr) -> None:
    with pytest.raises(TlsFilesUnreadable, match=rf"{certificate}.*; correct .*kafka\.ssl_keyfile") as caught:
        ssl_context(of_files(certificates, certificate, key, password))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"ssl_keyfile": "key.pem"}, "ssl_keyfile needs ssl_certfile"),
        ({"security_protocol": "SASL_SSL"}, "PLAIN needs sasl_username and sasl_password"),
        ({"security_protocol": "SASL_SSL", "sasl_username": "worker"}, "PLAIN needs sasl_username and sasl_password"),
        (
            {"security_protocol": "SASL_SSL", "sasl_mechanism": "OAUTHBEARER"},
            "needs sasl_token_file or sasl_token_command",
        ),
        (
            {"security_protocol": "SASL_SSL", "sasl_mechanism": "OAUTHBEARER", "sasl_token_command": " "},
            "needs sasl_token_file or sasl_token_command",
        ),
        (
            {
                "security_protocol": "SASL_SSL", "sasl_mechanism": "OAUTHBEARER", "sasl_token_file": "token",
                "sasl_token_command": "print-token",
            },
            "and not both",
        ),
    ],
)  # fmt: skip
def test_incomplete_credentials_are_refused(values: dict[str, str], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        KafkaSettings.model_validate(values)


def test_clients_of_a_process_share_their_tokens(tmp_path: Path) -> None:
    kafka = KafkaSettings(
        security_protocol="SASL_PLAINTEXT", sasl_mechanism="OAUTHBEARER", sasl_token_file=tmp_path / "token"
    )
    first, second = (connection_arguments(kafka, "kafka:9092") for _ in range(2))
    assert first["sasl_oauth_token_provider"] is second["sasl_oauth_token_provider"]
    assert "sasl_plain_password" not in first


@pytest.mark.parametrize(
    ("name", "days", "told"),
    [
        ("answers.generate", 1, "unknown topic 'answers.generate'; choose one of"),
        ("privacy.erasures", 90, "privacy.erasures keeps every erasure"),
        ("answers.generated", 0, "greater than 0"),
    ],
)
def test_a_retention_that_no_topic_can_have_is_refused(name: str, days: float, told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        KafkaSettings(retention_days={name: days})


def test_final_states_are_kept_as_long_as_they_are_read() -> None:
    short, enough = (KafkaSettings(retention_days={"answers.released": days}) for days in (29, 30))
    with pytest.raises(ValidationError, match=r"at least the 30 days of review\.finality_days"):
        Settings(kafka=short)
    assert Settings(kafka=enough).kafka.cleanup_of(ANSWERS_RELEASED) == "compact,delete"


def test_the_retention_of_a_topic_is_created_and_counts_for_erasures() -> None:
    kafka = KafkaSettings(retention_days={"answers.generated": 1.5})
    assert topic_configuration(ANSWERS_GENERATED, kafka)["retention.ms"] == "129600000"
    assert _kept_until(NOW, kafka, {})["answers.generated"] == NOW + timedelta(hours=36)
    assert topic_configuration(ANSWERS_RELEASED, kafka)["retention.ms"] == "-1"
    compacted = KafkaSettings(retention_days={"answers.released": 90})
    assert topic_configuration(ANSWERS_RELEASED, compacted)["cleanup.policy"] == "compact,delete"
    assert "answers.released" not in _kept_until(NOW, compacted, {}), "an erasure removes it at once"
