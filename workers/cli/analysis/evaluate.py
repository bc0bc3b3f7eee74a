"""Provide ``touchstone eval grounding`` and ``touchstone calibrate``, which use labelled answers."""

import json
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress

from workers.cli.analysis.eval_quality import quality
from workers.cli.output import console, errors, print_json, read_settings, require_writable
from workers.errors import TouchstoneError
from workers.evaluation.grounding.calibration import GroundingCalibration, shipped_calibration
from workers.inference.backends import EmbeddingBackend
from workers.inference.opening import open_backend, open_combination, open_verifier
from workers.measurement import fitting
from workers.measurement import measurement_report as report
from workers.measurement import risk_methods as methods
from workers.measurement.labelled_answers import LabelledRow, read_labelled
from workers.measurement.measured_answers import MeasuredRow, Vectors, embed_in_batches, measure_row

app = typer.Typer(no_args_is_help=True, help="Measure the evaluation on labelled answers.")
calibrate = typer.Typer(no_args_is_help=True, help="Fit calibrations on labelled answers.")

Data = Annotated[list[Path], typer.Option("--data", help="Labelled answers, .jsonl or .jsonl.gz; may be repeated.")]


class Method(StrEnum):
    """Methods of scoring answers."""

    TOUCHSTONE = "touchstone"
    SEED = "seed"
    COSINE = "cosine"
    LEXICAL = "lexical"
    ALL = "all"


app.command("quality")(quality)


@app.command("grounding")
def eval_grounding(
    data: Data,
    method: Annotated[Method, typer.Option(help="Method that scores the answers.")] = Method.TOUCHSTONE,
    cross_validate: Annotated[
        list[Path] | None,
        typer.Option(
            help="Sets that the calibration was fitted on; their sources are scored by a fit that excludes them."
        ),
    ] = None,
    calibration_file: Annotated[
        Path | None, typer.Option("--calibration", help="Use another calibration file.")
    ] = None,
    verifier: Annotated[
        str,
        typer.Option(help="Also use this verifier: builtin, or a value of grounding.verifier; none by default."),
    ] = "none",
    show_errors: Annotated[int, typer.Option("--errors", min=0, help="Number of the largest errors to print.")] = 0,
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write the figures to this file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Write a reliability diagram of the risk to this file.")] = None,
) -> None:
    """Measure hallucination risk and claim verdicts on labelled answers.

    Reported for each set and for all together: AUROC of the risk, balanced accuracy and F1 of "has
    unsupported content" at the shipped threshold, the same for claims where spans are marked,
    calibration error, and the cost of an answer.

    Examples:
      touchstone eval grounding --data answers.jsonl.gz --method all
      touchstone eval grounding --data answers.jsonl.gz --verifier builtin
      touchstone eval grounding --data a.jsonl.gz --cross-validate a.jsonl.gz --errors 10
    """
    require_writable(json_file, plot)
    calibration = _calibration(calibration_file)
    settings = read_settings(quiet=True)
    settings = settings.model_copy(update={"grounding": settings.grounding.model_copy(update={"verifier": verifier})})
    if settings.grounding.has_verifier and cross_validate:
        raise TouchstoneError(
            "--cross-validate excludes the source of a row from the fit of the rules, but the verifier's "
            "combination was fitted on all sources; omit --cross-validate or --verifier (python -m "
            "training.combine cross-validates both together)"
        )
    # First, so that an unusable verifier is reported before the minutes of measuring.
    combination, asked = open_combination(settings.grounding), open_verifier(settings)
    fitted_on = _labelled(cross_validate or [])
    if cross_validate:
        fitting.refuse_too_few(fitted_on)
    rows = _measure(_labelled(data), calibration)
    scored: dict[str, list[methods.Scored]] = {}
    wanted = [name for name in Method if name is not Method.ALL] if method is Method.ALL else [method]
    for name in wanted:
        if name is Method.TOUCHSTONE:
            scored[name] = _touchstone(rows, calibration, fitted_on)
        elif name is Method.SEED:
            texts = [text for row in rows for text in methods.seed_texts(row)]
            scored[name] = methods.seed(rows, _embed(texts, open_backend(settings)))
        elif name is Method.COSINE:
            texts = [text for row in rows for text in methods.cosine_texts(row)]
            scored[name] = methods.cosine(rows, _embed(texts, open_backend(settings)))
        else:
            scored[name] = methods.lexical(rows)
    if combination is not None and asked is not None:
        with Progress(console=errors, transient=True) as progress:
            task = progress.add_task("verifying", total=len(rows))
            scored["verified"] = methods.verified(
                rows, calibration, combination, asked.score, lambda: progress.advance(task)
            )
    figures = [each for name, of_name in scored.items() for each in _figures(name, rows, of_name)]
    figures.sort(key=lambda each: each.set == "all")
    console.print(report.table(figures))
    console.print(f"calibration {calibration.version}", highlight=False)
    gallery = list(report.gallery(rows, scored[wanted[0]], show_errors)) if show_errors else []
    for mistake in gallery:
        print_json(mistake)
    if plot is not None:
        report.draw_reliability(rows, scored[wanted[0]], plot)
    if json_file is not None:
        document = {
            "calibration": calibration.version,
            "verifier": verifier,
            "cross_validated": cross_validate is not None,
            "threshold": calibration.threshold,
            "figures": [each.as_dict() for each in figures],
            "errors": gallery,
        }
        json_file.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


