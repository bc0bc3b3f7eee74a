"""Fits without a part of the rules, and the difference that it makes."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.answer_cases import CASES, read_cases
from workers.evaluation.grounding import support
from workers.evaluation.grounding.calibration import shipped_calibration
from workers.evaluation.grounding.claim_features import FEATURES
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding, risk_by_rules
from workers.evaluation.thresholds import GroundingThresholds
from workers.measurement.fits.ablation import PARTS, FoldRisk, measured_without, timed_measurement, worths
from workers.measurement.labelled_answers import LabelledRow, read_labelled
from workers.measurement.measured_answers import measure_row

CALIBRATION = shipped_calibration()


def labelled(number: int, answer: str, context: str, *, label: bool = False) -> LabelledRow:
    return LabelledRow(str(number), "made", "qa", "", (context,), answer, label, None)


def case_rows() -> list[LabelledRow]:
    """Return open cases of every kind with texts as contexts and without earlier turns."""
    return [
        LabelledRow(case.id, "cases", "qa", case.query, tuple(map(str, case.contexts)), case.answer, not case.is_right, None)
        for case in read_cases(CASES)
        if not case.heldout and case.contexts and case.answer and all(isinstance(each, str) for each in case.contexts)
    ][::5]  # fmt: skip


def nothing() -> None:
    """Count nothing."""


def test_the_risk_of_a_fit_is_that_of_the_evaluation() -> None:
    compared = 0
    for row in case_rows():
        measured = measure_row(row, CALIBRATION)
        whole = evaluate_grounding(measured.prepared, GroundingThresholds(), CALIBRATION).risk_score
        assert risk_by_rules(measured.prepared, measured.measured, GroundingThresholds(), CALIBRATION) == whole
        compared += whole is not None
    assert compared > 20


RECORD = json.dumps({"name": "Cafe Alba", "attributes": {"WiFi": "no", "OutdoorSeating": True}})


def test_without_a_part_its_columns_and_findings_are_gone_and_no_other() -> None:
    (row,) = [measure_row(labelled(1, "Cafe Alba has WiFi.", RECORD), CALIBRATION)]
    assert row.measured[0].denied
    without = PARTS["records"].without(row)
    assert not without.measured[0].denied
    kept = [number for number, name in enumerate(FEATURES) if not name.startswith("record")]
    assert (without.features[:, kept] == row.features[:, kept]).all()
    assert not without.features[:, [number for number in range(len(FEATURES)) if number not in kept]].any()
    assert (without.measured[0].values == without.features[0]).all()
    assert row.measured[0].denied and row.features[:, FEATURES.index("record_denied")].any()


def test_every_column_belongs_to_one_part() -> None:
    assert sorted(name for part in PARTS.values() for name in part.columns) == sorted(FEATURES)


def test_replaced_functions_are_timed_replaced_and_put_back() -> None:
    before = vars(support)["compare_clauses"]
    rows = [labelled(1, "The firm sued the bank.", "The firm was sued by the bank.", label=True)]
    measured, times = timed_measurement(rows, CALIBRATION, nothing)
    assert vars(support)["compare_clauses"] is before
    assert times["clauses"][0] > 0.0 and set(times) >= {"clauses", "placement", "records", "similarity"}
    assert measured[0].measured[0].mismatches
    (without,) = measured_without("clauses", measured, CALIBRATION, nothing)
    assert not without.measured[0].mismatches
    assert vars(support)["compare_clauses"] is before


def test_functions_are_put_back_after_an_error() -> None:
    before = vars(support)["compare_clauses"]

    def fail() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        timed_measurement([labelled(1, "The firm sued the bank.", "The firm was sued by the bank.")], CALIBRATION, fail)
    assert vars(support)["compare_clauses"] is before


def risks(values: list[float | None]) -> list[FoldRisk]:
    return [FoldRisk(value, value is not None and value >= 0.5) for value in values]


def test_the_worth_is_the_figure_with_the_part_minus_that_without_it() -> None:
    chance = np.random.default_rng(1)
    rows = [labelled(number, "a", f"source {number}", label=number % 2 == 1) for number in range(200)]
    good = risks([0.9 if row.label else 0.1 for row in rows])
    blind = risks(list(chance.uniform(0, 1, 200)))
    (worth,) = worths("records", rows, good, blind, [0.002] * 200)
    assert worth.auroc is not None and worth.f1 is not None and worth.milliseconds == pytest.approx(2.0)
    assert worth.auroc.value == pytest.approx(0.5, abs=0.1) and worth.auroc.low > 0.3
    assert worth.f1.low > 0.3 and not worth.is_idle
    (none,) = worths("records", rows, good, good, None)
    assert none.is_idle and none.as_dict()["auroc"] == [0.0, 0.0, 0.0] and none.milliseconds is None


def test_answers_without_a_risk_with_or_without_the_part_are_left_out() -> None:
    rows = [labelled(number, "a", f"source {number}", label=number % 2 == 1) for number in range(6)]
    (worth,) = worths("language", rows, risks([None, *[0.5] * 5]), risks([*[0.5] * 5, None]), None)
    assert worth.answers == 4


def test_sets_are_compared_for_themselves_and_together(tmp_path: Path) -> None:
    for name in ("one", "two"):
        row = {"id": name, "contexts": [name], "answer": "b", "label": int(name == "two")}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row), encoding="utf-8")
    rows = read_labelled([tmp_path / "one.jsonl", tmp_path / "two.jsonl"])
    found = worths("records", rows, risks([0.1, 0.9]), risks([0.9, 0.1]), None)
    assert [(each.set, each.auroc and each.auroc.value) for each in found] == [
        ("one", None),
        ("two", None),
        ("all", 1.0),
    ]
