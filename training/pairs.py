"""Define pairs of evidence and claim with a verdict, the training data of a verifier."""

import gzip
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path

SUPPORTED, CONTRADICTED, UNSUPPORTED, NOT_SUPPORTED = "supported", "contradicted", "unsupported", "not_supported"
CLASSES = (SUPPORTED, CONTRADICTED, UNSUPPORTED)
"""Outputs of the model, in order. A pair that is only known to be not supported counts for the last two together."""

Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class RawPair:
    """Hold a claim with its complete evidence.

    Attributes:
        id: of the pair, unique within its set.
        set: where it comes from.
        contexts: the documents.
        claim: the statement.
        label: supported, contradicted, unsupported or not_supported.
        held_out: kept for evaluation; see ``training.entailment`` and ``training.answers`` for each set's rule.
        antecedent: the statement before it; empty if the claim is understandable alone.
        spans: what of the claim is not supported, code points; ``None`` if nobody marked it.
        made_from: digest of the documents that the contexts were taken from, where they are a part of them.
    """

    id: str
    set: str
    contexts: tuple[str, ...]
    claim: str
    label: str
    held_out: bool
    antecedent: str = ""
    spans: Spans | None = None
    made_from: str = ""

    @property
    def document(self) -> str:
        """Return the digest of the contexts; pairs that share them are always on one side of a split."""
        return self.made_from or digest("\0".join(self.contexts))


@dataclass(frozen=True, slots=True)
class Pair:
    """Hold the model input with its expected output.

    Attributes:
        id: of the pair, unique within its set.
        set: where it comes from.
        document: digest of the documents.
        evidence: the window.
        claim: with what it leans on.
        label: as in :class:`RawPair`.
        held_out: as in :class:`RawPair`.
        spans: in ``claim``.
        weight: how much it counts in training; see ``training.bias``.
    """

    id: str
    set: str
    document: str
    evidence: str
    claim: str
    label: str
    held_out: bool
    spans: Spans | None = None
    weight: float = 1.0

    @property
    def is_supported(self) -> bool:
        """Return true if the verdict is that the evidence supports the claim."""
        return self.label == SUPPORTED


def digest(text: str) -> str:
    """Return a short hexadecimal digest of a text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def in_half(key: str, share: float = 0.5) -> bool:
    """Return true if a document belongs to the given share of all documents; equal for every run."""
    return int(digest(key), 16) / 2**64 < share


def write_pairs(path: Path, pairs: Iterable[Pair]) -> None:
    """Write pairs as JSON lines, gzip; the file is there when all of them are in it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    with gzip.open(part, "wt", encoding="utf-8", compresslevel=3) as lines:
        for pair in pairs:
            lines.write(json.dumps(asdict(pair), ensure_ascii=False) + "\n")
    part.replace(path)


def read_pairs(path: Path) -> Iterator[Pair]:
    """Read what :func:`write_pairs` wrote.

    Raises:
        FileNotFoundError: it has not been written.
    """
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            pair = Pair(**json.loads(line))
            yield replace(pair, spans=None if pair.spans is None else tuple((start, end) for start, end in pair.spans))
