"""Read what is free or included and what costs extra: "Is parking free?" over "Parking costs 3 euros per hour"."""

import re
from collections.abc import Sequence

from workers.evaluation.text.words import content_words, stem, word_set

MAX_TEXT = 300
"""Longest statement and question that is read, code points."""

_PRICE = r"(?:[$€£¥]\s?\d|\d[\d.,]*\s?(?:[$€£¥]|(?:euros?|dollars?|pounds?|francs?|yen|cents?|eur|usd|gbp|chf)\b))"
_PAYER = "(?:customer|buyer|client|guest|tenant|traveller|user|purchaser|recipient|sender|passenger|patient)s?"
_FREE = re.compile(
    r"(?<![-\w])(?:free(?! (?:to|from|time|range|will)\b)(?!-)|complimentary|gratis|inclusive|included|(?<=price )includes|(?<=rate )includes|(?<=fare )includes"
    r"|(?:at )?no (?:extra |additional |further )?(?:charge|cost|fee)s?|without (?:extra |additional |any )?(?:charge|cost))\b",
    re.IGNORECASE,
)
_NOT_FREE = re.compile(
    r"\b(?:not|n['’]t|never|nor)\s(?:\w+ ){0,2}?(?:free|complimentary|included?|inclusive)\b|\bexclud(?:es?|ed|ing)\b",
    re.IGNORECASE,
)
_CHARGED = re.compile(
    rf"{_PRICE}|\b(?:costs? extra|extra|surcharge|supplement|for (?:a|an extra|an additional) (?:fee|charge)|fees? appl(?:y|ies)|payable"
    rf"|(?:costs?|fees?|charges?|postage)\b[^.;]{{0,40}}? (?:borne|paid|covered|met) by the {_PAYER}|at (?:the )?{_PAYER}['’]s? (?:own )?expense|at your (?:own )?expense"
    r"|(?:is|are) (?:added|charged|billed|invoiced)|(?:be|is|are) (?:hired|rented)|sold separately|charged separately)\b",
    re.IGNORECASE,
)
_ASKS_CHARGE = re.compile(
    r"\b(?:pay (?:\w+ ){0,2}?for|pay extra|cost extra|costs? (?:any|some)thing|(?:a|any) (?:extra )?(?:charge|fee|cost|surcharge) for|charged? for)\b",
    re.IGNORECASE,
)
_LIMITED = re.compile(
    r"(?<!all )(?<!every )\b(?:only|except|if|when|unless|until|after|before|over|under|above|below|from|first|up to|during|members?|weekends?|weekdays?|\w+days?|residents?"
    r"|children|students?|pensioners?|seniors?|guests?)\b",
    re.IGNORECASE,
)
"""Words of a condition, under which a question without the same words is not answered."""
_BY_PAYER = re.compile(rf"\bby (?:the |each |every )?{_PAYER}\b", re.IGNORECASE)
"""Payers, which are no condition: "payable by guests"."""
_INCLUDING = re.compile(r"^.*\binclude\s", re.IGNORECASE)
_PIECE = re.compile(r";\s|,?\s(?:but|while|whereas|and)\s|,\s")
_POLAR = re.compile(r"\W*(?:is|are|was|were|do|does|did|can|could|will|would|must|have|has)\s", re.IGNORECASE)
_UNTOLD = frozenset(
    map(
        stem,
        word_set(
            "price prices rate rates cost costs charge charges charged fee fees free included include includes extra pay paid"
            " complimentary inclusive ticket total booking stay additional guest guests visitor visitors customer customers"
            " people you we i one use"
        ),
    )
)


def answer_by_charge(question: str, sentences: Sequence[str]) -> bool | None:
    """Return the answer to whether something is free, included or charged; ``None`` if the evidence gives none.

    Args:
        question: a question for yes or no.
        sentences: the evidence.
    """
    opening = _POLAR.match(question)
    if opening is None or len(question) > MAX_TEXT:
        return None
    return _agrees(question[opening.end() :], sentences)


def is_charged_rightly(claim: str, sentences: Sequence[str]) -> bool | None:
    """Return whether the evidence bears out that something is free, included or charged; ``None`` if it does not tell."""
    if len(claim) > MAX_TEXT or _LIMITED.search(claim):
        return None
    return _agrees(claim, sentences)


def _agrees(statement: str, sentences: Sequence[str]) -> bool | None:
    is_free = False if _ASKS_CHARGE.search(statement) else bool(_INCLUDING.search(statement)) or _is_free(statement)
    # Of "Does the tour include lunch?" the lunch is the matter.
    matter = content_words(_INCLUDING.sub("", statement)) - _UNTOLD
    if is_free is None or not matter:
        return None
    limits = content_words(" ".join(_LIMITED.findall(statement)))
    found = set()
    for sentence in sentences:
        pieces = [piece for piece in _PIECE.split(sentence[:MAX_TEXT]) if matter <= content_words(piece)]
        for piece in pieces or ([sentence] if matter <= content_words(sentence[:MAX_TEXT]) else []):
            says = _is_free(piece)
            if (
                says is not None
                and content_words(" ".join(_LIMITED.findall(_BY_PAYER.sub(" ", sentence)))) <= limits | matter
            ):
                found.add(says)
    return found.pop() is is_free if len(found) == 1 else None


def _is_free(text: str) -> bool | None:
    """Return whether a text says free or charged; ``None`` for neither or both."""
    if _NOT_FREE.search(text):
        return False
    free, charged = bool(_FREE.search(text)), bool(_CHARGED.search(_FREE.sub(" ", text)))
    return None if free == charged else free
