"""English names of months and days, into which those of other languages are written."""

import re

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
"""In lower case, since a capital would be read as that of a name."""
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_RANGE = re.compile(
    rf"\b({'|'.join(DAYS)})\s{{0,2}}(?:[–—~〜～-]|bis(?:\szum)?|au|a|al?|alla|à|do|по|до|t/m|tot(?:\sen\smet)?|から|至|到|부터|حتى|إلى)"
    rf"\s{{0,2}}({'|'.join(DAYS)})\b"
)


def spell_out_days(text: str) -> str:
    """Return a text that names each day of a range: "monday bis wednesday" has three."""
    return _RANGE.sub(_days, text)


def _days(match: re.Match[str]) -> str:
    first, last = DAYS.index(match[1]), DAYS.index(match[2])
    count = (last - first) % len(DAYS) + 1
    return ", ".join(DAYS[(first + step) % len(DAYS)] for step in range(count))
