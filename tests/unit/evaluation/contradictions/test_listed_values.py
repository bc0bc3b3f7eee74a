"""Check short answers that stand in a list with another member than the question names."""

import pytest

from workers.evaluation.contradictions.values.listed_values import belongs_to_other

LISTS = [
    (
        "Di che colore è il filo neutro?",
        "Nel quadro la fase è grigia, il neutro rosso e la terra bianca.",
        "Rosso",
        "Grigio",
    ),
    (
        "Welches Instrument spielt Frau Aarts?",
        "Im Quintett spielt Frau Aarts Oboe und ihre Schwester Klarinette.",
        "Oboe",
        "Klarinette",
    ),
    (
        "Что добывают на руднике «Северный»?",
        "Рудник «Северный» даёт апатит, «Западный» — нефелин.",
        "Апатит",
        "Нефелин",
    ),
    (
        "Z czego zrobiono spód?",
        "Wierzch instrumentu zrobiono ze świerku, spód i boczki z jaworu.",
        "Z jaworu",
        "Ze świerku",
    ),
    ("点豆花用的是什么?", "陈阿婆做老豆腐用盐卤,点豆花用石膏。", "石膏", "盐卤"),
    ("橋の設計をしたのはどこですか。", "橋は設計を北辰構造、施工を大和田組が請け負った。", "北辰構造", "大和田組"),
]


@pytest.mark.parametrize(("question", "evidence", "right", "wrong"), LISTS)
def test_the_value_of_another_member_is_told_from_the_right_one(
    question: str, evidence: str, right: str, wrong: str
) -> None:
    assert not belongs_to_other(question, right, [evidence])
    assert belongs_to_other(question, wrong, [evidence])


@pytest.mark.parametrize(
    ("question", "evidence", "answer"),
    [
        ("Wer leitet die Schule in Ahlen?", "Die Schule in Ahlen ist neu, Rektorin ist Frau Klee.", "Frau Klee"),
        ("Wo steht die Halle?", "Die Halle steht in Ulm, die Villa in Bonn.", "In Köln"),
        ("", "Die Halle steht in Ulm, die Villa in Bonn.", "Bonn"),
        ("Wo steht die Halle?", "", "Bonn"),
    ],
)
def test_other_sentences_give_no_result(question: str, evidence: str, answer: str) -> None:
    assert not belongs_to_other(question, answer, [evidence])
