"""How a verifier's probability joins the rules: one logistic model, read from a data file.

Asked are the claims that the rules leave open: those whose log-odds ``x`` of being unsupported lie within
``lower`` and ``upper``. With ``v = logit(1 - P(supported))`` their log-odds become ``intercept + rules x +
verifier v``, both weights at least 0, kept within the bounds.

What is not asked keeps the rules' log-odds. Both are log-odds of the same event, so they are on one scale but for
the cut of the verdict: the rules' are moved so that their cut falls on this one, and the bounds with them. So

- the rules' verdict on a claim that is not asked stands, to the same confidence;
- a claim that is asked never passes one that the rules are surer of and that is not: for any answer of the verifier
  the log-odds never fall as the rules' rise, nor rise with the probability of supported.

A document has ``version, intercept, rules, verifier, lower, upper, cut`` and ``answer`` with ``intercept, top,
unsaid, threshold``: the risk of an answer over log-odds of this scale, as in ``calibration``.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.steps.calibration import AnswerClaims, AnswerWeights, Floats, confidences_from

COMBINATION = "verifier.json"
"""The shipped file, in ``workers/data``."""
LEAST = 1e-4
"""A probability nearer to 0 or 1 counts as this: no single opinion is certain."""


class VerifierCombination:
    """Turns the log-odds of the rules and a verifier's probabilities into those of both.

    Args:
        document: content of a combination file.

    Raises:
        ValueError: a part is missing or none that can be used; the message names it.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        try:
            self.version = str(document["version"])
            self._intercept, self._rules, self._verifier, self.lower, self.upper, self.cut = (
                _number(document, name) for name in ("intercept", "rules", "verifier", "lower", "upper", "cut")
            )
            answer = document["answer"]
            self.answer = AnswerWeights(*(_number(answer, name) for name in ("intercept", "top", "unsaid")))
            self.threshold = _number(answer, "threshold")
        except (KeyError, TypeError) as error:
            raise ValueError(f"it lacks {error.args[0]}, or it is no number") from error
        if self._rules < 0 or self._verifier < 0:
            raise ValueError("rules and verifier must be 0 or more, or more doubt would be less")
        if self.lower > self.upper:
            raise ValueError("lower must not be above upper")

    def is_open(self, log_odds: Floats) -> NDArray[np.bool_]:
        """Which claims the rules leave open, shape (n,), by their log-odds, shape (n,)."""
        found: NDArray[np.bool_] = (log_odds >= self.lower) & (log_odds <= self.upper)
        return found

    def log_odds(self, rules: Floats, supported: Floats, rules_cut: float) -> Floats:
        """Log-odds that claims are unsupported, by both.

        Args:
            rules: by the rules, shape (n,).
            supported: the verifier's probability that each is supported, NaN where it was not asked, shape (n,).
            rules_cut: log-odds of the rules from which a claim is unsupported.

        Returns:
            Shape (n,). A claim that the rules do not leave open keeps what they say, asked or not.
        """
        shift = self.cut - rules_cut
        doubt = 1.0 - np.clip(supported, LEAST, 1.0 - LEAST)
        combined = self._intercept + self._rules * rules + self._verifier * np.log(doubt / (1.0 - doubt))
        within = np.clip(combined, self.lower + shift, self.upper + shift)
        found: Floats = np.where(self.is_open(rules) & ~np.isnan(supported), within, rules + shift)
        return found

    def confidences(self, log_odds: Floats) -> Floats:
        """Confidence in claims, 0..1: 0.6 and more is supported."""
        return confidences_from(log_odds, self.cut)

    def risk(self, claims: AnswerClaims) -> float:
        """Probability that people find something unsupported in an answer; its claims' log-odds are those of both."""
        return self.answer.risk(claims)


def read_combination(content: str | bytes) -> VerifierCombination:
    """The combination of a file's content.

    Raises:
        ValueError: it is no such file; the message says in what.
    """
    document = json.loads(content)
    if not isinstance(document, dict):
        raise ValueError("it is no JSON object")
    return VerifierCombination(document)


def shipped_path() -> Path:
    """Where the package's own file lies, or would."""
    return Path(str(files("workers") / "data" / COMBINATION))


@lru_cache(maxsize=1)
def shipped_combination() -> VerifierCombination:
    """The combination that comes with the package.

    Raises:
        FileNotFoundError: the package brings none.
    """
    return read_combination(shipped_path().read_bytes())


def _number(document: Mapping[str, Any], name: str) -> float:
    value = document[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
        raise TypeError(name)
    return float(value)
