"""Dead letters from the record to ClickHouse and back to their topic, and what operators type for it."""

import asyncio
import base64
import json
import os
import stat
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka.structs import ConsumerRecord

from schemas.dead_letters import DeadLetter
from schemas.headers import Headers
from schemas.identifiers import dead_letter_id
from schemas.topics import ANSWERS_ENRICHED, ANSWERS_GENERATED, ANSWERS_GROUNDING, DEAD_LETTERS, Topic
from tests.harness.command import run_command
from tests.harness.deployment import Deployment, until
from tests.harness.migrated import make_tables, return_tables
from tests.harness.paths import ROOT
from workers.agents.analytics import ANALYTICS
from workers.delivery.failures.dead_letter_sender import DeadLetterSender
from workers.delivery.producer import ConfirmedProducer
from workers.delivery.records import Output, Record, WorkItem
from workers.errors import OversizeRecord, PoisonError, RejectedByStore, TouchstoneError
from workers.runtime.worker import Worker
from workers.services.shared_service import SharedService
from workers.settings import Settings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore, connect
from workers.stores.queries.dead_letter_queries import DeadLetterStore, LetterFilter, UnknownDeadLetter

HOSTILE = "\x1b[2J\x1b]0;owned\x07\r\x9b31m\u202egnp.exe\u2028[bold]markup[/bold]"


