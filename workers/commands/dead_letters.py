"""``touchstone dlq``: look at what was given up, keep it, send it again."""

import asyncio
import os
import re
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, BinaryIO, TypeVar

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from schemas.dead_letters import DeadLetter, DeadLetterReason
from workers.addresses import adapted, find_addresses
from workers.commands.output import console, errors, print_json, printable, read_settings
from workers.delivery.errors import TouchstoneError
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.requeue import CHUNK, RequeuePlan, RequeueResult, plan_requeue, requeue
from workers.settings import Settings
from workers.stores.analytics import connect
from workers.stores.dead_letters import DeadLetterStore, LetterFilter
from workers.topics import TopicAdministration

SHOWN = 50
"""Letters that `list` shows where nothing else is said."""

ASK_ABOVE = 100
"""More letters than this are sent again only after a question."""

LEAST_IDENTIFIER = 8
"""Shortest beginning of an identifier that is taken for one."""

SHORT_IDENTIFIER = 13
"""Part of an identifier that tables show: 48 bits, enough to name a letter."""

UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}

HINTS = {
    "UnreadableEvent": "The producer wrote what this version cannot read. Mend the producer and let it send the answer "
    "anew; requeue only after upgrading the worker (unknown version).",
    "UnreadableRecord": "A header's name is no UTF-8: mend the producer, then requeue; the name is escaped now and the "
    "answer is read. On dead-letters, a letter without its reason: somebody else has written there; find who.",
    "OversizeRecord": "Send fewer or shorter contexts, or raise kafka.max_record_bytes together with the broker's "
    "limit, then requeue.",
    "ResultTooLarge": "What comes of the record does not fit. Raise kafka.max_record_bytes together with the broker's "
    "limit, then requeue.",
    "RejectedByStore": "The store refuses the values. Is the schema older than the worker? Run `touchstone migrate`, "
    "then requeue.",
    "RefusedByReceiver": "Who is exported to (OpenTelemetry, Langfuse, a webhook) refuses what was made of the record; the "
    "letter says what it answered. Mend its settings or upgrade the worker, then requeue.",
    "ProcessKilled": "Handling it ended the process three times. Do not requeue before the defect is found: keep it "
    "with `touchstone dlq export` and send it to the developers.",
    "HandlerTimeout": "A store was slow for longer than all attempts. Look at the store, then requeue.",
    "TransientError": "It failed at every attempt, and another may succeed. Look for the cause in the log, then "
    "requeue.",
    "PoisonError": "No later attempt can succeed with this record as it is.",
}
OTHER_HINT = (
    "An error in Touchstone's own code; the log line `giving_up` has the traceback. Report it, and requeue with the "
    "version that mends it."
)

app = typer.Typer(help="Dead letters: list, show, requeue, export.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Since = Annotated[str | None, typer.Option(help="Failed then or later: ISO 8601 (UTC if it names no zone) or 2h, 7d.")]
Until = Annotated[str | None, typer.Option(help="Failed before: the same forms.")]
Agent = Annotated[str, typer.Option(help="Given up by this agent.")]
ErrorClass = Annotated[str, typer.Option("--error", help="Given up for this error class.")]
TopicName = Annotated[str, typer.Option("--topic", help="Read from this topic, with or without prefix.")]
Limit = Annotated[int | None, typer.Option(min=1, help="The latest so many; all by default.")]

T = TypeVar("T")


@app.command("list")
def list_letters(
    since: Since = None,
    until: Until = None,
    agent: Agent = "",
    error: ErrorClass = "",
    topic: TopicName = "",
    only_open: Annotated[bool, typer.Option("--open", help="Only those not requeued yet.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="The latest so many.")] = SHOWN,
    as_json: AsJson = False,
) -> None:
    """List dead letters, the latest first; what they hold is never printed.

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
    raw: Annotated[bool, typer.Option("--raw", help="Write the original bytes of the value, nothing else.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show a dead letter: reason, what to do, key, headers and value.

    Control characters are shown escaped, and so are bytes that are no UTF-8.

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
            raise TouchstoneError(f"the value was too large to be kept; the original is {_place(letter)}")
        sys.stdout.buffer.write(letter.value or b"")
        sys.stdout.buffer.flush()
    elif as_json:
        print_json(letter.model_dump(mode="json", exclude={"schema_version"}))
    else:
        _print_letter(letter)


@app.command()
def export(
    file: Annotated[str, typer.Argument(help="JSON lines are written here; - for standard output.")],
    since: Since = None,
    until: Until = None,
    agent: Agent = "",
    error: ErrorClass = "",
    topic: TopicName = "",
    only_open: Annotated[bool, typer.Option("--open", help="Only those not requeued yet.")] = False,
    limit: Limit = None,
    as_json: AsJson = False,
) -> None:
    """Write dead letters as JSON lines, with key, value and headers as base64.

    The file holds what answers hold, so only its owner may read it.

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
    again: Annotated[bool, typer.Option("--again", help="Also those that were requeued before.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be sent.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help=f"Do not ask, however many (above {ASK_ABOVE}).")] = False,
    as_json: AsJson = False,
) -> None:
    """Send dead letters again: original bytes, key and headers, to their original topic.

    Each is marked, and left out the next time. Exit code 1 if some cannot be sent again.

    Examples:
      touchstone dlq requeue 0d4f6a52-19c1
      touchstone dlq requeue --error RejectedByStore --since 1d --dry-run
    """
    settings = read_settings(quiet=True)
    which = _filter(settings, since, until, agent, error, topic, identifiers=_identifiers(identifiers or []))
    if not which.by_reason and not which.identifiers:
        raise typer.BadParameter("say which: identifiers, or a filter (--since 30d for nearly all)")
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
    settings = adapted(settings, addresses)
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


def read_time(text: str | None, now: datetime, option: str) -> datetime | None:
    """A time as it is typed: ISO 8601, or how long ago."""
    if text is None:
        return None
    try:
        if match := re.fullmatch(r"([0-9]+)([smhdw])", text.strip()):
            return now - timedelta(**{UNITS[match[2]]: int(match[1])})
        time = datetime.fromisoformat(text.strip())
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise typer.BadParameter(
            f"{text!r} is no time; write 2026-11-01T10:00:00Z, 90m, 2h or 7d", param_hint=option
        ) from None


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
        ("what to do", HINTS.get(letter.error_class, OTHER_HINT)),
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
            f"value: {letter.value_omitted} bytes, too large to be kept; the original is {_place(letter)}, "
            f"sha256 {letter.value_sha256}", markup=False, highlight=False, soft_wrap=True,
        )  # fmt: skip
    elif letter.value is None:
        console.print("value: none (a tombstone)", highlight=False)
    else:
        console.print(f"value: {len(letter.value)} bytes", highlight=False)
        # Not through rich, which would count the cells of a megabyte.
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
        console.print(f"{plan.already} were requeued before and left out; --again sends them, too", highlight=False)
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
    with os.fdopen(os.open(Path(file), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as target:
        yield target
