"""Recognise what names a passage or opens a part of an answer and states nothing: "(Passage 1:4)", "For Method 2:".

Only forms without any other word are labels: "(The dose is 500 mg)" and "For Method 2: press F8" state something.
"""

import re

_PASSAGE = r"(?:passages?|contexts?|excerpts?|chunks?|sources?|documents?)"
_NUMBERS = r"#?\d{1,3}(?:\s*(?:[:,;–-]|and|&|und|et)\s*\d{1,4}){0,8}"
_POINTER = re.compile(rf"[(\[]\s*(?:see\s|from\s)?{_PASSAGE}\s*{_NUMBERS}\s*[)\]][.:;,]?", re.IGNORECASE)
"""A passage in brackets, with the number of a line or sentence."""
_MISSING = re.compile(
    rf"{_PASSAGE}\s*{_NUMBERS}\s*[:–-]\s*\(?(?:unavailable|not available|not provided|empty|missing|n/?a)\)?\.?",
    re.IGNORECASE,
)
_OPENING = re.compile(
    rf"(?:(?:for|from|in|with|using|according to|regarding)\s)?(?:the\s)?"
    rf"(?:{_PASSAGE}|methods?|options?|ways?|approach|variant|alternative|steps?|parts?|cases?|scenario|example|section|chapter|stage|phase|question|point)"
    r"\s(?:#?\d{1,2}|[A-H]|one|two|three|four|five)\s?[:：]",
    re.IGNORECASE,
)


def is_label(plain: str, *, is_last: bool) -> bool:
    """Return true if a sentence only names a passage, says that it is missing, or opens the part behind it.

    Args:
        plain: the sentence without markers and Markdown.
        is_last: whether nothing follows, so that "Option 2:" is the answer itself.
    """
    text = plain.strip()
    if _POINTER.fullmatch(text) or _MISSING.fullmatch(text):
        return True
    return not is_last and _OPENING.fullmatch(text) is not None
