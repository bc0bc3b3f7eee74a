"""Check LiteLLM's answers with Touchstone before readers see them, after the call and during the stream.

The guardrail runs in the gateway's process. It needs only this file of Touchstone and the package ``litellm``, which
brings ``aiohttp``: install Touchstone with the gateway, or copy this file there. In the proxy's configuration::

    guardrails:
      - guardrail_name: touchstone
        litellm_params:
          guardrail: touchstone_guardrail.TouchstoneGuardrail
          mode: post_call
          default_on: true
          api_base: os.environ/LITELLM_TOUCHSTONE_URL
          api_key: os.environ/LITELLM_TOUCHSTONE_TOKEN

* An answer is replaced by the text that Touchstone releases: with a disclaimer, "insufficient evidence", or a message
  while it is held. The log of the call keeps the answer of the model.
* A stream (Chat Completions, Messages, Responses) shows a sentence once the answer up to it is released or warned.
  Shown text is never removed. The verdict on the whole answer decides the rest.
* ``stop_on`` says which findings on a sentence end a stream at once, with the message in place of the rest.
* Without a verdict in time, ``unreachable_fallback`` holds the answer (``fail_closed``) or shows it as it is
  (``fail_open``).
"""

import asyncio
import json
import logging
import os
import re
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Any

import aiohttp
from litellm.integrations.custom_guardrail import CustomGuardrail

HELD_MESSAGE = "This answer has not been verified and cannot be shown."
DEADLINE_MS = 1_000
DEADLINES_MS = (20, 30_000)
"""Shortest and longest deadline that the console accepts, milliseconds."""
GRACE_SECONDS = 1.0
"""Wait for a reply beyond the deadline of a check, seconds."""
WARN_SECONDS = 60.0
"""Minimum interval between two warnings in the gateway's log, seconds."""
SHOWN_STATES = ("released", "warned")
SOURCE_FIELDS = ("contexts", "sources", "documents")
CALLER_FIELDS = ("session_id", "user_id", "query_type", "prompt_version")
"""Fields of an answer that a request's ``metadata`` may hold."""
CALLER_CALLS = frozenset(
    {"function_call", "custom_tool_call", "mcp_approval_request", "computer_call", "local_shell_call", "shell_call",
     "apply_patch_call"}
)  # fmt: skip
"""Types of items of the Responses API that wait for the caller; other calls end within the response."""
SERVICE_CALL = "srvtoolu_"
"""Prefix of the identifiers that Anthropic gives to calls of its own tools; LiteLLM lists them as ``tool_calls``."""
_END = object()
_EVENTS = ("message_", "content_block_")
_OTHER_EVENTS = ("ping", "error", "vertex_event")
"""Types of events of Anthropic's Messages."""
_NO_DATA = (b"event:", b"id:", b"retry:", b":", b"data: [DONE]")
"""Beginnings of lines of server-sent events that hold nothing of the answer."""
_EVENT_END = re.compile(rb"\r?\n\r?\n")

log = logging.getLogger("touchstone.guardrail")


class CheckFailed(Exception):
    """Report that the check returned no verdict."""


