"""Bring calls of Bedrock's operations to one form: the fields of the body, with the model beside them.

A client takes and gives the body of InvokeModel as JSON in a field ``body``, and the chunks of a stream as
``{"chunk": {"bytes": …}}``. RetrieveAndGenerate names its model and its query within other fields. The names are those
of boto3 and of the HTTP interface.
"""

from base64 import b64decode
from binascii import Error
from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json

from workers.gateways.apis import prompt_templates
from workers.gateways.apis.bedrock_models import METRICS
from workers.gateways.reading.lenient_reading import first_text, mapping, text, without

_WRAPPING = frozenset({"body", "contentType", "accept"})
_TOKENS = {
    "inputTokenCount": "x-amzn-bedrock-input-token-count",
    "outputTokenCount": "x-amzn-bedrock-output-token-count",
    "cacheReadInputTokenCount": "x-amzn-bedrock-cache-read-input-token-count",
    "cacheWriteInputTokenCount": "x-amzn-bedrock-cache-write-input-token-count",
}


def plain_request(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request with the fields of its body, ``modelId`` and ``messages``.

    Args:
        request: body of a request, or arguments of the client.
    """
    found: dict[str, Any] = {**without(request, _WRAPPING), **mapping(_json(request.get("body")))}
    settings = mapping(found.get("retrieveAndGenerateConfiguration"))
    chosen = next((mapping(each) for each in settings.values() if "modelArn" in mapping(each)), {})
    model = first_text(found, "modelId") or first_text(chosen, "modelArn")
    said = text(found.get("inputText")) or text(mapping(found.get("input")).get("text"))
    messages = said and (prompt_templates.turns(said) or [{"role": "user", "content": said}])
    if model:
        found["modelId"] = model
    if messages:
        found["messages"] = messages
    return found


def plain_response(response: Any) -> Any:
    """Return a response with the fields of its body, or its chunks, decoded.

    Args:
        response: body of a response, its chunks, or what the client returns.
    """
    if isinstance(response, list):
        return [_json(mapping(mapping(each).get("chunk")).get("bytes")) or each for each in response]
    if not isinstance(response, dict) or "body" not in response:
        return response
    body = _json(response["body"])
    if isinstance(body, list):
        return plain_response(body)
    headers = mapping(mapping(response.get("ResponseMetadata")).get("HTTPHeaders"))
    tokens = {name: headers[header] for name, header in _TOKENS.items() if header in headers}
    return response if body is None else {METRICS: tokens, **body}


def _json(value: Any) -> Any:
    """Return an object or a list, also from JSON or from JSON in base64; ``None`` for anything else."""
    if isinstance(value, str):
        try:
            value = from_json(value if value.lstrip()[:1] in ("{", "[") else b64decode(value, validate=True))
        except (ValueError, Error):
            return None
    return value if isinstance(value, dict | list) else None
