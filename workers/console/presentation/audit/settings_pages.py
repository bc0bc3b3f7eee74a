"""Serve the pages of the settings of pipeline versions."""

from collections.abc import Mapping
from itertools import groupby
from typing import NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response

from workers.console.http.paging import Cursor
from workers.console.http.requests import StrictRoute
from workers.console.presentation.audit.setting_names import reason_words
from workers.console.presentation.audit.settings_views import SettingView, VersionSettings
from workers.console.presentation.audit.version_settings import concerned
from workers.console.presentation.page_basics import Auditing, page
from workers.console.presentation.pages import ChosenTenant
from workers.console.presentation.rule_words import condition_of
from workers.console.resources import Shared
from workers.console.routes.audit_settings import Version, found_settings, listed_settings
from workers.pipeline.policy_parts import EFFECTS
from workers.stores.queries.totals import agreeing_total

router = APIRouter(include_in_schema=False, route_class=StrictRoute)

PAGE_SIZE = 50
MINIMA = {
    "grounding_below_minimum": "grounding.grounding_minimum", "gate_score_below_minimum": "gate.gate_score",
}  # fmt: skip
"""Limits that rules compare a score with."""


@router.get("/audit/settings")
async def audit_settings(
    request: Request, principal: Auditing, resources: Shared, tenant: ChosenTenant = None, cursor: Cursor = None
) -> Response:
    """Show the versions that decided on answers with their changes, the one that was first used last first."""
    values = {"tenant": tenant} if tenant else {}
    tenants = principal.chosen_tenants(tenant)
    found = await listed_settings(resources, principal, tenant, cursor or None, PAGE_SIZE)
    number = await resources.versions.number(tenants)
    return page(
        "settings.html", request, principal, given={"tenant": tenant or ""}, found=found.items,
        options={"tenant": await resources.versions.tenants(principal.chosen_tenants(None))},
        total=agreeing_total(number, len(found.items), first=not cursor, more=found.next_cursor is not None),
        first=not cursor, address=urlencode(values),
        more=urlencode(values | {"cursor": found.next_cursor}) if found.next_cursor else None,
    )  # fmt: skip


@router.get("/audit/settings/{version}")
async def audit_version(
    version: Version, request: Request, principal: Auditing, resources: Shared, tenant: ChosenTenant = None
) -> Response:
    """Show a version with the rules, limits, effects and texts by which it decided."""
    found = await found_settings(resources, principal, version, tenant)
    return page(
        "version_settings.html", request, principal, found=found, address=urlencode({"tenant": tenant} if tenant else {}),
        given={"tenant": tenant or ""}, rules=_rules(found), limits=[each for each in found.settings if each.group == "limits"],
        overrides=_overrides(found), texts=_texts(found),
        software=[each for each in found.settings if each.group == "software"], restricted=bool(principal.tenants),
    )  # fmt: skip


class Rule(NamedTuple):
    """A rule of a version in words: what it looks at, what passes, and its effect in each mode, empty if not recorded."""

    reason: str
    name: str
    field: str
    needed: str
    gatekeeper: str
    observer: str


def _rules(found: VersionSettings) -> list[Rule]:
    values = {each.part: each.value for each in found.settings}
    effects: dict[str, dict[str, str]] = {}
    for each in found.settings:
        if each.group == "rules":
            reason, _, mode = each.part.removeprefix(EFFECTS).rpartition(".")
            effects.setdefault(reason, {})[mode] = each.value
    return [_rule(reason, values.get(_minimum_of(reason), ""), modes) for reason, modes in effects.items()]


def _rule(reason: str, minimum: str, modes: Mapping[str, str]) -> Rule:
    condition = condition_of(reason)
    needed = f"at least {minimum}" if minimum else condition.needed
    return Rule(
        reason, reason_words(reason), condition.field, needed, modes.get("gatekeeper", ""), modes.get("observer", "")
    )


def _minimum_of(reason: str) -> str:
    """Return the part with the minimum that a rule compares a score with; empty if it compares none."""
    if reason.endswith(".below_minimum"):
        return f"decision.evaluators.{reason.removeprefix('evaluations.').removesuffix('.below_minimum')}.minimum"
    return MINIMA.get(reason, "")


def _overrides(found: VersionSettings) -> list[tuple[str, list[SettingView]]]:
    """Return the overrides by the answers that they concern."""
    groups: dict[str, list[SettingView]] = {}
    for each in found.settings:
        if each.group == "overrides":
            groups.setdefault(concerned(each.tenant, each.query_type), []).append(each)
    return list(groups.items())


def _texts(found: VersionSettings) -> list[tuple[str, list[SettingView]]]:
    """Return the texts for readers by language."""
    settings = [each for each in found.settings if each.group == "texts"]
    return [(code, list(group)) for code, group in groupby(settings, key=lambda each: each.part.split(".")[1])]
