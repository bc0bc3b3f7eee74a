"""Send the answers of a file of JSON lines to the input topic."""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO

import orjson
from pydantic_core import from_json, to_json

from schemas.answers import GeneratedAnswer
from schemas.base import UnreadableEvent
from schemas.headers import event_headers
from schemas.identifiers import record_key
from schemas.topics import ANSWERS_GENERATED
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Output
from workers.errors import TouchstoneError
from workers.gateways.labelled_rows import labelled_answer
from workers.privacy.record_masking import Privacy
from workers.process.line_files import too_long
from workers.process.line_reader import LineReader
from workers.process.private_files import open_private
from workers.settings import Settings
from workers.settings.addresses import Addresses


class InputFormat(StrEnum):
    """Formats of a line."""

    answers = "answers"
    labelled = "labelled"


class RejectedLine(ValueError):
    """A line that does not contain an answer."""


class IngestObserver:
    """Observe the ingestion of a file; this one ignores everything."""

    def read(self, position: int, size: int | None) -> None:
        """Report the number of bytes read, and the file's size, ``None`` for standard input."""

    def rejected(self, number: int, reason: str) -> None:
        """Report a rejected line by its number, from 1."""


@dataclass(frozen=True, slots=True)
class IngestResult:
    """The result for a file.

    Attributes:
        sent: number of answers acknowledged by the broker.
        rejected: number of lines without an answer.
        reject_file: file with the rejected lines, if there are any.
    """

    sent: int
    rejected: int
    reject_file: Path | None


async def ingest_file(
    settings: Settings,
    addresses: Addresses,
    file: str,
    form: InputFormat = InputFormat.answers,
    observer: IngestObserver | None = None,
) -> IngestResult:
    """Send the answers of a file, those of a live pipe soon after they come.

    Rejected lines are written to ``NAME.rejected.jsonl`` in the current directory, which only its owner can read; with
    masking on, only their numbers and the reasons.

    Args:
        settings: all settings.
        addresses: address of the broker.
        file: path, or ``-``.
        form: format of a line.
        observer: receives progress and rejected lines.

    Raises:
        TouchstoneError: the file cannot be read, or the broker does not acknowledge.
    """
    observer = observer or IngestObserver()
    sent = 0
    producer = ConfirmedProducer(settings, addresses.kafka)
    privacy = Privacy(settings.privacy, settings.kafka.max_input_bytes)
    rejects = _Rejects(file, with_content=not privacy.is_on)
    with LineReader(file, settings.files.max_line_bytes) as source:
        await source.first_line()
        completed_at = modification_time(file)
        try:
            await producer.start()
            async for lines in source.batches():
                outputs: list[Output] = []
                for number, line in lines:
                    if line is not None and not line.strip():
                        continue
                    try:
                        if line is None:
                            raise RejectedLine(too_long(settings.files.max_line_bytes))
                        outputs.append(_output(line, form, completed_at, settings, privacy))
                    except RejectedLine as error:
                        observer.rejected(number, str(error))
                        rejects.add(number, line or b"", str(error))
                await producer.send(outputs, agent="ingest")
                sent += len(outputs)
                observer.read(source.position, source.size)
        finally:
            await producer.stop()
            rejects.close()
    return IngestResult(sent, rejects.count, rejects.path if rejects.count else None)


def modification_time(file: str) -> datetime:
    """Return the modification time of a file, the same at each repeat; the current time for ``-``."""
    return datetime.now(UTC) if file == "-" else datetime.fromtimestamp(Path(file).stat().st_mtime, UTC)


def _output(line: bytes, form: InputFormat, completed_at: datetime, settings: Settings, privacy: Privacy) -> Output:
    if len(line) > settings.kafka.max_record_bytes:
        raise RejectedLine(f"{len(line)} bytes exceed the limit of the broker, {settings.kafka.max_record_bytes}")
    value = line.strip()
    try:
        if form is InputFormat.labelled:
            value = to_json(labelled_answer(_labelled_row(value), completed_at), inf_nan_mode="null")
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
    return Output(ANSWERS_GENERATED, record_key(answer.tenant, answer.answer_id).encode(), value, headers)


def _labelled_row(value: bytes) -> dict[str, Any]:
    row = from_json(value)
    if not isinstance(row, dict):
        raise ValueError("a line must hold a JSON object")
    return row


class _Rejects:
    """Write the reject file; it is created with the first rejected line.

    Args:
        file: path of the answers, or ``-``.
        with_content: also write the lines; a line that is no answer cannot be masked.
    """

    def __init__(self, file: str, *, with_content: bool) -> None:
        self._with_content = with_content
        name = "stdin" if file == "-" else Path(file).name.removesuffix(".gz").removesuffix(".jsonl")
        self.path = Path(f"{name}.rejected.jsonl")
        self.count = 0
        self._stream: BinaryIO | None = None

    def add(self, number: int, line: bytes, reason: str) -> None:
        self.count += 1
        if self._stream is None:
            try:
                self._stream = open_private(self.path)
            except OSError as error:
                raise TouchstoneError(f"rejected lines cannot be kept in {self.path}: {error.strerror}") from error
        rejected: dict[str, Any] = {"line": number, "reason": reason}
        if self._with_content:
            rejected["content"] = line.decode("utf-8", "replace").rstrip("\n")
        self._stream.write(orjson.dumps(rejected) + b"\n")

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
