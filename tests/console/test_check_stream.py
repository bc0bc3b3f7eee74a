"""An answer checked while its text arrives, over real connections whose body and response overlap."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import httpx
import pytest

from tests.console.test_check import GROUNDED, WRONG, counting
from tests.harness.console import ConsoleThread, secret
from workers.check.check_models import CheckedAnswer
from workers.check.check_service import ChecksBusy, CheckTimedOut
from workers.check.growing_answer import GrowingAnswer, checked_parts
from workers.console.routes import check_stream as route

SENTENCES = ["The rotor turns at 47 rpm [1]. ", "Its housing is made of steel [2]. ", "It weighs 12 kg [2]."]
HEAD = {
    "answer_id": "stream-1",
    "query": "Tell me about the rotor.",
    "contexts": [
        {"chunk_id": "c-1", "content": "The rotor turns at 47 rpm."},
        {"chunk_id": "c-2", "content": "The housing of the rotor is made of steel. The rotor weighs 12 kg."},
    ],
    "completed_at": "2026-11-02T10:00:00Z",
}
SAME = set(CheckedAnswer.model_fields) - {"seconds"}


def events_of(body: str) -> list[tuple[str, Any]]:
    found = []
    for block in body.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


def lines_of(head: Any, *texts: str) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in (head, *({"text": text} for text in texts)))


class Stream:
    """A body that the test goes on writing, and the events that come back meanwhile."""

    def __init__(self, lines: asyncio.Queue[bytes | None], response: aiohttp.ClientResponse) -> None:
        self._lines = lines
        self.response = response

    def write(self, content: bytes) -> None:
        self._lines.put_nowait(content)

    def say(self, text: str) -> None:
        self.write(json.dumps({"text": text}).encode() + b"\n")

    def end(self) -> None:
        self._lines.put_nowait(None)

    async def event(self) -> tuple[str, Any]:
        block: list[bytes] = []
        async with asyncio.timeout(60):
            while not block or block[-1] != b"\n":
                line = await self.response.content.readline()
                assert line, "the response has ended"
                if not line.startswith(b":") and (block or line != b"\n"):
                    block.append(line)
        ((name, data),) = events_of(b"".join(block).decode())
        return name, data


@asynccontextmanager
async def streaming(console: ConsoleThread, head: Any = HEAD, **parameters: Any) -> AsyncIterator[Stream]:
    lines: asyncio.Queue[bytes | None] = asyncio.Queue()

    async def body() -> AsyncIterator[bytes]:
        while (line := await lines.get()) is not None:
            yield line

    lines.put_nowait(json.dumps(head).encode() + b"\n")
    async with (
        aiohttp.ClientSession(headers={"Authorization": f"Bearer {secret('ingest')}"}) as session,
        session.post(
            f"{console.url}/v1/check/stream", data=body(), params={"deadline_ms": 30_000} | parameters
        ) as response,
    ):
        assert response.status == 200, await response.text()
        yield Stream(lines, response)


def post(console: ConsoleThread, content: bytes, token: str = "ingest", **parameters: Any) -> httpx.Response:
    return console.client(token).post("/v1/check/stream", content=content, params={"deadline_ms": 30_000} | parameters)


async def test_sentences_are_told_while_the_answer_arrives_and_the_verdict_is_that_of_the_whole(
    console: ConsoleThread,
) -> None:
    parts, text = [], "".join(SENTENCES)
    async with streaming(console) as stream:
        assert stream.response.content_type == "text/event-stream"
        for sentence, begun in zip(SENTENCES, [*(each[:6] for each in SENTENCES[1:]), None], strict=True):
            stream.say(sentence[len(parts) and 6 :])
            if begun is not None:
                stream.say(begun)
                name, part = await stream.event()
                assert name == "sentences", part
                parts.append(part)
        stream.end()
        name, verdict = await stream.event()
        assert await stream.response.content.read() == b""
    assert [(text[part["start"] : part["end"]].strip(), part["state"]) for part in parts] == [
        (sentence.strip(), "released") for sentence in SENTENCES[:2]
    ]
    assert [[claim["verdict"] for claim in part["claims"]] for part in parts] == [["supported"], ["supported"]]
    assert name == "verdict"
    whole = console.client("ingest").post("/v1/check", params={"deadline_ms": 30_000}, json=HEAD | {"answer": text})
    assert {field: verdict[field] for field in SAME} == {field: whole.json()[field] for field in SAME}


async def test_a_wrong_sentence_is_told_before_the_answer_has_ended(console: ConsoleThread) -> None:
    async with streaming(console, HEAD | {"risk_mode": "gatekeeper"}) as stream:
        stream.say("The rotor turns at 470 rpm [1]. Its hous")
        name, part = await stream.event()
    assert (name, part["claims"][0]["verdict"]) == ("sentences", "contradicted")
    assert part["state"] in ("held", "fallback")


async def test_the_stream_ends_at_a_finding_that_stops_it(console: ConsoleThread) -> None:
    async with streaming(console, HEAD, stop_on="contradicted_figure") as stream:
        stream.say("The rotor turns at 470 rpm [1]. Its hous")
        name, part = await stream.event()
        assert await stream.response.content.read() == b"", "no verdict on the whole answer follows"
    assert (name, part["stop"], part["end"]) == ("stop", "contradicted_figure", 31)
    assert post(console, lines_of(HEAD, "It turns."), stop_on="everything").status_code == 422


def test_a_complete_body_gets_the_verdict_also_without_a_stream(console: ConsoleThread) -> None:
    reply = post(console, lines_of(WRONG | {"answer": ""}, WRONG["answer"]))
    name, verdict = events_of(reply.text)[-1]
    whole = console.client("ingest").post("/v1/check", params={"deadline_ms": 30_000}, json=WRONG)
    assert (name, verdict["state"], verdict["notice"]) == ("verdict", "warned", whole.json()["notice"])
    assert verdict["notice"].strip() in verdict["content"]
    alone = post(console, json.dumps(WRONG).encode())
    assert events_of(alone.text)[-1][1]["claims"][0]["verdict"] == "contradicted", "the text of the first line counts"


def test_the_request_of_a_gateway_is_the_first_line_as_it_is(console: ConsoleThread) -> None:
    request = {
        "model": "m",
        "messages": [
            {"role": "user", "content": GROUNDED["query"]},
            {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "find"}}]},
            {"role": "tool", "tool_call_id": "1", "content": "The rotor turns at 47 rpm."},
        ],
    }
    reply = post(console, lines_of({"id": "call-1", "request": request}, GROUNDED["answer"]), format="openai")
    name, verdict = events_of(reply.text)[-1]
    assert (name, verdict["answer_id"], verdict["claims"][0]["verdict"]) == ("verdict", "call-1", "supported")
    pair = {"id": "call-1", "request": request, "response": {"choices": [{"message": {"content": GROUNDED["answer"]}}]}}
    whole = console.client("ingest").post("/v1/check/openai", params={"deadline_ms": 30_000}, json=pair).json()
    assert whole["claims"] == verdict["claims"]


SOURCE, ASKED = GROUNDED["contexts"][0]["content"], GROUNDED["query"]
REQUESTS: dict[str, Any] = {
    "openai": {"messages": [
        {"role": "user", "content": ASKED},
        {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "find"}}]},
        {"role": "tool", "tool_call_id": "1", "content": SOURCE},
    ]},
    "anthropic": {"messages": [{"role": "user", "content": [
        {"type": "document", "source": {"type": "text", "data": SOURCE}}, {"type": "text", "text": ASKED}]}]},
    "google": {"contents": [
        {"role": "user", "parts": [{"text": ASKED}]},
        {"role": "model", "parts": [{"functionCall": {"name": "find", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "find", "response": {"result": SOURCE}}}]},
    ]},
    "bedrock": {"messages": [{"role": "user", "content": [
        {"document": {"name": "manual", "source": {"text": SOURCE}}}, {"text": ASKED}]}]},
    "cohere": {"documents": [{"id": "m", "data": {"snippet": SOURCE}}], "messages": [{"role": "user", "content": ASKED}]},
}  # fmt: skip


@pytest.mark.parametrize("form", REQUESTS)
def test_requests_of_every_service_bring_their_sources_to_a_stream(console: ConsoleThread, form: str) -> None:
    reply = post(console, lines_of({"id": f"of-{form}", "request": REQUESTS[form]}, GROUNDED["answer"]), format=form)
    name, verdict = events_of(reply.text)[-1]
    assert (name, verdict["answer_id"], verdict["claims"][0]["verdict"]) == ("verdict", f"of-{form}", "supported")


@pytest.mark.parametrize(
    ("content", "status", "told"),
    [
        (b"", 422, "no line"),
        (b"\n\n", 422, "no line"),
        (b"{}\n", 422, "is empty"),
        (b"[1]\n", 422, "not a JSON object"),
        (b'{"answer":\n', 422, "not valid JSON"),
        (json.dumps({"contexts": [{"content": "no name"}]}).encode(), 422, "body.contexts.0.chunk_id"),
        (json.dumps(HEAD | {"query": "x" * 3_000_000}).encode(), 413, "larger than"),
    ],
)
def test_a_first_line_that_cannot_be_read_is_refused(
    console: ConsoleThread, content: bytes, status: int, told: str
) -> None:
    reply = post(console, content)
    assert (reply.status_code, told in reply.text) == (status, True), reply.text


def test_a_token_of_one_tenant_has_no_answers_of_others_judged(console: ConsoleThread) -> None:
    assert post(console, lines_of(HEAD | {"tenant": "globex"}, "x"), token="acme").status_code == 403
    assert post(console, lines_of(HEAD, "x"), token="read").status_code == 403


@pytest.mark.parametrize(
    ("lines", "status", "told"),
    [
        (b'{"words": "x"}\n', 422, "a line has no text"),
        (b"not json\n", 422, "not valid JSON"),
        (json.dumps({"text": "x" * 60_001}).encode() + b"\n", 422, "60000 code points"),
        (b'{"text": "' + b" " * 2_100_000 + b'"}\n', 413, "larger than"),
    ],
)
async def test_an_error_in_the_middle_is_the_last_event(
    console: ConsoleThread, lines: bytes, status: int, told: str
) -> None:
    async with streaming(console) as stream:
        stream.say("It turns.")
        for start in range(0, len(lines), 65_536):
            stream.write(lines[start : start + 65_536])
        name, problem = await stream.event()
    assert (name, problem["status"], told in problem["detail"]) == ("error", status, True), problem


async def test_an_answer_that_is_late_as_a_whole_is_told_as_such(console: ConsoleThread) -> None:
    long = " ".join(f"The rotor {number} turns at {number} rpm [1]." for number in range(900))
    with counting("late"):
        async with streaming(console, deadline_ms=20) as stream:
            stream.say(long)
            stream.end()
            found = [await stream.event()]
            while found[-1][0] == "sentences":
                found.append(await stream.event())
    assert (found[-1][0], found[-1][1]["status"]) == ("error", 504)
    assert all(part["state"] is None and "deadline" in part["problem"] for _, part in found[:-1])


async def test_a_stream_that_never_ends_is_ended(console: ConsoleThread, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(route, "MAX_SECONDS", 0.3)
    monkeypatch.setattr(route, "COMMENT_SECONDS", 0.05)
    async with streaming(console) as stream:
        assert await stream.response.content.readline() == b": waiting\n"
        name, problem = await stream.event()
    assert (name, problem["status"]) == ("error", 408)


@pytest.mark.parametrize("ended", [False, True], ids=["in the middle", "after the text"])
async def test_a_caller_who_hangs_up_is_no_longer_worked_for(
    console: ConsoleThread, monkeypatch: pytest.MonkeyPatch, ended: bool
) -> None:
    begun, cancelled = threading.Event(), threading.Event()

    async def waiting(*_: Any) -> Any:
        begun.set()
        try:
            return await asyncio.get_running_loop().create_future()
        finally:
            cancelled.set()

    monkeypatch.setattr(console.resources.check, "check", waiting)
    with counting("gone"):
        async with streaming(console) as stream:
            stream.say("".join(SENTENCES))
            if ended:
                stream.end()
            assert await asyncio.to_thread(begun.wait, 60)
            stream.response.close()
        assert await asyncio.to_thread(cancelled.wait, 60)
        async with asyncio.timeout(60):
            while _tasks(console):
                await asyncio.sleep(0.01)


def _tasks(console: ConsoleThread) -> set[str]:
    async def names() -> set[str]:
        return {task.get_name() for task in asyncio.all_tasks()}

    return {name for name in console.call(names()) if name.startswith("check stream")}


# ---------------------------------------------------------------- the text alone


class Checks:
    """Checks that end when the test lets them."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.errors: list[Exception] = []
        self.go_on = asyncio.Event()
        self.go_on.set()

    async def __call__(self, text: str, _: object) -> CheckedAnswer:
        self.texts.append(text)
        await self.go_on.wait()
        if self.errors:
            raise self.errors.pop(0)
        return CheckedAnswer.model_construct(
            state="released", reasons=[], hallucination_risk=None, claims=[], degraded=False
        )


