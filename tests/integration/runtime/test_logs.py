"""No payload in logs: whatever goes wrong with a record, its text stays out of them."""

import json
import logging
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import structlog
from aiokafka import AIOKafkaProducer

from schemas.topics import ANSWERS_CITATIONS, ANSWERS_GENERATED, DEAD_LETTERS, FEEDBACK_ANALYTICS, MEMORY_TURNS, Topic
from tests.harness.deployment import Deployment, until
from tests.harness.paths import ROOT
from workers.errors import PoisonError
from workers.observability.logs import PAYLOAD_LOGGERS, safe_text
from workers.settings.addresses import Addresses

SECRET = "S3CRET-PAYLOAD"
RAISE = "RAISE"

FAULTY_STEP = f"""
import sys
if "workers.cli" in " ".join(sys.orig_argv):
    from workers.pipeline import builtin_evaluators, reports

    def failing(step):
        def run(answer, *arguments, **keywords):
            if "{RAISE}" in answer.query:
                try:
                    {{}}[answer.answer]
                except KeyError as error:
                    raise ValueError(f"cannot handle {{answer.answer}}") from error
            return step(answer, *arguments, **keywords)
        return run

    reports.enrich = failing(reports.enrich)
    builtin_evaluators.find_citations = failing(builtin_evaluators.find_citations)
"""


def answer(number: int, query: str = "") -> bytes:
    content = {
        "answer_id": f"a-{number}",
        "session_id": "s",
        "query": f"{query} {SECRET}?",
        "answer": f"The {SECRET} is 42 [1].",
        "contexts": [{"chunk_id": "c", "content": f"{SECRET}: 42"}],
        "metadata": {SECRET: SECRET},
        "completed_at": "2026-11-01T10:00:00Z",
    }
    return json.dumps(content).encode()


def broken(**changes: object) -> bytes:
    return json.dumps(json.loads(answer(0)) | changes).encode()


POISON: list[tuple[Topic, bytes | None]] = [
    *((ANSWERS_GENERATED, answer(number)) for number in range(3)),
    *((ANSWERS_GENERATED, answer(number, RAISE)) for number in range(10, 13)),
    (ANSWERS_GENERATED, f"{SECRET} \xff".encode("latin-1")),
    (ANSWERS_GENERATED, f'{{"answer": "{SECRET}'.encode()),
    (ANSWERS_GENERATED, f'"{SECRET}"'.encode()),
    (ANSWERS_GENERATED, None),
    (ANSWERS_GENERATED, broken(schema_version=f"9.{SECRET}")),
    (ANSWERS_GENERATED, broken(schema_version=SECRET)),
    (ANSWERS_GENERATED, broken(completed_at=SECRET, risk_mode=SECRET, contexts=SECRET, latency_seconds=SECRET)),
    (ANSWERS_GENERATED, broken(contexts=[{"chunk_id": SECRET, "content": 7, SECRET: SECRET}])),
    (ANSWERS_GENERATED, broken(answer=SECRET * 40_000)),
    (ANSWERS_CITATIONS, f'{{"{SECRET}": "{SECRET}"}}'.encode()),
    (MEMORY_TURNS, SECRET.encode()),
    (FEEDBACK_ANALYTICS, json.dumps({"table": "alerts", "columns": {"completed_at": SECRET}}).encode()),
    (FEEDBACK_ANALYTICS, json.dumps({"table": "alerts", "columns": {SECRET: SECRET}}).encode()),
    (DEAD_LETTERS, SECRET.encode()),
]
"""The last one is no dead letter: it lacks the reason."""


