"""Select the rows of a table that a text describes: by values, by months and years, and by limits of a column.

"The delivered orders of March above 100 euros" names the rows with the status ``delivered``, a date in March and an
amount above 100. A value after "without" or "except" leaves its rows out.
"""

import re
from calendar import month_name
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import ge, gt, le, lt

from workers.evaluation.contradictions.antonyms import are_sides
from workers.evaluation.facts.dates import read_dates
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.text.words import stem
from workers.evaluation.tools.computed.signs import rows_by_sign
from workers.evaluation.tools.results.tool_results import PREFIX, TOKEN
from workers.evaluation.tools.results.tool_tables import Cell, Table
from workers.evaluation.tools.tool_figures import KEY_UNITS, Figure, key_words, numbers_as, numeric_columns

MAX_VALUES = 200
"""Most different values of a table that are looked for in a text."""

_LEFT_OUT = re.compile(
    r"\b(?:without|excluding|except(?:\s+for)?|other\s+than|apart\s+from|ignoring|leaving\s+out|not\s+counting|not|\w+n['’]t"
    r"|no)\s+(?:any\s+|yet\s+|been\s+)?(?:(?:the|an?)\s+)?(?:\w+\s+)?$",
    re.IGNORECASE,
)
_LIMIT = re.compile(
    r"\b(?:(?P<from>at\s+least|no\s+less\s+than)|(?P<upto>at\s+most|up\s+to|no\s+more\s+than)"
    r"|(?P<above>above|over|more\s+than|exceed\w*|greater\s+than|higher\s+than|longer\s+than)"
    r"|(?P<below>below|under|less\s+than|fewer\s+than|lower\s+than|shorter\s+than))\s+(?P<rest>[^,;:.]{1,40}(?:[.,]\d[^,;:.]{0,20})?)",
    re.IGNORECASE,
)
_MONTHS = {name: number for number, name in enumerate(month_name) if name}
_MONTH = re.compile(rf"(?<!\d\s)(?<!th\s)\b({'|'.join(_MONTHS)})\b(?!\s\d{{1,2}}\b(?!\d))")
_YEAR = re.compile(r"\b(?:in|of|during|for|since)\s+(?:[A-Za-z]+\s+)?((?:19|20)\d\d)\b(?!-)")


@dataclass(frozen=True, slots=True)
class Selection:
    """Describe the rows of a table that a text names.

    Attributes:
        described: the rows that all conditions fit; without any condition all rows.
        named: the rows that the text names by a value that no other row has; ``None`` without such a name.
        words: beginnings of the words of names and conditions.
        is_part: whether the text has a condition.
        is_clear: whether every limit of the text has one column.
    """

    described: frozenset[int]
    named: frozenset[int] | None = None
    words: frozenset[str] = frozenset()
    is_part: bool = False
    is_clear: bool = True

    @property
    def rows(self) -> frozenset[int]:
        """Return the rows that are named and described."""
        return self.described if self.named is None else self.described & self.named


def select_rows(text: str, table: Table, place: int, question: str = "", *, has_dates: bool = True) -> Selection:
    """Return the rows that a text names and describes.

    Args:
        text: plain text.
        table: a table of several rows.
        place: its number among the tables.
        question: a text whose words tell the columns of limits as well.
        has_dates: whether months and years are conditions.
    """
    everything = frozenset(range(len(table.rows)))
    described, named, words, is_part, is_clear = everything, None, set[str](), False, True
    for chosen, used, is_name in _by_value(text, table):
        words |= used
        if is_name:
            named = chosen if named is None else named & chosen
        else:
            described, is_part = described & chosen, True
    for chosen, used in (*rows_by_sign(text, table, place), *(_by_date(text, table) if has_dates else ())):
        described, is_part = described & chosen, True
        words |= used
    for match in _LIMIT.finditer(text):
        limits = read_details(match["rest"]).quantities[:1]
        found = _by_limit(match, limits[0], f"{question} {text}", table, place) if limits else everything
        if found is None:
            is_clear = False
        elif limits:
            described, is_part = described & found, True
            words |= {token.casefold()[:PREFIX] for token in TOKEN.findall(match[0])}
    return Selection(described, named, frozenset(words), is_part, is_clear)


def _by_value(text: str, table: Table) -> Iterator[tuple[frozenset[int], set[str], bool]]:
    """Yield for each column the rows whose value the text has, its words, and whether the column is of names."""
    tokens = [(match[0].casefold(), match.start()) for match in TOKEN.finditer(text)]
    columns: dict[tuple[str, ...], dict[str, set[int]]] = {}
    for row, cells in enumerate(table.rows):
        for cell in cells:
            if cell.text and cell.number is None and len(cell.text) <= 40 and not read_dates(cell.text)[0]:
                columns.setdefault(cell.path, {}).setdefault(cell.text.casefold(), set()).add(row)
    everything = frozenset(range(len(table.rows)))
    for path, values in columns.items():
        chosen, used = frozenset[int](), set[str]()
        left_out = False
        is_switch = values.keys() <= {"true", "false", "yes", "no"}
        for value, rows in list(values.items())[:MAX_VALUES]:
            if is_switch and value in ("false", "no"):
                continue
            name = key_words(path[-1:]) if is_switch else tuple(TOKEN.findall(value.replace("_", " ")))
            found = _place(name, tokens)
            denied = _opposite_place(name, tokens) if is_switch and name else None
            if (found := found or denied) is not None:
                start, words = found
                used |= words
                # "Not offline" is online.
                left_out = left_out or (denied is not None) != (_LEFT_OUT.search(text[:start]) is not None)
                chosen |= frozenset(rows)
        if chosen or used:
            is_name = len(values) == len(table.rows) and not left_out
            yield (everything - chosen if left_out else chosen), used, is_name


