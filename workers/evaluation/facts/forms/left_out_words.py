"""Restore the words that a later clause leaves out because an earlier one has them.

"The red line runs every ten minutes, the blue one every fifteen" leaves out the line and the minutes of the second
clause (gapping; Quirk et al., A Comprehensive Grammar of the English Language, 13.92). With them each clause has its own
subject and value. Claims and evidence are written alike and then compared; the text is never shown.
"""

import re
from decimal import Decimal

from workers.evaluation.facts.calculation.time_spans import YEAR
from workers.evaluation.facts.forms.left_out_predicates import restore_predicates
from workers.evaluation.facts.forms.left_out_verbs import restore_left_out_verbs
from workers.evaluation.facts.forms.written_shares import write_shares
from workers.evaluation.facts.numbers.number_words import NUMBER_NAME
from workers.evaluation.facts.series import SERIES_NAMES
from workers.evaluation.facts.units import SCALES, UNITS
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import key_of, word_set

MAX_CLAUSES = 8
"""Most clauses of a text whose words are restored."""
MAX_LATER = 80
"""Longest sentence that is read with the one before, code points."""

_NUMBER = rf"(?:\d{{1,6}}(?:[.,]\d{{1,3}})?|(?:one|{NUMBER_NAME}(?:-{NUMBER_NAME})?)\sand\sa\shalf|{NUMBER_NAME}(?:-{NUMBER_NAME})?)"
_CUT = r"(?:[,;]\s(?:(?:and|but|und|et|y|e|en|i)\s)?|\s(?:and|while|whereas|but|und|et)\s)"
"""Text between two clauses of a sentence."""
_END = r"(?!\s(?:and|or)\s(?:over|above|older|under|below|younger|more|less|up)\b)(?=\s*(?:[.;!?]?$|[.;!?]\s(?!\d)|,\s|(?:and|while|whereas|but|und|et)\s))"
"""The end of a clause; "65 and over" ends none."""
_BARE = PrefilteredPattern(rf"\s{_NUMBER}{_END}", re.IGNORECASE)
"""A number at the end of a clause, without a unit."""
_OF = r"\s(?:of|von|de|di|van)\s"
_MEASURED = rf"(?<![\w.,:/-])(?P<symbol>[$€£])?{_NUMBER}(?P<unit>\s?[^\W\d_]{{1,12}}|\s?[%€$£]|(?<=\d))"
_UNIT_LEFT_OUT = PrefilteredPattern(
    rf"{_MEASURED}(?P<of>{_OF}[^\W\d_]+)?(?:\s(?:[^\W\d_]+|\d{{4}})){{0,4}}(?:{_CUT}|(?P<stop>\.\s))"
    rf"(?P<who>(?:(?:[^\W\d_][\w'’-]*,?|\d{{1,2}}\.|\d{{4}},?)\s){{1,6}})(?P<number>{_NUMBER}){_END}",
    re.IGNORECASE,
)
"""A number with its unit, and a number at the end of the next clause: "takes 40 minutes, the second 25"."""
_UNIT_OF_SECOND = PrefilteredPattern(rf"{_MEASURED}{_OF}[^\W\d_]+{_CUT}(?P<number>{_NUMBER})(?={_OF})", re.IGNORECASE)
"""Numbers of two things: "300 g of flour and 150 of sugar"."""
_THE = "(?:the|der|die|das|de[nmr]?|l[ae]|el|il|o|het)"
_ORDINAL = (
    "(?:first|second|third|fourth|fifth|last|next|other|former|latter|zweiten?|dritten?|vierten?|letzten?|anderen?|deuxième|troisième|dernière?"
    r"|autre|segund[oa]|tercer[oa]?|últim[oa]|otr[oa]|second[oa]|terz[oa]|altr[oa]|terceir[oa]|outr[oa]|tweede|derde|laatste|\d{1,2}\.)"
)
"""Ordinals and "other"; German ones are written in digits before: "der 2."."""
_PREPOSITION = "(?:every|only|about|around|for|over|at|in|on|from|to|up|um|im|seit|nur|etwa|en|à|a|alle)"
_VERB = "(?:is|was|are|were|has|had|takes?|took|costs?|lasts?|needs?|weighs?|ist|war|hat|dauert|kostet)"
_NOUN_LEFT_OUT = PrefilteredPattern(
    rf"(?P<before>(?:^|[.;,:]\s|\bto\s)(?:(?:an?|{_THE})\s[\w-]+|one)\s(?P<noun>[^\W\d_][\w-]+)\s(?:[^.;!?]|(?<=\d)\.(?=\d)){{0,80}}?(?:{_CUT}|\.\s)(?:an?|{_THE})\s)"
    rf"(?P<which>{_ORDINAL}(?:\sone(?!\sand\sa\shalf))?|[\w-]+\sone)"
    rf"(?=,?\s(?:{_PREPOSITION}\s){{0,2}}{_NUMBER}(?!\w)|\s{_VERB}\s(?:{_PREPOSITION}\s)?{_NUMBER}(?:\s?[^\W\d_]{{1,12}}|\s?[%€])?\W*$)",
    re.IGNORECASE,
)
"""A subject with an adjective, and one of another kind without its noun: "the red line …, the blue one every fifteen"."""
_REFERRED = PrefilteredPattern(
    rf"(?P<before>(?:^|[.;:]\s)(?:the\s)?(?:[\w-]+\s){{0,2}}(?P<noun>[^\W\d_][\w-]+)\s(?P<link>of|for|in|from|on|at)\s(?:[^.;!?]|(?<=\w)\.(?=\w)){{1,80}}?{_CUT})"
    r"(?:those|that|the\sones?)\s(?=(?P=link)\s)",
    re.IGNORECASE,
)
"""A noun, and a pronoun for it before the same preposition: "logs of staging take 3 GB, those of production 5 GB"."""
_ONE = re.compile(r"\sone$", re.IGNORECASE)
_LABELS = SERIES_NAMES | word_set(
    "page pages step chapter section sections figure table hall passage seite kapitel halle sala"
)
"""Nouns whose number is a name where they have no article: "ends in hall 3", not "a child ticket 7"."""
_BEFORE_OTHERS = word_set("number no at until till since um ab nummer número numéro der die das den dem")
"""Words before a number that has no unit: "departures are at 10", "der 2. Teil"."""
_COPULAS = word_set("is are was were has have had ist sind war waren hat haben est sont es son è sono")
"""Verbs that tell of any number: "the trip takes 3 hours, the group is 12"."""
_ARTICLE = re.compile(r"\b(?:an?|the|eine?[mnr]?|der|die|das|une?|l[ae]|una?|el|il|uma?|een|het|de)\s", re.IGNORECASE)
_BEFORE_YEARS = word_set("in of by from since year im von jahr en de año dal anno année ano")
"""Words before a year: "the return in 1998", not "a house 1800"."""

