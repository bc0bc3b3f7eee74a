"""``touchstone replay``: judge again, beside the live stream, what was answered before."""

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

from workers.addresses import Addresses, adapted, find_addresses
from workers.commands.dead_letters import read_time
from workers.commands.output import console, errors, fail, print_json, printable, read_settings
from workers.delivery.errors import TouchstoneError
from workers.settings import Settings
from workers.stores.analytics import AnalyticsStore, connect
from workers.stores.migrations import migrate
from workers.stores.replays import ReplayRow, ReplayStore
from workers.versions import pipeline_version

INTERRUPTED = 130
"""Exit code of a command that was asked to end before its time."""


def replay(
    since: Annotated[str | None, typer.Option("--from", help="Answers that arrived at that time or later.")] = None,
    until: Annotated[str | None, typer.Option("--to", help="Answers that arrived before that time.")] = None,
    offsets: Annotated[Path | None, typer.Option("--offsets", help="Answers at the offsets of this JSON file.")] = None,
    answers: Annotated[Path | None, typer.Option("--answers", help="Answers of this file, not of the topic.")] = None,
    archive: Annotated[
        Path | None, typer.Option("--archive", help="Read this archive and not the topic; all of it without --from.")
    ] = None,
    tenant: Annotated[str | None, typer.Option("--tenant", help="Answers of this tenant only.")] = None,
    model: Annotated[str | None, typer.Option("--model", help="Answers of this model only.")] = None,
    expression: Annotated[
        str | None, typer.Option("--filter", help="Answers that this JMESPath expression finds true.")
    ] = None,
    agents: Annotated[
        str | None, typer.Option("--agents", help="Judge by these agents; of others the stored reports count.")
    ] = None,
    version: Annotated[
        str | None, typer.Option("--version", help="Name of the replay; by default the pipeline version.")
    ] = None,
    rate: Annotated[str | None, typer.Option("--rate", help="At most so many answers a second: 50, or 50/s.")] = None,
    memory: Annotated[bool, typer.Option("--memory", help="Send to memory what may be remembered now.")] = False,
    resume: Annotated[str | None, typer.Option("--resume", help="Go on with the replay of this name.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count, and judge nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Judge answers once more with the present settings and rules, beside the live stream.

    Results go to topics of their own (<topic>.shadow.<version>) and to ClickHouse under the name of the
    replay; nothing else follows: no release, review, alert, reward or retry. Interrupted, --resume goes on
    where it was; what arrives after its start is not read. It waits while live traffic is behind.

    Examples:
      touchstone replay --from 7d --version stricter
      touchstone replay --from 2026-10-01 --to 2026-11-01 --model gpt-x --filter "query_type == 'billing'"
      touchstone replay --archive /backup/touchstone --version october --agents grounding
      touchstone replay --answers answers.jsonl --dry-run
      touchstone replay --resume stricter
    """
    settings = read_settings(quiet=True)
    addresses = find_addresses(settings)
    settings = adapted(settings, addresses)
    given = (since, until, offsets, answers, archive, tenant, model, expression, agents, version)
    if resume is not None:
        if memory or any(option is not None for option in given):
            raise typer.BadParameter("the replay knows what it was asked for; give --rate alone", param_hint="--resume")
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
    from workers.replay.options import ReplayOptions, read_offsets

    sources = [name for name in ("offsets", "answers") if given[name] is not None]
    if given["archive"] is not None and given["answers"] is not None:
        raise typer.BadParameter("an archive or a file: not both", param_hint="--answers")
    if len(sources) > 1:
        raise typer.BadParameter("a file of answers has no offsets", param_hint="--offsets")
    if not sources and given["archive"] is None and given["since"] is None:
        raise typer.BadParameter("say what to replay: --from, --offsets, --answers or --archive", param_hint="--from")
    now = datetime.now(UTC)
    path = given.pop("answers") or given.get("archive")
    source = "topic" if path is None else "archive" if path == given["archive"] else "answers"
    digest = _digest(path) if path is not None and source == "answers" else None
    chosen: dict[str, Any] = {name: given[name] for name in ("tenant", "model", "filter", "memory")} | {
        "run": given["run"] or pipeline_version(settings),
        "source": source,
        "path": None if path is None else str(path.absolute()),
        "digest": digest,
        "since": read_time(given["since"], now, "--from"),
        "until": read_time(given["until"], now, "--to"),
        "offsets": None if given["offsets"] is None else read_offsets(given["offsets"]),
    }
    if given["agents"] is not None:
        chosen["agents"] = tuple(dict.fromkeys(name.strip() for name in given["agents"].split(",") if name.strip()))
    try:
        return ReplayOptions(**chosen)
    except ValidationError as error:
        told = "; ".join(
            f"{'.'.join(str(part) for part in each['loc']) or 'options'}: {each['msg']}"
            for each in error.errors(include_url=False, include_input=False)
        )
        fail(told, code=2)


async def _known_options(settings: Settings, addresses: Addresses, run: str) -> Any:
    from workers.replay.options import ReplayOptions

    client = await connect(settings.clickhouse, addresses.clickhouse)
    try:
        await migrate(client, settings.clickhouse.database)
        analytics = AnalyticsStore(client, settings.clickhouse.database)
        row = await ReplayStore(analytics, settings.clickhouse.database).find(run)
    finally:
        await client.close()
    if row is None:
        raise typer.BadParameter(f"there is no replay {run}; `touchstone runs list` shows them", param_hint="--resume")
    options = ReplayOptions.model_validate_json(row.options)
    if options.source == "answers" and _digest(Path(options.path or "")) != options.digest:
        raise TouchstoneError(f"{options.path} has changed since the replay {run} was begun; put the old file back")
    return options


def _rate(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        rate = float(text.removesuffix("/s"))
        if not 0 < rate < float("inf"):
            raise ValueError
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no rate; write 50, 0.5 or 50/s", param_hint="--rate") from None
    return rate


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise TouchstoneError(f"{path} cannot be read: {error.strerror or error}") from error


async def _count(settings: Settings, addresses: Addresses, options: Any, *, quiet: bool) -> dict[str, int]:
    from workers.replay.opening import count_replay

    with _shown(quiet=quiet) as shown:
        return await count_replay(settings, addresses, options, shown.listeners())


async def _replay(
    settings: Settings, addresses: Addresses, options: Any, rate: float | None, *, quiet: bool
) -> tuple[ReplayRow, int]:
    """Replay until it is done or a signal comes; returns how it stands, and how many were judged here."""
    from workers.replay.opening import open_replay

    loop = asyncio.get_running_loop()
    with _shown(quiet=quiet) as shown:
        async with open_replay(settings, addresses, options, shown.listeners(), rate) as opened:
            if isinstance(opened, ReplayRow):
                return opened, 0
            before = opened.judged
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, opened.stop)
            row = await opened.run()
            return row, row.counts.get("judged", 0) - before


@dataclass(frozen=True, slots=True)
class _Shown:
    """What people see meanwhile."""

    bar: Progress
    task: TaskID

    def listeners(self) -> Any:
        from workers.replay.opening import Listeners

        return Listeners(self._stage, self._progress, self._waiting)

    def _stage(self, what: str) -> None:
        self.bar.update(self.task, description=what)

    def _progress(self, done: int, total: int | None) -> None:
        self.bar.update(self.task, completed=done, total=total)

    def _waiting(self, behind: int | None) -> None:
        what = "replaying" if behind is None else f"waiting for live traffic, {behind} behind"
        self.bar.update(self.task, description=what)


class _Speed(ProgressColumn):
    """Records a second."""

    def render(self, task: Task) -> Text:
        """See :class:`ProgressColumn`."""
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


def _tell(row: ReplayRow, here: int, seconds: float, *, as_json: bool) -> None:
    if as_json:
        print_json({
            "run": row.run, "pipeline_version": row.pipeline_version, "state": row.state, "counts": row.counts,
            "judged_here": here, "seconds": round(seconds, 3),
        })  # fmt: skip
        return
    _tell_counts(row.counts, as_json=False)
    name = printable(row.run, keep="")
    if row.state == "running":
        console.print(Text(f"interrupted; to go on: touchstone replay --resume {name}"))
    elif not here:
        console.print(Text(f"{name} is finished already; compare it: touchstone compare live {name}"))
    else:
        console.print(Text(f"{here} answers in {seconds:.0f} s; compare them: touchstone compare live {name}"))
