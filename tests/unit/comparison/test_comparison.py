"""Figures of a comparison: the same whichever way round, nothing of nothing, and as sure as they say."""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import stats
from typer.testing import CliRunner

from schemas.export import example
from schemas.feedback import AnalyticsRow
from tests.harness.comparisons import hostile_findings
from tests.harness.paths import ROOT
from workers.cli.analysis.comparison_tables import print_comparison
from workers.cli.main import app
from workers.comparison.gates import GateUnreadable, read_gate, try_gate
from workers.comparison.results import FIGURES, Comparison, Levels, Side, findings, side_by_side
from workers.comparison.statistics import LEAST_BUCKETS, LEAST_DISCORDANT, Agreement, corrected, differences
from workers.comparison.tallies import BUCKETS, MEASURES, PARTS, SCORES, Tally

Floats = NDArray[np.float64]

SCORE = MEASURES.index("grounding_score")
SWAPPED = {
    "up": "down",
    "down": "up",
    "became_null": "no_longer_null",
    "no_longer_null": "became_null",
    "a": "b",
    "b": "a",
}


def tally_of(a: Floats, b: Floats, buckets: Sequence[int]) -> Tally:
    """The tally of scores, NaN for null, all measures alike."""
    tally = Tally()
    for one, other, bucket in zip(a, b, buckets, strict=True):
        both = not np.isnan(one) and not np.isnan(other)
        difference = other - one if both else 0.0
        values = {
            "known": both, "a": one if both else 0.0, "b": other if both else 0.0, "difference": difference,
            "up": difference > 1e-9, "down": difference < -1e-9, "became_null": np.isnan(other) and not np.isnan(one),
            "no_longer_null": np.isnan(one) and not np.isnan(other),
        }  # fmt: skip
        tally.add(bucket, 1, [[float(values[part])] * len(MEASURES) for part in PARTS])
    return tally


SCORES_OF = arrays(np.float64, 60, elements=st.one_of(st.floats(0, 1, width=32), st.just(np.nan)))
BUCKETS_OF = st.lists(st.integers(0, BUCKETS - 1), min_size=60, max_size=60)


@settings(deadline=None, max_examples=40)
@given(a=SCORES_OF, b=SCORES_OF, buckets=BUCKETS_OF)
def test_swapping_the_runs_turns_every_figure_round(a: Floats, b: Floats, buckets: list[int]) -> None:
    there = differences(tally_of(a, b, buckets))[SCORE]
    back = differences(tally_of(b, a, buckets))[SCORE]
    for name, other in SWAPPED.items():
        assert getattr(there, name) == getattr(back, other), name
    assert (there.known, there.p_value) == (back.known, pytest.approx(back.p_value) if back.p_value else back.p_value)
    for one, other in ((there.difference, back.difference), (there.low, back.high), (there.high, back.low)):
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert one == pytest.approx(-other, abs=1e-12)


@settings(deadline=None, max_examples=40)
@given(a=SCORES_OF, buckets=BUCKETS_OF)
def test_what_is_compared_with_itself_differs_in_nothing(a: Floats, buckets: list[int]) -> None:
    for each in differences(tally_of(a, a, buckets)):
        assert (each.up, each.down, each.became_null, each.no_longer_null) == (0, 0, 0, 0)
        assert (each.difference, each.low, each.high) in ((0, 0, 0), (0, None, None), (None, None, None))
        assert each.p_value in (None, 1.0)


@settings(deadline=None, max_examples=40)
@given(a=SCORES_OF, b=SCORES_OF, buckets=BUCKETS_OF, seed=st.integers(0, 1_000))
def test_the_order_of_the_answers_changes_nothing(a: Floats, b: Floats, buckets: list[int], seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(a))
    first = differences(tally_of(a, b, buckets))[SCORE]
    second = differences(tally_of(a[order], b[order], [buckets[place] for place in order]))[SCORE]
    for name in first.__slots__:
        one, other = getattr(first, name), getattr(second, name)
        assert one == (pytest.approx(other, abs=1e-9) if isinstance(one, float) else other), name


