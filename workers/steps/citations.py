"""Citations of an answer: which sources it names, which of them exist, how much is covered.

Seed 000 (extraction, validation, coverage) and seed 004 (``[Source: …]``, ``[Evidence: …]``,
``[Memory: …]``). Mends of seed 000:

- The seed resolves ``[0]`` to the last chunk (index -1) and drops numbers that are too high
  before it validates, so that nothing is ever invalid. Here both are invalid references.
- Its "unused" compares what is cited with itself and is always empty; here it lists the
  contexts that no marker cites.
- Coverage splits at ". " and counts headings and code; here it counts the sentences that could
  carry a citation, and only citations that resolve.
- Its excerpt takes any period for the end of a sentence ("3.5", "e.g."), and is up to 203 long.
- A source without a confidence has none; the seed writes "medium".
"""

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.answers import ContextChunk, GeneratedAnswer, ProvidedCitation
from schemas.citations import MAX_EXCERPT, Citation, CitationFindings, CitationForm, InvalidReference, UnusedSource
from schemas.identifiers import citation_id
from schemas.reports import Span
from workers.steps.claims import CHECKED_KINDS, classify, markers_within
from workers.steps.language import guess_language
from workers.steps.markers import Marker, find_markers, without_markers
from workers.steps.resolution import SourceIndex, resolve
from workers.steps.segmentation import Sentence, boundaries, segment
from workers.steps.wording import REFERENCE_HEADING, plain_text

NO_CONTEXT = "no context was given"
NO_ANSWER = "the answer is empty"
FAILED_CALL = "the call failed"
MAX_REFERENCES = 1_000
"""Most invalid references that are listed; more are a broken answer, whatever their number."""
MAX_SPANS = 200
"""Most places listed for one citation."""
MAX_ALL_SPANS = 4_000
"""Most places listed for all citations of an answer: "[1-200]" alone names two hundred of them."""
MAX_MARKER = 200
"""Longest copy of a marker's text, code points."""


@dataclass(frozen=True, slots=True)
class ResolvedAnswer:
    """The markers of an answer with what they name.

    Attributes:
        markers: all markers, in order.
        uses: for each reference the contexts it names, its form and its span, if it has one.
        invalid: references that name nothing.
        sentences: sentences that could carry a citation.
        cited: how many of them do.
    """

    markers: tuple[Marker, ...]
    uses: tuple[tuple[tuple[int, ...], CitationForm, Span | None], ...]
    invalid: tuple[InvalidReference, ...]
    sentences: int
    cited: int


def skip_reason(answer: GeneratedAnswer) -> str:
    """Why an answer cannot be held against its contexts; empty if it can."""
    if answer.status == "error":
        return FAILED_CALL
    if not answer.answer.strip():
        return NO_ANSWER
    if not answer.contexts:
        return NO_CONTEXT
    return ""


def find_citations(answer: GeneratedAnswer) -> CitationFindings:
    """Find, resolve and count the citations of an answer."""
    reason = skip_reason(answer)
    if reason:
        return CitationFindings(status="skipped", reason=reason)
    contexts = answer.contexts or []
    resolved = resolve_citations(answer, segment(answer.answer))
    citations = _citations(answer.answer_id, contexts, resolved)
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
        sentences=resolved.sentences,
        cited_sentences=resolved.cited,
        coverage=coverage(resolved),
    )


def coverage(resolved: ResolvedAnswer) -> float | None:
    """Share of sentences with a valid citation; ``None`` where no sentence could carry one."""
    return resolved.cited / resolved.sentences if resolved.sentences else None


def resolve_citations(answer: GeneratedAnswer, sentences: Sequence[Sentence]) -> ResolvedAnswer:
    """Resolve the markers of an answer and the citations that came with it.

    Args:
        answer: the answer.
        sentences: its segmentation.
    """
    contexts = answer.contexts or []
    index = SourceIndex(contexts)
    markers = find_markers(answer.answer, len(contexts), sentences)
    uses: list[tuple[tuple[int, ...], CitationForm, Span | None]] = []
    invalid: list[InvalidReference] = []
    for marker in markers:
        numbers, problem = resolve(marker, index)
        if numbers:
            uses.append((numbers, marker.form, _span(marker)))
        if problem:
            text = marker.text[:MAX_MARKER]
            invalid.append(InvalidReference(marker=text, form=marker.form, reason=problem, span=_span(marker)))
    for provided in answer.citations:
        found, reference = _resolve_provided(provided, index, len(answer.answer))
        if found:
            uses.append(((found,), "provided", _provided_span(provided, len(answer.answer))))
        elif reference:
            invalid.append(reference)
    spans = sorted((span.start, span.end) for _, _, span in uses if span)
    citable = citable_sentences(sentences, markers)
    return ResolvedAnswer(tuple(markers), tuple(uses), tuple(invalid), len(citable), _count_cited(citable, spans))


