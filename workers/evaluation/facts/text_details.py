"""Read the exact details of a text: numbers with units, dates, names, identifiers, and what each clause negates."""

import re
from bisect import bisect_left
from collections.abc import Mapping
from functools import cached_property, lru_cache

from workers.evaluation.facts.calculation.mean_words import MEAN
from workers.evaluation.facts.calculation.time_spans import implied_dates, implied_quantities, implied_years
from workers.evaluation.facts.dates import Date, Period, months_of, read_dates, read_periods, read_weekdays
from workers.evaluation.facts.forms.plain_forms import plain_forms
from workers.evaluation.facts.lettered_codes import Runs, code_ranges, lettered_codes, numbers_with_letter
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.numbers.ranges import range_ends
from workers.evaluation.facts.quantities import undated_quantities
from workers.evaluation.facts.series import COMMON_WORDS, find_codes
from workers.evaluation.facts.units import UNITS
from workers.evaluation.text.languages.language import guess_language
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import STOP_WORDS, content_words, stem, undotted, word_set

MAX_LENGTH = 2_000
"""Maximum length of text to read, code points; sentences are shorter."""
MAX_CLAUSES = 40
"""Maximum number of different clauses of a text; clauses are compared pair by pair, so that the limit bounds the time."""

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
"""A word with its apostrophes."""
_NAME = re.compile(r"(?<![\w.])([A-ZÄÖÜÉÈÀÇ][\w'’-]{1,40}(?:\.[a-z]\w{1,20})?)")
_PART_HYPHEN = re.compile(r"(?<=[a-z])-(?=\d)")
"""The hyphen of "AB-1200", which others write as "AB1200"."""
_ACRONYM = re.compile(r" [A-Z]{2}|[A-Z]\b(?!\.)| [A-Z]\b(?!\.)")
_HYPHENATED = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_WHOLLY = r"(?! (?:only|all|every|necessarily|just|always|until)\b)"
_NEGATION = re.compile(
    rf"\b(?:not{_WHOLLY}|no(?!-| (?:more|less|fewer|later|earlier|sooner|longer|higher|lower) than|\.| more(?=[.,;]|$))|never|neither|nor|none|nobody|nothing|cannot"
    r"|without(?= (?:an? |the |any )?[a-z]{4,})"
    rf"|\w+n['’]t{_WHOLLY}|(?:keep|keeps|kept|keeping|prevents?|prevented|preventing|stops?|stopped|blocks?|deters?|hinders?)(?: [\w'’-]+){{1,5}}? from(?= \w+ing\b)|fail(?:s|ed)? to|nicht|kein(?:e[nmrs]?)?|nie|niemals|weder|ne|n['’](?=\w)|jamais|aucune?|não|nunca|nem|niet|geen|ikke|inte|не|нет|ни|никогда|δεν|δε|μην?)\b",
    re.IGNORECASE,
)
_TOTAL = PrefilteredPattern(
    r"\b(?:in total|a total of|total(?:l?ed|s)?|altogether|together|combined|in all|in sum|sum of|insgesamt|zusammen|au total)\b",
    re.IGNORECASE,
)
_COMPARED = PrefilteredPattern(
    r"\b(?:by|difference|ahead|behind|margin|gap|older|younger|longer|shorter|taller|higher|lower|more|fewer|less|left|remain\w*|average|mean"
    r"|times|saved?|um|mehr|weniger|im schnitt|durchschnitt\w*|de plus|de moins|en moyenne|más|menos|promedio|media|più|meno|mais|meer|minder)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"[,;:()–—]\s|\s(?:but|while|whereas|although|because|who|which|aber|während|weil|mais)\s|\s(?=until\s(?!\d))",
    re.IGNORECASE,
)
_ENDLESS = PrefilteredPattern(
    r"(?<!not )(?<!no )(?<!nicht )(?<!pas )(?<!non )(?<!no es )\b(?:life-?long|lifetime|unlimited|indefinite(?:ly)?|forever|perpetual|everlasting|never expires?"
    r"|lebenslang(?:e[rnms]?)?|unbegrenzt(?:e[rnms]?)?|unbefristet(?:e[rnms]?)?|à vie|illimitée?s?|de por vida|ilimitad[oa]s?|illimitat[oa])\b",
    re.IGNORECASE,
)
_PARTLY = re.compile(
    r"\b(?:few|little|less (?!than\b)|(?:not|\w+n['’]t) (?:all|every|necessarily|always)|rather than|tried|tries|trying|try to|attempt\w*|hop(?:ed|ing) to|no-\w+)\b"
    r"|^\s*(?:and |or )?to (?!the\b|an?\b)|^\s*until\b|\b(?:plan(?:s|ned|ning)?|intend(?:s|ed)?|want(?:s|ed)?) to\b",
    re.IGNORECASE,
)
"""Words that neither affirm nor deny: "few prospects" is close to "no prospects", and who tried did not always succeed."""
_CONDITIONAL = re.compile(
    r"^\s*(?:and |or |but )?(?:(?:check|see|verify|test|find out|ask) )?(?:if|whether|in case)\b", re.IGNORECASE
)
_LEFT_OUT = re.compile(
    r"\b(?:do|does|did|is|are|was|were|has|have|had|can|could|will|would|should)\s?(?:not|n['’]t)\W*$", re.IGNORECASE
)
"""A denial at the end of a clause whose verb stands in the clause before: "while quads do not"."""
_ASKED = re.compile(
    r"(?:\bwhy (?=(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)(?:n['’]t)?\b)"
    r"|\b(?:ask|wonder)\w*\b[^.;]{0,30}\bwhy\b)[^.;]{0,40}?(?:\bnot\b|n['’]t\b)",
    re.IGNORECASE,
)
"""A question with a denial, which says neither; "why it does not start" in a statement denies."""
CONDITION = "if"
"""Word of a clause that states a condition; as a stop word it is no content word."""
_AUXILIARIES = word_set(
    """
    be been being longer yet any the a an to have has had do does did is are was were will would can could
    may might must should ever also even actually currently very wurde wird werden ist sind hat haben war
    pas est sont été a
    """
)


