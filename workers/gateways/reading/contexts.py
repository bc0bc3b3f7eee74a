"""Read sources in the common forms of callers: a text, or an object with common field names."""

from collections.abc import Mapping
from typing import Any, get_args

from schemas.answers import ContextChunk, SourceType
from workers.gateways.errors import UnadaptableRecord
from workers.gateways.reading.lenient_reading import first_text, items, mapping, number, text, time, unfolded, without
from workers.gateways.reading.tool_calls import call_of

_CONTENT = ("content", "text", "page_content", "document", "chunk", "passage", "value", "snippet")
_NAMED = ("chunk_id", "id", "id_", "document_id", "doc_id", "file_id", "source_id", "_id", "uuid")
_TITLE = ("source_name", "title", "name", "filename", "file_name")
_PATH = ("source_path", "url", "uri", "link", "path", "source", "source_uri", "sourceUri")
_SCORE = ("retrieval_score", "score", "relevance_score", "similarity", "_score")
_WRAPPERS = ("node", "kwargs", "payload", "_source", "properties", "data", "document", "metadata")
"""Fields that hold the text and its fields: LlamaIndex, ``dumpd`` of LangChain, Qdrant, Elasticsearch, Weaviate, Cohere,
rerankers, Pinecone."""
_VECTORS = frozenset({"embedding", "vector", "vectors", "values", "sparse_values", "_embedding"})
_OWN = frozenset(ContextChunk.model_fields) - {
    "chunk_id",
    "content",
    "source_name",
    "source_path",
    "retrieval_score",
    "metadata",
}
_KNOWN = frozenset({*_CONTENT, *_NAMED, *_TITLE, *_PATH, *_SCORE, *_OWN, "metadata", "meta"})
_TIMES = ("last_updated", "created_at", "learned_at")


def chunk_of(source: Any) -> dict[str, Any] | None:
    """Return the fields of a ``ContextChunk`` from a source.

    Fields of ``ContextChunk`` keep their name. Other common names are recognised (``page_content`` and ``metadata`` of
    LangChain, ``text`` and ``id`` of most libraries), also within the field in which a retriever wraps them, or beside a
    score in a list of both. All other fields become metadata, but for vectors.

    Args:
        source: a text or an object.

    Returns:
        The fields, or ``None`` if the source has no text.
    """
    if isinstance(source, str):
        return {"chunk_id": None, "content": source} if text(source) else None
    found = _opened(source)
    content = _written(found)
    if content is None:
        return None
    inner = mapping(found.get("metadata") or found.get("meta"))
    both = {**inner, **found}
    chunk = {name: _own(name, both[name]) for name in _OWN if both.get(name) is not None}
    rest = without({**found, **inner}, _KNOWN | _VECTORS)
    return {name: value for name, value in chunk.items() if value is not None} | {
        "chunk_id": first_text(both, *_NAMED),
        "content": content,
        "source_name": first_text(both, *_TITLE),
        "source_path": first_text(both, *_PATH),
        "retrieval_score": next((score for name in _SCORE if (score := number(both.get(name))) is not None), None),
        "metadata": rest or None,
    }


def _opened(source: Any, wrappers: int = 2) -> Mapping[str, Any]:
    """Return a source without its wrappers; fields beside a wrapper go before those within."""
    if _is_scored(source):
        source = {**source[0], "score": source[1]}
    found = mapping(source)
    if not wrappers or _written(found) is not None:
        return found
    for name in _WRAPPERS:
        inner = _opened(found.get(name), wrappers - 1)
        if _written(inner) is not None:
            beside = {} if name == "kwargs" else without(found, frozenset({name}))
            return {**inner, **beside}
    return found


def _is_scored(source: Any) -> bool:
    """Return whether a value is a source and its score, as LangChain's vector stores return them."""
    return (
        isinstance(source, list) and len(source) == 2 and isinstance(source[0], dict) and number(source[1]) is not None
    )


def _written(source: Mapping[str, Any]) -> str | None:
    """Return the text of a source; of a list of parts (OpenAI's vector stores) with blank lines between them."""
    if (found := first_text(source, *_CONTENT)) is not None:
        return found
    content = source.get("content")
    parts = [first_text(mapping(part), "text") for part in (content if isinstance(content, list) else [content])]
    return text("\n\n".join(part for part in parts if part))


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
        if not (each is None or isinstance(each, str) or (isinstance(each, dict) and _says_no_text(each))):
            name = f"{field}.{place}"
            raise UnadaptableRecord(f"{form}: {name} has no text; give it in the field content", name)


def _says_no_text(source: Mapping[str, Any]) -> bool:
    """Return whether all fields of a source are known, and none that holds texts holds a structure."""
    return source.keys() <= _KNOWN and not any(isinstance(source.get(name), dict | list) for name in _CONTENT)


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
        return [each for one in found for each in (one if isinstance(one, list) and not _is_scored(one) else [one])]
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
