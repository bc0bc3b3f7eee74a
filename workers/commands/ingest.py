"""``touchstone ingest``: answers from a file onto the input topic."""

import gzip
import os
import sys
import zlib
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import orjson
import typer
import uvloop
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from schemas.answers import GeneratedAnswer
from schemas.base import UnreadableEvent
from schemas.headers import event_headers
from schemas.topics import ANSWERS_GENERATED
from workers.addresses import Addresses, adapted, find_addresses
from workers.commands.output import console, errors, print_json, read_settings
from workers.delivery.errors import TouchstoneError
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Output
from workers.gateways.labelled import labelled_answer
from workers.privacy import Privacy
from workers.settings import Settings

BATCH = 100
"""Records sent before their confirmation is waited for."""

SHOWN_REJECTS = 5
GZIP_MAGIC = b"\x1f\x8b"


class InputFormat(StrEnum):
    """What a line holds."""

    answers = "answers"
    labelled = "labelled"


class RejectedLine(ValueError):
    """A line that is no answer."""


@dataclass(frozen=True, slots=True)
class IngestResult:
    """What became of a file.

    Attributes:
        sent: answers confirmed by the broker.
        rejected: lines that are no answers.
        reject_file: where they are, if there are any.
    """

    sent: int
    rejected: int
    reject_file: Path | None


