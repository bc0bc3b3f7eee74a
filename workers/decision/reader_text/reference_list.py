"""Format the list of references below an answer, as text and for user interfaces.

Names, paths and excerpts come from sources and are not trusted. They are put on one line and their Markdown is escaped,
so that they can forge neither a heading nor a link.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Literal

from schemas.citations import Citation
from schemas.grounding import Calculation
from workers.decision.reader_text.source_addresses import source_address

Style = Literal["standard", "compact", "verbose"]

MAX_REFERENCES = 60_000
"""Maximum length of the list of references, code points: together with a formatted answer of 60,000 it fits the 200,000
of ``FormattedResponse.content``.
"""
MAX_PATH = 300
"""Maximum length of a shown path, code points."""
PRIMARY = " (primary source)"
"""Mark of the source that supports a statement better than the other listed ones."""

HEADING = "\n\n## References\n\n"
"""Beginning of the list of references below an answer."""
_NUMBERED = re.compile(r"(?:- )?\[(\d{1,9})\] ")
"""Beginning of an entry with the number of its source."""
_SPACE = re.compile(r"\s+")
_INVISIBLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_MARKDOWN = re.compile(r"[\\`*\[\]~|$]|(?<![^\W_])_|_(?![^\W_])|&(?=[#A-Za-z])")


def format_references(
    citations: Sequence[Citation],
    *,
    style: Style = "standard",
    rules: Mapping[str, str] | None = None,
    calculations: Sequence[Calculation] = (),
    primary: Collection[int] = (),
    contradicted: Collection[int] = (),
) -> str:
    """Format citations as the reference list that is appended to an answer.

    The calculations of derived figures follow the sources. Primary sources are marked. The confidence of a source is
    left out where a claim that rests on it is contradicted: "High" would read as a confirmation of the claim.

    ``compact`` writes one line for each source, without update, confidence and excerpt. Unknown values are left out. A
    list beyond ``MAX_REFERENCES`` is cut, with the number of omitted sources.
    """
    if not citations and not calculations:
        return ""
    separator = _separator(style)
    parts: list[str] = []
    length = 0
    for index, citation in enumerate(citations):
        is_primary = citation.number in primary
        entry = (
            _compact_entry(citation, rules, is_primary)
            if style == "compact"
            else "\n".join(_entry_lines(citation, rules, is_primary, citation.number not in contradicted))
        )
        length += len(entry) + len(separator)
        if length > MAX_REFERENCES:
            parts.append(f"… and {len(citations) - index} more sources")
            break
        parts.append(entry)
    cited = frozenset(citation.number for citation in citations)
    parts.extend(_calculation_entry(each, cited, style) for each in calculations)
    return HEADING + separator.join(parts) + "\n"


def _separator(style: Style) -> str:
    return "\n" if style == "compact" else "\n\n"


def entries_of(references: str) -> dict[int, str]:
    """Return the entries of a formatted list of references by number, without its calculations."""
    lines = references.removeprefix(HEADING).strip("\n")
    # An entry of the other styles has several lines and no blank one; nothing in it begins a line of its own.
    parts = lines.split(_separator("compact" if lines.startswith("- ") else "standard"))
    return {int(match[1]): part for part in parts if (match := _NUMBERED.match(part))}


def list_of_entries(entries: Mapping[int, str], style: Style = "standard") -> str:
    """Return a list of references with some entries in the order of their numbers; empty without any."""
    return HEADING + _separator(style).join(entries[number] for number in sorted(entries)) + "\n" if entries else ""


def _calculation_entry(calculation: Calculation, cited: frozenset[int], style: Style) -> str:
    numbers = sorted({each.number for each in calculation.inputs if each.number is not None})
    named = ", ".join(f"[{number}]" if number in cited else f"source {number}" for number in numbers)
    entry = f"*Calculation*: {escape(calculation.expression)} (from {named})"
    return f"- {entry}" if style == "compact" else entry


def format_interactive(
    citations: Sequence[Citation],
    rules: Mapping[str, str] | None = None,
    calculations: Sequence[Calculation] = (),
    primary: Collection[int] = (),
    contradicted: Collection[int] = (),
) -> list[dict[str, Any]]:
    """Describe citations for a user interface.

    Args:
        citations: citations of an answer.
        rules: see ``source_address``, which gives ``url``; without an address it is null.
        calculations: calculations that derive figures of the answer from its sources.
        primary: numbers of the primary sources.
        contradicted: numbers of the sources on which a contradicted claim rests; their confidence is null.

    Text is raw: the interface escapes it.
    """
    return [
        {
            "id": f"citation-{citation.number}",
            "citation_id": citation.citation_id,
            "chunk_id": citation.chunk_id,
            "source_table": citation.source_table,
            "record_id": citation.record_id,
            "primary": citation.number in primary,
            "number": citation.number,
            "type": citation.source_type,
            "title": _title(citation),
            "url": source_address(citation, rules),
            "excerpt": citation.excerpt,
            "displayText": citation.display_text,
            "metadata": {
                "last_updated": citation.last_updated.isoformat() if citation.last_updated else None,
                "confidence": None if citation.number in contradicted else citation.confidence,
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


def _entry_lines(
    citation: Citation, rules: Mapping[str, str] | None, is_primary: bool, with_confidence: bool
) -> Iterator[str]:
    yield f"[{citation.number}] **{citation.source_type.title()}**: {escape(_title(citation))}{PRIMARY * is_primary}"
    if source := _linked(citation, rules):
        yield f"    Source: {source}"
    if citation.last_updated:
        yield f"    Updated: {citation.last_updated.date().isoformat()}"
    if citation.learned_at:
        yield f"    Learned: {citation.learned_at.date().isoformat()}"
    elif citation.memory_id and citation.created_at:
        yield f"    Remembered: {citation.created_at.date().isoformat()}"
    if citation.source_event:
        label = "Call" if citation.source_type == "tool" else "Event"
        yield f"    {label}: {escape(citation.source_event[:MAX_PATH])}"
    if citation.confidence is not None and with_confidence:
        yield f"    Confidence: {_confidence_word(citation.confidence)}"
    if excerpt := escape(citation.excerpt):
        yield f"    > {excerpt}"


def _provenance(citation: Citation) -> dict[str, str]:
    """Return the origin of a memory; empty for other sources."""
    if citation.memory_id is None:
        return {}
    known = {
        "memory_id": citation.memory_id,
        "created_at": citation.created_at.isoformat() if citation.created_at else None,
        "source_event": citation.source_event,
        "learned_at": citation.learned_at.isoformat() if citation.learned_at else None,
    }
    return {name: value for name, value in known.items() if value}


def _compact_entry(citation: Citation, rules: Mapping[str, str] | None, is_primary: bool) -> str:
    source = _linked(citation, rules)
    # A list item, because consecutive lines would be joined into one paragraph.
    line = f"- [{citation.number}] {citation.source_type.title()}: {escape(_title(citation))}{PRIMARY * is_primary}"
    return f"{line} ({source})" if source else line


def _title(citation: Citation) -> str:
    return citation.source_name or citation.entity or citation.chunk_id


def _source(citation: Citation) -> str:
    """Return the location of the source: its path, or its table and record."""
    path = citation.source_path or "/".join(filter(None, (citation.source_table, citation.record_id)))
    return path if len(path) <= MAX_PATH else path[: MAX_PATH - 1] + "…"


def _linked(citation: Citation, rules: Mapping[str, str] | None) -> str:
    """Return the escaped location of the source; a link where a rule gives an address."""
    source = escape(_source(citation))
    address = source_address(citation, rules)
    # A path that is an address is shown unchanged, so that readers see the target.
    return f"[{source}](<{address}>)" if source and address and address != citation.source_path else source


def _confidence_word(confidence: float) -> str:
    """Return the confidence word nearest to a number; the words mean 0.9, 0.6 and 0.3."""
    if confidence >= 0.75:
        return "High"
    return "Medium" if confidence >= 0.45 else "Low"


def escape(text: str) -> str:
    """Convert hostile text to one line and escape its Markdown and HTML.

    An underscore inside a word is not markup and stays, so that paths are readable.
    """
    line = _INVISIBLE.sub("", _SPACE.sub(" ", text)).strip()
    return _MARKDOWN.sub(lambda match: "\\" + match[0], line).replace("<", "&lt;")
