"""One answer judged now: the same verdicts as in the stream, within a deadline, and what is said where that fails."""

import asyncio
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np
import pytest

from schemas.answers import GeneratedAnswer
from tests.harness.console import ConsoleThread, secret
from tests.harness.forked_process import ForkedProcess
from tests.harness.paths import DATA, ROOT
from workers.check.check_models import AnswerToCheck, CheckedAnswer
from workers.check.check_service import ChecksBusy, CheckService, CheckTimedOut
from workers.client import Refused, check, send
from workers.decision.reader_text.reader_texts import ENGLISH
from workers.errors import OversizeRecord
from workers.gateways.formats import BUILTIN
from workers.inference.embedding import EmbeddingService
from workers.observability import metrics
from workers.process.paths import examples_directory
from workers.settings import CheckSettings, InferenceSettings, PrivacySettings, Settings
from workers.settings.addresses import Addresses

EXAMPLES: list[dict[str, Any]] = [
    json.loads(line) for line in (examples_directory() / "answers.jsonl").read_bytes().splitlines()[:12]
]
GROUNDED = {
    "query": "How fast does the rotor turn?",
    "answer": "The rotor turns at 47 rpm [1].",
    "contexts": [{"chunk_id": "c-1", "content": "The rotor turns at 47 rpm."}],
}
WRONG = GROUNDED | {"answer": "The rotor turns at 470 rpm [1]."}
NOW = datetime(2026, 11, 2, tzinfo=UTC)
PAGE = ROOT / "docs" / "reference" / "check.md"


# ---------------------------------------------------------------- over HTTP, with the real model


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["answer_id"])
def test_the_verdict_is_that_of_the_stream(console: ConsoleThread, example: dict[str, Any]) -> None:
    enriched = console.judge(GeneratedAnswer.model_validate(example))
    reply = console.client("ingest").post("/v1/check", params={"deadline_ms": 30_000}, json=example)
    told = CheckedAnswer.model_validate(reply.raise_for_status().json())
    assert (told.degraded, told.late, told.answer_id) == (False, False, example["answer_id"])
    assert (told.state, told.reasons, told.review) == (
        enriched.decision.state, enriched.decision.reasons, enriched.decision.review,
    )  # fmt: skip
    assert told.claims == (enriched.grounding.claims if enriched.grounding else [])
    assert told.gate_score == enriched.evaluation.score
    assert told.pipeline_version == enriched.pipeline_version
    expected = {"held": None, "fallback": ENGLISH.fallback}.get(
        told.state, enriched.formatted.content if enriched.formatted else None
    )
    assert told.content == expected


def test_a_wrong_figure_is_held_for_a_gatekeeper_and_warned_of_for_an_observer(console: ConsoleThread) -> None:
    client = console.client("ingest")

    def judged(body: dict[str, Any]) -> dict[str, Any]:
        reply = client.post("/v1/check", params={"deadline_ms": 30_000}, json=body)
        return dict(reply.raise_for_status().json())

    good = judged(GROUNDED | {"risk_mode": "gatekeeper"})
    assert (good["state"], good["claims"][0]["verdict"]) == ("released", "supported")
    assert "47 rpm" in good["content"]
    wrong = judged(WRONG | {"risk_mode": "gatekeeper"})
    assert wrong["claims"][0]["verdict"] == "contradicted"
    assert wrong["state"] in ("held", "fallback")
    assert "470" not in (wrong["content"] or "")
    shown = judged(WRONG | {"risk_mode": "observer"})
    assert shown["state"] == "warned"
    assert "470 rpm" in shown["content"]


def test_nothing_of_it_is_stored_or_sent(console: ConsoleThread) -> None:
    sent = metrics.RECORDS_PRODUCED.labels("console", "answers.generated")._value.get()
    reply = console.client("ingest").post("/v1/check", params={"deadline_ms": 30_000}, json=GROUNDED)
    identifier = reply.raise_for_status().json()["answer_id"]
    assert identifier.startswith("check-")
    assert console.client("read").get(f"/api/answers/{identifier}").status_code == 404
    assert metrics.RECORDS_PRODUCED.labels("console", "answers.generated")._value.get() == sent


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"query": "no answer"}, "body.answer"),
        (GROUNDED | {"contexts": [{"content": "no name"}]}, "body.contexts.0.chunk_id"),
        (GROUNDED | {"schema_version": "7.0"}, "schema_version"),
    ],
)
def test_what_cannot_be_judged_is_told_by_its_field(console: ConsoleThread, body: dict[str, Any], field: str) -> None:
    reply = console.client("ingest").post("/v1/check", json=body)
    assert reply.status_code == 422
    assert [each["field"] for each in reply.json()["fields"]] == [field]


