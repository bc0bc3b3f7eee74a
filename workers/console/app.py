"""The console's application: routes, pages, and what stands around them."""

from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.staticfiles import StaticFiles

from workers.console import pages, problems
from workers.console.middleware import BodyLimit, SecurityHeaders
from workers.console.problems import ProblemDocument
from workers.console.resources import ConsoleResources
from workers.console.routes import (
    answers,
    audit,
    check,
    citations,
    feedback,
    intake,
    memory,
    overview,
    review,
    session,
    system,
)
from workers.console.security import Guard
from workers.versions import package_version

STATIC = Path(__file__).with_name("static")
SUBJECTS = (system, session, check, answers, citations, feedback, intake, memory, review, overview, audit, pages)


class Console(FastAPI):
    """The application, with the problem document among the schemas that it tells."""

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document."""
        if self.openapi_schema is None:
            schemas = super().openapi()["components"]["schemas"]
            schema = ProblemDocument.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas |= schema.pop("$defs") | {"ProblemDocument": schema}
        assert self.openapi_schema is not None
        return self.openapi_schema


def create_app(resources: ConsoleResources) -> FastAPI:
    """The application.

    Args:
        resources: opened; the caller closes them.
    """
    app = Console(
        title="Touchstone console",
        version=package_version(),
        description="Answers, citations, feedback and review. Errors are problem documents (RFC 9457).",
        openapi_url="/api/openapi.json",
        # Their pages load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
    )
    app.state.resources = resources
    app.state.guard = Guard(resources.settings.console)
    problems.install(app, pages.respond)

    @app.exception_handler(pages.LoginNeeded)
    async def _log_in_first(request: Request, _: pages.LoginNeeded) -> Response:
        return pages.login_redirect(request)

    app.add_middleware(BodyLimit, max_bytes=resources.settings.console.max_body_bytes)
    app.add_middleware(SecurityHeaders)
    for subject in SUBJECTS:
        app.include_router(subject.router)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    return app
