"""Define citations: the references of an answer and their resolution."""

from typing import Any, Literal

from pydantic import Field

from schemas.answers import Confidence, SourceType
from schemas.base import Identifier, Label, Many, Part, Score, ShortText, UtcDatetime
from schemas.reports import AgentName, Findings, Report, Span

CitationForm = Literal["numeric", "source", "evidence", "memory", "inference", "link", "provided", "attributed"]
InvalidReason = Literal[
    "out_of_range", "unknown_record", "unknown_link", "other_entity", "other_time", "quote_not_found"
]

ADDRESSES = "addresses_without_content"
"""Name in `metadata.record` of the addresses of sources that a service cites and whose content was not sent."""
MAX_EXCERPT = 200
"""Maximum length of an excerpt of a source, code points."""


class Citation(Part):
    """A source that the answer cites and that exists among its contexts."""

    citation_id: Identifier = Field(
        description="UUIDv5 of (tenant, answer_id, chunk, occurrence): stable over repeats."
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
    created_at: UtcDatetime | None = Field(default=None, description="Creation time of a memory.")
    source_event: ShortText | None = Field(default=None, description="Origin of a memory.")
    learned_at: UtcDatetime | None = Field(default=None, description="Time at which a preference was learned.")
    confidence: Confidence | None = None
    source_digest: str = Field(default="", max_length=64, description="SHA-256 of the cited content.")
    forms: Many[CitationForm] = Field(
        default_factory=list, description="Kind of reference in the answer; 'attributed' was added by Touchstone."
    )
    spans: Many[Span] = Field(default_factory=list, description="Spans of the markers in the answer.")
    display_text: ShortText = Field(default="", description="Text for readers, such as '[1] Runbook: Loki crash loop'.")


class InvalidReference(Part):
    """A reference that resolves to no context, or to a context that cannot be its source."""

    marker: ShortText = Field(description="The marker as written, shortened.")
    form: CitationForm
    reason: InvalidReason
    span: Span | None = None
    number: int | None = Field(default=None, ge=1, description="Position of the wrongly named context, if any.")


class UnusedSource(Part):
    """A context chunk that the answer received and does not cite."""

    number: int = Field(ge=1)
    chunk_id: Identifier


class CitationFindings(Findings):
    """Cited sources, invalid references and citation coverage of an answer."""

    valid: bool | None = Field(default=None, description="True without any invalid reference; null if not evaluated.")
    citations: Many[Citation] = Field(default_factory=list)
    invalid_references: Many[InvalidReference] = Field(default_factory=list)
    unused_sources: Many[UnusedSource] = Field(default_factory=list)
    inference_spans: Many[Span] = Field(
        default_factory=list, description="Markers that declare an inference of the model."
    )
    claims: int = Field(default=0, ge=0, description="Number of factual claims and recommendations.")
    cited_claims: int = Field(default=0, ge=0, description="Number of these claims with a valid citation.")
    coverage: Score | None = Field(default=None, description="cited_claims / claims; null without claims.")
    recommendations: int = Field(default=0, ge=0)
    cited_recommendations: int = Field(default=0, ge=0)
    recommendation_coverage: Score | None = Field(
        default=None, description="Share of recommendations with a citation; null without recommendations."
    )


class CitationReport(Report, CitationFindings):
    """The report of the citations agent on one answer."""

    agent: AgentName


class CitationDetail(Part):
    """A citation with its source at the time of citation (response of ``GET /api/citations/{id}``)."""

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
    last_updated: UtcDatetime | None = Field(default=None, description="Time of the source's last change.")
    created_at: UtcDatetime | None = Field(default=None, description="Creation time of a memory.")
    source_event: ShortText | None = Field(default=None, description="Origin of a memory.")
    learned_at: UtcDatetime | None = Field(default=None, description="Time at which a preference was learned.")
    cited_at: UtcDatetime = Field(description="Completion time of the answer.")
    source_digest: str = Field(default="", description="SHA-256 of the cited content.")
    source_content: str | None = Field(default=None, description="Content at the time of citation; null if not stored.")
    source_data: Any = Field(default=None, description="The content as a record, if it is JSON.")
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
    """A source by type and record (response of ``GET /api/citations/source/{type}/{record_id}``)."""

    source_type: Label = Field(description="Requested table or type.")
    record_id: Identifier
    versions: Many[SourceVersion] = Field(description="Contents, the most recently cited first.")
    related_citations: Many[Identifier] = Field(default_factory=list, description="Its citations, the latest first.")
    answers: Many[Identifier] = Field(
        default_factory=list, description="Answers with those citations and contents, the latest first."
    )
    fetched_at: UtcDatetime
