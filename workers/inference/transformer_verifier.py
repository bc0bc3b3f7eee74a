"""Run verifiers that transformers loads by name: cross-encoders and token classifiers, in fp32 on CPU.

Each run has one pair and no padding, so that a row depends only on its pair. Code that comes with a model is never
run: the library refuses a model that needs its own code (``trust_remote_code``).
"""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from workers.evaluation.grounding.sources.verifier_evidence import VerifierPair
from workers.inference.backends import model_digest
from workers.inference.verifier_labels import outcome_columns, unsupported_column
from workers.inference.verifying import OUTCOMES, Verdict, VerifierUnusable
from workers.process.cores import available_cores

MAX_READ = 512
"""Maximum tokens of a pair. Windows of evidence are shorter, and most such models read no more tokens."""


class TransformerVerifier:
    """Verifier named by its folder or by its name at the hub; see :class:`VerifierBackend`.

    The kind of model decides how its outputs are read:

    - Pair classifier with one output: the logistic function of the output is the probability of supported.
    - Pair classifier with two or three outputs: the names of the labels decide, see ``verifier_labels``.
    - Token classifier (LettuceDetect): the outputs are the probabilities that the tokens of the claim are
      unsupported. The probability that the claim is supported is 1 minus the highest of them.

    Args:
        name: name or folder, as transformers takes it.
        threads: threads of the model, 0 for as many as this process has cores.

    Raises:
        VerifierUnusable: the model cannot be loaded, or its labels do not say what its outputs mean.
    """

    def __init__(self, name: str, threads: int = 0) -> None:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        import torch
        from transformers import AutoConfig, AutoTokenizer

        torch.set_num_threads(threads or min(torch.get_num_threads(), available_cores()))
        self._torch: Any = torch
        self.name, self.version = name, model_digest(name)[:12]
        try:
            config: Any = AutoConfig.from_pretrained(name)
            self._tokenizer: Any = AutoTokenizer.from_pretrained(name)
            self._of_tokens = _marks_tokens(config)
            self._model: Any = _loaded(name, of_tokens=self._of_tokens)
        except Exception as error:
            raise VerifierUnusable(
                f"grounding.verifier {name} cannot be loaded: {_first_line(error)}; use a folder or model of "
                "transformers for sequence or token classification without custom code, or set grounding.verifier "
                "to none"
            ) from error
        labels = {int(number): str(label) for number, label in self._model.config.id2label.items()}
        self._unsupported = unsupported_column(labels, name) if self._of_tokens else 0
        self._columns = [] if self._of_tokens or len(labels) == 1 else outcome_columns(labels, name)
        limits = (self._tokenizer.model_max_length, getattr(config, "max_position_embeddings", None), MAX_READ)
        self._max_tokens = min(int(limit) for limit in limits if limit)

    def score(self, pairs: Sequence[VerifierPair]) -> Verdict:
        """Score pairs; see :class:`VerifierBackend`."""
        rows = np.array([self._run(pair) for pair in pairs], dtype=np.float32)
        return rows.reshape(len(pairs), len(OUTCOMES))

    def _run(self, pair: VerifierPair) -> list[float]:
        encoded = self._encoded(pair)
        with self._torch.inference_mode():
            logits = self._model(**encoded).logits[0].double()
        if self._of_tokens:
            claim = [place for place, part in enumerate(encoded.sequence_ids(0)) if part == 1]
            doubt = float(logits.softmax(-1)[claim, self._unsupported].max()) if claim else 0.0
            return [1.0 - doubt, 0.0, doubt]
        if not self._columns:
            supported = float(logits.sigmoid()[0])
            return [supported, 0.0, 1.0 - supported]
        probabilities = logits.softmax(-1).tolist()
        return [0.0 if column is None else probabilities[column] for column in self._columns]

    def _encoded(self, pair: VerifierPair) -> Any:
        # Truncate the evidence and keep the claim, unless the claim alone exceeds the limit.
        own = len(self._tokenizer(pair.claim, add_special_tokens=False)["input_ids"])
        room = self._max_tokens - self._tokenizer.num_special_tokens_to_add(pair=True)
        return self._tokenizer(
            pair.evidence, pair.claim, truncation="only_first" if own < room else "longest_first",
            max_length=self._max_tokens, return_tensors="pt",
        )  # fmt: skip


def _marks_tokens(config: Any) -> bool:
    return any("TokenClassification" in name for name in config.architectures or ())


def _loaded(name: str, *, of_tokens: bool) -> Any:
    from transformers import AutoModelForSequenceClassification, AutoModelForTokenClassification
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # type: ignore[no-untyped-call]
    kind: Any = AutoModelForTokenClassification if of_tokens else AutoModelForSequenceClassification
    model, report = kind.from_pretrained(name, output_loading_info=True)
    missing = sorted(report["missing_keys"])
    if missing:
        # transformers would fill missing weights with random numbers and continue.
        raise ValueError(f"it has no weights for {missing[0]}, so it is not a classifier")
    return model.eval()


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
