"""Make hostile text safe to show: control characters by their code points."""

import unicodedata

MAX_SHOWN = 200_000
"""Maximum length in code points of one text in a page."""

HOSTILE = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
"""Unicode categories whose characters are shown by number: controls, direction marks, line separators."""
KEPT = "\n\t\u200c\u200d\u00ad"
"""Line ends, and format characters needed for Persian, Hindi, emoji and hyphenation."""


def visible(text: str) -> str:
    """Return a text whose control characters are replaced by their code points.

    Control and direction characters could otherwise change how the surrounding page or terminal shows other text.
    """
    text = text[:MAX_SHOWN]
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character
        if character in KEPT or unicodedata.category(character) not in HOSTILE
        else f"⟨U+{ord(character):04X}⟩"
        for character in text.replace("\r\n", "\n")
    )
