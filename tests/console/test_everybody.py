"""The console for everybody: with keys alone, magnified, after the end of a session, and in programs that read its files."""

import io
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pandas as pd
import pyarrow.json as pj
import pytest
from playwright.sync_api import Browser, Page, expect

from schemas.identifiers import fact_id
from tests.harness.browser import (
    PATIENCE_MS,
    detail_of_a_page,
    escalate,
    logged_in,
    needs_browser,
    reject,
    serious_violations,
    shown,
)
from tests.harness.console import ConsoleThread, clock_at, secret, unhurried_undo
from tests.harness.held_answers import held
from tests.harness.reviews import AT, review_request, store_decision
from tests.harness.variants import variants
from workers.review.decision_events import decided
from workers.review.reviewer_labels import preference_row

pytestmark = needs_browser

MOST_STOPS = 400
"""Stops of the tab key within which a control must be reached."""

FOCUS = """() => {
  const each = document.activeElement, style = getComputedStyle(each), [box] = each.getClientRects();
  const middle = document.elementFromPoint(box.x + Math.min(box.width, innerWidth - box.x) / 2, box.y + box.height / 2);
  return {
    outlined: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
    inside: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
    covered: middle !== null && !each.contains(middle) && !middle.contains(each) && !each.labels?.length ? middle.outerHTML.slice(0, 200) : "",
    name: (each.getAttribute("aria-label") || each.labels?.[0]?.textContent || each.textContent || "").trim(),
    tag: each.tagName, id: each.id, html: each.outerHTML.slice(0, 120),
  };
}"""

OUTSIDE = """() => {
  const scrolled = (each) => each.closest(".scroll, .contexts, pre, .turns, .tabs, nav") !== null;
  const found = [];
  for (const each of document.querySelectorAll("a, button, input, select, textarea, summary")) {
    if (!each.checkVisibility({ checkVisibilityCSS: true }) || each.matches(".skip, .skip *, input[type=hidden]")) continue;
    each.scrollIntoView({ block: "center" });
    const [box] = each.getClientRects();
    if (!box?.width) continue;
    const x = Math.min(box.x + box.width / 2, innerWidth - 1), y = box.y + Math.min(box.height, 20) / 2;
    const top = document.elementFromPoint(x, y);
    const free = top && (each.contains(top) || top.contains(each) || top.closest("label")?.control === each);
    if (!scrolled(each) && (box.left < 0 || box.right > innerWidth + 1 || !free)) found.push(each.outerHTML.slice(0, 120));
  }
  return found;
}"""


def tab_to(page: Page, wanted: Callable[[dict[str, str]], bool], *, backwards: bool = False) -> None:
    """Press the tab key until a control is focused, and see every stop."""
    for _ in range(MOST_STOPS):
        page.keyboard.press("Shift+Tab" if backwards else "Tab")
        stop = page.evaluate(FOCUS)
        if stop["tag"] == "BODY":
            continue
        assert stop["inside"], stop
        assert stop["covered"] == "", stop
        assert stop["outlined"], stop
        if wanted(stop):
            return
    raise AssertionError("the tab key does not lead there")


def named(name: str, tag: str = "A") -> Callable[[dict[str, str]], bool]:
    return lambda stop: stop["tag"] == tag and stop["name"].startswith(name)


def with_id(name: str) -> Callable[[dict[str, str]], bool]:
    return lambda stop: stop["id"] == name


# ---------------------------------------------------------------- keys alone


