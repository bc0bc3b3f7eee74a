"""Export a sentence-transformers model as one quantised ONNX file.

    python -m workers.inference.exporting MODEL FILE

The file has the model's pooling and normalisation in the graph, and its tokenizer and length as metadata.
"""

import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workers.inference.backends import load_sentence_transformer, max_tokens
from workers.inference.int8 import MAX_TOKENS, OPSET, TOKENIZER


def export(model: str, path: Path) -> None:
    """Write the file.

    Args:
        model: ``all-MiniLM-L6-v2`` for the packaged one, or any name or path.
        path: the file; beside it lies the graph in fp32 for the while.
    """
    # The eager attention has no branch by shape, which a traced graph would keep as it was.
    transformer = load_sentence_transformer(model, model_kwargs={"attn_implementation": "eager"})
    plain = path.with_suffix(".fp32")
    _write_graph(transformer, plain)
    tokenizer = transformer.tokenizer.backend_tokenizer.to_str()
    quantise(plain, path, {TOKENIZER: tokenizer, MAX_TOKENS: str(max_tokens(transformer))})


def quantise(plain: Path, path: Path, metadata: Mapping[str, str]) -> None:
    """Make the file of a graph: weights in int8 by channel, activations as they come by.

    Args:
        plain: the graph in fp32, removed afterwards.
        path: the file.
        metadata: put into it.
    """
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(plain, path, weight_type=QuantType.QInt8, per_channel=True)
    plain.unlink()
    graph = onnx.load(path)
    onnx.helper.set_model_props(graph, dict(metadata))
    onnx.save(graph, path)


def _write_graph(transformer: Any, path: Path) -> None:
    import torch

    class Embedding(torch.nn.Module):
        """Tokens in, vectors of length 1 out."""

        def __init__(self) -> None:
            super().__init__()
            self.model = transformer

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
            embedded = self.model({"input_ids": input_ids, "attention_mask": attention_mask})["sentence_embedding"]
            return torch.nn.functional.normalize(embedded, dim=1)

    ids = torch.ones((1, 8), dtype=torch.int64)
    axes = {0: "texts", 1: "tokens"}
    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tracer's, on branches that the shape does not decide
        torch.onnx.export(
            Embedding().eval(), (ids, torch.ones_like(ids)), str(path),
            input_names=["input_ids", "attention_mask"], output_names=["vector"],
            dynamic_axes={"input_ids": axes, "attention_mask": axes, "vector": {0: "texts"}},
            opset_version=OPSET, dynamo=False,
        )  # fmt: skip


if __name__ == "__main__":
    export(sys.argv[1], Path(sys.argv[2]))
