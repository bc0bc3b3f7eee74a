"""Declare the three built-in evaluators.

They are loaded through the same entry points as plug-ins: each function takes the settings and returns an evaluator.
``BUILTIN`` repeats the entry points of ``pyproject.toml``, for a checkout whose installed metadata is older than its
code.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from schemas.answers import GeneratedAnswer
from schemas.citations import CitationFindings, CitationReport
from schemas.grounding import GroundingFindings, GroundingReport
from schemas.quality import EarlierAnswer, QualityFindings, QualityReport
from workers.errors import JudgementError
from workers.evaluation.citations.citation_finder import find_citations
from workers.evaluation.grounding.grounding_evaluator import (
    RuleScores,
    combine_with_verifier,
    evaluate_grounding,
    score_with_rules,
)
from workers.evaluation.grounding.prepared_grounding import PreparedGrounding, prepare_grounding
from workers.evaluation.grounding.sources.verifier_evidence import VerifierPair
from workers.evaluation.grounding.verifier_combination import VerifierCombination
from workers.evaluation.quality.quality_evaluator import PreparedQuality, evaluate_quality, prepare_quality
from workers.evaluation.text.parser import load_parser
from workers.evaluation.thresholds import GroundingThresholds
from workers.inference.opening import open_combination
from workers.pipeline.evaluator import EvaluationContext, Evaluator, Needs, Vectors
from workers.settings import Settings

BUILTIN = {
    "citations": "workers.pipeline.builtin_evaluators:citations_evaluator",
    "grounding": "workers.pipeline.builtin_evaluators:grounding_evaluator",
    "quality": "workers.pipeline.builtin_evaluators:quality_evaluator",
}
"""Targets of the entry points by name, in the order of the reports."""


def citations_evaluator(_: Settings) -> Evaluator[GeneratedAnswer, CitationFindings]:
    """Return the evaluator of citations, which has no thresholds and no needs."""

    def prepare(answer: GeneratedAnswer, _: Sequence[EarlierAnswer]) -> GeneratedAnswer:
        return answer

    def evaluate(answer: GeneratedAnswer, _: EvaluationContext) -> CitationFindings:
        return find_citations(answer)

    return Evaluator("citations", CitationFindings, CitationReport, prepare, evaluate)


@dataclass(frozen=True, slots=True)
class PreparedClaims:
    """Hold an answer prepared for grounding, and its rule scores if a verifier is used."""

    prepared: PreparedGrounding
    scores: RuleScores | None = None


def grounding_evaluator(settings: Settings) -> Evaluator[PreparedClaims, GroundingFindings]:
    """Return the evaluator of grounding with the thresholds of the settings; load the parser of clauses.

    Raises:
        VerifierUnusable: the settings name a verifier without a combination with the rules.
    """
    load_parser()
    thresholds = settings.grounding
    combination = open_combination(thresholds)
    if combination is not None:
        return _verified_grounding(thresholds, combination)

    def evaluate(claims: PreparedClaims, _: EvaluationContext) -> GroundingFindings:
        return evaluate_grounding(claims.prepared, thresholds)

    return Evaluator("grounding", GroundingFindings, GroundingReport, _claims, evaluate)


def _verified_grounding(
    thresholds: GroundingThresholds, combination: VerifierCombination
) -> Evaluator[PreparedClaims, GroundingFindings]:
    def score(claims: PreparedClaims, _: Vectors) -> PreparedClaims:
        return replace(claims, scores=score_with_rules(claims.prepared, combination=combination))

    def evaluate(claims: PreparedClaims, context: EvaluationContext) -> GroundingFindings:
        if claims.scores is None:
            raise ValueError("the claims have not been scored with rules")
        if isinstance(context.verdicts, JudgementError):
            findings = combine_with_verifier(claims.scores, thresholds)
            return findings.model_copy(update={"without_verifier": str(context.verdicts)})
        return combine_with_verifier(claims.scores, thresholds, context.verdicts, combination)

    return Evaluator(
        "grounding", GroundingFindings, GroundingReport, _claims, evaluate, score_with_rules=score, pairs=_pairs,
        needs=Needs(verifier=True),
    )  # fmt: skip


def _claims(answer: GeneratedAnswer, _: Sequence[EarlierAnswer]) -> PreparedClaims:
    return PreparedClaims(prepare_grounding(answer))


def _pairs(claims: PreparedClaims) -> Sequence[VerifierPair]:
    return () if claims.scores is None else claims.scores.questions


def quality_evaluator(settings: Settings) -> Evaluator[PreparedQuality, QualityFindings]:
    """Return the evaluator of quality with the thresholds of the settings."""
    thresholds = settings.quality

    def texts(prepared: PreparedQuality) -> Sequence[str]:
        return prepared.texts

    def evaluate(prepared: PreparedQuality, context: EvaluationContext) -> QualityFindings:
        return evaluate_quality(prepared, context.vectors, thresholds)

    needs = Needs(vectors=True, memory=True)
    return Evaluator("quality", QualityFindings, QualityReport, prepare_quality, evaluate, texts, needs=needs)
