"""Units, scales, number words and months, as data; English, German and French, months in Spanish too."""

_UNIT_ROWS: tuple[tuple[str, float, str], ...] = (
    ("time", 0.001, "ms millisecond milliseconds"),
    ("time", 1, "s sec secs second seconds sekunde sekunden seconde secondes"),
    ("time", 60, "min mins minute minutes minuten"),
    ("time", 3600, "h hr hrs hour hours stunde stunden heure heures"),
    ("time", 86400, "day days tag tage tagen jour jours"),
    ("time", 604800, "week weeks woche wochen semaine semaines"),
    ("month", 1, "month months monat monate monaten mois"),
    ("month", 12, "year years yr yrs jahr jahre jahren an ans"),
    ("bytes", 1, "byte bytes b"),
    ("bytes", 1e3, "kb"),
    ("bytes", 1e6, "mb"),
    ("bytes", 1e9, "gb"),
    ("bytes", 1e12, "tb"),
    ("bytes", 2**10, "kib ki"),
    ("bytes", 2**20, "mib mi"),
    ("bytes", 2**30, "gib gi"),
    ("bytes", 2**40, "tib ti"),
    ("percent", 1, "% percent prozent pct"),
    ("usd", 1, "$ usd dollar dollars us$"),
    ("eur", 1, "€ eur euro euros"),
    ("gbp", 1, "£ gbp"),
    ("jpy", 1, "¥ jpy yen"),
    ("metre", 0.001, "mm"),
    ("metre", 0.01, "cm"),
    ("metre", 1, "m metre metres meter meters"),
    ("metre", 1000, "km"),
    ("mile", 1, "mile miles"),
    ("foot", 1, "ft foot feet"),
    ("inch", 1, "inch inches"),
    ("gram", 0.001, "mg"),
    ("gram", 1, "g gram grams"),
    ("gram", 1000, "kg kilogram kilograms"),
    ("pound", 1, "lb lbs pounds"),
    ("tonne", 1, "t tonne tonnes"),
    ("celsius", 1, "°c celsius"),
    ("fahrenheit", 1, "°f fahrenheit"),
    ("degree", 1, "° degrees"),
    ("watt", 1, "w watt watts"),
    ("watt", 1e3, "kw"),
    ("watt", 1e6, "mw"),
    ("volt", 1, "v volt volts"),
    ("hertz", 1, "hz"),
    ("hertz", 1e3, "khz"),
    ("hertz", 1e6, "mhz"),
    ("hertz", 1e9, "ghz"),
)
UNITS = {name: (dimension, float(factor)) for dimension, factor, names in _UNIT_ROWS for name in names.split()}
"""Dimension and factor to its base unit, by lower-case name; months and seconds are apart, since
a month has no fixed length."""

_SCALE_ROWS = (
    (1e3, "k thousand tausend mille"),
    (1e6, "m mn mio million millions millionen"),
    (1e9, "bn billion billions mrd milliarden milliards"),
    (1e12, "trillion"),
)
SCALES = {name: scale for scale, names in _SCALE_ROWS for name in names.split()}
"""Factor by lower-case name; "m" counts only as a capital or behind a currency."""

_NUMBER_ROWS = (
    (0, "zero null"),
    (0.5, "half"),
    (1, "once"),
    (2, "two twice zwei deux"),
    (3, "three drei trois"),
    (4, "four vier quatre"),
    (5, "five fünf cinq"),
    (6, "six sechs"),
    (7, "seven sieben sept"),
    (8, "eight acht huit"),
    (9, "nine neun neuf"),
    (10, "ten zehn dix"),
    (11, "eleven elf onze"),
    (12, "twelve dozen zwölf douze"),
    (13, "thirteen"),
    (14, "fourteen"),
    (15, "fifteen"),
    (16, "sixteen"),
    (17, "seventeen"),
    (18, "eighteen"),
    (19, "nineteen"),
    (20, "twenty zwanzig vingt"),
    (30, "thirty"),
    (40, "forty"),
    (50, "fifty"),
    (60, "sixty"),
    (70, "seventy"),
    (80, "eighty"),
    (90, "ninety"),
    (100, "hundred"),
)
NUMBER_WORDS = {name: float(value) for value, names in _NUMBER_ROWS for name in names.split()}
"""Numbers written out; "one" is left out, since it is a pronoun more often than a number."""

AMBIGUOUS_NUMBER_WORDS = frozenset(("once", "twice", "half", "hundred", "zero", "null", "elf", "acht", "sept"))
"""Number words that mean something else unless a unit follows."""

_MONTH_ROWS = (
    "january jan januar janvier enero",
    "february feb februar février febrero",
    "march mar märz mars marzo",
    "april apr avril abril",
    "may mai mayo",
    "june jun juni juin junio",
    "july jul juli juillet julio",
    "august aug août agosto",
    "september sep sept septembre septiembre",
    "october oct oktober octobre octubre",
    "november nov novembre noviembre",
    "december dec dezember décembre diciembre",
)
MONTHS = {name: number for number, names in enumerate(_MONTH_ROWS, 1) for name in names.split()}
"""1..12 by lower-case name."""
