"""Build the console application: routes, pages, middleware and error handlers."""

from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.staticfiles import StaticFiles

from workers.console.http import problems
from workers.console.http.middleware import BodyLimit, ForwardedHeaders, SecurityHeaders
from workers.console.http.problems import ProblemDocument
from workers.console.identity.ended_sessions import EndedSessions
from workers.console.identity.security import Guard
from workers.console.presentation import page_basics, pages, review_pages
from workers.console.presentation.audit import audit_pages, settings_pages
from workers.console.resources import ConsoleResources
from workers.console.routes import (
    answers,
    audit,
    audit_settings,
    check,
    check_stream,
    citations,
    intake,
    memory,
    overview,
    review,
    search_export,
    session,
    system,
    withdrawals,
)
from workers.console.routes import reader_feedback as feedback
from workers.pipeline.versions import package_version
from workers.review.queue.shared_state import SharedState

STATIC = Path(__file__).with_name("static")
SUBJECTS = (
    system,
    session,
    check_stream,
    check,
    answers,
    search_export,
    citations,
    feedback,
    intake,
    memory,
    review,
    withdrawals,
    overview,
    # A log of the audit is named by a word; the settings have paths of their own.
    audit_settings,
    audit,
    pages,
    review_pages,
    settings_pages,
    audit_pages,
)


class Console(FastAPI):
    """Serve the application, with the problem document among its OpenAPI schemas."""

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document."""
        if self.openapi_schema is None:
            schemas = super().openapi()["components"]["schemas"]
            schema = ProblemDocument.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas |= schema.pop("$defs") | {"ProblemDocument": schema}
        assert self.openapi_schema is not None
        return self.openapi_schema


def create_app(resources: ConsoleResources) -> FastAPI:
    """Create the application.

    Args:
        resources: opened resources; the caller closes them.
    """
    app = Console(
        title="Touchstone console",
        version=package_version(),
        description="Answers, citations, feedback and review. Errors are problem documents (RFC 9457).",
        openapi_url="/api/openapi.json",
        # The built-in documentation pages load scripts from other hosts.
        docs_url=None,
        redoc_url=None,
    )
    app.state.resources = resources
    app.state.guard = Guard(
        resources.settings.console, EndedSessions(SharedState(resources.redis, resources.settings.redis.key_prefix))
    )
    problems.install(app, page_basics.respond)

    @app.exception_handler(page_basics.LoginNeeded)
    async def _log_in_first(request: Request, _: page_basics.LoginNeeded) -> Response:
        return page_basics.login_redirect(request)

    app.add_middleware(
        BodyLimit,
        max_bytes=resources.settings.console.max_body_bytes,
        seconds={"/v1/check/stream": check_stream.MAX_SECONDS},
    )
    app.add_middleware(SecurityHeaders)
    if resources.settings.console.behind_proxy:
        app.add_middleware(ForwardedHeaders, proxies=resources.settings.console.proxies)
    for subject in SUBJECTS:
        app.include_router(subject.router)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    return app
