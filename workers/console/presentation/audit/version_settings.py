"""Read the parts of a pipeline version as settings in words, and compare those of two versions."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

from pydantic_core import from_json, to_json

from workers.console.presentation.audit.setting_names import (
    LIMITS,
    NOTHING,
    READER_TEXTS,
    effect_words,
    limit_name,
    reason_words,
    software_name,
    value_words,
)
from workers.pipeline.policy_parts import EFFECTS, MODES, TEXTS_FOR_READERS

Group = Literal["rules", "limits", "overrides", "texts", "software"]
GROUPS: tuple[Group, ...] = get_args(Group)

Parts = Mapping[str, str]

_OVERRIDES, _MASKED = "decision.overrides", "privacy.tenants"
_ROWS_BEFORE = re.compile(
    r"decision\.(?:rows|evaluators)\.(?P<name>.+?)(?:\.(?P<fact>below|unknown))?\.(?P<mode>gatekeeper|observer)(?:\.(?P<field>state|review))?"
)
"""Parts of versions that did not record the whole table: effects that settings had replaced."""
_FACTS = {"below": "below_minimum", "unknown": "unknown"}
_OF_ALL_TENANTS = ("release.url_rules", f"{_MASKED}.")
"""Beginnings of parts that may name tenants without a field for them."""
_LIMITS_OF_OVERRIDES = {"gate_score": "gate.gate_score", "grounding_minimum": "grounding.grounding_minimum"}
_SETTINGS = ("gate.", "grounding.", "quality.", "decision.", "release.", "memory.", "privacy.")
"""Beginnings of parts whose values are JSON."""


class Viewer(NamedTuple):
    """Say whose settings somebody may see.

    Attributes:
        tenants: tenants whose overrides are shown; empty for those of all.
        everything: true if the caller may see settings that may name any tenant.
    """

    tenants: Sequence[str] = ()
    everything: bool = True

    def includes(self, tenant: str | None) -> bool:
        """Return true if overrides of a tenant are shown; those without a tenant are."""
        return tenant is None or not self.tenants or tenant in self.tenants


EVERYTHING = Viewer()


class Setting(NamedTuple):
    """A setting of a version in words.

    Attributes:
        part: name of the setting, unique in a version.
        group: kind of the setting.
        name: words for it, without those for whom it holds.
        value: its value in words.
        tenant: tenant for whose answers it holds; ``None`` for all.
        query_type: class of queries for which it holds; ``None`` for all.
    """

    part: str
    group: Group
    name: str
    value: str
    tenant: str | None = None
    query_type: str | None = None

    @property
    def title(self) -> str:
        """Return the name with the answers for which the setting holds."""
        return f"{concerned(self.tenant, self.query_type)}: {self.name}" if self.group == "overrides" else self.name


class Change(NamedTuple):
    """A setting that differs between two versions; a value is ``None`` where there is none."""

    setting: Setting
    before: str | None
    after: str | None

    @property
    def words(self) -> str:
        """Return the change as a phrase; long texts and digests are left out."""
        name = self.setting.title
        if self.before is None:
            return f"{name}: {self.after} (not set before)" if self._is_short else f"{name} added"
        if self.after is None:
            return f"{name}: no longer set (before: {self.before})" if self._is_short else f"{name} removed"
        return f"{name}: {self.before} → {self.after}" if self._is_short else f"{name} changed"

    @property
    def _is_short(self) -> bool:
        setting = self.setting
        return setting.group != "texts" and (setting.group != "software" or setting.part.startswith("library."))


def concerned(tenant: str | None, query_type: str | None) -> str:
    """Return the answers that an override concerns."""
    whose = f"answers of the tenant {tenant}" if tenant is not None else "answers of all tenants"
    return f"{whose} to queries of the class {query_type}" if query_type is not None else whose


def records_effects(parts: Parts) -> bool:
    """Return true if a version recorded the effects of all rules and the texts for readers."""
    return any(name.startswith(EFFECTS) for name in parts)


def settings_of(parts: Parts, viewer: Viewer = EVERYTHING) -> dict[str, Setting]:
    """Return the settings of a version by their part, in the order of pages.

    Args:
        parts: parts of the version.
        viewer: whose settings are shown.
    """
    shown = {name: value for name, value in parts.items() if viewer.everything or not name.startswith(_OF_ALL_TENANTS)}
    found = [*_effects(_effects_of(shown)), *_overrides(shown, viewer), *_masked(shown, viewer)]
    found += [
        setting
        for name, value in shown.items()
        if not name.startswith((EFFECTS, _OVERRIDES)) and name != _MASKED and not _ROWS_BEFORE.fullmatch(name)
        for setting in _single(name, value)
    ]
    order = {name: place for place, name in enumerate(LIMITS)}
    found.sort(key=lambda each: (GROUPS.index(each.group), order.get(each.part, len(order))))
    return {each.part: each for each in found}


def changes_between(before: Parts, after: Parts, viewer: Viewer = EVERYTHING) -> list[Change]:
    """Return the settings that differ between two versions, in the order of pages.

    What one of them did not record is no change.
    """
    old, new = settings_of(before, viewer), settings_of(after, viewer)
    comparable = records_effects(before) == records_effects(after)
    found = [
        Change(each, _value(old, part), _value(new, part))
        for part, each in (old | new).items()
        if _differ(_value(old, part), _value(new, part))
        and (comparable or each.group not in ("rules", "texts") or (part in old and part in new))
    ]
    return sorted(found, key=lambda each: GROUPS.index(each.setting.group))


def _differ(before: str | None, after: str | None) -> bool:
    """Return true if values differ; a setting that is missing and one that is empty do not."""
    return before != after and {before, after} != {None, NOTHING}


def _value(settings: Mapping[str, Setting], part: str) -> str | None:
    return settings[part].value if part in settings else None


def _json(text: str) -> Any:
    try:
        return from_json(text)
    except ValueError:
        return text


def _single(name: str, value: str) -> Iterator[Setting]:
    software = software_name(name)
    if software is not None:
        words = value_words(name, _json(value)) if name == "quality.packs" else value
        yield Setting(name, "software", software, words)
    elif name.startswith(TEXTS_FOR_READERS):
        _, language, text = name.split(".", 2)
        yield Setting(name, "texts", f"{READER_TEXTS.get(text, text)} ({language})", value)
    elif name.startswith(_SETTINGS):
        # Without rows, earlier versions recorded an empty object.
        if name not in ("decision.rows", "decision.evaluators"):
            yield Setting(name, "limits", limit_name(name), value_words(name, _json(value)))
    else:
        yield Setting(name, "software", name, value)


def _effects(effects: Mapping[tuple[str, str], Any]) -> Iterator[Setting]:
    for (reason, mode), effect in effects.items():
        yield Setting(f"{EFFECTS}{reason}.{mode}", "rules", f"{reason_words(reason)}, {mode}", effect_words(effect))


def _effects_of(parts: Parts) -> dict[tuple[str, str], Any]:
    """Return the recorded effects by reason and mode; of an earlier version those that its settings had replaced."""
    found: dict[tuple[str, str], Any] = {}
    for name, value in parts.items():
        if name.startswith(EFFECTS):
            reason, _, mode = name.removeprefix(EFFECTS).rpartition(".")
            found[reason, mode] = _json(value)
        elif match := _ROWS_BEFORE.fullmatch(name):
            reason = f"evaluations.{match['name']}.{_FACTS[match['fact']]}" if match["fact"] else match["name"]
            if match["field"]:
                found.setdefault((reason, match["mode"]), {})[match["field"]] = _json(value)
            else:
                found[reason, match["mode"]] = _json(value)
    return found


def _overrides(parts: Parts, viewer: Viewer) -> Iterator[Setting]:
    merged: dict[tuple[str | None, str | None], dict[str, tuple[str, str]]] = {}
    for override in _json(parts.get(_OVERRIDES, "[]")):
        if viewer.includes(override["tenant"]):
            # Of two overrides for the same answers, the later one counts.
            held = merged.setdefault((override["tenant"], override["query_type"]), {})
            held |= dict(_differences(override))
    for (tenant, query_type), values in merged.items():
        key = to_json([tenant, query_type]).decode()
        for name, (words, value) in values.items():
            yield Setting(f"{_OVERRIDES}{key}.{name}", "overrides", words, value, tenant, query_type)


def _differences(override: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield what an override replaces: name, words and value."""
    for name, value in override.items():
        if value is not None and name not in ("tenant", "query_type", "rows", "evaluators"):
            part = _LIMITS_OF_OVERRIDES.get(name, f"decision.{name}")
            yield name, (limit_name(part), value_words(part, value))
    rows = dict(override["rows"])
    for evaluator, condition in override["evaluators"].items():
        name = f"decision.evaluators.{evaluator}.minimum"
        yield name, (limit_name(name), value_words(name, condition["minimum"]))
        rows |= {f"evaluations.{evaluator}.{fact}": condition[key] for key, fact in _FACTS.items()}
    for reason, row in rows.items():
        for mode in MODES:
            yield f"{reason}.{mode}", (f"{reason_words(reason)}, {mode}", effect_words(row[mode]))


def _masked(parts: Parts, viewer: Viewer) -> Iterator[Setting]:
    for tenant, rules in _json(parts.get(_MASKED, "{}")).items():
        if viewer.includes(tenant):
            key = to_json(tenant).decode()
            for name, value in rules.items():
                words = limit_name(f"privacy.{name}")
                yield Setting(f"{_MASKED}[{key}].{name}", "overrides", words, value_words("", value), tenant)
