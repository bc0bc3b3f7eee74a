"""Read LiteLLM's ``StandardLoggingPayload``, the content of its callbacks and log topics.

Source: LiteLLM's "StandardLoggingPayload Specification" and ``litellm.types.utils``, versions 1.97 and 1.109. Names
of times are in camel case, values in seconds since the epoch. ``messages`` and ``response`` are a text, a list or an
object; with message logging off they hold ``redacted-by-litellm``. Sources come from
``metadata.vector_store_request_metadata`` (retrieved by LiteLLM) and from the request's ``metadata`` (``contexts`` or
``sources``, as texts or as fields of a context), which the caller sets.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from workers.gateways.adapted import Adapted, Draft, Received, finished
from workers.gateways.apis.replies import asked, check_known, reply_of
from workers.gateways.errors import NothingToJudge, UnadaptableRecord
from workers.gateways.reading.contexts import check_sources, chunks_of, given_sources
from workers.gateways.reading.lenient_reading import (
    an_object,
    count,
    first_text,
    mapping,
    number,
    objects,
    text,
    time,
    without,
)
from workers.gateways.reading.model_names import model_name
from workers.gateways.reading.provider_names import provider_name

NAME = "litellm"
REDACTED = "redacted-by-litellm"
_ANSWERS = frozenset(
    {
        "", "completion", "acompletion", "text_completion", "atext_completion", "responses", "aresponses",
        "_aresponses_websocket", "anthropic_messages", "aanthropic_messages", "generate_content", "agenerate_content",
        "generate_content_stream", "agenerate_content_stream", "pass_through_endpoint", "llm_passthrough_route",
        "allm_passthrough_route",
    }
)  # fmt: skip
"""Call types whose response is an answer (``litellm.types.utils.CallTypes``). Other types (embedding, rerank …) have no
answer to evaluate, and types about an earlier answer (``aget_responses``) would replace that answer."""
_TOLD = frozenset(
    {
        "id", "call_type", "status", "model", "custom_llm_provider", "startTime", "endTime", "completionStartTime",
        "response_time", "prompt_tokens", "completion_tokens", "end_user", "messages", "response", "error_str",
        "response_cost", "cache_hit", "metadata", "session_id", "error_information", "total_tokens",
    }
)  # fmt: skip
_PERSONAL = frozenset({"requester_ip_address", "user_agent", "user_api_key_hash", "user_api_key_user_email"})
"""Fields about the caller's identity and address; they are not kept because no evaluation needs them."""
_CALLER = ("tenant", "session_id", "user_id", "query_type", "risk_mode", "prompt_version", "reference_answer")
"""Fields of an answer that the caller may set in the request's metadata."""


def adapt(record: Any, received: Received) -> list[Adapted]:
    """Return the answer of a payload.

    Args:
        record: the payload, decoded from JSON.
        received: metadata of the record.

    Raises:
        NothingToJudge: the call type has no answer, or the response only requests tools.
        UnadaptableRecord: the record is not a ``StandardLoggingPayload``.
    """
    payload = an_object(record, "the record")
    if "status" not in payload or "startTime" not in payload:
        raise UnadaptableRecord(
            "litellm: fields status and startTime are missing; send kwargs['standard_logging_object'] of a callback",
            "startTime" if "status" in payload else "status",
        )
    call_type = text(payload.get("call_type")) or ""
    if call_type not in _ANSWERS:
        raise NothingToJudge("call_type")
    metadata = mapping(payload.get("metadata"))
    caller = mapping(metadata.get("requester_metadata"))
    request = _request(payload.get("messages"))
    reply = reply_of(payload.get("response"), request, list(_sources(metadata, caller)))
    failed = payload.get("status") == "failure"
    if not failed:
        check_known(reply, NAME, "response")
    if reply.is_step and not failed:
        raise NothingToJudge("tool_call")
    error, question = mapping(payload.get("error_information")), asked(request)
    draft = Draft(
        identifier=first_text(payload, "id"),
        # The gateway verifies the team of the key, but not the tenant that the caller names.
        tenant=first_text(metadata, "user_api_key_team_id") or first_text(caller, "tenant"),
        session_id=first_text(caller, "session_id") or first_text(payload, "session_id"),
        user_id=first_text(caller, "user_id")
        or first_text(payload, "end_user")
        or first_text(metadata, "user_api_key_end_user_id")
        or first_text(mapping(payload.get("model_parameters")), "user"),
        query=question.query,
        conversation=question.earlier,
        steps=question.steps,
        answer=None if failed else reply.text,
        contexts=reply.contexts,
        citations=reply.citations,
        model_id=model_name(first_text(payload, "model"), reply.model),
        answered_model=reply.model,
        provider=provider_name(first_text(payload, "custom_llm_provider"), first_text(payload, "model")),
        prompt_version=first_text(caller, "prompt_version")
        or first_text(mapping(metadata.get("prompt_management_metadata")), "prompt_id"),
        temperature=number(mapping(payload.get("model_parameters")).get("temperature")),
        query_type=first_text(caller, "query_type"),
        risk_mode=first_text(caller, "risk_mode"),
        reference_answer=first_text(caller, "reference_answer"),
        status="error" if failed else "success",
        error=first_text(payload, "error_str") or first_text(error, "error_message"),
        error_type=first_text(error, "error_class", "error_code"),
        finish_reason=reply.finish_reason,
        requested_at=time(payload.get("startTime")),
        completed_at=time(payload.get("endTime")),
        first_token_at=_first_token(payload),
        prompt_tokens=count(payload.get("prompt_tokens")),
        completion_tokens=count(payload.get("completion_tokens")),
        trace_id=first_text(payload, "trace_id"),
        traceparent=first_text(caller, "traceparent"),
        cost_usd=number(payload.get("response_cost")),
        cache_hit=payload.get("cache_hit") if isinstance(payload.get("cache_hit"), bool) else None,
        kept=_kept(payload, metadata, caller) | reply.notes(),
    )
    _mark_redacted(draft)
    return [finished(draft, NAME, payload, received)]


