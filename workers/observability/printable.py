"""Escape text from other systems, so that it cannot control a terminal or forge a line."""

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


def _escaped(character: str) -> str:
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
