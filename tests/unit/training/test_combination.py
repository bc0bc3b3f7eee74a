"""The file that joins a verifier to the rules: fitted on what serving asks, and read by it as it was fitted."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from training import combine
from training.combination import EVERYTHING, KINDS, Case, cases, fit_claims, fit_combination, log_odds, reach, weigh
from workers.evaluation.grounding.calibration import CONFIDENCE_AT_CUT, shipped_calibration
from workers.evaluation.grounding.grounding_evaluator import combine_with_verifier, score_with_rules
from workers.evaluation.grounding.verifier_combination import VerifierCombination, read_combination
from workers.evaluation.thresholds import GroundingThresholds
from workers.inference.verifying import file_version
from workers.measurement.fits import fitting
from workers.measurement.labelled_answers import LabelledRow
from workers.measurement.measured_answers import MeasuredRow, measure_row

ROWS = 100
VECTOR = np.array([1.0], dtype=np.float32)
Scores = dict[tuple[str, str], NDArray[np.float64]]


def labelled(number: int) -> LabelledRow:
    """An answer over a text or, each second time, over a record; people marked some claims at random."""
    speed = f"pump {number} runs at {number + 10} rpm"
    source = (
        f"The {speed}. The cover of pump {number} is green. Its motor was made in Norway by the yard of the harbour."
    )
    if number % 2:
        source = json.dumps({"pump": str(number), "speed": f"{number + 10} rpm", "cover": "green", "motor": "Norway"})
    chance = np.random.default_rng(number)
    answer, spans = "", []
    for text in (
        f"The {speed}.",
        f"The motor of pump {number} was made in Norway and shipped by the harbour.",
        "The staff of the hall enjoy long holidays abroad.",
        f"The cover of pump {number} is not green.",
    ):
        if chance.random() < (0.2 if text.startswith(f"The {speed}") else 0.5):
            spans.append((len(answer), len(answer) + len(text)))
        answer += f"{text} "
    return LabelledRow(str(number), "made", "qa", "", (source,), answer.strip(), bool(spans), tuple(spans))


@pytest.fixture(scope="module")
def rows() -> list[MeasuredRow]:
    return [measure_row(labelled(number), shipped_calibration()) for number in range(ROWS)]


@pytest.fixture(scope="module")
def scores(rows: list[MeasuredRow]) -> Scores:
    """A verifier that can read texts, and takes records for their opposite."""
    chance = np.random.default_rng(0)
    found = {}
    for row in rows:
        for number, marked in enumerate(row.marked or ()):
            telling = marked == (int(row.row.id) % 2 == 0)
            supported = 1 / (1 + np.exp(chance.normal(2.0 if telling else -2.0, 1.5)))
            found["made", f"{row.row.id}#{number}"] = np.array([supported, 0.0, 1.0 - supported])
    return found


@pytest.fixture(scope="module")
def found(rows: list[MeasuredRow], scores: Scores) -> Iterator[list[Case]]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(fitting, "TREES", 20)
        yield cases(rows, scores)


def test_what_is_fitted_is_what_serving_judges_by(found: list[Case]) -> None:
    distance = float(np.quantile(np.abs(np.concatenate([case.margins[case.asked] for case in found])), 0.8))
    fitted = fit_combination(found, (-distance, distance), KINDS, "7", "ab" * 32)
    combination = read_combination(json.dumps(fitted))
    asked, decided = 0, 0
    for case in found:
        weighed = score_with_rules(case.row.prepared, case.calibration, combination)
        verdicts = {
            pair: np.array([said, 0.0, 1.0 - said])
            for pair, said in zip(weighed.pairs, case.said, strict=True)
            if pair is not None
        }
        # Nothing is doubted at the fitted cutoff, so that every score is the one that was fitted.
        thresholds = GroundingThresholds(grounding_minimum=CONFIDENCE_AT_CUT)
        served = combine_with_verifier(weighed, thresholds, verdicts, combination).claims
        expected = combination.confidences(log_odds(case, combination))
        for claim, measured, confidence in zip(served, weighed.measured, expected, strict=True):
            if not measured.mismatches and not measured.contradicted:
                assert claim.score == pytest.approx(confidence, abs=1e-6)
                asked += claim.verifier_score is not None
                decided += claim.verifier_score is None
    assert asked > 50 and decided > 50


def test_each_kind_of_evidence_is_weighed_by_its_own_claims(found: list[Case]) -> None:
    fitted = fit_claims(found, EVERYTHING)
    assert fitted["texts"]["verifier"] > 0.5
    assert fitted["records"] is None, "what tells the wrong way is not asked"
    assert fit_claims(found, EVERYTHING, ["records"])["texts"] is None


def test_the_fit_is_on_claims_alone_that_serving_asks_about(found: list[Case]) -> None:
    contradicted = [
        (case, place)
        for case in found
        for place, text in enumerate(claim.plain for claim in case.row.claims)
        if text.endswith("is not green.") and not case.asked[place]
    ]
    assert len(contradicted) > ROWS / 4
    before = fit_claims(found, EVERYTHING)
    said = [case.said[place] for case, place in contradicted]
    for case, place in contradicted:
        case.said[place] = 0.5
    try:
        assert fit_claims(found, EVERYTHING) == before
    finally:
        for (case, place), kept in zip(contradicted, said, strict=True):
            case.said[place] = kept
    distance = reach(found) / 2
    near = fit_claims(found, (-distance, distance))
    beyond = [case.margins > distance for case in found]
    for case, far in zip(found, beyond, strict=True):
        case.marks[far] = ~case.marks[far]
    try:
        assert fit_claims(found, (-distance, distance)) == near
        assert fit_claims(found, EVERYTHING) != before
    finally:
        for case, far in zip(found, beyond, strict=True):
            case.marks[far] = ~case.marks[far]


def test_all_claims_that_may_be_asked_lie_within_the_reach(found: list[Case]) -> None:
    texts = np.concatenate([case.margins[case.asked & ~case.of_records] for case in found])
    assert reach(found, ["texts"]) == pytest.approx(np.abs(texts).max())
    assert reach(found) >= reach(found, ["texts"])


@pytest.mark.usefixtures("found")
def test_a_claim_without_a_score_is_named(rows: list[MeasuredRow], scores: Scores) -> None:
    with pytest.raises(ValueError, match=r"the scores lack .*'7#0'"):
        cases(rows, {name: each for name, each in scores.items() if name != ("made", "7#0")})


@pytest.mark.usefixtures("found")
def test_the_command_writes_what_serving_reads(
    rows: list[MeasuredRow], scores: Scores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(combine, "measured", lambda paths: rows)
    lines = [json.dumps({"id": name, "set": of, "verdicts": list(each)}) for (of, name), each in scores.items()]
    told, weights, out = (tmp_path / name for name in ("scores.jsonl", "weights.onnx", "verifier.json"))
    told.write_text("\n".join(lines), encoding="utf-8")
    weights.write_bytes(b"weights")
    given = ["--scores", str(told), "--data", "answers", "--kinds", "texts", "--out", str(out)]
    with pytest.raises(SystemExit):
        combine.main(given)
    combine.main([*given, "--weights", str(weights), "--version", "3", "--trained-on", "one", "other"])
    about = json.loads(out.read_bytes())
    assert (about["licence"], about["trained_on"], about["fitted_on"]) == ("Apache-2.0", ["one", "other"], ["made"])
    combination = read_combination(out.read_bytes())
    assert (combination.version, combination.weights) == ("3", file_version(weights))
    assert combination.texts is not None and combination.records is None
    assert combination.lower == -combination.upper < 0
    assert combination.answer.top > 0
    assert 0 < combination.threshold < 1


def test_nothing_is_fitted_on_few_claims(found: list[Case]) -> None:
    few = VerifierCombination(fit_claims(found[:20], EVERYTHING))
    assert few.texts is None and few.records is None
    assert not few.is_open(np.zeros(2), np.array([False, True])).any()


def test_weights_follow_what_tells_and_are_never_negative() -> None:
    rng = np.random.default_rng(3)
    labels = rng.random(4_000) < 0.3
    telling, noise = labels * 2.0 + rng.normal(size=4_000), rng.normal(size=4_000)
    _, weights = weigh(labels, np.stack([telling, noise, -telling], axis=1))
    assert weights[0] == pytest.approx(2.0, abs=0.3)
    assert weights[1] < 0.1
    assert weights[2] == 0.0, "what speaks for a claim by doubting it is left out"
    intercept, (weight,) = weigh(labels, telling[:, None])
    guesses = 1.0 / (1.0 + np.exp(-(intercept + weight * telling)))
    assert guesses.mean() == pytest.approx(labels.mean(), abs=1e-3), "calibrated in the mean"
