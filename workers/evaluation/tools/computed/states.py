"""Hold claims on the course of a figure against the two columns or figures that tell it: grown, unchanged, used up, doubled."""

import re
from collections.abc import Sequence

from workers.evaluation.tools.computed.columns import UNCHANGED, compared, named_rows, remainders
from workers.evaluation.tools.results.tool_results import Located, Mention, ToolResults
from workers.evaluation.tools.tool_extremes import GREW_MOST
from workers.evaluation.tools.tool_figures import numeric_columns

_UNCHANGED = re.compile(
    r"\b(?:stayed|remained|is|was|held)\s+(?:flat|unchanged|stable|constant|the\s+same)\b", re.IGNORECASE
)


_ALL_USED = re.compile(
    r"\b(?:used|taken|spent|consumed|filled|booked|sold)(?:\s+up)?\s+all\b"
    r"|\b(?:is|are|was|were)\s+(?:already\s|completely\s|all\s)?(?:full|fully\s+booked|sold\s+out|used\s+up|exhausted)\b",
    re.IGNORECASE,
)


_MULTIPLIED = re.compile(r"\b(doubled|tripled|trebled|quadrupled|halved)\b(?:[^.;]{0,60}?)\bfrom\b", re.IGNORECASE)


_AT_EACH = re.compile(
    r"\s[A-Za-z]+\s(?:at|for|of|x|×)\s[$€£]?\d[\d.,]*(?:\s\w+)?\s(?:each|apiece|per\s\w+)\b", re.IGNORECASE
)


_FACTORS = {"doubled": 2.0, "tripled": 3.0, "trebled": 3.0, "quadrupled": 4.0, "halved": 0.5}


def is_multiplied_wrongly(claim: str, figures: Sequence[Located]) -> bool:
    """Return true if a figure is not the multiple of others that a claim tells: "doubled from 240 to 720", "9 at 120 each bring 1,920"."""
    for first, second, third in zip(figures, figures[1:], figures[2:], strict=False):
        own = first.start + len(first.quantity.written.split(" ")[0])
        if _AT_EACH.match(claim, own, third.start) and abs(
            first.quantity.face * second.quantity.face - third.quantity.face
        ) > max(third.quantity.step, UNCHANGED * third.quantity.face):
            return True
    for match in _MULTIPLIED.finditer(claim):
        pair = [each for each in figures if each.start >= match.end()][:2]
        if len(pair) < 2 or not re.search(r"\bto\b", claim[pair[0].start : pair[1].start]):
            continue
        one, two = (each.quantity for each in pair)
        wanted = _FACTORS[match[1].casefold()]
        if one.values[0] and not 0.9 * wanted <= two.values[0] / one.values[0] <= 1.12 * wanted:
            return True
    return False


def has_grown_less(claim: str, mentions: Sequence[Mention], results: ToolResults) -> bool:
    """Return true if another row grew or fell more, in amount and in share, than the one of which a claim says that it did most."""
    match = GREW_MOST.search(claim)
    if match is None:
        return False
    for place, table in enumerate(results.tables):
        named = named_rows(mentions[:1], place)
        for one, two in compared(numeric_columns(place, table)) if len(named) == 1 else ():
            [row] = named
            sign = -1 if match["down"] else 1
            amounts = {each: sign * (two[each].number - one[each].number) for each in one.keys() & two.keys()}
            shares = {each: amounts[each] / abs(one[each].number) for each in amounts if one[each].number}
            if row in shares and amounts[row] < max(amounts.values()) and shares[row] < max(shares.values()):
                return True
    return False


_ALL_WELL = re.compile(
    r"(?<!not )(?<!n['’]t )\b(?:all|every|each|both|everything)\b(?!\s(?:but|except))[^.;,]{0,40}?\b(?:went\s(?:through|well|fine|ok|smoothly)|succeeded|successful(?:ly)?"
    r"|completed|finished|passed|worked|ran\s(?:fine|through|ok|well)|(?:is|are|was|were)\s(?:ok|okay|fine|up|healthy|done|complete))\b",
    re.IGNORECASE,
)
_EXCEPTED = re.compile(r"\b(?:except|apart from|other than|besides|but (?:not|the|one|for)|only one)\b", re.IGNORECASE)
_STATE_KEYS = frozenset(("status", "state", "result", "outcome", "conclusion", "success", "succeeded", "ok", "passed"))
_FAILED = frozenset(
    ("failed", "failure", "fail", "error", "errored", "timeout", "timed_out", "rejected", "declined", "denied", "cancelled", "canceled", "aborted", "down", "unhealthy", "false")
)  # fmt: skip


def says_all_succeeded(claim: str, mentions: Sequence[Mention], results: ToolResults) -> bool:
    """Return true if a claim says that all went well and a row has the state of a failure."""
    if not _ALL_WELL.search(claim) or _EXCEPTED.search(claim):
        return False
    named = frozenset[tuple[int, int]]().union(*(each.rows for each in mentions))
    return any(
        cell.text.casefold() in _FAILED and cell.path and cell.path[-1].casefold() in _STATE_KEYS
        for place, table in enumerate(results.tables)
        for number, row in enumerate(table.rows)
        for cell in row
        if not named or (place, number) in named
    )


def has_another_state(claim: str, mentions: Sequence[Mention], results: ToolResults) -> bool:
    """Return true if a claim calls unchanged what changed, or used up what is not, in a row that it names."""
    is_unchanged, is_used = _UNCHANGED.search(claim), _ALL_USED.search(claim)
    rows = {(place, row) for each in mentions if len(each.rows) == 1 for place, row in each.rows}
    rows |= {(place, 0) for place, table in enumerate(results.tables) if len(table.rows) == 1}
    for place, row in sorted(rows) if is_unchanged or is_used else ():
        columns = numeric_columns(place, results.tables[place])
        for one, two in compared(columns) if is_unchanged else ():
            if row in one and row in two and abs(two[row].number - one[row].number) > UNCHANGED * abs(one[row].number):
                return True
        cells = {path: column[row] for path, column in columns.items() if row in column}
        if is_used and (rest := [each.number for each in remainders(cells, has_allowance=False)]) and 0 not in rest:
            return True
    return False
