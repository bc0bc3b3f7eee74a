"""Auditors see by which rules, limits and effects answers were decided, from when until when, and what changed."""

import csv
import io
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from schemas.export import example
from schemas.feedback import AnalyticsRow
from tests.harness.browser import logged_in, needs_browser, serious_violations
from tests.harness.console import ConsoleThread
from workers.decision.policy import EvaluatorCondition
from workers.pipeline.policy_parts import policy_parts
from workers.pipeline.versions import version_parts
from workers.settings import PrivacySettings, Settings

OURS, THEIRS = "ruled", "ruled-by-others"
FIRST = datetime(2026, 10, 5, 8, 30, tzinfo=UTC)
EARLY, PLAIN, CHANGED, BACK, LOST = (f"2026.10-grounding1-{number:06x}" for number in range(5))
ROW: dict[str, Any] = AnalyticsRow.model_validate(example(AnalyticsRow)).columns
PAGE = {"Accept": "text/html"}
READER = "rules-reader"


def settings(**groups: Any) -> Settings:
    return Settings(_env_file=None, **groups)


def recorded() -> Mapping[str, dict[str, str]]:
    """The parts of each version; no worker of ``LOST`` has reported any."""
    plain = version_parts(settings())
    early = {name: value for name, value in plain.items() if not name.startswith(("decision.effects.", "texts."))}
    replaced = {"gatekeeper.state": '"warned"', "gatekeeper.review": "true", "observer": "null"}
    early |= {f"decision.rows.refusal.{name}": value for name, value in replaced.items()}
    overrides = [
        {"tenant": OURS, "gate_score": 0.9, "rows": {"degraded": {"gatekeeper": {"state": "warned"}}}},
        {"tenant": THEIRS, "gate_score": 0.33, "query_type": "secret class of theirs"},
        {"query_type": "sql", "audit_share": 0.5},
    ]
    changed = settings(
        gate={"gate_score": 0.75},
        decision={
            "audit_share": 0.2,
            "overrides": overrides,
            "rows": {"refusal": {"gatekeeper": {"state": "warned"}}},
        },
        release={"texts": {"en": {"fallback": "Ask a person."}}, "url_rules": {"/theirs/*": "https://wiki.example.org{path}"}},
        privacy=PrivacySettings(mask=("mail",), key="k" * 32, tenants={OURS: {"mask": ("iban",)}, THEIRS: {"mask": ("card",)}}),
    )  # fmt: skip
    with_evaluator = changed.decision.model_copy(update={"evaluators": {"tone": EvaluatorCondition(minimum=0.4)}})
    return {
        EARLY: early,
        PLAIN: plain,
        CHANGED: version_parts(changed) | policy_parts(with_evaluator),
        BACK: plain | {"rules": "another"},
    }


def answer_row(number: int, tenant: str, version: str, day: float) -> dict[str, Any]:
    at = (FIRST + timedelta(days=day)).isoformat()
    return ROW | {
        "answer_id": f"ruled-{number}", "tenant": tenant, "pipeline_version": version, "enriched_at": at,
        "completed_at": at, "run": "live",
    }  # fmt: skip


@pytest.fixture(scope="module")
def used(console: ConsoleThread) -> ConsoleThread:
    """Answers of two tenants, decided by five versions; one of them came back after another one."""
    store = console.resources.analytics
    uses = [
        (OURS, LOST, 0), (OURS, EARLY, 1), (OURS, EARLY, 1.1), (THEIRS, EARLY, 0.5), (OURS, PLAIN, 3), (OURS, PLAIN, 4),
        (OURS, CHANGED, 6), (OURS, PLAIN, 8), (OURS, PLAIN, 9), (THEIRS, CHANGED, 6), (THEIRS, BACK, 7),
    ]  # fmt: skip
    rows = [answer_row(number, *use) for number, use in enumerate(uses)]
    # The same answer once more, as after a restart of the worker, and one of a replay.
    rows += [rows[1], answer_row(99, OURS, "2026.10-grounding1-replay", 2) | {"run": "replay-1"}]
    for row in rows:
        console.call(store.insert("answers", [row]))
    started = FIRST.isoformat()
    console.call(
        store.insert(
            "versions",
            [
                {"version": name, "parts": json.dumps(parts), "started_at": started}
                for name, parts in recorded().items()
            ],
        )
    )
    return console


