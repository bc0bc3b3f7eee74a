"""The console's application: routes, pages, and what stands around them."""

from pathlib import Path

from fastapi import FastAPI
from starlette.staticfiles import StaticFiles

from workers.console import problems
from workers.console.middleware import BodyLimit, SecurityHeaders
from workers.console.resources import ConsoleResources
from workers.console.routes import review, session
from workers.console.security import Guard
from workers.versions import package_version

STATIC = Path(__file__).with_name("static")
ROUTERS = (session.router, review.router)


def create_app(resources: ConsoleResources) -> FastAPI:
    """The application.

    Args:
        resources: opened; the caller closes them.
    """
    app = FastAPI(
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
    problems.install(app)
    app.add_middleware(BodyLimit, max_bytes=resources.settings.console.max_body_bytes)
    app.add_middleware(SecurityHeaders)
    for router in ROUTERS:
        app.include_router(router)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    return app
