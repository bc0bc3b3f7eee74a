"""Define every evaluation threshold with its source; the settings use these models."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from schemas.answers import SourceType
from schemas.quality import SignalType
from workers.evaluation.risk_mapping import RiskMapping, read_risk_mapping
from workers.evaluation.text.pattern_packs import PatternPack, compile_pattern

Share = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]

Weight = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]

MAX_CUSTOM_PATTERNS, MAX_CUSTOM_PATTERN = 50, 500
"""Maximum number of custom patterns of a signal, and maximum length of one in code points."""
CustomPatterns = Annotated[tuple[str, ...], Field(max_length=MAX_CUSTOM_PATTERNS)]


class Thresholds(BaseModel):
    """Base class of a group of thresholds; an unknown name is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class GroundingThresholds(Thresholds):
    """Define thresholds of hallucination detection and of the grounding score."""

    context_similarity: Share = Field(
        default=0.5, description="Cosine of the words of answer and context; a lower value is an issue."
    )
    facts_verified: Share = Field(default=0.6, description="Share of verified facts; a lower value is an issue.")
    citation_coverage: Share = Field(default=0.5, description="Share of cited claims; a lower value is an issue.")
    uncertainty_markers: int = Field(
        default=2, ge=0, description="Maximum number of uncertainty markers; more are an issue."
    )
    risk_medium: Share = Field(default=0.4, description="Minimum risk score of medium risk.")
    risk_high: Share = Field(default=0.7, description="Minimum risk score of high risk.")
    grounding_minimum: Share = Field(
        default=0.5,
        description="Minimum confidence of a supported claim, and minimum grounding score without fallback.",
    )
    verifier: str = Field(
        default="none",
        min_length=1,
        description="Cross-encoder for claims that the rules leave open: none, builtin, or the name, folder or "
        ".onnx file of a model.",
    )
    verifier_combination: Path | None = Field(
        default=None,
        description="JSON file with the combination of verifier and rules; required for every verifier except builtin.",
    )

    risk_mapping: Path | None = Field(
        default=None,
        description="File of `touchstone calibrate labels`: maps the risk to that of your own answers, and sets "
        "risk_medium and risk_high where these are not set.",
    )

    @model_validator(mode="before")
    @classmethod
    def _bands_of_the_mapping(cls, values: Any) -> Any:
        """Take the bands that were fitted with the mapping, unless the settings have their own."""
        if not isinstance(values, Mapping) or values.get("risk_mapping") is None:
            return values
        try:
            fitted = read_risk_mapping(Path(values["risk_mapping"]))
        except ValueError as error:
            raise ValueError(f"risk_mapping: {error}") from error
        bands = {"risk_medium": fitted.risk_medium, "risk_high": fitted.risk_high}
        return {name: value for name, value in bands.items() if value is not None} | dict(values)

    @model_validator(mode="after")
    def _bands_are_in_order(self) -> Self:
        if self.risk_medium > self.risk_high:
            raise ValueError(
                f"risk_medium {self.risk_medium} is above risk_high {self.risk_high}, so no risk would be medium; set"
                " risk_medium to at most risk_high"
            )
        _ = self.mapping  # An unusable file ends the start of the worker, not its first evaluation.
        return self

    @cached_property
    def mapping(self) -> RiskMapping | None:
        """Return the mapping of the risk, read once; ``None`` without one.

        Raises:
            ValueError: the file cannot be used.
        """
        return None if self.risk_mapping is None else read_risk_mapping(self.risk_mapping)

    def without_mapping(self) -> Self:
        """Return the thresholds without the mapping of the risk and the bands that it set."""
        if self.mapping is None:
            return self
        bands = {"risk_medium": self.mapping.risk_medium, "risk_high": self.mapping.risk_high}
        given = self.model_dump(exclude_unset=True, exclude={"risk_mapping"})
        return type(self)(**{name: value for name, value in given.items() if value != bands.get(name, self)})

    @property
    def has_verifier(self) -> bool:
        """Return true if a verifier is configured."""
        return self.verifier != "none"


