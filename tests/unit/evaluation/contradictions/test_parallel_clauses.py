"""Claims that take one part from one clause and another part from a parallel one, in any language."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.evaluation.contradictions.parallel_clauses import Parallel, read_parallels, stems_of


def read(claim: str, *sentences: str, question: str = "") -> Parallel:
    return read_parallels(stems_of(claim), stems_of(question), [sentences])


STATEMENTS = [
    (("Anna vive a Roma e Marco vive a Milano.",), "Marco vive a Milano.", "Marco vive a Roma."),
    (("Ada Lovelace wurde 1815 geboren, Charles Babbage 1791.",), "Charles Babbage wurde 1791 geboren.", "Charles Babbage wurde 1815 geboren."),
    (("Flight LH210 leaves from gate B12.", "Flight BA88 leaves from gate C4."), "Flight BA88 leaves from gate C4.", "Flight BA88 leaves from gate B12."),
    (("Server A runs Ubuntu and server B runs Debian.",), "Server A runs Ubuntu.", "Server A runs Debian."),
    (("La torre norte mide 120 metros y la torre sur mide 90 metros.",), "La torre sur mide 90 metros.", "La torre sur mide 120 metros."),
    (("Jan woont in Utrecht en Piet woont in Gouda.",), "Piet woont in Gouda.", "Piet woont in Utrecht."),
    (("Иван родился в Москве, а Пётр родился в Казани.",), "Пётр родился в Казани.", "Пётр родился в Москве."),
    (("東京タワーは333メートルです。", "スカイツリーは634メートルです。"), "東京タワーは333メートルです。", "東京タワーは634メートルです。"),
    (("合同期限为24个月,通知期为3个月。",), "合同期限为24个月。", "合同期限为3个月。"),
]  # fmt: skip


@pytest.mark.parametrize(("evidence", "true", "false"), STATEMENTS)
def test_a_claim_that_mixes_two_clauses_is_told_from_one_that_keeps_to_its_own(
    evidence: tuple[str, ...], true: str, false: str
) -> None:
    assert read(true, *evidence) == "kept"
    assert read(false, *evidence) == "mixed"


ANSWERS = [
    (("The meeting starts at 10:00 and ends at 11:30.",), "When does the meeting end?", "11:30", "10:00"),
    (("The recipe calls for 200 g of flour and 100 g of sugar.",), "How much sugar?", "100 g", "200 g"),
    (("The surgery was performed by Dr. Amari, assisted by Dr. Cole.",), "Who performed the surgery?", "Dr. Amari", "Dr. Cole"),
    (("Take one tablet in the morning and two in the evening.",), "How many in the evening?", "Two", "One"),
    (("Maria studied law in Rome and worked as a judge in Turin.",), "Where did Maria study law?", "Rome", "Turin"),
    (("Juan nació en Lima y Pedro nació en Quito.",), "¿Dónde nació Pedro?", "En Quito", "En Lima"),
    (("Il contratto dura 24 mesi.", "Il preavviso è di 3 mesi."), "Quanto dura il contratto?", "24 mesi", "3 mesi"),
]  # fmt: skip


@pytest.mark.parametrize(("evidence", "question", "true", "false"), ANSWERS)
def test_a_short_answer_is_read_with_the_words_of_its_question(
    evidence: tuple[str, ...], question: str, true: str, false: str
) -> None:
    assert read(true, *evidence, question=question) != "mixed"
    assert read(false, *evidence, question=question) == "mixed"


@pytest.mark.parametrize(
    ("evidence", "claim"),
    [
        # Steps of an instruction have an article and a noun in common.
        (
            ("1 In order to reset the router, press down the small key for a while.",),
            "Reset the router by pressing down the small key.",
        ),
        (
            ("2 Lift the filter out of the green basket.", "3 Rinse the filter under the running tap."),
            "Rinse it under the tap beside the green basket.",
        ),
        (
            (
                "Whisk an egg and slowly fold the egg into your warm vanilla cream, being careful not to burn the egg's white.",
            ),
            "Fold an egg into the warm vanilla cream, being careful not to burn the white.",
        ),
        (
            ("Turn the gas tap back on and test out the burner of the stove.",),
            "Check it by turning on the gas tap and then the burner.",
        ),
        # A pronoun or "the building" may stand for what the sentence before names.
        (("The hotel was built in 1900.", "The building was renovated in 1990."), "The hotel was renovated in 1990."),
        (("France won the final in 1998.", "Brazil won it in 2002."), "Brazil won the final in 2002."),
        # Sentences of another form that share small words.
        (("Lena Vogt founded Norex in Graz.", "Its office moved to Vienna in 2005."), "Norex moved to Vienna in 2005."),
        # Lists that belong together item by item.
        (("Ann and Bob earn 300 and 500 euros respectively.",), "Ann earns 300 euros."),
        ((), "Ann earns 300 euros."),
    ],
)
def test_what_the_evidence_may_mean_is_no_mixture(evidence: tuple[str, ...], claim: str) -> None:
    assert read(claim, *evidence) != "mixed"


@given(
    st.lists(
        st.sampled_from(["Ann", "earns", "300", "and", "Bob", ",", "in", "Rom", "住", "は"]), min_size=1, max_size=12
    )
)
def test_a_sentence_mixes_nothing_with_itself(words: list[str]) -> None:
    text = " ".join(words)
    assert read(text, text) != "mixed"
