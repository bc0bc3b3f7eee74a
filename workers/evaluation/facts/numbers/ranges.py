"""Find ranges: "3 to 5 days", "3–5 days", "between three and five days"."""

import re

from workers.evaluation.facts.numbers.number_words import NUMBER_NAME, cardinal

_END = rf"(?:{NUMBER_NAME}|one|\d{{1,9}}(?:[.,]\d{{1,3}})?)"
_RANGE = re.compile(
    rf"(?<![\w.,-])(?:(?P<between>between) )?[$€£]?(?P<low>{_END})(?:\s?[–-]\s?|\s(?:to|or|bis|à|(?P<and>and))\s)[$€£]?(?P<high>{_END})(?![\w:])",
    re.IGNORECASE,
)
_CHANGE = re.compile(r"\b(?:from|by|von|um|de)\s[$€£]?(?:\d[\d.,]*\s)?$", re.IGNORECASE)
"""Words before a change: "from 3 to 5", "by 1 million to 5 million"."""
_DASHED = re.compile(r"(?<![\w.,:/–-])(\d{1,4}(?:\.\d{1,2})?)\s?[–-]\s?(\d{1,4}(?:\.\d{1,2})?)(?![\w:/–]|-\d|[.,]\d)")


def range_ends(text: str) -> frozenset[float]:
    """Return the ends of the ranges of a text; "from 3 to 5" may be a change and is none."""
    return frozenset(
        float(written.replace(",", ".")) if written[0].isdigit() else cardinal(written)
        for match in _RANGE.finditer(text)
        if bool(match["and"]) == bool(match["between"])
        and not _CHANGE.search(text[max(0, match.start() - 16) : match.start()])
        for written in (match["low"], match["high"])
    )


def spoken_ranges(text: str) -> str:
    """Return a text with "3 to 5" for "3–5", which a parser of sentences reads as one word or as part of the subject."""
    return _DASHED.sub(r"\1 to \2", text)
