"""Translate attributes of other clients' spans to those of the conventions that are read.

Sources: Langfuse SDK 5 (``langfuse.observation.*``), Vercel AI SDK 4 to 6 (``ai.*``; 7 sends the GenAI conventions),
OpenLLMetry 0.62 (``traceloop.entity.*``, ``gen_ai.task.*``), MLflow 3 (``mlflow.*``, each value as JSON). Read November
2026.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from workers.gateways.reading.lenient_reading import (
    count,
    first_text,
    items,
    mapping,
    number,
    objects,
    text,
    tokens_named,
    unfolded,
)

KIND = "openinference.span.kind"
DOCUMENTS = "gen_ai.retrieval.documents"
_LANGFUSE = "langfuse.observation."
_LANGFUSE_TRACE = "langfuse.trace."
"""Input and output that the application gives to the trace, on any span of it."""
_LANGFUSE_KINDS = {"generation": "LLM", "span": "CHAIN", "event": "EVENT"}
_LANGFUSE_NAMES = {
    "input": "input.value",
    "output": "output.value",
    "model.name": "llm.model_name",
    "status_message": "exception.message",
    "prompt.name": "gen_ai.prompt.version",
}
_MLFLOW_CALLS = ("CHAT_MODEL", "LLM")
_MLFLOW_KINDS = {
    "CHAT_MODEL": "LLM",
    "WORKFLOW": "CHAIN",
    "TASK": "CHAIN",
    "UNKNOWN": "CHAIN",
    "PARSER": "PROMPT",
    "MEMORY": "PROMPT",
}
"""A traced function has the type ``UNKNOWN``."""
_VERCEL_CALLS = (".doGenerate", ".doStream")
_VERCEL_NAMES = {
    "ai.response.model": "gen_ai.response.model",
    "ai.model.id": "gen_ai.request.model",
    "ai.model.provider": "gen_ai.provider.name",
    "ai.response.finishReason": "llm.finish_reason",
    "ai.usage.promptTokens": "llm.token_count.prompt",
    "ai.usage.inputTokens": "llm.token_count.prompt",
    "ai.usage.completionTokens": "llm.token_count.completion",
    "ai.usage.outputTokens": "llm.token_count.completion",
    "ai.telemetry.metadata.sessionId": "session.id",
    "ai.telemetry.metadata.userId": "user.id",
}
_ENTITY_INPUTS = ("gen_ai.task.input", "traceloop.entity.input")
_ENTITY_OUTPUTS = ("gen_ai.task.output", "traceloop.entity.output")
_OF_SOURCES = frozenset({"score", "metadata", "source", "distance", "similarity", "url", "document_id", "doc_id"})
_HAYSTACK_QUERIES = ("question", "query", "text")
_DOCUMENT_LISTS = ("documents", "contexts", "results", "matches", "hits", "chunks")


def translated(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a span's attributes with those of other clients under the names of the conventions.

    Attributes of the conventions keep their values.

    Args:
        attributes: attributes as plain values.
    """
    added: dict[str, Any] = {}
    if text(attributes.get(f"{_LANGFUSE}type")) or f"{_LANGFUSE_TRACE}output" in attributes:
        added = _langfuse(attributes)
    elif text(attributes.get("ai.operationId")):
        added = _vercel(attributes)
    elif text(attributes.get("mlflow.spanType")):
        added = _mlflow(attributes)
    elif _is_entity(attributes):
        added = _openllmetry(attributes)
    elif "response_data" in attributes:  # Logfire
        answered = mapping(unfolded(attributes["response_data"]))
        added = _call(attributes.get("request_data"), answered.get("combined_chunk_content", answered))
    elif "gcp.vertex.agent.llm_request" in attributes:  # Google's Agent Development Kit
        answered = mapping(unfolded(attributes.get("gcp.vertex.agent.llm_response")))
        added = _call(attributes["gcp.vertex.agent.llm_request"], {"candidates": [answered]} if answered else None)
    elif "gen_ai.completion" in attributes:  # LangSmith
        added = _call(attributes.get("gen_ai.prompt"), attributes["gen_ai.completion"])
    elif "pydantic_ai.all_messages" in attributes:  # on the span of an agent alone
        added = {"input.value": attributes["pydantic_ai.all_messages"]}
    elif "replies" in mapping(unfolded(attributes.get("output.value"))):
        added = {"gen_ai.response.model": attributes.get("llm.model_name")}  # Haystack's spans name no requested model
    found = {name: value for name, value in added.items() if value is not None}
    # OpenLLMetry's own values are JSON; the others of its spans are texts of Python objects.
    theirs = {name: found[name] for name in ("input.value", "output.value") if name in found and _is_entity(attributes)}
    return found | dict(attributes) | theirs | _haystack(attributes)


