"""Hold claims that count the rows of a result against the rows that they describe: "two of the four orders were cancelled".

A count is compared only where each word of the claim is a condition of a column, a name of the rows or neutral.
"""

import re
from calendar import month_name
from collections.abc import Container, Iterator, Sequence

from workers.evaluation.facts.units import NUMBER_WORDS
from workers.evaluation.text.words import STOP_WORDS, stem
from workers.evaluation.tools.computed.columns import MAX_ROWS, USED, single_rows
from workers.evaluation.tools.computed.selections import Selection, select_rows
from workers.evaluation.tools.results.tool_details import THEIRS
from workers.evaluation.tools.results.tool_results import PREFIX, TOKEN, Located, Mention, ToolResults
from workers.evaluation.tools.results.tool_tables import Table
from workers.evaluation.tools.tool_figures import KEY_UNITS, key_words, numeric_columns

_COUNT = r"\d{1,4}(?![\d.,:%]|\s?%)|no|none|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"


_PART_OF = re.compile(
    rf"\b(?P<part>{_COUNT}|all)\s+(?:out\s+)?(?:of\s+)?(?:the\s|its\s|our\s|your\s|their\s|his\s|her\s)?(?P<whole>{_COUNT})\b,?\s+[A-Za-z]",
    re.IGNORECASE,
)


_COUNTED = re.compile(
    rf"(?<![\w.,/:-])(?P<count>{_COUNT.replace('no|none|', '')}|all|(?:(?<=there are )|(?<=there were )|^)(?:no|none))\s+(?:the\s|of\s+the\s)?(?P<noun>[A-Za-z][\w-]*(?:\s+[A-Za-z][\w-]*){{0,2}})",
    re.IGNORECASE,
)


_SINGLY = re.compile(r"\b(?:each|apiece|respectively|both|every)\b", re.IGNORECASE)


_NOT_ALL = re.compile(r"\bnot\s+all\b|\b(?:almost|nearly)\s+all\b", re.IGNORECASE)


ALL_EXCEPT = re.compile(
    r"\b(?:all|everyone|everybody|everything|each|every one)\b[^.;,]{0,30}?\b(?:except|but|apart from)\b", re.IGNORECASE
)
"""A statement on all rows but one: "all except D. Kim"."""


_NEUTRAL = frozenset(
    word[:PREFIX]
    for word in (
        "were", "was", "been", "placed", "made", "listed", "found", "shown", "counted", "total", "only", "exactly", "currently", "rows",
        "entries", "records", "results", "items", "have", "contains", "returned", "hourly", "daily", "monthly", "weekly", "samples",
        "lines", "window", "half", "third", "quarter", "there", "altogether", "yes", "anyone", "else", "everyone", "more", "than", "include", "included",
        "written", "contains", "offers", "belong", "come", "them", "listed", "shown", "exist",
    )
)  # fmt: skip
"""Beginnings of words that add no condition to a count."""


def counts_wrongly(claim: str, question: str, mentions: Sequence[Mention], results: ToolResults) -> bool:
    """Return true if a clause counts rows whose conditions all are known, and their number is another one."""
    return _lists_others(claim, question, mentions, results) or any(
        _clause_counts_wrongly(clause, question, mentions, results) for clause in _CLAUSE.split(claim)
    )


def counts_rightly(claim: str, question: str, results: ToolResults) -> bool:
    """Return true if a claim counts rows of one state, all of its words are known, and their number is right."""
    several = [(place, table) for place, table in enumerate(results.tables) if 1 < len(table.rows) <= MAX_ROWS]
    if len(several) != 1 or _NOT_ALL.search(claim):
        return False
    found = list(_counts(claim, question, *several[0]))
    return bool(found) and all(chosen.is_part and count == len(chosen.rows) for count, chosen in found)


def _lists_others(claim: str, question: str, mentions: Sequence[Mention], results: ToolResults) -> bool:
    """Return true if a list behind a colon names a row that what is counted before it does not fit."""
    head, colon, _ = claim.partition(": ")
    several = [(place, table) for place, table in enumerate(results.tables) if 1 < len(table.rows) <= MAX_ROWS]
    if not colon or len(several) != 1 or _EXCEPTED.search(claim):
        return False
    [(place, table)] = several
    listed = {
        row
        for each in mentions
        if each.start > len(head) and len(each.rows) == 1
        for own, row in each.rows
        if own == place
    }
    return any(
        chosen.is_part and not listed <= chosen.rows for _, chosen in _counts(head, question, place, table) if listed
    )


_EXCEPTED = re.compile(r"\b(?:but|except|while|whereas|not|only)\b|n['’]t\b|;", re.IGNORECASE)


