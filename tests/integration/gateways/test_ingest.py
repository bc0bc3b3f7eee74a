"""``touchstone ingest``: what is an answer goes to the broker, what is not is told by number and kept."""

import asyncio
import gzip
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.structs import ConsumerRecord

from schemas.answers import GeneratedAnswer
from schemas.export import example
from schemas.topics import ANSWERS_GENERATED
from tests.harness.command import bare_environment, run_command
from tests.harness.deployment import until
from tests.harness.keys import name_of
from tests.harness.paths import ROOT
from workers.settings import Settings
from workers.settings.addresses import Addresses

Ingest = Callable[..., subprocess.CompletedProcess[bytes]]


def answer(number: int, **changes: Any) -> bytes:
    return json.dumps(example(GeneratedAnswer) | {"answer_id": f"a-{number}"} | changes).encode()


def lines(*values: bytes) -> bytes:
    return b"".join(value + b"\n" for value in values)


@pytest.fixture
def environment(settings: Settings, addresses: Addresses, topics: None, tmp_path: Path) -> dict[str, str]:
    """The broker's address and nothing else."""
    return bare_environment() | {
        "PYTHONPATH": str(ROOT),
        "KAFKA_BOOTSTRAP_SERVERS": addresses.kafka,
        "TOUCHSTONE_KAFKA__TOPIC_PREFIX": settings.kafka.topic_prefix,
        "TOUCHSTONE_KAFKA__IDEMPOTENT_PRODUCER": str(settings.kafka.idempotent_producer).lower(),
        "TOUCHSTONE_STATE_DIR": str(tmp_path / "state"),
        "NO_COLOR": "1",
        "COLUMNS": "60",
    }


@pytest.fixture
def ingest(environment: dict[str, str], tmp_path: Path) -> Ingest:
    """The command in a directory of its own."""

    def run(*arguments: str, standard_input: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return run_command("ingest", *arguments, folder=tmp_path, environment=environment, given=standard_input)

    return run


@pytest.fixture
def process(environment: dict[str, str], tmp_path: Path) -> Ingest:
    """The same as a process of its own."""

    def run(*arguments: str, standard_input: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "workers.cli", "ingest", *arguments],
            cwd=tmp_path, env=environment, input=standard_input, capture_output=True, timeout=240, check=False,
        )  # fmt: skip

    return run


async def at_the_broker(settings: Settings, addresses: Addresses) -> list[ConsumerRecord]:
    topic = settings.topic_name(ANSWERS_GENERATED.name)
    consumer = AIOKafkaConsumer(bootstrap_servers=addresses.kafka, enable_auto_commit=False)
    await consumer.start()
    try:
        partitions = [TopicPartition(topic, number) for number in range(settings.kafka.partitions)]
        consumer.assign(partitions)
        ends = await consumer.end_offsets(partitions)
        await consumer.seek_to_beginning(*partitions)
        records: list[ConsumerRecord] = []
        async with asyncio.timeout(120):
            while len(records) < sum(ends.values()):
                for batch in (await consumer.getmany(timeout_ms=200)).values():
                    records += batch
        return records
    finally:
        await consumer.stop()


async def identifiers(settings: Settings, addresses: Addresses) -> list[str]:
    return sorted(json.loads(record.value)["answer_id"] for record in await at_the_broker(settings, addresses))


def rejects(path: Path) -> list[tuple[int, str, str]]:
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    return [(row["line"], row["reason"], row["content"]) for row in rows]


async def test_lines_are_sent_as_they_are_with_their_key_and_headers(
    ingest: Ingest, settings: Settings, addresses: Addresses, tmp_path: Path
) -> None:
    sent = [answer(number, added_field={"kept": "Größe"}) for number in range(250)]
    (tmp_path / "answers.jsonl").write_bytes(lines(*sent, b"", b"   ") + answer(250))  # no line break at the end
    done = ingest("answers.jsonl")
    assert (done.returncode, done.stdout) == (0, b"251 answers sent, 0 lines rejected\n"), done.stderr
    records = await at_the_broker(settings, addresses)
    assert sorted(record.value for record in records) == sorted([*sent, answer(250)])
    for record in records:
        assert name_of(record) == json.loads(record.value)["answer_id"]
        headers = dict(record.headers)
        assert headers["ce_id"].decode() == name_of(record)
        assert headers["ce_type"] == b"touchstone.GeneratedAnswer"
        assert headers["traceparent"].startswith(b"00-4bf92f35")
    assert not (tmp_path / "answers.rejected.jsonl").exists()


