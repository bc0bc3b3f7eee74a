"""Fit how a verifier joins the rules on answers unseen by both; report its gain and write the combination.

    python -m training.combine --scores build/verifier/int8.jsonl \\
        --data ragtruth_train_slice.jsonl.gz --data ragtruth_data2text_dev.jsonl.gz
    python -m training.combine --scores build/verifier/int8.jsonl --data ... \\
        --weights workers/data/verifier.int8.onnx --kinds texts --out workers/data/verifier.json

The rules' log-odds of each claim come from a calibration that was fitted without its source, the verifier's from a model
that never saw the sets. Both go into a logistic model for each kind of evidence, with weights that are not negative,
fitted by folds over sources again (``training.combination``); cuts are chosen on the other folds. Printed for claims and answers: rules alone, verifier alone, both. This is plain stacking: the rules' odds of
the claims that the weights are fitted on come from fits that saw the fold which is measured, which flatters by what a few
parameters can hold.

With ``--out`` the document that serving reads is written, fitted on all of the answers.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from training.combination import EVERYTHING, KINDS, Case, cases, combined, fit_combination, reach
from training.evaluate import read_scores
from workers.evaluation.grounding.calibration import (
    UNSUPPORTED_FEATURES,
    AnswerClaims,
    answer_features,
    shipped_calibration,
)
from workers.evaluation.grounding.verifier_combination import doubts
from workers.evaluation.trees import Floats
from workers.inference.verifying import file_version
from workers.measurement.classification_metrics import auroc, balanced_accuracy, best_threshold, f1
from workers.measurement.fits.fitting import folds, prevalence_weights
from workers.measurement.labelled_answers import read_labelled
from workers.measurement.measured_answers import MeasuredRow, measure_row


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scores", type=Path, required=True, help="probabilities of the claims")
    parser.add_argument("--data", type=Path, action="append", required=True, help="the answers they belong to")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), help="evidence to ask about (all)")
    parser.add_argument("--json", type=Path, help="write the figures to a file, too")
    parser.add_argument("--out", type=Path, help="write the document that serving reads")
    parser.add_argument("--weights", type=Path, help="the verifier's file that the scores come from; needed with --out")
    parser.add_argument("--version", default="1", help="name of the document (default 1)")
    parser.add_argument("--trained-on", nargs="*", default=[], metavar="SET", help="sets that they were trained on")
    options = parser.parse_args(arguments)
    if options.out and not (options.weights and options.weights.is_file()):
        parser.error("--out needs --weights, the file that the document is for")
    found = cases(measured(options.data), dict(read_scores(options.scores)))
    figures = _table(found, options.kinds)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    if options.out:
        distance = round(reach(found, options.kinds), 4)
        document = fit_combination(
            found, (-distance, distance), options.kinds, options.version, file_version(options.weights)
        )
        document |= {"licence": "Apache-2.0", "trained_on": options.trained_on}
        document |= {"fitted_on": sorted({case.row.row.set for case in found})}
        options.out.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def measured(paths: Sequence[Path]) -> list[MeasuredRow]:
    """Measure labelled answers and the features of their claims; omit answers without a checked claim."""
    calibration = shipped_calibration()
    labelled = track(read_labelled(paths), "measuring", console=Console(stderr=True))
    rows = [measure_row(row, calibration) for row in labelled]
    return [row for row in rows if len(row.features)]


def risks_of(found: Sequence[Case], odds: Sequence[Floats]) -> Floats:
    """Return each answer's content risk from its claims' log-odds, by folds over sources, shape (answers,)."""
    from sklearn.linear_model import LogisticRegression

    labels = np.array([case.row.row.label for case in found])
    risks = np.zeros(len(found))
    for train, test in folds([case.row.row.source for case in found]):
        cut = best_threshold(
            np.concatenate([odds[place] for place in train]), np.concatenate([found[place].marks for place in train])
        )
        values = np.array(
            [
                answer_features(
                    AnswerClaims(own, row.features[:, UNSUPPORTED_FEATURES].mean(axis=1), row.words, own >= cut)
                )
                for row, own in zip((case.row for case in found), odds, strict=True)
            ]
        )
        model = LogisticRegression(C=10.0, max_iter=1_000).fit(values[train], labels[train])
        risks[test] = model.predict_proba(values[test])[:, 1]
    return risks


def _table(found: Sequence[Case], kinds: Sequence[str]) -> dict[str, Any]:
    """Print and return the figures."""
    rules = [case.margins for case in found]
    both = combined(found, EVERYTHING, kinds)
    verifier = [np.nan_to_num(doubts(case.said)) for case in found]
    risks = {"rules": risks_of(found, rules), "both": risks_of(found, both)}
    figures: dict[str, Any] = {}
    print(f"{'':<34}{'claims':>8}{'rules':>8}{'verifier':>10}{'both':>8}{'  answers':>10}{'rules':>8}{'both':>8}")
    for name, places in _groups(found).items():
        own = [found[place] for place in places]
        figures[name] = _figures(own, *([each[place] for place in places] for each in (rules, verifier, both)))
        figures[name] |= _answer_figures(own, {which: each[places] for which, each in risks.items()})
        _show(name, figures[name])
    _by_kind(found, rules, verifier, both)
    return figures


def _groups(found: Sequence[Case]) -> dict[str, list[int]]:
    """Group the positions of the answers by set and by task."""
    groups: dict[str, list[int]] = {"all": list(range(len(found)))}
    for place, case in enumerate(found):
        for name in dict.fromkeys((case.row.row.set, case.row.row.task)):
            groups.setdefault(name, []).append(place)
    return groups


def _figures(found: Sequence[Case], *odds: Sequence[Floats]) -> dict[str, Any]:
    marks = [case.marks for case in found]
    labels = np.concatenate(marks)
    figures: dict[str, Any] = {"claims": len(labels), "wrong_claims": int(labels.sum())}
    splits = folds([case.row.row.source for case in found])
    for name, each in zip(("rules", "verifier", "both"), odds, strict=True):
        flagged: list[NDArray[np.bool_]] = [np.zeros(0, dtype=bool)] * len(found)
        for train, test in splits:
            scores, own = (np.concatenate([part[place] for place in train]) for part in (each, marks))
            cut = best_threshold(scores, own)
            for place in test:
                flagged[place] = each[place] >= cut
        figures[name] = {
            "auroc": auroc(np.concatenate(list(each)), labels),
            "balanced": balanced_accuracy(np.concatenate(flagged), labels),
        }
    return figures


def _answer_figures(found: Sequence[Case], risks: dict[str, Floats]) -> dict[str, Any]:
    rows = [case.row.row for case in found]
    labels = np.array([row.label for row in rows])
    weights = prevalence_weights(rows)
    figures: dict[str, Any] = {"answers": len(rows)}
    for name, scores in risks.items():
        flagged = np.zeros(len(rows), dtype=bool)
        for train, test in folds([row.source for row in rows]):
            flagged[test] = scores[test] >= best_threshold(scores[train], labels[train], weights[train], measure="f1")
        figures[f"answers_{name}"] = {"auroc": auroc(scores, labels), "f1": f1(flagged, labels, weights)}
    return figures


def _show(name: str, found: dict[str, Any]) -> None:
    claims = "".join(
        f"{found[each]['auroc']:>{width}.3f}" for each, width in (("rules", 8), ("verifier", 10), ("both", 8))
    )
    answers = "".join(f"{found[each]['auroc']:>8.3f}" for each in ("answers_rules", "answers_both"))
    f1s = " ".join(f"{found[each]['f1']:.3f}" for each in ("answers_rules", "answers_both"))
    print(f"{name:<34}{found['claims']:>8}{claims}{found['answers']:>10}{answers}   F1 {f1s}")


def _by_kind(found: Sequence[Case], *odds: Sequence[Floats]) -> None:
    """Print the areas over claims by the kind of their evidence and by whether serving may ask about them."""
    of_records, asked, marks = (
        np.concatenate([getattr(case, name) for case in found]) for name in ("of_records", "asked", "marks")
    )
    for name, own in (
        ("on texts", ~of_records),
        ("on records", of_records),
        ("on texts, asked", asked & ~of_records),
        ("on records, asked", asked & of_records),
    ):
        areas = [auroc(np.concatenate(list(each))[own], marks[own]) for each in odds]
        print(
            f"{name:<34}{own.sum():>8}"
            + "".join(f"{area or 0.0:>{8 if n != 1 else 10}.3f}" for n, area in enumerate(areas))
        )


if __name__ == "__main__":
    main()
