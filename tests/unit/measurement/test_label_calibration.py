"""The mapping of the risk to an owner's labels: better by folds, or nothing."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from workers.evaluation.grounding.risk import Measures, assess
from workers.evaluation.risk_mapping import RiskMapping, read_risk_mapping
from workers.evaluation.thresholds import GroundingThresholds
from workers.measurement.fits.label_calibration import LabelFit, TooFewLabels, fit_labels, reliability
from workers.pipeline.versions import differences, version_parts
from workers.settings import Settings

BANDS = GroundingThresholds()


def answers(count: int, truth: RiskMapping, seed: int = 1) -> tuple[list[float], list[bool], list[str]]:
    """Return risks, labels that follow the mapping of them, and sources of two answers each."""
    chance = np.random.default_rng(seed)
    risks = chance.uniform(0.02, 0.98, count).round(4).tolist()
    labels = [bool(chance.uniform() < truth(risk)) for risk in risks]
    return risks, labels, [f"source {number // 2}" for number in range(count)]


def test_a_risk_that_is_too_high_for_the_answers_is_mapped_to_what_happens() -> None:
    fit = fit_labels(*answers(400, RiskMapping(1.5, -2.0)), BANDS)
    assert fit.is_better and fit.log_loss.low > 0.0
    assert fit.mapping.slope == pytest.approx(1.5, abs=0.5) and fit.mapping.intercept == pytest.approx(-2.0, abs=0.5)
    before, after = fit.figures()["calibration_error"]
    assert after < 0.5 * before


@pytest.mark.parametrize("seed", range(8))
def test_a_risk_that_is_right_already_is_left_alone(seed: int) -> None:
    fit = fit_labels(*answers(200, RiskMapping(), seed), BANDS)
    assert fit.mapping.slope == 1.0 and fit.mapping.intercept == 0.0
    assert (fit.after == fit.before).all()


def test_labels_without_any_relation_to_the_risk_do_no_harm() -> None:
    chance = np.random.default_rng(7)
    risks, _, sources = answers(120, RiskMapping())
    wrong = [risk < 0.5 for risk in risks]
    random = (chance.uniform(0, 1, 120) < 0.5).tolist()
    for labels in (wrong, random):
        mapping = fit_labels(risks, labels, sources, BANDS).mapping
        assert mapping.slope > 0.0
    assert fit_labels(risks, wrong, sources, BANDS).mapping.slope == 1.0


def test_the_minimum_of_a_band_is_fitted_where_it_finds_more() -> None:
    # Of the riskier half a fifth is bad, of the other half nothing: no answer reaches a medium risk of 0.3.
    risks = [0.01 + 0.0001 * number for number in range(300)] + [0.15 + 0.0003 * number for number in range(300)]
    labels = [number >= 300 and number % 5 == 0 for number in range(600)]
    fit = fit_labels(risks, labels, [str(number) for number in range(600)], BANDS)
    assert fit.is_better and fit.medium.low > 0.0 and fit.mapping.risk_medium is not None
    flagged = [fit.mapping(risk) >= fit.mapping.risk_medium for risk in risks]
    assert sum(flagged[:300]) == 0 and sum(flagged[300:]) > 290
    high = fit.mapping.risk_high if fit.mapping.risk_high is not None else BANDS.risk_high
    assert fit.mapping.risk_medium <= high


@pytest.mark.parametrize(
    ("count", "bad", "sources", "reason"),
    [
        (49, 20, 49, "49 labelled answers"),
        (60, 9, 60, "9 answers have the label 1"),
        (60, 51, 60, "9 the label 0"),
        (60, 30, 4, "4 different sources"),
        (0, 0, 0, "0 labelled answers"),
    ],
)
def test_too_few_labels_are_refused(count: int, bad: int, sources: int, reason: str) -> None:
    labels = [True] * bad + [False] * (count - bad)
    with pytest.raises(TooFewLabels, match=reason):
        fit_labels([0.5] * count, labels, [str(number % max(1, sources)) for number in range(count)], BANDS)


def test_fifty_answers_are_enough() -> None:
    risks, labels, sources = answers(50, RiskMapping(2.0, -2.0), 3)
    assert isinstance(fit_labels(risks, labels, sources, BANDS), LabelFit)


def test_reliability_has_groups_of_equal_size_with_intervals() -> None:
    risks = np.linspace(0, 1, 50)
    groups = reliability(risks, risks > 0.5)
    assert [group["answers"] for group in groups] == [10] * 5
    assert [group["bad"] for group in groups] == [0.0, 0.0, 0.5, 1.0, 1.0]
    assert all(group["interval"][0] <= group["bad"] <= group["interval"][1] for group in groups)


def written(path: Path, **changes: Any) -> Path:
    document = {
        "kind": "touchstone risk mapping",
        "slope": 1.2,
        "intercept": -1.0,
        "risk_medium": 0.2,
        "risk_high": None,
    }
    path.write_text(json.dumps(document | changes), encoding="utf-8")
    return path


def test_a_file_that_is_written_is_read_as_the_same_mapping(tmp_path: Path) -> None:
    fit = fit_labels(*answers(400, RiskMapping(1.5, -2.0)), BANDS)
    path = tmp_path / "risk.json"
    path.write_text(json.dumps(fit.document()), encoding="utf-8")
    found = read_risk_mapping(path)
    assert found(0.4) == pytest.approx(fit.mapping(0.4), abs=1e-3)
    assert (found.risk_medium, found.risk_high) == (fit.mapping.risk_medium, fit.mapping.risk_high)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "is not JSON"),
        ("[]", "no risk mapping"),
        ('{"kind": "other"}', "no risk mapping"),
        ('{"kind": "touchstone risk mapping", "slope": 0, "intercept": 0}', "slope must be above 0"),
        ('{"kind": "touchstone risk mapping", "slope": true, "intercept": 0}', "slope is missing or no number"),
        ('{"kind": "touchstone risk mapping", "slope": 1}', "intercept is missing"),
        ('{"kind": "touchstone risk mapping", "slope": NaN, "intercept": 0}', "slope is missing or no number"),
    ],
)
def test_a_file_that_is_no_mapping_is_refused_with_its_reason(tmp_path: Path, content: str, reason: str) -> None:
    (tmp_path / "risk.json").write_text(content, encoding="utf-8")
    with pytest.raises(ValidationError, match=reason):
        GroundingThresholds(risk_mapping=tmp_path / "risk.json")
    with pytest.raises(ValidationError, match="cannot be read"):
        GroundingThresholds(risk_mapping=tmp_path / "missing.json")


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.01, 5), st.floats(-5, 5))
def test_a_mapping_keeps_the_order_of_answers(one: float, two: float, slope: float, intercept: float) -> None:
    mapping = RiskMapping(slope, intercept)
    low, high = sorted((one, two))
    assert 0.0 <= mapping(low) <= mapping(high) <= 1.0


MEASURES = Measures(0, 0.9, 0.9, 1.0, 0, 3)


def test_the_worker_maps_the_risk_and_takes_the_bands_that_the_settings_do_not_set(tmp_path: Path) -> None:
    path = written(tmp_path / "risk.json")
    thresholds = GroundingThresholds(risk_mapping=path)
    assert (thresholds.risk_medium, thresholds.risk_high) == (0.2, 0.7)
    plain, mapped = assess(MEASURES, 0.45, BANDS), assess(MEASURES, 0.45, thresholds)
    assert mapped.score == pytest.approx(RiskMapping(1.2, -1.0)(plain.score), abs=1e-6)
    assert (plain.level, mapped.level) == ("medium", "medium")
    own = GroundingThresholds(risk_mapping=path, risk_medium=0.4)
    assert own.risk_medium == 0.4 and assess(MEASURES, 0.45, own).level == "low"


def test_what_was_not_checked_is_no_low_risk_after_a_mapping_either(tmp_path: Path) -> None:
    thresholds = GroundingThresholds(risk_mapping=written(tmp_path / "risk.json", intercept=-5.0))
    unchecked = Measures(0, 0.9, 0.9, 1.0, 0, 3, unchecked=2)
    assert assess(unchecked, 0.1, thresholds).level == "medium"


def test_a_mapping_is_a_part_of_the_version_by_its_content(tmp_path: Path) -> None:
    def parts(path: Path | None) -> dict[str, str]:
        return version_parts(Settings(_env_file=None, grounding={"risk_mapping": path}))

    one = parts(written(tmp_path / "one.json"))
    assert differences(one, parts(written(tmp_path / "two.json"))) == {}
    assert set(differences(one, parts(written(tmp_path / "three.json", slope=1.3)))) == {"risk_mapping"}
    assert set(differences(parts(None), one)) == {"risk_mapping", "grounding.risk_medium"}
