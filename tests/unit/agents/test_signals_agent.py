"""The signals agent leaves to assembly what nobody can read, so that there is one dead letter and not two."""

from types import SimpleNamespace
from typing import Any

import pytest

from workers.agents.signals import _read_all
from workers.delivery.records import Record, WorkItem
from workers.settings import KafkaSettings, Settings

GOOD = b'{"answer_id": "a", "query": "Why?", "answer": "Because it rains.", "completed_at": "2026-11-02T08:00:00Z"}'


@pytest.mark.parametrize(
    "record",
    [
        Record("answers.generated", 0, 1, None, b"no json"),
        Record("answers.generated", 0, 1, None, GOOD + b" " * 5_000),
        Record("answers.generated", 0, 1, None, GOOD, foreign_names=True),
        Record("answers.generated", 0, 1, None, GOOD, headers=[("replay_id", b"r")]),
    ],
    ids=["unreadable", "oversize", "foreign header", "replay"],
)
def test_what_is_not_to_be_judged_is_skipped_and_its_neighbour_is_not(record: Record) -> None:
    context: Any = SimpleNamespace(settings=Settings(_env_file=None, kafka=KafkaSettings(max_record_bytes=10_000)))
    skipped, read = _read_all([WorkItem(record), WorkItem(Record("answers.generated", 0, 2, None, GOOD))], context)
    assert skipped is None
    assert read is not None and read.answer.answer_id == "a"
