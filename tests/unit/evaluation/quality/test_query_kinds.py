"""One word may answer a question for a fact or for yes or no, in any language, and never a question for a reason."""

import pytest

from workers.evaluation.quality.query_kinds import accepts_short_answer


@pytest.mark.parametrize(
    "query",
    [
        "¿Cubre la póliza de hogar la rotura de espejos?",
        "A garantia do relógio cobre danos por líquidos?",
        "Di che colore è il neutro?",
        "Z jakiego drewna jest spód instrumentu?",
        "Får man använda gasolkök på ön?",
        "火曜の朝の味噌汁の具は何でしたか。",
        "Verkauft der Laden auch Brot?",
        "Sopimus on voimassa?",
        "Kapı kilitli mi?",
        "Works the lift again?",
    ],
)
def test_a_question_for_a_fact_or_for_yes_or_no_accepts_one_word(query: str) -> None:
    assert accepts_short_answer(query, None)


@pytest.mark.parametrize(
    "query",
    [
        "Why did the pump fail?",
        "Warum fiel die Pumpe aus?",
        "Pourquoi la pompe est-elle tombée en panne ?",
        "¿Por qué falló la bomba?",
        "Perché si è fermata la pompa?",
        "Dlaczego pompa stanęła?",
        "Почему остановился насос?",
        "ポンプはなぜ止まりましたか。",
        "How do I restart the pump?",
        "pump restart",
        "Explain the failure of the pump?",
    ],
)
def test_a_question_for_a_reason_a_step_or_a_text_does_not(query: str) -> None:
    assert not accepts_short_answer(query, None)
