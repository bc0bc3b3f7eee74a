"""Golden answers: only differences are listed."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.answers import GeneratedAnswer
from schemas.export import example
from workers.measurement.golden_answers import (
    GoldenAnswer,
    GoldenUnusable,
    Judgement,
    change_lines,
    changes,
    read_golden,
    write_golden,
)

WORDS = st.lists(st.sampled_from(["a", "b", "c"]), unique=True, max_size=3)
SCORE = st.none() | st.floats(0, 1)
JUDGEMENTS = st.builds(
    Judgement, state=st.sampled_from(["released", "held"]), reasons=WORDS, claims=WORDS, signals=WORDS,
    hallucination_risk=st.sampled_from([None, "low", "high"]), scores=st.fixed_dictionaries({"gate_score": SCORE}),
)  # fmt: skip
KEPT = Judgement(
    state="held", reasons=["refusal"], hallucination_risk="high", claims=["0-9 factual supported"], signals=["refusal"],
    issues=["unverified_facts"], invalid_references=["[7]"], scores={"gate_score": 0.5, "risk_score": None},
)  # fmt: skip


@given(JUDGEMENTS)
def test_a_judgement_differs_in_nothing_from_itself(judgement: Judgement) -> None:
    assert changes(judgement, judgement, tolerance=0.0) == {}


@given(JUDGEMENTS, JUDGEMENTS)
def test_what_differs_one_way_differs_the_other_way(one: Judgement, other: Judgement) -> None:
    there, back = changes(one, other), changes(other, one)
    assert {name: (after, before) for name, (before, after) in there.items()} == back


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"state": "released"}, {"state": ("held", "released")}),
        ({"hallucination_risk": None}, {"hallucination_risk": ("high", None)}),
        ({"reasons": []}, {"reasons": (["refusal"], [])}),
        (
            {"claims": ["0-9 factual contradicted"]},
            {"claims": (["0-9 factual supported"], ["0-9 factual contradicted"])},
        ),
        ({"signals": ["refusal", "x"]}, {"signals": ([], ["x"])}),
        ({"issues": []}, {"issues": (["unverified_facts"], [])}),
        ({"invalid_references": []}, {"invalid_references": (["[7]"], [])}),
        ({"scores": {"gate_score": 0.504, "risk_score": None}}, {}),
        ({"scores": {"gate_score": 0.506, "risk_score": None}}, {"gate_score": (0.5, 0.506)}),
        ({"scores": {"gate_score": 0.5, "risk_score": 0.0}}, {"risk_score": (None, 0.0)}),
        ({"scores": {"gate_score": 0.5}}, {}),
    ],
)
def test_every_change_is_told_with_what_was_and_what_is(changed: dict[str, Any], expected: dict[str, Any]) -> None:
    found = changes(KEPT, KEPT.model_copy(update=changed))
    assert found == expected
    assert len(list(change_lines(found))) == len(expected)


def test_the_order_of_claims_counts(tmp_path: Path) -> None:
    two = KEPT.model_copy(update={"claims": ["0-9 factual supported", "9-12 factual supported"]})
    assert "claims" in changes(two, two.model_copy(update={"claims": two.claims[::-1]}))


def test_a_file_comes_back_as_it_was_written_in_the_order_of_answers(tmp_path: Path) -> None:
    golden = [
        GoldenAnswer(
            answer=GeneratedAnswer.model_validate(example(GeneratedAnswer) | {"answer_id": name}), judgement=KEPT
        )
        for name in ("b", "a")
    ]
    path = tmp_path / "golden.jsonl"
    write_golden(path, golden)
    assert read_golden(path) == golden[::-1]
    written = path.read_bytes()
    write_golden(path, read_golden(path))
    assert path.read_bytes() == written
    path.write_bytes(written + written.splitlines(keepends=True)[0])
    with pytest.raises(GoldenUnusable, match="line 3: the answer a occurs twice"):
        read_golden(path)


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("{", "line 1"),
        ("{}", "answer"),
        (json.dumps({"answer": example(GeneratedAnswer)}), "judgement: Field required"),
    ],
)
def test_a_line_that_is_no_golden_answer_is_named(tmp_path: Path, line: str, names: str) -> None:
    path = tmp_path / "golden.jsonl"
    path.write_text(line)
    with pytest.raises(GoldenUnusable, match=names):
        read_golden(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(GoldenUnusable, match=r"nowhere\.jsonl cannot be read: No such file"):
        read_golden(tmp_path / "nowhere.jsonl")


def test_answers_of_two_tenants_with_one_identifier_are_both_kept(tmp_path: Path) -> None:
    path = tmp_path / "golden.jsonl"
    content = example(GeneratedAnswer)
    kept = [
        GoldenAnswer(answer=GeneratedAnswer.model_validate(content | {"tenant": tenant}), judgement=KEPT)
        for tenant in ("globex", "default", "acme")
    ]
    write_golden(path, kept)
    found = read_golden(path)
    assert [each.answer.tenant for each in found] == ["acme", "default", "globex"]
    assert len({each.name for each in found}) == 3
    path.write_bytes(path.read_bytes() * 2)
    with pytest.raises(GoldenUnusable, match=r"line 4: the answer .* occurs twice"):
        read_golden(path)


def test_a_file_without_golden_answers_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "golden.jsonl"
    path.touch()
    with pytest.raises(GoldenUnusable, match="contains no golden answers; add some"):
        read_golden(path)
