"""Define the tables of operation: dead letters, versions, accesses, replays and migrations."""

from dataclasses import dataclass
from typing import ClassVar

from workers.stores.tables.table_row import (
    Day,
    Earliest,
    Flag,
    Hour,
    InsertMillis,
    Label,
    Latest,
    Millis,
    TableRow,
    Text,
    Texts,
    UInt32,
    UInt64,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetterRow(TableRow):
    """Hold a record that was not processed, with the reason."""

    table: ClassVar[str] = "dead_letters"
    kept_from: ClassVar[str] = "failed_at"
    dead_letter_id: Text
    topic: Label
    partition: UInt32
    offset: UInt64
    agent: Label
    error_class: Label
    error: Text
    attempts: UInt32
    failed_at: Millis
    pipeline_version: Label
    key_base64: Text | None = None
    value_base64: Text | None = None
    headers: Text
    value_omitted: UInt64 | None = None
    value_sha256: Text | None = None
    revision: UInt32 = 0
    requeued_at: Millis | None = None
    requeue_count: UInt32 = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionRow(TableRow):
    """Hold the parts of a pipeline version, as JSON."""

    table: ClassVar[str] = "versions"
    version: Text
    parts: Text
    started_at: Millis


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionDayRow(TableRow):
    """Hold a day on which a pipeline version decided on answers of a tenant. A view fills the table."""

    table: ClassVar[str] = "version_days"
    tenant: Label
    pipeline_version: Label
    day: Day
    first_at: Earliest
    last_at: Latest


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRow(TableRow):
    """Hold an access of a person to answers."""

    table: ClassVar[str] = "accesses"
    kept_from: ClassVar[str] = "at"
    access_id: Text
    at: Millis
    who: Label
    via: Label
    what: Label
    tenant: Label
    answers: Texts


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayRow(TableRow):
    """Hold the state of a replay. Options, offsets and counts are JSON."""

    table: ClassVar[str] = "replays"
    run: Text
    revision: UInt64
    pipeline_version: Text
    options: Text
    state: Label
    bounds: Text
    progress: Text
    counts: Text
    started_at: Millis
    updated_at: Millis


@dataclass(frozen=True, slots=True, kw_only=True)
class PromotionRow(TableRow):
    """Hold the promotion or demotion of a run, and all changes so far as JSON."""

    table: ClassVar[str] = "promotions"
    run: Text
    active: Flag
    changed_at: Millis
    changes: Text = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromotedHourRow(TableRow):
    """Hold the promoted run of an hour. A view fills the table."""

    table: ClassVar[str] = "promoted_hours"
    tenant: Label
    hour: Hour
    run: Label


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationRow(TableRow):
    """Hold an applied migration."""

    table: ClassVar[str] = "schema_migrations"
    version: UInt32
    name: Text
    digest: Text
    applied_at: InsertMillis = None
    oldest_worker: UInt32 = 0