class TouchstoneGuardrail(CustomGuardrail):
    """Replace answers by what Touchstone releases of them.

    Args:
        api_base: address of the console; by default ``LITELLM_TOUCHSTONE_URL``.
        api_key: an access token with the scope ``ingest``; by default ``LITELLM_TOUCHSTONE_TOKEN``.
        deadline_ms: maximum time for a check, milliseconds, 20 to 30,000.
        risk_mode: ``gatekeeper`` shows nothing that is held for review; ``observer`` shows such answers with a
            disclaimer.
        unreachable_fallback: without a verdict, ``fail_closed`` holds the answer and ``fail_open`` shows it as it is.
        held_message: text in place of an answer that is held; by default the console's, in the language of the answer,
            and an English one without a verdict.
        stop_on: findings that end a stream: ``contradicted_figure``, ``high_risk`` or ``nothing``; by default the
            console's setting.
    """

    def __init__(
        self,
        api_base: str | None = None,
        api_key: str | None = None,
        deadline_ms: int = DEADLINE_MS,
        risk_mode: str = "gatekeeper",
        unreachable_fallback: str = "fail_closed",
        held_message: str | None = None,
        stop_on: str | None = None,
        **arguments: Any,
    ) -> None:
        super().__init__(**arguments)
        url = api_base or os.environ.get("LITELLM_TOUCHSTONE_URL", "")
        token = api_key or os.environ.get("LITELLM_TOUCHSTONE_TOKEN", "")
        token = token.strip()  # files of secrets end with a line feed, which no header may hold
        if not url.startswith(("http://", "https://")) or not token:
            raise ValueError(
                "the Touchstone guardrail needs api_base (or LITELLM_TOUCHSTONE_URL) with http:// or https://, and "
                "api_key (or LITELLM_TOUCHSTONE_TOKEN)"
            )
        if risk_mode not in ("gatekeeper", "observer"):
            raise ValueError("risk_mode of the Touchstone guardrail must be gatekeeper or observer")
        if stop_on not in (None, "nothing", "contradicted_figure", "high_risk"):
            raise ValueError("stop_on of the Touchstone guardrail must be nothing, contradicted_figure or high_risk")
        self.stop_on = stop_on
        self.held_message = held_message
        self.fails_open = unreachable_fallback == "fail_open"
        try:
            self.seconds = int(deadline_ms) / 1_000
        except (TypeError, ValueError, OverflowError):
            self.seconds = 0.0
        if not DEADLINES_MS[0] <= self.seconds * 1_000 <= DEADLINES_MS[1]:
            raise ValueError(
                f"deadline_ms of the Touchstone guardrail must be {DEADLINES_MS[0]} to {DEADLINES_MS[1]}; the console "
                "refuses every check with another one"
            )
        self._risk_mode = risk_mode
        self._url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._session: aiohttp.ClientSession | None = None
        self._warned = 0.0

    async def async_post_call_success_hook(self, data: Any, user_api_key_dict: Any, response: Any) -> Any:
        """Return the response with the released text; ``None`` leaves it as it is."""
        if data.get("stream") is True:  # LiteLLM passes the whole of a checked stream here again
            return None
        pair = self.pair(data, user_api_key_dict)
        kept = _wants_json(data)
        if _get(response, "choices"):
            choices = [await self._released(pair, response, choice, kept) for choice in _get(response, "choices")]
            return _edited(response, choices=choices)
        if _get(response, "output") or (_get(response, "type") == "message" and _get(response, "content")):
            verdict = await self._verdict(pair | {"response": _as_dict(response)})
            if verdict is not None and not (kept and verdict["state"] in SHOWN_STATES):
                return _with_text(response, *self.shown(verdict))
        return None

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: Any
    ) -> AsyncGenerator[Any, None]:
        """Yield the chunks of a stream whose text is released."""
        stream = _CheckedStream(self, request_data, self.pair(request_data, user_api_key_dict))
        async for chunk in stream.chunks(response):
            yield chunk

    def pair(self, data: Any, key: Any) -> dict[str, Any]:
        """Return a request with the fields of the answer that its metadata holds, in the format ``openai``."""
        metadata = data.get("metadata") or data.get("litellm_metadata") or {}
        given = {**metadata, **(metadata.get("requester_metadata") or {})}
        fields = {name: given[name] for name in CALLER_FIELDS if given.get(name) is not None}
        contexts = next((given[name] for name in SOURCE_FIELDS if given.get(name)), None)
        request = {name: data[name] for name in ("model", "messages", "input", "prompt", "user") if data.get(name)}
        request |= {"contexts": contexts} if contexts else {}
        tenant = getattr(key, "team_id", None) or given.get("tenant")
        return {"request": request, "risk_mode": self._risk_mode} | fields | ({"tenant": str(tenant)} if tenant else {})

    async def _released(self, pair: dict[str, Any], response: Any, choice: Any, kept: bool) -> Any:
        message = _get(choice, "message") or choice
        called = any(not _is_of_service(call) for call in _get(message, "tool_calls") or ())
        if called or not (_get(message, "content") or _get(choice, "text")):
            return choice  # no answer
        number = _get(choice, "index") or 0
        identifier = {"id": f"{_get(response, 'id')}-{number}" if number else _get(response, "id")}
        body = {**_as_dict(response), "choices": [_as_dict(choice)]}
        verdict = await self._verdict(pair | identifier | {"response": body})
        if verdict is None or (kept and verdict["state"] in SHOWN_STATES):
            return choice
        text, blocked = self.shown(verdict)
        ended = {"finish_reason": "content_filter"} if blocked else {}
        if _get(choice, "message") is None:
            return _edited(choice, text=text, **ended)
        return _edited(choice, message=_edited(message, content=text), **ended)

    def shown(self, verdict: dict[str, Any]) -> tuple[str, bool]:
        """Return the text for the reader, and whether it stands in place of the answer."""
        blocked = verdict["state"] not in SHOWN_STATES
        return verdict.get("content") or self.held_text(verdict), blocked

    def held_text(self, verdict: dict[str, Any]) -> str:
        """Return the text in place of a held answer: that of the configuration, or the console's."""
        return self.held_message or verdict.get("message") or HELD_MESSAGE

    async def _verdict(self, pair: dict[str, Any]) -> dict[str, Any] | None:
        """Return the verdict on a pair; ``None`` if the response is to be shown as it is."""
        try:
            # `asyncio.timeout` is missing in the oldest Python of the gateway.
            verdict = await asyncio.wait_for(self._check(pair), self.seconds + GRACE_SECONDS)  # noqa: TID251
        except Exception as error:  # whatever fails: the setting says what happens to the answer
            self.warn(error)
            return None if self.fails_open else {"state": "held"}
        return verdict

    async def _check(self, pair: dict[str, Any]) -> dict[str, Any] | None:
        body = json.dumps(pair, default=str).encode()
        async with self.post("/v1/check/openai", body) as response:
            told = _object(await response.text())
            if response.status == 200 and _is_verdict(told):
                return told
            if response.status != 200 and told.get("no_answer"):
                return None
            raise CheckFailed(_problem(response.status, told))

    def post(self, path: str, body: Any, **parameters: str) -> Any:
        """Begin a request to the console; its redirects are not followed, because they would take the token along."""
        if self._session is None or self._session.closed:
            # No limit on the duration: a stream lasts as long as the model writes.
            timeout = aiohttp.ClientTimeout(total=None, connect=self.seconds + GRACE_SECONDS)
            # The console closes idle connections after 5 s; a request on one of them would fail.
            connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=3.0)
            self._session = aiohttp.ClientSession(headers=self._headers, timeout=timeout, connector=connector)
        parameters["deadline_ms"] = str(round(self.seconds * 1_000))
        return self._session.post(self._url + path, data=body, params=parameters, allow_redirects=False)

    def warn(self, error: object) -> None:
        """Log that an answer has no verdict, at most once a minute."""
        now = time.monotonic()
        if now - self._warned > WARN_SECONDS or not self._warned:
            self._warned = now
            action = "shown as they are" if self.fails_open else "held"
            log.warning(
                "answers cannot be checked at %s and are %s: %s", self._url, action, error or type(error).__name__
            )


