"""Patterns with a filter find what the same patterns without one find."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import workers.evaluation.grounding.grounding_evaluator as grounding_evaluator
from workers.evaluation.text.prefilter import PrefilteredPattern, needed_words
from workers.process.paths import examples_directory

DATA = Path(__file__).parents[3] / "data"


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"\blacks?\s(?P<after>.+)$", {"lack"}),
        (r"\bs[eo]ld\b|\bsale of\b", {"seld", "sold", "sale of"}),
        (r"(?<![\d:])(\d{1,2}):([0-5]\d)(?![\d:])", {":\0\0"}),
        (r"(?:ab)+c", {"abc"}),
        (r"(?i:NO|İn)\s+\w+", {"no", "in"}),
        (r"x*y?z", {"z"}),
        (r"(?:a|b*)c(?=d)", {"c"}),
        (r"a(?!b)c", {"a"}),
        (r"(?:one|two)?three", {"three"}),
        (r"(?:very )?\w+ly", {"ly"}),
        (r"\w+", set()),
        (r"", set()),
        (r"(?:a|)b?", set()),
        (r"(a)|\d+|", set()),
    ],
)
def test_words_that_each_match_needs(pattern: str, words: set[str]) -> None:
    assert needed_words(pattern, re.IGNORECASE) == words


@pytest.mark.parametrize(
    "text", ["It was ſold.", "ıt was SOLD", "İt was sold", "It was SOLD in May 2024", "not at all", ""]
)
def test_look_alike_letters_and_case_match_as_without_a_filter(text: str) -> None:
    for pattern in (r"\bsold\b", r"\bit was\b", r"(\d)\d+", r"\W"):
        plain, filtered = re.compile(pattern, re.IGNORECASE), PrefilteredPattern(pattern, re.IGNORECASE)
        assert str(filtered.search(text)) == str(plain.search(text))
        assert str(filtered.match(text)) == str(plain.match(text))
        assert filtered.findall(text) == plain.findall(text)
        assert list(map(str, filtered.finditer(text))) == list(map(str, plain.finditer(text)))
        assert filtered.sub("<>", text) == plain.sub("<>", text)
        assert filtered.split(text) == plain.split(text)


class _Unsearchable:
    """Fail the test if the pattern itself is searched."""

    def __getattr__(self, name: str) -> object:
        raise AssertionError(f"{name} was called")


def test_a_text_without_the_words_is_not_searched() -> None:
    pattern = PrefilteredPattern(r"\b(?:quarter|half) past (\w+)", re.IGNORECASE)
    pattern._pattern = _Unsearchable()  # type: ignore[assignment]
    text = "The office opens at nine in the past half year."
    assert pattern.search(text) is None
    assert pattern.match(text) is None
    assert pattern.findall(text) == []
    assert list(pattern.finditer(text)) == []
    assert pattern.sub("", text) == text
    assert pattern.split(text) == [text]


_SMALL = st.sampled_from(
    ["a", "b", "ab", "1", "[ab]", r"\d", "[0-9]", ".", r"\s", "(?:a|b)", "(?:ab|1|)", "(?=a)", "(?!a)", r"\b"]
)
_PATTERNS = st.recursive(
    _SMALL,
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=4).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})"),
        st.tuples(inner, st.sampled_from(["?", "*", "+", "{2}", "{1,2}", "+?"])).map(lambda both: f"(?:{both[0]}){both[1]}"),
    ),
    max_leaves=8,
)  # fmt: skip


@given(_PATTERNS, st.text("aAbB1 x", max_size=8))
def test_any_pattern_finds_the_same_with_and_without_a_filter(pattern: str, text: str) -> None:
    plain, filtered = re.compile(pattern, re.IGNORECASE), PrefilteredPattern(pattern, re.IGNORECASE)
    assert [each.span() for each in filtered.finditer(text)] == [each.span() for each in plain.finditer(text)]


def _filtered_patterns() -> Iterator[PrefilteredPattern]:
    assert grounding_evaluator  # imports all rules
    for name, module in list(sys.modules.items()):
        waiting = list(vars(module).values()) if name.startswith("workers.evaluation.") else []
        while waiting:
            each = waiting.pop()
            if isinstance(each, PrefilteredPattern):
                yield each
            elif isinstance(each, tuple):
                waiting += each


def test_the_filters_of_the_rules_hide_no_match_in_examples_and_cases() -> None:
    patterns = {id(each): each for each in _filtered_patterns()}
    assert len(patterns) > 80
    rows = [
        json.loads(line)
        for path in (
            examples_directory() / "answers.jsonl",
            DATA / "contrary_cases.jsonl",
            DATA / "language_cases.jsonl",
        )
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    texts = list({part for row in rows for part in re.split(r"(?<=[.!?])\s", f"{row['query']} {row['answer']}")})
    assert len(texts) > 1_000
    for each in patterns.values():
        plain = each._pattern
        hidden = [text for text in texts[::3] if plain.search(text) and not each.search(text)]
        assert not hidden, each.pattern