@dataclass(slots=True)
class Outcome:
    """What a command has said."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Captured:
    """A producer that keeps what it is given, to be handed to the agent."""

    def __init__(self) -> None:
        self.outputs: list[Output] = []

    async def send(self, outputs: Sequence[Output], *, agent: str) -> None:
        self.outputs.extend(outputs)


@dataclass(slots=True)
class Letters:
    """The dead letters of one deployment."""

    settings: Settings
    addresses: Addresses
    directory: Path
    analytics: AnalyticsStore
    offset: int = 0

    @property
    def store(self) -> DeadLetterStore:
        return DeadLetterStore(self.analytics.client, self.settings.clickhouse.database)

    async def add(
        self,
        value: bytes | None = b"{}",
        *,
        key: bytes | None = b"k",
        headers: Headers | None = None,
        topic: Topic = ANSWERS_GENERATED,
        partition: int = 0,
        offset: int | None = None,
        agent: str = "assembly",
        error: Exception | None = None,
        minutes_ago: float = 0.0,
    ) -> str:
        """Give a record up and let the analytics agent store the letter, but for the broker in between."""
        self.offset += 1
        place = (topic.name, partition, self.offset if offset is None else offset)
        captured = Captured()
        sender = DeadLetterSender(captured, "test")  # type: ignore[arg-type]
        record = Record(*place, key, value, headers or [])
        await sender.send(record, agent=agent, error=error or PoisonError("poison"), attempts=1)
        await self.store_again(captured.outputs[0], minutes_ago)
        return dead_letter_id(*place, agent)

    async def store_again(self, output: Output, minutes_ago: float = 0.0) -> None:
        failed_at = (datetime.now(UTC) - timedelta(minutes=minutes_ago)).isoformat().encode()
        headers = [(name, failed_at if name == "dlq_failed_at" else content) for name, content in output.headers]
        services = SimpleNamespace(clickhouse=SharedService(lambda: nullcontext(self.analytics)))
        context: Any = SimpleNamespace(services=services, require=lambda name, check: None)
        async with AsyncExitStack() as stack:
            handle = await ANALYTICS.open(context, stack)
        results = await handle([WorkItem(Record(DEAD_LETTERS.name, 0, self.offset, output.key, output.value, headers))])
        assert list(results) == [[]]

    async def get(self, identifier: str) -> DeadLetter:
        return (await self.store.read(await self.store.keys(LetterFilter(identifiers=(identifier,)))))[0]

    async def dlq(self, *arguments: str, stdin: str = "", **variables: str) -> Outcome:
        """``touchstone dlq`` in a thread of its own."""
        environment = os.environ | self.environment() | variables
        done = await asyncio.to_thread(
            run_command, "dlq", *arguments, folder=self.directory, environment=environment, given=stdin.encode()
        )
        return Outcome(done.returncode, done.stdout, done.stderr.decode())

    async def dlq_process(self, *arguments: str) -> Outcome:
        """``touchstone dlq`` as a process, which takes a second to start."""
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "workers.cli", "dlq", *arguments,
            cwd=self.directory, env=os.environ | self.environment() | {"PYTHONPATH": str(ROOT)},
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, err = await asyncio.wait_for(process.communicate(), 240)
        return Outcome(process.returncode or 0, out, err.decode())

    def environment(self) -> dict[str, str]:
        kafka = self.settings.kafka
        return {
            "KAFKA_BOOTSTRAP_SERVERS": self.addresses.kafka,
            "CLICKHOUSE_URL": self.addresses.clickhouse,
            "TOUCHSTONE_KAFKA__TOPIC_PREFIX": kafka.topic_prefix,
            "TOUCHSTONE_KAFKA__IDEMPOTENT_PRODUCER": str(kafka.idempotent_producer),
            "TOUCHSTONE_CLICKHOUSE__DATABASE": self.settings.clickhouse.database,
            "TOUCHSTONE_STATE_DIR": str(self.settings.state_dir),
        }

    async def read(self, topic: Topic) -> list[ConsumerRecord]:
        """All records of a topic."""
        return await Deployment(self.addresses, self.directory, self.settings.kafka.group_prefix).read(topic)


@pytest.fixture
async def letters(settings: Settings, addresses: Addresses, tmp_path: Path) -> AsyncIterator[Letters]:
    client = await connect(settings.clickhouse, addresses.clickhouse)
    await make_tables(client, settings.clickhouse.database, refreshed=False)
    yield Letters(settings, addresses, tmp_path, AnalyticsStore(client, settings.clickhouse.database))
    await return_tables(client, settings.clickhouse.database)
    await client.close()


# ---------------------------------------------------------------- to the byte


POISON: dict[str, tuple[Topic, int, bytes | None, bytes | None, Headers]] = {
    "not utf-8": (ANSWERS_GENERATED, 1, b"\xff\xfekey", b"\xff\x00\xc3\x28\n\r\x1b[2J", []),
    "tombstone": (ANSWERS_GENERATED, 2, b"tombstone", None, []),
    "empty value": (ANSWERS_GENERATED, 2, b"", b"", []),
    "nothing": (ANSWERS_GENERATED, 2, None, None, [("h", b"1")]),
    "no key": (ANSWERS_GENERATED, 3, None, b"keyless", []),
    "headers": (
        ANSWERS_GENERATED, 0, b"headers", b"{}",
        [("twice", b"\x00\xff"), ("binary", bytes(range(256))), ("twice", b"second"), ("null", None), ("", b"nameless")],
    ),
    "our own names": (
        ANSWERS_GENERATED, 0, b"spoof", b"{}",
        [("dlq_dead_letter_id", b"spoof"), ("dlq_error", b"spoof"), ("dlq_value_omitted", b"1"), ("dlq_odd", b"spoof")],
    ),
    "a report": (ANSWERS_GROUNDING, 3, b"report", b"{}", [("ce_type", b"touchstone.GroundingReport")]),
}  # fmt: skip


async def test_poison_comes_back_to_the_byte_from_broker_agent_store_and_requeue(
    letters: Letters, settings: Settings, addresses: Addresses, topics: None
) -> None:
    settings = settings.model_copy(update={"kafka": settings.kafka.model_copy(update={"max_record_bytes": 10_000})})
    producer = ConfirmedProducer(settings, addresses.kafka)
    await producer.start()
    sender = DeadLetterSender(producer, "test")
    identifiers = {}
    try:
        for offset, (name, (topic, partition, key, value, headers)) in enumerate(POISON.items()):
            record = Record(topic.name, partition, offset, key, value, headers)
            await sender.send(record, agent="assembly", error=PoisonError(name), attempts=1)
            identifiers[name] = dead_letter_id(topic.name, partition, offset, "assembly")
        huge = Record(ANSWERS_GENERATED.name, 1, 99, b"huge", b"x" * 9_900, [])
        await sender.send(huge, agent="assembly", error=OversizeRecord("huge"), attempts=1)
    finally:
        await producer.stop()
    worker = Worker(settings, addresses, ["analytics"])
    await worker.start()
    try:

        async def stored() -> bool:
            return await letters.store.count(LetterFilter()) == len(POISON) + 1

        await until(stored, "letters stored", 60)
    finally:
        await worker.stop()

    for name, (topic, partition, key, value, headers) in POISON.items():
        letter = await letters.get(identifiers[name])
        assert (letter.topic, letter.partition, letter.error) == (topic.name, partition, name)
        assert (letter.key, letter.value, letter.headers) == (key, value, headers), name
        assert letter.value_omitted is None

    outcome = await letters.dlq("requeue", "--since", "1h")
    assert outcome.code == 1, "two letters cannot be sent again"
    assert "answers.generated[1]@99" in outcome.err
    assert f"{identifiers['nothing']}: it has neither key nor value" in outcome.err
    assert f"{len(POISON) - 1} records sent again, {len(POISON) - 1} dead letters marked" in outcome.text
    for topic in (ANSWERS_GENERATED, ANSWERS_GROUNDING):
        records = {dict(record.headers)["requeued_from"].decode(): record for record in await letters.read(topic)}
        expected = {name: poison for name, poison in POISON.items() if poison[0] is topic and name != "nothing"}
        assert set(records) == {identifiers[name] for name in expected}
        for name, (_, partition, key, value, headers) in expected.items():
            record = records[identifiers[name]]
            own = [header for header in headers if not header[0].startswith("dlq_")]
            assert (record.key, record.value) == (key, value), name
            assert list(record.headers) == [*own, ("requeued_from", identifiers[name].encode())], name
            if topic is ANSWERS_GROUNDING:
                assert record.partition == partition


async def test_show_prints_payload_reason_and_remedy_and_raw_gives_the_bytes(letters: Letters) -> None:
    value = b'{"answer": "\xc3\xbcber \xff"}\n'
    identifier = await letters.add(value, error=RejectedByStore("refused"), headers=[("a", b"1"), ("a", b"2")])
    shown, raw, as_json = await asyncio.gather(
        letters.dlq("show", identifier[:8]),
        letters.dlq_process("show", identifier, "--raw"),
        letters.dlq("show", identifier, "--json"),
    )
    assert {shown.code, raw.code, as_json.code} == {0}
    assert '{"answer": "über \\xff"}' in shown.text
    for expected in (identifier, "RejectedByStore: refused", "touchstone migrate", "answers.generated[0]@1"):
        assert expected in shown.text
    assert [line.split()[-1] for line in shown.text.splitlines() if line.startswith("header a")] == ["1", "2"]
    assert raw.out == value
    assert base64.b64decode(as_json.json["value_base64"]) == value
    assert as_json.json["headers_base64"] == [["a", "MQ=="], ["a", "Mg=="]]


async def test_tombstones_and_values_that_are_not_kept_are_told_apart(letters: Letters) -> None:
    class Small(Captured):
        async def send(self, outputs: Sequence[Output], *, agent: str) -> None:
            from workers.errors import ResultTooLarge

            if outputs[0].value is not None:
                raise ResultTooLarge("too large")
            await super().send(outputs, agent=agent)

    small = Small()
    record = Record(ANSWERS_GENERATED.name, 3, 77, b"key", b"x" * 5_000, [("h", b"1")])
    await DeadLetterSender(small, "test").send(record, agent="assembly", error=PoisonError("p"), attempts=1)  # type: ignore[arg-type]
    await letters.store_again(small.outputs[0])
    omitted = dead_letter_id(ANSWERS_GENERATED.name, 3, 77, "assembly")
    tombstone, empty = await letters.add(None), await letters.add(b"")
    shown = await asyncio.gather(*(letters.dlq("show", identifier) for identifier in (omitted, tombstone, empty)))
    assert "5000 bytes, too large for the dead letter; the original is answers.generated[3]@77" in shown[0].text
    assert "none (a tombstone)" in shown[1].text
    assert "value: 0 bytes" in shown[2].text
    letter = await letters.get(omitted)
    assert (letter.value_omitted, letter.value_sha256 is not None, letter.value) == (5_000, True, None)
    raw, requeued = await asyncio.gather(letters.dlq("show", omitted, "--raw"), letters.dlq("requeue", omitted))
    assert (raw.code, raw.out) == (1, b"")
    assert requeued.code == 1
    assert "answers.generated[3]@77" in requeued.err


# ---------------------------------------------------------------- list


async def test_list_filters_by_time_agent_error_and_topic_and_never_shows_a_payload(letters: Letters) -> None:
    marker = "THE-PAYLOAD"
    headers: Headers = [(marker, marker.encode())]
    old = await letters.add(marker.encode(), key=marker.encode(), headers=headers, minutes_ago=180)
    release = await letters.add(topic=ANSWERS_ENRICHED, agent="release", error=RejectedByStore("no"), minutes_ago=90)
    recent = await letters.add(minutes_ago=5)
    now = datetime.now(UTC)
    filters = [
        (LetterFilter(), [recent, release, old]),
        (LetterFilter(since=now - timedelta(hours=2)), [recent, release]),
        (LetterFilter(until=now - timedelta(hours=1)), [release, old]),
        (LetterFilter(agent="release"), [release]),
        (LetterFilter(error_class="RejectedByStore"), [release]),
        (LetterFilter(topic="answers.enriched"), [release]),
        (LetterFilter(topic="answers.enriched", agent="assembly"), []),
        (LetterFilter(agent="'; DROP TABLE dead_letters --\\\n{x:String}"), []),
    ]
    for which, expected in filters:
        assert [letter.dead_letter_id for letter in await letters.store.find(which, 10)] == expected, which
        assert await letters.store.count(which) == len(expected)
    at = (now - timedelta(minutes=100)).isoformat()
    cases: list[tuple[list[str], list[str]]] = [
        (["--limit", "1"], [recent]),
        (["--since", at, "--until", "30m", "--error", "RejectedByStore"], [release]),
        (["--topic", letters.settings.topic_name("answers.enriched"), "--open"], [release]),
        (["--agent", "assembly", "--since", "1h"], [recent]),
    ]
    outcomes = await asyncio.gather(*(letters.dlq("list", "--json", *arguments) for arguments, _ in cases))
    for (arguments, expected), outcome in zip(cases, outcomes, strict=True):
        assert outcome.code == 0, outcome.err
        assert [letter["dead_letter_id"] for letter in outcome.json["dead_letters"]] == expected, arguments
    assert outcomes[0].json["matching"] == 3
    table = await letters.dlq("list")
    assert all(identifier[:13] in table.text for identifier in (old, release, recent))
    for outcome in (*outcomes, table):
        assert marker not in outcome.text
        assert base64.b64encode(marker.encode()) not in outcome.out


async def test_nothing_that_somebody_has_sent_reaches_the_terminal_as_a_command(letters: Letters) -> None:
    identifier = await letters.add(
        HOSTILE.encode() + b"\xff\x9b",
        key=HOSTILE.encode(),
        headers=[(HOSTILE, HOSTILE.encode())],
        agent="evil\x1b[0m",
        error=TouchstoneError(HOSTILE),
    )
    outcomes = await asyncio.gather(
        letters.dlq("list"), letters.dlq("show", identifier), letters.dlq("show", "\x1b[2J" + identifier)
    )
    for outcome in outcomes:
        for text in (outcome.text, outcome.err):
            assert not [c for c in text if (ord(c) < 32 and c != "\n") or 0x7F <= ord(c) < 0xA0 or c in "\u202e\u2028"]
    assert "\\x1b[2J" in outcomes[1].text
    assert "\\u202e" in outcomes[1].text
    assert "[bold]markup[/bold]" in outcomes[1].text
    assert outcomes[2].code == 1


# ---------------------------------------------------------------- requeue


async def test_requeue_marks_once_whatever_comes_after(letters: Letters, topics: None) -> None:
    identifiers = [await letters.add(f"v{number}".encode()) for number in range(3)]
    first = await letters.dlq("requeue", "--agent", "assembly", "--json")
    assert (first.code, first.json["records_sent"], first.json["already_requeued"]) == (0, 3, 0)
    letters.offset = 0
    for number in range(3):
        # The agent sees the same letters again, as after a rebalance.
        await letters.add(f"v{number}".encode())
    fourth = await letters.add(b"v3")
    second = await letters.dlq("requeue", "--agent", "assembly")
    assert second.code == 0
    assert "1 records sent again, 1 dead letters marked" in second.text
    assert "3 were requeued before" in second.text
    again = await letters.dlq("requeue", identifiers[0], "--again", "--json")
    assert again.json["records_sent"] == 1
    assert sorted(record.value for record in await letters.read(ANSWERS_GENERATED)) == [
        b"v0",
        b"v0",
        b"v1",
        b"v2",
        b"v3",
    ]
    counts = [(await letters.get(identifier)).requeue_count for identifier in (*identifiers, fourth)]
    assert counts == [2, 1, 1, 1]
    assert await letters.store.count(LetterFilter()) == 4
    assert await letters.store.count(LetterFilter(only_open=True)) == 0


async def test_a_record_that_two_agents_gave_up_is_sent_once_and_both_letters_are_marked(
    letters: Letters, topics: None
) -> None:
    for agent in ("citations", "quality"):
        await letters.add(b"shared", offset=5, agent=agent)
    outcome = await letters.dlq("requeue", "--since", "1h", "--json")
    assert (outcome.json["records_sent"], outcome.json["dead_letters_marked"]) == (1, 2)
    assert [record.value for record in await letters.read(ANSWERS_GENERATED)] == [b"shared"]


async def test_a_letter_that_comes_back_and_is_requeued_again_names_its_last_letter_only(
    letters: Letters, topics: None
) -> None:
    identifier = await letters.add(headers=[("requeued_from", b"an earlier letter"), ("own", b"1")])
    await letters.dlq("requeue", identifier)
    (record,) = await letters.read(ANSWERS_GENERATED)
    assert list(record.headers) == [("own", b"1"), ("requeued_from", identifier.encode())]


async def test_dry_run_and_an_unanswered_question_send_nothing(letters: Letters, topics: None) -> None:
    for number in range(120):
        await letters.add(str(number).encode())
    dry, unanswered, refused = await asyncio.gather(
        letters.dlq("requeue", "--since", "1h", "--dry-run"),
        letters.dlq("requeue", "--since", "1h"),
        letters.dlq("requeue", "--since", "1h", stdin="n\n"),
    )
    assert dry.code == 0
    assert "would send 120 records again" in dry.text
    assert "answers.generated: 120" in dry.text
    assert unanswered.code == refused.code == 1
    assert "Send 120 dead letters again?" in unanswered.err
    assert await letters.read(ANSWERS_GENERATED) == []
    assert await letters.store.count(LetterFilter(only_open=True)) == 120
    limited = await letters.dlq("requeue", "--since", "1h", "--limit", "20", "--json")
    assert limited.json["records_sent"] == 20
    rest = await letters.dlq("requeue", "--since", "1h", "--yes", "--json")
    assert (rest.json["records_sent"], rest.json["already_requeued"]) == (100, 20)
    values = sorted(int(record.value) for record in await letters.read(ANSWERS_GENERATED))
    assert values == list(range(120))


async def test_what_the_broker_does_not_confirm_stays_unmarked(letters: Letters) -> None:
    await letters.add()
    outcome = await letters.dlq("requeue", "--since", "1h", KAFKA_BOOTSTRAP_SERVERS="127.0.0.1:1")
    assert outcome.code == 1
    assert "no Kafka broker responds at 127.0.0.1:1" in outcome.err
    missing = await letters.dlq("requeue", "--since", "1h", TOUCHSTONE_KAFKA__TOPIC_PREFIX="nowhere.")
    assert missing.code == 1
    assert "touchstone topics create" in missing.err
    assert await letters.store.count(LetterFilter(only_open=True)) == 1


# ---------------------------------------------------------------- export


async def test_export_holds_everything_and_is_for_its_owner_alone(letters: Letters) -> None:
    values = {await letters.add(bytes([number, 255]), headers=[("h", b"\x00"), ("h", None)]): bytes([number, 255])
              for number in range(70)}  # fmt: skip
    tombstone = await letters.add(None, agent="release")
    outcome, piped = await asyncio.gather(
        letters.dlq("export", str(letters.directory / "out.jsonl")),
        letters.dlq_process("export", "-", "--agent", "release"),
    )
    assert (outcome.code, piped.code) == (0, 0)
    assert "71 dead letters exported" in outcome.err
    file = letters.directory / "out.jsonl"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    read = [DeadLetter.from_bytes(line) for line in file.read_bytes().splitlines()]
    assert {letter.dead_letter_id: letter.value for letter in read} == values | {tombstone: None}
    assert all(letter.headers == [("h", b"\x00"), ("h", None)] for letter in read if letter.value is not None)
    (only,) = [DeadLetter.from_bytes(line) for line in piped.out.splitlines()]
    assert (only.dead_letter_id, only.value, only.key) == (tombstone, None, b"k")
    unwritable = await letters.dlq("export", "nowhere/out.jsonl")
    assert unwritable.code == 1
    assert "nowhere/out.jsonl cannot be written: No such file or directory" in unwritable.err


# ---------------------------------------------------------------- mistakes


async def test_mistakes_are_told_with_a_remedy_and_an_exit_code(letters: Letters) -> None:
    await letters.add()
    missing = await letters.dlq_process("show", "00000000-0000")
    assert (missing.code, missing.out) == (1, b"")
    assert missing.err.startswith("error: unknown dead letter 00000000-0000")
    database = letters.settings.clickhouse.database
    away = {"CLICKHOUSE_URL": "http://127.0.0.1:1"}
    cases: list[tuple[list[str], dict[str, str], int, str]] = [
        (
            ["show", "00000000-0000"],
            {},
            1,
            "unknown dead letter 00000000-0000; list dead letters with: touchstone dlq list",
        ),
        (["show", "0000"], {}, 2, "at least 8 characters"),
        (["requeue"], {}, 2, "give identifiers or a filter"),
        (["requeue", "00000000-0000", "--agent", "release"], {}, 2, "not both"),
        (["list", "--since", "yesterday"], {}, 2, "is not a time"),
        (
            ["requeue", "--since", "1h"],
            away,
            1,
            "no ClickHouse server responds at 127.0.0.1:1 (OperationalError); start one or set CLICKHOUSE_URL",
        ),
        (["list"], {"CLICKHOUSE_URL": ""}, 1, "CLICKHOUSE_URL not set"),
        (["list"], {"TOUCHSTONE_CLICKHOUSE__DATABASE": f"{database}_none"}, 1, "run `touchstone migrate`"),
    ]
    outcomes = await asyncio.gather(*(letters.dlq(*arguments, **variables) for arguments, variables, _, _ in cases))
    for (arguments, _, code, message), outcome in zip(cases, outcomes, strict=True):
        assert outcome.code == code, (arguments, outcome)
        words = " ".join(outcome.err.replace("│", " ").split())
        assert message in words, (arguments, words)
        assert outcome.out == b""


async def test_a_beginning_that_several_letters_share_is_refused(letters: Letters) -> None:
    await letters.add(offset=1)
    row = (await letters.store.keys(LetterFilter()))[0]
    table = f"{letters.settings.clickhouse.database}.dead_letters"
    await letters.analytics.client.command(
        f"INSERT INTO {table} (dead_letter_id, topic, agent, headers) "
        "VALUES ({first:String}, 'answers.generated', 'assembly', '[]'), ({second:String}, 'x', 'y', '[]')",
        parameters={"first": row.dead_letter_id + "-longer", "second": "unrelated"},
    )
    with pytest.raises(UnknownDeadLetter, match="2 dead letters begin with"):
        await letters.store.keys(LetterFilter(identifiers=(row.dead_letter_id[:10],)))
    (key,) = await letters.store.keys(LetterFilter(identifiers=(row.dead_letter_id,)))
    assert key.dead_letter_id == row.dead_letter_id


async def test_the_mark_repeated_after_a_lost_reply_counts_once(letters: Letters) -> None:
    identifier = await letters.add()
    keys = await letters.store.keys(LetterFilter())
    at = datetime(2026, 11, 1, 10, 0, 0, 123_000, tzinfo=UTC)
    for _ in range(3):
        await letters.store.mark_requeued(keys, at)
    letter = await letters.get(identifier)
    assert (letter.requeued_at, letter.requeue_count) == (at, 1)
    assert letter.value == b"{}"
