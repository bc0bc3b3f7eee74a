"""grounding: answers.generated → hold every claim against its evidence → answers.grounding."""

from collections.abc import Mapping

from schemas.grounding import GroundingFindings, GroundingReport
from schemas.topics import ANSWERS_GENERATED
from workers.agents.base import AgentDefinition, Handler, Resources
from workers.agents.judging import Judge, judging_handler
from workers.inference.embedding import Vector
from workers.steps.grounding import PreparedGrounding, judge_grounding, prepare_grounding


def _handler(resources: Resources) -> Handler:
    thresholds = resources.settings.grounding

    def judge(prepared: PreparedGrounding, vectors: Mapping[str, Vector]) -> GroundingFindings:
        return judge_grounding(prepared, vectors, thresholds)

    return judging_handler(Judge("grounding", GroundingReport, GroundingFindings, prepare_grounding, judge), resources)


GROUNDING = AgentDefinition("grounding", (ANSWERS_GENERATED,), _handler, needs=("embedding",))
