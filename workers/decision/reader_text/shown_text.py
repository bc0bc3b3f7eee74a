"""Find texts that show nothing to readers once their Markdown is rendered."""

import html
import re
from collections.abc import Iterator, Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from workers.evaluation.text.empty_texts import is_blank

MAX_NESTING = 50
"""Depth of lists, quotes and emphasis that is parsed; a deeper text counts as shown."""
MOST_PARSED = 2_000
"""Maximum length of a text that is parsed, without comments and tags; a longer one counts as shown."""
_TEXTS = frozenset({"text", "code_inline", "code_block", "fence"})
_UNSHOWN = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|template|title)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE
)
_TAG = re.compile(r"</?([A-Za-z][\w-]*)[^<>]*>")
_PICTURES = frozenset(
    [
        "img",
        "svg",
        "picture",
        "video",
        "audio",
        "canvas",
        "iframe",
        "object",
        "embed",
        "input",
        "button",
        "select",
        "textarea",
        "meter",
        "progress",
        "math",
    ]
)
"""HTML elements that show something without a text."""


def shows_nothing(text: str) -> bool:
    """Return true if readers see neither a character nor a picture of a text in Markdown.

    Blanks, invisible characters and their HTML entities, comments and tags of HTML, empty blocks of code, rules,
    headings, lists and tables without a text, and definitions of links show nothing.
    """
    if is_blank(text):
        return True
    if len(_TAG.sub("", _UNSHOWN.sub("", text)).strip()) > MOST_PARSED:
        return False
    markup: list[str] = []
    for token in _flat(_parser().parse(text)):
        if token.type == "image" or token.level >= MAX_NESTING - 1:
            return False
        if token.type in _TEXTS and not is_blank(token.content):
            return False
        if token.type in ("html_block", "html_inline"):
            markup.append(token.content)
    left = _UNSHOWN.sub("", "".join(markup))
    if any(name.lower() in _PICTURES for name in _TAG.findall(left)):
        return False
    return is_blank(html.unescape(_TAG.sub("", left)))


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable("table")


def _flat(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        if token.children is None or token.type == "image":
            yield token
        else:
            yield from token.children
