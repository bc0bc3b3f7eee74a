"""Measure whole answers that were written by hand: what is noticed, flagged, released and taken for a failure.

    python -m benchmarks.answer_cases
    python -m benchmarks.answer_cases --heldout --json heldout.json
    python -m benchmarks.answer_cases --kind yes_no --kind short
    python -m benchmarks.answer_cases --cases tests/data/outsider_cases.jsonl --heldout
    python -m benchmarks.answer_cases --cases tests/data/conversation_cases.jsonl
    python -m benchmarks.answer_cases --cases tests/data/language_cases.jsonl --heldout
    python -m benchmarks.answer_cases --cases tests/data/tool_cases.jsonl

Each case goes through the local pipeline twice, once for an observer and once for a gatekeeper. Misses are listed
for the open half only. The held-out half gives figures alone, so that nobody can tune on its cases. The settings
decide about models: TOUCHSTONE_GROUNDING__VERIFIER=builtin measures with the packaged verifier.
"""

import argparse
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from schemas.answers import ContextChunk, GeneratedAnswer, SourceType, ToolCall, Turn
from schemas.base import RiskMode
from schemas.enriched import EnrichedAnswer
from workers.evaluation.text.wording import plain_text
from workers.feedback.implicit_signals import execution_signals
from workers.feedback.patterns import wilson_interval
from workers.feedback.query_fingerprint import fingerprint
from workers.feedback.retry_detection import AskedQuery, find_retries
from workers.inference.backends import EmbeddingBackend
from workers.inference.opening import open_backend
from workers.pipeline.local_pipeline import LocalPipeline
from workers.settings import Settings

CASES = Path(__file__).resolve().parent.parent / "tests" / "data" / "answer_cases.jsonl"
ANSWERED_AT = datetime(2026, 1, 1, tzinfo=UTC)
"""A fixed time, since the evaluation must not depend on the clock."""
RETRY_DELAY = 30.0
"""Seconds between the two queries of a retry case."""

