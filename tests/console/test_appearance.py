"""The console is pleasant everywhere: colours, density, icons, charts that lead to answers, pages back and forth."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.harness.browser import detail_of_a_page, logged_in, needs_browser, serious_violations
from tests.harness.console import ConsoleThread
from tests.harness.held_answers import held
from workers.console.presentation import review_pages

pytestmark = needs_browser


@pytest.fixture(scope="module")
def charted(console: ConsoleThread) -> ConsoleThread:
    """The console with three held answers of one tenant."""
    held(console, "charted", 3)
    held(console, "pages", 5)
    return console


@pytest.fixture
def page(browser: Browser, charted: ConsoleThread) -> Iterator[Page]:
    with logged_in(browser, charted, "charted") as (page, seen):
        yield page
        assert seen.complaints == []


@pytest.fixture(scope="module")
def drawing(browser: Browser, charted: ConsoleThread) -> Iterator[Page]:
    """A page on which tests draw charts of their own."""
    with logged_in(browser, charted, "charted") as (page, seen):
        page.goto("/")
        yield page
        assert seen.complaints == []


def ground(page: Page) -> str:
    colour: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return colour


def test_colours_and_density_are_chosen_and_kept(page: Page) -> None:
    page.goto("/")
    assert ground(page) == "rgb(255, 255, 255)"
    theme, density = page.locator("#theme"), page.locator("#density")
    theme.press("Enter")
    expect(theme).to_contain_text("light")
    theme.press("Enter")
    expect(theme).to_contain_text("dark")
    assert ground(page) == "rgb(16, 21, 29)"
    assert page.evaluate("getComputedStyle(document.querySelector('th:not(.u-series > *)')).paddingTop") == "7.2px"
    density.press("Enter")
    expect(density).to_have_attribute("aria-pressed", "true")
    page.goto("/search")
    assert ground(page) == "rgb(16, 21, 29)", "the choice does not last"
    expect(page.locator("#density")).to_have_attribute("aria-pressed", "true")
    for path in ("/", "/search", "/queue", "/audit/accesses"):
        page.goto(path)
        assert serious_violations(page) == [], path


LINES = "[...document.querySelectorAll('[data-chart=\"risk\"] .u-marker')].map((each) => getComputedStyle(each).borderTopColor)"
INK = """async () => {
    const { context, height } = await new Promise(requestAnimationFrame).then(() => {
        const canvas = document.querySelector('[data-chart="risk"] canvas');
        return { context: canvas.getContext("2d"), height: canvas.height };
    });
    const pixels = context.getImageData(0, 0, 40, height).data; // the labels of the values
    let [light, dark] = [0, 0];
    for (let at = 0; at < pixels.length; at += 4) if (pixels[at + 3] > 200) pixels[at] > 128 ? light++ : dark++;
    return light > dark ? "light" : "dark";
}"""


@detail_of_a_page
def test_charts_take_other_colours_without_a_reload(page: Page) -> None:
    page.goto("/")
    expect(page.locator("#charts")).to_have_attribute("data-drawn", "true")
    page.evaluate("window.kept = true; scrollTo(0, 300)")
    before, place = page.evaluate(LINES), page.evaluate("scrollY")
    assert page.evaluate(INK) == "dark"
    for _ in ("light", "dark"):
        page.evaluate("document.getElementById('theme').click()")
    assert page.evaluate(INK) == "light"
    after = page.evaluate(LINES)
    assert len(after) == len(before) > 1
    assert all(one != other for one, other in zip(before[1:], after[1:], strict=True))
    page.evaluate("document.getElementById('theme').click()")
    assert page.evaluate(LINES) == before
    # The system may change its colours as well.
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"String({LINES}) === {json.dumps(','.join(after))}")
    assert (page.evaluate("window.kept"), page.evaluate("scrollY")) == (True, place)


@detail_of_a_page
def test_the_console_works_where_the_browser_stores_nothing(browser: Browser, charted: ConsoleThread) -> None:
    with logged_in(browser, charted, "charted") as (page, seen):
        page.add_init_script("Object.defineProperty(window, 'localStorage', { get() { throw new Error('refused'); } })")
        page.goto("/search")
        page.locator("#theme").click()
        expect(page.locator("#theme")).to_contain_text("light")
        assert seen.complaints == []


@detail_of_a_page
def test_icons_are_drawings_of_the_console(page: Page) -> None:
    page.goto("/")
    sizes = page.evaluate(
        "[...document.querySelectorAll('svg.icon')].map((each) => each.getBoundingClientRect().width)"
    )
    assert len(sizes) >= 7
    assert all(width > 10 for width in sizes)


DRAWN = """async ([values, kind, ended]) => {
    const { draw } = await import("/static/js/charts.js");
    const since = Date.UTC(2026, 10, 1) / 1000, bucket = 3600, until = since + 86_400;
    const begin = ended ? since : until - 600; // the last interval is over, or has begun ten minutes ago
    const element = document.body.appendChild(document.createElement("div"));
    let drawn;
    const uPlot = window.uPlot;
    window.uPlot = Object.assign(function (...options) { return (drawn = new uPlot(...options)); }, uPlot);
    draw(element, { times: values.map((_, place) => begin - bucket * (values.length - 1 - place)), since, until, bucket, kind,
        series: [{ label: "one", values }] });
    window.uPlot = uPlot;
    await new Promise(requestAnimationFrame);
    const { scales: { x, y }, axes, hooks } = drawn;
    return { from: x.min - since, to: x.max - until, bottom: y.min, top: y.max, ticks: axes[1]._splits, shaded: (hooks.drawClear ?? []).length };
}"""
"""Draw a chart with the script of the console and return what it shows."""


@detail_of_a_page
@pytest.mark.parametrize(
    ("values", "kind"), [([2], "count"), ([0], "count"), ([900, 1_000], "count"), ([0.4], "share"), ([0.004], "money")]
)
def test_a_chart_begins_at_zero_spans_its_period_and_shades_what_is_not_over(
    drawing: Page, values: list[float], kind: str
) -> None:
    for ended in (False, True) if len(values) == 1 else (False,):
        shown = drawing.evaluate(DRAWN, [values, kind, ended])
        assert (shown["from"], shown["to"], shown["bottom"]) == (0, 0, 0)
        assert shown["top"] >= max(values)
        assert shown["top"] == 1 or kind != "share"
        assert kind != "count" or all(tick == int(tick) for tick in shown["ticks"])
        assert shown["shaded"] == (0 if ended else 1)


LABELLED = """async ([value, kind, width]) => {
    const { draw } = await import("/static/js/charts.js");
    const until = Date.UTC(2026, 10, 2) / 1000, bucket = 3600, since = until - 86_400;
    const element = document.body.appendChild(document.createElement("div"));
    element.style.width = `${width}px`;
    const written = [], { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
        if (element.contains(this.canvas)) {
            const { actualBoundingBoxLeft: left, actualBoundingBoxRight: right } = this.measureText(text);
            written.push({ text, from: x - left, to: x + right, align: this.textAlign });
        }
        return fillText.call(this, text, x, y, ...rest);
    };
    const times = Array.from({ length: 24 }, (_, place) => since + place * bucket);
    draw(element, { times, since, until, bucket, kind, series: [{ label: "one", values: times.map((_, place) => (value * (place + 1)) / 24) }] });
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    CanvasRenderingContext2D.prototype.fillText = fillText;
    const canvas = element.querySelector("canvas"), left = element.querySelector(".u-over").offsetLeft * devicePixelRatio;
    return { written, width: canvas.width, plot: left, legend: [...element.querySelectorAll(".u-legend .u-value")].map((each) => each.textContent) };
}"""
"""Draw a chart whose line rises to a value, and return the labels of its axes with the places where they are drawn."""


@detail_of_a_page
@pytest.mark.parametrize("kind", ["count", "share", "money", "number"])
def test_labels_of_a_chart_fit_beside_it_and_differ(drawing: Page, kind: str) -> None:
    values = {"count": [1, 12, 999, 1_000, 56_789, 10_000_000], "share": [0.001, 1]}
    for value in values.get(kind, [0.001, 0.02, 0.7, 1, 9.5, 120, 4_321, 25_000, 99_999, 123_456, 10_000_000]):
        for width in (220, 640):
            shown = drawing.evaluate(LABELLED, [value, kind, width])
            assert shown["written"]
            for each in shown["written"]:
                assert 0 <= each["from"] < each["to"] <= shown["width"], (value, each)
            beside = [each for each in shown["written"] if each["align"] == "right"]
            assert len(beside) >= 2, value
            assert all(each["to"] <= shown["plot"] for each in beside), (value, beside)
            texts = [each["text"] for each in beside]
            assert len(set(texts)) == len(texts), (value, texts)
            assert max(map(len, texts)) <= 8, "digits where a unit would do"


@detail_of_a_page
def test_a_label_counts_in_words_that_people_read(drawing: Page) -> None:
    def largest(value: float, kind: str) -> str:
        written = drawing.evaluate(LABELLED, [value, kind, 640])["written"]
        texts: list[str] = [each["text"] for each in written if each["align"] == "right"]
        return max(texts, key=len)

    assert "," in largest(25_000, "number")
    assert largest(10_000_000, "count").endswith("M")
    assert largest(0.001, "number").startswith("0.000")


@detail_of_a_page
def test_only_lines_of_what_is_good_or_bad_have_those_colours(page: Page) -> None:
    page.goto("/?period=24h&tenant=charted")
    expect(page.locator("#charts")).to_have_attribute("data-drawn", "true")
    lines = page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll("[data-chart]")].map((chart) => [chart.dataset.chart,
            [...chart.querySelectorAll(".u-marker")].slice(1).map((each) => getComputedStyle(each).borderTopColor)]))"""
    )
    meanings = page.evaluate(
        """() => ["good", "doubt", "bad"].map((name) => {
            document.body.style.setProperty("outline-color", `var(--${name})`);
            return getComputedStyle(document.body).outlineColor;
        })"""
    )
    *judged, unknown = lines.pop("risk")
    assert judged == meanings
    assert unknown not in meanings
    assert {len(colours) for colours in lines.values()} >= {1, 2, 3}
    assert not {colour for colours in lines.values() for colour in colours}.intersection(meanings)


