"""Send the chunks of a file of JSON lines to the topic of answers that still arrive."""

import asyncio
from pathlib import Path

from schemas.headers import event_headers
from schemas.identifiers import record_key
from schemas.streams import AnswerChunk
from schemas.topics import ANSWERS_CHUNKS
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Output
from workers.intake.file_ingest import modification_time
from workers.settings import Settings
from workers.settings.addresses import Addresses


async def ingest_chunks(settings: Settings, addresses: Addresses, file: Path) -> None:
    """Send the chunks of a file, in its order.

    Args:
        settings: all settings.
        addresses: address of the broker.
        file: one ``AnswerChunk`` a line.

    Raises:
        OSError: the file cannot be read.
        TouchstoneError: a line is no chunk, or the broker does not acknowledge.
    """
    at = modification_time(str(file))
    outputs = []
    for line in (await asyncio.to_thread(file.read_bytes)).splitlines():
        chunk = AnswerChunk.from_bytes(line)
        headers = event_headers(
            event_id=f"{chunk.answer_id}-{chunk.index}", event_type="AnswerChunk", time=at, pipeline_version="",
            agent="ingest",
        )  # fmt: skip
        outputs.append(Output(ANSWERS_CHUNKS, record_key(chunk.tenant, chunk.answer_id).encode(), line, headers))
    producer = ConfirmedProducer(settings, addresses.kafka)
    try:
        await producer.start()
        await producer.send(outputs, agent="ingest")
    finally:
        await producer.stop()
