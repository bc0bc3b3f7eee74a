"""Select rows by a word that stands for the sign of a number: a train is late whose delay is above zero.

A tool gives numbers where people use words: ``delay_min`` for late and on time, ``stock`` for available and sold out,
``days_overdue`` for overdue. A word selects rows only where one numeric column alone has a key that it belongs to.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from workers.evaluation.tools.results.tool_results import PREFIX, TOKEN
from workers.evaluation.tools.results.tool_tables import Table
from workers.evaluation.tools.tool_figures import key_words, numeric_columns


class _Sign(NamedTuple):
    """Hold the words of a claim, the words of keys that they belong to, and the numbers that fit."""

    told: re.Pattern[str]
    keys: frozenset[str]
    fits: Callable[[float], bool]


def _is_above(number: float) -> bool:
    return number > 0


def _is_zero(number: float) -> bool:
    return number == 0


_DELAYS = frozenset(("delay", "late", "delayed", "lateness"))
_STOCKS = frozenset(
    ("stock", "available", "availability", "free", "vacant", "inventory", "quantity", "qty", "remaining")
)
_OVERDUE = frozenset(("overdue", "arrears"))
_ERRORS = frozenset(
    ("error", "errors", "failure", "failures", "failed", "warnings", "defects", "vulnerabilities", "bugs")
)
_RESTARTS = frozenset(("restart", "restarts", "restartcount"))
_OPEN_AMOUNTS = frozenset(("balance", "outstanding", "unpaid", "owed", "owing"))
_UNREAD = frozenset(("unread",))

_NOT = r"(?:not|n['’]t|never)\s"


def _signs(above: str, zero: str, keys: frozenset[str]) -> tuple[_Sign, _Sign]:
    return (
        _Sign(re.compile(rf"(?<!not )(?<!n['’]t )\b(?:{above})\b", re.IGNORECASE), keys, _is_above),
        _Sign(re.compile(rf"\b(?:{zero}|{_NOT}(?:been\s|currently\s)?(?:{above}))\b", re.IGNORECASE), keys, _is_zero),
    )


_SIGNS = (
    *_signs(r"late|delayed|behind\sschedule", r"on\stime|punctual|on\sschedule", _DELAYS),
    *_signs(r"available|in\sstock|free(?!\sof)", r"sold\sout|out\sof\sstock|unavailable|full|fully\sbooked", _STOCKS),
    *_signs(r"overdue|in\sarrears", r"without\sarrears", _OVERDUE),
    *_signs(
        r"with\s(?:\w+\s)?(?:errors?|failures?|warnings?)|ha(?:s|ve|d)\s(?:errors?|failures?|warnings?)",
        r"without\s(?:any\s)?(?:errors?|failures?|warnings?)|(?:has|have|had|with)\sno\s(?:errors?|failures?|warnings?)|error[-\s]free",
        _ERRORS,
    ),
    *_signs(r"restarted|ha(?:s|ve|d)\srestarts", r"without\s(?:a\s|any\s)?restarts?", _RESTARTS),
    *_signs(r"outstanding|unpaid|open\sbalance", r"settled|fully\spaid|paid\soff|paid\sin\sfull", _OPEN_AMOUNTS),
    *_signs(r"unread", r"fully\sread", _UNREAD),
)


def rows_by_sign(text: str, table: Table, place: int) -> Iterator[tuple[frozenset[int], set[str]]]:
    """Yield the rows whose number has the sign that a word of a text stands for, with the beginnings of its words.

    Args:
        text: plain text.
        table: a table of several rows.
        place: its number among the tables.
    """
    found = [(sign, match) for sign in _SIGNS if (match := sign.told.search(text))]
    columns = numeric_columns(place, table) if found else {}
    for sign, match in found:
        fitting = [path for path in columns if sign.keys & set(key_words(path[-1:]))]
        if len(fitting) == 1 and len(column := columns[fitting[0]]) == len(table.rows):
            rows = frozenset(row for row, figure in column.items() if sign.fits(figure.number))
            yield rows, {token.casefold()[:PREFIX] for token in TOKEN.findall(match[0])}
