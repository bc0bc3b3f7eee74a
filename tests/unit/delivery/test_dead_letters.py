"""Dead letters without servers: headers there and back, what is shown, what is planned."""

import unicodedata
from datetime import UTC, datetime, timedelta

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import workers.delivery.failures.attempts
import workers.delivery.processing  # noqa: F401 defines errors, too
from schemas.base import UnreadableEvent
from schemas.dead_letters import HEADER_FIELDS, DeadLetter, read_dead_letter, reason_headers
from schemas.topics import ANSWERS_GENERATED, ANSWERS_GROUNDING, JOINED_REPORTS, TOPICS
from workers.cli.time_option import read_time
from workers.delivery.connections import TlsFilesUnreadable
from workers.delivery.failures.dead_letter_sender import DeadLetterSender
from workers.delivery.failures.error_action import ErrorAction, action_for
from workers.delivery.failures.remedies import HINTS
from workers.delivery.followers.erasure_follower import ErasuresUnreadable
from workers.delivery.records import Output, Record
from workers.delivery.topics.topic_administration import TopicsNotReady
from workers.delivery.tracing import TracingNotInstalled
from workers.errors import PoisonError, ResultTooLarge, TouchstoneError
from workers.observability.printable import HOSTILE, JOINERS, printable
from workers.replay.requeue import plan_requeue, requeue_output
from workers.settings import KafkaSettings, Settings
from workers.stores.queries.dead_letter_queries import LetterKey

NAMES = st.one_of(
    st.text(max_size=10), st.sampled_from(["dlq_dead_letter_id", "dlq_error", "dlq_keyless", "requeued_from"])
)
HEADERS = st.lists(st.tuples(NAMES, st.none() | st.binary(max_size=10)), max_size=6)


class Producer:
    """Keeps what it is given; refuses values if told so."""

    def __init__(self, *, small: bool = False) -> None:
        self.small = small
        self.outputs: list[Output] = []

    async def send(self, outputs: list[Output], *, agent: str) -> None:
        for output in outputs:
            assert output.key is not None or output.value is not None, "the client refuses such a record"
            if self.small and output.value is not None:
                raise ResultTooLarge("too large")
        self.outputs += outputs


async def sent(record: Record, *, small: bool = False) -> DeadLetter:
    producer = Producer(small=small)
    sender = DeadLetterSender(producer, "test")  # type: ignore[arg-type]
    await sender.send(record, agent="assembly", error=PoisonError("why"), attempts=3)
    (output,) = producer.outputs
    return read_dead_letter(output.key, output.value, output.headers)


@given(key=st.none() | st.binary(max_size=20), value=st.none() | st.binary(max_size=50), headers=HEADERS)
async def test_a_record_comes_back_from_its_letter_to_the_byte(
    key: bytes | None, value: bytes | None, headers: list[tuple[str, bytes | None]]
) -> None:
    letter = await sent(Record("answers.generated", 1, 2, key, value, headers))
    assert (letter.key, letter.value, letter.headers) == (key, value, headers)
    assert (letter.error, letter.attempts, letter.agent) == ("why", 3, "assembly")
    assert letter.value_omitted is None
    assert DeadLetter.from_bytes(letter.to_bytes()) == letter


async def test_a_record_without_room_for_its_reason_leaves_a_letter_that_can_be_sent_and_read() -> None:
    letter = await sent(Record("answers.generated", 1, 2, b"key", b"x" * 100, [("h", b"1")]), small=True)
    assert (letter.value_omitted, letter.key, letter.value, letter.headers) == (100, None, None, [])
    assert letter.value_sha256 is not None


def test_every_reason_travels_in_its_header() -> None:
    letter = DeadLetter(
        dead_letter_id="id", topic="t", partition=1, offset=2, agent="a", error_class="E", error="é\n",
        attempts=4, failed_at=datetime(2026, 11, 1, 10, 0, 0, 123_456, tzinfo=UTC), pipeline_version="v",
        value_omitted=5, value_sha256="d",
    )  # fmt: skip
    headers = reason_headers(letter)
    assert [name for name, _ in headers] == [f"dlq_{name}" for name in HEADER_FIELDS]
    assert read_dead_letter(None, b"", headers) == letter.model_copy(update={"value_base64": ""})


@pytest.mark.parametrize("missing", ["dlq_dead_letter_id", "dlq_topic", "dlq_failed_at", "dlq_agent"])
async def test_a_letter_without_its_reason_is_refused(missing: str) -> None:
    producer = Producer()
    sender = DeadLetterSender(producer, "test")  # type: ignore[arg-type]
    await sender.send(Record("t", 0, 0, b"", b""), agent="a", error=PoisonError("p"), attempts=1)
    headers = [(name, content) for name, content in producer.outputs[0].headers if name != missing]
    with pytest.raises(ValidationError):
        read_dead_letter(b"", b"", headers)


# ---------------------------------------------------------------- requeue


def key(offset: int = 0, topic: str = "answers.generated", **changes: object) -> LetterKey:
    return LetterKey(topic, 0, offset, "assembly", f"id-{topic}-{offset}", requeued=False, omitted=False)._replace(
        **changes
    )


