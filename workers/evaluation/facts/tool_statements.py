"""Hold statements without figures against the fields of results: the value of a field, its denial, a name."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from babel import Locale

from schemas.grounding import Mismatch
from workers.evaluation.facts.antonyms import POLES
from workers.evaluation.facts.tool_details import NEGATION
from workers.evaluation.facts.tool_figures import key_words
from workers.evaluation.facts.tool_results import PREFIX, TOKEN, Mention, ToolResults
from workers.evaluation.facts.tool_tables import Cell
from workers.evaluation.text.words import content_words

_COPULA = re.compile(r"\b(?:is|are|was|were)\b|:|=")
_COMPLEMENT = re.compile(r"[\s*_`\"“]*(?:(?:now|currently|still|listed as|set to|shown as)\s+)?([^.,;:()\n]{2,60})")
_DENIAL = re.compile(r"\b(?:not|never|no longer)\b|n['’]t\b", re.IGNORECASE)
REACH = 4
"""Most words between a denial and what it denies: "has not yet been shipped"."""
MAX_COPIES = 3
"""Most rows with the names of a claim that count as one record, which several calls returned."""
_YES, _NO = frozenset(("true", "yes")), frozenset(("false", "no"))


def conflict_of(claim: str, question: str, mentions: Sequence[Mention], results: ToolResults) -> Mismatch | None:
    """Return how a statement conflicts with the fields of results; ``None`` if it does not.

    There are three conflicts. ``name``: "the carrier is UPS" where the field ``carrier`` has another value, and nothing
    else names UPS. ``negation``: "has not been shipped" where a field says ``shipped``, and "the account is active"
    where the field ``active`` says no. ``antonym``: "low priority" where the field ``priority`` says ``high``.

    Args:
        claim: plain text.
        question: the question that it answers, or an empty text.
        mentions: names of rows in the claim.
        results: the results of the answer's tools.
    """
    cells = list(_cells_told(mentions, results))
    if _names_other_value(claim, question, results):
        return "name"
    denied = {word for match in _DENIAL.finditer(claim) for word in _next_words(claim[match.end() :])}
    tokens = [token.casefold() for token in TOKEN.findall(claim)]
    told = set(tokens)
    for cell in cells:
        value = cell.text.casefold()
        words = [word for word in key_words(cell.path[-1:]) if len(word) > 3]
        if value in _YES | _NO:
            is_told = bool(words) and all(word in told for word in words)
            if is_told and (all(word in denied for word in words) if value in _YES else not NEGATION.search(claim)):
                return "negation"
        elif cell.number is None and value in denied and len(value) > 3:
            return "negation"
        elif words and any(_are_opposites(before, value) and key == words[0] for before, key in pairwise(tokens)):
            return "antonym"
    return None


def _are_opposites(one: str, two: str) -> bool:
    return any((row, -side) in POLES.get(two, ()) for row, side in POLES.get(one, ()))


def _cells_told(mentions: Sequence[Mention], results: ToolResults) -> Iterator[Cell]:
    """Yield the cells of the one row that a claim tells of: the named one and its copies, or that of results with one row each."""
    rows = frozenset.intersection(*(each.rows for each in mentions)) if mentions else None
    if rows is not None and len(rows) <= MAX_COPIES:
        for place, row in sorted(rows):
            yield from results.tables[place].rows[row]
    elif not mentions:
        for table in results.tables:
            if len(table.rows) == 1:
                yield from table.rows[0]


def _next_words(text: str) -> list[str]:
    return [token.casefold() for token in TOKEN.findall(text)[:REACH]]


def _names_other_value(claim: str, question: str, results: ToolResults) -> bool:
    asked = {word[:PREFIX] for word in content_words(question)}
    for match in _COPULA.finditer(claim):
        complement = _COMPLEMENT.match(claim, match.end())
        if complement is None or any(character.isdigit() for character in complement[1]):
            continue
        subject = {token.casefold()[:PREFIX] for token in TOKEN.findall(claim[: match.start()])}
        stated = {word[:PREFIX] for word in content_words(complement[1])}
        if (
            stated
            and any(key and subject.issuperset(key) for key in results.text_keys)
            and not stated & (results.prefixes | asked | subject)
            and not any(is_written_out(token, results) for token in TOKEN.findall(complement[1]))
        ):
            return True
    return False


def has_rival_name(claim: str, results: ToolResults) -> bool:
    """Return true if a field has a name that a claim does not tell."""
    told = {token.casefold() for token in TOKEN.findall(claim)}
    return any(not name & told for name in results.proper_names)


def is_written_out(name: str, results: ToolResults) -> bool:
    """Return true if a name is that of a country, language or currency whose code is a value of a result."""
    return bool(_codes().get(name.casefold(), frozenset()) & results.codes)


@lru_cache(maxsize=1)
def _codes() -> dict[str, frozenset[str]]:
    locale = Locale("en")
    found: dict[str, set[str]] = {}
    for names in (locale.territories, locale.languages, locale.currencies):
        for code, name in names.items():
            # "Dollar" stands for "US Dollar", and "of" for nothing.
            for part in {name, *(word for word in name.split() if len(word) > 3)}:
                found.setdefault(part.casefold(), set()).add(code.casefold())
    return {name: frozenset(codes) for name, codes in found.items()}
