"""What is archived comes back as it was, but for those who are erased."""

import json
import random
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.identifiers import person_digest
from schemas.privacy import Erasure
from schemas.topics import ANSWERS_GENERATED, FEEDBACK_EVENTS, PRIVACY_ERASURES, Topic
from tests.harness.deployment import Deployment
from tests.harness.forked_process import run_forked
from tests.harness.raw_records import batch, send_batch
from tests.harness.s3_server import BUCKET, aws_environment, s3_server
from tests.integration.delivery.test_lost_records import delete_before
from tests.integration.runtime.test_seen_versions import touchstone
from workers.archive import archive_copy as archiving
from workers.archive import waiting_records
from workers.archive.archive_files import Archive, ArchiveUnusable
from workers.delivery.records import Record
from workers.delivery.topics.topic_administration import TopicAdministration
from workers.settings.addresses import Addresses


def nobody(*_: object) -> None:
    """Is told how far it is."""


Sent = tuple[bytes | None, bytes | None, list[tuple[str, bytes | None]], int]


def answer(name: str, user: str = "user-18") -> bytes:
    return json.dumps({"answer_id": name, "user_id": user, "completed_at": "2026-11-02T08:00:00Z"}).encode()


async def send(deployment: Deployment, topic: Topic, records: list[tuple[int, Sent]]) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=deployment.addresses.kafka)
    await producer.start()
    try:
        for partition, (key, value, headers, at) in records:
            await producer.send_and_wait(
                deployment.settings.topic_name(topic.name), value, key=key, headers=headers, partition=partition, timestamp_ms=at,
            )  # fmt: skip
    finally:
        await producer.stop()


async def held(deployment: Deployment, topic: Topic) -> dict[int, list[Sent]]:
    found: dict[int, list[Sent]] = defaultdict(list)
    for record in await deployment.read(topic):
        found[record.partition].append((record.key, record.value, list(record.headers), record.timestamp))
    return found


async def prepared(addresses: Addresses, path: Path, name: str) -> Deployment:
    (path / name).mkdir()
    deployment = Deployment(addresses, path / name, partitions=2)
    async with TopicAdministration(deployment.settings, addresses.kafka) as administration:
        await administration.create()
    return deployment


def odd_records() -> list[tuple[int, Sent]]:
    """What a topic may hold: no key, no value, empty ones, bytes that are no text, headers that repeat."""
    chance = random.Random(4)
    records: list[tuple[int, Sent]] = [
        (0, (None, b"\xff\x00 no json", [], 1_700_000_000_123)),
        (0, (b"", b"", [("h", b""), ("h", None), ("\u00e9", b"\xff")], 1_700_000_000_124)),
        (1, (b"tombstone", None, [], 1_700_000_000_125)),
    ]
    for number in range(60):
        value = answer(f"a-{number}") + b" " * chance.randrange(2_000)
        records.append(
            (number % 2, (f"a-{number}".encode(), value, [("n", bytes([number]))], 1_700_000_001_000 + number))
        )
    return records


async def test_an_archive_gives_back_every_byte_and_goes_on_where_it_ended(
    addresses: Addresses, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting_records, "FILE_RECORDS", 10)
    source = await prepared(addresses, tmp_path, "source")
    folder = tmp_path / "archive"
    records = odd_records()

    async def write() -> archiving.Archived:
        return await archiving.write_archive(source.settings, addresses, folder, archiving.ARCHIVED, nobody)

    await send(source, ANSWERS_GENERATED, records[:40])
    await send(source, FEEDBACK_EVENTS, records[:5])
    first = await write()
    assert first == archiving.Archived({"answers.generated": 40, "feedback.events": 5}, 0)
    assert await write() == archiving.Archived({}, 0), "nothing is written twice"
    await send(source, ANSWERS_GENERATED, records[40:])
    assert (await write()).records == {"answers.generated": 23}
    offsets: dict[tuple[str, int], int] = {}
    for file in Archive(folder).files():
        assert file.first == offsets.get((file.topic, file.partition), 0), "files follow one another"
        offsets[file.topic, file.partition] = file.last + 1
    assert len(Archive(folder).files()) > 5
    target = await prepared(addresses, tmp_path, "target")
    arguments = (target.settings, addresses, folder, archiving.ARCHIVED, nobody)
    counted = await archiving.restore_archive(*arguments, dry_run=True)
    assert counted.records == {"answers.generated": 63, "feedback.events": 5}
    assert await held(target, ANSWERS_GENERATED) == {}
    assert await archiving.restore_archive(*arguments) == counted
    for topic in (ANSWERS_GENERATED, FEEDBACK_EVENTS):
        assert await held(target, topic) == await held(source, topic)
        assert sum(map(len, (await held(target, topic)).values())) == counted.records[topic.name]
    since = datetime.fromtimestamp(1_700_000_001.010, UTC)
    late = await archiving.restore_archive(*arguments, since=since, dry_run=True)
    early = await archiving.restore_archive(*arguments, until=since, dry_run=True)
    assert (late.records["answers.generated"], early.records["answers.generated"]) == (50, 13)


