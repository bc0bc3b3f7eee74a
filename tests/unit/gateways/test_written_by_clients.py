"""Bodies and sources as the objects of real clients are written: nothing of their text, end and names is lost.

Written with langchain-core 1.8.3, llama-index-core 0.14.25, ollama 0.6.3, mistralai 3.7.0, google-genai 3.6.1 and
openai 3.57.0.
"""

from datetime import UTC, datetime
from typing import Any

import pytest

from schemas.answers import GeneratedAnswer
from workers.gateways.adapted import Received
from workers.gateways.errors import NothingToJudge, UnadaptableRecord
from workers.gateways.formats import format_named

NOW = datetime(2026, 11, 20, tzinfo=UTC)
SAID = "The warranty lasts 24 months."
TEXT = "The warranty period is 24 months."
REQUEST = {"model": "m", "messages": [{"role": "user", "content": "How long is the warranty?"}]}
CHAT = {"choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": SAID}}]}


def read(response: Any, form: str = "openai", **beside: Any) -> GeneratedAnswer:
    (found,) = format_named(form).adapt({"request": REQUEST, "response": response, **beside}, Received(NOW))
    return found.answer


DOCUMENT = {"id": "terms-4", "metadata": {"source": "terms.pdf"}, "page_content": TEXT, "type": "Document"}
NODE = {
    "id_": "terms-4", "embedding": [0.5] * 1536, "metadata": {"file_name": "terms.pdf"}, "relationships": {},
    "text": TEXT, "mimetype": "text/plain", "class_name": "TextNode",
}  # fmt: skip


@pytest.mark.parametrize(
    ("source", "name", "score"),
    [
        (DOCUMENT, "terms-4", None),
        ({"lc": 1, "type": "constructor", "id": ["langchain", "Document"], "kwargs": DOCUMENT}, "terms-4", None),
        ([DOCUMENT, 0.75], "terms-4", 0.75),
        (NODE, "terms-4", None),
        ({"node": NODE, "score": 0.75, "class_name": "NodeWithScore"}, "terms-4", 0.75),
        ({"file_id": "terms-4", "filename": "terms.pdf", "score": 0.75, "content": [{"type": "text", "text": TEXT}]},
         "terms-4", 0.75),
        ({"id": "terms-4", "score": 0.75, "values": [0.5], "metadata": {"text": TEXT, "source": "terms.pdf"}},
         "terms-4", 0.75),
        ({"id": 4, "version": 1, "score": 0.75, "payload": {"text": TEXT}, "vector": [0.5]}, "4", 0.75),
        ({"_index": "i", "_id": "terms-4", "_score": 0.75, "_source": {"text": TEXT}}, "terms-4", 0.75),
        ({"uuid": "terms-4", "properties": {"content": TEXT}}, "terms-4", None),
        ({"id": "terms-4", "data": {"snippet": TEXT}}, "terms-4", None),
        ({"index": 0, "relevance_score": 0.75, "document": {"text": TEXT, "id": "terms-4"}}, "terms-4", 0.75),
        ({"content": {"text": TEXT, "type": "TEXT"}, "score": 0.75, "chunk_id": "terms-4"}, "terms-4", 0.75),
    ],
)  # fmt: skip
def test_a_source_of_a_retriever_keeps_text_name_and_score(source: Any, name: str, score: float | None) -> None:
    for placed in ({"contexts": [source]}, {"request": REQUEST | {"metadata": {"contexts": [source]}}}):
        (chunk,) = read(CHAT, **placed).contexts or ()
        assert (chunk.chunk_id, chunk.content, chunk.retrieval_score) == (name, TEXT, score)
        assert not {"embedding", "vector", "values"} & chunk.metadata.keys(), "vectors say nothing to readers"


def test_a_source_of_unknown_shape_is_no_source_of_known_ones() -> None:
    deep: Any = {"text": TEXT}
    for _ in range(150):
        deep = {"document": deep}
    with pytest.raises(UnadaptableRecord, match=r"contexts\.0 has no text"):
        read(CHAT, contexts=[deep])


