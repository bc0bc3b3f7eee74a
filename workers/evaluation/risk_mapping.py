"""Map the risk to that of an owner's answers: fitted on reviewers' labels by ``touchstone calibrate labels``.

The mapping is Platt's: logistic over the log-odds of the risk, with a slope above 0. It keeps the order of answers, and
with it the rule that a further unsupported claim never lowers the risk.
"""

import json
from dataclasses import dataclass
from math import exp, isfinite, log
from pathlib import Path
from typing import Any

KIND = "touchstone risk mapping"
"""Value of ``kind`` in the file."""
LEAST = 1e-3
"""Bound of the risk: values nearer to 0 or 1 are clipped, because no risk is certain."""


@dataclass(frozen=True, slots=True)
class RiskMapping:
    """Hold a monotone mapping of the risk and the bands that were fitted with it.

    Attributes:
        slope: weight of the log-odds of the risk, above 0.
        intercept: intercept of the log-odds.
        risk_medium: fitted minimum of medium risk; ``None`` keeps that of the settings.
        risk_high: fitted minimum of high risk; ``None`` keeps that of the settings.
    """

    slope: float = 1.0
    intercept: float = 0.0
    risk_medium: float | None = None
    risk_high: float | None = None

    def __call__(self, risk: float) -> float:
        """Return the mapped risk, 0..1."""
        return 1.0 / (1.0 + exp(-(self.slope * log_odds(risk) + self.intercept)))


def log_odds(risk: float) -> float:
    """Return the log-odds of a risk, bounded."""
    bounded = min(max(risk, LEAST), 1.0 - LEAST)
    return log(bounded / (1.0 - bounded))


def read_risk_mapping(path: Path) -> RiskMapping:
    """Read a mapping from its file.

    Raises:
        ValueError: the file cannot be read or is no mapping; the message names file and reason.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ValueError(f"{path} is not JSON") from error
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise ValueError(f"{path} is no risk mapping; write one with `touchstone calibrate labels`")
    slope, intercept = (_number(document, name, path) for name in ("slope", "intercept"))
    if slope <= 0:
        raise ValueError(f"{path}: slope must be above 0")
    medium, high = (
        None if document.get(name) is None else _number(document, name, path) for name in ("risk_medium", "risk_high")
    )
    return RiskMapping(slope, intercept, medium, high)


def _number(document: dict[str, Any], name: str, path: Path) -> float:
    value = document.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise ValueError(f"{path}: {name} is missing or no number")
    return float(value)
