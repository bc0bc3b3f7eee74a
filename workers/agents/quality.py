"""quality: answers.generated (and memory) → metrics and failure signals → answers.quality."""

from workers.agents.evaluation import evaluation_agent
from workers.pipeline.builtin_evaluators import quality_evaluator
from workers.pipeline.evaluator import Needs

QUALITY = evaluation_agent("quality", quality_evaluator, Needs(vectors=True, memory=True))