def citable_sentences(sentences: Sequence[Sentence], markers: Sequence[Marker]) -> list[Sentence]:
    """Sentences that could carry a citation: statements and advice.

    Not headings, title rows, code, questions, greetings and talk about the documents, lists of
    references, nor what the answer marks as its own inference.
    """
    citable = []
    in_references = False
    position = 0
    for number, sentence in enumerate(sentences):
        while position < len(markers) and markers[position].end <= sentence.start:
            position += 1
        if sentence.block == "heading":
            in_references = bool(REFERENCE_HEADING.match(plain_text(sentence.text)))
            continue
        if in_references or sentence.is_header:
            continue
        own = markers_within(markers, position, sentence.end)
        plain = plain_text(without_markers(sentence.text, sentence.start, own))
        following = sentences[number + 1].block if number + 1 < len(sentences) else None
        if classify(sentence, plain, own, following) in CHECKED_KINDS:
            citable.append(sentence)
    return citable


def excerpt(content: str, max_length: int = MAX_EXCERPT) -> str:
    """The start of a source, cut at the last sentence end in its second half, else with "…".

    Returns:
        At most ``max_length`` code points, and the ellipsis.
    """
    content = content.strip()
    if len(content) <= max_length:
        return content
    # Twice the length, so that the last boundary is one of the text and not of the cut.
    ends = boundaries(content[: 2 * max_length], guess_language(content))
    fitting = [end for end in ends if max_length * 0.5 < len(content[:end].rstrip()) <= max_length]
    return content[: fitting[-1]].rstrip() if fitting else content[:max_length].rstrip() + "…"


def _citations(answer_id: str, contexts: Sequence[ContextChunk], resolved: ResolvedAnswer) -> list[Citation]:
    forms: dict[int, dict[CitationForm, None]] = {}
    spans: dict[int, list[Span]] = {}
    listed = 0
    for numbers, form, span in resolved.uses:
        for number in numbers:
            forms.setdefault(number, {})[form] = None
            places = spans.setdefault(number, [])
            if span and len(places) < MAX_SPANS and listed < MAX_ALL_SPANS:
                places.append(span)
                listed += 1
    return [
        _citation(answer_id, number, contexts[number - 1], list(forms[number]), spans[number])
        for number in sorted(forms)
    ]


def _citation(
    answer_id: str, number: int, chunk: ContextChunk, forms: list[CitationForm], spans: list[Span]
) -> Citation:
    is_memory = chunk.source_type == "memory"
    return Citation(
        citation_id=citation_id(answer_id, chunk.chunk_id),
        number=number,
        chunk_id=chunk.chunk_id,
        source_type=chunk.source_type,
        source_name=chunk.source_name,
        source_path=chunk.source_path,
        source_table=chunk.source_table,
        record_id=chunk.record_id,
        memory_id=(chunk.record_id or chunk.chunk_id) if is_memory else None,
        entity=chunk.entity,
        excerpt=excerpt(chunk.content),
        # A memory that never changed is as old as it is.
        last_updated=chunk.last_updated or (chunk.created_at if is_memory else None),
        confidence=chunk.confidence,
        forms=forms,
        spans=spans,
        display_text=display_text(number, chunk),
    )


def display_text(number: int, chunk: ContextChunk) -> str:
    """A citation for readers: ``[1] Runbook: Loki crash loop``."""
    record = "/".join(part for part in (chunk.source_table, chunk.record_id) if part)
    name = chunk.source_name or record or chunk.source_path or chunk.chunk_id
    when = f" ({chunk.created_at:%Y-%m-%d})" if chunk.source_type == "memory" and chunk.created_at else ""
    return f"[{number}] {chunk.source_type.capitalize()}: {name[:300]}{when}"


def _span(marker: Marker) -> Span:
    return Span(start=marker.start, end=marker.end)


def _provided_span(provided: ProvidedCitation, length: int) -> Span | None:
    if provided.start is None or provided.end is None or not provided.start < provided.end <= length:
        return None
    return Span(start=provided.start, end=provided.end)


def _resolve_provided(
    provided: ProvidedCitation, index: SourceIndex, length: int
) -> tuple[int | None, InvalidReference | None]:
    """A structured citation by identifier, number or quoted text, in this order."""
    span = _provided_span(provided, length)
    if provided.chunk_id is not None:
        known = index.chunk(provided.chunk_id)
        if known:
            return known, None
        marker = provided.chunk_id[:MAX_MARKER]
        return None, InvalidReference(marker=marker, form="provided", reason="unknown_record", span=span)
    if provided.number is not None:
        if provided.number <= len(index):
            return provided.number, None
        marker = f"[{provided.number}]"[:MAX_MARKER]
        return None, InvalidReference(marker=marker, form="provided", reason="out_of_range", span=span)
    quoted = " ".join((provided.cited_text or "").split())
    if not quoted:
        return None, None
    found = index.quoted(quoted)
    if found:
        return found, None
    return None, InvalidReference(marker=quoted[:MAX_MARKER], form="provided", reason="unknown_record", span=span)


def _count_cited(sentences: Sequence[Sentence], spans: Sequence[tuple[int, int]]) -> int:
    """Sentences that a citation stands in or covers; both in order of their start."""
    cited = position = 0
    furthest = 0
    for sentence in sentences:
        while position < len(spans) and spans[position][0] < sentence.end:
            furthest = max(furthest, spans[position][1])
            position += 1
        cited += furthest > sentence.start
    return cited
