"""Define every setting of Touchstone, with its default, unit and reason.

Settings are read from the environment (``TOUCHSTONE_`` and the name, ``__`` between levels), then from
a file ``.env``. A secret is also read from the file named by the variable with the suffix ``_FILE``, in both.
The three addresses can also be set by their usual names:
``KAFKA_BOOTSTRAP_SERVERS``, ``REDIS_URL``, ``CLICKHOUSE_URL``.
"""

import os
from collections.abc import Iterable
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import Literal, Self
from urllib.parse import urlsplit

from dotenv.parser import parse_stream
from pydantic import (
    AliasChoices,
    BaseModel,
    Field,
    SecretStr,
    model_validator,
)
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from schemas.topics import ANSWERS_RELEASED, TOPICS, Topic
from workers.decision.policy import DecisionPolicy
from workers.evaluation.thresholds import FeedbackRules, GateThresholds, GroundingThresholds
from workers.observability.logs import LogFormat
from workers.settings.network import is_loopback
from workers.settings.secret_files import DotEnvWithFiles, EnvironmentWithFiles
from workers.settings.sections.console import AccessToken, CheckSettings, ConsoleSettings, HttpSettings
from workers.settings.sections.delivery import BreakerSettings, DeliverySettings
from workers.settings.sections.evaluators import EvaluatorSettings
from workers.settings.sections.exports import (
    AlertWebhookSettings,
    ExportSettings,
    LangfuseSettings,
    OtelSettings,
    ReviewWebhookSettings,
    TracingSettings,
    WebhookSettings,
)
from workers.settings.sections.files import FileSettings
from workers.settings.sections.gateways import GatewaySettings, GatewayTopic, ReplaySettings, StreamSettings
from workers.settings.sections.inference import InferenceSettings
from workers.settings.sections.kafka import KafkaSettings
from workers.settings.sections.prices import ModelPrice, PriceSettings
from workers.settings.sections.privacy import PrivacySettings
from workers.settings.sections.quality import QualitySettings
from workers.settings.sections.release import ReleaseSettings, ReviewSettings, ReviewTarget
from workers.settings.sections.stores import (
    ClickHouseSettings,
    MemorySettings,
    RedisSettings,
    RetentionSettings,
    RoutingSettings,
)

__all__ = [
    "AccessToken",
    "AlertWebhookSettings",
    "BreakerSettings",
    "CheckSettings",
    "ClickHouseSettings",
    "ConsoleSettings",
    "DeliverySettings",
    "EvaluatorSettings",
    "ExportSettings",
    "FileSettings",
    "GatewaySettings",
    "GatewayTopic",
    "HttpSettings",
    "InferenceSettings",
    "KafkaSettings",
    "LangfuseSettings",
    "MemorySettings",
    "ModelPrice",
    "OtelSettings",
    "PriceSettings",
    "PrivacySettings",
    "QualitySettings",
    "RedisSettings",
    "ReleaseSettings",
    "ReplaySettings",
    "RetentionSettings",
    "ReviewSettings",
    "ReviewTarget",
    "ReviewWebhookSettings",
    "RoutingSettings",
    "Settings",
    "TracingSettings",
    "UnknownSetting",
    "WebhookSettings",
    "is_group",
    "load_settings",
    "refuse_unknown_groups",
]


ENV_FILE = ".env"


class UnknownSetting(ValueError):
    """Report that an environment variable names a setting that does not exist."""


