"""Two queries that are near by cosine may ask different things; what is kept of them tells which, and no text."""

import numpy as np
import pytest

from workers.evaluation.thresholds import FeedbackRules
from workers.feedback.query_fingerprint import asks_something_else, fingerprint
from workers.feedback.retry_detection import AskedQuery, find_retries

OTHER_QUESTIONS = [
    ("grinder 5 down?", "grinder 6 down?"),
    ("What did Acme earn in 2023?", "What did Acme earn in 2024?"),
    ("Who manages the Leeds warehouse?", "Who manages the Derby warehouse?"),
    ("Is ticket INC-4711 solved?", "Is ticket INC-4712 solved?"),
    ("Wie hoch war der Umsatz im März?", "Wie hoch war der Umsatz im April?"),
    ("How do I import a contact list?", "How do I export a contact list?"),
    ("Wo finde ich das Formular für die Steuer?", "Wo finde ich das Formular für den Urlaub?"),
    ("What is the weight of the small crate?", "What is the weight of the large crate?"),
    ("Where is truck 12 now?", "Tell me the current location of truck 21"),
    ("Show the minutes of 4 June 2025.", "Show the minutes of 11 June 2025."),
    ("What is the phone number of Mr. Keller?", "How can I reach Mr. Kessler by phone?"),
    ("Does article X-200 fit article Y-7?", "Does article X-200 fit article Y-9?"),
    ("Wie viele Mitarbeiter hat das Werk in Ulm?", "Wie viele Mitarbeiter hat das Werk in Bonn?"),
    ("Can I return shoes without a receipt?", "Can I return shoes without the box?"),
    ("When is the fair?", "Where is the fair?"),
    ("What happens before the audit?", "What happens after the audit?"),
    ("مضخة ٥ متوقفة؟", "مضخة ٦ متوقفة؟"),
    ("北京今天下雨吗?", "上海今天下雨吗?"),
    ("When does the first tram leave?", "At what hour does the last tram go?"),
    ("Where is truck 12 now?", "Who drives truck 12?"),
    ("Wer leitet die Schule?", "Wie viele Schüler hat die Schule?"),
    ("Quand ferme la piscine ?", "Quelle est la profondeur de la piscine ?"),
    ("Quanto pesa lo zaino?", "Quanto costa lo zaino?"),
]
SAME_QUESTIONS = [
    ("grinder 5 down?", "Is grinder five not running?"),
    ("Why is the printer offline?", "The printer is offline again, why?"),
    ("Wie setze ich mein Passwort zurück?", "Passwort vergessen, wie kann ich es zurücksetzen?"),
    ("Comment puis-je annuler ma réservation ?", "Je voudrais annuler ma réservation, comment faire ?"),
    ("How much did we sell in May 2024?", "Sales in 05/2024?"),
    ("What is the boiling point of ethanol?", "What temperature does ethanol boil at?"),
    ("Where is truck 12 now?", "Tell me the current location of truck 12"),
    ("Show the minutes of 4 June 2025.", "Show me the minutes of June 4, 2025"),
    ("What is the phone number of Mr. Keller?", "How can I reach Mr. Keller by phone?"),
    ("Show me the invoices of 1,200 euros", "I need the invoices of 1200 euros"),
    ("Is pump P-101 leaking?", "Is the pump 101 leaking?"),
    ("Was kostet die Monatskarte?", "Wie teuer ist eine Monatskarte?"),
    ("Can I cancel my order?", "How do I cancel my order?"),
    ("¿Cuánto cuesta la entrada al acuario?", "¿Qué precio tiene la entrada del acuario?"),
    ("Wie schwer ist der Motor?", "Welches Gewicht hat der Motor?"),
    ("How long is the warranty?", "What is the warranty period?"),
    ("Where is the office?", "How do I get to the office?"),
]
NARROWED = [
    ("What was the revenue?", "What was the revenue in 2024?"),
    ("Show open orders", "Show open orders of customer 4711"),
    ("Who is on call?", "Who is on call at Leeds?"),
]


def ask_different_things(first: str, second: str) -> bool:
    one, other = fingerprint(first, "person"), fingerprint(second, "person")
    answer = asks_something_else(one, other)
    assert answer == asks_something_else(other, one)
    return answer


@pytest.mark.parametrize(("first", "second"), OTHER_QUESTIONS)
def test_another_value_name_or_part_asks_something_else(first: str, second: str) -> None:
    assert ask_different_things(first, second)


@pytest.mark.parametrize(("first", "second"), SAME_QUESTIONS)
def test_other_words_for_the_same_values_ask_the_same(first: str, second: str) -> None:
    assert not ask_different_things(first, second)


@pytest.mark.parametrize(("first", "second"), NARROWED)
def test_a_detail_that_is_only_added_asks_the_same(first: str, second: str) -> None:
    assert not ask_different_things(first, second)


def test_the_same_query_asks_the_same() -> None:
    assert not ask_different_things("grinder 5 down?", "grinder 5 down?")
    assert not ask_different_things("", "")


def test_a_query_on_another_machine_is_no_retry_however_near_its_vector() -> None:
    vector = np.ones(4, dtype=np.float16)
    first = AskedQuery("a", 0.0, vector, fingerprint("grinder 5 down?", "person"))
    other = AskedQuery("b", 60.0, vector, fingerprint("grinder 6 down?", "person"))
    again = AskedQuery("c", 90.0, vector, fingerprint("is grinder 5 down?", "person"))
    assert find_retries(other, [first], FeedbackRules()) == []
    (pair,) = find_retries(again, [first, other], FeedbackRules())
    assert pair.original_answer_id == "a"


def test_an_entry_of_an_earlier_version_is_compared_by_its_vector_alone() -> None:
    vector = np.ones(4, dtype=np.float16)
    early = AskedQuery("a", 0.0, vector)
    now = AskedQuery("b", 60.0, vector, fingerprint("grinder 6 down?", "person"))
    assert len(find_retries(now, [early], FeedbackRules())) == 1


def test_the_same_query_of_two_people_has_different_digests() -> None:
    one, other = fingerprint("call Anna Schmidt at 5 pm", "one"), fingerprint("call Anna Schmidt at 5 pm", "other")
    assert not set(one.words) & set(other.words)
    assert not one.values & other.values


def test_a_word_is_kept_as_too_few_bits_to_tell_it() -> None:
    found = fingerprint(" ".join(f"word{number}" for number in range(200)), "person")
    assert 150 < len(set(found.words)) <= 200
    assert max(found.words) < 2**16


def test_a_very_long_query_is_bounded() -> None:
    found = fingerprint("why 7 " + " ".join(f"item{number}" for number in range(5_000)), "person")
    assert max(map(len, (found.words, found.values, found.names))) <= 256
