"""Answers of the services' own APIs: OpenAI's two, Anthropic's, Google's; told apart by their shape.

Gateways log them as they came, so every format that carries a response is read here.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from workers.gateways import anthropic, google, openai
from workers.gateways.messages import Conversation, conversation
from workers.gateways.reading import mapping, text
from workers.gateways.reply import Reply


def reply_of(response: Any, request: Mapping[str, Any], sources: Sequence[dict[str, Any]] = ()) -> Reply:
    """What a response says, with the contexts that its request carried.

    Args:
        response: the body of a response, a message, a list of messages, or a text.
        request: the body of the request.
        sources: contexts that are known besides, such as what the gateway itself retrieved.
    """
    sources = [*sources, *asked(request).evidence]
    if isinstance(response, list):
        response = {"choices": [{"message": each} for each in response[-1:]]}
    body = mapping(response)
    for service in (google, anthropic, openai):
        if service.wrote(body):
            reply: Reply = service.reply(body, request, sources)
            return reply
    said = response if isinstance(response, str) else body.get("text", body.get("content"))
    return Reply(text=text(said), contexts=[*anthropic.sources(request), *sources])


def asked(request: Mapping[str, Any]) -> Conversation:
    """The query of a request and what tools gave after it."""
    return conversation(google.messages(request) or openai.instructions(request))
