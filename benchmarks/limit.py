"""Measure tokens a second of the model: the ceiling, and the rate of each backend.

    python -m benchmarks.limit

- *ideal*: the quantised graph alone, tokens ready, texts of like length in full batches, all cores. A vector
  depends on its batch-mates there, so nobody may use it; it is the ceiling.
- *int8*: the backend of ``inference.precision = int8``, tokenizing included: one text in a run.
- *fp32*: the backend of ``fp32``, tokenizing included.
- *sentence-transformers*: its own ``encode``, batches of 64, as everybody would call it.

All over the distinct texts of the examples, in turns, medians of several rounds; quote the ratios.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.traffic import add_options, answers_with_contexts, distinct
from schemas.answers import GeneratedAnswer
from workers.evaluation.quality.quality_evaluator import prepare_quality
from workers.inference.backends import PACKAGED_MODEL, SentenceTransformerBackend, load_sentence_transformer
from workers.inference.int8 import Int8Backend, exported_path
from workers.process.cores import available_cores

BATCH = 64
"""Texts in a call, as ``inference.batch_texts``."""


def main() -> None:
    """Measure and print; write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=60, help="answers (default 60)")
    add_options(parser)
    parser.add_argument("--rounds", type=int, default=3, help="rounds (default 3)")
    parser.add_argument("--json", type=Path, help="write the figures to a file")
    options = parser.parse_args()
    texts = texts_of(distinct(answers_with_contexts(options.data), options.answers))
    with tempfile.TemporaryDirectory() as folder:
        rates = _rates(texts, Path(folder), options.rounds)
    for name, rate in rates.items():
        print(f"{name:<24}{rate:9,.0f} tokens/s{rate / rates['sentence-transformers']:7.2f}")
    print(f"{'of the ceiling':<24}{rates['int8'] / rates['ideal']:9.0%}")
    if options.json:
        document = {"cores": available_cores(), "texts": len(texts), "tokens_per_second": rates}
        options.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def texts_of(answers: Sequence[GeneratedAnswer]) -> list[str]:
    """Return the distinct texts that an evaluation embeds."""
    return list(dict.fromkeys(text for answer in answers for text in prepare_quality(answer).texts))


def tokens_and_ceiling(texts: Sequence[str], rounds: int = 3) -> tuple[int, float]:
    """Return the token count of texts, and the tokens a second of the quantised graph alone on all cores."""
    tokenizer = load_sentence_transformer(PACKAGED_MODEL).tokenizer
    tokens = sum(map(len, tokenizer(list(texts), truncation=True, max_length=256)["input_ids"]))
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        Int8Backend(PACKAGED_MODEL, Path(folder))  # exports the graph
        work = _ideal(texts, exported_path(PACKAGED_MODEL, Path(folder)), tokenizer)
        work()
        for _ in range(rounds):
            started = time.perf_counter()
            work()
            seconds.append(time.perf_counter() - started)
    return tokens, tokens / statistics.median(seconds)


def _rates(texts: Sequence[str], folder: Path, rounds: int) -> dict[str, float]:
    int8, fp32 = Int8Backend(PACKAGED_MODEL, folder), SentenceTransformerBackend(PACKAGED_MODEL)
    plain = load_sentence_transformer(PACKAGED_MODEL)
    tokens = sum(map(len, plain.tokenizer(list(texts), truncation=True, max_length=256)["input_ids"]))
    cases: dict[str, Callable[[], object]] = {
        "ideal": _ideal(texts, exported_path(PACKAGED_MODEL, folder), plain.tokenizer),
        "int8": lambda: [int8.encode(texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)],
        "fp32": lambda: [fp32.encode(texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)],
        "sentence-transformers": lambda: plain.encode(list(texts), batch_size=BATCH, show_progress_bar=False),
    }
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(rounds + 1):
        for name, work in cases.items():
            started = time.perf_counter()
            work()
            if number:
                seconds[name].append(time.perf_counter() - started)
    return {name: tokens / statistics.median(each) for name, each in seconds.items()}


def _ideal(texts: Sequence[str], path: Path, tokenizer: Any) -> Callable[[], object]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = available_cores()
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    encoded = sorted(tokenizer(list(texts), truncation=True, max_length=256)["input_ids"], key=len)
    batches = []
    for at in range(0, len(encoded), BATCH):
        part = encoded[at : at + BATCH]
        ids = np.zeros((len(part), len(part[-1])), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, each in enumerate(part):
            ids[row, : len(each)], mask[row, : len(each)] = each, 1
        batches.append({"input_ids": ids, "attention_mask": mask})
    return lambda: [session.run(None, batch) for batch in batches]


if __name__ == "__main__":
    main()
