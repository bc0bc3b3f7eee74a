"""Erasure of a person's data."""

from pydantic import Field

from schemas.base import Event, Identifier, UtcDatetime


class Erasure(Event):
    """A person whose data is to be removed, known by a digest alone."""

    digest: str = Field(pattern=r"^[0-9a-f]{64}$", description="SHA-256 of tenant and user, hexadecimal.")
    tenant: Identifier = "default"
    requested_at: UtcDatetime