_GOES_ON = re.compile(
    r"\b(?:it|they)\s(?:(?:has|have|had|then|later)\s){0,2}(?:rose|risen|fell|fallen|grew|grown|increased|decreased|declined|dropped"
    r"|climbed|jumped|sank|shrank|shrunk|went (?:up|down)|reached|was|were|came) (?:to |at )?(?:only |just |about |around )?$",
    re.IGNORECASE,
)
"""Words after which a number is a later value of what was measured before: "In 2019 it rose to 5.1"."""

_AMOUNT = r"(?P<symbol>[$€£])?(?P<amount>\d{1,6}(?:\.\d{1,2})?)(?P<unit>\s?(?:euros?|dollars?|pounds?|francs?|cents?|yen|[€$£]|EUR|USD|GBP|CHF)(?!\w))?"
_SHARE_OF_PRICE = PrefilteredPattern(
    rf"(?<![\w.,]){_AMOUNT}(?P<per>\s(?:a|an|per)\s[^\W\d_]+)?(?P<between>[^!?\d]{{1,80}}?)"
    r"(?P<share>\b(?:pays?|costs?|is|are|at|for)\s(?:only\s|just\s)?(?P<factor>half|double|twice)(?:\s(?:price|that|it|as much|(?:of )?that (?:amount|price)|the (?:price|fee|fare|amount|rate)))?)"
    r"(?=\s*(?:[.;,!]|$)|\s(?:and|but|while)\s)",
    re.IGNORECASE,
)
"""A price, and who pays half or double of it."""
_FACTORS = {"half": Decimal("0.5"), "double": Decimal(2), "twice": Decimal(2)}