def _haystack(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the query of a pipeline from the data of its components; its answer is the text of its last call."""
    data = mapping(mapping(unfolded(attributes.get("input.value"))).get("data"))
    given = (first_text(source, *_HAYSTACK_QUERIES) for source in (data, *objects(list(data.values()))))
    query = next(filter(None, given), None)
    return {KIND: "AGENT", "input.value": query} if query and attributes.get(KIND) == "CHAIN" else {}


def _call(asked: Any, answered: Any) -> dict[str, Any]:
    """Return the attributes of a call whose request and response stand in one attribute each."""
    return {KIND: "LLM", "input.value": asked, "output.value": answered}


def _is_entity(attributes: Mapping[str, Any]) -> bool:
    return any(name in attributes for name in (*_ENTITY_INPUTS, *_ENTITY_OUTPUTS))


def documents_in(value: Any) -> list[Any] | None:
    """Return the documents in a retriever's output: a list, or an object with a list; ``None`` if there are none."""
    found = unfolded(value)
    if isinstance(found, dict) and isinstance(found.get("outputs"), list | dict):
        found = found["outputs"]
    if isinstance(found, dict):
        found = next((found[name] for name in _DOCUMENT_LISTS if isinstance(found.get(name), list)), None)
    return found if isinstance(found, list) else None


def _langfuse(attributes: Mapping[str, Any]) -> dict[str, Any]:
    own = {name.removeprefix(_LANGFUSE): value for name, value in attributes.items() if name.startswith(_LANGFUSE)}
    kind = str(own.get("type", "span")).lower()
    if kind in ("span", "agent", "chain"):
        told = ((name, attributes.get(f"{_LANGFUSE_TRACE}{name}")) for name in ("input", "output"))
        own |= {name: value for name, value in told if value is not None}
    usage = mapping(unfolded(own.get("usage_details")))
    added = {target: own.get(name) for name, target in _LANGFUSE_NAMES.items()} | {
        KIND: _LANGFUSE_KINDS.get(kind, kind.upper()),
        "llm.token_count.prompt": tokens_named(usage, "input") or usage.get("prompt_tokens"),
        "llm.token_count.completion": tokens_named(usage, "output") or usage.get("completion_tokens"),
        "llm.cost.total": number(mapping(unfolded(own.get("cost_details"))).get("total")),
        "gen_ai.request.temperature": mapping(unfolded(own.get("model.parameters"))).get("temperature"),
        "error.type": "langfuse_error" if own.get("level") == "ERROR" else None,
    }
    name, version = text(own.get("prompt.name")), text(own.get("prompt.version"))
    if name and version:
        added["gen_ai.prompt.version"] = f"{name}:{version}"
    if kind == "retriever":
        added[DOCUMENTS] = documents_in(own.get("output")) or _alone(own.get("output"))
    return added


def _alone(output: Any) -> list[str] | None:
    """Return a retriever's output that is one text."""
    found = unfolded(output)
    return [found] if isinstance(found, str) and found.strip() else None


def _vercel(attributes: Mapping[str, Any]) -> dict[str, Any]:
    operation = str(attributes["ai.operationId"])
    added = {target: attributes.get(name) for name, target in _VERCEL_NAMES.items() if name in attributes}
    wait = number(attributes.get("ai.response.msToFirstChunk"))
    said, calls = text(attributes.get("ai.response.text")), unfolded(attributes.get("ai.response.toolCalls"))
    message = {"role": "assistant", "content": said, "tool_calls": calls if isinstance(calls, list) else None}
    if operation.endswith(_VERCEL_CALLS):
        asked = attributes.get("ai.prompt.messages", attributes.get("ai.prompt"))
        answered = said or calls or "ai.response.text" in attributes
        object_said = text(attributes.get("ai.response.object"))
        return added | {
            KIND: "LLM",
            "gen_ai.input.messages": asked,
            "gen_ai.output.messages": [message if answered else {"role": "assistant", "content": object_said}]
            if answered or object_said
            else None,
            "gen_ai.response.time_to_first_chunk": None if wait is None else wait / 1000,
        }
    if operation.startswith("ai.rerank"):
        ranking = items(unfolded(attributes.get("ai.ranking")))
        return added | {KIND: "RERANKER", DOCUMENTS: _ranked(attributes, ranking) or None}
    kind = "TOOL" if operation == "ai.toolCall" else "EMBEDDING" if "embed" in operation.lower() else "CHAIN"
    return added | {
        KIND: kind,
        "input.value": attributes.get("ai.prompt"),
        "output.value": said or text(attributes.get("ai.response.object")),
    }


def _ranked(attributes: Mapping[str, Any], ranking: Sequence[Any]) -> list[Any]:
    """Return the documents in the order of a ranking, which names them by their place among the given ones."""
    given = [unfolded(each) for each in items(unfolded(attributes.get("ai.documents")))]
    places = (
        count(mapping(unfolded(each)).get("originalIndex", mapping(unfolded(each)).get("index"))) for each in ranking
    )
    return [given[place] for place in places if place is not None and place < len(given)]


def _mlflow(attributes: Mapping[str, Any]) -> dict[str, Any]:
    own = {
        name.removeprefix("mlflow."): unfolded(value)
        for name, value in attributes.items()
        if name.startswith("mlflow.")
    }
    kind = str(own["spanType"]).upper()
    usage = mapping(own.get("chat.tokenUsage"))
    return {
        KIND: _MLFLOW_KINDS.get(kind, kind),
        "input.value": own.get("spanInputs"),
        "output.value": own.get("spanOutputs"),
        "llm.model_name": own.get(
            "llm.model", mapping(own.get("spanInputs")).get("model") if kind in _MLFLOW_CALLS else None
        ),
        "llm.provider": own.get("llm.provider"),
        "llm.token_count.prompt": usage.get("input_tokens"),
        "llm.token_count.completion": usage.get("output_tokens"),
        DOCUMENTS: documents_in(own.get("spanOutputs")) if kind == "RETRIEVER" else None,
    }


def _openllmetry(attributes: Mapping[str, Any]) -> dict[str, Any]:
    given, made = (unfolded(first_text(attributes, *names)) for names in (_ENTITY_INPUTS, _ENTITY_OUTPUTS))
    added: dict[str, Any] = {
        "input.value": mapping(given).get("inputs", given),
        "output.value": mapping(made).get("outputs", made),
    }
    is_retrieval = text(attributes.get("gen_ai.operation.name")) in ("vector_db_retrieve", "retrieval", "retrieve")
    is_retriever = (text(attributes.get("traceloop.entity.name")) or "").endswith(("Retriever.task", "Retriever"))
    listed = documents_in(made)
    is_list = isinstance(mapping(made).get("documents"), list) or (
        bool(listed) and all(map(_is_document, items(listed)))
    )
    if is_retrieval or is_retriever or is_list:
        added[DOCUMENTS] = [_node(each) for each in listed or ()] or None
    return added


def _is_document(value: Any) -> bool:
    """Return whether a value in the output of any task is a document: a text with what only a source has."""
    source = mapping(unfolded(value))
    if "role" in source or first_text(source, "page_content", "content", "text") is None:
        return False
    return "page_content" in source or not _OF_SOURCES.isdisjoint(source)


def _node(document: Any) -> Any:
    """Return a document; LlamaIndex puts it out as JSON with the document in the field ``node``."""
    source = unfolded(document)
    node = mapping(mapping(source).get("node"))
    return {**node, "id": node.get("id_"), "score": mapping(source).get("score")} if node else source
