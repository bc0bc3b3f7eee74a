"""Read pairs of a request to a model service and its response: ``{"request": …, "response": …}``.

Both are bodies in the form of the service's API; the response may also be the list of its streamed chunks. Further optional fields are ``id``, ``requested_at``,
``completed_at``, ``latency_seconds``, ``status_code``, ``error``, ``contexts``, and fields of an answer that no
service knows (``tenant``, ``session_id``, ``user_id``, ``query_type``, ``risk_mode`` …).
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from workers.gateways.adapted import Adapted, Draft, Received, finished
from workers.gateways.apis import bedrock_calls
from workers.gateways.apis.replies import asked, check_known, reply_of
from workers.gateways.apis.streams import is_stream
from workers.gateways.errors import NothingToJudge, UnadaptableRecord
from workers.gateways.reading.contexts import check_sources, chunks_of, given_sources
from workers.gateways.reading.lenient_reading import an_object, count, first_text, mapping, number, text, time, without
from workers.gateways.reading.model_names import model_name
from workers.gateways.reading.provider_names import made_by, served_by, stated

_BESIDE = frozenset(
    {
        "request", "response", "id", "answer_id", "tenant", "session_id", "user_id", "query_type", "risk_mode", "contexts",
        "requested_at", "completed_at", "latency_seconds", "status_code", "error", "prompt_version", "reference_answer",
        "trace_id", "traceparent",
    }
)  # fmt: skip
_SAID = frozenset(
    {
        "contexts",
        "messages",
        "input",
        "prompt",
        "contents",
        "documents",
        "model",
        "modelId",
        "temperature",
        "user",
        "inputText",
    }
)
_ASKED = ("messages", "input", "prompt", "contents", "inputText")
"""Fields of a request that hold the query."""
_FAILED = 400
_CONFIGS = ("generationConfig", "generation_config", "inferenceConfig", "textGenerationConfig")
ALSO = {"bedrock": ("cohere",)}
"""Services whose shapes a format reads as well, since its models answer in them."""


def adapt(record: Any, received: Received, *, form: str) -> list[Adapted]:
    """Return the answer of a pair.

    Args:
        record: the pair, decoded from JSON.
        received: metadata of the record.
        form: name of the service.

    Raises:
        NothingToJudge: the response only requests tools.
        UnadaptableRecord: the response is missing and the call did not fail.
    """
    pair = an_object(record, "the record")
    response = pair.get("response")
    if form == "bedrock":
        response = bedrock_calls.plain_response(response)
    if not isinstance(response, dict) and not is_stream(response) and not _failed(pair):
        told = "missing" if response is None else "neither an object nor a list of chunks"
        raise UnadaptableRecord(
            f'{form}: field response is {told}; send {{"request": …, "response": …}} with the bodies of both, '
            "or status_code or error for a call that failed",
            "response",
        )
    request = mapping(pair.get("request"))
    if form == "bedrock":
        request = bedrock_calls.plain_request(request)
    beside = next((name for name in _ASKED if pair.get(name)), None) if "request" not in pair else None
    if beside is not None:
        raise UnadaptableRecord(f"{form}: {beside} is beside the response; send it within request", beside)
    check_sources(pair.get("contexts"), form, "contexts")
    asked_with = given_sources(request.get("contexts") or mapping(request.get("metadata")).get("contexts"))
    check_sources(asked_with, form, "request.contexts")
    given = [*chunks_of(pair.get("contexts")), *chunks_of(asked_with)]
    reply = reply_of(response, request, given)
    failed = _failed(pair) or reply.error is not None
    if reply.service not in (None, form, *ALSO.get(form, ())):
        raise UnadaptableRecord(
            f"{form}: response has the shape of {reply.service}; send it in the format {reply.service}", "response"
        )
    if not failed:
        check_known(reply, form, "response")
    if not failed and reply.is_step:
        raise NothingToJudge("tool_call")
    question = asked(request)
    asked_model = first_text(request, "model", "modelId")
    draft = Draft(
        identifier=first_text(pair, "answer_id", "id") or reply.identifier,
        tenant=first_text(pair, "tenant"),
        session_id=first_text(pair, "session_id") or _session(request, mapping(response)),
        user_id=first_text(pair, "user_id") or _user(request),
        query=question.query,
        conversation=question.earlier,
        steps=question.steps,
        # What a stream brought before it failed was shown.
        answer=None if _failed(pair) else reply.text,
        contexts=reply.contexts,
        citations=reply.citations,
        model_id=model_name(asked_model, reply.model),
        answered_model=reply.model,
        provider=reply.made_by or _provider(form, mapping(response), asked_model, reply.model),
        prompt_version=first_text(pair, "prompt_version"),
        temperature=_temperature(request),
        query_type=first_text(pair, "query_type"),
        risk_mode=first_text(pair, "risk_mode"),
        reference_answer=first_text(pair, "reference_answer"),
        status="error" if failed else "success",
        error=_error_text(pair) or reply.error,
        error_type=first_text(mapping(pair.get("error")), "type", "code") or text(pair.get("status_code")),
        finish_reason=reply.finish_reason,
        requested_at=time(pair.get("requested_at")),
        completed_at=time(pair.get("completed_at")) or time(reply.created),
        latency_seconds=number(pair.get("latency_seconds")),
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
        trace_id=first_text(pair, "trace_id"),
        traceparent=first_text(pair, "traceparent"),
        kept=_kept(pair, request) | reply.notes(),
    )
    return [finished(draft, form, pair, received)]


def with_text(pair: Mapping[str, Any], text: str, form: str, received: Received) -> Adapted:
    """Return the answer of a request whose response has this text so far.

    Args:
        pair: a pair without its response.
        text: text of the response.
        form: name of the service; the response gets its shape, since documents are read with it.
        received: metadata of the record.
    """
    part = {"type": "text", "text": text}
    message = {"role": "assistant", "content": [part]}
    shapes: dict[str, Any] = {
        "bedrock": {"stopReason": "end_turn", "output": {"message": message | {"content": [{"text": text}]}}},
        "cohere": {"finish_reason": "COMPLETE", "message": message},
        "anthropic": {"type": "message", "stop_reason": "end_turn", "content": [part]},
        "google": {"candidates": [{"finishReason": "STOP", "content": {"parts": [{"text": text}]}}]},
    }
    chat = {"choices": [{"finish_reason": "stop", "message": message | {"content": text}}]}
    (found,) = adapt({**pair, "response": shapes.get(form, chat)}, received, form=form)
    return found


openai = partial(adapt, form="openai")
anthropic = partial(adapt, form="anthropic")
google = partial(adapt, form="google")
bedrock = partial(adapt, form="bedrock")
cohere = partial(adapt, form="cohere")


def _provider(form: str, response: Mapping[str, Any], *models: str | None) -> str | None:
    """Return the service of a pair; many services and routers speak OpenAI's format, and only some say who they are."""
    if form != "openai":
        return served_by(*models) or stated(form)
    named = "azure" if "prompt_filter_results" in response else first_text(response, "provider")
    return stated(named) or served_by(*models) or made_by(*models) or form


