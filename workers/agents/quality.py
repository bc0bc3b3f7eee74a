"""Run the agent quality: find metrics and failure signals of answers.generated → answers.quality.

Earlier answers to the same question come from memory.
"""

from workers.agents.evaluation import evaluation_agent
from workers.pipeline.builtin_evaluators import quality_evaluator
from workers.pipeline.evaluator import Needs

QUALITY = evaluation_agent("quality", quality_evaluator, Needs(vectors=True, memory=True))
