"""Sending dead letters again: original bytes, key and headers, to the original topic.

Each is sent, confirmed and then marked. Between the two a crash leaves a letter that was
sent and is not marked; a repeat sends it once more, and what comes of it carries the same
identifiers.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from operator import attrgetter

from schemas.dead_letters import HEADER_PREFIX, DeadLetter
from schemas.headers import Headers
from schemas.topics import REPORT_TOPICS, foreign_topic, topic_named
from workers.delivery.errors import ResultTooLarge, StoreUnavailable
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Output
from workers.stores.dead_letters import DeadLetterStore, LetterKey

REQUEUED_FROM = "requeued_from"
"""Header of a record that was sent again: the identifier of its last dead letter."""

CHUNK = 32
"""Letters in memory at once; each may be as large as the broker's largest record."""


@dataclass(slots=True)
class RequeuePlan:
    """What a requeueing would do.

    Attributes:
        records: letters by record; agents that gave up one record share one sending.
        already: how many are left out because they were requeued before.
        refused: why a letter cannot be sent, by identifier.
    """

    records: list[list[LetterKey]] = field(default_factory=list)
    already: int = 0
    refused: dict[str, str] = field(default_factory=dict)

    @property
    def letters(self) -> int:
        """How many letters would be marked."""
        return sum(len(letters) for letters in self.records)


@dataclass(slots=True)
class RequeueResult:
    """What a requeueing did.

    Attributes:
        records: sent and confirmed.
        letters: marked.
        refused: why a letter was not sent, by identifier; those of the plan included.
    """

    records: int = 0
    letters: int = 0
    refused: dict[str, str] = field(default_factory=dict)


def plan_requeue(keys: Iterable[LetterKey], *, again: bool = False, foreign: Collection[str] = ()) -> RequeuePlan:
    """Sort letters into those to be sent and those not, with the reason.

    Args:
        keys: of letters.
        again: also those that were requeued before.
        foreign: topics of gateways, which records may go back to as well.
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
    """Send and mark what the plan holds.

    Args:
        plan: of :func:`plan_requeue`.
        store: of the letters.
        producer: where to.
        now: the time to mark with.
        progress: told the number of letters done after each chunk.

    Raises:
        BrokerUnavailable: the broker does not confirm; what it had confirmed is marked.
        StoreUnavailable: letters were sent and could not be marked.
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
            result.refused |= {key.dead_letter_id: "it is no longer in ClickHouse" for key in keys}
        elif letter.key is None and letter.value is None:
            result.refused |= {
                key.dead_letter_id: "it has neither key nor value; nothing can come of it" for key in keys
            }
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
                f"{len(sent)} dead letters were sent again but not marked ({error}); requeueing them once more "
                "repeats them, and nothing that comes of them is doubled"
            ) from error
        result.letters += len(sent)
    return failure


def requeue_output(letter: DeadLetter) -> Output:
    """The original record, and in a header which letter it comes from.

    Reports go back to their partition, where their answer is; all others where their key leads.
    """
    try:
        topic = topic_named(letter.topic)
    except KeyError:
        topic = foreign_topic(letter.topic)  # the plan lets none through but those of gateways
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
        letter.partition if topic in REPORT_TOPICS.values() else None,
    )


def _refusal(key: LetterKey, foreign: Collection[str]) -> str:
    if key.omitted:
        return (
            f"the record was too large to be kept; the original is {key.topic}[{key.partition}]@{key.offset}, "
            "as long as that topic keeps it: send it again from there"
        )
    try:
        if key.topic not in foreign:
            topic_named(key.topic)
    except KeyError as error:
        return str(error.args[0])
    return ""