def _failed(pair: Mapping[str, Any]) -> bool:
    status = count(pair.get("status_code"))
    return bool(pair.get("error")) or (status is not None and status >= _FAILED)


def _error_text(pair: Mapping[str, Any]) -> str | None:
    error = pair.get("error")
    return first_text(mapping(error), "message", "type") if isinstance(error, dict) else text(error)


def _session(request: Mapping[str, Any], response: Mapping[str, Any]) -> str | None:
    """Return the session from the request's metadata, or the one of Bedrock's knowledge bases and agents."""
    told = first_text(mapping(request.get("metadata")), "session_id")
    return told or first_text(response, "sessionId") or first_text(request, "sessionId")


def _user(request: Mapping[str, Any]) -> str | None:
    """Return the user from OpenAI's ``safety_identifier`` or ``user``, or Anthropic's ``metadata.user_id``."""
    return first_text(request, "safety_identifier", "user") or first_text(mapping(request.get("metadata")), "user_id")


def _temperature(request: Mapping[str, Any]) -> float | None:
    config = next((mapping(request[name]) for name in _CONFIGS if name in request), {})
    return number(request.get("temperature", config.get("temperature")))


def _kept(pair: Mapping[str, Any], request: Mapping[str, Any]) -> dict[str, Any]:
    asked_for = without(request, _SAID)
    return without(pair, _BESIDE) | ({"request": asked_for} if asked_for else {})
