"""Check that reasoning which a model writes before its answer is neither evaluated nor shown to readers."""

from datetime import UTC, datetime
from typing import Any

import pytest

from schemas.answers import REASONING, GeneratedAnswer
from schemas.reasoning import answer_start

ANSWER = "The warranty lasts 24 months [1]."
THOUGHT = "The user asks for the warranty.\nMaybe 36 months? The other product has 12."


def read(text: str, **fields: Any) -> GeneratedAnswer:
    return GeneratedAnswer.model_validate(
        {"answer_id": "a", "answer": text, "completed_at": datetime(2026, 11, 2, tzinfo=UTC), **fields}
    )


@pytest.mark.parametrize(
    "text",
    [
        f"<think>\n{THOUGHT}\n</think>\n\n{ANSWER}",
        f"<think>{THOUGHT}</think>{ANSWER}",
        f"\n<think></think>\n\n{ANSWER}",
        f"{THOUGHT}\n</think>\n\n{ANSWER}",
        f"</think>\n{ANSWER}",
        f"<thinking>{THOUGHT}</thinking>\n{ANSWER}",
        f"<thought>\n{THOUGHT}</thought>\n{ANSWER}",
        f"<seed:think>{THOUGHT}</seed:think>{ANSWER}",
        f"[THINK]{THOUGHT}[/THINK]{ANSWER}",
        f"◁think▷{THOUGHT}◁/think▷{ANSWER}",
        f"<think>{THOUGHT}</think>\n<think>Once more.</think>\n{ANSWER}",
        f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>{ANSWER}",
        f"<think>\nIn code it is\n```html\n<b>\n```\n</think>\n{ANSWER}",
    ],
)
def test_the_reasoning_before_an_answer_is_left_out(text: str) -> None:
    answer = read(text)
    assert answer.answer == ANSWER
    assert answer.metadata == {REASONING: len(text) - len(ANSWER)}
    assert GeneratedAnswer.from_bytes(answer.to_bytes()) == answer


@pytest.mark.parametrize(
    "text",
    ["<think>\nThe user asks for", f"<think>{THOUGHT}", f"<think>{THOUGHT}</think>", f"[THINK]{THOUGHT}",
     f"<|channel|>analysis<|message|>{THOUGHT}"],
)  # fmt: skip
def test_reasoning_alone_is_an_empty_answer(text: str) -> None:
    assert read(text).answer == ""


@pytest.mark.parametrize(
    "text",
    [
        ANSWER,
        "",
        "<think> and </think> are the tags of DeepSeek-R1.",
        "`<think>` opens the reasoning, and\n`</think>` closes it.",
        "The model closes its reasoning with </think> and then answers.",
        "An example:\n```\nFirst I add.\n</think>\nIt is 4.\n```",
        "# <think>\nis a tag.",
        "I think 24 months.",
        "<thinker>24 months</thinker>",
        "The answer is 24 months. <think>Is it?</think>",
    ],
)
def test_an_answer_about_tags_stays_whole(text: str) -> None:
    assert answer_start(text) == 0
    assert read(text).answer == text
    assert REASONING not in read(text).metadata


def test_citations_move_with_the_answer_and_those_of_thoughts_lose_their_place() -> None:
    before = f"<think>{THOUGHT}</think>"
    cited = [{"number": 1, "start": len(before) + 4, "end": len(before) + 12}, {"number": 1, "start": 9, "end": 12}]
    first, second = read(before + ANSWER, citations=cited).citations
    assert ANSWER[first.start : first.end] == "warranty"
    assert (second.number, second.start, second.end) == (1, None, None)


def test_long_reasoning_does_not_refuse_a_short_answer_and_turns_have_none() -> None:
    turns = [{"role": role, "content": f"<think>{THOUGHT}</think>{ANSWER}"} for role in ("user", "assistant")]
    answer = read(f"<think>{'Hm. ' * 20_000}</think>{ANSWER}", conversation=turns)
    assert answer.answer == ANSWER
    assert [turn.content for turn in answer.conversation] == [turns[0]["content"], ANSWER]
