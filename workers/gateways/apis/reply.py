"""Define the common form of responses from all model services."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from schemas.citations import ADDRESSES
from workers.gateways.apis.chat_messages import TOOL_REASONS
from workers.gateways.reading.lenient_reading import count, objects

UNFINISHED = ("queued", "in_progress")
"""States of a response that is still being made, of which no text counts."""
MAX_CITATIONS = 1_000
"""Maximum number of citations to read from a response, equal to the limit of an answer; each is looked up in its
sources."""


def spaced(before: str | None, after: str) -> str | None:
    """Return a text with a space behind it if it would run into the next one.

    Args:
        before: text before a tool call or another part without text.
        after: text behind it.
    """
    if before and after and not before[-1].isspace() and not after[0].isspace():
        return f"{before} "
    return before


def first_choice(choices: Any) -> Mapping[str, Any]:
    """Return the choice with the lowest index, which is evaluated; an empty object without choices.

    Args:
        choices: choices or candidates of a response.
    """
    return min(objects(choices), key=lambda each: count(each.get("index")) or 0, default={})


@dataclass(slots=True)
class Reply:
    """A model service's response.

    Attributes:
        text: the answer; ``None`` if the response has no text.
        calls_tools: whether the response calls tools.
        identifier: the service's identifier of the response.
        model: name of the model.
        finish_reason: the service's finish reason.
        prompt_tokens: number of tokens of the request.
        completion_tokens: number of tokens of the response.
        contexts: sources of the request and of the response, as fields of ``ContextChunk``.
        citations: fields of ``ProvidedCitation``; each names an entry of ``contexts``.
        uncited: number of citations of sources without known content.
        addresses: addresses of these sources, which the text may repeat.
        others: number of further choices, which are not evaluated.
        created: creation time in the service's form.
        error: error message of the response, if any.
        service: name of the service whose shape the response has; ``None`` if several services share it.
        made_by: name of the server that has this shape alone and answers in the format ``openai``; ``None`` for others.
        unread: dotted name of the first part without a known shape; ``None`` if all parts were read. A response
            without text is an empty answer only if all its parts were read.
    """

    text: str | None = None
    calls_tools: bool = False
    identifier: str | None = None
    model: str | None = None
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    contexts: list[dict[str, Any]] = field(default_factory=list)
    citations: list[dict[str, Any]] = field(default_factory=list)
    uncited: int = 0
    addresses: list[str] = field(default_factory=list)
    others: int = 0
    created: Any = None
    error: str | None = None
    service: str | None = None
    made_by: str | None = None
    unread: str | None = None

    @property
    def is_unknown(self) -> bool:
        """Return whether the response has neither text nor error nor tool call, and a part without a known shape."""
        return self.text is None and self.error is None and not self.calls_tools and self.unread is not None

    @property
    def is_step(self) -> bool:
        """Return whether the response calls tools of the caller: any text beside them is no answer."""
        return self.calls_tools or self.finish_reason in TOOL_REASONS

    def notes(self) -> dict[str, Any]:
        """Return what of the response was not evaluated, by name; only what there is."""
        found = {
            "citations_without_content": self.uncited,
            ADDRESSES: list(dict.fromkeys(self.addresses)),
            "choices_not_evaluated": self.others,
        }
        return {name: value for name, value in found.items() if value}

    def leave_uncited(self, address: str | None) -> None:
        """Count a citation whose source has no known content, and note its address, if it has one."""
        self.uncited += 1
        if address:
            self.addresses.append(address)

    def mark_unread(self, field: str) -> None:
        """Note a part without a known shape; the first one is kept."""
        self.unread = self.unread or field

    def cite(self, numbers: list[int], start: int | None, end: int | None, quoted: str | None = None) -> None:
        """Add a citation of each of these contexts for a span of the text.

        Args:
            numbers: positions of the contexts, from 1.
            start: start of the span, code points; ``None`` if unknown.
            end: end of the span, exclusive; an invalid span is dropped, the citation is kept.
            quoted: the cited passage, if the service gives one.
        """
        placed = start is not None and end is not None and 0 <= start < end <= len(self.text or "")
        for number in numbers:
            self.citations.append(
                {
                    "number": number,
                    "cited_text": quoted,
                    "start": start if placed else None,
                    "end": end if placed else None,
                }
            )

    def numbered(self, *names: str | None) -> int | None:
        """Return the position, from 1, of the context with one of these identifiers, paths or titles.

        Args:
            names: identifiers, paths or titles in order of preference; ``None`` is ignored.

        Returns:
            The position, or ``None`` if no context matches.
        """
        for name in filter(None, names):
            for place, chunk in enumerate(self.contexts, 1):
                if name in (chunk.get("chunk_id"), chunk.get("source_path"), chunk.get("source_name")):
                    return place
        return None
