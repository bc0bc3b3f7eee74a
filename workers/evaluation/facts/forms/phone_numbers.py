"""Write phone numbers and numbers of books as identifiers, so that one is compared by its digits.

Phone numbers: "+49 (30) 1234567", "030-1234567". Numbers of books: "ISBN 978-3-16-148410-0", "3-16-148410-0".
"""

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
_GROUPED = re.compile(r"(?<![\w.,/-])\d{1,7}(?:-\d{1,7}){2,5}(?:-[\dX])?(?![\w/-]|[.,]\d)")
_BOOK = re.compile(r"\b(ISBN(?:-1[03])?[^\d\n]{0,12})(\d[\d -]{8,16}[\dXx])(?![\w-])")
KEPT_GROUPED = 9
"""Digits of a grouped number that are compared: the core of an ISBN, which has ten digits or thirteen."""
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}\.\d{1,2}\.\d{4}|\d{1,3}(?: \d{3})+")
_ANY = re.compile(r"[\d)][ .-]?\d{3}|\d-\d{1,7}-\d")


def plain_phones(text: str) -> str:
    """Return a text with its phone numbers as "tel-" with their last digits, and grouped numbers as "id-".

    Seven to fifteen digits are a phone number behind a word for calls, with a plus, or with an area code in brackets;
    also groups that begin with 0 and are all of a text.
    Nine digits or more in three groups with hyphens are an identifier, as is the number behind "ISBN".
    """
    if not _ANY.search(text):
        return text
    text = _BOOK.sub(lambda match: f"{match[1]}{_core(match[2])}", _PHONE.sub(_identifier, text))
    return _GROUPED.sub(_grouped, text)


def _grouped(match: re.Match[str]) -> str:
    digits = re.sub(r"\D", "", match[0])
    return _core(match[0]) if len(digits) >= KEPT_GROUPED and not _DATE.fullmatch(match[0]) else match[0]


def _core(written: str) -> str:
    digits = re.sub(r"\D", "", written)
    check = digits[-1] if written[-1].isdigit() else ""
    return f"id-{digits[: len(digits) - len(check)][-KEPT_GROUPED:]}"


def _identifier(match: re.Match[str]) -> str:
    digits = re.sub(r"\D", "", match[0])
    before = match.string[max(0, match.start() - 45) : match.start()]
    is_alone = match[0] == match.string.strip() and match[0][0] == "0" and not match[0].isdecimal()
    is_marked = match[0][0] in "+(" or is_alone or bool(_CALLED.search(before))
    if not is_marked or not 7 <= len(digits) <= 15 or (match[0][0] not in "+(" and _DATE.fullmatch(match[0])):
        return match[0]
    return f"tel-{digits[-KEPT:]}"
