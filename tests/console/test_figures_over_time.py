"""Test acceptance and cost over time: counts by day and week, money by model, by tenant."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Browser, expect

from tests.harness.browser import logged_in, needs_browser, serious_violations
from tests.harness.console import ConsoleThread, clock_at, examples
from tests.harness.reviews import review_request, store_decision
from workers.settings import ModelPrice
from workers.stores.clickhouse.rows.clickhouse_rows import enriched_rows
from workers.stores.queries import overview_queries

SUNDAY_NIGHT = datetime(2026, 11, 1, 23, 59, 59, tzinfo=UTC)
MONDAY = datetime(2026, 11, 2, 0, 0, 1, tzinfo=UTC)
WEDNESDAY = datetime(2026, 11, 4, 12, 0, tzinfo=UTC)
TEXT = "Loki needs 2 GiB [1]."

DECISIONS = (
    ("anna", "approve", SUNDAY_NIGHT, "large"), ("anna", "approve", MONDAY, "large"), ("ben", "reject", MONDAY, "large"),
    ("ben", "correct", WEDNESDAY, "small"), ("policy", "reject", WEDNESDAY, "small"),
)  # fmt: skip


@pytest.fixture(scope="module")
def accepted(console: ConsoleThread) -> ConsoleThread:
    """The console with decisions of two people and the policy, a second review, a late decision, and another tenant."""
    store = console.resources.analytics
    for number, (by, action, at, model) in enumerate(DECISIONS):
        request = review_request(number, tenant="accepted", review_id=f"accepted-{number}", model_id=model)
        console.call(store_decision(store, request, by=by, action=action, at=at, corrected_answer=TEXT))
        for ruling in ("second", "late"):
            console.call(store_decision(store, request, ruling=ruling, by=f"{ruling}-{by}", action="reject", at=at))
    other = review_request(1, tenant="not-accepted", review_id="not-accepted-1")
    console.call(store_decision(store, other, by="anna", at=MONDAY))
    return console


Counts = dict[tuple[str, str | None], tuple[int, int, int]]


def acceptance(console: ConsoleThread, token: str = "accepting", **parameters: str | int) -> Counts:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(console.resources.team, "_now", lambda: WEDNESDAY)
        found = console.client(token).get("/api/reviews/acceptance", params=parameters).raise_for_status().json()
    assert (found["time_zone"], found["until"]) == ("UTC", "2026-11-04")
    return {
        (point["date"], point["name"]): (point["approved"], point["corrected"], point["rejected"])
        for point in found["points"]
    }


def test_final_decisions_of_people_are_counted_by_day_of_utc_and_reviewer(accepted: ConsoleThread) -> None:
    assert acceptance(accepted, by="reviewer") == {
        ("2026-11-01", "anna"): (1, 0, 0), ("2026-11-02", "anna"): (1, 0, 0), ("2026-11-02", "ben"): (0, 0, 1),
        ("2026-11-04", "ben"): (0, 1, 0),
    }  # fmt: skip


def test_weeks_begin_on_monday_and_the_first_one_is_complete(accepted: ConsoleThread) -> None:
    assert acceptance(accepted, by="model", interval="week", days=2) == {
        ("2026-11-02", "large"): (1, 0, 1), ("2026-11-02", "small"): (0, 1, 0),
    }  # fmt: skip
    assert acceptance(accepted, by="model", interval="week", days=4) == {
        ("2026-10-26", "large"): (1, 0, 0), ("2026-11-02", "large"): (1, 0, 1), ("2026-11-02", "small"): (0, 1, 0),
    }  # fmt: skip


def test_decisions_beyond_the_named_ones_are_counted_together(
    accepted: ConsoleThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.stores.queries.reviews.review_team_queries.MOST_NAMES", 1)
    assert acceptance(accepted, by="model") == {
        ("2026-11-01", "large"): (1, 0, 0), ("2026-11-02", "large"): (1, 0, 1), ("2026-11-04", None): (0, 1, 0),
    }  # fmt: skip


def test_acceptance_is_narrowed_to_one_model(accepted: ConsoleThread) -> None:
    assert acceptance(accepted, by="reviewer", model="large") == {
        ("2026-11-01", "anna"): (1, 0, 0), ("2026-11-02", "anna"): (1, 0, 0), ("2026-11-02", "ben"): (0, 0, 1),
    }  # fmt: skip
    assert acceptance(accepted, by="model", model="small") == {("2026-11-04", "small"): (0, 1, 0)}
    assert acceptance(accepted, by="model", model="larg") == {}, "a part of a name is another model"


def test_decisions_are_listed_by_model(accepted: ConsoleThread) -> None:
    client = accepted.client("admin")
    params = {"tenant": "accepted", "model": "small"}
    assert len(client.get("/api/audit/decisions", params=params).json()["items"]) == 6
    assert client.get("/api/audit/decisions/export", params=params).headers["X-Rows"] == "6"
    assert "accesses have no model" in client.get("/api/audit/accesses", params=params).json()["detail"]


@needs_browser
def test_the_chart_of_acceptance_is_narrowed_to_one_model_and_the_address_keeps_it(
    browser: Browser, accepted: ConsoleThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accepted.resources.team, "_now", lambda: WEDNESDAY)
    with logged_in(browser, accepted, "accepting") as (page, seen):
        page.goto("/")
        model = page.get_by_label("Model", exact=True)
        assert model.locator("option").all_inner_texts() == ["all", "large", "small"]
        model.select_option("small")
        page.locator("#accepted-by").select_option("reviewer")
        page.locator("form[action^='/#acceptance'] button").click()
        page.wait_for_url("**accepted_model=small*")
        chart = page.locator("#acceptance")
        expect(chart).to_have_attribute("data-drawn", "true")
        page.get_by_text("Decisions over time as a table").click()
        rows = page.locator("#acceptance-table tbody tr")
        assert [row.split("\t") for row in rows.all_inner_texts()] == [["2026-11-04", "ben", "0", "1", "0", "0 %"]]
        expect(chart.locator(".u-legend")).to_contain_text("ben")
        # Other choices of the page keep it.
        page.get_by_role("link", name="7d").click()
        page.wait_for_url("**period=7d*")
        expect(model).to_have_value("small")
        over = chart.locator(".u-over")
        over.scroll_into_view_if_needed()
        box = over.bounding_box()
        assert box
        over.click(position={"x": box["width"] * 29.5 / 30.0, "y": box["height"] * 0.2})
        page.wait_for_url("**/audit/decisions?**model=small**")
        expect(page.get_by_label("Model")).to_have_value("small")
        assert seen.complaints == []


def test_acceptance_of_another_tenant_is_refused_and_of_one_of_several_chosen(accepted: ConsoleThread) -> None:
    refused = accepted.client("accepting").get("/api/reviews/acceptance", params={"tenant": "not-accepted"})
    assert refused.status_code == 403
    assert acceptance(accepted, "review", tenant="not-accepted", by="reviewer") == {("2026-11-02", "anna"): (1, 0, 0)}


@needs_browser
def test_acceptance_is_drawn_beside_its_table_and_leads_to_the_decisions(
    browser: Browser, accepted: ConsoleThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accepted.resources.team, "_now", lambda: WEDNESDAY)
    with logged_in(browser, accepted, "accepting") as (page, seen):
        page.goto("/")
        chart = page.locator("#acceptance")
        expect(chart).to_have_attribute("data-drawn", "true")
        page.locator("#accepted-every").select_option("week")
        page.locator("form[action^='/#acceptance'] button").click()
        page.wait_for_url("**accepted_every=week*")
        expect(chart).to_have_attribute("data-drawn", "true")
        page.get_by_text("Decisions over time as a table").click()
        assert [row.split("\t") for row in page.locator("#acceptance-table tbody tr").all_inner_texts()] == [
            ["2026-10-26", "large", "1", "0", "0", "100 %"], ["2026-11-02", "large", "1", "0", "1", "50 %"],
            ["2026-11-02", "small", "0", "1", "0", "0 %"],
        ]  # fmt: skip
        assert serious_violations(page) == []
        over = chart.locator(".u-over")
        over.scroll_into_view_if_needed()
        box, before = over.bounding_box(), page.locator("main").bounding_box()
        assert box
        # The last of the 26 weeks ends at the right edge; half of what was decided on the larger model was approved.
        last_week = {"x": box["width"] * 26.0 / 27.0, "y": box["height"] * 0.5}
        over.hover(position=last_week)
        expect(chart.locator(".u-legend")).to_contain_text("0.50 (1 of 2)")
        expect(chart.locator(".u-legend")).to_contain_text("0.00 (0 of 1)")
        assert page.locator("main").bounding_box() == before, "a hover moves the page"
        over.click(position=last_week)
        page.wait_for_url("**/audit/decisions?**")
        # Two requests of that week and model, each with a final decision, a second review and one that came too late.
        expect(page.locator("#total strong")).to_have_text("6")
        expect(page.get_by_label("Model")).to_have_value("large")
        assert seen.complaints == []


def test_who_may_not_review_sees_no_decisions_of_reviewers(accepted: ConsoleThread) -> None:
    page = accepted.client("read").get("/", headers={"Accept": "text/html"}).raise_for_status().text
    assert "Answers judged by risk" in page
    assert "acceptance" not in page


# ---------------------------------------------------------------- cost

HOUR = datetime(2026, 11, 9, 10, 0, tzinfo=UTC)
CALLS = (
    ("dear", 1_000_000, 200_000, HOUR), ("dear", 500_000, 0, HOUR + timedelta(hours=1)), ("dear", None, None, HOUR),
    ("free", 10_000, 10_000, HOUR), ("unknown", 10_000, 10_000, HOUR), ("unmeasured", None, None, HOUR),
    ("unmeasured", 70, None, HOUR),
)  # fmt: skip
PRICES = {
    "dear": ModelPrice(input=2.5, output=10), "free": ModelPrice(input=0, output=0),
    "unmeasured": ModelPrice(input=1, output=1),
}  # fmt: skip


@pytest.fixture(scope="module")
def called(console: ConsoleThread) -> ConsoleThread:
    """The console with answers of four models at two hours, and one of another tenant."""
    (row,) = (row.columns for row in enriched_rows(console.judge(examples()[0])) if row.table == "answers")

    def answered(
        number: int, tenant: str, model: str, prompt: int | None, completion: int | None, at: datetime
    ) -> dict:
        return dict(row) | {
            "tenant": tenant, "answer_id": f"{tenant}-{number}", "model_id": model, "prompt_tokens": prompt,
            "completion_tokens": completion, "enriched_at": at + timedelta(minutes=1), "completed_at": at,
        }  # fmt: skip

    rows = [answered(number, "priced", *call) for number, call in enumerate(CALLS)]
    rows.append(answered(1, "unpriced", "dear", 1_000_000, 0, HOUR))
    console.call(console.resources.analytics.insert("answers", rows))
    return console


@pytest.fixture
def priced(called: ConsoleThread, monkeypatch: pytest.MonkeyPatch) -> Iterator[ConsoleThread]:
    """The console with prices of three models, two hours later."""
    monkeypatch.setattr(called.settings.prices, "models", PRICES)
    monkeypatch.setattr(called.settings.prices, "currency", "EUR")
    with clock_at(called, HOUR + timedelta(hours=2)):
        yield called


def test_cost_follows_from_tokens_and_prices_and_is_null_where_either_is_missing(priced: ConsoleThread) -> None:
    found = priced.client("priced").get("/api/overview").raise_for_status().json()
    assert found["currency"] == "EUR"
    assert {model["model_id"]: (model["answers"], model["costed"], model["cost"]) for model in found["models"]} == {
        "dear": (3, 2, 5.75), "unmeasured": (2, 0, None), "free": (1, 1, 0.0), "unknown": (1, 0, None),
    }  # fmt: skip
    assert (found["totals"]["cost"], found["totals"]["costed"]) == (5.75, 3)
    assert [point["cost"] for point in found["series"]] == [4.5, 1.25]
    over_time = {(point["at"], point["model_id"]): point["cost"] for point in found["model_series"]}
    assert over_time == {
        ("2026-11-09T10:00:00Z", "dear"): 4.5, ("2026-11-09T11:00:00Z", "dear"): 1.25,
        ("2026-11-09T10:00:00Z", "free"): 0.0, ("2026-11-09T10:00:00Z", "unknown"): None,
        ("2026-11-09T10:00:00Z", "unmeasured"): None,
    }  # fmt: skip


def test_a_model_of_few_answers_and_a_high_cost_is_drawn(
    priced: ConsoleThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = overview_queries.MODEL_SERIES.replace(f"LIMIT {overview_queries.MOST_MODELS}", "LIMIT 1")
    monkeypatch.setattr(overview_queries, "MODEL_SERIES", one)
    monkeypatch.setitem(PRICES, "free", ModelPrice(input=1_000, output=0))
    found = priced.client("priced").get("/api/overview").raise_for_status().json()
    assert {point["model_id"] for point in found["model_series"]} == {"dear", "free"}


def test_without_prices_nothing_has_a_cost(called: ConsoleThread) -> None:
    with clock_at(called, HOUR + timedelta(hours=2)):
        found = called.client("unpriced").get("/api/overview").raise_for_status().json()
        page = called.client("unpriced").get("/", headers={"Accept": "text/html"}).raise_for_status().text
    assert (found["currency"], found["totals"]["cost"], found["totals"]["costed"]) == (None, None, 0)
    assert [model["cost"] for model in found["models"]] == [None]
    assert 'data-chart="cost"' not in page


@needs_browser
def test_cost_is_drawn_over_time_and_stands_in_the_table_of_models(browser: Browser, priced: ConsoleThread) -> None:
    with logged_in(browser, priced, "priced") as (page, seen):
        page.goto("/")
        expect(page.locator("#charts")).to_have_attribute("data-drawn", "true")
        chart = page.locator("[data-chart=cost]")
        over = chart.locator(".u-over")
        over.scroll_into_view_if_needed()
        box = over.bounding_box()
        assert box
        over.hover(position={"x": box["width"] * 22 / 24, "y": 20})
        expect(chart.locator(".u-legend")).to_contain_text("4.50")
        # The axis of time is the day until now: 10 o'clock is two hours before its end.
        labels = chart.locator(".u-legend .u-label").all_inner_texts()
        assert labels == ["UTC", "dear", "free"], "a model without a price is no line"
        over.click(position={"x": box["width"] * 22 / 24, "y": 20})
        page.wait_for_url("**/search?**")
        assert page.locator("#model").input_value() == "dear", "a click near a line lists the answers of its model"
        expect(page.locator("#total strong")).to_have_text("2")
        page.goto("/")
        costs = page.locator("section[aria-labelledby=models-heading] tbody tr").all_inner_texts()
        assert {row.split("\t")[0]: row.split("\t")[-1] for row in costs} == {
            "dear": "5.75 of 2 answers", "unmeasured": "unknown", "free": "0.00", "unknown": "unknown",
        }  # fmt: skip
        expect(page.locator(".figures").first).to_contain_text("5.75 EUR, of 3 of 7 answers")
        assert serious_violations(page) == []
        assert seen.complaints == []
