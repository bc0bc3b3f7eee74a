"""Export a verifier (a cross-encoder with three labels) as one quantised ONNX file.

    python -m workers.inference.exporting_verifier FOLDER FILE [TOKENS]

The folder holds a ``BertForSequenceClassification`` of transformers. Its labels are supported, contradicted and
unsupported (or entailment, contradiction, neutral), in any order; the file has the outputs in this order. All
weights, including the embeddings, are in int8: a model of 22 million parameters takes about 23 MB.
"""

import sys
import warnings
from pathlib import Path
from typing import Any

from workers.inference.backends import model_digest
from workers.inference.exporting import quantise
from workers.inference.int8 import MAX_TOKENS, OPSET, TOKENIZER
from workers.inference.transformer_verifier import MAX_READ
from workers.inference.verifier_labels import outcome_columns
from workers.inference.verifying import OUTCOMES, WEIGHTS, VerifierUnusable

INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def export_verifier(folder: Path, path: Path, max_tokens: int = MAX_READ) -> None:
    """Write the ONNX file of a verifier.

    Args:
        folder: model and tokenizer.
        path: the file; the graph in fp32 is in the same folder during the export.
        max_tokens: maximum tokens of a pair; the model's number of positions is an upper limit.

    Raises:
        VerifierUnusable: a label of the model is unknown or missing.
    """
    from transformers import AutoTokenizer, BertForSequenceClassification

    # Other attention implementations branch by shape, and a trace would keep only one branch.
    model: Any = BertForSequenceClassification.from_pretrained(folder, attn_implementation="eager")
    labels = {int(number): str(label) for number, label in model.config.id2label.items()}
    columns = outcome_columns(labels, str(folder))
    if None in columns:
        raise VerifierUnusable(f"{folder} has {len(columns) - 1} labels; three are required: {', '.join(OUTCOMES)}")
    plain = path.with_suffix(".fp32")
    _write_graph(model.eval(), columns, plain)
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    quantise(
        plain,
        path,
        {
            TOKENIZER: tokenizer.backend_tokenizer.to_str(),
            MAX_TOKENS: str(min(max_tokens, model.config.max_position_embeddings)),
            WEIGHTS: model_digest(str(folder)),
        },
    )


def _write_graph(model: Any, columns: list[int | None], path: Path) -> None:
    import torch

    class Verifier(torch.nn.Module):
        """Maps the tokens of a pair to logits in the order of ``OUTCOMES``."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(
            self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor
        ) -> torch.Tensor:
            given = {"input_ids": input_ids, "attention_mask": attention_mask, "token_type_ids": token_type_ids}
            logits: torch.Tensor = self.model(**given).logits
            return logits[:, columns]

    ids = torch.ones((1, 8), dtype=torch.int64)
    axes = {0: "pairs", 1: "tokens"}
    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tracer warns of branches that do not depend on the shape
        torch.onnx.export(
            Verifier().eval(), (ids, torch.ones_like(ids), torch.zeros_like(ids)), str(path),
            input_names=list(INPUTS), output_names=["logits"],
            dynamic_axes=dict.fromkeys(INPUTS, axes) | {"logits": {0: "pairs"}},
            opset_version=OPSET, dynamo=False,
        )  # fmt: skip


if __name__ == "__main__":
    export_verifier(Path(sys.argv[1]), Path(sys.argv[2]), *map(int, sys.argv[3:4]))
