"""The guardrail beside a server that replies as given: streams with tools, long verdicts, replies that are no verdicts."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

pytest.importorskip("litellm")

from aiohttp import web
from aiohttp.test_utils import TestServer
from litellm.llms.anthropic.chat.handler import ModelResponseIterator
from litellm.types.utils import Delta, ModelResponse, ModelResponseStream, StreamingChoices, TextChoices
from litellm.types.utils import TextCompletionResponse as TextCompletion

from workers.gateways.guardrail import HELD_MESSAGE, CheckFailed, TouchstoneGuardrail

HELD = {"state": "held", "content": None}
WARNED = {"state": "warned", "content": "24 months.\n\nPlease verify.", "notice": "\n\nPlease verify."}
REQUEST: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "How long is the warranty?"}]}


class Server:
    """A server of checks: what it has read, and what it replies.

    Args:
        reply: the body of a whole check, or the verdict of a stream.
        status: status of the reply.
        events: further bytes before the verdict of a stream.
    """

    def __init__(self, reply: Any, status: int = 200, events: bytes = b"") -> None:
        self.reply = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        self.status = status
        self.events = events
        self.texts: list[str] = []
        self.checks = 0

    async def whole(self, request: web.Request) -> web.Response:
        self.checks += 1
        await request.read()
        return web.Response(body=self.reply, status=self.status)

    async def stream(self, request: web.Request) -> web.StreamResponse:
        self.checks += 1
        response = web.StreamResponse(status=self.status)
        await response.prepare(request)
        if self.status != web.HTTPOk.status_code:
            await response.write(self.reply)
            return response
        async for line in request.content:
            self.texts.append(json.loads(line).get("text", ""))
        await response.write(self.events + b"event: verdict\ndata: " + self.reply + b"\n\n")
        return response

    def run(self, work: Callable[[TouchstoneGuardrail], Any], **settings: Any) -> Any:
        """Return what work with a guardrail of this server returns."""

        async def inner() -> Any:
            app = web.Application()
            app.router.add_post("/v1/check/stream", self.stream)
            app.router.add_post("/v1/check/openai", self.whole)
            async with TestServer(app) as server:
                guardrail = TouchstoneGuardrail(api_base=str(server.make_url("")), api_key="k", **settings)
                try:
                    return await work(guardrail)
                finally:
                    if guardrail._session is not None:
                        await guardrail._session.close()

        return asyncio.run(inner())

    def streamed(self, chunks: list[Any], request: dict[str, Any] = REQUEST, **settings: Any) -> list[Any]:
        """Return the chunks that a reader gets of these."""

        async def source() -> AsyncIterator[Any]:
            for chunk in chunks:
                yield chunk

        async def work(guardrail: TouchstoneGuardrail) -> list[Any]:
            return [each async for each in guardrail.async_post_call_streaming_iterator_hook(None, source(), request)]

        found: list[Any] = self.run(work, **settings)
        return found

    def answered(self, response: Any, request: dict[str, Any] = REQUEST, **settings: Any) -> Any:
        """Return the whole response that a reader gets; ``None`` if it is unchanged."""

        async def work(guardrail: TouchstoneGuardrail) -> Any:
            return await guardrail.async_post_call_success_hook(request, None, response)

        return self.run(work, **settings)


def block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def written(index: int, *texts: str) -> list[dict[str, Any]]:
    return block(index, {"type": "text", "text": ""}, *({"type": "text_delta", "text": text} for text in texts))


def message(*blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"type": "message_start", "message": {"id": "m", "content": [], "usage": {"input_tokens": 1}}},
        *(event for each in blocks for event in each),
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}},
        {"type": "message_stop"},
    ]


def sse(events: list[dict[str, Any]]) -> list[bytes]:
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events]


def read(chunks: list[bytes]) -> list[dict[str, Any]]:
    return [json.loads(line[6:]) for line in b"".join(chunks).splitlines() if line.startswith(b"data: ")]


QUERY = {"type": "input_json_delta", "partial_json": '{"query": "warranty"}'}
SEARCHED = [
    block(1, {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}, QUERY),
    block(2, {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}),
]
SEARCH = message(written(0, "I search. "), *SEARCHED, written(3, "The warranty lasts ", "36 months."))


def test_a_stream_of_messages_with_a_tool_of_the_service_is_checked() -> None:
    server = Server(HELD)
    events = read(server.streamed(sse(SEARCH)))
    assert "".join(server.texts) == "I search. The warranty lasts 36 months."
    assert "months" not in json.dumps(events)
    assert HELD_MESSAGE in json.dumps(events)


@pytest.mark.parametrize("kind", ["mcp_tool_use", "server_tool_use", "web_search_tool_result"])
def test_blocks_of_the_service_are_no_calls_of_the_caller(kind: str) -> None:
    server = Server(HELD)
    server.streamed(sse(message(block(0, {"type": kind, "id": "1", "name": "n"}), written(1, "36 months."))))
    assert server.texts == ["", "36 months."]


def well_formed(events: list[dict[str, Any]]) -> None:
    """Hold the rules of a message: blocks begin once, one after another, and end before the message."""
    begun: list[int] = []
    is_open = False
    for event in events:
        if event["type"] == "content_block_start":
            assert not is_open
            is_open = True
            begun.append(event["index"])
        elif event["type"].startswith("content_block"):
            assert (is_open, event["index"]) == (True, begun[-1])
            is_open = event["type"] != "content_block_stop"
        else:
            assert not is_open
    assert begun == sorted(set(begun))
    assert events[-1]["type"] == "message_stop"


@pytest.mark.parametrize("shown", [0, 10, 24, 29, 39])
@pytest.mark.parametrize("last", [[], [block(4, {"type": "server_tool_use", "id": "srvtoolu_2"}, QUERY)]])
def test_a_message_that_is_blocked_after_a_tool_is_well_formed(shown: int, last: list[Any]) -> None:
    sentences = {"state": "released", "start": 0, "end": shown, "claims": []}
    server = Server(HELD, events=b"event: sentences\ndata: " + json.dumps(sentences).encode() + b"\n\n")
    events = read(
        server.streamed(
            sse(message(*[written(0, "I search. "), *SEARCHED, written(3, "The warranty lasts ", "36 months.")], *last))
        )
    )
    well_formed(events)
    assert events[-2]["delta"]["stop_reason"] == "refusal"


def test_a_message_whose_check_fails_within_a_call_of_the_service_is_well_formed() -> None:
    async def work(guardrail: TouchstoneGuardrail) -> list[Any]:
        failed = asyncio.Event()
        guardrail.warn = lambda _: failed.set()  # type: ignore[method-assign]

        async def source() -> AsyncIterator[Any]:
            for chunk in sse(message(written(0, "36 months."), SEARCHED[0])[:6]):
                yield chunk
            async with asyncio.timeout(10):
                await failed.wait()
            for chunk in sse(SEARCHED[0][2:] + written(2, "So 36 months.")):
                yield chunk

        return [each async for each in guardrail.async_post_call_streaming_iterator_hook(None, source(), REQUEST)]

    events = read(Server({"detail": "full"}, status=503).run(work))
    well_formed(events)
    assert "months" not in json.dumps(events)


def of_litellm(events: list[dict[str, Any]]) -> list[Any]:
    """Return the chunks of Chat Completions that LiteLLM makes of a stream of Anthropic."""
    parser = ModelResponseIterator(iter(()), sync_stream=True)
    return [parser.chunk_parser(event) for event in events]


def test_a_stream_of_chat_completions_with_a_tool_of_the_service_is_checked() -> None:
    chunks = of_litellm(SEARCH)
    assert any(chunk.choices[0].delta.tool_calls for chunk in chunks), "LiteLLM lists the search as a call"
    server = Server(HELD)
    found = server.streamed(chunks)
    assert "".join(server.texts) == "I search. The warranty lasts 36 months."
    assert "".join(chunk.choices[0].delta.content or "" for chunk in found if chunk.choices) == HELD_MESSAGE


def test_a_call_of_the_caller_passes_with_the_text_beside_it() -> None:
    call = block(1, {"type": "tool_use", "id": "toolu_1", "name": "find", "input": {}}, QUERY)
    server = Server(HELD)
    chunks = of_litellm(message(*SEARCHED, call, written(3, "36 months.")))
    assert [chunk for chunk in server.streamed(chunks) if chunk.choices[0].delta.tool_calls] != []
    assert server.checks == 0
    events = sse(message(call, written(2, "36 months.")))
    assert (server.streamed(events), server.checks) == (events, 0)


def test_a_whole_answer_beside_a_call_of_the_service_is_checked() -> None:
    call = {"id": "srvtoolu_1", "type": "function", "function": {"name": "web_search", "arguments": "{}"}}
    said = {"role": "assistant", "content": "36 months.", "tool_calls": [call]}
    response = ModelResponse(choices=[{"index": 0, "finish_reason": "stop", "message": said}])
    server = Server(HELD)
    found = server.answered(response)
    assert (found.choices[0].message.content, server.checks) == (HELD_MESSAGE, 1)


@pytest.mark.parametrize("kind", ["web_search_call", "mcp_call", "code_interpreter_call", "file_search_call"])
def test_a_response_with_a_tool_of_the_service_is_checked(kind: str) -> None:
    events = [
        {"type": "response.output_item.added", "item": {"type": kind}},
        {"type": "response.output_text.delta", "delta": "36 months."},
    ]
    server = Server(HELD)
    found = server.streamed(events)
    assert ([event.get("delta") for event in found], server.checks) == ([None, HELD_MESSAGE], 1)


@pytest.mark.parametrize("kind", ["custom_tool_call", "function_call", "computer_call", "mcp_approval_request"])
def test_a_response_that_waits_for_its_caller_passes(kind: str) -> None:
    events = [
        {"type": "response.output_item.added", "item": {"type": kind}},
        {"type": "response.output_text.delta", "delta": "I ask."},
    ]
    server = Server(HELD)
    assert (server.streamed(events), server.checks) == (events, 0)


def completions(*pieces: tuple[str | None, str | None]) -> list[TextCompletion]:
    return [
        TextCompletion(id="c", choices=[TextChoices(text=text, index=0, finish_reason=end)]) for text, end in pieces
    ]


def test_a_stream_of_completions_is_checked() -> None:
    server = Server(HELD)
    found = server.streamed(completions(("24 ", None), ("months.", "stop")), {"model": "m", "prompt": "How long?"})
    assert server.texts == ["", "24 ", "months."]
    assert [(chunk.choices[0].text, chunk.choices[0].finish_reason) for chunk in found] == [
        (HELD_MESSAGE, None), ("", "content_filter"),
    ]  # fmt: skip


def test_a_warned_stream_of_completions_has_its_disclaimer_before_the_end() -> None:
    found = Server(WARNED).streamed(completions(("24 ", None), ("months.", "stop")))
    assert "".join(chunk.choices[0].text for chunk in found) == WARNED["content"]
    assert [chunk.choices[0].finish_reason for chunk in found] == [None, None, None, "stop"]


def test_a_warned_chat_whose_last_text_ends_it_has_its_disclaimer_before_the_end() -> None:
    choice = StreamingChoices(index=0, delta=Delta(content="24 months."), finish_reason="stop")
    found = Server(WARNED).streamed([ModelResponseStream(id="r", choices=[choice])])
    assert "".join(chunk.choices[0].delta.content or "" for chunk in found) == WARNED["content"]
    assert [chunk.choices[0].finish_reason for chunk in found] == [None, None, "stop"]


FOREIGN = [
    b'data: {"candidates": [{"content": {"parts": [{"text": "36 months."}]}}]}\n\n',
    b'data: {"type": "response.output_text.delta", "delta": "36 months."}\n\n',
    b'data: {"type": "content-delta", "delta": {"message": {"content": {"text": "36 months."}}}}\n\n',
    b'data: {"object": "chat.completion.chunk", "choices": [{"delta": {"content": "36 months."}}]}\n\n',
    b'[{"candidates": [{"content": {"parts": [{"text": "36 months."}]}}]}]',
    b'data: {"type": "content_block_delta", "delta": {"text": "36 months."\n\n',
]


@pytest.mark.parametrize("chunk", FOREIGN)
@pytest.mark.parametrize("size", [7, 1_000])
def test_bytes_of_another_service_end_with_an_error_or_pass_as_configured(chunk: bytes, size: int) -> None:
    chunks = [chunk[start : start + size] for start in range(0, len(chunk), size)]
    with pytest.raises(CheckFailed):
        Server(HELD).streamed(chunks)
    shown = Server(HELD).streamed(chunks, unreachable_fallback="fail_open")
    assert b"".join(shown).strip() == chunk.strip()


def test_events_without_data_are_part_of_a_message() -> None:
    chunks = [b": keep-alive\n\n", b'event: ping\ndata: {"type": "ping"}\n\n', *sse(SEARCH), b"data: [DONE]\n\n"]
    server = Server(WARNED | {"notice": ""})
    assert server.streamed(chunks) == chunks


@pytest.mark.parametrize("size", [1_000, 181_342, 2_000_000])
def test_a_verdict_of_any_length_is_read(size: int) -> None:
    choice = StreamingChoices(index=0, delta=Delta(content="24 months."))
    server = Server(WARNED | {"claims": ["x" * size]})
    found = server.streamed([ModelResponseStream(id="r", choices=[choice])])
    assert "".join(chunk.choices[0].delta.content for chunk in found) == WARNED["content"]


NO_VERDICTS = [b"", b"[]", b'"released"', b"null", b"{}", b'{"state": null}', b"<html>", b"\xff"]


@pytest.mark.parametrize("status", [200, 404, 502])
@pytest.mark.parametrize("reply", NO_VERDICTS)
def test_a_reply_that_is_no_verdict_holds_or_shows_the_answer_as_configured(reply: bytes, status: int) -> None:
    said = {"role": "assistant", "content": "24 months."}
    response = ModelResponse(choices=[{"index": 0, "finish_reason": "stop", "message": said}])
    chunks = [ModelResponseStream(id="r", choices=[StreamingChoices(index=0, delta=Delta(content="24 months."))])]
    for fallback, shown in (("fail_closed", HELD_MESSAGE), ("fail_open", "24 months.")):
        server = Server(reply, status)
        whole = server.answered(response, unreachable_fallback=fallback)
        assert whole.choices[0].message.content == shown
        found = server.streamed(chunks, unreachable_fallback=fallback)
        assert "".join(chunk.choices[0].delta.content or "" for chunk in found) == shown


@pytest.mark.parametrize("event", [b"event: sentences\ndata: {}\n\n", b"event: sentences\ndata: []\n\n"])
def test_an_event_without_its_fields_holds_the_answer(event: bytes) -> None:
    chunks = [ModelResponseStream(id="r", choices=[StreamingChoices(index=0, delta=Delta(content="24 months."))])]
    found = Server(WARNED, events=event).streamed(chunks)
    assert found[0].choices[0].delta.content == HELD_MESSAGE


FORMATS: list[tuple[dict[str, Any], bool]] = [
    ({}, False),
    ({"response_format": {"type": "text"}}, False),
    ({"text": {"format": {"type": "text"}}}, False),
    ({"text": "plain"}, False),
    ({"response_format": {"type": "json_object"}}, True),
    ({"response_format": Delta}, True),
    ({"text": {"format": {"type": "json_schema", "name": "n", "schema": {}}}}, True),
    ({"output_config": {"format": {"type": "json_schema", "schema": {}}}}, True),
]


@pytest.mark.parametrize(("fields", "is_json"), FORMATS)
def test_only_an_answer_for_a_program_has_no_disclaimer(fields: dict[str, Any], is_json: bool) -> None:
    said = {"role": "assistant", "content": "24 months."}
    response = ModelResponse(choices=[{"index": 0, "finish_reason": "stop", "message": said}])
    found = Server(WARNED).answered(response, REQUEST | fields)
    assert found.choices[0].message.content == ("24 months." if is_json else WARNED["content"])


@pytest.mark.parametrize("deadline", [0, 19, 30_001, -1, "soon", None, float("inf"), float("nan")])
def test_a_deadline_that_the_console_refuses_is_refused_at_the_start(deadline: Any) -> None:
    with pytest.raises(ValueError, match="deadline_ms"):
        TouchstoneGuardrail(api_base="https://touchstone.example", api_key="k", deadline_ms=deadline)


@pytest.mark.parametrize("deadline", [20, 30_000, "1000"])
def test_a_deadline_that_the_console_accepts_is_kept(deadline: Any) -> None:
    guardrail = TouchstoneGuardrail(api_base="https://touchstone.example", api_key="k", deadline_ms=deadline)
    assert guardrail.seconds == int(deadline) / 1_000


@pytest.mark.parametrize(
    ("own", "message", "shown"),
    [
        (None, "Diese Antwort ist nicht geprüft.", "Diese Antwort ist nicht geprüft."),
        ("Please wait.", "Diese Antwort ist nicht geprüft.", "Please wait."),
        (None, None, HELD_MESSAGE),
    ],
)
def test_a_held_answer_has_the_text_of_the_configuration_or_that_of_the_console(
    own: str | None, message: str | None, shown: str
) -> None:
    guardrail = TouchstoneGuardrail(api_base="http://c", api_key="k", held_message=own)
    assert guardrail.shown(HELD | ({"message": message} if message else {})) == (shown, True)
