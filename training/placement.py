"""Fit the placement model on hand-written passages, with the cross-validated rates of its threshold.

    python -m training.placement --out workers/data/placement.json

Each line of ``training/passages`` has a passage and statements about it: ``short`` (question, right answer, wrong
answer), and ``value`` and ``subject`` (right statement, wrong statement that differs in this one place). The threshold
is the probability below which the given share of right statements lies, in folds by passage.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import track
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold

from schemas.answers import ContextChunk
from workers.evaluation.grounding.sources.evidence import collect_evidence, joined_units
from workers.evaluation.ownership.value_placement import MEASURES, measure_placement
from workers.measurement.fits.boosted_trees import export_trees

PASSAGES = Path(__file__).parent / "passages"
FOLDS = 5
RIGHT_BELOW = 0.03
"""Share of right statements that may lie below the threshold."""


class Example(NamedTuple):
    """Hold a statement about a passage.

    Attributes:
        passage: number of the passage.
        measures: as in ``MEASURES``.
        is_right: whether the passage supports it.
    """

    passage: int
    measures: list[float]
    is_right: bool


def read_examples(folder: Path) -> Iterator[Example]:
    """Generate the measured statements of the files of a folder."""
    lines = [line for path in sorted(folder.glob("*.jsonl")) for line in path.read_text(encoding="utf-8").splitlines()]
    for number, line in enumerate(track(lines, "measuring", console=Console(stderr=True))):
        row = json.loads(line)
        units = collect_evidence([ContextChunk(chunk_id="1", content=row["passage"])], frozenset())
        evidence = joined_units(units)
        stated = [(text, question, place == 0) for question, *pair in row["short"] for place, text in enumerate(pair)]
        stated += [
            (text, "", place == 0)
            for kind in ("value", "subject")
            for pair in row.get(kind, ())
            for place, text in enumerate(pair)
        ]
        for text, question, is_right in stated:
            measured = measure_placement(text, question, evidence)
            if measured is not None:
                yield Example(number, measured, is_right)


def fit_placement(examples: Sequence[Example], *, right_below: float = RIGHT_BELOW) -> dict[str, Any]:
    """Fit the trees and their threshold.

    Args:
        examples: measured statements of at least ``FOLDS`` passages.
        right_below: share of right statements that may lie below the threshold.

    Returns:
        The document of ``placement_model.PlacementModel``, with the cross-validated ``figures``.
    """
    features = np.array([each.measures for each in examples], dtype=np.float64)
    right = np.array([each.is_right for each in examples])
    groups = np.array([each.passage for each in examples])
    blind = np.zeros(len(right))
    for train, test in GroupKFold(FOLDS).split(features, right, groups):
        blind[test] = _boosted(features[train], right[train]).predict_proba(features[test])[:, 1]
    threshold = float(np.quantile(blind[right], right_below))
    figures = {
        "examples": len(right),
        "passages": len(set(groups.tolist())),
        "auroc": round(float(roc_auc_score(right, blind)), 3),
        "wrong_below": round(float((blind[~right] < threshold).mean()), 3),
        "right_below": right_below,
    }
    exported = export_trees(_boosted(features, right), features)
    return {"measures": list(MEASURES), "threshold": threshold, "figures": figures, **exported}


def _boosted(features: Any, right: Any) -> HistGradientBoostingClassifier:
    model = HistGradientBoostingClassifier(
        max_depth=2,
        max_iter=400,
        learning_rate=0.06,
        min_samples_leaf=40,
        l2_regularization=2.0,
        max_features=0.5,
        early_stopping=False,
        random_state=0,
    )
    return model.fit(features, right)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=Path, default=PASSAGES, help="folder of the passages")
    parser.add_argument("--out", type=Path, required=True, help="file for the model")
    options = parser.parse_args(arguments)
    document = fit_placement(list(read_examples(options.passages)))
    options.out.write_text(json.dumps(document, separators=(",", ":")) + "\n", encoding="utf-8")
    Console().print_json(data=document["figures"] | {"threshold": round(document["threshold"], 3)})


if __name__ == "__main__":
    main()
