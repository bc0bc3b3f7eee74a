"""The list of references below an answer, and the same for user interfaces (seed 000).

Names, paths and excerpts come from sources, so they are hostile: they are put on one line
and their Markdown is escaped, so that they can neither forge a heading nor a link.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from schemas.citations import Citation
from schemas.grounding import Calculation
from workers.steps.addresses import source_address

Style = Literal["standard", "compact", "verbose"]

MAX_REFERENCES = 60_000
"""Longest list of references, code points: an answer of 60,000, formatted, and this still fit
the 200,000 of ``FormattedResponse.content``."""
MAX_PATH = 300
"""Longest path that is shown, code points."""

_HEADING = "\n\n## References\n\n"
_SPACE = re.compile(r"\s+")
_INVISIBLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_MARKDOWN = re.compile(r"[\\`*\[\]~|$]|(?<![^\W_])_|_(?![^\W_])|&(?=[#A-Za-z])")


def format_references(
    citations: Sequence[Citation],
    *,
    style: Style = "standard",
    rules: Mapping[str, str] | None = None,
    calculations: Sequence[Calculation] = (),
) -> str:
    """Format citations as the reference list of seed 000, to be appended to an answer.

    Below the sources stand the calculations by which figures follow from them (seed 004).

    ``compact`` writes one line for each source without update, confidence and excerpt. What
    is not known is left out: no path, no confidence "medium" by default. A list beyond
    ``MAX_REFERENCES`` is cut and says by how many.
    """
    if not citations and not calculations:
        return ""
    separator = "\n" if style == "compact" else "\n\n"
    parts: list[str] = []
    length = 0
    for index, citation in enumerate(citations):
        entry = _compact_entry(citation, rules) if style == "compact" else "\n".join(_entry_lines(citation, rules))
        length += len(entry) + len(separator)
        if length > MAX_REFERENCES:
            parts.append(f"… and {len(citations) - index} more sources")
            break
        parts.append(entry)
    cited = frozenset(citation.number for citation in citations)
    parts.extend(_calculation_entry(each, cited, style) for each in calculations)
    return _HEADING + separator.join(parts) + "\n"


def _calculation_entry(calculation: Calculation, cited: frozenset[int], style: Style) -> str:
    numbers = sorted({each.number for each in calculation.inputs if each.number is not None})
    named = ", ".join(f"[{number}]" if number in cited else f"source {number}" for number in numbers)
    entry = f"*Calculation*: {escape(calculation.expression)} (from {named})"
    return f"- {entry}" if style == "compact" else entry


def format_interactive(
    citations: Sequence[Citation],
    rules: Mapping[str, str] | None = None,
    calculations: Sequence[Calculation] = (),
) -> list[dict[str, Any]]:
    """Describe citations for a user interface (seeds 000 and 004).

    Args:
        citations: what an answer cites.
        rules: see ``source_address``, which gives ``url``; without an address it is null.
        calculations: how figures of the answer follow from its sources.

    Text is raw: the interface escapes it.
    """
    return [
        {
            "id": f"citation-{citation.number}",
            "number": citation.number,
            "type": citation.source_type,
            "title": _title(citation),
            "url": source_address(citation, rules),
            "excerpt": citation.excerpt,
            "displayText": citation.display_text,
            "metadata": {
                "last_updated": citation.last_updated.isoformat() if citation.last_updated else None,
                "confidence": citation.confidence,
                **_provenance(citation),
            },
        }
        for citation in citations
    ] + [_interactive_calculation(number, each) for number, each in enumerate(calculations, 1)]


def _interactive_calculation(number: int, calculation: Calculation) -> dict[str, Any]:
    return {
        "id": f"calculation-{number}",
        "number": None,
        "type": "calculation",
        "title": calculation.expression,
        "url": None,
        "excerpt": "",
        "displayText": f"Calculation: {calculation.expression}",
        "metadata": calculation.model_dump(mode="json", include={"operation", "result", "inputs"}),
    }


def _entry_lines(citation: Citation, rules: Mapping[str, str] | None) -> Iterator[str]:
    yield f"[{citation.number}] **{citation.source_type.title()}**: {escape(_title(citation))}"
    if source := _linked(citation, rules):
        yield f"    Source: {source}"
    if citation.last_updated:
        yield f"    Updated: {citation.last_updated.date().isoformat()}"
    if citation.learned_at:
        yield f"    Learned: {citation.learned_at.date().isoformat()}"
    elif citation.memory_id and citation.created_at:
        yield f"    Remembered: {citation.created_at.date().isoformat()}"
    if citation.source_event:
        yield f"    Event: {escape(citation.source_event[:MAX_PATH])}"
    if citation.confidence is not None:
        yield f"    Confidence: {_confidence_word(citation.confidence)}"
    if excerpt := escape(citation.excerpt):
        yield f"    > {excerpt}"


def _provenance(citation: Citation) -> dict[str, str]:
    """Where a memory comes from (seed 004); empty for other sources."""
    if citation.memory_id is None:
        return {}
    known = {
        "memory_id": citation.memory_id,
        "created_at": citation.created_at.isoformat() if citation.created_at else None,
        "source_event": citation.source_event,
        "learned_at": citation.learned_at.isoformat() if citation.learned_at else None,
    }
    return {name: value for name, value in known.items() if value}


def _compact_entry(citation: Citation, rules: Mapping[str, str] | None) -> str:
    source = _linked(citation, rules)
    # A list item, since lines that follow each other would run into one paragraph.
    line = f"- [{citation.number}] {citation.source_type.title()}: {escape(_title(citation))}"
    return f"{line} ({source})" if source else line


def _title(citation: Citation) -> str:
    return citation.source_name or citation.entity or citation.chunk_id


def _source(citation: Citation) -> str:
    """Where the source is found: its path, or its table and record."""
    path = citation.source_path or "/".join(filter(None, (citation.source_table, citation.record_id)))
    return path if len(path) <= MAX_PATH else path[: MAX_PATH - 1] + "…"


def _linked(citation: Citation, rules: Mapping[str, str] | None) -> str:
    """Where the source is found, escaped; a link where a rule gives it an address."""
    source = escape(_source(citation))
    address = source_address(citation, rules)
    # A path that is an address is shown as it is: readers see where it leads.
    return f"[{source}](<{address}>)" if source and address and address != citation.source_path else source


def _confidence_word(confidence: float) -> str:
    """The word of seed 000 nearest to a number; the words read as 0.9, 0.6 and 0.3."""
    if confidence >= 0.75:
        return "High"
    return "Medium" if confidence >= 0.45 else "Low"


def escape(text: str) -> str:
    """Put hostile text on one line and escape its Markdown and HTML.

    An underscore inside a word is no markup and stays, so that paths remain readable.
    """
    line = _INVISIBLE.sub("", _SPACE.sub(" ", text)).strip()
    return _MARKDOWN.sub(lambda match: "\\" + match[0], line).replace("<", "&lt;")
