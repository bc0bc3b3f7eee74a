"""Every setting of Touchstone, with its default, unit and reason.

Read from the environment (``TOUCHSTONE_`` and the name, ``__`` between levels), then from
a file ``.env``; a secret also from the file that the variable with ``_FILE`` behind it names.
The three addresses also answer to their usual names:
``KAFKA_BOOTSTRAP_SERVERS``, ``REDIS_URL``, ``CLICKHOUSE_URL``.
"""

import os
import re
from base64 import b64decode
from collections.abc import Iterable
from functools import lru_cache
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from schemas.base import RiskMode
from schemas.topics import DEFAULT_PARTITIONS, TOPICS, Topic
from workers.console.scopes import Scope
from workers.gateways.formats import FORMATS, Format, format_named
from workers.gateways.mapped import Mapped, read_mapping
from workers.logs import LogFormat
from workers.secret_files import EnvironmentWithFiles
from workers.steps.addresses import check_template
from workers.steps.inline import InlinePolicy, UngroundedPolicy
from workers.steps.pattern_packs import SHIPPED, parse_pack
from workers.steps.personal import MaskRules
from workers.steps.policy import DecisionPolicy
from workers.steps.presentation import ReaderPolicy
from workers.steps.thresholds import FeedbackRules, GateThresholds, GroundingThresholds, QualityThresholds

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]


class UnknownSetting(ValueError):
    """A variable sets what does not exist."""


class Group(BaseModel):
    """A group of settings; a name that does not exist is an error."""

    model_config = ConfigDict(extra="forbid")


class KafkaSettings(Group):
    """The broker."""

    topic_prefix: str = Field(default="", pattern=r"^[a-zA-Z0-9._-]*$", description="Put before every topic name.")
    group_prefix: str = Field(default="touchstone", pattern=r"^[a-zA-Z0-9._-]+$", description="Consumer groups.")
    partitions: Count = Field(default=DEFAULT_PARTITIONS, description="Partitions of topics that we create.")
    replication: Count = Field(default=1, description="Replicas of topics that we create.")
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = Field(
        default="PLAINTEXT", description="How the brokers are spoken to."
    )
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = Field(
        default="PLAIN", description="How the worker says who it is, where the protocol is SASL."
    )
    sasl_username: str | None = Field(default=None, description="Who it is.")
    sasl_password: SecretStr | None = Field(default=None, description="Its password.")
    ssl_cafile: Path | None = Field(
        default=None, description="Authorities to trust, PEM; those of the system without it."
    )
    idempotent_producer: bool = Field(default=True, description="Off for brokers without InitProducerId (local mode).")
    compression: Literal["none", "gzip", "lz4", "zstd"] = Field(
        default="zstd",
        description="Of what is sent. Brokers before 2.1, and readers whose clients lack zstd, need lz4.",
    )
    max_record_bytes: int = Field(default=1_000_000, ge=10_000, description="The broker's limit on one record.")
    session_timeout_seconds: Positive = Field(default=10.0, description="A dead worker's partitions move after this.")
    request_timeout_seconds: Positive = Field(default=30.0, description="A send or commit fails after this.")
    fetch_wait_seconds: float = Field(
        default=0.5,
        ge=0.01,
        le=5,
        description="A read without records waits this long; Kafka ends it as soon as there is one. 0.1 in local mode.",
    )

    @property
    def max_input_bytes(self) -> int:
        """Limit on input records: a third, so that what grows from them still fits."""
        return self.max_record_bytes // 3


