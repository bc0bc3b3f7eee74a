"""Requeue dead letters: send original bytes, key and headers to the original topic.

Each letter is sent, acknowledged by the broker and then marked. After a crash between the last two steps the letter is
sent once more; its results have the same identifiers.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from operator import attrgetter

from schemas.dead_letters import HEADER_PREFIX, DeadLetter
from schemas.headers import Headers
from schemas.topics import JOINED_REPORTS, foreign_topic, topic_named
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Output
from workers.errors import ResultTooLarge, StoreUnavailable
from workers.stores.queries.dead_letter_queries import DeadLetterStore, LetterKey

REQUEUED_FROM = "requeued_from"
"""Header of a requeued record: the identifier of its last dead letter."""

CHUNK = 32
"""Maximum number of letters in memory; each may have the maximum record size of the broker."""


@dataclass(slots=True)
class RequeuePlan:
    """Plan of a requeueing.

    Attributes:
        records: letters by record; several agents can have letters for one record, which is sent once.
        already: number of letters left out because they were requeued before.
        refused: reasons by identifier of letters that cannot be sent.
    """

    records: list[list[LetterKey]] = field(default_factory=list)
    already: int = 0
    refused: dict[str, str] = field(default_factory=dict)

    @property
    def letters(self) -> int:
        """Return the number of letters that would be marked."""
        return sum(len(letters) for letters in self.records)


@dataclass(slots=True)
class RequeueResult:
    """Result of a requeueing.

    Attributes:
        records: number of acknowledged records.
        letters: number of marked letters.
        refused: reasons by identifier of letters that were not sent, including those of the plan.
    """

    records: int = 0
    letters: int = 0
    refused: dict[str, str] = field(default_factory=dict)


def plan_requeue(keys: Iterable[LetterKey], *, again: bool = False, foreign: Collection[str] = ()) -> RequeuePlan:
    """Sort letters into letters to send and refused letters with the reason.

    Args:
        keys: keys of the letters.
        again: include letters that were requeued before.
        foreign: topics of gateways, which are also accepted as targets.
    """
    plan = RequeuePlan()
    for _, group in groupby(sorted(keys), key=attrgetter("topic", "partition", "offset")):
        chosen = []
        for key in group:
            if key.requeued and not again:
                plan.already += 1
            elif reason := _refusal(key, foreign):
                plan.refused[key.dead_letter_id] = reason
            else:
                chosen.append(key)
        if chosen:
            plan.records.append(chosen)
    return plan


async def requeue(
    plan: RequeuePlan,
    store: DeadLetterStore,
    producer: ConfirmedProducer,
    *,
    now: Callable[[], datetime],
    progress: Callable[[int], None] = lambda _: None,
) -> RequeueResult:
    """Send and mark the letters of a plan.

    Args:
        plan: result of :func:`plan_requeue`.
        store: store of the letters.
        producer: sends the records.
        now: time of the mark.
        progress: receives the number of processed letters after each chunk.

    Raises:
        BrokerUnavailable: the broker does not acknowledge; acknowledged letters are marked.
        StoreUnavailable: letters were sent but could not be marked.
    """
    result = RequeueResult(refused=dict(plan.refused))
    for start in range(0, len(plan.records), CHUNK):
        chunk = plan.records[start : start + CHUNK]
        failure = await _requeue_chunk(chunk, store, producer, now, result)
        if failure is not None:
            raise failure
        progress(sum(len(letters) for letters in chunk))
    return result


async def _requeue_chunk(
    chunk: Sequence[Sequence[LetterKey]],
    store: DeadLetterStore,
    producer: ConfirmedProducer,
    now: Callable[[], datetime],
    result: RequeueResult,
) -> Exception | None:
    letters = {letter.dead_letter_id: letter for letter in await store.read([keys[0] for keys in chunk])}
    present = []
    for keys in chunk:
        letter = letters.get(keys[0].dead_letter_id)
        if letter is None:
            result.refused |= {key.dead_letter_id: "it was deleted from ClickHouse" for key in keys}
        elif letter.key is None and letter.value is None:
            result.refused |= {key.dead_letter_id: "it has neither key nor value" for key in keys}
        else:
            present.append(keys)
    outcomes = await asyncio.gather(
        *(producer.send([requeue_output(letters[keys[0].dead_letter_id])], agent="requeue") for keys in present),
        return_exceptions=True,
    )
    sent: list[LetterKey] = []
    failure: Exception | None = None
    for keys, outcome in zip(present, outcomes, strict=True):
        if outcome is None:
            sent.extend(keys)
            result.records += 1
        elif isinstance(outcome, ResultTooLarge):
            result.refused |= {key.dead_letter_id: str(outcome) for key in keys}
        elif isinstance(outcome, Exception):
            failure = outcome
        else:
            raise outcome
    if sent:
        try:
            await store.mark_requeued(sent, now())
        except StoreUnavailable as error:
            raise StoreUnavailable(
                f"{len(sent)} dead letters were sent again but not marked ({error}); requeue them once more: "
                "repeated records give no duplicates"
            ) from error
        result.letters += len(sent)
    return failure


def requeue_output(letter: DeadLetter) -> Output:
    """Return the original record with a header that names its letter.

    Reports go to the partition of their answer; other records are partitioned by key.
    """
    try:
        topic = topic_named(letter.topic)
    except KeyError:
        topic = foreign_topic(letter.topic)  # the plan accepts only topics of gateways
    headers: Headers = [
        (name, content)
        for name, content in letter.headers
        if not name.startswith(HEADER_PREFIX) and name != REQUEUED_FROM
    ]
    return Output(
        topic,
        letter.key,
        letter.value,
        [*headers, (REQUEUED_FROM, letter.dead_letter_id.encode())],
        letter.partition if topic in JOINED_REPORTS else None,
    )


def _refusal(key: LetterKey, foreign: Collection[str]) -> str:
    if key.omitted:
        return (
            "the record was too large for the dead letter; send the original again from "
            f"{key.topic}[{key.partition}]@{key.offset}, before its retention ends"
        )
    try:
        if key.topic not in foreign:
            topic_named(key.topic)
    except KeyError as error:
        return str(error.args[0])
    return ""
