"""Define units, scales, number words and months: English, German and French; months in Spanish too."""

_UNIT_ROWS: tuple[tuple[str, float, str], ...] = (
    ("time", 0.001, "ms millisecond milliseconds"),
    ("time", 1, "s sec secs second seconds sekunde sekunden seconde secondes"),
    ("time", 60, "min mins minute minutes minuten"),
    ("time", 3600, "h hr hrs hour hours stunde stunden heure heures 時間 시간"),
    ("time", 86400, "day days tag tage tagen jour jours"),
    ("time", 604800, "week weeks woche wochen semaine semaines"),
    ("time", 1209600, "fortnight fortnights"),
    ("month", 1, "month months mo monat monate monaten mois か月 ヶ月 カ月 个月 個月 개월"),
    ("month", 3, "quarters"),
    ("month", 120, "decade decades"),
    ("month", 1200, "century centuries"),
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
    ("percent", 0.1, "‰ promille"),
    ("usd", 1, "$ usd dollar dollars us$ dólar dólares"),
    ("eur", 1, "€ eur euro euros евро"),
    ("gbp", 1, "£ gbp"),
    ("gbp", 0.01, "pence"),
    ("cent", 0.01, "¢"),
    ("jpy", 1, "¥ jpy yen 円"),
    ("chf", 1, "chf franken franc francs franchi"),
    ("pln", 1, "pln zł złoty złotych zloty zlotys"),
    ("kr", 1, "kr dkk sek nok kroner kronor krona krone kronen"),
    ("czk", 1, "czk kč koruna korun koruny"),
    ("huf", 1, "huf forint forints"),
    ("try", 1, "₺ lira liras"),
    ("cny", 1, "cny rmb yuan renminbi"),
    ("zar", 1, "zar rand"),
    ("brl", 1, "brl reais"),
    ("mxn", 1, "mxn peso pesos"),
    ("thb", 1, "thb baht"),
    ("aed", 1, "aed dirham dirhams"),
    ("ils", 1, "₪ ils shekel shekels"),
    ("inr", 1, "₹ inr rupee rupees"),
    ("rub", 1, "rub ₽ рублей рубля рубль"),
    ("points", 1, "percentage-points pp"),
    ("points", 0.01, "basis-points bp bps"),
    ("metre", 1e-6, "µm"),
    ("metre", 0.001, "mm millimetre millimetres millimeter millimeters"),
    ("metre", 0.01, "cm centimetre centimetres centimeter centimeters"),
    ("metre", 1, "m metre metres meter meters"),
    ("metre", 1000, "km kilometre kilometres kilometer kilometers"),
    ("metre", 1609.344, "mile miles"),
    ("metre", 0.9144, "yard yards yd"),
    ("metre", 0.3048, "ft foot feet"),
    ("metre", 0.0254, "inch inches"),
    ("gram", 0.001, "mg milligram milligrams"),
    ("gram", 1, "g gram grams gramm"),
    ("gram", 1000, "kg kilogram kilograms kilo kilos kilogramm"),
    ("gram", 453.592, "lb lbs"),
    ("gram", 28.3495, "oz ounce ounces"),
    ("gram", 1e6, "t tonne tonnes tonnen"),
    ("pound", 1, "pounds"),
    ("litre", 0.001, "ml millilitre millilitres milliliter milliliters"),
    ("litre", 0.01, "cl"),
    ("litre", 1, "l litre litres liter liters"),
    ("litre", 3.78541, "gallon gallons"),
    ("litre", 0.1, "dl decilitre decilitres deciliter deciliters"),
    ("litre", 100, "hl hectolitre hectolitres hectoliter hectoliters"),
    ("litre", 0.473176, "pint pints"),
    ("litre", 1000, "m³ met³"),
    ("litre", 28.3168, "ft³ feet³ foot³"),
    ("cup", 1, "cup cups"),
    ("spoon", 1, "tsp teaspoon teaspoons"),
    ("spoon", 3, "tbsp tablespoon tablespoons"),
    ("area", 1, "m² m2 sqm met²"),
    ("area", 1e-4, "cm² centimet²"),
    ("area", 1e6, "km² km2 kilomet²"),
    ("area", 1e4, "ha hectare hectares hektar hectárea hectáreas ettari"),
    ("area", 4046.86, "acre acres"),
    ("area", 0.092903, "ft² feet² foot² sqft"),
    ("area", 2.58999e6, "mile²"),
    ("bar", 1, "bar"),
    ("bar", 0.001, "mbar"),
    ("bar", 0.01, "kpa"),
    ("bar", 0.0689476, "psi"),
    ("km/h", 1, "km/h kmh kph"),
    ("km/h", 1.609344, "mph"),
    ("km/h", 3.6, "m/s"),
    ("km/h", 1.852, "knot knots kn"),
    ("celsius", 1, "°c celsius"),
    ("fahrenheit", 1, "°f fahrenheit"),
    ("degree", 1, "° degrees"),
    ("watt", 1, "w watt watts"),
    ("watt", 1e3, "kw kilowatt kilowatts"),
    ("watt", 1e6, "mw megawatt megawatts"),
    ("watt", 1e9, "gw gigawatt gigawatts"),
    ("watt", 1e12, "tw terawatt terawatts"),
    ("watthour", 1, "wh"),
    ("watthour", 1e3, "kwh"),
    ("watthour", 1e6, "mwh"),
    ("watthour", 1e9, "gwh"),
    ("watthour", 1e12, "twh"),
    ("volt", 1, "v volt volts"),
    ("hertz", 1, "hz"),
    ("hertz", 1e3, "khz"),
    ("hertz", 1e6, "mhz"),
    ("hertz", 1e9, "ghz"),
)
UNITS = {name: (dimension, float(factor)) for dimension, factor, names in _UNIT_ROWS for name in names.split()}
"""Dimension and factor to its base unit, by lower-case name. Months are not converted to seconds, because a month has
no fixed length.
"""

