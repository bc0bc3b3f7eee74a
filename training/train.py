"""Train the verifier on prepared pairs.

    python -m training.train --pairs build/verifier/train.jsonl.gz --out build/verifier/general
    python -m training.train --pairs build/verifier/train.jsonl.gz --out build/verifier/general --resume

Every so many steps it measures itself on pairs that it does not train on (``--watch``) and writes a line to
``log.jsonl`` in the folder of the result; with ``--resume`` it goes on from its last checkpoint, in the same order.
On one core of a processor with bfloat16 a pair of 48 word pieces takes some 30 ms, one of 160 some 115.
"""

import argparse
import json
import math
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from rich.progress import Progress
from torch import Tensor
from torch.nn import functional

from training.model import IGNORED, Encoded, Verifier, encode, padded, predict
from training.pairs import CLASSES, Pair, read_pairs
from workers.measurement.classification_metrics import auroc

BUCKET = 50
"""Batches among which pairs are sorted by length, so that a batch has little padding."""
WORDS_WEIGHT = 0.3
"""Weight of the labels of words beside that of the verdict."""
HAS_BFLOAT16 = bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
"""True if the processor computes in bfloat16; without it bfloat16 is 14 times slower than float32."""
WATCHED = 300
"""Pairs of each watched file that are measured during training."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Describe the training parameters.

    Attributes:
        rate: highest learning rate; it rises over the first tenth and falls to nothing.
        epochs: times that every pair is seen.
        batch: pairs in a step.
        seed: of order and dropout.
    """

    rate: float = 1e-4
    epochs: float = 1.0
    batch: int = 32
    seed: int = 1


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    default = Plan()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=Path, required=True, help="pairs to train on")
    parser.add_argument("--out", type=Path, required=True, help="folder for the model")
    parser.add_argument("--start", type=Path, help="model to start from (default: the packaged embedding model)")
    parser.add_argument("--watch", type=Path, nargs="*", default=[], help="pairs to measure it on meanwhile")
    parser.add_argument("--without", nargs="*", default=[], metavar="SET", help="sets to leave out")
    parser.add_argument("--rate", type=float, default=default.rate, help=f"learning rate (default {default.rate})")
    parser.add_argument("--epochs", type=float, default=default.epochs, help="times each pair is seen (default 1)")
    parser.add_argument("--seed", type=int, default=default.seed, help="of order and dropout (default 1)")
    parser.add_argument("--every", type=int, default=200, help="steps between measurements and checkpoints")
    parser.add_argument("--threads", type=int, default=0, help="threads (default: as torch has it)")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    options = parser.parse_args(arguments)
    if options.threads:
        torch.set_num_threads(options.threads)
    if not (0 < options.rate < math.inf and 0 < options.epochs < math.inf and options.every > 0):
        parser.error("--rate, --epochs and --every must be finite and more than 0")
    pairs = [pair for pair in read_pairs(options.pairs) if pair.set not in options.without]
    if not pairs:
        parser.error(f"{options.pairs} has no pairs to train on beside the sets that are left out")
    plan = Plan(options.rate, options.epochs, seed=options.seed)
    watched = {path.name.split(".")[0]: _sampled(list(read_pairs(path))) for path in options.watch}
    model = train(
        pairs, plan, options.out, start=options.start, watched=watched, every=options.every, resume=options.resume
    )
    model.save(options.out)


