"""quality: answers.generated → metrics and failure signals → answers.quality."""

from collections.abc import Mapping

from schemas.quality import QualityFindings, QualityReport
from schemas.topics import ANSWERS_GENERATED
from workers.agents.base import AgentDefinition, Handler, Resources
from workers.agents.judging import Judge, judging_handler
from workers.inference.embedding import Vector
from workers.steps.quality import PreparedQuality, judge_quality, prepare_quality


def _handler(resources: Resources) -> Handler:
    thresholds = resources.settings.quality

    def judge(prepared: PreparedQuality, vectors: Mapping[str, Vector]) -> QualityFindings:
        return judge_quality(prepared, vectors, thresholds)

    return judging_handler(Judge("quality", QualityReport, QualityFindings, prepare_quality, judge), resources)


QUALITY = AgentDefinition("quality", (ANSWERS_GENERATED,), _handler, needs=("embedding",))
