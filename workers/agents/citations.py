"""Run the agent citations: find the citations of answers.generated → answers.citations."""

from workers.agents.evaluation import evaluation_agent
from workers.pipeline.builtin_evaluators import citations_evaluator

CITATIONS = evaluation_agent("citations", citations_evaluator)
