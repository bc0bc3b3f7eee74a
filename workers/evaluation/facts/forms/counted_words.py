"""Write small counts, fractions and shares in one form: "half a dozen", "a couple of weeks", "1 1/2 cups", "1.5 Mio."."""

import re

from workers.evaluation.facts.numbers.number_words import cardinal
from workers.evaluation.facts.numbers.parts import RATIO
from workers.evaluation.facts.units import NUMBER_WORDS, ORDINALS, UNITS
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import key_of

_HALF_DOZEN = re.compile(r"\b(?:half a|a half) dozen\b|\bein halbes Dutzend\b", re.IGNORECASE)
_DOZEN = PrefilteredPattern(r"\ba dozen\b|\bein Dutzend\b", re.IGNORECASE)
_COUPLE = PrefilteredPattern(r"\ba couple(?: of)? ([^\W\d_]{2,12})\b", re.IGNORECASE)
_FRACTION = PrefilteredPattern(r"(?<![\w./,:-])(?:(\d{1,3})[ -])?([1-7])/([2-8])(?= ([^\W\d_]{1,12})\b)")
_BELOW = PrefilteredPattern(
    r"(\d{1,3}(?:[.,]\d)?\s?(?:°\s?[CF]?|degrees(?: (?:Celsius|Fahrenheit))?|Grad))\s(?:below(?: (?:zero|freezing))|unter Null|minus)\b",
    re.IGNORECASE,
)
_CURRENCY_OF = PrefilteredPattern(
    r"(?<=\d )(?:Swiss|Danish|Norwegian|Swedish|Icelandic|Czech|Polish|Hungarian|Turkish|British|Indian|Japanese|Chinese|Mexican|Brazilian|Thai|Israeli"
    r"|South African|US|U\.S\.|American|Schweizer|dänische|norwegische|schwedische|tschechische|polnische)\s"
    r"(?=(?:francs?|Franken|kron\w+|korun\w*|zloty\w*|złoty\w*|forints?|rupees?|yen|yuan|pesos?|liras?|rand|reais|dollars?|baht|shekels?)\b)",
    re.IGNORECASE,
)
"""The country of a currency between a number and its unit: "95 Danish kroner"."""
_IN_BRACKETS = PrefilteredPattern(
    r"(?<=\s)\(([$€£]?\d{1,3}(?:,\d{3})+(?:\.\d\d)?)\)(?=\s(?:euros?|dollars?|EUR|USD|GBP|pounds))", re.IGNORECASE
)
_PART_OF_POINT = PrefilteredPattern(
    r"\b(half|a half|a quarter|three quarters) (?:of )?a (?=percent(?:age)?[ -]point\b)", re.IGNORECASE
)
_PART_OF_UNIT = PrefilteredPattern(
    r"\b(half|a half|a quarter|three quarters|one quarter|a third|one third|two thirds) of an? ([^\W\d_]{2,12})\b",
    re.IGNORECASE,
)
_PARTS = {"half": "0.5", "a half": "0.5", "a quarter": "0.25", "three quarters": "0.75", "one quarter": "0.25"}
_PARTS |= {"a third": "0.333333", "one third": "0.333333", "two thirds": "0.666667"}
_NUMBER = "(" + "|".join(sorted((*NUMBER_WORDS, "one"), key=len, reverse=True)) + r"|\d{1,3})"
_CONTEST = (
    r"(?P<lead>\b(?:ratio|odds|proportions?|won|wins?|beat|lost|loses?|defeated|scores?|scored|victory|defeat|drew|draw|vote[ds]?|voted|Verhältnis|gewann|siegte|verlor)"
    r"\b[^.;:!?\d]{0,50}?[ (])"
)
_RATIO = PrefilteredPattern(
    rf"{_CONTEST}(?<!at )(?<!by )(?<!around ){_NUMBER}(?:\s?[:–-]\s?| to | zu ){_NUMBER}(?![\w:-]|[.,]\d|\s?(?:%|percent|[ap]\.?m\b|(?:points?|goals?|games?|days?|years?|million|billion|euros?|dollars?|Uhr)\b))",
    re.IGNORECASE,
)
_COLON = PrefilteredPattern(r"(?<![\w.,:-])(\d{1,3}):(\d)(?![\w:]|[.,-]\d)")
_SCALE = PrefilteredPattern(
    r"(?<![\w.,:-])1\s?:\s?(\d{1,3}(?:[.,'’\u00a0\u202f ]\d{3}){1,2}|\d{3,7})(?![\w:]|[.,]\d)"
    r"|(?i:\b(?:scale|Maßstab|échelle|escala|scala|schaal)(?: \w+)?) 1\s?:\s?(\d{1,2})(?![\w:]|[.,\u00a0\u202f ]\d)"
)
"""A scale of a map, or a dilution: "1:25,000"."""
_CENTS = PrefilteredPattern(
    rf"(?<![\w.,]){_NUMBER[:-1]}(?:[.,]\d{{1,2}})?)\s?(?:cents?|centimes?|centesim[oi]|céntimos?|cêntimos?)\b",
    re.IGNORECASE,
)
"""An amount in cents; the word is no unit of its own, since "center" has the same stem."""
_RANK_NOUNS = (
    "(?:floor|place|edition|round|grade|anniversary|birthday|generation|position|rank|lane|level|stage|attempt|term"
    "|chapter|season|episode|symphony|amendment|president|of (?:January|February|March|April|May|June|July|August|September|October|November|December))"
)
_ORDINAL = PrefilteredPattern(
    rf"\b(?:(?P<word>{'|'.join(sorted(ORDINALS, key=len, reverse=True))})(?=[ -]{_RANK_NOUNS}\b)"
    rf"|(?P<verb>\b(?:finish(?:ed|es)|came|comes|ranks|ranked|placed|is|was) )(?P<alone>{'|'.join(sorted(ORDINALS, key=len, reverse=True))})(?=[.,;]|$| (?:in|of|among|behind|at)\b))",
    re.IGNORECASE,
)


