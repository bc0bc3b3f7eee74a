"""Train a reader of marked values: whether the marked value is the marked subject's.

    python -m training.ownership --pairs 40000 --out build/ownership/train.jsonl.gz
    python -m training.ownership --pairs 600 --seed 2 --held-out --out build/ownership/held_out.jsonl.gz
    python -m training.ownership_model --pairs build/ownership/train.jsonl.gz \
      --watch build/ownership/held_out.jsonl.gz --out build/ownership/model.pt

The verdict is read at the markers' places (entity start representation: Baldini Soares et al. 2019). From the first
word piece alone, as in ``training.model``, it does not learn in 376 steps. The result is not served;
docs/reference/verifier.md says why.
"""

import argparse
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from rich.progress import track
from torch import Tensor, nn
from transformers import BertModel

from training.marking import SUBJECT, VALUE
from training.model import Encoded, encode, padded, tokenizer
from training.pairs import Pair, read_pairs
from training.train import Plan, batches, rate_at
from workers.evaluation.grounding.calibration import Floats
from workers.inference.backends import PACKAGED_MODEL, model_path

HEAD_RATE = 1e-3
"""Learning rate of the head, which starts from nothing."""
EVERY = 100
"""Steps between measurements."""


class OwnershipReader(nn.Module):
    """Define the packaged encoder with a head over subject and value of the evidence and value of the claim."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = BertModel.from_pretrained(str(model_path(PACKAGED_MODEL)), add_pooling_layer=False)
        size = self.encoder.config.hidden_size
        self.head = nn.Sequential(nn.Linear(3 * size, size), nn.GELU(), nn.Linear(size, 2))
        self.subject, self.value = tokenizer().convert_tokens_to_ids([SUBJECT, VALUE])

    def forward(self, ids: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        """Compute logits of "its own" and "another's", shape [n, 2], of n pairs, shape [n, length] each."""
        found = self.encoder(input_ids=ids, attention_mask=mask, token_type_ids=types).last_hidden_state
        in_evidence = (types == 0) & (mask == 1)
        places = (
            (ids == self.subject) & in_evidence,
            (ids == self.value) & in_evidence,
            (ids == self.value) & (types == 1),
        )
        weights = [place.float().unsqueeze(-1) for place in places]
        means = [(found * each).sum(1) / each.sum(1).clamp(min=1.0) for each in weights]
        logits: Tensor = self.head(torch.cat(means, -1))
        return logits


def train(pairs: Sequence[Pair], plan: Plan, watched: Sequence[Pair] = ()) -> OwnershipReader:
    """Train a reader and print loss and accuracy.

    Args:
        pairs: to learn from.
        plan: how.
        watched: pairs to measure it on meanwhile.
    """
    torch.manual_seed(plan.seed)
    model = OwnershipReader()
    model.encoder.embeddings.word_embeddings.weight.requires_grad = False
    encoded = encode(pairs)
    steps = list(batches(encoded, plan))
    learnt = [each for each in model.encoder.parameters() if each.requires_grad]
    groups = [{"params": learnt, "lr": plan.rate}, {"params": list(model.head.parameters()), "lr": HEAD_RATE}]
    optimizer = torch.optim.AdamW(groups, fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: rate_at(step, len(steps)))
    losses: list[float] = []
    for number, step in enumerate(track(steps, "training", console=Console(stderr=True)), 1):
        model.train()
        ids, mask, types, _ = padded([encoded[place] for place in step])
        labels = torch.tensor([min(encoded[place].label, 1) for place in step])
        loss = nn.functional.cross_entropy(model(ids, mask, types), labels)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
        losses.append(float(loss.detach()))
        if watched and (number % EVERY == 0 or number == len(steps)):
            print(f"step {number}: loss {np.mean(losses):.3f}, accuracy {accuracy(model, watched):.3f}", flush=True)
            losses.clear()
    return model


def own_probabilities(model: OwnershipReader, pairs: Sequence[Pair]) -> Floats:
    """Compute for n pairs the probability that the value is the subject's, shape (n,)."""
    model.eval()
    found = np.zeros(len(pairs))
    encoded: list[Encoded] = encode(pairs)
    order = sorted(range(len(encoded)), key=lambda place: len(encoded[place].ids))
    with torch.inference_mode():
        for start in range(0, len(order), 32):
            places = order[start : start + 32]
            ids, mask, types, _ = padded([encoded[place] for place in places])
            found[places] = model(ids, mask, types).softmax(-1)[:, 0].numpy()
    return found


def accuracy(model: OwnershipReader, pairs: Sequence[Pair]) -> float:
    """Return the share of pairs that are read rightly."""
    right = (own_probabilities(model, pairs) > 0.5) == np.array([pair.is_supported for pair in pairs])
    return float(right.mean())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=Path, nargs="+", required=True, help="files of pairs to train on")
    parser.add_argument("--watch", type=Path, required=True, help="pairs to measure it on")
    parser.add_argument("--out", type=Path, required=True, help="file for the weights")
    parser.add_argument("--rate", type=float, default=2e-4, help="learning rate (default 2e-4)")
    parser.add_argument("--seed", type=int, default=1, help="of order and dropout (default 1)")
    options = parser.parse_args(arguments)
    pairs = [pair for path in options.pairs for pair in read_pairs(path)]
    random.Random(options.seed).shuffle(pairs)
    model = train(pairs, Plan(options.rate, seed=options.seed), list(read_pairs(options.watch)))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    torch.save(model.state_dict(), options.out)


if __name__ == "__main__":
    main()
