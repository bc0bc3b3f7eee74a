"""Read sources in the common forms of callers: a text, or an object with common field names."""

from typing import Any, get_args

from schemas.answers import ContextChunk, SourceType
from workers.gateways.errors import UnadaptableRecord
from workers.gateways.reading.lenient_reading import first_text, items, mapping, number, text, time, unfolded, without
from workers.gateways.reading.tool_calls import call_of

_CONTENT = ("content", "text", "page_content", "document", "chunk", "passage", "value")
_NAMED = ("chunk_id", "id", "document_id", "doc_id", "file_id", "source_id", "_id")
_TITLE = ("source_name", "title", "name", "filename", "file_name")
_PATH = ("source_path", "url", "uri", "link", "path", "source")
_SCORE = ("retrieval_score", "score", "relevance_score", "similarity")
_OWN = frozenset(ContextChunk.model_fields) - {
    "chunk_id",
    "content",
    "source_name",
    "source_path",
    "retrieval_score",
    "metadata",
}
_KNOWN = frozenset({*_CONTENT, *_NAMED, *_TITLE, *_PATH, *_SCORE, *_OWN, "metadata"})
_TIMES = ("last_updated", "created_at", "learned_at")


def chunk_of(source: Any) -> dict[str, Any] | None:
    """Return the fields of a ``ContextChunk`` from a source.

    Fields of ``ContextChunk`` keep their name. Other common names are recognised (``page_content`` and ``metadata`` of
    LangChain, ``text`` and ``id`` of most libraries). All other fields become metadata.

    Args:
        source: a text or an object.

    Returns:
        The fields, or ``None`` if the source has no text.
    """
    if isinstance(source, str):
        return {"chunk_id": None, "content": source} if text(source) else None
    found = mapping(source)
    content = first_text(found, *_CONTENT)
    if content is None:
        return None
    inner = mapping(found.get("metadata"))
    both = {**inner, **found}
    chunk = {name: _own(name, both[name]) for name in _OWN if both.get(name) is not None}
    rest = without({**found, **inner}, _KNOWN)
    return {name: value for name, value in chunk.items() if value is not None} | {
        "chunk_id": first_text(both, *_NAMED),
        "content": content,
        "source_name": first_text(both, *_TITLE),
        "source_path": first_text(both, *_PATH),
        "retrieval_score": next((score for name in _SCORE if (score := number(both.get(name))) is not None), None),
        "metadata": rest or None,
    }


def check_sources(sources: Any, form: str, field: str) -> None:
    """Refuse sources of which none can be read.

    Args:
        sources: a list of sources, or ``None``.
        form: name of the format.
        field: name of the list in the record.

    Raises:
        UnadaptableRecord: the value is not a list, or holds only entries with unknown fields.
    """
    if sources is None:
        return
    if not isinstance(sources, list):
        raise UnadaptableRecord(f"{form}: {field} must be a list of texts or objects with content", field)
    if any(chunk_of(each) for each in sources):
        return
    for place, each in enumerate(sources):
        if not (each is None or isinstance(each, str) or (isinstance(each, dict) and each.keys() <= _KNOWN)):
            name = f"{field}.{place}"
            raise UnadaptableRecord(f"{form}: {name} has no text; give it in the field content", name)


def given_sources(value: Any) -> Any:
    """Return the list of sources that a caller gives in metadata: a list, a text, an object, or JSON in a text.

    Clients of OpenAI allow only texts as values of metadata.

    Args:
        value: the value; lists within a list are one list.
    """
    found = unfolded(value)
    if isinstance(found, str | dict):
        return [found]
    if isinstance(found, list):
        return [each for one in found for each in (one if isinstance(one, list) else [one])]
    return found


def chunks_of(sources: Any) -> list[dict[str, Any]]:
    """Return the sources of a list, including those without text, because citations use the position in the list.

    If no source has text (a retriever that captures no content), the result is empty.
    """
    found = [(chunk_of(each), each) for each in items(sources)]
    if not any(chunk for chunk, _ in found):
        return []
    return [chunk or {"chunk_id": first_text(mapping(each), *_NAMED), "content": ""} for chunk, each in found]


def _own(name: str, value: Any) -> Any:
    """Return the value of a chunk's field, or ``None`` if invalid: an invalid value would refuse the whole answer."""
    if name in _TIMES:
        return time(value)
    if name == "confidence":
        share = number(value)
        return share if share is not None and 0 <= share <= 1 else value if value in ("high", "medium", "low") else None
    if name == "source_type":
        return value if value in get_args(SourceType) else None
    if name == "tool":
        return call_of(mapping(value)) or None
    return text(value)
