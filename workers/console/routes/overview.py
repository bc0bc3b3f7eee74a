"""The overview: how much, how well, how late, and what waits."""

from datetime import datetime, timedelta
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from workers.console.principal import Principal
from workers.console.problems import documented
from workers.console.requests import StrictRoute
from workers.console.resources import Shared
from workers.console.routes.answers import Tenant
from workers.console.security import Reader

router = APIRouter(prefix="/api/overview", tags=["overview"], route_class=StrictRoute)

PERIODS = {"1h": timedelta(hours=1), "24h": timedelta(hours=24), "7d": timedelta(days=7), "30d": timedelta(days=30)}
PeriodName = Literal["1h", "24h", "7d", "30d"]


class Figures(BaseModel):
    """Counts and means of some answers; means are null where nothing was judged."""

    answers: int
    low: int = Field(description="By hallucination risk.")
    medium: int
    high: int
    degraded: int
    reviewed: int = Field(description="Sent to review.")
    grounding: float | None
    quality: float | None
    gate: float | None


class Point(Figures):
    """A point of the charts."""

    at: datetime
    delay_p50: float = Field(description="Seconds from answered to judged, median.")
    delay_p95: float


class ModelFigures(Figures):
    """One model beside the others."""

    model_id: str
    latency_p50: float | None
    reward: float | None = Field(description="Mean, of answers on which a person said or did something.")
    rewarded: int


class SourceFigures(BaseModel):
    """A source that claims cite and that does not support them."""

    name: str
    source_type: str
    citations: int
    answers: int
    unsupported: int = Field(description="Claims that cite it and that it does not support.")


class RaisedAlert(BaseModel):
    """An alert."""

    alert_type: str
    severity: str
    message: str
    answer_id: str
    tenant: str
    raised_at: datetime


class Backlog(BaseModel):
    """What waits for people."""

    open: int
    held: int = Field(description="Those that a reader waits for.")
    oldest_at: datetime | None
    decided: int


class Overview(BaseModel):
    """Figures of a period."""

    since: datetime
    until: datetime
    bucket_seconds: int
    totals: Figures
    series: list[Point]
    models: list[ModelFigures]
    worst_sources: list[SourceFigures]
    alerts: list[RaisedAlert]
    backlog: Backlog
    dead_letters: int
    lag: dict[str, int] | None = Field(description="Records that each agent is behind; null where no agents run here.")


@router.get("", responses=documented(401, 403, 422, 429, 503))
async def get_overview(
    principal: Reader,
    resources: Shared,
    period: Annotated[PeriodName, Query(description="Up to now.")] = "24h",
    tenant: Tenant = None,
) -> Overview:
    """Throughput, risk, quality, models, worst sources, alerts and backlog of a period."""
    return await overview_of(principal, resources, period, tenant)


async def overview_of(principal: Principal, resources: Shared, period: PeriodName, tenant: str | None) -> Overview:
    """The figures that a principal may see.

    Raises:
        Problem: 403, the tenant is another's.
    """
    until = resources.now()
    since = until - PERIODS[period]
    found = await resources.overview.overview(principal.chosen_tenants(tenant), since, until)
    backlog = found.backlog | {"oldest_at": found.backlog["oldest_at"] if found.backlog["open"] else None}
    return Overview(
        since=since,
        until=until,
        bucket_seconds=found.bucket_seconds,
        totals=Figures.model_validate(_finite(found.totals)),
        series=[Point.model_validate(_finite(row)) for row in found.series],
        models=[ModelFigures.model_validate(_finite(row)) for row in found.models],
        worst_sources=[SourceFigures.model_validate(row) for row in found.sources],
        alerts=[RaisedAlert.model_validate(row) for row in found.alerts],
        backlog=Backlog.model_validate(backlog),
        dead_letters=found.dead_letters,
        # Dead letters and lag are of the deployment, not of a tenant.
        lag=dict(resources.lag()) if resources.lag else None,
    )


def _finite(row: dict[str, object]) -> dict[str, object]:
    """A row with null for the mean of nothing, which is NaN."""
    return {name: None if value != value else value for name, value in row.items()}
