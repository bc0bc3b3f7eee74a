"""A query is read after the turns before it: pronouns, follow-ups and choices."""

from datetime import UTC, datetime
from typing import Literal

import pytest

from schemas.answers import ContextChunk, GeneratedAnswer, Turn
from workers.errors import BudgetExceeded
from workers.evaluation.budget import Budget, spending
from workers.evaluation.conversation.joints import put_in
from workers.evaluation.conversation.resolution import MAX_EARLIER, MAX_RESOLVED, resolve_query
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.quality.quality_evaluator import prepare_quality
from workers.evaluation.thresholds import GroundingThresholds


def turns(*said: str) -> list[Turn]:
    """Return turns of user and assistant in alternation, so that the assistant speaks last."""
    roles: list[Literal["user", "assistant"]] = ["user", "assistant"] * (len(said) // 2 + 1)
    return [Turn(role=role, content=text) for role, text in zip(roles[len(said) % 2 :], said, strict=False)]


DEPOSIT = turns("What interest do I get on the fixed deposit over 30 days?", "The fixed deposit pays 2.1 %.")
SPEAKERS = turns("Who gives the keynotes?", "The keynotes are given by Ms Adeyemi and Mr Corvin.")


@pytest.mark.parametrize(
    ("said", "query", "expected"),
    [
        (
            turns("What do adults pay for the boat trip?", "Adults pay 14 euros."),
            "Children?",
            "What do children pay for the boat trip?",
        ),
        (DEPOSIT, "And over 90 days?", "What interest do I get on the fixed deposit over 90 days?"),
        (DEPOSIT, "What about over 180 days?", "What interest do I get on the fixed deposit over 180 days?"),
        (
            turns("When does the return window for shoes in France end?", "You have 30 days."),
            "Same for Spain?",
            "When does the return window for shoes in Spain end?",
        ),
        (
            turns("Does the canteen take cards?", "Yes, the canteen accepts cards."),
            "Since when?",
            "Since when, does the canteen take cards?",
        ),
        (
            turns("Did the Falcons win?", "No, the Falcons lost 68–74."),
            "Why?",
            "Why: the Falcons lost 68–74.",
        ),
        (
            turns("What is the top speed of the FX20?", "The FX20 drives at up to 18 km/h."),
            "And the FX35's lifting height?",
            "What is the FX35's lifting height?",
        ),
        (
            turns("What does the annual pass cost?", "The annual pass costs 78 euros."),
            "Where can I buy it?",
            "Where can I buy the annual pass?",
        ),
        (
            turns("Which vaccines do I need?", "You need hepatitis A and typhoid."),
            "Does the second one have side effects?",
            "Does typhoid have side effects?",
        ),
        (  # a letter of old prints, which patterns take for "s"
            turns("Which vaccines do I need?", "You need hepatitis A and typhoid."),
            "Does the ſecond one have side effects?",
            "Does typhoid have side effects?",
        ),
        (SPEAKERS, "When does she speak?", "When does Ms Adeyemi speak?"),
        (SPEAKERS, "When does he speak?", "When does Mr Corvin speak?"),
        (
            turns("Which line makes bumpers?", "Line 4 does. Line 2 stopped at 14:05."),
            "What caused that stop?",
            "What caused that stop (Line 2 stopped at 14:05)?",
        ),
    ],
)
def test_a_query_is_resolved(said: list[Turn], query: str, expected: str) -> None:
    found = resolve_query(query, said)
    assert found is not None
    assert (found.status, found.text) == ("resolved", expected)


@pytest.mark.parametrize(
    ("query", "before", "expected"),
    [
        ("And the iPhone 15?", "How much is the iPhone 14?", "How much is the iPhone 15?"),
        ("And iPhone 15?", "How much is the iPhone 14?", "How much is the iPhone 15?"),
        ("What about the Corva 5?", "How much is the Corva 3?", "How much is the Corva 5?"),
        ("What about the Corva 5?", "How much does Corva 3 cost?", "How much does Corva 5 cost?"),
        ("And the iPad Pro 13?", "How much is the iPad Air 11?", "How much is the iPad Pro 13?"),
        ("Same for the eBike 700?", "What is the range of the eBike 500?", "What is the range of the eBike 700?"),
        ("What about the Model Y?", "What is the range of the Model 3?", "What is the range of the Model Y?"),
        ("And the Pixel 9 Pro?", "How much is the Pixel 8 Pro?", "How much is the Pixel 9 Pro?"),
        ("And for the iPhone 15?", "What is the fee for the iPhone 14?", "What is the fee for the iPhone 15?"),
        ("And the line 5?", "How many parts did the line 4 make?", "How many parts did the line 5 make?"),
        ("And the iPhone 15?", "How much is the Pixel 8?", "How much is the iPhone 15?"),
        ("And the macOS 15?", "When was macOS 14 released?", "When was macOS 15 released?"),
    ],
)
def test_a_follow_up_about_another_member_of_a_series_is_about_that_member(
    query: str, before: str, expected: str
) -> None:
    found = resolve_query(query, turns(before, "That is 40 as of today."))
    assert found is not None
    assert (found.status, found.text) == ("resolved", expected)


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [("The iPhone 15 costs 999 euros.", "supported"), ("The iPhone 15 costs 899 euros.", "contradicted")],
)
def test_a_name_with_a_capital_within_is_a_member_of_a_series(answer: str, verdict: str) -> None:
    context = ContextChunk(chunk_id="c", content="The iPhone 14 costs 899 euros. The iPhone 15 costs 999 euros.")
    asked = GeneratedAnswer(
        answer_id="a", query="And the iPhone 15?", answer=answer, contexts=[context],
        conversation=turns("How much is the iPhone 14?", "The iPhone 14 costs 899 euros."),
        completed_at=datetime(2026, 11, 2, tzinfo=UTC),
    )  # fmt: skip
    found = evaluate_grounding(prepare_grounding(asked), GroundingThresholds())
    assert [claim.verdict for claim in found.claims] == [verdict]


