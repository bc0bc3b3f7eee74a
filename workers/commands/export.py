"""``touchstone export``: what reviewers have said, for those who measure and train."""

import asyncio
import gzip
import os
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, BinaryIO, cast

import orjson
import typer

from schemas.review import ReviewDecision, ReviewRequest
from workers.addresses import adapted, find_addresses
from workers.commands.dead_letters import read_time
from workers.commands.output import console, print_json, read_settings
from workers.delivery.errors import TouchstoneError
from workers.settings import Settings
from workers.steps.labels import claim_rows, label_row
from workers.stores.analytics import connect
from workers.stores.reviews import ReviewStore

app = typer.Typer(no_args_is_help=True, help="Export what people have said.")


@app.callback()
def _group() -> None:
    """A group, so that further exports do not change the name of this one."""


@app.command("labels")
def labels(
    file: Annotated[Path, typer.Argument(help="Where to write: .jsonl, or .jsonl.gz. It must not be there.")],
    since: Annotated[
        str | None, typer.Option(help="Decided then or later: ISO 8601 (UTC if it names no zone) or 30d.")
    ] = None,
    tenant: Annotated[str, typer.Option(help="Of this tenant; all together by default.")] = "",
    claims: Annotated[bool, typer.Option("--claims", help="One row a judged claim, in place of an answer.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Write reviewers' decisions as labelled answers, which the evaluation reads.

    A label is 1 where a reviewer found a claim contradicted or unsupported, and 0 where the answer was
    approved as it was. Decisions that say neither are left out and counted.

    Examples:
      touchstone export labels reviewed.jsonl.gz --since 30d
      touchstone export labels claims.jsonl --claims --tenant acme
    """
    settings = read_settings(quiet=True)
    start = read_time(since, datetime.now(UTC), "--since") or datetime.fromtimestamp(0, UTC)
    addresses = find_addresses(settings, ["clickhouse"])
    counts = asyncio.run(_write(adapted(settings, addresses), addresses.clickhouse, file, start, tenant, claims=claims))
    written = counts.pop("written", 0)
    if as_json:
        print_json({"file": str(file), "written": written, "left_out": dict(counts)})
        return
    console.print(f"{written} rows → {file}", highlight=False)
    for reason, count in sorted(counts.items()):
        console.print(f"{count} decisions left out: {reason}", highlight=False)


async def _write(
    settings: Settings, url: str, file: Path, since: datetime, tenant: str, *, claims: bool
) -> Counter[str]:
    client = await connect(settings.clickhouse, url)
    counts: Counter[str] = Counter()
    try:
        with _private(file) as out:
            async for decision, request in _decided(ReviewStore(client, settings.clickhouse.database), since, tenant):
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
) -> AsyncIterator[tuple[ReviewDecision, ReviewRequest]]:
    last = ""
    while page := await store.final_decisions(since, tenant=tenant, after=last):
        requests = await store.requests([decision.review_id for decision, _ in page])
        for decision, _ in page:
            if decision.review_id in requests:
                yield decision, requests[decision.review_id]
        last = page[-1][1]


@contextmanager
def _private(file: Path) -> Iterator[BinaryIO]:
    """A new file for its owner's eyes: it holds what answers and sources hold."""
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise TouchstoneError(f"{file} cannot be written ({error.strerror}); name a file that is not there") from error
    with os.fdopen(handle, "wb") as raw:
        if file.suffix != ".gz":
            yield raw
            return
        with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
            yield cast(BinaryIO, packed)
