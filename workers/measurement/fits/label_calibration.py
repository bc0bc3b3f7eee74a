"""Fit the mapping of the risk and its bands on an owner's labelled answers; see ``evaluation.risk_mapping``.

Everything is compared with the shipped risk by folds over sources. What is not better there is left as it is: a mapping
whose log loss is not lower, and a minimum of a band that finds no more, each with a 95 % interval by source.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workers.errors import TouchstoneError
from workers.evaluation.risk_mapping import KIND, RiskMapping, log_odds
from workers.evaluation.thresholds import GroundingThresholds
from workers.evaluation.trees import Floats
from workers.feedback.patterns import wilson_interval
from workers.measurement.classification_metrics import balanced_accuracy, best_threshold, calibration_error, fast_f1
from workers.measurement.fits.fitting import FOLDS, folds
from workers.measurement.intervals import Difference, Rows, difference

FEWEST_ANSWERS = 50
"""Smallest number of labelled answers with a risk; below, an interval by source holds almost any mapping."""
FEWEST_OF_LABEL = 10
"""Smallest number of answers of each label: two for each fold."""
GROUPS = 5
"""Number of groups of equal size in the table of reliability."""
STRENGTH = 10.0
"""Inverse of the regularisation of the slope; a few dozen answers in perfect order would make it infinite."""

Flags = np.ndarray[Any, np.dtype[np.bool_]]


class TooFewLabels(TouchstoneError):
    """Report labelled answers that are too few or too much of one kind for a fit."""


@dataclass(frozen=True, slots=True)
class LabelFit:
    """Hold a fit and its comparison with the shipped risk by folds.

    Attributes:
        mapping: the mapping with bands, fitted on all answers; the identity without bands if nothing is better.
        is_better: True if any part of it is better than what is shipped.
        before: shipped risk of each answer, shape (n,).
        after: risk of each answer by a fit without its source, shape (n,).
        labels: True for bad answers, shape (n,).
        log_loss: reduction of the log loss by the mapping.
        medium: gain in F1 of "medium or high" by the fitted minimum.
        high: gain in F1 of "high" by the fitted minimum.
    """

    mapping: RiskMapping
    is_better: bool
    before: Floats
    after: Floats
    labels: Flags
    log_loss: Difference
    medium: Difference
    high: Difference

    def document(self) -> dict[str, Any]:
        """Return the content of the file that ``read_risk_mapping`` reads."""
        return {
            "kind": KIND,
            "slope": round(self.mapping.slope, 4),
            "intercept": round(self.mapping.intercept, 4),
            "risk_medium": self.mapping.risk_medium,
            "risk_high": self.mapping.risk_high,
            "answers": len(self.labels),
            "bad": int(self.labels.sum()),
        }

    def figures(self) -> dict[str, Any]:
        """Return the comparison for JSON."""
        return {
            "log_loss_reduction": self.log_loss.as_list(),
            "calibration_error": [round(calibration_error(s, self.labels)[0], 4) for s in (self.before, self.after)],
            "f1_gain_medium": self.medium.as_list(),
            "f1_gain_high": self.high.as_list(),
            "reliability": {
                "before": reliability(self.before, self.labels),
                "after": reliability(self.after, self.labels),
            },
        }


def fit_labels(
    risks: Sequence[float], labels: Sequence[bool], sources: Sequence[str], bands: GroundingThresholds
) -> LabelFit:
    """Fit mapping and bands.

    Args:
        risks: shipped risk of n answers, 0..1.
        labels: True for answers in which people found something unsupported.
        sources: source of each answer.
        bands: the bands in use.

    Raises:
        TooFewLabels: there are too few answers, of one label or in all, or too few sources.
    """
    _refuse_too_few(labels, sources)
    before, bad = np.array(risks, dtype=np.float64), np.array(labels, dtype=bool)
    splits = folds(sources)
    mapped = _by_folds(splits, before, bad, lambda train: fit_mapping(before[train], bad[train]))
    gain = _log_losses(before, bad) - _log_losses(mapped, bad)
    log_loss = _interval(lambda rows: float(gain[rows].mean()), sources)
    is_mapped = log_loss.low > 0.0
    mapping = fit_mapping(before, bad) if is_mapped else RiskMapping()
    after = mapped if is_mapped else before
    medium, finds_more = _band_gain(splits, after, bad, sources, bands.risk_medium)
    high, finds_more_high = _band_gain(splits, after, bad, sources, bands.risk_high, precision_counts=True)
    own = np.array([mapping(float(risk)) for risk in before])
    fitted_medium = _minimum(own, bad) if finds_more else None
    fitted_high = _minimum(own, bad, precision_counts=True) if finds_more_high else None
    if (fitted_medium or bands.risk_medium) > (fitted_high or bands.risk_high):
        # Bands must be in order; the minimum of medium decides who is warned.
        fitted_high = None if fitted_medium is None else max(fitted_medium, bands.risk_high)
    mapping = RiskMapping(mapping.slope, mapping.intercept, fitted_medium, fitted_high)
    is_better = is_mapped or fitted_medium is not None or fitted_high is not None
    return LabelFit(mapping, is_better, before, after, bad, log_loss, medium, high)


def fit_mapping(risks: Floats, labels: Flags) -> RiskMapping:
    """Fit a mapping by logistic regression on the log-odds of the risk; the identity if the order is not kept."""
    from sklearn.linear_model import LogisticRegression

    values = np.array([[log_odds(float(risk))] for risk in risks])
    model = LogisticRegression(C=STRENGTH).fit(values, labels)
    slope, intercept = float(model.coef_[0][0]), float(model.intercept_[0])
    return RiskMapping(slope, intercept) if slope > 0.0 else RiskMapping()


def reliability(risks: Floats, labels: Flags) -> list[dict[str, Any]]:
    """Return mean risk and share of bad answers, with its 95 % interval (Wilson), of groups of equal size by risk."""
    order = np.argsort(risks, kind="stable")
    found = []
    for part in np.array_split(order, GROUPS):
        bad = int(labels[part].sum())
        low, high = wilson_interval(bad, len(part))
        found.append(
            {
                "answers": len(part),
                "risk": round(float(risks[part].mean()), 4),
                "bad": round(bad / len(part), 4),
                "interval": [round(low, 4), round(high, 4)],
            }
        )
    return found


def _refuse_too_few(labels: Sequence[bool], sources: Sequence[str]) -> None:
    bad = sum(labels)
    if len(labels) < FEWEST_ANSWERS:
        raise TooFewLabels(
            f"{len(labels)} labelled answers have a risk; give at least {FEWEST_ANSWERS}. The shipped calibration stays"
        )
    if min(bad, len(labels) - bad) < FEWEST_OF_LABEL:
        raise TooFewLabels(
            f"{bad} answers have the label 1 and {len(labels) - bad} the label 0; give at least {FEWEST_OF_LABEL} of "
            "each. The shipped calibration stays"
        )
    if (count := len(set(sources))) < FOLDS:
        raise TooFewLabels(
            f"the answers have {count} different sources (contexts); give answers on at least {FOLDS}, because each "
            "fifth of the sources is left out once. The shipped calibration stays"
        )


def _by_folds(
    splits: Sequence[tuple[list[int], list[int]]], risks: Floats, labels: Flags, fit: Callable[[Any], RiskMapping]
) -> Floats:
    """Return the risk of each answer by a mapping that was fitted without its source."""
    found = risks.copy()
    for train, test in splits:
        if 0 < labels[train].sum() < len(train):
            mapping = fit(train)
            found[test] = [mapping(float(risk)) for risk in risks[test]]
    return found


def _band_gain(
    splits: Sequence[tuple[list[int], list[int]]],
    risks: Floats,
    labels: Flags,
    sources: Sequence[str],
    minimum: float,
    *,
    precision_counts: bool = False,
) -> tuple[Difference, bool]:
    """Return the gain by a minimum that is fitted on the other folds, and whether it tells answers apart better.

    The gain is that in F1, or in F0.5 where precision counts. A minimum that flags every answer has a higher F1 than one
    that flags none, and tells nothing apart: balanced accuracy must be higher as well.
    """
    flagged = risks >= minimum
    fitted = flagged.copy()
    for train, test in splits:
        if labels[train].any():
            fitted[test] = risks[test] >= _minimum(risks[train], labels[train], precision_counts=precision_counts)
    measure = _f_half if precision_counts else fast_f1
    gain = _interval(lambda rows: measure(fitted[rows], labels[rows]) - measure(flagged[rows], labels[rows]), sources)
    tells_more = (balanced_accuracy(fitted, labels) or 0.0) > (balanced_accuracy(flagged, labels) or 0.0)
    return gain, gain.low > 0.0 and tells_more


def _minimum(risks: Floats, labels: Flags, *, precision_counts: bool = False) -> float:
    """Return the minimum with the best F1, or the best F0.5 where precision counts."""
    return round(best_threshold(risks, labels, measure="f_half" if precision_counts else "f1"), 3)


def _f_half(flagged: Flags, labels: Flags) -> float:
    """Return F0.5, which counts precision twice as much as recall."""
    hits = int((flagged & labels).sum())
    found = int(flagged.sum()) + 0.25 * int(labels.sum())
    return 1.25 * hits / found if found else 0.0


def _interval(measure: Callable[[Rows], float], sources: Sequence[str]) -> Difference:
    found = difference(measure, sources)
    assert found is not None, "the measure is defined for all rows"
    return found


def _log_losses(risks: Floats, labels: Flags) -> Floats:
    bounded = np.clip(risks, 1e-6, 1.0 - 1e-6)
    losses: Floats = -np.where(labels, np.log(bounded), np.log(1.0 - bounded))
    return losses