class DeliverySettings(Group):
    """Batches, retries, joining and shutdown."""

    commit_interval_seconds: Positive = Field(default=1.0, description="Time between commits.")
    in_flight: Count = Field(default=256, description="Joined answers and sink rows in work at once.")
    stream_buffer: Count = Field(default=128, description="Records that Faust may hold before an agent takes them.")
    batch_records: Count = Field(default=32, description="Most records in a batch of an agent without a model.")
    model_batch_records: Count = Field(
        default=8, description="Most records in a batch of an agent with a model: all its reports come at its end."
    )
    batch_wait_seconds: Positive = Field(default=0.02, description="Longest wait for a batch to fill.")
    batch_bytes: Count = Field(default=1_000_000, description="Most bytes in a batch; one record is always taken.")
    in_flight_bytes: Count = Field(default=32_000_000, description="Bytes that an agent has in work at once.")
    sink_batch_records: Count = Field(default=500, description="Most rows in an insert.")
    sink_batch_bytes: Count = Field(default=4_000_000, description="Most bytes in an insert.")
    sink_batch_wait_seconds: Positive = Field(default=0.5, description="Longest wait for an insert to fill.")
    max_attempts: Count = Field(default=5, description="Attempts before a record is dead-lettered.")
    retry_initial_seconds: Positive = Field(default=0.2, description="First pause; doubles, with jitter.")
    retry_max_seconds: Positive = Field(default=15.0, description="Longest pause.")
    handle_timeout_seconds: Positive = Field(default=60.0, description="A batch for a store may take this long.")
    join_deadline_seconds: Positive = Field(
        default=60.0, description="An answer waits this long for a judging agent that shows no progress."
    )
    join_patience_seconds: Positive = Field(
        default=600.0, description="An answer waits this long for an agent that is busy with other partitions."
    )
    join_limit: Count = Field(default=2_000, description="Answers (or early reports) that a worker joins at once.")
    join_bytes: Count = Field(
        default=128_000_000,
        description="Bytes of answers (or of an agent's early reports) that a worker joins at once.",
    )
    shutdown_grace_seconds: Positive = Field(default=20.0, description="SIGTERM to exit, at most.")


class BreakerSettings(Group):
    """When an agent stops because too much is dead-lettered."""

    share: Annotated[float, Field(gt=0, le=1)] = Field(default=0.5, description="Share of records that is too much.")
    window_seconds: Positive = Field(default=60.0, description="Time over which it is counted.")
    least: Count = Field(default=2_000, description="Fewer dead letters are a burst, not a reason to stop.")


class InferenceSettings(Group):
    """The embedding model, and what a verifier shares with it."""

    model: str = Field(
        default="all-MiniLM-L6-v2", description="Packaged model, or a name or path for sentence-transformers."
    )
    precision: Literal["fp32", "int8"] = Field(
        default="fp32",
        description="int8 takes a third of the CPU, and the extra packages touchstone-worker[int8].",
    )
    export_dir: Path | None = Field(
        default=None, description="Where models in int8 are kept once made; the folder models of state_dir if not set."
    )
    batch_texts: Count = Field(default=64, description="Texts encoded in one call.")
    batch_wait_seconds: Positive = Field(default=0.004, description="Longest wait for texts of other answers.")
    cache_texts: Count = Field(default=50_000, description="Vectors kept; 384 floats each, about 1.7 kB with its key.")
    shared_cache_seconds: int = Field(
        default=0,
        ge=0,
        le=2_592_000,
        description="Vectors are shared with other workers by Redis, each for so long; 0 shares none.",
    )
    batch_pairs: Count = Field(
        default=16, description="Pairs of evidence and claim that a verifier judges in one call."
    )
    cache_pairs: Count = Field(default=50_000, description="Verdicts of a verifier kept; three floats each.")
    threads: int = Field(default=0, ge=0, description="Threads of the model; 0 for as many as this process has cores.")
    timeout_seconds: Positive = Field(default=30.0, description="One call of the model may take this long.")

    @property
    def model_name(self) -> str:
        """The model as reports name it; vectors of two names are not compared."""
        return self.model if self.precision == "fp32" else f"{self.model} ({self.precision})"


class RedisSettings(Group):
    """The query history; losing it loses retry detection for five minutes and nothing else."""

    key_prefix: str = Field(default="touchstone:", description="Put before every key.")
    timeout_seconds: Positive = Field(default=0.5, description="One answer may take this long; then without history.")
    history_queries: Count = Field(default=10, description="Queries of a person that a new one is compared with (001).")


class RoutingSettings(Group):
    """What routers are told about models."""

    half_life_days: Positive = Field(default=14.0, description="Age at which a reward counts half.")
    publish_seconds: Positive = Field(default=5.0, description="Time between two looks at the rewards.")
    prior_alpha: Positive = Field(default=1.0, description="Successes assumed of a model that nobody knows yet.")
    prior_beta: Positive = Field(default=1.0, description="Failures assumed of it.")


