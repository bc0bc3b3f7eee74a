"""Keep the tables of memory fast and small: indices, compaction, retention.

One worker does this for all (``workers.agents.tasks.memory_keeper``). Rows that no index has yet are found as well:
LanceDB searches them one by one, so a search is right at any time and slow until the next round.
"""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from importlib import import_module
from math import ceil
from typing import Any

import pyarrow as pa

from workers.stores.lancedb.memory_rows import question_digest

COMPACT_EVERY = 25
"""Versions of a table between two compactions. Each write makes a file and a version, and a look-up reads each file that
came after the last compaction: 0.2 ms of CPU. Source: measured, docs/decisions/0090-compaction-of-memory.md."""
UNINDEXED_ROWS = 2_000
"""Number of rows without index from which they are added to the indices. Each look-up scans them: 16,000 of them make
one six times as expensive. Source: measured, docs/decisions/0089-bounded-look-ups.md."""
VECTOR_SEGMENTS = 40
"""Number of segments from which the index of vectors is built again. Each compaction adds one; a search by meaning asks
all of them, 0.4 ms of CPU each, and files of different segments are not compacted. Source: as COMPACT_EVERY."""
EARLIER_VERSIONS = timedelta(minutes=10)
"""Age up to which earlier versions of files are kept: another process may be reading them."""
VECTORS_FROM = 20_000
"""Number of turns from which the vectors get an index. A scan of fewer takes less than a tenth of a second."""
ROWS_AT_ONCE = 1_000
"""Number of rows that are read and written at once."""

SCALAR = {
    "question": "BTree", "turn_id": "BTree", "answer_id": "BTree", "session_id": "BTree", "user_id": "BTree",
    "timestamp": "BTree", "tenant": "Bitmap",
}  # fmt: skip
"""Indices of columns that turns are looked up by."""

Upsert = Callable[[pa.Table], Awaitable[int]]


async def build_indices(turns: Any, feedback: Any) -> list[str]:
    """Create missing indices and that of vectors with too many segments, and return the names of their columns."""
    # Imported here: see workers.stores.lancedb.memory_store.connect.
    kinds = import_module("lancedb.index")
    built = []
    there = {column: index for index in await turns.list_indices() for column in index.columns}
    for column, kind in SCALAR.items():
        if column not in there:
            await turns.create_index(column, config=getattr(kinds, kind)())
            built.append(column)
    if "vector" in there:
        wanted = there["vector"].num_segments >= VECTOR_SEGMENTS
    else:
        wanted = await turns.count_rows() >= VECTORS_FROM
    if wanted:
        # One bit for each dimension; the nearest are compared again by their vectors.
        dimensions = (await turns.schema()).field("vector").type.list_size
        kind = kinds.IvfSq if dimensions % 8 else kinds.IvfRq
        await turns.create_index("vector", config=kind(distance_type="cosine"))
        built.append("vector")
    if not await feedback.list_indices():
        await feedback.create_index("turn_id", config=kinds.BTree())
    return built


async def unindexed_rows(table: Any) -> int:
    """Return the number of rows that the first index of a table lacks; 0 without an index."""
    indices = await table.list_indices()
    return int((await table.index_stats(indices[0].name)).num_unindexed_rows) if indices else 0


async def digest_questions(turns: Any, upsert: Upsert) -> int:
    """Add the digest of the question to turns of earlier versions, and return their number."""
    count = int(await turns.count_rows("question IS NULL"))
    for _ in range(ceil(count / ROWS_AT_ONCE)):
        rows = await turns.query().where("question IS NULL").limit(ROWS_AT_ONCE).to_arrow()
        pairs = zip(rows["tenant"].to_pylist(), rows["query"].to_pylist(), strict=True)
        digests = pa.array([question_digest(tenant, query or "") for tenant, query in pairs], pa.string())
        await upsert(rows.set_column(rows.schema.get_field_index("question"), rows.schema.field("question"), digests))
    return count


async def remove_before(turns: Any, feedback: Any, since: datetime) -> int:
    """Remove turns from before a time with their feedback, and return their number."""
    old = f"timestamp < TIMESTAMP '{since.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f}+00:00'"
    count = 0
    while True:
        rows = await turns.query().where(old).select(["turn_id"]).limit(ROWS_AT_ONCE).to_arrow()
        if not rows.num_rows:
            return count
        named = "turn_id IN ({})".format(", ".join(f"'{name}'" for name in rows["turn_id"].to_pylist()))
        await feedback.delete(named)
        # The time is asked once more: the turn may have been replaced by a later one meanwhile.
        await turns.delete(f"{named} AND {old}")
        count += rows.num_rows