def listed(console: ConsoleThread, token: str = "admin", **params: Any) -> list[dict[str, Any]]:
    found = console.client(token).get("/api/audit/settings", params=params).raise_for_status()
    items: list[dict[str, Any]] = found.json()["items"]
    return items


def detail(console: ConsoleThread, version: str, token: str = "admin", **params: Any) -> dict[str, Any]:
    found: dict[str, Any] = (
        console.client(token).get(f"/api/audit/settings/{version}", params=params).raise_for_status().json()
    )
    return found


def words(item: dict[str, Any]) -> list[str]:
    return [each["words"] for each in item["changes"]]


def values(found: dict[str, Any]) -> dict[str, str]:
    return {each["part"]: each["value"] for each in found["settings"]}


def test_versions_are_listed_with_their_use_and_what_changed(used: ConsoleThread) -> None:
    found = listed(used, tenant=OURS)
    assert [each["version"] for each in found] == [CHANGED, PLAIN, EARLY, LOST], "neither other tenants nor replays"
    changed, plain, early, lost = found
    assert (early["answers"], plain["answers"]) == (2, 4)
    assert early["first_used"].startswith("2026-10-06T08:30") and early["last_used"].startswith("2026-10-06T10:54")
    assert (changed["version_before"], lost["version_before"]) == (PLAIN, "")
    said = words(changed)
    assert said[:2] == [
        "refusal, gatekeeper: held, with a review → warned",
        "refusal, observer: asks for a review → without effect",
    ]
    assert "minimum of the gate score: 0.80 → 0.75" in said
    assert "share of good answers that people review: 1 % → 20 %" in said
    assert f"answers of the tenant {OURS}: minimum of the gate score: 0.90 (not set before)" in said
    assert f"answers of the tenant {OURS}: degraded, gatekeeper: warned (not set before)" in said
    assert (
        "answers of all tenants to queries of the class sql: share of good answers that people review: 50 % (not set before)"
        in said
    )
    assert "notice that the sources do not support an answer (en) changed" in said
    assert not [each for each in said if "none (not set before)" in each]
    (text,) = [each for each in changed["changes"] if each["part"] == "texts.en.fallback"]
    assert text["after"] == "Ask a person." and text["before"].startswith("There is insufficient evidence")


def test_what_a_version_did_not_record_is_no_change_and_said_so(used: ConsoleThread) -> None:
    _, plain, early, lost = listed(used, tenant=OURS)
    assert (plain["effects_recorded"], early["effects_recorded"], lost["recorded"]) == (True, False, False)
    assert set(words(plain)) == {
        "refusal, gatekeeper: warned, with a review → held, with a review",
        "refusal, observer: without effect → asks for a review",
    }
    assert early["changes"] is None and lost["changes"] is None
    assert {name: value for name, value in values(detail(used, EARLY, tenant=OURS)).items() if "effects" in name} == {
        "decision.effects.refusal.gatekeeper": "warned, with a review",
        "decision.effects.refusal.observer": "without effect",
    }
    client = used.client("admin")
    page = client.get(f"/audit/settings/{EARLY}?tenant={OURS}", headers=PAGE).text
    assert "recorded no effects of rules that its settings left unchanged" in page
    assert "No worker reported the settings" in client.get(f"/audit/settings/{LOST}?tenant={OURS}", headers=PAGE).text


def test_a_version_has_all_its_rules_limits_texts_and_periods(used: ConsoleThread) -> None:
    found = values(detail(used, CHANGED, tenant=OURS))
    assert found["decision.effects.no_evidence.gatekeeper"] == "fallback"
    assert found["decision.effects.no_evidence.observer"] == "warned, with a review"
    assert found["decision.effects.degraded.observer"] == "only noted"
    assert found["decision.effects.evaluations.tone.below_minimum.gatekeeper"] == "held, with a review"
    assert (found["gate.gate_score"], found["grounding.risk_high"], found["decision.audit_share"]) == (
        "0.75",
        "0.70",
        "20 %",
    )
    assert found["texts.de.fallback"].startswith("Die verfügbaren Quellen")
    assert found["release.ungrounded_claims"] == "kept"
    periods = detail(used, PLAIN, tenant=OURS)["periods"]
    assert [(each["since"][:10], each["until"][:10]) for each in periods] == [
        ("2026-10-13", "2026-10-14"),
        ("2026-10-08", "2026-10-09"),
    ]