class ClickHouseSettings(Group):
    """The analytics store."""

    database: str = Field(
        default="touchstone", pattern=r"^[a-zA-Z_][a-zA-Z0-9_]*$", description="Where the tables are."
    )
    username: str = Field(default="default", description="Who may write there, and create tables.")
    password: SecretStr = Field(default=SecretStr(""), description="Its password.")
    timeout_seconds: Positive = Field(default=30.0, description="One request may take this long.")


Days = Annotated[int, Field(ge=0, le=36_500)]


class RetentionSettings(Group):
    """Days that ClickHouse keeps the rows of a table; 0 keeps them for ever. `touchstone migrate` sets them."""

    answers: Days = Field(default=90, description="Answers with their texts.")
    claims: Days = Field(default=90, description="Claims with their evidence.")
    citations: Days = Field(default=365, description="Citations, for looking sources up.")
    sources: Days = Field(default=365, description="Contents of sources, from when they were cited last.")
    citation_logs: Days = Field(default=365, description="The audit of seed 004.")
    alerts: Days = Field(default=365, description="Alerts on answers.")
    reviews: Days = Field(
        default=365, description="Review requests with their texts, the queue and what happened in it."
    )
    review_decisions: Days = Field(default=730, description="Decisions, with the texts that they decide on.")
    accesses: Days = Field(default=730, description="Who was shown which answers.")
    feedback: Days = Field(default=365, description="Feedback events; a revision of older ones finds nothing.")
    implicit_feedback: Days = Field(default=365, description="What was observed of answers (001).")
    rewards: Days = Field(default=365, description="What answers earned.")
    insights: Days = Field(default=730, description="Patterns and trends.")
    dead_letters: Days = Field(default=30, description="Records given up, with all that they hold.")
    figures: Days = Field(default=730, description="Narrow facts and figures by the hour, which hold no text.")


class MemorySettings(Group):
    """Conversational memory."""

    uri: str | None = Field(
        default=None, description="LanceDB path or object store; default inside the state directory."
    )
    remember_without_context: bool = Field(
        default=False, description="Remember answers that nothing was checked against."
    )
    earlier_answers: int = Field(
        default=3, ge=0, le=10, description="Remembered answers to the same question to compare with; 0 for none."
    )


class ReleaseSettings(Group):
    """Release and review."""

    default_risk_mode: RiskMode = Field(default="observer", description="For answers that name none.")
    review_deadline_hours: Positive = Field(default=24.0, description="A review should be done by then.")
    style: Literal["standard", "compact", "verbose"] = Field(default="standard", description="Formatting (000).")
    inline_citations: InlinePolicy = Field(
        default="link", description="Markers of the answer: keep, link to their sources, or propose missing ones too."
    )
    ungrounded_claims: UngroundedPolicy = Field(
        default="keep", description="Claims without support: keep, mark as AI inference, or omit (004)."
    )
    url_rules: dict[str, Annotated[str, AfterValidator(check_template)]] = Field(
        default_factory=dict, description="Addresses of sources by pattern of their path or table/record (000)."
    )

    @property
    def policy(self) -> ReaderPolicy:
        """What is done to an answer for its readers."""
        return ReaderPolicy(self.inline_citations, self.ungrounded_claims, self.url_rules)


class ReviewSettings(Group):
    """The review queue, and what happens where nobody decides in time."""

    deadline_held: Literal["reject", "warn", "escalate"] = Field(
        default="reject", description="A held answer past its deadline: reject, release with a warning, or escalate."
    )
    deadline_shown: Literal["keep", "escalate"] = Field(
        default="keep", description="One that readers see already: final as it is, or escalate."
    )
    deadline_last: Literal["reject", "warn"] = Field(
        default="reject", description="A held answer past the deadline of its escalation."
    )
    escalation_queue: str = Field(
        default="escalated", min_length=1, max_length=200, description="Where escalated requests go."
    )
    escalation_hours: Positive = Field(default=24.0, description="Their new deadline.")
    sweep_seconds: Positive = Field(default=10.0, description="Time between two looks for passed deadlines.")
    lock_seconds: Positive = Field(
        default=600.0, description="A reviewer has a request for so long; looking renews it."
    )
    undo_seconds: Annotated[float, Field(ge=0, le=300)] = Field(
        default=10.0, description="A decision can be taken back for so long, and is published after it."
    )
    skip_minutes: Positive = Field(default=60.0, description="Who skips a request is not given it again for so long.")
    second_share: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.1, description="Share of decisions that a second person makes blindly as well."
    )
    second_days: Positive = Field(default=7.0, description="A second review is offered for so long.")
    finality_days: Positive = Field(
        default=30.0, description="How far back answers.released is read: as long as review.decisions is kept."
    )


