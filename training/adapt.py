"""Train a general verifier further on the claims of real answers, and say what it makes of answers it has not seen.

    python -m training.adapt --start build/verifier/general --answers build/verifier/answers.jsonl.gz \\
        --rehearse build/verifier/train.jsonl.gz --out build/verifier/adapted

Folds are made over documents: each claim's probabilities in ``scores.jsonl`` come from a model that has seen no answer
over its document. The model that is kept is trained on all of them. Some general pairs are rehearsed with them, so that
what was learnt from many is not unlearnt for a few.
"""

import argparse
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from training.evaluate import write_scores
from training.model import encode, predict
from training.pairs import Pair, read_pairs
from training.train import Plan, train
from workers.evaluation.fitting import folds


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--start", type=Path, required=True, help="model to start from")
    parser.add_argument("--answers", type=Path, required=True, help="claims of answers")
    parser.add_argument("--rehearse", type=Path, required=True, help="general pairs")
    parser.add_argument("--without", nargs="*", default=[], metavar="SET", help="sets to leave out of these")
    parser.add_argument("--rehearsed", type=int, default=1_500, help="general pairs beside them (default 1,500)")
    parser.add_argument("--out", type=Path, required=True, help="folder for the model")
    parser.add_argument("--folds", type=int, default=3, help="default 3")
    parser.add_argument("--rate", type=float, default=5e-5, help="learning rate (default 5e-5)")
    parser.add_argument("--epochs", type=float, default=2.0, help="default 2")
    parser.add_argument("--seed", type=int, default=1, help="of order and dropout (default 1)")
    parser.add_argument("--threads", type=int, default=0, help="threads (default: as torch has it)")
    parser.add_argument("--no-model", action="store_true", help="only the scores of the folds")
    options = parser.parse_args(arguments)
    if options.threads:
        torch.set_num_threads(options.threads)
    answers = list(read_pairs(options.answers))
    general = [pair for pair in read_pairs(options.rehearse) if pair.set not in options.without]
    general = random.Random(options.seed).sample(general, min(options.rehearsed, len(general)))
    plan = Plan(options.rate, options.epochs, seed=options.seed)
    probabilities = np.zeros((len(answers), 3))
    for number, (seen, unseen) in enumerate(folds([pair.document for pair in answers], options.folds)):
        folder = options.out / f"fold-{number}"
        chosen = [answers[place] for place in seen] + general
        test: list[Pair] = [answers[place] for place in unseen]
        model = train(chosen, plan, folder, start=options.start, watched={"unseen": test[:300]})
        probabilities[unseen], _ = predict(model, encode(test))
    write_scores(options.out / "scores.jsonl", answers, probabilities)
    if not options.no_model:
        train([*answers, *general], plan, options.out, start=options.start).save(options.out)


if __name__ == "__main__":
    main()
