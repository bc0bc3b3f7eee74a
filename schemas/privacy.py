"""Define the erasure of a person's data."""

from typing import Annotated

from pydantic import Field

from schemas.base import Event, Identifier, Label, Many, UtcDatetime

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Erasure(Event):
    """A request to remove a person's data, identified by a digest only; it cannot be withdrawn.

    Everything before ``requested_at`` is erased in every store, and records of it are dropped when they are read again.
    Later records of the same person are kept.
    """

    digest: Digest = Field(description="SHA-256 of tenant and user, as person_digest makes it.")
    tenant: Identifier = "default"
    requested_at: UtcDatetime
    by: Label = Field(
        default="",
        exclude_if=lambda by: not by,
        description="Who ran the erasure, as auditors see it; never the erased person. Empty in earlier records.",
    )
    answers: Many[Digest] = Field(
        default_factory=list,
        max_length=5_000,
        description="SHA-256 of the keys of the person's answers, for records that name no person.",
    )
