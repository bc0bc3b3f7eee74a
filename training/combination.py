"""Fit the file that joins a verifier to the rules, on claims that serving would ask about.

What the rules and the verifier say of each claim comes from fits that have not seen its source. Which claims are asked,
and what their evidence is, is found by the code that serves (``workers.evaluation.grounding.grounding_evaluator``), and the weights are over the
same log-odds above the rules' cut that it takes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from training.pairs import CLASSES, SUPPORTED
from workers.evaluation.grounding.calibration import GroundingCalibration, shipped_calibration
from workers.evaluation.grounding.grounding_evaluator import combine_with_verifier, score_with_rules
from workers.evaluation.grounding.verifier_combination import Flags, VerifierCombination, doubts
from workers.evaluation.thresholds import GroundingThresholds
from workers.evaluation.trees import Floats
from workers.measurement.classification_metrics import best_threshold
from workers.measurement.fits.fitting import fit_answer, fit_calibration, fit_threshold, folds
from workers.measurement.measured_answers import MeasuredRow

Bounds = tuple[float, float]

EVERYTHING: Bounds = (-1e9, 1e9)
"""Bounds within which every claim is asked."""
KINDS = ("texts", "records")
"""Kinds of evidence with weights of their own."""
FEWEST = 100
"""Asked claims of a kind under which nothing is fitted for it."""

_EQUAL = {"intercept": 0.0, "rules": 1.0, "verifier": 1.0}
_UNFITTED: dict[str, Any] = {"intercept": 0.0, "top": 0.0, "unsaid": 0.0, "threshold": 0.5}
_ALL_ASKED = VerifierCombination(
    {"version": "all", "lower": EVERYTHING[0], "upper": EVERYTHING[1], "cut": 0.0, "answer": _UNFITTED}
    | dict.fromkeys(KINDS, _EQUAL)
)


@dataclass(frozen=True, slots=True)
class Case:
    """Hold a labelled answer with the results of rules and verifier for its n claims.

    Attributes:
        row: the answer, with its features.
        calibration: the rules', fitted without its source.
        margins: the rules' log-odds above their cut, shape (n,).
        said: the verifier's probabilities that claims are supported, NaN for one without evidence, shape (n,).
        asked: which claims serving may ask about, whatever the bounds, shape (n,).
        of_records: which rest on records, shape (n,).
        marks: which people marked as unsupported, shape (n,).
    """

    row: MeasuredRow
    calibration: GroundingCalibration
    margins: Floats
    said: Floats
    asked: Flags
    of_records: Flags
    marks: Flags

    @property
    def supported(self) -> Floats:
        """Return the verifier's probabilities where serving may ask for them, otherwise NaN, shape (n,)."""
        return np.where(self.asked, self.said, np.nan)


def cases(rows: Sequence[MeasuredRow], scores: Mapping[tuple[str, str], Floats]) -> list[Case]:
    """Build cases with the results of rules and verifier for labelled answers.

    Args:
        rows: answers with at least one checked claim each.
        scores: the verifier's probabilities, by set and name of the claim (``ID#NUMBER``).

    Raises:
        ValueError: a claim that serving would ask about has no score.
    """
    calibrations = _blind_calibrations(rows)
    return [_case(row, calibration, scores) for row, calibration in zip(rows, calibrations, strict=True)]


def _case(row: MeasuredRow, calibration: GroundingCalibration, scores: Mapping[tuple[str, str], Floats]) -> Case:
    weighed = score_with_rules(row.prepared, calibration, _ALL_ASKED)
    names = [(row.row.set, f"{row.row.id}#{number}") for number in range(len(row.features))]
    asked = np.array([pair is not None for pair in weighed.pairs], dtype=bool)
    said = np.array([scores[name][CLASSES.index(SUPPORTED)] if name in scores else np.nan for name in names])
    for place in np.flatnonzero(asked & np.isnan(said)):
        raise ValueError(f"the scores lack {names[place]}: make them of the claims of these answers")
    # In an answer without marks nothing is wrong.
    marks = np.array(row.marked if row.marked is not None else [False] * len(names), dtype=bool)
    return Case(row, calibration, calibration.margins(row.features), said, asked, weighed.of_records, marks)


def _blind_calibrations(rows: Sequence[MeasuredRow]) -> list[GroundingCalibration]:
    """Return for each answer the rules' calibration that was fitted without its source."""
    shipped = shipped_calibration()
    words = {"weights": dict(shipped.words.weights), "unknown": shipped.words.unknown}
    found: dict[int, GroundingCalibration] = {}
    for train, test in folds([row.row.source for row in rows]):
        calibration = GroundingCalibration(fit_calibration([rows[place] for place in train], words, "fold"))
        found |= dict.fromkeys(test, calibration)
    return [found[place] for place in range(len(rows))]


