"""Read responses of Bedrock's InvokeModel that have a shape of their own: each family of models has another.

Source: "Inference request parameters and response fields for foundation models" of the Amazon Bedrock user guide, read
November 2026. Models that are not here answer in the shape of Converse (Nova), Anthropic's Messages, OpenAI's
(Mistral's chat, Jamba, DeepSeek, Qwen) or Cohere's chat (Command R).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workers.gateways.apis.bedrock import NAME, failure
from workers.gateways.apis.reply import Reply
from workers.gateways.reading.lenient_reading import count, first_text, items, mapping, objects, text

METRICS = "amazon-bedrock-invocationMetrics"
"""Field of the last chunk of a stream, with numbers of tokens."""
PROMPT_TOKENS = ("inputTokenCount", "cacheReadInputTokenCount", "cacheWriteInputTokenCount")
"""Numbers of tokens that together are those of a prompt."""


@dataclass(frozen=True, slots=True)
class _Family:
    """Say where the models of a family put their text.

    Attributes:
        outputs: list of the outputs; ``None`` if the body holds one.
        said: path of the text within an output.
        reason: path of the finish reason within an output.
        signs: fields of which an output has at least one beside its text.
        shared: True if a service outside Bedrock answers in this shape as well.
    """

    outputs: str | None
    said: tuple[str, ...]
    reason: tuple[str, ...]
    signs: frozenset[str]
    shared: bool = False

    def outputs_of(self, body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Return the outputs of a body, or of a chunk; none of those of another family."""
        found = [body] if self.outputs is None else list(objects(body.get(self.outputs)))
        return found if any(self.signs & each.keys() for each in found) and self.is_named(body, found) else []

    def is_named(self, body: Mapping[str, Any], outputs: Sequence[Mapping[str, Any]]) -> bool:
        """Return whether the body has the list of outputs, or the field of its one text."""
        return self.outputs is not None or self.said[0] in body

    def place(self) -> str:
        """Return the dotted name of the first text."""
        return ".".join([*([self.outputs, "0"] if self.outputs else []), *self.said])


_TITAN = _Family(
    "results", ("outputText",), ("completionReason",), frozenset({"outputText", "tokenCount", "completionReason"})
)
_LLAMA = _Family(
    None, ("generation",), ("stop_reason",), frozenset({"stop_reason", "prompt_token_count", "generation_token_count"})
)
_MISTRAL = _Family("outputs", ("text",), ("stop_reason",), frozenset({"stop_reason"}))
_COMMAND = _Family(
    "generations", ("text",), ("finish_reason",), frozenset({"finish_reason", "likelihood"}), shared=True
)
_JURASSIC = _Family(
    "completions", ("data", "text"), ("finishReason", "reason"), frozenset({"data", "finishReason"}), shared=True
)
_CLAUDE = _Family(None, ("completion",), ("stop_reason",), frozenset({"stop_reason"}), shared=True)
FAMILIES = (_TITAN, _LLAMA, _MISTRAL, _COMMAND, _JURASSIC, _CLAUDE)
_TITAN_CHUNK = _Family(
    None, ("outputText",), ("completionReason",), frozenset({"completionReason", "totalOutputTextTokenCount"})
)
_COMMAND_CHUNK = _Family(None, ("text",), ("finish_reason",), frozenset({"is_finished"}))
CHUNKS = {_TITAN_CHUNK: _TITAN, _LLAMA: _LLAMA, _MISTRAL: _MISTRAL, _COMMAND_CHUNK: _COMMAND, _CLAUDE: _CLAUDE}
"""Families of chunks, each with the family of the whole body."""


def wrote(body: Mapping[str, Any]) -> bool:
    """Return whether a response has the shape of one of the families."""
    return _family(body) is not None


def reply(body: Mapping[str, Any], request: Mapping[str, Any], sources: list[dict[str, Any]]) -> Reply:
    """Read the first output of a response.

    Args:
        body: body of the response.
        request: body of the request.
        sources: contexts of the call.
    """
    family = _family(body) or _TITAN
    outputs = family.outputs_of(body)
    said = _inside(outputs[0], family.said)
    found = Reply(
        text=text(said),
        service=None if family.shared else NAME,
        identifier=first_text(body, "id"),
        model=first_text(request, "modelId"),
        finish_reason=text(_inside(outputs[0], family.reason)),
        prompt_tokens=count(body.get("inputTextTokenCount", body.get("prompt_token_count"))),
        completion_tokens=count(outputs[0].get("tokenCount", body.get("generation_token_count"))),
        others=len(outputs) - 1,
        error=text(body.get("error")),
        contexts=list(sources),
    )
    if not isinstance(said, str):
        found.mark_unread(family.place())
    return found


def is_event(value: Mapping[str, Any]) -> bool:
    """Return whether a value is a chunk of a streamed response."""
    return _chunk_family(value) is not None


def merged(chunks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the body of a streamed response."""
    shape = next(family for each in chunks if (family := _chunk_family(each)) is not None)
    whole = CHUNKS[shape]
    said: str | None = None
    output: dict[str, Any] = {whole.reason[0]: None}
    body: dict[str, Any] = {}
    for chunk in chunks:
        body |= {name: value for name, value in chunk.items() if value is not None}
        if (error := failure(chunk)) is not None:
            body["error"] = error
        # The last chunk of one text may have its reason alone.
        for part in [chunk] if shape.outputs is None else shape.outputs_of(chunk)[:1]:
            output |= {name: value for name, value in part.items() if value is not None}
            piece = _inside(part, shape.said)
            said = (said or "") + piece if isinstance(piece, str) else said
    output |= {whole.said[0]: said}
    tokens = {"tokenCount": output.get("totalOutputTextTokenCount")} if whole is _TITAN else {}
    return body | (output if whole.outputs is None else {whole.outputs: [output | tokens]})


def _family(body: Mapping[str, Any]) -> _Family | None:
    return next((family for family in FAMILIES if family.outputs_of(body)), None)


def _chunk_family(chunk: Mapping[str, Any]) -> _Family | None:
    return next((family for family in CHUNKS if family.outputs_of(chunk)), None)


def _inside(output: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    found: Any = output
    for name in path:
        found = mapping(found).get(name)
    return found


def metered(response: Any) -> Mapping[str, Any]:
    """Return the numbers of tokens that Bedrock tells beside a response, or with its last chunk."""
    for each in objects(items(response) or [response]):
        if METRICS in each:
            return mapping(each[METRICS])
    return {}