class Details:
    """Read the exact details of a text, each when it is first asked for, since a rule needs few of them.

    Args:
        text: at most ``MAX_LENGTH`` code points.

    Attributes:
        dates: its dates and times of day.
        periods: its centuries, decades and quarters as first and last month.
    """

    def __init__(self, text: str) -> None:
        self._text = text = plain_forms(text)
        periods, rest = read_periods(text)
        dates, self._rest = read_dates(rest)
        self.periods = tuple(periods)
        self.dates = tuple(dates)

    @cached_property
    def codes(self) -> frozenset[tuple[str, str]]:
        """Return its identifiers with a number, as (series, number): ("inc", "4711"), ("grinder", "5")."""
        return frozenset(code for code, _, _ in find_codes(self._rest))

    @cached_property
    def lettered(self) -> frozenset[Runs]:
        """Return its identifiers of letters and digits: ("12", "b"), ("a", "4")."""
        return lettered_codes(self._rest)

    @cached_property
    def code_ranges(self) -> frozenset[tuple[Runs, Runs]]:
        """Return the ends of its ranges of identifiers: "A9 to A12"."""
        return code_ranges(self._rest)

    @cached_property
    def with_letter(self) -> frozenset[tuple[str, str]]:
        """Return its identifiers that have a letter behind their number, without it: ("room", "12") of "Room 12b"."""
        return numbers_with_letter(self._rest)

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """Return its numbers with units."""
        members = {f"{float(number):g}" if number.count(".") == 1 else number for _, number in self.codes}
        read = undated_quantities(self._rest)
        return tuple(each for each in read if each.is_unit or f"{each.face:g}" not in members)

    @cached_property
    def implied(self) -> tuple[Quantity, ...]:
        """Return the durations that follow from its dates."""
        return tuple(implied_quantities(self._text, self.dates))

    @cached_property
    def implied_dates(self) -> tuple[Date, ...]:
        """Return the times of day and the years that follow from others and durations."""
        return (*implied_dates(self.quantities, self.dates), *implied_years(self._text))

    @cached_property
    def is_total(self) -> bool:
        """Return true if it mentions a total."""
        return bool(_TOTAL.search(self._text))

    @cached_property
    def is_endless(self) -> bool:
        """Return true if it calls something lifelong or unlimited."""
        return bool(_ENDLESS.search(self._text))

    @cached_property
    def is_compared(self) -> bool:
        """Return true if it tells a difference or a mean."""
        return bool(_COMPARED.search(self._text))

    @cached_property
    def is_mean(self) -> bool:
        """Return true if it calls something a mean."""
        return bool(MEAN.search(self._text))

    @cached_property
    def weekdays(self) -> frozenset[int]:
        """Return the days of the week that it names, 0..6."""
        return read_weekdays(self._text)

    @cached_property
    def names(self) -> frozenset[str]:
        """Return its capitalised words that are names, in lower case."""
        return _names(undotted(self._rest))

    @cached_property
    def beside(self) -> Mapping[str, frozenset[str]]:
        """Return for each name the stems of the nearest words before and after it that are not names."""
        return _beside(undotted(self._rest), self.names)

    @cached_property
    def words(self) -> frozenset[str]:
        """Return the stems of its content words."""
        return content_words(self._text)

    @cached_property
    def clauses(self) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
        """Return for each clause its content words and those under a negation."""
        return _clauses(self._text)

    @cached_property
    def ends(self) -> frozenset[float]:
        """Return the figures that are ends of ranges, as written."""
        return range_ends(self._text)

    @property
    def is_exact(self) -> bool:
        """Return true if the text has any detail that can be looked up."""
        return self.is_endless or self.has_figures or bool(self.names)

    @property
    def has_figures(self) -> bool:
        """Return true if a number, date or identifier was read."""
        return bool(self.quantities or self.dates or self.periods or self.codes)


