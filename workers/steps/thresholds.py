"""Every threshold of the judgement with its source; the settings are made of these models."""

from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from schemas.answers import SourceType
from schemas.quality import SignalType
from workers.steps.pattern_packs import PatternPack, compile_pattern

Share = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]

Weight = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]

MAX_CUSTOM_PATTERNS, MAX_CUSTOM_PATTERN = 50, 500
"""Most custom patterns of a signal, and the longest, code points; RE2 bounds what each may cost."""
CustomPatterns = Annotated[tuple[str, ...], Field(max_length=MAX_CUSTOM_PATTERNS)]


class Thresholds(BaseModel):
    """A group of thresholds; a name that does not exist is an error, not a silent default."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class GroundingThresholds(Thresholds):
    """Hallucination detection (seed 000) and grounding score (seed 004)."""

    context_similarity: Share = Field(default=0.7, description="Answer against context, below is an issue (000).")
    facts_verified: Share = Field(default=0.6, description="Share of facts verified, below is an issue (000).")
    citation_coverage: Share = Field(default=0.5, description="Share of sentences cited, below is an issue (000).")
    uncertainty_markers: int = Field(default=2, ge=0, description="More than this many are an issue (000).")
    risk_medium: Share = Field(default=0.3, description="Risk score from which risk is medium (000).")
    risk_high: Share = Field(default=0.7, description="Risk score from which risk is high (000).")
    grounding_minimum: Share = Field(
        default=0.6,
        description="Confidence from which a claim is supported; grounding score below which the answer falls back (004).",
    )
    grounding_high: Share = Field(default=0.8, description="Strong grounding (004).")
    grounding_low: Share = Field(default=0.4, description="Weak grounding (004).")
    verifier: str = Field(
        default="none",
        min_length=1,
        description="A cross-encoder for claims that the rules leave open: none, builtin, or the name, folder or .onnx "
        "file of one.",
    )
    verifier_combination: Path | None = Field(
        default=None,
        description="JSON file that says how its probability joins the rules; any verifier but builtin needs one.",
    )

    @property
    def has_verifier(self) -> bool:
        """Whether a verifier is asked."""
        return self.verifier != "none"


class QualityThresholds(Thresholds):
    """The four metrics (seed 000) and the failure signals (seed 003)."""

    relevance: Share = Field(default=0.7, description="Below is an issue (000).")
    completeness: Share = Field(default=0.6, description="Below is an issue (000).")
    clarity: Share = Field(default=0.7, description="Below is an issue (000).")
    actionability: Share = Field(default=0.5, description="Below is an issue (000).")
    overall: Share = Field(default=0.7, description="Overall score from which validation passes (000).")
    max_issues: int = Field(default=3, ge=1, description="This many issues fail validation (000).")
    min_length: int = Field(default=20, ge=0, description="Shorter answers are empty responses, code points (003).")
    weights: dict[str, Weight] = Field(
        default_factory=lambda: dict.fromkeys(("relevance", "completeness", "clarity", "actionability"), 1.0),
        description="Weight of each metric in the overall score; equal as in seed 000.",
    )
    escalation: Share = Field(default=0.7, description="Validator score below which an answer is escalated (003).")
    strict_escalation: Share = Field(default=0.75, description="The same in strict mode (003).")
    strict_mode: bool = Field(default=False, description="Escalate below strict_escalation (003).")
    max_signals: int = Field(default=3, ge=0, description="More signals than this escalate an answer (003).")
    custom_patterns: dict[SignalType, CustomPatterns] = Field(
        default_factory=dict, description="RE2 patterns by signal, searched in the raw answer (003)."
    )
    packs: tuple[PatternPack, ...] = Field(
        default=(), description="Further pattern packs: names of shipped ones or paths of TOML files."
    )

    @field_validator("custom_patterns")
    @classmethod
    def _patterns_compile(cls, patterns: dict[SignalType, tuple[str, ...]]) -> dict[SignalType, tuple[str, ...]]:
        _compiled(patterns)
        return patterns

    @cached_property
    def custom_compiled(self) -> list[tuple[SignalType, Any]]:
        """The custom patterns, compiled."""
        return _compiled(self.custom_patterns)


def _compiled(patterns: dict[SignalType, tuple[str, ...]]) -> list[tuple[SignalType, Any]]:
    return [
        (signal, compile_pattern(pattern, f"custom_patterns.{signal}[{number}]", max_length=MAX_CUSTOM_PATTERN))
        for signal, given in patterns.items()
        for number, pattern in enumerate(given)
    ]


def _half_lives() -> dict[SourceType, float]:
    """A board shows now, a record this month; documents and runbooks are kept for a year or so."""
    return {"dashboard": 7.0, "database": 30.0, "calculation": 30.0, "memory": 90.0, "web": 180.0}


class GateThresholds(Thresholds):
    """The gate in front of the reader (seed 002)."""

    gate_score: Share = Field(default=0.8, description="Gatekeeper holds answers below (002).")
    weights: dict[str, Weight] = Field(
        default_factory=lambda: dict.fromkeys(
            ("faithfulness", "relevance", "correctness", "coverage", "consistency", "freshness", "traceability"), 1.0
        ),
        description="Weight of each characteristic in the gate score; equal by default.",
    )
    freshness_half_life_days: float = Field(
        default=365.0, gt=0, description="Age of a source at which its freshness is 0.5, in days."
    )
    freshness_half_lives: dict[SourceType, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = Field(
        default_factory=_half_lives,
        description="The same by source type, where it ages faster or slower, in days.",
    )


class FeedbackRules(Thresholds):
    """Signals and rewards (seeds 000 and 001)."""

    min_answer_length: int = Field(
        default=10, ge=0, description="Shorter answers are empty responses, code points (001)."
    )
    latency_high_seconds: float = Field(default=10.0, gt=0, description="Up to here tolerance is high (001).")
    latency_medium_seconds: float = Field(default=30.0, gt=0, description="Up to here it is medium, then low (001).")
    retry_similarity: Share = Field(default=0.85, description="Cosine of two queries from which one repeats (001).")
    retry_window_seconds: float = Field(default=300.0, gt=0, description="A later query is no retry any more (001).")
    explicit_weight: Share = Field(default=0.7, description="Weight of what people say (001).")
    implicit_weight: Share = Field(default=0.3, description="Weight of what they do (001).")

    @model_validator(mode="after")
    def _something_counts(self) -> Self:
        if self.explicit_weight + self.implicit_weight == 0:
            raise ValueError("explicit_weight and implicit_weight are both 0; nothing would count")
        return self
