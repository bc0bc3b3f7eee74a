"""Find claims that give a record or row the value of another record, row or column.

A record is named by its first text field ("name: Bob"), or by other words that only it has. If the claim names one
record, and a figure or a field's text of the claim stands in another record under a key for which the named record has
something else, the claim has taken it from the wrong record. The same holds for the columns of one row, if the claim
names a column ("on Sundays").
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from workers.evaluation.facts.addresses import Address, read_addresses, without_addresses
from workers.evaluation.facts.calculation.arithmetic import same_quantity
from workers.evaluation.facts.dates import Date, agrees
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.sentence_pieces import AGGREGATES
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.facts.verb_forms import verb_stem
from workers.evaluation.text.words import STOP_WORDS, kept_for_sentences

MAX_RECORDS = 400
"""Maximum number of records that a claim is compared with."""
MAX_CLAIMED = 8
"""Maximum number of values of a claim that are compared."""
MARK = 2
"""Maximum length of a grade or mark."""
MAX_CELL_WORDS = 6
"""Maximum number of words of a field that names something; longer ones are prose."""

_FIELD = re.compile(r"(?P<key>[^:;]{1,60}): (?P<value>[^;]{1,300})(?:; |$)")
_CELL = re.compile(r"(?P<value>[^:;]{1,60})(?:; |$)")
_WORD = re.compile(r"(?<!\w)[A-Z][+-](?!\w)|[^\W_]+(?:[-'’.][^\W_]+)*")
"""A word, or a grade such as "B-"."""
_DIGITS = re.compile(r"(?<![\w.,])\d{1,12}(?![\w]|[.,]\d)")
EVERY = re.compile(r"\bevery (?=\d)", re.IGNORECASE)
_FIGURE = re.compile(r"\W{0,3}\d")
_DAYS = {
    "mon": "monday", "tue": "tuesday", "wed": "wednesday", "thu": "thursday", "fri": "friday", "sat": "saturday",
    "sun": "sunday",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cell:
    """Describe a field of a record.

    Attributes:
        key: stems of its key.
        words: stems of its text; empty if it is a figure or prose.
        quantities: its numbers, read with the key.
        dates: its dates and times.
        numerals: its whole numbers as written, which may be identifiers ("port 5432", "line 17").
        addresses: its addresses.
    """

    key: frozenset[str]
    words: frozenset[str]
    quantities: tuple[Quantity, ...]
    dates: tuple[Date, ...]
    numerals: frozenset[str] = frozenset()
    addresses: frozenset[Address] = frozenset()

    @property
    def is_code(self) -> bool:
        """Return true for a name with a figure, which tells its kind without a key: "db-07"."""
        return len(self.words) == 1 and any(character.isdigit() for word in self.words for character in word)

    def has(self, value: Quantity | Date) -> bool:
        """Return true if the cell holds a value, whatever unit it is written with."""
        if isinstance(value, Date):
            return any(agrees(value, date) for date in self.dates)
        return any(
            same_quantity(value, each) or (not (value.is_unit and each.is_unit) and value.face == each.face)
            for each in self.quantities
        )


Record = tuple[Cell, ...]


def read_records(texts: Sequence[str]) -> list[list[Record]]:
    """Return the records of a source, grouped by their keys; groups of one record only tell columns apart."""
    groups: dict[tuple[frozenset[str], ...], list[Record]] = {}
    lines: list[Cell] = []
    """Lines of one field each, as in a form, until a key comes again."""
    whole = False

    def add(cells: Sequence[Cell]) -> None:
        if len(cells) > 1:
            found = groups.setdefault(tuple(cell.key for cell in cells), [])
            if len(found) < MAX_RECORDS:
                found.append(tuple(cells))

    for text in texts:
        cells = _cells(text)
        if len(cells) == 1 and whole:
            continue  # The fields of a record follow the whole record.
        if len(cells) == 1 and not any(cell.key == cells[0].key for cell in lines):
            lines += cells
            continue
        add(lines)
        lines = list(cells) if len(cells) == 1 else []
        whole = whole or len(cells) > 1
        if len(cells) > 1:
            start = 0
            for place, cell in enumerate(cells):
                # A list of records within one record repeats its first key.
                if place > start and cell.key == cells[start].key:
                    add(cells[start:place])
                    start = place
            add(cells[start:])
    add(lines)
    return list(groups.values())


def join_groups(sources: Iterable[Sequence[Sequence[Record]]]) -> list[list[Record]]:
    """Return the records of all sources, grouped by their keys: each of them may be a source of its own."""
    groups: dict[tuple[frozenset[str], ...], list[Record]] = {}
    for group in chain.from_iterable(sources):
        groups.setdefault(tuple(cell.key for cell in group[0]), []).extend(group)
    return [group[:MAX_RECORDS] for group in groups.values()]


def is_record(text: str) -> bool:
    """Return true if a text is a rendered record or row of several fields."""
    return len(_cells(text)) > 1


@kept_for_sentences
def _cells(text: str) -> tuple[Cell, ...]:
    """Split a record that ``evidence_units`` rendered; empty for prose."""
    first = _CELL.match(text) if _FIELD.match(text) is None else None
    cells, position = [], 0
    if first and first.end() < len(text):
        # The first column of a table may have no title.
        cells.append(_cell("", first["value"]))
        position = first.end()
    while position < len(text):
        match = _FIELD.match(text, position)
        if not match:
            return ()
        cells.append(_cell(match["key"], match["value"]))
        position = match.end()
    return tuple(cells)


def _cell(key: str, value: str) -> Cell:
    details = read_details(f"{key}: {value}" if key else value)
    words = frozenset() if _FIGURE.match(value) or len(_WORD.findall(value)) > MAX_CELL_WORDS else record_words(value)
    return Cell(record_words(key), words, details.quantities, details.dates, _numerals(value), read_addresses(value))


def _numerals(text: str) -> frozenset[str]:
    return frozenset(_DIGITS.findall(text))


@kept_for_sentences
def record_words(text: str) -> frozenset[str]:
    """Return the stems of a text as records are compared; abbreviated days are written out."""
    written = [match[0] for match in _WORD.finditer(text.replace("_", " "))]
    # "A" is an article at the start of a sentence, and a grade or name elsewhere.
    letters = {word.lower() for word in (written[1:] or written) if len(word) == 1 and word.isupper() and word != "I"}
    tokens = [word.lower() for word in written]
    return frozenset(
        verb_stem(_DAYS.get(token, token)) for token in tokens if token not in STOP_WORDS or token in letters
    )


def from_another_record(claim: str, topic: str, groups: Sequence[Sequence[Record]]) -> bool:
    """Return true if a claim names one record and states a value of another one.

    Args:
        claim: plain text of the claim.
        topic: text that names the claim's subject where the claim does not.
        groups: the records of the evidence; see ``read_records``.
    """
    # "Every 20 minutes" is no total.
    words = record_words(EVERY.sub("", f"{topic} {claim}"))
    if not groups or words & AGGREGATES:
        return False
    details = read_details(claim)
    values: list[Quantity | Date] = [each for each in details.quantities if not each.bound and not each.approximate]
    values = [*values, *details.dates][:MAX_CLAIMED]
    codes = [number for _, number in details.codes][:MAX_CLAIMED]
    own, numerals = record_words(claim), _numerals(f"{topic} {claim}")
    addresses = read_addresses(claim)
    unaddressed = record_words(without_addresses(f"{topic} {claim}")) if addresses else frozenset()
    for group in groups:
        if addresses and _is_other_address(addresses, named_record(unaddressed, group, numerals), group):
            return True
        record = named_record(words, group, numerals)
        if record is not None and (
            _misplaced(words, own, values, record, group) or _is_other_code(codes, record, group)
        ):
            return True
    return False


def _is_other_address(addresses: Iterable[Address], record: Record | None, group: Sequence[Record]) -> bool:
    """Return true if an address stands in another record alone, in whose place the named one has its own."""
    return record is not None and any(
        not any(address in cell.addresses for cell in record)
        and any(
            address in cell.addresses and record[place].addresses for other in group for place, cell in enumerate(other)
        )
        for address in addresses
    )


def _is_other_code(codes: Sequence[str], record: Record, group: Sequence[Record]) -> bool:
    """Return true if an identifier stands in another record alone, in whose place this one has its own: "port 5432"."""
    return any(
        not any(code in cell.numerals for cell in record)
        and any(code in cell.numerals and record[place].numerals for other in group for place, cell in enumerate(other))
        for code in codes
    )


def _misplaced(
    words: frozenset[str],
    own: frozenset[str],
    values: Sequence[Quantity | Date],
    record: Record,
    group: Sequence[Record],
) -> bool:
    others = [other for other in group if other is not record]
    for value in values:
        if any(cell.has(value) for cell in record):
            if _in_other_column(words, value, values, record):
                return True
            continue
        places = {place for other in others for place, cell in enumerate(other) if cell.has(value)}
        if any(record[place].quantities or record[place].dates for place in places):
            return True
    if _is_mark_of_other_column(words, own, record):
        return True
    for other in others:
        for place, cell in enumerate(other):
            mine = record[place]
            if not (place and cell.words and cell.words <= own and mine.words) or mine.words & own:
                continue
            if cell.key & words or (cell.is_code and mine.words != record[0].words):
                return True
    return False


def _is_mark_of_other_column(words: frozenset[str], own: frozenset[str], record: Record) -> bool:
    """Return true if a claim names one column and states the grade or mark of another: "a C in physics"."""
    named = [cell for cell in record[1:] if cell.key and cell.key <= words]
    if len(named) != 1 or not named[0].words or named[0].words & own:
        return False
    return any(
        len(cell.words) == 1 and max(map(len, cell.words)) <= MARK and cell.words <= own
        for cell in record[1:]
        if cell is not named[0]
    )


def _in_other_column(
    words: frozenset[str], value: Quantity | Date, values: Sequence[Quantity | Date], record: Record
) -> bool:
    """Return true if a claim names one column of a row and states the value of another column."""
    named = [cell for cell in record[1:] if cell.key and cell.key <= words and (cell.quantities or cell.dates)]
    holding = [cell for cell in record if cell.has(value)]
    if len(named) != 1 or any(map(named[0].has, values)) or any(cell.key & words for cell in holding):
        return False
    kinds = {type(each) for cell in holding for each in (*cell.quantities, *cell.dates)}
    return any(type(each) in kinds for each in (*named[0].quantities, *named[0].dates))


def named_record(
    words: frozenset[str], group: Sequence[Record], numerals: frozenset[str] = frozenset()
) -> Record | None:
    """Return the record that a text names; ``None`` if it names none or several.

    Args:
        words: stems of the text; see ``record_words``.
        group: records with the same keys.
        numerals: whole numbers of the text; "line 17" names the row whose first cell is 17.
    """
    numbered = [
        record
        for record in group
        if record[0].numerals and not record[0].words and record[0].numerals <= numerals and record[0].key & words
    ]
    if len(numbered) == 1 and len(group) > 1:
        return numbered[0]
    if len(group) == 1:
        return group[0] if group[0][0].words and group[0][0].words <= words else None
    shared = frozenset.intersection(*(frozenset().union(*(cell.words for cell in record)) for record in group))
    by_name = [record for record in group if record[0].words and record[0].words <= words]
    longest = max((len(record[0].words) for record in by_name), default=0)
    best = [record for record in by_name if len(record[0].words) == longest]
    if best:
        nested = all(record[0].words <= best[0][0].words for record in by_name)
        return best[0] if len(best) == 1 and nested else None
    scores = [len(words & (record[0].words - shared)) for record in group]
    top = max(scores)
    return group[scores.index(top)] if top and scores.count(top) == 1 else None
