"""The placement model is fitted on the passages of the repository."""

import json
from itertools import islice

import numpy as np

from training.placement import PASSAGES, fit_placement, read_examples
from workers.evaluation.ownership.placement_model import PlacementModel


def test_the_statements_of_a_passage_differ_and_are_texts() -> None:
    lines = [line for path in PASSAGES.glob("*.jsonl") for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(lines) > 1_500
    for line in lines:
        row = json.loads(line)
        pairs = [pair for kind in ("value", "subject", "wording") for pair in row.get(kind, ())]
        pairs += [pair[1:] for pair in row["short"]]
        assert row["passage"].strip()
        assert all(len({*map(str.strip, pair)}) == 2 and all(pair) for pair in pairs), row["passage"]


def test_a_fit_learns_and_its_document_is_what_serving_reads() -> None:
    examples = list(islice(read_examples(PASSAGES), 1_200))
    document = fit_placement(examples)
    assert document["figures"]["auroc"] > 0.65
    assert document["figures"]["passages"] == len({each.passage for each in examples})
    model = PlacementModel(json.loads(json.dumps(document)))
    rows = np.array([each.measures for each in examples])
    right = np.array([each.is_right for each in examples])
    found = model._trees(rows)
    assert found[right].mean() > found[~right].mean()