def train(
    pairs: Sequence[Pair],
    plan: Plan,
    folder: Path,
    *,
    start: Path | None = None,
    watched: dict[str, Sequence[Pair]] | None = None,
    every: int = 200,
    resume: bool = False,
) -> Verifier:
    """Train a model.

    Args:
        pairs: to learn from.
        plan: how.
        folder: for checkpoints and the log; made if it is not there.
        start: model to start from.
        watched: pairs to measure it on meanwhile, by name.
        every: steps between measurements.
        resume: go on from the folder's checkpoint, if it has one.

    Raises:
        ValueError: the loss is not finite.
    """
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(plan.seed)
    model = Verifier(start)
    # Half of the weights are vectors of single words, which so few pairs cannot better.
    model.encoder.bert.embeddings.word_embeddings.weight.requires_grad = False
    encoded = encode(pairs)
    steps = list(batches(encoded, plan))
    optimizer = torch.optim.AdamW([each for each in model.parameters() if each.requires_grad], plan.rate, fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: rate_at(step, len(steps)))
    checkpoint = folder / "checkpoint.pt"
    done = 0
    if resume and checkpoint.exists():
        state = torch.load(checkpoint, weights_only=True)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        schedule.load_state_dict(state["schedule"])
        torch.set_rng_state(state["random"])
        done = int(state["steps"])
    began = time.perf_counter()
    losses: list[float] = []
    with Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task("training", total=len(steps), completed=done)
        for number in range(done, len(steps)):
            losses.append(_step(model, [encoded[place] for place in steps[number]], optimizer))
            schedule.step()
            bar.advance(task)
            if (number + 1) % every == 0 or number + 1 == len(steps):
                line = {"step": number + 1, "of": len(steps), "loss": round(float(np.mean(losses)), 4)}
                line |= {"seconds": round(time.perf_counter() - began)} | _measured(model, watched or {})
                with (folder / "log.jsonl").open("a", encoding="utf-8") as log:
                    log.write(json.dumps(line) + "\n")
                bar.console.print_json(json.dumps(line), indent=None)
                losses.clear()
                state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
                state |= {"schedule": schedule.state_dict(), "random": torch.get_rng_state(), "steps": number + 1}
                torch.save(state, checkpoint)
    checkpoint.unlink(missing_ok=True)
    return model


def _step(model: Verifier, batch: Sequence[Encoded], optimizer: torch.optim.Optimizer) -> float:
    model.train()
    ids, mask, types, words = padded(batch)
    labels = torch.tensor([each.label for each in batch])
    weights = torch.tensor([each.weight for each in batch])
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=HAS_BFLOAT16):
        verdicts, pieces = model(ids, mask, types)
    loss = (weights * verdict_losses(verdicts.float(), labels)).mean()
    known = words != IGNORED
    if known.any():
        loss = loss + WORDS_WEIGHT * functional.binary_cross_entropy_with_logits(pieces.float()[known], words[known])
    if not loss.isfinite():
        # One such step would make all weights NaN, and the model would be saved all the same.
        raise ValueError("the loss is not finite; lower --rate, and look for damaged pairs in --pairs")
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    return float(loss.detach())


def verdict_losses(logits: Tensor, labels: Tensor) -> Tensor:
    """Compute the negative log probability of each label, shape [n]; label 3 means "not supported"."""
    logs = logits.log_softmax(-1)
    rest = torch.logsumexp(logs[:, 1:], -1, keepdim=True)
    return -torch.cat([logs, rest], -1).gather(1, labels[:, None]).squeeze(1)


def batches(encoded: Sequence[Encoded], plan: Plan) -> Iterator[list[int]]:
    """Yield the places of the pairs of each step, of similar length."""
    rng = random.Random(plan.seed)
    whole, part = divmod(plan.epochs, 1)
    for share in (*[1.0] * int(whole), *([part] if part else [])):
        order = rng.sample(range(len(encoded)), round(share * len(encoded)))
        cut = []
        for start in range(0, len(order), BUCKET * plan.batch):
            some = sorted(order[start : start + BUCKET * plan.batch], key=lambda place: len(encoded[place].ids))
            cut += [some[first : first + plan.batch] for first in range(0, len(some), plan.batch)]
        rng.shuffle(cut)
        yield from cut


def rate_at(step: int, steps: int) -> float:
    """Return the share of the highest learning rate: it rises over the first tenth and falls to nothing."""
    warm = max(1, steps // 10)
    return min((step + 1) / warm, max(0.0, (steps - step) / max(1, steps - warm)))


def _sampled(pairs: list[Pair]) -> list[Pair]:
    return random.Random(0).sample(pairs, min(WATCHED, len(pairs)))


def _measured(model: Verifier, watched: dict[str, Sequence[Pair]]) -> dict[str, float | None]:
    found = {}
    for name, pairs in watched.items():
        probabilities, _ = predict(model, encode(pairs))
        area = auroc(1.0 - probabilities[:, CLASSES.index("supported")], [not pair.is_supported for pair in pairs])
        found[name] = None if area is None else round(area, 4)
    return found


if __name__ == "__main__":
    main()
