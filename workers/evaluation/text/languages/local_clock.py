"""Write times of day in words of other languages with digits: "las diez menos cuarto", "kwart voor tien", "без четверти десять".

German is read with English (``facts/forms/clock_words``). A time that names no half of the day has "o'clock": it may be
9:45 or 21:45.
"""

import re
from collections.abc import Mapping
from functools import cache

_HOURS: Mapping[str, str] = {
    "es": "una dos tres cuatro cinco seis siete ocho nueve diez once doce",
    "fr": "une deux trois quatre cinq six sept huit neuf dix onze douze",
    "pt": "uma duas três quatro cinco seis sete oito nove dez onze doze",
    "it": "una due tre quattro cinque sei sette otto nove dieci undici dodici",
    "nl": "een twee drie vier vijf zes zeven acht negen tien elf twaalf",
    "pl": r"pierwsz(?:a|ej|ą) drug(?:a|iej|ą) trzeci(?:a|ej|ą) czwart(?:a|ej|ą) piąt(?:a|ej|ą) szóst(?:a|ej|ą) siódm(?:a|ej|ą) "
    r"ósm(?:a|ej|ą) dziewiąt(?:a|ej|ą) dziesiąt(?:a|ej|ą) jedenast(?:a|ej|ą) dwunast(?:a|ej|ą)",
    "ru": r"час|перв(?:ого|ый) два|второго три|третьего четыре|четв[её]ртого пять|пятого шесть|шестого семь|седьмого "
    r"восемь|восьмого девять|девятого десять|десятого одиннадцать|одиннадцатого двенадцать|двенадцатого",
    "ar": "الواحدة الثانية الثالثة الرابعة الخامسة السادسة السابعة الثامنة التاسعة العاشرة الحادية\\sعشرة الثانية\\sعشرة",
    "zh": "一|1 [两二]|2 三|3 四|4 五|5 六|6 七|7 八|8 九|9 十|10 十一|11 十二|12",
}
_MINUTES: Mapping[str, Mapping[int, str]] = {
    "es": {15: "cuarto", 30: "media", 5: "cinco", 10: "diez", 20: "veinte", 25: "veinticinco"},
    "fr": {15: "le quart|quart", 30: "demie?", 5: "cinq", 10: "dix", 20: "vingt", 25: "vingt-cinq"},
    "pt": {15: "um quarto|quarto|quinze", 30: "meia", 5: "cinco", 10: "dez", 20: "vinte", 25: "vinte e cinco"},
    "it": {15: "un quarto", 30: "mezz[ao]", 5: "cinque", 10: "dieci", 20: "venti", 25: "venticinque"},
    "nl": {15: "kwart", 5: "vijf", 10: "tien", 20: "twintig"},
    "pl": {15: "piętnaście|kwadrans", 5: "pięć", 10: "dziesięć", 20: "dwadzieścia"},
    "ru": {15: "четверти|четверть|пятнадцать минут", 30: "половин[аеу]", 5: "пяти", 10: "десяти", 20: "двадцати"},
    "ar": {15: "ربعا?ً?|الربع", 30: "النصف", 10: "عشر دقائق", 5: "خمس دقائق", 20: "الثلث|ثلثا?ً?"},
    "zh": {15: "一刻", 45: "三刻"},
}
_RUSSIAN_END = r"(?=[.,;!?)]|$| (?:утра|вечера|дня|ночи|и|до|по|в) )"
"""Words and signs that may follow "половина первого": "половина первого тайма" is no time of day."""
_FORMS: Mapping[str, tuple[tuple[int, str], ...]] = {
    "es": ((-1, "(?P<b>las? )H menos M"), (1, "(?P<b>las? )H y M")),
    "fr": ((-1, "H heures? moins M"), (1, "H heures? et M")),
    "pt": ((-1, "(?P<b>[àa]?s? )H menos M"), (-1, "M para (?P<b>as )H"), (1, "(?P<b>[àa]s? )H e M")),
    "it": ((-1, "(?P<b>alle |dalle |le |l['’]|all['’])H meno M"), (1, "(?P<b>alle |dalle |le |l['’]|all['’])H e M")),
    "nl": (
        (-1, "(?P<b>(?:om|vanaf|tot|rond|is) )M voor H(?: uur)?"),
        (1, "(?P<b>(?:om|vanaf|tot|rond|is) )M over H(?: uur)?"),
    ),
    "pl": ((-1, "za M H"), (1, "M po H"), (-30, "wpół do H")),
    "ru": ((-1, "без M H"), (-60, f"(?:в )?M H{_RUSSIAN_END}"), (-30, f"(?:в )?пол-?H{_RUSSIAN_END}")),
    "ar": ((-1, "H إلا M"), (1, "H وM")),
    "zh": ((-1, "差M\\s?H[点點]"), (-1, "H[点點]差M"), (1, "H[点點]M")),
}
"""By language the sign of the minutes, or the minutes themselves, and the form of words with hour H and minutes M."""
LANGUAGES = frozenset(_FORMS)
_ANY = re.compile(
    r"menos|meno |moins| et (?:quart|demie)| y (?:media|cuarto|diez|cinco|veinte)| e (?:mei|mezz|un quarto|um quarto|quinze|dez|dieci|cinque|venti|vinte|cinco)"
    r"|kwart| (?:voor|over) |\bza |wpół|kwadrans|без |половин|четверть|пол|إلا|وال|刻| para as ",
    re.IGNORECASE,
)


