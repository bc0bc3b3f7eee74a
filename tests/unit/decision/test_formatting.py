"""Formatting tidies prose and never touches code, links, numbers or markers."""

import re
from functools import partial
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from schemas.citations import Citation
from tests.harness.linear_time import check_linear, repeated
from workers.decision.reader_text.formatting import _styled, format_answer
from workers.decision.reader_text.reference_list import Style

PARSER = MarkdownIt("commonmark").enable("table")
STYLES: list[Style] = ["standard", "compact", "verbose"]
CITATION = Citation(citation_id="c", number=1, chunk_id="chunk", source_type="runbook", source_name="Loki")


def formatted(text: str, style: Style = "standard") -> str:
    return format_answer(text, [], style=style)


def code_of(text: str, *, named: frozenset[str] = frozenset()) -> list[tuple[str, str, str]]:
    """All code of a text as a renderer sees it: kind, language, content.

    Args:
        text: Markdown.
        named: languages that formatting may have put in; they count as none.
    """
    found = []
    for token in PARSER.parse(text):
        if token.type in ("fence", "code_block"):
            found.append((token.type, "" if token.info in named else token.info, token.content))
        found += [("code_inline", "", child.content) for child in token.children or [] if child.type == "code_inline"]
    return found


def words_of(text: str) -> list[str]:
    """Words and markers, without the languages that formatting may have put behind a fence."""
    plain = re.sub(rf"(?m)^([ \t>*+-]*(?:`{{3,}}|~{{3,}}))(?:{'|'.join(sorted(DETECTED))})$", r"\1", text)
    return re.findall(r"\w+|\[\d+\]", plain)


def links_of(text: str) -> list[dict[str, Any]]:
    return [child.attrs for token in PARSER.parse(text) for child in token.children or [] if child.type == "link_open"]


DETECTED = frozenset(("json", "bash", "python", "sql", "yaml", "html", "xml"))
PIECES = st.sampled_from(
    [
        "```", "```python\n", "```\n{\"a\": 1}\n```\n", "> ```\n> ls -l\n", "- ~~~\n  SELECT a FROM b\n", "~~~", "`", "``", "\n", "\n\n", "\n\n\n\n", "    ", "  ", "\t", "- ", "* ", "+ ", "1. ",
        "2) ", "• ", "> ", "# ", "| a | b |\n|---|---|\n", "Note: ", "Error: ", "**Warning**: ", "*", "_", "word", "memory.The ",
        "Node.JS", "[1]", "[a](http://b.The )", "https://x.y/z.The ", "<b>", "<!--", "-->", "---", "===", "\\", "[", "]", "(",
        ")", "\r\n", "3.5", "。", "etc.", "<http://a`b>", "***", "- - -", "\n- ", "\n* ", "\nNote: ", "\n• ",
        "\n    ", "\n\n    ", "\nfoo.The bar", "`code.The x`", "\n\n- ", "\n\n\n",
    ]
)  # fmt: skip
MARKDOWN = st.lists(PIECES, max_size=40).map("".join)


@settings(max_examples=400, deadline=None)
@given(MARKDOWN, st.sampled_from(STYLES))
@example("• a\n\n\n      code\n", "standard")
@example("* - -\n", "standard")
@example("`a\nNote: b`", "standard")
@example("`• x` and \\```.The x``", "standard")
@example("• x\n    ```- - -\n\n\n", "standard")
def test_code_is_preserved_byte_for_byte(text: str, style: Style) -> None:
    assert code_of(formatted(text, style), named=DETECTED) == code_of(text, named=DETECTED)


@settings(max_examples=400, deadline=None)
@given(MARKDOWN, st.sampled_from(STYLES))
@example("• etc.\n* ", "standard")
@example("> # \n\n    > ", "compact")
def test_formatting_its_own_output_changes_nothing(text: str, style: Style) -> None:
    once = formatted(text, style)
    assert formatted(once, style) == once


@settings(max_examples=300, deadline=None)
@given(MARKDOWN)
def test_words_numbers_and_markers_survive(text: str) -> None:
    assert words_of(formatted(text)) == words_of(text)


@settings(max_examples=300, deadline=None)
@given(MARKDOWN)
def test_links_survive(text: str) -> None:
    assert links_of(formatted(text)) == links_of(text)


@given(st.text(max_size=300))
def test_any_text_can_be_formatted(text: str) -> None:
    for style in STYLES:
        format_answer(text, [CITATION], style=style)


@pytest.mark.parametrize(
    ("code", "language"),
    [
        ('{"a": [1, 2]}', "json"),
        ("kubectl get pods -n loki", "bash"),
        ("$ touchstone up", "bash"),
        ("#!/usr/bin/env python3\nprint(1)", "python"),
        ("import os\n\nprint(os.name)", "python"),
        ("def f(x: int) -> int:\n    return x", "python"),
        ("SELECT name\nFROM pumps\nWHERE id = 4", "sql"),
        ("apiVersion: v1\nkind: Pod\nmetadata:\n  name: loki", "yaml"),
        ("<html><body></body></html>", "html"),
        ("{a: 1}", None),
        ("Error: connection refused", None),
        ("make: nothing to be done", None),
        ("total: 12\nused: 3\nfree: 9", None),
        ("fn main() {}", None),
        ("select the right option", None),
        ("", None),
    ],
)
def test_language_of_a_fence_is_named_only_where_it_is_certain(code: str, language: str | None) -> None:
    assert formatted(f"```\n{code}\n```") == f"```{language or ''}\n{code}\n```"
    assert formatted(f"```text\n{code}\n```") == f"```text\n{code}\n```"
    assert formatted(f"> ~~~~\n> {code.splitlines()[0] if code else ''}\n> ~~~~").count("~~~~") == 2