class _CheckedStream:
    """Hold back the chunks of one stream until their text is released.

    Args:
        guardrail: the guardrail.
        data: the request.
        pair: the request as the first line of ``/v1/check/stream``.
    """

    def __init__(self, guardrail: TouchstoneGuardrail, data: Any, pair: dict[str, Any]) -> None:
        self._guardrail = guardrail
        self._pair = pair
        self._is_json = _wants_json(data)
        self._held: deque[tuple[int, Any]] = deque()
        self._length = 0
        self._released = 0
        self._shown = 0
        self._passes = False
        self._template: Any = None
        self._dialect: Any = None
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._events: asyncio.Queue[tuple[str, dict[str, Any]]] = asyncio.Queue()
        self._talking: asyncio.Task[None] | None = None

    async def chunks(self, source: Any) -> AsyncGenerator[Any, None]:
        """Yield the released chunks of a stream."""
        chunks = source.__aiter__()
        coming = asyncio.ensure_future(_next(chunks))
        told = asyncio.ensure_future(self._events.get())
        verdict: dict[str, Any] | None = None
        try:
            while verdict is None:
                await asyncio.wait([coming, told], return_when=asyncio.FIRST_COMPLETED)
                if coming.done():
                    if (chunk := coming.result()) is _END:
                        if self._dialect is not None:
                            self._take_events(self._dialect.last_events())
                        break
                    self._take(chunk)
                    coming = asyncio.ensure_future(_next(chunks))
                if told.done():
                    verdict = self._heard(*told.result())
                    told = asyncio.ensure_future(self._events.get())
                for each in self._released_chunks():
                    yield each
            if verdict is not None and isinstance(self._dialect, _Responses):
                while (chunk := await coming) is not _END:  # the last events repeat the text
                    self._held += ((self._length + 1, event) for event in self._dialect.events(chunk))
                    coming = asyncio.ensure_future(_next(chunks))
            if verdict is None and not self._passes:
                verdict = await self._verdict(told)
            for each in self._last_chunks(verdict):
                yield each
        finally:
            for task in (coming, told, self._talking):
                if task is not None:
                    task.cancel()

    def _take(self, chunk: Any) -> None:
        """Hold a chunk back, and send its text to the check."""
        self._dialect = self._dialect or _dialect_of(chunk)
        if self._dialect is None or self._dialect.is_several(chunk):
            self._refuse()
            self._held.append((self._length, chunk))
            return
        self._take_events(self._dialect.events(chunk))

    def _refuse(self) -> None:
        """Let a stream pass that cannot be checked, or end it with an error."""
        self._fail("this kind of stream cannot be checked")
        if not self._passes:
            raise CheckFailed("Touchstone checks streams of text with one choice only")

    def _take_events(self, events: list[Any]) -> None:
        for event in events:
            if not self._passes and self._dialect.is_foreign(event):
                self._refuse()
            self._passes |= self._dialect.calls_tool(event)  # whatever text is beside the call is no answer
            text = self._dialect.text(event)
            if isinstance(text, str) and text and not self._passes:
                self._say(event, text)
            self._held.append((self._length, event))

    def _say(self, event: Any, text: str) -> None:
        self._template = event
        if self._talking is None:
            head = {"id": self._dialect.identifier(event), **self._pair}
            self._lines.put_nowait(json.dumps(head, default=str).encode() + b"\n")
            self._talking = asyncio.ensure_future(self._talk())
        self._length += len(text)
        self._lines.put_nowait(json.dumps({"text": text}).encode() + b"\n")

    async def _talk(self) -> None:
        """Send the lines and receive the events of the check."""
        try:
            stop = {"stop_on": self._guardrail.stop_on} if self._guardrail.stop_on else {}
            async with self._guardrail.post("/v1/check/stream", self._body(), format="openai", **stop) as response:
                if response.status != 200:
                    raise CheckFailed(_problem(response.status, _object(await response.text())))
                name = ""
                async for line in _lines_of(response.content):
                    field, _, value = line.decode().partition(": ")
                    if field == "event":
                        name = value
                    elif field == "data":
                        self._events.put_nowait((name, _object(value)))
            raise CheckFailed("the stream of the check ended without a verdict")
        except Exception as error:  # without an event the stream would wait for the whole deadline
            self._events.put_nowait(("error", {"detail": str(error) or type(error).__name__}))

    async def _body(self) -> AsyncIterator[bytes]:
        while (line := await self._lines.get()) is not None:
            yield line

    def _heard(self, name: str, told: dict[str, Any]) -> dict[str, Any] | None:
        """Take an event; return the verdict, if it is one."""
        if name == "verdict" and _is_verdict(told):
            return told
        if name == "stop":
            return {"state": "held"}
        if name == "sentences" and isinstance(told.get("end"), int):
            self._released = told["end"] if told.get("state") in SHOWN_STATES else self._released
            return None
        self._fail(told.get("detail") or f"the event {name!r} of the check cannot be read")
        return None if self._passes else {"state": "held"}

    async def _verdict(self, told: "asyncio.Future[tuple[str, dict[str, Any]]]") -> dict[str, Any] | None:
        """Return the verdict on the whole answer; ``None`` if the rest is to be shown as it is."""
        if self._talking is None:
            return None  # no text
        self._lines.put_nowait(None)
        until = time.monotonic() + self._guardrail.seconds + GRACE_SECONDS
        verdict: dict[str, Any] | None = None
        while verdict is None and not self._passes:
            await asyncio.wait([told], timeout=max(0.0, until - time.monotonic()))
            late = ("error", {"detail": "no verdict within the deadline"})
            verdict = self._heard(*(told.result() if told.done() else late))
            told.cancel()
            told = asyncio.ensure_future(self._events.get())
        told.cancel()
        return verdict

    def _fail(self, reason: str) -> None:
        self._guardrail.warn(reason)
        self._passes = self._guardrail.fails_open

    def _released_chunks(self) -> list[Any]:
        """Remove and return the chunks whose text is released; all of them if the answer is shown as it is."""
        found = []
        while self._held and (self._passes or self._held[0][0] <= self._released):
            self._shown, chunk = self._held.popleft()
            found.append(chunk)
        return found

    def _last_chunks(self, verdict: dict[str, Any] | None) -> list[Any]:
        """Return the chunks after the verdict: the rest of the answer with its disclaimer, or a message."""
        held = [chunk for _, chunk in self._held]
        if verdict is None:
            return held
        if verdict["state"] in SHOWN_STATES:
            notice = "" if self._is_json else verdict.get("notice", "")
            if notice:
                held = self._dialect.ended(held, self._template, notice)
        else:
            message = verdict.get("content") or self._guardrail.held_text(verdict)
            held = self._dialect.blocked(held, self._template, f"\n\n{message}" if self._shown else message)
        return held


