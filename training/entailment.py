"""Read the entailment sets: short evidence, a claim, a verdict.

What is kept for evaluation: each set's own test split (and its development split where it also has one for training);
of sets without splits a fifth of the documents.
"""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

from training.pairs import RawPair, digest, in_half

SHARE_HELD_OUT = 0.2

TRAINED_SPLITS: dict[str, frozenset[str]] = {
    "snli_devtest": frozenset(("dev",)),
    "cad_snli": frozenset(("train", "dev")),
    "fever_symmetric": frozenset(("dev",)),
    "foolmetwice_devtest": frozenset(("dev",)),
    "rotowire_accuracy": frozenset(("train",)),
}
"""Splits to train on; sets that are not named have none."""

SETS = (
    *TRAINED_SPLITS,
    "negation_nli",
    "breaking_nli",
    "quintd_gsmarena",
    "quintd_ice_hockey",
    "quintd_openweather",
    "quintd_owid",
    "quintd_wikidata",
)


def read_entailment(folder: Path, name: str) -> Iterator[RawPair]:
    """Read the pairs of one set.

    Args:
        folder: that holds ``NAME.jsonl.gz``.
        name: one of ``SETS``.

    Raises:
        FileNotFoundError: the set is not there.
    """
    splits = TRAINED_SPLITS.get(name)
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if row.get("both_agree") is False:
                # Two annotators of texts over records who disagree: as often the label is wrong as the text.
                continue
            held_out = row["split"] not in splits if splits else in_half(digest(row["evidence"]), SHARE_HELD_OUT)
            yield RawPair(str(row["id"]), name, (str(row["evidence"]),), row["claim"], row["label"], held_out)