def test_a_body_without_its_content_type_is_refused_with_the_remedy(console: ConsoleThread) -> None:
    """``curl -d`` sends the type of a form."""
    sent = {"Content-Type": "application/x-www-form-urlencoded"}
    reply = console.client("ingest").post("/v1/check", content='{"answer": "Paris."}', headers=sent)
    assert reply.status_code == 422
    assert reply.json()["detail"] == "the body was not read as JSON; send the header Content-Type: application/json"


def test_an_answer_that_the_stream_would_not_take_is_not_judged(console: ConsoleThread) -> None:
    chunks = [{"chunk_id": str(number), "content": "x" * 90_000} for number in range(4)]
    reply = console.client("ingest").post("/v1/check", json=GROUNDED | {"contexts": chunks})
    assert (reply.status_code, "at most" in reply.json()["detail"]) == (422, True)


def test_a_caller_who_hangs_up_is_no_longer_worked_for(console: ConsoleThread, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, ended = threading.Event(), threading.Event()

    async def waiting(*_: Any) -> bytes:
        begun.set()
        try:
            return await asyncio.get_running_loop().create_future()
        finally:
            ended.set()

    monkeypatch.setattr(console.resources.check, "check", waiting)
    url, body = urlsplit(console.url), json.dumps(GROUNDED).encode()
    head = (
        f"POST /v1/check HTTP/1.1\r\nHost: {url.netloc}\r\nAuthorization: Bearer {secret('ingest')}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with counting("gone"):
        with socket.create_connection((url.hostname, url.port)) as caller:
            caller.sendall(head.encode() + body)
            assert begun.wait(60)
        assert ended.wait(60)


def test_a_token_of_one_tenant_has_no_answers_of_others_judged(console: ConsoleThread) -> None:
    assert console.client("acme").post("/v1/check", json=GROUNDED | {"tenant": "globex"}).status_code == 403


def test_a_record_of_another_format_is_judged_as_it_is(console: ConsoleThread) -> None:
    request = {"model": "m", "messages": [{"role": "user", "content": WRONG["query"]}]}
    message = {"role": "assistant", "content": WRONG["answer"]}
    pair = {"id": "pair-1", "request": request, "response": {"choices": [{"message": message}]}}
    client = console.client("ingest")
    reply = client.post("/v1/check/openai?deadline_ms=30000", json=pair | {"contexts": WRONG["contexts"]})
    told = CheckedAnswer.model_validate(reply.raise_for_status().json())
    assert (told.answer_id, told.claims[0].verdict) == ("pair-1", "contradicted")
    event = {"specversion": "1.0", "id": "17", "source": "/gateway", "type": "answer", "data": GROUNDED}
    reply = client.post(
        "/v1/check/touchstone?deadline_ms=30000", content=json.dumps(event),
        headers={"Content-Type": "application/cloudevents+json"},
    )  # fmt: skip
    assert (reply.json()["answer_id"], reply.json()["state"]) == ("/gateway/17", "released")


def _one_answer() -> dict[str, Any]:
    """Return for each built-in format a golden record with one answer."""
    found = {}
    for name in BUILTIN:
        golden = json.loads((DATA / "gateways" / f"{name}.json").read_text(encoding="utf-8"))
        found[name] = next(
            case for case in golden["cases"] if len(case["answers"]) == 1 and case["answers"][0].get("answer")
        )
    return found


@pytest.mark.parametrize(("form", "case"), _one_answer().items(), ids=BUILTIN)
def test_a_record_of_every_format_is_judged(console: ConsoleThread, form: str, case: Any) -> None:
    reply = console.client("ingest").post(f"/v1/check/{form}", params={"deadline_ms": 30_000}, json=case["record"])
    told = CheckedAnswer.model_validate(reply.raise_for_status().json())
    assert told.answer_id
    assert bool(told.claims) == bool(case["answers"][0].get("contexts"))


@pytest.mark.parametrize(
    ("form", "body", "status", "told"),
    [
        ("nothing", GROUNDED, 404, "no format 'nothing'"),
        ("touchstone", [GROUNDED, GROUNDED], 422, "one answer per request"),
        ("openai", {"response": {"results": []}}, 422, "response"),
        (
            "openai",
            {"response": {"choices": [{"message": {"tool_calls": [{"id": "1"}], "content": None}}]}},
            422,
            "no answer (tool_call)",
        ),
        ("touchstone", GROUNDED | {"tenant": "globex"}, 200, ""),
    ],
)
def test_a_record_without_one_answer_is_refused(
    console: ConsoleThread, form: str, body: Any, status: int, told: str
) -> None:
    reply = console.client("acme" if status == 200 else "ingest").post(
        f"/v1/check/{form}", params={"deadline_ms": 30_000}, json=body
    )
    # A token of one tenant sets the tenant, as for intake.
    assert (reply.status_code, told in reply.text) == (status, True), reply.text


# ---------------------------------------------------------------- the client


def test_the_client_has_an_answer_judged_and_sends_it(console: ConsoleThread) -> None:
    verdict = check(GROUNDED, url=console.url, token=secret("ingest"), deadline_ms=30_000)
    assert verdict["state"] == "released"
    answer = GROUNDED | {"answer_id": verdict["answer_id"], "completed_at": "2026-11-02T10:00:00Z"}
    assert send(answer, url=console.url + "/", token=secret("ingest")) == [verdict["answer_id"]]
    assert send([answer, answer], url=console.url, token=secret("ingest")) == [verdict["answer_id"]] * 2


def test_the_client_says_what_was_refused_and_what_may_be_tried_again(console: ConsoleThread) -> None:
    with pytest.raises(Refused, match="401: unknown access token") as unknown:
        check(GROUNDED, url=console.url, token="not-a-token")
    assert (unknown.value.status, unknown.value.retry_after) == (401, 0.0)
    with pytest.raises(Refused, match=r"body\.answer: Field required"):
        check({"query": "x"}, url=console.url, token=secret("ingest"))
    with pytest.raises(Refused, match="no answer") as nobody:
        send(GROUNDED, url="http://127.0.0.1:9", token="t")
    assert nobody.value.status == 0
    with pytest.raises(ValueError, match="must begin with"):
        check(GROUNDED, url="file:///etc/passwd", token="t")


def documented(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)


def environment(console: ConsoleThread) -> dict[str, str]:
    return os.environ | {"CONSOLE": console.url, "TOKEN": secret("ingest"), "PYTHONPATH": str(ROOT)}


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_documented_lines_of_curl_run(console: ConsoleThread) -> None:
    plain, pair, stream = (
        subprocess.run(
            ["sh", "-c", block.replace("deadline_ms=2000", "deadline_ms=30000")],
            env=environment(console), capture_output=True, text=True, timeout=60, check=True,
        ).stdout
        for block in documented("sh")
    )  # fmt: skip
    for reply in (plain, pair, stream.rpartition("data: ")[2]):
        told = json.loads(reply)
        assert told["claims"][0]["verdict"] == "contradicted"
        assert told["state"] in ("held", "fallback") if reply == plain else told["state"] == "warned"
    assert stream.startswith("event: sentences")


def test_the_documented_program_runs(console: ConsoleThread, tmp_path: Path) -> None:
    program = documented("python")[0].replace("deadline_ms=2_000", "deadline_ms=30_000")
    finished = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path, env=environment(console), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert finished.returncode == 0, finished.stderr[-1_000:]
    assert "47 rpm" in finished.stdout


def test_the_client_needs_nothing_but_the_standard_library(tmp_path: Path) -> None:
    copied = shutil.copy(ROOT / "workers" / "client.py", tmp_path / "touchstone_client.py")
    finished = subprocess.run(
        [sys.executable, "-S", "-I", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import touchstone_client"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (finished.returncode, finished.stderr) == (0, ""), copied


@pytest.fixture
def elsewhere() -> Iterator[tuple[str, list[dict[str, str]]]]:
    """A server that is no console: what it is asked decides what it says; the headers it was sent."""
    asked: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(dict(self.headers))
            self.rfile.read(int(self.headers["Content-Length"]))
            if self.path.startswith("/moved"):
                self.send_response(302)
                self.send_header("Location", "/elsewhere")
                self.end_headers()
                return
            page = b"<html>Please log in.</html>"
            self.send_response(200)
            self.send_header("Content-Length", str(len(page) + (100 if self.path.startswith("/cut") else 0)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_: Any) -> None:
            """Nothing of it belongs into the output of tests."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_client_takes_its_token_nowhere_else_and_knows_no_error_but_refused(
    elsewhere: tuple[str, list[dict[str, str]]],
) -> None:
    url, asked = elsewhere
    with pytest.raises(Refused) as refused:
        check(GROUNDED, url=f"{url}/moved", token="a-token-0123456789")
    assert (refused.value.status, len(asked)) == (302, 1)
    with pytest.raises(Refused, match="not JSON"):
        check(GROUNDED, url=f"{url}/page", token="a-token-0123456789")
    with pytest.raises(Refused, match="IncompleteRead"):
        send(GROUNDED, url=f"{url}/cut", token="a-token-0123456789")


# ---------------------------------------------------------------- the deadline, with a model that obeys the test


class Model:
    """A model that answers when it is let."""

    name, dimensions = "model-under-test", 4

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.go_on.set()
        self.entered = threading.Event()
        self.texts: list[str] = []
        self.calls = 0
        self.fails = False

    def encode(self, texts: Sequence[str]) -> Any:
        self.calls += 1
        self.texts += texts
        self.entered.set()
        self.go_on.wait(60)
        if self.fails:
            raise RuntimeError("out of order")
        return np.tile(np.array([1, 0, 0, 0], dtype=np.float32), (len(texts), 1))


class Checking:
    """A service with such a model."""

    def __init__(self, settings: Settings, model: Model) -> None:
        self.model = model
        self.embedding = EmbeddingService(model, InferenceSettings())
        self.embedding.start()
        self.service = CheckService(settings, self.embedding, "1-abc", lambda: NOW)

    async def judged(self, deadline: float = 60.0, **parts: Any) -> CheckedAnswer:
        answer = AnswerToCheck.model_validate(GROUNDED | parts)
        return await self.service.check(answer, deadline)

    async def until_queued(self) -> None:
        """Wait until texts queue for the model."""
        async with asyncio.timeout(60):
            while not len(self.embedding._queue):
                await asyncio.sleep(0.001)

    async def stop(self) -> None:
        self.model.go_on.set()
        await self.service.stop()
        await self.embedding.stop()


@pytest.fixture
async def checking(tmp_path: Path) -> AsyncIterator[Checking]:
    settings = Settings(_env_file=None, check=CheckSettings(concurrent=1), state_dir=tmp_path)
    made = Checking(settings, Model())
    yield made
    await made.stop()


@contextmanager
def counting(result: str) -> Iterator[None]:
    counter = metrics.CHECKS.labels(result)
    before = counter._value.get()
    yield
    assert counter._value.get() == before + 1


@pytest.mark.parametrize(("mode", "state"), [("gatekeeper", "held"), ("observer", "released")])
async def test_a_model_that_is_late_makes_a_degraded_verdict_by_what_is_known(
    checking: Checking, mode: str, state: str
) -> None:
    checking.model.go_on.clear()
    with counting("degraded"):
        told = await checking.judged(4.0, risk_mode=mode)
    assert (told.late, told.degraded, set(told.failed)) == (True, True, {"quality"})
    assert told.seconds < 4.0
    assert told.state == state
    assert "degraded" in told.reasons
    assert told.claims, "grounding needs no model"


async def test_a_model_that_fails_makes_a_degraded_verdict_at_once(checking: Checking) -> None:
    checking.model.fails = True
    told = await checking.judged()
    assert (told.late, told.degraded) == (False, True)


async def test_the_model_works_for_nobody_who_is_gone(checking: Checking) -> None:
    model = checking.model
    model.go_on.clear()
    other = asyncio.create_task(checking.embedding.embed(["of another answer"]))
    assert await asyncio.to_thread(model.entered.wait, 60)
    assert (await checking.judged(3.0)).late
    gone = asyncio.create_task(checking.judged(query="of a caller who goes"))
    await checking.until_queued()
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    model.go_on.set()
    await other
    assert not (await checking.judged(query="of one who waits", answer="Nobody else said this.")).degraded
    assert not {"of a caller who goes", str(GROUNDED["query"])} & set(model.texts)
    assert "of one who waits" in model.texts


async def test_too_many_at_once_are_refused_and_steps_in_work_keep_their_slot(
    checking: Checking, monkeypatch: pytest.MonkeyPatch
) -> None:
    going = threading.Event()
    prepare = checking.service._pipeline.prepare

    def slowly(*given: Any) -> Any:
        going.wait(60)
        return prepare(*given)

    monkeypatch.setattr(checking.service._pipeline, "prepare", slowly)
    with counting("late"), pytest.raises(CheckTimedOut):
        await checking.judged(0.1)
    with counting("refused"), pytest.raises(ChecksBusy, match="1 checks are in progress"):
        await checking.judged(0.1, query="another")
    going.set()
    # Another query, whose texts the first check would not have left in the cache.
    assert (await checking.judged(query="another")).state == "released"
    assert checking.model.calls == 1, "the model does not work for those who are gone"


async def test_the_loop_goes_on_while_an_answer_is_judged(checking: Checking) -> None:
    long = " ".join(f"The rotor {number} turns at {number} rpm [1]." for number in range(900))
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            await asyncio.sleep(0.001)
            beats += 1

    beating = asyncio.create_task(beat())
    await checking.judged(60.0, answer=long)
    beating.cancel()
    assert beats > 20


async def test_an_answer_is_masked_as_in_the_stream(tmp_path: Path) -> None:
    privacy = PrivacySettings(mask=("mail",), key="0123456789abcdef0123")
    checking = Checking(Settings(_env_file=None, state_dir=tmp_path, privacy=privacy), Model())
    try:
        told = await checking.judged(answer="Write to someone@example.org [1].", risk_mode="observer")
    finally:
        await checking.stop()
    assert "someone@example.org" not in told.model_dump_json()


async def test_an_answer_beyond_the_limit_is_refused_before_it_is_read(checking: Checking) -> None:
    chunks = [{"chunk_id": str(number), "content": "x" * 90_000} for number in range(4)]
    with pytest.raises(OversizeRecord):
        await checking.judged(contexts=chunks)
    assert not (await checking.judged()).degraded


# ---------------------------------------------------------------- as a process


def test_a_console_by_itself_judges_and_counts(
    addresses: Addresses, console: ConsoleThread, int8_folder: Path, tmp_path: Path
) -> None:
    tokens = [{"name": "gateway", "token": "gateway-0123456789", "scopes": ["ingest"]}]
    settings = {
        "KAFKA_BOOTSTRAP_SERVERS": addresses.kafka,
        "REDIS_URL": addresses.redis,
        "CLICKHOUSE_URL": addresses.clickhouse,
        "TOUCHSTONE_KAFKA__TOPIC_PREFIX": console.settings.kafka.topic_prefix,
        "TOUCHSTONE_KAFKA__IDEMPOTENT_PRODUCER": str(console.settings.kafka.idempotent_producer),
        "TOUCHSTONE_CLICKHOUSE__DATABASE": console.settings.clickhouse.database,
        "TOUCHSTONE_CONSOLE__TOKENS": json.dumps(tokens),
        "TOUCHSTONE_INFERENCE__PRECISION": "int8",
        "TOUCHSTONE_INFERENCE__EXPORT_DIR": str(int8_folder),
        "TOUCHSTONE_STATE_DIR": str(tmp_path / "state"),
        "PYTHONUNBUFFERED": "1",
    }
    output = tmp_path / "output"
    process = ForkedProcess.start("workers.cli", ["console"], tmp_path, environment(console) | settings, output)
    try:
        said: dict[str, str] = {}
        while "console" not in said:
            assert process.returncode is None, output.read_text()
            time.sleep(0.2)
            said = dict(re.findall(r"(metrics|console) on (http://\S+)", output.read_text()))
        verdict = check(GROUNDED, url=said["console"], token="gateway-0123456789", deadline_ms=30_000)
        assert verdict["state"] == "released"
        told = httpx.get(said["metrics"]).text
        assert 'touchstone_checks_total{result="judged"} 1.0' in told
        process.send_signal(signal.SIGTERM)
        assert asyncio.run(process.wait()) == 0
    finally:
        process.kill()