class _Chat:
    """Read and end streams of Chat Completions and of Completions, whose choices have their text without a delta."""

    def __init__(self) -> None:
        self._service_calls: set[Any] = set()

    @staticmethod
    def is_several(chunk: Any) -> bool:
        """Return whether a chunk cannot be checked."""
        choices = _get(chunk, "choices")
        return choices is None or any(_get(choice, "index") for choice in choices)

    @staticmethod
    def is_foreign(_: Any) -> bool:
        """Return whether an event has another form."""
        return False

    @staticmethod
    def events(chunk: Any) -> list[Any]:
        """Return the events of a chunk."""
        return [chunk]

    @staticmethod
    def last_events() -> list[Any]:
        """Return no further events."""
        return []

    @staticmethod
    def identifier(event: Any) -> Any:
        """Return the identifier of the response, if the event has it."""
        return _get(event, "id")

    @staticmethod
    def _choice(event: Any) -> Any:
        choices = _get(event, "choices")
        return choices[0] if choices else None

    def calls_tool(self, event: Any) -> bool:
        """Return whether the model calls a tool of the caller."""
        delta = _get(self._choice(event), "delta")
        calls = _get(delta, "tool_calls") or ()
        # Only the first piece of a call has its identifier.
        self._service_calls |= {_get(call, "index") for call in calls if _is_of_service(call)}
        return bool(_get(delta, "function_call")) or any(
            _get(call, "index") not in self._service_calls for call in calls
        )

    @classmethod
    def text(cls, event: Any) -> Any:
        """Return the text of an event."""
        choice = cls._choice(event)
        delta = _get(choice, "delta")
        return _get(choice, "text") if delta is None else _get(delta, "content")

    @classmethod
    def ended(cls, held: list[Any], template: Any, notice: str) -> list[Any]:
        """Return the last events with a notice after the text."""
        place = min((place for place, chunk in enumerate(held) if cls._is_last(chunk)), default=len(held))
        shown, last = held[:place], held[place:]
        if last and cls.text(last[0]):  # the last piece of text also ends the choice
            reason = _get(cls._choice(last[0]), "finish_reason")
            shown.append(_chunk(last[0], cls.text(last[0])))
            last[0] = _chunk(last[0], None, reason)
        return [*shown, _chunk(template, notice), *last]

    @staticmethod
    def blocked(held: list[Any], template: Any, message: str) -> list[Any]:
        """Return the last events with a message in place of the rest."""
        usage: list[Any] = [chunk for chunk in held if not _get(chunk, "choices")]
        return [_chunk(template, message), _chunk(template, None, "content_filter"), *usage]

    @classmethod
    def _is_last(cls, chunk: Any) -> bool:
        choice = cls._choice(chunk)
        return choice is None or bool(_get(choice, "finish_reason"))