def counts(console: ConsoleThread) -> list[int]:
    """Return the answers of each interval of the charts."""
    figures = console.client("charted").get("/api/overview", params={"period": "24h"}).raise_for_status().json()
    return [point["answers"] for point in figures["series"]]


def click_on_last_point(page: Page, chart: str, share: float) -> None:
    """Click on the last interval of a chart, at a share of its height."""
    page.goto("/?period=24h&tenant=charted")
    expect(page.locator("#charts")).to_have_attribute("data-drawn", "true")
    over = page.locator(f"[data-chart='{chart}'] .u-over")
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    assert box
    over.click(position={"x": box["width"] - 2, "y": box["height"] * share})


@detail_of_a_page
def test_a_click_on_a_point_lists_the_answers_behind_it(page: Page, charted: ConsoleThread) -> None:
    click_on_last_point(page, "throughput", 0.5)
    expect(page.locator("#evaluated_since")).to_be_visible()
    expect(page.locator("#total strong")).to_have_text(str(counts(charted)[-1]))
    assert "tenant=charted" in page.url
    assert serious_violations(page) == []
    page.goto("/?period=24h&tenant=charted")
    page.get_by_text("The charts as a table").click()
    page.locator("details a[href^='/search?evaluated_since']").first.click()
    expect(page.locator("#total strong")).to_have_text(str(counts(charted)[0]))


