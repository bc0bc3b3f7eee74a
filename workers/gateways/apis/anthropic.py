"""Read requests and responses of Anthropic's Messages API, with citations.

Source: Anthropic's "Citations", "Search results", "Web search" and "Web fetch" guides and the Messages API
(``anthropic-version: 2023-06-01``), read November 2026. Document indices count from 0 over all messages of the request
and then over the documents that the service fetched for the response (``document_index``: ``char_location``,
``page_location``, ``content_block_location``). Search results have an index of their own (``search_result_index``); web
results are identified by URL. A document sent as a PDF, by URL or as a file has no text in the request: the cited
passages (``cited_text``) replace its text.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from workers.gateways.apis.chat_messages import part_texts, tool_results
from workers.gateways.apis.reply import MAX_CITATIONS, Reply, spaced
from workers.gateways.reading.lenient_reading import count, first_text, items, mapping, objects, text, total
from workers.gateways.reading.tool_calls import Calls

MAX_CITED = 100_000
"""Maximum length of the cited passages that replace a source's text, code points; the bound of a context."""
CITED_ONLY = "passages that the service cites"
"""Value of the metadata field ``content`` for a source of which only cited passages are known."""
FETCHED = "web_fetch_result"
NO_TEXT = frozenset({"thinking", "redacted_thinking", "container_upload", "compaction"})
NO_TEXT_SUFFIXES = ("tool_use", "tool_result")
"""Types of blocks that are no part of the answer's text."""


def wrote(body: Mapping[str, Any]) -> bool:
    """Return whether a response has the shape of Anthropic's Messages API."""
    return body.get("type") in ("message", "error") or (isinstance(body.get("content"), list) and "stop_reason" in body)


