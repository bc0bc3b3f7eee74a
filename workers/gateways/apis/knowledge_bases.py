"""Read answers of Bedrock's knowledge bases: RetrieveAndGenerate and its stream, with sources and citations.

Source: "RetrieveAndGenerate" and "RetrieveAndGenerateStream" of the Agents for Amazon Bedrock Runtime API, read
November 2026. A reference that several citations name is one source.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import to_json

from workers.gateways.apis.attachments import decoded
from workers.gateways.apis.bedrock import NAME, failure
from workers.gateways.apis.reply import MAX_CITATIONS, Reply
from workers.gateways.reading.lenient_reading import count, first_text, mapping, objects, text

_SIGNS = frozenset({"citations", "sessionId", "guardrailAction"})
_CITATION = frozenset({"citation", "generatedResponsePart", "retrievedReferences"})
_OWN = "x-amz-bedrock-kb-"
"""Beginning of the fields of metadata that the service adds."""


def wrote(body: Mapping[str, Any]) -> bool:
    """Return whether a response has the shape of RetrieveAndGenerate."""
    output = body.get("output")
    return isinstance(output, dict) and "message" not in output and bool(_SIGNS & body.keys())


def reply(body: Mapping[str, Any], request: Mapping[str, Any], sources: list[dict[str, Any]]) -> Reply:
    """Read a response.

    Args:
        body: body of the response.
        request: body of the request; it may bring documents.
        sources: further contexts, placed after the documents of the request.
    """
    said = mapping(body.get("output")).get("text")
    found = Reply(
        text=text(said),
        service=NAME,
        model=first_text(request, "modelId"),
        finish_reason="guardrail_intervened" if body.get("guardrailAction") == "INTERVENED" else None,
        error=text(body.get("error")),
        contexts=[*_documents(request), *sources],
    )
    if not isinstance(said, str):
        found.mark_unread("output.text")
    known: dict[tuple[str, str | None], int] = {}
    for citation in list(objects(body.get("citations")))[:MAX_CITATIONS]:
        numbers = []
        for reference in objects(citation.get("retrievedReferences")):
            chunk = _chunk(reference)
            if chunk is None:
                found.uncited += 1
                continue
            key = (chunk["content"], chunk["source_path"])
            if key not in known:
                found.contexts.append(chunk)
                known[key] = len(found.contexts)
            numbers.append(known[key])
        found.cite(numbers, *_place(found.text or "", citation))
    return found


def is_event(value: Mapping[str, Any]) -> bool:
    """Return whether a value is an event of a streamed response."""
    output = value.get("output")
    return (isinstance(output, dict) and output.keys() == {"text"} and value.keys() == {"output"}) or bool(
        _CITATION & mapping(value.get("citation")).keys()
    )


def merged(events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the body of a streamed response."""
    body: dict[str, Any] = {"citations": []}
    said: str | None = None
    for event in events:
        piece, cited = mapping(event.get("output")).get("text"), mapping(event.get("citation"))
        said = (said or "") + piece if isinstance(piece, str) else said
        if cited:
            body["citations"].append(mapping(cited.get("citation")) or cited)
        if "guardrail" in event:
            body["guardrailAction"] = mapping(event["guardrail"]).get("action")
        if (error := failure(event)) is not None:
            body["error"] = error
    return body | {"output": {"text": said}}


def _place(answer: str, citation: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Return the place of a citation's statement in the answer; ``(None, None)`` if the answer does not hold it."""
    part = mapping(mapping(citation.get("generatedResponsePart")).get("textResponsePart"))
    said, start = text(part.get("text")), count(mapping(part.get("span")).get("start"))
    if said is None or start is None:
        return start, count(mapping(part.get("span")).get("end"))
    # The statement counts, since it is not said whether the end of its span is inclusive.
    begin = start if answer.startswith(said, start) else answer.find(said)
    return (None, None) if begin < 0 else (begin, begin + len(said))


def _chunk(reference: Mapping[str, Any]) -> dict[str, Any] | None:
    held, about = mapping(reference.get("content")), mapping(reference.get("metadata"))
    row = {str(each.get("columnName")): each.get("columnValue") for each in objects(held.get("row"))}
    content = text(held.get("text")) or (to_json(row).decode() if row else None)
    if content is None:
        return None
    places = (
        first_text(mapping(each), "uri", "url", "id", "query") for each in mapping(reference.get("location")).values()
    )
    return {
        "chunk_id": first_text(about, f"{_OWN}chunk-id"),
        "content": content,
        "source_path": next(filter(None, places), None),
        "metadata": {name: value for name, value in about.items() if not name.startswith(_OWN)} or None,
    }


def _documents(request: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the documents that a request brings itself."""
    settings = mapping(mapping(request.get("retrieveAndGenerateConfiguration")).get("externalSourcesConfiguration"))
    given = [mapping(each.get("byteContent")) for each in objects(settings.get("sources"))]
    return [
        {"chunk_id": first_text(each, "identifier"), "content": content, "source_name": first_text(each, "identifier")}
        for each in given
        if (content := decoded(each.get("data"), first_text(each, "contentType")))
    ]
