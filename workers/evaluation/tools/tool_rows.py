"""Find the names of rows in a claim, and hold its figures against the rows that it names."""

import re
from collections.abc import Iterator, Sequence

from workers.evaluation.budget import spend
from workers.evaluation.facts.dates import Date, read_dates
from workers.evaluation.facts.units import NUMBER_WORDS
from workers.evaluation.tools.results.tool_documents import MESSAGE
from workers.evaluation.tools.results.tool_results import (
    CLOCK,
    COMPOUND,
    NUMBER_MARK,
    PREFIX,
    TOKEN,
    Located,
    Mention,
    ToolResults,
    dates_in,
    day_of,
)
from workers.evaluation.tools.tool_figures import (
    KEY_UNITS,
    MONEY,
    key_words,
)

MAX_MENTIONS = 40
"""Maximum number of mentions of rows in a claim."""


def mentions_in(claim: str, results: ToolResults) -> list[Mention]:
    """Return the names of rows in a claim, in order; a longer name hides the shorter ones within."""
    tokens = [
        (match[0].casefold().removesuffix("'s").removesuffix("’s"), match.start(), match.end())
        for match in TOKEN.finditer(claim)
    ]
    words = [day_of(token) or token for token, _, _ in tokens]
    matches = [
        (len(name), index, path, rows)
        for index, word in enumerate(words)
        for name, path, rows in (*results.names_from(word), *results.names_from(f"{word[:5]}*"))
        if _is_named(name, words[index : index + len(name)])
    ]
    spend(len(words) + len(matches))
    found: list[Mention] = []
    taken: dict[int, int] = {}
    for size, index, path, rows in sorted(matches, key=lambda each: (-each[0], each[1], each[2]))[:MAX_MENTIONS]:
        places = range(index, index + size)
        if all(taken.get(place, 0) <= size for place in places):
            taken.update((place, max(size, taken.get(place, 0))) for place in places)
            found.append(Mention(tokens[index][1], tokens[index + size - 1][2], path, rows))
    found += (*_dated(claim, results), *_timed(claim, results), *_numbered(claim, results))
    return sorted(found, key=lambda each: (each.start, each.end))


def _is_named(name: tuple[str, ...], words: Sequence[str]) -> bool:
    if name[0].endswith("*"):
        return words[0].startswith(name[0][:-1])
    return tuple(words) == name


def _dated(claim: str, results: ToolResults) -> Iterator[Mention]:
    """Yield the days of a claim that rows of a table have."""
    for date in told_dates(claim):
        place = (
            re.search(rf"(?<![\d.,]){date.day}(?:st|nd|rd|th)?(?![\d.,:]\d)\b", claim)
            if date.day and date.month
            else None
        )
        if place is None:
            continue
        for path, rows in results.rows_of(date).items():
            yield Mention(place.start(), place.end(), path, rows)


def _timed(claim: str, results: ToolResults) -> Iterator[Mention]:
    """Yield the times of day of a claim that some rows of a table have and others lack."""
    for match in _NAMED_TIME.finditer(claim):
        if rows := results.rows_at(_NAMED_MINUTES[match[0].lower()]):
            yield Mention(match.start(), match.end(), ("time",), rows)
    for match in CLOCK.finditer(claim):
        for date in read_dates(match[0])[0][:1]:
            if date.minute is not None and (rows := results.rows_at(date.minute)):
                yield Mention(match.start(), match.end(), ("time",), rows)


_NAMED_MINUTES = {"noon": 720, "midday": 720, "midnight": 0}
_NAMED_TIME = re.compile(rf"\b(?:{'|'.join(_NAMED_MINUTES)})\b", re.IGNORECASE)


def _numbered(claim: str, results: ToolResults) -> Iterator[Mention]:
    """Yield the numbers by which a claim names rows: "sample 3", "order no. 5521", "issue #412"."""
    for match in _NUMBERED.finditer(claim):
        named = results.rows_numbered(match[1].casefold()[:PREFIX], match[2])
        if not named and match[1].casefold() in _RECORDS:
            named = results.rows_numbered(NUMBER_MARK, match[2])
        for path, rows in named:
            yield Mention(match.start(), match.end(), path, rows)
    for match in _MARKED.finditer(claim):
        for path, rows in results.rows_numbered(NUMBER_MARK, match[1]):
            yield Mention(match.start(), match.end(), path, rows)


_MARKED = re.compile(rf"(?<![\w{NUMBER_MARK}]){NUMBER_MARK}(\d{{1,9}})\b")
_RECORDS = frozenset(
    ("account", "alert", "article", "booking", "bug", "build", "case", "charge", "claim", "comment", "contract", "customer", "deployment",
     "event", "incident", "invoice", "issue", "item", "job", "offer", "option", "order", "parcel", "payment", "policy", "post", "product",
     "record", "request", "reservation", "row", "run", "shipment", "task", "ticket", "user")
)  # fmt: skip
"""Nouns of records whose column of numbers has no noun of its own: "issue 412" over ``{"number": 412}``."""


