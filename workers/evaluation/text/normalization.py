"""Write a text in one form, so that a figure or word cannot be hidden by the way it is written.

Claims and evidence are normalised alike and then compared. Each rule removes a difference that readers do not see or
do not care about: digits of other scripts and styles, joined and spaced words, invisible characters, mathematics in
dollars, sums, hexadecimal and Roman figures, base64, digits in place of letters. The text is for comparison only and never shown.
"""

import re
import unicodedata
from base64 import b64decode
from collections.abc import Callable

MAX_VALUE = 10**12
"""Calculated figures above this value stay as they are written."""

MIN_WORDS = 4
"""Minimum number of words that joined by one mark are read as a sentence; an identifier has fewer."""

_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff\ufe0e\ufe0f\u20e3]|(?<=[0-9A-Za-z])[\u200c\u200d](?=[0-9A-Za-z])")
_STYLED = re.compile(
    "[\uff01-\uff5e\U0001d400-\U0001d7ff\u2100-\u2149]+"  # full width, mathematical letters and digits
)
_NUMERAL = re.compile(
    "[\u2070\u00b9\u00b2\u00b3\u2074-\u2079\u2080-\u2089\u2460-\u249b\u24ea-\u24ff\u2776-\u2793\u3251-\u325f\u32b1-\u32bf]+"
)
_UNSPACED_FIGURE = re.compile("(?<=[\u3040-\u30ff\u3400-\u9fff])(?=[0-9])")
_MATHS = re.compile(r"\$(?=[\w\\])([^$\n]{0,80}?[\w)}%])\$(?!\d)|\\\(([^()\n]{1,80})\\\)")
_COMMAND = re.compile(r"\\(?:boxed|text(?:bf|it|rm)?|mathrm|mathbf|operatorname)\s?\{([^{}]*)\}")
_MATHS_SIGNS = re.compile(r"\\(?:[,;:! \[\]%$]|(?:times|cdot|approx|div|leq?|geq?)(?![A-Za-z]))|\{,\}")
_SIGNS = {
    "times": "×",
    "cdot": "×",
    "approx": "≈",
    "div": "÷",
    "le": "≤",
    "leq": "≤",
    "ge": "≥",
    "geq": "≥",
    "%": "%",
    "$": "$",
}
_WORD_OF_PARTS = re.compile(r"(?<![\w/.:@-])[^\W_]++([_.-])[^\W_]++(?:\1[^\W_]++){2,}+(?![\w/@-])")
_CAMEL = re.compile(r"(?<![^\W_])(?:[A-Z][a-z]++|[A-Z](?=[A-Z])|\d++){4,}+(?![^\W_])")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z\d])|(?<=\d)(?=[A-Z])")
_SPACED = re.compile(r"(?<!\w)[^\W\d_](?: [^\W\d_]){3,30}(?!\w)")
_HEXADECIMAL = re.compile(r"(?<!\w)0(?:x[0-9a-f]{1,8}|b[01]{1,32})(?!\w)", re.IGNORECASE)
_BASE64 = re.compile(r"(?<![\w+/])(?=[A-Za-z+/]{0,40}\d)[A-Za-z0-9+/]{8,400}={0,2}(?![\w+/])")
_DISGUISED = re.compile(r"(?<![^\W_])(?:[A-Za-z]++[013457](?=[a-z]))++[a-z]++(?![^\W_])")
_LETTERS = str.maketrans("013457", "oieast")
_MIXED = re.compile(r"(?<![\w.,])(\d{1,4}) ?([¼½¾⅓⅔⅛⅜⅝⅞])")
"""A number with a fraction behind it: "2½"."""
_LENGTH = re.compile(r" ?(?:mm|cm|m|km|in|inch|inches|ft|feet|px|pixels?)\b", re.IGNORECASE)
_SUM = re.compile(r"(?<![\w.,+×*/=−-])(?<!× )(\d{1,9}) ?([+×*·]|−|plus|times) ?(\d{1,9})(?![\w,^⁻⁺]|\.\d| ?[+×*·/=−-])")
_UNIT_NAMES = "(?:year|month|week|day|hour|minute|second|percent|metre|meter|euro|dollar)s?|monate?n?|jahre?n?|tage?n?|mois|ans?|meses|años?"
_ROMAN = re.compile(rf"\b(?=[IVXLC]{{2}})(XC|XL|L?X{{0,3}})(IX|IV|V?I{{0,3}})(?=[\s-](?i:{_UNIT_NAMES})\b)")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}