@detail_of_a_page
def test_a_click_on_a_line_of_a_model_lists_its_answers_alone(page: Page, charted: ConsoleThread) -> None:
    found = counts(charted)
    click_on_last_point(page, "models", 1 - found[-1] / (1.05 * max(found)))
    expect(page.locator("#evaluated_since")).to_be_visible()
    assert page.locator("#model").input_value()
    expect(page.locator("#total strong")).to_have_text(str(found[-1]))


@detail_of_a_page
def test_tenants_are_offered_as_far_as_the_token_reaches(page: Page, charted: ConsoleThread) -> None:
    page.goto("/")
    assert page.locator("#tenant option").all_inner_texts() == ["all", "charted"]
    page.locator("form[aria-label=Tenant] button").click()
    page.wait_for_url("**tenant=")
    expect(page.locator("#tenant")).to_have_value("")
    every = charted.client().get("/", headers={"Accept": "text/html"}).text
    assert '<option value="charted">' in every
    assert '<option value="pages">' in every


@detail_of_a_page
def test_the_list_of_the_queue_leads_back(
    browser: Browser, charted: ConsoleThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(review_pages, "PAGE_SIZE", 2)
    with logged_in(browser, charted, "pager") as (page, _):
        page.goto("/queue?min_risk=low")

        def rows() -> list[str]:
            return [row.get_attribute("data-row") or "" for row in page.locator("[data-row]").all()]

        def turn(rel: str) -> None:
            with page.expect_navigation():
                page.locator(f"a[rel={rel}]").click()

        seen = [rows()]
        for _ in range(2):
            turn("next")
            seen.append(rows())
        assert [len(each) for each in seen] == [2, 2, 1]
        assert len({row for each in seen for row in each}) == 5
        assert page.locator("a[rel=next]").count() == 0
        for before in seen[1::-1]:
            turn("prev")
            assert rows() == before
        assert page.locator("a[rel=prev]").count() == 0
        assert "min_risk=low" in page.url


@detail_of_a_page
@pytest.mark.parametrize("size", [(390, 844), (640, 450)], ids=["phone", "zoom-200"])
def test_pages_fit_a_narrow_window(page: Page, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    for path in ("/", "/search", "/queue", "/review", "/audit/decisions", "/audit/accesses", "/answers/charted-0"):
        page.goto(path)
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        assert serious_violations(page) == [], path
