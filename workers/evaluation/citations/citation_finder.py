"""Find the citations of an answer, resolve them against its contexts and measure their coverage.

Formats include ``[Source: …]``, ``[Evidence: …]`` and ``[Memory: …]``. Rules:

- ``[0]`` and numbers above the number of contexts are invalid references.
- Unused sources are the contexts that no marker cites.
- Coverage counts factual claims and recommendations, and only citations that resolve. The share of
  cited recommendations is reported separately.
- An excerpt ends at the end of a sentence, not at any period ("3.5", "e.g.").
- A source without a confidence has none.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

from pydantic_core import to_json

from schemas.answers import ContextChunk, GeneratedAnswer, ToolCall
from schemas.citations import (
    ADDRESSES,
    MAX_EXCERPT,
    Citation,
    CitationFindings,
    CitationForm,
    InvalidReason,
    InvalidReference,
    UnusedSource,
)
from schemas.identifiers import citation_id
from schemas.reports import Span
from workers.evaluation.citations.provided_citations import StructuredReference, structured_references
from workers.evaluation.citations.resolution import Said, SourceIndex, read_said, resolve
from workers.evaluation.claims.claim_extraction import ExtractedClaim, extract_claims
from workers.evaluation.conversation.resolution import resolve_query, with_resolved_query
from workers.evaluation.text.empty_texts import says_nothing
from workers.evaluation.text.languages.language import guess_language
from workers.evaluation.text.structure.markers import Marker, find_markers
from workers.evaluation.text.structure.segmentation import Sentence, boundaries, segment

NO_CONTEXT = "no context was given"
NO_ANSWER = "the answer is empty"
FAILED_CALL = "the call failed"
NOT_SENT = "the {} was not sent"
"""Reason for a part that the gateway has but does not send."""
MAX_REFERENCES = 1_000
"""Maximum number of invalid references to list."""
MAX_SPANS = 200
"""Maximum number of positions to list for one citation."""
MAX_ALL_SPANS = 4_000
"""Maximum number of positions to list for all citations of an answer; one marker such as "[1-200]" can name 200."""
MAX_MARKER = 200
"""Maximum length of a copied marker text, code points."""


@dataclass(frozen=True, slots=True)
class Use:
    """Describe a reference that resolves to a context.

    Attributes:
        numbers: positions of the cited contexts, from 1.
        form: format of the reference.
        span: position in the answer; ``None`` if it is unknown.
    """

    numbers: tuple[int, ...]
    form: CitationForm
    span: Span | None


@dataclass(frozen=True, slots=True)
class ResolvedAnswer:
    """Hold the claims and markers of an answer with the contexts that they name.

    Attributes:
        markers: all markers, in order.
        claims: all claims, in order.
        cited: for each claim the contexts that it cites, from 1, ascending.
        uses: references that resolve.
        invalid: references that do not.
    """

    markers: tuple[Marker, ...]
    claims: tuple[ExtractedClaim, ...]
    cited: tuple[tuple[int, ...], ...]
    uses: tuple[Use, ...]
    invalid: tuple[InvalidReference, ...]

    def counts(self, *kinds: str) -> tuple[int, int]:
        """Return the number of claims of these kinds and the number of those that are cited."""
        of_kind = [bool(cited) for claim, cited in zip(self.claims, self.cited, strict=True) if claim.kind in kinds]
        return len(of_kind), sum(of_kind)


def skip_reason(answer: GeneratedAnswer) -> str:
    """Return the reason why an answer cannot be checked against its contexts; empty if it can."""
    if answer.status == "error":
        return FAILED_CALL
    if says_nothing(answer.answer):
        return NOT_SENT.format("answer's text") if "answer" in answer.withheld else NO_ANSWER
    if not answer.contexts:
        return NOT_SENT.format("context") if "contexts" in answer.withheld else NO_CONTEXT
    return ""


def find_citations(answer: GeneratedAnswer) -> CitationFindings:
    """Find, resolve and count the citations of an answer; without contexts, every reference is invalid."""
    reason = skip_reason(answer)
    if reason and reason != NO_CONTEXT:
        return CitationFindings(status="skipped", reason=reason)
    contexts = answer.contexts or []
    understood = with_resolved_query(answer, resolve_query(answer.query, answer.conversation))
    resolved = resolve_citations(understood, segment(answer.answer))
    citations = _citations(answer, contexts, resolved)
    cited = {citation.number for citation in citations}
    return CitationFindings(
        valid=not resolved.invalid,
        citations=citations,
        invalid_references=list(resolved.invalid[:MAX_REFERENCES]),
        unused_sources=[
            UnusedSource(number=number, chunk_id=chunk.chunk_id)
            for number, chunk in enumerate(contexts, 1)
            if number not in cited
        ],
        inference_spans=[_span(marker) for marker in resolved.markers if marker.form == "inference"][:MAX_REFERENCES],
        **_counted(resolved),
    )


def coverage(resolved: ResolvedAnswer) -> float | None:
    """Return the share of claims and recommendations with a valid citation, 0..1; ``None`` without any."""
    return _share(*resolved.counts("factual", "recommendation"))


def _counted(resolved: ResolvedAnswer) -> dict[str, int | float | None]:
    claims, cited = resolved.counts("factual", "recommendation")
    recommendations, recommended = resolved.counts("recommendation")
    return {
        "claims": claims,
        "cited_claims": cited,
        "coverage": _share(claims, cited),
        "recommendations": recommendations,
        "cited_recommendations": recommended,
        "recommendation_coverage": _share(recommendations, recommended),
    }


def _share(whole: int, part: int) -> float | None:
    return part / whole if whole else None


def resolve_citations(answer: GeneratedAnswer, sentences: Sequence[Sentence]) -> ResolvedAnswer:
    """Resolve the markers of an answer and the citations that came with it.

    Args:
        answer: the answer.
        sentences: its segmentation.
    """
    contexts = answer.contexts or []
    index = SourceIndex(contexts, _known_texts(answer))
    markers = find_markers(answer.answer, len(contexts), sentences)
    background = contexts[0].content if contexts else ""
    claims = extract_claims(answer.answer, sentences, markers, answer.query, background)
    uses, invalid = [], []
    # The service's statement about its marker has priority over the number in the marker.
    explained: dict[tuple[int, int], int] = {}
    for reference in structured_references(answer):
        use, problem = _resolve_structured(reference, index)
        uses.extend(use)
        invalid.extend(problem)
        if use and use[0].span:
            explained[(use[0].span.start, use[0].span.end)] = use[0].numbers[0]
    said = _Statements(claims)
    for marker in markers:
        if (marker.start, marker.end) in explained:
            continue
        use, problem = _resolve_marker(marker, index, said)
        uses.extend(use)
        invalid.extend(problem)
    return ResolvedAnswer(tuple(markers), tuple(claims), _cited(claims, uses), tuple(uses), tuple(invalid))


def _known_texts(answer: GeneratedAnswer) -> list[str]:
    """Return what may have brought an address besides the sources: the question, the turns, pages that a service cites."""
    record = answer.metadata.get("record")
    cited = record.get(ADDRESSES) if isinstance(record, dict) else None
    pages = map(str, cited[:MAX_REFERENCES]) if isinstance(cited, list) else ()
    return [answer.query, *(turn.content for turn in answer.conversation), *pages]


class _Statements:
    """Read the statement that a marker refers to (the last of its claims) and cache the result."""

    def __init__(self, claims: Sequence[ExtractedClaim]) -> None:
        self._claims = {marker.start: claim for claim in claims if claim.needs_grounding for marker in claim.markers}
        self._read: dict[int, Said] = {}

    def at(self, marker: Marker) -> Said | None:
        claim = self._claims.get(marker.start)
        if claim is None:
            return None
        if claim.start not in self._read:
            self._read[claim.start] = read_said(f"{claim.antecedent} {claim.plain}")
        return self._read[claim.start]


def _resolve_marker(
    marker: Marker, index: SourceIndex, statements: _Statements
) -> tuple[list[Use], list[InvalidReference]]:
    """Resolve a marker; return its uses and its invalid references."""
    numbers, problem = resolve(marker, index)
    text, span = marker.text[:MAX_MARKER], _span(marker)
    invalid = [InvalidReference(marker=text, form=marker.form, reason=problem, span=span)] if problem else []
    # Do not accept the record's other references for a claim on another machine.
    said = [statements.at(marker), read_said(marker.target) if marker.form != "link" else None] if numbers else []
    fitting = []
    for number in numbers:
        reason = next(filter(None, (index.mismatch(number, each) for each in said if each)), None)
        if reason:
            invalid.append(InvalidReference(marker=text, form=marker.form, reason=reason, span=span, number=number))
        else:
            fitting.append(number)
    return [Use(tuple(fitting), marker.form, span)] if fitting else [], invalid


def _cited(claims: Sequence[ExtractedClaim], uses: Sequence[Use]) -> tuple[tuple[int, ...], ...]:
    """Return the contexts that each claim cites, by its markers and by spans that overlap it."""
    by_start = {use.span.start: use.numbers for use in uses if use.span and use.form != "provided"}
    spans = sorted((use.span.start, use.span.end, use.numbers) for use in uses if use.span and use.form == "provided")
    found = []
    for claim in claims:
        numbers = {number for marker in claim.markers for number in by_start.get(marker.start, ())}
        for start, end, cited in spans:
            if start >= claim.end:
                break
            if end > claim.start:
                numbers.update(cited)
        found.append(tuple(sorted(numbers)))
    return tuple(found)


def excerpt(content: str, max_length: int = MAX_EXCERPT) -> str:
    """Return the start of a source, cut at the last sentence end in its second half, or else anywhere.

    Returns:
        At most ``max_length`` code points, and the ellipsis that marks a cut.
    """
    content = content.strip()
    if len(content) <= max_length:
        return content
    # Read twice the length, so that the last boundary is in the text and not at the cut.
    ends = boundaries(content[: 2 * max_length], guess_language(content))
    fitting = [end for end in ends if max_length * 0.5 < len(content[:end].rstrip()) < max_length]
    return content[: fitting[-1]].rstrip() + " …" if fitting else content[:max_length].rstrip() + "…"


def _citations(answer: GeneratedAnswer, contexts: Sequence[ContextChunk], resolved: ResolvedAnswer) -> list[Citation]:
    forms: dict[int, dict[CitationForm, None]] = {}
    spans: dict[int, list[Span]] = {}
    listed = 0
    for use in sorted(resolved.uses, key=lambda use: use.span.start if use.span else -1):
        for number in use.numbers:
            forms.setdefault(number, {})[use.form] = None
            places = spans.setdefault(number, [])
            if use.span and len(places) < MAX_SPANS and listed < MAX_ALL_SPANS:
                places.append(use.span)
                listed += 1
    identifiers = list(_identifiers(answer, contexts))
    return [
        _citation(identifiers[number - 1], number, contexts[number - 1], list(forms[number]), spans[number])
        for number in sorted(forms)
    ]


def cite(answer: GeneratedAnswer, numbers: Sequence[int]) -> list[Citation]:
    """Return citations that the author did not write, of the contexts with these numbers, from 1."""
    contexts = answer.contexts or []
    identifiers = list(_identifiers(answer, contexts)) if numbers else []
    return [_citation(identifiers[number - 1], number, contexts[number - 1], ["attributed"], []) for number in numbers]


def _identifiers(answer: GeneratedAnswer, contexts: Sequence[ContextChunk]) -> Iterator[str]:
    seen: Counter[str] = Counter()
    for chunk in contexts:
        yield citation_id(answer.tenant, answer.answer_id, chunk.chunk_id, seen[chunk.chunk_id])
        seen[chunk.chunk_id] += 1


def _citation(
    identifier: str, number: int, chunk: ContextChunk, forms: list[CitationForm], spans: list[Span]
) -> Citation:
    is_memory = chunk.source_type == "memory"
    call = chunk.tool or ToolCall()
    return Citation(
        citation_id=identifier,
        number=number,
        chunk_id=chunk.chunk_id,
        source_type=chunk.source_type,
        source_name=chunk.source_name or call.name,
        source_path=chunk.source_path,
        source_table=chunk.source_table,
        record_id=chunk.record_id or call.id,
        memory_id=(chunk.record_id or chunk.chunk_id) if is_memory else None,
        entity=chunk.entity,
        excerpt=excerpt(chunk.content),
        # A memory that was never changed uses its creation time.
        last_updated=chunk.last_updated or (chunk.created_at if is_memory else None),
        created_at=chunk.created_at or call.called_at,
        source_event=chunk.source_event or call_text(call),
        learned_at=chunk.learned_at,
        confidence=chunk.confidence,
        source_digest=content_digest(chunk),
        forms=forms,
        spans=spans,
        display_text=display_text(number, chunk),
    )


MAX_CALL = 500
"""Maximum length of a call as text, code points."""


def call_text(call: ToolCall) -> str | None:
    """Render a call for readers: ``get_weather {"city": "Porto"}: error``; ``None`` without a call."""
    given = call.arguments
    if given is not None and not isinstance(given, str):
        given = to_json(given, inf_nan_mode="null").decode()
    text = " ".join(filter(None, (call.name, given)))
    failed = f": {call.error or 'error'}" if call.status == "error" else ""
    return (text[:MAX_CALL] + failed)[: 2 * MAX_CALL] or None


def content_digest(chunk: ContextChunk) -> str:
    """Return the SHA-256 of a chunk's content, the key under which the chunk is stored."""
    return sha256(chunk.content.encode("utf-8", "surrogatepass")).hexdigest()


