"""Check the rules on plain questions where they must conclude nothing, and on forms that no whole answer has."""

import pytest

from tests.harness.whole_answers import verdicts_on
from workers.evaluation.facts.forms.written_shares import write_shares
from workers.evaluation.facts.units import NUMBER_WORDS
from workers.evaluation.relations.exchanged_members import is_member_right
from workers.evaluation.relations.figures.counts_of_one import is_count_right
from workers.evaluation.relations.figures.free_of_charge import is_free_of_charge_right
from workers.evaluation.relations.figures.worded_rows import is_row_figure_right
from workers.evaluation.relations.permissions.unneeded_things import is_need_stated
from workers.evaluation.relations.times.anchored_periods import is_anchor_kept

SCORERS = "Scorers: Mia 12 goals, 5 assists; Lena zero goals, 11 assists."


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (
            "The bridge cost $30 million, of which the county paid 70 % and the town the rest.",
            "The bridge cost $30 million, of which the county paid 70 % ($21 million) and the town 30 % ($9 million).",
        ),
        ("The firm has 1,200 employees; of these 2.5 % are apprentices.",
         "The firm has 1,200 employees; of these 2.5 % (30 employees) are apprentices."),
        ("Der Bund zahlt 62,5 % und die Stadt den Rest.", "Der Bund zahlt 62,5 % und die Stadt 37.5 %."),
    ],
)  # fmt: skip
def test_shares_and_the_rest_are_written_out(text: str, written: str) -> None:
    assert write_shares(text) == written


@pytest.mark.parametrize(
    "text",
    [
        "Sales rise by 20 % in June and stay flat for the rest of the year.",
        "Wind supplies 80 %, water 20 % and the rest comes from abroad.",
        "In 2019 the firm sold its shops, of which 40 % were in the south.",
        "About 60 % of the waste is recycled and the rest is burned.",
        "Of 500 visitors and 20 guides, of whom 10 % were ill, all came.",
        "Mix 30 g of this with 5 % vinegar.",
        "The rest is silent.",
    ],
)
def test_a_text_without_a_share_of_one_amount_stays_as_it_is(text: str) -> None:
    assert write_shares(text) == text


@pytest.mark.parametrize("word", sorted(NUMBER_WORDS))
def test_each_word_for_a_number_is_read(word: str) -> None:
    rows = [f"Mia {word} goals, 5 assists; Lena 9 goals, 11 assists."]
    assert is_row_figure_right(f"{word}.", "How many goals did Mia score?", rows) is True
    assert is_row_figure_right(f"{word}.", "How many goals did Lena score?", rows) is (NUMBER_WORDS[word] == 9)
    assert is_count_right(f"You get {word} keys.", "", ["You get a key."]) is None


def test_a_row_without_any_is_compared() -> None:
    assert is_row_figure_right("Zero.", "How many goals did Lena score?", [SCORERS]) is True
    assert is_row_figure_right("Lena scored 12 goals fewer than Mia.", "", [SCORERS]) is True
    assert is_row_figure_right("Lena scored 11 goals fewer than Mia.", "", [SCORERS]) is False


@pytest.mark.parametrize(
    ("claim", "question", "sentences"),
    [
        ("12.", "How many goals were scored?", [SCORERS]),
        ("Mia scored three more goals than Tom.", "", [SCORERS]),
        ("12.", "", [SCORERS]),
    ],
)
def test_rows_decide_nothing_for_others(claim: str, question: str, sentences: list[str]) -> None:
    assert is_row_figure_right(claim, question, sentences) is None


def test_a_period_from_an_event_in_other_words_is_left_open() -> None:
    source = ["The deposit is returned within six weeks after the keys are handed over.", "Give notice in writing."]
    assert is_anchor_kept("Within six weeks after you give notice.", source) is False
    assert is_anchor_kept("Within six weeks after you move out.", source) is None
    assert is_anchor_kept("Within six weeks after they are handed over.", source) is None
    assert is_anchor_kept("Within four weeks after you give notice.", source) is None
    assert is_anchor_kept("Six weeks before you give notice.", source) is None


def test_a_thing_that_another_sentence_demands_may_be_needed() -> None:
    source = ["Books can be read on site without a card.", "Borrowing requires a card."]
    assert is_need_stated("A card is required.", "", source) is None
    assert is_need_stated("A card is required.", "", source[:1]) is False
    assert is_need_stated("A card is required.", "", ["Nobody may enter without a card."]) is None
    assert is_need_stated("No card is needed.", "", source[:1]) is None


def test_one_of_several_is_no_count() -> None:
    assert is_count_right("You get one key.", "", ["You get two keys."]) is False
    assert is_count_right("One of the keys is black.", "", ["You get two keys."]) is None
    assert is_count_right("One key is black.", "", ["You get two keys, one for the door."]) is None
    assert is_count_right("You get three tablets.", "", ["Take one tablet three times a day."]) is None
    assert is_count_right("You get four keys.", "", ["You get two keys."]) is None


def test_free_of_something_is_not_free_of_charge() -> None:
    assert (
        is_free_of_charge_right("Tarts cost 5 euros.", "", ["Tarts are free of nuts and cakes cost 5 euros."]) is None
    )
    assert is_free_of_charge_right("Pupils pay 5 euros.", "", ["Pupils travel free and adults pay 5 euros."]) is False


def test_members_of_one_group_may_be_named_in_any_order() -> None:
    source = ["Banks and insurers must report.", "Pension funds are supervised."]
    assert is_member_right("Insurers and banks must report.", "", source) is None
    assert is_member_right("Banks and pension funds must report.", "", source) is False
    assert is_member_right("Banks must report and pension funds are supervised.", "", source) is None
    assert is_member_right("Banks and brokers must report.", "", source) is None


@pytest.mark.parametrize("text", ["See [1].", "See also [1] and [2].", "Source: [1].", "Cf. [1]"])
def test_an_answer_that_leads_to_a_source_alone_states_nothing(text: str) -> None:
    assert verdicts_on("How much memory does Loki need?", "Loki needs 2 GiB of memory.", text) == {"not_checked"}


def test_what_a_pointer_says_of_its_source_is_a_statement() -> None:
    assert verdicts_on("", "Loki needs 2 GiB of memory.", "See the manual for nurses [1].") == {"unsupported"}