def sources(request: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the documents and search results of a request that carry text, in their order.

    Args:
        request: body of the request.

    Returns:
        Fields of ``ContextChunk`` for each source.
    """
    return [chunk for chunk in _counted(request).chunks if chunk["content"]]


def reply(body: Mapping[str, Any], request: Mapping[str, Any], sources: list[dict[str, Any]]) -> Reply:
    """Read a response.

    Args:
        body: body of the response.
        request: body of the request; the response counts the request's documents and search results.
        sources: further contexts, placed after those of the request and the response.
    """
    usage = mapping(body.get("usage"))
    found = Reply(
        identifier=first_text(body, "id"),
        model=first_text(body, "model"),
        finish_reason=first_text(body, "stop_reason"),
        # Tokens that the service reads from its cache, or writes to it, are not among the others.
        prompt_tokens=total(*(usage.get(f"{name}input_tokens") for name in ("", "cache_read_", "cache_creation_"))),
        completion_tokens=count(usage.get("output_tokens")),
        error=first_text(mapping(body.get("error")), "message", "type"),
    )
    counted = _counted(request)
    counted.add(body.get("content"))
    blocks = list(objects(body.get("content")))
    _check_shape(body, found)
    found.calls_tools = any(block.get("type") == "tool_use" for block in blocks)
    cited: list[tuple[Mapping[str, Any], int, int]] = []
    apart = False
    for block in blocks:
        written = block.get("text")
        if block.get("type") != "text" or not isinstance(written, str):
            apart = True
            continue
        found.text = spaced(found.text, written) if apart else found.text
        apart = False
        start = len(found.text or "")
        found.text = (found.text or "") + written
        cited += [(each, start, start + len(written)) for each in objects(block.get("citations"))]
    targets = [(counted.target(citation), citation, start, end) for citation, start, end in cited[:MAX_CITATIONS]]
    for chunk, citation, _, _ in targets:
        _complete(chunk, citation)
    calls = Calls()
    calls.add(body)
    results = tool_results({"content": blocks}, "assistant", calls)
    found.contexts = [*(chunk for chunk in counted.chunks if chunk["content"]), *sources, *results]
    for chunk, citation, start, end in targets:
        place = next((place for place, each in enumerate(found.contexts, 1) if each is chunk), None)
        if place is None:
            found.leave_uncited(first_text(citation, "url"))
        else:
            found.cite([place], start, end, first_text(citation, "cited_text"))
    return found


def _check_shape(body: Mapping[str, Any], found: Reply) -> None:
    content = body.get("content")
    if not isinstance(content, list):
        found.mark_unread("content")
    for place, block in enumerate(items(content)):
        kind = mapping(block).get("type")
        if not (isinstance(kind, str) and (kind in NO_TEXT or kind.endswith(NO_TEXT_SUFFIXES))) and (
            kind != "text" or not isinstance(block.get("text"), str)
        ):
            found.mark_unread(f"content.{place}")


def _complete(chunk: dict[str, Any] | None, citation: Mapping[str, Any]) -> None:
    """Add a cited passage to a source without text."""
    passage = text(citation.get("cited_text"))
    if chunk is None or passage is None:
        return
    metadata = mapping(chunk.get("metadata"))
    if chunk["content"] and metadata.get("content") != CITED_ONLY:
        return
    if len(chunk["content"]) < MAX_CITED and passage not in chunk["content"]:
        chunk["content"] = "\n\n".join(filter(None, (chunk["content"], passage)))
    chunk["metadata"] = {**metadata, "content": CITED_ONLY}


@dataclass(slots=True)
class _Counted:
    """Sources in the order in which the service counts them."""

    chunks: list[dict[str, Any]] = field(default_factory=list)
    documents: list[dict[str, Any]] = field(default_factory=list)
    results: list[dict[str, Any]] = field(default_factory=list)

    def add(self, content: Any) -> None:
        """Add the sources of a message's content."""
        for block in _blocks(content):
            if block.get("type") == "search_result":
                chunk = _search_result(block, len(self.results))
                self.results.append(chunk)
            else:
                document = _fetched if block.get("type") == FETCHED else _document
                chunk = document(block, len(self.documents))
                self.documents.append(chunk)
            self.chunks.append(chunk)

    def target(self, citation: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the source that a citation names; register an unknown web source by its URL.

        Returns:
            The source, or ``None`` if the citation names no known source.
        """
        document, result = count(citation.get("document_index")), count(citation.get("search_result_index"))
        if document is not None:
            return self.documents[document] if document < len(self.documents) else None
        if result is not None:
            return self.results[result] if result < len(self.results) else None
        url = first_text(citation, "url")
        if url is None:
            return None
        known = next((chunk for chunk in self.chunks if chunk.get("source_path") == url), None)
        if known is None:
            title = first_text(citation, "title")
            known = {"chunk_id": url, "content": "", "source_type": "web", "source_name": title, "source_path": url}
            self.chunks.append(known)
        return known


def _counted(request: Mapping[str, Any]) -> _Counted:
    counted = _Counted()
    for message in objects(request.get("messages")):
        counted.add(message.get("content"))
    return counted


def _blocks(content: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the documents, search results and fetched pages of a message, including those within tool results."""
    for block in objects(content):
        if block.get("type") in ("document", "search_result"):
            yield block
        elif block.get("type") == "tool_result":
            yield from _blocks(block.get("content"))
        elif block.get("type") == "web_fetch_tool_result":
            fetched = mapping(block.get("content"))
            if fetched.get("type") == FETCHED:  # a failed fetch has another type
                yield fetched


def _document(block: Mapping[str, Any], place: int) -> dict[str, Any]:
    source = mapping(block.get("source"))
    kind = source.get("type")
    content = ""
    if kind == "text":
        content = text(source.get("data")) or ""
    elif kind == "content":
        inner = source.get("content")
        content = inner if isinstance(inner, str) else "\n\n".join(part_texts(items(inner)))
    return {
        "chunk_id": first_text(source, "file_id", "url") or f"document-{place}",
        "content": content,
        "source_name": first_text(block, "title"),
        "source_path": first_text(source, "url"),
    }


def _fetched(block: Mapping[str, Any], place: int) -> dict[str, Any]:
    chunk = _document(mapping(block.get("content")), place)
    url, fetched_at = first_text(block, "url"), first_text(block, "retrieved_at")
    return chunk | {
        "chunk_id": url or chunk["chunk_id"],
        "source_type": "web",
        "source_path": url,
        "metadata": {"retrieved_at": fetched_at} if fetched_at else None,
    }


def _search_result(block: Mapping[str, Any], place: int) -> dict[str, Any]:
    return {
        "chunk_id": f"search-result-{place}",
        "content": "\n\n".join(part_texts(items(block.get("content")))),
        "source_name": first_text(block, "title"),
        "source_path": first_text(block, "source"),
    }
