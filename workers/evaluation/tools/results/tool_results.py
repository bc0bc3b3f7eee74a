"""Index the results of the tools of an answer: figures, dates, names of rows, words."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date as date_of
from datetime import datetime, timedelta
from functools import cached_property
from itertools import islice
from typing import Any

from workers.evaluation.budget import spend
from workers.evaluation.facts.dates import Date, DatePool, read_dates
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.text.words import STOP_WORDS, content_words
from workers.evaluation.tools.results.figure_index import FigureIndex
from workers.evaluation.tools.results.tool_documents import MESSAGE
from workers.evaluation.tools.results.tool_tables import Cell, Table, read_tables, tables_of
from workers.evaluation.tools.tool_figures import (
    Figure,
    figures_of,
    has_value,
    key_words,
    moment_of,
    stems_of,
)

MAX_DATES = 40
"""Maximum number of dates of results that are calculated with."""

MAX_STATED = 200
"""Maximum number of stated figures that are multiplied."""

MAX_SIDED_ROWS = 100
"""Maximum number of rows whose two sides a claim is compared with."""

PREFIX = 4
"""Number of letters by which words of results and claims are compared: "waitlist" and "waiting list"."""

CLOCK = re.compile(
    r"(?<![\d:.])(?:[01]?\d|2[0-4])(?:[:.][0-5]\d(?::[0-5]\d)?(?:\s?[ap]\.?m\b\.?)?|\s?[ap]\.?m\b\.?)(?![\d:])",
    re.IGNORECASE,
)
"""A time of day: "14:00", "2 pm"."""

TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")

COMPOUND = re.compile(r"(?<![\w.-])[^\W\d_]+-\d{1,6}(?![\w.-])")
"""A name with a number: "worker-2"."""

NUMBER_MARK = "#"

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_YEAR = re.compile(r"(?<!\d)(20\d\d)(?![\d-])")

_ISO = re.compile(r"(?<!\d)((?:19|20)\d\d)-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d))?)?(?!\d)")

_ZONED = re.compile(r"T(\d\d):(\d\d)(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)")

_STAMP = re.compile(r"(?<!\d)(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)")

_DAYS_OF_KEYS = {"days": 1.0, "weeks": 7.0}

_CODE = re.compile(r"([A-Za-z]{2,3})(?:[-_]([A-Za-z]{2}))?")

_PROPER_NAME = re.compile(r"[A-Z][\w.’'-]+(?: [A-Z][\w.’'-]*)*")

_MAILBOX = re.compile(r"([\w.+-]{2,64})@[\w-]+(?:\.[\w-]+)+")

_PLACES = frozenset(("city", "place", "location", "town", "region", "country", "destination", "origin", "near", "area"))
_PERSONS = frozenset(
    ("name", "employee", "person", "user", "customer", "contact", "owner", "assignee", "author", "driver")
)
_NO_VALUES = frozenset(("", "0", "false", "no", "none", "null"))


@dataclass(frozen=True, slots=True)
class Mention:
    """Describe a name of rows in a claim.

    Attributes:
        start: offset in the claim.
        end: offset after its last character.
        path: column of the name.
        rows: the rows that have it.
    """

    start: int
    end: int
    path: tuple[str, ...]
    rows: frozenset[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Located:
    """Describe a figure of a claim with its place.

    Attributes:
        quantity: the figure.
        start: offset in the claim.
        sources: figures of results that it may be.
    """

    quantity: Quantity
    start: int
    sources: tuple[Figure, ...]


class ToolResults:
    """Index the results of the tools of an answer.

    Args:
        contents: results of the calls that succeeded.
        arguments: arguments of all calls.
        others: other texts that may state a detail: the question, times of calls, what failed calls returned.
        documents: contents of other contexts.
    """

    def __init__(
        self, contents: Sequence[str], arguments: Sequence[Any], others: Sequence[str], documents: Sequence[str] = ()
    ) -> None:
        others = (*others, *documents)
        self.has_documents = bool(documents)
        self.lookups = 0
        self.contents = tuple(contents)
        self.tables: tuple[Table, ...] = tuple(table for content in contents for table in read_tables(content))
        self._given = tuple(table for each in arguments for table in tables_of(each))
        self._texts = (*contents, *others, *(cell.text for cell in cells_of(self._given)))
        spend(sum(map(len, self._texts)))

    @cached_property
    def figures(self) -> list[Figure]:
        """Return the figures that the results state and give."""
        return figures_of(self.tables)

    @cached_property
    def figure_index(self) -> FigureIndex:
        """Return these figures by their sizes."""
        return FigureIndex(self.figures)

    @cached_property
    def arguments(self) -> list[Figure]:
        """Return the figures of the arguments."""
        return figures_of(self._given)

    @cached_property
    def quantities(self) -> list[Quantity]:
        """Return the quantities in the texts of results, arguments and other sources."""
        texts = (
            *self._texts,
            *(" ".join(TOKEN.findall(cell.text.replace("_", " "))) for cell in cells_of(self._given)),
        )
        return [number for text in texts for number in read_details(text).quantities]

    @cached_property
    def dates(self) -> list[Date]:
        """Return the dates of results, arguments and other sources, also those since the epoch."""
        found = [date for text in self._texts for date in dates_in(text)]
        found += [Date(year=int(match[1])) for text in self._texts for match in _YEAR.finditer(text)]
        for cell in (*cells_of(self.tables), *cells_of(self._given)):
            found += dates_in(cell.text)
            if (moment := moment_of(cell)) is not None:
                found += [
                    Date(moment.year, moment.month, moment.day),
                    Date(minute=moment.hour * 60 + moment.minute),
                ]
        return list(dict.fromkeys(found))

    @cached_property
    def pool(self) -> DatePool:
        """Return the dates for comparison."""
        return DatePool(self.dates)

    @cached_property
    def days(self) -> list[date_of]:
        """Return the whole dates."""
        years = [date.year for date in self.dates if date.year]
        found = []
        for date in self.dates[:MAX_DATES]:
            year = date.year or (years[0] if years else None)
            if year and date.month and date.day:
                with suppress(ValueError):
                    found.append(date_of(year, date.month, date.day))
        return list(dict.fromkeys(found))

    def _is_zoned(self, minute: int) -> bool:
        """Return true if a time of day is one of the results in another time zone."""
        known = (60 * int(match[1]) + int(match[2]) for text in self._texts for match in _ZONED.finditer(text))
        epochs = (
            moment.hour * 60 + moment.minute
            for cell in cells_of(self.tables)
            if (moment := moment_of(cell)) is not None
        )
        return any((each - minute) % 60 == 0 for each in (*known, *epochs))

    @cached_property
    def moments(self) -> list[datetime]:
        """Return the times of the results with date and hour, or within one day."""
        found = []
        for text in self._texts:
            for match in islice(_STAMP.finditer(text), MAX_DATES):
                with suppress(ValueError):
                    found.append(datetime.fromisoformat(f"{match[1]}T{match[2]}"))
        found += [
            datetime(2000, 1, 1) + timedelta(minutes=date.minute) for date in self.dates if date.minute is not None
        ]
        return list(dict.fromkeys(found))[:MAX_DATES]

    def rows_of(self, date: Date) -> dict[tuple[str, ...], frozenset[tuple[int, int]]]:
        """Return the rows of tables with several rows that have a date, by column; empty if all rows have it."""
        found: dict[tuple[str, ...], set[tuple[int, int]]] = {}
        for (place, row), path, own in self._dated_cells:
            if DatePool([own]).agrees(date) and own.day:
                found.setdefault(path, set()).add((place, row))
        return {path: frozenset(rows) for path, rows in found.items()}

    def rows_at(self, minute: int) -> frozenset[tuple[int, int]]:
        """Return the rows that have a time of day; empty if none or all rows of their table have it."""
        found = self._timed_rows.get(minute, frozenset[tuple[int, int]]())
        places = {place for place, _ in found}
        return found if all(len(self.tables[place].rows) > _rows_in(found, place) for place in places) else frozenset()

    @cached_property
    def _timed_rows(self) -> dict[int, frozenset[tuple[int, int]]]:
        found: dict[int, set[tuple[int, int]]] = {}
        for place, table in enumerate(self.tables):
            for row, cells in enumerate(table.rows if len(table.rows) > 1 else ()):
                for cell in cells:
                    for date in dates_in(cell.text) if cell.number is None and ":" in cell.text else ():
                        if date.minute is not None:
                            found.setdefault(date.minute, set()).add((place, row))
        return {minute: frozenset(rows) for minute, rows in found.items()}

    def rows_numbered(self, word: str, number: str) -> Sequence[tuple[tuple[str, ...], frozenset[tuple[int, int]]]]:
        """Return the rows that a word and a number name ("sample 3"), by column.

        Args:
            word: beginning of a word of the column or its table; ``NUMBER_MARK`` for any column of numbers.
            number: digits.
        """
        return [(path, frozenset(rows)) for path, rows in self._numbered_rows.get((word, number), {}).items()]

    @cached_property
    def _numbered_rows(self) -> dict[tuple[str, str], dict[tuple[str, ...], set[tuple[int, int]]]]:
        found: dict[tuple[str, str], dict[tuple[str, ...], set[tuple[int, int]]]] = {}
        for place, table in enumerate(self.tables):
            for row, cells in enumerate(table.rows if len(table.rows) > 1 else ()):
                for cell in cells:
                    words = key_words((*table.name[-1:], *cell.path))
                    if cell.text.isdecimal() and (words[-1:] == words[:1] or words[-1] in _NUMBERING):
                        mark = {NUMBER_MARK} if len(cell.path) == 1 and words[-1] in _NUMBERING else set()
                        for word in ({each.rstrip("s")[:PREFIX] for each in words} - _NUMBERING) | mark:
                            paths = found.setdefault((word, cell.text), {})
                            paths.setdefault(cell.path, set()).add((place, row))
        return found

    @cached_property
    def _dated_cells(self) -> list[tuple[tuple[int, int], tuple[str, ...], Date]]:
        return [
            ((place, row), cell.path, date)
            for place, table in enumerate(self.tables)
            if len(table.rows) > 1
            for row, cells in enumerate(table.rows)
            for cell in cells
            for date in _days_in(cell)
        ][:MAX_STATED]

    def states(self, figure: Located) -> bool:
        """Return true if a figure is one of the results or of the arguments, and not of a document."""
        return bool(figure.sources) or any(has_value(each, figure.quantity) for each in self.arguments)

    def dated(self, date: Date) -> bool:
        """Return true if a date is one of the results or of the arguments."""
        return self._own_dates.agrees(date)

    def knows(self, date: Date) -> bool:
        """Return true if a date is stated, or lies a stated number of days behind a stated date."""
        if self.pool.agrees(date) or (date.minute is not None and self._is_zoned(date.minute)):
            return True
        if not (date.month and date.day):
            return False
        spans = [number.values[0] / 86400.0 for number in self.quantities if number.dimension == "time"]
        spans += [each.number * days for each in self.stated for days in _days_of(each)]
        # Records say "no end" with the last day that there is, behind which no day lies.
        return any(
            (ahead := day + timedelta(days=span)).month == date.month and ahead.day == date.day
            for day in self.days
            for span in spans
            if span == int(span) and 0 < span <= min(400, (date_of.max - day).days)
        )

    @cached_property
    def multiples(self) -> list[float]:
        """Return what stated figures give for counts of the arguments and for percentages of other texts."""
        counts = [each.number for each in self.arguments if each.operation == "stated" and 1 < each.number <= 60]
        shares = [number.values[0] / 100.0 for number in self.quantities if number.dimension == "percent"][:10]
        stated = self.stated[:MAX_STATED]
        amounts = [value for figure in stated for value in (figure.number, figure.number / 100.0)]
        factors = (*counts[:10], *(factor for share in shares for factor in (share, 1 + share, 1 - share)))
        return [amount * factor for amount in amounts for factor in factors]

    @cached_property
    def words(self) -> frozenset[str]:
        """Return the stems of all texts and keys."""
        keys = frozenset[str]().union(
            *(stems_of(cell.path) for cell in (*cells_of(self.tables), *cells_of(self._given)))
        )
        spaced = (re.sub(r"[_/.-]", " ", text) for text in self._texts)
        return keys.union(*(content_words(text) for text in (*self._texts, *spaced)))

    @cached_property
    def codes(self) -> frozenset[str]:
        """Return the values and arguments that are nothing but a code of two or three letters, or a locale ("de-AT")."""
        codes = (_CODE.fullmatch(cell.text) for cell in (*cells_of(self.tables), *cells_of(self._given)))
        return frozenset(part.casefold() for code in codes if code for part in code.groups() if part)

    @cached_property
    def text_keys(self) -> frozenset[tuple[str, ...]]:
        """Return the beginnings of the words of each key that has a text as its value."""
        cells = (cell for cell in cells_of(self.tables) if cell.number is None and cell.text)
        return frozenset(
            tuple(word[:PREFIX] for word in key_words(path)) for path in {cell.path[-1:] for cell in cells}
        )

    @cached_property
    def proper_names(self) -> frozenset[frozenset[str]]:
        """Return the tokens of each value whose words begin with a capital, in lower case."""
        names = {cell.text for cell in cells_of(self.tables) if _PROPER_NAME.fullmatch(cell.text)}
        return frozenset(frozenset(token.casefold() for token in TOKEN.findall(name)) for name in names)

    @cached_property
    def places_asked(self) -> frozenset[frozenset[str]]:
        """Return the tokens of each place in the arguments, in lower case."""
        cells = (cell for cell in cells_of(self._given) if _PLACES & set(key_words(cell.path[-1:])))
        names = (cell.text for cell in cells if cell.number is None and cell.text)
        return frozenset(frozenset(token.casefold() for token in TOKEN.findall(name)) for name in names)

    @cached_property
    def first_rows(self) -> Sequence[tuple[Cell, ...]]:
        """Return the first rows of all tables."""
        return list(islice((cells for table in self.tables for cells in table.rows), MAX_SIDED_ROWS))

    @cached_property
    def names_in_rows(self) -> Sequence[Sequence[tuple[Cell, tuple[str, ...]]]]:
        """Return the cells with names in the first rows, each with the words of its keys."""
        return [
            [
                (cell, key_words(cell.path))
                for cell in cells
                if cell.number is None and cell.text[:1].isalpha() and len(cell.text) <= 80
            ]
            for cells in self.first_rows
        ]

    @cached_property
    def text(self) -> str:
        """Return all texts in one, in lower case."""
        return "\n".join(self._texts).casefold()

    def names_from(self, token: str) -> Sequence[tuple[tuple[str, ...], tuple[str, ...], frozenset[tuple[int, int]]]]:
        """Return the names of rows that begin with a token: their tokens, their column and their rows."""
        return self._names.get(token, ())

    @cached_property
    def _names(self) -> dict[str, list[tuple[tuple[str, ...], tuple[str, ...], frozenset[tuple[int, int]]]]]:
        found: dict[tuple[tuple[str, ...], tuple[str, ...]], set[tuple[int, int]]] = {}
        for place, table in enumerate(self.tables):
            if len(table.rows) < 2:
                continue
            for row, cells in enumerate(table.rows):
                for cell in cells:
                    for tokens in names_of_cell(cell):
                        found.setdefault((tokens, cell.path), set()).add((place, row))
        index: dict[str, list[tuple[tuple[str, ...], tuple[str, ...], frozenset[tuple[int, int]]]]] = {}
        for (tokens, path), rows in found.items():
            index.setdefault(tokens[0], []).append((tokens, path, frozenset(rows)))
        return index

    @cached_property
    def stated(self) -> list[Figure]:
        """Return the figures that the results state."""
        return [figure for figure in self.figures if figure.operation == "stated"]

    @cached_property
    def values(self) -> frozenset[tuple[str, ...]]:
        """Return the tokens of the texts that the results have as values."""
        names = (name for cell in cells_of(self.tables) for name in names_of_cell(cell))
        return frozenset(name for name in names if len("".join(name)) > 2 and name[0] not in STOP_WORDS)

    @cached_property
    def prefixes(self) -> frozenset[str]:
        """Return the beginnings of the words of all texts and keys."""
        return frozenset(word[:PREFIX] for word in self.words)

    @cached_property
    def keys(self) -> frozenset[str]:
        """Return the beginnings of the words of all keys."""
        return frozenset(word[:PREFIX] for cell in cells_of(self.tables) for word in key_words(cell.path))

    @cached_property
    def empty_keys(self) -> frozenset[str]:
        """Return the beginnings of the words of keys whose value is zero, no, empty or unknown."""
        cells = (cell for cell in cells_of(self.tables) if cell.text.lower() in _NO_VALUES)
        return frozenset(word[:PREFIX] for cell in cells for word in key_words(cell.path) if len(word) > 3)

    @cached_property
    def log(self) -> tuple[str, ...]:
        """Return the lines of the logs among the results."""
        return tuple(cell.text for cell in cells_of(self.tables) if cell.path == (MESSAGE,))

    @cached_property
    def only_answer(self) -> bool | None:
        """Return the answer of a program that returned nothing but yes or no; ``None`` for other results."""
        told = {content.strip().casefold() for content in self.contents}
        return {"true": True, "false": False}.get(next(iter(told))) if len(told) == 1 else None

    @cached_property
    def argument_words(self) -> frozenset[str]:
        """Return the beginnings of the words of the arguments."""
        return frozenset(word[:PREFIX] for cell in cells_of(self._given) for word in key_words((cell.text,)))

    @cached_property
    def _own_dates(self) -> DatePool:
        cells = (*cells_of(self.tables), *cells_of(self._given))
        return DatePool(found for cell in cells for found in dates_in(cell.text))


_NUMBERING = frozenset(("id", "no", "nr", "number", "num", "index", "key"))
"""Last words of the keys of numbers that are names of rows."""


def _days_of(figure: Figure) -> Iterator[float]:
    """Yield the number of days in the unit of a key: ``return_window_days``, ``notice.weeks``."""
    words = key_words(figure.path[-1:])
    if words and words[-1] in _DAYS_OF_KEYS:
        yield _DAYS_OF_KEYS[words[-1]]


def _rows_in(rows: frozenset[tuple[int, int]], place: int) -> int:
    return sum(own == place for own, _ in rows)


def dates_in(text: str) -> list[Date]:
    """Return the dates and months of a text, those of ISO 8601 included: ``2026-04``, ``2026-04-02T08:00:00Z``."""
    found = list(read_dates(text)[0])
    for match in _ISO.finditer(text):
        year, month, day, hour, minute = (int(part) if part else None for part in match.groups())
        if month and 1 <= month <= 12:
            found.append(Date(year, month, day))
            if hour is not None and minute is not None and hour < 24:
                found.append(Date(minute=hour * 60 + minute))
    return list(dict.fromkeys(found))


def _days_in(cell: Cell) -> Sequence[Date]:
    """Return the first date of a text, or the day of a time since the epoch."""
    if cell.number is None:
        return dates_in(cell.text)[:1]
    moment = moment_of(cell)
    return [] if moment is None else [Date(moment.year, moment.month, moment.day)]


def cells_of(tables: Sequence[Table]) -> Iterator[Cell]:
    """Return the cells of tables."""
    return (cell for table in tables for row in table.rows for cell in row)


def names_of_cell(cell: Cell) -> Iterator[tuple[str, ...]]:
    """Yield the token sequences under which a cell may be named."""
    text = cell.text
    if cell.number is not None or not text or len(text) > 80 or text.lower() in ("true", "false", "yes", "no", "none"):
        return
    if mailbox := _MAILBOX.fullmatch(text):
        parts = tuple(token.casefold() for token in TOKEN.findall(mailbox[1]))
        yield from ((part,) for part in parts if len(part) >= 3 and part.isalpha() and part not in STOP_WORDS)
    tokens = tuple(day_of(token.casefold()) or token.casefold() for token in TOKEN.findall(text))
    if tokens and not all(token.isdecimal() for token in tokens):
        yield tokens
        if len(tokens) == 1 and text.isupper() and text.isalpha() and len(text) >= PREFIX:
            yield (f"{tokens[0][:5]}*",)  # SUCCESS is written as "succeeded"
        if len(tokens) > 2:
            yield tokens[:2]
            yield from (tuple(TOKEN.findall(code.casefold())) for code in COMPOUND.findall(text))
        if len(tokens) > 1:
            yield from ((token,) for token in tokens if len(token) >= 4 and not token.isdecimal())
            if _PERSONS & set(key_words(cell.path[-1:])) and len(tokens[0]) == 3 and tokens[0] not in STOP_WORDS:
                yield tokens[:1]  # "Ana" for Ana Ruiz


def day_of(token: str) -> str | None:
    """Return the day of the week that a word or its beginning names."""
    return next((day for day in _DAYS if len(token) >= 3 and day.startswith(token.removesuffix("s"))), None)
