"""Define the settings of HTTP servers and of the synchronous check."""

from pathlib import Path
from typing import Self

from pydantic import (
    Field,
    SecretStr,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)

from schemas.review import POLICY
from workers.decision.stream_stop import StopOn
from workers.settings.network import is_loopback
from workers.settings.sections.groups import Count, Group, Positive, PositiveHours
from workers.settings.sections.scopes import Scope


class HttpSettings(Group):
    """Configure the HTTP server for metrics and health."""

    host: str = Field(default="127.0.0.1", description="Address to listen on; 0.0.0.0 in a container.")
    metrics_port: int = Field(default=0, ge=0, le=65535, description="Port; 0 for a free port.")


RESERVED_NAMES = frozenset({POLICY, "pipeline", "nobody"})
"""Names that stand for no person in decisions, in the audit and in filters."""


class AccessToken(Group):
    """Define a token for the console."""

    name: str = Field(pattern=r"^[A-Za-z0-9._-]{1,64}$", description="Name of the owner, recorded in the access log.")
    token: SecretStr = Field(min_length=16, max_length=1_000, description="The secret.")
    scopes: frozenset[Scope] = Field(min_length=1, description="Granted scopes.")
    tenants: frozenset[str] = Field(default=frozenset(), description="Tenants whose data is visible; empty for all.")

    @field_validator("name")
    @classmethod
    def _of_a_person(cls, name: str) -> str:
        if name.lower() in RESERVED_NAMES:
            raise ValueError(f"{name} is reserved: it stands for no person in decisions and filters; rename the token")
        return name


MAX_TOKENS_BYTES = 1_000_000
"""Maximum size of the file of access tokens, bytes."""


class ConsoleSettings(Group):
    """Configure the console: HTTP API and pages."""

    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(default=0, ge=0, le=65535, description="Port; 0 for a free port.")
    tls_certfile: Path | None = Field(default=None, description="Certificate chain, PEM.")
    tls_keyfile: Path | None = Field(default=None, description="Private key of the certificate, PEM.")
    behind_proxy: bool = Field(
        default=False,
        description="A proxy terminates TLS and sets X-Forwarded-For and -Proto; required without TLS if the "
        "console does not listen on loopback.",
    )
    proxies: Count = Field(
        default=1,
        description="Number of proxies in front of the console if it is behind one. Each appends the address of its "
        "caller to X-Forwarded-For, so that the caller's address is the entry of this number from the right.",
    )
    tokens: tuple[AccessToken, ...] = Field(default=(), description="Access tokens as a JSON list.")
    tokens_file: Path | None = Field(
        default=None, description="JSON file of access tokens, in addition to console.tokens."
    )
    session_hours: PositiveHours = Field(default=12.0, description="Lifetime of a browser session.")
    requests_per_minute: Count = Field(default=1_200, description="Maximum rate of requests per token.")
    failures_per_minute: Count = Field(default=20, description="Maximum rate of failed authentications per address.")
    max_body_bytes: Count = Field(default=2_000_000, description="Maximum size of a request body.")

    @model_validator(mode="after")
    def _with_tokens_of_the_file(self) -> Self:
        if self.tokens_file is not None:
            self.tokens = (*self.tokens, *_read_tokens(self.tokens_file))
            self.tokens_file = None
        names = [token.name for token in self.tokens]
        if len(set(names)) != len(names):
            raise ValueError("two access tokens have the same name; rename one")
        return self

    @model_validator(mode="after")
    def _encrypted_off_loopback(self) -> Self:
        if (self.tls_certfile is None) != (self.tls_keyfile is None):
            raise ValueError("set tls_certfile and tls_keyfile, both or neither")
        if not is_loopback(self.host) and self.tls_certfile is None and not self.behind_proxy:
            raise ValueError(
                f"access tokens would be sent unencrypted on {self.host}; set tls_certfile and tls_keyfile, or "
                "behind_proxy if a proxy terminates TLS"
            )
        return self


_TOKENS = TypeAdapter(tuple[AccessToken, ...])


def _read_tokens(path: Path) -> tuple[AccessToken, ...]:
    """Return the access tokens of a file.

    Raises:
        ValueError: the file cannot be read or holds no list of tokens; the message quotes nothing of its content.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    if len(content) > MAX_TOKENS_BYTES:
        raise ValueError(
            f"{path}: the file of access tokens has more than {MAX_TOKENS_BYTES} bytes; remove tokens from it"
        )
    try:
        return _TOKENS.validate_json(content)
    except ValidationError as error:
        detail = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(str(part) for part in detail["loc"])
        raise ValueError(
            f"{path}: {where} {detail['msg']}; write a JSON list of objects with name, token, scopes and tenants"
        ) from None


class CheckSettings(Group):
    """Configure the synchronous evaluation of one answer (POST /v1/check of the console)."""

    deadline_seconds: Positive = Field(default=1.0, description="Maximum wait of a caller that does not set one.")
    concurrent: Count = Field(default=2, description="Number of answers evaluated concurrently; about one per core.")
    stop_on: StopOn = Field(
        default="nothing",
        description="Findings that stop the stream of an answer: `contradicted_figure`, `high_risk` (which includes "
        "the first) or `nothing`; a request may set its own.",
    )
