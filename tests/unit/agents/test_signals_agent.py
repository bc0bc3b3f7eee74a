"""The signals agent leaves to assembly what nobody can read, so that there is one dead letter and not two."""

from types import SimpleNamespace
from typing import Any

import pytest

from workers.agents.signals import _Case, _outputs, _read_all
from workers.delivery.records import CountedOutputs, Record, WorkItem
from workers.observability import metrics
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
    assert skipped == []
    assert isinstance(read, _Case) and read.answer.answer_id == "a"


def test_records_of_a_repeated_batch_are_counted_when_they_are_acknowledged() -> None:
    context: Any = SimpleNamespace(settings=Settings(_env_file=None), pipeline_version="v")
    unread, unasked = metrics.RECORDS_SKIPPED.labels("signals", "not_json"), metrics.RETRY_CHECKS.labels("nobody")
    before = unread._value.get(), unasked._value.get()
    works = [WorkItem(Record("answers.generated", 0, n, None, value)) for n, value in enumerate((b"no json", GOOD))]
    for _ in range(3):  # the broker is away
        skipped, read = _read_all(works, context)
        assert isinstance(skipped, CountedOutputs) and isinstance(read, _Case)
        outputs = _outputs(read, {}, {}, context)
    assert (unread._value.get(), unasked._value.get()) == before
    skipped.raise_metrics()
    outputs.raise_metrics()
    assert (unread._value.get(), unasked._value.get()) == (before[0] + 1, before[1] + 1)
