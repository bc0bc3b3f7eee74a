"""Write the numbers, dates, times and units of other languages as English has them, so that they can be compared.

"vijfentwintig dagen", "25 дней" and "二十五天" become "25 days"; "le 1er mars à 14h30" becomes "le 1 March à 14:30";
"1.262,90" becomes "1262.90". The words around them stay. Claims and evidence are written alike and then compared; the
text is never shown.

Number words: text2num for German, French, Spanish, Portuguese, Italian and Dutch; tables for Polish, Russian, Arabic
and Korean. Names of months and days of the week: CLDR, by babel.
"""

import re
from collections.abc import Mapping
from functools import cache

from babel import Locale
from text_to_num import alpha2digit

from workers.evaluation.text.languages.calendar_names import DAYS, MONTHS, spell_out_days
from workers.evaluation.text.languages.east_asian_forms import east_asian_forms
from workers.evaluation.text.languages.local_clock import plain_local_clock
from workers.evaluation.text.languages.number_words import NUMBER_WORDS, ONE, compose

EAST_ASIAN = ("ja", "zh", "ko")
SPACED = ("de", "fr", "es", "pt", "it", "nl", "pl", "ru", "ar")
"""Languages with spaces between words that are rewritten."""

_BY_LIBRARY = frozenset(("de", "fr", "es", "pt", "it", "nl"))
_INFLECTED = frozenset(("pl", "ru"))

_NO_NUMBERS = re.compile(
    r"\b(?:[Ss]egundo|[Ss]econd[oaie]|(?i:sei|quart[oiae]|quint[oa]s?|ter[cç]as?|terza|halb|half|un[oa]s|umas|uns|segundas?|terceras?|tercer|primer[oa]?))\b"
)
"""Words that are mostly none: "segundo a secretaria", "terça-feira", "tu sei", "halb acht"."""
_ORDINAL = re.compile(r"\b(\d{1,2})(?:[ºª°]|er|ère|ème|ste|de|e)(?=\s)")
_THOUSANDS = re.compile(r"(?<![\w.,])\d{1,3}(?:[.\u00a0\u202f' ]\d{3})+(?:,\d{1,4})?(?![\d]|[.,]\d)")
_DECIMAL = re.compile(r"(?<![\w.,])(\d+),(\d{1,2})(?![\d]|[.,]\d)")
_LONG_DECIMAL = re.compile(r"(?<![\w.,])(\d+),(\d{3})(?![\d]|[.,]\d)")
_SLASHED = re.compile(r"(?<![\w/.-])(\d{1,2})[/-](\d{1,2})[/-](\d{4})(?![\w/-])")
_DAY_AND_MONTH = re.compile(r"(?<![\w.])(\d{1,2})\.\s?(\d{1,2})\.(?!\s?\d)")

