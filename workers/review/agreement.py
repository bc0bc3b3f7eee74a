"""Measure inter-annotator agreement between first and second reviews: Cohen's kappa."""

from collections.abc import Sequence

import numpy as np

RESAMPLES = 1_000
"""Bootstrap samples behind an interval."""


def cohens_kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Compute the agreement of two reviewers beyond chance (Cohen 1960).

    Args:
        pairs: first and second decision on each item.

    Returns:
        Kappa: 1 for full agreement, 0 for the agreement expected by chance, negative for less.
        ``None`` where fewer than two decisions occur, because chance then explains all agreement.
    """
    if len({decision for pair in pairs for decision in pair}) < 2:
        return None
    # Deferred: a console starts a second earlier without the import.
    from sklearn.metrics import cohen_kappa_score

    firsts, seconds = zip(*pairs, strict=True)
    return float(cohen_kappa_score(firsts, seconds))


def kappa_interval(pairs: Sequence[tuple[str, str]]) -> tuple[float, float] | None:
    """Compute the 95 % interval of kappa with the percentile bootstrap over pairs (Efron 1979).

    The samples are drawn with a fixed seed, so that equal pairs give equal bounds.

    Returns:
        The bounds; ``None`` where kappa is unknown.
    """
    labels = sorted({decision for pair in pairs for decision in pair})
    if len(labels) < 2:
        return None
    table = np.zeros((len(labels), len(labels)))
    for first, second in pairs:
        table[labels.index(first), labels.index(second)] += 1
    drawn = np.random.default_rng(0).multinomial(len(pairs), (table / len(pairs)).ravel(), size=RESAMPLES)
    tables = drawn.reshape(RESAMPLES, len(labels), len(labels)) / len(pairs)
    observed = np.trace(tables, axis1=1, axis2=2)
    expected = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1)
    # A sample of one decision alone agrees by chance alone.
    kappas = np.where(expected < 1, (observed - expected) / np.where(expected < 1, 1 - expected, 1), 0.0)
    low, high = np.quantile(kappas, (0.025, 0.975))
    return float(low), float(high)
