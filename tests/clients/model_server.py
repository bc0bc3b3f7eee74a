"""Serve fixed responses in the form of model services, and keep the OTLP exports that clients send.

One question, one document and one answer for all clients, so that what arrives can be compared.
"""

import gzip
import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

QUESTION = "How long is the warranty?"
DOCUMENT = "The warranty period is 24 months from the date of delivery."
ANSWER = "The warranty lasts 24 months from delivery [1]."
STEP = "Let me look that up."
MODEL = "gpt-4o-mini"
CREATED = 1793606043


class Kept:
    """Keep the bodies of requests: OTLP exports as JSON, and pairs of other requests with their responses."""

    def __init__(self) -> None:
        self.traces: list[Any] = []
        self.logs: list[Any] = []
        self.pairs: list[dict[str, Any]] = []
        self.answer = ANSWER
        """Text that the models answer."""
        self.pause = 0.0
        """Time between two words of a stream, seconds."""


def _chat(body: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps(body)
    message: dict[str, Any] = {"role": "assistant", "content": ANSWER}
    finish = "stop"
    called = any(each.get("role") == "tool" for each in body.get("messages", ()))
    if body.get("tools") and not called:
        call = {
            "id": "call_1",
            "type": "function",
            "function": {"name": "search", "arguments": '{"query": "warranty"}'},
        }
        message = {"role": "assistant", "content": STEP, "tool_calls": [call]}
        finish = "tool_calls"
    elif "[[ ## answer ## ]]" in text:
        message["content"] = (
            f"[[ ## reasoning ## ]]\nThe terms say so.\n\n[[ ## answer ## ]]\n{ANSWER}\n\n[[ ## completed ## ]]"
        )
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": CREATED, "model": f"{MODEL}-2024-07-18",
        "choices": [{"index": 0, "finish_reason": finish, "message": message, "logprobs": None}],
        "usage": {"prompt_tokens": 40, "completion_tokens": 12, "total_tokens": 52},
    }  # fmt: skip


def _responses(body: dict[str, Any]) -> dict[str, Any]:
    asked = body.get("input")
    called = isinstance(asked, list) and any(each.get("type") == "function_call_output" for each in asked)
    text = {"type": "output_text", "text": ANSWER, "annotations": []}
    item: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [text],
    }
    if body.get("tools") and not called:
        item = {"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": body["tools"][0].get("name", "search"),
                "arguments": '{"query": "warranty"}', "status": "completed"}  # fmt: skip
    return {
        "id": "resp_1", "object": "response", "created_at": CREATED, "status": "completed", "error": None,
        "incomplete_details": None, "instructions": None, "max_output_tokens": None, "metadata": {}, "model": MODEL,
        "output": [item], "parallel_tool_calls": True, "temperature": 1.0, "tool_choice": "auto", "tools": [], "top_p": 1.0,
        "usage": {"input_tokens": 40, "output_tokens": 12, "total_tokens": 52,
                  "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}},
    }  # fmt: skip


def _anthropic(_: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
        "content": [{"type": "text", "text": ANSWER}], "stop_reason": "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": 40, "output_tokens": 12},
    }  # fmt: skip


def _converse(_: dict[str, Any]) -> dict[str, Any]:
    return {
        "output": {"message": {"role": "assistant", "content": [{"text": ANSWER}]}}, "stopReason": "end_turn",
        "usage": {"inputTokens": 40, "outputTokens": 12, "totalTokens": 52}, "metrics": {"latencyMs": 420},
    }  # fmt: skip


def _titan(_: dict[str, Any]) -> dict[str, Any]:
    return {
        "inputTextTokenCount": 40,
        "results": [{"tokenCount": 12, "outputText": ANSWER, "completionReason": "FINISHED"}],
    }


def _knowledge_base(_: dict[str, Any]) -> dict[str, Any]:
    reference = {"content": {"text": DOCUMENT}, "location": {"type": "S3", "s3Location": {"uri": "s3://docs/terms.md"}}}
    part = {"textResponsePart": {"text": ANSWER, "span": {"start": 0, "end": len(ANSWER) - 1}}}
    return {
        "sessionId": "session-1",
        "output": {"text": ANSWER},
        "citations": [{"generatedResponsePart": part, "retrievedReferences": [reference]}],
    }


def _cohere(_: dict[str, Any]) -> dict[str, Any]:
    cited = {"start": 0, "end": 40, "text": ANSWER[:40], "type": "TEXT_CONTENT",
             "sources": [{"type": "document", "id": "terms-4", "document": {"id": "terms-4", "snippet": DOCUMENT}}]}  # fmt: skip
    return {
        "id": "cohere-1", "finish_reason": "COMPLETE",
        "message": {"role": "assistant", "content": [{"type": "text", "text": ANSWER}], "citations": [cited]},
        "usage": {"billed_units": {"input_tokens": 40, "output_tokens": 12}, "tokens": {"input_tokens": 60, "output_tokens": 12}},
    }  # fmt: skip


