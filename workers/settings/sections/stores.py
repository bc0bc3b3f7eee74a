"""Define the settings of Redis, ClickHouse and memory."""

from pathlib import Path
from typing import Annotated

from pydantic import (
    Field,
    SecretStr,
)

from workers.settings.sections.groups import Count, Group, Positive, PositiveDays


class RedisSettings(Group):
    """Configure the query history, whose loss stops retry detection for five minutes, and the chunks of answers that still arrive."""

    key_prefix: str = Field(default="touchstone:", description="Prefix of all keys.")
    timeout_seconds: Positive = Field(
        default=0.5, description="Timeout for the history of one answer; the answer is then processed without history."
    )
    history_queries: Count = Field(
        default=10, description="Maximum number of a person's queries to compare with a new one."
    )
    ssl_cafile: Path | None = Field(
        default=None, description="Trusted certificate authorities for rediss, PEM; by default those of the system."
    )
    ssl_certfile: Path | None = Field(
        default=None, description="Certificate of this client, PEM, if servers ask for one."
    )
    ssl_keyfile: Path | None = Field(default=None, description="Private key of the certificate, PEM.")
    sentinel_username: str | None = Field(
        default=None, description="User name at Sentinel; the login in REDIS_URL is for the servers behind it."
    )
    sentinel_password: SecretStr | None = Field(default=None, description="Password at Sentinel.")


class RoutingSettings(Group):
    """Configure information about models for routers."""

    half_life_days: PositiveDays = Field(default=14.0, description="Age at which a reward counts half.")
    publish_seconds: Positive = Field(default=5.0, description="Interval between two reads of the rewards.")


class ClickHouseSettings(Group):
    """Configure the analytics store."""

    database: str = Field(
        default="touchstone", pattern=r"^[a-zA-Z_][a-zA-Z0-9_]*$", description="Database of the tables."
    )
    username: str = Field(default="default", description="User name with the rights to write and to create tables.")
    password: SecretStr = Field(default=SecretStr(""), description="Password of the user.")
    timeout_seconds: Positive = Field(default=30.0, description="Timeout of one request.")
    insert_quorum: Annotated[int, Field(ge=0, le=100)] = Field(
        default=0,
        description="Number of replicas that have to have the rows of an insert before it is acknowledged; 0 for one. "
        "An agent waits while fewer respond. Without effect in a database without replicas and in ClickHouse Cloud.",
    )


Days = Annotated[int, Field(ge=0, le=36_500)]


class RetentionSettings(Group):
    """Configure the retention of rows of ClickHouse tables, days; 0 keeps them for ever. `touchstone migrate` applies it."""

    answers: Days = Field(default=90, description="Answers with their texts.")
    claims: Days = Field(default=90, description="Claims with their evidence.")
    citations: Days = Field(default=365, description="Citations, for searches by source.")
    sources: Days = Field(default=365, description="Contents of sources, counted from their last citation.")
    citation_logs: Days = Field(default=365, description="Audit of citations.")
    alerts: Days = Field(default=365, description="Alerts on answers.")
    reviews: Days = Field(default=365, description="Review requests with their texts, and events of the review queue.")
    review_decisions: Days = Field(default=730, description="Decisions with the reviewed texts.")
    accesses: Days = Field(default=730, description="Records of accesses to answers.")
    feedback: Days = Field(
        default=365, description="Feedback events; without the old events, a revision has no effect."
    )
    implicit_feedback: Days = Field(default=365, description="Observed signals such as errors, refusals and retries.")
    rewards: Days = Field(default=365, description="Rewards of answers.")
    insights: Days = Field(default=730, description="Patterns and trends.")
    dead_letters: Days = Field(default=30, description="Dead letters with their records.")
    figures: Days = Field(default=730, description="Narrow facts and hourly figures, without text.")


class MemorySettings(Group):
    """Configure conversational memory."""

    uri: str | None = Field(
        default=None, description="LanceDB path or object store; by default inside the state directory."
    )
    retention_days: Days = Field(
        default=365, description="Age of remembered turns that are removed, days; 0 keeps them for ever."
    )
    remember_without_context: bool = Field(
        default=False, description="Remember answers that were not checked against any context."
    )
    earlier_answers: int = Field(
        default=3,
        ge=0,
        le=10,
        description="Number of remembered answers to the same question to compare with; 0 for none.",
    )
