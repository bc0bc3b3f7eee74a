"""quality: answers.generated (and memory) → metrics and failure signals → answers.quality."""

from collections.abc import Mapping
from dataclasses import replace

from schemas.answers import GeneratedAnswer
from schemas.quality import EarlierAnswer, QualityFindings, QualityReport
from schemas.topics import ANSWERS_GENERATED
from workers.agents.base import AgentDefinition, Handler, Resources
from workers.agents.judging import Judge, judging_handler
from workers.delivery.errors import StoreUnavailable
from workers.inference.embedding import Vector
from workers.logs import get_logger
from workers.settings import Settings
from workers.steps.quality import PreparedQuality, judge_quality, prepare_quality

log = get_logger(__name__)


def quality_judge(settings: Settings) -> Judge:
    """The step, with the thresholds of the settings; what is remembered is its caller's to fetch."""
    thresholds = settings.quality

    def judge(prepared: PreparedQuality, vectors: Mapping[str, Vector]) -> QualityFindings:
        return judge_quality(prepared, vectors, thresholds)

    return Judge("quality", QualityReport, QualityFindings, prepare_quality, judge)


def _handler(resources: Resources) -> Handler:
    async def fetch(answer: GeneratedAnswer) -> tuple[list[EarlierAnswer]]:
        return (await _earlier(answer, resources),)

    return judging_handler(replace(quality_judge(resources.settings), fetch=fetch), resources)


async def _earlier(answer: GeneratedAnswer, resources: Resources) -> list[EarlierAnswer]:
    """Remembered answers to the same question of the same tenant, given before this one.

    Memory that is away costs the comparison and nothing else: the report then lists none.
    """
    limit = resources.settings.memory.earlier_answers
    if resources.memory is None or not limit or not answer.query.strip():
        return []
    try:
        rows = await resources.memory.same_question(answer.tenant, answer.query, answer.completed_at, limit)
    except StoreUnavailable:
        log.warning("memory_not_read", answer_id=answer.answer_id)
        return []
    return [
        EarlierAnswer(
            answer_id=row["answer_id"], timestamp=row["timestamp"], response=row["response"][:MAX_EARLIER_RESPONSE]
        )
        for row in rows
        if row["answer_id"] != answer.answer_id
    ]


MAX_EARLIER_RESPONSE = 2_000
"""Beginning of an earlier answer that is compared and recorded, code points."""

QUALITY = AgentDefinition("quality", (ANSWERS_GENERATED,), _handler, needs=("embedding", "memory"))
