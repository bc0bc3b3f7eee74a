"""Answers: one with all that is known of it, lists of them, and new ones from a gateway."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, Field

from schemas.answers import GeneratedAnswer
from schemas.base import Identifier, Label, RiskLevel, UtcDatetime
from schemas.enriched import ReleaseState
from schemas.identifiers import fact_id
from schemas.topics import ANSWERS_GENERATED
from workers.console.etags import tagged
from workers.console.paging import Cursor, Limit, next_cursor, place_of
from workers.console.principal import Principal
from workers.console.problems import Problem, documented
from workers.console.requests import StrictRoute
from workers.console.resources import Shared
from workers.console.security import Ingester, Reader
from workers.console.sending import event_outputs
from workers.console.views import AnswerDetail, AnswerPage, AnswerSummary, answer_detail, blinded, explanation_of
from workers.delivery.errors import OversizeRecord
from workers.review.models import Reviewer
from workers.steps.explanation import Explanation
from workers.stores.answers import AnswerFilter, Period, StoredAnswer

router = APIRouter(prefix="/api/answers", tags=["answers"], route_class=StrictRoute)

AnswerId = Annotated[str, Path(min_length=1, max_length=200, description="Identifier of an answer.")]
Tenant = Annotated[str | None, Query(min_length=1, max_length=200, description="Whose; all of the token by default.")]
Since = Annotated[UtcDatetime | None, Query(description="At this time or later.")]
Until = Annotated[UtcDatetime | None, Query(description="Before this time.")]


class SearchQuery(BaseModel):
    """What answers to find; nothing finds all."""

    q: str = Field(default="", max_length=500, description="In question or answer, or an answer_id.")
    tenant: Identifier | None = None
    model: Label = ""
    risk: RiskLevel | None = None
    state: ReleaseState | None = None
    since: UtcDatetime | None = Field(default=None, description="Complete then or later.")
    until: UtcDatetime | None = Field(default=None, description="Complete before.")

    def chosen(self, principal: Principal) -> AnswerFilter:
        """The filter, for what a principal may see.

        Raises:
            Problem: 403.
        """
        return AnswerFilter(
            principal.chosen_tenants(self.tenant), self.q, self.model, self.risk or "", self.state or "",
            Period(self.since, self.until),
        )  # fmt: skip


class AnswerBatch(BaseModel):
    """Answers to be judged."""

    answers: list[GeneratedAnswer] = Field(min_length=1, max_length=100)


class Accepted(BaseModel):
    """What is in the broker's log."""

    accepted: list[str] = Field(description="Identifiers, in the order of the request.")


@router.get("", responses=documented(401, 403, 422, 429, 503))
async def search_answers(
    search: Annotated[SearchQuery, Query()],
    principal: Reader,
    resources: Shared,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> AnswerPage:
    """Find answers by text, model, risk, state and time, the latest first."""
    rows = await resources.answers.listed(search.chosen(principal), limit + 1, place_of(cursor))
    page = [AnswerSummary.model_validate(row) for row in rows[:limit]]
    resources.accesses.note_page(principal, "search", [(item.tenant, item.answer_id) for item in page])
    return AnswerPage(items=page, next_cursor=next_cursor(rows, limit, "completed_ms", "answer_id"))


@router.get("/{answer_id:path}/explanation", responses=documented(401, 403, 404, 422, 429, 503))
async def explain_answer(
    answer_id: AnswerId, principal: Reader, resources: Shared, tenant: Tenant = None
) -> Explanation:
    """How the decision on an answer came about: every row of the policy with what was found."""
    stored = await stored_answer(resources, principal, answer_id, tenant)
    return explanation_of(stored, resources.settings)


@router.get(
    "/{answer_id:path}",
    response_model=AnswerDetail,
    responses=documented(304, 401, 403, 404, 422, 429, 503),
)
async def get_answer(
    answer_id: AnswerId, request: Request, principal: Reader, resources: Shared, tenant: Tenant = None
) -> Response:
    """An answer with claims, citations, decision, feedback and history."""
    stored = await stored_answer(resources, principal, answer_id, tenant)
    return tagged(request, answer_detail(stored))


@router.post("", status_code=202, responses=documented(401, 403, 413, 422, 429, 503))
async def send_answers(batch: AnswerBatch, principal: Ingester, resources: Shared) -> Accepted:
    """Send answers to be judged; all of them are in the broker's log when this returns."""
    limit = resources.settings.kafka.max_input_bytes
    for answer in batch.answers:
        principal.require_tenant(answer.tenant)
    values = await asyncio.to_thread(_values, batch.answers, limit)
    outputs = event_outputs(
        resources, ANSWERS_GENERATED, [(answer.answer_id, answer.answer_id, answer, value) for answer, value in values]
    )
    await resources.producer.send(outputs, agent="console")
    return Accepted(accepted=[answer.answer_id for answer, _ in values])


def _values(answers: list[GeneratedAnswer], limit: int) -> list[tuple[GeneratedAnswer, bytes]]:
    """Answers with the values of their records, read again as the worker will read them.

    Raises:
        OversizeRecord: one is larger than the worker accepts.
        UnreadableEvent: one is of a version that is not understood here.
    """
    values = []
    for answer in answers:
        value = answer.to_bytes()
        if len(value) > limit:
            raise OversizeRecord(
                f"answer {answer.answer_id} has {len(value)} bytes and at most {limit} are accepted; send fewer or "
                "shorter contexts"
            )
        values.append((GeneratedAnswer.from_bytes(value), value))
    return values


async def stored_answer(resources: Shared, principal: Principal, answer_id: str, tenant: str | None) -> StoredAnswer:
    """An answer that a principal may see, blinded while they give a second opinion on it; that it is shown is noted.

    Raises:
        Problem: 403, the tenant is another's; 404, there is no such answer.
    """
    stored = await resources.answers.answer(principal.chosen_tenants(tenant), answer_id)
    if stored is None:
        raise Problem(404, "there is no such answer; it may be in work still")
    resources.accesses.note(principal, "answer", stored.answer["tenant"], [answer_id])
    if stored.decisions and resources.review is not None:
        who = Reviewer(principal.name, principal.tenants)
        if await resources.review.gives_second_opinion(fact_id(answer_id, "review"), who):
            return blinded(stored)
    return stored
