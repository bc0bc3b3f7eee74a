"""Read structured citations that arrive with an answer: those of the gateway, of Anthropic and of OpenAI.

Shapes in ``metadata``, with the fields that name the source:

* Anthropic Messages: ``citations`` of text blocks in ``content``. Source: ``document_index`` (from 0),
  ``search_result_index``, title or URL; quotation: ``cited_text``.
* OpenAI Assistants: ``file_citation`` in ``annotations``, with ``text``, ``start_index`` and ``end_index``. Source:
  ``file_id``, ``quote``.
* OpenAI Responses: ``file_citation`` with ``index``, or ``url_citation``, in ``annotations``. Source: ``file_id``,
  ``filename``, ``url``, ``title``.
* OpenAI Chat Completions: ``url_citation`` in ``annotations``, whose fields are in an object of that name. Source:
  ``url``, ``title``.

Citations are also read one level deeper, in ``message``, ``response`` or the first of ``choices`` or ``output``, as
the services return them. Other shapes are ignored, because metadata may contain anything.

Sources: Anthropic's "Citations" and OpenAI's "File search" and "Web search" guides.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.answers import GeneratedAnswer

MAX_REFERENCES = 1_000
"""Maximum number of structured citations to read from metadata."""
MAX_TEXT = 2_000
"""Maximum length of a name or quotation to look up, code points."""


@dataclass(frozen=True, slots=True)
class StructuredReference:
    """Describe a citation that is transmitted separately from the answer's text.

    Attributes:
        names: possible names of its source: identifier, file, URL, title. The first known name is used.
        number: position of the source, from 1.
        quoted: the passage that it quotes from the source.
        start: offset in the answer, code points; ``None`` if it is unknown.
        end: offset after its last character.
    """

    names: tuple[str, ...] = ()
    number: int | None = None
    quoted: str = ""
    start: int | None = None
    end: int | None = None


def structured_references(answer: GeneratedAnswer) -> list[StructuredReference]:
    """Return every structured citation of an answer: those of its field ``citations``, then those of its metadata."""
    found = [
        StructuredReference(
            (provided.chunk_id,) if provided.chunk_id else (),
            provided.number,
            provided.cited_text or "",
            *_within(provided.start, provided.end, len(answer.answer)),
        )
        for provided in answer.citations
    ]
    for reference in _from_metadata(answer):
        if len(found) >= MAX_REFERENCES + len(answer.citations):
            break
        found.append(reference)
    return found


def _from_metadata(answer: GeneratedAnswer) -> Iterator[StructuredReference]:
    for message in _messages(answer.metadata):
        blocks = message.get("content")
        if isinstance(blocks, list):
            yield from _blocks(blocks, answer.answer)
        annotations = message.get("annotations")
        for annotation in annotations if isinstance(annotations, list) else ():
            yield from _openai(annotation, answer.answer, 0)


def _messages(metadata: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the message objects of the metadata: at the top level, or one or two levels deeper."""
    pending: list[tuple[Any, int]] = [(metadata, 0)]
    while pending:
        value, depth = pending.pop(0)
        if not isinstance(value, dict):
            continue
        yield value
        if depth < 3:
            pending.extend((value.get(name), depth + 1) for name in ("message", "response"))
            for name in ("choices", "output"):
                items = value.get(name)
                pending.extend((item, depth + 1) for item in (items[:20] if isinstance(items, list) else ()))


def _blocks(blocks: Sequence[Any], answer: str) -> Iterator[StructuredReference]:
    """Yield citations of text blocks in order; each block is searched for after the end of the previous one."""
    position = 0
    for block in blocks:
        text = block.get("text") if isinstance(block, dict) else None
        if not isinstance(text, str):
            continue
        found = answer.find(text, position) if text else -1
        start, end = (found, found + len(text)) if found >= 0 else (None, None)
        position = end if end is not None else position
        citations = block.get("citations")
        for citation in citations if isinstance(citations, list) else ():
            if isinstance(citation, dict):
                yield _anthropic(citation, start, end)
        annotations = block.get("annotations")
        for annotation in annotations if isinstance(annotations, list) else ():
            # Offsets of OpenAI's annotations count from the start of their block.
            yield from _openai(annotation, answer, start or 0)


def _anthropic(citation: Mapping[str, Any], start: int | None, end: int | None) -> StructuredReference:
    index = citation.get("document_index", citation.get("search_result_index"))
    number = index + 1 if isinstance(index, int) and not isinstance(index, bool) and index >= 0 else None
    names = _texts(citation, "source", "url", "document_title", "title")
    return StructuredReference(names, number, _text(citation.get("cited_text")), start, end)


def _openai(annotation: Any, answer: str, base: int) -> Iterator[StructuredReference]:
    if not isinstance(annotation, dict) or annotation.get("type") not in ("file_citation", "url_citation"):
        return
    inner = annotation.get(annotation["type"])
    fields = {**annotation, **(inner if isinstance(inner, dict) else {})}
    names = _texts(fields, "file_id", "filename", "url", "title")
    quoted = _text(fields.get("quote"))
    if not names and not quoted:
        return
    yield StructuredReference(names, None, quoted, *_place(fields, answer, base))


def _place(fields: Mapping[str, Any], answer: str, base: int) -> tuple[int | None, int | None]:
    start, end, text = fields.get("start_index"), fields.get("end_index"), fields.get("text")
    if isinstance(start, int) and isinstance(end, int):
        start, end = _within(base + start, base + end, len(answer))
        if not isinstance(text, str) or (start is not None and answer[start:end] == text):
            return start, end
    if isinstance(text, str) and text and (found := answer.find(text)) >= 0:
        return found, found + len(text)
    index = fields.get("index")
    # The index is the position after the statement.
    if isinstance(index, int) and 0 < base + index <= len(answer):
        return base + index - 1, base + index
    return None, None


def _within(start: int | None, end: int | None, length: int) -> tuple[int | None, int | None]:
    if start is None or end is None or not 0 <= start < end <= length:
        return None, None
    return start, end


def _texts(fields: Mapping[str, Any], *names: str) -> tuple[str, ...]:
    return tuple(text for name in names if (text := _text(fields.get(name))))


def _text(value: Any) -> str:
    return value.strip()[:MAX_TEXT] if isinstance(value, str) else ""