@pytest.mark.parametrize(("sessions", "least", "most"), [(30, 0.90, 0.98), (150, 0.92, 0.98), (2_000, 0.92, 0.98)])
def test_intervals_hold_the_truth_as_often_as_they_say(sessions: int, least: float, most: float) -> None:
    """600 simulated comparisons: sessions of one to eight answers that move together, one score in five null."""
    generator = np.random.default_rng(7)
    truth, held, trials = 0.02, 0, 600 // len(MEASURES)
    for _ in range(trials):
        tally = Tally()
        buckets = generator.integers(0, BUCKETS, sessions)
        sizes = generator.integers(1, 9, sessions)
        # Every measure is a simulation of its own.
        shared = generator.exponential(0.1, (sessions, len(MEASURES))) - 0.1
        known = generator.binomial(sizes[:, None], 0.8, shared.shape).astype(float)
        moved = known * (truth + shared) + np.sqrt(known) * generator.normal(0, 0.05, shared.shape)
        np.add.at(tally.pairs, buckets, sizes)
        np.add.at(tally.sums[PARTS.index("known")], buckets, known)
        np.add.at(tally.sums[PARTS.index("difference")], buckets, moved)
        found = differences(tally)
        held += sum(each.low <= truth <= each.high for each in found if each.low is not None and each.high is not None)
    assert least <= held / (trials * len(MEASURES)) <= most


def test_too_few_sessions_have_no_interval() -> None:
    scores = np.linspace(0, 1, LEAST_BUCKETS)
    few = differences(tally_of(scores[1:], 1 - scores[1:], range(1, LEAST_BUCKETS)))[SCORE]
    enough = differences(tally_of(scores, 1 - scores, range(LEAST_BUCKETS)))[SCORE]
    assert (few.low, few.p_value) == (None, None)
    assert enough.low is not None
    assert enough.p_value is not None


def test_the_test_of_single_answers_is_the_paired_t_test() -> None:
    generator = np.random.default_rng(3)
    a, b = generator.random(BUCKETS), generator.random(BUCKETS)
    found = differences(tally_of(a, b, range(BUCKETS)))[SCORE]
    assert found.p_value == pytest.approx(stats.ttest_rel(b, a).pvalue)


def test_chance_alone_moves_hardly_any_slice() -> None:
    p_values = np.random.default_rng(5).random(2_000).tolist()
    assert sum(value < 0.05 for value in p_values) > 50
    told = corrected([*p_values, None, 1e-9])
    assert told[-2] is None
    assert told[-1] is not None
    assert told[-1] < 0.001
    assert sum(value is not None and value < 0.05 for value in told) <= 2


@settings(deadline=None)
@given(counts=st.tuples(*[st.integers(0, 60)] * 4))
def test_who_is_right_more_often_is_mcnemars_exact_test(counts: tuple[int, int, int, int]) -> None:
    both, only_a, only_b, neither = counts
    found = Agreement("claims", both, only_a, only_b, neither)
    if only_a + only_b < LEAST_DISCORDANT:
        assert found.p_value is None
        assert "too few" in found.verdict
        return
    fewer, total = min(only_a, only_b), only_a + only_b
    exact = min(1.0, 2 * float(stats.binom.cdf(fewer, total, 0.5)))
    assert found.p_value == pytest.approx(exact)
    assert ("more often" in found.verdict) == (exact < 0.05)
    assert found.verdict.startswith("A") == (exact < 0.05 and only_a > only_b)


def comparison(*pairs: tuple[tuple[str, str], tuple[str, str], tuple[bool, bool], bool, int]) -> Comparison:
    levels = Counter(
        {
            Levels(state, risk, reviewed, reasons_moved=moved, scores_moved=False): count
            for state, risk, reviewed, moved, count in pairs
        }
    )
    return Comparison(Side("a", {"v1": 9}, 0), Side("b", {"v2": 9}, 0), levels)


