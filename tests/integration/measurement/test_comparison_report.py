"""The report of a comparison in a real Chromium: readable, in any light, and dead to what answers hold."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser

from tests.harness.browser import PATIENCE_MS, Seen, needs_browser, running_browser, serious_violations
from tests.harness.comparisons import HOSTILE, hostile_findings
from workers.comparison.comparison_report import render
from workers.comparison.tallies import MEASURES, SCORES

pytestmark = needs_browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report in which every text that others can choose is hostile."""
    found, gates = hostile_findings()
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(render(found, gates, datetime(2026, 10, 1, tzinfo=UTC), None, HOSTILE), encoding="utf-8")
    return file


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_the_report_is_readable_and_nothing_hostile_runs(
    browser: Browser, page_file: Path, scheme: Literal["light", "dark"], width: int
) -> None:
    opened = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    opened.set_default_timeout(PATIENCE_MS)
    page = opened.new_page()
    seen = Seen()
    seen.watch(page)
    page.goto(page_file.as_uri())
    for details in page.locator("details").all():
        details.evaluate("each => each.open = true")
    assert page.evaluate("window.owned") is None
    assert page.locator("script, img, iframe, a, link, object, embed, form, [style], [onload], [onerror]").count() == 0
    text = page.locator("main").inner_text()
    assert not set(text) & set("\u202e\x07\x1b")
    assert "<script>window.owned = 1</script>" in text
    assert "{{ 7 * 7 }}" in text
    assert "49" not in page.title()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # The policy lets in exactly our style: it is applied, and the browser complains of nothing.
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(16, 21, 29)"}[scheme]
    assert seen.complaints == []
    assert seen.requests == [page_file.as_uri()]
    assert serious_violations(page) == []
    for told in (
        "B is right more often",
        "too few cases",
        "Decisions: none",
        "12 values of source",
        "cannot be evaluated",
    ):
        assert told in text, told
    plots = page.locator("td.plot svg").count()
    assert plots == len(MEASURES)
    assert page.locator("figure svg rect.bar-b").count() == 10 * (len(SCORES) - 1), "one is known no more"
    opened.close()
