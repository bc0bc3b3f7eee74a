"""Commands that a document gives."""

import re
from pathlib import Path

_BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`((?:touchstone|kubectl) [^`]+)`")


def documented_commands(document: Path) -> list[str]:
    """Return the commands of a document in their order: lines of its blocks and those within sentences."""
    text = document.read_text(encoding="utf-8")
    found = [
        (match.start(), command)
        for pattern in (_BLOCK, _INLINE)
        for match in pattern.finditer(text)
        for command in match[1].replace("\\\n", " ").splitlines()
    ]
    return [command for _, command in sorted(found, key=lambda each: each[0]) if command]
