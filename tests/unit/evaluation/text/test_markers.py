from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.harness.linear_time import check_linear, repeated
from tests.harness.operations import count_operations
from workers.evaluation.text.structure.markers import find_markers, without_markers


def found(text: str, contexts: int = 3) -> list[tuple[str, tuple[int, ...], bool]]:
    return [(marker.text, marker.numbers, marker.out_of_range) for marker in find_markers(text, contexts)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Loki failed [1].", [("[1]", (1,), False)]),
        ("Loki failed [1, 3].", [("[1, 3]", (1, 3), False)]),
        ("Loki failed [1-3].", [("[1-3]", (1, 2, 3), False)]),
        ("Loki failed [1–2; 3].", [("[1–2; 3]", (1, 2, 3), False)]),
        ("Loki failed [^2].", [("[^2]", (2,), False)]),
        ("Loki failed 【1】.", [("【1】", (1,), False)]),
        ("Loki failed 【2†runbook】.", [("【2†runbook】", (2,), False)]),
        ("Loki failed 【4:0†source】.", [("【4:0†source】", (1,), False)]),
        ("Loki failed 【4:2†loki.md】.", [("【4:2†loki.md】", (3,), False)]),
        ("Loki failed 【4:3†source】.", [("【4:3†source】", (), True)]),
        ("Loki failed [Source 1].", [("[Source 1]", (1,), False)]),
        ("Loki failed [doc2].", [("[doc2]", (2,), False)]),
        ("Loki failed [citation:3].", [("[citation:3]", (3,), False)]),
        ("Loki failed [Document 9].", [("[Document 9]", (), True)]),
        ("Loki failed [[1]](https://a.b/c).", [("[[1]](https://a.b/c)", (1,), False)]),
        ("Loki failed [1][2].", [("[1]", (1,), False), ("[2]", (2,), False)]),
        ("Loki failed [0].", [("[0]", (), True)]),
        ("Loki failed [7].", [("[7]", (), True)]),
        ("Loki failed [2, 7].", [("[2, 7]", (2,), True)]),
        ("Loki failed [1 and 2].", [("[1 and 2]", (1, 2), False)]),
        ("Loki failed [1, 2, and 3].", [("[1, 2, and 3]", (1, 2, 3), False)]),
        ("Loki failed [1, p. 3].", [("[1, p. 3]", (1,), False)]),
        ("Loki failed [2, section 4.1].", [("[2, section 4.1]", (2,), False)]),
        ("Loki failed [^1^][^2^].", [("[^1^]", (1,), False), ("[^2^]", (2,), False)]),
        ("Loki failed [Source 1, 2].", [("[Source 1, 2]", (1, 2), False)]),
        ("Loki failed [Sources: 1 & 3].", [("[Sources: 1 & 3]", (1, 3), False)]),
        ("Loki failed [Doc 1, Doc 2].", [("[Doc 1, Doc 2]", (1, 2), False)]),
        ("Loki failed [cite: 1, 2].", [("[cite: 1, 2]", (1, 2), False)]),
        ("Loki failed [Ref 1-3].", [("[Ref 1-3]", (1, 2, 3), False)]),
        ("Loki failed [Document 3: loki.md].", [("[Document 3: loki.md]", (3,), False)]),
        ("Loki failed [Document 7: loki.md].", [("[Document 7: loki.md]", (), True)]),
        ("Loki failed [Source 1, p. 7].", [("[Source 1, p. 7]", (1,), False)]),
        ("Loki failed [Source: 1, 2].", [("[Source: 1, 2]", (1, 2), False)]),
        ("Loki failed [Source: 1-2].", [("[Source: 1-2]", (1, 2), False)]),
        ("Loki failed [Source: #1].", [("[Source: #1]", (1,), False)]),
        ("Loki failed [Source: Document 1].", [("[Source: Document 1]", (1,), False)]),
        ("Loki failed [Source: Doc 1, Doc 3].", [("[Source: Doc 1, Doc 3]", (1, 3), False)]),
        ("Loki failed [Source: 2, p. 9].", [("[Source: 2, p. 9]", (2,), False)]),
        ("Loki failed [Source: 2026-01-04].", [("[Source: 2026-01-04]", (), False)]),
        ("Loki failed [Source: daily/1].", [("[Source: daily/1]", (), False)]),
    ],
)
def test_numeric_forms_are_found(text: str, expected: list[tuple[str, tuple[int, ...], bool]]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("Use arr[0] here.", "Use x[1] here.", "Use max_size[1] here.", "Use node2[1] here.", "Use maxSize[1] here."),
        *("Use spec.limits[1] here.", "Use f(x)[1] here.", "Use words[9] here.", "- [ ] open\n- [x] done"),
        *(
            "Run `list[1]` and `[1]`.",
            "```\n[1]\n```",
            "[1]: https://example.org",
            "[^1]: A note.",
            "a value in [0, 1]",
        ),
        *("a value in [0-5]", "[sic]", "[]", "[1.5]", "[a1]"),
        *("[3 and a half]", "[document.pdf, p. 3]", "[refs]", "[see page 3]", "[Doc one]", "Use x[1 and 2] here."),
    ],
)
def test_brackets_that_cite_nothing_are_left_alone(text: str) -> None:
    assert [marker for marker in find_markers(text, 3) if marker.form != "link"] == []