def display_text(number: int, chunk: ContextChunk) -> str:
    """Render a citation for readers: ``[1] Runbook: Loki crash loop``."""
    record = "/".join(part for part in (chunk.source_table, chunk.record_id) if part)
    name = chunk.source_name or (chunk.tool and chunk.tool.name) or record or chunk.source_path or chunk.chunk_id
    when = ""
    if chunk.learned_at:
        when = f" (learned {chunk.learned_at:%Y-%m-%d})"
    elif chunk.source_type == "memory" and chunk.created_at:
        when = f" ({chunk.created_at:%Y-%m-%d})"
    elif chunk.tool and chunk.tool.called_at:
        when = f" (called {chunk.tool.called_at:%Y-%m-%d %H:%M})"
    return f"[{number}] {chunk.source_type.capitalize()}: {name[:300]}{when}"


def _span(marker: Marker) -> Span:
    return Span(start=marker.start, end=marker.end)


def _resolve_structured(reference: StructuredReference, index: SourceIndex) -> tuple[list[Use], list[InvalidReference]]:
    """Resolve a structured citation by name, then number, then quoted passage; the context must contain its passage."""
    span = None
    if reference.start is not None and reference.end is not None:
        span = Span(start=reference.start, end=reference.end)
    quoted = " ".join(reference.quoted.split())
    number = next(filter(None, (index.named(name) for name in reference.names)), None)
    if number is None and reference.number is not None and reference.number <= len(index):
        number = reference.number
    if number is None and not reference.names and reference.number is None:
        number = index.quoted(quoted) if quoted else None
    shown = (next(iter(reference.names), "") or (f"[{reference.number}]" if reference.number else quoted))[:MAX_MARKER]
    if number is None:
        if not shown:
            return [], []
        out_of_range = reference.number is not None and not reference.names
        reason: InvalidReason = "out_of_range" if out_of_range else "unknown_record"
        return [], [InvalidReference(marker=shown, form="provided", reason=reason, span=span)]
    if quoted and not index.has_passage(number, quoted):
        # A gateway may split one source into several documents: search for the quoted passage.
        elsewhere = index.quoted(quoted)
        if elsewhere is None:
            return [], [
                InvalidReference(marker=shown, form="provided", reason="quote_not_found", span=span, number=number)
            ]
        number = elsewhere
    return [Use((number,), "provided", span)], []