def affirmed(claim: str, mentions: Sequence[Mention]) -> list[Mention]:
    """Return the names of rows without those that a claim denies: "#412 has not been closed" names no closed row."""
    ends = [match.end() for match in _DENIAL.finditer(claim)]
    kept = [
        each
        for each in mentions
        if not any(end <= each.start and len(TOKEN.findall(claim[end : each.start])) < REACH for end in ends)
    ]
    return kept or list(mentions)


_DENIAL = re.compile(r"\b(?:not|never|no longer)\b|n['’]t\b", re.IGNORECASE)
REACH = 4
"""Most words between a denial and what it denies: "has not yet been shipped"."""


def chosen_by_amount(figures: Sequence[Located], results: ToolResults) -> Iterator[Mention]:
    """Yield the rows that a claim chooses by an amount of money that no other row has: "the payment of €49.99"."""
    for each in figures:
        if not (each.quantity.is_unit and each.quantity.dimension in MONEY) or each.quantity.approximate:
            continue
        stated = [source for source in each.sources if source.operation == "stated"]
        rows = frozenset[tuple[int, int]]().union(*(source.rows for source in stated))
        if len(rows) == 1 and len(results.tables[next(iter(rows))[0]].rows) > 1:
            yield Mention(each.start, each.start + 1, stated[0].path, rows)


_NUMBERED = re.compile(
    r"\b([^\W\d_]{3,20})\s+(?:(?:no\.?|number|nr\.?|#|id)\s*)?(\d{1,9})(?![\d:%]|[.,]\d)", re.IGNORECASE
)


def _within(mention: Mention, other: Mention) -> bool:
    inside = other.start <= mention.start and mention.end <= other.end
    return inside and other.end - other.start > mention.end - mention.start


def _has_odd_member(mentions: Sequence[Mention]) -> bool:
    """Return true if a claim lists rows under one value of a column, and some have it and others have another."""
    for value in mentions:
        others = [each for each in mentions if each.path != value.path and len(each.rows) == 1]
        if len(value.rows) < 2 or len({each.path for each in others}) != 1 or len(others) < 2:
            continue
        if sum(each.path == value.path for each in mentions) > 1:
            continue
        held = [bool(each.rows & value.rows) for each in others]
        if any(held) and not all(held):
            return True
    return False


def is_crossed(claim: str, mentions: Sequence[Mention]) -> bool:
    """Return true if a clause names values of one table in several columns that no row has together."""
    start = 0
    for end in (*(match.start() for match in _CLAUSE.finditer(claim)), len(claim)):
        named = [each for each in mentions if start <= each.start < end]
        start = end
        if _is_of_other_code(claim, named):
            return True
        named = [each for each in named if not any(_within(each, other) for other in named)]
        columns = [each.path for each in named]
        if len(named) < 2 or len(set(columns)) < len(columns):
            continue
        places = {place for each in named for place, _ in each.rows}
        rows = rows_by_place(named)
        if len(places) == 1 and len(rows) > 1 and not frozenset.intersection(*rows):
            return True
    return _has_odd_member(mentions)


def rows_by_place(mentions: Sequence[Mention]) -> list[frozenset[tuple[int, int]]]:
    """Return the rows of each name; a name that stands in two columns, as author and assignee, has the rows of both."""
    found: dict[tuple[int, int], frozenset[tuple[int, int]]] = {}
    for each in mentions:
        place = (each.start, each.end)
        found[place] = found.get(place, frozenset()) | each.rows
    return list(found.values())


def _is_of_other_code(claim: str, named: Sequence[Mention]) -> bool:
    """Return true if a clause says of "worker-3" what only lines of a log on others say: its words, or their time."""
    codes = [each for each in named if each.path == (MESSAGE,) and COMPOUND.fullmatch(claim[each.start : each.end])]
    own = frozenset[tuple[int, int]]().union(*(each.rows for each in codes))
    others = (each for each in named if each not in codes and each.path in ((MESSAGE,), ("time",)))
    return bool(codes) and any(not each.rows & own for each in others)


_CLAUSE = re.compile(r"[;:(]|,\s|\b(?:and|but|while|whereas|than|over|though)\b", re.IGNORECASE)


