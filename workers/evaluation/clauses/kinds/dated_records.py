"""Answer whether one of two records comes before the other: "Did Ilse die before her husband?" over two dates of death."""

import re
from collections.abc import Sequence

from workers.evaluation.budget import spend
from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.contradictions.values.row_mismatch import read_fields
from workers.evaluation.facts.dates import Date
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.text.words import content_words

MAX_RECORDS = 40
"""Most records that are read."""
MAX_TEXT = 700
"""Longest record that is read, code points."""

_ASKED = re.compile(
    r"\W*(?:did|was|were|is|are|has|have|does|do)\s(?P<one>[^,;?]+?)\s(?P<verb>die|born|open|opened|start|started|begin|founded|built|released|published|launched"
    r"|finish|finished|end|ended|arrive|leave|depart|close|closed|completed|elected|established|expire|due)\s(?:\w+\s)?"
    r"(?P<side>before|after|earlier\sthan|later\sthan)\s(?P<two>[^,;?]+?)(?:\s(?:did|was|does|is))?[\s?]*$",
    re.IGNORECASE,
)
_OUTLIVED = re.compile(r"\W*did\s(?P<one>[^,;?]+?)\s(?P<verb>outlive|survive)\s(?P<two>[^,;?]+?)[\s?]*$", re.IGNORECASE)
_KEYS = {
    "die": "died death deceased", "outlive": "died death deceased", "survive": "died death deceased", "born": "born birth",
    "open": "opened opening opens", "start": "started start starts begins", "begin": "begins began start starts", "founded": "founded foundation established",
    "built": "built completed", "released": "released release", "published": "published publication", "launched": "launched launch",
    "finish": "finished finish ends end", "end": "ended end ends", "arrive": "arrival arrives arrived", "leave": "departure departs leaves",
    "depart": "departure departs leaves", "close": "closed closing closes", "completed": "completed completion", "elected": "elected election",
    "established": "established founded foundation", "expire": "expires expiry expiration", "due": "due deadline",
}  # fmt: skip
"""By verb the words of the keys that hold its date."""
_KIN = re.compile(
    r"(?:his|her|its|their)\s(?:\w+\s)?(?:husband|wife|spouse|partner|brother|sister|father|mother|son|daughter|twin|rival|predecessor|successor|counterpart)",
    re.IGNORECASE,
)
_BARE_YEAR = re.compile(r"^(?=1\d{3}\b|20\d\d\b)")
_WORD = re.compile(r"[^\W_]+")


def answer_by_dates(question: str, rows: Sequence[str]) -> bool | None:
    """Return the answer that the dates of two records give; ``None`` if the question names no two records with a date.

    Args:
        question: a question for yes or no.
        rows: records, each with its keys and values on one line.
    """
    asked = _ASKED.match(question) or _OUTLIVED.match(question)
    if asked is None or DENIED.search(question):
        return None
    verb = asked["verb"].lower()
    keys = frozenset(_KEYS.get(verb, _KEYS.get(verb.removesuffix("ed"), "")).split())
    records: dict[frozenset[str], set[float]] = {}
    for row in rows[:MAX_RECORDS]:
        spend(len(row))
        fields = read_fields(row[:MAX_TEXT]) or [("", "")]
        sizes = {_size(value) for key, value in fields[1:] if keys & set(_WORD.findall(key.lower()))} - {None}
        name = content_words(fields[0][1])
        if name and sizes:
            records.setdefault(name, set()).update(each for each in sizes if each is not None)
    one = _named(asked["one"], list(records))
    two = _named(asked["two"], [name for name in records if name != one])
    if two is None and one is not None and len(records) == 2 and _KIN.fullmatch(asked["two"].strip()):
        (two,) = records.keys() - {one}
    if one is None or two is None or len(records[one]) != 1 or len(records[two]) != 1:
        return None
    (first,), (second,) = records[one], records[two]
    is_before = (asked.groupdict().get("side") or "after").lower().startswith(("before", "earlier"))
    return None if first == second else (first < second) == is_before


def _named(text: str, names: Sequence[frozenset[str]]) -> frozenset[str] | None:
    """Return the only name of which a text has a word that no other has."""
    words = content_words(text)
    found = [name for name in names if words & name.difference(*(other for other in names if other != name))]
    return found[0] if len(found) == 1 else None


def _size(value: str) -> float | None:
    dates = read_details(_BARE_YEAR.sub("in ", value)).dates
    return _day(dates[0]) if len(dates) == 1 else None


def _day(date: Date) -> float | None:
    if date.year is None:
        return float(date.minute) if date.minute is not None and date.month is None else None
    return date.year * 372.0 + (date.month or 0) * 31 + (date.day or 0)
