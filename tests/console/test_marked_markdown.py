"""Claims stay marked where they are when their answer is rendered as Markdown."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.console.presentation.marked_markdown import marked_markdown
from workers.console.presentation.verdicts import VERDICTS
from workers.console.presentation.views import ClaimView

EMPTY = dict.fromkeys(ClaimView.model_fields)


def claims(text: str, *parts: str) -> list[ClaimView]:
    """Return a claim for each part of a text."""
    return [claim(text.index(part), text.index(part) + len(part), number) for number, part in enumerate(parts)]


def claim(start: int, end: int, number: int) -> ClaimView:
    return ClaimView.model_construct(
        **EMPTY | {"claim_id": f"c{number}", "start": start, "end": end, "verdict": "supported"}
    )


def marked(html: str, number: int) -> str:
    """Return the text in the marks of a claim."""
    return "|".join(re.findall(rf'<mark[^>]*data-claim="c{number}"[^>]*>([^<]*)</mark>', html))


@pytest.mark.parametrize(
    ("text", "part", "inside", "tag"),
    [
        ("## Head one\n\nNext.", "## Head one", "Head one", "<h2>"),
        ("1. Set it.\n2. Go.", "1. Set it.", "Set it.", "<ol>"),
        ("- _Set_ it.", "- _Set_ it.", "Set| it.", "<em>"),
        ("|a|b|\n|-|-|\n| c d | e f |\n", "| c d | e f |", "c d|e f", "<td>"),
        ("```yaml\nx: 1\n```\n", "```yaml\nx: 1\n```", "x: 1", "<code>"),
        ("> Said **so** [1].", "> Said **so** [1].", "Said |so| [1].", "<blockquote>"),
        ("See [a b](http://x.example/) now.", "See [a b](http://x.example/) now.", "See |a b| now.", "<a href="),
        ("It is **bold.** More.", "It is **bold.**", "It is |bold.", "<strong>"),
        ("1 &lt; 2 &amp; 3.", "1 &lt; 2 &amp; 3.", "1 &lt; 2 &amp; 3.", "<ol>|<p>"),
    ],
)  # fmt: skip
def test_a_claim_is_marked_and_its_markdown_is_rendered(text: str, part: str, inside: str, tag: str) -> None:
    html = marked_markdown(text, claims(text, part), VERDICTS)
    assert html is not None
    assert marked(html, 0) == inside
    assert re.search(tag, html)


def test_a_claim_without_a_place_in_the_rendered_text_is_told() -> None:
    text = "[x]: http://example.org/a\n\nText [x]."
    assert marked_markdown(text, claims(text, "[x]: http://example.org/a"), VERDICTS) is None


def test_characters_of_the_text_are_never_taken_for_bounds_or_tags() -> None:
    text = "A\U000f0000 <mark data-claim='c9'>claim</mark> <script>x</script> here."
    html = marked_markdown(text, claims(text, text), VERDICTS)
    assert html is not None
    assert "c9" not in re.findall(r'data-claim="(\w+)"', html)
    assert "<script" not in html
    assert "⟨U+F0000⟩" in html


MARKS = st.text("ab 1.*_`[]()|#>-\n<&\\!", max_size=60)


@given(MARKS, st.lists(st.tuples(st.integers(0, 60), st.integers(1, 30)), max_size=4))
def test_any_text_is_rendered_with_whole_tags_or_not_at_all(text: str, spans: list[tuple[int, int]]) -> None:
    found = [claim(start, start + length, number) for number, (start, length) in enumerate(spans)]
    html = marked_markdown(text, found, VERDICTS)
    if html is None:
        return
    assert html.count("<mark") == html.count("</mark>")
    assert not re.search("[\U000f0000-\U000ffffd]", html)
    open_tags: list[str] = []
    for closing, name in re.findall(r"<(/?)(\w+)[^>]*>", html):
        if name in ("br", "hr"):
            continue
        if closing:
            assert open_tags.pop() == name
        else:
            open_tags.append(name)
    assert open_tags == []
