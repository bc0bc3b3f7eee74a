"""Define the response models of the settings of pipeline versions, and build them."""

from collections.abc import Sequence
from datetime import datetime

from pydantic import Field

from workers.console.presentation.audit.version_settings import (
    Change,
    Group,
    Setting,
    Viewer,
    changes_between,
    records_effects,
    settings_of,
)
from workers.console.presentation.views import View
from workers.stores.queries.version_queries import UsedVersion


class SettingView(View):
    """Describe a setting of a version."""

    part: str = Field(description="Name of the setting, the same in all versions.")
    group: Group = Field(
        description="rules (effects of reasons), limits, overrides (for a tenant or class of queries), texts (for readers), or "
        "software (code, models, libraries)."
    )
    name: str = Field(description="Words for the setting.")
    value: str = Field(description="Its value in words.")
    tenant: str | None = Field(description="Tenant for whose answers it holds; null for all.")
    query_type: str | None = Field(description="Class of queries for which it holds; null for all.")


class SettingChange(View):
    """Describe a setting that differs from the version before."""

    part: str
    group: Group
    words: str = Field(description="The change as a phrase.")
    before: str | None = Field(description="Value in the version before; null if it had none.")
    after: str | None = Field(description="Value in this version; null if it has none.")


class UsedSettings(View):
    """Describe a pipeline version that decided on answers, and what it changed."""

    version: str
    first_used: datetime = Field(description="Time of the first decision on an answer by this version.")
    last_used: datetime = Field(description="Time of the last one.")
    answers: int = Field(description="Number of stored answers of which a text was decided by this version.")
    last_started: datetime | None = Field(description="Time at which a worker of this version last started.")
    recorded: bool = Field(description="False if no worker reported the settings of this version.")
    effects_recorded: bool = Field(
        description="False for earlier versions, which recorded effects of rules only where settings replaced them, and no "
        "texts for readers."
    )
    version_before: str = Field(
        description="Version with the latest first use before that of this one; empty for the first."
    )
    changes: list[SettingChange] | None = Field(
        description="Settings that differ from the version before; null if there is none, or one of both was not recorded."
    )


class SettingsPage(View):
    """Hold a page of versions, the one that was first used last first."""

    items: list[UsedSettings]
    next_cursor: str | None


class PeriodOfUse(View):
    """Hold a period in which one version decided, and no other one between its days."""

    since: datetime
    until: datetime


class VersionSettings(UsedSettings):
    """Describe a pipeline version with all its settings."""

    settings: list[SettingView]
    periods: list[PeriodOfUse] = Field(description="Periods of use, the latest first, at most 100.")


def used_settings(used: UsedVersion, before: UsedVersion | None, viewer: Viewer) -> UsedSettings:
    """Describe a version beside the one before it."""
    is_comparable = before is not None and before.parts is not None and used.parts is not None
    return UsedSettings(
        version=used.version,
        first_used=used.first_used,
        last_used=used.last_used,
        answers=used.answers,
        last_started=used.started_at,
        recorded=used.parts is not None,
        effects_recorded=records_effects(used.parts or {}),
        version_before=before.version if before else "",
        changes=_changes(before, used, viewer) if is_comparable else None,
    )


def version_settings(
    used: UsedVersion, before: UsedVersion | None, periods: Sequence[tuple[datetime, datetime]], viewer: Viewer
) -> VersionSettings:
    """Describe a version with all its settings."""
    return VersionSettings(
        **dict(used_settings(used, before, viewer)),
        settings=[_setting(each) for each in settings_of(used.parts or {}, viewer).values()],
        periods=[PeriodOfUse(since=since, until=until) for since, until in periods],
    )


def _setting(setting: Setting) -> SettingView:
    return SettingView(**setting._asdict())


def _changes(before: UsedVersion | None, used: UsedVersion, viewer: Viewer) -> list[SettingChange]:
    found = changes_between((before and before.parts) or {}, used.parts or {}, viewer)
    return [_change(each) for each in found]


def _change(change: Change) -> SettingChange:
    setting = change.setting
    return SettingChange(
        part=setting.part, group=setting.group, words=change.words, before=change.before, after=change.after
    )
