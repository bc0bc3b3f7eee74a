"""Read golden answers, whose evaluation must not change unnoticed, and compare them.

Each line of the file holds an answer and its evaluation. The verdict on each claim, risk, decision, signals and
citations must be equal. Scores may differ by a tolerance, because the last digits of a vector depend on the machine.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from schemas.answers import GeneratedAnswer
from schemas.base import Part
from schemas.enriched import EnrichedAnswer
from schemas.identifiers import record_key
from workers.errors import TouchstoneError

TOLERANCE = 0.005
"""Accepted difference of a score. In the repository's own set, scores with one thread and with two differ by less than
a thousandth of it; thresholds are set in steps of 0.01.
"""

SCORES = ("grounding_score", "risk_score", "quality_score", "validation_score", "gate_score", "citation_coverage")


class GoldenUnusable(TouchstoneError):
    """Report an unusable file of golden answers; the message names file and line."""


class Judgement(Part):
    """Hold the parts of an evaluation that must not change unnoticed."""

    state: str
    reasons: list[str] = Field(default_factory=list)
    hallucination_risk: str | None = None
    claims: list[str] = Field(default_factory=list, description="start-end kind verdict, in their order.")
    signals: list[str] = Field(default_factory=list)
    issues: list[str] = Field(default_factory=list)
    invalid_references: list[str] = Field(default_factory=list)
    scores: dict[str, float | None] = Field(default_factory=dict)


class GoldenAnswer(Part):
    """Hold an answer and its expected evaluation."""

    answer: GeneratedAnswer
    judgement: Judgement
    reason: str = Field(default="", description="Reason for keeping the answer.")

    @property
    def name(self) -> str:
        """Return the key of the answer, which two tenants do not share."""
        return record_key(self.answer.tenant, self.answer.answer_id)


def judgement_of(enriched: EnrichedAnswer) -> Judgement:
    """Return the compared parts of an evaluated answer."""
    citations, grounding, quality = enriched.citations, enriched.grounding, enriched.quality
    scores = {
        "grounding_score": grounding.grounding_score if grounding else None,
        "risk_score": grounding.risk_score if grounding else None,
        "quality_score": quality.overall_score if quality else None,
        "validation_score": quality.validation.score if quality and quality.validation else None,
        "gate_score": enriched.evaluation.score,
        "citation_coverage": citations.coverage if citations else None,
    }
    return Judgement(
        state=enriched.decision.state,
        reasons=sorted(enriched.decision.reasons),
        hallucination_risk=grounding.hallucination_risk if grounding else None,
        claims=[
            f"{claim.span.start}-{claim.span.end} {claim.kind} {claim.verdict}"
            for claim in (grounding.claims if grounding else [])
        ],
        signals=sorted({signal.type for signal in quality.signals}) if quality else [],
        issues=sorted({issue.type for issue in grounding.issues}) if grounding else [],
        invalid_references=[reference.marker for reference in (citations.invalid_references if citations else [])],
        scores={name: None if scores[name] is None else round(float(scores[name] or 0.0), 6) for name in SCORES},
    )


def changes(kept: Judgement, now: Judgement, tolerance: float = TOLERANCE) -> dict[str, tuple[Any, Any]]:
    """Return the differences between two evaluations of one answer.

    Args:
        kept: the stored evaluation.
        now: the current evaluation.
        tolerance: accepted difference of a score.

    Returns:
        The stored and the current value by name; for lists only the items that differ.
    """
    found: dict[str, tuple[Any, Any]] = {}
    for name in ("state", "hallucination_risk"):
        if getattr(kept, name) != getattr(now, name):
            found[name] = (getattr(kept, name), getattr(now, name))
    for name in ("reasons", "claims", "signals", "issues", "invalid_references"):
        before, after = getattr(kept, name), getattr(now, name)
        if before != after:
            found[name] = (
                [each for each in before if each not in after],
                [each for each in after if each not in before],
            )
    for name in sorted(kept.scores.keys() | now.scores.keys()):
        score, current = kept.scores.get(name), now.scores.get(name)
        if not _is_near(score, current, tolerance):
            found[name] = (score, current)
    return found


def read_golden(path: Path) -> list[GoldenAnswer]:
    """Read the golden answers of a file.

    Raises:
        GoldenUnusable: the file cannot be read or is empty, a line is not a golden answer, or an answer occurs twice.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise GoldenUnusable(f"{path} cannot be read: {error.strerror or error}") from error
    found: dict[str, GoldenAnswer] = {}
    for number, line in enumerate(lines, start=1):
        try:
            golden = GoldenAnswer.model_validate_json(line)
        except ValidationError as error:
            raise GoldenUnusable(
                f"{path}, line {number}: {_first(error)}; write the file with `touchstone golden add`"
            ) from error
        if golden.name in found:
            raise GoldenUnusable(
                f"{path}, line {number}: the answer {golden.answer.answer_id} occurs twice in the tenant "
                f"{golden.answer.tenant}; remove one line"
            )
        found[golden.name] = golden
    if not found:
        raise GoldenUnusable(f"{path} contains no golden answers; add some with `touchstone golden add`")
    return list(found.values())


def refuse_other_texts(answers: Iterable[GeneratedAnswer]) -> None:
    """Refuse two different answers of one tenant with one identifier, of which one would replace the other.

    Raises:
        GoldenUnusable: two answers share an identifier and differ in query, answer or contexts.
    """
    known: dict[str, tuple[object, ...]] = {}
    for answer in answers:
        texts = answer.query, answer.answer, tuple(context.content for context in answer.contexts or ())
        if known.setdefault(record_key(answer.tenant, answer.answer_id), texts) != texts:
            raise GoldenUnusable(
                f"the answer {answer.answer_id} of the tenant {answer.tenant} has another query, answer or contexts than "
                "the one of this name; give it another answer_id, or remove the line of the old one"
            )


def write_golden(path: Path, golden: Iterable[GoldenAnswer]) -> None:
    """Write golden answers, sorted by their identifiers, so that a diff shows only the changed answers.

    Raises:
        GoldenUnusable: the file cannot be written.
    """
    lines = [
        each.model_dump_json(exclude_unset=True) + "\n"
        for each in sorted(golden, key=lambda each: (each.answer.answer_id, each.answer.tenant))
    ]
    beside = path.with_name(path.name + ".tmp")
    try:
        beside.write_text("".join(lines), encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        raise GoldenUnusable(f"{path} cannot be written: {error.strerror or error}") from error


def change_lines(found: Mapping[str, tuple[Any, Any]]) -> Iterator[str]:
    """Yield the changes as text, one line each."""
    for name, (before, after) in found.items():
        yield f"{name}: {_word(before)} → {_word(after)}"


def _is_near(one: float | None, other: float | None, tolerance: float) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= tolerance


def _word(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(value) or "none"
    return "none" if value is None else str(value)


def _first(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(str(part) for part in first['loc']) or 'the line'}: {first['msg']}"
