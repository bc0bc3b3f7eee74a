"""Report errors as problem documents (RFC 9457): cause, invalid fields, next step."""

import math
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import orjson
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException as StarletteHTTPException

from schemas.base import UnreadableEvent
from workers.errors import JudgementError, PoisonError, UnavailableError, describe
from workers.observability.logs import get_logger
from workers.stores.queries.answer_queries import SeveralTenants

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = 5
"""Value of ``Retry-After`` while a store or the broker is not available."""
MAX_FIELDS = 20
"""Maximum number of fields in one problem document."""

log = get_logger(__name__)


class FieldProblem(BaseModel):
    """The error of one field."""

    field: str = Field(description="Dotted name of the field.")
    message: str


class ProblemDocument(BaseModel):
    """The body of every error."""

    type: str = "about:blank"
    title: str = Field(description="Name of the status.")
    status: int
    detail: str = Field(
        default="", description="Cause of the error and what to do, without any content of the request."
    )
    fields: list[FieldProblem] = Field(default_factory=list)


class Problem(HTTPException):
    """A request that cannot be served.

    Args:
        status: HTTP status.
        detail: cause and next step.
        fields: errors of single fields.
        headers: headers of the response.
        members: further members of the document, as RFC 9457 allows.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        fields: list[FieldProblem] | None = None,
        headers: dict[str, str] | None = None,
        **members: Any,
    ) -> None:
        super().__init__(status, detail, headers)
        self.fields = fields or []
        self.members = members


def problem_response(problem: StarletteHTTPException) -> Response:
    """Build the response of an error."""
    document = ProblemDocument(
        title=HTTPStatus(problem.status_code).phrase, status=problem.status_code, detail=str(problem.detail)
    ).model_dump()
    if isinstance(problem, Problem):
        document |= {"fields": [field.model_dump() for field in problem.fields], **problem.members}
    body = orjson.dumps(document, default=str)
    return Response(body, problem.status_code, headers=problem.headers, media_type=MEDIA_TYPE)


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe the responses of a route other than success for the OpenAPI document.

    Errors have a problem document as their body; 304 has no body.
    """
    document = {"content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}}}
    return {
        status: {"description": HTTPStatus(status).phrase} | (document if status >= HTTPStatus.BAD_REQUEST else {})
        for status in statuses
    }


NOT_READ_AS_JSON = "the body was not read as JSON; send the header Content-Type: application/json"

Respond = Callable[[Request, StarletteHTTPException], Response]


def install(app: FastAPI, respond: Respond) -> None:
    """Install handlers that answer every error as a problem.

    Args:
        app: the application.
        respond: builds the response: a problem document, or a page for browsers.
    """

    @app.exception_handler(StarletteHTTPException)
    async def _known(request: Request, error: StarletteHTTPException) -> Response:
        return respond(request, error)

    @app.exception_handler(RequestValidationError)
    async def _invalid(request: Request, error: RequestValidationError) -> Response:
        fields = [
            FieldProblem(field=".".join(str(part) for part in detail["loc"]), message=str(detail["msg"]))
            for detail in error.errors()[:MAX_FIELDS]
        ]
        # A body of another type is left as bytes; curl sends the type of a form where none is named.
        unread = isinstance(error.body, bytes) and any(field.field == "body" for field in fields)
        detail = NOT_READ_AS_JSON if unread else "the request is invalid; see fields"
        return respond(request, Problem(422, detail, fields=fields))

    @app.exception_handler(UnreadableEvent)
    async def _unreadable(request: Request, error: UnreadableEvent) -> Response:
        fields = [FieldProblem(field=name, message=str(error)) for name in error.fields]
        return respond(request, Problem(422, str(error), fields=fields))

    @app.exception_handler(PoisonError)
    async def _poison(request: Request, error: PoisonError) -> Response:
        return respond(request, Problem(422, describe(error)))

    @app.exception_handler(SeveralTenants)
    async def _several(request: Request, error: SeveralTenants) -> Response:
        return respond(request, Problem(409, f"{error} with ?tenant=", tenants=error.tenants))

    @app.exception_handler(JudgementError)
    @app.exception_handler(UnavailableError)
    async def _unavailable(request: Request, error: UnavailableError | JudgementError) -> Response:
        return respond(request, Problem(503, describe(error), headers={"Retry-After": str(RETRY_SECONDS)}))

    @app.exception_handler(Exception)
    async def _unknown(request: Request, error: Exception) -> Response:
        log.error(
            "console_request_failed",
            path=request.scope["route"].path if "route" in request.scope else "",
            exc_info=error,
        )
        return respond(request, Problem(500, "internal error; the console's log contains the traceback"))


def too_many(seconds: float, what: str = "too many requests") -> Problem:
    """Build the problem for a rate limit: 429 with ``Retry-After`` in whole seconds.

    Args:
        seconds: wait until a request is accepted again.
        what: the limit that is exceeded.
    """
    wait = max(1, math.ceil(seconds))
    return Problem(429, f"{what}; wait {wait} s", headers={"Retry-After": str(wait)})
