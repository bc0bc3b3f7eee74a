"""Hold a claim against the results and the arguments of tools by its details: figures, dates, names of rows, extremes.

An assistant puts results into its own words, so the words of a claim say little. Its details say more: each figure must
stand in a result, follow from it (``tool_figures``) or stand in the arguments, the question or a document; a figure
beside the name of a row must come from that row; a superlative must be true of its column. A claim without such
details is left to the other rules.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from schemas.grounding import Mismatch
from workers.evaluation.budget import spend
from workers.evaluation.contradictions.values.comparisons import wrong_share
from workers.evaluation.facts.dates import read_dates
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.facts.units import MONTHS, UNITS, WEEKDAYS
from workers.evaluation.text.words import content_words, stem
from workers.evaluation.tools.computed.operations import is_computed, is_computed_wrongly
from workers.evaluation.tools.computed.row_counts import counts_rightly, is_limit_of_count
from workers.evaluation.tools.computed.states import says_all_succeeded
from workers.evaluation.tools.results.tool_details import (
    NEGATION,
    is_count_of,
    is_day,
    is_given,
    is_minor_as_major,
    is_quoted,
    is_result,
    is_small_count,
    located,
)
from workers.evaluation.tools.results.tool_results import PREFIX, TOKEN, Located, Mention, ToolResults, day_of
from workers.evaluation.tools.tool_counts import excepts_wrongly, has_another_count
from workers.evaluation.tools.tool_extremes import false_extreme
from workers.evaluation.tools.tool_figures import (
    has_value,
)
from workers.evaluation.tools.tool_formulas import is_calculated
from workers.evaluation.tools.tool_keys import has_another_key
from workers.evaluation.tools.tool_limits import passes_limit_wrongly
from workers.evaluation.tools.tool_moments import false_moment
from workers.evaluation.tools.tool_roles import has_wrong_role
from workers.evaluation.tools.tool_rows import (
    affirmed,
    chosen_by_amount,
    is_crossed,
    is_misplaced,
    mentions_in,
    told_dates,
    unsaid,
)
from workers.evaluation.tools.tool_statements import (
    confirms_field,
    conflict_of,
    has_rival_name,
    is_of_unknown,
    is_written_out,
)

MAX_LOOKUPS = 1_000_000
"""Maximum number of comparisons of figures for one answer; further claims are left to the other rules."""

Verdict = Literal["supported", "contradicted", "unsupported"]


@dataclass(frozen=True, slots=True)
class ToolFinding:
    """Report what the details of a claim say.

    Attributes:
        verdict: the verdict that they decide.
        mismatch: kind of mismatch, for a contradicted claim.
    """

    verdict: Verdict
    mismatch: Mismatch | None = None


def check_claim(
    claim: str, question: str, results: ToolResults, worked: frozenset[float] = frozenset()
) -> ToolFinding | None:
    """Return the verdict that the details of a claim decide; ``None`` if they decide nothing.

    Args:
        claim: plain text.
        question: the question that it answers, or an empty text.
        results: the results of the answer's tools.
        worked: figures of the claim that calculations of the answer bear out.
    """
    if not (results.contents or results.arguments) or results.lookups > MAX_LOOKUPS:
        return None
    mentions = mentions_in(claim, results)
    figures = list(located(claim, mentions, results))
    results.lookups += len(figures) * len(results.figures)
    spend(len(claim) + len(figures) * len(results.figures))
    asked = {(number.dimension, number.values) for number in read_details(question).quantities} if question else set()
    unknown = [
        each
        for each in figures
        if not each.sources
        and (each.quantity.dimension, each.quantity.values) not in asked
        and each.quantity.face not in worked
        and not is_given(each.quantity, results)
        and not is_quoted(each, claim, results)
        and not is_small_count(each.quantity)
        and not is_result(each, figures)
        and not is_limit_of_count(each, claim, question, results)
        and not is_count_of(each, figures, question, results)
        and not is_day(each, claim, results)
        and not is_calculated(each.quantity, claim, question, results)
        and not is_computed(each, claim, question, figures, mentions, results)
    ]
    if any(is_minor_as_major(each, results) for each in figures):
        return ToolFinding("contradicted", "number")
    dates = told_dates(claim)
    known_dates = [date for date in dates if results.knows(date)]
    if unknown or len(known_dates) < len(dates):
        is_rival = any(results.pool.has_comparable(date) for date in dates if date not in known_dates)
        return ToolFinding("contradicted", "date") if is_rival and not unknown else ToolFinding("unsupported", "number")
    if conflict := _conflict(
        claim, question, [each for each in figures if each.quantity.face not in worked], mentions, results
    ):
        return conflict
    if results.has_documents and not (mentions or any(map(results.states, figures)) or any(map(results.dated, dates))):
        return None  # its details are those of a document, or none
    if figures or dates or mentions or has_values(claim, results) or says_none(claim, results):
        return ToolFinding("supported")
    if counts_rightly(claim, question, results):
        return ToolFinding("supported")
    if (_OWN_PART.match(claim) and not figures) or confirms_field(claim, results):
        return ToolFinding("supported")
    return ToolFinding("supported") if is_of_results(claim, question, results) else None


def _conflict(
    claim: str, question: str, figures: Sequence[Located], mentions: Sequence[Mention], results: ToolResults
) -> ToolFinding | None:
    """Return what known details of a claim have against it: another row, side, state, order or name; ``None`` if nothing."""
    others = [each for each in figures if not is_computed(each, claim, question, figures, mentions, results)]
    named = affirmed(claim, mentions)
    chosen = [*named, *chosen_by_amount(figures, results)]
    if is_misplaced(claim, others, mentions) or is_crossed(claim, named) or has_wrong_role(claim, mentions, results):
        return ToolFinding("contradicted", "subject")
    if has_another_count(claim, mentions, results):
        return ToolFinding("contradicted", "number")
    if says_all_succeeded(claim, mentions, results):
        return ToolFinding("contradicted", "negation")
    if excepts_wrongly(claim, mentions, results):
        return ToolFinding("contradicted", "subject")
    if is_of_unknown(claim, chosen, results):
        return ToolFinding("unsupported")
    if conflict := conflict_of(claim, question, chosen, results):
        return ToolFinding("unsupported" if conflict == "name" else "contradicted", conflict)
    if false_extreme(claim, figures, mentions, results.tables) or passes_limit_wrongly(
        claim, figures, mentions, results.tables
    ):
        return ToolFinding("contradicted", "comparative")
    if false_moment(claim, question, mentions, results):
        return ToolFinding("contradicted", "comparative")
    if has_another_key(claim, figures, results):
        return ToolFinding("contradicted", "subject")
    if wrong_share(claim) or is_computed_wrongly(claim, question, figures, mentions, results):
        return ToolFinding("contradicted", "number")
    if strange_names(claim, question, results):
        return ToolFinding("unsupported", "name")
    return ToolFinding("contradicted", "subject") if is_better_named(claim, figures, results) else None


_OWN_PART = re.compile(
    r"(?:I|We)\s+(?:have|did|do|can|could|was|were)(?:n['’]t|\s?not)\b|ich (?:habe|konnte)\b.*\bnicht\b", re.IGNORECASE
)
"""Statements of an assistant on what it has not done."""


def is_of_results(claim: str, question: str, results: ToolResults) -> bool:
    """Return true if most words of a claim without details are words of the results or their keys.

    Words of the question count on neither side: an answer repeats them, whatever the results say.
    """
    asked = {word[:PREFIX] for word in content_words(question)}
    own = [word for word in content_words(claim) if len(word) > 2 and word[:PREFIX] not in asked]
    return bool(own) and 2 * sum(word[:PREFIX] in results.prefixes for word in own) >= len(own)


def is_better_named(claim: str, figures: Sequence[Located], results: ToolResults) -> bool:
    """Return true if a field beside the one that a figure stands in fits the words of a claim better.

    "A wind of 18 m/s" is not the field ``wind.gust_ms`` if there is a field ``wind.speed_ms`` that the claim does not
    tell: of the key of the first, the claim lacks "gust".
    """
    told = {word.casefold()[:PREFIX] for word in TOKEN.findall(claim)}
    for each in figures:
        stated = [source for source in each.sources if source.operation == "stated"]
        if len({source.path for source in stated}) != 1 or (
            len(stated) != len(each.sources) and not each.quantity.is_unit
        ):
            continue
        lacking, shared = unsaid(stated[0].path, told)
        if not lacking or not shared:
            continue
        for rival in results.stated:
            if not rival.rows & stated[0].rows or rival.path == stated[0].path:
                continue
            theirs, common = unsaid(rival.path, told)
            is_told = any(has_value(rival, other.quantity) for other in figures)
            if theirs < lacking and common & shared and rival.path[:-1] == stated[0].path[:-1] and not is_told:
                return True
    return False


def has_values(claim: str, results: ToolResults) -> bool:
    """Return true if a claim repeats a word or phrase that a result has as a value, or spells out a code in a result.

    Codes are those of countries, languages, currencies and airports.
    """
    tokens = [token.casefold() for token in TOKEN.findall(claim)]
    joined = {one + two for one, two in pairwise(tokens)}
    return (
        any(
            tuple(tokens[start : start + size]) in results.values
            for size in range(1, MAX_NAME + 1)
            for start in range(len(tokens))
        )
        or any((word,) in results.values for word in joined if len(word) > 5)
        or any(is_written_out(match[1], results) for match in _CAPITALISED.finditer(claim))
    )


MAX_NAME = 6
"""Most tokens of a value that is looked for in a claim."""


def says_none(claim: str, results: ToolResults) -> bool:
    """Return true if a claim denies what a field of a result has as zero, false, empty or unknown."""
    if not NEGATION.search(claim):
        return False
    return any(word.casefold()[:PREFIX] in results.empty_keys for word in TOKEN.findall(claim) if len(word) > 3)


_CAPITALISED = re.compile(r"(?<![.!?:]\s)(?<!^)(?<![^\s(\"'“*_])([A-Z][\w&.’-]*\w(?:\s+(?:&\s+)?[A-Z][\w.’-]*\w)*)")

_CODED = re.compile(r"`([^`]{2,100})`")


def strange_names(claim: str, question: str, results: ToolResults) -> list[str]:
    """Return the names of a claim that neither results nor arguments nor the question have.

    A name of one word counts only beside a field with another name, unless it is a unit or writes out a code. The title
    of a column ("; Short by: 7") and the zone of a time ("16:20 UTC") are no names.
    """
    known = results.words | content_words(question)
    strange = []
    for match in (*_CODED.finditer(claim), *_CAPITALISED.finditer(claim)):
        name = match[1]
        lowered = name.casefold()
        own = content_words(name)
        if (
            not own
            or lowered in results.text
            or lowered in question.casefold()
            or read_dates(name)[0]
            or day_of(lowered)
            or name in _ZONES
            or _TITLE.match(claim, max(0, match.start() - len(_TITLE_MARK)))
        ):
            continue
        unknown = own - known - _CALENDAR
        if match.re is _CODED:
            strange += [name] * bool(unknown)
        elif (
            len(own) == 1
            and unknown
            and lowered not in UNITS
            and not is_written_out(name, results)
            and has_rival_name(claim, results)
        ) or (len(own) > 1 and 2 * len(unknown) >= len(own)):
            strange.append(name)
    return strange


_ZONES = frozenset(("UTC", "GMT"))
_TITLE_MARK = "; "
_TITLE = re.compile(rf"{_TITLE_MARK}[^:;.]{{1,40}}: ")

_CALENDAR = frozenset(stem(word) for word in (*MONTHS, *WEEKDAYS))
