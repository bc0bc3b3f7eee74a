import pytest
from pydantic import ValidationError

from schemas.answers import MAX_STEPS, MAX_TURNS, GeneratedAnswer

AT = "2026-11-20T10:15:00Z"


def _answer(**fields):
    return GeneratedAnswer(answer_id="a", answer="Yes.", completed_at=AT, **fields)


def test_an_answer_without_conversation_and_steps_is_written_as_before():
    written = _answer(conversation=None, steps=None).to_bytes()
    assert b"conversation" not in written and b"steps" not in written


def test_turns_and_steps_survive_a_record():
    answer = _answer(
        conversation=[{"role": "user", "content": "What does it cost?"}],
        steps=[{"kind": "tool", "name": "sql", "output": "12", "chunk_ids": ["c"]}],
    )
    assert GeneratedAnswer.from_bytes(answer.to_bytes()) == answer


@pytest.mark.parametrize(
    "fields",
    [
        {"conversation": [{"role": "user", "content": "x"}] * (MAX_TURNS + 1)},
        {"conversation": [{"role": "system", "content": "x"}]},
        {"conversation": [{"role": "user", "content": "x" * 60_001}]},
        {"steps": [{"kind": "model"}] * (MAX_STEPS + 1)},
        {"steps": [{"kind": "guess"}]},
        {"steps": [{"kind": "model", "output": "x" * 20_001}]},
    ],
)
def test_more_than_the_bounds_is_refused(fields):
    with pytest.raises(ValidationError):
        _answer(**fields)