@pytest.fixture
async def deployment(addresses: Addresses, tmp_path: Path, int8_folder: Path) -> AsyncIterator[Deployment]:
    (tmp_path / "sitecustomize.py").write_text(FAULTY_STEP)
    deployment = Deployment(addresses, tmp_path, int8=int8_folder)
    deployment.environment |= {
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}",
        "TOUCHSTONE_LOG_LEVEL": "DEBUG",
        "TOUCHSTONE_DELIVERY__JOIN_DEADLINE_SECONDS": "0.5",
        "TOUCHSTONE_DELIVERY__RETRY_INITIAL_SECONDS": "0.01",
        "TOUCHSTONE_DELIVERY__MAX_ATTEMPTS": "2",
    }
    await deployment.prepare()
    yield deployment
    await deployment.close()


@pytest.mark.parametrize("form", ["json", "console"])
async def test_nothing_of_a_payload_is_logged_whatever_goes_wrong_with_it(deployment: Deployment, form: str) -> None:
    worker = await deployment.start_worker(
        ["citations", "assembly", "release", "analytics"], environment={"TOUCHSTONE_LOG_FORMAT": form}
    )
    producer = AIOKafkaProducer(bootstrap_servers=deployment.addresses.kafka, max_request_size=2_000_000)
    await producer.start()
    try:
        for topic, value in POISON:
            await producer.send_and_wait(
                deployment.settings.topic_name(topic.name),
                value=value,
                key=SECRET.encode(),
                headers=[(SECRET, SECRET.encode()), ("traceparent", SECRET.encode()), ("null", None)],
            )
    finally:
        await producer.stop()
    # Three answers are judged; what assembly and analytics cannot handle is dead-lettered.
    expected_letters = sum(topic is ANSWERS_GENERATED for topic, _ in POISON) - 3 + 1 + 2
    client = await deployment.client()
    try:

        async def settled() -> bool:
            assert worker.running, worker.tail()
            stored = await deployment.query(
                client, "SELECT (SELECT count() FROM {db}.answers FINAL), (SELECT count() FROM {db}.dead_letters FINAL)"
            )
            return bool(stored == (3, expected_letters)) and "dead_letter_store_failed" in worker.log.read_text()

        await until(settled, "all answers stored or dead-lettered", 60)
    finally:
        await client.close()
    assert await worker.terminate() == 0
    text = worker.log.read_text()
    assert SECRET not in text, next(line for line in text.splitlines() if SECRET in line)
    events = (
        "worker_started",
        "evaluation_failed",
        "attempt_failed",
        "retries_exhausted",
        "record_dead_lettered",
        "dead_letter_store_failed",
    )
    assert [event for event in events if event not in text] == []
    for kept in ("ValueError", "KeyError", "which led to:", "raise ValueError("):
        assert kept in text, "tracebacks keep their lines"
    assert "LedgerConsumer]" not in text, "Faust's base classes do not speak under our name"


# ---------------------------------------------------------------- workers/observability/logs.py