class QualitySettings(QualityThresholds):
    """Thresholds of quality; pattern packs are given by name or path and read here, once."""

    @field_validator("packs", mode="before")
    @classmethod
    def _read_packs(cls, packs: object) -> object:
        return tuple(_pack(pack) for pack in packs) if isinstance(packs, list | tuple) else packs


MAX_PACK_BYTES = 1_000_000
"""Largest file of a pattern pack."""


def _pack(pack: Any) -> Any:
    """A shipped pack by its name, or one from a file.

    Raises:
        ValueError: there is neither; the message names it.
    """
    if not isinstance(pack, str):
        return pack
    if pack in SHIPPED:
        return SHIPPED[pack]
    try:
        content = Path(pack).read_bytes()
    except OSError as error:
        raise ValueError(f"{pack}: {error.strerror}; shipped packs are {', '.join(SHIPPED)}") from None
    if len(content) > MAX_PACK_BYTES:
        raise ValueError(f"{pack}: a pattern pack has at most {MAX_PACK_BYTES} bytes")
    return parse_pack(content, pack)


MIN_KEY = 16
"""Shortest key of masks, characters: a shorter one can be tried out."""


class PrivacySettings(MaskRules):
    """Masking of personal data and secrets before anything is stored, shown or sent out; off while ``mask`` is empty."""

    key: SecretStr | None = Field(
        default=None, description="Key of the digests in masks; with another one equal values are no longer equal."
    )
    tenants: dict[str, MaskRules] = Field(
        default_factory=dict, description="Rules of single tenants, as JSON, in place of those for all."
    )

    @model_validator(mode="after")
    def _has_a_key(self) -> "PrivacySettings":
        if self.is_on and len(self.key.get_secret_value() if self.key else "") < MIN_KEY:
            raise ValueError(
                f"masking needs a key of at least {MIN_KEY} characters; set TOUCHSTONE_PRIVACY__KEY, "
                "or TOUCHSTONE_PRIVACY__KEY_FILE to a file that holds it"
            )
        return self

    @property
    def is_on(self) -> bool:
        """Whether anything is masked for anybody."""
        return any(rules.detectors for rules in (self, *self.tenants.values()))

    def rules_of(self, tenant: str) -> MaskRules:
        """What is masked for a tenant."""
        return self.tenants.get(tenant, self)


class TracingSettings(Group):
    """Spans for an OpenTelemetry collector; off without an endpoint."""

    endpoint: str | None = Field(
        default=None, pattern=r"^https?://", description="OTLP over HTTP, as http://collector:4318/v1/traces."
    )
    sample: Annotated[float, Field(ge=0, le=1)] = Field(
        default=1.0, description="Share of answers traced where the gateway has not decided."
    )
    service_name: str = Field(default="touchstone", min_length=1, description="What spans are shown under.")


class ExportSettings(Group):
    """What all exporters share; each of them is off until its receiver is set."""

    max_age_hours: Positive = Field(
        default=72.0,
        description="Older records are not exported: at the first start, or after one was refused for so long.",
    )
    timeout_seconds: Positive = Field(default=10.0, description="One request may take this long.")
    plaintext: bool = Field(
        default=False,
        description="Also over http to other machines, as inside a cluster; secrets are in the clear then.",
    )
    console_url: str | None = Field(
        default=None, pattern=r"^https?://[^\s<>|]+$", description="Where people reach the console, for links."
    )


