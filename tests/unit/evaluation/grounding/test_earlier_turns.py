"""Earlier turns are evidence of their own kind: said before, or contradicted without saying so."""

from datetime import UTC, datetime

import pytest

from schemas.answers import ContextChunk, GeneratedAnswer, Turn
from schemas.grounding import GroundingFindings
from workers.errors import BudgetExceeded
from workers.evaluation.budget import Budget, spending
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.thresholds import GroundingThresholds

LAPTOP = ["The Sableback 14 costs 849 euros and has 16 GB of memory."]
BUDGET = [Turn(role="user", content="I look for a laptop. My budget is 900 euros.")]
RETURNS = [
    Turn(role="user", content="How long can I return the headphones?"),
    Turn(role="assistant", content="You can return them within 30 days of delivery."),
]
LABEL = ["Returns: print the label from your account and hand the parcel in at any Pakko shop."]


def grounded(
    answer: str, turns: list[Turn], contexts: list[str] | None, query: str = "Would the Sableback 14 fit?"
) -> GroundingFindings:
    """Evaluate the grounding of an answer after these turns."""
    chunks = None if contexts is None else [ContextChunk(chunk_id=f"c{n}", content=c) for n, c in enumerate(contexts)]
    made = GeneratedAnswer(
        answer_id="a", query=query, answer=answer, contexts=chunks, conversation=turns,
        completed_at=datetime(2026, 1, 1, tzinfo=UTC),
    )  # fmt: skip
    return evaluate_grounding(prepare_grounding(made), GroundingThresholds())


def verdicts(found: GroundingFindings) -> list[str]:
    """Return the verdicts of the claims in their order."""
    return [claim.verdict for claim in found.claims]


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("It stays under the 900 euros you set.", "said_before"),
        ("It stays under the 1,000 euros you set.", "unsupported"),
        ("The Sableback 14 costs 849 euros.", "supported"),
        ("The Sableback 14 costs 749 euros.", "contradicted"),
    ],
)
def test_what_only_the_user_said_is_said_before_and_nothing_else(answer: str, verdict: str) -> None:
    assert verdicts(grounded(answer, BUDGET, LAPTOP)) == [verdict]


def test_the_turn_and_its_sentence_are_told() -> None:
    (claim,) = grounded("It stays under the 900 euros you set.", BUDGET, LAPTOP).claims
    assert claim.earlier is not None
    assert (claim.earlier.turn, claim.earlier.role) == (1, "user")
    said = BUDGET[0].content[claim.earlier.span.start : claim.earlier.span.end]
    assert said.strip() == claim.earlier.excerpt == "My budget is 900 euros."


@pytest.mark.parametrize(
    ("question", "reply", "answer"),
    [
        (
            "May I work from abroad?",
            "Yes, with the approval of HR, for up to 20 days a year.",
            "You may work from abroad, with the approval of HR, for up to 30 days a year.",
        ),
        ("How many days may I work from abroad?", "20 days a year.", "You may work from abroad for 30 days a year."),
    ],
)
def test_a_short_earlier_answer_is_quoted_in_its_own_words(question: str, reply: str, answer: str) -> None:
    turns = [Turn(role="user", content=question), Turn(role="assistant", content=reply)]
    (found,) = grounded(answer, turns, None).earlier_contradictions
    assert reply[found.earlier.span.start : found.earlier.span.end] == found.earlier.excerpt == reply


def test_what_was_said_before_counts_neither_as_verified_nor_as_made_up() -> None:
    both = grounded("The Sableback 14 costs 849 euros. It stays under the 900 euros you set.", BUDGET, LAPTOP)
    alone = grounded("The Sableback 14 costs 849 euros.", BUDGET, LAPTOP)
    assert both.facts_verified == alone.facts_verified == 1.0
    assert both.grounding_score == alone.grounding_score
    assert grounded("It stays under the 900 euros you set.", BUDGET, LAPTOP).grounding_score is None


def test_a_question_of_the_user_states_nothing() -> None:
    asked = [Turn(role="user", content="Is the budget of 900 euros enough?")]
    assert verdicts(grounded("It stays under the 900 euros you set.", asked, LAPTOP)) == ["unsupported"]


def test_yes_states_what_was_asked() -> None:
    agreed = [
        Turn(role="user", content="Is the deposit for the hall 250 euros?"),
        Turn(role="assistant", content="Yes."),
    ]
    found = grounded("The deposit for the hall is 250 euros.", agreed, ["The hall seats 80 guests."])
    assert verdicts(found) == ["said_before"]