class QualityThresholds(Thresholds):
    """Define thresholds of the four quality metrics and of the failure signals."""

    relevance: Share = Field(default=0.7, description="Minimum relevance; a lower score is an issue.")
    completeness: Share = Field(default=0.6, description="Minimum completeness; a lower score is an issue.")
    clarity: Share = Field(default=0.7, description="Minimum clarity; a lower score is an issue.")
    actionability: Share = Field(default=0.5, description="Minimum actionability; a lower score is an issue.")
    overall: Share = Field(default=0.7, description="Minimum overall score that passes validation.")
    max_issues: int = Field(default=3, ge=1, description="Number of issues that fails validation.")
    min_length: int = Field(
        default=20, ge=0, description="Minimum length in code points; shorter answers are empty responses."
    )
    weights: dict[str, Weight] = Field(
        default_factory=lambda: dict.fromkeys(("relevance", "completeness", "clarity", "actionability"), 1.0),
        description="Weight of each metric in the overall score; equal by default.",
    )
    escalation: Share = Field(default=0.7, description="Minimum validator score; lower scores are escalated.")
    strict_escalation: Share = Field(
        default=0.75, description="Minimum validator score in strict mode; lower scores are escalated."
    )
    strict_mode: bool = Field(default=False, description="Escalate below strict_escalation instead of escalation.")
    max_signals: int = Field(default=3, ge=0, description="Maximum number of signals; more escalate the answer.")
    custom_patterns: dict[SignalType, CustomPatterns] = Field(
        default_factory=dict, description="RE2 patterns by signal, searched in the raw answer."
    )
    packs: tuple[PatternPack, ...] = Field(
        default=(), description="Further pattern packs: names of shipped ones or paths of TOML files."
    )

    @field_validator("custom_patterns")
    @classmethod
    def _patterns_compile(cls, patterns: dict[SignalType, tuple[str, ...]]) -> dict[SignalType, tuple[str, ...]]:
        _compiled(patterns)
        return patterns

    @field_validator("packs")
    @classmethod
    def _packs_compile(cls, packs: tuple[PatternPack, ...]) -> tuple[PatternPack, ...]:
        for pack in packs:
            _ = pack.compiled
        return packs

    @cached_property
    def custom_compiled(self) -> list[tuple[SignalType, Any]]:
        """Return the compiled custom patterns."""
        return _compiled(self.custom_patterns)


def _compiled(patterns: dict[SignalType, tuple[str, ...]]) -> list[tuple[SignalType, Any]]:
    return [
        (signal, compile_pattern(pattern, f"custom_patterns.{signal}[{number}]", max_length=MAX_CUSTOM_PATTERN))
        for signal, given in patterns.items()
        for number, pattern in enumerate(given)
    ]


def _half_lives() -> dict[SourceType, float]:
    """Return the default half-lives by source type: short for dashboards, a month for records, a year for documents."""
    return {"dashboard": 7.0, "database": 30.0, "calculation": 30.0, "memory": 90.0, "web": 180.0}


class GateThresholds(Thresholds):
    """Define thresholds of the gate before delivery to the reader."""

    gate_score: Share = Field(default=0.8, description="Minimum gate score; the gatekeeper holds lower scores.")
    weights: dict[str, Weight] = Field(
        default_factory=lambda: dict.fromkeys(
            ("faithfulness", "relevance", "correctness", "coverage", "consistency", "freshness", "traceability"), 1.0
        ),
        description="Weight of each characteristic in the gate score; equal by default.",
    )
    freshness_half_life_days: float = Field(
        default=365.0, gt=0, allow_inf_nan=False, description="Age of a source at which its freshness is 0.5, in days."
    )
    freshness_half_lives: dict[SourceType, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = Field(
        default_factory=_half_lives,
        description="Half-lives in days of source types that differ from the default.",
    )


class FeedbackRules(Thresholds):
    """Define the rules of feedback signals and rewards."""

    min_answer_length: int = Field(
        default=10, ge=0, description="Minimum length in code points; shorter answers are empty responses."
    )
    latency_high_seconds: float = Field(
        default=10.0, gt=0, allow_inf_nan=False, description="Maximum latency in seconds of high tolerance."
    )
    latency_medium_seconds: float = Field(
        default=30.0,
        gt=0,
        allow_inf_nan=False,
        description="Maximum latency in seconds of medium tolerance; longer latency means low tolerance.",
    )
    retry_similarity: Share = Field(default=0.85, description="Minimum cosine of two queries that counts as a retry.")
    retry_similarity_alike: Share = Field(
        default=0.75, description="The same for two queries that ask for the same kind of thing, such as a price."
    )
    retry_window_seconds: float = Field(
        default=300.0, gt=0, allow_inf_nan=False, description="Maximum time in seconds between a query and its retry."
    )
    explicit_weight: Share = Field(default=0.7, description="Weight of explicit feedback.")
    implicit_weight: Share = Field(default=0.3, description="Weight of implicit feedback.")

    @model_validator(mode="after")
    def _something_counts(self) -> Self:
        if self.explicit_weight + self.implicit_weight == 0:
            raise ValueError("explicit_weight and implicit_weight are both 0; set at least one above 0")
        return self