def is_misplaced(claim: str, figures: Sequence[Located], mentions: Sequence[Mention]) -> bool:
    """Return true if a figure comes from other rows than the one beside whose name it stands.

    Names stand before their figures or behind them; one of the two must fit all figures of the claim.
    """
    held = [
        each
        for each in figures
        if not each.quantity.bound and any(source.operation == "stated" for source in each.sources)
    ]
    if not held or not mentions:
        return False
    derived, told = (
        bool(_DERIVING.search(_BOUND.sub("", _without_listed_by(claim, mentions)))),
        {word.casefold()[:PREFIX] for word in TOKEN.findall(claim)},
    )
    return not any(
        all(_fits(each, mentions, told, is_before=side, is_derived=derived) for each in held) for side in (True, False)
    )


def _without_listed_by(claim: str, mentions: Sequence[Mention]) -> str:
    """Return a claim without the "by" of a list behind a colon, which gives stated figures: "late: IC 564 by 12 minutes, …"."""
    colon = claim.find(": ")
    listed = [each for each in mentions if 0 <= colon < each.start and claim.startswith(_LISTED, each.end)]
    for each in listed if len(listed) > 1 else ():
        claim = f"{claim[: each.end]}{' ' * len(_LISTED)}{claim[each.end + len(_LISTED) :]}"
    return claim


_LISTED = " by "


def _fits(figure: Located, mentions: Sequence[Mention], told: set[str], *, is_before: bool, is_derived: bool) -> bool:
    governing = _governing(figure.start, mentions, is_before=is_before) or _governing(
        figure.start, mentions, is_before=not is_before
    )
    if not governing:
        return True
    places = {place for place, _ in governing}
    is_named = any(
        source.operation == "stated"
        and not source.rows & governing
        and any(place in places for place, _ in source.rows)
        and not unsaid(source.path, told)[0]
        and unsaid(source.path, told)[1]
        for source in figure.sources
    )
    for source in figure.sources:
        own = source.rows
        if own & governing and (source.operation == "stated" or (is_derived and not is_named)):
            return True
        if source.operation == "stated" and not any(place in places for place, _ in own):
            return True
    return False


_DERIVING = re.compile(
    r"\b(?:by|more|fewer|less|differen\w+|gap|margin|totals?|together|altogether|combined|average\w*|mean|sum|left|free"
    r"|remain\w*|still|of the|times|twice|shares?|out of|half|in all|overall|net|per)\b",
    re.IGNORECASE,
)
"""Words of derived figures: a figure that another row states as well is not derived without one of them."""

_BOUND = re.compile(rf"(?<!\d )\b(?:more|fewer|less) than (?=[$€£]?\d|(?:{'|'.join(NUMBER_WORDS)})\b)", re.IGNORECASE)
"""Words of a limit, which derives nothing: "more than five years"."""


def _governing(start: int, mentions: Sequence[Mention], *, is_before: bool) -> frozenset[tuple[int, int]]:
    """Return the rows that the mentions on one side of a figure name: the nearest, narrowed by its neighbours."""
    side = [each for each in mentions if (each.end <= start if is_before else each.start >= start)]
    if not side:
        return frozenset()
    ordered = list(reversed(side)) if is_before else side
    first = ordered[0]
    # One name may stand in two columns, as sender of one row and recipient of another.
    alike = [each for each in ordered if (each.start, each.end) == (first.start, first.end)]
    rows = frozenset[tuple[int, int]]().union(*(each.rows for each in alike))
    for other in ordered[len(alike) :]:
        if other.path == ordered[0].path and not (other.start < ordered[0].end and ordered[0].start < other.end):
            break
        narrowed = rows & other.rows
        if not narrowed:
            break
        rows = narrowed
    return rows


_GENERIC = frozenset(
    ("value", "amount", "speed", "total", "number", "level", "current", "name", "text", "data", "result", "results",
     "avg", "mean", "main", "count", "label", "code", "size", "pv", "actual")
)  # fmt: skip
"""Words of keys that a claim need not say."""


def unsaid(path: Sequence[str], told: set[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words of a key that a claim does not say and need, and those that it says."""
    words = frozenset(word for word in key_words(path[-2:]) if word not in KEY_UNITS and word not in _GENERIC)
    said = frozenset(word for word in words if word[:PREFIX] in told)
    return words - said, said


def told_dates(claim: str) -> list[Date]:
    """Return the dates of a claim without limits ("after 8:00") and without single years."""
    limits = {date for match in _LIMIT.finditer(claim) for date in read_dates(match[0])[0]}
    return [date for date in dates_in(_PACE.sub(" ", claim)) if date not in limits]


_PACE = re.compile(
    r"\b\d{1,2}:\d{2}(?=\s?(?:min(?:utes?)?\.?\s)?(?:per|/|an?|each|pro)\s?(?:k(?:m|ilomet)|mi(?:le)?\b|lap|round|100))",
    re.IGNORECASE,
)
_LIMIT = re.compile(r"\b(?:after|before|by|since|until|till|past)\s+\S{1,12}(?:\s?[ap]\.?m\b)?", re.IGNORECASE)
