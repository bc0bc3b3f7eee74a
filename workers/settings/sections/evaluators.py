"""Settings of evaluator plug-ins."""

from typing import Annotated, Literal

from pydantic import Field, field_validator

from schemas.reports import EvaluatorName
from workers.settings.sections.groups import Group, Positive

MAX_PROCESSES = 64


class EvaluatorSettings(Group):
    """Configure where evaluators run, and evaluators of other packages in addition to the three built-in ones."""

    processes: Literal["auto"] | Annotated[int, Field(ge=0, le=MAX_PROCESSES)] = Field(
        default="auto",
        description="Number of processes in which `worker`, `up` and `demo` evaluate apart from the other agents; 0 "
        "for none, auto for one where two cores are available. Not used by a worker with a list of agents.",
    )

    @field_validator("processes", mode="before")
    @classmethod
    def _known_number(cls, value: object) -> object:
        """Refuse other values in one sentence: pydantic would complain of each alternative."""
        if value == "auto" or (str(value).isdecimal() and int(str(value)) <= MAX_PROCESSES):
            return value
        raise ValueError(f"must be auto or a whole number from 0 to {MAX_PROCESSES}")

    enabled: tuple[EvaluatorName, ...] = Field(
        default=(),
        description="Names of installed evaluator plug-ins that evaluate every answer, as a JSON list.",
    )
    timeout_seconds: Positive = Field(
        default=5.0, description="Timeout of one call of a plug-in; its report is then failed."
    )
    wait_seconds: Positive = Field(
        default=20.0,
        description="Maximum wait of an answer for reports of plug-ins after the built-in reports have arrived. "
        "A plug-in that the decision policy names is waited for as long as a built-in evaluator.",
    )
