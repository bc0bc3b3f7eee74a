"""Run the agent streams: join answers.chunks → answers.sentences (findings), answers.generated (whole answers).

1. Each batch of chunks is stored in Redis before anything is sent. Chunks may come in any order and more than once.
2. The sentences that the chunks finish are evaluated, and their findings sent.
3. A complete answer is sent to answers.generated. The record that completed it is noted: when it is delivered again, the
   answer is sent again with the same identifier; any other chunk of the answer has no effect then.
4. An answer whose chunks stop, or never end, is sent without its rest, marked as cut.

One batch at a time is in progress, so that a batch begins when the findings of the one before are acknowledged. After a
restart the chunks come from Redis; only findings of the last batch can be sent twice, with the same identifiers.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from pydantic import ValidationError

from schemas.base import UnreadableEvent
from schemas.identifiers import record_key, sentence_id
from schemas.streams import AnswerChunk
from schemas.topics import ANSWERS_CHUNKS, ANSWERS_SENTENCES
from workers.agents.base import AgentContext, AgentDefinition, Handler, OwnedPartitions, event_output
from workers.agents.intake import answer_outputs
from workers.delivery.failures.dead_letter_sender import DeadLetterSender
from workers.delivery.records import Output, Record, Result, WorkItem
from workers.errors import PoisonError, UnavailableError, UnreadableRecord, describe
from workers.evaluation.text.parser import load_parser
from workers.gateways.adapted import Adapted
from workers.intake.steady_partitions import SteadyPartitions
from workers.intake.streamed_answer import StreamedAnswer
from workers.observability.logs import get_logger
from workers.privacy.record_masking import Privacy
from workers.settings import Settings
from workers.stores.redis.chunk_store import AnswerKey, ChunkStore
from workers.stores.redis.client import open_redis

AGENT = "streams"
MAX_KNOWN = 2_000
"""Maximum number of answers in memory; others are read from Redis again."""
SWEEP_SECONDS = 1.0
"""Interval between two looks for answers whose chunks have stopped."""
MAX_DUE = 100
"""Maximum number of answers that one look ends."""
BY_TIME = "deadline"
"""The end of an answer that no record completed."""

_Make = Callable[[StreamedAnswer, Record, datetime], list[Output]]

log = get_logger(__name__)


def streams_agent(settings: Settings) -> AgentDefinition | None:
    """Return the agent that reads chunks; ``None`` if the settings do not enable it."""
    return AgentDefinition(AGENT, (ANSWERS_CHUNKS,), _open, ordered=True) if settings.streams.enabled else None


async def _open(context: AgentContext, stack: AsyncExitStack) -> Handler:
    load_parser()
    redis = open_redis(context.addresses.redis, context.settings.redis)
    stack.push_async_callback(redis.aclose)
    streams = Streams(
        context, ChunkStore(redis, context.settings.redis.key_prefix, context.settings.streams.keep_seconds)
    )
    context.run_beside("stream-deadlines", streams.run)
    return streams.handle


@dataclass
class _Known:
    """Hold an answer in memory.

    Attributes:
        answer: the answer.
        epoch: assignment under which it was read; after another one other workers may have changed it.
        confirmed: offset up to which findings are known to be sent.
        pending: place of the record whose findings were sent last.
    """

    answer: StreamedAnswer
    epoch: int
    confirmed: int = 0
    pending: int = -1


class Streams:
    """Handle chunks, and end answers whose chunks have stopped.

    Args:
        context: settings, producer and clock.
        store: the chunks.
    """

    def __init__(self, context: AgentContext, store: ChunkStore) -> None:
        self._context, self._store = context, store
        self._settings = context.settings
        self._privacy = Privacy(context.settings.privacy, context.settings.kafka.max_input_bytes)
        self._letters = DeadLetterSender(context.producer, context.pipeline_version)
        self._known: OrderedDict[AnswerKey, _Known] = OrderedDict()
        self._lock = asyncio.Lock()
        self._steady = SteadyPartitions()

    async def handle(self, works: Sequence[WorkItem]) -> Sequence[Result]:
        """Return the outputs of a batch of chunks."""
        async with self._lock:
            try:
                return await self._handle(works)
            except UnavailableError:
                self._interrupt()
                raise

    async def _handle(self, works: Sequence[WorkItem]) -> list[Result]:
        results: list[Result] = [[] for _ in works]
        chunks: list[tuple[AnswerChunk, int, int]] = []
        touched: dict[AnswerKey, int] = {}
        confirmed: dict[AnswerKey, int] = {}
        for place, work in enumerate(works):
            try:
                chunk = _read(work.record)
            except (PoisonError, UnreadableEvent) as error:
                results[place] = error
                continue
            key = (chunk.tenant, chunk.answer_id)
            known = await self._load(key, work.record)
            if known.answer.done and known.answer.done != _place(work.record):
                continue  # a late or repeated chunk
            if (offset := _confirmed(known, work.record)) is not None:
                confirmed[key] = offset
            known.answer.add(chunk)
            chunks.append((chunk, work.record.partition, work.record.offset))
            touched[key] = place
        now = self._context.now()
        await self._store.save(
            chunks, confirmed.items(), now.timestamp(), now.timestamp() + self._settings.streams.idle_seconds
        )
        for key, place in touched.items():
            results[place] = await self._outputs(key, works[place].record)
        return results

    async def _load(self, key: AnswerKey, record: Record) -> _Known:
        known = self._known.get(key)
        if known is None or known.epoch != record.epoch:
            answer = await self._read(key)
            known = self._known[key] = _Known(answer, record.epoch, answer.checked)
        self._known.move_to_end(key)
        while len(self._known) > MAX_KNOWN:
            self._known.popitem(last=False)
        return known

    async def _read(self, key: AnswerKey) -> StreamedAnswer:
        answer = StreamedAnswer(*key, first_seen=self._context.now().timestamp())
        if (kept := await self._store.load(key)) is not None:
            answer.first_seen, answer.done, answer.checked = kept.first_seen, kept.done, kept.checked
            for chunk in kept.chunks:
                answer.add(chunk)
        return answer

    async def _outputs(self, key: AnswerKey, record: Record) -> Result:
        """Return the findings on finished sentences, and the answer if it is complete."""
        known = self._known[key]
        known.answer.checked = known.confirmed
        known.pending = record.offset
        at = datetime.fromtimestamp(record.timestamp, UTC)
        try:
            outputs = await self._in_thread(self._sentences, known.answer, record, at)
            now = self._context.now().timestamp()
            handled = min(now - known.answer.first_seen, self._steady.seconds(record.partition, now))
            overdue = handled > self._settings.streams.max_seconds
            if known.answer.is_complete or known.answer.is_too_long or overdue:
                outputs += await self._in_thread(self._whole, known.answer, record, at)
                known.answer.done = _place(record)
                await self._store.end(key, record.partition, known.answer.done)
        except ValidationError as error:
            return _invalid(error)
        except (PoisonError, UnreadableEvent) as refusal:
            return refusal
        return outputs

    async def _in_thread(self, make: _Make, answer: StreamedAnswer, record: Record, at: datetime) -> list[Output]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._context.steps_pool, make, answer, record, at)

    def _sentences(self, answer: StreamedAnswer, _: Record, at: datetime) -> list[Output]:
        version, settings = self._context.pipeline_version, self._settings
        found = answer.finished_sentences(settings.grounding, settings.check.stop_on, at, version)
        return [
            event_output(
                ANSWERS_SENTENCES, each, key=record_key(each.tenant, each.answer_id),
                event_id=sentence_id(each.tenant, each.answer_id, each.start), agent=AGENT, time=at, pipeline_version=version,
                value=self._privacy.value(each.to_bytes()),
            )
            for each in found
        ]  # fmt: skip

    def _whole(self, answer: StreamedAnswer, record: Record, at: datetime) -> list[Output]:
        return answer_outputs(Adapted(answer.answer(at)), record, self._privacy, self._context, AGENT)

    async def run(self, owned: OwnedPartitions) -> None:
        """End answers whose chunks have stopped, until cancelled."""
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            try:
                await self.sweep_steady(owned())
            except UnavailableError as error:
                self._interrupt()
                log.warning("stream_sweep_failed", error=str(error))

    def _interrupt(self) -> None:
        self._steady.interrupt(self._context.now().timestamp() + self._settings.delivery.retry_max_seconds)

    async def sweep_steady(self, owned: Collection[int]) -> None:
        """Sweep the partitions whose chunks have been handled without an interruption for the idle time.

        Raises:
            UnavailableError: Redis or the broker does not respond.
        """
        now = self._context.now().timestamp()
        self._steady.look(owned, now)
        try:
            async with self._lock:
                for partition in sorted(owned):
                    if self._steady.seconds(partition, now) >= self._settings.streams.idle_seconds:
                        await self.sweep(partition)
        finally:
            self._steady.end_look(self._context.now().timestamp())

    async def sweep(self, partition: int) -> int:
        """Send the answers of a partition whose chunks have stopped, without their rest.

        Returns:
            Number of ended answers.

        Raises:
            UnavailableError: Redis or the broker does not respond.
        """
        now = self._context.now()
        due = await self._store.due(partition, now.timestamp(), MAX_DUE)
        for key in due:
            try:
                done = await self._end_stopped(key, partition)
            except UnreadableEvent as error:
                # The chunks stay unreadable at every further look; the error would end the worker each time.
                log.error(
                    "stream_discarded", tenant=key[0], answer_id=key[1], partition=partition, error=describe(error)
                )
                done = BY_TIME
            await self._store.end(key, partition, done)
            self._known.pop(key, None)
        return len(due)

    async def _end_stopped(self, key: AnswerKey, partition: int) -> str:
        """Send an answer without its rest, unless it was sent before; return what ended it."""
        answer = await self._read(key)
        if answer.done:
            return answer.done
        # A fixed time, so that a repetition after a crash sends the same answer.
        at = datetime.fromtimestamp(answer.first_seen, UTC) + timedelta(seconds=self._settings.streams.idle_seconds)
        await self._cut(key, partition, answer, at)
        log.info("stream_truncated", tenant=key[0], answer_id=key[1], partition=partition, chunks=len(answer.texts))
        return BY_TIME

    async def _cut(self, key: AnswerKey, partition: int, answer: StreamedAnswer, at: datetime) -> None:
        """Send an answer without its rest; an invalid one becomes a dead letter in the place of its latest chunk."""
        record = Record(ANSWERS_CHUNKS.name, partition, 0, record_key(*key).encode(), None)
        refusal: Exception
        try:
            outputs = await self._in_thread(self._whole, answer, record, at)
        except ValidationError as error:
            refusal = _invalid(error)
        except (PoisonError, UnreadableEvent) as error:
            refusal = error
        else:
            await self._context.producer.send(outputs, agent=AGENT)
            return
        if (kept := await self._store.load(key)) is not None:
            last = max(kept.chunks, key=lambda chunk: chunk.index)
            record = replace(record, offset=kept.latest, value=self._privacy.value(last.to_bytes()))
            await self._letters.send(record, agent=AGENT, error=refusal, attempts=1)


def _invalid(error: ValidationError) -> UnreadableRecord:
    return UnreadableRecord(f"the fields of the answer are invalid: {error.errors()[0]['loc']}")


def _confirmed(known: _Known, record: Record) -> int | None:
    """Return the offset up to which findings are sent now, if it has moved: a later record follows their batch."""
    if record.offset <= known.pending or known.answer.checked == known.confirmed:
        return None
    known.confirmed = known.answer.checked
    return known.confirmed


def _read(record: Record) -> AnswerChunk:
    if record.refusal is not None or record.value is None:
        raise UnreadableRecord(record.refusal or "the record has no value; send a chunk")
    chunk = AnswerChunk.from_bytes(record.value)
    if chunk.answer is not None:
        try:
            StreamedAnswer(chunk.tenant, chunk.answer_id, fields=chunk.answer).answer(datetime.now(UTC))
        except ValidationError as error:
            where = ".".join(str(part) for part in error.errors(include_input=False)[0]["loc"])
            raise UnreadableRecord(f"answer.{where} is invalid; send the fields of GeneratedAnswer") from None
    return chunk


def _place(record: Record) -> str:
    return f"{record.partition}:{record.offset}"
