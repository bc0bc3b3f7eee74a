"""How a verifier's probability joins the rules: a logistic model for each kind of evidence, read from a data file.

Let ``x`` be the rules' log-odds that a claim is unsupported, above the cut of their verdict. Asked are the claims that
they leave open, whose ``x`` lies within ``lower`` and ``upper``. With ``v = logit(1 - P(supported))`` their log-odds
become ``intercept + rules x + verifier v``, both weights at least 0, kept within the bounds. There is one such model
for claims that rest on ``texts`` and one for those that rest on ``records`` (and tables, see ``evidence``), since a
verifier may read the one and not the other; a kind that is ``null`` is not asked about.

What is not asked keeps the rules' log-odds. Both are log-odds of the same event, so they are on one scale but for
the cut of the verdict: the rules' are moved so that their cut falls on this one, and the bounds with them. So

- the rules' verdict on a claim that is not asked stands, to the same confidence;
- a claim that is asked never passes one on the same kind of evidence that lies beyond the bounds: for any
  answer of the verifier the log-odds never fall as the rules' rise, nor rise with the probability of supported.

A document has ``version, texts, records, lower, upper, cut`` and ``answer`` with ``intercept, top, unsaid,
threshold``: the risk of an answer over log-odds of this scale, as in ``calibration``. One that was fitted for certain
weights names their digest in ``weights``.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
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

Flags = NDArray[np.bool_]

_DIGEST = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class KindWeights:
    """The logistic model over claims on one kind of evidence.

    Attributes:
        intercept: of the model.
        rules: weight of the rules' log-odds above their cut.
        verifier: weight of the verifier's log-odds that a claim is not supported.
    """

    intercept: float
    rules: float
    verifier: float

    def log_odds(self, margins: Floats, doubt: Floats) -> Floats:
        """Log-odds of both from those of the rules above their cut and those of the verifier, shape (n,) each."""
        return self.intercept + self.rules * margins + self.verifier * doubt


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
            self.texts, self.records = (_weights(document, kind) for kind in ("texts", "records"))
            self.lower, self.upper, self.cut = (_number(document, name) for name in ("lower", "upper", "cut"))
            answer = _part(document, "answer")
            self.answer = AnswerWeights(*(_number(answer, name) for name in ("intercept", "top", "unsaid")))
            self.threshold = _number(answer, "threshold")
            self.weights = document.get("weights")
        except (KeyError, TypeError) as error:
            raise ValueError(f"it lacks {error.args[0]}, or it is none that can be used") from error
        if self.lower > self.upper:
            raise ValueError("lower must not be above upper")
        if self.weights is not None and not (isinstance(self.weights, str) and _DIGEST.fullmatch(self.weights)):
            raise ValueError("weights must be the SHA-256 of a file, 64 hexadecimal digits")

    def is_open(self, margins: Floats, of_records: Flags) -> Flags:
        """Which claims are left to the verifier, shape (n,).

        Args:
            margins: log-odds of the rules above their cut, shape (n,).
            of_records: whether each claim rests on a record, shape (n,).
        """
        within: Flags = (margins >= self.lower) & (margins <= self.upper)
        return within & np.where(of_records, self.records is not None, self.texts is not None)

    def log_odds(self, margins: Floats, supported: Floats, of_records: Flags) -> Floats:
        """Log-odds that claims are unsupported, by both.

        Args:
            margins: log-odds of the rules above their cut, shape (n,).
            supported: the verifier's probability that each is supported, NaN where it was not asked, shape (n,).
            of_records: whether each rests on a record, shape (n,).

        Returns:
            Shape (n,). A claim that the rules do not leave open keeps what they say, asked or not.
        """
        doubt = doubts(supported)
        asked = self.is_open(margins, of_records) & ~np.isnan(doubt)
        found: Floats = margins + self.cut
        for weights, of_kind in ((self.texts, ~of_records), (self.records, of_records)):
            if weights is not None:
                within = np.clip(weights.log_odds(margins, doubt), self.lower + self.cut, self.upper + self.cut)
                found = np.where(asked & of_kind, within, found)
        return found

    def confidences(self, log_odds: Floats) -> Floats:
        """Confidence in claims, 0..1: 0.6 and more is supported."""
        return confidences_from(log_odds, self.cut)

    def risk(self, claims: AnswerClaims) -> float:
        """Probability that people find something unsupported in an answer; its claims' log-odds are those of both."""
        return self.answer.risk(claims)


def doubts(supported: Floats) -> Floats:
    """A verifier's log-odds that claims are not supported from its probabilities that they are; NaN stays NaN."""
    doubt = 1.0 - np.clip(supported, LEAST, 1.0 - LEAST)
    found: Floats = np.log(doubt / (1.0 - doubt))
    return found


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
    """Where the package's own file lies."""
    return Path(str(files("workers") / "data" / COMBINATION))


def _part(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = document[name]
    if not isinstance(part, Mapping):
        raise TypeError(name)
    return part


def _weights(document: Mapping[str, Any], kind: str) -> KindWeights | None:
    if document[kind] is None:
        return None
    part = _part(document, kind)
    weights = KindWeights(*(_number(part, name) for name in ("intercept", "rules", "verifier")))
    if weights.rules < 0 or weights.verifier < 0:
        raise ValueError("rules and verifier must be 0 or more, or more doubt would be less")
    return weights


def _number(document: Mapping[str, Any], name: str) -> float:
    value = document[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
        raise TypeError(name)
    return float(value)
