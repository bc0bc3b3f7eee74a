"""Provide ``touchstone calibrate labels``, which fits the risk to an owner's labelled answers."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import track
from rich.table import Table
from rich.text import Text

from workers.cli.output import console, errors, print_json, read_settings, require_writable
from workers.evaluation.grounding.calibration import shipped_calibration
from workers.inference.opening import open_combination, open_verifier
from workers.measurement.fits.label_calibration import LabelFit, fit_labels
from workers.measurement.labelled_answers import read_labelled
from workers.measurement.measured_answers import MeasuredRow, measure_row
from workers.measurement.risk_methods import Scored, touchstone, verified
from workers.settings import Settings

NOT_BETTER = 3
"""Exit code where nothing is better than the shipped calibration."""
SETTING = "TOUCHSTONE_GROUNDING__RISK_MAPPING"


def labels(
    data: Annotated[
        list[Path],
        typer.Option("--data", help="Labels of `touchstone export labels`, .jsonl or .jsonl.gz; may be repeated."),
    ],
    out: Annotated[Path, typer.Option(help="File for the mapping.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Fit the risk and its bands to your own labelled answers, from 50 answers on.

    The answers are evaluated as the worker does, with the verifier of the settings. The mapping is compared with the
    shipped risk by folds over sources, and written only if it is better: exit code 0. If nothing is better, no file is
    written and the exit code is 3. Too few labels and unusable files end with exit code 1.

    The worker uses the file once TOUCHSTONE_GROUNDING__RISK_MAPPING names it; set it for worker, console and commands.

    Examples:
      touchstone export labels reviewed.jsonl.gz --since 90d
      touchstone calibrate labels --data reviewed.jsonl.gz --out risk.json
      touchstone calibrate labels --data reviewed.jsonl.gz --out risk.json --json
    """
    require_writable(out)
    settings = _without_mapping(read_settings(quiet=True))
    rows = read_labelled(data, settings.files.max_line_bytes)
    measured = [
        measure_row(row, shipped_calibration())
        for row in track(rows, "measuring", console=errors, disable=as_json or not errors.is_terminal)
    ]
    scored = _scored(measured, settings)
    known = [
        (score, row.label, row.source)
        for row, each in zip(rows, scored, strict=True)
        if (score := each.score) is not None
    ]
    risks, marks, sources = zip(*known, strict=True) if known else ((), (), ())
    fit = fit_labels(risks, marks, sources, settings.grounding)
    if fit.is_better:
        document = fit.document() | {"sets": sorted({row.set for row in rows})}
        out.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    unscored = len(rows) - len(known)
    if as_json:
        print_json(_summary(fit, out, unscored))
    else:
        _print(fit, out, unscored)
    if not fit.is_better:
        raise typer.Exit(NOT_BETTER)


def _without_mapping(settings: Settings) -> Settings:
    """Return the settings without a mapping of the risk: a second fit starts from the shipped risk, not from the first."""
    return settings.model_copy(update={"grounding": settings.grounding.without_mapping()})


def _scored(rows: Sequence[MeasuredRow], settings: Settings) -> list[Scored]:
    combination, verifier = open_combination(settings.grounding), open_verifier(settings)
    if combination is None or verifier is None:
        return touchstone(rows, shipped_calibration(), settings.grounding)
    return verified(rows, shipped_calibration(), combination, verifier.score, lambda: None, settings.grounding)


def _summary(fit: LabelFit, out: Path, unscored: int) -> dict[str, Any]:
    mapping = fit.mapping
    return {
        "written": fit.is_better,
        "file": str(out) if fit.is_better else None,
        "answers": len(fit.labels),
        "bad": int(fit.labels.sum()),
        "without_risk": unscored,
        "slope": round(mapping.slope, 4),
        "intercept": round(mapping.intercept, 4),
        "risk_medium": mapping.risk_medium,
        "risk_high": mapping.risk_high,
        **fit.figures(),
    }


def _print(fit: LabelFit, out: Path, unscored: int) -> None:
    figures = fit.figures()
    shown = Table(title="reliability: groups of equal size by risk; after is by folds over sources")
    for column in ("risk before", "bad", "95 %", "risk after", "bad ", "95 % "):
        shown.add_column(column, justify="right")
    for one, two in zip(figures["reliability"]["before"], figures["reliability"]["after"], strict=True):
        shown.add_row(*_cells(one), *_cells(two))
    console.print(shown)
    without = f", {unscored} without a risk are left out" if unscored else ""
    before, after = figures["calibration_error"]
    lines = [
        f"{len(fit.labels)} answers, {int(fit.labels.sum())} bad{without}",
        f"calibration error {before:.3f} before, {after:.3f} after",
        f"mapping: log loss lower by {fit.log_loss}",
        f"minimum of medium risk: F1 {fit.medium}, minimum of high risk: F0.5 {fit.high}",
    ]
    if fit.is_better:
        bands = {"risk_medium": fit.mapping.risk_medium, "risk_high": fit.mapping.risk_high}
        kept = [f"{name} {value}" for name, value in bands.items() if value is not None]
        lines += [
            f"written: {out}" + (f" with {', '.join(kept)}" if kept else ""),
            f"The worker uses it with {SETTING}={out.resolve()}",
        ]
    else:
        lines.append("Nothing is better than the shipped calibration, which stays; no file was written.")
    for line in lines:
        console.print(Text(line), soft_wrap=True)


def _cells(group: dict[str, Any]) -> tuple[str, str, str]:
    low, high = group["interval"]
    return f"{group['risk']:.2f}", f"{group['bad']:.0%}", f"{low:.0%}–{high:.0%}"
