"""Weigh a verifier against the rules, on answers that neither has seen, and say what it adds.

    python -m training.combine --scores build/verifier/adapted/scores.jsonl \\
        --data ragtruth_train_slice.jsonl.gz --data ragtruth_data2text_dev.jsonl.gz

The rules' log-odds of each claim come from a calibration that was fitted without its source, the verifier's from a fold
(``training.adapt``) or from a model that never saw the sets. Both go into a logistic model with weights that are not
negative, fitted by folds over sources again; cuts are chosen on the other folds. Printed for claims and answers: rules
alone, verifier alone, both. This is plain stacking: the rules' odds of the claims that the weights are fitted on come
from fits that saw the fold which is measured, which flatters by what three parameters can hold.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from training.evaluate import read_scores
from training.pairs import CLASSES, SUPPORTED
from workers.evaluation.fitting import fit_calibration, folds, prevalence_weights
from workers.evaluation.labelled import read_labelled
from workers.evaluation.measured import MeasuredRow, Vectors, embed_in_batches, measure_row, prepare_rows
from workers.evaluation.metrics import auroc, balanced_accuracy, best_threshold, f1
from workers.inference.backends import PACKAGED_MODEL
from workers.inference.int8 import Int8Backend
from workers.steps.calibration import UNSAID, AnswerClaims, GroundingCalibration, answer_features, shipped_calibration
from workers.steps.verifier_combination import LEAST, VerifierCombination

Floats = NDArray[np.float64]

Bounds = tuple[float, float]

EVERYTHING: Bounds = (-1e9, 1e9)
"""Bounds within which every claim is asked."""
SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)
"""Shares of claims to ask, nearest to the rules' cut first, of which the table tells."""


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scores", type=Path, required=True, help="probabilities of the claims")
    parser.add_argument("--data", type=Path, action="append", required=True, help="the answers they belong to")
    parser.add_argument("--models", type=Path, default=Path("build/verifier/models"), help="folder of the int8 model")
    parser.add_argument("--json", type=Path, help="write the figures to a file, too")
    options = parser.parse_args(arguments)
    rows = measured(options.data, options.models)
    scores = dict(read_scores(options.scores))
    rules = rules_odds(rows)
    supported = [
        np.array([_said(scores, (row.row.set, f"{row.row.id}#{number}")) for number in range(len(odds))])
        for row, odds in zip(rows, rules, strict=True)
    ]
    both = combined(rows, rules, supported, EVERYTHING)
    verifier = [np.nan_to_num(_doubt(each)) for each in supported]
    found: dict[str, Any] = {}
    print(f"{'':<34}{'claims':>8}{'rules':>8}{'verifier':>10}{'both':>8}{'  answers':>10}{'rules':>8}{'both':>8}")
    groups: dict[str, Callable[[MeasuredRow], bool]] = {"all": lambda _: True}
    for row in rows:
        groups.setdefault(row.row.set, lambda each, name=row.row.set: each.row.set == name)
        groups.setdefault(row.row.task, lambda each, name=row.row.task: each.row.task == name)
    risks = {"rules": risks_of(rows, rules), "both": risks_of(rows, both)}
    for name, belongs in groups.items():
        places = [place for place, row in enumerate(rows) if belongs(row)]
        found[name] = _figures(
            [rows[place] for place in places],
            *(([each[place] for place in places]) for each in (rules, verifier, both)),
        )
        found[name] |= _answer_figures(rows, places, risks)
        _show(name, found[name])
    found["asked"] = list(_by_share(rows, rules, supported))
    print(f"\n{'asked':>8}{'claims AUROC':>14}{'answers AUROC':>15}")
    for each in found["asked"]:
        print(f"{each['share']:>8.0%}{each['claims']:>14.3f}{each['answers']:>15.3f}")
    if options.json:
        options.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


def measured(paths: Sequence[Path], models: Path) -> list[MeasuredRow]:
    """Labelled answers with the features of their claims; answers without a checked claim are left out."""
    backend = Int8Backend(PACKAGED_MODEL, models)
    labelled = read_labelled(paths)
    prepared = [each for each, _ in prepare_rows(labelled)]
    vectors: Vectors = {}
    for each in track(prepared, "embedding", console=Console(stderr=True)):
        for part in embed_in_batches([text for text in each.texts if text not in vectors], backend):
            vectors |= part
    calibration = shipped_calibration()
    rows = [measure_row(row, each, vectors, calibration) for row, each in zip(labelled, prepared, strict=True)]
    return [row for row in rows if len(row.features)]