def test_a_message_of_langchain_keeps_its_end_its_model_and_its_tokens() -> None:
    message = {
        "content": SAID, "type": "ai", "id": "run-1", "tool_calls": [], "invalid_tool_calls": [],
        "response_metadata": {"model_name": "gpt-4o-mini", "finish_reason": "length"},
        "usage_metadata": {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7},
    }  # fmt: skip
    for body in (message, {"lc": 1, "type": "constructor", "id": ["langchain", "AIMessage"], "kwargs": message}):
        answer = read(body)
        assert (answer.answer, answer.finish_reason, answer.model.id) == (SAID, "length", "gpt-4o-mini")
        assert answer.usage and (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (3, 4)
        blocks = [{"type": "thinking", "thinking": "36?"}, {"type": "text", "text": SAID}]
        assert read(message | {"content": blocks}).answer == SAID
        with pytest.raises(NothingToJudge):
            read(message | {"tool_calls": [{"name": "f", "args": {}, "id": "c", "type": "tool_call"}]})


OLLAMA = {
    "model": "llama3.2", "created_at": "2026-11-20T10:15:00.123456789Z", "done": True, "done_reason": "length",
    "prompt_eval_count": 3, "eval_count": 4,
}  # fmt: skip
CHUNK = {"model": "llama3.2", "created_at": "2026-11-20T10:15:00Z", "done": False, "done_reason": None}


@pytest.mark.parametrize(
    "response",
    [
        OLLAMA | {"message": {"role": "assistant", "content": SAID, "thinking": "36?", "tool_calls": None}},
        OLLAMA | {"response": SAID, "context": [1, 2], "thinking": None},
        [CHUNK | {"message": {"role": "assistant", "content": SAID[:9]}},
         CHUNK | {"message": {"role": "assistant", "content": SAID[9:]}},
         OLLAMA | {"message": {"role": "assistant", "content": ""}}],
        [CHUNK | {"response": SAID[:9]}, CHUNK | {"response": SAID[9:]}, OLLAMA | {"response": ""}],
    ],
)  # fmt: skip
def test_ollama_says_where_an_answer_was_cut_off(response: Any) -> None:
    answer = read(response)
    assert (answer.answer, answer.finish_reason, answer.model.provider) == (SAID, "length", "ollama")
    assert answer.usage and (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (3, 4)
    assert "completed_at" not in answer.metadata["gateway"]["missing"]


def delta(content: Any, reason: str | None = None) -> dict[str, Any]:
    return {"object": "chat.completion.chunk", "choices": [{"delta": {"content": content}, "finish_reason": reason}]}


@pytest.mark.parametrize(
    "pieces",
    [
        ["The warranty ", "lasts 24 ", [{"type": "reference", "reference_ids": [0]}], "months."],
        [[{"type": "thinking", "thinking": [{"type": "text", "text": "36"}]}], "The warranty lasts ", "24 months."],
        [[{"type": "text", "text": "The warranty "}], [{"type": "text", "text": "lasts 24 months."}]],
        ["The warranty ", [{"type": "text", "text": "lasts 24 months."}], ""],
        ["", "The warranty lasts 24 months.", None],
    ],
)
def test_no_piece_of_a_stream_is_lost_whether_text_or_parts(pieces: list[Any]) -> None:
    chunks = [delta(piece) for piece in pieces]
    chunks[-1]["choices"][0]["finish_reason"] = "stop"
    assert read(chunks).answer == SAID


def test_a_blocked_prompt_is_a_failed_call_as_the_client_of_google_writes_it() -> None:
    blocked = {"candidates": None, "prompt_feedback": {"block_reason": "SAFETY", "safety_ratings": None}}
    answer = read(blocked, "google")
    assert (answer.status, answer.error) == ("error", "SAFETY")
