"""Escape text from other systems, so that it cannot control a terminal or forge a line."""

import json
import unicodedata

HOSTILE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories: control, format (direction marks among them), surrogate, line and paragraph separator."""

JOINERS = "\u200c\u200d"
"""Format characters that Persian, Hindi and emoji need."""


def printable(text: str, keep: str = "\n\t") -> str:
    """Escape text from other systems, so that it cannot control the terminal.

    Control characters, direction marks and line separators are shown as escapes. Unescaped they could
    colour, overwrite or reorder the surrounding text, or make some terminals send input.

    Args:
        text: text from another system.
        keep: control characters that are not escaped.
    """
    if text.isprintable():
        return text
    keep += JOINERS
    return "".join(
        character if character in keep or unicodedata.category(character) not in HOSTILE else _escaped(character)
        for character in text
    )


def printable_json(text: str) -> str:
    """Escape within JSON what ``printable`` escapes; the content stays the same.

    JSON escapes the control characters up to U+001F by itself. Those from U+0080 on control many terminals as well, and
    half of a surrogate pair cannot be written.

    Args:
        text: JSON in one or more lines.
    """
    if text.isprintable():
        return text
    keep = "\n" + JOINERS
    return "".join(
        character
        if character in keep or unicodedata.category(character) not in HOSTILE
        else json.dumps(character)[1:-1]
        for character in text
    )


def _escaped(character: str) -> str:
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
