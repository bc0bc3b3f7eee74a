"""The calibration, its fit, and the figures by which it is measured."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from workers.evaluation.grounding.calibration import AnswerClaims, GroundingCalibration, shipped_calibration
from workers.evaluation.grounding.claim_features import FEATURES
from workers.evaluation.grounding.prepared_grounding import PreparedGrounding
from workers.measurement.classification_metrics import auroc, best_threshold, calibration_error
from workers.measurement.fits import fitting
from workers.measurement.fits.fitting import empty_document, fit_calibration, folds, word_weights
from workers.measurement.labelled_answers import LabelledRow, UnreadableSet, read_labelled
from workers.measurement.measured_answers import MeasuredRow

SHIPPED = shipped_calibration()
NONE = np.zeros(4, dtype=np.bool_)
FEATURE = st.floats(0, 40, allow_nan=False)


@settings(max_examples=300)
@given(st.lists(FEATURE, min_size=len(FEATURES), max_size=len(FEATURES)), st.integers(0, len(FEATURES) - 1), FEATURE)
def test_more_doubt_in_a_feature_never_makes_a_claim_more_credible(
    values: list[float], column: int, more: float
) -> None:
    worse = list(values)
    worse[column] += more
    base, other = SHIPPED.log_odds(np.array([values, worse]))
    assert other >= base - 1e-12


def test_confidence_at_the_fitted_cutoff_is_the_minimum_of_the_seed() -> None:
    assert SHIPPED.confidences(np.array([SHIPPED.cut]))[0] == pytest.approx(0.6)
    assert (np.diff(SHIPPED.confidences(np.linspace(-9, 9, 50))) < 0).all()


CLAIM = st.tuples(st.floats(-8, 8), st.floats(0, 1), st.integers(1, 40), st.booleans())
"""Log-odds, share that is not said, words, whether unsupported."""


def risk_of(claims: list[tuple[float, float, int, bool]]) -> float:
    log_odds, unsupported_share, words, unsupported = zip(*claims, strict=True)
    return SHIPPED.risk(
        AnswerClaims(
            np.array(log_odds), np.array(unsupported_share), np.array(words, dtype=np.float64), np.array(unsupported)
        )
    )


@settings(max_examples=300)
@given(st.lists(CLAIM, min_size=1, max_size=6), CLAIM)
def test_an_unsupported_claim_of_any_kind_never_lowers_the_risk(
    claims: list[tuple[float, float, int, bool]], further: tuple[float, float, int, bool]
) -> None:
    # A plain mean of what is not said would fall where the further claim has most of its words in the sources.
    assert risk_of([*claims, (*further[:3], True)]) >= risk_of(claims) - 1e-12


@settings(max_examples=300)
@given(st.lists(CLAIM, min_size=1, max_size=6), st.floats(0, 1), st.floats(0, 8), st.booleans())
def test_a_claim_that_finds_more_support_never_raises_the_risk(
    claims: list[tuple[float, float, int, bool]], kept: float, odds: float, found: bool
) -> None:
    log_odds, unsupported_share, words, unsupported = claims[0]
    better = (log_odds - odds, unsupported_share * kept, words, unsupported and not found)
    assert risk_of([better, *claims[1:]]) <= risk_of(claims) + 1e-12


def test_the_risk_grows_with_the_share_of_words_that_no_source_says() -> None:
    short, long = (-3.0, 0.8, 2, False), (-3.0, 0.8, 30, False)
    sound = (-3.0, 0.0, 10, False)
    assert risk_of([sound]) < risk_of([sound, short]) < risk_of([sound, long])


def test_a_calibration_of_other_features_is_refused() -> None:
    document = empty_document({"weights": {}, "unknown": 1.0}) | {"features": ["distance"]}
    with pytest.raises(ValueError, match="touchstone calibrate grounding"):
        GroundingCalibration(document)


def row(number: int, label: bool, spans: tuple[tuple[int, int], ...] | None) -> LabelledRow:
    return LabelledRow(str(number), "made", "qa", "", (f"source {number // 3}",), "An answer.", label, spans)


def measured(number: int, features: NDArray[np.float64], marked: list[bool] | None, label: bool) -> MeasuredRow:
    spans = None if marked is None else ()
    prepared = PreparedGrounding("default", str(number))
    words = np.ones(len(features))
    return MeasuredRow(row(number, label, spans), prepared, (), features, words, None if marked is None else tuple(marked), 0.0)  # fmt: skip


def made_rows() -> list[MeasuredRow]:
    chance = np.random.default_rng(1)
    rows = []
    for number in range(240):
        features = np.zeros((4, len(FEATURES)))
        features[:, FEATURES.index("unseen_share")] = chance.uniform(0, 1, 4)
        features[:, FEATURES.index("apart")] = chance.uniform(0, 1, 4)  # says nothing
        marked = [bool(share + chance.normal(0, 0.1) > 0.7) for share in features[:, FEATURES.index("unseen_share")]]
        rows.append(measured(number, features, marked if number % 2 else None, any(marked)))
    return rows


@pytest.fixture
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fit a third of the trees, which is enough for what tells as clearly as this."""
    monkeypatch.setattr(fitting, "TREES", 50)