def rules_odds(rows: Sequence[MeasuredRow]) -> list[Floats]:
    """The rules' log-odds of each claim being unsupported, from fits without the answer's source, above their cut."""
    words = {"weights": dict(shipped_calibration().words.weights), "unknown": shipped_calibration().words.unknown}
    found: list[Floats] = [np.zeros(0)] * len(rows)
    for train, test in folds([row.row.source for row in rows]):
        calibration = GroundingCalibration(fit_calibration([rows[place] for place in train], words, "fold"))
        for place in test:
            found[place] = calibration.log_odds(rows[place].features) - calibration.cut
    return found


def combined(
    rows: Sequence[MeasuredRow], rules: Sequence[Floats], supported: Sequence[Floats], bounds: Bounds
) -> list[Floats]:
    """Log-odds from both, by folds over sources.

    Args:
        rows: answers.
        rules: log-odds of their claims by the rules, above their cut.
        supported: the verifier's probabilities that they are supported.
        bounds: between which log-odds of the rules the verifier is asked.
    """
    found: list[Floats] = [np.zeros(0)] * len(rows)
    for train, test in folds([row.row.source for row in rows]):
        fitted = VerifierCombination(
            document(
                [rows[place] for place in train],
                [rules[place] for place in train],
                [supported[place] for place in train],
                bounds,
            )
        )
        for place in test:
            found[place] = fitted.log_odds(rules[place], supported[place], 0.0) - fitted.cut
    return found


def document(
    rows: Sequence[MeasuredRow],
    rules: Sequence[Floats],
    supported: Sequence[Floats],
    bounds: Bounds,
    version: str = "fold",
) -> dict[str, Any]:
    """A combination fitted on answers, over log-odds of the rules above their cut; its risk is not fitted yet.

    The weights come from the claims that are asked; so does the cut, since the verdict on the others stands.
    """
    odds, labels = np.concatenate(list(rules)), np.concatenate([_marks(row) for row in rows])
    doubt = _doubt(np.concatenate(list(supported)))
    asked = (odds >= bounds[0]) & (odds <= bounds[1]) & ~np.isnan(doubt)
    intercept, (of_rules, of_verifier) = weigh(labels[asked], np.stack([odds[asked], doubt[asked]], axis=1))
    both = intercept + of_rules * odds + of_verifier * np.nan_to_num(doubt)
    return {
        "version": version,
        "intercept": intercept,
        "rules": float(of_rules),
        "verifier": float(of_verifier),
        "lower": bounds[0],
        "upper": bounds[1],
        "cut": best_threshold(both[asked], labels[asked]),
        "answer": {"intercept": 0.0, "top": 0.0, "unsaid": 0.0, "threshold": 0.5},
    }


def weigh(labels: NDArray[np.bool_], odds: Floats) -> tuple[float, Floats]:
    """Intercept and weights of a logistic model over log-odds of claims.

    Args:
        labels: whether each of n claims is unsupported, shape (n,).
        odds: what k sources say of it, shape (n, k).

    Returns:
        The intercept, and k weights none of which is negative: a source never speaks for a claim by doubting it.
    """
    from scipy.optimize import minimize

    def loss(parameters: Floats) -> tuple[float, Floats]:
        sums = parameters[0] + odds @ parameters[1:]
        wrong = 1.0 / (1.0 + np.exp(-sums)) - labels
        likelihood = np.logaddexp(0.0, sums) - labels * sums
        return float(likelihood.mean()), np.r_[wrong.mean(), odds.T @ wrong / len(labels)]

    sources = odds.shape[1]
    bounds = [(None, None)] + [(0.0, None)] * sources
    fitted = minimize(loss, np.r_[0.0, np.ones(sources) / sources], jac=True, bounds=bounds, method="L-BFGS-B")
    return float(fitted.x[0]), fitted.x[1:]


