"""``touchstone archive``: keep topics beyond their retention, and send them back."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from schemas.topics import TOPICS, Topic
from workers.addresses import adapted, find_addresses
from workers.commands.dead_letters import read_time
from workers.commands.output import console, errors, print_json, read_settings

# pyarrow takes half a second that other commands need not wait for: it is imported by each command of these.

app = typer.Typer(help="Keep topics as Parquet files, and send them back.", no_args_is_help=True)

Folder = Annotated[Path, typer.Argument(help="Folder of the archive.", show_default=False)]
Names = Annotated[
    list[str] | None,
    typer.Option(
        "--topic",
        help="A topic, without prefix; may be given again. By default all that others send, and to write the results.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@app.command()
def write(folder: Folder, topic: Names = None, as_json: AsJson = False) -> None:
    """Write what the topics hold and the archive does not; run it as often as you like.

    Reads without a consumer group, up to where the topics end at its start. Records of erased
    persons are left out.

    Examples:
      touchstone archive write /backup/touchstone
      touchstone archive write /backup/touchstone --topic answers.generated --topic answers.enriched
    """
    from workers.replay.archiving import ARCHIVED, write_archive

    settings = read_settings(quiet=True)
    addresses = find_addresses(settings, ["kafka"])
    chosen = _chosen(topic, ARCHIVED)
    with _progress("archive", quiet=as_json) as progress:
        done = asyncio.run(write_archive(adapted(settings, addresses), addresses, folder, chosen, progress))
    _tell("written", done.records, done.erased, as_json=as_json)


@app.command()
def restore(
    folder: Folder,
    topic: Names = None,
    since: Annotated[str | None, typer.Option("--from", help="Records of that time or later.")] = None,
    until: Annotated[str | None, typer.Option("--to", help="Records before that time.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count, and send nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Send archived records back to their topics and partitions, byte for byte.

    Agents read them as anything else there: what is stored already is replaced, not doubled.
    Erased persons stay erased, those of the archive's own register as well as the broker's.

    Examples:
      touchstone archive restore /backup/touchstone --dry-run
      touchstone archive restore /backup/touchstone --topic answers.generated --from 2026-10-01 --to 2026-11-01
    """
    from workers.replay.archiving import RESTORED, restore_archive

    now = datetime.now(UTC)
    first, last = read_time(since, now, "--from"), read_time(until, now, "--to")
    settings = read_settings(quiet=True)
    addresses = find_addresses(settings, ["kafka"])
    chosen = _chosen(topic, RESTORED)
    with _progress("restore", quiet=as_json) as progress:
        work = restore_archive(
            adapted(settings, addresses), addresses, folder, chosen, progress, since=first, until=last, dry_run=dry_run
        )
        done = asyncio.run(work)
    _tell("would be sent" if dry_run else "sent", done.records, done.erased, as_json=as_json)


@app.command()
def erase(folder: Folder, as_json: AsJson = False) -> None:
    """Remove the records of erased persons from the files; without it they are only never read.

    Example: touchstone archive erase /backup/touchstone
    """
    from workers.replay.archiving import erase_archive

    settings = read_settings(quiet=True)
    addresses = find_addresses(settings, ["kafka"])
    with _progress("erase", quiet=as_json) as progress:
        erased = asyncio.run(erase_archive(adapted(settings, addresses), addresses, folder, progress))
    if as_json:
        print_json({"erased": erased})
    else:
        console.print(f"{erased} records removed")


@app.command("list")
def list_files(folder: Folder, as_json: AsJson = False) -> None:
    """List what an archive holds, by topic and partition.

    Example: touchstone archive list /backup/touchstone
    """
    from workers.replay.archive import Archive, ArchiveFile

    found: dict[tuple[str, int], list[ArchiveFile]] = defaultdict(list)
    for file in Archive(folder).files():
        found[file.topic, file.partition].append(file)
    rows = [
        {"topic": topic, "partition": partition, "files": len(files), "first": files[0].first, "last": files[-1].last,
         "bytes": sum(file.path.stat().st_size for file in files)}
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
            f"no topic {', '.join(unknown)}; `touchstone topics list` shows them", param_hint="--topic"
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


def _tell(what: str, records: dict[str, int], erased: int, *, as_json: bool) -> None:
    if as_json:
        print_json({"records": records, "erased": erased})
        return
    for name, count in sorted(records.items()):
        console.print(f"{count:>10}  {name}", highlight=False)
    console.print(f"{sum(records.values())} records {what}, {erased} of erased persons left out", highlight=False)