def test_a_reviewer_works_from_login_to_audit_with_keys_alone(browser: Browser, console: ConsoleThread) -> None:
    held(console, "no-mouse", 4)
    opened = browser.new_context(base_url=console.url, viewport={"width": 1280, "height": 900})
    opened.set_default_timeout(PATIENCE_MS)
    expect.set_options(timeout=PATIENCE_MS)
    page = opened.new_page()
    page.goto("/queue")
    page.wait_for_url("**/login?next=*")
    tab_to(page, with_id("token"))
    page.keyboard.type(secret("no-mouse"))
    page.keyboard.press("Enter")
    page.wait_for_url("**/queue")
    # A filter, and a request of the list.
    tab_to(page, with_id("min_risk"))
    page.keyboard.type("high")
    tab_to(page, named("Apply", "BUTTON"))
    page.keyboard.press("Enter")
    page.wait_for_url("**min_risk=high*")
    tab_to(page, named("How much memory does ingester"))
    page.keyboard.press("Enter")
    page.wait_for_url("**/review/*")
    question = page.locator("#question")
    expect(question).to_be_focused()
    # Approve by its button, without a key of the page.
    seen = [shown(page)]
    tab_to(page, named("Approve", "BUTTON"))
    page.keyboard.press("Enter")
    # A claim is contradicted: the page asks why.
    expect(page.locator("#approval-reason")).to_be_focused()
    page.keyboard.type("outdated source")
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_contain_text("Approved")
    expect(question).to_be_focused()
    seen.append(shown(page))
    # An edit is left with Esc and kept, then discarded by another decision, which is undone.
    page.keyboard.press("c")
    expect(page.locator("#corrected")).to_be_focused()
    page.keyboard.press("Control+End")
    page.keyboard.type(" Wait.")
    page.keyboard.press("Escape")
    expect(page.locator("#correction")).to_be_hidden()
    expect(question).to_be_focused()
    page.keyboard.press("r")
    expect(page.locator("#unsent")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#unsent")).to_be_hidden()
    assert shown(page) == seen[1], "Esc takes no decision"
    with unhurried_undo(console):
        page.keyboard.press("r")
        tab_to(page, with_id("unsent-discard"))
        page.keyboard.press("Enter")
        expect(page.locator("#why-reason")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("#status")).to_contain_text("Rejected")
        page.keyboard.press("u")
        page.wait_for_url(f"**/review/{seen[1]}*")
    expect(question).to_be_focused()
    # The correction itself.
    page.keyboard.press("c")
    expect(page.locator("#corrected")).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("It needs 2 GiB [1].")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#status")).to_contain_text("Corrected")
    expect(question).to_be_focused()
    reject(page)
    expect(page.locator("#status")).to_contain_text("Rejected")
    # An answer from the search, its citation, and the audit.
    tab_to(page, named("Search"), backwards=True)
    page.keyboard.press("Enter")
    page.wait_for_url("**/search")
    tab_to(page, with_id("q"))
    page.keyboard.type("ingester")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=ingester*")
    tab_to(page, named("How much memory does ingester"))
    page.keyboard.press("Enter")
    page.wait_for_url("**/answers/*")
    tab_to(page, lambda stop: "data-citation" in stop["html"])
    page.keyboard.press("Enter")
    expect(page.locator("#panel-title")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#panel")).to_be_hidden()
    assert "data-citation" in page.evaluate(FOCUS)["html"], "the focus goes back to the citation"
    tab_to(page, named("Audit"), backwards=True)
    page.keyboard.press("Enter")
    page.wait_for_url("**/audit/decisions")
    tab_to(page, named("Accesses to answers"))
    page.keyboard.press("Enter")
    page.wait_for_url("**/audit/accesses")
    tab_to(page, with_id("person"))
    page.keyboard.type("no-mouse")
    tab_to(page, named("Apply", "BUTTON"))
    page.keyboard.press("Enter")
    page.wait_for_url("**person=no-mouse*")
    expect(page.locator("#total")).to_contain_text("accesses, the latest first")
    opened.close()


# ---------------------------------------------------------------- magnified


WAYS = ["device", "css"]


@detail_of_a_page
@pytest.mark.parametrize("way", variants(WAYS, in_every_run=WAYS[:1]))
def test_nothing_is_hidden_at_200_percent(browser: Browser, console: ConsoleThread, way: str) -> None:
    (answer,) = held(console, "magnified", 1)
    assert answer.citations
    review = fact_id("magnified", "magnified-0", "review")
    citation = answer.citations.citations[0].citation_id
    window = {"viewport": {"width": 640, "height": 450}, "device_scale_factor": 2} if way == "device" else {}
    found = {}
    with logged_in(browser, console, "magnified", **window) as (page, _):
        for path in (
            "/", "/search", "/queue", "/queue?state=decided", f"/review/{review}", "/audit/decisions", "/audit/accesses",
            "/answers/magnified-0", f"/citations/{citation}", "/answers/nobody", "/login",
        ):  # fmt: skip
            page.goto(path)
            page.wait_for_load_state("networkidle")
            if way == "css":
                page.evaluate("document.documentElement.style.zoom = 2")
            wide = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth + 1")
            found[path] = [*page.evaluate(OUTSIDE), *(["scrolls"] if wide else [])]
            if path.startswith("/review"):
                page.keyboard.press("c")
                expect(page.locator("#correction")).to_be_visible()
                found["correction"] = page.evaluate(OUTSIDE)
                page.keyboard.press("Escape")
    assert {path: hidden for path, hidden in found.items() if hidden} == {}


# ---------------------------------------------------------------- the end of a session

LATER = timedelta(days=30)


@detail_of_a_page
@pytest.mark.parametrize(
    "path",
    ["/", "/search?q=pump", "/queue?min_risk=high", "/review", "/audit/decisions?person=anna", "/audit/accesses", "/answers/ended-0"],
)  # fmt: skip
def test_every_page_offers_the_login_after_the_end_of_a_session(
    browser: Browser, console: ConsoleThread, path: str
) -> None:
    with logged_in(browser, console, "ended") as (page, _):
        with clock_at(console, datetime.now(UTC) + LATER):
            page.goto(path)
            page.wait_for_url("**/login?next=*")
            assert page.url.endswith(f"next={quote(path, safe='')}")
        page.get_by_label("Access token").fill(secret("ended"))
        page.keyboard.press("Enter")
        page.wait_for_url(f"{console.url}{path}")


WRITES: list[tuple[str, Callable[[Page], None]]] = [
    ("approve", lambda page: page.keyboard.press("a")),
    ("warn", lambda page: page.keyboard.press("w")),
    ("reject", lambda page: page.keyboard.press("r")),
    ("skip", lambda page: page.keyboard.press("s")),
    ("escalate", escalate),
    ("vote", lambda page: page.keyboard.press("g")),
    ("correct", lambda page: page.locator("#corrected").press("Control+Enter")),
]


@detail_of_a_page
@pytest.mark.parametrize(
    ("name", "write"),
    variants(WRITES, in_every_run=[WRITES[0], *WRITES[4:5], WRITES[-1]]),
    ids=[name for name, _ in WRITES],
)
def test_every_write_offers_the_login_and_keeps_what_was_typed(
    browser: Browser, console: ConsoleThread, name: str, write: Callable[[Page], None]
) -> None:
    held(console, "ended", 1)
    review = fact_id("ended", "ended-0", "review")
    with logged_in(browser, console, "ended") as (page, _):
        page.goto(f"/review/{review}")
        expect(page.locator("#question")).to_be_focused()
        page.locator("#comment").fill("see page 4")
        page.keyboard.press("Escape")
        page.keyboard.press("2")
        if name == "correct":
            page.keyboard.press("c")
            page.locator("#corrected").fill("It needs 2 GiB [1].")
        with clock_at(console, datetime.now(UTC) + LATER):
            write(page)
            expect(page.locator("#status")).to_contain_text("Your session has ended")
            expect(page.locator("#status")).to_have_class("error")
            assert serious_violations(page) == []
            page.get_by_role("button", name="Log in again").click()
            page.wait_for_url("**/login?next=*")
        page.get_by_label("Access token").fill(secret("ended"))
        page.keyboard.press("Enter")
        page.wait_for_url(f"**/review/{review}")
        expect(page.locator("#comment")).to_have_value("see page 4")
        assert page.locator("[data-verdict]:checked").count() == 1
        if name == "correct":
            expect(page.locator("#corrected")).to_have_value("It needs 2 GiB [1].")
        if name == "escalate":
            expect(page.locator("#escalation-reason")).to_have_value("It is not for me.")


@detail_of_a_page
def test_a_vote_and_a_bulk_action_offer_the_login(browser: Browser, console: ConsoleThread) -> None:
    held(console, "ended", 1)
    with logged_in(browser, console, "ended") as (page, _):
        page.goto("/answers/ended-0")
        with clock_at(console, datetime.now(UTC) + LATER):
            page.get_by_role("button", name="Yes").click()
            expect(page.get_by_role("button", name="Log in again")).to_be_visible()
        page.goto("/queue")
        page.locator("[data-choose]").first.check()
        page.locator("#bulk-action").select_option("reject")
        page.locator("#bulk-reason").fill("off_topic")
        with clock_at(console, datetime.now(UTC) + LATER):
            page.get_by_role("button", name="Preview").click()
            expect(page.get_by_role("button", name="Log in again")).to_be_visible()
        expect(page.locator("#bulk-reason")).to_have_value("off_topic")


@detail_of_a_page
def test_charts_offer_the_login_when_their_session_has_ended(browser: Browser, console: ConsoleThread) -> None:
    with logged_in(browser, console, "ended") as (page, _):
        page.clock.install()
        page.goto("/")
        expect(page.locator("#charts")).to_have_attribute("data-drawn", "true")
        with clock_at(console, datetime.now(UTC) + LATER):
            page.clock.fast_forward(120_000)
            expect(page.locator("#stale")).to_contain_text("your session has ended")
            page.locator("#stale a").click()
            page.wait_for_url("**/login?next=*")


# ---------------------------------------------------------------- files


@detail_of_a_page
def test_files_of_the_audit_have_the_right_types_in_pandas(console: ConsoleThread) -> None:
    store = console.resources.analytics
    for number, said in enumerate(({"action": "reject", "reason": "wrong_figure"}, {"action": "approve"})):
        request = review_request(number, tenant="filed")
        at = AT + timedelta(minutes=number)
        console.call(store_decision(store, request, by="anna", at=at, duration=12.5 * number, **said))
    client = console.client("admin")

    def file(form: str) -> io.BytesIO:
        params = {"tenant": "filed", "format": form}
        return io.BytesIO(client.get("/api/audit/decisions/export", params=params).raise_for_status().content)

    frames = {
        "csv": pd.read_csv(file("csv"), parse_dates=["decided_at"], keep_default_na=False),
        "jsonl": pd.read_json(file("jsonl"), lines=True),
        "parquet": pd.read_parquet(file("parquet")),
    }
    for form, frame in frames.items():
        assert list(frame["decided_at"]) == [pd.Timestamp(AT + timedelta(minutes=1)), pd.Timestamp(AT)], form
        measured = pd.to_numeric(frame["review_duration"])
        assert (measured[0], pd.isna(measured[1])) == (12.5, True), form
        assert measured.dtype == "float64", form
        assert list(frame["reason"]) == ["", "wrong_figure"], form
        assert list(frame["answer_id"]) == ["a-1", "a-0"], form


@detail_of_a_page
def test_preference_pairs_have_one_type_a_column_in_arrow_and_pandas() -> None:
    rows = []
    for number, reason in enumerate((None, "wrong_figure")):
        request = review_request(number)
        said = {"by": "anna", "profile": {}, "at": AT, "action": "correct", "reason": reason}
        rows.append(preference_row(decided(request, corrected_answer="Loki needs 2 GiB [1].", **said), request))
    content = "\n".join(json.dumps(row) for row in rows).encode()
    table = pj.read_json(io.BytesIO(content))
    assert {field.name: str(field.type) for field in table.schema} == {
        "contexts": "list<item: string>", "decided_at": "timestamp[s]", "tenant": "string", "id": "string",
        "prompt": "string", "chosen": "string", "rejected": "string", "model_id": "string", "reason": "string",
    }  # fmt: skip
    frame = pd.read_json(io.BytesIO(content), lines=True)
    assert list(frame["chosen"]) == ["Loki needs 2 GiB [1]."] * 2
    assert list(frame["rejected"]) == [review_request(0).answer] * 2
    assert list(frame["reason"]) == ["", "wrong_figure"]
