"""Import and load what a worker does, and compute what it derives from its own code, for the processes that are forked.

Patterns are compiled when they are used first, 3 s of CPU in each worker; so some examples are evaluated here.
"""

import warnings

import lancedb  # noqa: F401
import sentence_transformers  # noqa: F401

import workers.cli.operation.worker_command
import workers.runtime.worker  # noqa: F401
from schemas.answers import GeneratedAnswer
from tests.harness.paths import ROOT
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.quality.quality_evaluator import prepare_quality
from workers.evaluation.text.parser import load_parser
from workers.evaluation.thresholds import GroundingThresholds
from workers.pipeline.versions import rules_digest

# LanceDB starts its threads again in each fork, and warns.
warnings.filterwarnings("ignore", "lancedb fork support")

load_parser()
rules_digest()
for line in (ROOT / "examples" / "answers.jsonl").read_text(encoding="utf-8").splitlines()[::12]:
    answer = GeneratedAnswer.model_validate_json(line)
    evaluate_grounding(prepare_grounding(answer), GroundingThresholds())
    prepare_quality(answer)