_CLAUSE = re.compile(
    r"[;:.]\s|,\s(?=(?:and|but|of which|while|with|so)\b|\w+\sof\s(?:them|these|those|which)\b)|\b(?:while|whereas|but)\b"
)


def _clause_counts_wrongly(claim: str, question: str, mentions: Sequence[Mention], results: ToolResults) -> bool:
    several = [(place, table) for place, table in enumerate(results.tables) if 1 < len(table.rows) <= MAX_ROWS]
    for match in _PART_OF.finditer(claim):
        part, whole = _number(match["part"]), _number(match["whole"]) or 0
        if part is not None and _is_of_another_whole(part, whole, mentions, results):
            return True
        fitting = [each for each in several if len(each[1].rows) == whole]
        if len(fitting) == 1 and (chosen := _counted_rows(claim, question, *fitting[0])) is not None and chosen.is_part:
            return len(chosen.rows) != (whole if part is None else part)
    if len(several) != 1 or any(each.search(claim) for each in (_SINGLY, _NOT_ALL, ALL_EXCEPT, THEIRS)):
        return False
    [(place, table)] = several
    if _are_others(claim, select_rows(claim, table, place, question)):
        return True
    wholes = {match.start("whole") for match in _PART_OF.finditer(claim)}
    return any(
        len(chosen.rows) != (len(table.rows) if count is None else count)
        for count, chosen in _counts(claim, question, place, table, wholes)
    )


def _counts(
    claim: str, question: str, place: int, table: Table, without: Container[int] = ()
) -> Iterator[tuple[int | None, Selection]]:
    """Yield the numbers by which a claim counts rows, ``None`` for "all", with the rows that it describes."""
    for match in _COUNTED.finditer(claim):
        counted = _OF_THEM.sub("", match["noun"]) or match["noun"]
        noun = _VERB.split(counted)[0].strip()
        first = (noun or counted).split()[0].casefold()
        if (
            match.start("count") in without
            or first in _UNCOUNTED
            or first in _MONTHS
            or first in KEY_UNITS
            or first[:PREFIX] in _numeric_words(table, place)
        ):
            continue
        chosen = _counted_rows(claim, question, place, table, noun)
        words = {stem(word)[:PREFIX] for word in TOKEN.findall(noun.casefold()) if word not in NUMBER_WORDS}
        is_asked = not noun and _HOW_MANY.search(question)
        if chosen is not None and (
            words & _row_words(table) or words & chosen.words or (chosen.is_part and (len(words) == 1 or is_asked))
        ):
            yield _number(match["count"]), chosen


_VERB = re.compile(r"\b(?:are|were|is|was|have|has|had|did|do|got|stay\w*|remain\w*)\b", re.IGNORECASE)


_MONTHS = frozenset(part for name in month_name if name for part in (name.casefold(), name[:3].casefold()))
_OF_THEM = re.compile(r"^of\s(?:them|these|those)\s", re.IGNORECASE)
_HOW_MANY = re.compile(r"\b(?:how many|number of)\b", re.IGNORECASE)


_UNCOUNTED = frozenset(
    (
        "of",
        "out",
        "in",
        "at",
        "to",
        "and",
        "or",
        "more",
        "less",
        "fewer",
        "other",
        "others",
        "by",
        "on",
        "for",
        "with",
        "than",
    )
)


def is_counted(figure: Located, claim: str, question: str, results: ToolResults) -> bool:
    """Return true if a figure counts rows, rightly or one of the values that the claim names for each."""
    if figure.quantity.is_unit or figure.quantity.face != int(figure.quantity.face):
        return False
    if _SINGLY.search(claim) and any(source.operation == "count" for source in figure.sources):
        return True
    for place, table in enumerate(results.tables):
        listed = select_rows(claim, table, place, question) if 1 < len(table.rows) <= MAX_ROWS else None
        if listed is not None and listed.named is not None and listed.named <= listed.described:
            return figure.quantity.face == len(listed.named)
    return any(
        figure.quantity.face == count == len(chosen.rows)
        for place, table in enumerate(results.tables)
        if 1 < len(table.rows) <= MAX_ROWS
        for clause in _CLAUSE.split(claim)
        for count, chosen in _counts(clause, question, place, table)
    )


def is_limit_of_count(figure: Located, claim: str, question: str, results: ToolResults) -> bool:
    """Return true if a figure is the limit by which a claim counts rows rightly: "one device has a battery below 20 %"."""
    if not _BEFORE_LIMIT.search(claim[: figure.start]):
        return False
    return any(
        chosen.is_part and count == len(chosen.rows)
        for place, table in enumerate(results.tables)
        if 1 < len(table.rows) <= MAX_ROWS
        for count, chosen in _counts(claim, question, place, table)
    )


