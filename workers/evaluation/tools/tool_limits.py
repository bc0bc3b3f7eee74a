"""Hold a claim that something is above or below a limit against the two figures: "86 euros is below the limit of 60".

The figure stands in the claim itself, or is the only numeric column of the rows that it names ("Ada and Chen are above
the target of 50"). A clause without a figure of its own has the limit of the one before it ("Boris is below").
"""

import re
from collections.abc import Iterator, Sequence

from workers.evaluation.tools.results.tool_results import Located, Mention
from workers.evaluation.tools.results.tool_tables import Table
from workers.evaluation.tools.tool_figures import numeric_columns

REACH = 50
"""Most code points between a word of comparison and its limit."""

_COMPARED = re.compile(
    r"\b(?P<copula>is|are|was|were|lies|lie|stands|stays|stayed|remains|reached|reaches)?\s?(?P<denied>not\s|n['’]t\s)?"
    r"(?:well\s|just\s|slightly\s|still\s|clearly\s|also\s|both\s|all\s)*"
    r"(?:(?P<above>above|over|more\sthan|exceed(?:s|ed|ing)?|higher\sthan|greater\sthan|beyond)"
    r"|(?P<below>below|under|less\sthan|fewer\sthan|lower\sthan))\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"[;.]\s|,?\s(?:while|but|whereas|although)\s|,\s(?:and\s)?|\sand\s(?=[^,;]*\b(?:is|are)\b)", re.IGNORECASE
)
_TIED = re.compile(r"(?:\s(?:a|per|an|each)\s\w+|,?\swhich)?\s?")


def passes_limit_wrongly(
    claim: str, figures: Sequence[Located], mentions: Sequence[Mention], tables: Sequence[Table]
) -> bool:
    """Return true if a claim puts a figure on the wrong side of a limit.

    Args:
        claim: plain text.
        figures: figures of the claim, in order.
        mentions: names of rows in the claim.
        tables: tables of the results.
    """
    limit: Located | None = None
    for match in _COMPARED.finditer(claim):
        behind = (each for each in figures if match.end() <= each.start <= match.end() + REACH)
        limit = next((each for each in behind if not _CLAUSE.search(claim, match.end(), each.start)), limit)
        if limit is None or not match["copula"]:
            continue
        is_above = bool(match["above"]) != bool(match["denied"])
        start = max((each.end() for each in _CLAUSE.finditer(claim, 0, match.start())), default=0)
        for value in _values(claim, start, match.start(), limit, figures, mentions, tables):
            if value != limit.quantity.face and (value > limit.quantity.face) != is_above:
                return True
    return False


def _values(
    claim: str,
    start: int,
    end: int,
    limit: Located,
    figures: Sequence[Located],
    mentions: Sequence[Mention],
    tables: Sequence[Table],
) -> Iterator[float]:
    """Yield the figures of a clause that are compared with a limit, or those of the rows that it names."""
    for each in figures:
        written = len(each.quantity.written)
        is_alike = (
            each.quantity.dimension == limit.quantity.dimension and each.quantity.is_unit == limit.quantity.is_unit
        )
        if each is not limit and start <= each.start < end and is_alike:
            if _TIED.fullmatch(claim, each.start + written, end):
                yield each.quantity.face
            return
    for mention in mentions:
        if start <= mention.start < end and len(mention.rows) == 1:
            [(place, row)] = mention.rows
            columns = numeric_columns(place, tables[place])
            if len(columns) == 1:
                yield from (column[row].number for column in columns.values() if row in column)