class OtelSettings(Group):
    """Evaluations as events for an OpenTelemetry collector (agent otel); off without an endpoint."""

    endpoint: str | None = Field(
        default=None, pattern=r"^https?://", description="OTLP over HTTP for logs, as https://collector:4318/v1/logs."
    )
    headers: SecretStr | None = Field(
        default=None,
        description="Headers as in OTEL_EXPORTER_OTLP_HEADERS: name=value,name=value, values percent-encoded.",
    )

    @field_validator("headers")
    @classmethod
    def _can_be_sent(cls, headers: SecretStr | None) -> SecretStr | None:
        given = headers.get_secret_value() if headers else ""
        if not given.isprintable() or re.search("%(?:[01]|7F)", given, re.IGNORECASE):
            raise ValueError("headers must not hold control characters; percent-encode values as in a URL")
        if any("=" not in pair for pair in given.split(",") if pair.strip()):
            raise ValueError("headers are written as name=value,name=value")
        return headers


class LangfuseSettings(Group):
    """Scores for Langfuse (agent langfuse); off without an address."""

    url: str | None = Field(
        default=None, pattern=r"^https?://", description="Langfuse, as https://cloud.langfuse.com or your own."
    )
    public_key: str = Field(default="", description="Public key of the project (pk-lf-…).")
    secret_key: SecretStr | None = Field(default=None, description="Its secret key (sk-lf-…).")
    environment: str | None = Field(
        default=None,
        pattern=r"^[a-z0-9_-]{1,40}$",
        description="Environment of the scores; Langfuse's own default without it.",
    )

    @field_validator("environment")
    @classmethod
    def _is_not_reserved(cls, environment: str | None) -> str | None:
        if environment is not None and environment.startswith("langfuse"):
            raise ValueError("environment must not begin with langfuse: Langfuse refuses such scores")
        return environment

    tag_traces: bool = Field(
        default=False,
        description="Also tag traces that people have judged (002): Langfuse 3 alone; later versions refuse it.",
    )

    @model_validator(mode="after")
    def _has_its_keys(self) -> Self:
        if self.url is not None and not (self.public_key and self.secret_key):
            raise ValueError("a url needs public_key and secret_key as well, from the settings of the Langfuse project")
        return self


MIN_SIGNING_KEY, MAX_SIGNING_KEY = 24, 64
"""Bytes of a signing secret, by Standard Webhooks 1.0."""


class WebhookSettings(Group):
    """A webhook; off without an address."""

    url: SecretStr | None = Field(default=None, description="Where to; a secret, since Slack's addresses are.")
    secret: SecretStr | None = Field(
        default=None, description="Signs what is sent: whsec_ and 24 to 64 bytes in base64. Needed for format json."
    )
    format: Literal["json", "slack"] = Field(
        default="json", description="json is signed by Standard Webhooks; slack is a message for an incoming webhook."
    )

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.url is None:
            return self
        if not self.url.get_secret_value().startswith(("https://", "http://")):
            raise ValueError("url must begin with https:// or http://")
        if self.format == "json" and self.secret is None:
            raise ValueError("format json is signed; set secret, or format to slack")
        if self.secret is not None:
            _check_signing_secret(self.secret.get_secret_value())
        return self


class AlertWebhookSettings(WebhookSettings):
    """Alerts by webhook (agent alert-webhook); off without an address."""

    least_severity: Literal["info", "warning", "critical"] = Field(
        default="warning", description="Lesser alerts are not sent."
    )


class ReviewWebhookSettings(WebhookSettings):
    """Review requests by webhook (agent review-webhook); off without an address."""


def _check_signing_secret(secret: str) -> None:
    try:
        key = b64decode(secret.removeprefix("whsec_"), validate=True)
    except ValueError:
        key = b""
    if not MIN_SIGNING_KEY <= len(key) <= MAX_SIGNING_KEY:
        raise ValueError(
            f"secret must be whsec_ and {MIN_SIGNING_KEY} to {MAX_SIGNING_KEY} bytes in base64; make one with: "
            "echo whsec_$(openssl rand -base64 32)"
        )


class HttpSettings(Group):
    """Metrics and health."""

    host: str = Field(default="127.0.0.1", description="Address to listen on; 0.0.0.0 in a container.")
    metrics_port: int = Field(default=0, ge=0, le=65535, description="0 takes a free port.")


