"""Define the settings of the Kafka clients."""

from datetime import timedelta
from pathlib import Path
from typing import Literal, Self

from pydantic import (
    Field,
    SecretStr,
    field_validator,
    model_validator,
)

from schemas.topics import DEFAULT_PARTITIONS, PRIVACY_ERASURES, SHADOW, Topic, topic_named
from workers.settings.sections.groups import Count, Group, Positive, PositiveDays

RECORD_OVERHEAD_BYTES = 48_588
"""Room for the frame of a batch above the largest record. With the default size of a record it makes Kafka's default."""


class KafkaSettings(Group):
    """Configure the broker, its topics and consumer groups."""

    topic_prefix: str = Field(default="", pattern=r"^[a-zA-Z0-9._-]*$", description="Prefix of all topic names.")
    group_prefix: str = Field(
        default="touchstone", pattern=r"^[a-zA-Z0-9._-]+$", description="Prefix of all consumer groups."
    )
    partitions: Count = Field(default=DEFAULT_PARTITIONS, description="Partitions of created topics.")
    replication: Count = Field(default=1, description="Replicas of created topics.")
    min_insync_replicas: Count | None = Field(
        default=None,
        description="Replicas that must have a record before the broker acknowledges it (min.insync.replicas of created "
        "topics); by default all replicas but one, and at least one.",
    )
    retention_days: dict[str, PositiveDays] = Field(
        default_factory=dict,
        description="Retention of created topics in days, by topic without prefix (JSON); by default that of "
        "`touchstone topics list`. A compacted topic gets the policy `compact,delete`, so that its texts go.",
    )
    client_rack: str | None = Field(
        default=None,
        description="Rack (availability zone) of this worker. Its agents read from replicas there, where the brokers have "
        "broker.rack and a replica.selector.class.",
    )
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = Field(
        default="PLAINTEXT", description="Security protocol of the brokers."
    )
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"] = Field(
        default="PLAIN", description="SASL mechanism, if the protocol is SASL."
    )
    sasl_username: str | None = Field(default=None, description="SASL user name.")
    sasl_password: SecretStr | None = Field(default=None, description="SASL password.")
    sasl_token_file: Path | None = Field(
        default=None,
        description="File with the access token for OAUTHBEARER, read for every connection. The program that writes it renews it.",
    )
    sasl_token_command: str | None = Field(
        default=None,
        description="Command that prints the access token for OAUTHBEARER, run without a shell, and again before the "
        "token expires.",
    )
    ssl_cafile: Path | None = Field(
        default=None, description="Trusted certificate authorities, PEM; by default those of the system."
    )
    ssl_certfile: Path | None = Field(
        default=None, description="Client certificate with its chain, PEM, for brokers that ask for one (mTLS)."
    )
    ssl_keyfile: Path | None = Field(
        default=None, description="Key of the client certificate, PEM; by default in the file of the certificate."
    )
    ssl_key_password: SecretStr | None = Field(default=None, description="Password of an encrypted key.")
    idempotent_producer: bool = Field(
        default=True, description="Set to false for brokers without InitProducerId (local mode)."
    )
    compression: Literal["none", "gzip", "lz4", "zstd"] = Field(
        default="zstd",
        description="Compression of sent records. Brokers before 2.1, and readers whose clients lack zstd, need lz4.",
    )
    all_fields: bool = Field(
        default=False,
        description="Write every field of answers.enriched and review.requests. By default their records lack fields that "
        "have their default value, and in `formatted` of answers.enriched what the record holds elsewhere.",
    )
    max_record_bytes: int = Field(
        default=1_000_000,
        ge=10_000,
        description="Maximum size of one record. Created topics accept it (max.message.bytes).",
    )
    max_batch_bytes: int = Field(
        default=32_000_000,
        ge=1_000_000,
        description="Maximum size of a batch of records after decompression; a larger one is not read and becomes a dead "
        "letter that names its offsets.",
    )
    session_timeout_seconds: Positive = Field(
        default=10.0, description="Session timeout, after which a dead worker's partitions move."
    )
    request_timeout_seconds: Positive = Field(default=30.0, description="Timeout of a send or commit.")
    fetch_wait_seconds: float = Field(
        default=0.5,
        ge=0.01,
        le=5,
        description="Maximum wait of a fetch without records; Kafka returns as soon as there is a record. 0.1 in "
        "local mode.",
    )

    @model_validator(mode="after")
    def _with_complete_credentials(self) -> Self:
        if self.ssl_keyfile is not None and self.ssl_certfile is None:
            raise ValueError("ssl_keyfile needs ssl_certfile")
        if not self.security_protocol.startswith("SASL"):
            return self
        if self.sasl_mechanism == "OAUTHBEARER":
            if bool(self.sasl_token_file) == bool((self.sasl_token_command or "").strip()):
                raise ValueError("OAUTHBEARER needs sasl_token_file or sasl_token_command, and not both")
        elif not self.sasl_username or self.sasl_password is None:
            raise ValueError(f"{self.sasl_mechanism} needs sasl_username and sasl_password")
        return self

    @field_validator("retention_days")
    @classmethod
    def _of_topics_that_expire(cls, days: dict[str, float]) -> dict[str, float]:
        for name in days:
            try:
                topic = topic_named(name)
            except KeyError as error:
                raise ValueError(error.args[0]) from None
            if topic == PRIVACY_ERASURES:
                raise ValueError(f"{name} keeps every erasure, because an erased person stays erased; leave it out")
        return days

    def retention_of(self, topic: Topic) -> timedelta | None:
        """Return the retention of a topic, ``None`` if it keeps its records. The topic of a replay has that of its live topic."""
        days = self.retention_days.get(topic.name.partition(SHADOW)[0])
        return topic.retention if days is None else timedelta(days=days)

    def cleanup_of(self, topic: Topic) -> str:
        """Return cleanup.policy of a topic. A compacted topic with a retention also deletes by age."""
        return "compact,delete" if topic.cleanup == "compact" and topic.name in self.retention_days else topic.cleanup

    @property
    def max_message_bytes(self) -> int:
        """Return max.message.bytes of created topics."""
        return self.max_record_bytes + RECORD_OVERHEAD_BYTES

    @property
    def largest_result_bytes(self) -> int:
        """Return the limit on the value of a record; the rest of the record is for its key and headers."""
        return self.max_record_bytes - self.max_record_bytes // 50

    @property
    def in_sync_replicas(self) -> int:
        """Return min.insync.replicas of created topics."""
        return self.min_insync_replicas or max(1, self.replication - 1)

    @property
    def max_input_bytes(self) -> int:
        """Return the limit on input records: a third, so that records computed from them still fit."""
        return self.max_record_bytes // 3
