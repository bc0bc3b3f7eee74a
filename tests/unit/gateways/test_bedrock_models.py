"""Responses of models behind Bedrock's InvokeModel, streamed or not."""

import json
from base64 import b64encode
from datetime import UTC, datetime
from typing import Any

import pytest

from workers.gateways.adapted import Adapted, Received
from workers.gateways.errors import NothingToJudge, UnadaptableRecord
from workers.gateways.formats import format_named

NOW = datetime(2026, 11, 20, tzinfo=UTC)
ASKED = "Wie lange hält der Teig im Kühlschrank?"
SAID = "Der Teig hält 36 Stunden bei 4 °C. Danach wird er sauer 🥖."
FIRST, SECOND = "Der Teig hält 36 Stunden bei 4 °C.", "Danach wird er sauer 🥖."
EARLIER, BEFORE = "Welches Mehl?", "Weizenmehl Type 550."
CHAT = [{"role": "user", "content": ASKED}]
BLOCKS = [{"role": "user", "content": [{"text": ASKED}]}]
LLAMA = (
    "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nAntworte kurz.<|eot_id|>"
    f"<|start_header_id|>user<|end_header_id|>\n\n{EARLIER}<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"
    f"{BEFORE}<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n{ASKED}<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\n"
)
LLAMA_4 = (
    f"<|begin_of_text|><|header_start|>user<|header_end|>\n\n{ASKED}<|eot|><|header_start|>assistant<|header_end|>\n\n"
)
MISTRAL = f"<s>[INST] {EARLIER} [/INST] {BEFORE}</s> [INST] {ASKED} [/INST]"
CLAUDE = f"\n\nHuman: {EARLIER}\n\nAssistant: {BEFORE}\n\nHuman: {ASKED}\n\nAssistant:"
DEEPSEEK = f"<｜begin▁of▁sentence｜><｜User｜>{ASKED}<｜Assistant｜><think>\n"
QWEN = f"<|im_start|>system\nKurz.<|im_end|>\n<|im_start|>user\n{ASKED}<|im_end|>\n<|im_start|>assistant\n"
METRICS = {
    "amazon-bedrock-invocationMetrics": {"inputTokenCount": 15, "outputTokenCount": 21, "invocationLatency": 900}
}
TOKENS = {"input_tokens": 15, "output_tokens": 21}

BODIES: dict[str, tuple[str, Any, Any]] = {
    "titan": (
        "amazon.titan-text-premier-v1:0",
        {"inputText": f"User: {EARLIER}\nBot: {BEFORE}\nUser: {ASKED}\nBot:", "textGenerationConfig": {"temperature": 0.2}},
        {"inputTextTokenCount": 15, "results": [{"tokenCount": 21, "outputText": f"\n{SAID}", "completionReason": "FINISHED"}]},
    ),
    "llama": (
        "meta.llama3-1-8b-instruct-v1:0",
        {"prompt": LLAMA, "temperature": 0.2, "max_gen_len": 512},
        {"generation": f"\n\n{SAID}", "prompt_token_count": 15, "generation_token_count": 21, "stop_reason": "stop"},
    ),
    "llama 4": (
        "us.meta.llama4-scout-17b-instruct-v1:0",
        {"prompt": LLAMA_4},
        {"generation": SAID, "prompt_token_count": 15, "generation_token_count": 21, "stop_reason": "stop"},
    ),
    "mistral text": (
        "mistral.mistral-7b-instruct-v0:2",
        {"prompt": MISTRAL, "max_tokens": 200, "temperature": 0.2},
        {"outputs": [{"text": f" {SAID}", "stop_reason": "stop"}]},
    ),
    "mistral chat": (
        "mistral.mistral-large-2407-v1:0",
        {"messages": CHAT, "temperature": 0.2},
        {"choices": [{"index": 0, "message": {"role": "assistant", "content": SAID}, "stop_reason": "stop"}]},
    ),
    "anthropic messages": (
        "anthropic.claude-sonnet-4-5-20250929-v1:0",
        {"anthropic_version": "bedrock-2023-05-31", "max_tokens": 300, "messages": CHAT},
        {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5-20250929",
         "content": [{"type": "text", "text": SAID}], "stop_reason": "end_turn", "usage": TOKENS},
    ),
    "anthropic text": (
        "anthropic.claude-v2:1",
        {"prompt": CLAUDE, "max_tokens_to_sample": 300},
        {"type": "completion", "completion": f" {SAID}", "stop_reason": "stop_sequence", "stop": "\n\nHuman:"},
    ),
    "nova": (
        "us.amazon.nova-pro-v1:0",
        {"schemaVersion": "messages-v1", "messages": BLOCKS, "inferenceConfig": {"maxTokens": 300, "temperature": 0.2}},
        {"output": {"message": {"role": "assistant", "content": [{"text": SAID}]}}, "stopReason": "end_turn",
         "usage": {"inputTokens": 15, "outputTokens": 21, "totalTokens": 36}},
    ),
    "cohere command": (
        "cohere.command-text-v14",
        {"prompt": ASKED, "temperature": 0.2},
        {"id": "g-1", "prompt": ASKED, "generations": [{"id": "g-2", "finish_reason": "COMPLETE", "text": f" {SAID}"}]},
    ),
    "cohere command r": (
        "cohere.command-r-plus-v1:0",
        {"message": ASKED, "temperature": 0.2},
        {"response_id": "r-1", "generation_id": "g-1", "text": SAID, "finish_reason": "COMPLETE", "chat_history": []},
    ),
    "jurassic": (
        "ai21.j2-ultra-v1",
        {"prompt": ASKED, "maxTokens": 200},
        {"id": 1234, "prompt": {"text": ASKED, "tokens": []},
         "completions": [{"data": {"text": f"\n{SAID}", "tokens": []}, "finishReason": {"reason": "endoftext"}}]},
    ),
    "jamba": (
        "ai21.jamba-1-5-large-v1:0",
        {"messages": CHAT},
        {"id": "chat-1", "choices": [{"index": 0, "message": {"role": "assistant", "content": SAID}, "finish_reason": "stop"}],
         "usage": {"prompt_tokens": 15, "completion_tokens": 21}},
    ),
    "deepseek": (
        "us.deepseek.r1-v1:0",
        {"prompt": DEEPSEEK, "max_tokens": 512},
        {"choices": [{"text": SAID, "stop_reason": "stop"}]},
    ),
    "qwen": (
        "qwen.qwen3-32b-v1:0",
        {"prompt": QWEN},
        {"choices": [{"index": 0, "text": SAID, "finish_reason": "stop"}]},
    ),
}  # fmt: skip
"""By name: model, body of the request, body of the response."""