DATED = frozenset(
    (
        "second",
        "an",
        "ans",
        "bar",
        "day",
        "week",
        "month",
        "year",
        "mo",
        "quarters",
        "foot",
        "tag",
        "jahr",
        "mi",
        "cup",
        "cups",
    )
)
"""Units that may stand behind a year: "the 2008 second quarter", "2019 week 5"."""

CURRENCIES = (
    "usd", "eur", "gbp", "jpy", "chf", "pln", "rub", "inr", "kr", "czk", "huf", "try", "cny", "zar", "brl", "mxn", "thb", "aed", "ils",
)  # fmt: skip
"""Dimensions of amounts of money."""

FAMILIES = {
    **dict.fromkeys(CURRENCIES, "money"),
    **dict.fromkeys(("celsius", "fahrenheit"), "temperature"),
    **dict.fromkeys(("time", "month"), "duration"),
    **dict.fromkeys(("percent", "points"), "share"),
}
"""Dimensions that measure the same thing but cannot be converted without more information. The same figure in another
one is a different amount.
"""

_SCALE_ROWS = (
    (1e3, "k thousand thousands tausend mille mil duizend mila tys тыс тысяч"),
    (
        1e6,
        "m mn mio million millions millionen millón millones milhão milhões milione milioni miljoen miljon miljoner mln млн миллион миллиона миллионов",
    ),
    (1e9, "bn billion billions mrd milliarde milliarden milliard milliards miljard miliardi miliarda mld млрд"),
    (1e12, "trillion trillions tn"),
    (1e5, "lakh lakhs"),
    (1e7, "crore crores"),
)
SCALES = {name: scale for scale, names in _SCALE_ROWS for name in names.split()}
"""Factor by lower-case name; "m" counts only as a capital or after a currency."""

CAPITAL_SCALES = {"b": 1e9, "t": 1e12}
"""Scales by the letter directly behind a figure; the same letters are units, so that what stands around decides."""

_NUMBER_ROWS = (
    (0, "zero null"),
    (0.5, "half"),
    (2, "two zwei deux"),
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
    (1e3, "thousand"),
    (1e6, "million"),
    (1e9, "billion"),
)
NUMBER_WORDS = {name: float(value) for value, names in _NUMBER_ROWS for name in names.split()}
"""Numbers written out; "one" is left out, since it is a pronoun more often than a number, but for "twenty-one"."""

AMBIGUOUS_NUMBER_WORDS = frozenset(
    ("half", "hundred", "thousand", "million", "billion", "zero", "null", "elf", "acht", "sept")
)
"""Number words that mean something else unless a unit follows."""

FRACTIONS = {
    name: part
    for part, names in (
        (1 / 2, "half halves hälfte"),
        (1 / 3, "third thirds drittel tiers"),
        (1 / 4, "quarter quarters viertel quart"),
        (1 / 5, "fifth fifths fünftel"),
        (1 / 10, "tenth tenths zehntel"),
    )
    for name in names.split()
}
"""Names of parts of a whole."""

ORDINALS = {
    name: number
    for number, name in enumerate(
        (
            "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
            "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth",
            "nineteenth", "twentieth", "twenty-first",
        ),
        1,
    )
}  # fmt: skip
"""Ordinals of centuries; the first four also of quarters of a year."""

WEEKDAYS = {
    name: number
    for number, names in enumerate(
        (
            "monday mondays mon montag montags lundi",
            "tuesday tuesdays tue dienstag dienstags mardi",
            "wednesday wednesdays wed mittwoch mittwochs mercredi",
            "thursday thursdays thu donnerstag donnerstags jeudi",
            "friday fridays fri freitag freitags vendredi",
            "saturday saturdays samstag samstags samedi",
            "sunday sundays sonntag sonntags dimanche",
        )
    )
    for name in names.split()
}
"""0..6 by lower-case name; "sat" and "sun" are left out, since they are words."""

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
