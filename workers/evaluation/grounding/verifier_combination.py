"""Combine a verifier's probability with the rules by a logistic model for each kind of evidence.

Let ``x`` be the rules' log-odds that a claim is unsupported, relative to the verdict's cutoff. The
verifier reads the claims whose ``x`` is within ``lower`` and ``upper``. With ``v = logit(1 - P(supported))`` their
log-odds become ``intercept + rules x + verifier v``, both weights at least 0, kept within the bounds. There is one
model for claims with evidence from ``texts`` and one for claims with evidence from ``records`` and tables (see
``evidence``), because a verifier may be useful for one kind only. If the model of a kind is ``null``, the verifier does
not read its claims.

Other claims keep the rules' log-odds. Both are log-odds of the same event and differ only in the verdict's cutoff: the
rules' log-odds and the bounds are shifted so that both cutoffs are equal. Therefore

- a claim that the verifier does not read keeps the rules' verdict and confidence;
- the order of claims with the same kind of evidence is kept at the bounds: for any output of the verifier, the
  log-odds never fall when the rules' rise, and never rise with the probability of supported.

A document has ``version, texts, records, lower, upper, cut`` and ``answer`` with ``intercept, top, unsaid,
threshold``: the risk of an answer over log-odds of this scale, as in ``calibration``. ``weights`` contains the digest
of the weights that the document was fitted for, if any.
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

from workers.evaluation.grounding.calibration import AnswerClaims, AnswerWeights, confidences_from
from workers.evaluation.trees import Floats

COMBINATION = "verifier.json"
"""The shipped file, in ``workers/data``."""
LEAST = 1e-4
"""Bound of probabilities: values nearer to 0 or 1 are clipped, because no verdict is certain."""

Flags = NDArray[np.bool_]

_DIGEST = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class KindWeights:
    """Hold the logistic model for claims on one kind of evidence.

    Attributes:
        intercept: intercept of the model.
        rules: weight of the rules' log-odds above their cut.
        verifier: weight of the verifier's log-odds that a claim is not supported.
    """

    intercept: float
    rules: float
    verifier: float

    def log_odds(self, margins: Floats, doubt: Floats) -> Floats:
        """Combine the rules' margins and the verifier's log-odds; all shapes are (n,)."""
        return self.intercept + self.rules * margins + self.verifier * doubt


class VerifierCombination:
    """Combine the log-odds of the rules with a verifier's probabilities.

    Args:
        document: content of a combination file.

    Raises:
        ValueError: a part is missing or invalid; the message names it.
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
            raise ValueError(f"{error.args[0]} is missing or invalid") from error
        if self.lower > self.upper:
            raise ValueError("lower must not be above upper")
        if self.weights is not None and not (isinstance(self.weights, str) and _DIGEST.fullmatch(self.weights)):
            raise ValueError("weights must be the SHA-256 of a file, 64 hexadecimal digits")

    def is_open(self, margins: Floats, of_records: Flags) -> Flags:
        """Select the claims that the rules leave to the verifier, shape (n,).

        Args:
            margins: log-odds of the rules above their cut, shape (n,).
            of_records: whether each claim rests on a record, shape (n,).
        """
        within: Flags = (margins >= self.lower) & (margins <= self.upper)
        return within & np.where(of_records, self.records is not None, self.texts is not None)

    def log_odds(self, margins: Floats, supported: Floats, of_records: Flags) -> Floats:
        """Return the combined log-odds that claims are unsupported.

        Args:
            margins: log-odds of the rules above their cut, shape (n,).
            supported: the verifier's probability that each is supported, shape (n,); NaN for claims that it did not
                read.
            of_records: whether each rests on a record, shape (n,).

        Returns:
            Shape (n,). Claims outside of the bounds keep the rules' log-odds.
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
        """Convert log-odds to the confidence in claims, 0..1; the fitted cutoff maps to 0.6."""
        return confidences_from(log_odds, self.cut)

    def risk(self, claims: AnswerClaims) -> float:
        """Return the probability that people find something unsupported in an answer, from combined log-odds."""
        return self.answer.risk(claims)


def doubts(supported: Floats) -> Floats:
    """Convert a verifier's probabilities of support to log-odds of no support; NaN stays NaN."""
    doubt = 1.0 - np.clip(supported, LEAST, 1.0 - LEAST)
    found: Floats = np.log(doubt / (1.0 - doubt))
    return found


def read_combination(content: str | bytes) -> VerifierCombination:
    """Read a verifier combination from the content of a file.

    Raises:
        ValueError: the content is invalid; the message names the reason.
    """
    document = json.loads(content)
    if not isinstance(document, dict):
        raise ValueError("it must be a JSON object")
    return VerifierCombination(document)


def shipped_path() -> Path:
    """Return the path of the package's own combination file."""
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
        raise ValueError("the weights rules and verifier must be 0 or more")
    return weights


def _number(document: Mapping[str, Any], name: str) -> float:
    value = document[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
        raise TypeError(name)
    return float(value)
