"""Provide ``touchstone eval grounding`` and ``touchstone calibrate``, which use labelled answers."""

import json
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress

from workers.cli.analysis.calibrate_labels import labels
from workers.cli.analysis.eval_quality import quality
from workers.cli.output import console, errors, print_json, read_settings, require_writable
from workers.errors import TouchstoneError
from workers.evaluation.grounding.calibration import GroundingCalibration, shipped_calibration
from workers.evaluation.grounding.verifier_combination import VerifierCombination
from workers.inference.backends import EmbeddingBackend
from workers.inference.opening import open_backend, open_combination, open_verifier
from workers.inference.verifying import VerifierBackend
from workers.measurement import measurement_report as report
from workers.measurement import risk_methods as methods
from workers.measurement.fits import fitting
from workers.measurement.fits.ablation import (
    PARTS,
    FoldRisk,
    Worth,
    measured_without,
    risks_by_folds,
    timed_measurement,
    worths,
)
from workers.measurement.labelled_answers import LabelledRow, read_labelled
from workers.measurement.measured_answers import MeasuredRow, Vectors, embed_in_batches, measure_row

app = typer.Typer(no_args_is_help=True, help="Measure the evaluation on labelled answers.")
calibrate = typer.Typer(no_args_is_help=True, help="Fit calibrations on labelled answers.")

VERIFIER = "verifier"
"""Part of the evaluation that is a model of its own, with ``--verifier``."""

Data = Annotated[list[Path], typer.Option("--data", help="Labelled answers, .jsonl or .jsonl.gz; may be repeated.")]


class Method(StrEnum):
    """Methods of scoring answers."""

    TOUCHSTONE = "touchstone"
    SEED = "seed"
    COSINE = "cosine"
    LEXICAL = "lexical"
    ALL = "all"


app.command("quality")(quality)
calibrate.command("labels")(labels)


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
    ablate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PART",
            help="Fit by folds without this part of the rules, and print what it is worth: "
            f"{', '.join((*PARTS, VERIFIER))}, or all; may be repeated.",
        ),
    ] = None,
    show_errors: Annotated[int, typer.Option("--errors", min=0, help="Number of the largest errors to print.")] = 0,
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write the figures to this file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Write a reliability diagram of the risk to this file.")] = None,
) -> None:
    """Measure hallucination risk and claim verdicts on labelled answers.

    Reported for each set and for all together: AUROC of the risk, balanced accuracy and F1 of "has
    unsupported content" at the shipped threshold, the same for claims where spans are marked,
    calibration error, and the cost of an answer; then the same by the form of the answer: number of
    claims, length, kind of evidence.

    With --ablate the calibration is fitted by folds over sources with and without a part of the rules, on the sets of
    --cross-validate, else on those of --data, of which one must mark spans. Only the differences are reported.

    Examples:
      touchstone eval grounding --data answers.jsonl.gz --method all
      touchstone eval grounding --data answers.jsonl.gz --verifier builtin
      touchstone eval grounding --data a.jsonl.gz --cross-validate a.jsonl.gz --errors 10
      touchstone eval grounding --data a.jsonl.gz --ablate records --ablate clauses
    """
    require_writable(json_file, plot)
    parts = _parts(ablate or [], verifier)
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
    if parts:
        worths = _ablated(parts, _labelled(data), fitted_on, calibration)
        if VERIFIER in parts and combination is not None and asked is not None:
            worths += _worth_of_verifier(_measure(_labelled(data), calibration), calibration, combination, asked)
        console.print(report.worth_table(worths))
        if json_file is not None:
            _write(json_file, {"ablation": [each.as_dict() for each in worths]})
        return
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
        scored["verified"] = _verified(rows, calibration, combination, asked)
    figures = [each for name, of_name in scored.items() for each in _figures(name, rows, of_name)]
    figures.sort(key=lambda each: each.set == "all")
    console.print(report.table(figures))
    forms = report.form_figures(wanted[0], rows, scored[wanted[0]])
    mean_risks = report.mean_risks(rows, scored[wanted[0]]) if wanted[0] is Method.TOUCHSTONE else {}
    console.print(report.form_table(forms, mean_risks))
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
            "forms": [
                each.as_dict() | {"mean_risk": round(mean_risks[each.set], 4) if each.set in mean_risks else None}
                for each in forms
            ],
            "errors": gallery,
        }
        _write(json_file, document)


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


def _parts(names: Sequence[str], verifier: str) -> list[str]:
    """Return the parts that are removed, each once; the verifier only where one is named.

    Raises:
        TouchstoneError: a part is unknown, or the verifier is to be removed and none is used.
    """
    known = (*PARTS, VERIFIER)
    if unknown := [name for name in names if name not in (*known, "all")]:
        raise TouchstoneError(f"--ablate {unknown[0]} is no part; use {', '.join(known)}, or all")
    if VERIFIER in names and verifier == "none":
        raise TouchstoneError("--ablate verifier needs a verifier; add --verifier builtin")
    every = PARTS if verifier == "none" else known
    return list(dict.fromkeys(name for each in names for name in (every if each == "all" else (each,))))


def _ablated(
    parts: Sequence[str],
    rows: Sequence[LabelledRow],
    fitted_on: Sequence[LabelledRow],
    calibration: GroundingCalibration,
) -> list[Worth]:
    """Compute the worth of the rules' parts for answers, by fits on other answers or on these."""
    parts = [name for name in parts if name in PARTS]
    if not parts:
        return []
    if not fitted_on:
        fitting.refuse_too_few(rows)
    words = {"weights": dict(calibration.words.weights), "unknown": calibration.words.unknown}
    found = []
    with Progress(console=errors, transient=True) as progress:
        task = progress.add_task("measuring", total=len(rows) + len(fitted_on))

        def tick() -> None:
            progress.advance(task)

        measured, times = timed_measurement([*rows, *fitted_on], calibration, tick)
        own, other = measured[: len(rows)], measured[len(rows) :]
        complete = risks_by_folds(own, other or own, words)
        for name in parts:
            task = progress.add_task(f"without {name}", total=len(measured))
            changed = measured_without(name, measured, calibration, tick)
            without = risks_by_folds(changed[: len(rows)], changed[len(rows) :] or changed, words)
            seconds = times[name][: len(rows)] if name in times else None
            found += worths(name, rows, complete, without, seconds)
    return found


def _worth_of_verifier(
    rows: Sequence[MeasuredRow],
    calibration: GroundingCalibration,
    combination: VerifierCombination,
    verifier: VerifierBackend,
) -> list[Worth]:
    """Compute the worth of the verifier with its shipped combination; nothing is fitted again."""
    plain = methods.touchstone(rows, calibration)
    verified = _verified(rows, calibration, combination, verifier)
    seconds = [max(0.0, each.seconds - base.seconds) for each, base in zip(verified, plain, strict=True)]
    complete, without = ([FoldRisk(each.score, bool(each.flagged)) for each in scored] for scored in (verified, plain))
    return worths(VERIFIER, [row.row for row in rows], complete, without, seconds)


def _verified(
    rows: Sequence[MeasuredRow],
    calibration: GroundingCalibration,
    combination: VerifierCombination,
    verifier: VerifierBackend,
) -> list[methods.Scored]:
    with Progress(console=errors, transient=True) as progress:
        task = progress.add_task("verifying", total=len(rows))
        return methods.verified(rows, calibration, combination, verifier.score, lambda: progress.advance(task))


def _write(file: Path, document: dict[str, Any]) -> None:
    file.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


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
