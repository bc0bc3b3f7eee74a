"""Provide ``touchstone replay``, which evaluates past answers again while the live stream continues."""

import asyncio
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import file_digest
from pathlib import Path
from typing import Annotated, Any

import typer
import uvloop
from pydantic import ValidationError
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from workers.cli.output import console, errors, fail, print_json, printable, read_settings
from workers.cli.time_option import read_time
from workers.errors import TouchstoneError
from workers.pipeline.versions import pipeline_version
from workers.settings import Settings
from workers.settings.addresses import Addresses, apply_local_defaults, find_addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore, connect
from workers.stores.clickhouse.migrations import migrate_database
from workers.stores.queries.runs.replay_records import ReplayStore, StoredReplay

INTERRUPTED = 130
"""Exit code of an interrupted command."""


def replay(
    since: Annotated[
        str | None, typer.Option("--from", help="Only answers that arrived at or after this time.")
    ] = None,
    until: Annotated[str | None, typer.Option("--to", help="Only answers that arrived before this time.")] = None,
    offsets: Annotated[
        Path | None, typer.Option("--offsets", help="Only answers at the offsets in this JSON file.")
    ] = None,
    answers: Annotated[
        Path | None, typer.Option("--answers", help="Read answers from this file instead of the topic.")
    ] = None,
    archive: Annotated[
        str | None,
        typer.Option(
            "--archive",
            metavar="PLACE",
            help="Read this archive (folder or address) instead of the topic; without --from, all of it.",
        ),
    ] = None,
    tenant: Annotated[str | None, typer.Option("--tenant", help="Only answers of this tenant.")] = None,
    model: Annotated[str | None, typer.Option("--model", help="Only answers of this model.")] = None,
    expression: Annotated[
        str | None, typer.Option("--filter", help="Only answers for which this JMESPath expression is true.")
    ] = None,
    agents: Annotated[
        str | None,
        typer.Option("--agents", help="Evaluate with these agents; reports of other agents are read from ClickHouse."),
    ] = None,
    version: Annotated[
        str | None, typer.Option("--version", help="Name of the replay; by default the pipeline version.")
    ] = None,
    rate: Annotated[
        str | None, typer.Option("--rate", help="Maximum number of answers per second: 50, or 50/s.")
    ] = None,
    memory: Annotated[
        bool, typer.Option("--memory", help="Also send answers to memory that pass the rules for remembering.")
    ] = False,
    resume: Annotated[str | None, typer.Option("--resume", help="Continue the replay of this name.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count; evaluate nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Evaluate past answers again with the current settings and rules, while the live stream continues.

    Results go to separate topics (<topic>.shadow.<version>) and to ClickHouse under the name of the
    replay. Nothing else is triggered: no release, review, alert, reward or retry. After an interruption,
    --resume continues at the same place. Answers that arrive after the start are not read. The replay
    pauses while live agents have lag.

    Examples:
      touchstone replay --from 7d --version stricter
      touchstone replay --from 2026-10-01 --to 2026-11-01 --model gpt-x --filter "query_type == 'billing'"
      touchstone replay --archive /backup/touchstone --version october --agents grounding
      touchstone replay --answers answers.jsonl --dry-run
      touchstone replay --resume stricter
    """
    settings = read_settings(quiet=True)
    addresses = find_addresses(settings)
    settings = apply_local_defaults(settings, addresses)
    given = (since, until, offsets, answers, archive, tenant, model, expression, agents, version)
    if resume is not None:
        if memory or any(option is not None for option in given):
            raise typer.BadParameter(
                "the replay already has its options; with --resume give only --rate", param_hint="--resume"
            )
        options = uvloop.run(_known_options(settings, addresses, resume))
    else:
        options = _options(
            settings, since=since, until=until, offsets=offsets, answers=answers, archive=archive,
            tenant=tenant, model=model, filter=expression, agents=agents, run=version, memory=memory,
        )  # fmt: skip
    if dry_run:
        _tell_counts(uvloop.run(_count(settings, addresses, options, quiet=as_json)), as_json=as_json)
        return
    began = time.monotonic()
    row, here = uvloop.run(_replay(settings, addresses, options, _rate(rate), quiet=as_json))
    _tell(row, here, time.monotonic() - began, as_json=as_json)
    if row.state == "running":
        raise typer.Exit(INTERRUPTED)


def _options(settings: Settings, **given: Any) -> Any:
    from workers.archive.archive_places import absolute_address
    from workers.replay.replay_options import ReplayOptions, read_offsets

    sources = [name for name in ("offsets", "answers") if given[name] is not None]
    if given["archive"] is not None and given["answers"] is not None:
        raise typer.BadParameter("give --archive or --answers, not both", param_hint="--answers")
    if len(sources) > 1:
        raise typer.BadParameter("--offsets cannot be combined with --answers", param_hint="--offsets")
    if not sources and given["archive"] is None and given["since"] is None:
        raise typer.BadParameter(
            "give the answers to replay: --from, --offsets, --answers or --archive", param_hint="--from"
        )
    now = datetime.now(UTC)
    answers, archive = given.pop("answers"), given["archive"]
    source, path = "topic", None
    if answers is not None:
        source, path = "answers", str(answers.absolute())
    elif archive is not None:
        source, path = "archive", absolute_address(archive)
    chosen: dict[str, Any] = {name: given[name] for name in ("tenant", "model", "filter", "memory")} | {
        "run": given["run"] or pipeline_version(settings),
        "source": source,
        "path": path,
        "digest": None if answers is None else _digest(answers),
        "since": read_time(given["since"], now, "--from"),
        "until": read_time(given["until"], now, "--to"),
        "offsets": None if given["offsets"] is None else read_offsets(given["offsets"]),
    }
    if given["agents"] is not None:
        chosen["agents"] = tuple(dict.fromkeys(name.strip() for name in given["agents"].split(",") if name.strip()))
    try:
        return ReplayOptions(**chosen)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(str(part) for part in each['loc']) or 'options'}: {each['msg']}"
            for each in error.errors(include_url=False, include_input=False)
        )
        fail(problems, code=2)


async def _known_options(settings: Settings, addresses: Addresses, run: str) -> Any:
    from workers.replay.replay_options import ReplayOptions

    await migrate_database(settings.clickhouse, addresses.clickhouse)
    client = await connect(settings.clickhouse, addresses.clickhouse)
    try:
        analytics = AnalyticsStore(client, settings.clickhouse.database)
        row = await ReplayStore(analytics, settings.clickhouse.database).find(run)
    finally:
        await client.close()
    if row is None:
        raise typer.BadParameter(
            f"there is no replay {run}; list replays with: touchstone runs list", param_hint="--resume"
        )
    options = ReplayOptions.model_validate_json(row.options)
    if options.source == "answers" and _digest(Path(options.path or "")) != options.digest:
        raise TouchstoneError(f"{options.path} has changed since the replay {run} started; restore the old file")
    return options


def _rate(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        rate = float(text.removesuffix("/s"))
        if not 0 < rate < float("inf"):
            raise ValueError
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a rate; write 50, 0.5 or 50/s", param_hint="--rate") from None
    return rate


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise TouchstoneError(f"{path} cannot be read: {error.strerror or error}") from error


async def _count(settings: Settings, addresses: Addresses, options: Any, *, quiet: bool) -> dict[str, int]:
    from workers.replay.replay_opening import count_replay

    with _shown(quiet=quiet) as shown:
        return await count_replay(settings, addresses, options, shown.listeners())


async def _replay(
    settings: Settings, addresses: Addresses, options: Any, rate: float | None, *, quiet: bool
) -> tuple[StoredReplay, int]:
    """Replay until the end or a signal, and return the row of the replay and the number of answers evaluated here."""
    from workers.replay.replay_opening import open_replay

    loop = asyncio.get_running_loop()
    with _shown(quiet=quiet) as shown:
        async with open_replay(settings, addresses, options, shown.listeners(), rate) as opened:
            if isinstance(opened, StoredReplay):
                return opened, 0
            before = opened.judged
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, opened.stop)
            row = await opened.run()
            return row, row.counts.get("judged", 0) - before


@dataclass(frozen=True, slots=True)
class _Shown:
    """The progress bar of a replay."""

    bar: Progress
    task: TaskID

    def listeners(self) -> Any:
        from workers.replay.replay_opening import Listeners

        return Listeners(self._stage, self._progress, self._waiting)

    def _stage(self, what: str) -> None:
        self.bar.update(self.task, description=what)

    def _progress(self, done: int, total: int | None) -> None:
        self.bar.update(self.task, completed=done, total=total)

    def _waiting(self, behind: int | None) -> None:
        what = "replaying" if behind is None else f"waiting for live traffic, lag {behind}"
        self.bar.update(self.task, description=what)


class _Speed(ProgressColumn):
    """A column with the records per second."""

    def render(self, task: Task) -> Text:
        """Return the speed of a task; see :class:`ProgressColumn`."""
        return Text(f"{task.speed:.0f}/s" if task.speed else "")


@contextmanager
def _shown(*, quiet: bool) -> Iterator[_Shown]:
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _Speed(), TimeRemainingColumn(),
        console=errors, disable=quiet or not errors.is_terminal,
    )  # fmt: skip
    with bar:
        yield _Shown(bar, bar.add_task("opening", total=None))


def _tell_counts(counts: dict[str, int], *, as_json: bool) -> None:
    if as_json:
        print_json(counts)
        return
    for name, number in counts.items():
        console.print(f"{number:>10}  {name}", highlight=False)


def _tell(row: StoredReplay, here: int, seconds: float, *, as_json: bool) -> None:
    if as_json:
        print_json({
            "run": row.run, "pipeline_version": row.pipeline_version, "state": row.state, "counts": row.counts,
            "judged_here": here, "seconds": round(seconds, 3),
        })  # fmt: skip
        return
    _tell_counts(row.counts, as_json=False)
    name = printable(row.run, keep="")
    if row.state == "running":
        console.print(Text(f"interrupted; continue with: touchstone replay --resume {name}"))
    elif not here:
        console.print(Text(f"{name} is already finished; compare it with: touchstone compare live {name}"))
    else:
        console.print(Text(f"{here} answers in {seconds:.0f} s; compare them with: touchstone compare live {name}"))
