"""Import and load what a worker does, and compute what it derives from its own code, for the processes that are forked."""

import warnings

import lancedb  # noqa: F401
import sentence_transformers  # noqa: F401

import workers.cli.operation.worker_command
import workers.runtime.worker  # noqa: F401
from workers.evaluation.text.parser import load_parser
from workers.pipeline.versions import rules_digest

# LanceDB starts its threads again in each fork, and warns.
warnings.filterwarnings("ignore", "lancedb fork support")

load_parser()
rules_digest()
