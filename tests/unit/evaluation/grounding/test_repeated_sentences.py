"""Check answers that repeat a sentence of their source, and limits beyond which something is forbidden."""

import pytest

from tests.harness.whole_answers import verdicts_on
from workers.evaluation.claims.claim_extraction import ExtractedClaim
from workers.evaluation.facts.numbers.bounds import bound_of, forbidden_side, is_approximate
from workers.evaluation.grounding.support import repeated_sentence
from workers.evaluation.relations.named_options import is_option_right
from workers.evaluation.relations.permissions.forbidden_sides import is_side_allowed

ARCHIVER = (
    "`pack add FILE` puts a file into the archive. The option `--replace` overwrites older copies; it is off by default."
    " `--list` prints the names and changes nothing. Empty folders are skipped. The archiver runs on Linux and macOS."
)
KILN = (
    "Kiln 2 is heated by gas. A first firing takes about 8 hours, a glaze firing 10 to 12 hours. Never open the door while"
    " the inside exceeds 90 °C: the glaze cracks. If the pressure falls below 2 bar, do not light the burner."
)
ASKED = "Does the archiver keep empty folders, and what does --replace do?"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (ASKED, "Empty folders are skipped. --replace overwrites older copies."),
        (ASKED, "No, empty folders are skipped [1]."),
        (ASKED, "The archiver runs on Linux and macOS."),
        ("What does --list do?", "It prints the names and changes nothing."),
    ],
)
def test_a_sentence_of_the_source_is_not_contradicted(question: str, answer: str) -> None:
    assert set(verdicts_on(question, ARCHIVER, answer)) == {"supported"}


def test_a_sentence_that_the_source_denies_is_contradicted() -> None:
    assert "contradicted" in verdicts_on(ASKED, ARCHIVER, "Empty folders are not skipped.")


def test_a_question_for_more_than_an_option_does_not_name_the_option_of_its_answer() -> None:
    sentences = ["--list prints the names of the files.", "--replace overwrites older copies."]
    names = "The names of the files are printed."
    assert is_option_right(names, "What does --replace do?", sentences) is False
    assert is_option_right(names, "What can I see, and what does --replace do?", sentences) is None


def test_a_sentence_without_a_pronoun_does_not_go_on_with_the_option_before_it() -> None:
    sentences = ["--list prints the names.", "Empty folders are skipped.", "--replace overwrites copies. "]
    assert is_option_right("Folders without files are skipped.", "What does --replace do?", sentences) is None
    goes_on = ["--list prints the names.", "It changes nothing in the archive.", "--replace overwrites copies."]
    assert is_option_right("It changes nothing.", "What does --replace do?", goes_on) is False


@pytest.mark.parametrize(
    "answer",
    [
        "The inside must not exceed 90 °C when you open the door.",
        "Make sure the inside is not above 90 °C before you open the door, otherwise the glaze cracks.",
        "Wait until the inside is at most 90 °C before you open the door.",
        "Never open the door while the inside is above 90 °C.",
        "Open the door only when the inside is at most 90 °C.",
        "Check that the pressure is at least 2 bar before you light the burner.",
        "Do not light the burner if the pressure is below 2 bar.",
    ],
)
def test_what_is_forbidden_beyond_a_limit_is_allowed_up_to_it(answer: str) -> None:
    assert "contradicted" not in verdicts_on("What must I watch when I fire?", KILN, answer)


@pytest.mark.parametrize(
    "answer",
    [
        "The inside must exceed 90 °C when you open the door.",
        "Make sure the inside is above 90 °C before you open the door.",
        "Check that the pressure is below 2 bar before you light the burner.",
        "The inside must not exceed 120 °C when you open the door.",
    ],
)
def test_what_is_forbidden_beyond_a_limit_is_not_demanded(answer: str) -> None:
    assert {"contradicted", "unsupported"} & set(verdicts_on("What must I watch when I fire?", KILN, answer))


def test_a_forbidden_side_is_no_bound() -> None:
    text = "Never open the door while the inside exceeds 90 °C."
    assert (bound_of(text, text.index("90")), forbidden_side(text, text.index("90"))) == (0, 1)
    asked = "You do not need a ticket if you are over 65."
    assert (bound_of(asked, asked.index("65")), forbidden_side(asked, asked.index("65"))) == (1, 0)


def test_a_side_is_demanded_by_a_word_and_not_by_its_number_alone() -> None:
    source = ["Do not start when the load is above 40 kg."]
    assert is_side_allowed("The load must be above 40 kg.", "", source) is False
    assert is_side_allowed("The load was above 40 kg.", "", source) is None
    assert is_side_allowed("The load must be above 45 kg.", "", source) is None


@pytest.mark.parametrize(
    "text", ["Turnover 30 million euros", "Rollover 12 games", "Breakfast 5 euros", "Thunder 4 km away"]
)
def test_the_end_of_a_word_bounds_no_number(text: str) -> None:
    figure = next(place for place, character in enumerate(text) if character.isdigit())
    assert (bound_of(text, figure), is_approximate(text[:figure])) == (0, False)


@pytest.mark.parametrize(
    ("answer", "is_right"),
    [
        ("A glaze firing takes ten to twelve hours.", True),
        ("A glaze firing takes 10 to 15 hours.", False),
        ("A glaze firing needs longer, between ten and fifteen hours.", False),
    ],
)
def test_a_range_keeps_both_ends(answer: str, is_right: bool) -> None:
    found = set(verdicts_on("How long does a glaze firing take?", KILN, answer))
    assert (found == {"supported"}) is is_right


@pytest.mark.parametrize(
    ("plain", "question", "is_repeated"),
    [
        ("Receipts are needed above €15", "", True),
        ("receipts are  needed above €15!", "", True),
        ("Receipts are needed above €25", "", False),
        ("It is needed above €15", "", False),
        ("Receipts are needed above €15", "From which sum on?", False),
    ],
)
def test_a_claim_that_says_what_it_is_about_is_found_in_its_source(
    plain: str, question: str, is_repeated: bool
) -> None:
    claim = ExtractedClaim(0, len(plain), plain, plain, "factual", question=question)
    texts = ["It is needed above €15.", "Receipts are needed above €15."]
    assert repeated_sentence(claim, texts) == (1 if is_repeated else None)
