"""Write times of day in words with digits: "half past nine", "quarter to six", "halb sechs", "17h30", "17 Uhr".

A time that names no half of the day ("quarter to six") is written with "o'clock": it may be 5:45 or 17:45.
"""

import re

from workers.evaluation.facts.units import NUMBER_WORDS
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import key_of

OPEN = "o'clock"
"""Mark of a time that may be in either half of the day."""
_HOURS = {
    **{name: int(value) for name, value in NUMBER_WORDS.items() if 1 <= value <= 12 and name != "dozen"},
    **{str(hour): hour for hour in range(1, 13)},
    "one": 1,
    "eins": 1,
    "ein": 1,
    "une": 1,
}
_HOUR = "(?P<hour>" + "|".join(sorted(_HOURS, key=len, reverse=True)) + ")"
_MINUTES = {
    **dict.fromkeys(("quarter", "a quarter", "viertel", "et quart", "moins le quart"), 15),
    **dict.fromkeys(("half", "et demie"), 30),
    **dict.fromkeys(("five", "fünf"), 5),
    **dict.fromkeys(("ten", "zehn"), 10),
    **dict.fromkeys(("twenty", "zwanzig"), 20),
    **dict.fromkeys(("twenty-five", "twenty five"), 25),
}
_PARTS_OF_DAY = {
    **dict.fromkeys(("am", "a.m.", "in the morning", "morgens", "vormittags", "du matin"), "am"),
    **dict.fromkeys(("pm", "p.m.", "in the afternoon", "in the evening", "at night", "nachmittags", "abends"), "pm"),
    **dict.fromkeys(("de l'après-midi", "du soir"), "pm"),
}
_PART = r"(?: (?P<part>" + "|".join(map(re.escape, sorted(_PARTS_OF_DAY, key=len, reverse=True))) + r")(?!\w))?"
_BEFORE = r"(?P<before>\b(?:at|by|until|till|from|around|about|before|after|and|or|to) )"
_PAST = PrefilteredPattern(
    rf"\b(?P<past>a quarter|quarter|half|five|ten|twenty[ -]five|twenty) past {_HOUR}\b(?: o['’]clock)?{_PART}",
    re.IGNORECASE,
)
_TO = PrefilteredPattern(
    rf"(?P<before>\b(?:at|by|until|till|from|around|about|before|after|is) )(?P<to>a quarter|quarter|five|ten|twenty[ -]five|twenty) to {_HOUR}(?: o['’]clock)?{_PART}"
    r"(?=[.,;:!?)]|$| (?:in|on|every|and|or|each|today|tomorrow|to|until|for|sharp|daily|when|but)\b)",
    re.IGNORECASE,
)
_GERMAN = PrefilteredPattern(
    rf"\b(?:(?P<half>halb)|(?P<three>dreiviertel|drei viertel)|(?P<past>viertel|fünf|zehn|zwanzig) nach|(?P<to>viertel|fünf|zehn|zwanzig) vor)"
    rf" {_HOUR}\b(?: Uhr)?{_PART}",
    re.IGNORECASE,
)
_FRENCH = PrefilteredPattern(
    rf"\b{_HOUR} heures? (?:(?P<past>et demie|et quart)|(?P<to>moins le quart))\b{_PART}", re.IGNORECASE
)
_CLOCK = PrefilteredPattern(rf"(?<![\w.,:-]){_HOUR} o['’]clock(?!\w){_PART}", re.IGNORECASE)
_PARTED = PrefilteredPattern(
    rf"(?P<before>\b(?:at|by|until|till|from|around|about|before|after) ){_HOUR} (?P<part>in the (?:morning|afternoon|evening)|at night)\b",
    re.IGNORECASE,
)
_UHR_WORD = PrefilteredPattern(rf"\b{_HOUR} Uhr\b{_PART}", re.IGNORECASE)
_UHR = PrefilteredPattern(
    rf"(?<![\w.,:])(?P<clock>[01]?\d|2[0-4])(?:[.:](?P<minute>[0-5]\d))? ?Uhr\b(?: (?P<behind>[0-5]\d)\b(?![.,:]\d))?{_PART}",
    re.IGNORECASE,
)
_SPANNED = PrefilteredPattern(r"(?<![\w.,:])(\d{1,2})(?= ?(?:–|-|bis) ?\d{1,2}(?:[.:]\d\d)? Uhr\b)")
_FRENCH_DIGITS = PrefilteredPattern(r"(?<=\bà )([01]?\d|2[0-4]) ?h ?([0-5]\d)?(?!\w)", re.IGNORECASE)
_NOON = PrefilteredPattern(rf"{_BEFORE}(?:12 )?(?:noon|midday)\b|\b12 noon\b", re.IGNORECASE)
_MIDNIGHT = PrefilteredPattern(
    rf"{_BEFORE}(?:12 )?midnight\b|\b12 midnight\b|(?P<um>\bum )Mitternacht\b", re.IGNORECASE
)


def plain_clock(text: str) -> str:
    """Return a text with its times of day in digits: "9:30 o'clock", "5:45 pm", "17:00"."""
    text = _NOON.sub(lambda match: f"{match['before'] or ''}12:00", text)
    text = _MIDNIGHT.sub(lambda match: f"{match['before'] or match['um'] or ''}0:00", text)
    text = _FRENCH_DIGITS.sub(lambda match: f"{match[1]}:{match[2] or '00'}", text)
    for pattern in (_PAST, _TO, _GERMAN, _FRENCH, _CLOCK, _PARTED, _UHR_WORD):
        text = pattern.sub(_in_digits, text)
    return _UHR.sub(_whole_hour, _SPANNED.sub(r"\1:00", text))


def _in_digits(match: re.Match[str]) -> str:
    named = {name: key_of(value) for name, value in match.groupdict().items() if value}
    minutes = 60 * _HOURS[named["hour"]]
    if "past" in named:
        minutes += _MINUTES[named["past"]]
    elif "to" in named:
        minutes -= _MINUTES[named["to"]]
    elif "half" in named or "three" in named:
        minutes -= 30 if "half" in named else 15
    hour, minute = (minutes // 60 - 1) % 12 + 1, minutes % 60
    part = _PARTS_OF_DAY.get(named.get("part", ""))
    return f"{match.groupdict().get('before') or ''}{hour}:{minute:02} {part or OPEN}"


def _whole_hour(match: re.Match[str]) -> str:
    part = _PARTS_OF_DAY.get(key_of(match["part"] or ""))
    written = f"{int(match['clock'])}:{match['minute'] or match['behind'] or '00'}"
    return f"{written} {part}" if part and int(match["clock"]) <= 12 else written