@lru_cache(maxsize=4_096)
def read_details(text: str) -> Details:
    """Read the exact details of a text; the function is pure, so its results may be cached."""
    return Details(text[:MAX_LENGTH])


def periods_of(details: Details) -> list[Period]:
    """Return the months and longer periods of a text, either named or given by a date."""
    return [*details.periods, *filter(None, map(months_of, details.dates))]


def _names(text: str) -> frozenset[str]:
    """Return capitalised words whose capital is due neither to their position nor to the rules of the language."""
    words = WORD.findall(text)
    inner = [word for word in words[1:] if len(word) > 2 and word.isalpha()]
    capitals = sum(word[0].isupper() for word in inner)
    # In texts where every noun or title word is capitalised, a capital does not show a name.
    if guess_language(text) == "de" or (len(inner) >= 4 and capitals > 0.4 * len(inner)):
        return frozenset()
    names = set()
    for match in _NAME.finditer(text):
        before = text[: match.start()].rstrip(" \"'“„(*")
        starts = not before or before[-1] in ".!?:;"
        word = match[1].lower().removesuffix("'s").removesuffix("’s")
        followed = text[match.end() : match.end() + 2]
        surname = followed[:1] == " " and followed[1:].isupper() and not _ACRONYM.match(text, match.end())
        if word in UNITS:
            continue
        if (not starts or surname or match[1].isupper()) and word not in COMMON_WORDS:
            names.add(_PART_HYPHEN.sub("", word))
    return frozenset(names)


def _beside(text: str, names: frozenset[str]) -> dict[str, frozenset[str]]:
    """Map each name to the nearest content words before and after it in its clause that are not names."""
    found: dict[str, set[str]] = {name: set() for name in names}
    if not names:
        return {}
    for clause in _CLAUSE.split(text):
        words = [match[0] for match in _HYPHENATED.finditer(clause)]
        keys = [word.lower().removesuffix("'s").removesuffix("’s") for word in words]
        plain = [
            place
            for place, key in enumerate(keys)
            if key not in names and key not in STOP_WORDS and key not in _AUXILIARIES
        ]
        for place, key in enumerate(keys):
            if key in found:
                after = bisect_left(plain, place)
                found[key].update(stem(keys[index]) for index in plain[max(0, after - 1) : after + 1])
    return {name: frozenset(words) for name, words in found.items()}


def _clauses(text: str) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """Return the content words and the negated words of the first clauses.

    A negation applies to the next content word, otherwise to the previous one ("startet nicht").
    """
    clauses: dict[tuple[frozenset[str], frozenset[str]], None] = {}
    for clause in _CLAUSE.split(text):
        words = content_words(clause)
        if words:
            partly = frozenset(
                ("few",) * bool(_PARTLY.search(clause)) + (CONDITION,) * bool(_CONDITIONAL.search(clause))
            )
            clauses[(words | partly, _governed(clause))] = None
            if len(clauses) == MAX_CLAUSES:
                break
    return tuple(clauses)


def _governed(clause: str) -> frozenset[str]:
    found = set()
    if _ASKED.search(clause):
        return frozenset()
    for match in _NEGATION.finditer(clause):
        after = _governable(clause[match.end() : match.end() + 80])[:1]
        if not after and _LEFT_OUT.search(clause):
            continue
        found.update(after or _governable(clause[max(0, match.start() - 80) : match.start()])[-1:])
    told = [stem(word) for word in _governable(clause)]
    # "Not essential to obtain, as the body makes them from essential acids" both denies and affirms the word.
    return frozenset(word for word in map(stem, found) if told.count(word) < 2)


def _governable(text: str) -> list[str]:
    words = [word.lower() for word in WORD.findall(text)]
    return [word for word in words if word not in _AUXILIARIES and word not in STOP_WORDS and not word.endswith("ly")]