def test_without_sources_earlier_turns_still_count_and_the_rest_stays_unchecked() -> None:
    wrote = [Turn(role="assistant", content="The report was written by Ilse Marquand in 2021.")]
    found = grounded("Ilse Marquand wrote the report in 2021. She lives in Oslo.", wrote, None)
    assert (found.status, found.reason) == ("skipped", "no context was given")
    assert verdicts(found) == ["said_before", "not_checked"]
    assert (found.grounding_score, found.hallucination_risk) == (None, None)


@pytest.mark.parametrize(
    ("answer", "is_told"),
    [
        ("Print the label, and send them back within 14 days of delivery.", True),
        ("Print the label, and send them back within 30 days of delivery.", False),
        ("Print the label. I was wrong before: send them back within 14 days of delivery.", False),
        ("Print the label. Refunds are paid within 14 days.", False),
    ],
)
def test_contradicting_an_earlier_answer_without_saying_so_is_told(answer: str, is_told: bool) -> None:
    found = grounded(answer, RETURNS, LABEL, "How do I send them back?")
    assert bool(found.earlier_contradictions) == is_told
    for each in found.earlier_contradictions:
        assert (each.earlier.turn, each.earlier.role, each.mismatches) == (2, "assistant", ["number"])
        assert each.claim_id in {claim.claim_id for claim in found.claims}


@pytest.mark.parametrize(
    ("before", "query", "answer"),
    [
        ("Over 30 days the deposit pays 2.1 % a year.", "And over 90 days?", "Over 90 days it pays 2.6 % a year."),
        (
            "In France you have 30 days to return shoes.",
            "Same for Spain?",
            "In Spain you have 14 days to return shoes.",
        ),
        ("The pass costs 78 euros for adults.", "What do kids pay?", "The pass costs 39 euros for children."),
        ("The store is open until 18:00 on Saturdays.", "And on Sundays?", "The store is open until 14:00 on Sundays."),
        ("The FX20 drives at 18 km/h.", "How fast is the FX35?", "The FX35 drives at 16 km/h."),
        ("The Basic plan has 5 seats.", "What about the Pro plan?", "The Pro plan has 25 seats."),
        ("Line 4 stopped at 09:30.", "And line 2?", "Line 2 stopped at 14:05."),
        ("You can cancel within 14 days.", "How long is the warranty?", "The warranty lasts 24 months."),
        ("In 2022 sales rose by 4 %.", "And in 2023?", "In 2023 sales fell by 2 %."),
        ("Parking is free for guests.", "For visitors too?", "No, parking is not free for visitors."),
    ],
)
def test_another_case_is_no_contradiction(before: str, query: str, answer: str) -> None:
    turns = [Turn(role="user", content="What are the terms?"), Turn(role="assistant", content=before)]
    assert grounded(answer, turns, ["Terms apply."], query).earlier_contradictions == []


@pytest.mark.parametrize(
    ("before", "query", "answer"),
    [
        ("The works were founded in 1898.", "Write one line, please.", "The works were founded in 1889."),
        ("The gateway accepts TLS 1.1 and newer.", "Is it safe?", "The gateway accepts only TLS 1.2 and newer."),
        ("Parking is free for guests.", "Where do I park?", "Park at the gate. Parking is not free for guests."),
        ("The report was written by Ilse Marquand.", "Who was it?", "The report was written by Dana Whitmore."),
        ("The room seats 80 guests.", "Can I book it?", "Yes, you can. The room seats 60 guests."),
    ],
)
def test_another_value_of_the_same_case_is_a_contradiction(before: str, query: str, answer: str) -> None:
    turns = [Turn(role="user", content="What are the terms?"), Turn(role="assistant", content=before)]
    assert grounded(answer, turns, ["Terms apply."], query).earlier_contradictions


def test_a_user_may_be_contradicted() -> None:
    said = [Turn(role="user", content="I think the plan costs 9 euros a month.")]
    found = grounded("The plan costs 12 euros a month.", said, ["The plan costs 12 euros a month."])
    assert (verdicts(found), found.earlier_contradictions) == (["supported"], [])


def test_the_comparison_is_counted_on_the_budget() -> None:
    turns = [Turn(role="assistant", content="The pump needs 4.2 bar at line 7. " * 200)] * 16
    answer = "".join(f"The valve at line {number} needs 9.9 bar. " for number in range(100))
    with pytest.raises(BudgetExceeded), spending(Budget(limit=25_000)):
        grounded(answer, turns, LAPTOP)
    with spending(Budget()) as _:
        grounded(answer, turns, LAPTOP)
