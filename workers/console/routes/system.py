"""Serve the probes of the console; they need no token and report only availability."""

import asyncio

from fastapi import APIRouter, Response
from pydantic import BaseModel

from workers.console.resources import ConsoleResources, Shared

router = APIRouter(tags=["system"])


class Alive(BaseModel):
    """The response of a running event loop."""

    alive: bool = True


class Ready(BaseModel):
    """The readiness of the console with the state of each dependency."""

    ready: bool
    checks: dict[str, str]


@router.get("/healthz")
async def healthz() -> Alive:
    """Report that the console is alive."""
    return Alive()


@router.get("/readyz", responses={503: {"model": Ready, "description": "A dependency does not respond."}})
async def readyz(response: Response, resources: Shared) -> Ready:
    """Report whether the dependencies of the console answer; 503 names those that do not."""
    checks = await readiness(resources)
    ready = all(problem is None for problem in checks.values())
    if not ready:
        response.status_code = 503
    return Ready(ready=ready, checks={name: problem or "ok" for name, problem in checks.items()})


async def readiness(resources: ConsoleResources) -> dict[str, str | None]:
    """Return the problem of each dependency; ``None`` if it answers."""
    clickhouse, broker = await asyncio.gather(resources.analytics.problem(), resources.producer.problem())
    return {"clickhouse": clickhouse, "broker": broker}
