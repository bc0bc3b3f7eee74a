"""Exchanged roles: forms that show a role keep it in any place; without them the order of the words decides."""

import pytest

from workers.evaluation.contradictions.roles import swapped

SAME = [
    ("Сауной нельзя пользоваться детям до семи лет.", "Детям до семи лет нельзя пользоваться сауной."),
    ("В парк нельзя входить собакам.", "Собакам нельзя входить в парк."),
    ("Петра пригласила Анна.", "Анна пригласила Петра."),
    ("Книгу написал Орлов.", "Орлов написал книгу."),
    (
        "Osoby poniżej 16 lat nie mogą startować w biegu nocnym.",
        "W biegu nocnym nie mogą startować osoby poniżej 16 lat.",
    ),
    ("Umowę podpisał prezes i nie jest ona tajna.", "Prezes podpisał umowę i nie jest ona tajna."),
    (
        "Kinder unter zehn Jahren dürfen den Aufzug nicht allein benutzen.",
        "Den Aufzug dürfen Kinder unter zehn Jahren nicht allein benutzen.",
    ),
    ("Dem Mieter schuldet der Vermieter die Kaution.", "Der Vermieter schuldet dem Mieter die Kaution."),
    ("Im Foyer dürfen Gäste rauchen.", "Gäste dürfen im Foyer rauchen."),
    ("민수를 어제 지수가 불렀다.", "지수가 어제 민수를 불렀다."),
]
EXCHANGED = [
    ("«Зенит» в субботу обыграл «Спартак».", "«Спартак» в субботу обыграл «Зенит»."),
    ("Грузовик обогнал автобус.", "Автобус обогнал грузовик."),
    ("Samochód nie wyprzedził autobus, jest on nowy.", "Autobus nie wyprzedził samochód, jest on nowy."),
    ("Die Bank hat die Stiftung verklagt.", "Die Stiftung hat die Bank verklagt."),
    ("Siemens und die Stadt wurden von Bosch verklagt.", "Bosch und die Stadt wurden von Siemens verklagt."),
    ("Der Mieter schuldet dem Vermieter die Kaution.", "Der Vermieter schuldet dem Mieter die Kaution."),
    ("Jan heeft Piet het boek gegeven.", "Piet heeft Jan het boek gegeven."),
    ("Pedro demandó a Juan.", "Juan demandó a Pedro."),
    ("Le maire a remercié le préfet.", "Le préfet a remercié le maire."),
    ("The bank sued the customer.", "The customer sued the bank."),
]


@pytest.mark.parametrize(("claim", "evidence"), SAME)
def test_a_form_that_shows_its_role_keeps_it_in_another_place(claim: str, evidence: str) -> None:
    """ "Den Aufzug dürfen Kinder benutzen" is "Kinder dürfen den Aufzug benutzen"."""
    assert not swapped(claim, evidence)


@pytest.mark.parametrize(("claim", "evidence"), EXCHANGED)
def test_without_such_a_form_the_order_decides_who_did_it(claim: str, evidence: str) -> None:
    assert swapped(claim, evidence)
