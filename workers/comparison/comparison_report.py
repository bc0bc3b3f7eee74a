"""Render the report as one HTML page without scripts or external resources; plots are SVG."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from workers.comparison.gates import GateResult
from workers.comparison.results import DECIDED, Findings, ordered
from workers.comparison.statistics import Difference
from workers.comparison.tallies import MEASURES, SCORES, SHARES
from workers.evaluation.text.visible_text import visible

FOLDER = Path(__file__).with_name("templates")
MAX_SLICES = 100
"""Maximum number of rows in the table of slices; the JSON output contains all."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A difference with its interval on a common scale from 0 to 100; no difference is at 50."""

    low: float | None
    middle: float
    high: float | None


@dataclass(frozen=True, slots=True)
class Bars:
    """Distributions of a score in A and in B: heights from 0 to 100 by bin."""

    name: str
    a: Sequence[float]
    b: Sequence[float]
    told: str


@dataclass(frozen=True, slots=True)
class Matrix:
    """Numbers of pairs by the values of A and B.

    Attributes:
        title: name of the compared property.
        labels: labels of the rows and of the columns.
        cells: by row and column, each with a shade from 0 to 4.
    """

    title: str
    labels: Sequence[str]
    cells: Mapping[tuple[str, str], tuple[int, int]]


def render(
    found: Findings, gates: Sequence[GateResult], since: datetime | None, until: datetime | None, tenant: str
) -> str:
    """Return the report as an HTML page.

    Args:
        found: findings of the comparison.
        gates: results of the conditions.
        since, until: range of the completion times of the answers; unbounded if ``None``.
        tenant: tenant of the answers; all tenants if empty.
    """
    style = _style()
    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"visible": visible, "number": number, "signed": signed, "share": share}
    known = [each for each in found.measures if each.known or each.became_null or each.no_longer_null]
    return environment.get_template("report.html").render(
       # A file of this package; the page's content security policy allows exactly these bytes.
        style=Markup(style),  # noqa: S704
        policy=f"default-src 'none'; style-src 'sha256-{_digest(style)}'; base-uri 'none'; form-action 'none'",
        found=found, comparison=found.comparison, gates=gates, since=since, until=until, tenant=tenant,
        groups=[("Scores", [each for each in known if each.measure in SCORES]),
                ("Shares of answers", [each for each in known if each.measure in SHARES]),
                ("Evaluator plug-ins", [each for each in known if each.measure not in MEASURES])],
        intervals=_intervals(known), bars=_bars(found), matrices=_matrices(found),
        decisions=[(name, found.figures[f"newly_{name}"], found.figures[f"no_longer_{name}"]) for name in DECIDED],
        slices=[each for each in found.slices if each.moved][:MAX_SLICES],
        moved_slices=sum(each.moved for each in found.slices),
        tested_slices=sum(each.corrected is not None for each in found.slices),
    )  # fmt: skip


def _style() -> str:
    return (FOLDER / "report.css").read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return base64.b64encode(sha256(text.encode()).digest()).decode()


def number(value: float | None) -> str:
    """Format a figure for display."""
    return "–" if value is None else f"{value:.3f}"


def signed(value: float | None) -> str:
    """Format a difference with its sign for display."""
    return "–" if value is None else "0" if abs(value) < 5e-5 else f"{value:+.4f}"


def share(value: float | None) -> str:
    """Format a share as a percentage for display."""
    return "–" if value is None else f"{value:.2%}"


def _intervals(measures: Sequence[Difference]) -> dict[str, Interval]:
    """Return the differences with their intervals, all on the scale of the widest one."""
    values = [v for each in measures for v in (each.low, each.difference, each.high) if v is not None]
    widest = max((abs(value) for value in values), default=0.0) or 1.0

    def place(value: float) -> float:
        return round(50 + 48 * value / widest, 2)

    return {
        each.measure: Interval(
            None if each.low is None else place(each.low), place(each.difference or 0.0),
            None if each.high is None else place(each.high),
        )
        for each in measures
    }  # fmt: skip


def _bars(found: Findings) -> list[Bars]:
    """Return the distributions of the scores that changed."""
    moved = {each.measure for each in found.measures if each.up or each.down}
    bars = []
    for name, pairs in zip(SCORES, found.comparison.distributions, strict=True):
        if name in moved:
            a, b = pairs.sum(axis=1), pairs.sum(axis=0)
            tallest = max(a.max(), b.max(), 1)
            told = ", ".join(
                f"{place / len(a):g}: {one} and {other}" for place, (one, other) in enumerate(zip(a, b, strict=True))
            )
            bars.append(Bars(name, (a / tallest * 100).tolist(), (b / tallest * 100).tolist(), told))
    return bars


def _matrices(found: Findings) -> list[Matrix]:
    matrices = []
    titles = {"risk": "Hallucination risk", "state": "Decision", "reviewed": "Sent to review"}
    for of, title in titles.items():
        counts = found.comparison.matrix(of)
        moved = max((count for (a, b), count in counts.items() if a != b), default=0)
        cells = {
            pair: (count, 0 if pair[0] == pair[1] else 1 + round(3 * count / moved)) for pair, count in counts.items()
        }
        matrices.append(Matrix(title, ordered(label for pair in counts for label in pair), cells))
    return matrices
