"""Find the columns and rows of a result that a claim means, and what is left in a row of what it has."""

from collections.abc import Iterator, Sequence
from itertools import permutations

from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.tools.computed.selections import has_unit
from workers.evaluation.tools.results.tool_results import PREFIX, TOKEN, Mention, ToolResults
from workers.evaluation.tools.tool_figures import AMOUNTS, MONEY, Figure, key_words

MAX_ROWS = 200
"""Most rows of a table that is computed with."""


UNCHANGED = 0.01
"""Most relative difference of two figures that are called unchanged."""


Columns = dict[tuple[str, ...], dict[int, Figure]]


USED = frozenset(
    ("taken", "used", "spent", "reserved", "consumed", "sold", "booked", "occupied", "allocated", "filled", "enrolled", "redeemed", "committed")
)  # fmt: skip


def named_rows(mentions: Sequence[Mention], place: int) -> frozenset[int]:
    """Return the rows of a table that the mentions of a claim name together; all columns agree on them."""
    columns: dict[tuple[str, ...], frozenset[int]] = {}
    for each in mentions:
        rows = frozenset(row for own, row in each.rows if own == place)
        if rows:
            columns[each.path] = columns.get(each.path, frozenset()) | rows
    return frozenset.intersection(*columns.values()) if columns else frozenset()


def single_rows(mentions: Sequence[Mention], results: ToolResults) -> Iterator[tuple[int, int]]:
    """Yield the row of each table of which a claim tells: its only row, or the only one that the claim names."""
    for place, table in enumerate(results.tables):
        if len(table.rows) == 1:
            yield place, 0
        elif len(rows := named_rows(mentions, place)) == 1:
            yield place, next(iter(rows))


def meant(text: str, columns: Columns, quantity: Quantity) -> list[tuple[str, ...]]:
    """Return the columns whose keys a text tells, else those with the unit of a figure, else the only one for a figure without a noun."""
    figures = {
        path: column
        for path, column in columns.items()
        if key_words(path[-1:])[-1:] not in _IDENTIFYING
        and (not quantity.is_unit or quantity.dimension in MONEY or has_unit(column, quantity))
    }
    told = {token.casefold()[:PREFIX] for token in TOKEN.findall(text)}
    scores = {path: len({word[:PREFIX] for word in key_words(path[-1:]) if len(word) > 2} & told) for path in figures}
    best = max(scores.values(), default=0)
    return (
        [path for path, score in scores.items() if score == best and best]
        or [path for path, column in figures.items() if has_unit(column, quantity)]
        or (list(figures) if len(figures) == 1 and not quantity.dimension.startswith("noun:") else [])
    )


def compared_columns(text: str, columns: Columns, quantity: Quantity) -> list[tuple[str, ...]]:
    """Return the columns in which a figure may be the difference of two rows; of money, those of amounts if there are any.

    "Non-stop" tells a column ``stops``, which no difference of 24.50 euros is of.
    """
    found = meant(text, columns, quantity)
    amounts = [path for path in columns if not AMOUNTS.isdisjoint(key_words(path))]
    if quantity.dimension not in MONEY or not quantity.is_unit or not amounts or set(found) & set(amounts):
        return found
    return amounts


_IDENTIFYING = frozenset((("id",), ("sku",), ("no",), ("nr",), ("number",), ("index",), ("key",), ("code",)))


def compared(columns: Columns) -> list[tuple[dict[int, Figure], dict[int, Figure]]]:
    """Return the pair of columns whose keys differ in a year or in before and after, the earlier one first."""
    pairs = []
    for (one, first), (two, second) in permutations(columns.items(), 2):
        ours, theirs = key_words(one[-1:]), key_words(two[-1:])
        own, other = set(ours) - set(theirs), set(theirs) - set(ours)
        if len(own) == len(other) == 1 and set(ours) & set(theirs):
            [early], [late] = own, other
            is_year = early.isdecimal() and late.isdecimal() and int(early) < int(late)
            if is_year or (early, late) in _BEFORE_AFTER:
                pairs.append((first, second))
    return pairs if len(pairs) == 1 else []


_BEFORE_AFTER = frozenset(
    (("before", "after"), ("old", "new"), ("previous", "current"), ("last", "this"), ("start", "end"), ("from", "to"), ("initial", "final"))
)  # fmt: skip


def remainders(cells: dict[tuple[str, ...], Figure], *, has_allowance: bool) -> Iterator[Figure]:
    """Yield what is left of each figure of a row after what was used of it; with the figure itself where "available" may mean it."""
    stated = [each for path, each in cells.items() if _REST & {word[:PREFIX] for word in key_words(path[-1:])}]
    used = [(path, each) for path, each in cells.items() if USED & set(key_words(path[-1:]))]
    for path, taken in used:
        for other, whole in cells.items():
            if other != path and whole.number >= taken.number and key_words(other[-1:])[-1:] not in _IDENTIFYING:
                yield Figure(whole.number - taken.number, whole.path, whole.rows, "difference", whole.unit)
                yield from (whole,) if has_allowance and not USED & set(key_words(other[-1:])) else ()
    if used:
        yield from stated


_REST = frozenset(("left", "rema", "avai", "free", "unus"))
