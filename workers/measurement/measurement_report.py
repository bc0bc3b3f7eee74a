"""Convert scores to figures, a table and a gallery of errors."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from workers.errors import TouchstoneError
from workers.measurement.answer_forms import rows_by_form
from workers.measurement.classification_metrics import auroc, balanced_accuracy, calibration_error, f1
from workers.measurement.fits.ablation import Worth
from workers.measurement.measured_answers import MeasuredRow
from workers.measurement.risk_methods import Scored

FEWEST_DRAWN = 5
"""Number of answers from which a bin is drawn; the share of bad ones among fewer says little."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Hold the figures of one method on one set.

    Attributes:
        set: name of the set, or "all".
        method: name of the method.
        answers: number of scored rows.
        unscored: number of rows without a score.
        bad: share of rows with unsupported content.
        auroc: AUROC of the answers.
        balanced_accuracy: balanced accuracy at the shipped threshold; ``None`` for methods without one.
        f1: F1 of "has unsupported content" at the shipped threshold.
        claim_auroc: AUROC of claims against spans, if there are any.
        claim_balanced_accuracy: balanced accuracy of the verdict "not supported" against spans.
        calibration_error: expected calibration error, ten bins; only if the score is a probability.
        proposals: number of citations proposed for uncited claims.
        proposal_precision: share of them whose claim overlaps no span.
        milliseconds: CPU time per answer, without embedding.
    """

    set: str
    method: str
    answers: int
    unscored: int
    bad: float
    auroc: float | None
    balanced_accuracy: float | None
    f1: float | None
    claim_auroc: float | None
    claim_balanced_accuracy: float | None
    calibration_error: float | None
    proposals: int
    proposal_precision: float | None
    milliseconds: float

    def as_dict(self) -> dict[str, Any]:
        """Return the figures for JSON, rounded."""
        return {name: round(value, 4) if isinstance(value, float) else value for name, value in asdict(self).items()}


def figures(name: str, method: str, rows: Sequence[MeasuredRow], scored: Sequence[Scored]) -> Figures:
    """Compute the figures of a method on rows.

    An answer without a score is left out of AUROC and counts as not flagged.
    """
    labels = [row.row.label for row in rows]
    known = [index for index, each in enumerate(scored) if each.score is not None]
    flags = [each.flagged for each in scored]
    has_flags = any(flag is not None for flag in flags)
    probability = method == "touchstone"
    proposals, right = _proposals(rows, scored)
    claim_scores, claim_flags, claim_labels = _claims(rows, scored)
    return Figures(
        set=name,
        method=method,
        answers=len(known),
        unscored=len(rows) - len(known),
        bad=sum(labels) / len(labels),
        auroc=auroc([scored[index].score for index in known], [labels[index] for index in known]),
        balanced_accuracy=balanced_accuracy([bool(flag) for flag in flags], labels) if has_flags else None,
        f1=f1([bool(flag) for flag in flags], labels) if has_flags else None,
        claim_auroc=auroc(claim_scores, claim_labels) if claim_labels else None,
        claim_balanced_accuracy=balanced_accuracy(claim_flags, claim_labels) if claim_labels else None,
        calibration_error=calibration_error(
            [scored[index].score for index in known], [labels[index] for index in known]
        )[0]
        if probability and known
        else None,
        proposals=proposals,
        proposal_precision=right / proposals if proposals else None,
        milliseconds=1_000 * sum(each.seconds for each in scored) / len(scored),
    )


def table(all_figures: Sequence[Figures]) -> Table:
    """Build a table of the figures."""
    shown = Table()
    for column in ("set", "method", "answers", "bad", "AUROC", "bal. acc.", "F1", "claim AUROC", "ECE", "ms"):
        shown.add_column(column, justify="left" if column in ("set", "method") else "right")
    for each in all_figures:
        shown.add_row(
            each.set, each.method, f"{each.answers}", f"{each.bad:.0%}",
            *(_number(v) for v in (each.auroc, each.balanced_accuracy, each.f1, each.claim_auroc, each.calibration_error)),
            f"{each.milliseconds:.1f}",
        )  # fmt: skip
    return shown


def worth_table(worths: Sequence[Worth]) -> Table:
    """Build a table of the worth of parts: figures with the part minus figures without it."""
    shown = Table(title="with the part minus without it, 95 % interval by source")
    for column in ("part", "set", "answers", "AUROC", "F1", "ms"):
        shown.add_column(column, justify="left" if column in ("part", "set") else "right")
    for each in worths:
        shown.add_row(
            each.part,
            each.set,
            f"{each.answers}",
            str(each.auroc or ""),
            str(each.f1 or ""),
            "" if each.milliseconds is None else f"{each.milliseconds:.2f}",
        )
    return shown


def form_figures(method: str, rows: Sequence[MeasuredRow], scored: Sequence[Scored]) -> list[Figures]:
    """Compute the figures of a method by the form of the answers; ``set`` is the name of the form."""
    return [
        figures(form, method, [rows[place] for place in places], [scored[place] for place in places])
        for form, places in rows_by_form(rows).items()
    ]


def form_table(all_figures: Sequence[Figures], mean_risks: Mapping[str, float]) -> Table:
    """Build a table of reliability by form.

    Args:
        all_figures: figures of each form.
        mean_risks: mean risk by form; equal to the share of bad answers where the risk is calibrated.
    """
    shown = Table(title="by the form of the answer")
    for column in ("form", "answers", "bad", "mean risk", "ECE", "AUROC", "bal. acc.", "F1"):
        shown.add_column(column, justify="left" if column == "form" else "right")
    for each in all_figures:
        values = (each.calibration_error, each.auroc, each.balanced_accuracy, each.f1)
        risk = mean_risks.get(each.set)
        shown.add_row(
            each.set,
            f"{each.answers}",
            f"{each.bad:.0%}",
            "" if risk is None else f"{risk:.0%}",
            *map(_number, values),
        )
    return shown


def mean_risks(rows: Sequence[MeasuredRow], scored: Sequence[Scored]) -> dict[str, float]:
    """Return the mean risk of the answers of each form that have one."""
    found = {}
    for form, places in rows_by_form(rows).items():
        known = [score for place in places if (score := scored[place].score) is not None]
        if known:
            found[form] = sum(known) / len(known)
    return found


def draw_reliability(rows: Sequence[MeasuredRow], scored: Sequence[Scored], file: Path) -> None:
    """Draw the share of bad answers against their risk, by set and by form; the diagonal is perfect calibration.

    Raises:
        TouchstoneError: the plotting library is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise TouchstoneError("--plot needs matplotlib; install it with `pip install matplotlib`") from error
    figure = Figure(figsize=(11, 6))
    by_set, by_form = figure.subplots(1, 2, sharey=True)
    sets = {
        name: [place for place, row in enumerate(rows) if row.row.set == name]
        for name in dict.fromkeys(row.row.set for row in rows)
    }
    for axes, title, groups in ((by_set, "set", sets), (by_form, "form of the answer", rows_by_form(rows))):
        axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
        for name, places in groups.items():
            known = [(score, rows[place].row.label) for place in places if (score := scored[place].score) is not None]
            if not known:
                continue
            distance, bins = calibration_error([score for score, _ in known], [label for _, label in known])
            drawn = [(mean, share) for mean, share, count in bins if count >= FEWEST_DRAWN]
            means, shares = [mean for mean, _ in drawn], [share for _, share in drawn]
            axes.plot(means, shares, "o-", markersize=3, linewidth=1, label=f"{name} ({distance:.3f})")
        axes.set(xlabel="hallucination risk", xlim=(0, 1), ylim=(0, 1))
        axes.legend(title=f"{title} (calibration error)", fontsize="x-small", title_fontsize="small", loc="upper left")
    by_set.set(ylabel="share of answers with unsupported content")
    figure.savefig(file, dpi=120, bbox_inches="tight")


