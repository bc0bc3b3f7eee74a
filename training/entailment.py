"""Readers of the entailment sets: short evidence or a table, a claim, a verdict.

What is kept for evaluation: each set's own test split (and its development split where it also has one for training);
of sets without splits a fifth of the documents. Tables become Markdown tables and info boxes become JSON, so that the
worker's own segmentation renders them. ``tabfact_valtest`` is left out: its claims are lemmatised.
"""

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from training.pairs import RawPair, digest, in_half

SHARE_HELD_OUT = 0.2

TABLES = frozenset(("tabfact_pairs", "tabfact_early", "scitab"))

TRAINED_SPLITS: dict[str, frozenset[str]] = {
    "snli_devtest": frozenset(("dev",)),
    "cad_snli": frozenset(("train", "dev")),
    "fever_symmetric": frozenset(("dev",)),
    "foolmetwice_devtest": frozenset(("dev",)),
    "tabfact_pairs": frozenset(("train", "dev")),
    "tabfact_early": frozenset(("train", "dev")),
    "infotabs": frozenset(("train",)),
    "rotowire_accuracy": frozenset(("train",)),
}
"""Splits to train on; sets that are not named have none."""

SETS = (
    *TRAINED_SPLITS,
    "negation_nli",
    "breaking_nli",
    "scitab",
    "quintd_gsmarena",
    "quintd_ice_hockey",
    "quintd_openweather",
    "quintd_owid",
    "quintd_wikidata",
)


def read_entailment(folder: Path, name: str) -> Iterator[RawPair]:
    """Pairs of one set.

    Args:
        folder: that holds ``NAME.jsonl.gz``.
        name: one of ``SETS``.

    Raises:
        FileNotFoundError: the set is not there.
    """
    render = _renderer(name)
    splits = TRAINED_SPLITS.get(name)
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if row.get("both_agree") is False:
                # Two annotators of texts over records who disagree: as often the label is wrong as the text.
                continue
            held_out = row["split"] not in splits if splits else in_half(digest(row["evidence"]), SHARE_HELD_OUT)
            yield RawPair(str(row["id"]), name, (render(row),), row["claim"], row["label"], held_out)


def _renderer(name: str) -> Callable[[dict[str, Any]], str]:
    if name in TABLES:
        return lambda row: markdown_table(row["evidence"])
    if name == "infotabs":
        return lambda row: _info_box(json.loads(row["evidence_json"]))
    return lambda row: str(row["evidence"])


def markdown_table(text: str) -> str:
    """``title``, then rows with ``|`` between the cells, as a Markdown table under its title."""
    title, *rows = text.split("\n")
    if not rows:
        return text
    header, *body = [[cell.strip() for cell in row.split(" | ")] for row in rows]
    lines = ["| " + " | ".join(cells) + " |" for cells in (header, ["---"] * len(header), *body)]
    return "\n".join([f"{title.removeprefix('Table: ').strip()}.", "", *lines])


def _info_box(fields: dict[str, list[str]]) -> str:
    return json.dumps({key: ", ".join(values) for key, values in fields.items()}, ensure_ascii=False)
