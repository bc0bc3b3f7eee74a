"""Define the settings of exports to other systems: traces, evaluations, webhooks."""

import re
from base64 import b64decode
from typing import Annotated, Literal, Self

from pydantic import (
    Field,
    SecretStr,
    field_validator,
    model_validator,
)

from workers.settings.network import HttpAddress, check_address
from workers.settings.sections.groups import Group, Positive, PositiveHours


class TracingSettings(Group):
    """Configure spans for an OpenTelemetry collector; off without an endpoint."""

    endpoint: HttpAddress | None = Field(
        default=None,
        description="Address for OTLP over HTTP, such as http://collector:4318/v1/traces.",
    )
    sample: Annotated[float, Field(ge=0, le=1)] = Field(
        default=1.0, description="Share of answers to trace if the gateway has not decided."
    )
    service_name: str = Field(default="touchstone", min_length=1, description="Service name of the spans.")


class ExportSettings(Group):
    """Configure all exporters; each exporter is off until its target is set."""

    max_age_hours: PositiveHours = Field(
        default=72.0,
        description="Maximum age of records to export; older records are skipped, for example at the first start.",
    )
    timeout_seconds: Positive = Field(default=10.0, description="Timeout of one request.")
    plaintext: bool = Field(
        default=False,
        description="Allow http to other machines, as inside a cluster; secrets are then sent unencrypted.",
    )
    plugins: tuple[str, ...] = Field(
        default=(), description="Names of installed exporter plug-ins that run as agents, as a JSON list."
    )
    console_url: HttpAddress | None = Field(
        default=None, pattern=r"^https?://[^\s<>|]+$", description="Address of the console, for links."
    )


class OtelSettings(Group):
    """Configure the agent `otel`, which sends evaluations as events to an OpenTelemetry collector; off without an endpoint."""

    endpoint: HttpAddress | None = Field(
        default=None,
        description="Address for OTLP logs over HTTP, such as https://collector:4318/v1/logs.",
    )
    headers: SecretStr | None = Field(
        default=None,
        description="Headers in the format of OTEL_EXPORTER_OTLP_HEADERS: name=value,name=value, with "
        "percent-encoded values.",
    )

    @field_validator("headers")
    @classmethod
    def _can_be_sent(cls, headers: SecretStr | None) -> SecretStr | None:
        given = headers.get_secret_value() if headers else ""
        if not given.isprintable() or re.search("%(?:[01]|7F)", given, re.IGNORECASE):
            raise ValueError("headers must not contain control characters; percent-encode values as in a URL")
        if any("=" not in pair for pair in given.split(",") if pair.strip()):
            raise ValueError("headers must be written as name=value,name=value")
        return headers


class LangfuseSettings(Group):
    """Configure the agent `langfuse`, which sends scores to Langfuse; off without an address."""

    url: HttpAddress | None = Field(
        default=None, description="Address of Langfuse, such as https://cloud.langfuse.com."
    )
    public_key: str = Field(default="", description="Public key of the project (pk-lf-…).")
    secret_key: SecretStr | None = Field(default=None, description="Secret key of the project (sk-lf-…).")
    environment: str | None = Field(
        default=None,
        pattern=r"^[a-z0-9_-]{1,40}$",
        description="Environment of the scores; by default Langfuse's own.",
    )

    @field_validator("environment")
    @classmethod
    def _is_not_reserved(cls, environment: str | None) -> str | None:
        if environment is not None and environment.startswith("langfuse"):
            raise ValueError("environment must not begin with langfuse, because Langfuse refuses such scores")
        return environment

    tag_traces: bool = Field(
        default=False,
        description="Also tag traces with user feedback; works with Langfuse 3 only.",
    )

    @model_validator(mode="after")
    def _has_its_keys(self) -> Self:
        if self.url is not None and not (self.public_key and self.secret_key):
            raise ValueError("url requires public_key and secret_key, from the settings of the Langfuse project")
        return self


MIN_SIGNING_KEY, MAX_SIGNING_KEY = 24, 64
"""Bounds on the bytes of a signing secret (Standard Webhooks 1.0)."""


class WebhookSettings(Group):
    """Configure a webhook; off without an address."""

    url: SecretStr | None = Field(
        default=None, description="Address of the webhook; treated as a secret, because Slack's addresses are."
    )
    secret: SecretStr | None = Field(
        default=None, description="Signing key: whsec_ and 24 to 64 bytes in base64. Required for format json."
    )
    format: Literal["json", "slack"] = Field(
        default="json", description="json is signed by Standard Webhooks; slack is a message for an incoming webhook."
    )

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.url is None:
            return self
        try:
            check_address(self.url.get_secret_value())
        except ValueError as error:
            raise ValueError(f"url {error}") from None
        if self.format == "json" and self.secret is None:
            raise ValueError("format json must be signed; set secret, or set format to slack")
        if self.secret is not None:
            _check_signing_secret(self.secret.get_secret_value())
        return self


class AlertWebhookSettings(WebhookSettings):
    """Configure the agent `alert-webhook`, which posts alerts; off without an address."""

    least_severity: Literal["info", "warning", "critical"] = Field(
        default="warning", description="Minimum severity of alerts to send."
    )


class ReviewWebhookSettings(WebhookSettings):
    """Configure the agent `review-webhook`, which posts review requests; off without an address."""


def _check_signing_secret(secret: str) -> None:
    try:
        key = b64decode(secret.removeprefix("whsec_"), validate=True)
    except ValueError:
        key = b""
    if not MIN_SIGNING_KEY <= len(key) <= MAX_SIGNING_KEY:
        raise ValueError(
            f"secret must be whsec_ and {MIN_SIGNING_KEY} to {MAX_SIGNING_KEY} bytes in base64; create one with: "
            "echo whsec_$(openssl rand -base64 32)"
        )
