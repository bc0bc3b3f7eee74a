"""What every agent is made of, and what it may use."""

from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from schemas.answers import GeneratedAnswer, TraceReference
from schemas.base import Event
from schemas.headers import TRACEPARENT, event_headers, header
from schemas.topics import Topic
from workers.delivery.attempts import AttemptJournal
from workers.delivery.dead_letters import DeadLetterSender
from workers.delivery.erasures import ErasureRegister
from workers.delivery.errors import OversizeRecord, UnreadableRecord
from workers.delivery.limits import BatchLimits
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Output, Record, Result, Work
from workers.delivery.released import ReleasedAnswers
from workers.delivery.tracing import Tracing
from workers.inference.embedding import EmbeddingService
from workers.inference.verification import VerificationService
from workers.settings import Settings
from workers.stores.analytics import AnalyticsStore
from workers.stores.feedback import FeedbackStore
from workers.stores.history import QueryHistory
from workers.stores.reviews import ReviewStore

if TYPE_CHECKING:
    import aiohttp

    # LanceDB takes a second that who judges without memory, as commands do, need not wait for.
    from workers.stores.memory import MemoryStore

Handler = Callable[[Sequence[Work]], Awaitable[Sequence[Result]]]


@dataclass(slots=True)
class Resources:
    """What the agents of one process share; only what they need is opened."""

    settings: Settings
    bootstrap_servers: str
    pipeline_version: str
    producer: ConfirmedProducer
    dead_letters: DeadLetterSender
    journal: AttemptJournal
    now: Callable[[], datetime]
    steps_pool: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(max_workers=2, thread_name_prefix="steps")
    )
    erasures: ErasureRegister = field(default_factory=ErasureRegister)
    embedding: EmbeddingService | None = None
    verifier: VerificationService | None = None
    analytics: AnalyticsStore | None = None
    feedback: FeedbackStore | None = None
    history: QueryHistory | None = None
    memory: "MemoryStore | None" = None
    tracing: Tracing | None = None
    released: ReleasedAnswers | None = None
    http: "aiohttp.ClientSession | None" = None
    reviews: ReviewStore | None = None


@dataclass(frozen=True, slots=True)
class AgentDefinition:
    """One agent: what it reads, what it needs, how it works.

    Attributes:
        name: also the end of its consumer group.
        reads: topics.
        handler: makes its handler from the resources.
        needs: fields of the resources that must be open; ``verifier`` only where the settings name one.
        sink: writes to a store, in larger batches.
        ordered: the order of the log matters, so that one batch is in work at a time.
        switched_on: whether the settings name its receiver; ``None`` for agents that always run.
    """

    name: str
    reads: tuple[Topic, ...]
    handler: Callable[[Resources], Handler]
    needs: tuple[str, ...] = ()
    sink: bool = False
    ordered: bool = False
    switched_on: Callable[[Settings], bool] | None = None

    def limits(self, settings: Settings) -> BatchLimits:
        """Size of its batches."""
        delivery = settings.delivery
        if self.sink:
            # One insert at a time keeps the order of revisions and the number of parts small.
            return BatchLimits(
                delivery.sink_batch_records,
                delivery.sink_batch_wait_seconds,
                in_flight=2 * delivery.sink_batch_records,
                concurrent=1,
                timeout_seconds=delivery.handle_timeout_seconds,
                batch_bytes=delivery.sink_batch_bytes,
                in_flight_bytes=delivery.in_flight_bytes,
            )
        # Few in work: more would not be faster, but would delay the drain on SIGTERM and let the
        # partitions of a worker run apart. With a model, small batches, since an agent that says
        # nothing until 32 long answers are done looks silent to the join; the texts of batches
        # that are in work together share the model's batches all the same.
        records = delivery.model_batch_records if "embedding" in self.needs else delivery.batch_records
        concurrent = 1 if self.ordered else 4 if "embedding" in self.needs else 2
        return BatchLimits(
            records,
            delivery.batch_wait_seconds,
            in_flight=(concurrent + 1) * records,
            concurrent=concurrent,
            batch_bytes=delivery.batch_bytes,
            in_flight_bytes=delivery.in_flight_bytes,
            ordered=self.ordered,
        )


def read_answer(record: Record, max_bytes: int) -> GeneratedAnswer:
    """Read an input record; its size is checked before it is parsed.

    Raises:
        UnreadableRecord: a header has a name that other clients cannot read.
        OversizeRecord: larger than ``max_bytes``.
        UnreadableEvent: not an answer that this version understands.
    """
    if record.foreign_names:
        raise UnreadableRecord(
            "the name of a header is no UTF-8; here it stands with those bytes escaped, and requeued so it is read"
        )
    size = len(record.value or b"")
    if size > max_bytes:
        raise OversizeRecord(
            f"the record has {size} bytes and at most {max_bytes} are accepted (a third of the broker's "
            "maximum); send fewer or shorter contexts"
        )
    answer = GeneratedAnswer.from_bytes(record.value)
    context = header(record.headers, "traceparent")
    if answer.trace is None and context is not None and TRACEPARENT.fullmatch(context):
        answer.trace = TraceReference(traceparent=context)
    return answer


def event_output(
    topic: Topic,
    event: Event,
    *,
    key: str,
    event_id: str,
    agent: str,
    time: datetime,
    pipeline_version: str,
    traceparent: str | None = None,
    partition: int | None = None,
    value: bytes | None = None,
) -> Output:
    """An event as a record with its CloudEvents headers.

    Args:
        topic: where to.
        event: what.
        key: of the record.
        event_id: deterministic identifier.
        agent: who writes it.
        time: when it happened.
        pipeline_version: of this worker.
        traceparent: trace context to hand on.
        partition: fixed partition, or ``None``.
        value: the event's bytes, if they are known already.
    """
    headers = event_headers(
        event_id=event_id,
        event_type=type(event).__name__,
        time=time,
        pipeline_version=pipeline_version,
        traceparent=traceparent,
        agent=agent,
    )
    return Output(topic, key.encode(), event.to_bytes() if value is None else value, headers, partition)


def traceparent(answer: GeneratedAnswer) -> str | None:
    """The trace context that came with an answer."""
    return answer.trace.traceparent if answer.trace else None
