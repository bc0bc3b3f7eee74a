"""Requests that a query of the queue leaves out."""

from urllib.parse import quote
from uuid import uuid4

from workers.stores.queries.reviews.review_queries import _without


def test_requests_to_leave_out_are_sent_in_values_that_clickhouse_takes() -> None:
    names = [str(uuid4()) for _ in range(4_000)]
    conditions, parameters = _without(names, ["state = 'open'"], {"tenants": ["acme"]})
    parts = [value for name, value in parameters.items() if name != "tenants"]
    assert [name for part in parts for name in part] == names
    # ClickHouse refuses values of 128 KiB and more, as they are sent.
    assert max(len(quote(repr(part))) for part in parts) < 128 * 1024
    assert all(f"{{{name}:" in each for name, each in zip(list(parameters)[1:], conditions[1:], strict=True))
    assert _without([], ["state = 'open'"], {}) == (["state = 'open'"], {})
