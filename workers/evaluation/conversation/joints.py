"""Put a phrase in the place of a part of a question."""

import re


def put_in(phrase: str, text: str, start: int, end: int) -> str:
    """Return a text with a phrase in the place of a part of it; what the phrase repeats beside that part goes with it.

    "over 90 days" in the place of "30" in "over 30 days" leaves neither "over over" nor "days days".

    Args:
        phrase: the phrase.
        text: the question.
        start: offset of the part.
        end: offset after its last character.
    """
    before, after = text[:start], text[end:]
    words = phrase.split()
    for count in range(len(words), 0, -1):
        head = re.search(rf"(?<!\w){_spaced(words[:count])}\s*$", before, re.IGNORECASE)
        if head:
            before = before[: head.start()]
            break
    for count in range(len(words), 0, -1):
        tail = re.match(rf"\s*{_spaced(words[-count:])}(?!\w)", after, re.IGNORECASE)
        if tail:
            after = after[tail.end() :]
            break
    return f"{before}{phrase}{after}"


def _spaced(words: list[str]) -> str:
    return r"\s+".join(map(re.escape, words))