class _Messages:
    """Read and end streams of Anthropic's Messages, whose chunks are bytes of server-sent events, cut anywhere."""

    def __init__(self) -> None:
        self._rest = b""
        self._kinds: dict[Any, str] = {}
        self._open: Any = None

    @staticmethod
    def is_several(_: Any) -> bool:
        """Return whether a chunk cannot be checked."""
        return False

    def is_foreign(self, event: bytes) -> bool:
        """Return whether an event has another form, as those of other services have that pass in bytes as well."""
        kind = self._data(event).get("type")
        if kind is None:
            return not all(line.startswith(_NO_DATA) for line in event.splitlines() if line.strip())
        return not (isinstance(kind, str) and (kind in _OTHER_EVENTS or kind.startswith(_EVENTS)))

    def events(self, chunk: Any) -> list[Any]:
        """Return the events that a chunk completes."""
        self._rest += chunk.encode() if isinstance(chunk, str) else chunk
        *events, self._rest = _EVENT_END.split(self._rest)
        return [self._noted(event + b"\n\n") for event in events if event.strip()]

    def last_events(self) -> list[Any]:
        """Return the event that no chunk completed."""
        return [self._noted(self._rest + b"\n\n")] if self._rest.strip() else []

    def _noted(self, event: bytes) -> bytes:
        data = self._data(event)
        if data.get("type") == "content_block_start":
            self._open = data.get("index", 0)
            self._kinds[self._open] = _get(data.get("content_block"), "type")
        elif data.get("type") == "content_block_stop":
            self._open = None
        return event

    @staticmethod
    def identifier(_: Any) -> None:
        """Return no identifier: only the first event has it."""
        return

    @staticmethod
    def _data(event: bytes) -> dict[str, Any]:
        try:
            found = json.loads(b"".join(line[5:] for line in event.splitlines() if line.startswith(b"data:")))
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    @staticmethod
    def _event(data: dict[str, Any]) -> bytes:
        return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n".encode()

    def calls_tool(self, event: bytes) -> bool:
        """Return whether the model calls a tool of the caller; calls of the service's tools end within the response."""
        return bool(_get(self._data(event).get("content_block"), "type") == "tool_use")

    def text(self, event: bytes) -> Any:
        """Return the text of an event."""
        data = self._data(event)
        return _get(data.get("delta") or data.get("content_block"), "text")

    def ended(self, held: list[Any], template: Any, notice: str) -> list[Any]:
        """Return the last events with a notice after the text."""
        texts = [place for place, event in enumerate(held) if self.text(event)]
        place = texts[-1] + 1 if texts else 0
        return [*held[:place], self._with_text(held[texts[-1]] if texts else template, notice), *held[place:]]

    def blocked(self, held: list[Any], template: Any, message: str) -> list[Any]:
        """Return the last events with a message in place of the rest."""
        blocks = [data for event in held if "index" in (data := self._data(event))]
        index = blocks[0]["index"] if blocks else self._open
        before: list[dict[str, Any]] = []
        if index is None:
            index = max(self._kinds, default=-1) + 1
            is_open = False
        else:
            is_open = not blocks or blocks[0]["type"] != "content_block_start"
        if is_open and self._kinds.get(index, "text") != "text":
            before = [{"type": "content_block_stop", "index": index}]
            index, is_open = index + 1, False
        if not is_open:
            block = {"type": "text", "text": ""}
            before.append({"type": "content_block_start", "index": index, "content_block": block})
        usage = [data.get("usage") for event in held if (data := self._data(event)).get("type") == "message_delta"]
        last = [
            {"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": message}},
            {"type": "content_block_stop", "index": index},
            {
                "type": "message_delta",
                "delta": {"stop_reason": "refusal", "stop_sequence": None},
                "usage": next(iter(usage), None) or {"output_tokens": 0},
            },
            {"type": "message_stop"},
        ]
        return [self._event(event) for event in (*before, *last)]

    def _with_text(self, template: bytes, text: str) -> bytes:
        index = self._data(template).get("index", 0)
        return self._event(
            {"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": text}}
        )