class AccessToken(Group):
    """A token for the console."""

    name: str = Field(pattern=r"^[A-Za-z0-9._-]{1,64}$", description="Who it is for; stands in the log of accesses.")
    token: SecretStr = Field(min_length=16, max_length=1_000, description="The secret.")
    scopes: frozenset[Scope] = Field(min_length=1, description="What it may do.")
    tenants: frozenset[str] = Field(default=frozenset(), description="Whose data it may see; empty for all.")


MAX_TOKENS_BYTES = 1_000_000
"""Largest file of access tokens."""


class ConsoleSettings(Group):
    """The console: HTTP API and pages."""

    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(default=0, ge=0, le=65535, description="0 takes a free port.")
    tls_certfile: Path | None = Field(default=None, description="Certificate chain, PEM.")
    tls_keyfile: Path | None = Field(default=None, description="Its private key, PEM.")
    behind_proxy: bool = Field(
        default=False,
        description="A proxy in front ends TLS and sets X-Forwarded-For and -Proto; needed off loopback without TLS.",
    )
    tokens: tuple[AccessToken, ...] = Field(default=(), description="Access tokens.")
    tokens_file: Path | None = Field(default=None, description="A JSON file of access tokens, beside those above.")
    session_hours: Positive = Field(default=12.0, description="A person logs in again after this.")
    requests_per_minute: Count = Field(default=1_200, description="Requests of one token.")
    failures_per_minute: Count = Field(default=20, description="Wrong tokens from one address.")
    max_body_bytes: Count = Field(default=2_000_000, description="Largest body of a request.")

    @model_validator(mode="after")
    def _with_tokens_of_the_file(self) -> Self:
        if self.tokens_file is not None:
            self.tokens = (*self.tokens, *_read_tokens(self.tokens_file))
            self.tokens_file = None
        names = [token.name for token in self.tokens]
        if len(set(names)) != len(names):
            raise ValueError("two access tokens have one name; rename one")
        return self

    @model_validator(mode="after")
    def _encrypted_off_loopback(self) -> Self:
        if (self.tls_certfile is None) != (self.tls_keyfile is None):
            raise ValueError("set tls_certfile and tls_keyfile, both or neither")
        if not is_loopback(self.host) and self.tls_certfile is None and not self.behind_proxy:
            raise ValueError(
                f"tokens would cross the network in the clear on {self.host}; set tls_certfile and tls_keyfile, "
                "or behind_proxy if a proxy in front ends TLS"
            )
        return self


def _revealed(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret else None


def is_loopback(host: str) -> bool:
    """Whether an address to listen on is reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


_TOKENS = TypeAdapter(tuple[AccessToken, ...])


def _read_tokens(path: Path) -> tuple[AccessToken, ...]:
    """The access tokens of a file.

    Raises:
        ValueError: it cannot be read or holds no such list; the message quotes nothing of it.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    if len(content) > MAX_TOKENS_BYTES:
        raise ValueError(f"{path}: access tokens have at most {MAX_TOKENS_BYTES} bytes")
    try:
        return _TOKENS.validate_json(content)
    except ValidationError as error:
        detail = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(str(part) for part in detail["loc"])
        raise ValueError(
            f"{path}: {where} {detail['msg']}; write a JSON list of objects with name, token, scopes and tenants"
        ) from None


class CheckSettings(Group):
    """Judging one answer now (POST /v1/check of the console)."""

    deadline_seconds: Positive = Field(default=1.0, description="Longest wait of a caller who names none.")
    concurrent: Count = Field(default=2, description="Answers judged at once; about one for each core.")


class ReplaySettings(Group):
    """Replays beside the live stream."""

    max_live_lag: Count = Field(
        default=1_000, description="Answers that the judging agents may be behind before a replay waits for them."
    )


MAX_MAPPING_BYTES = 1_000_000
"""Largest mapping file."""


def _mapping(name: str, path: Any) -> Any:
    """A mapping from its file.

    Raises:
        ValueError: it cannot be read; the message names it.
    """
    if isinstance(path, Mapped):
        return path
    try:
        content = Path(str(path)).read_bytes()
    except OSError as error:
        raise ValueError(
            f"{name}: {path} cannot be read ({error.strerror}); give the path of its mapping file"
        ) from None
    if len(content) > MAX_MAPPING_BYTES:
        raise ValueError(f"{name}: {path} has more than {MAX_MAPPING_BYTES} bytes; a mapping file is smaller")
    return read_mapping(content, name, f"{name}: {path}")


class GatewayTopic(Group):
    """A topic that somebody else writes."""

    format: str = Field(description="Of its records: a built-in one, or the name of a mapping.")
    tenant: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="Whose all of them are; by default as each of them says.",
    )