async def test_sentences_that_arrive_during_a_check_are_checked_together() -> None:
    checks, growing = Checks(), GrowingAnswer()
    parts = checked_parts(growing, checks)
    checks.go_on.clear()
    growing.add("One is first. Two")
    first = asyncio.ensure_future(anext(parts))
    while not checks.texts:
        await asyncio.sleep(0)
    growing.add(" is second. Three is third. Fo")
    checks.go_on.set()
    await first
    second: Any = await anext(parts)
    growing.end()
    await anext(parts)
    assert checks.texts == ["One is first.", "One is first. Two is second. Three is third.", growing.text]
    assert (second.start, second.end) == (13, 44)
    assert await anext(parts, None) is None


async def test_the_end_of_the_text_ends_the_check_of_a_part() -> None:
    checks, growing = Checks(), GrowingAnswer()
    checks.go_on.clear()
    parts = checked_parts(growing, checks)
    growing.add("One is first. Two")
    found = asyncio.ensure_future(anext(parts))
    while not checks.texts:
        await asyncio.sleep(0)
    growing.end()
    while len(checks.texts) < 2:
        await asyncio.sleep(0)
    checks.go_on.set()
    assert isinstance(await found, CheckedAnswer)


async def test_a_part_that_cannot_be_checked_in_time_costs_no_later_one() -> None:
    checks, growing = Checks(), GrowingAnswer("One is first. Two is second. Thr")
    checks.errors = [CheckTimedOut("late"), ChecksBusy("busy")]
    parts = checked_parts(growing, checks)
    found: list[Any] = [await anext(parts)]
    growing.add("ee is third. Fo")
    found.append(await anext(parts))
    growing.add("ur is fourth. Fi")
    found.append(await anext(parts))
    growing.end()
    assert [(part.state, part.problem) for part in found] == [(None, "late"), (None, "busy"), ("released", "")]
    assert found[2].start == found[1].end
    assert isinstance(await anext(parts), CheckedAnswer)


async def test_long_text_without_an_end_is_searched_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    from workers.check import growing_answer

    searched: list[int] = []
    monkeypatch.setattr(growing_answer, "finished_ends", lambda text, _: searched.append(len(text)) or [])
    growing = GrowingAnswer()
    waiting = asyncio.ensure_future(growing.next_end(0))
    for _ in range(600):
        growing.add("x" * 100)
        await asyncio.sleep(0.001)
    growing.end()
    assert await waiting is None
    assert len(searched) < 80
    assert sum(searched) < 60_000 * 15