class _Responses:
    """Read and end streams of the Responses API, whose last events repeat the text."""

    DELTA = "response.output_text.delta"

    def __init__(self) -> None:
        self._has_deltas = False

    @staticmethod
    def is_several(_: Any) -> bool:
        """Return whether a chunk cannot be checked."""
        return False

    @staticmethod
    def is_foreign(_: Any) -> bool:
        """Return whether an event has another form."""
        return False

    @staticmethod
    def events(chunk: Any) -> list[Any]:
        """Return the events of a chunk."""
        return [chunk]

    @staticmethod
    def last_events() -> list[Any]:
        """Return no further events."""
        return []

    @staticmethod
    def identifier(_: Any) -> None:
        """Return no identifier: only the first event has it."""
        return

    @staticmethod
    def calls_tool(event: Any) -> bool:
        """Return whether the model calls a tool of the caller."""
        return _get(_get(event, "item"), "type") in CALLER_CALLS

    def text(self, event: Any) -> Any:
        """Return the text of an event; of the last one if no event before it had any."""
        if _kind(event) == self.DELTA:
            self._has_deltas = True
            return _get(event, "delta")
        if self._has_deltas or _get(event, "response") is None:
            return None
        parts = [part for item in _get(_get(event, "response"), "output") or () for part in _get(item, "content") or ()]
        return "".join(text for part in parts if isinstance(text := _get(part, "text"), str))

    def ended(self, held: list[Any], template: Any, notice: str) -> list[Any]:
        """Return the last events with a notice after the text."""
        deltas = [place for place, event in enumerate(held) if _kind(event) == self.DELTA]
        place = deltas[-1] + 1 if deltas else 0
        tail = [self._with_text(event, lambda text: text + notice) for event in held[place:]]
        return [*held[:place], *self._delta(template, notice), *tail]

    def blocked(self, held: list[Any], template: Any, message: str) -> list[Any]:
        """Return the last events with a message in place of the rest."""
        hidden = "".join(_get(event, "delta") for event in held if _kind(event) == self.DELTA)
        tail = [event for event in held if _kind(event) != self.DELTA]

        def shown(text: str) -> str:
            return (text[: len(text) - len(hidden)] if hidden and text.endswith(hidden) else "") + message

        return [*self._delta(template, message), *(self._with_text(event, shown) for event in tail)]

    def _delta(self, template: Any, text: str) -> list[Any]:
        return [_edited(template, delta=text)] if _kind(template) == self.DELTA else []

    @classmethod
    def _with_text(cls, event: Any, changed: Callable[[str], str]) -> Any:
        """Return an event with another text wherever it repeats the text of the answer."""
        if isinstance(_get(event, "text"), str):
            return _edited(event, text=changed(_get(event, "text")))
        for name in ("part", "item", "response"):
            if _get(event, name) is not None:
                return _edited(event, **{name: cls._with_text(_get(event, name), changed)})
        for name in ("content", "output"):
            if isinstance(_get(event, name), list):
                return _edited(event, **{name: [cls._with_text(each, changed) for each in _get(event, name)]})
        return event


