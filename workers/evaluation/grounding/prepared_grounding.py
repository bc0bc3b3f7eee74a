"""Prepare an answer for the evaluation of its grounding, with its claims, evidence and steps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from schemas.answers import GeneratedAnswer
from schemas.grounding import (
    MAX_CLAIMS,
)
from schemas.reports import Span
from workers.evaluation.citations.citation_finder import NO_CONTEXT, coverage, resolve_citations, skip_reason
from workers.evaluation.claims.claim_extraction import ExtractedClaim
from workers.evaluation.contradictions.json_evidence import RecordFacts, read_record
from workers.evaluation.conversation.resolution import Resolution, resolve_query, with_resolved_query
from workers.evaluation.conversation.unnamed_subjects import with_question
from workers.evaluation.grounding.run_steps import StepWords, words_of_steps
from workers.evaluation.grounding.sources.earlier_turns import (
    EarlierSentence,
    earlier_sentences,
)
from workers.evaluation.grounding.sources.evidence import (
    EvidenceUnit,
    collect_evidence,
)
from workers.evaluation.grounding.sources.tool_evidence import (
    ToolEvidence,
    attribute_units,
    failure_units,
    read_tools,
    records_of,
)
from workers.evaluation.grounding.worked_figures import with_worked_figures
from workers.evaluation.text.languages.local_words import content_words
from workers.evaluation.text.structure.segmentation import segment
from workers.evaluation.text.uncertainty import uncertainty_spans
from workers.evaluation.tools.results.tool_results import ToolResults

MAX_MARKERS = 1_000
"""Most uncertainty markers that are listed; all of them count."""


@dataclass(frozen=True, slots=True)
class PreparedGrounding:
    """Hold a segmented answer with its evidence.

    Attributes:
        tenant: tenant of the answer.
        answer_id: identifier of the answer.
        claims: the listed claims in order, of any kind.
        cited: for each of them the contexts that it validly cites, from 1.
        total: number of all claims.
        unchecked: number of different claims that need grounding and are beyond the limit.
        units: the evidence.
        records: facts from the fields of JSON contexts, by number of the context.
        coverage: share of sentences with a valid citation; ``None`` if no sentence needs a citation.
        uncertainty: positions of uncertainty markers.
        skipped: reason why nothing is evaluated; empty otherwise.
        query: the query after the earlier turns; ``None`` without earlier turns.
        earlier: statements of the earlier turns.
        answer: text of the answer, if there are earlier turns.
        steps: words of the steps of the run.
        tools: results of tools; ``None`` without any.
        rows: records among the contexts of an answer without tools; ``None`` without any.
        question: the question as the answer understands it.
    """

    tenant: str
    answer_id: str
    claims: tuple[ExtractedClaim, ...] = ()
    cited: tuple[tuple[int, ...], ...] = ()
    total: int = 0
    unchecked: int = 0
    units: tuple[EvidenceUnit, ...] = ()
    records: Mapping[int, RecordFacts] = field(default_factory=dict)
    coverage: float | None = None
    uncertainty: tuple[Span, ...] = field(default=())
    skipped: str = ""
    query: Resolution | None = None
    earlier: tuple[EarlierSentence, ...] = ()
    answer: str = ""
    steps: tuple[StepWords, ...] = ()
    tools: ToolEvidence | None = None
    rows: ToolResults | None = None
    question: str = ""


def prepare_grounding(answer: GeneratedAnswer) -> PreparedGrounding:
    """Segment an answer and its contexts: return claims and evidence."""
    reason = skip_reason(answer)
    if reason and not (reason == NO_CONTEXT and answer.conversation):
        return PreparedGrounding(answer.tenant, answer.answer_id, skipped=reason)
    resolution = resolve_query(answer.query, answer.conversation)
    answer = with_resolved_query(answer, resolution)
    contexts = answer.contexts or []
    sentences = segment(answer.answer)
    resolved = resolve_citations(answer, sentences)
    places, unchecked = _listed(resolved.claims)
    claims = with_question([resolved.claims[place] for place in places], resolution)
    tools = read_tools(answer)
    units = collect_evidence(contexts, content_words(answer.answer), claims[0].language if claims else "en")
    units = (*units, *attribute_units(tools, contexts, units)) if tools else units
    claims = with_worked_figures(claims, [answer.query, *(unit.text for unit in units)])
    return PreparedGrounding(
        tenant=answer.tenant,
        answer_id=answer.answer_id,
        claims=claims,
        cited=tuple(resolved.cited[place] for place in places),
        total=len(resolved.claims),
        unchecked=unchecked,
        tools=tools,
        rows=records_of(answer),
        question=answer.query,
        units=units if units else tuple(failure_units(tools, [chunk.chunk_id for chunk in contexts])),
        records={
            number: facts
            for number, chunk in enumerate(contexts, 1)
            if (facts := read_record(chunk.content)) is not None
        },
        coverage=coverage(resolved),
        uncertainty=tuple(uncertainty_spans(answer.answer, sentences)),
        skipped=reason,
        query=resolution,
        earlier=earlier_sentences(answer.conversation, content_words(answer.answer)),
        answer=answer.answer if answer.conversation else "",
        steps=words_of_steps(answer.steps),
    )


def _listed(claims: Sequence[ExtractedClaim]) -> tuple[list[int], int]:
    """Return the places of the claims to list and check, and the number of different claims beyond the limit.

    If there are too many, different claims that need grounding come first: a claim cannot be hidden behind four hundred
    repetitions of another.
    """
    if len(claims) <= MAX_CLAIMS:
        return list(range(len(claims))), 0
    different: dict[tuple[str, str], int] = {}
    for place, claim in enumerate(claims):
        if claim.needs_grounding:
            different.setdefault((claim.antecedent, claim.plain), place)
    first = list(different.values())
    chosen = frozenset(first[:MAX_CLAIMS])
    others = (place for place in range(len(claims)) if place not in chosen)
    return sorted((*chosen, *islice(others, MAX_CLAIMS - len(chosen)))), max(0, len(first) - MAX_CLAIMS)