@pytest.mark.usefixtures("few_trees")
def test_the_fit_finds_what_tells_bad_claims_and_is_the_same_each_time() -> None:
    rows = made_rows()
    words = {"weights": {}, "unknown": 1.0}
    document = fit_calibration(rows, words, "made")
    assert json.dumps(document) == json.dumps(fit_calibration(rows, words, "made"))
    calibration = GroundingCalibration(document)
    told = calibration.log_odds(np.concatenate([each.features for each in rows if each.marked is not None]))
    labels = [flag for each in rows for flag in each.marked or ()]
    area = auroc(told, labels)
    assert area is not None and area > 0.9
    risks = [calibration.risk(AnswerClaims(calibration.log_odds(r.features), r.features[:, 1], r.words, NONE)) for r in rows]  # fmt: skip
    area = auroc(risks, [each.row.label for each in rows])
    assert area is not None and area > 0.9


@pytest.mark.usefixtures("few_trees")
def test_the_threshold_is_one_of_the_risk_that_goes_out(monkeypatch: pytest.MonkeyPatch) -> None:
    # A contradiction or a missing citation adds to the risk: a threshold of the bare probability is too low.
    monkeypatch.setattr(fitting, "_risk", lambda row, calibration: 0.9 if row.row.label else 0.7)
    document = fit_calibration(made_rows(), {"weights": {}, "unknown": 1.0}, "made")
    assert document["answer"]["threshold"] == pytest.approx(0.8)


def test_no_source_stands_on_both_sides_of_a_split() -> None:
    sources = [f"s{number % 7}" for number in range(50)]
    seen = []
    for train, test in folds(sources):
        assert not {sources[index] for index in train} & {sources[index] for index in test}
        seen += test
    assert sorted(seen) == list(range(50))


def test_words_that_many_answers_add_weigh_less() -> None:
    rows = [
        LabelledRow(str(n), "made", "qa", "", (f"The pump {n} runs.",), f"Overall, the pump {n} runs well w{n}.", False, None)
        for n in range(5)
    ]  # fmt: skip
    weights = word_weights(rows)
    assert set(weights["weights"]) == {"overal", "well"}
    assert weights["weights"]["well"] < weights["unknown"]


def test_the_threshold_is_the_best_that_there_is() -> None:
    chance = np.random.default_rng(2)
    scores, labels = chance.uniform(0, 1, 60).round(1), chance.uniform(0, 1, 60) < 0.4

    def f1_at(threshold: float) -> float:
        flagged = scores >= threshold
        return float(2 * (flagged & labels).sum() / max(1, flagged.sum() + labels.sum()))

    best = best_threshold(scores, labels, measure="f1")
    assert f1_at(best) == pytest.approx(max(f1_at(value) for value in np.linspace(-0.05, 1.05, 23)))


def test_calibration_error_is_the_distance_from_what_happens() -> None:
    assert calibration_error([0.25] * 4, [True, False, False, False])[0] == pytest.approx(0.0)
    assert calibration_error([0.95] * 4, [False] * 4)[0] == pytest.approx(0.95)


def test_rows_are_read_plain_and_packed(tmp_path: Path) -> None:
    line = json.dumps({"id": 1, "contexts": ["a"], "answer": "b", "label": 1, "spans": [[0, 1, "x"]]})
    (tmp_path / "plain.jsonl").write_text(line + "\n\n")
    with gzip.open(tmp_path / "packed.jsonl.gz", "wt") as packed:
        packed.write(line)
    rows = read_labelled([tmp_path / "plain.jsonl", tmp_path / "packed.jsonl.gz"])
    assert [(each.set, each.label, each.spans) for each in rows] == [
        ("plain", True, ((0, 1),)),
        ("packed", True, ((0, 1),)),
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"id": 1, "contexts": [], "label": 0}', "line 1: field answer is missing"),
        ("{", "cannot be read as JSON lines"),
        ("", "contains no rows"),
    ],
)
def test_a_set_that_cannot_be_read_says_where_and_why(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "set.jsonl").write_text(content)
    with pytest.raises(UnreadableSet, match=said):
        read_labelled([tmp_path / "set.jsonl"])