def _kind(event: Any) -> str:
    kind = _get(event, "type")
    return str(getattr(kind, "value", kind))


def _dialect_of(chunk: Any) -> Any:
    if isinstance(chunk, bytes | str):
        return _Messages()
    if _get(chunk, "choices") is not None:
        return _Chat()
    return _Responses() if _kind(chunk).startswith("response.") else None


def _wants_json(data: Any) -> bool:
    """Return whether the answer is for a program, which a disclaimer or references would disturb."""
    inner = (_get(data.get(name), "format") for name in ("text", "output_config"))
    formats = (data.get("response_format"), data.get("output_format"), *inner)
    return any(each and _get(each, "type") != "text" for each in formats)


async def _next(chunks: Any) -> Any:
    try:
        return await chunks.__anext__()
    except StopAsyncIteration:
        return _END


def _chunk(template: Any, content: str | None, finish_reason: str | None = None) -> Any:
    """Return a chunk like another one, with another text and end."""
    choice = _get(template, "choices")[0]
    delta = _get(choice, "delta")
    changes = {"text": content or ""} if delta is None else {"delta": _edited(delta, content=content)}
    return _edited(template, choices=[_edited(choice, **changes, finish_reason=finish_reason)])


def _is_of_service(call: Any) -> bool:
    """Return whether a call of a tool ended within the response."""
    return str(_get(call, "id")).startswith(SERVICE_CALL)


