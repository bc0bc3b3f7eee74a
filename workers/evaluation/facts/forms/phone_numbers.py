"""Write phone numbers as identifiers, so that one is compared by its digits: "+49 (30) 1234567", "030-1234567"."""

import re

KEPT = 8
"""Last digits that are compared; those before them are a prefix of the country or area that not everyone writes."""
_PHONE = re.compile(
    r"(?<![\w.,/-])(?:\+\d{1,3}[ .-]?)?(?:\(\d{1,5}\)[ .-]?)?\d{2,12}(?:[ .-]\d{2,9}){0,4}(?![\w/]|[.,-]\d)"
)
_CALLED = re.compile(
    r"\b(?:call|dial|phone|tel|telephone|hotline|fax|mobile|whatsapp|reach|Telefon|Telefonnummer|Hotline|anrufen|téléphone|appelez)"
    r"\b[^.;!?\d]{0,30}$",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}\.\d{1,2}\.\d{4}|\d{1,3}(?: \d{3})+")
_ANY = re.compile(r"[\d)][ .-]?\d{3}")


def plain_phones(text: str) -> str:
    """Return a text with its phone numbers as "tel-" with their last digits.

    Seven to fifteen digits are a phone number behind a word for calls, with a plus, or with an area code in brackets.
    """
    return _PHONE.sub(_identifier, text) if _ANY.search(text) else text


def _identifier(match: re.Match[str]) -> str:
    digits = re.sub(r"\D", "", match[0])
    before = match.string[max(0, match.start() - 45) : match.start()]
    is_marked = match[0][0] in "+(" or bool(_CALLED.search(before))
    if not is_marked or not 7 <= len(digits) <= 15 or (match[0][0] not in "+(" and _DATE.fullmatch(match[0])):
        return match[0]
    return f"tel-{digits[-KEPT:]}"
