"""grounding: answers.generated → hold every claim against its evidence → answers.grounding.

Where the settings name a verifier, it is asked about the claims that the rules leave open.
"""

from collections.abc import Mapping

from schemas.grounding import GroundingFindings, GroundingReport
from schemas.topics import ANSWERS_GENERATED
from workers.agents.base import AgentDefinition, Handler, Resources
from workers.agents.judging import Judge, VerifiedJudge, judging_handler
from workers.delivery.errors import JudgementError
from workers.inference.embedding import Vector
from workers.inference.opening import open_combination
from workers.settings import Settings
from workers.steps.grounding import (
    PreparedGrounding,
    Verdicts,
    WeighedGrounding,
    judge_grounding,
    judge_weighed,
    prepare_grounding,
    weigh_grounding,
)
from workers.steps.thresholds import GroundingThresholds
from workers.steps.verifier_combination import VerifierCombination


def grounding_judge(settings: Settings) -> Judge:
    """The step, with the thresholds of the settings.

    Raises:
        VerifierUnusable: the settings name a verifier, and nothing says how it joins the rules.
    """
    thresholds = settings.grounding

    def judge(prepared: PreparedGrounding, vectors: Mapping[str, Vector]) -> GroundingFindings:
        return judge_grounding(prepared, vectors, thresholds)

    combination = open_combination(thresholds)
    verified = None if combination is None else _verified(thresholds, combination)
    return Judge("grounding", GroundingReport, GroundingFindings, prepare_grounding, judge, verified=verified)


def _verified(thresholds: GroundingThresholds, combination: VerifierCombination) -> VerifiedJudge:
    def weigh(prepared: PreparedGrounding, vectors: Mapping[str, Vector]) -> WeighedGrounding:
        return weigh_grounding(prepared, vectors, combination=combination)

    def judge(weighed: WeighedGrounding, verdicts: Verdicts | JudgementError) -> GroundingFindings:
        if isinstance(verdicts, JudgementError):
            findings = judge_weighed(weighed, thresholds)
            return findings.model_copy(update={"without_verifier": str(verdicts)})
        return judge_weighed(weighed, thresholds, verdicts, combination)

    return VerifiedJudge(weigh, judge)


def _handler(resources: Resources) -> Handler:
    return judging_handler(grounding_judge(resources.settings), resources)


GROUNDING = AgentDefinition("grounding", (ANSWERS_GENERATED,), _handler, needs=("embedding", "verifier"))
