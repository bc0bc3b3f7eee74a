"""Serve the withdrawal of an answer from readers, decided or released without a person."""

from fastapi import APIRouter

from workers.console.http.problems import documented
from workers.console.http.requests import StrictRoute
from workers.console.identity.security import Admin
from workers.console.resources import Shared
from workers.console.routes.answers import AnswerId, Tenant, stored_answer
from workers.console.routes.review import ERRORS, Service, refusals
from workers.review.review_models import DecisionReceipt, Reviewer, WithdrawalBody

router = APIRouter(prefix="/api/answers", tags=["answers"], route_class=StrictRoute)


@router.post("/{answer_id:path}/withdrawal", status_code=202, responses=documented(*ERRORS, 404, 409, 422))
async def withdraw_answer(
    answer_id: AnswerId, body: WithdrawalBody, service: Service, who: Admin, resources: Shared, tenant: Tenant = None
) -> DecisionReceipt:
    """Take an answer back from readers and from memory, decided or released without a person; needs the scope admin."""
    stored = await stored_answer(resources, who, answer_id, tenant)
    reviewer = Reviewer(who.name, who.tenants)
    decided = next((row for row in stored.decisions if row["ruling"] in ("final", "withdrawal")), None)
    with refusals():
        if decided is not None:
            return await service.withdraw(decided["review_id"], body, reviewer)
        return await service.withdraw_release(stored.answer, body, reviewer)
