"""Provide ``touchstone compare``, which compares another version on the same answers and applies gates."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workers.cli.output import errors, fail, print_json, read_settings, require_writable
from workers.cli.time_option import read_time
from workers.comparison.comparison_errors import UnknownRun
from workers.errors import TouchstoneError
from workers.process.private_files import complete_file
from workers.settings import Settings
from workers.settings.addresses import find_addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore, connect
from workers.stores.clickhouse.migrations import migrate_database

if TYPE_CHECKING:
    from workers.comparison.gates import Gate, GateResult
    from workers.comparison.results import Comparison, Findings
    from workers.stores.queries.runs.comparison_queries import Wanted

MAX_LISTED = 5_000
"""Most answers that are listed with their claims: at most about 100 MB."""

PATIENCE_SECONDS = 1_800.0
"""Longest wait for one response of ClickHouse: counting twenty million rows takes a minute on a busy machine."""


def compare(
    a: Annotated[str, typer.Argument(help="Run to compare with: live, or the name of a replay.")],
    b: Annotated[str, typer.Argument(help="Run to compare: live, or the name of a replay.")],
    slices: Annotated[
        str,
        typer.Option(
            "--slice",
            help="Also compare within each value of these dimensions, comma separated: model, source, query_type.",
        ),
    ] = "",
    since: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="Only answers completed at or after this time: ISO 8601 (UTC without a time "
            "zone) or an age such as 30d.",
        ),
    ] = None,
    until: Annotated[str | None, typer.Option("--to", help="Only answers completed before this time.")] = None,
    tenant: Annotated[str, typer.Option(help="Only answers of this tenant; by default all tenants together.")] = "",
    top: Annotated[int, typer.Option(min=0, max=MAX_LISTED, help="Number of most changed answers to list.")] = 10,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write a self-contained HTML report to this file.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
    fail_if: Annotated[
        list[str] | None, typer.Option("--fail-if", help="Exit with code 1 if this condition holds; repeatable.")
    ] = None,
) -> None:
    """Compare two runs of the same answers, pair by pair.

    Exit codes: 0 no --fail-if holds; 1 a condition holds or cannot be evaluated, or the
    comparison failed; 2 wrong usage. The figures for --fail-if are listed in docs/reference/comparison.md.

    Examples:
      touchstone compare live stricter --from 30d --slice model,query_type
      touchstone compare live stricter --html report.html --top 50
      touchstone compare live stricter --fail-if "grounding_score.high < -0.01" --fail-if "newly_held > 0.02"
    """
    # Deferred: importing the libraries of statistics takes a second, which other commands save.
    from workers.comparison.results import findings
    from workers.stores.queries.runs.comparison_queries import Wanted

    gates, dimensions = _read_gates(fail_if or []), _dimensions(slices)
    require_writable(html)
    settings = read_settings(quiet=True)
    now = datetime.now(UTC)
    period = (read_time(since, now, "--from"), read_time(until, now, "--to"))
    wanted = Wanted(a, b, *period, tenant, dimensions, top)
    try:
        with errors.status("comparing"):
            comparison = asyncio.run(_compared(settings, wanted))
    except UnknownRun as error:
        raise typer.BadParameter(str(error)) from error
    if not comparison.pairs:
        raise TouchstoneError(f"{a} and {b} have no answers in common; widen --from, --to or --tenant")
    found = findings(comparison)
    _tell(found, wanted, _tried(gates, found.figures), html, as_json=as_json)


def _tell(
    found: "Findings", wanted: "Wanted", results: Sequence["GateResult"], html: Path | None, *, as_json: bool
) -> None:
    if html is not None:
        from workers.comparison.comparison_report import render

        _write(html, render(found, results, wanted.since, wanted.until, wanted.tenant))
    if as_json:
        print_json(_document(found, results))
    else:
        from workers.cli.analysis.comparison_tables import print_comparison

        print_comparison(found, results)
    failed = [result for result in results if result.failed]
    if failed:
        reasons = "; ".join(
            f"{result.expression}{('' if result.holds else ' (cannot be evaluated)')}" for result in failed
        )
        fail(f"{len(failed)} of {len(results)} gates failed: {reasons}")


def _dimensions(text: str) -> tuple[str, ...]:
    from workers.stores.queries.runs.comparison_queries import DIMENSIONS

    chosen = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    unknown = [name for name in chosen if name not in DIMENSIONS]
    if unknown:
        raise typer.BadParameter(f"unknown dimension {unknown[0]!r}; use {', '.join(DIMENSIONS)}", param_hint="--slice")
    return chosen


def _read_gates(expressions: Sequence[str]) -> list["Gate"]:
    """Parse the gates before any query, so that a typing error does not cost a comparison first."""
    from workers.comparison.gates import GateUnreadable, read_gate
    from workers.comparison.results import FIGURES

    try:
        return [read_gate(expression, FIGURES) for expression in expressions]
    except GateUnreadable as error:
        raise typer.BadParameter(str(error), param_hint="--fail-if") from error


def _tried(gates: Sequence["Gate"], figures: Mapping[str, float | None]) -> list["GateResult"]:
    from workers.comparison.gates import try_gate

    return [try_gate(gate, figures) for gate in gates]


async def _compared(settings: Settings, wanted: "Wanted") -> "Comparison":
    from workers.stores.queries.runs.comparison_queries import ComparisonStore

    # A worker's timeout is meant for single rows; no record waits for this query.
    patient = settings.clickhouse.model_copy(
        update={"timeout_seconds": max(settings.clickhouse.timeout_seconds, PATIENCE_SECONDS)}
    )
    url = find_addresses(settings, ["clickhouse"]).clickhouse
    await migrate_database(settings.clickhouse, url)
    client = await connect(patient, url)
    try:
        database = settings.clickhouse.database
        return await ComparisonStore(AnalyticsStore(client, database), database).compare(wanted)
    finally:
        await client.close()


def _document(found: "Findings", results: Sequence["GateResult"]) -> dict[str, Any]:
    """Return the comparison as a JSON document."""
    comparison = found.comparison
    return {
        "a": asdict(comparison.a), "b": asdict(comparison.b), "pairs": comparison.pairs,
        "figures": found.figures,
        "measures": [asdict(each) for each in found.measures],
        **{
            of: [{"a": a, "b": b, "pairs": count} for (a, b), count in sorted(comparison.matrix(of).items())]
            for of in ("state", "risk", "reviewed")
        },
        "slices": [asdict(each) | {"moved": each.moved} for each in found.slices],
        "slices_left_out": comparison.left_out,
        "agreements": [
            asdict(each) | {"a": each.a, "b": each.b, "p_value": each.p_value, "verdict": each.verdict}
            for each in comparison.agreements
        ],
        "answers": [asdict(each) for each in comparison.answers],
        "gates": [asdict(each) | {"failed": each.failed} for each in results],
    }  # fmt: skip


def _write(file: Path, page: str) -> None:
    """Write a page with the content of answers atomically, readable for its owner only."""
    try:
        with complete_file(file) as out:
            out.write(page.encode())
    except OSError as error:
        raise TouchstoneError(
            f"{file} cannot be written ({error.strerror}); choose a file in a writable folder"
        ) from error
