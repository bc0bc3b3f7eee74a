"""Records wait within a bound on all partitions together, and come out in their order and once."""

from hypothesis import given, settings
from hypothesis import strategies as st

from workers.archive import waiting_records
from workers.archive.waiting_records import FILE_RECORDS, RECORD_BYTES, WaitingRecords
from workers.delivery.records import Record

HELD = 20 * RECORD_BYTES
BATCHES = st.lists(
    st.tuples(st.integers(0, 9), st.lists(st.binary(max_size=3 * RECORD_BYTES), min_size=1, max_size=5)), max_size=30
)


def size(record: Record) -> int:
    return (
        len(record.key or b"") + len(record.value or b"") + sum(len(name) + len(v or b"") for name, v in record.headers)
    )


@given(BATCHES)
@settings(max_examples=200)
def test_all_partitions_together_hold_no_more_than_the_bound(batches: list[tuple[int, list[bytes]]]) -> None:
    waiting = WaitingRecords(HELD)
    given_: dict[int, list[Record]] = {}
    written: dict[int, list[Record]] = {}
    held = 0
    for partition, values in batches:
        ends = len(given_.setdefault(partition, []))
        records = [
            Record("answers.generated", partition, ends + number, b"k", value, [("h", value)])
            for number, value in enumerate(values)
        ]
        given_[partition] += records
        held += sum(map(size, records))
        for full in waiting.add(records):
            written.setdefault(full[0].partition, []).extend(full)
            held -= sum(map(size, full))
        assert held <= waiting.size <= HELD
    for rest in waiting.rest():
        written.setdefault(rest[0].partition, []).extend(rest)
    assert written == given_
    assert waiting.size == 0


def test_of_too_many_records_the_largest_file_is_written() -> None:
    waiting = WaitingRecords(HELD)
    for partition, number in ((0, 4), (1, 9), (2, 7)):
        records = [Record("answers.generated", partition, offset, None, b"") for offset in range(number)]
        assert list(waiting.add(records)) == []
    (full,) = waiting.add([Record("answers.generated", 3, 0, None, b"x")])
    assert (full[0].partition, len(full)) == (1, 9)


def test_a_full_file_is_written_at_once() -> None:
    record = Record("answers.generated", 0, 0, None, b"")
    waiting = WaitingRecords()
    assert list(waiting.add([record] * (FILE_RECORDS - 1))) == []
    assert [len(full) for full in waiting.add([record])] == [FILE_RECORDS]
    assert waiting_records.HELD_BYTES >= FILE_RECORDS * RECORD_BYTES
