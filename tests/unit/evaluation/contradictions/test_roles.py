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
    ("Inés Prado es la directora.", "La directora es Inés Prado."),
    ("Los ganadores fueron Luis Paz y Eva Rey.", "Luis Paz y Eva Rey fueron los ganadores."),
    ("Luc Petit est le directeur.", "Le directeur est Luc Petit."),
    ("Le premier maire était Jean Morel.", "Jean Morel était le premier maire."),
    ("Ines Prado è la direttrice.", "La direttrice è Ines Prado."),
    ("Il primo sindaco fu Aldo Neri.", "Aldo Neri fu il primo sindaco."),
    ("Inês Prado é a diretora.", "A diretora é Inês Prado."),
    ("Marta Reis foi a tesoureira do clube.", "A tesoureira do clube foi Marta Reis."),
    ("Ines Prado ist die Leiterin.", "Die Leiterin ist Ines Prado."),
    ("De winnaars waren Jan en Piet.", "Jan en Piet waren de winnaars."),
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
    ("Inés es más alta que Eva.", "Eva es más alta que Inés."),
    ("Luc est le frère de Jean.", "Jean est le frère de Luc."),
    ("Ines ha assunto Aldo.", "Aldo ha assunto Ines."),
    ("Inês é filha de Marta.", "Marta é filha de Inês."),
    ("Ines ist größer als Eva.", "Eva ist größer als Ines."),
]


@pytest.mark.parametrize(("claim", "evidence"), SAME)
def test_a_form_that_shows_its_role_keeps_it_in_another_place(claim: str, evidence: str) -> None:
    """ "Den Aufzug dürfen Kinder benutzen" is "Kinder dürfen den Aufzug benutzen"."""
    assert not swapped(claim, evidence)


@pytest.mark.parametrize(("claim", "evidence"), EXCHANGED)
def test_without_such_a_form_the_order_decides_who_did_it(claim: str, evidence: str) -> None:
    assert swapped(claim, evidence)
