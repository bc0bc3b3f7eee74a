"""The examples of the demo have every kind of answer that its summary names."""

from pathlib import Path

import pytest

from schemas.answers import GeneratedAnswer
from schemas.streams import AnswerChunk
from tests.harness.paths import ROOT
from workers.cli.operation.demo_files import demo_files
from workers.errors import TouchstoneError
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.thresholds import GroundingThresholds

EXAMPLES = ROOT / "examples"


def test_the_examples_have_each_kind_and_every_answer_once() -> None:
    files = demo_files(None)
    kinds = files.kinds()
    assert kinds["with earlier turns"] == ["conversation-1", "conversation-2", "conversation-3"]
    assert kinds["over results of tools"] == ["tools-1"]
    assert kinds["streamed"] == ["stream-1"]
    foreign = [
        line for line in (EXAMPLES / "answers.jsonl").read_text(encoding="utf-8").splitlines() if '"language:' in line
    ]
    assert len(kinds["in another language than English"]) == len(foreign) >= 13
    lines = [line for path in files.answers for line in path.read_bytes().splitlines()]
    assert files.identifiers() == [*(GeneratedAnswer.from_bytes(line).answer_id for line in lines), "stream-1"]


def test_the_example_of_tools_is_supported_by_the_result() -> None:
    answer = GeneratedAnswer.from_bytes((EXAMPLES / "tools.jsonl").read_bytes())
    found = evaluate_grounding(prepare_grounding(answer), GroundingThresholds())
    assert [claim.verdict for claim in found.claims] == ["supported", "supported"]


def test_the_chunks_of_the_examples_are_one_whole_answer() -> None:
    chunks = [AnswerChunk.from_bytes(line) for line in (EXAMPLES / "chunks.jsonl").read_bytes().splitlines()]
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    assert [chunk.last for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
    assert chunks[0].answer is not None
    assert "120 kg" in "".join(chunk.text for chunk in chunks)


@pytest.mark.parametrize("line", ["{", "[]", '{"query": "q"}'])
def test_a_given_file_is_sent_alone_and_names_what_is_wrong_with_it(tmp_path: Path, line: str) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text('{"answer_id": "a-1", "answer": "Yes."}\n')
    assert demo_files(file).identifiers() == ["a-1"]
    assert demo_files(file).kinds() == {}
    file.write_text(line)
    with pytest.raises(TouchstoneError, match="must contain JSON lines with answer_id"):
        demo_files(file).identifiers()
    with pytest.raises(TouchstoneError, match="cannot be read"):
        demo_files(tmp_path / "none.jsonl").identifiers()
