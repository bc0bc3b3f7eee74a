"""Serve the overview: throughput, quality, delay and backlog of a period."""

from datetime import datetime, timedelta
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from workers.console.http.problems import documented
from workers.console.http.requests import StrictRoute
from workers.console.identity.principal import Principal
from workers.console.identity.security import Reader
from workers.console.resources import Shared
from workers.console.routes.answers import Tenant

router = APIRouter(prefix="/api/overview", tags=["overview"], route_class=StrictRoute)

PERIODS = {"1h": timedelta(hours=1), "24h": timedelta(hours=24), "7d": timedelta(days=7), "30d": timedelta(days=30)}
PeriodName = Literal["1h", "24h", "7d", "30d"]


class Figures(BaseModel):
    """Counts and means of a set of answers; a mean is null if no answer was evaluated."""

    answers: int
    low: int = Field(description="Number of answers by hallucination risk.")
    medium: int
    high: int
    without_risk: int = Field(
        description="Number of answers without a risk, of which nothing was compared with a source; with the three risks they are all."
    )
    degraded: int
    unevaluated: int = Field(
        description="Number of answers that were shown to readers without an evaluation of their grounding and without a decision of a person before."
    )
    reviewed: int = Field(description="Number of answers sent to review.")
    grounding: float | None
    quality: float | None
    gate: float | None
    cost: float | None = Field(
        description="Cost of the answers whose model has a price and whose tokens are known, in the currency of the "
        "overview; null if there is none."
    )
    costed: int = Field(description="Number of answers behind the cost.")


class Point(Figures):
    """A point in time of the charts."""

    at: datetime
    delay_p50: float = Field(description="Median seconds from answer to evaluation.")
    delay_p95: float


class ModelFigures(Figures):
    """Figures of one model."""

    model_id: str
    latency_p50: float | None
    reward: float | None = Field(
        description="Mean reward of answers with feedback of readers. Answers that a reviewer decided or voted on are left out."
    )
    rewarded: int = Field(description="Number of answers behind the reward.")


class ModelPoint(BaseModel):
    """Figures of one model in an interval of the charts."""

    at: datetime
    model_id: str
    answers: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None = Field(description="Cost of the answers whose tokens are known; null without a price.")


class SourceFigures(BaseModel):
    """A source that does not support the claims that cite it."""

    name: str
    source_type: str
    citations: int
    answers: int
    unsupported: int = Field(description="Number of claims that cite the source without support.")
    citation_id: str = Field(description="The latest citation of the source by such a claim.")


class RaisedAlert(BaseModel):
    """A raised alert."""

    alert_type: str
    severity: str
    message: str
    answer_id: str
    tenant: str
    raised_at: datetime


class Backlog(BaseModel):
    """Requests that wait for reviewers."""

    open: int
    held: int = Field(description="Number of requests whose readers wait.")
    oldest_at: datetime | None
    decided: int


class PromotedRun(BaseModel):
    """A replay whose figures dashboards show instead of those of the live run."""

    run: str
    hours: int = Field(description="Number of hours, counted for each tenant, within the period.")
    first: datetime
    until: datetime


class Overview(BaseModel):
    """Figures of the live run in a period."""

    since: datetime
    until: datetime
    bucket_seconds: int
    totals: Figures
    series: list[Point]
    models: list[ModelFigures]
    model_series: list[ModelPoint] = Field(
        description="The five models with the most answers and the five with the highest cost, over time."
    )
    currency: str | None = Field(description="Currency of the cost; null if no prices are set.")
    worst_sources: list[SourceFigures]
    alerts: list[RaisedAlert]
    backlog: Backlog
    dead_letters: int
    promoted: list[PromotedRun] = Field(
        description="Replays that dashboards show for hours of this period; the figures here are those of the live run."
    )
    lag: dict[str, int] | None = Field(
        description="Lag of each agent in records; null if no agents run in this process."
    )


@router.get("", responses=documented(401, 403, 422, 429, 503))
async def get_overview(
    principal: Reader,
    resources: Shared,
    period: Annotated[PeriodName, Query(description="Length of the period, which ends now.")] = "24h",
    tenant: Tenant = None,
) -> Overview:
    """Return throughput, risk, quality, cost, models, worst sources, alerts and backlog of a period."""
    return await overview_of(principal, resources, period, tenant)


async def overview_of(principal: Principal, resources: Shared, period: PeriodName, tenant: str | None) -> Overview:
    """Return the figures of the tenants that the principal may see.

    Raises:
        Problem: 403, the token does not include the tenant.
    """
    until = resources.now()
    since = until - PERIODS[period]
    prices = resources.settings.prices
    found = await resources.overview.overview(
        principal.chosen_tenants(tenant),
        since,
        until,
        {name: (price.input, price.output) for name, price in prices.models.items()},
    )
    backlog = found.backlog | {"oldest_at": found.backlog["oldest_at"] if found.backlog["open"] else None}
    return Overview(
        since=since,
        until=until,
        bucket_seconds=found.bucket_seconds,
        totals=Figures.model_validate(_finite(found.totals)),
        series=[Point.model_validate(_finite(row)) for row in found.series],
        models=[ModelFigures.model_validate(_finite(row)) for row in found.models],
        model_series=[ModelPoint.model_validate(row) for row in found.model_series],
        currency=prices.currency if prices.models else None,
        worst_sources=[SourceFigures.model_validate(row) for row in found.sources],
        alerts=[RaisedAlert.model_validate(row) for row in found.alerts],
        backlog=Backlog.model_validate(backlog),
        dead_letters=found.dead_letters,
        promoted=[PromotedRun.model_validate(row) for row in found.promoted],
        # Dead letters and lag belong to the deployment, not to a tenant.
        lag=dict(await resources.lag()) if resources.lag else None,
    )


def _finite(row: dict[str, object]) -> dict[str, object]:
    """Replace NaN, the mean of an empty set, by ``None``."""
    return {name: None if value != value else value for name, value in row.items()}
