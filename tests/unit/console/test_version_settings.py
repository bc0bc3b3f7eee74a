"""Parts of pipeline versions as settings in words, for those who may see them."""

import pytest
from pydantic_core import to_json

from workers.console.presentation.audit.version_settings import EVERYTHING, Viewer, changes_between, settings_of
from workers.decision.policy import Effect, EvaluatorCondition, Override, Row
from workers.pipeline.versions import version_parts
from workers.settings import PrivacySettings, Settings

PLAIN = version_parts(Settings(_env_file=None))


def overridden(*overrides: Override) -> dict[str, str]:
    return PLAIN | {"decision.overrides": to_json([each.model_dump(mode="json") for each in overrides]).decode()}


def said(before: dict[str, str], after: dict[str, str], viewer: Viewer = EVERYTHING) -> list[str]:
    return [each.words for each in changes_between(before, after, viewer)]


@pytest.mark.parametrize(
    ("part", "value", "words"),
    [
        ("gate.gate_score", "0.75", "minimum of the gate score: 0.80 → 0.75"),
        ("gate.gate_score", "0.805", "minimum of the gate score: 0.80 → 0.805"),
        ("decision.audit_share", "0.005", "share of good answers that people review: 1 % → 0.5 %"),
        ("gate.weights.coverage", "2.5", "weight in the gate score: coverage: 1 → 2.5"),
        ("gate.freshness_half_lives.web", "90.0", "age at which the freshness is 0.5, source of the type web: 180 days → 90 days"),
        ("decision.contexts_optional", "true", "answers without sources are expected: no → yes"),
        ("release.ungrounded_claims", '"omit"', "claims without support: kept → left out"),
        ("quality.custom_patterns", "{}", None),
        ("quality.custom_patterns.refusal", '["^No$"]', "own patterns of failure signals refusal: ^No$ (not set before)"),
        ("library.numpy", "9.9", f"library numpy: {PLAIN['library.numpy']} → 9.9"),
        ("rules", "000000000000", "code of the rules changed"),
        ("decision.effects.gate_score_unknown.observer", '{"state":"warned","review":false}', "overall score unknown, observer: without effect → warned"),
        ("of_later_versions", "1", "of_later_versions added"),
        ("grounding.of_later_versions", "0.5", "grounding.of_later_versions: 0.50 (not set before)"),
    ],
)  # fmt: skip
def test_a_change_is_a_phrase(part: str, value: str, words: str | None) -> None:
    assert said(PLAIN, PLAIN | {part: value}) == ([words] if words else [])


def test_every_setting_has_words() -> None:
    masking = Settings(_env_file=None, privacy=PrivacySettings(mask=("mail",), key="k" * 32))
    for each in settings_of(version_parts(masking)).values():
        assert each.name and each.name != each.part and ("_" not in each.name or each.group == "software"), each


def test_of_two_overrides_for_the_same_answers_the_later_one_counts() -> None:
    parts = overridden(
        Override(tenant="acme", gate_score=0.5, audit_share=0.5),
        Override(gate_score=0.9),
        Override(tenant="acme", gate_score=0.6),
    )
    values = {each.title: each.value for each in settings_of(parts).values() if each.group == "overrides"}
    assert values == {
        "answers of the tenant acme: minimum of the gate score": "0.60",
        "answers of the tenant acme: share of good answers that people review": "50 %",
        "answers of all tenants: minimum of the gate score": "0.90",
    }
    assert said(parts, overridden(Override(gate_score=0.9))) == [
        "answers of the tenant acme: minimum of the gate score: no longer set (before: 0.60)",
        "answers of the tenant acme: share of good answers that people review: no longer set (before: 50 %)",
    ]


def test_an_override_says_the_effects_that_it_replaces() -> None:
    condition = EvaluatorCondition(minimum=0.3, below=Row(observer=Effect(state="fallback")))
    parts = overridden(Override(query_type="sql", evaluators={"tone": condition}, rows={"refusal": Row()}))
    values = {each.name: each.value for each in settings_of(parts).values() if each.group == "overrides"}
    assert values == {
        "minimum of the score of the evaluator tone": "0.30",
        "refusal, gatekeeper": "without effect",
        "refusal, observer": "without effect",
        "score of tone below its minimum, gatekeeper": "without effect",
        "score of tone below its minimum, observer": "fallback",
        "score of tone unknown, gatekeeper": "held, with a review",
        "score of tone unknown, observer": "only noted",
    }


@pytest.mark.parametrize("other", ["b", "a.mask", "a.patterns", 'a","b', "A"])
def test_a_viewer_of_some_tenants_sees_those_and_what_holds_for_all(other: str) -> None:
    privacy = PrivacySettings(
        mask=("mail",), key="k" * 32, tenants={"a": {"mask": ("iban",)}, other: {"mask": ("card",)}}
    )
    parts = version_parts(Settings(_env_file=None, privacy=privacy)) | overridden(
        Override(tenant=other, gate_score=0.31), Override(tenant="a", gate_score=0.32), Override(gate_score=0.33)
    )
    parts |= {
        "privacy.tenants.of-before.mask": '["earlier-kind"]',
        "release.url_rules./of-others/*": '"https://x.example.org"',
    }
    seen = [each for each in settings_of(parts, Viewer(["a"], everything=False)).values() if each.tenant]
    assert {each.tenant for each in seen} == {"a"}
    text = repr(settings_of(parts, Viewer(["a"], everything=False)))
    assert not [each for each in ("card", "earlier-kind", "0.31", "x.example.org") if each in text]
    assert all(each in text for each in ("iban", "mail", "0.32", "0.33"))
    assert said(PLAIN, overridden(Override(tenant=other, gate_score=0.31)), Viewer(["a"], everything=False)) == []
    everything = repr(settings_of(parts))
    assert all(each in everything for each in ("card", "earlier-kind", "0.31", "x.example.org"))


def test_a_version_that_recorded_no_effects_is_compared_by_what_both_have() -> None:
    early = {name: value for name, value in PLAIN.items() if not name.startswith(("decision.effects.", "texts."))}
    early |= {"decision.rows": "{}", "decision.evaluators": "{}", "gate.gate_score": "0.7"}
    assert said(early, PLAIN) == ["minimum of the gate score: 0.70 → 0.80"]
    assert said(PLAIN, early) == ["minimum of the gate score: 0.80 → 0.70"]
    conditions = {
        "minimum": "0.5",
        "below.observer": "null",
        "below.gatekeeper.state": '"held"',
        "below.gatekeeper.review": "true",
    }
    early |= {f"decision.evaluators.tone.{name}": value for name, value in conditions.items()}
    rules = {each.name: each.value for each in settings_of(early).values() if each.group == "rules"}
    assert rules == {
        "score of tone below its minimum, observer": "without effect",
        "score of tone below its minimum, gatekeeper": "held, with a review",
    }