class GatewaySettings(Group):
    """Answers in the formats of others, from topics and by HTTP."""

    topics: dict[str, GatewayTopic] = Field(
        default_factory=dict,
        description="Topics, by their name at the broker, whose records become answers: their format and, if they are "
        "all of one, their tenant. The agent intake reads them; without any it does not run.",
    )
    mappings: dict[str, Mapped] = Field(
        default_factory=dict, description="Formats of your own: a name and the path of its mapping file."
    )
    in_flight_bytes: Count = Field(
        default=32_000_000,
        description="Bytes of answers by HTTP that wait for the broker; more are told to come again.",
    )
    idempotency_hours: Positive = Field(default=24.0, description="An Idempotency-Key is known for so long.")

    @field_validator("mappings", mode="before")
    @classmethod
    def _read_mappings(cls, mappings: object) -> object:
        if not isinstance(mappings, dict):
            return mappings
        for name in mappings:
            if name in FORMATS:
                raise ValueError(f"the format {name} is built in; give the mapping of this name another")
        return {name: _mapping(name, path) for name, path in mappings.items()}

    @model_validator(mode="after")
    def _formats_exist(self) -> Self:
        for name, topic in self.topics.items():
            if not re.fullmatch(r"[a-zA-Z0-9._-]{1,249}", name):
                raise ValueError(f"topics: {name!r} cannot be the name of a topic")
            try:
                self.format_named(topic.format)
            except KeyError as error:
                raise ValueError(f"topics.{name}.format: {error.args[0]}") from None
        return self

    def format_named(self, name: str) -> Format:
        """A format by its name.

        Raises:
            KeyError: naming those there are.
        """
        return format_named(name, self.mappings)


