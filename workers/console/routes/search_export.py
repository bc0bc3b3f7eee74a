"""Serve the answers that a search finds as a file."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Annotated

import pyarrow as pa
from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import StreamingResponse

from workers.console.http.downloads import download, file_name, refuse_too_many, refuse_unknown_filters
from workers.console.http.problems import documented
from workers.console.http.requests import StrictRoute
from workers.console.http.table_files import FileFormat
from workers.console.identity.principal import Principal
from workers.console.identity.security import Reader
from workers.console.resources import Shared, blind_of
from workers.console.routes.answers import SearchQuery
from workers.stores.clickhouse.row_reading import Row
from workers.stores.queries.answer_queries import AnswerFilter, Period, Place

router = APIRouter(prefix="/api/search", tags=["answers"], route_class=StrictRoute)

BATCH = 500
"""Number of answers that are read and written at once."""
EXPORTED = "search_export"
"""Kind of the access by which a file of the search was downloaded."""
COUNTED = ("supported", "contradicted", "unsupported")
SCHEMA = pa.schema(
    [
        ("completed_at", pa.timestamp("ms", tz="UTC")),
        *((name, pa.string()) for name in ("tenant", "answer_id", "user_id", "query", "answer", "shown", "state")),
        ("withdrawn", pa.bool_()),
        ("hallucination_risk", pa.string()),
        *((name, pa.float64()) for name in ("grounding_score", "gate_score", "quality_score")),
        *((f"claims_{name}_by_evaluation", pa.int64()) for name in COUNTED),
        ("reasons", pa.list_(pa.string())),
        ("degraded", pa.bool_()),
        *((name, pa.string()) for name in ("model_id", "query_type")),
    ]
)
"""Columns of the file, in their order; texts are their first 300 characters, as in ``/api/answers``."""


def _refuse_unknown(request: Request) -> None:
    refuse_unknown_filters(request, SearchQuery)


@router.get(
    "/export",
    dependencies=[Depends(_refuse_unknown)],
    responses=documented(401, 403, 422, 429, 503),
    response_class=StreamingResponse,
)
async def export_search(
    search: Annotated[SearchQuery, Query()],
    principal: Reader,
    resources: Shared,
    form: Annotated[FileFormat, Query(alias="format", description="Format of the file.")] = "csv",
) -> StreamingResponse:
    """Download the answers that match, the latest first, at most 500,000; the header `X-Rows` has their number."""
    chosen = search.chosen(principal, blind_of(principal, resources))
    # Answers that arrive during the download are left out, so that it ends.
    chosen = replace(chosen, period=Period(chosen.period.since, chosen.period.until or resources.now()))
    found = await resources.answers.count(chosen)
    refuse_too_many(found)
    name = file_name("answers", search, chosen.period)
    return download(name, form, SCHEMA, _batches(resources, principal, chosen), {"X-Rows": str(found)})


async def _batches(resources: Shared, principal: Principal, chosen: AnswerFilter) -> AsyncIterator[list[Row]]:
    after = Place()
    while rows := await resources.answers.listed(chosen, BATCH, after):
        resources.accesses.note_page(principal, EXPORTED, [(row["tenant"], row["answer_id"]) for row in rows])
        yield [_as_written(row) for row in rows]
        after = Place(rows[-1]["completed_ms"], rows[-1]["answer_id"], rows[-1]["tenant"])


def _as_written(row: Row) -> Row:
    counts = {f"claims_{name}_by_evaluation": row[f"claims_{name}"] for name in COUNTED}
    return row | counts | {name: bool(row[name]) for name in ("withdrawn", "degraded")}
