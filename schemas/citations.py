"""Citations: what an answer refers to and whether that exists (seeds 000 and 004)."""

from typing import Literal

from pydantic import Field

from schemas.answers import Confidence, SourceType
from schemas.base import Identifier, Label, Many, Part, Score, ShortText, UtcDatetime
from schemas.reports import Findings, Report, Span

CitationForm = Literal["numeric", "source", "evidence", "memory", "inference", "link", "provided"]
InvalidReason = Literal["out_of_range", "unknown_record", "unknown_link"]

MAX_EXCERPT = 200
"""Longest excerpt of a source, code points (seed 000)."""


class Citation(Part):
    """A source that the answer cites and that exists among its contexts."""

    citation_id: Identifier = Field(description="UUIDv5 of (answer_id, chunk): stable over repeats.")
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
    confidence: Confidence | None = None
    forms: Many[CitationForm] = Field(default_factory=list, description="How the answer refers to it.")
    spans: Many[Span] = Field(default_factory=list, description="Where the markers stand in the answer.")
    display_text: ShortText = Field(default="", description="For readers, as '[1] Runbook: Loki crash loop'.")


class InvalidReference(Part):
    """A marker that resolves to nothing."""

    marker: ShortText = Field(description="The marker as written, shortened.")
    form: CitationForm
    reason: InvalidReason
    span: Span | None = None


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
    sentences: int = Field(default=0, ge=0, description="Sentences that could carry a citation.")
    cited_sentences: int = Field(default=0, ge=0)
    coverage: Score | None = Field(default=None, description="cited_sentences / sentences; null without sentences.")


class CitationReport(Report, CitationFindings):
    """The citations agent's judgement of one answer."""
