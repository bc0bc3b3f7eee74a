"""Serve the audit: answers with their citations, answers with low grounding, decisions and accesses."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, replace
from typing import Annotated

import pyarrow as pa
from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, Field
from starlette.responses import StreamingResponse

from schemas.base import Identifier
from workers.console.http.downloads import download, file_name, refuse_too_many, refuse_unknown_filters
from workers.console.http.paging import Cursor, Limit, next_cursor, place_of
from workers.console.http.problems import Problem, documented
from workers.console.http.requests import StrictRoute
from workers.console.http.table_files import FileFormat
from workers.console.identity.principal import Principal
from workers.console.identity.security import Admin
from workers.console.presentation.audit.audit_evidence import COUNTED, COUNTED_OF_REVIEWER, evidence_of, text_at
from workers.console.presentation.audit.audit_views import (
    Access,
    AccessPage,
    AuditPage,
    DecisionPage,
    LoggedDecision,
    LoggedErasure,
    logged_citations,
)
from workers.console.presentation.comparison_words import saved_words
from workers.console.presentation.outcome import SEEN_AS, Recorded, SeenBefore, outcome_words, seen_after
from workers.console.presentation.words import SHOWN_BY, TEXT_SHOWN, WHAT_HAPPENED, why_words, words_of
from workers.console.resources import Shared, blind_of
from workers.console.routes.answers import Since, Tenant, TimeFilter, Until
from workers.decision.finality import state_after
from workers.delivery.followers.erasure_follower import ErasureRequest
from workers.stores.clickhouse.row_reading import Row
from workers.stores.queries.answer_queries import EARLIEST, LATEST, Period, Place
from workers.stores.queries.audit_queries import AUTOMATIC, IDENTIFIER, AuditFilter, AuditLog
from workers.stores.queries.reviews.blind_reviews import Sample

router = APIRouter(prefix="/api/audit", tags=["audit"], route_class=StrictRoute)

STATES_OF = {
    # A held answer has no record: no person has decided on it, and nothing was released.
    "decisions": frozenset({*SEEN_AS, *(value for value, _ in WHAT_HAPPENED)} - {"held"}),
    "accesses": frozenset({"", "reading", "list", *SHOWN_BY}),
}
"""Values of the filter by state, by log; empty for any."""
FOLLOWED = frozenset({AUTOMATIC, "final", "withdrawal", "second"})
"""Kinds of records that tell of another record."""
CLOSED = "unassigned"
"""Kind of the record of a request that somebody opened and closed again without a decision."""
EVERYTHING = "everything"
"""Value of the filter by state that chooses automatic releases as well."""
SAME_STATE = {EVERYTHING: "", "withdrawn": "withdrawal"}
"""Values of the filter by state that the store knows by another name: rows of a withdrawal have the state withdrawn."""
EXPORT_BATCH = {"decisions": 5_000, "accesses": 500}
"""Number of rows that are read and written at once, by log: an access names up to a thousand answers."""
EXPORTED = "audit_export"
"""Kind of the access by which a file of the audit was downloaded."""

_TIME = pa.timestamp("ms", tz="UTC")
SCHEMAS = {
    "decisions": pa.schema(
        [
            ("decided_at", _TIME),
            ("undone_at", _TIME),
            *((name, pa.string()) for name in ("decided_by", "action", "ruling", "state", "reason", "comment")),
            *((name, pa.string()) for name in ("corrected_answer", "comparison", "target")),
            ("outcome", pa.string()),
            ("shown_since", _TIME),
            ("ended_at", _TIME),
            ("why", pa.string()),
            *((name, pa.string()) for name in ("first_action", "first_by")),
            *((name, pa.string()) for name in ("tenant", "answer_id", "user_id", "query", "model_id")),
            *((name, pa.string()) for name in ("pipeline_version", "prompt_version")),
            ("review_duration", pa.float64()),
            ("hallucination_risk", pa.string()),
            *((name, pa.float64()) for name in ("grounding_score", "grounding_minimum", "gate_score", "gate_minimum")),
            *((f"claims_{name}_by_evaluation", pa.int64()) for name in COUNTED),
            *((f"claims_{name}_by_reviewer", pa.int64()) for name in COUNTED_OF_REVIEWER),
            ("claim_verdicts", pa.string()),
            ("contradicted_approved", pa.int64()),
            *((name, pa.string()) for name in ("review_id", "decision_id")),
        ]
    ),
    "accesses": pa.schema(
        [
            ("at", _TIME),
            *((name, pa.string()) for name in ("who", "via", "what", "shown_by", "text_shown", "kind", "tenant")),
            ("answers", pa.list_(pa.string())),
            ("questions", pa.list_(pa.string())),
            ("user_ids", pa.list_(pa.string())),
            ("access_id", pa.string()),
        ]
    ),
}
"""Columns of the files, in their order."""


class AuditQuery(BaseModel):
    """Filters of decisions and accesses; without filters every record matches."""

    tenant: Identifier | None = None
    answer_id: str = Field(default="", max_length=200, description="Only this answer.")
    q: str = Field(
        default="",
        max_length=500,
        description="Words that the question, the answer or its correction hold, all of them, without regard to case and accents; a phrase in quotation marks; or a part of an answer_id.",
    )
    user: str = Field(
        default="",
        max_length=200,
        description="Only records of answers to this user: the `user_id` that answers have, a pseudonym where it is masked.",
    )
    person: str = Field(default="", max_length=200, description="Only what this person decided or saw; in any case.")
    state: str = Field(
        default="",
        max_length=100,
        description="Only decisions that led to this state; or records of this kind: `second`, `vote`, `late`, `withdrawal` (also `withdrawn`), `undone`, "
        "`skipped`, `escalated`, `resumed`, `given`, `opinion_asked` and `opinion_ended` (second opinions), `unassigned` (closed without a decision), `automatic` (releases without a "
        "person), `fallback` (a notice without a person) or `everything`. Without it, "
        "automatic releases are listed only for a chosen answer, user, person or text, and requests that were closed without a "
        "decision only for a chosen answer. Of accesses, only those of this kind (what), or `reading` "
        "or `list`.",
    )
    model: str = Field(default="", max_length=200, description="Only decisions on answers of this model.")
    since: TimeFilter | None = Field(default=None, description="Only records of this time or later.")
    until: TimeFilter | None = Field(default=None, description="Only records before this time.")

    def chosen(self, log: AuditLog, principal: Principal, blind: Sample | None) -> AuditFilter:
        """Convert the filters to a store query within the tenants of the principal.

        Raises:
            Problem: 403, the token does not include the tenant; 422, accesses by model, an unknown state.
        """
        if log == "accesses" and self.model:
            raise Problem(422, "accesses have no model; leave model out")
        if self.state not in STATES_OF[log]:
            # An empty list would read as "nobody did that".
            known = ", ".join(sorted(STATES_OF[log] - {""}))
            raise Problem(422, f"state {self.state!r} of {log} is unknown; use one of {known}")
        return AuditFilter(
            principal.chosen_tenants(self.tenant), self.answer_id, self.person, SAME_STATE.get(self.state, self.state),
            self.model, Period(self.since, self.until), blind, self._without, self.q.strip(), self.user.strip(),
        )  # fmt: skip

    @property
    def without_closed(self) -> bool:
        """Return true if requests that were opened and closed again without a decision are left out."""
        return not (self.state or self.answer_id)

    @property
    def _without(self) -> tuple[str, ...]:
        return (AUTOMATIC,) * self.without_automatic + (CLOSED,) * self.without_closed

    @property
    def without_automatic(self) -> bool:
        """Return true if releases without a person are left out: a day has more of them than a year has decisions."""
        return not (self.state or self.answer_id or self.q.strip() or self.person or self.user.strip())


Wanted = Annotated[AuditQuery, Query()]


def _refuse_unknown(request: Request) -> None:
    refuse_unknown_filters(request, AuditQuery)


KNOWN_FILTERS = [Depends(_refuse_unknown)]


@router.get("/citations", responses=documented(401, 403, 422, 429, 503))
async def audit_citations(
    principal: Admin,
    resources: Shared,
    tenant: Tenant = None,
    only_invalid: Annotated[bool, Query(description="Only answers with an invalid reference.")] = False,
    since: Since = None,
    until: Until = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> AuditPage:
    """List every answer with its citations and ungrounded claims, the latest first."""
    return await _audit(principal, resources, tenant, None, only_invalid, Period(since, until), cursor, limit)


@router.get("/low-grounding", responses=documented(401, 403, 422, 429, 503))
async def audit_low_grounding(
    principal: Admin,
    resources: Shared,
    tenant: Tenant = None,
    below: Annotated[
        float | None,
        Query(
            ge=0, le=1, description="Threshold; by default the minimum of the tenant, or of the settings for several."
        ),
    ] = None,
    since: Since = None,
    until: Until = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> AuditPage:
    """List answers whose grounding score is below the threshold, the latest first."""
    chosen = principal.chosen_tenants(tenant)
    # Answers of several tenants have no common minimum of their own.
    policy = resources.settings.decision.resolved(chosen[0] if len(chosen) == 1 else "", None)
    threshold = policy.least_grounding(resources.settings.grounding) if below is None else below
    return await _audit(principal, resources, tenant, threshold, False, Period(since, until), cursor, limit)


@router.get("/accesses", dependencies=KNOWN_FILTERS, responses=documented(401, 403, 422, 429, 503))
async def audit_accesses(
    principal: Admin, resources: Shared, wanted: Wanted, cursor: Cursor = None, limit: Limit = 50
) -> AccessPage:
    """List the recorded accesses to answers, the latest first."""
    rows, following = await logged(resources, principal, "accesses", wanted, cursor, limit)
    return AccessPage(items=[Access.model_validate(row) for row in rows], next_cursor=following)


@router.get("/decisions", dependencies=KNOWN_FILTERS, responses=documented(401, 403, 422, 429, 503))
async def audit_decisions(
    principal: Admin, resources: Shared, wanted: Wanted, cursor: Cursor = None, limit: Limit = 50
) -> DecisionPage:
    """List the recorded decisions on answers, the latest first."""
    rows, following = await logged(resources, principal, "decisions", wanted, cursor, limit)
    _, hidden = await resources.audit.count(
        "decisions", wanted.chosen("decisions", principal, blind_of(principal, resources))
    )
    return DecisionPage(
        items=[LoggedDecision.model_validate(row) for row in rows], next_cursor=following, hidden=hidden
    )


@router.get("/erasures", responses=documented(401, 403, 422, 429, 503))
async def audit_erasures(
    principal: Admin, resources: Shared, tenant: Tenant = None, since: Since = None, until: Until = None
) -> list[LoggedErasure]:
    """List the erasures of persons, the latest first: when, by whom, and of how many answers; never the person."""
    found = await erasures_of(resources, principal, tenant, Period(since, until))
    if found is None:
        raise Problem(503, "the register of erasures cannot be read; allow this console to read privacy.erasures")
    return [LoggedErasure.model_validate(asdict(each)) for each in found]


async def erasures_of(
    resources: Shared, principal: Principal, tenant: str | None, period: Period
) -> list[ErasureRequest] | None:
    """Return the erasures of a period, the latest first; ``None`` if the register cannot be read.

    Raises:
        Problem: 403, the token does not include the tenant.
    """
    found = await resources.erased.requests(principal.chosen_tenants(tenant))
    since, until = period.since or EARLIEST, period.until or LATEST
    return None if found is None else [each for each in found if since <= each.requested_at < until]


@router.get(
    "/{log}/export",
    dependencies=KNOWN_FILTERS,
    responses=documented(401, 403, 422, 429, 503),
    response_class=StreamingResponse,
)
async def export_audit(
    log: AuditLog,
    principal: Admin,
    resources: Shared,
    wanted: Wanted,
    form: Annotated[FileFormat, Query(alias="format", description="Format of the file.")] = "csv",
) -> StreamingResponse:
    """Download the decisions or the accesses that match, the latest first, at most 500,000 rows.

    The header `X-Rows` has the number of rows, `X-Hidden` that of decisions left out because you may still review their
    requests, and `X-Erased` that of answers erased by requests since the beginning of the period, or `unknown`: decisions
    on them are not in the file.
    """
    chosen = wanted.chosen(log, principal, blind_of(principal, resources))
    # Rows that arrive during the download are left out, so that it ends.
    chosen = replace(chosen, period=Period(chosen.period.since, chosen.period.until or resources.now()))
    found, hidden = await resources.audit.count(log, chosen)
    refuse_too_many(found)
    # What an erasure removed is older than its request: it may be missing in the period before it.
    erased = await erasures_of(resources, principal, wanted.tenant, Period(chosen.period.since))
    counts = {
        "X-Rows": str(found),
        "X-Hidden": str(hidden),
        "X-Erased": "unknown" if erased is None else str(sum(each.answers for each in erased)),
    }
    batches = _batches(resources, principal, log, chosen)
    return download(file_name(log, wanted, chosen.period), form, SCHEMAS[log], batches, counts)


async def _batches(resources: Shared, principal: Admin, log: AuditLog, chosen: AuditFilter) -> AsyncIterator[list[Row]]:
    after = Place()
    while rows := await resources.audit.listed(log, chosen, EXPORT_BATCH[log], after):
        yield await _described(resources, principal, log, rows, EXPORTED)
        after = Place(rows[-1]["at_ms"], rows[-1][IDENTIFIER[log]])


async def logged(
    resources: Shared, principal: Principal, log: AuditLog, wanted: AuditQuery, cursor: str | None, limit: int,
    most: int | None = None,
) -> tuple[list[Row], str | None]:  # fmt: skip
    """Return a page of a log with the cursor of the next one, and record the access.

    Args:
        resources: of the console.
        principal: the caller.
        log: the log.
        wanted: filters.
        cursor: place of the page; null for the first one.
        limit: maximum number of rows.
        most: maximum number of answers of an access whose questions and users are returned; null for all.

    Raises:
        Problem: 403, the token does not include the tenant; 422, the cursor is malformed.
        AccessLogFull: the access cannot be recorded.
    """
    chosen = wanted.chosen(log, principal, blind_of(principal, resources))
    rows = await resources.audit.listed(log, chosen, limit + 1, place_of(cursor))
    shown = await _described(resources, principal, log, rows[:limit], most=most)
    return shown, next_cursor(rows, limit, "at_ms", IDENTIFIER[log], "tenant")


async def _described(
    resources: Shared, principal: Principal, log: AuditLog, rows: Sequence[Row], shown_by: str = "audit",
    most: int | None = None,
) -> list[Row]:  # fmt: skip
    """Add questions, and what happened, to records; record who is shown questions and comments of reviewers, and how."""
    named = [_answers_of(log, row, most) for row in rows]
    every = list(dict.fromkeys(answer for answers in named for answer in answers))
    known = await (resources.audit.answers if log == "decisions" else resources.audit.questions)(every)
    # The end of what readers saw, and what they saw before a withdrawal.
    followed = [answers[0] for row, answers in zip(rows, named, strict=True) if row.get("ruling") in FOLLOWED]
    decided = await resources.audit.decided(followed)
    contradicted = await resources.audit.contradicted(known) if log == "decisions" else {}
    described = [
        row | _added(log, row, [known.get(answer) for answer in answers], decided.get(answers[0]) if answers else None)
        for row, answers in zip(rows, named, strict=True)
    ]
    if log == "decisions":
        described = [
            row
            | evidence_of(
                row,
                known[answer]["texts"] if answer in known else [],
                contradicted.get(answer, ()),
                decided.get(answer, {}).get("text_key", 0),
            )
            for row, (answer,) in zip(described, named, strict=True)
        ]
    # An access to an answer that is no longer stored shows its identifier alone.
    resources.accesses.note_page(principal, shown_by, [each for each in every if log == "decisions" or each in known])
    return described


def _answers_of(log: AuditLog, row: Row, most: int | None) -> list[tuple[str, str]]:
    names = [row["answer_id"]] if log == "decisions" else row["answers"][:most]
    return [(row["tenant"], name) for name in names]


def _added(log: AuditLog, row: Row, answers: Sequence[Row | None], decided: Row | None) -> Row:
    questions = [answer["question"] if answer else "" for answer in answers]
    if log == "accesses":
        users = [answer["user_id"] if answer else "" for answer in answers]
        shown_by = SHOWN_BY.get(row["what"], words_of(row["what"]))
        text_shown = TEXT_SHOWN.get(row["what"], "not known")
        return {"questions": questions, "user_ids": users, "shown_by": shown_by, "text_shown": text_shown}
    record = Recorded(
        row["ruling"], row["action"], row["state"], row["decided_by"], row["decided_at"], row["with_warning"],
        row["target"], *((decided["at"], decided["withdrawn_at"]) if decided else ()),
    )  # fmt: skip
    second = decided if row["ruling"] == "second" else None
    answer = answers[0]
    texts = answer["texts"] if answer else []
    end = min((time for time in (decided["at"], decided["withdrawn_at"]) if time), default=None) if decided else None
    text = text_at([each for each in texts if not end or each["since"] < end] or texts[:1], row["decided_at"])
    empty = text is not None and text["empty"]
    record = record._replace(made=row["made"], shown=row["shown_since"], empty=empty)
    before = SeenBefore(text["state"], text["since"], empty) if text else None
    if before and decided and decided["at"] and row["ruling"] == "withdrawal":
        state = state_after(decided["action"], with_warning=decided["with_warning"])
        before = seen_after(before, decided["action"], state, decided["at"])
    return {
        "query": questions[0],
        "outcome": outcome_words(record, before),
        "ended_at": record.ended,
        "comparison": saved_words(row["comparison"], row["corrected_answer"]),
        "why": why_words(row["ruling"], row["reason"]),
        "decided_at": row["made"] if row["ruling"] == "undone" else row["decided_at"],
        "undone_at": row["decided_at"] if row["ruling"] == "undone" else None,
        "first_action": second["action"] if second else "",
        "first_by": second["decided_by"] if second else "",
        "user_id": answer["user_id"] if answer else "",
        "pipeline_version": text["version"] if text else "",
        "prompt_version": answer["prompt_version"] if answer else "",
    }


async def _audit(
    principal: Admin, resources: Shared, tenant: str | None, below: float | None, only_invalid: bool, period: Period,
    cursor: str | None, limit: int,
) -> AuditPage:  # fmt: skip
    rows = await resources.answers.audit(
        principal.chosen_tenants(tenant), below, only_invalid, period, limit + 1, place_of(cursor),
        blind_of(principal, resources),
    )  # fmt: skip
    page = [logged_citations(row) for row in rows[:limit]]
    resources.accesses.note_page(principal, "audit", [(item.tenant, item.response_id) for item in page])
    return AuditPage(items=page, next_cursor=next_cursor(rows, limit, "completed_ms", "response_id", "tenant"))
