"""The report of a comparison in a real Chromium: readable, in any light, and dead to what answers hold."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from playwright.sync_api import Browser

from tests.harness.browser import Seen, chromium_path, running_browser, serious_violations
from workers.comparison.gates import read_gate, try_gate
from workers.comparison.report import render
from workers.comparison.results import FIGURES, ChangedAnswer, ClaimPair, Comparison, Levels, Side, findings
from workers.comparison.statistics import Agreement
from workers.comparison.tallies import BUCKETS, MEASURES, PARTS, Tally

pytestmark = pytest.mark.skipif(chromium_path() is None, reason="needs Chromium: apt-get install chromium")

HOSTILE = (
    "</style><script>window.owned = 1</script><img src=x onerror='window.owned = 1'><svg onload=window.owned=1>"
    "<a href=javascript:window.owned=1>x</a><style>*{display:none}</style><link rel=stylesheet href=//evil.test/x>"
    "<iframe src=//evil.test></iframe><meta http-equiv=refresh content='0;url=//evil.test'>{{ 7 * 7 }}\u202e\x07\x1b[2J"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report in which every text that others can choose is hostile."""
    generator = np.random.default_rng(1)
    tally = Tally(np.full(BUCKETS, 10.0))
    tally.sums[PARTS.index("known")] = 10
    tally.sums[PARTS.index("a")] = 7
    tally.sums[PARTS.index("b")] = 6
    tally.sums[PARTS.index("difference")] = generator.normal(-1, 0.5, (BUCKETS, len(MEASURES)))
    tally.sums[PARTS.index("down")] = 4
    levels = Counter({
        Levels(("released", "held"), ("low", HOSTILE), (False, True), reasons_moved=True, scores_moved=True): 800,
        Levels(("released", "released"), ("low", "low"), (False, False), reasons_moved=False, scores_moved=False): 1_200,
    })  # fmt: skip
    answer = ChangedAnswer(
        HOSTILE, HOSTILE, datetime(2026, 11, 1, tzinfo=UTC), 3.5, ("released", HOSTILE), ("low", HOSTILE), (False, True),
        ([], [HOSTILE]), {"grounding_score": (0.9, None)}, HOSTILE, HOSTILE * 3,
        [ClaimPair(0, 4, HOSTILE, HOSTILE, 0.5, None, None), ClaimPair(5, 9, "Plain.", "supported", 1.0, "unsupported", 0.0)],
    )  # fmt: skip
    comparison = Comparison(
        Side(HOSTILE, {HOSTILE: 2_000}, 3), Side("b" * 200, {"v" * 200: 2_000}, 0), levels, tally,
        {("model", HOSTILE): tally, ("source", "w" * 300): tally}, {"model": 0, "source": 12},
        np.full((15, 10, 10), 20), [Agreement("claims", 50, 3, 20, 4), Agreement("decisions"), Agreement("ratings", 1, 1, 1)],
        [answer, answer],
    )  # fmt: skip
    found = findings(comparison)
    gates = [
        try_gate(read_gate(text, FIGURES), found.figures) for text in ("held.b > 2", "changed > 0", "decisions.a < 1")
    ]
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(render(found, gates, datetime(2026, 10, 1, tzinfo=UTC), None, HOSTILE), encoding="utf-8")
    return file


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_the_report_is_readable_and_nothing_hostile_runs(
    browser: Browser, page_file: Path, scheme: Literal["light", "dark"], width: int
) -> None:
    opened = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
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
    for told in ("B is right more often", "too few cases", "Decisions: none", "12 values of source", "cannot be told"):
        assert told in text, told
    plots = page.locator("td.plot svg").count()
    assert plots == len(MEASURES)
    assert page.locator("figure svg rect.bar-b").count() == 10 * 15
    opened.close()
