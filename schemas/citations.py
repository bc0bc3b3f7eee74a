"""Citations: what an answer refers to and whether that exists (seeds 000 and 004)."""

from typing import Any, Literal

from pydantic import Field

from schemas.answers import Confidence, SourceType
from schemas.base import Identifier, Label, Many, Part, Score, ShortText, UtcDatetime
from schemas.reports import Findings, Report, Span

CitationForm = Literal["numeric", "source", "evidence", "memory", "inference", "link", "provided"]
InvalidReason = Literal[
    "out_of_range", "unknown_record", "unknown_link", "other_entity", "other_time", "quote_not_found"
]

MAX_EXCERPT = 200
"""Longest excerpt of a source, code points (seed 000)."""


class Citation(Part):
    """A source that the answer cites and that exists among its contexts."""

    citation_id: Identifier = Field(
        description="UUIDv5 of (answer_id, chunk, which one of that name): stable over repeats."
    )
    number: int = Field(ge=1, description="Position of the chunk among the contexts, from 1.")
    chunk_id: Identifier
    source_type: SourceType
    source_name: Label = ""
    source_path: ShortText = ""
    source_table: Label | None = None
    record_id: Identifier | None = None
    memory_id: Identifier | None = None
    entity: Label | None = None
    excerpt: str = Field(default="", max_length=MAX_EXCERPT + 1, description="Start of the source, cut at a sentence.")
    last_updated: UtcDatetime | None = None
    created_at: UtcDatetime | None = Field(default=None, description="When a memory was made.")
    source_event: ShortText | None = Field(default=None, description="What a memory was made from.")
    learned_at: UtcDatetime | None = Field(default=None, description="When a preference was learned.")
    confidence: Confidence | None = None
    source_digest: str = Field(default="", max_length=64, description="SHA-256 of the content as it was cited.")
    forms: Many[CitationForm] = Field(default_factory=list, description="How the answer refers to it.")
    spans: Many[Span] = Field(default_factory=list, description="Where the markers stand in the answer.")
    display_text: ShortText = Field(default="", description="For readers, as '[1] Runbook: Loki crash loop'.")


class InvalidReference(Part):
    """A reference that resolves to nothing, or to what cannot be its source."""

    marker: ShortText = Field(description="The marker as written, shortened.")
    form: CitationForm
    reason: InvalidReason
    span: Span | None = None
    number: int | None = Field(default=None, ge=1, description="The context that it names wrongly, if it names one.")


class UnusedSource(Part):
    """A context chunk that the answer was given and does not cite."""

    number: int = Field(ge=1)
    chunk_id: Identifier


class CitationFindings(Findings):
    """Which sources an answer cites, which references are invalid, how much is covered."""

    valid: bool | None = Field(default=None, description="No invalid reference; null if not judged.")
    citations: Many[Citation] = Field(default_factory=list)
    invalid_references: Many[InvalidReference] = Field(default_factory=list)
    unused_sources: Many[UnusedSource] = Field(default_factory=list)
    inference_spans: Many[Span] = Field(
        default_factory=list, description="Markers by which the answer owns to an inference of its own."
    )
    claims: int = Field(default=0, ge=0, description="Factual claims and recommendations.")
    cited_claims: int = Field(default=0, ge=0, description="Those with a valid citation.")
    coverage: Score | None = Field(default=None, description="cited_claims / claims; null without claims.")
    recommendations: int = Field(default=0, ge=0)
    cited_recommendations: int = Field(default=0, ge=0)
    recommendation_coverage: Score | None = Field(
        default=None, description="Share of recommendations cited (004 wants all); null without any."
    )


class CitationReport(Report, CitationFindings):
    """The citations agent's judgement of one answer."""


class CitationDetail(Part):
    """A citation with the source as it was when it was cited (seed 004: ``GET /api/citations/{id}``)."""

    citation_id: Identifier
    answer_id: Identifier
    tenant: Identifier
    source_type: SourceType
    source_table: Label | None = None
    record_id: Identifier | None = None
    memory_id: Identifier | None = None
    chunk_id: Identifier
    display_text: ShortText = ""
    excerpt: str = ""
    confidence: Confidence | None = None
    source_name: Label = ""
    source_path: ShortText = ""
    entity: Label | None = None
    last_updated: UtcDatetime | None = Field(default=None, description="When the source changed last.")
    created_at: UtcDatetime | None = Field(default=None, description="When a memory was made.")
    source_event: ShortText | None = Field(default=None, description="What a memory was made from.")
    learned_at: UtcDatetime | None = Field(default=None, description="When a preference was learned.")
    cited_at: UtcDatetime = Field(description="When the answer was complete.")
    source_digest: str = Field(default="", description="SHA-256 of the content as it was cited.")
    source_content: str | None = Field(default=None, description="The content as it was cited; null if not kept.")
    source_data: Any = Field(default=None, description="The same as a record, where it is JSON.")
    related_citations: Many[Identifier] = Field(
        default_factory=list, description="Other citations of the same source, the latest first."
    )
    fetched_at: UtcDatetime


class SourceVersion(Part):
    """A source's content at one time."""

    source_digest: str
    source_content: str | None = None
    source_data: Any = None
    first_cited_at: UtcDatetime
    last_cited_at: UtcDatetime
    citations: int = Field(ge=1)


class SourceDetail(Part):
    """A source by type and record (seed 004: ``GET /api/citations/source/{type}/{record_id}``)."""

    source_type: Label = Field(description="Table or type, as asked for.")
    record_id: Identifier
    versions: Many[SourceVersion] = Field(description="Contents, the one cited last first.")
    related_citations: Many[Identifier] = Field(default_factory=list, description="Its citations, the latest first.")
    answers: Many[Identifier] = Field(
        default_factory=list, description="Answers that those citations and contents are of, the latest first."
    )
    fetched_at: UtcDatetime
