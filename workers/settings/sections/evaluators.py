"""Settings of evaluator plug-ins."""

from pydantic import Field

from schemas.reports import EvaluatorName
from workers.settings.sections.groups import Group, Positive


class EvaluatorSettings(Group):
    """Configure evaluators of other packages, in addition to the three built-in ones."""

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
