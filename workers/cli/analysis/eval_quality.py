"""Provide ``touchstone eval quality``, which measures the failure signals on labelled answers."""

from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from pydantic_core import from_json
from rich.table import Table

from workers.cli.output import console, print_json, read_settings
from workers.errors import TouchstoneError
from workers.measurement.labelled_answers import read_label
from workers.measurement.signal_scores import (
    FalseAlarms,
    LabelledSignals,
    SignalEvaluation,
    count_false_alarms,
    score_signals,
)
from workers.process.line_files import LineFile


def quality(
    data: Annotated[
        list[Path], typer.Option("--data", help="Labelled answers, JSON lines, plain or gzip; repeatable.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Measure the validator on labelled answers.

    If the rows of a file have `signals`, precision and recall of each signal are printed. If they
    have a `label` (0: faithful), the number of good answers that are escalated is printed.

    Examples:
      touchstone eval quality --data evaluation/quality/heldout.jsonl
      touchstone eval quality --data evaluation/quality/dev.jsonl --data evaluation/quality/heldout.jsonl --json
    """
    settings = read_settings(quiet=True)
    thresholds = settings.quality
    measured: dict[str, SignalEvaluation | FalseAlarms] = {}
    for path in data:
        rows = _rows(path, settings.files.max_line_bytes)
        first = next(iter(rows.values()))
        if "signals" in first:
            measured[path.name] = score_signals([_labelled(row, place) for place, row in rows.items()], thresholds)
        elif "label" in first:
            good = [
                (str(row.get("id", number)), str(row["answer"]))
                for number, (place, row) in enumerate(rows.items())
                if not _label(row, place)
            ]
            measured[path.name] = count_false_alarms(good, thresholds)
        else:
            raise TouchstoneError(f"{path}: rows need the field signals or the field label")
    if as_json:
        print_json({name: each.model_dump(mode="json") for name, each in measured.items()})
        return
    for name, each in measured.items():
        console.print(f"{name}: {each.answers} answers", style="bold", highlight=False)
        if isinstance(each, SignalEvaluation):
            _print_signals(each)
        else:
            share = "-" if each.share is None else f"{each.share:.1%}"
            console.print(f"{each.escalated} escalated ({share}): {', '.join(each.ids) or 'none'}", highlight=False)


def _rows(path: Path, max_line_bytes: int) -> dict[str, dict[str, Any]]:
    """Return the rows by their place."""
    with LineFile(str(path), max_line_bytes) as source:
        lines = enumerate(source.lines(), start=1)
        places = ((f"{path}, line {number}", line) for number, line in lines if line.strip())
        rows = {place: _row(line, place) for place, line in places}
    if not rows:
        raise TouchstoneError(f"{path} is empty; write one JSON object a line")
    return rows


def _row(line: bytes, place: str) -> dict[str, Any]:
    try:
        row = from_json(line)
    except ValueError as error:
        raise TouchstoneError(f"{place}: not valid JSON ({error}); write one JSON object a line") from error
    if not isinstance(row, dict):
        raise TouchstoneError(f"{place}: not a JSON object; write one a line, with the field answer")
    if not isinstance(row.get("answer"), str):
        raise TouchstoneError(f"{place}: field answer (text) is missing")
    return row


def _label(row: dict[str, Any], place: str) -> bool:
    if "label" not in row:
        raise TouchstoneError(f"{place}: field label is missing; give 1 for unsupported content, 0 for none")
    return read_label(row["label"], place)


def _labelled(row: dict[str, Any], place: str) -> LabelledSignals:
    try:
        return LabelledSignals.model_validate(row)
    except ValidationError as error:
        detail = error.errors(include_url=False, include_input=False)[0]
        name = ".".join(str(part) for part in detail["loc"])
        raise TouchstoneError(f"{place}: field {name}: {detail['msg']}") from error


def _print_signals(evaluation: SignalEvaluation) -> None:
    table = Table("signal", "labelled", "precision", "recall")
    for name, score in evaluation.by_signal.items():
        labelled = score.true_positives + score.false_negatives
        table.add_row(name, str(labelled), _shown(score.precision), _shown(score.recall))
    console.print(table)
    by_language = ", ".join(f"{language} {share:.3f}" for language, share in evaluation.right_by_language.items())
    console.print(f"all signals right, by language: {by_language}", highlight=False)
    for miss in evaluation.misses:
        console.print(
            f"{miss.id}: missing {miss.missing or '-'}, surplus {miss.surplus or '-'}", highlight=False, markup=False
        )


def _shown(share: float | None) -> str:
    return "-" if share is None else f"{share:.3f}"