_UNIT_NAMES: Mapping[str, str] = {
    "seconds": "sekunden? seconden? segundos? secondes? second[oi] sekund[aęy]? секунд[аыу]? ثانية ثوان",
    "minutes": "minuten? minutos? minutes? minut[oi] minuut minuten minut[aęy]? минут[аыу]? دقيقة دقائق",
    "hours": "stunden? horas? heures? or[ae] uur uren godzin[aęyą]? час(?:а|ов|ы)? ساعة ساعات",
    "days": "tag(?:e[ns]?)? d[ií]as? jours? journées? giorn[oi] giornate? dag(?:en)? dni(?:a|om|ach|ami)? dzień дн(?:я|ей|и|ями) день сут(?:ки|ок) يوم أيام يوما",
    "weeks": "wochen? semanas? semaines? settiman[ae] week weken tydzień tygodni(?:a|e|u)? недел[яиюь] أسبوع أسابيع",
    "months": "monat(?:e[ns]?|s)? mes(?:es)? mês mois mes[ei] maand(?:en)? miesiąc[ae]? miesięcy месяц(?:а|ев|ы)? شهر أشهر شهور شهرا",
    "years": "jahr(?:e[ns]?|s)? años? an(?:os?|s)? années? ann[oi] jaar jaren lat(?:a|ach)? rok[ui]? год(?:а|у|ы)? лет سنة سنوات عام أعوام",
    "percent": "prozent por\\s(?:ciento|cento) pour\\scent per\\scento procent(?:ach|a)? процент(?:а|ов)? بالمئة",
    "kilograms": "kilogramm kilogramos? quilogramas? quilos? kilos? kilogrammes? chil[oi] chilogramm[oi] kilogram(?:y|a|ów)? килограмм(?:а|ов)? кг كيلوغرام",
    "grams": "gramm gramos? gramas? grammes? gramm[oi] gram(?:y|a|ów)? грамм(?:а|ов)?",
    "metres": "metern? metros? mètres? metr[oi] metr(?:y|a|ów)? метр(?:а|ов|ы)? متر أمتار",
    "kilometres": "kilometern? kil[óô]metros? quil[óô]metros? kilomètres? chilometr[oi] kilometr(?:y|a|ów)? километр(?:а|ов|ы)? км كيلومتر كم",
    "centimetres": "zentimetern? cent[ií]metros? centimètres? centimetr[oi] centymetr(?:y|a|ów)? сантиметр(?:а|ов)? см سم",
    "millilitres": "millilitern? mililitros? millilitres? millilitr[oi] mililitr(?:y|a|ów)? миллилитр(?:а|ов)? мл",
    "litres": "litern? litros? litres? litr[oi] litr(?:y|a|ów)? литр(?:а|ов)? لتر",
    "euro": "euros? евро يورو",
    "pounds-sterling": "libras? esterlin\\w* sterline funt(?:y|ów)? фунт(?:а|ов)? livres\\ssterling",
}
ENGLISH_FORMS = frozenset((*MONTHS, *DAYS, *_UNIT_NAMES, "cny", "krw"))
"""Words that this module writes."""


def local_forms(text: str, language: str) -> str:
    """Return a text with its numbers, dates, times and units as English has them.

    Args:
        text: plain text.
        language: its language, ISO 639-1; a text in another language than those of this module is returned as it is.
    """
    text = plain_local_clock(text, language)
    if language in EAST_ASIAN:
        return east_asian_forms(text, language)
    if language not in SPACED:
        return text
    text = _scaled(_separators(_numbers(text, language), language))
    text = _clock(text, language)
    text = _SLASHED.sub(_dotted_date, text)
    text = _DAY_AND_MONTH.sub(_month_of, text) if language in ("de", "pl", "ru") else text
    text = _ORDINAL.sub(r"\1", text)
    for pattern, english in _names(language):
        text = pattern.sub(english, text)
    return _units().sub(_unit, spell_out_days(text))


def _numbers(text: str, language: str) -> str:
    if language not in _BY_LIBRARY:
        # First, so that "двадцать один месяц" is not "twenty 1 month".
        return _fractions(_composed_numbers(text, language), language)
    text = _fractions(text, language)
    parts, position = [], 0
    for match in _NO_NUMBERS.finditer(text):
        parts += [_by_library(text[position : match.start()], language), match[0]]
        position = match.end()
    return "".join([*parts, _by_library(text[position:], language)])


def _by_library(text: str, language: str) -> str:
    """Convert number words from two on; white space at the ends is kept, which the library drops."""
    inner = text.strip()
    if not inner:
        return text
    start = text.index(inner)
    converted: str = alpha2digit(inner, language, threshold=1.5)
    return text[:start] + converted + text[start + len(inner) :]


def _composed_numbers(text: str, language: str) -> str:
    words = NUMBER_WORDS.get(language)
    if not words:
        return text
    known = {**words, **dict.fromkeys(ONE[language], 1.0)}
    return _runs(language).sub(lambda match: compose(match[0], known), text)


@cache
def _runs(language: str) -> re.Pattern[str]:
    names = "|".join(sorted(map(re.escape, NUMBER_WORDS[language]), key=len, reverse=True))
    joint = r"\s+و?" if language == "ar" else r"\s+"
    one = f"(?:{'|'.join(ONE[language])})"
    # Arabic says one before the ten: "واحد وعشرون", "أحد عشر".
    before, behind = (rf"(?:{one}\s+(?:و|(?=عشر)))?", "") if language == "ar" else ("", rf"(?:{joint}{one})?")
    return re.compile(rf"(?<!\w){before}(?:{names})(?:{joint}(?:{names}))*{behind}(?!\w)", re.IGNORECASE)