def ingest(
    file: Annotated[str, typer.Argument(help="JSON lines, plain or gzip; - for standard input.")],
    form: Annotated[InputFormat, typer.Option("--format", help="What a line holds.")] = InputFormat.answers,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Send answers to the input topic; bad lines are told by number and kept in a reject file.

    Exit code 0 if all were sent, 1 if lines were rejected.

    Examples:
      touchstone ingest examples/answers.jsonl
      zcat answers.jsonl.gz | touchstone ingest -
      touchstone ingest labelled.jsonl.gz --format labelled
    """
    settings = read_settings()
    addresses = find_addresses(settings, ["kafka"])
    result = uvloop.run(ingest_file(adapted(settings, addresses), addresses, file, form, quiet=as_json))
    if as_json:
        print_json(
            {
                "sent": result.sent,
                "rejected": result.rejected,
                "reject_file": result.reject_file and str(result.reject_file),
            }
        )
    else:
        console.print(f"{result.sent} answers sent, {result.rejected} lines rejected", highlight=False)
        if result.reject_file:
            console.print(f"rejected lines are in {result.reject_file}", highlight=False, markup=False, soft_wrap=True)
    if result.rejected:
        raise typer.Exit(1)


async def ingest_file(
    settings: Settings, addresses: Addresses, file: str, form: InputFormat = InputFormat.answers, *, quiet: bool = False
) -> IngestResult:
    """Send the answers of a file.

    Args:
        settings: all settings.
        addresses: of the broker.
        file: path, or ``-``.
        form: what a line holds.
        quiet: show no progress.

    Raises:
        TouchstoneError: the file cannot be read, or the broker does not confirm.
    """
    source = _Source(file)
    completed_at = _time_of(file)
    rejects = _Rejects(file)
    sent = 0
    producer = ConfirmedProducer(settings, addresses.kafka)
    privacy = Privacy(settings.privacy, settings.kafka.max_input_bytes)
    progress = Progress(
        TextColumn("ingest"), BarColumn(), DownloadColumn(), TimeRemainingColumn(),
        console=errors, disable=quiet or not errors.is_terminal,
    )  # fmt: skip
    try:
        await producer.start()
        with progress:
            task = progress.add_task("ingest", total=source.size)
            batch: deque[Output] = deque()
            for number, line in enumerate(source.lines(), start=1):
                if line.strip():
                    try:
                        batch.append(_output(line, form, completed_at, settings, privacy))
                    except RejectedLine as error:
                        rejects.add(number, line, str(error))
                if len(batch) >= BATCH:
                    sent += await _send(producer, batch)
                progress.update(task, completed=source.position)
            sent += await _send(producer, batch)
    finally:
        await producer.stop()
        rejects.close()
        source.close()
    return IngestResult(sent, rejects.count, rejects.path if rejects.count else None)


async def _send(producer: ConfirmedProducer, batch: deque[Output]) -> int:
    count = len(batch)
    await producer.send(list(batch), agent="ingest")
    batch.clear()
    return count


def _output(line: bytes, form: InputFormat, completed_at: datetime, settings: Settings, privacy: Privacy) -> Output:
    if len(line) > settings.kafka.max_record_bytes:
        raise RejectedLine(f"{len(line)} bytes, more than the broker takes")
    value = line.strip()
    try:
        if form is InputFormat.labelled:
            value = orjson.dumps(labelled_answer(_labelled_row(value), completed_at))
        value = privacy.value(value)
        answer = GeneratedAnswer.from_bytes(value)
    except (UnreadableEvent, ValueError) as error:
        raise RejectedLine(str(error)) from None
    if len(value) > settings.kafka.max_input_bytes:
        raise RejectedLine(f"{len(value)} bytes, at most {settings.kafka.max_input_bytes} are accepted")
    headers = event_headers(
        event_id=answer.answer_id,
        event_type="GeneratedAnswer",
        time=answer.completed_at,
        pipeline_version="",
        traceparent=answer.trace.traceparent if answer.trace else None,
        agent="ingest",
    )
    return Output(ANSWERS_GENERATED, answer.answer_id.encode(), value, headers)


def _labelled_row(value: bytes) -> dict[str, Any]:
    row = orjson.loads(value)
    if not isinstance(row, dict):
        raise ValueError("a line must hold a JSON object")
    return row


class _Rejects:
    """The reject file; made with the first line that goes into it."""

    def __init__(self, file: str) -> None:
        name = "stdin" if file == "-" else Path(file).name.removesuffix(".gz").removesuffix(".jsonl")
        self.path = Path(f"{name}.rejected.jsonl")
        self.count = 0
        self._stream: BinaryIO | None = None

    def add(self, number: int, line: bytes, reason: str) -> None:
        self.count += 1
        if self.count <= SHOWN_REJECTS:
            errors.print(f"line {number}: {reason}", highlight=False, markup=False, soft_wrap=True)
        elif self.count == SHOWN_REJECTS + 1:
            errors.print("further rejected lines are only counted", highlight=False)
        if self._stream is None:
            try:
                self._stream = self.path.open("wb")
            except OSError as error:
                raise TouchstoneError(f"rejected lines cannot be kept in {self.path}: {error.strerror}") from error
        text = line.decode("utf-8", "replace").rstrip("\n")
        self._stream.write(orjson.dumps({"line": number, "reason": reason, "content": text}) + b"\n")

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()


class _Source:
    """Lines of a file, plain or gzip, and how far it is read."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._raw: BinaryIO = sys.stdin.buffer
        self.size: int | None = None
        self._lines: BinaryIO = self._raw
        if file == "-":
            return
        with self._readable():
            self._raw = Path(file).open("rb")  # noqa: SIM115 closed by close()
            self.size = os.fstat(self._raw.fileno()).st_size
            compressed = self._raw.read(2) == GZIP_MAGIC
            self._raw.seek(0)
        self._lines = gzip.GzipFile(fileobj=self._raw) if compressed else self._raw  # type: ignore[assignment]

    @property
    def position(self) -> int:
        """Bytes read so far, before decompression."""
        return self._raw.tell() if self.size is not None else 0

    def lines(self) -> Iterator[bytes]:
        """The lines.

        Raises:
            TouchstoneError: the file cannot be read to its end.
        """
        with self._readable():
            yield from self._lines

    def close(self) -> None:
        """Close the file."""
        if self.size is not None:
            self._raw.close()

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except (OSError, EOFError, zlib.error) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else f"damaged ({error})"
            raise TouchstoneError(f"{self._file} cannot be read: {reason}") from error


def _time_of(file: str) -> datetime:
    """A time that is the same for every repeat: that of the file."""
    return datetime.now(UTC) if file == "-" else datetime.fromtimestamp(Path(file).stat().st_mtime, UTC)
