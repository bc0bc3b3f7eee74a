"""Provide ``touchstone archive``, which keeps topics beyond their retention and sends them back."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from schemas.topics import TOPICS, Topic
from workers.cli.output import console, errors, fail, print_json, read_settings
from workers.cli.time_option import read_time
from workers.settings.addresses import apply_local_defaults, find_addresses

# Deferred in each command: importing pyarrow takes half a second.

app = typer.Typer(help="Archive topics as Parquet files, and restore them.", no_args_is_help=True)

Place = Annotated[
    str,
    typer.Argument(
        metavar="PLACE", help="Folder of the archive, or its address: s3://bucket/prefix, gs://, abfs://.",
        show_default=False,
    ),
]  # fmt: skip
Names = Annotated[
    list[str] | None,
    typer.Option(
        "--topic",
        help="Topic without prefix; repeatable. write: by default all topics that other systems send to.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@app.command()
def write(place: Place, topic: Names = None, as_json: AsJson = False) -> None:
    """Write records of the topics that the archive does not contain yet; safe to repeat.

    It reads without a consumer group, up to the ends of the topics at its start. Records of erased
    persons are left out. Exit code 1 if retention removed records since the last run: the archive has a hole.

    Examples:
      touchstone archive write /backup/touchstone
      touchstone archive write /backup/touchstone --topic answers.generated --topic answers.enriched
      touchstone archive write "s3://backups/touchstone?region=eu-central-1"
    """
    from workers.archive.archive_copy import ARCHIVED, write_archive

    settings = read_settings(quiet=True)
    addresses = find_addresses(settings, ["kafka"])
    chosen = _chosen(topic, ARCHIVED)
    with _progress("archive", quiet=as_json) as progress:
        done = asyncio.run(write_archive(apply_local_defaults(settings, addresses), addresses, place, chosen, progress))
    _tell("written", done.records, done.erased, as_json=as_json, gone=done.gone)
    if done.gone:
        fail(
            f"the archive has a hole: retention removed {done.gone} records before they were archived; "
            "run it more often, or raise TOUCHSTONE_KAFKA__RETENTION_DAYS"
        )


@app.command()
def restore(
    place: Place,
    topic: Names = None,
    since: Annotated[str | None, typer.Option("--from", help="Only records of this time or later.")] = None,
    until: Annotated[str | None, typer.Option("--to", help="Only records before this time.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count; send nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Send archived records back to their topics and partitions, byte for byte.

    Agents read them like new records; rows that are already stored are replaced, not duplicated.
    Records of erased persons are left out, by the broker's and the archive's list of erasures.

    Examples:
      touchstone archive restore /backup/touchstone --dry-run
      touchstone archive restore /backup/touchstone --topic answers.generated --from 2026-10-01 --to 2026-11-01
    """
    from workers.archive.archive_copy import RESTORED, restore_archive

    now = datetime.now(UTC)
    first, last = read_time(since, now, "--from"), read_time(until, now, "--to")
    settings = read_settings(quiet=True)
    addresses = find_addresses(settings, ["kafka"])
    chosen = _chosen(topic, RESTORED)
    with _progress("restore", quiet=as_json) as progress:
        work = restore_archive(
            apply_local_defaults(settings, addresses),
            addresses,
            place,
            chosen,
            progress,
            since=first,
            until=last,
            dry_run=dry_run,
        )
        done = asyncio.run(work)
    _tell("would be sent" if dry_run else "sent", done.records, done.erased, as_json=as_json)


@app.command()
def erase(place: Place, as_json: AsJson = False) -> None:
    """Remove the records of erased persons from the files; other commands only skip them.

    Example: touchstone archive erase /backup/touchstone
    """
    from workers.archive.archive_copy import erase_archive

    settings = read_settings(quiet=True)
    addresses = find_addresses(settings, ["kafka"])
    with _progress("erase", quiet=as_json) as progress:
        erased = asyncio.run(erase_archive(apply_local_defaults(settings, addresses), addresses, place, progress))
    if as_json:
        print_json({"erased": erased})
    else:
        console.print(f"{erased} records removed")


@app.command("list")
def list_files(place: Place, as_json: AsJson = False) -> None:
    """List the contents of an archive by topic and partition.

    Example: touchstone archive list /backup/touchstone
    """
    from workers.archive.archive_files import Archive, ArchiveFile

    found: dict[tuple[str, int], list[ArchiveFile]] = defaultdict(list)
    for file in Archive(place).files():
        found[file.topic, file.partition].append(file)
    rows = [
        {"topic": topic, "partition": partition, "files": len(files), "first": files[0].first, "last": files[-1].last,
         "bytes": sum(file.size for file in files)}
        for (topic, partition), files in found.items()
    ]  # fmt: skip
    if as_json:
        print_json(rows)
        return
    table = Table("topic", "partition", "files", "first offset", "last offset", "MB")
    for row in rows:
        shown = [str(row[name]) for name in ("topic", "partition", "files", "first", "last")]
        table.add_row(*shown, f"{int(str(row['bytes'])) / 1e6:.1f}")
    console.print(table)


def _chosen(names: list[str] | None, default: Sequence[Topic]) -> list[Topic]:
    if not names:
        return list(default)
    known = {topic.name: topic for topic in TOPICS}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise typer.BadParameter(
            f"unknown topic {', '.join(unknown)}; list topics with: touchstone topics list", param_hint="--topic"
        )
    return [known[name] for name in dict.fromkeys(names)]


@contextmanager
def _progress(what: str, *, quiet: bool) -> Iterator[Callable[[int, int | None], None]]:
    bar = Progress(
        TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
        console=errors, disable=quiet or not errors.is_terminal,
    )  # fmt: skip
    with bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _tell(what: str, records: dict[str, int], erased: int, *, as_json: bool, **further: int) -> None:
    if as_json:
        print_json({"records": records, "erased": erased, **further})
        return
    for name, count in sorted(records.items()):
        console.print(f"{count:>10}  {name}", highlight=False)
    console.print(f"{sum(records.values())} records {what}, {erased} of erased persons left out", highlight=False)
