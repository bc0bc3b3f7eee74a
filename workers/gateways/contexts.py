"""Sources as callers write them down: a text, or an object under one of the usual names."""

from typing import Any

from schemas.answers import ContextChunk
from workers.gateways.reading import first_text, items, mapping, number, text, time, without

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
_TIMES = ("last_updated", "created_at", "learned_at")


def chunk_of(source: Any) -> dict[str, Any] | None:
    """Fields of a ``ContextChunk``; ``None`` for what has no text.

    Fields of a chunk keep their name; other usual names are known as well (``page_content`` and
    ``metadata`` of LangChain, ``text`` and ``id`` of most), and the rest stays as metadata.
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
    taken = {*_CONTENT, *_NAMED, *_TITLE, *_PATH, *_SCORE, *_OWN, "metadata"}
    rest = without({**found, **inner}, frozenset(taken))
    return {name: value for name, value in chunk.items() if value is not None} | {
        "chunk_id": first_text(both, *_NAMED),
        "content": content,
        "source_name": first_text(both, *_TITLE),
        "source_path": first_text(both, *_PATH),
        "retrieval_score": next((score for name in _SCORE if (score := number(both.get(name))) is not None), None),
        "metadata": rest or None,
    }


def chunks_of(sources: Any) -> list[dict[str, Any]]:
    """The sources of a list, those without a text as well: answers cite by number, so each keeps its place.

    Where none has a text (a retriever that captures no content) there are no sources.
    """
    found = [(chunk_of(each), each) for each in items(sources)]
    if not any(chunk for chunk, _ in found):
        return []
    return [chunk or {"chunk_id": first_text(mapping(each), *_NAMED), "content": ""} for chunk, each in found]


def _own(name: str, value: Any) -> Any:
    """A field of a chunk, if its value fits: what is missing is judged, what is wrong would refuse the whole answer."""
    if name in _TIMES:
        return time(value)
    if name == "confidence":
        share = number(value)
        return share if share is not None and 0 <= share <= 1 else value if value in ("high", "medium", "low") else None
    if name == "source_type":
        return (
            value if value in ("document", "runbook", "database", "memory", "calculation", "dashboard", "web") else None
        )
    return text(value)