def logged(code: str, level: str = "INFO", form: str = "json") -> list[str]:
    """Standard error of a process that sets up logs and runs the code."""
    program = (
        "import logging, asyncio\n"
        "from workers.observability.logs import configure_logs, get_logger\n"
        f"configure_logs({level!r}, {form!r})\n"
        "log = get_logger('workers.test')\n" + code
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=240,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.stdout == "", "standard output is for what commands say"
    return done.stderr.splitlines()


def test_json_lines_parse_and_carry_level_logger_and_utc_time() -> None:
    lines = logged(
        "log.debug('unheard'); log.info('started', agents=['a'], port=1)\n"
        "log.warning('waiting', error='two\\nlines')\n"
        "logging.getLogger('aiokafka.test').warning('from a library: %s', 7)\n"
        "try: 1 / 0\n"
        "except ZeroDivisionError as error: log.error('failed', exc_info=error)"
    )
    entries = [json.loads(line) for line in lines]
    assert [(entry["level"], entry["event"]) for entry in entries] == [
        ("info", "started"), ("warning", "waiting"), ("warning", "from a library: 7"), ("error", "failed"),
    ]  # fmt: skip
    assert entries[0]["logger"] == "workers.test"
    assert (entries[0]["agents"], entries[0]["port"]) == (["a"], 1)
    assert entries[2]["logger"] == "aiokafka.test"
    assert entries[3]["exception"].splitlines()[-1] == "ZeroDivisionError"
    for entry in entries:
        time = datetime.fromisoformat(entry["timestamp"])
        assert time.utcoffset() == timedelta(0)
        assert abs(datetime.now(UTC) - time) < timedelta(minutes=1)


def test_the_console_form_is_one_readable_line_for_each_event() -> None:
    (line,) = logged("log.info('started', port=1)", form="console")
    assert "started" in line
    assert "port=1" in line
    assert "\x1b" not in line, "no colours where nobody looks"


def test_the_level_is_for_our_own_logs_and_libraries_are_heard_from_warning_on() -> None:
    code = "log.debug('ours')\n" + "".join(
        f"logging.getLogger({name!r}).info('theirs'); logging.getLogger({name!r}).debug('theirs')\n"
        for name in ("faust", "mode", "aiokafka.consumer", "asyncio", "markdown_it", "anything")
    )
    assert [json.loads(line)["event"] for line in logged(code, level="DEBUG")] == ["ours"]
    assert logged("log.warning('ours')", level="ERROR") == []


@pytest.mark.parametrize("name", PAYLOAD_LOGGERS)
def test_loggers_that_print_messages_are_silent(name: str) -> None:
    assert logging.getLogger(name).name == name
    assert logged(f"logging.getLogger({name!r}).error('the message: %r', b'payload')", level="DEBUG") == []


def test_exceptions_are_logged_with_their_lines_and_without_their_text() -> None:
    lines = logged(
        "def inner():\n"
        f"    raise KeyError('{SECRET}')\n"
        "def outer():\n"
        "    try: inner()\n"
        f"    except KeyError as error: raise ValueError('{SECRET}') from error\n"
        "try: outer()\n"
        "except ValueError as error:\n"
        "    log.error('one', exc_info=True)\n"
        "    log.error('two', exc_info=error)\n"
        "    logging.getLogger('library').exception('three %s', error)\n"
        f"    logging.getLogger('library').error('four %r', b'{SECRET}')\n"
        f"    group = ExceptionGroup('{SECRET}', [error, RuntimeError('{SECRET}')])\n"
        "    log.error('five', exc_info=group)\n"
        f"async def task(): raise ValueError('{SECRET}')\n"
        "async def run():\n"
        "    asyncio.create_task(task())\n"
        "    await asyncio.sleep(0); await asyncio.sleep(0)\n"
        "asyncio.run(run()); import gc; gc.collect()\n"
    )
    assert not [line for line in lines if SECRET in line]
    entries = [json.loads(line) for line in lines]
    assert [entry["event"] for entry in entries] == [
        "one", "two", "three ValueError", f"four '{len(SECRET)} bytes'", "five", "Task exception was never retrieved",
    ]  # fmt: skip
    for entry in entries[:3]:
        assert entry["exception"].splitlines()[-1] == "ValueError"
        assert "which led to:" in entry["exception"]
        assert "in inner" in entry["exception"]
    assert entries[4]["exception"].count("which holds:") == 2
    assert "in task" in entries[5]["exception"]


def test_texts_that_cannot_hold_a_payload_are_kept() -> None:
    assert safe_text(PoisonError("the record has 9 bytes")) == "PoisonError: the record has 9 bytes"
    assert safe_text(ConnectionRefusedError(111, "Connection refused")) == "ConnectionRefusedError: Connection refused"
    assert safe_text(ValueError(SECRET)) == "ValueError"
    assert safe_text(UnicodeDecodeError("utf-8", SECRET.encode(), 0, 1, SECRET)) == "UnicodeDecodeError"


@pytest.fixture(autouse=True)
def _unchanged() -> Iterator[None]:
    """Nothing here sets up logging in the process of the tests."""
    before = structlog.is_configured(), logging.getLogger().handlers[:]
    yield
    assert (structlog.is_configured(), logging.getLogger().handlers[:]) == before