async def test_erased_persons_are_neither_archived_nor_restored_and_can_be_removed_from_files(
    addresses: Addresses, tmp_path: Path
) -> None:
    source = await prepared(addresses, tmp_path, "source")
    folder = tmp_path / "archive"
    run: tuple[Any, ...] = (source.settings, addresses, folder)

    def of(user: str, numbers: range) -> list[tuple[int, Sent]]:
        return [(0, (f"{user}-{n}".encode(), answer(f"{user}-{n}", user), [], 1_700_000_000_000 + n)) for n in numbers]

    await send(source, ANSWERS_GENERATED, [*of("gone", range(3)), *of("stays", range(3))])
    assert (await archiving.write_archive(*run, archiving.ARCHIVED, nobody)).records == {"answers.generated": 6}
    erasure = Erasure(digest=person_digest("default", "gone"), requested_at=datetime.now(UTC))
    await send(source, PRIVACY_ERASURES, [(0, (erasure.digest.encode(), erasure.to_bytes(), [], 1_790_000_000_000))])
    await send(source, ANSWERS_GENERATED, of("gone", range(3, 5)))
    written = await archiving.write_archive(*run, archiving.ARCHIVED, nobody)
    assert written == archiving.Archived({"privacy.erasures": 1}, 2)
    # An empty broker knows of no erasure: the archive brings its own register.
    target = await prepared(addresses, tmp_path, "target")
    restored = await archiving.restore_archive(target.settings, addresses, folder, archiving.ARCHIVED, nobody)
    assert restored == archiving.Archived({"answers.generated": 3, "privacy.erasures": 1}, 3)
    keys = [key for key, *_ in (await held(target, ANSWERS_GENERATED))[0]]
    assert keys == [b"stays-0", b"stays-1", b"stays-2"]
    assert any(b"gone-1" in (record.value or b"") for record in archived(folder))
    assert await archiving.erase_archive(*run, nobody) == 3
    assert not any(b"gone" in (record.value or b"") for record in archived(folder))
    assert await archiving.erase_archive(*run, nobody) == 0
    assert (await archiving.write_archive(*run, archiving.ARCHIVED, nobody)).records == {}, "a file keeps its place"


@pytest.mark.parametrize("there", [0, 2], ids=["an empty one", "a shorter one"])
async def test_the_log_of_another_broker_does_not_go_into_the_same_folder(
    addresses: Addresses, tmp_path: Path, there: int
) -> None:
    """Its offsets begin anew: the client would read it from its beginning, beside files of the same offsets."""
    folder = tmp_path / "archive"
    records = [(1, (None, answer(f"a-{number}"), [], 1_700_000_000_000)) for number in range(4)]
    source = await prepared(addresses, tmp_path, "source")
    await send(source, ANSWERS_GENERATED, records)
    await archiving.write_archive(source.settings, addresses, folder, archiving.ARCHIVED, nobody)
    files = Archive(folder).files()
    other = await prepared(addresses, tmp_path, "other")
    await send(other, ANSWERS_GENERATED, records[:there])
    told = rf"answers\.generated\[1\] ends at offset {there}, but its archive ends at 4: .* another folder"
    with pytest.raises(ArchiveUnusable, match=told):
        await archiving.write_archive(other.settings, addresses, folder, archiving.ARCHIVED, nobody)
    assert Archive(folder).files() == files, "nothing was written"
    # Topics that are not archived yet are none of its business.
    await send(other, FEEDBACK_EVENTS, records[:1])
    written = await archiving.write_archive(other.settings, addresses, folder, [FEEDBACK_EVENTS], nobody)
    assert written.records == {"feedback.events": 1}


def archived(folder: Path) -> list[Record]:
    archive = Archive(folder)
    return [record for file in archive.files() for some in archive.read(file) for record in some]


async def test_a_header_name_that_is_no_text_is_kept_as_its_bytes(addresses: Addresses, tmp_path: Path) -> None:
    source = await prepared(addresses, tmp_path, "source")
    content = batch([(b"{}", [(b"\xff\xfe", b"v"), (b"plain", None)])])
    await send_batch(addresses, source.settings.topic_name(ANSWERS_GENERATED.name), 0, content, 1)
    folder = tmp_path / "archive"
    await archiving.write_archive(source.settings, addresses, folder, [ANSWERS_GENERATED], nobody)
    (record,) = archived(folder)
    assert record.headers == [("\udcff\udcfe", b"v"), ("plain", None)]


