"""Fit the grounding calibration on labelled answers; for the model see ``workers.evaluation.grounding.calibration``.

The cutoff of the verdict, the weights and the threshold of the answer are chosen on predictions for sources that were
not used to fit the trees.
"""

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workers.evaluation.facts.evidence_units import segment_source
from workers.evaluation.grounding.calibration import (
    UNSUPPORTED_FEATURES,
    AnswerClaims,
    GroundingCalibration,
    answer_features,
)
from workers.evaluation.grounding.claim_features import FEATURES, content_sequence
from workers.evaluation.grounding.grounding_evaluator import risk_by_rules
from workers.evaluation.thresholds import GroundingThresholds
from workers.evaluation.trees import Floats
from workers.measurement.classification_metrics import best_threshold
from workers.measurement.fits.boosted_trees import export_trees
from workers.measurement.labelled_answers import LabelledRow, UnreadableSet
from workers.measurement.measured_answers import MeasuredRow

FOLDS = 5
TREES = 150
LEARNING_RATE = 0.06
LEAF_CLAIMS = 30
L2 = 5.0
SET_ROUNDS = 1
"""Number of rounds of expectation maximisation over answers without spans."""
SET_WEIGHT = 0.5
"""Weight of a claim of an answer without spans."""
FEWEST_SOURCES = 3
"""Number of sources from which a word that answers add counts as ordinary."""

PREVALENCE = {"qa": 0.18, "summary": 0.23, "data2text": 0.64}
"""Share of answers with unsupported content by task, to which the threshold is fitted: RAGTruth's test split (Niu et
al., 2024, table 2). Labelled sets contain more bad answers than live traffic.
"""


def word_weights(rows: Sequence[LabelledRow]) -> dict[str, Any]:
    """Return word weights for absence from the evidence: log of sources over sources with the word.

    Labels are not used. The weight is the inverse document frequency over the words that answers add.
    """
    added: dict[str, set[str]] = {}
    seen: dict[str, frozenset[str]] = {}
    for row in rows:
        if row.source not in seen:
            units = [unit.text for context in row.contexts for unit in segment_source(context)]
            seen[row.source] = frozenset(word for text in units for word in content_sequence(text))
        added.setdefault(row.source, set()).update(set(content_sequence(row.answer)) - seen[row.source])
    counts = Counter(word for words in added.values() for word in words)
    total = len(added) + 1
    weights = {
        word: round(float(np.log(total / (count + 1))), 2)
        for word, count in sorted(counts.items())
        if count >= FEWEST_SOURCES
    }
    return {"weights": weights, "unknown": round(float(np.log(total)), 2)}


def refuse_too_few(rows: Sequence[LabelledRow]) -> None:
    """Refuse answers that a calibration cannot be fitted to, before the minutes of measuring them.

    Raises:
        UnreadableSet: there are fewer than five sources, answers of one label only, or no marked spans in two sources.
    """
    sources = len({row.source for row in rows})
    if sources < FOLDS:
        raise UnreadableSet(
            f"the answers have {sources} different sources (contexts); give answers on at least {FOLDS}, because each "
            "fifth of the sources is left out once"
        )
    labels = {row.label for row in rows}
    if len(labels) < 2:
        raise UnreadableSet(
            f"every answer has the label {int(rows[0].label)}; give answers with unsupported content (1) and without it (0)"
        )
    if len({row.source for row in rows if row.spans}) < 2:
        raise UnreadableSet(
            "the field spans marks unsupported content on fewer than two sources; at least one set must mark it"
        )


def _refuse_one_class(rows: Sequence[MeasuredRow], trains: Sequence[Sequence[int]]) -> None:
    """Refuse measured answers of which some fit would see supported or unsupported content only.

    Raises:
        UnreadableSet: the message says which content is missing.
    """
    for train in (range(len(rows)), *trains):
        marked = {flag for index in train for flag in rows[index].marked or ()}
        if len(marked) < 2:
            kind = "supported" if True in marked else "unsupported"
            raise UnreadableSet(
                f"without a fifth of the sources no marked answer has a claim that is {kind}; give more answers with "
                "spans, on more sources"
            )
    if len({row.row.label for row in rows}) < 2:
        raise UnreadableSet("all answers with claims have one label; give answers with unsupported content and without")