_FIRST_WORD = re.compile(r"\s[^\W\d_]+")
_ASKED_UNIT = PrefilteredPattern(
    r"\b(?:how many|wie viele?|combien d[e'’]|cuánt[oa]s|quant[eio]s?|hoeveel|ile)\s?(?P<unit>[^\W\d_]{3,})",
    re.IGNORECASE,
)
_NUMBER_ALONE = re.compile(rf"\W*(?:(?:only|just|about|around|exactly)\s)?{_NUMBER}[.!]?", re.IGNORECASE)


def with_asked_unit(query: str, reply: str) -> str:
    """Return a number alone with the unit that its question asks for: "One and a half." to "How many hours …?"."""
    asked = _ASKED_UNIT.search(query)
    if not asked or key_of(asked["unit"]) not in UNITS or not _NUMBER_ALONE.fullmatch(reply.strip()):
        return reply
    return f"{reply.strip().rstrip('.!')} {asked['unit']}."


def restore_left_out(text: str, before: str = "") -> str:
    """Return a sentence whose clauses have the nouns and units that they share with the clause before.

    Args:
        text: plain text of the sentence.
        before: the sentence before in the same source, restored; empty if there is none.
    """
    if before and len(text) <= MAX_LATER and _BARE.search(text):
        whole = restore_left_out(f"{before} {text}")
        if whole.startswith(f"{before} "):
            return whole.removeprefix(f"{before} ")
    text = write_shares(text)
    whole = _SHARE_OF_PRICE.sub(_with_amount, restore_left_out_verbs(f"{before} {text}" if before else text))
    text = whole.removeprefix(f"{before} ") if whole.startswith(before) else text
    text = _REFERRED.sub(r"\g<before>\g<noun> ", text)
    for _ in range(MAX_CLAUSES):
        restored = _UNIT_OF_SECOND.sub(_measured, _UNIT_LEFT_OUT.sub(_with_unit, _NOUN_LEFT_OUT.sub(_with_noun, text)))
        if restored == text:
            break
        text = restored
    return restore_predicates(text)


def _with_unit(match: re.Match[str]) -> str:
    last = key_of(match["who"].split()[-1])
    is_label = last in _BEFORE_OTHERS or (last in _LABELS and not _ARTICLE.search(match["who"]))
    is_year = YEAR.fullmatch(match["number"]) and (last in _BEFORE_YEARS or YEAR.search(match["who"]))
    # "takes 40 minutes. The second takes 25": another verb tells of another kind of number.
    goes_on = bool(_GOES_ON.search(match["who"]))
    other_verb = (match["stop"] or last in _COPULAS) and last not in _words_before(match) and not goes_on
    if is_label or is_year or other_verb:
        return match[0]
    if goes_on and key_of((match["unit"] or "").strip()) in SCALES:
        following = _FIRST_WORD.match(match.string, match.end("unit"))
        unit = following[0] if following and key_of(following[0].strip()) in UNITS else ""
        return f"{match[0]}{match['unit']}{unit}"
    measured = _measured(match)
    return measured + (match["of"] or "") if measured != match[0] else measured


def _words_before(match: re.Match[str]) -> set[str]:
    return set(map(key_of, match.string[: match.start("who")].split()))


def _measured(match: re.Match[str]) -> str:
    number, symbol, unit = match["number"], match["symbol"], match["unit"]
    if symbol and not number[0].isdigit():
        return match[0]
    if symbol:
        return f"{match[0].removesuffix(number)}{symbol}{number}"
    return f"{match[0]}{unit}" if key_of(unit.strip()) in UNITS else match[0]


def _with_amount(match: re.Match[str]) -> str:
    """Return who pays half a price together with the amount: "students pay half (15 euros a year)"."""
    symbol, unit = match["symbol"] or "", match["unit"] or ""
    if not (symbol or unit):
        return match[0]
    amount = Decimal(match["amount"]) * _FACTORS[match["factor"].lower()]
    return f"{match[0]} ({symbol}{amount.normalize():f}{unit}{match['per'] or ''})"


def _with_noun(match: re.Match[str]) -> str:
    return f"{match['before']}{_ONE.sub('', match['which'])} {match['noun']}"