def test_what_moved_is_counted_once_for_each_answer() -> None:
    found = comparison(
        (("released", "held"), ("low", "high"), (False, True), True, 3),
        (("released", "released"), ("low", "low"), (False, False), True, 2),
        (("held", "held"), ("high", "high"), (True, True), False, 5),
    )
    figures = findings(found).figures
    assert (found.pairs, found.moved(), found.moved("state"), found.moved("reviewed")) == (10, 5, 3, 3)
    assert (figures["changed"], figures["state_changed"], figures["risk_changed"]) == (0.5, 0.3, 0.3)
    assert figures["reasons_changed"] == 0.5
    assert found.matrix("reviewed") == {("no", "yes"): 3, ("no", "no"): 2, ("yes", "yes"): 5}


@pytest.mark.parametrize(("moved", "tested"), [(LEAST_DISCORDANT - 1, False), (LEAST_DISCORDANT, True)])
def test_slices_in_which_hardly_anything_moved_are_not_tested(moved: int, tested: bool) -> None:
    a = np.full(60, 0.5)
    found = comparison((("released", "released"), ("low", "low"), (False, False), False, 60))
    found.slices["model", "m"] = tally_of(a, a + np.where(np.arange(60) < moved, 0.1, 0.0), range(60))
    assert {each.corrected is not None for each in findings(found).slices} == {tested}


def test_claims_stand_side_by_side_by_their_span() -> None:
    def row(start: int, end: int, verdict: str, score: float | None) -> dict[str, object]:
        return {"start": start, "end": end, "text": f"{start}-{end}", "verdict": verdict, "score": score}

    pairs = side_by_side([row(5, 9, "supported", 0.9), row(0, 4, "supported", 0.8)],
                         [row(0, 4, "supported", 0.8 + 1e-12), row(5, 12, "unsupported", None)])  # fmt: skip
    assert [(pair.start, pair.end, pair.verdict_a, pair.verdict_b, pair.moved) for pair in pairs] == [
        (0, 4, "supported", "supported", False), (5, 9, "supported", None, True), (5, 12, None, "unsupported", True),
    ]  # fmt: skip


# ---------------------------------------------------------------- gates


@pytest.mark.parametrize(
    ("expression", "holds"),
    [
        ("grounding_score.difference < -0.01", True), ("newly_held > 0.02", False), ("high_risk.b > high_risk.a", None),
        ("newly_held > 0.02 or grounding_score.difference <= -0.02", True),
        ("newly_held > 0.02 and high_risk.a > 0", False), ("newly_held < 1 or high_risk.a > 0", True),
        ("(pairs == 100 and newly_held != 0) or pairs < 5", True), ("newly_held < 1 and high_risk.a > 0", None),
        ("1e-3 < newly_held", True),
    ],
)  # fmt: skip
def test_a_gate_says_what_it_says(expression: str, holds: bool | None) -> None:
    figures = {
        "grounding_score.difference": -0.02,
        "newly_held": 0.01,
        "pairs": 100.0,
        "high_risk.a": None,
        "high_risk.b": 1.0,
    }
    result = try_gate(read_gate(expression, tuple(figures)), figures)
    assert (result.holds, result.failed) == (holds, holds is not False)
    assert set(result.figures) == {name for name in figures if name in expression}


@pytest.mark.parametrize(
    "expression",
    [
        "", "pairs", "1", "pairs >", "pairs > 'a'", "pairs > True", "pairs > 1j", "pairs > 1e999", "0 < pairs < 5",
        "not pairs > 1", "pairs + 1 > 2", "pairs > only_a + 1", "pairs in (1, 2)", "pairs is 1", "(pairs := 1) > 0",
        "__import__('os').system('true') > 0", "pairs.real.real > 1", "[pairs][0] > 1", "pairs > 1 if pairs else 2",
        "lambda: pairs > 1", "pairs > --1", "pairs > 1; pairs > 2", "pairs > 1\x00", "(" * 240 + "pairs > 1" + ")" * 240,
        "pairs > " + "9" * 450, "pairs > 1 or " * 60 + "pairs > 1", "a" * 501 + " > 1",
    ],
)  # fmt: skip
def test_what_is_no_condition_is_refused(expression: str) -> None:
    with pytest.raises(GateUnreadable):
        read_gate(expression, FIGURES)