STREAMS: dict[str, tuple[Any, list[Any]]] = {
    "titan": (
        BODIES["titan"][1],
        [
            {"index": 0, "inputTextTokenCount": 15, "totalOutputTextTokenCount": 12, "outputText": f"\n{FIRST}", "completionReason": None},
            {"index": 0, "totalOutputTextTokenCount": 21, "outputText": f" {SECOND}", "completionReason": "FINISHED"} | METRICS,
        ],
    ),
    "llama": (
        BODIES["llama"][1],
        [
            {"generation": "\n\n", "prompt_token_count": 15, "generation_token_count": 1, "stop_reason": None},
            {"generation": FIRST, "prompt_token_count": None, "generation_token_count": 12, "stop_reason": None},
            {"generation": f" {SECOND}", "prompt_token_count": None, "generation_token_count": 21, "stop_reason": "stop"} | METRICS,
        ],
    ),
    "mistral text": (
        BODIES["mistral text"][1],
        [
            {"outputs": [{"text": f" {FIRST}", "stop_reason": None}]},
            {"outputs": [{"text": f" {SECOND}", "stop_reason": "stop"}]} | METRICS,
        ],
    ),
    "mistral chat": (
        BODIES["mistral chat"][1],
        [
            {"choices": [{"index": 0, "message": {"role": "assistant", "content": FIRST}, "stop_reason": None}]},
            {"choices": [{"index": 0, "message": {"role": "assistant", "content": f" {SECOND}"}, "stop_reason": "stop"}]} | METRICS,
        ],
    ),
    "anthropic messages": (
        BODIES["anthropic messages"][1],
        [
            {"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "content": [], "usage": {"input_tokens": 15}}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": FIRST}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": f" {SECOND}"}},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 21}},
            {"type": "message_stop"} | METRICS,
        ],
    ),
    "anthropic text": (
        BODIES["anthropic text"][1],
        [
            {"type": "completion", "completion": f" {FIRST}", "stop_reason": None, "stop": None},
            {"type": "completion", "completion": f" {SECOND}", "stop_reason": "stop_sequence", "stop": "\n\nHuman:"} | METRICS,
        ],
    ),
    "nova": (
        BODIES["nova"][1],
        [
            {"messageStart": {"role": "assistant"}},
            {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": FIRST}}},
            {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": f" {SECOND}"}}},
            {"contentBlockStop": {"contentBlockIndex": 0}},
            {"messageStop": {"stopReason": "end_turn"}},
            {"metadata": {"usage": {"inputTokens": 15, "outputTokens": 21}, "metrics": {}}} | METRICS,
        ],
    ),
    "cohere command": (
        BODIES["cohere command"][1],
        [
            {"text": f" {FIRST}", "is_finished": False},
            {"text": f" {SECOND}", "is_finished": False},
            {"is_finished": True, "finish_reason": "COMPLETE"} | METRICS,
        ],
    ),
    "cohere command r": (
        BODIES["cohere command r"][1],
        [
            {"is_finished": False, "event_type": "text-generation", "text": FIRST},
            {"is_finished": True, "event_type": "stream-end", "response": BODIES["cohere command r"][2], "finish_reason": "COMPLETE"} | METRICS,
        ],
    ),
}  # fmt: skip


def read(form: str, record: Any) -> Adapted:
    (found,) = format_named(form).answers(json.dumps(record).encode(), Received(NOW))
    return found


def pair(model: str, request: Any, response: Any) -> Any:
    return {"request": {"modelId": model, **request}, "response": response}


@pytest.mark.parametrize("name", BODIES)
def test_the_body_of_each_family_of_models_is_read(name: str) -> None:
    model, request, response = BODIES[name]
    answer = read("bedrock", pair(model, request, response)).answer
    assert (answer.query, answer.answer.strip()) == (ASKED, SAID)
    assert answer.model.provider == "bedrock"
    assert answer.model.id.split(".")[0] not in ("meta", "amazon", "mistral", "ai21", "us")
    assert answer.status == "success"


@pytest.mark.parametrize("name", BODIES)
def test_a_call_as_the_client_takes_and_gives_it_is_read(name: str) -> None:
    model, request, response = BODIES[name]
    headers = {"x-amzn-bedrock-input-token-count": "15", "x-amzn-bedrock-output-token-count": "21"}
    as_client = {
        "request": {"modelId": model, "contentType": "application/json", "body": json.dumps(request)},
        "response": {"body": json.dumps(response), "ResponseMetadata": {"HTTPHeaders": headers, "HTTPStatusCode": 200}},
    }
    answer = read("bedrock", as_client).answer
    assert (answer.query, answer.answer.strip()) == (ASKED, SAID)
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (15, 21)


@pytest.mark.parametrize("name", ["titan", "llama", "mistral text", "anthropic text"])
def test_earlier_turns_in_a_prompt_are_the_conversation(name: str) -> None:
    model, request, response = BODIES[name]
    answer = read("bedrock", pair(model, request, response)).answer
    assert [(turn.role, turn.content) for turn in answer.conversation or ()] == [
        ("user", EARLIER),
        ("assistant", BEFORE),
    ]


@pytest.mark.parametrize("wrapped", ["as they are", "as JSON", "in base64"])
@pytest.mark.parametrize("name", STREAMS)
def test_the_chunks_of_each_family_of_models_are_merged(name: str, wrapped: str) -> None:
    request, chunks = STREAMS[name]
    if wrapped != "as they are":
        texts = [json.dumps(each) for each in chunks]
        encoded = texts if wrapped == "as JSON" else [b64encode(each.encode()).decode() for each in texts]
        chunks = [{"chunk": {"bytes": each}} for each in encoded]
    answer = read("bedrock", pair(BODIES[name][0], request, chunks)).answer
    assert (answer.query, answer.answer.strip()) == (ASKED, SAID)
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (15, 21)


REASONS = {
    "titan": ({"results": [{"outputText": "Der Teig", "completionReason": "LENGTH"}]}, "LENGTH"),
    "llama": ({"generation": "Der Teig", "stop_reason": "length"}, "length"),
    "mistral text": ({"outputs": [{"text": "Der Teig", "stop_reason": "length"}]}, "length"),
    "anthropic text": ({"completion": "Der Teig", "stop_reason": "max_tokens"}, "max_tokens"),
    "cohere command": ({"generations": [{"text": "Der Teig", "finish_reason": "MAX_TOKENS"}]}, "MAX_TOKENS"),
    "jurassic": ({"completions": [{"data": {"text": "Der Teig"}, "finishReason": {"reason": "length"}}]}, "length"),
}


@pytest.mark.parametrize("name", REASONS)
def test_the_finish_reason_arrives(name: str) -> None:
    response, reason = REASONS[name]
    assert read("bedrock", pair(BODIES[name][0], BODIES[name][1], response)).answer.finish_reason == reason


@pytest.mark.parametrize(
    ("name", "response"),
    [
        ("titan", {"results": [{"tokenCount": 0, "outputText": "", "completionReason": "FINISHED"}]}),
        ("llama", {"generation": "", "generation_token_count": 1, "stop_reason": "stop"}),
        ("mistral text", {"outputs": [{"text": "", "stop_reason": "stop"}]}),
        ("anthropic text", {"completion": "", "stop_reason": "stop_sequence"}),
        ("cohere command", {"generations": [{"text": "", "finish_reason": "COMPLETE"}]}),
    ],
)
def test_an_empty_answer_in_a_known_shape_is_evaluated_as_empty(name: str, response: Any) -> None:
    assert read("bedrock", pair(BODIES[name][0], BODIES[name][1], response)).answer.answer == ""


def test_of_several_outputs_the_first_is_evaluated_and_the_others_are_counted() -> None:
    said = [{"text": text, "finish_reason": "COMPLETE"} for text in (SAID, "Zwei Tage.", "Eine Woche.")]
    found = read("bedrock", pair("cohere.command-text-v14", {"prompt": ASKED}, {"generations": said}))
    assert found.answer.answer == SAID
    assert found.answer.metadata["record"]["choices_not_evaluated"] == 2


UNKNOWN = {
    "titan": ({"results": [{"outputTexts": SAID, "tokenCount": 21}]}, "response.results.0.outputText"),
    "llama": ({"generation": {"text": SAID}, "stop_reason": "stop"}, "response.generation"),
    "mistral text": ({"outputs": [{"content": SAID, "stop_reason": "stop"}]}, "response.outputs.0.text"),
    "anthropic text": ({"completion": [SAID], "stop_reason": "stop"}, "response.completion"),
    "cohere command": ({"generations": [{"texts": SAID, "finish_reason": "COMPLETE"}]}, "response.generations.0.text"),
    "jurassic": ({"completions": [{"data": {"said": SAID}, "finishReason": {}}]}, "response.completions.0.data.text"),
    "knowledge base": ({"output": {"said": SAID}, "sessionId": "s"}, "response.output.text"),
    "image": ({"images": ["iVBORw0KGgo="], "error": None}, "response.message"),
    "embedding": ({"embedding": [0.1, 0.2], "inputTextTokenCount": 5}, "response"),
    "a later interface": ({"answerOf2027": SAID}, "response"),
    "a body that is no JSON": ({"body": "<html>", "contentType": "text/html"}, "response"),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_unknown_shape_is_refused_with_its_field(name: str) -> None:
    response, field = UNKNOWN[name]
    with pytest.raises(UnadaptableRecord) as refused:
        read("bedrock", pair("amazon.titan-text-premier-v1:0", {"inputText": ASKED}, response))
    assert refused.value.field == field
    assert field in str(refused.value)


@pytest.mark.parametrize("name", ["titan", "llama", "mistral text"])
def test_a_body_of_bedrock_alone_is_refused_by_other_formats_with_the_one_to_use(name: str) -> None:
    _, request, response = BODIES[name]
    with pytest.raises(UnadaptableRecord, match="send it in the format bedrock"):
        read("openai", {"request": request, "response": response})


def test_a_model_that_calls_tools_has_not_answered() -> None:
    calls = [{"id": "c", "function": {"name": "look_up", "arguments": "{}"}}]
    message = {"role": "assistant", "content": "", "tool_calls": calls}
    response = {"choices": [{"index": 0, "message": message, "stop_reason": "tool_calls"}]}
    with pytest.raises(NothingToJudge):
        read("bedrock", pair(*BODIES["mistral chat"][:2], response))


@pytest.mark.parametrize("name", ["titan", "llama", "mistral text", "cohere command"])
def test_a_stream_that_an_error_ends_has_failed_and_keeps_its_text(name: str) -> None:
    request, chunks = STREAMS[name]
    error = {"modelStreamErrorException": {"message": "Das Modell antwortet nicht.", "originalStatusCode": 500}}
    answer = read("bedrock", pair(BODIES[name][0], request, [chunks[0], chunks[1], error])).answer
    assert (answer.status, answer.error) == ("error", "Das Modell antwortet nicht.")
    assert answer.answer.strip().startswith(FIRST if name != "llama" else FIRST[:5])


PLAIN = [
    ASKED,
    "Erkläre, was <|im_start|>user heißt.",
    "Wer schrieb:\n\nHuman: Hallo?",
    "User: die Rolle in einem Chat. Was tut sie?",
    "[INST] ohne Ende",
    "<|start_header_id|>user<|end_header_id|> und sonst nichts",
    "[/INST][INST]",
]


@pytest.mark.parametrize("prompt", PLAIN)
def test_a_prompt_that_is_no_template_is_the_query(prompt: str) -> None:
    answer = read(
        "openai", {"request": {"model": "m", "prompt": prompt}, "response": {"choices": [{"text": SAID}]}}
    ).answer
    assert (answer.query, list(answer.conversation or ())) == (prompt, [])


def test_instructions_of_llama_2_are_no_part_of_the_query() -> None:
    prompt = f"<s>[INST] <<SYS>>\nAntworte <kurz>.\n<</SYS>>\n\n{ASKED} [/INST]"
    answer = read(
        "openai", {"request": {"model": "m", "prompt": prompt}, "response": {"choices": [{"text": SAID}]}}
    ).answer
    assert answer.query == ASKED