def _request(messages: Any) -> dict[str, Any]:
    """Return the messages as a request: from a text, a list, or the request itself."""
    return dict(messages) if isinstance(messages, dict) and "messages" in messages else {"messages": messages}


def _first_token(payload: Mapping[str, Any]) -> Any:
    """Return the time of the first token; ``None`` without streaming, where LiteLLM writes the end time instead."""
    first = payload.get("completionStartTime")
    return time(first) if payload.get("stream") is True and first != payload.get("endTime") else None


def _sources(metadata: Mapping[str, Any], caller: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for request in objects(metadata.get("vector_store_request_metadata")):
        found = mapping(request.get("vector_store_search_response"))
        for result in objects(found.get("data")):
            content = "\n\n".join(part for each in objects(result.get("content")) if (part := text(each.get("text"))))
            if content:
                yield {
                    "chunk_id": first_text(result, "file_id", "filename"),
                    "content": content,
                    "source_name": first_text(result, "filename"),
                    "source_table": first_text(request, "vector_store_id"),
                    "retrieval_score": number(result.get("score")),
                    "metadata": dict(mapping(result.get("attributes"))),
                }
    for name in ("contexts", "sources", "documents"):
        given = given_sources(caller.get(name) or metadata.get(name))
        check_sources(given, NAME, f"metadata.{name}")
        yield from chunks_of(given)


def _kept(payload: Mapping[str, Any], metadata: Mapping[str, Any], caller: Mapping[str, Any]) -> dict[str, Any]:
    kept = without(payload, _TOLD | _PERSONAL)
    told = frozenset(
        {
            "contexts",
            "sources",
            "documents",
            "vector_store_request_metadata",
            "requester_metadata",
            "user_api_key_end_user_id",
        }
    )
    rest = without(metadata, told | _PERSONAL)
    said = without(caller, frozenset({*_CALLER, "contexts", "sources", "documents", "traceparent"}))
    return kept | ({"metadata": rest} if rest else {}) | ({"requester_metadata": said} if said else {})


def _is_redacted(said: str) -> bool:
    """Return whether a text consists only of LiteLLM's redaction marker, repeated once for each block."""
    return REDACTED in said and not said.replace(REDACTED, "").strip()


def _mark_redacted(draft: Draft) -> None:
    """Mark redacted parts of a draft as withheld."""
    if draft.answer is not None and _is_redacted(draft.answer):
        draft.answer = None
        draft.withheld.add("answer")
    if draft.query is not None and _is_redacted(draft.query):
        draft.query = None
        draft.withheld.add("query")
    draft.conversation = [turn for turn in draft.conversation if not _is_redacted(turn["content"])]
    if draft.contexts:
        shown = [chunk for chunk in draft.contexts if chunk.get("content") != REDACTED]
        if len(shown) < len(draft.contexts):
            draft.contexts = shown
            draft.withheld.add("contexts")