def _google(_: dict[str, Any]) -> dict[str, Any]:
    return {
        "candidates": [{"content": {"role": "model", "parts": [{"text": ANSWER}]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 40, "candidatesTokenCount": 12, "totalTokenCount": 52},
        "modelVersion": "gemini-2.5-flash", "responseId": "google-1",
    }  # fmt: skip


def _embeddings(body: dict[str, Any]) -> dict[str, Any]:
    given = body.get("input")
    texts = given if isinstance(given, list) else [given]
    return {"object": "list", "model": "embedding", "usage": {"prompt_tokens": 4, "total_tokens": 4},
            "data": [{"object": "embedding", "index": place, "embedding": [0.1] * 8} for place, _ in enumerate(texts)]}  # fmt: skip


def _words(text: str) -> list[str]:
    return re.findall(r"\S+\s*", text)


_SERVICES = (("/chat/completions", _chat), ("/responses", _responses), ("/messages", _anthropic), ("/converse", _converse),
             ("/v2/chat", _cohere), (":generateContent", _google), ("/invoke", _titan), ("/retrieveAndGenerate", _knowledge_base), ("/embeddings", _embeddings))  # fmt: skip


@contextmanager
def model_server() -> Iterator[tuple[str, Kept]]:
    """Run the server; return its address and what it keeps."""
    kept = Kept()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Write no log."""

        def do_POST(self) -> None:
            size = int(self.headers.get("content-length") or 0)
            body = self.rfile.read(size) if size else b"".join(self._chunks())
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            path = self.path.partition("?")[0]
            if path.endswith(("/v1/traces", "/v1/logs")):
                (kept.traces if "trace" in path else kept.logs).append(self._export(body, path))
                return self._answer({})
            made = next((make for end, make in _SERVICES if path.endswith(end)), None)
            if made is None:
                return self._answer({"error": path}, 404)
            request = json.loads(body)
            response = made(request)
            if kept.answer != ANSWER:
                response = json.loads(json.dumps(response).replace(json.dumps(ANSWER), json.dumps(kept.answer)))
            if path.endswith("/converse"):
                request["modelId"] = path.split("/")[2]  # the client takes it as an argument
            kept.pairs.append({"path": path, "request": request, "response": response})
            if request.get("stream"):
                return self._events(response) if "output" in response else self._stream(response)
            return self._answer(response)

        def _chunks(self) -> Iterator[bytes]:
            while self.headers.get("transfer-encoding") == "chunked" and (size := int(self.rfile.readline(), 16)):
                yield self.rfile.read(size)
                self.rfile.readline()

        def _export(self, body: bytes, path: str) -> Any:
            if "json" in self.headers.get("content-type", ""):
                return json.loads(body)
            # Not by Touchstone, which is not installed in the environments of clients.
            from google.protobuf.json_format import MessageToDict
            from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
            from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

            message: Any = ExportTraceServiceRequest if "trace" in path else ExportLogsServiceRequest
            return MessageToDict(message.FromString(body))

        def _answer(self, content: Any, status: int = 200) -> None:
            body = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _events(self, response: Any) -> None:
            """Send a response of the Responses API as a stream."""
            (item,) = response["output"]
            (part,) = item["content"]
            place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
            events: list[dict[str, Any]] = [
                {"type": "response.created", "response": {**response, "output": [], "status": "in_progress"}},
                {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
                {"type": "response.content_part.added", **place, "part": {**part, "text": ""}},
                *({"type": "response.output_text.delta", **place, "delta": word} for word in _words(part["text"])),
                {"type": "response.output_text.done", **place, "text": part["text"]},
                {"type": "response.content_part.done", **place, "part": part},
                {"type": "response.output_item.done", "output_index": 0, "item": item},
                {"type": "response.completed", "response": response},
            ]
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            for number, event in enumerate(events):
                time.sleep(kept.pause)
                content = json.dumps({**event, "sequence_number": number})
                self.wfile.write(f"event: {event['type']}\ndata: {content}\n\n".encode())

        def _stream(self, response: Any) -> None:
            head = {name: response[name] for name in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
            (choice,) = response["choices"]
            pieces = [
                {"role": "assistant", "content": ""},
                *({"content": word} for word in _words(choice["message"]["content"])),
            ]
            chunks = [head | {"choices": [{"index": 0, "delta": piece, "finish_reason": None}]} for piece in pieces]
            chunks.append(head | {"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]})
            chunks.append(head | {"choices": [], "usage": response["usage"]})
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            for chunk in chunks:
                time.sleep(kept.pause)
                self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
            self.wfile.write(b"data: [DONE]\n\n")

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", kept
    finally:
        server.shutdown()
        server.server_close()