def normalised(text: str) -> str:
    """Return a text in the form in which it is compared."""
    return _ROMAN.sub(_arabic, _SUM.sub(_calculated, _in_plain_forms(text)))


def written_sums(text: str) -> dict[str, str]:
    """Return the sums, products and differences of a text by the value that stands for them in its normalised form."""
    sums = {_calculated(match): match[0] for match in _SUM.finditer(_in_plain_forms(text))}
    return {value: written for value, written in sums.items() if value != written}


def _in_plain_forms(text: str) -> str:
    """Return a text in the form in which it is compared, with its sums and Roman figures."""
    if not text.isascii():
        text = _INVISIBLE.sub("", text)
        text = _STYLED.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
        text = _MIXED.sub(lambda match: f"{int(match[1]) + unicodedata.numeric(match[2]):g}", text)
        text = _NUMERAL.sub(_plain_numeral, text)
        text = "".join(_ascii_digit(character) for character in text)
        text = _UNSPACED_FIGURE.sub(" ", text)
    if "\\" in text:
        text = _COMMAND.sub(r"\1", _COMMAND.sub(r"\1", text))
        text = _MATHS_SIGNS.sub(lambda match: "," if match[0] == "{,}" else _SIGNS.get(match[0][1:], " "), text)
    if "$" in text or "\\(" in text:
        text = _MATHS.sub(lambda match: match[1] or match[2], text)
    text = _WORD_OF_PARTS.sub(_parted, text)
    text = _CAMEL.sub(lambda match: _HUMP.sub(" ", match[0]), text)
    text = _SPACED.sub(_closed_up, text)
    if any(character.isdigit() for character in text):
        text = _BASE64.sub(_decoded, text)
        text = _DISGUISED.sub(lambda match: match[0].translate(_LETTERS), text)
        text = _HEXADECIMAL.sub(lambda match: str(int(match[0], 0)), text)
    return text


def _ascii_digit(character: str) -> str:
    return str(unicodedata.decimal(character)) if character > "\x7f" and character.isdecimal() else character


def _plain_numeral(match: re.Match[str]) -> str:
    """Return raised, lowered and circled numerals as digits; keep exponents and indices, which follow a word."""
    start, text = match.start(), match.string
    # The exponent of "10⁻³" follows its sign.
    if start and text[start - 2 : start].rstrip("⁻⁺")[-1:].isalnum():
        return match[0]
    values = [unicodedata.numeric(character) for character in match[0]]
    return "".join(f"{value:g}" for value in values)


def _decoded(match: re.Match[str]) -> str:
    """Return the text of a word in base64, if it is readable."""
    try:
        text = b64decode(match[0] + "=" * (-len(match[0]) % 4), validate=True).decode("ascii")
    except ValueError:
        return match[0]
    return text if text.isprintable() and " " in text else match[0]


def _parted(match: re.Match[str]) -> str:
    """Return the parts of a joined word; keep versions and addresses, which are mainly digits."""
    parts: list[str] = match[0].split(match[1])
    return " ".join(parts) if sum(part.isalpha() for part in parts) >= MIN_WORDS else match[0]


def _closed_up(match: re.Match[str]) -> str:
    return match[0].replace(" ", "")


def _calculated(match: re.Match[str]) -> str:
    """Return the value of a sum, product or difference, which a reader calculates as well; keep the sides of a thing."""
    if match[2] == "×" and _LENGTH.match(match.string, match.end()):
        return match[0]
    one, two = int(match[1]), int(match[3])
    results: dict[str, Callable[[int, int], int]] = {"+": int.__add__, "plus": int.__add__, "−": int.__sub__}
    value = results.get(match[2], int.__mul__)(one, two)
    return str(value) if 0 <= value <= MAX_VALUE else match[0]


def _arabic(match: re.Match[str]) -> str:
    values = [_ROMAN_VALUES[letter] for letter in match[0]]
    pairs = zip(values, [*values[1:], 0], strict=True)
    return str(sum(-value if value < following else value for value, following in pairs))
