"""Define the verifier in torch: a cross-encoder with a verdict and a label for each word of the claim."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from transformers import AutoTokenizer, BertForSequenceClassification

from training.pairs import CLASSES, Pair
from workers.inference.backends import PACKAGED_MODEL, model_path

MAX_TOKENS = 224
"""Longest pair; of a longer one the evidence is cut."""
IGNORED = -100.0
"""Label of tokens that are no part of the claim, or of a claim that nobody marked."""
LENGTH_STEP = 8
"""Batches are padded to a multiple of it."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """Hold a pair as model input.

    Attributes:
        ids: word pieces of evidence and claim.
        types: 0 for the evidence, 1 for the claim.
        tokens: for each 1.0 where it is not supported, 0.0 where it is, ``IGNORED`` where that is not known.
        label: 0, 1, 2 as ``CLASSES``, 3 for 1 or 2.
        weight: of the pair.
    """

    ids: list[int]
    types: list[int]
    tokens: list[float]
    label: int
    weight: float


class Verifier(nn.Module):
    """Define an encoder with two heads.

    Args:
        folder: of a model to start from; the packaged embedding model by default.
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        super().__init__()
        self.encoder: Any = BertForSequenceClassification.from_pretrained(
            str(folder or model_path(PACKAGED_MODEL)),
            num_labels=len(CLASSES),
            id2label=dict(enumerate(CLASSES)),
            label2id={name: number for number, name in enumerate(CLASSES)},
        )
        self.words = nn.Linear(self.encoder.config.hidden_size, 1)
        heads = Path(folder or "") / "words.pt"
        if folder and heads.exists():
            self.words.load_state_dict(torch.load(heads, weights_only=True))

    def forward(self, ids: Tensor, mask: Tensor, types: Tensor) -> tuple[Tensor, Tensor]:
        """Compute logits of verdicts, shape [n, 3], and of unsupported words, shape [n, length]."""
        found = self.encoder.bert(input_ids=ids, attention_mask=mask, token_type_ids=types)
        verdicts = self.encoder.classifier(self.encoder.dropout(found.pooler_output))
        return verdicts, self.words(found.last_hidden_state).squeeze(-1)

    def save(self, folder: Path) -> None:
        """Write encoder, tokenizer and heads to a folder, which transformers loads as a sequence classifier."""
        self.encoder.save_pretrained(folder)
        tokenizer().save_pretrained(folder)
        torch.save(self.words.state_dict(), folder / "words.pt")


def tokenizer() -> Any:
    """Load the tokenizer of the packaged model."""
    return AutoTokenizer.from_pretrained(model_path(PACKAGED_MODEL))


def encode(pairs: Sequence[Pair]) -> list[Encoded]:
    """Encode pairs as model input."""
    tokens = tokenizer()(
        [pair.evidence for pair in pairs],
        [pair.claim for pair in pairs],
        truncation="only_first",
        max_length=MAX_TOKENS,
        return_offsets_mapping=True,
    )
    encoded = []
    for number, pair in enumerate(pairs):
        sequence = tokens.sequence_ids(number)
        labels = [
            IGNORED if part != 1 or pair.spans is None else float(any(s < end and start < e for s, e in pair.spans))
            for part, (start, end) in zip(sequence, tokens["offset_mapping"][number], strict=True)
        ]
        label = CLASSES.index(pair.label) if pair.label in CLASSES else len(CLASSES)
        encoded.append(
            Encoded(tokens["input_ids"][number], tokens["token_type_ids"][number], labels, label, pair.weight)
        )
    return encoded


def padded(batch: Sequence[Encoded]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Pad a batch; return ids, mask, types and word labels, each of shape [n, length]."""
    length = -(-max(len(each.ids) for each in batch) // LENGTH_STEP) * LENGTH_STEP
    ids = torch.zeros(len(batch), length, dtype=torch.long)
    mask, types = torch.zeros_like(ids), torch.zeros_like(ids)
    words = torch.full((len(batch), length), IGNORED)
    for row, each in enumerate(batch):
        end = len(each.ids)
        ids[row, :end], mask[row, :end], types[row, :end] = torch.tensor(each.ids), 1, torch.tensor(each.types)
        words[row, :end] = torch.tensor(each.tokens)
    return ids, mask, types, words


def predict(
    model: Verifier, encoded: Sequence[Encoded], batch_size: int = 32
) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]]:
    """Predict verdict probabilities, shape [n, 3], and for each pair those of unsupported word pieces."""
    model.eval()
    order = sorted(range(len(encoded)), key=lambda place: len(encoded[place].ids))
    verdicts = np.zeros((len(encoded), len(CLASSES)))
    words: list[NDArray[np.float64]] = [np.zeros(0)] * len(encoded)
    with torch.inference_mode():
        for places in _chunks(order, batch_size):
            ids, mask, types, _ = padded([encoded[place] for place in places])
            logits, pieces = model(ids, mask, types)
            verdicts[places] = logits.float().softmax(-1).numpy()
            for row, place in enumerate(places):
                words[place] = pieces[row, : len(encoded[place].ids)].float().sigmoid().numpy()
    return verdicts, words


def _chunks(order: Sequence[int], size: int) -> Iterator[list[int]]:
    for start in range(0, len(order), size):
        yield list(order[start : start + size])