class Settings(BaseSettings):
    """All settings."""

    model_config = SettingsConfigDict(
        env_prefix="TOUCHSTONE_",
        env_nested_delimiter="__",
        env_file=".env",
        # An empty variable is one that somebody could not leave out, as in a compose file.
        env_ignore_empty=True,
        extra="ignore",
        populate_by_name=True,
    )

    kafka_bootstrap_servers: str | None = Field(
        default=None,
        validation_alias=AliasChoices("TOUCHSTONE_KAFKA_BOOTSTRAP_SERVERS", "KAFKA_BOOTSTRAP_SERVERS"),
        description="Brokers as host:port,host:port; without it, those of local mode.",
    )
    redis_url: str | None = Field(
        default=None,
        validation_alias=AliasChoices("TOUCHSTONE_REDIS_URL", "REDIS_URL"),
        description="Redis or Valkey; without it, that of local mode.",
    )
    clickhouse_url: str | None = Field(
        default=None,
        validation_alias=AliasChoices("TOUCHSTONE_CLICKHOUSE_URL", "CLICKHOUSE_URL"),
        description="ClickHouse over HTTP; without it, that of local mode.",
    )
    state_dir: Path = Field(default=Path(".touchstone"), description="State of local mode and of embedded stores.")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(default="INFO", description="Least that is logged.")
    log_format: LogFormat = Field(default="console", description="json for machines, console for people.")
    kafka: KafkaSettings = Field(default_factory=KafkaSettings)
    delivery: DeliverySettings = Field(default_factory=DeliverySettings)
    breaker: BreakerSettings = Field(default_factory=BreakerSettings)
    inference: InferenceSettings = Field(default_factory=InferenceSettings)
    redis: RedisSettings = Field(default_factory=RedisSettings)
    clickhouse: ClickHouseSettings = Field(default_factory=ClickHouseSettings)
    retention: RetentionSettings = Field(default_factory=RetentionSettings)
    memory: MemorySettings = Field(default_factory=MemorySettings)
    release: ReleaseSettings = Field(default_factory=ReleaseSettings)
    review: ReviewSettings = Field(default_factory=ReviewSettings)
    http: HttpSettings = Field(default_factory=HttpSettings)
    privacy: PrivacySettings = Field(default_factory=PrivacySettings)
    tracing: TracingSettings = Field(default_factory=TracingSettings)
    exports: ExportSettings = Field(default_factory=ExportSettings)
    otel: OtelSettings = Field(default_factory=OtelSettings)
    langfuse: LangfuseSettings = Field(default_factory=LangfuseSettings)
    alert_webhook: AlertWebhookSettings = Field(default_factory=AlertWebhookSettings)
    review_webhook: ReviewWebhookSettings = Field(default_factory=ReviewWebhookSettings)
    console: ConsoleSettings = Field(default_factory=ConsoleSettings)
    check: CheckSettings = Field(default_factory=CheckSettings)
    replay: ReplaySettings = Field(default_factory=ReplaySettings)
    gateways: GatewaySettings = Field(default_factory=GatewaySettings)
    grounding: GroundingThresholds = Field(default_factory=GroundingThresholds)
    quality: QualitySettings = Field(default_factory=QualitySettings)
    gate: GateThresholds = Field(default_factory=GateThresholds)
    feedback: FeedbackRules = Field(default_factory=FeedbackRules)
    routing: RoutingSettings = Field(default_factory=RoutingSettings)
    decision: DecisionPolicy = Field(default_factory=DecisionPolicy)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003 pydantic's signature
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments first, then the environment with its files of secrets, then ``.env``."""
        return init_settings, EnvironmentWithFiles(settings_cls), dotenv_settings

    @model_validator(mode="after")
    def _exports_are_encrypted(self) -> Self:
        receivers = {
            "otel.endpoint": self.otel.endpoint,
            "langfuse.url": self.langfuse.url,
            "alert_webhook.url": _revealed(self.alert_webhook.url),
            "review_webhook.url": _revealed(self.review_webhook.url),
        }
        for name, url in receivers.items():
            parts = urlsplit(url or "")
            if parts.scheme == "http" and not self.exports.plaintext and not is_loopback(parts.hostname or ""):
                raise ValueError(
                    f"{name} would send over the network in the clear; use https, or set exports.plaintext inside a cluster"
                )
        return self

    @model_validator(mode="after")
    def _reads_no_topic_of_ours_as_a_gateways(self) -> Self:
        ours = {self.topic_name(topic.name) for topic in TOPICS} & set(self.gateways.topics)
        if ours:
            raise ValueError(f"gateways.topics: {min(ours)} is a topic of ours; answers in our format need no gateway")
        return self

    def topic_name(self, name: str) -> str:
        """The name of a topic at the broker."""
        return self.kafka.topic_prefix + name

    def broker_name(self, topic: Topic) -> str:
        """The name of a topic at the broker, ours or another's."""
        return topic.name if topic.foreign else self.topic_name(topic.name)

    @property
    def memory_uri(self) -> str:
        """Where the memory is."""
        return self.memory.uri or str(self.state_dir / "memory")

    def group_name(self, agent: str) -> str:
        """The consumer group of an agent."""
        return f"{self.kafka.group_prefix}-{agent}"


@lru_cache(maxsize=1)
def load_settings() -> Settings:
    """The settings of this process, read once.

    Raises:
        UnknownSetting: a variable names a group that does not exist.
        pydantic.ValidationError: a value is wrong, or a group has no such setting.
    """
    refuse_unknown_groups(os.environ)
    return Settings()


def refuse_unknown_groups(environment: Iterable[str]) -> None:
    """Refuse ``TOUCHSTONE_KAFAK__PARTITIONS``: a typing error would be a default in silence.

    Names without ``__`` are let pass, since Kubernetes sets ``TOUCHSTONE_PORT`` and the like for
    a service of that name.

    Raises:
        UnknownSetting: with the groups there are.
    """
    groups = [name for name, field in Settings.model_fields.items() if is_group(field.annotation)]
    for name in environment:
        group, delimiter, _ = name.upper().removeprefix("TOUCHSTONE_").partition("__")
        if name.upper().startswith("TOUCHSTONE_") and delimiter and group.lower() not in groups:
            raise UnknownSetting(f"{name}: there is no group {group.lower()}; there are {', '.join(groups)}")


def is_group(annotation: object) -> bool:
    """Whether a setting holds further ones."""
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