Kind = Literal[
    "subject",
    "wording",
    "yes_no",
    "short",
    "release",
    "error_text",
    "refusal",
    "evasion",
    "no_context",
    "numeral",
    "figure",
    "conflict",
    "retry",
    "language",
    "pronoun",
    "ellipsis",
    "said_before",
    "contradicts_earlier",
    "relevance",
    "number",
    "date",
    "negation",
    "sum",
    "hedge",
    "cross",
    "json_value",
    "rows",
    "derived",
    "failed_tool",
    "csv_xml",
    "arguments",
    "mixed",
    "roles",
    "html",
    "log",
    "interpreter",
    "correction",
    "topic_change",
    "speakers",
    "agreement",
    "made_up",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
TRUTH = ("true", "false")
EXPECTED: Mapping[Kind, tuple[str, str]] = dict.fromkeys(KINDS, TRUTH) | {
    "release": ("released", "not_released"),
    "no_context": ("released", "not_released"),
    "error_text": ("no_error", "error"),
    "refusal": ("answered", "refused"),
    "evasion": ("answered", "evaded"),
    "conflict": ("no_conflict", "conflict"),
    "retry": ("other_question", "retry"),
    "said_before": ("said_before", "false"),
    "contradicts_earlier": ("true", "contradicts_earlier"),
    "relevance": ("relevant", "irrelevant"),
    "failed_tool": ("true", "failed_tool_ignored"),
}
"""By kind what is expected of the right case of a pair, and of the one that must be noticed."""


class CaseContext(BaseModel):
    """One context with its kind and, for a tool, its call."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source_type: SourceType = "document"
    content: str
    tool: ToolCall | None = None


class AnswerCase(BaseModel):
    """One hand-written case; its twin differs in as little as possible and is expected to be the opposite."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    twin: str
    kind: Kind
    language: str = Field(pattern="^[a-z]{2}$")
    query: str = Field(min_length=1)
    earlier_query: str | None = Field(default=None, description="The query before it, for retries.")
    conversation: list[Turn] = Field(default_factory=list, description="The turns before the query.")
    contexts: list[str | CaseContext] | None = Field(default=None, description="Chunks; null where none were given.")
    answer: str = ""
    expected: str
    reason: str = Field(min_length=1)
    heldout: bool

    @property
    def is_right(self) -> bool:
        """Return true if nothing is to be noticed."""
        return self.expected == EXPECTED[self.kind][0]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Hold the findings on a case; ``released`` and ``failed`` are ``None`` where the case has no answer."""

    case: AnswerCase
    noticed: bool
    released: bool | None = None
    failed: bool | None = None
    reasons: Sequence[str] = ()

    @property
    def miss(self) -> str | None:
        """Return what went wrong, else ``None``."""
        if not self.case.is_right:
            return None if self.noticed else "not noticed"
        wrong = {"flagged": self.noticed, "not released": self.released is False, "failed": self.failed}
        return ", ".join(name for name, applies in wrong.items() if applies) or None


@dataclass(frozen=True, slots=True)
class Rate:
    """Count cases of which something is so."""

    count: int
    total: int

    @classmethod
    def of(cls, values: Iterable[bool | None]) -> "Rate":
        """Count the true values among those that are known."""
        known = [value for value in values if value is not None]
        return cls(sum(known), len(known))

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return the 95 % interval; ``None`` without cases."""
        return wilson_interval(self.count, self.total) if self.total else None

    def __str__(self) -> str:
        if self.interval is None:
            return "–"
        low, high = self.interval
        return f"{self.count} of {self.total} ({low:.0%}–{high:.0%})"


COLUMNS: Mapping[str, Callable[[Outcome], bool | None]] = {
    "noticed": lambda outcome: None if outcome.case.is_right else outcome.noticed,
    "flagged": lambda outcome: outcome.noticed if outcome.case.is_right else None,
    "released": lambda outcome: outcome.released if outcome.case.is_right else None,
    "failed": lambda outcome: outcome.failed if outcome.case.is_right else None,
}
HEADINGS: Mapping[str, str] = {
    "noticed": "wrong: noticed",
    "flagged": "right: flagged",
    "released": "right: released by a gatekeeper",
    "failed": "right: taken for a failed call",
    "precision": "precision of the notices",
}


def rates(outcomes: Sequence[Outcome]) -> dict[str, Rate]:
    """Count the outcomes by column."""
    found = {name: Rate.of(map(value, outcomes)) for name, value in COLUMNS.items()}
    noticed, flagged = found["noticed"].count, found["flagged"].count
    return found | {"precision": Rate(noticed, noticed + flagged)}


def table(title: str, groups: Mapping[str, Sequence[Outcome]]) -> str:
    """Return the rates of each group as a table in Markdown."""
    lines = [f"| {title} | " + " | ".join(HEADINGS.values()) + " |", "|---" * (1 + len(HEADINGS)) + "|"]
    lines += [
        f"| {name} | " + " | ".join(map(str, rates(outcomes).values())) + " |" for name, outcomes in groups.items()
    ]
    return "\n".join(lines)


def misses(outcomes: Iterable[Outcome]) -> dict[str, str]:
    """Return what went wrong by case, of the open half only."""
    return {
        outcome.case.id: f"{outcome.miss} ({', '.join(outcome.reasons)})" if outcome.reasons else outcome.miss
        for outcome in outcomes
        if outcome.miss is not None and not outcome.case.heldout
    }


def read_cases(path: Path = CASES) -> list[AnswerCase]:
    """Read the cases of a file.

    Raises:
        pydantic.ValidationError: a line has not the form of a case.
    """
    return [AnswerCase.model_validate_json(line) for line in path.read_text(encoding="utf-8").splitlines()]


def measure(case: AnswerCase, pipeline: LocalPipeline, backend: EmbeddingBackend, settings: Settings) -> Outcome:
    """Evaluate one case."""
    if case.earlier_query is not None:
        return Outcome(case, _is_retry(case.earlier_query, case.query, backend, settings))
    observed = pipeline.evaluate(answer_of(case, "observer"))
    decision = pipeline.evaluate(answer_of(case, "gatekeeper")).decision
    released = decision.state == "released"
    execution = execution_signals(observed.answer, settings.feedback, settings.quality)
    failed = execution.error_type is not None
    noticed = _noticed(case, observed, released, failed, settings)
    # What only earlier turns support is never plainly released.
    return Outcome(case, noticed, None if case.kind == "said_before" else released, failed, decision.reasons)


def answer_of(case: AnswerCase, mode: RiskMode) -> GeneratedAnswer:
    """Return the answer of a case as a gateway would send it."""
    chunks = (
        None
        if case.contexts is None
        else [
            ContextChunk(
                chunk_id=f"{case.id}-{number}",
                **(given.model_dump() if isinstance(given, CaseContext) else {"content": given}),
            )
            for number, given in enumerate(case.contexts, start=1)
        ]
    )
    return GeneratedAnswer(
        answer_id=case.id,
        query=case.query,
        answer=case.answer,
        conversation=case.conversation,
        contexts=chunks,
        risk_mode=mode,
        completed_at=ANSWERED_AT,
    )


def _noticed(case: AnswerCase, observed: EnrichedAnswer, released: bool, failed: bool, settings: Settings) -> bool:
    if case.kind in ("release", "no_context"):
        return not released
    if case.kind == "error_text":
        return failed
    if case.kind == "refusal":
        return observed.quality is not None and observed.quality.refusal
    if case.kind == "conflict":
        return observed.grounding is not None and bool(observed.grounding.conflicts)
    if case.kind == "contradicts_earlier":
        return observed.grounding is not None and bool(observed.grounding.earlier_contradictions)
    if case.kind == "said_before":
        return not _is_said_before(observed)
    if case.kind == "relevance":
        relevance = observed.quality.metrics.relevance if observed.quality is not None else None
        return relevance is not None and relevance < settings.quality.relevance
    if case.kind == "evasion" and observed.quality is not None and observed.quality.signals:
        return True
    return is_alarmed(observed)


def _is_said_before(observed: EnrichedAnswer) -> bool:
    """Return true if an earlier turn states something of the answer, and nothing in it is without support."""
    grounding = observed.grounding
    if grounding is None or grounding.ungrounded_claims:
        return False
    return any(claim.verdict == "said_before" for claim in grounding.claims)


def is_alarmed(observed: EnrichedAnswer) -> bool:
    """Return true if a reader or owner is warned of the answer.

    That is so with a risk of medium or high, a state other than released, or a claim that is contradicted or
    unsupported. A risk that was not evaluated warns nobody.
    """
    if observed.decision.state != "released":
        return True
    grounding = observed.grounding
    return grounding is not None and (
        grounding.hallucination_risk in ("medium", "high") or bool(grounding.ungrounded_claims)
    )


def _is_retry(earlier: str, query: str, backend: EmbeddingBackend, settings: Settings) -> bool:
    texts = [plain_text(earlier), plain_text(query)]
    vectors = np.asarray(backend.encode(texts), dtype=np.float16)
    first = AskedQuery("first", 0.0, vectors[0], fingerprint(texts[0], ""))
    second = AskedQuery("second", RETRY_DELAY, vectors[1], fingerprint(texts[1], ""))
    return bool(find_retries(second, [first], settings.feedback))


def main(arguments: list[str] | None = None) -> None:
    """Measure one half and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heldout", action="store_true", help="measure the held-out half, without a list of misses")
    parser.add_argument("--cases", type=Path, default=CASES, help="file of the cases (default: the repository's)")
    parser.add_argument("--kind", choices=KINDS, action="append", help="measure this kind only; may be repeated")
    parser.add_argument("--json", type=Path, help="write the figures to a file")
    options = parser.parse_args(arguments)
    cases = [
        case
        for case in read_cases(options.cases)
        if case.heldout == options.heldout and case.kind in (options.kind or KINDS)
    ]
    settings = Settings()
    backend = open_backend(settings)
    pipeline = LocalPipeline(settings, backend)
    outcomes = [measure(case, pipeline, backend, settings) for case in cases]
    kinds = {kind: [each for each in outcomes if each.case.kind == kind] for kind in KINDS}
    languages = {
        language: [each for each in outcomes if each.case.language == language]
        for language in sorted({case.language for case in cases})
    }
    groups = {
        "kind": {kind: found for kind, found in kinds.items() if found} | {"all": outcomes},
        "language": languages,
    }
    print("\n\n".join(table(title, found) for title, found in groups.items()))
    for name, miss in misses(outcomes).items():
        print(f"{name}: {miss}")
    if options.json:
        figures = {
            title: {
                name: {column: [rate.count, rate.total] for column, rate in rates(each).items()}
                for name, each in found.items()
            }
            for title, found in groups.items()
        }
        told = {"heldout": options.heldout, **figures, "misses": misses(outcomes)}
        options.json.write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
