"""Find texts that show or say nothing, although they have characters."""

import html
import re
import unicodedata

from workers.evaluation.text.structure.markers import Marker, find_markers
from workers.evaluation.text.structure.segmentation import code_ranges, segment

INVISIBLE = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs"})
"""Unicode categories of blanks and of characters without a picture of their own."""
FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufe0e\ufe0f")
"""Letters and signs without a picture of their own."""
SAYING = frozenset({"So", "Sc"})
"""Unicode categories of signs that can be an answer, such as a check mark; letters and digits can as well."""

_PLAIN_WORD = re.compile(r"(?:^|\s)[^\W\d_]{2,}(?=[\s.,;:!?]|$)")
_MARKUP = frozenset("[<【(`~&!")
_FENCE = re.compile(r"^[ \t>]*(?:`{3,}|~{3,})[^\n]*$", re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TAG = re.compile(r"<(?!https?:|mailto:|[^\s<>@]{1,100}@)/?[A-Za-z][^<>]{0,500}>")
_IMAGE = re.compile(r"!\[\s*\]\([^()\n]{0,2000}\)")


def is_blank(text: str) -> bool:
    """Return true if a text has nothing that a reader can see."""
    return all(unicodedata.category(each) in INVISIBLE or each in FILLERS for each in text)


def says_nothing(text: str) -> bool:
    """Return true if a text has neither a word, a figure nor a sign once its markup is gone.

    Markup is citation markers without words, tags and comments of HTML, images without a description, and fences. Code is
    not markup: the answer `<br>` in a span of code says something.
    """
    word = _PLAIN_WORD.search(text)
    if word and _MARKUP.isdisjoint(text[: word.end()]):
        return False  # A quick check: nearly every answer begins with words.
    sentences = list(segment(text))
    code = code_ranges(text, sentences)
    if any(_says(_FENCE.sub("", text[start:end])) for start, end in code):
        return False
    gone = [(each.start, each.end) for each in find_markers(text, 0, sentences) if not _has_words(each)]
    prose = list(text)
    for start, end in (*code, *gone):
        prose[start:end] = " " * (end - start)
    bare = _TAG.sub("", _COMMENT.sub("", _IMAGE.sub("", _FENCE.sub("", "".join(prose)))))
    return not _says(html.unescape(bare))


def _has_words(marker: Marker) -> bool:
    """Return true if a reader learns more from a marker than the name of a source."""
    if marker.form == "link":
        return not marker.out_of_range
    return marker.form == "inference" and _says(marker.target)


def _says(text: str) -> bool:
    return any((each.isalnum() or unicodedata.category(each) in SAYING) and each not in FILLERS for each in text)
