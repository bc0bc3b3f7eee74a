"""Read responses of model services; the service is recognised by the response's shape.

Gateways log these responses unchanged, so all formats that contain a response use this module.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from workers.gateways.apis import (
    anthropic,
    bedrock,
    bedrock_models,
    cohere,
    google,
    interactions,
    knowledge_bases,
    ollama,
    openai,
)
from workers.gateways.apis.attachments import attached
from workers.gateways.apis.chat_messages import Conversation, conversation
from workers.gateways.apis.reply import Reply
from workers.gateways.apis.streams import is_stream, merged
from workers.gateways.errors import UnadaptableRecord
from workers.gateways.reading.lenient_reading import count, first_text, mapping, text, total

KNOWN = "OpenAI, Anthropic, Google, Bedrock or Cohere"
SERVICES = (google, interactions, anthropic, bedrock, knowledge_bases, bedrock_models, cohere, ollama, openai)
"""Services by the shape of their responses, the most particular shapes first."""


def reply_of(response: Any, request: Mapping[str, Any], sources: Sequence[dict[str, Any]] = ()) -> Reply:
    """Read a response together with the contexts of its request.

    Args:
        response: body of a response, a message, a list of messages or of streamed chunks, or a text.
        request: body of the request.
        sources: further contexts, for example retrieved by the gateway.
    """
    sources = [*sources, *attached(request), *asked(request).evidence]
    metered = bedrock_models.metered(response)
    if is_stream(response):
        response = merged(response)
    elif isinstance(response, list):
        response = {"choices": [{"message": each} for each in response[-1:]]}
    body = _of_langchain(mapping(response))
    for service in SERVICES:
        if service.wrote(body):
            reply: Reply = service.reply(body, request, sources)
            if reply.prompt_tokens is None:
                reply.prompt_tokens = total(*(metered.get(name) for name in bedrock_models.PROMPT_TOKENS))
            if reply.completion_tokens is None:
                reply.completion_tokens = count(metered.get("outputTokenCount"))
            return reply
    said = response if isinstance(response, str) else body.get("text", body.get("content"))
    unread = None if isinstance(said, str) else ""
    return Reply(text=text(said), contexts=[*anthropic.sources(request), *sources], unread=unread)


def _of_langchain(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a message of LangChain as a response; any other body unchanged.

    A message has model, end and tokens in ``response_metadata`` and ``usage_metadata``; written by ``dumpd`` it is within
    ``kwargs``.
    """
    if "lc" in body and isinstance(body.get("kwargs"), dict):
        body = mapping(body["kwargs"])
    told = body.get("response_metadata")
    if not isinstance(told, dict) or "content" not in body:
        return body
    ended = first_text(told, "finish_reason", "stop_reason", "stopReason", "done_reason")
    return {
        "id": body.get("id"),
        "model": first_text(told, "model_name", "model", "model_id"),
        "usage": body.get("usage_metadata"),
        "choices": [{"message": body, "finish_reason": ended}],
    }


def check_known(reply: Reply, form: str, field: str) -> None:
    """Refuse a response that has a part without a known shape and nothing else to evaluate.

    Args:
        reply: the response.
        form: name of the format.
        field: name of the response in the record.

    Raises:
        UnadaptableRecord: the response is unknown; an empty answer would be evaluated in its place.
    """
    if reply.is_unknown:
        name = f"{field}.{reply.unread}".strip(".")
        raise UnadaptableRecord(
            f"{form}: {name} has an unknown shape; send the body of the response as {KNOWN} returns it", name
        )


def asked(request: Mapping[str, Any]) -> Conversation:
    """Return the query of a request and the tool results that follow it."""
    return conversation(google.messages(request) or cohere.messages(request) or openai.instructions(request))
