"""What a response of a service comes to, whichever wrote it."""

from dataclasses import dataclass, field
from typing import Any

MAX_CITATIONS = 1_000
"""Most citations of a response that are looked at, as an answer may carry; each is looked for among its sources."""


@dataclass(slots=True)
class Reply:
    """A response.

    Attributes:
        text: the answer; ``None`` where there is none.
        calls_tools: whether it asks for tools.
        identifier: the service's name for it.
        model: that wrote it.
        finish_reason: why it stopped.
        prompt_tokens: spent on the request.
        completion_tokens: spent on the response.
        contexts: sources of the request and of the response, as fields of ``ContextChunk``.
        citations: fields of ``ProvidedCitation``; each names a context that is there.
        uncited: citations of sources whose content nobody has sent.
        created: when it was made, as the service tells it.
        error: what went wrong, if the response says so.
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
    created: Any = None
    error: str | None = None

    def cite(self, numbers: list[int], start: int | None, end: int | None, quoted: str | None = None) -> None:
        """Note that a span of the text rests on contexts, by their places from 1."""
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
        """The place, from 1, of the context with one of these identifiers, paths or titles."""
        for name in filter(None, names):
            for place, chunk in enumerate(self.contexts, 1):
                if name in (chunk.get("chunk_id"), chunk.get("source_path"), chunk.get("source_name")):
                    return place
        return None
