"""citations: answers.generated → find citations → answers.citations."""

from workers.agents.evaluation import evaluation_agent
from workers.pipeline.builtin_evaluators import citations_evaluator

CITATIONS = evaluation_agent("citations", citations_evaluator)