def plain_local_clock(text: str, language: str) -> str:
    """Return a text with its times of day in words as "9:45 o'clock".

    Args:
        text: plain text, before its number words are written in digits.
        language: its language, ISO 639-1; a text in another one than ``LANGUAGES`` is returned as it is.
    """
    if language not in LANGUAGES or not _ANY.search(text):
        return text
    for sign, pattern in _patterns(language):
        text = pattern.sub(lambda match, sign=sign: _in_digits(match, sign, language), text)  # type: ignore[misc]
    return text


@cache
def _patterns(language: str) -> tuple[tuple[int, re.Pattern[str]], ...]:
    hour = (
        "(?:" + "|".join(f"(?P<h{number}>{names})" for number, names in _hours(language)) + r"|(?P<h>1[0-2]|0?[1-9]))"
    )
    minute = "(?:" + "|".join(f"(?P<m{number}>{names})" for number, names in _MINUTES[language].items()) + ")"
    edges = ("", "") if language == "zh" else (r"(?<!\w)", r"(?![\w:])")
    return tuple(
        (sign, re.compile(edges[0] + _filled(form, hour, minute) + edges[1], re.IGNORECASE))
        for sign, form in _FORMS[language]
    )


def _hours(language: str) -> list[tuple[int, str]]:
    """Return the hours with their names, the longest first, since 十 begins 十一."""
    named = list(enumerate(_HOURS[language].split(), 1))
    return sorted(named, key=lambda each: -len(each[1]))


def _filled(form: str, hour: str, minute: str) -> str:
    return re.sub(
        r"(?<![\w\\])[HM](?![a-z])|(?<=差)M|(?<=و)M|(?<=пол-\?)H", lambda m: hour if m[0] == "H" else minute, form
    )


def _in_digits(match: re.Match[str], sign: int, language: str) -> str:
    named = {name: value for name, value in match.groupdict().items() if value}
    hour = int(named["h"]) if "h" in named else next(int(name[1:]) for name in named if re.fullmatch(r"h\d+", name))
    minute = next((int(name[1:]) for name in named if re.fullmatch(r"m\d+", name)), 0)
    minutes = 60 * hour + (sign * minute if abs(sign) == 1 else minute + sign)
    hour, minute = (minutes // 60 - 1) % 12 + 1, minutes % 60
    if language == "zh":
        return f"{hour}点{minute}分"  # the half of the day may stand before it
    return f"{named.get('b', '')}{hour}:{minute:02} o'clock"