texts = st.text(alphabet=st.characters(codec="utf-8"), max_size=8)
kept = st.builds(
    Record,
    st.just("answers.generated"), st.just(3), st.just(0), st.none() | st.binary(max_size=20), st.none() | st.binary(),
    st.lists(st.tuples(texts, st.none() | st.binary(max_size=9)), max_size=3),
    st.integers(0, 4_000_000_000_000).map(lambda ms: ms / 1000),
)  # fmt: skip


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(kept, min_size=1, max_size=5), st.lists(st.integers(1, 4), min_size=5, max_size=5))
def test_whatever_a_record_holds_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, records: list[Record], steps: list[int]
) -> None:
    placed, offset = [], 0
    for record, step in zip(records, steps, strict=False):
        offset += step  # transactions and compaction leave gaps
        parts = (record.topic, record.partition, offset, record.key, record.value, record.headers, record.timestamp)
        placed.append(Record(*parts))
    folder = tmp_path_factory.mktemp("archive")
    archive = Archive(folder)
    archive.write(placed)
    assert archived(folder) == placed
    assert archive.ends() == {("answers.generated", 3): offset + 1}


def test_what_is_no_archive_is_told(tmp_path: Path) -> None:
    with pytest.raises(ArchiveUnusable, match="is not a folder"):
        Archive(tmp_path / "nowhere").files()
    archive = Archive(tmp_path)
    path = tmp_path / archive.write([Record("answers.generated", 0, 5, None, b"x")])
    path.write_bytes(path.read_bytes()[:-9] + b"rubbish!!")
    (file,) = archive.files()
    with pytest.raises(ArchiveUnusable, match=r"00000000000000000005\.parquet cannot be read"):
        list(archive.read(file))
    path.write_bytes(b"")
    (path.parent / "00000000000000000005-00000000000000000009.tmp").write_bytes(b"half")
    assert len(archive.files()) == 1, "what was cut off is not taken for a file"


async def test_the_commands_say_what_they_did(addresses: Addresses, tmp_path: Path) -> None:
    source = await prepared(addresses, tmp_path, "source")
    await send(source, ANSWERS_GENERATED, odd_records()[:4])
    code, output, errors = await touchstone(source, "archive", "write", "kept", "--json")
    assert (code, json.loads(output)) == (0, {"records": {"answers.generated": 4}, "erased": 0, "gone": 0}), errors
    code, output, _ = await touchstone(source, "archive", "restore", "kept", "--dry-run")
    assert (code, "4 records would be sent" in output) == (0, True)
    code, _, errors = await touchstone(source, "archive", "write", "kept", "--topic", "answers")
    assert (code, "unknown topic answers" in errors) == (2, True)
    code, _, errors = await touchstone(source, "archive", "list", "nowhere")
    assert (code, "nowhere is not a folder" in errors) == (1, True)


async def test_the_commands_take_an_object_store(
    addresses: Addresses, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def command(deployment: Deployment, *arguments: str) -> tuple[int, str, str]:
        environment = deployment._environment() | aws_environment()
        return await run_forked(*arguments, folder=deployment.directory, environment=environment)

    with s3_server(monkeypatch) as options:
        place = f"s3://{BUCKET}/touchstone{options}"
        source = await prepared(addresses, tmp_path, "source")
        await send(source, ANSWERS_GENERATED, odd_records())
        code, output, errors = await command(source, "archive", "write", place, "--json")
        assert (code, json.loads(output)["records"]) == (0, {"answers.generated": 63}), errors
        code, output, errors = await command(source, "archive", "write", place, "--json")
        assert (code, json.loads(output)["records"]) == (0, {}), errors
        code, output, errors = await command(source, "archive", "list", place, "--json")
        listed = {(row["partition"], row["first"], row["last"]) for row in json.loads(output)}
        assert (code, listed) == (0, {(0, 0, 31), (1, 0, 30)}), errors
        target = await prepared(addresses, tmp_path, "target")
        code, _, errors = await command(target, "archive", "restore", place)
        assert code == 0, errors
        assert await held(target, ANSWERS_GENERATED) == await held(source, ANSWERS_GENERATED)


async def test_a_hole_that_retention_left_is_an_error_with_its_number(
    kafka_addresses: Addresses, tmp_path: Path
) -> None:
    source = await prepared(kafka_addresses, tmp_path, "holes")
    await send(source, ANSWERS_GENERATED, [(0, (b"a", answer(f"a-{number}"), [], 1)) for number in range(3)])
    assert (await touchstone(source, "archive", "write", "kept"))[0] == 0
    await send(source, ANSWERS_GENERATED, [(0, (b"a", answer(f"a-{number}"), [], 1)) for number in range(3, 10)])
    await delete_before(source.settings, kafka_addresses, {0: 8})
    code, output, errors = await touchstone(source, "archive", "write", "kept", "--json")
    assert (code, json.loads(output)) == (1, {"records": {"answers.generated": 2}, "erased": 0, "gone": 5})
    assert "the archive has a hole: retention removed 5 records before they were archived" in " ".join(errors.split())
    assert (await touchstone(source, "archive", "write", "kept"))[0] == 0, "a hole is reported once"
