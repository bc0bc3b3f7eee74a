"""What must be true whatever happened."""

import asyncio
import json
from collections import Counter, defaultdict
from dataclasses import asdict, dataclass, field
from typing import Any

from aiokafka.structs import ConsumerRecord
from clickhouse_connect.driver.asyncclient import AsyncClient

from schemas.headers import header
from schemas.topics import (
    ALERTS_RAISED,
    ANSWERS_ENRICHED,
    ANSWERS_RELEASED,
    DEAD_LETTERS,
    MEMORY_TURNS,
    REVIEW_REQUESTS,
    Topic,
)
from tests.harness.deployment import Deployment

OUTPUTS: tuple[Topic, ...] = (ANSWERS_ENRICHED, ANSWERS_RELEASED, REVIEW_REQUESTS, ALERTS_RAISED, MEMORY_TURNS)


@dataclass(slots=True)
class Verdict:
    """What the oracle found.

    Attributes:
        sent: identifiers that were accepted by the broker.
        lost: identifiers neither stored nor dead-lettered.
        doubled: rows of an answer beyond the first, after FINAL.
        dead_lettered: records given up by assembly.
        degraded: answers whose stored result is degraded.
        worsened: answers whose stored result is less complete than one that was emitted.
        duplicates: enriched events beyond the first of their answer; each carries the same identifier.
        broken_identifiers: events of one fact with different identifiers.
        notes: anything that explains the figures.
    """

    sent: int
    lost: list[str]
    doubled: int
    dead_lettered: int
    degraded: int
    worsened: list[str]
    duplicates: int
    broken_identifiers: list[str]
    notes: list[str] = field(default_factory=list)

    @property
    def kept(self) -> bool:
        """The promise was kept."""
        return not (self.lost or self.doubled or self.worsened or self.broken_identifiers)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"lost": len(self.lost), "worsened": len(self.worsened), "kept": self.kept}


async def judge(deployment: Deployment, client: AsyncClient, sent: set[str], poison: int = 0) -> Verdict:
    """Hold what was sent against what is there.

    Args:
        deployment: where to look.
        client: of its ClickHouse.
        sent: identifiers of readable answers.
        poison: records without readable identifier, which must all be dead letters of assembly.
    """
    rows = (await client.query(f"SELECT answer_id, rank, degraded FROM {deployment.name}.answers FINAL")).result_rows
    stored = Counter(str(row[0]) for row in rows)
    stored_rank = {str(row[0]): int(row[1]) for row in rows}
    # At once: each reading ends only after a while in which nothing more came.
    topics = (DEAD_LETTERS, *OUTPUTS)
    read = dict(zip(topics, await asyncio.gather(*(deployment.read(topic) for topic in topics)), strict=True))
    letters = [r for r in read[DEAD_LETTERS] if header(r.headers, "dlq_agent") == "assembly"]
    given_up = {identifier for record in letters if (identifier := _identifier(record.value)) is not None}
    unreadable = {
        (header(r.headers, "dlq_topic"), header(r.headers, "dlq_partition"), header(r.headers, "dlq_offset"))
        for r in letters
        if _identifier(r.value) not in sent
    }
    lost = sorted(sent - set(stored) - given_up)
    if len(unreadable) < poison:
        lost += [f"poison record {number}" for number in range(poison - len(unreadable))]
    enriched = read[ANSWERS_ENRICHED]
    best = _best_ranks(enriched)
    return Verdict(
        sent=len(sent) + poison,
        lost=lost,
        doubled=sum(count - 1 for count in stored.values()),
        dead_lettered=len(given_up & sent - set(stored)) + len(unreadable),
        degraded=sum(bool(row[2]) for row in rows),
        worsened=sorted(a for a, rank in best.items() if stored_rank.get(a, rank) < rank),
        duplicates=len(enriched) - len(best),
        broken_identifiers=_broken_identifiers({topic: read[topic] for topic in OUTPUTS}),
    )


def _best_ranks(enriched: list[ConsumerRecord]) -> dict[str, int]:
    best: dict[str, int] = defaultdict(int)
    for record in enriched:
        event = json.loads(record.value)
        best[event["answer_id"]] = max(best[event["answer_id"]], event["rank"])
    return best


def _broken_identifiers(outputs: dict[Topic, list[ConsumerRecord]]) -> list[str]:
    """Facts that were told under more than one identifier."""
    broken = []
    for topic, records in outputs.items():
        identifiers: dict[str, set[str | None]] = defaultdict(set)
        for record in records:
            event = json.loads(record.value)
            fact = f"{event['answer_id']} {event.get('alert_type', '')}"
            identifiers[fact].add(header(record.headers, "ce_id"))
        broken += [f"{topic.name} {fact}" for fact, known in identifiers.items() if len(known) > 1]
    return broken


def _identifier(value: bytes | None) -> str | None:
    try:
        content = json.loads(value or b"")
    except ValueError:
        return None
    identifier = content.get("answer_id") if isinstance(content, dict) else None
    return identifier if isinstance(identifier, str) else None
