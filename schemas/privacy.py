"""Erasure of a person's data."""

from typing import Annotated

from pydantic import Field

from schemas.base import Event, Identifier, Many, UtcDatetime

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Erasure(Event):
    """A person whose data is to be removed, known by a digest alone; nobody takes it back.

    What was asked before ``requested_at`` is erased, in every store and wherever a record of it
    is read again; a person who comes back after it is a person like any other.
    """

    digest: Digest = Field(description="SHA-256 of tenant and user, hexadecimal.")
    tenant: Identifier = "default"
    requested_at: UtcDatetime
    answers: Many[Digest] = Field(
        default_factory=list,
        max_length=5_000,
        description="SHA-256 of the identifiers of the person's answers, for records that name no person.",
    )
