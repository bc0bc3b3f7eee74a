"""A text shows something to readers if a character or a picture is left once its Markdown is rendered."""

import time

import pytest

from workers.decision.reader_text.shown_text import shows_nothing


@pytest.mark.parametrize(
    "text",
    [
        "", " \u200b", "<!-- to do -->", "<!-- open", "<br>", "<br/>\n\n<br />", "```\n```", "```python\n\n```", "~~~\n\u200b\n~~~",
        "&nbsp;&#8203;", "<p>&nbsp;</p>", "---", "#", "-", "> ", "| | |\n|-|-|\n| | |", "[](http://pump.example)",
        "[1]: http://pump.example", "<style>a{}</style>", "<script>\nrun(8)\n</script>", "<span title='8 kg'></span>",
        "<!-- " + "8 kg " * 2_000 + "-->",
    ],
)  # fmt: skip
def test_a_text_without_characters_and_pictures_shows_nothing(text: str) -> None:
    assert shows_nothing(text)


@pytest.mark.parametrize(
    "text",
    [
        "8", "…", "—", "✓", "[1]", "<b>8 kg</b>", "![](pump.png)", "<img src=pump.png>", "`<br>`", "```\n<!-- a -->\n```",
        "    code", "<!-- a --> b", "<!-- a -->\n\nb", "<script>a</script>b", "1 < 2", "<br", "&amp;", "&lt;br&gt;",
        "<div>\n8 kg\n</div>", "# 8", "|8|\n|-|", "a <!-- b", ">" * 60 + " 8", "- " * 60 + "8", "[](a) 8", "\\<br>",
    ],
)  # fmt: skip
def test_what_readers_see_is_shown(text: str) -> None:
    assert not shows_nothing(text)


@pytest.mark.parametrize("sign", ["[", "<", "`", "<a ", "![](", "*", "|", "<!-- -->", "<style>", "&nbsp;", "- ", "("])
def test_a_long_text_takes_little_time(sign: str) -> None:
    began = time.process_time()
    shows_nothing(sign * (60_000 // len(sign)))
    assert time.process_time() - began < 1.0
