"""The sentences of an answer that still arrives are those of the answer, not of the reasoning before it."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, cast

from schemas.streams import AnswerChunk, CheckedSentences
from workers.check.growing_answer import GrowingAnswer, checked_parts
from workers.evaluation.thresholds import GroundingThresholds
from workers.intake.streamed_answer import StreamedAnswer

NOW = datetime(2026, 11, 2, tzinfo=UTC)
PIECES = [
    "<thi",
    "nk>\nThe user asks. It is 36 months. Or is it? ",
    "No.\n</think>\n\nIt is 24 months. ",
    "It is free. ",
    "Ask.",
]
TEXT = "".join(PIECES)
SOURCE = {"chunk_id": "c", "content": "The warranty period is 24 months. Repairs are free."}


def test_chunks_of_reasoning_are_not_evaluated() -> None:
    answer = StreamedAnswer("default", "a")
    found: list[CheckedSentences] = []
    for index, piece in enumerate(PIECES):
        fields = {"query": "How long is the warranty?", "contexts": [SOURCE]} if index == 0 else None
        answer.add(AnswerChunk(answer_id="a", index=index, text=piece, answer=fields, sent_at=NOW))
        found += answer.finished_sentences(GroundingThresholds(), "nothing", NOW, "v")
    assert [TEXT[each.start : each.end].rpartition(">")[2].strip() for each in found] == [
        "It is 24 months.",
        "It is free.",
    ]
    assert {claim.text for each in found for claim in each.claims} == {"It is 24 months.", "It is free."}
    assert [TEXT[claim.span.start : claim.span.end] for claim in found[0].claims] == ["It is 24 months."]
    assert answer.answer(NOW).answer == "It is 24 months. It is free. Ask."


def test_a_check_of_a_stream_sees_blanks_for_the_reasoning() -> None:
    asked: list[str] = []

    async def check(text: str, memory: object) -> Any:
        asked.append(text)
        raise asyncio.CancelledError

    async def first_part() -> None:
        growing = GrowingAnswer()
        for piece in PIECES:
            growing.add(piece)
            assert growing.text.count("</think>") or await _waits(growing), "reasoning has no finished sentence"
        async for _ in checked_parts(growing, cast(Any, check)):
            pass

    async def _waits(growing: GrowingAnswer) -> bool:
        waiting = asyncio.ensure_future(growing.next_end(0))
        done, _ = await asyncio.wait([waiting], timeout=0.2)
        waiting.cancel()
        return not done

    with suppress(asyncio.CancelledError):
        asyncio.run(first_part())
    (text,) = asked
    assert text.strip() == "It is 24 months. It is free."
    assert TEXT[: len(text)].endswith(text.strip()), "the offsets are those of the text"