def _place(name: Sequence[str], tokens: Sequence[tuple[str, int]]) -> tuple[int, set[str]] | None:
    """Return where a name stands in a text and the beginnings of its words; ``None`` where it does not."""
    for index in range(len(tokens) - len(name) + 1 if name else 0):
        if all(_is_same(word, tokens[index + step][0]) for step, word in enumerate(name)):
            return tokens[index][1], {word[:PREFIX] for word in name}
    return None


def _opposite_place(name: Sequence[str], tokens: Sequence[tuple[str, int]]) -> tuple[int, set[str]] | None:
    """Return where a text has the opposite of a name and the beginnings of its words: "offline" for ``online``."""
    for prefix in _PRIVATIVES:
        if (found := _place((f"{prefix}{name[0]}", *name[1:]), tokens)) is not None:
            return found
    if len(name) > 1:
        return None
    return next(((start, {token[:PREFIX]}) for token, start in tokens if are_sides(name[0], token)), None)


_PRIVATIVES = ("un", "in", "dis", "im", "non")


def _is_same(one: str, two: str) -> bool:
    """Return true for two forms of a word: run and runs, failed and failure, success and successful."""
    if two in (one, f"{one}s", f"{one}es"):
        return True
    if len(one) <= PREFIX or len(two) <= PREFIX:
        return False
    return stem(one) == stem(two) or one[:5] == two[:5] or _ENDING.sub("", one) == _ENDING.sub("", two)


_ENDING = re.compile(r"(?:ures?|ed|ing)$")


def _by_date(text: str, table: Table) -> Iterator[tuple[frozenset[int], set[str]]]:
    """Yield the rows whose only date lies in the month or year of a text."""
    dated = {row: dates[0] for row, cells in enumerate(table.rows) if len(dates := list(_dates(cells))) == 1}
    if len(dated) < len(table.rows):
        return
    for match in _MONTH.finditer(text):
        month = _MONTHS[match[1]]
        yield frozenset(row for row, (_, own) in dated.items() if own == month), {match[1].casefold()[:PREFIX]}
    for match in _YEAR.finditer(text):
        yield frozenset(row for row, (year, _) in dated.items() if year == int(match[1])), {match[1]}


def _dates(cells: Sequence[Cell]) -> Iterator[tuple[int, int]]:
    for cell in cells:
        if cell.number is None and (match := _ISO_DAY.match(cell.text)):
            yield int(match[1]), int(match[2])


_ISO_DAY = re.compile(r"((?:19|20)\d\d)-(\d\d)(?:-\d\d|$)")


def has_unit(column: Mapping[int, Figure], limit: Quantity) -> bool:
    """Return true if the numbers of a column have the dimension of a figure by their own unit or by their key."""
    figure = next(iter(column.values()))
    last = key_words(figure.path)[-1:]
    known = KEY_UNITS.get(figure.unit) or (KEY_UNITS.get(last[0]) if last else None)
    return limit.is_unit and limit.dimension in (known[0] if known else "", "percent" if figure.unit == "%" else "")


def _by_limit(match: re.Match[str], limit: Quantity, text: str, table: Table, place: int) -> frozenset[int] | None:
    """Return the rows beyond a limit; ``None`` if several columns may be meant."""
    told = {token.casefold()[:PREFIX] for token in TOKEN.findall(text)}
    columns = {
        path: {row: value for row, figure in column.items() for value in list(numbers_as(figure, limit))[:1]}
        for path, column in numeric_columns(place, table).items()
    }
    sized = {path: column for path, column in columns.items() if has_unit(numeric_columns(place, table)[path], limit)}
    columns = {path: each for path, each in (sized or columns).items() if len(each) == len(table.rows)}
    named = [path for path in columns if told & {word[:PREFIX] for word in key_words(path[-1:]) if len(word) > 2}]
    meant = named or list(columns)
    if len(meant) != 1:
        return None
    bound = limit.values[0]
    name = next(name for name in ("from", "upto", "above", "below") if match[name])
    return frozenset(row for row, value in columns[meant[0]].items() if _KEEPS[name](value, bound))


_KEEPS: Mapping[str, Callable[[float, float], bool]] = {"from": ge, "upto": le, "above": gt, "below": lt}