def gallery(rows: Sequence[MeasuredRow], scored: Sequence[Scored], count: int) -> Iterator[dict[str, Any]]:
    """Yield the worst errors: half of them good answers with the highest risk, half bad answers with the lowest."""
    known = [(each.score, index) for index, each in enumerate(scored) if each.score is not None]
    alarms = sorted((pair for pair in known if not rows[pair[1]].row.label), reverse=True)
    misses = sorted(pair for pair in known if rows[pair[1]].row.label)
    for kind, pairs in (("false alarm", alarms), ("miss", misses)):
        for score, index in pairs[: (count + 1) // 2]:
            row, findings = rows[index], scored[index].findings
            yield {
                "kind": kind,
                "id": row.row.id,
                "set": row.row.set,
                "score": round(float(score or 0.0), 3),
                "answer": row.row.answer,
                "marked": [row.row.answer[start:end] for start, end in row.row.spans or ()],
                "claims": [
                    {"text": claim.text, "verdict": claim.verdict, "score": claim.score, "mismatches": claim.mismatches}
                    for claim in (findings.claims if findings else [])
                ],
            }


def _claims(rows: Sequence[MeasuredRow], scored: Sequence[Scored]) -> tuple[list[float], list[bool], list[bool]]:
    scores, flags, labels = [], [], []
    for row, each in zip(rows, scored, strict=True):
        if row.marked is None or each.findings is None:
            continue
        judged = [claim for claim in each.findings.claims if claim.verdict != "not_checked"]
        for claim, marked in zip(judged, row.marked, strict=True):
            scores.append(1.0 - (claim.score or 0.0))
            flags.append(claim.verdict != "supported")
            labels.append(marked)
    return scores, flags, labels


def _proposals(rows: Sequence[MeasuredRow], scored: Sequence[Scored]) -> tuple[int, int]:
    count = right = 0
    for row, each in zip(rows, scored, strict=True):
        if row.marked is None or each.findings is None:
            continue
        judged = [claim for claim in each.findings.claims if claim.verdict != "not_checked"]
        for claim, marked in zip(judged, row.marked, strict=True):
            count += len(claim.proposed_numbers)
            right += 0 if marked else len(claim.proposed_numbers)
    return count, right


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
