"""Measure a verifier on the pairs that it was not trained on.

    python -m training.evaluate --model build/verifier/general --pairs build/verifier/held_out.jsonl.gz
    python -m training.evaluate --model build/verifier/general --pairs build/verifier/answers.jsonl.gz --json answers.json

    python -m training.evaluate --model verifier.int8.onnx --pairs build/verifier/answers.jsonl.gz --scores int8.jsonl

The model is a folder that ``training.train`` made, or the file in int8 that is served, which has no label for words.
For each set: area under the curve, balanced accuracy at one half, and for sets with marks the F1 over words. ``--scores``
keeps the probabilities of each pair, which ``training.combine`` reads.
"""

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from training.model import IGNORED, Verifier, encode, predict
from training.pairs import CLASSES, SUPPORTED, Pair, read_pairs
from workers.evaluation.grounding.sources.verifier_evidence import VerifierPair
from workers.inference.verifying import Int8Verifier
from workers.measurement.classification_metrics import auroc, balanced_accuracy, f1

Probabilities = NDArray[np.float64]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="folder of a trained verifier, or its .onnx file")
    parser.add_argument("--pairs", type=Path, nargs="+", required=True, help="pairs to measure it on")
    parser.add_argument("--json", type=Path, help="write the figures to a file, too")
    parser.add_argument("--scores", type=Path, help="write the probabilities of each pair")
    parser.add_argument("--threads", type=int, default=0, help="threads (default: as torch has it)")
    options = parser.parse_args(arguments)
    if options.threads:
        torch.set_num_threads(options.threads)
    pairs = [pair for path in options.pairs for pair in read_pairs(path)]
    probabilities, words = predicted(options.model, pairs, options.threads)
    if options.scores:
        write_scores(options.scores, pairs, probabilities)
    found = figures(pairs, probabilities, words)
    print(f"{'set':<24}{'pairs':>7}{'AUROC':>8}{'balanced':>10}{'words F1':>10}")
    for name, each in found.items():
        print(
            f"{name:<24}{each['pairs']:>7}"
            + _cell(each["auroc"], 8)
            + _cell(each["balanced"], 10)
            + _cell(each["words_f1"], 10)
        )
    if options.json:
        options.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


def predicted(
    model: Path, pairs: Sequence[Pair], threads: int = 0
) -> tuple[Probabilities, Sequence[Probabilities] | None]:
    """Predict verdicts, shape [n, 3], and the probabilities of unsupported word pieces if the model has them.

    Args:
        model: folder, or file in int8.
        pairs: n pairs.
        threads: pairs of a file that are judged side by side, 0 for as many as there are cores.
    """
    if model.suffix != ".onnx":
        return predict(Verifier(model), encode(pairs))
    served = Int8Verifier(model, str(model), threads)
    return served.score([VerifierPair(pair.evidence, pair.claim) for pair in pairs]).astype(np.float64), None


def figures(
    pairs: Sequence[Pair], probabilities: Probabilities, words: Sequence[Probabilities] | None
) -> dict[str, Any]:
    """Compute figures by set, in the order of the sets.

    Args:
        pairs: n pairs.
        probabilities: of the verdicts, shape [n, 3].
        words: for each pair, of its word pieces being not supported; ``None`` of a model that does not tell.
    """
    names = list(dict.fromkeys(pair.set for pair in pairs))
    encoded = encode(pairs) if words is not None else []
    found = {}
    for name in names:
        places = [place for place, pair in enumerate(pairs) if pair.set == name]
        wrong = np.array([not pairs[place].is_supported for place in places])
        scores = 1.0 - probabilities[places, CLASSES.index(SUPPORTED)]
        marked = (
            []
            if words is None
            else [
                (guess > 0.5, label == 1.0)
                for place in places
                for guess, label in zip(words[place], encoded[place].tokens, strict=True)
                if label != IGNORED
            ]
        )
        both = bool(wrong.any()) and not wrong.all()
        found[name] = {
            "pairs": len(places),
            "auroc": auroc(scores, wrong) if both else None,
            "balanced": balanced_accuracy(scores > 0.5, wrong) if both else None,
            "words_f1": f1(*map(np.array, zip(*marked, strict=True))) if marked else None,
        }
    return found


def write_scores(path: Path, pairs: Iterable[Pair], probabilities: Probabilities) -> None:
    """Keep the probabilities of pairs, as JSON lines."""
    with path.open("w", encoding="utf-8") as lines:
        for pair, row in zip(pairs, probabilities, strict=True):
            lines.write(
                json.dumps({"id": pair.id, "set": pair.set, "verdicts": [round(float(p), 6) for p in row]}) + "\n"
            )


def read_scores(path: Path) -> Iterator[tuple[tuple[str, str], Probabilities]]:
    """Read sets and names of pairs with their probabilities, as :func:`write_scores` wrote them."""
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield (row["set"], row["id"]), np.array(row["verdicts"])


def _cell(value: float | None, width: int) -> str:
    return f"{'' if value is None else f'{value:.3f}':>{width}}"


if __name__ == "__main__":
    main()