def risks_of(rows: Sequence[MeasuredRow], odds: Sequence[Floats]) -> Floats:
    """The content's risk of each answer from the log-odds of its claims, by folds over sources, shape (answers,)."""
    from sklearn.linear_model import LogisticRegression

    labels = np.array([row.row.label for row in rows])
    risks = np.zeros(len(rows))
    for train, test in folds([row.row.source for row in rows]):
        cut = best_threshold(
            np.concatenate([odds[place] for place in train]), np.concatenate([_marks(rows[place]) for place in train])
        )
        values = np.array(
            [
                answer_features(AnswerClaims(own, row.features[:, UNSAID].mean(axis=1), row.words, own >= cut))
                for row, own in zip(rows, odds, strict=True)
            ]
        )
        model = LogisticRegression(C=10.0, max_iter=1_000).fit(values[train], labels[train])
        risks[test] = model.predict_proba(values[test])[:, 1]
    return risks


def _figures(rows: Sequence[MeasuredRow], *odds: Sequence[Floats]) -> dict[str, Any]:
    labels = np.concatenate([_marks(row) for row in rows])
    found: dict[str, Any] = {"claims": len(labels), "wrong_claims": int(labels.sum())}
    splits = folds([row.row.source for row in rows])
    for name, each in zip(("rules", "verifier", "both"), odds, strict=True):
        flagged: list[NDArray[np.bool_]] = [np.zeros(0, dtype=bool)] * len(rows)
        for train, test in splits:
            scores, marks = (np.concatenate([part[place] for place in train]) for part in (each, [*map(_marks, rows)]))
            cut = best_threshold(scores, marks)
            for place in test:
                flagged[place] = each[place] >= cut
        found[name] = {
            "auroc": auroc(np.concatenate(list(each)), labels),
            "balanced": balanced_accuracy(np.concatenate(flagged), labels),
        }
    return found


def _answer_figures(rows: Sequence[MeasuredRow], places: Sequence[int], risks: dict[str, Floats]) -> dict[str, Any]:
    own = [rows[place] for place in places]
    labels = np.array([row.row.label for row in own])
    weights = prevalence_weights([row.row for row in own])
    found: dict[str, Any] = {"answers": len(own)}
    for name, each in risks.items():
        scores = each[list(places)]
        flagged = np.zeros(len(own), dtype=bool)
        for train, test in folds([row.row.source for row in own]):
            flagged[test] = scores[test] >= best_threshold(scores[train], labels[train], weights[train], measure="f1")
        found[f"answers_{name}"] = {"auroc": auroc(scores, labels), "f1": f1(flagged, labels, weights)}
    return found


def _show(name: str, found: dict[str, Any]) -> None:
    claims = "".join(
        f"{found[each]['auroc']:>{width}.3f}" for each, width in (("rules", 8), ("verifier", 10), ("both", 8))
    )
    answers = "".join(f"{found[each]['auroc']:>8.3f}" for each in ("answers_rules", "answers_both"))
    f1s = " ".join(f"{found[each]['f1']:.3f}" for each in ("answers_rules", "answers_both"))
    print(f"{name:<34}{found['claims']:>8}{claims}{found['answers']:>10}{answers}   F1 {f1s}")


def _marks(row: MeasuredRow) -> NDArray[np.bool_]:
    """Which claims people marked; in an answer without marks nothing is wrong."""
    return np.array(row.marked if row.marked is not None else [False] * len(row.features), dtype=bool)


def _said(scores: Mapping[tuple[str, str], Floats], name: tuple[str, str]) -> float:
    """The probability that a claim is supported, NaN for one that has no evidence and so was not asked."""
    return float(scores[name][CLASSES.index(SUPPORTED)]) if name in scores else float("nan")


def _doubt(supported: Floats) -> Floats:
    """Log-odds of a verifier that claims are not supported, as the combination takes them; NaN where not asked."""
    doubt = 1.0 - np.clip(supported, LEAST, 1.0 - LEAST)
    logits: Floats = np.log(doubt / (1.0 - doubt))
    return logits


def _by_share(
    rows: Sequence[MeasuredRow], rules: Sequence[Floats], supported: Sequence[Floats]
) -> Iterator[dict[str, float]]:
    """What is left of the gain where only the claims nearest to the rules' cut are asked."""
    labels = np.concatenate([_marks(row) for row in rows])
    answers = np.array([row.row.label for row in rows])
    distances = np.abs(np.concatenate(list(rules)))
    for share in SHARES:
        reach = float(np.quantile(distances, share))
        odds = combined(rows, rules, supported, (-reach, reach))
        yield {
            "share": share,
            "reach": round(reach, 3),
            "claims": auroc(np.concatenate(odds), labels) or 0.0,
            "answers": auroc(risks_of(rows, odds), answers) or 0.0,
        }


if __name__ == "__main__":
    main()
