"""Define the base of all groups of settings."""

from typing import Annotated

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
)

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


Count = Annotated[int, Field(ge=1)]


class Group(BaseModel):
    """A group of settings; an unknown name is an error."""

    model_config = ConfigDict(extra="forbid")
