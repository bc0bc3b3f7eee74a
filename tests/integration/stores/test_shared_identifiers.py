"""Figures and insights of one tenant are made of that tenant's rows, also where another uses the same identifier."""

from datetime import UTC, datetime, timedelta
from uuid import NAMESPACE_OID, uuid5

import pytest

from workers.settings import Settings
from workers.stores.clickhouse.analytics_store import AnalyticsStore
from workers.stores.queries.answer_queries import AnswerFilter, AnswerStore, Period, Place
from workers.stores.queries.audit_queries import AuditFilter, AuditStore
from workers.stores.queries.dead_letter_queries import DeadLetterStore, LetterFilter
from workers.stores.queries.overview_queries import OverviewStore
from workers.stores.queries.rating_queries import RatingStore

NOW = datetime(2026, 11, 2, 12, tzinfo=UTC)
AT = "2026-11-02 11:00:00.000"
PERIOD = (NOW - timedelta(days=1), NOW)


@pytest.fixture
async def shared(analytics: AnalyticsStore) -> AnalyticsStore:
    """Two tenants with an answer of the same identifier; one of them is rated."""
    both = [{"tenant": tenant, "answer_id": "shared", "completed_at": AT} for tenant in ("acme", "globex")]
    await analytics.insert("answers", [row | texts(row["tenant"]) for row in both])
    cited = {"citation_id": "c", "valid": True, "number": 1}
    await analytics.insert("citations", [row | cited | {"source_name": f"of-{row['tenant']}"} for row in both])
    await analytics.insert("claims", [row | {"claim_id": "k", "cited_unsupported": [1]} for row in both])
    reward = {"explicit_reward": 0.25, "reward": 0.25, "revision": 1, "answered_at": AT, "model_id": "of-acme"}
    await analytics.insert("rewards", [{"answer_id": "shared", "tenant": "acme"} | reward])
    return analytics


def texts(tenant: str) -> dict[str, str]:
    name = f"of-{tenant}"
    return {"model_id": name, "query": name, "answer": name, "prompt_version": name, "enriched_at": AT}


async def test_the_overview_mixes_neither_rewards_nor_sources(shared: AnalyticsStore, settings: Settings) -> None:
    store = OverviewStore(shared, settings.clickhouse.database)
    everything = await store.overview([], *PERIOD, {})
    rewards = {row["model_id"]: (row["reward"], row["rewarded"]) for row in everything.models}
    assert rewards == {"of-acme": (0.25, 1), "of-globex": (None, 0)}
    for tenant in ("acme", "globex"):
        found = await store.overview([tenant], *PERIOD, {})
        assert [row["model_id"] for row in found.models] == [f"of-{tenant}"]
        sources = [(row["name"], row["citations"], row["answers"], row["unsupported"]) for row in found.sources]
        assert sources == [(f"of-{tenant}", 1, 1, 1)]


async def test_insights_read_the_answer_and_the_sources_that_were_rated(
    shared: AnalyticsStore, settings: Settings
) -> None:
    store = RatingStore(shared, settings.clickhouse.database)
    (rated,) = await store.rated(*PERIOD, "", 10)
    assert rated.text == "of-acme\nof-acme"
    assert "of-globex" not in str(rated)
    assert rated.facets["source"] == ("of-acme",)


async def test_pages_of_answers_and_of_the_audit_show_the_answers_of_both_tenants(
    shared: AnalyticsStore, settings: Settings
) -> None:
    database = settings.clickhouse.database
    rows = [{"tenant": tenant, "response_id": "shared", "completed_at": AT} for tenant in ("acme", "globex")]
    await shared.insert("citation_logs", rows)
    answers, audit = AnswerStore(shared, database), AuditStore(shared, database)
    for name in ("answers", "citations", "decisions"):

        async def page(after: Place, *, name: str = name, **options: bool) -> tuple[str, Place]:
            match name:
                case "answers":
                    (row,) = await answers.listed(AnswerFilter(), 1, after, **options)
                case "citations":
                    (row,) = await answers.audit([], None, False, Period(), 1, after)
                case _:
                    (row,) = await audit.listed("decisions", AuditFilter(), 1, after)
            time = row["at_ms"] if name == "decisions" else row["completed_ms"]
            return row["tenant"], Place(time, "shared", row["tenant"])

        first, place = await page(Place())
        second, after = await page(place)
        assert {first, second} == {"acme", "globex"}, name
        if name == "answers":
            assert await page(after, back=True) == (first, place)
            # A cursor of an earlier version has no tenant.
            assert (await answers.listed(AnswerFilter(), 1, Place(place.milliseconds, "shared"))) == []


async def test_lists_of_long_identifiers_are_read_in_parts(analytics: AnalyticsStore, settings: Settings) -> None:
    names = [("acme", f"{number} {'é' * 180}") for number in range(400)]
    row = {"completed_at": AT, "trace_id": "t", "state": "released"} | texts("acme")
    await analytics.insert("answers", [row | {"tenant": tenant, "answer_id": name} for tenant, name in names])
    database = settings.clickhouse.database
    assert await AnswerStore(analytics, database).traces(names) == dict.fromkeys(names, "t")
    assert (await AuditStore(analytics, database).answers(names)).keys() == set(names)


async def test_many_dead_letters_are_named_at_once(analytics: AnalyticsStore, settings: Settings) -> None:
    names = [str(uuid5(NAMESPACE_OID, str(number))) for number in range(4_000)]
    letter = {"topic": "t", "partition": 0, "agent": "a", "failed_at": AT, "headers": "[]"}
    rows = [letter | {"dead_letter_id": name, "offset": offset} for offset, name in enumerate(names)]
    await analytics.insert("dead_letters", rows)
    keys = await DeadLetterStore(analytics.client, settings.clickhouse.database).keys(
        LetterFilter(identifiers=tuple(names))
    )
    assert {key.dead_letter_id for key in keys} == set(names)