def _object(value: Any) -> dict[str, Any]:
    """Return an object decoded from JSON; an empty one for anything else."""
    try:
        found = json.loads(value)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _is_verdict(told: dict[str, Any]) -> bool:
    return isinstance(told.get("state"), str)


def _problem(status: int, told: dict[str, Any]) -> str:
    return f"{status} {told.get('detail') or 'the reply is not one of the console; check the address'}"


async def _lines_of(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """Yield the lines of a reply; the line of a long verdict is longer than aiohttp reads at once."""
    rest = b""
    async for data in content.iter_any():
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            yield line.rstrip(b"\r")
    yield rest


def _get(value: Any, name: str) -> Any:
    if isinstance(value, str | bytes):
        return None
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def _as_dict(value: Any) -> dict[str, Any]:
    found: dict[str, Any] = value if isinstance(value, dict) else value.model_dump(mode="json", exclude_none=True)
    return found


def _edited(value: Any, **changes: Any) -> Any:
    """Return a copy with changes; LiteLLM logs the original."""
    return {**value, **changes} if isinstance(value, dict) else value.model_copy(update=changes)


def _with_text(response: Any, text: str, blocked: bool) -> Any:
    """Return a response of the Responses API or of Anthropic's Messages with another text."""
    if _get(response, "output"):
        output = [
            _edited(item, content=_one_text(_get(item, "content"), text)) if _get(item, "type") == "message" else item
            for item in _get(response, "output")
        ]
        return _edited(response, output=output)
    ended = {"stop_reason": "refusal"} if blocked else {}
    return _edited(response, content=_one_text(_get(response, "content"), text), **ended)


def _one_text(blocks: Any, text: str) -> list[Any]:
    """Return the blocks of a message with its text in the first block with one."""
    found = []
    for block in blocks:
        if _get(block, "text") is not None:
            block = _edited(block, text=text)
            text = ""
        found.append(block)
    return [block for block in found if _get(block, "text") != ""]
