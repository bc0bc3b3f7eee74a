"""Serve the settings of pipeline versions: which rules, limits and effects held, from when until when, and what changed."""

from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Any

import pyarrow as pa
from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.responses import StreamingResponse

from workers.console.http.paging import Cursor, Limit, encode_cursor, place_of
from workers.console.http.problems import Problem, documented
from workers.console.http.requests import StrictRoute
from workers.console.http.table_files import MEDIA_TYPES, FileFormat, encoded
from workers.console.identity.principal import Principal
from workers.console.identity.security import Admin
from workers.console.presentation.audit.settings_views import (
    SettingsPage,
    UsedSettings,
    VersionSettings,
    used_settings,
    version_settings,
)
from workers.console.presentation.audit.version_settings import Viewer, settings_of
from workers.console.resources import Shared
from workers.console.routes.answers import Tenant
from workers.stores.queries.answer_queries import Place
from workers.stores.queries.version_queries import START, UsedVersion

router = APIRouter(prefix="/api/audit/settings", tags=["audit"], route_class=StrictRoute)

MOST_PERIODS = 100
"""Maximum number of periods of use of a version."""
EXPORT_BATCH = 50
"""Number of versions that are read and written at once: one has about 20 kB of settings."""

_TIME = pa.timestamp("ms", tz="UTC")
SCHEMA = pa.schema(
    [
        ("version", pa.string()),
        ("first_used", _TIME),
        ("last_used", _TIME),
        ("answers", pa.int64()),
        ("last_started", _TIME),
        ("recorded", pa.bool_()),
        ("effects_recorded", pa.bool_()),
        ("version_before", pa.string()),
        ("changes", pa.list_(pa.string())),
        ("settings", pa.list_(pa.string())),
    ]
)
"""Columns of the file, in their order."""

Version = Annotated[
    str, Path(min_length=1, max_length=200, description="Name of a pipeline version, as answers have it.")
]


KNOWN = frozenset({"tenant", "cursor", "limit", "format"})
"""Parameters of these routes."""


def refuse_unknown_filters(request: Request) -> None:
    """Refuse parameters that no filter has: a file of everything would pass for that of a tenant.

    Raises:
        Problem: 422, a parameter is unknown.
    """
    if unknown := sorted(set(request.query_params) - KNOWN):
        raise Problem(422, f"{', '.join(unknown)}: there is no such filter; use {', '.join(sorted(KNOWN))}")


KNOWN_FILTERS = [Depends(refuse_unknown_filters)]


@router.get("", dependencies=KNOWN_FILTERS, responses=documented(401, 403, 422, 429, 503))
async def audit_settings(
    principal: Admin, resources: Shared, tenant: Tenant = None, cursor: Cursor = None, limit: Limit = 50
) -> SettingsPage:
    """List the pipeline versions that decided on answers, with their changes; the one that was first used last first."""
    return await listed_settings(resources, principal, tenant, cursor, limit)


@router.get(
    "/export",
    dependencies=KNOWN_FILTERS,
    responses=documented(401, 403, 422, 429, 503),
    response_class=StreamingResponse,
)
async def export_settings(
    principal: Admin,
    resources: Shared,
    tenant: Tenant = None,
    form: Annotated[FileFormat, Query(alias="format", description="Format of the file.")] = "csv",
) -> StreamingResponse:
    """Download the versions that decided on answers with all their settings and changes in words, the latest first."""
    tenants = principal.chosen_tenants(tenant)
    # A store that does not respond is reported as such, and not as a file that ends early.
    number = await resources.versions.number(tenants)
    return StreamingResponse(
        encoded(form, SCHEMA, _batches(resources, principal, tenants)),
        media_type=MEDIA_TYPES[form],
        headers={
            "Content-Disposition": f'attachment; filename="touchstone-settings.{form}"',
            "X-Rows": str(number),
        },
    )


@router.get("/{version}", dependencies=KNOWN_FILTERS, responses=documented(401, 403, 404, 422, 429, 503))
async def audit_version(
    principal: Admin, resources: Shared, version: Version, tenant: Tenant = None
) -> VersionSettings:
    """Return a pipeline version with the settings by which it decided: rules with their effects, limits, overrides, texts."""
    return await found_settings(resources, principal, version, tenant)


def viewer_of(principal: Principal, tenants: Sequence[str]) -> Viewer:
    """Return whose settings the caller may see."""
    return Viewer(tenants, everything=not principal.tenants)


async def listed_settings(
    resources: Shared, principal: Principal, tenant: str | None, cursor: str | None, limit: int
) -> SettingsPage:
    """Return a page of versions.

    Raises:
        Problem: 403, the token does not include the tenant; 422, the cursor is malformed.
    """
    tenants = principal.chosen_tenants(tenant)
    found = await resources.versions.used(tenants, limit + 1, place_of(cursor))
    items = _described(found, limit, viewer_of(principal, tenants))
    last = found[limit - 1] if len(found) > limit else None
    return SettingsPage(items=items, next_cursor=encode_cursor([last.first_ms, last.version]) if last else None)


async def found_settings(resources: Shared, principal: Principal, version: str, tenant: str | None) -> VersionSettings:
    """Return a version with its settings.

    Raises:
        Problem: 403, the token does not include the tenant; 404, the version decided on no answer of the tenants.
    """
    tenants = principal.chosen_tenants(tenant)
    found = await resources.versions.used(tenants, 1, version=version)
    if not found:
        raise Problem(404, "no answer of these tenants was decided by a pipeline version of this name")
    before = await resources.versions.used(tenants, 1, Place(found[0].first_ms, version))
    periods = await resources.versions.periods(version, tenants, MOST_PERIODS)
    return version_settings(found[0], before[0] if before else None, periods, viewer_of(principal, tenants))


def _described(found: Sequence[UsedVersion], limit: int, viewer: Viewer) -> list[UsedSettings]:
    """Describe versions, each beside the one that follows in the list."""
    return [
        used_settings(used, before, viewer) for used, before in zip(found[:limit], [*found[1:], None], strict=False)
    ]


async def _batches(
    resources: Shared, principal: Principal, tenants: Sequence[str]
) -> AsyncIterator[list[dict[str, Any]]]:
    viewer, after = viewer_of(principal, tenants), START
    while found := await resources.versions.used(tenants, EXPORT_BATCH + 1, after):
        yield [
            item.model_dump()
            | {
                "changes": [change.words for change in item.changes or []],
                "settings": [f"{each.title}: {each.value}" for each in settings_of(used.parts or {}, viewer).values()],
            }
            for item, used in zip(_described(found, EXPORT_BATCH, viewer), found, strict=False)
        ]
        if len(found) <= EXPORT_BATCH:
            return
        after = Place(found[EXPORT_BATCH - 1].first_ms, found[EXPORT_BATCH - 1].version)