@pytest.mark.parametrize(
    "query",
    [
        "How long is the warranty?",
        "If I cancel my plan, does it end at once?",
        "Is it possible to park nearby?",
        "I worked six hours at 20 euros. How much is that?",
        "Thanks!",
    ],
)
def test_a_query_that_says_all_itself_stays_as_it_is(query: str) -> None:
    found = resolve_query(query, DEPOSIT)
    assert found is not None
    assert (found.status, found.text) == ("self_contained", query)


def test_a_language_without_rules_is_not_resolved_and_says_so() -> None:
    said = turns("예금 30일의 이자는 얼마입니까?", "예금 이자는 2.1%입니다.")
    found = resolve_query("그럼 90일은요?", said)
    assert found is not None
    assert found.status == "not_resolved"
    assert "language ko" in found.reason


def test_a_pronoun_without_anything_to_stand_for_is_not_resolved() -> None:
    found = resolve_query("When does she arrive?", turns("Hello!", "Hello, how can I help?"))
    assert found is not None
    assert (found.status, found.text) == ("not_resolved", "When does she arrive?")


def test_without_earlier_turns_there_is_nothing_to_resolve() -> None:
    assert resolve_query("And over 90 days?", []) is None


def test_reading_is_bounded_and_counted() -> None:
    long = turns(*(["The plan is long. " * 3_000] * 40))
    with spending(Budget()) as _:
        resolve_query("What does it cost?", long)
    with pytest.raises(BudgetExceeded), spending(Budget(limit=100)):
        resolve_query("What does it cost?", long)
    assert len(long) > MAX_EARLIER


ANSWER = GeneratedAnswer(
    answer_id="a",
    query="And over 90 days?",
    answer="2.6 % a year.",
    contexts=[ContextChunk(chunk_id="c", content="Fixed deposit: 30 days 2.1 % a year; 90 days 2.6 % a year.")],
    conversation=DEPOSIT,
    completed_at=datetime(2026, 1, 1, tzinfo=UTC),
)


def test_relevance_and_claims_are_compared_with_the_resolved_query() -> None:
    assert prepare_quality(ANSWER).query == "What interest do I get on the fixed deposit over 90 days?"
    findings = evaluate_grounding(prepare_grounding(ANSWER), GroundingThresholds())
    assert findings.query is not None
    assert (findings.query.status, findings.query.text) == ("resolved", prepare_quality(ANSWER).query)


