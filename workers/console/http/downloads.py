"""Send rows as a file: its name says what was chosen, and its number of rows is bounded."""

import hashlib
import re
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime, time, timedelta

import pyarrow as pa
from fastapi import Request
from pydantic import BaseModel
from starlette.responses import StreamingResponse

from workers.console.http.problems import Problem
from workers.console.http.table_files import MEDIA_TYPES, FileFormat, Rows, encoded
from workers.stores.queries.answer_queries import Period
from workers.stores.queries.searched_texts import without_accents

MAX_ROWS = 500_000
"""Maximum number of rows of a file: a year of a large team."""
MAX_PART, MAX_NAME = 40, 150
"""Maximum length of a filter, and of all of them, in the name of a file; file systems allow 255 bytes."""
UNNAMED: Mapping[str, str] = {"q": "words", "user": "one-user", "answer_id": "one-answer"}
"""Filters whose value is left out: it may name a person, and the name of a file is seen by others."""
_UNSAFE = re.compile(r"[^A-Za-z0-9_]+")


def refuse_unknown_filters(request: Request, model: type[BaseModel]) -> None:
    """Refuse parameters that no filter has: a file of everything would pass for that of a person.

    Raises:
        Problem: 422, a parameter is unknown.
    """
    known = {*model.model_fields, "cursor", "limit", "format"}
    if unknown := sorted(set(request.query_params) - known):
        raise Problem(422, f"{', '.join(unknown)}: there is no such filter; use {', '.join(sorted(known))}")


def refuse_too_many(found: int) -> None:
    """Refuse a file with too many rows: one that is cut would pass for a whole one.

    Raises:
        Problem: 422, more rows match than a file has.
    """
    if found > MAX_ROWS:
        raise Problem(422, f"{found} rows match, and a file has at most {MAX_ROWS}; choose a shorter period")


def download(
    name: str, form: FileFormat, schema: pa.Schema, batches: AsyncIterator[Rows], headers: Mapping[str, str]
) -> StreamingResponse:
    """Return rows as a file.

    Args:
        name: name without its ending.
        form: format of the file.
        schema: columns and their types.
        batches: the rows.
        headers: further headers of the response.
    """
    return StreamingResponse(
        encoded(form, schema, batches),
        media_type=MEDIA_TYPES[form],
        headers={"Content-Disposition": f'attachment; filename="{name}.{form}"', **headers},
    )


def file_name(kind: str, filters: BaseModel, period: Period) -> str:
    """Return the name of a file without its ending: what it holds, by which filters, and of which days.

    It has letters and digits of ASCII, ``_`` and ``-`` alone. A time that is no midnight has its hour and minute, and the end of a
    period that is a midnight is written as the day before, which is the last one.
    """
    given = filters.model_dump(mode="json", exclude_defaults=True, exclude={"since", "until", "tenant"})
    tenant = getattr(filters, "tenant", None)
    chosen = [
        UNNAMED[field] if field in UNNAMED else f"{field}-{_safe(value)}"
        for field, value in given.items()
        if value != ""
    ]
    parts = [kind, *([_safe(tenant)] if tenant else []), *chosen]
    return "-".join(["-".join(parts)[:MAX_NAME].rstrip("-"), *_days(period)])


def _safe(value: object) -> str:
    """Return a value in safe letters; one without any gets the beginning of its digest."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    safe = _UNSAFE.sub("-", without_accents(text)).strip("-")[:MAX_PART]
    return safe or hashlib.sha256(text.encode()).hexdigest()[:8]


def _days(period: Period) -> list[str]:
    begin = _time(period.since) if period.since else "until"
    if period.until is None:
        return [begin] if period.since else []
    until = period.until.astimezone(UTC)
    return [begin, _time(until - timedelta(days=1) if until.time() == time() else until)]


def _time(at: datetime) -> str:
    at = at.astimezone(UTC)
    return f"{at:%Y-%m-%d}" if at.time() == time() else f"{at:%Y-%m-%dT%H%MZ}"