def test_a_token_of_one_tenant_sees_nothing_of_others(used: ConsoleThread) -> None:
    client = used.client(READER)
    assert [each["version"] for each in listed(used, READER)] == [CHANGED, PLAIN, EARLY, LOST]
    assert client.get(f"/api/audit/settings/{BACK}").status_code == 404
    assert client.get(f"/audit/settings/{BACK}", headers=PAGE).status_code == 404
    assert client.get(f"/api/audit/settings?tenant={THEIRS}").status_code == 403
    for path in (
        "/api/audit/settings", f"/api/audit/settings/{CHANGED}", "/audit/settings", f"/audit/settings/{CHANGED}",
        "/api/audit/settings/export?format=jsonl",
    ):  # fmt: skip
        text = client.get(path, headers=PAGE if path.startswith("/audit") else {}).raise_for_status().text
        assert CHANGED in text
        assert not [each for each in (THEIRS, "0.33", "secret class", "wiki.example.org", "card") if each in text], path
    theirs = detail(used, CHANGED)
    assert {each["tenant"] for each in theirs["settings"]} == {None, OURS, THEIRS}
    assert any("wiki.example.org" in each["value"] for each in theirs["settings"])


def test_pages_and_files_lead_through_all_versions(used: ConsoleThread) -> None:
    client = used.client(READER)
    found, cursor = [], None
    while True:
        given = client.get("/api/audit/settings", params={"limit": 1, **({"cursor": cursor} if cursor else {})}).json()
        found += given["items"]
        cursor = given["next_cursor"]
        if cursor is None:
            break
    assert found == listed(used, READER)
    file = client.get("/api/audit/settings/export")
    rows = list(csv.DictReader(io.StringIO(file.text)))
    assert file.headers["X-Rows"] == "4" and [row["version"] for row in rows] == [each["version"] for each in found]
    assert "minimum of the gate score: 0.80 → 0.75" in json.loads(rows[0]["changes"])
    assert "minimum of the gate score: 0.75" in json.loads(rows[0]["settings"])
    assert client.get("/api/audit/settings/export?tenat=ruled").status_code == 422
    assert client.get("/audit/settings?cursor=x", headers=PAGE).status_code == 422
    assert client.get("/audit/settings?tenant=" + "x" * 300, headers=PAGE).status_code == 422


def test_only_auditors_read_settings(used: ConsoleThread) -> None:
    for token in ("read", "review"):
        assert used.client(token).get("/api/audit/settings").status_code == 403
        assert used.client(token).get(f"/audit/settings/{PLAIN}", headers=PAGE).status_code == 403


@needs_browser
@pytest.mark.parametrize("width", [1280, 390])
def test_an_auditor_goes_from_an_answer_to_its_rules_and_the_change_before(
    used: ConsoleThread, browser: Browser, width: int
) -> None:
    with logged_in(browser, used, READER, viewport={"width": width, "height": 900}) as (page, seen):
        page.goto("/answers/ruled-6")
        page.locator("#versions").get_by_role("link", name=CHANGED).click()
        expect(page.locator("h1")).to_contain_text(CHANGED)
        rule = page.locator('[data-rule="gate_score_below_minimum"]')
        expect(rule).to_contain_text("at least 0.75")
        expect(rule).to_contain_text("held, with a review")
        expect(page.locator("#overrides")).to_contain_text(f"answers of the tenant {OURS}")
        expect(page.locator("#changes")).to_contain_text("minimum of the gate score: 0.80 → 0.75")
        assert not page.get_by_text(recorded()[CHANGED]["rules"]).is_visible()
        assert serious_violations(page) == []
        page.locator("#changes").get_by_role("link", name=PLAIN).click()
        expect(page.locator('[data-rule="gate_score_below_minimum"]')).to_contain_text("at least 0.80")
        expect(page.locator("#periods summary")).to_contain_text("2 periods")
        page.get_by_role("navigation", name="Audit").get_by_role("link", name="Rules and limits").click()
        expect(page.locator("#log tbody tr")).to_have_count(4)
        assert serious_violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        assert seen.complaints == []