@settings(deadline=None)
@given(st.text(max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        gate = read_gate(text, FIGURES)
    except GateUnreadable:
        return
    assert set(gate.names) <= set(FIGURES)


SIDES = st.one_of(st.sampled_from(FIGURES), st.floats(-10, 10).map(repr), st.integers(-5, 5).map(str))
COMPARISONS = st.tuples(SIDES, st.sampled_from(("<", "<=", ">", ">=", "==", "!=")), SIDES).map(" ".join)
CONDITIONS = st.recursive(
    COMPARISONS, lambda inner: st.tuples(inner, st.sampled_from(("and", "or")), inner).map(lambda p: f"({' '.join(p)})"),
    max_leaves=6,
)  # fmt: skip


@settings(deadline=None)
@given(condition=CONDITIONS, seed=st.integers(0, 99))
def test_a_condition_holds_exactly_if_python_says_so(condition: str, seed: int) -> None:
    if len(condition) > 500:
        return
    values = np.random.default_rng(seed).integers(-3, 4, len(FIGURES)).astype(float).tolist()
    figures = dict(zip(FIGURES, values, strict=True))
    code = condition
    for name in sorted(FIGURES, key=len, reverse=True):
        code = code.replace(name, repr(figures[name])) if name in code else code
    assert try_gate(read_gate(condition, FIGURES), figures).holds is eval(code)


@settings(deadline=None, max_examples=20)
@given(
    name=st.sampled_from(
        [name for name in FIGURES if name.endswith((".difference", ".up", ".down")) or "newly" in name]
    )
)
def test_no_gate_on_what_moved_fires_where_nothing_did(name: str) -> None:
    tally = tally_of(np.linspace(0, 1, 60), np.linspace(0, 1, 60), range(60))
    same = comparison((("released", "released"), ("low", "low"), (False, False), False, 60))
    same.overall = tally
    figures = findings(same).figures
    for expression in (f"{name} > 0", f"{name} < 0", f"{name} != 0", "changed > 0 or slices_changed > 0"):
        assert not try_gate(read_gate(expression, FIGURES), figures).failed


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("--fail-if", "held.c > 1"), "unknown figure 'held.c' (did you mean held.b?); use one of: pairs, only_a"),
        (("--fail-if", "__import__('os')"), "is not a condition"),
        (("--slice", "colour"), "use model, source, query_type"),
    ],
)
def test_wrong_use_is_told_before_anything_is_asked_and_ends_with_2(arguments: tuple[str, str], hint: str) -> None:
    done = CliRunner(env={"COLUMNS": "4000"}).invoke(app, ["compare", "live", "b", *arguments])
    assert (done.exit_code, hint in done.output) == (2, True), done.output


def test_figures_are_named_once_and_scores_are_columns_of_rows() -> None:
    assert len(set(FIGURES)) == len(FIGURES)
    columns = AnalyticsRow.model_validate(example(AnalyticsRow)).columns
    assert set(SCORES) - {"validation_score"} <= set(columns)


def test_texts_of_others_have_no_power_over_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_comparison(*hostile_findings())
    shown = capsys.readouterr().out
    assert not set(shown) & set("\u202e\x07\x1b")
    assert "\\x1b[2J" in shown
    for told in (
        "B is right more often",
        "too few cases",
        "12 values of source",
        "gate cannot be evaluated: decisions.a < 1",
    ):
        assert told in shown, told


def test_of_equal_runs_the_terminal_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    same = comparison((("released", "released"), ("low", "low"), (False, False), False, 60))
    same.overall = tally_of(np.linspace(0, 1, 60), np.linspace(0, 1, 60), range(60))
    print_comparison(findings(same), [])
    assert "no differences" in capsys.readouterr().out


def test_every_figure_is_documented_and_none_that_does_not_exist() -> None:
    text = (ROOT / "docs" / "reference" / "comparison.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(?:<\w+>)?(\.?[a-z_]+)`", text.partition("## Figures")[2].partition("## Method")[0]))
    parts = {f".{name.partition('.')[2]}" for name in FIGURES if "." in name}
    assert named == {name.partition(".")[0] for name in FIGURES} | parts
