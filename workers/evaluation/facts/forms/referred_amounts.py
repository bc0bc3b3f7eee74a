"""Write out amounts that a sentence refers to: "anything above that amount" after "up to $5,000" is "above $5,000"."""

import re
from collections.abc import Iterable, Iterator

from workers.evaluation.facts.text_details import read_details
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import content_words

MAX_TEXT = 400
"""Longest sentence that is read, code points."""

_REFERRED = PrefilteredPattern(
    r"\b(?P<side>above|over|beyond|exceed(?:s|ing)?|more than|higher than|older than|heavier than|below|under|less than|up to)\s(?:that|this|the same)"
    r"(?:\s(?:amount|sum|limit|figure|value|threshold|number|level|price|age|weight|size)\b|(?=\s(?:needs?|requires?|must|is|are|has|have)\b))",
    re.IGNORECASE,
)


def referred_amounts(claim: str, pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield sentences with the amount that they refer to, if they share a further word with a claim.

    Args:
        claim: plain text of the claim.
        pairs: sentences, each with the sentence before it or an empty text.
    """
    for text, before in pairs:
        match = _REFERRED.search(text[:MAX_TEXT]) if before else None
        if match and not content_words(f"{text[: match.start()]} {text[match.end() :]}") & content_words(claim):
            continue
        known = read_details(before[:MAX_TEXT]).quantities if match else ()
        if match and known:
            yield f"{text[: match.start()]}{match['side']} {known[-1].written}{text[match.end() :]}"