def fit_claims(found: Sequence[Case], bounds: Bounds, kinds: Sequence[str] = KINDS) -> dict[str, Any]:
    """Fit the claim part of a combination; the answer risk is not yet fitted.

    The weights of each kind of evidence come from the claims on it that are asked; so does the cut, since the verdict on
    the others stands. A kind on which the verifier gets no weight, or with too few claims, is not asked about.

    Args:
        found: answers.
        bounds: between which log-odds of the rules above their cut the verifier is asked.
        kinds: of evidence that it may be asked about.
    """
    margins, supported, of_records, marks = _joined(found)
    doubt = doubts(supported)
    asked = (margins >= bounds[0]) & (margins <= bounds[1]) & ~np.isnan(doubt)
    weights: dict[str, dict[str, float] | None] = dict.fromkeys(KINDS)
    both = np.full(len(margins), np.nan)
    for kind in kinds:
        own = asked & (of_records == (kind == "records"))
        if own.sum() < FEWEST or len(set(marks[own])) < 2:
            continue
        intercept, (of_rules, of_verifier) = weigh(marks[own], np.stack([margins[own], doubt[own]], axis=1))
        if of_verifier > 0:
            weights[kind] = {"intercept": intercept, "rules": float(of_rules), "verifier": float(of_verifier)}
            both[own] = intercept + of_rules * margins[own] + of_verifier * doubt[own]
    judged = ~np.isnan(both)
    cut = best_threshold(both[judged], marks[judged]) if judged.any() else 0.0
    return {"version": "fold", **weights, "lower": bounds[0], "upper": bounds[1], "cut": cut, "answer": _UNFITTED}


def fit_combination(
    found: Sequence[Case], bounds: Bounds, kinds: Sequence[str], version: str, weights: str
) -> dict[str, Any]:
    """Fit the combination document that serving reads.

    Args:
        found: answers.
        bounds: see :func:`fit_claims`.
        kinds: see :func:`fit_claims`.
        version: name of the result.
        weights: digest of the verifier's file, by which any other is refused.
    """
    claims = _rounded(fit_claims(found, bounds, kinds))
    rows = [case.row for case in found]
    odds = [each + claims["cut"] for each in combined(found, bounds, kinds)]
    answer = fit_answer(rows, odds, claims["cut"])
    risks = np.zeros(len(found))
    for fitted, test in _by_folds(found, bounds, kinds):
        for place in test:
            risks[place] = served_risk(
                found[place], VerifierCombination(fitted | {"answer": answer | {"threshold": 0.5}})
            )
    return claims | {
        "version": version,
        "answer": answer | {"threshold": fit_threshold(rows, risks)},
        "weights": weights,
    }


def served_risk(case: Case, combination: VerifierCombination) -> float:
    """Return the final risk of an answer, including contradictions and missing citations."""
    weighed = score_with_rules(case.row.prepared, case.calibration, combination)
    verdicts = {
        pair: np.array([said, 0.0, 1.0 - said], dtype=np.float32)
        for pair, said in zip(weighed.pairs, case.said, strict=True)
        if pair is not None
    }
    return combine_with_verifier(weighed, GroundingThresholds(), verdicts, combination).risk_score or 0.0


def combined(found: Sequence[Case], bounds: Bounds, kinds: Sequence[str] = KINDS) -> list[Floats]:
    """Return combined log-odds above their cutoff, by folds over sources; see :func:`fit_claims`."""
    odds: list[Floats] = [np.zeros(0)] * len(found)
    for fitted, test in _by_folds(found, bounds, kinds):
        combination = VerifierCombination(fitted)
        for place in test:
            odds[place] = log_odds(found[place], combination) - combination.cut
    return odds


def log_odds(case: Case, combination: VerifierCombination) -> Floats:
    """Return the combined log-odds that the claims of an answer are unsupported, shape (n,)."""
    return combination.log_odds(case.margins, case.supported, case.of_records)


def _by_folds(
    found: Sequence[Case], bounds: Bounds, kinds: Sequence[str]
) -> Iterator[tuple[dict[str, Any], Sequence[int]]]:
    for train, test in folds([case.row.row.source for case in found]):
        yield fit_claims([found[place] for place in train], bounds, kinds), test


def weigh(labels: NDArray[np.bool_], odds: Floats) -> tuple[float, Floats]:
    """Fit intercept and weights of a logistic model over log-odds of claims.

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


def reach(found: Sequence[Case], kinds: Sequence[str] = KINDS) -> float:
    """Return the distance from the rules' cutoff that contains all eligible claims."""
    margins, supported, of_records, _ = _joined(found)
    of_kinds = np.where(of_records, "records" in kinds, "texts" in kinds)
    return float(np.abs(margins[of_kinds & ~np.isnan(supported)]).max())


def _joined(found: Sequence[Case]) -> tuple[Floats, Floats, Flags, Flags]:
    """Join margins, probabilities, kinds and marks of the claims of all answers."""
    return (
        np.concatenate([case.margins for case in found]),
        np.concatenate([case.supported for case in found]),
        np.concatenate([case.of_records for case in found]),
        np.concatenate([case.marks for case in found]),
    )


def _rounded(document: dict[str, Any]) -> dict[str, Any]:
    """Round a document to four digits: the labels justify no more, and all processors agree on them."""
    return {
        name: _rounded(value) if isinstance(value, dict) else round(value, 4) if isinstance(value, float) else value
        for name, value in document.items()
    }
