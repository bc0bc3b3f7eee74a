"""Statements about the rows of an answer that count: its claims, and its newest day."""

from workers.stores.tables.answer_tables import ClaimRow
from workers.stores.tables.table_row import select_rows

# The first three key columns of these tables, so that one or two granules are read.
OF_ANSWER = """
tenant = {{tenant:String}} AND toDate(completed_at) = toDate({{completed_at:DateTime64(3, 'UTC')}})
AND answer_id = {{answer_id:String}}
"""

# An answer that came again with another day has a row for each day. It counts with its newest revision alone.
NOT_MOVED = """
(tenant, run, toDate(completed_at), sipHash64(answer_id)) NOT IN (
    SELECT tenant, run, toDate(hour), answer_key FROM {database}.answer_moves FINAL GROUP BY 1, 2, 3, 4 HAVING min(moved)
)
"""

# An earlier evaluation, a less complete one, or that of another text under the same identifier may have found other claims.
# Their rows then keep their version, rank and time. Earlier workers wrote no time.
CURRENT = f"""
pipeline_version = ifNull(
    (SELECT CAST(pipeline_version AS Nullable(String)) FROM {{database}}.answers FINAL WHERE {OF_ANSWER} AND run = {{{{run:String}}}} LIMIT 1),
    pipeline_version
)
AND (rank, enriched_at) = (SELECT max((rank, enriched_at)) FROM {{database}}.claims WHERE {OF_ANSWER} AND run = {{{{run:String}}}})
AND ifNull((SELECT CAST(claims_total AS Nullable(UInt32)) FROM {{database}}.answers FINAL WHERE {OF_ANSWER} AND run = {{{{run:String}}}} LIMIT 1), 1) > 0
"""
OF_TEXT = f"""
ifNull(
    (SELECT CAST(answer AS Nullable(String)) FROM {{database}}.answers FINAL WHERE {OF_ANSWER} AND run = {{{{run:String}}}} LIMIT 1),
    {{{{text:String}}}}
) = {{{{text:String}}}}
"""
CLAIMS = f"{select_rows(ClaimRow)} WHERE {OF_ANSWER} AND run = {{{{run:String}}}} AND {CURRENT} ORDER BY start, end, claim_id"
