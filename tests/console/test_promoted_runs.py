"""The overview says whose figures it shows, and which replays dashboards show instead."""

from datetime import UTC, datetime, timedelta

from tests.harness.console import ConsoleThread
from workers.stores.clickhouse.row_reading import ask

PAGE = {"Accept": "text/html"}


def test_the_overview_names_the_live_run_and_the_replays_that_dashboards_show(console: ConsoleThread) -> None:
    client = console.client("read")
    assert "figures of the live run" in client.get("/", headers=PAGE).text
    hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    rows = [
        ("promoted-tenant", hour - timedelta(hours=3), "of-today"),
        ("promoted-tenant", hour - timedelta(hours=2), "of-today"),
        ("promoted-tenant", hour - timedelta(days=20), "of-last-month"),
        ("acme", hour - timedelta(hours=2), "of-others"),
    ]
    database = console.settings.clickhouse.database
    values = ", ".join(f"('{tenant}', '{at:%Y-%m-%d %H:%M:%S}', '{run}')" for tenant, at, run in rows)
    statement = f"INSERT INTO {database}.promoted_hours (tenant, hour, run) VALUES {values}"
    console.call(console.resources.analytics.client.command(f"SYSTEM STOP VIEW {database}.promoted_hours_refresh"))
    try:
        console.call(console.resources.analytics.client.command(statement))
        stored = console.call(ask(console.resources.analytics, f"SELECT count() FROM {database}.promoted_hours", {}))
        assert stored[0][0] == len(rows)
        found = client.get("/api/overview", params={"tenant": "promoted-tenant"}).raise_for_status().json()["promoted"]
        assert [(each["run"], each["hours"]) for each in found] == [("of-today", 2)]
        times = [datetime.fromisoformat(found[0][name]) for name in ("first", "until")]
        assert times == [hour - timedelta(hours=3), hour - timedelta(hours=1)]
        page = client.get("/", params={"tenant": "promoted-tenant"}, headers=PAGE).text
        assert "the replay <code>of-today</code> for 2 hours" in page
        assert "of-others" not in page and "of-last-month" not in page
    finally:
        console.call(console.resources.analytics.client.command(f"TRUNCATE TABLE {database}.promoted_hours"))
        console.call(console.resources.analytics.client.command(f"SYSTEM START VIEW {database}.promoted_hours_refresh"))