@pytest.mark.parametrize(
    "query",
    [
        "The total price of the blue pump in the large hall with its second motor and its cable",
        "Pump or motor, two of them in hall seven for the house at the lake, or it with its cable?",
        "A list of all pumps and valves of the plant in Porto together with their prices and their weights please",
        "it " * 14, "it " * 166, "the pump its " * 38,
    ],
)  # fmt: skip
def test_a_query_without_a_verb_and_with_pronouns_is_read_to_its_end(query: str) -> None:
    """The search for the verb of a pronoun had no end where the sentence has none."""
    resolution = resolve_query(query, DEPOSIT)
    assert resolution is not None and len(resolution.text) <= MAX_RESOLVED


def test_many_pronouns_for_a_long_phrase_are_not_resolved() -> None:
    museum = "The Upper Lake Valley Regional Heritage Railway Preservation Society Museum"
    resolution = resolve_query("it " * 160, turns("What is open?", f"{museum} opened in May."))
    assert resolution is not None
    assert (resolution.status, resolution.text) == ("not_resolved", "it " * 160)
    assert resolution.reason == f"the resolved query has more than {MAX_RESOLVED} code points"


@pytest.mark.parametrize(
    ("before", "query", "expected"),
    [
        ("What does the deposit pay over 30 days?", "And over 90 days?", "What does the deposit pay over 90 days?"),
        ("What does the 12 month plan cost?", "And the 24 month plan?", "What does the 24 month plan cost?"),
        ("How long is it, 30 days?", "And over 90 days?", "How long is it, over 90 days?"),
        ("What does the lift carry at 20 degrees?", "And at 40 degrees?", "What does the lift carry at 40 degrees?"),
        ("What does the account yield over 12 months?", "And over 24 months?", "What does the account yield over 24 months?"),
        ("Was bringt das Konto in 12 Monaten?", "Und in 24 Monaten?", "Was bringt das Konto in 24 Monaten?"),
        ("Que rapporte le dépôt en 30 jours ?", "Et en 90 jours ?", "Que rapporte le dépôt en 90 jours?"),
        ("¿Qué paga el depósito en 30 días?", "¿Y en 90 días?", "¿Qué paga el depósito en 90 días?"),
        ("Сколько приносит вклад за 30 дней?", "А за 90 дней?", "Сколько приносит вклад за 90 дней?"),
        ("30日の金利はいくらですか?", "では90日は?", "90日の金利はいくらですか?"),
    ],
)  # fmt: skip
def test_a_resolved_follow_up_repeats_no_word(before: str, query: str, expected: str) -> None:
    found = resolve_query(query, turns(before, "2.1 %."))
    assert found is not None
    assert found.text == expected


@pytest.mark.parametrize(
    ("phrase", "text", "part", "expected"),
    [
        ("over 90 days", "It pays over 30 days a year", "30", "It pays over 90 days a year"),
        ("the 24 month plan", "Does the 12 month plan end?", "12", "Does the 24 month plan end?"),
        ("90", "It pays over 30 days", "30", "It pays over 90 days"),
        ("Ann", "Ann or Ben, Annex", "Ben,", "Ann or Ann Annex"),
    ],
)
def test_a_phrase_takes_what_it_repeats_beside_it(phrase: str, text: str, part: str, expected: str) -> None:
    start = text.index(part)
    assert put_in(phrase, text, start, start + len(part)) == expected


def test_a_circumstance_takes_the_place_of_no_subject() -> None:
    turns = [Turn(role="user", content="How much is a room with 2 beds?"), Turn(role="assistant", content="EUR 80.")]
    assert resolve_query("And without breakfast?", turns).text == "How much is a room with 2 beds without breakfast?"
    assert resolve_query("And with 3 beds?", turns).text == "How much is a room with 3 beds?"


@pytest.mark.parametrize(
    ("answer", "contradicts"), [("12 euros a day.", False), ("Hiring a car costs 12 euros a day.", True)]
)
def test_a_short_answer_to_a_follow_up_contradicts_no_answer_on_another_thing(answer: str, contradicts: bool) -> None:
    given = GeneratedAnswer(
        answer_id="hire",
        query="And a bike?",
        answer=answer,
        conversation=turns("How much does it cost to hire a car?", "Hiring a car costs 45 euros a day."),
        contexts=[
            ContextChunk(chunk_id="1", content="Hiring a car costs 45 euros a day. A bike costs 12 euros a day.")
        ],
        completed_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    found = evaluate_grounding(prepare_grounding(given), GroundingThresholds())
    assert bool(found.earlier_contradictions) is contradicts