def _revealed(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret else None


class Settings(BaseSettings):
    """All settings."""

    model_config = SettingsConfigDict(
        env_prefix="TOUCHSTONE_",
        env_nested_delimiter="__",
        env_file=ENV_FILE,
        # An empty variable counts as unset, because a compose file cannot leave a variable out.
        env_ignore_empty=True,
        extra="ignore",
        populate_by_name=True,
        # An invalid group would be quoted with its passwords.
        hide_input_in_errors=True,
    )

    kafka_bootstrap_servers: str | None = Field(
        default=None,
        validation_alias=AliasChoices("TOUCHSTONE_KAFKA_BOOTSTRAP_SERVERS", "KAFKA_BOOTSTRAP_SERVERS"),
        description="Brokers as host:port,host:port; by default the local broker.",
    )
    redis_url: str | None = Field(
        default=None,
        validation_alias=AliasChoices("TOUCHSTONE_REDIS_URL", "REDIS_URL"),
        description="URL of Redis or Valkey, which may contain a password; by default the local one. REDIS_URL_FILE names "
        "a file that holds it. redis+sentinel://host1,host2/service/0 and redis+cluster://host1,host2 name several "
        "hosts, rediss instead of redis encrypts.",
    )
    clickhouse_url: str | None = Field(
        default=None,
        validation_alias=AliasChoices("TOUCHSTONE_CLICKHOUSE_URL", "CLICKHOUSE_URL"),
        description="URL of ClickHouse (HTTP); by default the local one.",
    )
    state_dir: Path = Field(
        default=Path(".touchstone"), description="Folder for the state of local mode and of embedded stores."
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        default="INFO", description="Minimum level of log lines."
    )
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
    prices: PriceSettings = Field(default_factory=PriceSettings)
    http: HttpSettings = Field(default_factory=HttpSettings)
    privacy: PrivacySettings = Field(default_factory=PrivacySettings)
    tracing: TracingSettings = Field(default_factory=TracingSettings)
    evaluators: EvaluatorSettings = Field(default_factory=EvaluatorSettings)
    exports: ExportSettings = Field(default_factory=ExportSettings)
    otel: OtelSettings = Field(default_factory=OtelSettings)
    langfuse: LangfuseSettings = Field(default_factory=LangfuseSettings)
    alert_webhook: AlertWebhookSettings = Field(default_factory=AlertWebhookSettings)
    review_webhook: ReviewWebhookSettings = Field(default_factory=ReviewWebhookSettings)
    console: ConsoleSettings = Field(default_factory=ConsoleSettings)
    check: CheckSettings = Field(default_factory=CheckSettings)
    replay: ReplaySettings = Field(default_factory=ReplaySettings)
    gateways: GatewaySettings = Field(default_factory=GatewaySettings)
    streams: StreamSettings = Field(default_factory=StreamSettings)
    files: FileSettings = Field(default_factory=FileSettings)
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
        """Return the sources: arguments, then the environment, then ``.env``, both with their secret files."""
        env_file = dotenv_settings.env_file if isinstance(dotenv_settings, DotEnvSettingsSource) else None
        return init_settings, EnvironmentWithFiles(settings_cls), DotEnvWithFiles(settings_cls, env_file)

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
                    f"{name} would send data unencrypted; use https, or set exports.plaintext inside a cluster"
                )
        return self

    @model_validator(mode="after")
    def _reads_no_topic_of_ours_as_a_gateways(self) -> Self:
        ours = {self.topic_name(topic.name) for topic in TOPICS} & set(self.gateways.topics)
        if ours:
            raise ValueError(
                f"gateways.topics: {min(ours)} is a topic of Touchstone; its records need no gateway format"
            )
        return self

    @model_validator(mode="after")
    def _final_states_are_kept_as_long_as_they_are_read(self) -> Self:
        kept = self.kafka.retention_of(ANSWERS_RELEASED)
        if kept is not None and kept < timedelta(days=self.review.finality_days):
            raise ValueError(
                f"kafka.retention_days: answers.released must be kept for at least the {self.review.finality_days:g} days "
                "of review.finality_days, from which the agent decisions knows what is final"
            )
        return self

    @model_validator(mode="after")
    def _conditions_are_on_enabled_evaluators(self) -> Self:
        if unknown := self.decision.named_evaluators - set(self.evaluators.enabled):
            raise ValueError(
                f"decision.evaluators names {', '.join(sorted(unknown))}, which evaluators.enabled lacks; enable "
                "it, or "
                "remove the condition"
            )
        return self

    def topic_name(self, name: str) -> str:
        """Return the name of a topic at the broker."""
        return self.kafka.topic_prefix + name

    def broker_name(self, topic: Topic) -> str:
        """Return the name of a topic at the broker; topics of other systems get no prefix."""
        return topic.name if topic.foreign else self.topic_name(topic.name)

    @property
    def memory_uri(self) -> str:
        """Return the address of the memory."""
        return self.memory.uri or str(self.state_dir / "memory")

    def group_name(self, agent: str) -> str:
        """Return the consumer group of an agent."""
        return f"{self.kafka.group_prefix}-{agent}"


@lru_cache(maxsize=1)
def load_settings() -> Settings:
    """Return the settings of this process, read once.

    Raises:
        UnknownSetting: a variable, also one of ``.env``, names a group that does not exist.
        SettingsError: ``.env`` or a file of a secret cannot be read.
        pydantic.ValidationError: a value is invalid, or a setting is unknown.
    """
    refuse_unknown_groups([*os.environ, *_names_of_env_file()])
    return Settings()


def _names_of_env_file() -> list[str]:
    """Return the names in ``.env``; python-dotenv ignores lines that it cannot read."""
    file = Path(ENV_FILE)
    if not file.is_file():
        return []
    try:
        with file.open(encoding="utf-8") as stream:
            bindings = list(parse_stream(stream))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not valid UTF-8; save it as UTF-8"
        raise SettingsError(f"{file} cannot be read: {reason}") from None
    for binding in bindings:
        if binding.error and "TOUCHSTONE_" in binding.original.string.upper():
            raise SettingsError(f"{file}, line {binding.original.line} cannot be read; write NAME=value")
    return [binding.key for binding in bindings if binding.key]


def refuse_unknown_groups(environment: Iterable[str]) -> None:
    """Refuse names such as ``TOUCHSTONE_KAFAK__PARTITIONS``, so that a misspelt setting is not silently ignored.

    Names without ``__`` pass, since Kubernetes sets ``TOUCHSTONE_PORT`` and similar names for
    a service named touchstone; those of a setting with ``_`` in place of ``__`` do not, but for ports.

    Raises:
        UnknownSetting: a name contains an unknown group; the message lists the groups. Or it is nearly that of a setting.
    """
    groups = [name for name, field in Settings.model_fields.items() if is_group(field.annotation)]
    meant = {
        f"{group}_{name}".upper(): f"TOUCHSTONE_{group}__{name}".upper()
        for group in groups
        for name in getattr(Settings.model_fields[group].annotation, "model_fields", ())
        if name != "port"
    }
    for name in environment:
        if not name.upper().startswith("TOUCHSTONE_"):
            continue
        rest = name.upper().removeprefix("TOUCHSTONE_")
        if near := meant.get(rest) or meant.get(rest.removesuffix("_FILE")):
            raise UnknownSetting(f"{name}: write {near}, with two underscores")
        group, delimiter, _ = rest.partition("__")
        if delimiter and group.lower() not in groups:
            raise UnknownSetting(f"{name}: unknown group {group.lower()}; use one of {', '.join(groups)}")


def is_group(annotation: object) -> bool:
    """Return true if a setting contains further settings."""
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
