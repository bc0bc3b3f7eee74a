"""Serve answers: one answer with its history, filtered lists, and new answers from a gateway."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from schemas.answers import GeneratedAnswer
from schemas.base import Identifier, Label, RiskLevel, UtcDatetime
from schemas.enriched import ReleaseState
from schemas.topics import ANSWERS_GENERATED
from workers.console.http.etags import tagged
from workers.console.http.paging import MAX_CURSOR, Cursor, Limit, encode_cursor, place_of
from workers.console.http.problems import Problem, documented
from workers.console.http.requests import StrictRoute
from workers.console.identity.principal import Principal
from workers.console.identity.security import Ingester, Reader
from workers.console.presentation.outcome import time_words
from workers.console.presentation.views import (
    AnswerDetail,
    AnswerPage,
    AnswerSummary,
    answer_detail,
    blinded,
    explanation_of,
)
from workers.console.resources import Shared, blind_of
from workers.console.sending import event_outputs
from workers.decision.explanation import Explanation
from workers.errors import OversizeRecord
from workers.gateways.adapted import bounded_identifier
from workers.stores.queries.answer_queries import MAX_TEXT, AnswerFilter, Period, StoredAnswer
from workers.stores.queries.reviews.blind_reviews import Sample
from workers.stores.queries.totals import agreeing_total

router = APIRouter(prefix="/api/answers", tags=["answers"], route_class=StrictRoute)

AnswerId = Annotated[
    str,
    Path(
        min_length=1,
        max_length=2_000,
        description="Identifier of an answer; one of more than 200 characters as its gateway gave it.",
    ),
    AfterValidator(bounded_identifier),
]
Tenant = Annotated[
    str | None,
    Query(min_length=1, max_length=200, description="Tenant of the answers; by default all tenants of the token."),
]


def _written_out(value: Any) -> Any:
    """Refuse a number: it would be taken as seconds since 1970, also if it was meant as something else."""
    try:
        float(value)
    except (TypeError, ValueError):
        return value
    raise ValueError("write the time out, as in 2026-11-26T10:00:00Z")


TimeFilter = Annotated[UtcDatetime, BeforeValidator(_written_out)]
"""Time of a filter, written out with its zone."""
Since = Annotated[TimeFilter | None, Query(description="Only entries of this time or later.")]
Until = Annotated[TimeFilter | None, Query(description="Only entries before this time.")]


class SearchQuery(BaseModel):
    """Filters of the answer search; without filters every answer matches."""

    q: str = Field(
        default="",
        max_length=500,
        description="Words that the question, the answer or its correction hold, all of them, without regard to case and accents; a phrase in quotation marks; or an answer_id.",
    )
    tenant: Identifier | None = None
    model: Label = ""
    tenant_part: str = Field(default="", max_length=200, description="Part of the name of the tenant.")
    model_part: str = Field(default="", max_length=200, description="Part of the name of the model.")
    risk: RiskLevel | Literal["none"] | None = Field(
        default=None,
        description="Hallucination risk; none for answers without one, of which nothing was compared with a source.",
    )
    state: ReleaseState | Literal["withdrawn"] | None = Field(
        default=None, description="State that readers see; rejected includes answers that were withdrawn."
    )
    verdict: Literal["supported", "contradicted", "unsupported"] | None = Field(
        default=None,
        description="Only answers with at least one claim of this verdict; the verdict of a reviewer counts before that of the evaluation.",
    )
    verdict_by: Literal["evaluation"] | None = Field(
        default=None, description="evaluation: the verdicts of reviewers do not count for the filter verdict."
    )
    user: str = Field(
        default="",
        max_length=200,
        description="Only answers to this user: the `user_id` that answers have, a pseudonym where it is masked.",
    )
    seen: bool | None = Field(
        default=None,
        description="True: only answers whose own text readers saw at some time, also if it was withdrawn or rejected "
        "later; false: only the others. With verdict, answers whose correction keeps a claim of it count as shown; without it, corrected texts do not count.",
    )
    since: TimeFilter | None = Field(default=None, description="Only answers completed at this time or later.")
    until: TimeFilter | None = Field(default=None, description="Only answers completed before this time.")
    evaluated_since: TimeFilter | None = Field(
        default=None, description="Only answers evaluated at this time or later; the overview counts by this time."
    )
    evaluated_until: TimeFilter | None = Field(default=None, description="Only answers evaluated before this time.")

    def chosen(self, principal: Principal, blind: Sample | None) -> AnswerFilter:
        """Convert the filters to a store query within the tenants of the principal.

        Raises:
            Problem: 403, the token does not include the tenant.
        """
        return AnswerFilter(
            principal.chosen_tenants(self.tenant), self.q, self.model, self.risk or "", self.state or "",
            Period(self.since, self.until), self.model_part, self.tenant_part,
            Period(self.evaluated_since, self.evaluated_until), blind, self.verdict or "", self.seen,
            evaluation_only=self.verdict_by == "evaluation", user=self.user.strip(),
        )  # fmt: skip


class AnswerBatch(BaseModel):
    """Answers to evaluate."""

    answers: list[GeneratedAnswer] = Field(min_length=1, max_length=100)


class Accepted(BaseModel):
    """Identifiers of the events that the broker has acknowledged."""

    accepted: list[str] = Field(description="Identifiers, in the order of the request.")


@router.get("", responses=documented(401, 403, 422, 429, 503))
async def search_answers(
    search: Annotated[SearchQuery, Query()],
    principal: Reader,
    resources: Shared,
    cursor: Cursor = None,
    before: Annotated[
        str | None,
        Query(max_length=MAX_CURSOR, description="previous_cursor of the next page, to go back to the page before."),
    ] = None,
    limit: Limit = 50,
    count: Annotated[bool, Query(description="Count all answers that match.")] = False,
) -> AnswerPage:
    """Find answers by words, model, user, risk, verdicts, state and time, the latest first."""
    return await found_answers(resources, principal, search, cursor, before, limit, count=count)


async def found_answers(
    resources: Shared, principal: Principal, search: SearchQuery, cursor: str | None, before: str | None, limit: int,
    *, count: bool, shown: int = MAX_TEXT,
) -> AnswerPage:  # fmt: skip
    """Return a page of the answers that match a search, with texts of at most ``shown`` characters; record the access.

    Raises:
        Problem: 403, the token does not include the tenant; 422, a cursor is malformed, or there are two.
        AccessLogFull: the access cannot be recorded.
    """
    if cursor and before:
        raise Problem(422, "send cursor or before, not both")
    chosen = search.chosen(principal, blind_of(principal, resources))
    back = before is not None
    listing = resources.answers.listed(chosen, limit + 1, place_of(before if back else cursor), back=back, shown=shown)
    rows, counted = await asyncio.gather(listing, _count(resources, chosen) if count else _unknown())
    more = len(rows) > limit
    listed = (rows[-limit:] if back else rows[:limit]) if more else rows
    items = [AnswerSummary.model_validate(row) for row in listed]
    resources.accesses.note_page(principal, "search", [(item.tenant, item.answer_id) for item in items])
    places = [
        encode_cursor([row["completed_ms"], row["answer_id"], row["tenant"]]) for row in (*listed[:1], *listed[-1:])
    ]
    has_next, has_previous = (more or back, more if back else cursor is not None)
    total = None if counted is None else agreeing_total(counted, len(items), first=not has_previous, more=has_next)
    return AnswerPage(
        items=items,
        next_cursor=places[-1] if places and has_next else None,
        previous_cursor=places[0] if places and has_previous else None,
        total=total,
    )


async def _count(resources: Shared, chosen: AnswerFilter) -> int | None:
    return await resources.answers.count(chosen)


async def _unknown() -> int | None:
    return None


@router.get("/{answer_id:path}/explanation", responses=documented(401, 403, 404, 409, 422, 429, 503))
async def explain_answer(
    answer_id: AnswerId, principal: Reader, resources: Shared, tenant: Tenant = None
) -> Explanation:
    """Explain the decision on an answer: every row of the policy with the values found."""
    stored = await stored_answer(resources, principal, answer_id, tenant)
    return explanation_of(stored, resources.settings)


@router.get(
    "/{answer_id:path}",
    response_model=AnswerDetail,
    responses=documented(304, 401, 403, 404, 409, 422, 429, 503),
)
async def get_answer(
    answer_id: AnswerId, request: Request, principal: Reader, resources: Shared, tenant: Tenant = None
) -> Response:
    """Return an answer with claims, citations, decision, feedback and history."""
    stored = await stored_answer(resources, principal, answer_id, tenant)
    return tagged(request, answer_detail(stored))


@router.post("", status_code=202, responses=documented(401, 403, 413, 422, 429, 503))
async def send_answers(batch: AnswerBatch, principal: Ingester, resources: Shared) -> Accepted:
    """Send answers for evaluation; the broker has acknowledged all of them when this returns."""
    limit = resources.settings.kafka.max_input_bytes
    for answer in batch.answers:
        principal.require_tenant(answer.tenant)
    values = await asyncio.to_thread(_values, batch.answers, limit)
    outputs = event_outputs(
        resources, ANSWERS_GENERATED, [(answer.answer_id, answer, value) for answer, value in values]
    )
    await resources.producer.send(outputs, agent="console")
    return Accepted(accepted=[answer.answer_id for answer, _ in values])


def _values(answers: list[GeneratedAnswer], limit: int) -> list[tuple[GeneratedAnswer, bytes]]:
    """Serialize answers, and parse them again as the worker will.

    Raises:
        OversizeRecord: an answer is larger than the worker accepts.
        UnreadableEvent: an answer has an unsupported schema version.
    """
    values = []
    for answer in answers:
        value = answer.to_bytes()
        if len(value) > limit:
            raise OversizeRecord(
                f"answer {answer.answer_id} has {len(value)} bytes; at most {limit} are accepted; send fewer or "
                "shorter contexts"
            )
        values.append((GeneratedAnswer.from_bytes(value), value))
    return values


async def stored_answer(resources: Shared, principal: Principal, answer_id: str, tenant: str | None) -> StoredAnswer:
    """Return an answer that the principal may see, and record the access.

    The answer is blinded while the principal may still review it independently.

    Raises:
        Problem: 403, the token does not include the tenant; 404, the answer does not exist.
        SeveralTenants: no tenant was chosen, and several have an answer of this name.
        AccessLogFull: the access cannot be recorded.
    """
    stored = await resources.answers.answer(principal.chosen_tenants(tenant), answer_id)
    if stored is None:
        raise await unknown_answer(resources, principal.chosen_tenants(tenant), answer_id)
    resources.accesses.note(principal, "answer", stored.answer["tenant"], [answer_id])
    hidden = await resources.answers.hidden([(stored.answer["tenant"], answer_id)], blind_of(principal, resources))
    return blinded(stored) if hidden else stored


async def unknown_answer(resources: Shared, tenants: Sequence[str], answer_id: str) -> Problem:
    """Return the problem of an answer without a row; one that was erased at a person's request is named as such."""
    erased = await resources.erased.erased_at(tenants, answer_id)
    if erased is None:
        return Problem(404, "unknown answer; a new answer may not be evaluated yet")
    return Problem(
        404,
        f"this answer was erased at the request of a person on {time_words(erased)}; its text, its decision and the "
        "feedback on it were removed and cannot be shown",
    )
