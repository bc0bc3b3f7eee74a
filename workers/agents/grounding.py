"""Run the agent grounding: compare every claim of answers.generated with its evidence → answers.grounding.

If the settings name a verifier, it reads the claims that the rules leave open.
"""

from workers.agents.evaluation import evaluation_agent
from workers.pipeline.builtin_evaluators import grounding_evaluator
from workers.pipeline.evaluator import Needs

GROUNDING = evaluation_agent("grounding", grounding_evaluator, Needs(verifier=True))
