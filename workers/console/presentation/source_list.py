"""List the sources that the model received for an answer, cited or not."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field
from pydantic_core import from_json

from workers.evaluation.text.visible_text import MAX_SHOWN
from workers.stores.queries.answer_queries import StoredAnswer


class SourceView(BaseModel):
    """Describe a source that the model received for an answer, cited or not."""

    number: int = Field(description="Position among the contexts, from 1.")
    chunk_id: str
    source_type: str
    title: str = Field(default="", description="Name for readers, or the subject; empty if unknown.")
    source_path: str = Field(default="", description="Path or URL; empty if unknown.")
    source_table: str | None = None
    record_id: str | None = None
    version: str = Field(default="", description="Version that the retriever named; empty if unknown.")
    last_updated: datetime | None = None
    call: str = Field(
        default="", description="Call of a tool whose result it is, with its arguments; empty for others."
    )
    called_at: datetime | None = Field(default=None, description="Time of the call.")
    citation_id: str = Field(default="", description="Its citation; empty if the answer does not cite it.")
    digest: str = Field(
        default="", description="SHA-256 of the content of a source that only claims name; empty if it was not kept."
    )


def sources_of(stored: StoredAnswer) -> list[SourceView]:
    """Return the sources of an answer in the order in which the model received them.

    Citations describe the sources that are cited, and the stored list the others. Answers from before the list was
    kept have the sources of their review request instead.
    """
    citations = {row["number"]: row for row in stored.citations if row["valid"] and row["number"]}
    described = {each["number"]: each for each in _described(stored)}
    return [
        SourceView.model_validate(_cited(citations.get(number)) | described.get(number, {}) | {"number": number})
        for number in sorted({*citations, *described})
    ]


def uncited_digests(stored: StoredAnswer) -> dict[int, str]:
    """Return the digests of kept sources that the answer does not cite, by number: claims name them."""
    compared = {claim["chunk_id"]: claim["source_digest"] for claim in stored.claims if claim["source_digest"]}
    uncited = [source for source in sources_of(stored) if not source.citation_id]
    # The list of an earlier answer has no digests; its claims have those of their evidence alone.
    found = {source.number: source.digest or compared.get(source.chunk_id, "") for source in uncited}
    return {number: digest for number, digest in found.items() if digest}


def uncited_texts(stored: StoredAnswer, contents: Mapping[str, str]) -> dict[int, str]:
    """Return the kept contents of sources that the answer does not cite, by number.

    Args:
        stored: the answer.
        contents: contents by digest; a review request holds others, as far as they fit into it.
    """
    digests = uncited_digests(stored)
    requested = {
        context["number"]: context["content"]
        for request in stored.requests
        for context in from_json(request["request"] or "{}").get("contexts", [])
        if context.get("content")
    }
    uncited = [source.number for source in sources_of(stored) if not source.citation_id]
    texts = {number: contents.get(digests.get(number, ""), requested.get(number, "")) for number in uncited}
    return {number: text[:MAX_SHOWN] for number, text in texts.items() if text}


def _described(stored: StoredAnswer) -> Iterator[dict[str, Any]]:
    if stored.answer["sources"]:
        yield from from_json(stored.answer["sources"])
        return
    for request in stored.requests:
        for context in from_json(request["request"] or "{}").get("contexts", []):
            names = ("number", "chunk_id", "source_type", "source_path", "version", "last_updated")
            yield {"title": context.get("source_name", "")} | {name: context[name] for name in names if name in context}


def _cited(citation: Mapping[str, Any] | None) -> dict[str, Any]:
    if citation is None:
        return {}
    names = ("chunk_id", "source_type", "source_path", "source_table", "record_id", "last_updated", "citation_id")
    return {"title": citation["source_name"] or citation["entity"]} | {name: citation[name] for name in names}
