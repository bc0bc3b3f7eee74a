"""Define the base of all groups of settings."""

from typing import Annotated

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
)

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]

PositiveDays = Annotated[float, Field(gt=0, le=20_000, allow_inf_nan=False)]

PositiveHours = Annotated[float, Field(gt=0, le=480_000, allow_inf_nan=False)]
"""Durations up to about 54 years: now and this much earlier or later are times that stores and brokers accept."""


Count = Annotated[int, Field(ge=1)]


class Group(BaseModel):
    """A group of settings; an unknown name is an error."""

    model_config = ConfigDict(extra="forbid")
