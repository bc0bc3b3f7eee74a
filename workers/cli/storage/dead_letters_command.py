"""Provide ``touchstone dlq``, which lists, shows, exports and requeues dead letters."""

import asyncio
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, BinaryIO, TypeVar

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from schemas.dead_letters import DeadLetter, DeadLetterReason
from workers.cli.output import console, errors, print_json, printable, read_settings
from workers.cli.time_option import read_time
from workers.delivery.failures.remedies import remedy
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.topics.topic_administration import TopicAdministration
from workers.errors import TouchstoneError
from workers.process.private_files import complete_file
from workers.replay.requeue import CHUNK, RequeuePlan, RequeueResult, plan_requeue, requeue
from workers.settings import Settings
from workers.settings.addresses import apply_local_defaults, find_addresses
from workers.stores.clickhouse.analytics_store import connect
from workers.stores.queries.dead_letter_queries import DeadLetterStore, LetterFilter

SHOWN = 50
"""Default number of letters that `list` shows."""

ASK_ABOVE = 100
"""Number of letters above which a confirmation is required before sending them again."""

LEAST_IDENTIFIER = 8
"""Shortest accepted prefix of an identifier."""

SHORT_IDENTIFIER = 13
"""Length of the prefix of an identifier in tables: 48 bits, enough to identify a letter."""

app = typer.Typer(help="Dead letters: list, show, requeue, export.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Since = Annotated[
    str | None,
    typer.Option(
        help="Only letters of this time or later: ISO 8601 (UTC without a time zone) or an age such as 2h, 7d."
    ),
]
Until = Annotated[str | None, typer.Option(help="Only letters before this time; same formats.")]
Agent = Annotated[str, typer.Option(help="Only letters of this agent.")]
ErrorClass = Annotated[str, typer.Option("--error", help="Only letters of this error class.")]
TopicName = Annotated[str, typer.Option("--topic", help="Only records of this topic, with or without prefix.")]
Limit = Annotated[int | None, typer.Option(min=1, help="Maximum number of letters, the latest first; all by default.")]

T = TypeVar("T")


@app.command("list")
def list_letters(
    since: Since = None,
    until: Until = None,
    agent: Agent = "",
    error: ErrorClass = "",
    topic: TopicName = "",
    only_open: Annotated[bool, typer.Option("--open", help="Only letters that were not requeued yet.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of letters, the latest first.")] = SHOWN,
    as_json: AsJson = False,
) -> None:
    """List dead letters, the latest first, without their contents.

    Examples:
      touchstone dlq list --since 2h
      touchstone dlq list --agent assembly --error UnreadableEvent --json
    """
    settings = read_settings(quiet=True)
    which = _filter(settings, since, until, agent, error, topic, only_open=only_open)

    async def run(store: DeadLetterStore) -> tuple[list[DeadLetterReason], int]:
        return await store.find(which, limit), await store.count(which)

    letters, matching = asyncio.run(_with_store(settings, run))
    if as_json:
        shown = [letter.model_dump(mode="json", exclude={"schema_version"}) for letter in letters]
        print_json({"matching": matching, "dead_letters": shown})
        return
    table = Table("id", "failed at", "agent", "record", "error", "requeued")
    table.columns[0].no_wrap = True  # to be copied
    for letter in letters:
        table.add_row(*(Text(printable(cell, keep="")) for cell in _cells(letter)))
    console.print(table)
    console.print(f"{len(letters)} of {matching} dead letters", highlight=False)