def fit_calibration(rows: Sequence[MeasuredRow], words: dict[str, Any], version: str) -> dict[str, Any]:
    """Fit a calibration.

    Args:
        rows: labelled answers, with spans at least in part.
        words: result of :func:`word_weights`, with which the rows were measured.
        version: name of the result.

    Returns:
        The document that ``GroundingCalibration`` reads.

    Raises:
        UnreadableSet: the rows, or those of four fifths of their sources, are all of one class.
    """
    rows = [row for row in rows if len(row.features)]
    fits = fit_folds(rows, words, version)
    document = _document(_trees(rows), words, version)
    document["claim"]["cut"] = fits[0].document["claim"]["cut"]
    document["answer"] |= fits[0].document["answer"]
    return document


@dataclass(frozen=True, slots=True)
class FoldFit:
    """Hold a calibration that was fitted without a fifth of the sources.

    Attributes:
        document: the calibration; cut, weights and threshold of an answer are those of all folds together.
        sources: the sources that its trees were fitted without.
    """

    document: dict[str, Any]
    sources: frozenset[str]


def fit_folds(rows: Sequence[MeasuredRow], words: dict[str, Any], version: str, *others: str) -> list[FoldFit]:
    """Fit the trees without each fifth of the sources; fit cut, weights and threshold on the predictions for these.

    Args:
        rows: labelled answers with claims, with spans at least in part.
        words: weights of words, with which the rows were measured.
        version: name of the calibrations.
        others: further sources that are divided with those of the rows.

    Raises:
        UnreadableSet: see :func:`fit_calibration`.
    """
    sources = [row.row.source for row in rows]
    everything = [*sources, *others]
    splits = [([index for index in train if index < len(rows)], test) for train, test in folds(everything)]
    _refuse_one_class(rows, [train for train, _ in splits])
    fits = [
        FoldFit(
            _document(_trees([rows[index] for index in train]), words, version), frozenset(everything[i] for i in test)
        )
        for train, test in splits
    ]
    tests = [[index for index in test if index < len(rows)] for _, test in splits]
    odds: list[Floats] = [np.zeros(0)] * len(rows)
    for fit, test in zip(fits, tests, strict=True):
        calibration = GroundingCalibration(fit.document)
        for index in test:
            odds[index] = calibration.log_odds(rows[index].features)
    spanned = [index for index, row in enumerate(rows) if row.marked is not None]
    labels = np.concatenate([np.array(rows[index].marked, dtype=bool) for index in spanned])
    cut = round(best_threshold(np.concatenate([odds[index] for index in spanned]), labels), 4)
    answer = fit_answer(rows, odds, cut)
    risks = np.zeros(len(rows))
    for fit, test in zip(fits, tests, strict=True):
        fit.document["claim"]["cut"] = cut
        fit.document["answer"] |= answer
        calibration = GroundingCalibration(fit.document)
        for index in test:
            risks[index] = _risk(rows[index], calibration)
    threshold = fit_threshold(rows, risks)
    for fit in fits:
        fit.document["answer"]["threshold"] = threshold
    return fits


def folds(sources: Sequence[str], count: int = FOLDS) -> list[tuple[list[int], list[int]]]:
    """Split rows by source, equal for every run: (train, test) positions."""
    distinct = sorted(set(sources))
    fold = {source: number % count for number, source in enumerate(distinct)}
    numbers = [fold[source] for source in sources]
    return [
        (
            [index for index, number in enumerate(numbers) if number != chosen],
            [index for index, number in enumerate(numbers) if number == chosen],
        )
        for chosen in range(count)
    ]


def empty_document(words: dict[str, Any]) -> dict[str, Any]:
    """Return a calibration with word weights only, sufficient for measuring features."""
    return _document({"intercept": 0.0, "trees": []}, words, "unfitted")


def _document(claim: dict[str, Any], words: dict[str, Any], version: str) -> dict[str, Any]:
    return {
        "version": version,
        "features": list(FEATURES),
        "claim": {**claim, "cut": 0.0},
        "answer": {"intercept": 0.0, "top": 1.0, "unsaid": 0.0, "threshold": 0.5},
        "words": words,
    }


def _trees(rows: Sequence[MeasuredRow]) -> dict[str, Any]:
    from threadpoolctl import threadpool_limits

    # With a few thousand rows, several threads mainly wait for each other.
    with threadpool_limits(1, "openmp"):
        return _fitted_trees(rows)


