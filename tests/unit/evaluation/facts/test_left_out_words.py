"""Nouns and units that a clause shares with the clause before are restored; other numbers stay as they are."""

import pytest

from workers.evaluation.facts.forms.left_out_words import restore_left_out, with_asked_unit
from workers.evaluation.text.languages.local_forms import local_forms


@pytest.mark.parametrize(
    ("text", "restored"),
    [
        ("The red line runs every ten minutes, the blue one every fifteen.", "The red line runs every ten minutes, the blue line every fifteen minutes."),
        ("An adult ticket costs 12 euros, a child ticket 7.", "An adult ticket costs 12 euros, a child ticket 7 euros."),
        ("The old lift carries 300 kg; the other one, 450.", "The old lift carries 300 kg; the other lift, 450 kg."),
        ("The first night costs 90 euros, the second 80 and the third 70.", "The first night costs 90 euros, the second night 80 euros and the third night 70 euros."),
        ("The first survey found 40 % of users satisfied, the second 55.", "The first survey found 40 % of users satisfied, the second survey 55 % of users."),
        ("The main branch opened in 1998, the other one in 2004.", "The main branch opened in 1998, the other branch in 2004."),
        ("Shipping to Germany takes two days, to France four.", "Shipping to Germany takes two days, to France four days."),
        ("In April the club raised $400, in May 650.", "In April the club raised $400, in May $650."),
        ("Use 300 g of flour, 150 of sugar and 20 of yeast.", "Use 300 g of flour, 150 g of sugar and 20 g of yeast."),
        ("A flat costs 900 euros, a house 1800.", "A flat costs 900 euros, a house 1800 euros."),
        ("The first lap is 1200 metres, the second 1600.", "The first lap is 1200 metres, the second lap 1600 metres."),
        ("The first pump delivers 3.4 litres, the second only 1.2.", "The first pump delivers 3.4 litres, the second pump only 1.2 litres."),
        ("The first tour lasts two hours, the second one and a half.", "The first tour lasts two hours, the second tour one and a half hours."),
        ("In 2018 revenue was 4.2 million. In 2019 it rose to 5.1.", "In 2018 revenue was 4.2 million. In 2019 it rose to 5.1 million."),
        ("Unemployment was 6.4 percent in 2012. In 2013 it fell to 5.9.", "Unemployment was 6.4 percent in 2012. In 2013 it fell to 5.9 percent."),
        ("Exports were 6.8 million tonnes in 2010. In 2011 they fell to 5.5.", "Exports were 6.8 million tonnes in 2010. In 2011 they fell to 5.5 million tonnes."),
        ("In 2020 the rent was 900 euros. In 2021 it fell to 850.", "In 2020 the rent was 900 euros. In 2021 it fell to 850 euros."),
        ("The average wait is 12 minutes, the longest one was 50 minutes.", "The average wait is 12 minutes, the longest wait was 50 minutes."),
        ("The first train takes 40 minutes, the second takes 25 minutes.", "The first train takes 40 minutes, the second train takes 25 minutes."),
        ("The northern pass is 1,200 m high; the southern one is at 1,450 m.", "The northern pass is 1,200 m high; the southern pass is at 1,450 m."),
        ("La primera parte dura 40 minutes, la segunda 25.", "La primera parte dura 40 minutes, la segunda parte 25 minutes."),
    ],
)  # fmt: skip
def test_words_that_two_clauses_share_are_restored_in_the_later_one(text: str, restored: str) -> None:
    assert restore_left_out(text) == restored
    assert restore_left_out(restored) == restored


def test_a_german_ordinal_is_no_figure() -> None:
    text = local_forms("Der erste Teil dauert 40 Minuten, der zweite 25.", "de")
    assert restore_left_out(text) == "Der erste Teil dauert 40 minutes, der 2. Teil 25 minutes."


@pytest.mark.parametrize(
    "text",
    [
        "The tour lasts 40 minutes and ends in hall 3.",
        "The trip takes 2 hours, departures are at 10 and 14.",
        "Bus 7 takes 40 minutes, bus 25 takes half an hour.",
        "It took 40 minutes, in the year 1998.",
        "The trip took 3 days, the return in 1998.",
        "The bill passed by 40 votes to 12.",
        "The hotel is 2 km from the beach and has 45 rooms.",
        "The trip takes 3 hours, the group is 12.",
        "From 10 kg up, see section 4.",
        "Take 2 tablets, at most 6.",
        "The part takes 40 minutes, der 2. Teil fehlt.",
        "It has 7 parts of wood, the table 5.",
        "It is open for 3 days, 5 of which are free.",
        "Tickets cost $5, for seniors three.",
        "The club raised $400, in 1998 more.",
        "Between 10 minutes and twenty.",
        "In 2018 revenue was 4.2 million. In 2019 they hired 51.",
        "The nurse gave him a red pill, the only one was 3 years old and broken.",
    ],
)
def test_a_number_of_something_else_stays_as_it_is(text: str) -> None:
    assert restore_left_out(text) == text


@pytest.mark.parametrize(
    ("before", "text", "restored"),
    [
        ("The first part takes 40 minutes.", "The second takes 25.", "The second part takes 25 minutes."),
        ("An adult ticket costs 12 euros.", "A child ticket costs 7.", "A child ticket costs 7 euros."),
        ("The trip takes 3 hours.", "The group size is 12.", "The group size is 12."),
        ("The bridge is 300 m long.", "It was built by 12 men.", "It was built by 12 men."),
    ],
)
def test_a_sentence_shares_words_with_the_one_before(before: str, text: str, restored: str) -> None:
    assert restore_left_out(text, before) == restored


@pytest.mark.parametrize(
    ("query", "reply", "whole"),
    [
        ("How many hours does the film last?", "One and a half.", "One and a half hours."),
        ("How many days does it take?", "About 36", "About 36 days."),
        ("How many people came?", "36.", "36."),
        ("How many hours does it take?", "Two days.", "Two days."),
        ("How long does it take?", "36.", "36."),
    ],
)
def test_a_number_alone_has_the_unit_that_its_question_asks_for(query: str, reply: str, whole: str) -> None:
    assert with_asked_unit(query, reply) == whole
