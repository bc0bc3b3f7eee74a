"""grounding: answers.generated → hold every claim against its evidence → answers.grounding."""

from collections.abc import Mapping

from schemas.grounding import GroundingFindings, GroundingReport
from schemas.topics import ANSWERS_GENERATED
from workers.agents.base import AgentDefinition, Handler, Resources
from workers.agents.judging import Judge, judging_handler
from workers.inference.embedding import Vector
from workers.settings import Settings
from workers.steps.grounding import PreparedGrounding, judge_grounding, prepare_grounding


def grounding_judge(settings: Settings) -> Judge:
    """The step, with the thresholds of the settings."""
    thresholds = settings.grounding

    def judge(prepared: PreparedGrounding, vectors: Mapping[str, Vector]) -> GroundingFindings:
        return judge_grounding(prepared, vectors, thresholds)

    return Judge("grounding", GroundingReport, GroundingFindings, prepare_grounding, judge)


def _handler(resources: Resources) -> Handler:
    return judging_handler(grounding_judge(resources.settings), resources)


GROUNDING = AgentDefinition("grounding", (ANSWERS_GENERATED,), _handler, needs=("embedding",))
