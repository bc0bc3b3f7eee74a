"""Probes of the console itself; no token needed, nothing told but whether it works."""

import asyncio

from fastapi import APIRouter, Response
from pydantic import BaseModel

from workers.console.resources import ConsoleResources, Shared

router = APIRouter(tags=["system"])


class Alive(BaseModel):
    """The event loop turns."""

    alive: bool = True


class Ready(BaseModel):
    """Whether requests can be served."""

    ready: bool
    checks: dict[str, str]


@router.get("/healthz")
async def healthz() -> Alive:
    """Say that the console is alive."""
    return Alive()


@router.get("/readyz", responses={503: {"model": Ready, "description": "Something is away."}})
async def readyz(response: Response, resources: Shared) -> Ready:
    """Say whether what the console needs answers, and if not, what does not."""
    checks = await readiness(resources)
    ready = all(problem is None for problem in checks.values())
    if not ready:
        response.status_code = 503
    return Ready(ready=ready, checks={name: problem or "ok" for name, problem in checks.items()})


async def readiness(resources: ConsoleResources) -> dict[str, str | None]:
    """What is in the way of each store; ``None`` for nothing."""
    clickhouse, broker = await asyncio.gather(resources.analytics.problem(), resources.producer.problem())
    return {"clickhouse": clickhouse, "broker": broker}
