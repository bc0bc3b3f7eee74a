"""Provide ``touchstone export``, which writes reviewers' decisions for evaluation and training."""

import asyncio
import gzip
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, BinaryIO, cast

import orjson
import typer

from schemas.review import ReviewDecision, ReviewRequest
from workers.cli.output import console, print_json, read_settings
from workers.cli.time_option import read_time
from workers.errors import TouchstoneError
from workers.process.private_files import complete_file
from workers.review.reviewer_labels import claim_rows, label_row, preference_row
from workers.settings import Settings
from workers.settings.addresses import apply_local_defaults, find_addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore, connect
from workers.stores.queries.reviews.review_queries import ReviewStore

GONE = "the review request is gone"
"""Reason of decisions whose request was removed by its retention or an erasure."""

app = typer.Typer(no_args_is_help=True, help="Export reviewers' decisions.")


@app.command("labels")
def labels(
    file: Annotated[Path, typer.Argument(help="File to create: .jsonl or .jsonl.gz. It must not exist.")],
    since: Annotated[
        str | None,
        typer.Option(
            help="Only decisions of this time or later: ISO 8601 (UTC without a time zone) or an age such as 30d."
        ),
    ] = None,
    tenant: Annotated[str, typer.Option(help="Only decisions of this tenant; by default all tenants.")] = "",
    claims: Annotated[
        bool, typer.Option("--claims", help="Write one row per evaluated claim instead of one per answer.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Write reviewers' decisions as labelled answers for `touchstone eval` and `touchstone calibrate`.

    The label is 1 if a reviewer found a claim contradicted or unsupported, and 0 if the answer was
    approved unchanged. Other decisions are left out and counted.

    Examples:
      touchstone export labels reviewed.jsonl.gz --since 30d
      touchstone export labels claims.jsonl --claims --tenant acme
    """
    settings = read_settings(quiet=True)
    start = read_time(since, datetime.now(UTC), "--since") or datetime.fromtimestamp(0, UTC)
    addresses = find_addresses(settings, ["clickhouse"])
    counts = asyncio.run(
        _write(apply_local_defaults(settings, addresses), addresses.clickhouse, file, start, tenant, claims=claims)
    )
    _report(file, counts, as_json=as_json)


@app.command("preferences")
def preferences(
    file: Annotated[Path, typer.Argument(help="File to create: .jsonl or .jsonl.gz. It must not exist.")],
    since: Annotated[
        str | None,
        typer.Option(
            help="Only decisions of this time or later: ISO 8601 (UTC without a time zone) or an age such as 30d."
        ),
    ] = None,
    tenant: Annotated[str, typer.Option(help="Only decisions of this tenant; by default all tenants.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Write corrected answers as preference pairs: the correction is chosen, the answer of the model rejected.

    Examples:
      touchstone export preferences pairs.jsonl --since 30d
    """
    settings = read_settings(quiet=True)
    start = read_time(since, datetime.now(UTC), "--since") or datetime.fromtimestamp(0, UTC)
    addresses = find_addresses(settings, ["clickhouse"])
    counts = asyncio.run(
        _write_preferences(apply_local_defaults(settings, addresses), addresses.clickhouse, file, start, tenant)
    )
    _report(file, counts, as_json=as_json)


def _report(file: Path, counts: Counter[str], *, as_json: bool) -> None:
    written = counts.pop("written", 0)
    if as_json:
        print_json({"file": str(file), "written": written, "left_out": dict(counts)})
        return
    console.print(f"{written} rows → {file}", highlight=False)
    for reason, count in sorted(counts.items()):
        console.print(f"{count} decisions left out: {reason}", highlight=False)


async def _write_preferences(settings: Settings, url: str, file: Path, since: datetime, tenant: str) -> Counter[str]:
    client, database = await connect(settings.clickhouse, url), settings.clickhouse.database
    counts: Counter[str] = Counter()
    try:
        with _new_file(file) as out:
            async for decision, request in _decided(
                ReviewStore(AnalyticsStore(client, database), database), since, tenant
            ):
                if request is None:
                    counts[GONE] += 1
                elif (row := preference_row(decision, request)) is not None:
                    out.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
                    counts["written"] += 1
    finally:
        await client.close()
    return counts


async def _write(
    settings: Settings, url: str, file: Path, since: datetime, tenant: str, *, claims: bool
) -> Counter[str]:
    client, database = await connect(settings.clickhouse, url), settings.clickhouse.database
    analytics = AnalyticsStore(client, database)
    counts: Counter[str] = Counter()
    try:
        with _new_file(file) as out:
            async for decision, request in _decided(ReviewStore(analytics, database), since, tenant):
                if request is None:
                    counts[GONE] += 1
                    continue
                rows = list(claim_rows(decision, request)) if claims else [label_row(decision, request)]
                for row in rows:
                    if isinstance(row, str):
                        counts[row] += 1
                    else:
                        out.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
                        counts["written"] += 1
                if not rows:
                    counts["no verdict"] += 1
    finally:
        await client.close()
    return counts


async def _decided(
    store: ReviewStore, since: datetime, tenant: str
) -> AsyncIterator[tuple[ReviewDecision, ReviewRequest | None]]:
    last = "", ""
    while page := await store.final_decisions(since, tenant=tenant, after=last):
        requests = await store.requests([name for _, name in page])
        for decision, name in page:
            yield decision, requests.get(name)
        last = page[-1][1]


@contextmanager
def _new_file(file: Path) -> Iterator[BinaryIO]:
    """Write a new file, plain or gzip, that is there once it is complete."""
    if file.exists():
        raise TouchstoneError(f"{file} exists; choose a new file in a writable folder")
    try:
        with complete_file(file) as raw:
            if file.suffix != ".gz":
                yield raw
                return
            with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
                yield cast(BinaryIO, packed)
    except OSError as error:
        raise TouchstoneError(
            f"{file} cannot be written ({error.strerror}); choose a new file in a writable folder"
        ) from error
