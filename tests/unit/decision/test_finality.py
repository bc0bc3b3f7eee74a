"""One final state, whatever the order, number and timing of requests, decisions and deadlines."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise, permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.identifiers import fact_id
from schemas.release import ReleasedAnswer
from schemas.review import POLICY, ReleasableAnswer, ReviewDecision
from workers.decision.finality import (
    DECISION_REVISION,
    WITHDRAWAL_REVISION,
    WITHDRAWN,
    Standing,
    decided_turn,
    later_standing,
    released_by,
    rule,
    standing_of,
)
from workers.decision.reader_text.reader_texts import ENGLISH

AT = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
ANSWER = "a-1"


def decision(identifier: str = "d1", action: str = "approve", **changes: Any) -> ReviewDecision:
    return ReviewDecision.model_validate(
        {
            "feedback_id": identifier, "review_id": fact_id("default", ANSWER, "review"), "answer_id": ANSWER, "timestamp": AT,
            "query": "Why does Loki restart?", "original_answer": "It needs 2 GiB [1].", "user_action": action,
            "corrected_answer": f"It needs 4 GiB, says {identifier}." if action == "correct" else None,
            "decided_by": "reviewer", "contexts": ["c1"],
        } | changes
    )  # fmt: skip


def pipeline(state: str = "held", *, final: bool = False, revision: int = 4) -> ReleasedAnswer:
    return ReleasedAnswer.model_validate(
        {
            "release_id": fact_id("default", ANSWER, "release"), "answer_id": ANSWER, "state": state, "final": final,
            "revision": revision, "content": None if state == "held" else "text", "pipeline_version": "v",
            "released_at": AT,
        }
    )  # fmt: skip


def standing(records: Sequence[ReleasedAnswer]) -> Standing | None:
    known: Standing | None = None
    for record in records:
        known = later_standing(known, standing_of(record))
    return known


# ------------------------------------------------------------------ any order, duplication and timing

PEOPLE = [
    decision(f"d{number}", action, second_review=second, timestamp=AT + timedelta(seconds=(7 * number) % 4))
    for number in range(4)
    for action in ("approve", "reject", "correct", "upvote", "downvote")
    for second in (False, True)
]
DEADLINES = [
    decision("deadline-1", "reject", decided_by=POLICY),
    decision("deadline-2", "approve", decided_by=POLICY, with_warning=True),
]
DECISIONS = [*PEOPLE, *DEADLINES]
# Drawn by place: hypothesis warns of the length of a strategy's description, which would hold all decisions.
decision_logs = st.lists(st.integers(0, len(DECISIONS) - 1), max_size=8).map(
    lambda places: [DECISIONS[n] for n in places]
)
open_words = st.sampled_from(
    [pipeline(), pipeline("warned"), pipeline("held", revision=3), pipeline("held", revision=2)]
)
final_words = st.sampled_from([pipeline("released", final=True), pipeline("fallback", final=True, revision=3)])
schedules = st.lists(
    st.one_of(
        st.tuples(st.just("pipeline"), open_words),
        # The agent handles the next decision; it dies before or after its send, or goes on.
        st.tuples(st.just("decide"), st.sampled_from(["on", "dies_before", "dies_after"])),
        # A rebalance: everything from some committed place on is delivered again.
        st.tuples(st.just("again"), st.integers(0, 8)),
    ),
    max_size=30,
)  # fmt: skip


def play(log: Sequence[ReviewDecision], schedule: Sequence[Any]) -> list[ReleasedAnswer]:
    """What stands on answers.released at the end: the agent reads it before each decision, and commits in order."""
    released: list[ReleasedAnswer] = []
    place = committed = 0
    for kind, detail in [*schedule, *[("decide", "on")] * (len(log) + 1)]:
        if kind == "pipeline":
            released.append(detail)
        elif kind == "again":
            place = min(place, detail, committed)
        elif place < len(log):
            taken = log[place]
            if detail != "dies_before" and rule(standing(released), taken) == "final":
                released.append(released_by(taken))
            if detail == "on":
                place += 1
                committed = max(committed, place)
            else:
                place = committed
    while place < len(log):
        if rule(standing(released), log[place]) == "final":
            released.append(released_by(log[place]))
        place += 1
    return released


def deciding(log: Sequence[ReviewDecision]) -> list[ReviewDecision]:
    return [each for each in log if each.user_action in ("approve", "reject", "correct") and not each.second_review]


@given(decision_logs, schedules, schedules)
def test_the_first_valid_decision_of_the_log_is_final_in_every_replay(
    log: list[ReviewDecision], schedule: list[Any], other: list[Any]
) -> None:
    first, second = play(log, schedule), play(log, other)
    valid = deciding(log)
    expected = standing_of(released_by(valid[0])) if valid else None
    for released in (first, second):
        final = [record for record in released if record.final]
        assert {record.to_bytes() for record in final} == ({released_by(valid[0]).to_bytes()} if valid else set())
        reached = standing(released)
        assert (reached if reached is not None and reached.final else None) == expected


@given(decision_logs, schedules, final_words, st.integers(0, 30))
def test_with_a_final_word_of_the_pipeline_in_between_there_is_still_one_final_state_and_it_stays(
    log: list[ReviewDecision], schedule: list[Any], word: ReleasedAnswer, place: int
) -> None:
    released = play(log, [*schedule[:place], ("pipeline", word), *schedule[place:]])
    assert len({record.to_bytes() for record in released if record.decision_id}) <= 1
    reached = standing(released)
    assert reached is not None and reached.final
    # What a reader of the topic sees: once a state is final, no later record takes its place.
    seen = [standing(released[: end + 1]) for end in range(len(released))]
    finals = [each for each in seen if each is not None and each.final]
    assert all(before == after for before, after in pairwise(finals))


@given(decision_logs, schedules)
def test_whoever_reads_the_released_answers_in_another_order_or_compacted_sees_the_same_final_state(
    log: list[ReviewDecision], schedule: list[Any]
) -> None:
    released = play(log, schedule)
    reached = standing(released)
    by_revision = standing(sorted(released, key=lambda record: -record.revision))
    backwards = standing(released[::-1])
    seen = {each and (each.final, each.revision, each.decision_id) for each in (reached, by_revision, backwards)}
    assert len(seen) == 1


# ------------------------------------------------------------------ single cases


def test_a_decision_before_its_request_and_before_any_release_is_final() -> None:
    taken = decision()
    assert rule(None, taken) == "final"
    # The pipeline comes later: what it says is of a lower revision.
    reached = standing([released_by(taken), pipeline("held"), pipeline("released", final=True)])
    assert reached == standing_of(released_by(taken))


def test_the_second_of_two_reviewers_is_late_whatever_the_clocks_say() -> None:
    first, second = decision("d1", "reject"), decision("d2", timestamp=AT - timedelta(hours=1))
    assert rule(standing_of(released_by(first)), second) == "late"


def test_a_person_who_comes_after_the_deadline_is_late_and_a_deadline_after_a_person_too() -> None:
    person, deadline = decision("d1"), decision("deadline", "reject", decided_by=POLICY)
    assert rule(standing_of(released_by(deadline)), person) == "late"
    assert rule(standing_of(released_by(person)), deadline) == "late"


def test_an_identifier_that_comes_again_with_another_content_changes_nothing() -> None:
    first = decision("d1", "correct")
    forged = decision("d1", "correct", corrected_answer="Something else.")
    assert rule(standing_of(released_by(first)), first) == "final"
    assert rule(standing_of(released_by(first)), forged) == "late"


@pytest.mark.parametrize("final", [None, decision("d0")])
def test_votes_and_second_reviews_decide_nothing(final: ReviewDecision | None) -> None:
    reached = standing_of(released_by(final)) if final else None
    assert [rule(reached, decision("d1", action)) for action in ("upvote", "downvote")] == ["vote", "vote"]
    assert rule(reached, decision("d1", "reject", second_review=True)) == "second"


def test_what_the_pipeline_has_released_for_good_is_not_decided_any_more() -> None:
    assert rule(standing_of(pipeline("released", final=True)), decision()) == "late"


def withdrawn(of: ReviewDecision, by: str = "lead") -> ReviewDecision:
    return decision(f"{of.feedback_id}{WITHDRAWN}{by}", "reject", withdraws=of.feedback_id, decided_by=by)


def test_a_withdrawal_takes_the_final_decision_back_once_and_whatever_is_delivered_again() -> None:
    approved = decision("d1")
    back, again = withdrawn(approved), withdrawn(approved, "other")
    decided, taken = standing_of(released_by(approved)), standing_of(released_by(back))
    assert rule(decided, back) == "withdrawal"
    assert rule(taken, back) == "withdrawal", "a repetition gives the same outputs"
    assert rule(taken, approved) == "final", "so does the withdrawn decision, for its record"
    assert [rule(taken, each) for each in (again, decision("d2"), decision("d2", "reject"))] == ["late"] * 3
    assert (released_by(back).revision, released_by(back).content) == (WITHDRAWAL_REVISION, ENGLISH.withdrawn)
    records = [released_by(back), released_by(approved), pipeline("released", final=True)]
    for order in permutations(records):
        assert standing(order) == taken, "readers see the withdrawal in every order"


def test_only_the_decision_that_is_final_can_be_withdrawn() -> None:
    approved = decision("d1")
    assert rule(None, withdrawn(approved)) == "withdrawal", "final states are forgotten after some weeks"
    assert rule(standing_of(pipeline("released", final=True)), withdrawn(approved)) == "late"
    assert rule(standing_of(released_by(decision("d2"))), withdrawn(approved)) == "late"


def test_what_the_pipeline_released_is_withdrawn_by_the_name_of_its_release_alone() -> None:
    of_release = fact_id(decision().tenant, decision().answer_id, "release")
    back = decision(f"{of_release}{WITHDRAWN}lead", "reject", withdraws=of_release)
    for final in (True, False):
        assert rule(standing_of(pipeline("released", final=final)), back) == "withdrawal"
    assert rule(None, back) == "withdrawal"
    assert rule(standing_of(released_by(decision("d1"))), back) == "late", "its decision is to be withdrawn then"
    taken = standing_of(released_by(back))
    assert rule(taken, back) == "withdrawal", "a repetition gives the same outputs"
    assert rule(taken, decision("d1")) == "late"
    for order in permutations([released_by(back), pipeline("released", final=True)]):
        assert standing(order) == taken


# ------------------------------------------------------------------ what is released


SHOWN = ReleasableAnswer(
    state="held", body="It needs 2 GiB [1](/s/1).", references="\n\n---\n\n[1] Loki\n", citations=[{"number": 1}],
    query_type="ops", quality_score=0.7, completed_at=AT - timedelta(days=1),
)  # fmt: skip


def test_an_approved_answer_is_released_as_the_pipeline_would_have() -> None:
    released = released_by(decision(releasable=SHOWN))
    assert (released.state, released.final, released.revision) == ("released", True, DECISION_REVISION)
    assert released.content == "It needs 2 GiB [1](/s/1).\n\n---\n\n[1] Loki\n"
    assert released.citations == [{"number": 1}]
    assert (released.decision_id, released.decided_by, released.released_at) == ("d1", "reviewer", AT)


def test_a_warning_stands_under_the_answer_and_above_its_references() -> None:
    content = released_by(decision(releasable=SHOWN, with_warning=True, hallucination_risk="high")).content or ""
    assert content.index("GiB") < content.index("high hallucination risk") < content.index("[1] Loki")


def test_a_correction_replaces_the_answer_and_a_rejection_explains_itself() -> None:
    corrected = released_by(decision(action="correct", releasable=SHOWN))
    assert (corrected.state, corrected.content, corrected.citations) == ("replaced", "It needs 4 GiB, says d1.", [])
    kept = released_by(decision(action="correct", corrected_answer="It needs 4 GiB [1].", releasable=SHOWN))
    assert kept.citations == [{"number": 1}]
    rejected = released_by(decision(action="reject", releasable=SHOWN))
    assert (rejected.state, rejected.content) == ("rejected", ENGLISH.rejected)


CITED = [
    {"number": 1, "chunk_id": "c1", "title": "Loki guide", "source_table": None, "record_id": None},
    {"number": 2, "chunk_id": "c2", "title": "Runbook", "source_table": "runbooks", "record_id": "loki-7"},
    {"number": 4, "chunk_id": "c4", "title": "Notes", "source_table": None, "record_id": None},
    {"number": None, "title": "2 + 2 = 4"},
]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("It needs 4 GiB [1].", [1]),
        ("It needs 4 GiB [1, 2].", [1, 2]),
        ("It needs 4 GiB [1-2].", [1, 2]),
        ("It needs 4 GiB [1-4].", [1, 2, 4]),
        ("It needs 4 GiB【1】.", [1]),
        ("It needs 4 GiB [[4]](https://notes.example/4).", [4]),
        ("It needs 4 GiB [^2].", [2]),
        ("It needs 4 GiB [Source: runbooks/loki-7].", [2]),
        ("It needs 4 GiB [Source: Loki guide] and [4].", [1, 4]),
        ("It needs 4 GiB [source 2].", [2]),
        ("Read `arr[1]` first.", []),
        ("```python\nprint(values[2])\n```", []),
        ("It needs max_size[1].", []),
        ("It needs 4 GiB [3].", []),
        ("It needs 4 GiB [Source: runbooks/loki-8].", []),
        ("It needs 4 GiB [9999].", []),
    ],
)
def test_a_correction_keeps_the_citations_that_it_still_makes(text: str, numbers: list[int]) -> None:
    shown = SHOWN.model_copy(update={"citations": CITED})
    released = released_by(decision(action="correct", corrected_answer=text, releasable=shown))
    assert [each["number"] for each in released.citations] == numbers


def test_a_decision_that_carries_nothing_formatted_releases_the_answer_itself() -> None:
    assert released_by(decision()).content == "It needs 2 GiB [1]."


# ------------------------------------------------------------------ what is remembered


@pytest.mark.parametrize(
    ("changes", "remembered"),
    [
        ({}, "It needs 2 GiB [1]."),
        ({"grounding_score": 0.2}, "It needs 2 GiB [1]."),
        ({"action": "correct"}, "It needs 4 GiB, says d1."),
        ({"action": "reject"}, None),
        ({"decided_by": POLICY, "grounding_score": 0.59}, None),
        ({"decided_by": POLICY}, None),
        ({"decided_by": POLICY, "grounding_score": 0.6, "with_warning": True}, "It needs 2 GiB [1]."),
        ({"with_warning": True, "grounding_score": 0.2}, None),
        ({"contexts": []}, None),
        ({"contexts": [], "action": "correct"}, "It needs 4 GiB, says d1."),
    ],
)
def test_only_what_is_verified_or_grounded_is_remembered(changes: dict[str, Any], remembered: str | None) -> None:
    turn = decided_turn(decision(**changes), 0.6, without_context=False)
    assert (turn.response if turn else None) == remembered


def test_a_corrected_turn_replaces_the_one_of_the_pipeline_and_has_none_of_its_scores() -> None:
    turn = decided_turn(decision(action="correct", releasable=SHOWN, grounding_score=0.4), 0.6, without_context=False)
    assert turn is not None
    assert (turn.revision, turn.grounding_score, turn.quality_score) == (DECISION_REVISION, None, None)
    assert (turn.query_type, turn.timestamp) == ("ops", SHOWN.completed_at)