def test_the_plan_sends_each_record_once_in_the_order_of_its_topic_and_says_what_it_leaves_out() -> None:
    letters = [
        key(3), key(1), key(1, agent="quality", dead_letter_id="second"), key(2, requeued=True), key(4, omitted=True),
        key(5, topic="gone"), key(0, topic="answers.grounding"),
    ]  # fmt: skip
    plan = plan_requeue(letters)
    assert [[letter.dead_letter_id for letter in record] for record in plan.records] == [
        ["id-answers.generated-1", "second"], ["id-answers.generated-3"], ["id-answers.grounding-0"],
    ]  # fmt: skip
    assert (plan.letters, plan.already) == (4, 1)
    assert "answers.generated[0]@4" in plan.refused["id-answers.generated-4"]
    assert "unknown topic 'gone'" in plan.refused["id-gone-5"]
    assert plan_requeue(letters, again=True).letters == 5


def test_a_record_of_a_gateway_goes_back_to_its_topic_while_that_is_read() -> None:
    letters = [key(1, topic="litellm.logs")]
    assert "unknown topic 'litellm.logs'" in plan_requeue(letters).refused["id-litellm.logs-1"]
    assert plan_requeue(letters, foreign={"litellm.logs"}).letters == 1
    letter = DeadLetter(
        dead_letter_id="id", topic="litellm.logs", partition=3, offset=2, agent="intake", error_class="E", error="e",
        failed_at=datetime.now(UTC), value_base64="e30=",
    )  # fmt: skip
    topic = requeue_output(letter).topic
    settings = Settings(_env_file=None, kafka=KafkaSettings(topic_prefix="ours."))
    assert settings.broker_name(topic) == "litellm.logs", "its own name, without our prefix"
    assert settings.broker_name(ANSWERS_GENERATED) == "ours.answers.generated"


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_reports_go_back_to_their_partition_and_everything_else_where_its_key_leads(topic: object) -> None:
    letter = DeadLetter(
        dead_letter_id="id", topic=topic.name, partition=3, offset=2, agent="a", error_class="E", error="e",  # type: ignore[attr-defined]
        failed_at=datetime.now(UTC), key_base64="aw==", value_base64=None,
        headers_base64=[("a", None), ("dlq_error", "eA=="), ("a", "eA=="), ("requeued_from", "eA==")],
    )  # fmt: skip
    output = requeue_output(letter)
    assert output.topic is topic
    assert output.partition == (3 if topic in JOINED_REPORTS else None)
    assert (output.key, output.value) == (b"k", None)
    assert output.headers == [("a", None), ("a", b"x"), ("requeued_from", b"id")]
    assert ANSWERS_GROUNDING in JOINED_REPORTS
    assert ANSWERS_GENERATED not in JOINED_REPORTS


# ---------------------------------------------------------------- what people see


@given(st.text())
def test_what_is_shown_has_no_power_over_the_terminal_and_the_rest_is_as_it_was(text: str) -> None:
    shown = printable(text)
    assert all(c in "\n\t" + JOINERS or unicodedata.category(c) not in HOSTILE for c in shown)
    harmless = "".join(c for c in text if c in "\n\t" + JOINERS or unicodedata.category(c) not in HOSTILE)
    assert printable(harmless) == harmless
    shown.encode()


def test_escapes_are_shown_as_such() -> None:
    assert printable("a\x1b[2J\x9b\u202e\ud800\U000e0041\r\n") == "a\\x1b[2J\\x9b\\u202e\\ud800\\U000e0041\\x0d\n"
    assert printable("a\nb", keep="") == "a\\x0ab"
    assert printable("👩\u200d🚒 می\u200cخواهم") == "👩\u200d🚒 می\u200cخواهم"


def test_there_is_a_hint_for_every_error_that_makes_dead_letters() -> None:
    def all_of(kind: type[Exception]) -> set[type[Exception]]:
        return {kind}.union(*(all_of(below) for below in kind.__subclasses__()))

    ours = {
        kind for kind in all_of(TouchstoneError) if kind.__module__.startswith(("workers.delivery", "workers.errors"))
    }
    lettered = {kind for kind in ours if action_for(kind()) is ErrorAction.DEAD_LETTER} | {UnreadableEvent}
    # Retried ones become dead letters in the end; the base of all errors is raised by commands alone,
    # and these where a worker starts.
    at_start = {TouchstoneError, TopicsNotReady, ErasuresUnreadable, TracingNotInstalled, TlsFilesUnreadable}
    lettered |= {kind for kind in ours if action_for(kind()) is ErrorAction.RETRY} - at_start
    assert {kind.__name__ for kind in lettered} == set(HINTS)


NOW = datetime(2026, 11, 2, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90s", NOW - timedelta(seconds=90)),
        ("30m", NOW - timedelta(minutes=30)),
        ("2h", NOW - timedelta(hours=2)),
        ("7d", NOW - timedelta(days=7)),
        ("1w", NOW - timedelta(days=7)),
        ("2026-11-01", datetime(2026, 11, 1, tzinfo=UTC)),
        ("2026-11-01T10:00:00Z", datetime(2026, 11, 1, 10, tzinfo=UTC)),
        ("2026-11-01T10:00:00+02:00", datetime(2026, 11, 1, 8, tzinfo=UTC)),
    ],
)
def test_times_are_typed_as_iso_8601_or_as_how_long_ago(text: str, expected: datetime) -> None:
    assert read_time(text, NOW, "--since") == expected


@pytest.mark.parametrize("text", ["yesterday", "2", "h", "-2h", "2H", "999999999999w", "2026-13-01", "", "٣h"])
def test_other_times_are_refused_with_the_forms_there_are(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="2h or 7d"):
        read_time(text, NOW, "--since")
