"""Define the settings of formats of other systems, and of replays."""

import re
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import (
    Field,
    field_validator,
    model_validator,
)

from workers.gateways.formats import BUILTIN, Format, format_named
from workers.gateways.mapped import Mapped, read_mapping
from workers.process.plugins import PluginError
from workers.settings.sections.groups import Count, Group, Positive


class ReplaySettings(Group):
    """Configure replays, which run while the live stream continues."""

    max_live_lag: Count = Field(default=1_000, description="Lag of the evaluating agents above which a replay waits.")


class StreamSettings(Group):
    """Configure the agent `streams`, which joins the chunks of an answer."""

    enabled: bool = Field(default=False, description="Run the agent streams.")
    idle_seconds: Positive = Field(
        default=30.0, description="Wait for the next chunk; the answer then ends without the rest and is marked as cut."
    )
    max_seconds: Positive = Field(
        default=600.0, description="Maximum time from the first chunk to the last one; then as for idle_seconds."
    )
    keep_seconds: Count = Field(
        default=86_400,
        description="Time for which Redis keeps the chunks of an answer after its latest one, so that a chunk that is "
        "delivered again makes no second answer.",
    )


MAX_MAPPING_BYTES = 1_000_000
"""Maximum size of a mapping file, bytes."""


def _mapping(name: str, path: Any) -> Any:
    """Load a mapping from its file.

    Raises:
        ValueError: the file cannot be read; the message names it.
    """
    if isinstance(path, Mapped):
        return path
    try:
        content = Path(str(path)).read_bytes()
    except OSError as error:
        raise ValueError(
            f"{name}: {path} cannot be read ({error.strerror}); set the path of the mapping file"
        ) from None
    if len(content) > MAX_MAPPING_BYTES:
        raise ValueError(f"{name}: {path} has more than {MAX_MAPPING_BYTES} bytes; use a smaller mapping file")
    return read_mapping(content, name, f"{name}: {path}")


class GatewayTopic(Group):
    """Describe a topic that another system writes."""

    format: str = Field(description="Of its records: a built-in one, or the name of a mapping or of a plug-in.")
    tenant: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="Tenant of all records; by default the tenant in each record.",
    )


class GatewaySettings(Group):
    """Configure answers in the formats of other systems, from topics and by HTTP."""

    topics: dict[str, GatewayTopic] = Field(
        default_factory=dict,
        description="Topics whose records become answers, by their name at the broker, with their format and "
        "optionally one tenant. The agent intake reads them; without topics it does not run.",
    )
    mappings: dict[str, Mapped] = Field(
        default_factory=dict, description="Additional formats: name and path of each mapping file."
    )
    trace_seconds: float = Field(
        default=60.0,
        ge=0,
        le=3_600,
        description="Time for which Redis keeps the sources of a trace for calls in other exports, seconds; 0 joins "
        "only within one export.",
    )
    trace_wait_seconds: float = Field(
        default=2.0,
        ge=0,
        le=60,
        description="Maximum wait of an export for the sources of an incomplete trace that arrive after their call, by "
        "HTTP and from topics, seconds; 0 does not wait. Needs gateways.trace_seconds.",
    )
    in_flight_bytes: Count = Field(
        default=32_000_000,
        description="Maximum bytes of HTTP answers that wait for the broker; further requests get status 429.",
    )
    tenant_answers_per_second: float = Field(
        default=0.0,
        ge=0,
        allow_inf_nan=False,
        description="Answers a second that each tenant may send by HTTP to one console, ten seconds of them at once; "
        "further requests get status 429. 0 for no quota.",
    )
    tenants_answers_per_second: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = Field(
        default_factory=dict, description="As the setting before, for single tenants; 0 for no quota."
    )

    @field_validator("mappings", mode="before")
    @classmethod
    def _read_mappings(cls, mappings: object) -> object:
        if not isinstance(mappings, dict):
            return mappings
        for name in mappings:
            if name in BUILTIN:
                raise ValueError(f"the format {name} is built in; rename the mapping")
        return {name: _mapping(name, path) for name, path in mappings.items()}

    @model_validator(mode="after")
    def _formats_exist(self) -> Self:
        for name, topic in self.topics.items():
            if not re.fullmatch(r"[a-zA-Z0-9._-]{1,249}", name):
                raise ValueError(f"topics: {name!r} is not a valid topic name")
            try:
                self.format_named(topic.format)
            except PluginError as error:
                raise ValueError(f"topics.{name}.format: {error}") from None
        return self

    def format_named(self, name: str) -> Format:
        """Return a format by its name.

        Raises:
            UnknownPlugin: the format does not exist; the message lists the existing formats.
            PluginError: the plug-in of this name is ambiguous or broken.
        """
        return format_named(name, self.mappings)
