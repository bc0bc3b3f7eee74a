"""Compare the noun that a figure is given to: "a deposit of 80 euros" beside a fee of 80 euros and a deposit of 120.

Only figures that a text ties to their noun are compared: "a deposit of 120 euros", "the deposit is 120 euros".
"""

import re
from collections.abc import Iterator, Sequence

from workers.evaluation.facts.quantities import undated_quantities
from workers.evaluation.text.languages.local_words import content_words
from workers.evaluation.text.prefilter import PrefilteredPattern

MAX_TEXT = 400
"""Longest claim and sentence that are read, code points."""

_TIE = PrefilteredPattern(
    r"(?P<noun>[^\W\d_][\w-]{2,40})\s(?:of|von|in\sHöhe\svon|de|d['’]|di|van|do|w\swysokości|is|are|was|were|amounts?\sto|totals?|costs?|beträgt|betragen|betrug|ist|liegt\sbei|kostet"
    r"|est\sde|s['’]élève\sà|s['’]élèvent\sà|es\sde|asciende\sa|cuesta|è\sdi|ammonta\sa|costa|é\sde|bedraagt|is|wynosi|составляет)\s(?:about\s|only\s|rund\s|etwa\s|nur\s)?(?P<figure>[€$£]?\d[\d.,]*(?:\s?[^\W\d_]+|\s?[€$£%])?)(?![^\W_]|\s(?:long|wide|deep|high|tall|thick|broad|across|away|lang|breit|tief|hoch|dick|entfernt)\b)",
    re.IGNORECASE,
)
_COMPARES = re.compile(
    r"\b(?:not|nicht|kein\w*|pas|no|non|não|niet|nie|than|als|que|plus|total|insgesamt|together|zusammen)\b",
    re.IGNORECASE,
)

_HEAD = re.compile(
    r"(?P<noun>[^\W\d_][\w-]{2,40})\s(?:of|for|in|on|von|der|des|für|de|du|pour|para|per|voor|van)\s(?:the\s|an?\s|la\s|le\s|les\s|den?m?\s|die\s|das\s|el\s|los\s|il\s)?$",
    re.IGNORECASE,
)

Figure = tuple[str, float]


def is_noun_kept(claim: str, sentences: Sequence[str], language: str) -> bool | None:
    """Return false if a claim gives a noun the figure of another noun, and the evidence gives it one of its own.

    Args:
        claim: the claim.
        sentences: the evidence.
        language: language of the claim, ISO 639-1.

    Returns:
        ``None`` if the claim ties no figure to a noun, or the evidence none to the same noun.
    """
    claim = claim[:MAX_TEXT]
    if _COMPARES.search(claim):
        return None
    stated = list(_tied(claim, language))
    told = [each for sentence in sentences for each in _tied(sentence[:MAX_TEXT], language)] if stated else []
    words = content_words(claim, language) if told else frozenset()
    for nouns, _, figure in stated:
        # "The peak power is 8 kW" has no other noun than "the peak power of the motor is 8 kW".
        if any(other == figure and names <= words for names, _, other in told):
            continue
        for noun in nouns:
            of_noun = {other for names, _, other in told if noun in names and other[0] == figure[0]}
            of_figure = frozenset[str]().union(*(around for _, around, other in told if other == figure))
            if of_noun and figure not in of_noun and of_figure and noun not in of_figure:
                return False
    return None


def _tied(text: str, language: str) -> Iterator[tuple[frozenset[str], frozenset[str], Figure]]:
    """Yield the nouns that a figure of a text belongs to, and all words between the figure before and this one."""
    end = 0
    for match in _TIE.finditer(text):
        noun, quantities = content_words(match["noun"], language), undated_quantities(match["figure"])
        if not noun or len(quantities) != 1 or not quantities[0].is_unit:
            continue
        # "The rent of the garage is 80 euros" is a figure of the rent, too.
        head = _HEAD.search(text[: match.start()])
        further = content_words(head["noun"], language) if head else frozenset()
        around = content_words(text[end : match.end("figure")], language)
        end = match.end("figure")
        yield noun | further, around, (quantities[0].dimension, quantities[0].values[0])