_BEFORE_LIMIT = re.compile(
    r"\b(?:at\s(?:least|most)|up\sto|above|over|exceed\w*|below|under|(?:more|less|fewer|greater|higher|lower|longer|shorter)\sthan)\s[$€£]?$",
    re.IGNORECASE,
)


def _counted_rows(claim: str, question: str, place: int, table: Table, noun: str = "") -> Selection | None:
    """Return the rows that a claim counts; ``None`` if it names single rows or may have a condition that no column has."""
    chosen = select_rows(claim, table, place, question)
    if not chosen.is_clear or chosen.named is not None or open_words(claim, chosen, table, noun):
        return None
    return chosen


def _is_of_another_whole(part: int, whole: int, mentions: Sequence[Mention], results: ToolResults) -> bool:
    """Return true if a figure of the named row is what was used, and the whole that a claim gives it is not in the row."""
    for place, row in single_rows(mentions, results):
        cells = [cell for cell in results.tables[place].rows[row] if cell.number is not None]
        is_used = any(cell.number == part and USED & set(key_words(cell.path[-1:])) for cell in cells)
        if is_used and all(cell.number != whole for cell in cells):
            return True
    return False


def _are_others(claim: str, chosen: Selection) -> bool:
    """Return true if the rows that a claim names do not fit its limit, or it calls them the only ones and others fit as well."""
    if chosen.named is None or not (chosen.is_clear and chosen.is_part):
        return False
    is_beyond = (
        _IS_BEYOND.search(claim) is not None and not _CONTRAST.search(claim) and not chosen.named <= chosen.described
    )
    return is_beyond or (_ONLY.search(claim) is not None and chosen.named != chosen.described)


_IS_BEYOND = re.compile(
    r"\b(?:is|are|was|were)\s(?:both\s|all\s|also\s|still\s|now\s)?(?:above|over|below|under|more\sthan|less\sthan)\b",
    re.IGNORECASE,
)


_CONTRAST = re.compile(r";|\b(?:but|while|whereas|although|not)\b|n['’]t\b", re.IGNORECASE)


_ONLY = re.compile(r"^(?:yes,\s|no,\s)?(?:only\b|the only\b)|\b(?:is|are|was|were) the only\b", re.IGNORECASE)


def _number(word: str) -> int | None:
    """Return the number of a word; ``None`` for "all"."""
    value = (
        word
        if word.isdecimal()
        else {"no": 0, "none": 0, "one": 1}.get(word.casefold(), NUMBER_WORDS.get(word.casefold()))
    )
    return None if value is None else int(value)


def _numeric_words(table: Table, place: int) -> frozenset[str]:
    return frozenset(word[:PREFIX] for path in numeric_columns(place, table) for word in key_words(path[-1:]))


def _row_words(table: Table) -> frozenset[str]:
    """Return the beginnings of the words that name a row: of its table, of keys such as ``order_id``, and of a first column
    whose texts all differ, such as ``team``.
    """
    paths = {cell.path for cell in table.rows[0]}
    keys = (key_words(path[-1:]) for path in paths)
    named = {words[0] for words in keys if len(words) == 2 and words[1] in ("id", "name", "key", "no", "number")}
    firsts = [row[0] for row in table.rows if row]
    words = key_words(firsts[0].path[-1:]) if firsts else []
    if len(words) == 1 and all(cell.number is None and cell.path == firsts[0].path for cell in firsts):
        named |= set(words) if len({cell.text for cell in firsts}) == len(table.rows) else set()
    return frozenset(stem(word)[:PREFIX] for word in (*key_words(table.name[-1:]), *named))


def open_words(claim: str, chosen: Selection, table: Table, noun: str = "") -> bool:
    """Return true if a word of a claim may be a condition that no column has."""
    known = {*chosen.words, *_NEUTRAL, *_row_words(table)}
    counted = [word for word in TOKEN.findall(noun.casefold()) if not known & _beginnings(word)]
    known |= {word[:PREFIX] for word in counted[-1:]}
    known |= {word[:PREFIX] for cell in table.rows[0] for word in key_words(cell.path)}
    known |= {token.casefold()[:PREFIX] for cells in table.rows for cell in cells for token in TOKEN.findall(cell.text)}
    tokens = (token.casefold() for token in TOKEN.findall(claim) if len(token) > 3 and not token.isdecimal())
    return any(
        not known & _beginnings(token) and token not in NUMBER_WORDS and token not in STOP_WORDS for token in tokens
    )


def _beginnings(word: str) -> set[str]:
    return {word[:PREFIX], stem(word)[:PREFIX], word.removesuffix("s")[:PREFIX]}
