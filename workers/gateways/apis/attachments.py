"""Read documents that a request carries as data: texts in base64, as OpenAI, Google and Bedrock take them.

Only texts are read; a PDF or a picture has none here.
"""

from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Any

from workers.gateways.reading.lenient_reading import first_text, items, mapping, objects, text

_TEXTS = ("text/", "application/json", "application/xml", "application/yaml", "application/x-yaml")
_FORMATS = frozenset({"txt", "md", "csv", "html", "json", "xml", "yaml"})
"""Formats of Bedrock's documents that are texts."""


def attached(request: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the texts among the files and inline data of a request, as fields of ``ContextChunk``.

    Args:
        request: body of a request of OpenAI or Google.
    """
    given = next((request[name] for name in ("messages", "input", "contents") if request.get(name)), None)
    return list(_chunks(part for each in message_list(given) for part in _parts(mapping(each))))


def _parts(message: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    content = message.get("content", message.get("parts"))
    return objects(message_list(content if content is not None else message))


def _chunks(parts: Iterator[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for place, part in enumerate(parts):
        inline = mapping(part.get("inlineData", part.get("inline_data")))
        file = mapping(part.get("file")) or (part if part.get("type") == "input_file" else {})
        name = first_text(inline, "displayName", "display_name") or first_text(file, "filename")
        head, _, data = (text(file.get("file_data")) or "").partition(";base64,")
        kind, encoded = head.removeprefix("data:"), data
        if inline:
            kind, encoded = first_text(inline, "mimeType", "mime_type") or "", text(inline.get("data")) or ""
        content = decoded(encoded, kind)
        if content:
            yield {"chunk_id": name or f"attachment-{place}", "content": content, "source_name": name}


def decoded(data: Any, kind: str | None) -> str | None:
    """Return the text of data in base64; ``None`` if it is no text.

    Args:
        data: base64.
        kind: media type, or format of a document of Bedrock.
    """
    if not isinstance(data, str) or kind is None or not (kind in _FORMATS or kind.startswith(_TEXTS)):
        return None
    try:
        return text(b64decode(data).decode())
    except ValueError:
        return None


def message_list(value: Any) -> list[Any]:
    """Return a list of messages; wrap a single message or text in a list."""
    return list(items(value)) or ([value] if value else [])
