"""Define the tables of answers: evaluations, claims, citations, sources and alerts."""

from dataclasses import dataclass
from typing import ClassVar

from workers.stores.tables.table_row import (
    EPOCH,
    Flag,
    Float64,
    Hour,
    InsertSeconds,
    Label,
    Labels,
    Millis,
    Numbers,
    Risk,
    Spans,
    TableRow,
    Text,
    Texts,
    UInt16,
    UInt32,
    UInt64,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRow(TableRow):
    """Hold an answer and its evaluation."""

    table: ClassVar[str] = "answers"
    kept_from: ClassVar[str] = "completed_at"
    tenant: Label
    answer_id: Text
    run: Label = "live"
    pipeline_version: Label
    rank: UInt32
    session_id: Text = ""
    user_id: Text = ""
    query: Text
    answer: Text
    content: Text
    query_type: Label = ""
    model_id: Label = "unknown"
    model_provider: Label = ""
    prompt_version: Label = ""
    risk_mode: Label
    status: Label
    error: Text = ""
    contexts: UInt16
    requested_at: Millis | None = None
    completed_at: Millis
    latency_seconds: Float64 | None = None
    prompt_tokens: UInt32 | None = None
    completion_tokens: UInt32 | None = None
    trace_id: Text = ""
    hallucination_risk: Risk | None = None
    risk_score: Float64 | None = None
    grounding_score: Float64 | None = None
    context_similarity: Float64 | None = None
    facts_verified: Float64 | None = None
    citation_coverage: Float64 | None = None
    citations_valid: Flag | None = None
    quality_score: Float64 | None = None
    passes_validation: Flag | None = None
    validation_score: Float64 | None = None
    gate_score: Float64 | None = None
    faithfulness: Float64 | None = None
    relevance: Float64 | None = None
    correctness: Float64 | None = None
    coverage: Float64 | None = None
    consistency: Float64 | None = None
    freshness: Float64 | None = None
    traceability: Float64 | None = None
    signals: Labels
    issues: Labels
    claims_total: UInt32
    claims_supported: UInt32
    claims_contradicted: UInt32
    claims_unsupported: UInt32
    citations_total: UInt16
    invalid_references: Labels
    source_names: Labels
    source_citations: Numbers
    source_supported: Numbers
    source_contradicted: Numbers
    source_unsupported: Numbers
    state: Label
    reasons: Labels
    review: Flag
    degraded: Flag
    missing: Labels
    citations_seconds: Float64 | None = None
    grounding_seconds: Float64 | None = None
    quality_seconds: Float64 | None = None
    answer_partition: UInt32
    answer_offset: UInt64
    enriched_at: Millis
    sources: Text = ""
    gate_minimum: Float64 | None = None
    grounding_minimum: Float64 | None = None
    findings: Text = ""
    turns: Text = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRow(TableRow):
    """Hold a claim of an answer and its verdict."""

    table: ClassVar[str] = "claims"
    kept_from: ClassVar[str] = "completed_at"
    tenant: Label
    answer_id: Text
    run: Label = "live"
    claim_id: Text
    pipeline_version: Label
    rank: UInt32
    completed_at: Millis
    start: UInt32
    end: UInt32
    text: Text
    kind: Label
    hedged: Flag
    verdict: Label
    score: Float64 | None = None
    mismatches: Labels = ()
    chunk_id: Text = ""
    evidence_start: UInt32 | None = None
    evidence_end: UInt32 | None = None
    evidence: Text = ""
    source_digest: Text = ""
    cited_numbers: Numbers = ()
    primary_number: UInt16 | None = None
    redundant_numbers: Numbers = ()
    proposed_numbers: Numbers = ()
    cited_unsupported: Numbers = ()
    better_number: UInt16 | None = None
    conflicting: Flag = False
    similarity: Float64 | None = None
    model_id: Label = "unknown"
    calculations: Texts = ()
    verifier_score: Float64 | None = None
    earlier_turn: UInt16 | None = None
    earlier: Text = ""
    contradicted_turn: UInt16 | None = None
    contradicted_earlier: Text = ""
    step: UInt16 | None = None
    step_name: Text = ""
    enriched_at: Millis = EPOCH


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRow(TableRow):
    """Hold one score of an answer by an evaluator plug-in."""

    table: ClassVar[str] = "scores"
    kept_from: ClassVar[str] = "completed_at"
    tenant: Label
    answer_id: Text
    run: Label = "live"
    evaluator: Label
    name: Text
    pipeline_version: Label
    rank: UInt32
    completed_at: Millis
    status: Label
    value: Float64 | None = None
    reason: Text = ""
    explanation: Text = ""
    details: Text = ""
    seconds: Float64 | None = None
    judged_at: Millis


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationRow(TableRow):
    """Hold a citation of an answer; one that resolves to no source has ``valid`` false."""

    table: ClassVar[str] = "citations"
    kept_from: ClassVar[str] = "completed_at"
    tenant: Label
    answer_id: Text
    run: Label = "live"
    citation_id: Text
    pipeline_version: Label
    rank: UInt32
    completed_at: Millis
    valid: Flag
    marker: Text = ""
    reason: Label = ""
    number: UInt32 | None = None
    chunk_id: Text = ""
    source_type: Label = ""
    source_name: Text = ""
    source_path: Text = ""
    source_table: Label = ""
    record_id: Text = ""
    memory_id: Text = ""
    entity: Text = ""
    display_text: Text = ""
    source_digest: Text = ""
    last_updated: Millis | None = None
    created_at: Millis | None = None
    source_event: Text = ""
    learned_at: Millis | None = None
    spans: Spans = ()
    excerpt: Text = ""
    confidence: Float64 | None = None
    forms: Labels = ()
    model_id: Label = "unknown"
    enriched_at: Millis = EPOCH


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow(TableRow):
    """Hold the content of a source that was cited or that a claim names."""

    table: ClassVar[str] = "sources"
    kept_from: ClassVar[str] = "stored_at"
    tenant: Label
    source_digest: Text
    rank: UInt32 = 1
    content: Text
    stored_at: InsertSeconds = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationLogRow(TableRow):
    """Hold all citations of an answer and its ungrounded claims, for audits. Lists are JSON."""

    table: ClassVar[str] = "citation_logs"
    kept_from: ClassVar[str] = "completed_at"
    tenant: Label
    response_id: Text
    run: Label = "live"
    pipeline_version: Label
    rank: UInt32
    user_id: Text = ""
    session_id: Text = ""
    query_text: Text
    response_text: Text
    citations: Text
    citation_count: UInt32
    invalid_references: Text
    grounding_score: Float64 | None = None
    recommendation_coverage: Float64 | None = None
    ungrounded_claims: Text
    state: Label
    response_seconds: Float64 | None = None
    grounding_seconds: Float64 | None = None
    completed_at: Millis
    validated_at: Millis | None = None
    created_at: Millis


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRow(TableRow):
    """Hold an alert about an answer."""

    table: ClassVar[str] = "alerts"
    kept_from: ClassVar[str] = "completed_at"
    tenant: Label
    alert_id: Text
    answer_id: Text
    rank: UInt32
    alert_type: Label
    severity: Label
    message: Text
    metadata: Text
    completed_at: Millis
    raised_at: Millis


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationByIdRow(TableRow):
    """Hold a valid citation, sorted by identifier. A view fills the table."""

    table: ClassVar[str] = "citations_by_id"
    kept_from: ClassVar[str] = "completed_at"
    citation_id: Text
    run: Label = "live"
    tenant: Label
    answer_id: Text
    rank: UInt32
    completed_at: Millis
    detail: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTextRow(TableRow):
    """Hold an evaluated text of an answer; ``answers`` has the last one alone. A view fills the table."""

    table: ClassVar[str] = "answer_texts"
    kept_from: ClassVar[str] = "completed_at"
    tenant: Label
    answer_id: Text
    enriched_at: Millis
    completed_at: Millis
    rank: UInt32
    text_key: UInt64
    model_id: Label = "unknown"
    pipeline_version: Label
    state: Label
    reasons: Labels
    content: Text
    hallucination_risk: Risk | None = None
    grounding_score: Float64 | None = None
    grounding_minimum: Float64 | None = None
    gate_score: Float64 | None = None
    gate_minimum: Float64 | None = None
    claims_total: UInt32
    claims_supported: UInt32
    claims_contradicted: UInt32
    claims_unsupported: UInt32


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPlaceRow(TableRow):
    """Hold an hour of an answer with its newest revision there. A view fills the table."""

    table: ClassVar[str] = "answer_places"
    kept_from: ClassVar[str] = "hour"
    tenant: Label
    run: Label
    answer_key: UInt64
    hour: Hour
    revision: UInt64


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerMoveRow(TableRow):
    """Hold an hour of an answer that has several, and say if the answer counts in another one. A view fills the table."""

    table: ClassVar[str] = "answer_moves"
    kept_from: ClassVar[str] = "hour"
    tenant: Label
    run: Label
    hour: Hour
    answer_key: UInt64
    moved: Flag
    computed_at: Millis


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFactRow(TableRow):
    """Hold the figures of an answer, for hourly sums. A view fills the table."""

    table: ClassVar[str] = "answer_facts"
    kept_from: ClassVar[str] = "hour"
    tenant: Label
    run: Label
    hour: Hour
    answer_key: UInt64
    rank: UInt32
    inserted_at: Millis
    answer_id: Text
    completed_at: Millis
    model_id: Label
    prompt_version: Label
    query_type: Label
    state: Label
    failed: Flag
    degraded: Flag
    review: Flag
    hallucination_risk: Label
    risk_score: Float64 | None = None
    grounding_score: Float64 | None = None
    quality_score: Float64 | None = None
    validation_score: Float64 | None = None
    gate_score: Float64 | None = None
    citation_coverage: Float64 | None = None
    passes_validation: Flag | None = None
    citations_valid: Flag | None = None
    citations_total: UInt16
    invalid_references: Labels
    claims_total: UInt32
    claims_supported: UInt32
    claims_contradicted: UInt32
    claims_unsupported: UInt32
    signals: Labels
    issues: Labels
    reasons: Labels
    source_names: Labels
    source_citations: Numbers
    source_supported: Numbers
    source_contradicted: Numbers
    source_unsupported: Numbers
    latency_seconds: Float64 | None = None
    citations_seconds: Float64 | None = None
    grounding_seconds: Float64 | None = None
    quality_seconds: Float64 | None = None
