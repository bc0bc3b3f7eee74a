"""Judging answers of a file on this machine, without broker and stores, as the agents do it."""

import gzip
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from schemas.answers import GeneratedAnswer
from schemas.citations import CitationReport
from schemas.enriched import EnrichedAnswer
from schemas.grounding import GroundingReport
from schemas.identifiers import judgement_id
from schemas.quality import QualityReport
from schemas.reports import AgentName, Findings, Report
from workers.delivery.errors import TouchstoneError
from workers.inference.backends import SentenceTransformerBackend
from workers.settings import Settings
from workers.steps.citations import find_citations
from workers.steps.enrichment import enrich
from workers.steps.grounding import judge_grounding, prepare_grounding
from workers.steps.quality import judge_quality, prepare_quality
from workers.versions import pipeline_version

REPORTS: dict[AgentName, type[Report]] = {
    "citations": CitationReport,
    "grounding": GroundingReport,
    "quality": QualityReport,
}


class LocalJudge:
    """Judges answers one by one with the model of the settings; memory is not asked.

    Args:
        settings: all settings.
        backend: the model, if it is loaded already.
    """

    def __init__(self, settings: Settings, backend: SentenceTransformerBackend | None = None) -> None:
        self._settings = settings
        self._version = pipeline_version(settings)
        self._backend = backend or SentenceTransformerBackend(settings.inference.model, settings.inference.threads)

    def judge(self, answer: GeneratedAnswer) -> EnrichedAnswer:
        """Judge an answer as the three agents and assembly would."""
        settings = self._settings
        grounding, quality = prepare_grounding(answer), prepare_quality(answer)
        texts = list(dict.fromkeys((*grounding.texts, *quality.texts)))
        vectors: dict[str, Any] = {}
        size = settings.inference.batch_texts
        for start in range(0, len(texts), size):
            part = texts[start : start + size]
            vectors.update(zip(part, self._backend.encode(part), strict=True))
        found: dict[AgentName, Findings] = {
            "citations": find_citations(answer),
            "grounding": judge_grounding(grounding, vectors, settings.grounding),
            "quality": judge_quality(quality, vectors, settings.quality),
        }
        return enrich(
            answer,
            {agent: self._report(answer, agent, findings) for agent, findings in found.items()},
            partition=0,
            offset=0,
            # No clock: the same file gives the same bytes.
            now=answer.completed_at,
            pipeline_version=self._version,
            default_risk_mode=settings.release.default_risk_mode,
            gate=settings.gate,
            grounding_thresholds=settings.grounding,
            style=settings.release.style,
            remember_without_context=settings.memory.remember_without_context,
            policy=settings.decision,
        )

    def _report(self, answer: GeneratedAnswer, agent: AgentName, findings: Findings) -> Report:
        return REPORTS[agent](
            **dict(findings),
            judgement_id=judgement_id(answer.answer_id, agent),
            answer_id=answer.answer_id,
            tenant=answer.tenant,
            agent=agent,
            pipeline_version=self._version,
            answer_partition=0,
            answer_offset=0,
            judged_at=answer.completed_at,
        )


def read_events(file: str) -> Iterator[GeneratedAnswer | EnrichedAnswer]:
    """Answers of a file: JSON lines or one JSON document, plain or gzip; ``-`` for standard input.

    An answer without a time counts as complete at the Unix epoch, so that the same file gives
    the same judgement; a name is made of its line.

    Raises:
        TouchstoneError: the file cannot be read, or a line is no answer; it names the line.
    """
    try:
        content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    except OSError as error:
        raise TouchstoneError(f"{file} cannot be read: {error.strerror or error}") from error
    for number, fields in enumerate(_documents(content, file), start=1):
        defaults = {"answer_id": f"line-{number}", "completed_at": datetime.fromtimestamp(0, UTC)}
        kind = EnrichedAnswer if "decision" in fields else GeneratedAnswer
        try:
            yield kind.model_validate(fields if kind is EnrichedAnswer else defaults | fields)
        except ValueError as error:
            raise TouchstoneError(f"{file}, answer {number}: {error}") from error


def _documents(content: bytes, file: str) -> Iterator[dict[str, Any]]:
    try:
        whole = from_json(content)
        documents = whole if isinstance(whole, list) else [whole]
    except ValueError:
        lines = [line for line in content.splitlines() if line.strip()]
        documents = []
        for number, line in enumerate(lines, start=1):
            try:
                documents.append(from_json(line))
            except ValueError as error:
                raise TouchstoneError(f"{file}, line {number}: {error}") from error
    for number, document in enumerate(documents, start=1):
        if not isinstance(document, dict):
            raise TouchstoneError(f"{file}, answer {number}: not a JSON object")
        yield document
