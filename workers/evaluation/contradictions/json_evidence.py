"""Check claims against the yes/no fields, the unknown fields and the opening hours of JSON records.

``{"OutdoorSeating": false, "WiFi": null}`` gives no support to "it has outdoor seating and WiFi", but contains the
words of the claim, so that word and vector similarity are high. Therefore the fields that a claim names are looked up,
and their values are compared with the claim, affirmed or denied.

A field is named by the words of its key ("take-out" names ``RestaurantsTakeOut``; words that many keys share do not
count). In a nested record the words of the key above count as well ("street parking" names ``BusinessParking.street``).
If several records or fields match, one that agrees is enough.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from workers.evaluation.contradictions.record_doers import Doer, doer_of, is_doer_wrong
from workers.evaluation.facts.evidence_units import RecordValue, record_values
from workers.evaluation.text.words import STOP_WORDS, content_words, stem, word_set

SHARED = 3
"""Number of keys of one level from which a common word does not identify a field."""

_GENERIC = word_set(
    "accept accepts accepted allow allows allowed available availability business enabled good has have is offer offers"
    " option options provide provides service services supports type types caters by attribute attributes field value"
)
_FALSE = word_set("false no none n off never")
_WORD = re.compile(r"[^\W_]+")
_NEGATION = re.compile(
    r"\b(?:not|no|never|neither|nor|none|cannot|without|\w+n['’]t|lacks?|lacking|unavailable|kein\w{0,2}|nicht|ohne|pas|sans)\b",
    re.IGNORECASE,
)
_NEGATION_ENDS = re.compile(
    r"\b(?:but|however|although|though|while|whereas|yet|instead|rather|only|aber|jedoch|mais)\b|[;.]\s"
    r"|\b(?:and|it|they|which|also)\s+(?:also\s+)?(?:does|do|is|are|has|have|offers?|provides?|accepts?|features?|serves?|includes?)"
    r"\b(?!\s+not|n['’]t)|\band\s+(?:its|the|their)\b",
    re.IGNORECASE,
)

_DENIED_AFTER = re.compile(
    r"[^,;.]{0,30}?\b(?:(?:is|are|was|were)\s+(?:\w+\s+)?not\b|(?:is|are|was|were)n['’]t\b|unavailable\b|not\s+(?:available|offered|allowed|accepted|provided|included)\b)",
    re.IGNORECASE,
)
_SILENT = re.compile(
    r"\b(?:unknown|unclear|unspecified|no (?:mention|information|data|details?)|(?:not|n['’]t)\s+(?:\w+\s+)?(?:say|tell|specif\w+|mention\w*|indicate\w*|stat(?:e|ed)|provide (?:any )?(?:information|details)|listed|known|clear))\b",
    re.IGNORECASE,
)

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY = "|".join(rf"{day}s?|{day[:4]}s?\b|{day[:3]}\b" for day in DAYS)
_RANGE = re.compile(
    rf"\b(?P<first>{_DAY})(?:\s*(?:-|–|—|to|through|thru|until|till)\s*(?P<last>{_DAY}))?\b"
    r"|\b(?P<all>every ?day|daily|seven days|7 days|all week|each day)\b"
    r"|\b(?P<work>week ?days?)\b|\b(?P<end>week ?ends?)\b",
    re.IGNORECASE,
)
_TIME = r"(?<![\w:$])(\d{1,2})(?:[:.](\d{1,2}))?\s?(a\.?m\b\.?|p\.?m\b\.?)?"
_TIMES = re.compile(
    rf"{_TIME}\s*(?:-|–|—|to|until|till|and)\s*{_TIME}(?![\w:$%]|\s?(?:stars?|people|minutes|out of))", re.IGNORECASE
)
_EDGE = re.compile(
    rf"\b(?:(?P<opens>open(?:s|ing)? at)|clos(?:es?|ing) at|(?:opens?|hours) (?:until|till)) {_TIME}(?![\w:$%])",
    re.IGNORECASE,
)
"""Patterns of a single opening or closing time."""
_CLAUSE_ENDS = re.compile(rf"\s*(?:[,.;)!]|$|(?:on|and|in the|every|each|daily|sharp)\b|(?:{_DAY})\b)", re.IGNORECASE)
"""Text after a bare number that makes it a time: "opens at 9 on Mondays", but not "opens at 5 new locations"."""
_PART = re.compile(
    r"\b(?:happy|kitchen|bar|pool|buffet|breakfast|brunch|lunch|dinner|patio|bookings?|reservations?|box office)"
    r"(?:\s\w+)?\s$",
    re.IGNORECASE,
)
"""Words before hours that apply to a part of the place only."""
_BETWEEN_EDGES = 8
"""Maximum number of code points between "opens at 9" and "closes at 5" that belong to the same day."""
_OPENING = re.compile(r"(\d{1,2}):(\d{1,2})\s*-\s*(\d{1,2}):(\d{1,2})$")
_VARYING = re.compile(r"\b(?:var(?:y|ies|ying|ied)|depend\w*|differ\w*|\d{1,2}(?:\s?[ap]m)? or \d)", re.IGNORECASE)
_CLOSED = re.compile(r"\bclosed\b", re.IGNORECASE)
_OPEN = re.compile(r"\b(?:open|opens|opened|operat\w+|hours)\b|\bclos(?:es?|ing) at\b", re.IGNORECASE)


_Spans = list[tuple[int | None, int | None]]
"""Possible meanings of stated hours: minutes of the day at which they begin and end, ``None`` if not stated."""


@dataclass(frozen=True, slots=True)
class Flag:
    """Describe a field with the value yes, no or unknown.

    Attributes:
        names: accepted names: letters of the key's words written together.
        words: stems of the words that identify it.
        above: stems of the words of the key above it; empty at the top.
        state: yes, no, or ``None`` for unknown.
    """

    names: frozenset[str]
    words: frozenset[str]
    above: frozenset[str]
    state: bool | None


@dataclass(frozen=True, slots=True)
class RecordFacts:
    """Hold the facts that the fields of a context's records state.

    Attributes:
        flags: fields with the value yes, no or unknown.
        hours: opening and closing minute of the day by weekday from 0; ``None`` without a table of hours,
            empty if there is one without content.
        prose: stems of all other values; words in a text need no field.
        doers: who did what.
    """

    flags: tuple[Flag, ...] = ()
    hours: dict[int, tuple[int, int]] | None = None
    prose: frozenset[str] = frozenset()
    doers: tuple[Doer, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordVerdict:
    """Report the result of checking a claim against the fields.

    Attributes:
        agreed: fields that support the claim.
        denied: fields that contradict the claim.
        unknown: fields that the claim names and that have no value.
    """

    agreed: int = 0
    denied: int = 0
    unknown: int = 0


def read_record(content: str) -> RecordFacts | None:
    """Read the fields of a JSON context; return ``None`` for any other content."""
    values = record_values(content)
    if not values:
        return None
    keys = [_key_words(path[-1:]) for path in {value.path for value in values}]
    counts = Counter(word for words in keys for word in set(words))
    # Remove a prefix that two keys share: RestaurantsTakeOut, RestaurantsReservations.
    prefixes = Counter(words[0] for words in keys if len(words) > 1)
    counts.update({word: SHARED for word, count in prefixes.items() if count > 1})
    flags, prose, hours = [], [], None
    for value in values:
        if value.path and _day(value.path[-1]) is not None:
            hours = hours or {}
            if times := _opening(value.text):
                hours[_day(value.path[-1]) or 0] = times
            continue
        if value.path and value.path[-1].lower() in ("hours", "opening_hours", "openinghours") and value.text is None:
            hours = hours or {}
            continue
        if value.is_word:
            flag = _flag(value, counts)
            if flag:
                flags.append(flag)
        if isinstance(value.text, str):
            prose.append(value.text)
    doers = tuple(filter(None, map(doer_of, values)))
    return RecordFacts(tuple(flags), hours, content_words(" ".join(prose)), doers)


def check_record(claim: str, records: Sequence[RecordFacts], question: str = "") -> RecordVerdict:
    """Hold a claim against the fields of the records.

    Args:
        claim: plain text of the claim.
        records: those of all contexts; one that agrees is enough.
        question: the question that the claim answers, or an empty text.
    """
    if _SILENT.search(claim):
        return (
            RecordVerdict()
        )  # "the field is unknown" agrees with an unknown field and says nothing about other fields
    named: dict[frozenset[str], set[bool | None]] = {}
    mentions = _Mentions(claim)
    for record in records:
        for flag in record.flags:
            for place in mentions.find(flag, record.prose):
                agrees = None if flag.state is None else flag.state != mentions.denied(place)
                named.setdefault(flag.names, set()).add(agrees)
    agreed = sum(True in answers for answers in named.values())
    denied = sum(True not in answers and False in answers for answers in named.values())
    unknown = sum(answers == {None} for answers in named.values())
    doers = [doer for record in records for doer in record.doers]
    words = frozenset[str]().union(*(record.prose for record in records)) if doers else frozenset()
    denied += is_doer_wrong(claim, question, doers, words)
    hours = [check_hours(claim, record.hours) for record in records if record.hours is not None]
    if any(hours):
        best = min((found for found in hours if found), key=lambda found: (found.denied, found.unknown))
        agreed, denied, unknown = agreed + best.agreed, denied + best.denied, unknown + best.unknown
    return RecordVerdict(agreed, denied, unknown)


class _Mentions:
    """Find the fields that a claim names and the words that it negates."""

    def __init__(self, claim: str) -> None:
        words = [(match[0].lower(), match.start()) for match in _WORD.finditer(claim)]
        self._claim = claim
        self._joined: dict[str, list[int]] = defaultdict(list)
        for size in (1, 2, 3, 4):
            for index in range(len(words) - size + 1):
                joined = "".join(word for word, _ in words[index : index + size])
                self._joined[stem(joined)].append(words[index][1])
        self._stems = {stem(word): start for word, start in reversed(words)}
        self._denials = [
            (match.start(), _scope_end(claim, match.end()))
            for match in _NEGATION.finditer(claim)
            if not claim[match.end() : match.end() + 6].lower().startswith(" only")
        ]

    def find(self, flag: Flag, prose: frozenset[str]) -> list[int]:
        """Return the offsets of the mentions of a field; empty if the claim does not name it."""
        places = [place for name in flag.names for place in self._joined.get(name, ())]
        if flag.above and not flag.above & self._stems.keys():
            # A lone "street" or "lot" is anything; a telling word is enough if no text says it too.
            if not all(len(word) > 4 and word not in prose for word in flag.words):
                return []
            places = [place for place in places if self._claim[place].islower()]
        if not places and len(flag.words) > 1 and flag.words <= self._stems.keys():
            places = [max(self._stems[word] for word in flag.words)]
        return places

    def denied(self, place: int) -> bool:
        """Return true if a negation governs this offset."""
        return any(start <= place < end for start, end in self._denials) or bool(
            _DENIED_AFTER.match(self._claim, place)
        )


def _scope_end(claim: str, start: int) -> int:
    match = _NEGATION_ENDS.search(claim, start)
    return match.start() if match else len(claim)


def _flag(value: RecordValue, counts: Counter[str]) -> Flag | None:
    key = value.path[-1] if value.path else ""
    words = [word for word in _key_words((key,)) if counts[word] < SHARED]
    telling = [word for word in words if word not in _GENERIC] or words
    # "WiFi" is two words and yet a name; a lone "id" is none, nor is "to go".
    letters = "".join(word for word in telling if word not in STOP_WORDS)
    if len(letters) <= 2 and not any(len(word) > 2 for word in telling):
        return None
    names = frozenset(stem("".join(part)) for part in (words, telling) if part)
    above = [word for word in _key_words(value.path[-2:-1]) if word not in _GENERIC and word not in STOP_WORDS]
    own = frozenset(stem(word) for word in telling if word not in STOP_WORDS)
    return Flag(names, own or names, frozenset(stem(word) for word in above), _state(value.text))


def _state(text: str | None) -> bool | None:
    if text is None or text.lower() in ("null", "unknown", "n/a"):
        return None
    return text.lower() not in _FALSE


def _key_words(keys: Sequence[str]) -> list[str]:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", " ".join(keys))
    # "WiFi" and the like are one word in most texts; written together both forms meet.
    return [word.lower() for word in _WORD.findall(spaced.replace("_", " "))]


def check_hours(claim: str, hours: dict[int, tuple[int, int]]) -> RecordVerdict | None:
    """Hold what a claim says of opening days and times against a table of hours.

    Returns:
        ``None`` if it says nothing of them.
    """
    if not (_OPEN.search(claim) or _CLOSED.search(claim)):
        return None
    if _VARYING.search(claim):
        return None
    spoken = list(_RANGE.finditer(claim))
    times = _spoken_times(claim)
    if not spoken and not times:
        return None
    if not hours:
        return RecordVerdict(unknown=1)
    agreed = denied = 0
    for match, span in _paired(spoken, times):
        days = _days(match)
        closed = bool(_CLOSED.search(claim, max(0, match.start() - 25), match.end() + 12))
        right = [_is_right(hours.get(day), closed, span) for day in days]
        # "Weekdays" means most of them: Friday evening is longer almost everywhere.
        ok = sum(right) >= len(days) - 1 if match["work"] or match["end"] else all(right)
        agreed, denied = agreed + ok, denied + (not ok)
    if not spoken:
        known = set(hours.values())
        for _, span in times:
            ok = any(_fits(each, span) for each in known)
            agreed, denied = agreed + ok, denied + (not ok)
    return RecordVerdict(agreed, denied)


def _spoken_times(claim: str) -> list[tuple[int, _Spans]]:
    """Return the offsets of the hours in a claim, in order, with their possible meanings."""
    found: list[tuple[int, int, _Spans]] = [
        (match.start(), match.end(), list(product(_minutes(match, 1), _minutes(match, 4))))
        for match in _TIMES.finditer(claim)
    ]
    ranges = list(found)
    opened: tuple[int, list[int]] | None = None
    for match in _EDGE.finditer(claim):
        if any(start < match.end() and match.start() < end for start, end, _ in ranges):
            continue
        minutes = list(_minutes(match, 2))
        is_time = match[3] or match[4] or _CLAUSE_ENDS.match(claim, match.end())
        if not minutes or not is_time or _PART.search(claim, 0, match.start()):
            continue
        if match["opens"]:
            found.append((match.start(), match.end(), [(minute, None) for minute in minutes]))
            opened = match.end(), minutes
        elif opened and match.start() - opened[0] <= _BETWEEN_EDGES:
            start, _, _ = found.pop()
            found.append((start, match.end(), list(product(opened[1], minutes))))
        else:
            found.append((match.start(), match.end(), [(None, minute) for minute in minutes]))
    return [(start, spans) for start, _, spans in sorted(found, key=lambda each: each[0])]


def _paired(
    days: list[re.Match[str]], times: list[tuple[int, _Spans]]
) -> Iterator[tuple[re.Match[str], _Spans | None]]:
    """Yield each mention of days with its times; all times follow their days or all precede them."""
    times_first = bool(days and times) and times[0][0] < days[0].start()
    for match in days:
        if times_first:
            own = [span for start, span in times if start < match.start()][-1:]
        else:
            own = [span for start, span in times if start > match.start()][:1]
        yield match, own[0] if own else None


def _is_right(known: tuple[int, int] | None, closed: bool, span: _Spans | None) -> bool:
    if known == (0, 0):
        return True  # "0:0-0:0" is written for closed and for round the clock
    if closed or known is None:
        return closed == (known is None)
    return span is None or _fits(known, span)


def _fits(known: tuple[int, int], spans: _Spans) -> bool:
    """Return true if known hours match one of the possible meanings."""
    return any(start in (None, known[0]) and end in (None, known[1]) for start, end in spans)


def _days(match: re.Match[str]) -> list[int]:
    if match["all"]:
        return list(range(7))
    if match["work"]:
        return list(range(5))
    if match["end"]:
        return [5, 6]
    first = _day(match["first"]) or 0
    last = _day(match["last"]) if match["last"] else first
    last = first if last is None else last
    return [day % 7 for day in range(first, (last if last >= first else last + 7) + 1)]


def _day(name: str) -> int | None:
    lowered = name.lower().rstrip(".")
    for index, day in enumerate(DAYS):
        if lowered in (day, day + "s", day[:3], day[:4], day[:4] + "s"):
            return index
    return None


def _opening(text: str | None) -> tuple[int, int] | None:
    match = _OPENING.match(text or "")
    if not match:
        return None
    open_hour, open_minute, close_hour, close_minute = (int(part) for part in match.groups())
    return (open_hour * 60 + open_minute) % 1440, (close_hour * 60 + close_minute) % 1440


def _minutes(match: re.Match[str], group: int) -> Iterator[int]:
    hour, minute = int(match[group]), int(match[group + 1] or 0)
    half = (match[group + 2] or "").lower()[:1]
    if hour > 24 or minute > 59:
        return
    if half:
        yield (hour % 12 + (12 if half == "p" else 0)) * 60 + minute
        return
    yield (hour * 60 + minute) % 1440
    if hour < 12:
        yield (hour + 12) * 60 + minute
    if hour == 12:
        yield minute
