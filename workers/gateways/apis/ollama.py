"""Read responses of Ollama's own API: ``/api/chat`` and ``/api/generate``.

Source: Ollama's API documentation, read November 2026. A response says whether it is the last one (``done``); the Python
client writes it with the fields of the model ``ChatResponse`` or ``GenerateResponse``. Its routes under ``/v1`` answer
as OpenAI does.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from workers.gateways.apis import openai
from workers.gateways.apis.reply import Reply
from workers.gateways.reading.lenient_reading import count, first_text, mapping

NAME = "ollama"


def wrote(body: Mapping[str, Any]) -> bool:
    """Return whether a response has the shape of Ollama's API."""
    return isinstance(body.get("done"), bool) and (
        isinstance(body.get("message"), dict) or isinstance(body.get("response"), str)
    )


is_chunk = wrote
"""Return whether a value is a chunk of a streamed response; the response without streaming is a single one."""


def reply(body: Mapping[str, Any], request: Mapping[str, Any], sources: list[dict[str, Any]]) -> Reply:
    """Read a response.

    Args:
        body: body of the response.
        request: body of the request.
        sources: further contexts, placed after the documents of the request.
    """
    message = mapping(body.get("message")) or {"content": body.get("response")}
    found = openai.reply({**body, "message": message}, request, sources)
    found.finish_reason = first_text(body, "done_reason")
    found.prompt_tokens, found.completion_tokens = count(body.get("prompt_eval_count")), count(body.get("eval_count"))
    found.made_by = NAME
    return found


def merged(chunks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the body of a streamed response, whose last chunk has its end and its tokens.

    Args:
        chunks: chunks in their order.
    """
    body: dict[str, Any] = {}
    message: dict[str, Any] = {}
    written: list[str] = []
    for chunk in chunks:
        said = mapping(chunk.get("message"))
        message |= {name: value for name, value in said.items() if value}
        text = said.get("content", chunk.get("response"))
        written += [text] if isinstance(text, str) else []
        body |= chunk
    return body | {"message": message | {"content": "".join(written)}}