def plain_counts(text: str) -> str:
    """Return a text with its small counts and fractions in digits."""
    text = _DOZEN.sub("12", _HALF_DOZEN.sub("6", text))
    text = _COUPLE.sub(lambda match: f"about 2 {match[1]}" if key_of(match[1]) in UNITS else match[0], text)
    text = _FRACTION.sub(_decimal, text)
    text = _PART_OF_UNIT.sub(
        lambda match: f"{_PARTS[key_of(match[1])]} {match[2]}" if key_of(match[2]) in UNITS else match[0], text
    )
    text = _PART_OF_POINT.sub(lambda match: f"{_PARTS[key_of(match[1])]} ", text)
    text = _CURRENCY_OF.sub("", text)
    text = _IN_BRACKETS.sub(r"-\1", text)
    text = _BELOW.sub(r"-\1", text)
    text = _RATIO.sub(lambda match: f"{match['lead']}{cardinal(match[2]):g}{RATIO}{cardinal(match[3]):g}", text)
    text = _CENTS.sub(lambda match: f"{_in_digits(match[1])} ¢", text)
    text = _SCALE.sub(_scaled, text)
    text = _COLON.sub(rf"\1{RATIO}\2", text)
    return _ORDINAL.sub(_numbered, text)


def _in_digits(number: str) -> str:
    return number if number[0].isdigit() else f"{cardinal(number):g}"


def _scaled(match: re.Match[str]) -> str:
    lead = "" if match[1] else match[0][: match[0].rindex("1", 0, match[0].rindex(":"))]
    return f"{lead}1{RATIO}{re.sub(r'[^0-9]', '', match[1] or match[2])}"


def _numbered(match: re.Match[str]) -> str:
    number = ORDINALS[key_of(match["word"] or match["alone"])]
    ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{match['verb'] or ''}{number}{ending}"


def _decimal(match: re.Match[str]) -> str:
    top, bottom = int(match[2]), int(match[3])
    if top >= bottom or key_of(match[4]) not in UNITS:
        return match[0]
    return f"{int(match[1] or 0) + top / bottom:g}"
