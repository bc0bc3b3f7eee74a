"""Measure how well a claim alone predicts its verdict, and compute weights that remove this bias.

A model can learn that claims with "not" are wrong and never look at the evidence. A classifier over the words of the
claims alone, trained on other documents, shows how far that goes; each pair then counts the less, the surer that
classifier is of its verdict, so that under these weights it does no better than chance. Source: bias-only models and
example reweighting (Clark et al. 2019, Schuster et al. 2019).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from workers.measurement.classification_metrics import auroc

FOLDS = 5
SMALLEST, LARGEST = 0.1, 3.0
"""Bounds of a weight: single pairs must not rule a batch."""
FEWEST = 60
"""Pairs under which nothing is fitted."""


def claim_only_probabilities(
    claims: Sequence[str], supported: NDArray[np.bool_], documents: Sequence[str]
) -> NDArray[np.float64]:
    """Predict the probability of support from a claim's words alone, by folds over documents.

    Args:
        claims: n claims.
        supported: their verdicts, shape (n,).
        documents: digests of their documents; claims that share one are in one fold.

    Returns:
        Shape (n,); the share of supported claims where there is too little to learn from.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold

    base = float(supported.mean()) if len(supported) else 0.5
    found = np.full(len(claims), base)
    if len(claims) < FEWEST or not 0.0 < base < 1.0 or len(set(documents)) < FOLDS:
        return found
    words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True).fit_transform(claims)
    for train, test in GroupKFold(FOLDS).split(words, supported, documents):
        if 0 < supported[train].sum() < len(train):
            model = LogisticRegression(C=1.0, max_iter=300).fit(words[train], supported[train])
            found[test] = model.predict_proba(words[test])[:, 1]
    return found


def weights(probabilities: NDArray[np.float64], supported: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return weights of mean 1 under which verdict and claim are nearly independent, shape (n,).

    All 1 where the guesses are no better than chance. Sets of counterfactual pairs have guesses that are worse, since a
    claim's opposite is in another fold with the other verdict: that gives nothing away to a model that sees both.
    """
    if supported.all() or not supported.any() or (auroc(probabilities, supported) or 0.0) <= 0.5:
        return np.ones(len(supported))
    own = np.where(supported, probabilities, 1.0 - probabilities)
    share = np.where(supported, supported.mean(), 1.0 - supported.mean())
    bounded = np.clip(share / np.maximum(own, 1e-3), SMALLEST, LARGEST)
    scaled: NDArray[np.float64] = bounded / bounded.mean()
    return scaled