_HALVES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "de": (
        (r"\b([2-9]0)er(?:[\s-]?Jahren?|n)\b", r"19\g<1>s"), (r"\b((?:1[5-9]|20)\d0)er(?:[\s-]?Jahren?|n)\b", r"\g<1>s"),
        (r"\beine[rn]?\sDreiviertelstunde\b|\bDreiviertelstunde\b", "45 Minuten"), (r"\b(?:eine[rn]?\s)?Viertelstunde\b", "15 Minuten"),
        (r"\b(?:ein(?:em)?\s)?Dreiviertelkilo\b", "750 g"), (r"\b(?:ein(?:em)?\s)?halbes\sKilo\b", "500 g"),
        (r"\banderthalb\w{0,2}\b|\beineinhalb\b", "1.5"), (r"\bzweieinhalb\b", "2.5"), (r"\bdreieinhalb\b", "3.5"),
        (r"\b(?:eine[rn]?\s)?halbe[rns]?\s(?=Stunde|Jahr|Tag|Liter|Kilo)", "0.5 "), (r"\bDutzend\b", "12"),
        (r"\beine[rmn]?\s(?=(?:Stunde|Woche|Minute)\b)|\beine[mn]?\s(?=(?:Monat|Tag|Jahr)\b)", "1 "),
    ),
    "nl": (
        (r"\bdrie\skwartier\b", "45 minuten"), (r"\b(?:een\s)?kwartier\b", "15 minuten"),
        (r"\banderhalf\b|\banderhalve\b", "1.5"), (r"\btweeënhalf\b|\btwee en een half\b", "2.5"),
        (r"\b(?:een\s)?half(?:\suur|\sjaar)\b", "0.5 uren"), (r"\bdozijn\b", "12"),
        (r"\been\s(?=(?:uur|week|maand|dag|jaar)\b)", "1 "),
    ),
    "fr": (
        (r"\btrois\squarts\sd['’]heure\b", "45 minutes"), (r"\b(?:un\s)?quart\sd['’]heure\b", "15 minutes"),
        (r"\bune?\s(heure|an|mois|jour)\set\sdemie?\b", r"1,5 \1"),
        (r"\b(\w+)\s(heures?|ans?|mois|jours?)\set\sdemie?\b", r"\1,5 \2"), (r"\b(?:une\s)?demi-heure\b", "30 minutes"),
        (r"\bdouzaine\b", "12"), (r"\bquinzaine\sde\sjours\b", "15 jours"),
        (r"\b(vingt|trente|quarante|cinquante|soixante)[\s-]et[\s-]une?\b", r"\1-et-un"),
        (r"(?<!-)\bune?\s(?=(?:heure|semaine|mois|jour|an)\b)", "1 "),
    ),
    "es": (
        (r"\btres\scuartos\sde\shora\b", "45 minutos"), (r"\b(?:un\s)?cuarto\sde\shora\b", "15 minutos"),
        (r"\bmedio\s(kilo|litro)\b", r"0,5 \1"),
        (r"\bmedia\shora\b", "30 minutos"), (r"\buna?\s(hora|año|mes)\sy\smedi[oa]\b", r"1,5 \1"),
        (r"\b(\w+)\s(horas?|años?|meses|mes)\sy\smedi[oa]\b", r"\1,5 \2"),
        (r"\bmedia\sdocena\b", "6"), (r"\bdocena\b", "12"), (r"\bmedio\saño\b", "6 meses"),
        (r"\buna?\s(?=(?:hora|semana|mes|día|año)\b)|\bun\s(?=(?:mes|día|año)\b)", "1 "),
    ),
    "pt": (
        (r"\btrês\squartos\sde\shora\b", "45 minutos"), (r"\b(?:um\s)?quarto\sde\shora\b", "15 minutos"),
        (r"\bmeio\s(quilo|litro)\b", r"0,5 \1"),
        (r"\bmeia\shora\b", "30 minutos"), (r"\buma?\s(hora|ano|mês)\se\smei[oa]\b", r"1,5 \1"),
        (r"\b(\w+)\s(horas?|anos?|meses|mês)\se\smei[oa]\b", r"\1,5 \2"),
        (r"\bmeia\sdúzia\b", "6"), (r"\bdúzia\b", "12"),
        (r"\buma?\s(?=(?:hora|semana|mês|dia|ano)\b)|\bum\s(?=(?:mês|dia|ano)\b)", "1 "),
    ),
    "it": (
        (r"\btre\squarti\sd['’]ora\b", "45 minuti"), (r"\b(?:un\s)?quarto\sd['’]ora\b", "15 minuti"),
        (r"\bmezzo\s(chilo|litro)\b", r"0,5 \1"),
        (r"\bmezz['’]ora\b", "30 minuti"), (r"\b(?:un['’])?(ora|ore|anno|anni|mese|mesi)\se\smezz[oa]\b", r"1,5 \1"),
        (r"\bmezza\sdozzina\b", "6"), (r"\bdozzina\b", "12"),
        (r"\bsei\s(?=(?:secondi|minuti|ore|giorni|settimane|mesi|anni|volte|euro|grammi|chili|litri|metri|chilometri)\b)", "6 "),
        (r"\bun['’](?=ora\b)|\buna\s(?=settimana\b)|\bun\s(?=(?:mese|giorno|anno)\b)", "1 "),
    ),
    "pl": (
        (r"\bkwadrans\b", "15 minut"),
        (r"\bpółtor(?:a|ej)\b", "1.5"), (r"\bpół\sgodziny\b", "30 minut"), (r"\bpół\sroku\b", "6 miesięcy"),
        (r"\bpół\b", "0.5"), (r"\btuzin\w?\b", "12"), (r"\b(?:raz|jeden|jedną|jedna)\s(?=godzin|tydzień|miesiąc|dzień|rok)", "1 "),
    ),
    "ru": (
        (r"\bчетверть\sчаса\b", "15 минут"), (r"\bпол-?\s?(литра|кило)\b", r"0,5 \1"),
        (r"\bполтор[аы]\b|\bполутора\b", "1.5"), (r"\bполчаса\b", "30 минут"), (r"\bполгода\b", "6 месяцев"),
        (r"\bдюжин\w\b", "12"), (r"\bод(?:ин|на|ну)\s(?=час|недел|месяц|день|год)", "1 "),
        (r"\b(\d+)\s?(?:-?летн\w+)\b", r"\1 лет"),
    ),
}  # fmt: skip
"""Forms with a half, a dozen or one, which libraries of number words do not know."""


