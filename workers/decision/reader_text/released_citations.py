"""List the citations of a released answer: those of the model, and those that Touchstone adds.

Touchstone adds both sources of a conflict and, with ``propose``, the primary source of a supported claim that no valid
citation covers.
"""

import re
from collections.abc import Collection, Mapping, Sequence

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.citations import Citation, CitationReport
from schemas.grounding import GroundingReport
from workers.decision.reader_text.proposals import citable
from workers.evaluation.citations.citation_finder import cite
from workers.evaluation.citations.resolution import SourceIndex

_NAME = re.compile(r"[\w.:/#-]{1,200}")
"""Names of tables and records that need no escape in a marker."""


def released_citations(
    answer: GeneratedAnswer,
    report: CitationReport | None,
    grounding: GroundingReport | None,
    *,
    propose: bool,
) -> list[Citation]:
    """Return the citations of a released answer in the order of their numbers.

    Args:
        answer: the answer with its sources.
        report: the citations of the model.
        grounding: the claims with their sources; ``None`` adds nothing.
        propose: True adds the primary source of each supported claim that no valid citation covers.
    """
    cited = list(report.citations) if report is not None else []
    known = {citation.number for citation in cited}
    added: set[int] = set()
    if grounding is not None:
        sides = ((conflict.supporting, conflict.contradicting) for conflict in grounding.conflicts)
        added.update(source.number for pair in sides for source in pair)
        if propose:
            invalid = report.invalid_references if report is not None else []
            claims = citable(answer, grounding.claims, invalid)
            added.update(number for claim in claims for number in claim.proposed_numbers)
    fresh = [number for number in sorted(added - known) if number <= len(answer.contexts or [])]
    return sorted([*cited, *cite(answer, fresh)], key=lambda citation: citation.number)


def primary_numbers(grounding: GroundingReport | None) -> frozenset[int]:
    """Return the sources that support a claim best."""
    claims = grounding.claims if grounding is not None else []
    return frozenset(claim.primary_number for claim in claims if claim.primary_number is not None)


def preferred_numbers(citations: Sequence[Citation], grounding: GroundingReport | None) -> frozenset[int]:
    """Return the listed sources that support a claim better than another listed source does."""
    listed = {citation.number for citation in citations}
    claims = grounding.claims if grounding is not None else []
    shared = [claim for claim in claims if not listed.isdisjoint(claim.redundant_numbers)]
    return frozenset(claim.primary_number for claim in shared if claim.primary_number in listed)


def proposed_markers(contexts: Sequence[ContextChunk], numbers: Collection[int]) -> Mapping[int, str]:
    """Return the marker to write for each source: ``[Source: table/record]`` for a record, else its number.

    A record is named only if the name resolves to it, so that reading the answer again finds the same source.
    """
    index = SourceIndex(contexts) if numbers else None
    markers: dict[int, str] = {}
    for number in numbers:
        chunk = contexts[number - 1]
        name = f"{chunk.source_table}/{chunk.record_id}"
        is_record = chunk.source_table and chunk.record_id and _NAME.fullmatch(name)
        resolves = index is not None and is_record and index.record(name) == number
        markers[number] = f"[Source: {name}]" if resolves else f"[{number}]"
    return markers