async def test_gzip_is_known_by_its_content(
    ingest: Ingest, settings: Settings, addresses: Addresses, tmp_path: Path
) -> None:
    (tmp_path / "answers.data").write_bytes(gzip.compress(lines(answer(1))) + gzip.compress(lines(answer(2))))
    done = ingest("answers.data", "--json")
    assert json.loads(done.stdout) == {"sent": 2, "rejected": 0, "reject_file": None}
    assert done.returncode == 0
    assert await identifiers(settings, addresses) == ["a-1", "a-2"]


async def test_standard_input(process: Ingest, settings: Settings, addresses: Addresses, tmp_path: Path) -> None:
    done = process("-", standard_input=lines(answer(1), b"{", answer(2)))
    assert done.returncode == 1
    assert b"2 answers sent, 1 lines rejected" in done.stdout
    assert await identifiers(settings, addresses) == ["a-1", "a-2"]
    assert [number for number, _, _ in rejects(tmp_path / "stdin.rejected.jsonl")] == [2]


@pytest.mark.parametrize("name", ["/dev/stdin", "answers.pipe"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
async def test_a_pipe_with_a_name_is_read_like_a_file(
    process: Ingest, settings: Settings, addresses: Addresses, tmp_path: Path, name: str, pack: Callable[[bytes], bytes]
) -> None:
    content = pack(lines(answer(1), answer(2)))
    if name == "/dev/stdin":
        done = process(name, standard_input=content)
    else:
        os.mkfifo(tmp_path / name)
        writer = threading.Thread(target=(tmp_path / name).write_bytes, args=(content,))
        writer.start()
        done = process(name)
        writer.join()
    assert (done.returncode, done.stdout) == (0, b"2 answers sent, 0 lines rejected\n"), done.stderr
    assert await identifiers(settings, addresses) == ["a-1", "a-2"]


async def test_lines_of_a_live_pipe_are_sent_as_they_come_and_the_first_interrupt_ends_the_command(
    environment: dict[str, str], settings: Settings, addresses: Addresses, tmp_path: Path
) -> None:
    running = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "workers.cli", "ingest", "-", cwd=tmp_path, env=environment,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert running.stdin is not None
    try:
        for number in range(3):
            running.stdin.write(lines(answer(number)))

            async def sent(count: int = number + 1) -> bool:
                return len(await at_the_broker(settings, addresses)) == count

            await until(sent, f"answer {number}", 90)
        assert running.returncode is None
        running.send_signal(signal.SIGINT)
        async with asyncio.timeout(30):
            assert await running.wait() == 130
        errors = await running.stderr.read()  # type: ignore[union-attr]
        assert b"Traceback" not in errors and b"Fatal" not in errors
    finally:
        if running.returncode is None:
            running.kill()
        running.stdin.close()
        await running.wait()


@pytest.mark.parametrize(("good", "told"), [([], True), ([answer(1)], False)])
async def test_a_file_without_any_answer_leads_to_the_command_for_other_formats(
    ingest: Ingest, tmp_path: Path, good: list[bytes], told: bool
) -> None:
    call = b'{"model": "m", "messages": [{"role": "user", "content": "Q?"}], "response": "A."}'
    done = ingest("-", standard_input=lines(call, *good))
    assert done.returncode == 1
    assert (b"touchstone adapt" in done.stderr) == told


async def test_bad_lines_are_told_by_number_kept_and_do_not_stop_the_others(
    ingest: Ingest, settings: Settings, addresses: Addresses, tmp_path: Path
) -> None:
    secret = "the third floor"
    bad = {
        2: b"{not json " + secret.encode(),
        4: answer(4, answer=None),
        5: answer(5, completed_at="2026-11-02T08:00:00"),
        6: answer(6, schema_version="2.0"),
        7: b'["' + secret.encode() + b'"]',
        8: b"\xff\xfe\x00",
        9: answer(9, query="q" * 400_000),
    }
    all_lines = [bad.get(number, answer(number)) for number in range(1, 12)]
    (tmp_path / "[mixed].jsonl").write_bytes(lines(*all_lines))
    done = ingest("[mixed].jsonl", "--json")
    assert done.returncode == 1
    report = json.loads(done.stdout)
    assert report == {"sent": 4, "rejected": 7, "reject_file": "[mixed].rejected.jsonl"}
    assert await identifiers(settings, addresses) == ["a-1", "a-10", "a-11", "a-3"]
    kept = rejects(tmp_path / "[mixed].rejected.jsonl")
    assert [number for number, _, _ in kept] == sorted(bad)
    assert [content for _, _, content in kept[:4]] == [bad[number].decode() for number in (2, 4, 5, 6)]
    reasons = {number: reason for number, reason, _ in kept}
    assert "not valid JSON" in reasons[2]
    assert "answer" in reasons[4]
    assert "completed_at" in reasons[5]
    assert "schema_version 2.0" in reasons[6]
    assert all(secret not in reason for reason in reasons.values())
    told = done.stderr.decode()
    assert f"line 4: {reasons[4]}\n" in told, "one line for each, however narrow the terminal"
    assert sum(text.startswith("line ") for text in told.splitlines()) == 5
    assert "further rejected lines are counted only" in told
    assert secret not in told


@pytest.mark.parametrize("masks", [False, True], ids=["unmasked", "masked"])
def test_rejected_lines_are_for_their_owner_and_never_stored_in_plain_where_texts_are_masked(
    ingest: Ingest, environment: dict[str, str], tmp_path: Path, masks: bool
) -> None:
    if masks:
        environment["TOUCHSTONE_PRIVACY__MASK"] = '["mail"]'
        environment["TOUCHSTONE_PRIVACY__KEY"] = "0123456789abcdef0123456789abcdef"
    kept = tmp_path / "stdin.rejected.jsonl"
    kept.write_text("old")
    kept.chmod(0o644)
    mail = b"jane@example.org"
    done = ingest(
        "-", standard_input=lines(answer(1), b"{not json " + mail, answer(3, answer=None, query=mail.decode()))
    )
    assert done.returncode == 1
    assert kept.stat().st_mode & 0o777 == 0o600
    assert (mail in kept.read_bytes()) == (not masks)
    rows = [json.loads(line) for line in kept.read_bytes().splitlines()]
    assert [row["line"] for row in rows] == [2, 3]
    assert all(row["reason"] for row in rows)


async def test_rejected_lines_can_be_sent_once_mended(
    ingest: Ingest, settings: Settings, addresses: Addresses, tmp_path: Path
) -> None:
    (tmp_path / "answers.jsonl.gz").write_bytes(gzip.compress(lines(answer(1), answer(2, answer=None))))
    assert ingest("answers.jsonl.gz").returncode == 1
    ((_, _, content),) = rejects(tmp_path / "answers.rejected.jsonl")
    (tmp_path / "mended.jsonl").write_text(content.replace('"answer": null', '"answer": "mended"'))
    assert ingest("mended.jsonl").returncode == 0
    assert await identifiers(settings, addresses) == ["a-1", "a-2"]


async def test_the_labelled_format(ingest: Ingest, settings: Settings, addresses: Addresses, tmp_path: Path) -> None:
    row = {
        "id": "q-1", "dataset": "faithfulness", "task": "qa", "query": "How much?", "contexts": ["It needs 2 GiB."],
        "answer": "2 GiB.", "label": 1, "spans": None, "split": "test",
    }  # fmt: skip
    wrong = [
        b"17", b"null", b'"id answer contexts"', b"[]", b'{"id": 1, "answer": "x"}',
        json.dumps(row | {"contexts": "text"}).encode(), json.dumps(row | {"contexts": [1]}).encode(),
        json.dumps(row | {"id": "x" * 300}).encode(),
    ]  # fmt: skip
    (tmp_path / "rows.jsonl").write_bytes(lines(json.dumps(row).encode(), *wrong))
    done = ingest("rows.jsonl", "--format", "labelled", "--json")
    assert b"Traceback" not in done.stderr
    assert done.returncode == 1
    assert json.loads(done.stdout)["sent"] == 1
    assert len(rejects(tmp_path / "rows.rejected.jsonl")) == len(wrong)
    (record,) = await at_the_broker(settings, addresses)
    event = GeneratedAnswer.from_bytes(record.value)
    assert event.answer_id == "faithfulness:q-1"
    assert event.contexts is not None
    assert [chunk.content for chunk in event.contexts] == ["It needs 2 GiB."]
    assert event.metadata["label"] == 1
    # The file's time: whoever sends it again sends the same.
    assert event.completed_at.timestamp() == pytest.approx((tmp_path / "rows.jsonl").stat().st_mtime, abs=1e-3)
    assert ingest("rows.jsonl", "--format", "labelled").returncode == 1
    again = await at_the_broker(settings, addresses)
    assert [each.value for each in again] == [record.value] * 2


async def test_a_damaged_gzip_is_told_and_what_came_before_may_have_been_sent(
    ingest: Ingest, settings: Settings, addresses: Addresses, tmp_path: Path
) -> None:
    whole = gzip.compress(lines(*(answer(number, query=os.urandom(200).hex()) for number in range(150))))
    (tmp_path / "cut.jsonl.gz").write_bytes(whole[: len(whole) * 3 // 4])
    (tmp_path / "flipped.jsonl.gz").write_bytes(whole[:2_000] + b"\xff" * 50 + whole[2_050:])
    for name in ("cut.jsonl.gz", "flipped.jsonl.gz"):
        done = ingest(name)
        assert done.returncode == 1
        assert f"error: {name} cannot be read: damaged".encode() in done.stderr
        assert b"Traceback" not in done.stderr


async def test_a_compressed_line_of_100_megabytes_is_rejected_by_number_and_the_next_ones_are_sent(
    process: Ingest, settings: Settings, addresses: Addresses, tmp_path: Path
) -> None:
    with gzip.open(tmp_path / "bomb.jsonl.gz", "wb", compresslevel=1) as packed:
        packed.write(lines(answer(1)))
        for _ in range(100):
            packed.write(b" " * 1_000_000)
        packed.write(b"\n" + lines(answer(2)))
    done = process("bomb.jsonl.gz", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout) | {"reject_file": None} == {"sent": 2, "rejected": 1, "reject_file": None}
    assert b"line 2: longer than 64000000 bytes after decompression" in done.stderr
    assert b"TOUCHSTONE_FILES__MAX_LINE_BYTES" in done.stderr
    assert (tmp_path / "bomb.rejected.jsonl").stat().st_size < 1_000
    assert len(await at_the_broker(settings, addresses)) == 2


@pytest.mark.parametrize(
    ("file", "reason"),
    [("missing.jsonl", "No such file or directory"), (".", "Is a directory"), ("[/x].jsonl", "No such file")],
)
def test_a_file_that_cannot_be_read_is_told(ingest: Ingest, file: str, reason: str) -> None:
    done = ingest(file)
    assert done.returncode == 1
    assert f"error: {file} cannot be read: {reason}" in done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_an_empty_file_is_no_error(ingest: Ingest, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_bytes(b"")
    done = ingest("empty.jsonl", "--json")
    assert (done.returncode, json.loads(done.stdout)["sent"]) == (0, 0)


def test_a_place_that_takes_no_reject_file_is_told(ingest: Ingest, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"{\n")
    (tmp_path / "a.rejected.jsonl").mkdir()
    done = ingest("a.jsonl")
    assert done.returncode == 1
    assert b"rejected lines cannot be kept in a.rejected.jsonl: Is a directory" in done.stderr
    assert b"Traceback" not in done.stderr