@calibrate.command("grounding")
def calibrate_grounding(
    data: Data,
    out: Annotated[Path, typer.Option(help="File for the calibration.")],
    version: Annotated[str, typer.Option(help="Version of the calibration; it becomes part of the pipeline version.")],
    words: Annotated[
        list[Path] | None, typer.Option(help="Additional sets for the weights of words; their labels are not used.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures of the fit as JSON.")] = False,
) -> None:
    """Fit the grounding calibration: minutes on two cores, the same result for the same input.

    Examples:
      touchstone calibrate grounding --data spans.jsonl.gz --data graded.jsonl.gz --out grounding.json --version 2
      touchstone calibrate grounding --data spans.jsonl.gz --out grounding.json --version 2 --json
    """
    require_writable(out)
    rows = _labelled(data)
    fitting.refuse_too_few(rows)
    weights = fitting.word_weights([*rows, *_labelled(words or [])])
    measured = _measure(rows, GroundingCalibration(fitting.empty_document(weights)))
    with errors.status("fitting"):
        document = fitting.fit_calibration(measured, weights, version)
    document["fitted_on"] = sorted({row.set for row in rows})
    out.write_text(json.dumps(document, separators=(",", ":"), ensure_ascii=False) + "\n", encoding="utf-8")
    figures = {
        "answers": len(measured),
        "cut": document["claim"]["cut"],
        "answer": document["answer"],
        "file": str(out),
    }
    if as_json:
        print_json(figures)
    else:
        console.print(f"{len(measured)} answers, cut {figures['cut']}, answer {figures['answer']} → {out}")


def _labelled(paths: Sequence[Path]) -> list[LabelledRow]:
    return read_labelled(paths, read_settings(quiet=True).files.max_line_bytes)


def _calibration(file: Path | None) -> GroundingCalibration:
    if file is None:
        return shipped_calibration()
    try:
        return GroundingCalibration(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError) as error:
        raise TouchstoneError(f"--calibration {file} is not a valid calibration ({error!r})") from error


def _touchstone(
    rows: Sequence[MeasuredRow],
    calibration: GroundingCalibration,
    fitted_on: Sequence[LabelledRow],
) -> list[methods.Scored]:
    if not fitted_on:
        return methods.touchstone(rows, calibration)
    words = {"weights": dict(calibration.words.weights), "unknown": calibration.words.unknown}
    fitted = _measure(fitted_on, calibration)
    with Progress(console=errors, transient=True) as progress:
        task = progress.add_task("fitting without each fifth of the sources", total=fitting.FOLDS)
        return methods.touchstone_cross_validated(rows, fitted, words, lambda: progress.advance(task))


def _measure(rows: Sequence[LabelledRow], calibration: GroundingCalibration) -> list[MeasuredRow]:
    measured = []
    with Progress(console=errors, transient=True) as progress:
        task = progress.add_task("measuring", total=len(rows))
        for row in rows:
            measured.append(measure_row(row, calibration))
            progress.advance(task)
    return measured


def _embed(texts: Sequence[str], backend: EmbeddingBackend) -> Vectors:
    vectors: Vectors = {}
    with Progress(console=errors, transient=True) as progress:
        task = progress.add_task("embedding", total=len(set(texts)))
        for part in embed_in_batches(texts, backend):
            vectors |= part
            progress.advance(task, len(part))
    return vectors


def _figures(name: str, rows: Sequence[MeasuredRow], scored: Sequence[methods.Scored]) -> list[Any]:
    sets = list(dict.fromkeys(row.row.set for row in rows))
    found = []
    for each in [*sets, "all"] if len(sets) > 1 else sets:
        chosen = [index for index, row in enumerate(rows) if each in (row.row.set, "all")]
        found.append(report.figures(each, name, [rows[index] for index in chosen], [scored[index] for index in chosen]))
    return found
