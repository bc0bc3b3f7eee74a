"""Check follow-ups and corrections in languages other than English, and corrections in English."""

from typing import Literal

import pytest

from schemas.answers import Turn
from workers.evaluation.conversation.corrections import announced, corrected
from workers.evaluation.conversation.resolution import resolve_query


def turns(*said: str) -> list[Turn]:
    """Return turns of user and assistant in alternation, the user first."""
    roles: list[Literal["user", "assistant"]] = ["user", "assistant"] * len(said)
    return [Turn(role=role, content=text) for role, text in zip(roles, said, strict=False)]


@pytest.mark.parametrize(
    ("said", "query", "expected"),
    [
        (turns("Was kostet der Kurs Aquarell?", "Der Kurs Aquarell kostet 90 Euro."), "Nein, ich meinte den Kurs Keramik.", "Was kostet den Kurs Keramik?"),
        (turns("À quelle heure part le bateau pour Molène ?", "Le bateau part à 8 h."), "Non, je parlais du bateau pour Sein.", "À quelle heure part le bateau pour Sein?"),
        (turns("¿Cuánto mide la torre norte?", "La torre norte mide 72 metros."), "¿Y la torre sur?", "¿Cuánto mide la torre sur?"),
        (turns("Quantos quartos tem o Hotel Alva?", "O Hotel Alva tem 64 quartos."), "E o Hotel Mira?", "Quantos quartos tem o Hotel Mira?"),
        (turns("Quanto costa il biglietto per Como?", "Il biglietto per Como costa 5 euro."), "Scusa, intendevo il biglietto per Lecco.", "Quanto costa il biglietto per Lecco?"),
        (turns("Hoe laat sluit de bakkerij op zaterdag?", "De bakkerij sluit om 16 uur."), "En op zondag?", "Hoe laat sluit de bakkerij op zondag?"),
        (turns("Ile kosztuje bilet do Gdyni?", "Bilet do Gdyni kosztuje 12 złotych."), "Nie, chodziło mi o bilet do Sopotu.", "Ile kosztuje bilet do Sopotu?"),
        (turns("Сколько мест в северном зале?", "В северном зале 90 мест."), "А в южном зале?", "Сколько мест в южном зале?"),
        (turns("北馆几点关门？", "北馆晚上9点关门。"), "那南馆呢？", "南馆几点关门?"),
        (turns("京都店は何時までですか。", "20時までです。"), "いいえ、奈良店のことです。", "奈良店は何時までですか。"),
        (turns("Кто автор романа «Гавань»?", "Автор романа — Ольга Шубина."), "Когда она родилась?", "Когда Ольга Шубина родилась?"),
        (turns("Qual è il treno più veloce per Lecco?", "Il treno più veloce è il regionale 2814."), "A che ora parte?", "A che ora parte (regionale 2814)?"),
        (turns("When does the Leeds office open?", "At 8:00."), "No, I meant the York office.", "When does the York office open?"),
        (turns("What is the range of the Corva 3?", "It is 310 km."), "I said Corva 5, not Corva 3.", "What is the range of the Corva 5?"),
        (turns("Is the ferry running on Sundays?", "Yes."), "What about the bus?", "Is the bus running on Sundays?"),
        (turns("How long does standard delivery to Norway take?", "6 days."), "And express?", "How long does express delivery to Norway take?"),
        (turns("What is the capital?", "The capital is Ardby.", "Thanks. Something else: the swimming pool."), "How deep is it?", "How deep is the swimming pool?"),
    ],
)  # fmt: skip
def test_a_query_is_laid_on_the_question_before_it(said: list[Turn], query: str, expected: str) -> None:
    found = resolve_query(query, said)
    assert found is not None and found.status == "resolved"
    assert found.text == expected


@pytest.mark.parametrize(
    "query",
    [
        "Sind Sie sicher? Ich dachte, er kostet 5 Euro.",
        "Wie lange dauert der Kurs Keramik im Herbst in Ulm?",
        "Und wann öffnet die Halle in Ulm?",
    ],
)
def test_other_queries_stay_as_they_are(query: str) -> None:
    found = resolve_query(query, turns("Was kostet der Kurs Aquarell?", "Der Kurs kostet 90 Euro."))
    assert found is not None and found.status == "not_resolved" and found.text == query


@pytest.mark.parametrize(
    ("said", "phrase"),
    [
        ("Sorry, I meant the three-room flat.", "the three-room flat"),
        ("Not the harbour museum, the glass museum.", "the glass museum"),
        ("I actually wanted April.", "April"),
        ("I meant that the pump is broken.", ""),
        ("No, the pump is broken.", ""),
        ("I mean it.", ""),
        ("I wanted to ask about the pool.", ""),
    ],
)
def test_a_correction_names_what_was_meant(said: str, phrase: str) -> None:
    assert corrected(said) == phrase


def test_a_turn_announces_its_topic() -> None:
    assert announced("And about the ski trip:") == "the ski trip"
    assert announced("Another question: the pool.") == "the pool"
    assert announced("The pool is about the size of the hall.") == ""


@pytest.mark.parametrize(
    ("said", "query", "expected"),
    [
        (
            "I booked room Elm and my colleague booked room Oak.",
            "How many people fit in mine?",
            "How many people fit in room Elm?",
        ),
        ("I booked room Elm and my colleague booked room Oak.", "And in theirs?", "And in room Oak?"),
        (
            "My sister drives a Tarsa. I drive a Velmo.",
            "How heavy is her car?",
            "How heavy is her car (a Tarsa)?",
        ),
        (
            "We rented the Calypso. Our friends have the Mistral.",
            "How long is theirs?",
            "How long is the Mistral?",
        ),
    ],
)
def test_what_is_mine_and_what_is_theirs_is_told_apart(said: str, query: str, expected: str) -> None:
    found = resolve_query(query, turns(said, "Noted."))
    assert found is not None
    assert found.text == expected


def test_with_one_owner_nothing_is_told_apart() -> None:
    found = resolve_query("How many people fit in mine?", turns("I booked room Elm.", "Noted."))
    assert found is not None
    assert found.status == "self_contained"
