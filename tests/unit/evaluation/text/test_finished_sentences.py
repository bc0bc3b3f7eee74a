"""A sentence of a growing text is finished only when no further text moves its end."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.harness.linear_time import check_linear, repeated
from tests.harness.paths import ROOT
from tests.unit.evaluation.text.test_segmentation import MARKDOWN
from workers.evaluation.text.structure.finished_sentences import finished_ends
from workers.evaluation.text.structure.segmentation import segment


def streamed(text: str) -> list[str]:
    """Return the finished pieces of a text that comes one code point at a time, each with the text that finished it."""
    start, found = 0, []
    for length in range(1, len(text) + 1):
        for end in finished_ends(text[:length], start):
            found.append(text[start:end].strip())
            start = end
    return found


@pytest.mark.parametrize(
    ("text", "finished"),
    [
        ("Es gilt ab dem 3. Mai und endet am 14. August. Danach ist zu.", ["Es gilt ab dem 3. Mai und endet am 14. August."]),
        ("Während ihres Urlaubs vom 3. bis zum 14. August ist das Büro zu. Dann", ["Während ihres Urlaubs vom 3. bis zum 14. August ist das Büro zu."]),
        ("O. Brekke kept goal for Stavne. He is 31.", ["O. Brekke kept goal for Stavne."]),
        ("It was signed by J. R. Volkov in Oslo. Then it was sent.", ["It was signed by J. R. Volkov in Oslo."]),
        ("He served in the U.S. Army for six years. He left in May.", ["He served in the U.S. Army for six years."]),
        ("The motor was mended. [12] The belt is new.", ["The motor was mended. [12]"]),
        ("The motor was mended. [1] [2] The belt is new.", ["The motor was mended. [1] [2]"]),
        ("It was mended. [AI Inference - by pattern] It runs.", ["It was mended. [AI Inference - by pattern]"]),
        # The sentence after a bare number or a letter has to end first.
        ("The limit is 30. The value is below it. It is fine.", ["The limit is 30.", "The value is below it."]),
        ("The limit is 30.\n\nThe value is below it.", ["The limit is 30."]),
        ("The limit is 30 bar. The value is 5 V. The fuse is new.", ["The limit is 30 bar.", "The value is 5 V."]),
        ("The price is 3.50 euros. It rose to 3.5 million. Yes.", ["The price is 3.50 euros.", "It rose to 3.5 million."]),
        ("Dr. Adeyemi, e.g. on Mondays, is in. Prof. Lund is out.", ["Dr. Adeyemi, e.g. on Mondays, is in."]),
        ("営業は9時からです。水曜は休みです。予約", ["営業は9時からです。", "水曜は休みです。"]),
        ("票价为3.5元。儿童免费。欢迎", ["票价为3.5元。", "儿童免费。"]),
        ("Good 👍🏽. It runs 🚲. Ok", ["Good 👍🏽.", "It runs 🚲."]),
        ("Use this:\n```sh\nrm -r a. B\n\nls\n```\nIt is safe. So", ["Use this:\n```sh\nrm -r a. B\n\nls\n```", "It is safe."]),
        ("## Size\nIt has 3 rooms.\n\n### Rent\n\nIt is 9 euros. So", ["## Size\nIt has 3 rooms.", "### Rent\n\nIt is 9 euros."]),
        ("**Three are open:**\n\n- The pool\n- The gym\n\nAsk", ["**Three are open:**\n\n- The pool", "- The gym"]),
        ("次の通りです：\n- 8冊です。\n- 14日", ["次の通りです：\n- 8冊です。"]),
        ("- Tea: 2 euros\n- Milk: No. 4\n- Bread", ["- Tea: 2 euros", "- Milk: No. 4"]),
    ],
)  # fmt: skip
def test_a_sentence_is_finished_when_no_further_text_moves_its_end(text: str, finished: list[str]) -> None:
    assert streamed(text) == finished


def test_a_row_of_a_table_is_finished_when_the_next_row_begins() -> None:
    table = "It has prices.\n\n| Ticket | Price |\n|---|---|\n| Adult | 12 |\n| Child | 5 |\n| Dog | 3 |\n\nAsk at the desk. "
    head, *rows = "| Ticket | Price |\n|---|---|\n| Adult | 12 |", "| Child | 5 |", "| Dog | 3 |"
    assert streamed(table[: table.index("| Adult")] + "| ") == ["It has prices."], "a header alone is no row"
    for number, row in enumerate(rows):
        seen = table[: table.index(row) + len(row)] + "\n| N"
        assert streamed(seen) == ["It has prices.", head, *rows[: number + 1]]
    assert streamed(table + "So") == ["It has prices.", head, *rows, "Ask at the desk."]


def test_the_ends_of_finished_sentences_are_those_of_the_whole_answer() -> None:
    files = ("agent_cases", "tool_cases", "natural_cases", "conversation_cases", "assistant_prose_cases")
    folder = ROOT / "tests" / "data"
    cases = [json.loads(line) for name in files for line in (folder / f"{name}.jsonl").read_bytes().splitlines()]
    moved, finished = [], 0
    for text in dict.fromkeys(case["answer"] for case in cases[::3] if len(case["answer"]) < 1_000):
        start, ends = 0, {sentence.end for sentence in segment(text)}
        for length in range(1, len(text) + 1):
            for end in finished_ends(text[:length], start):
                finished += 1
                start = end
                if end not in ends:
                    moved.append(text[:end])
    assert finished > 300
    assert len(moved) <= finished // 500, moved


@settings(max_examples=150, deadline=None)
@given(MARKDOWN, st.integers(min_value=0, max_value=400))
def test_ends_lie_behind_the_offset_and_ascend(text: str, start: int) -> None:
    start = min(start, len(text))
    ends = finished_ends(text, start)
    assert ends == sorted(set(ends))
    assert all(start < end <= len(text) for end in ends)


@pytest.mark.parametrize("piece", ["3. ", "A. ", "[", "| a |\n", "It is 3. [1] "])
def test_the_search_takes_linear_time(piece: str) -> None:
    check_linear(lambda text: lambda: finished_ends("Begin. " + text, 6), repeated(piece), piece)
