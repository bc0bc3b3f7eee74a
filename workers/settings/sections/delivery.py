"""Define the settings of delivery: batches, retries, the circuit breaker."""

from typing import Annotated

from pydantic import (
    Field,
)

from workers.settings.sections.groups import Count, Group, Positive


class DeliverySettings(Group):
    """Configure batches, retries, joining and shutdown."""

    commit_interval_seconds: Positive = Field(default=1.0, description="Interval between commits.")
    in_flight: Count = Field(default=256, description="Maximum number of joined answers and sink rows in progress.")
    stream_buffer: Count = Field(default=128, description="Maximum number of records in Faust's queue for an agent.")
    batch_records: Count = Field(
        default=32, description="Maximum number of records in a batch of an agent that evaluates no answers."
    )
    model_batch_records: Count = Field(
        default=8,
        description="Maximum number of records in a batch of an agent that evaluates answers; the reports of a "
        "batch are sent at its end.",
    )
    fair_records: Count = Field(
        default=256,
        description="Number of records that an evaluating agent reads ahead, so that tenants take turns among them.",
    )
    batch_wait_seconds: Positive = Field(default=0.02, description="Maximum wait for a batch to fill.")
    batch_bytes: Count = Field(
        default=1_000_000, description="Maximum number of bytes in a batch; a single record is always accepted."
    )
    in_flight_bytes: Count = Field(
        default=32_000_000,
        description="Maximum number of bytes that an agent has in progress, and of those that wait in its queue.",
    )
    sink_batch_records: Count = Field(default=500, description="Maximum number of rows in an insert.")
    sink_batch_bytes: Count = Field(default=4_000_000, description="Maximum number of bytes in an insert.")
    sink_batch_wait_seconds: Positive = Field(default=0.5, description="Maximum wait for an insert to fill.")
    max_attempts: Count = Field(default=5, description="Number of attempts before a record is dead-lettered.")
    retry_initial_seconds: Positive = Field(
        default=0.2, description="First pause between attempts; it doubles, with jitter."
    )
    retry_max_seconds: Positive = Field(default=15.0, description="Maximum pause between attempts.")
    handle_timeout_seconds: Positive = Field(default=60.0, description="Timeout of a batch for a store.")
    join_deadline_seconds: Positive = Field(
        default=60.0, description="Maximum wait of an answer for an evaluating agent without progress."
    )
    join_patience_seconds: Positive = Field(
        default=600.0,
        description="Maximum wait of an answer for an agent that is busy with other partitions or tenants.",
    )
    join_limit: Count = Field(
        default=2_000, description="Maximum number of answers (and of early reports) that a worker joins concurrently."
    )
    join_bytes: Count = Field(
        default=128_000_000,
        description="Maximum bytes of answers (and of an agent's early reports) that a worker joins concurrently.",
    )
    shutdown_grace_seconds: Positive = Field(default=20.0, description="Maximum time from SIGTERM to exit.")


class BreakerSettings(Group):
    """Configure the circuit breaker: an agent stops when too many records are dead-lettered."""

    share: Annotated[float, Field(gt=0, le=1)] = Field(
        default=0.5, description="Share of dead-lettered records that stops an agent."
    )
    window_seconds: Positive = Field(default=60.0, description="Time window in which records are counted.")
    least: Count = Field(default=2_000, description="Minimum number of dead letters to stop an agent.")
