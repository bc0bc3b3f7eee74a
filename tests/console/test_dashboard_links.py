"""Links from Grafana lead to pages that the console has."""

import html
import json
import re
from collections.abc import Sequence
from urllib.parse import quote

import httpx
import pytest

from schemas.enriched import EnrichedAnswer
from tests.harness.console import ConsoleThread, examples
from workers.grafana.dashboards import DASHBOARDS
from workers.grafana.panels import ANSWER_LINK
from workers.stores.queries.answer_queries import AnswerStore, StoredAnswer


def links() -> set[str]:
    """Addresses of every dashboard, panel and column, as they are written."""
    dashboards = [dashboard.as_json() for dashboard in DASHBOARDS]
    panels = [panel for dashboard in dashboards for panel in dashboard["panels"]]
    found = [link for part in (*dashboards, *panels) for link in part["links"]]
    for panel in panels:
        for override in panel["fieldConfig"]["overrides"]:
            found += [link for each in override["properties"] if each["id"] == "links" for link in each["value"]]
    return {link["url"] for link in found if "url" in link}


def followed(console: ConsoleThread, url: str, value: str = "", tenant: str = "") -> httpx.Response:
    """What the console answers to a browser that follows a link, with variables filled as Grafana fills them."""
    filled = url.replace("${console}", console.url).replace("${__value.raw:percentencode}", quote(value, safe=""))
    filled = filled.replace("${__data.fields.tenant:percentencode}", quote(tenant, safe=""))
    assert "$" not in filled
    return console.client().get(filled, headers={"Accept": "text/html"})


@pytest.mark.parametrize("url", sorted(links() - {ANSWER_LINK["url"]}))
def test_every_link_leads_to_a_page(console: ConsoleThread, url: str) -> None:
    assert followed(console, url).status_code == 200


def test_a_cell_leads_to_the_answer_of_its_row(console: ConsoleThread, stored: list[EnrichedAnswer]) -> None:
    others = console.store(each.model_copy(update={"tenant": "linked&other"}) for each in examples()[:1])
    for row in (stored[0], *others):
        found = followed(console, ANSWER_LINK["url"], row.answer_id, row.tenant)
        assert (found.status_code, row.answer_id in found.text) == (200, True)
        assert html.escape(row.tenant) in found.text


def test_every_table_that_lists_answers_links_them_and_names_their_tenant() -> None:
    linked = {
        panel["title"]: panel["targets"][0]["rawSql"]
        for dashboard in DASHBOARDS
        for panel in dashboard.as_json()["panels"]
        if ANSWER_LINK["url"] in json.dumps(panel)
    }
    assert set(linked) == {"Answers with the lowest grounding", "Alerts on answers"}
    for sql in linked.values():
        columns = f"\n{sql}".rpartition("\nSELECT")[2].partition("\nFROM")[0]
        assert re.search(r"\btenant\b", columns), sql


@pytest.mark.parametrize("answer_id", ["what?", "a#1", "100%25", "a/b c", "\u00fc=+"])
def test_what_an_identifier_holds_stays_part_of_it(
    console: ConsoleThread, monkeypatch: pytest.MonkeyPatch, answer_id: str
) -> None:
    asked = []
    look_up = AnswerStore.answer

    async def noting(store: AnswerStore, tenants: Sequence[str], name: str) -> StoredAnswer | None:
        asked.append(name)
        return await look_up(store, tenants, name)

    monkeypatch.setattr(AnswerStore, "answer", noting)
    assert followed(console, ANSWER_LINK["url"], answer_id, "acme").status_code == 404, "there is none of this name"
    assert asked == [answer_id]


def test_a_path_that_the_console_does_not_have_would_be_noticed(console: ConsoleThread) -> None:
    assert followed(console, "${console}/answers").status_code != 200