@app.command()
def show(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="Identifier or the beginning of one.")],
    raw: Annotated[bool, typer.Option("--raw", help="Write only the original bytes of the value.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show a dead letter: reason, what to do, key, headers and value.

    Control characters and invalid UTF-8 are escaped.

    Examples:
      touchstone dlq show 0d4f6a52-19c1
      touchstone dlq show 0d4f6a52-19c1 --raw > record.json
    """
    settings = read_settings(quiet=True)
    which = LetterFilter(identifiers=_identifiers([identifier]))

    async def run(store: DeadLetterStore) -> list[DeadLetter]:
        return await store.read(await store.keys(which))

    letter = asyncio.run(_with_store(settings, run))[0]
    if raw:
        if letter.value_omitted is not None:
            raise TouchstoneError(f"the value was too large for the dead letter; the original is {_place(letter)}")
        sys.stdout.buffer.write(letter.value or b"")
        sys.stdout.buffer.flush()
    elif as_json:
        print_json(letter.model_dump(mode="json", exclude={"schema_version"}))
    else:
        _print_letter(letter)


@app.command()
def export(
    file: Annotated[str, typer.Argument(help="File for the JSON lines; - for standard output.")],
    since: Since = None,
    until: Until = None,
    agent: Agent = "",
    error: ErrorClass = "",
    topic: TopicName = "",
    only_open: Annotated[bool, typer.Option("--open", help="Only letters that were not requeued yet.")] = False,
    limit: Limit = None,
    as_json: AsJson = False,
) -> None:
    """Write dead letters as JSON lines, with key, value and headers as base64.

    The file contains text of answers, so only its owner can read it.

    Examples:
      touchstone dlq export letters.jsonl --since 7d
      touchstone dlq export - --error ProcessKilled | gzip > letters.jsonl.gz
    """
    settings = read_settings(quiet=True)
    which = _filter(settings, since, until, agent, error, topic, only_open=only_open)

    async def run(store: DeadLetterStore) -> int:
        keys = await store.keys(which, limit)
        count = 0
        with _progress("export", quiet=as_json) as progress, _target(file) as target:
            task = progress.add_task("export", total=len(keys))
            for start in range(0, len(keys), CHUNK):
                for letter in await store.read(keys[start : start + CHUNK]):
                    target.write(letter.to_bytes() + b"\n")
                    count += 1
                progress.update(task, completed=start + CHUNK)
        return count

    try:
        count = asyncio.run(_with_store(settings, run))
    except OSError as failure:
        raise TouchstoneError(f"{file} cannot be written: {failure.strerror}") from failure
    if as_json and file != "-":
        print_json({"exported": count, "file": file})
    else:
        errors.print(f"{count} dead letters exported", highlight=False)


@app.command("requeue")
def requeue_letters(
    identifiers: Annotated[
        list[str] | None, typer.Argument(metavar="ID", help="Identifiers or beginnings of them.")
    ] = None,
    since: Since = None,
    until: Until = None,
    agent: Agent = "",
    error: ErrorClass = "",
    topic: TopicName = "",
    limit: Limit = None,
    again: Annotated[bool, typer.Option("--again", help="Also requeue letters that were requeued before.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print the number of records by topic.")] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help=f"Do not ask for confirmation (asked for more than {ASK_ABOVE} letters).")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Send dead letters again: original bytes, key and headers, to their original topic.

    Requeued letters are marked and left out the next time. Exit code 1 if some cannot be sent.

    Examples:
      touchstone dlq requeue 0d4f6a52-19c1
      touchstone dlq requeue --error RejectedByStore --since 1d --dry-run
    """
    settings = read_settings(quiet=True)
    which = _filter(settings, since, until, agent, error, topic, identifiers=_identifiers(identifiers or []))
    if not which.by_reason and not which.identifiers:
        raise typer.BadParameter("give identifiers or a filter (--since 30d for nearly all)")
    if which.identifiers and (which.by_reason or limit):
        raise typer.BadParameter("give identifiers or filters, not both")

    async def run(store: DeadLetterStore) -> tuple[RequeuePlan, RequeueResult]:
        plan = plan_requeue(await store.keys(which, limit), again=again, foreign=settings.gateways.topics)
        if dry_run or not plan.records:
            return plan, RequeueResult(refused=plan.refused)
        if plan.letters > ASK_ABOVE and not yes:
            typer.confirm(f"Send {plan.letters} dead letters again?", abort=True, err=True)
        return plan, await _requeue(plan, store, settings, quiet=as_json)

    plan, result = asyncio.run(_with_store(settings, run))
    if as_json:
        outcome = {"dry_run": dry_run, "records_to_send": len(plan.records), "records_sent": result.records,
                   "dead_letters_marked": result.letters, "already_requeued": plan.already, "refused": result.refused}  # fmt: skip
        print_json(outcome)
    else:
        _print_outcome(plan, result, dry_run=dry_run)
    if result.refused:
        raise typer.Exit(1)


async def _with_store(settings: Settings, run: Callable[[DeadLetterStore], Awaitable[T]]) -> T:
    client = await connect(settings.clickhouse, find_addresses(settings, ["clickhouse"]).clickhouse)
    try:
        return await run(DeadLetterStore(client, settings.clickhouse.database))
    finally:
        await client.close()


async def _requeue(plan: RequeuePlan, store: DeadLetterStore, settings: Settings, *, quiet: bool) -> RequeueResult:
    addresses = find_addresses(settings, ["kafka"])
    settings = apply_local_defaults(settings, addresses)
    async with TopicAdministration(settings, addresses.kafka) as topics:
        await topics.require()
    producer = ConfirmedProducer(settings, addresses.kafka)
    await producer.start()
    try:
        with _progress("requeue", quiet=quiet) as progress:
            task = progress.add_task("requeue", total=plan.letters)
            return await requeue(
                plan, store, producer, now=lambda: datetime.now(UTC), progress=lambda done: progress.advance(task, done)
            )
    finally:
        await producer.stop()


def _filter(
    settings: Settings,
    since: str | None,
    until: str | None,
    agent: str,
    error: str,
    topic: str,
    *,
    identifiers: tuple[str, ...] = (),
    only_open: bool = False,
) -> LetterFilter:
    now = datetime.now(UTC)
    return LetterFilter(
        since=read_time(since, now, "--since"),
        until=read_time(until, now, "--until"),
        agent=agent,
        error_class=error,
        topic=topic.removeprefix(settings.kafka.topic_prefix),
        identifiers=identifiers,
        only_open=only_open,
    )


def _identifiers(identifiers: Sequence[str]) -> tuple[str, ...]:
    for identifier in identifiers:
        if len(identifier) < LEAST_IDENTIFIER:
            raise typer.BadParameter(f"{identifier!r} is too short; give at least {LEAST_IDENTIFIER} characters")
    return tuple(dict.fromkeys(identifiers))


def _place(letter: DeadLetterReason) -> str:
    return f"{letter.topic}[{letter.partition}]@{letter.offset}"


def _cells(letter: DeadLetterReason) -> tuple[str, ...]:
    return (
        letter.dead_letter_id[:SHORT_IDENTIFIER],
        f"{letter.failed_at:%Y-%m-%d %H:%M:%S}",
        letter.agent,
        _place(letter),
        f"{letter.error_class}: {letter.error}",
        _requeued(letter),
    )


def _requeued(letter: DeadLetterReason) -> str:
    if letter.requeued_at is None:
        return "no"
    return f"{letter.requeued_at:%Y-%m-%d %H:%M:%S} ({letter.requeue_count}x)"


def _print_letter(letter: DeadLetter) -> None:
    rows: list[tuple[str, str]] = [
        ("dead letter", letter.dead_letter_id),
        ("record", _place(letter)),
        ("given up by", f"{letter.agent} at {letter.failed_at:%Y-%m-%d %H:%M:%S} UTC, attempts: {letter.attempts}"),
        ("version", letter.pipeline_version),
        ("error", f"{letter.error_class}: {letter.error}"),
        ("what to do", remedy(letter.error_class)),
        ("requeued", _requeued(letter)),
        ("key", _shown(letter.key, "none")),
        *((f"header {name}", _shown(content, "null")) for name, content in letter.headers),
    ]
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in rows:
        grid.add_row(Text(printable(name, keep="")), Text(printable(value, keep="")))
    console.print(grid)
    if letter.value_omitted is not None:
        console.print(
            f"value: {letter.value_omitted} bytes, too large for the dead letter; the original is "
            f"{_place(letter)}, sha256 {letter.value_sha256}", markup=False, highlight=False, soft_wrap=True,
        )  # fmt: skip
    elif letter.value is None:
        console.print("value: none (a tombstone)", highlight=False)
    else:
        console.print(f"value: {len(letter.value)} bytes", highlight=False)
        # Printed without rich, which would count the cells of a megabyte.
        sys.stdout.write(_shown(letter.value, "") + "\n")


def _shown(content: bytes | None, absent: str) -> str:
    return absent if content is None else printable(content.decode("utf-8", "backslashreplace"))


def _print_outcome(plan: RequeuePlan, result: RequeueResult, *, dry_run: bool) -> None:
    if dry_run:
        console.print(f"would send {len(plan.records)} records again, for {plan.letters} dead letters", highlight=False)
        for topic, count in sorted(Counter(letters[0].topic for letters in plan.records).items()):
            console.print(f"  {printable(topic)}: {count}", markup=False, highlight=False)
    else:
        console.print(f"{result.records} records sent again, {result.letters} dead letters marked", highlight=False)
    if plan.already:
        console.print(f"{plan.already} were requeued before and left out; --again includes them", highlight=False)
    for identifier, reason in result.refused.items():
        errors.print(printable(f"{identifier}: {reason}"), markup=False, highlight=False, soft_wrap=True)


def _progress(what: str, *, quiet: bool) -> Progress:
    return Progress(
        TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
        console=errors, disable=quiet or not errors.is_terminal,
    )  # fmt: skip


@contextmanager
def _target(file: str) -> Iterator[BinaryIO]:
    if file == "-":
        yield sys.stdout.buffer
        return
    with complete_file(Path(file)) as target:
        yield target
