"""Check how the benchmark of whole answers counts, on small made outcomes and reports."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks import answer_cases
from benchmarks.answer_cases import AnswerCase, Kind, Outcome, Rate, answer_of, is_alarmed, misses, rates, table
from schemas.base import RiskLevel
from schemas.enriched import Decision, EnrichedAnswer, ReleaseState
from schemas.grounding import Claim, GroundingReport, Verdict
from schemas.reports import Span

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def made_case(name: str, *, right: bool, kind: Kind = "subject", heldout: bool = False) -> AnswerCase:
    return AnswerCase(
        id=name,
        twin=f"{name}-twin",
        kind=kind,
        language="en",
        query="How deep is the lake?",
        contexts=["The lake is 12 m deep."],
        answer="The lake is 12 m deep.",
        expected=answer_cases.EXPECTED[kind][0 if right else 1],
        reason="made for this test",
        heldout=heldout,
    )


def made_result(
    state: ReleaseState = "released", risk: RiskLevel | None = "low", verdicts: Sequence[Verdict] = ("supported",)
) -> EnrichedAnswer:
    claims = [
        Claim(claim_id=str(number), span=Span(start=0, end=1), text="A", kind="factual", verdict=verdict)
        for number, verdict in enumerate(verdicts)
    ]
    report = GroundingReport(
        judgement_id="j",
        answer_id="a",
        agent="grounding",
        pipeline_version="v",
        answer_partition=0,
        answer_offset=0,
        judged_at=NOON,
        hallucination_risk=risk,
        claims=claims,
    )
    return EnrichedAnswer(
        answer_id="a",
        pipeline_version="v",
        answer_partition=0,
        answer_offset=0,
        answer=answer_of(made_case("a", right=True), "observer"),
        grounding=report,
        decision=Decision(state=state),
        enriched_at=NOON,
    )


OUTCOMES = [
    Outcome(made_case("wrong-noticed", right=False), noticed=True, released=False, failed=False),
    Outcome(made_case("wrong-missed", right=False), noticed=False, released=True, failed=False),
    Outcome(made_case("right-good", right=True), noticed=False, released=True, failed=False),
    Outcome(made_case("right-flagged", right=True), noticed=True, released=False, failed=True, reasons=("low_score",)),
    Outcome(made_case("right-held", right=True, heldout=True), noticed=False, released=False, failed=False),
]


def test_wrong_cases_count_as_noticed_and_right_ones_as_flagged_released_or_failed() -> None:
    assert rates(OUTCOMES) == {
        "noticed": Rate(1, 2),
        "flagged": Rate(1, 3),
        "released": Rate(1, 3),
        "failed": Rate(1, 3),
        "precision": Rate(1, 2),
    }


def test_a_retry_has_no_answer_that_could_be_released() -> None:
    retry = Outcome(made_case("retry", right=True, kind="retry"), noticed=False)
    assert rates([retry])["released"] == rates([retry])["failed"] == Rate(0, 0)
    assert str(Rate(0, 0)) == "–"


def test_the_interval_is_wilsons() -> None:
    assert str(Rate(81, 263)) == "81 of 263 (26%–37%)"


def test_misses_say_what_went_wrong_and_leave_the_held_out_half_out() -> None:
    assert misses(OUTCOMES) == {
        "wrong-missed": "not noticed",
        "right-flagged": "flagged, not released, failed (low_score)",
    }


def test_the_table_has_one_row_a_group() -> None:
    assert table("kind", {"subject": OUTCOMES}).splitlines()[2].startswith("| subject | 1 of 2 (")


def test_a_plain_release_with_low_risk_alarms_nobody() -> None:
    assert not is_alarmed(made_result())
    assert not is_alarmed(made_result(risk=None, verdicts=["not_checked"]))


@pytest.mark.parametrize(
    "result",
    [
        made_result(state="warned"),
        made_result(risk="medium"),
        made_result(verdicts=["supported", "contradicted"]),
        made_result(verdicts=["unsupported"]),
    ],
)
def test_a_warning_a_risk_or_a_claim_without_support_alarms(result: EnrichedAnswer) -> None:
    assert is_alarmed(result)


def test_one_half_is_measured_and_only_the_open_one_lists_misses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def pair(heldout: bool) -> list[AnswerCase]:
        name = "held" if heldout else "open"
        right = made_case(f"{name}-a", right=True, kind="error_text", heldout=heldout)
        # An ordinary answer that is said to be an error: a miss by its label.
        return [right, right.model_copy(update={"id": f"{name}-b", "expected": "error"})]

    monkeypatch.setattr(answer_cases, "read_cases", lambda path: pair(False) + pair(True))
    told = {}
    for arguments in ([], ["--heldout"]):
        file = tmp_path / "figures.json"
        answer_cases.main([*arguments, "--json", str(file)])
        figures = json.loads(file.read_text("utf-8"))
        assert figures["kind"]["error_text"]["noticed"] == [0, 1]
        assert figures["language"]["en"]["flagged"] == [0, 1]
        told[figures["heldout"]] = figures["misses"]
    assert "open-b" in told[False]
    assert told[True] == {}
    assert "held-b" not in capsys.readouterr().out