@pytest.mark.parametrize(
    "text", ["the memory limit[1].", "in 2024[1].", "the limit (2 GiB)[1].", "です[1]。", "the GPU[1]"]
)
def test_a_marker_without_a_space_behind_a_word_is_a_citation(text: str) -> None:
    assert found(text) == [("[1]", (1,), False)]


def test_a_huge_range_costs_nothing() -> None:
    lines = count_operations(lambda: found("see [1-999999999]"))
    assert found("see [1-999999999]") == [("[1-999999999]", (1, 2, 3), True)]
    assert lines < 600


def test_typed_forms_of_seed_004_are_found() -> None:
    text = (
        "Grinder 5 [Source: daily_summaries/2026-01-04/asset-grinder-5] cost "
        "[Evidence: cost_centers calculation @ $3000/hr] [Memory: asset-history/grinder-5/mem-id-abc123] "
        "[AI Inference - based on pattern analysis]"
    )
    assert [(marker.form, marker.target) for marker in find_markers(text, 0)] == [
        ("source", "daily_summaries/2026-01-04/asset-grinder-5"),
        ("evidence", "cost_centers calculation @ $3000/hr"),
        ("memory", "asset-history/grinder-5/mem-id-abc123"),
        ("inference", "based on pattern analysis"),
    ]


def test_links_are_found_with_parentheses_and_images_are_not() -> None:
    markers = find_markers("See [docs](https://a.b/c_(d)) and ![x](https://a.b/i.png), <https://a.b/e>.", 1)
    assert [marker.target for marker in markers] == ["https://a.b/c_(d)", "https://a.b/e"]


def test_a_reference_link_is_no_numeric_citation() -> None:
    assert [marker.form for marker in find_markers("[docs][1] say so.\n\n[1]: https://a.b/c", 3)] == ["link"]


def test_an_inference_may_be_marked_in_parentheses_or_without_the_letters_ai() -> None:
    for text in ("It leaks (AI inference).", "It leaks [Inference: pattern].", "It leaks [AI-inference]."):
        assert [marker.form for marker in find_markers(text, 1)] == ["inference"]


@pytest.mark.parametrize(
    "text", ["`【4:0†source】`", "```\n[doc1] [Source 1] [citation:1]\n```", "[Source 1]: https://a.b"]
)
def test_no_form_is_a_marker_in_code_or_a_definition(text: str) -> None:
    assert [marker for marker in find_markers(text, 3) if marker.form == "numeric"] == []


def test_markers_are_taken_out_and_links_keep_their_words() -> None:
    text = "Loki failed [1], see [the docs](https://a.b)."
    assert without_markers(text, 0, find_markers(text, 1)) == "Loki failed , see the docs."


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="[]()^【】†1290-, xa`_!:/\n", max_size=120), st.integers(0, 5))
def test_markers_keep_their_bounds_whatever_the_text(text: str, contexts: int) -> None:
    end = 0
    for marker in find_markers(text, contexts):
        assert marker.start >= end
        assert text[marker.start : marker.end] == marker.text
        assert all(1 <= number <= contexts for number in marker.numbers)
        end = marker.end


@pytest.mark.parametrize(
    "piece",
    [
        "[1",
        "[1,",
        "[a](",
        "[1]",
        "[1]:\n",
        "[Source: a",
        "[a](b",
        "[a](b(c)",
        "x[1]",
        "[1-2,",
        "][",
        "[Doc 1, ",
        "[1 and ",
        "[Source: 1, ",
    ],
)
def test_time_stays_linear_on_hostile_answers(piece: str) -> None:
    check_linear(lambda text: partial(find_markers, text, 3), repeated(piece), repr(piece))