@cache
def _half_patterns(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(one, re.IGNORECASE), two) for one, two in _HALVES.get(language, ()))


def _fractions(text: str, language: str) -> str:
    for pattern, number in _half_patterns(language):
        text = pattern.sub(number, text)
    return text


_SCALE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s(1000|1000000|1000000000)(?!\d)(?:\s(?:de|di|d['’])(?=\s?\w))?")
_CENTS = re.compile(r"(?<![\w.,])(\d+) (euros?) (\d{2})(?!\w|[.,]\d)", re.IGNORECASE)
_ETTI = re.compile(r"(?<![\w.])(\d+)\sett[oi]\b")


def _scaled(text: str) -> str:
    """Return a text with "1.2 1000000" as "1200000" and "12 euro 50" as "12.50 euro"."""
    text = _SCALE.sub(lambda match: f"{float(match[1]) * int(match[2]):.0f}", text)
    return _ETTI.sub(lambda match: f"{100 * int(match[1])} g", _CENTS.sub(r"\1.\3 \2", text))


def _separators(text: str, language: str) -> str:
    """Write decimals with a point and thousands without a separator."""
    if language == "ar":
        return text
    text = _THOUSANDS.sub(lambda match: re.sub(r"[.\u00a0\u202f' ]", "", match[0]).replace(",", "."), text)
    text = _DECIMAL.sub(r"\1.\2", text)
    return text if language == "es" else _LONG_DECIMAL.sub(r"\1.\2", text)


_EVENING = (
    r"(?:nachmittags|abends|am\s(?:nachmittag|abend)|de\sla\s(?:tarde|noche)|d[ae]\s(?:tarde|noite)"
    r"|del\spomeriggio|di\ssera|de\sl['’]après-midi|du\ssoir|['’]s\s(?:middags|avonds)|po\społudniu|wieczorem"
    r"|вечера|дня|مساء)"
)
_MORNING = (
    r"(?:morgens|vormittags|de\sla\smañana|da\smanhã|del\smattino|di\smattina|du\smatin|['’]s\s(?:ochtends|morgens)"
    r"|rano|утра|صباحا)"
)
_PART_OF_DAY = rf"(?:\s(?:(?P<pm>{_EVENING})|(?P<am>{_MORNING}))(?!\w))"
_OPEN_PART = re.compile(rf" o['’]clock(?={_PART_OF_DAY.replace('?P<pm>', '').replace('?P<am>', '')})", re.IGNORECASE)
_BEFORE_TIME: Mapping[str, str] = {
    "de": r"(?:um|ab|bis|gegen|von|nach|vor|zwischen|und)\s",
    "nl": r"(?:om|vanaf|tot|rond|van|na|voor|tussen|en)\s",
    "fr": r"(?:à|dès|jusqu['’]à|vers|de|entre|et|avant|après)\s",
    "es": r"(?:las?|hasta)\s",
    "pt": r"(?:às?|das|até|as)\s",
    "it": r"(?:(?:alle|dalle|ore|le)\s)(?:ore\s)?",
    "pl": r"(?:o|od|do|godz\.|godzin\w+|po|przed)\s",
    "ru": r"(?:в|с|до|к|после|около)\s",
    "ar": r"الساعة\s",
}
_HOUR_NAME: Mapping[str, str] = {
    "de": r"\sUhr",
    "nl": r"\suur",
    "fr": r"\s?(?:heures?|h)",
    "es": r"\s?(?:horas|h)",
    "pt": r"\s?(?:horas|h)",
    "it": r"(?:\s?h)",
    "pl": r"(?:\s?h)",
    "ru": r"\s(?:час(?:а|ов)?)",
    "ar": r"$^",
}
_HALF_TO = re.compile(rf"\bhal[bf]\s(\d{{1,2}})(?:\s(?:Uhr|uur))?\b{_PART_OF_DAY}?", re.IGNORECASE)
_ALONE: Mapping[str, str] = {"it": r"(?:alle|dalle|ore)\s(?:ore\s)?", "pl": r"(?:godz\.|godzin\w+)\s", "es": r"las?\s"}
"""Words after which a bare number is an hour."""


@cache
def _times(language: str) -> tuple[re.Pattern[str], ...]:
    hour, before, name = r"(?P<h>[01]?\d|2[0-4])", _BEFORE_TIME[language], _HOUR_NAME[language]
    start = r"(?<![\w:.,])"
    found = [
        rf"{start}{hour}[.:](?P<i>[0-5]\d){name}(?!\w){_PART_OF_DAY}?",
        rf"{start}{hour}\s?(?:h|heures?|Uhr|uur)\s?(?P<i>[0-5]\d)(?!\d|\s?min){_PART_OF_DAY}?",
        rf"{start}{hour}(?:[.:](?P<i>[0-5]\d))?(?:{name})?{_PART_OF_DAY}",
        rf"(?<!\w)(?P<b>{before}){hour}{name}(?!\w)",
        rf"(?<!\w)(?P<b>{before}){hour}[.:](?P<i>[0-5]\d)(?![\d:.]|\s?%)",
    ]
    if language == "de":
        found.append(rf"{start}{hour}\sUhr(?!\w)")
    if language in _ALONE or language == "ar":
        end = r"(?=\s*(?:$|[,.;:)–-]\D|y\b|e\b|de\sla|del\b|a\slas|en\spunto|hasta|alle\b|do\b|i\b|rano))"
        found.append(rf"(?<!\w)(?P<b>{_ALONE.get(language, before)}){hour}(?:{end}|(?=[.]$))")
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in found)


_RANGE_START = re.compile(
    r"(?<![\w:.,])(?P<h>[01]?\d|2[0-4])(?=\s?(?:[–-]|bis|à|a|até|às|tot|alle|do|до|hasta)\s(?:las?\s)?\d{1,2}:\d\d(?!\d))",
    re.IGNORECASE,
)
"""The first hour of "10 bis 18:00"."""


def _clock(text: str, language: str) -> str:
    """Write times of day as "14:30"."""
    text = _OPEN_PART.sub("", text)
    text = _HALF_TO.sub(_half_to, text) if language in ("de", "nl") else text
    for pattern in _times(language):
        text = pattern.sub(_time_of, text)
    return _RANGE_START.sub(r"\g<h>:00", text)


def _half_to(match: re.Match[str]) -> str:
    """Return "5:30 o'clock" for "halb 6", which may be in either half of the day, unless a word names it."""
    written = _time((int(match[1]) - 1) % 24, 30, match["pm"])
    return written if match["pm"] or match["am"] else f"{written} o'clock"


def _time_of(match: re.Match[str]) -> str:
    groups = match.groupdict()
    return (groups.get("b") or "") + _time(int(groups["h"]), int(groups.get("i") or 0), groups.get("pm"))


def _time(hour: int, minute: int, evening: str | None) -> str:
    return f"{hour + 12 if evening and hour < 12 else hour}:{minute:02}"


def _dotted_date(match: re.Match[str]) -> str:
    return f"{match[1]}.{match[2]}.{match[3]}"


def _month_of(match: re.Match[str]) -> str:
    day, month = int(match[1]), int(match[2])
    return f"{day} {MONTHS[month - 1]} " if 1 <= month <= 12 and 1 <= day <= 31 else match[0]


_DAY_FORMS: Mapping[str, tuple[str, ...]] = {
    "pl": (
        r"poniedział(?:ek|ku|ki|kiem|ków|kowy\w*)|po?n\.", r"wtor(?:ek|ku|ki|kiem|ków)|wt\.", r"środ(?:a|y|ę|om|ą)|środzie|śr\.",
        r"czwart(?:ek|ku|ki|kiem|ków)|czw\.", r"piąt(?:ek|ku|ki|kiem|ków)|pt\.", r"sob(?:ot(?:a|y|ę|om|ą)|ocie|\.)",
        r"niedziel(?:a|i|ę|e|om|ą)|niedz\.",
    ),
    "ru": (
        r"понедельник\w{0,3}|пн", r"вторник\w{0,3}|вт", r"сред(?:а|у|ы|ам|е)|ср", r"четверг\w{0,3}|чт", r"пятниц\w{1,2}|пт",
        r"суббот\w{1,2}|сб", r"воскресень\w{1,2}|вс",
    ),
}  # fmt: skip
"""Forms of days of the week in languages that inflect them."""


@cache
def _names(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return patterns of the names of months and days of the week with their English names."""
    locale = Locale(language)
    months = [_forms(locale.months, place, is_inflected=language in _INFLECTED) for place in range(1, 13)]
    days = _DAY_FORMS.get(language) or [rf"(?:{_forms(locale.days, place)})(?:s|en)?" for place in range(7)]
    return tuple(
        # With its capital the month is not the verb.
        (re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE), "May" if english == "may" else english)
        for pattern, english in zip((*months, *days), (*MONTHS, *DAYS), strict=True)
    )


def _forms(names: Mapping[str, Mapping[str, Mapping[int, str]]], place: int, *, is_inflected: bool = False) -> str:
    """Return a pattern of the forms of a name; short ones without a full stop are words as well ("mar", "dom")."""
    written = {names[form][width][place].lower() for form in names for width in ("wide", "abbreviated")}
    kept = sorted((form for form in written if len(form) > 3 or form in _SHORT), key=len, reverse=True)
    return "|".join(_inflected(form) if is_inflected else re.escape(form) for form in kept)


_SHORT = frozenset(("mai", "mei", "maj", "май", "мая"))


def _inflected(name: str) -> str:
    if name.endswith(".") or name in _SHORT:
        return re.escape(name)
    return re.escape(name.rstrip("aeiouyęąьяейа")) + r"\w{0,3}"


@cache
def _units() -> re.Pattern[str]:
    groups = "|".join(f"(?P<u{place}>{'|'.join(names.split())})" for place, names in enumerate(_UNIT_NAMES.values()))
    return re.compile(rf"(?<=\d)(\s|-)?(?:{groups})(?!\w)", re.IGNORECASE)


def _unit(match: re.Match[str]) -> str:
    number = next(int(name[1:]) for name, found in match.groupdict().items() if found)
    return f" {tuple(_UNIT_NAMES)[number]}"