def test_a_repeat_comes_from_the_cache_and_is_the_same() -> None:
    first = formatted("* Restart the pod.The limit is 2 GiB.")
    hits = _styled.cache_info().hits
    assert formatted("* Restart the pod.The limit is 2 GiB.") == first
    assert _styled.cache_info().hits == hits + 1


def test_language_of_a_fence_is_never_invented() -> None:
    text = "```\nls\n```\n\n```python\nx = 1\n```"
    assert formatted(text) == text


def test_blank_lines_collapse_outside_of_code_only() -> None:
    assert formatted("\n\na\n\n\n\nb\n\n```\nx\n\n\n\ny\n```\n\n\n") == "a\n\nb\n\n```\nx\n\n\n\ny\n```\n"


def test_bullets_become_consistent() -> None:
    assert formatted("* a\n* b\n  + c\n\n• d\n• e") == "- a\n- b\n  - c\n\n- d\n- e"
    assert formatted("1. a\n2. b") == "1. a\n2. b"
    assert formatted("* * *") == "* * *"


def test_label_is_emphasised_at_the_start_of_a_line() -> None:
    assert formatted("Note: read this.\nWarning: hot.\n\n- Error: none") == (
        "**Note**: read this.\n**Warning**: hot.\n\n- **Error**: none"
    )


@pytest.mark.parametrize(
    "text",
    [
        "An Error occurs, and a Warning follows.",
        "Please Note: this is not a label at the start.",
        "Errors: two. Notes: none. Notebook: closed.",
        "# Note: a heading",
        "Note: a heading\n===",
        "`Note: code`",
        "```\nNote: code\n```",
        "    Note: code",
        "[Note: a link](https://example.org)",
        "**Note:** already",
        "*emphasis\nNote: goes on*",
        "> Note: a quotation",
        "| Note: a table |\n|---|\n| Error: x |",
        "NOTE: capitals are emphasis enough",
    ],
)
def test_word_that_is_no_label_is_left_alone(text: str) -> None:
    assert formatted(text) == text


def test_space_that_is_missing_between_sentences_is_put_in() -> None:
    assert formatted("The pod restarts.The limit is 2 GiB [1].It was 4 GiB.") == (
        "The pod restarts. The limit is 2 GiB [1]. It was 4 GiB."
    )


@pytest.mark.parametrize(
    "text",
    [
        "Node.JS and Vue.JS", "the U.S.A in 1999", "version v1.2.X", "System.Out.Println", "config.Yaml and a/b.The x",
        "https://example.org/a.The b", "see [file.The x](https://example.org/file.The)", "`list.The x`", "me@example.The x",
        "e.g.The x", "1.The first", "array.In(x)", "<a href='x.The y'>",
    ],
)  # fmt: skip
def test_full_stop_inside_a_name_is_left_alone(text: str) -> None:
    assert formatted(text) == text


def test_compact_style_leaves_out_blank_lines_of_lists_and_headings() -> None:
    assert formatted("# H\n\ntext\n\n- a\n\n- b\n\n1. c\n\n2. d", "compact") == "# H\ntext\n\n- a\n- b\n\n1. c\n2. d"


def test_verbose_style_has_a_heading() -> None:
    assert formatted("Text.", "verbose") == "## Response\n\nText."
    assert formatted("# Title\n\nText.", "verbose") == "# Title\n\nText."
    assert formatted("#hashtag", "verbose").startswith("## Response")


def test_references_follow_and_are_no_code_after_an_open_fence() -> None:
    assert format_answer("Text [1].", [CITATION]) == "Text [1].\n\n## References\n\n[1] **Runbook**: Loki\n"
    assert format_answer("Text [1].", [CITATION], include_references=False) == "Text [1]."
    opened = format_answer("```\ncode", [CITATION])
    assert [token.tag for token in PARSER.parse(opened) if token.type == "heading_open"] == ["h2"]


def test_what_is_nested_too_deeply_to_parse_is_left_alone() -> None:
    text = "> " * 30 + "Note: x\n\n\n\n"
    assert formatted(text) == text


@pytest.mark.parametrize(
    "unit",
    ["`", "` `` ", "[", "](", "[a](", "<a ", "<!--", "* ", ">", "- a\n", "• a\n\n", "Note:\n", "aa.The ", "[a]: b\n", "|a", "\n", " ",
     "1. ", "```\n", "\\", "http://", "x[", ").", "    a\n\n", "* a\n+ b\n"],
)  # fmt: skip
def test_hostile_answer_is_formatted_in_linear_time(unit: str) -> None:
    check_linear(lambda text: partial(format_answer, text, [CITATION]), repeated(unit), repr(unit))
    text = (unit * 10_000)[:10_000]
    for style in STYLES:
        assert len(format_answer(text, [], style=style)) < 18_500
