"""A role belongs to the one to whom the evidence gives it."""

from collections.abc import Sequence

import pytest

from tests.harness.whole_answers import verdicts_on
from workers.evaluation.relations.named_roles import is_holder_right


@pytest.mark.parametrize(
    ("question", "context", "right", "wrong"),
    [
        ("", "The capital, Lund, has a port; Vik is the largest town.", "The capital is Lund.", "The capital is Vik."),
        ("What is the capital?", "The capital, Lund, has a port; Vik is the largest town.", "Lund.", "Vik."),
        ("", "The chair, Anna Berg, opened the meeting. Olof Holm is the treasurer.", "The treasurer is Olof Holm.", "The chair is Olof Holm."),
        ("", "The national dish is a fish stew called brak. Sural, a bread, is eaten at Easter.", "The national dish is brak.", "The national dish is sural."),
        ("", "The author of the report is Dr Lenk. The editor is Dr Marsh.", "The editor is Dr Marsh.", "The author of the report is Dr Marsh."),
        ("", "The manufacturer, Helmer AG, sells the device through its dealer Ostra.", "The manufacturer is Helmer AG.", "The manufacturer is Ostra."),
        ("Who is the landlord?", "The landlord is Mr Quist. Ms Thal manages the building.", "Mr Quist.", "Ms Thal."),
        ("", "The default port is 8080. The admin console uses port 9090.", "The default port is 8080.", "The default port is 9090."),
        ("", "The winner was Team Falk. Team Brodd came second.", "The winner was Team Falk.", "The winner was Team Brodd."),
        ("", "The main ingredient is barley; oats are added for taste.", "The main ingredient is barley.", "The main ingredient is oats."),
        ("", "The head office is in Turm. The factory is in Halle.", "The head office is in Turm.", "The head office is in Halle."),
        ("", "The editor, Ruth Adler, wrote the preface. Simon Kray took the photographs.", "The editor is Ruth Adler.", "The editor is Simon Kray."),
        ("What is the capital?", "The capital is Tarsa. Melo has the largest airport.", "Tarsa.", "Melo."),
        ("", "The main crop is rice; maize is grown in the hills.", "The main crop is rice.", "The main crop is maize."),
        ("", "The landlord is Brandt Immobilien. Repairs are done by Firma Kolb.", "The landlord is Brandt Immobilien.", "The landlord is Firma Kolb."),
        ("", "Orvik is the largest island of the group. Senna has the oldest church.", "The largest island is Orvik.", "The largest island is Senna."),
        ("Who is the coach?", "The coach is Ida Moor; Lena Voss leads the youth team.", "Ida Moor.", "Lena Voss."),
        ("", "The sponsor, Kappa Bank, gave 10,000 euros. The venue belongs to Delta Hotels.", "The sponsor is Kappa Bank.", "The sponsor is Delta Hotels."),
        ("", "The native language is Sorbian. Schools teach Polish from the third year.", "The native language is Sorbian.", "The native language is Polish."),
        ("", "The active substance is ibuprofen. Starch and lactose are the other ingredients.", "The active substance is ibuprofen.", "The active substance is lactose."),
    ],
)  # fmt: skip
def test_another_holder_of_a_role_is_contradicted(question: str, context: str, right: str, wrong: str) -> None:
    assert verdicts_on(question, context, right) == {"supported"}
    assert verdicts_on(question, context, wrong) == {"contradicted"}


@pytest.mark.parametrize(
    ("question", "context", "claim"),
    [
        ("", "The capital, Lund, is also called Vik.", "The capital is Vik."),
        ("", "The capital of Norra is Lund. The capital of Sunda is Vik.", "The capital of Sunda is Vik."),
        ("", "The winner was Team Falk. The winner of the junior race was Team Brodd.", "The winner of the junior race was Team Brodd."),
        ("", "The director, Mr Lund, opened the show. Ms Vik co-directed the film.", "The director is Mr Lund."),
        ("", "The main ingredient is barley. Barley is healthy and cheap.", "The main ingredient is healthy."),
        ("", "The currency is the krone. Kroner are also issued as coins.", "The currency is the krone."),
        ("", "The author is Emma Hart, a teacher. Hart lives in Bath.", "The author is Hart."),
        ("", "The manager is Paul Dean. Dean is from Leeds.", "The manager is Dean."),
        ("", "The official languages are Malan and Tirish.", "The official languages are Malan and Tirish."),
        ("", "The treasurer is Mr Olsen, and the secretary is Ms Dahl.", "The secretary is Ms Dahl."),
        ("Who is the landlord?", "The landlord is Mr Quist. Contact Mr Quist or his agent, Ms Thal.", "Mr Quist."),
        ("", "The largest town is Vik; the capital, Lund, has a port.", "The largest town is Vik."),
        ("", "The first president was Adam Kole. Bela Nim is the president today.", "The president is Bela Nim."),
        ("", "The mayor, Lisa Holt, opened the fair.", "The mayor is Lisa Holt."),
        ("What is the problem?", "The problem is corrosion. Rust forms under the paint.", "Rust under the paint."),
        ("", "The host is Norway. Oslo will be the venue, and Bergen will open the games.", "The host is Norway."),
        ("", "Its main export is coffee. Cocoa is exported as well.", "Its main export is coffee."),
        ("", "The owner is Sten Bo AB. Sten Bo belongs to Carl Ek.", "The owner is Sten Bo."),
        ("", "The king is Harald. Harald's son, Olav, is the crown prince.", "The crown prince is Olav."),
        ("", "The largest city, New Harbour, is in the south. Old Harbour lies in the north.", "The largest city is New Harbour."),
        ("", "The password is Falcon. The user name is admin.", "The user name is admin."),
        ("Who is the winner?", "The winner is the team from Lund. Anna Ek and Bo Lind are its members.", "The team from Lund."),
        ("", "The speaker is Dr Eva Moor. Moor teaches in Graz.", "The speaker is Eva Moor."),
        ("", "The head of department is Mr Ray. His deputy is Ms Lowe.", "The deputy is Ms Lowe."),
    ],
)  # fmt: skip
def test_right_holders_are_supported(question: str, context: str, claim: str) -> None:
    assert verdicts_on(question, context, claim) == {"supported"}


@pytest.mark.parametrize(
    ("claim", "question", "sentences"),
    [
        ("The chair is Olof Holm.", "", ["The chair was Anna Berg until 2019.", "Olof Holm leads the board."]),
        ("The author is Samuel Clark.", "", ["The author is Mark Tarn.", "Samuel Clark wrote under that pen name."]),
        ("The capital is Vik.", "", ["The capital of Norra is Lund.", "The capital of Sunda is Vik."]),
        ("The capital is not Vik.", "", ["The capital is Lund.", "Vik is the largest town."]),
        ("The capital is Vik.", "", ["The capital is Lund."]),
        ("The capital is Vik.", "", ["The capital is Lund.", "Vik and Lund are one town."]),
        ("The main cause is rust.", "", ["The main cause is corrosion.", "Rust forms under the paint."]),
        ("The main ingredient is healthy.", "", ["The main ingredient is Barlo.", "It is cheap and healthy."]),
        ("Vik.", "Where is the port?", ["The capital is Lund.", "Vik is the largest town."]),
        ("The capital is Vik.", "", ["The capital is Lund.", "The capital is Molde.", "Vik is the largest town."]),
    ],
)  # fmt: skip
def test_other_statements_are_left_open(claim: str, question: str, sentences: Sequence[str]) -> None:
    assert is_holder_right(claim, question, sentences) is None
