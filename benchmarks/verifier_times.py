"""Measure a verifier on one pair of evidence and claim, and the selection of evidence for an answer's claims.

    python -m benchmarks.verifier_times --verifier verifier.int8.onnx

The pairs are those of all claims of the examples that have evidence, as if the rules left every one of them open. CPU
time on one thread, each pair a run of its own as it is served.
"""

import argparse
import time
from itertools import islice

from benchmarks.feedback_times import show
from schemas.answers import GeneratedAnswer
from workers.evaluation.grounding.grounding_evaluator import score_with_rules
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.grounding.sources.verifier_evidence import VerifierPair, verifier_pairs
from workers.inference.opening import BUILTIN, open_verifier
from workers.inference.verifying import VerifierBackend
from workers.process.paths import examples_directory
from workers.settings import Settings


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--verifier", default=BUILTIN, help="as in TOUCHSTONE_GROUNDING__VERIFIER (default builtin)")
    parser.add_argument("--pairs", type=int, default=400, help="most pairs (default 400)")
    options = parser.parse_args()
    settings = Settings.model_validate({"grounding": {"verifier": options.verifier}, "inference": {"threads": 1}})
    verifier = open_verifier(settings)
    if verifier is None:
        parser.error("--verifier none takes no time")
    pairs, choosing = _pairs(options.pairs)
    verifier.score(pairs[:8])
    print(f"{'CPU':<36}{'p50 ms':>9}{'p95 ms':>9}")
    show("one pair", [_cpu_seconds(verifier, pair) for pair in pairs])
    show("choosing the evidence, one answer", choosing)
    lengths = sorted(len(pair.evidence) for pair in pairs)
    print(f"{len(pairs)} pairs, evidence of {lengths[len(lengths) // 2]} code points at the median")


def _pairs(most: int) -> tuple[list[VerifierPair], list[float]]:
    pairs: dict[VerifierPair, None] = {}
    choosing = []
    for line in (examples_directory() / "answers.jsonl").read_bytes().splitlines():
        prepared = prepare_grounding(GeneratedAnswer.from_bytes(line))
        weighed = score_with_rules(prepared)
        started = time.process_time()
        found = verifier_pairs(weighed.checked, prepared.units, weighed.similarity, weighed.leaning)
        choosing.append(time.process_time() - started)
        pairs |= dict.fromkeys(found)
        if len(pairs) >= most:
            break
    return list(islice(pairs, most)), choosing


def _cpu_seconds(verifier: VerifierBackend, pair: VerifierPair) -> float:
    started = time.process_time()
    verifier.score([pair])
    return time.process_time() - started


if __name__ == "__main__":
    main()