def _fitted_trees(rows: Sequence[MeasuredRow]) -> dict[str, Any]:
    spanned = [row for row in rows if row.marked is not None]
    whole = [row for row in rows if row.marked is None]
    features = np.concatenate([row.features for row in spanned])
    labels = np.concatenate([np.array(row.marked, dtype=np.float64) for row in spanned])
    model = _boost(features, labels, np.ones(len(labels)))
    for _ in range(SET_ROUNDS if whole else 0):
        parts, targets, weights = [features], [labels], [np.ones(len(labels))]
        for row in whole:
            guess = _guess(model.predict_proba(row.features)[:, 1], bad=row.row.label)
            parts += [row.features, row.features]
            targets += [np.ones(len(guess)), np.zeros(len(guess))]
            weights += [SET_WEIGHT * guess, SET_WEIGHT * (1.0 - guess)]
        weight = np.concatenate(weights)
        kept = weight > 1e-6
        model = _boost(np.concatenate(parts)[kept], np.concatenate(targets)[kept], weight[kept])
    return export_trees(model, features)


def _guess(probabilities: Floats, *, bad: bool) -> Floats:
    """Return the probability that each claim is unsupported, if at most one claim of the answer is."""
    if not bad:
        return np.zeros(len(probabilities))
    guess: Floats = probabilities / max(1e-9, 1.0 - float(np.prod(1.0 - probabilities)))
    return np.clip(guess, 0.0, 1.0)


def _boost(features: Floats, labels: Floats, weights: Floats) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_depth=2,
        max_iter=TREES,
        learning_rate=LEARNING_RATE,
        min_samples_leaf=LEAF_CLAIMS,
        l2_regularization=L2,
        monotonic_cst=[1] * features.shape[1],
        early_stopping=False,
        random_state=0,
    )
    return model.fit(features, labels, sample_weight=weights)


def fit_answer(rows: Sequence[MeasuredRow], odds: Sequence[Floats], cut: float) -> dict[str, float]:
    """Fit the weights of answer risk within sets, so that the badness of a set has no effect; then the intercept.

    Args:
        rows: answers, each with n claims.
        odds: log-odds that these are unsupported, shape (n,) each, from fits without the answer's source.
        cut: log-odds from which a claim is unsupported.

    Returns:
        ``intercept``, ``top`` and ``unsaid``: the arguments of ``AnswerWeights``.
    """
    from sklearn.linear_model import LogisticRegression

    values = np.array(
        [
            answer_features(
                AnswerClaims(log_odds, row.features[:, UNSUPPORTED_FEATURES].mean(axis=1), row.words, log_odds >= cut)
            )
            for row, log_odds in zip(rows, odds, strict=True)
        ]
    )
    labels = np.array([row.row.label for row in rows])
    groups = [f"{row.row.set}/{row.row.task}" for row in rows]
    dummies = np.array([[float(group == other) for other in sorted(set(groups))] for group in groups])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        within = LogisticRegression(C=10.0, fit_intercept=False, max_iter=1_000).fit(np.c_[values, dummies], labels)
        slopes = np.maximum(0.0, within.coef_[0][:2])
        score = (values @ slopes).reshape(-1, 1)
        weights = prevalence_weights([row.row for row in rows])
        scale = LogisticRegression(C=100.0, max_iter=1_000).fit(score, labels, sample_weight=weights)
    factor = max(0.0, float(scale.coef_[0][0]))
    return {
        "intercept": round(float(scale.intercept_[0]), 4),
        "top": round(factor * float(slopes[0]), 4),
        "unsaid": round(factor * float(slopes[1]), 4),
    }


def _risk(row: MeasuredRow, calibration: GroundingCalibration) -> float:
    """Return the final risk, which includes contradictions and missing citations."""
    return risk_by_rules(row.prepared, row.measured, GroundingThresholds(), calibration) or 0.0


def fit_threshold(rows: Sequence[MeasuredRow], risks: Floats) -> float:
    """Return the risk threshold with the best F1 for bad answers, at the prevalence of the task."""
    labels = np.array([row.row.label for row in rows])
    weights = prevalence_weights([row.row for row in rows])
    return round(best_threshold(risks, labels, weights, measure="f1"), 3)


def prevalence_weights(rows: Sequence[LabelledRow]) -> Floats:
    """Return weights that give every task its prevalence; tasks without one keep theirs."""
    counts = Counter((row.task, row.label) for row in rows)
    weights = np.ones(len(rows))
    for index, row in enumerate(rows):
        if row.task in PREVALENCE and counts[row.task, True] and counts[row.task, False]:
            own = counts[row.task, True] / (counts[row.task, True] + counts[row.task, False])
            wanted = PREVALENCE[row.task]
            weights[index] = wanted / own if row.label else (1.0 - wanted) / (1.0 - own)
    return weights
