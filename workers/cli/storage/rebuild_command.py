"""Provide ``touchstone rebuild``, which restores a store from topics or an archive and verifies it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer
import uvloop
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from workers.cli.output import console, errors, print_json, printable, read_settings
from workers.rebuild.rebuild_targets import Store
from workers.settings.addresses import Service, apply_local_defaults, find_addresses

if TYPE_CHECKING:
    from workers.rebuild.rebuild_result import Rebuilt


def rebuild(
    store: Annotated[Store, typer.Argument(help="Store to rebuild.", show_default=False)],
    archive: Annotated[
        str | None,
        typer.Option(
            "--archive",
            metavar="PLACE",
            help="Read this archive (folder or address) first, then the topics.",
            show_default=False,
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only compare; change nothing.")] = False,
    drill: Annotated[
        bool, typer.Option("--drill", help="Restore ClickHouse into a database of its own, verify it, and drop it.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Restore a store from topics, and verify counts and checksums against them.

    clickhouse: every table. queue: the tables of reviews. rewards: feedback and rewards of answers.
    memory: the turns, embedded again. posteriors: the messages to routers, computed from the rewards.

    Only missing and different rows are written. Nothing is deleted, and only the store changes. Agents
    may keep running, and an interrupted run can be repeated. Use the workers' settings.
    Exit codes: 0 verified, 1 different (or a service did not respond), 2 wrong usage.

    Examples:
      touchstone rebuild clickhouse
      touchstone rebuild clickhouse --dry-run --json
      touchstone rebuild memory --archive /backup/touchstone
      touchstone rebuild posteriors
      touchstone rebuild clickhouse --drill --archive /backup/touchstone
    """
    from workers.rebuild import store_rebuild

    if drill and (store is not Store.CLICKHOUSE or dry_run):
        raise typer.BadParameter(
            "a drill restores every table; use: touchstone rebuild clickhouse --drill", param_hint="--drill"
        )

    if archive is not None and store is Store.POSTERIORS:
        raise typer.BadParameter(
            "posteriors are computed from the rewards in ClickHouse; use --archive with: touchstone rebuild rewards",
            param_hint="--archive",
        )
    settings = read_settings(quiet=True)
    needed: list[Service] = ["kafka"] if store is Store.MEMORY else ["kafka", "clickhouse"]
    addresses = find_addresses(settings, needed)
    with _progress(quiet=as_json) as progress:
        applied = apply_local_defaults(settings, addresses)
        work = (
            store_rebuild.drill(applied, addresses, progress, archive=archive)
            if drill
            else store_rebuild.rebuild(store, applied, addresses, progress, archive=archive, dry_run=dry_run)
        )
        done = uvloop.run(work)
    if as_json:
        print_json(_as_json(done, dry_run=dry_run))
    else:
        _tell(done, dry_run=dry_run)
    raise typer.Exit(0 if done.is_verified else 1)


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[str, int, int | None], None]]:
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
        console=errors, disable=quiet or not errors.is_terminal,
    )  # fmt: skip
    tasks: dict[str, TaskID] = {}
    with bar:

        def tell(what: str, done: int, total: int | None) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done, total=total)

        yield tell


def _as_json(done: "Rebuilt", *, dry_run: bool) -> dict[str, Any]:
    parts = [
        {
            "name": name, "expected": part.expected, "found": part.found, "missing": part.missing,
            "different": part.different, "newer": part.newer, "beyond": part.beyond,
            "checksum": f"{part.checksum:016x}", "checksum_found": f"{part.checksum_found:016x}",
            "restored": done.restored.get(name, 0), "examples": part.examples,
        }
        for name, part in done.parts.items()
    ]  # fmt: skip
    return {
        "store": done.store, "dry_run": dry_run, "verified": done.is_verified, "records": done.records,
        "erased": done.erased, "unreadable": done.unreadable, "refused": done.refused,
        "erased_meanwhile": done.erased_meanwhile, "parts": parts,
    }  # fmt: skip


def _tell(done: "Rebuilt", *, dry_run: bool) -> None:
    read = ", ".join(f"{count} of {name}" for name, count in sorted(done.records.items()))
    console.print(
        f"read {read}; {done.erased} of erased persons left out, {done.unreadable} unreadable, "
        f"{done.refused} rows refused (agents have dead-lettered those)",
        highlight=False, soft_wrap=True,
    )  # fmt: skip
    names = ["", "in the source", "restored", "missing", "different", "newer", "beyond", "checksum"]
    table = Table(*names)
    for name, part in done.parts.items():
        counts = (part.expected, done.restored.get(name, 0), part.missing, part.different, part.newer, part.beyond)
        same = part.checksum == part.checksum_found
        sums = f"{part.checksum:016x}" if same else f"{part.checksum:016x}, found {part.checksum_found:016x}"
        table.add_row(name, *map(str, counts), sums)
    console.print(table)
    for name, part in done.parts.items():
        if not part.are_none:
            examples = "; ".join(escape(printable(example)) for example in part.examples)
            errors.print(
                f"[bold red]{name} differs:[/] {part.missing} missing, {part.different} different, such as {examples}",
                highlight=False, soft_wrap=True,
            )  # fmt: skip
    if done.erased_meanwhile:
        errors.print(
            "a person was erased during the rebuild; run `touchstone forget` for this person again", highlight=False
        )
    if done.is_verified:
        console.print("verified: the store matches the source", highlight=False)
    elif dry_run:
        console.print("nothing was changed", highlight=False)
