"""Check that what stands at one item of a list is not said of another, in any words and language."""

import pytest

from tests.harness.whole_answers import verdicts_on

OFFICES = "- Leave requests: decided by the team leader\n- Sick notes: handled by the payroll office\n- Overtime: decided by the works council"
ROOMS = "- Room bookings: arranged by the front desk\n- Catering orders: arranged by the canteen manager"
PUMP = "Signals of the pump: Steady blue means that the pump is idle. Flashing blue means that the inlet is blocked. Steady red means that the motor is too hot."
OVEN = "If the light is green, the oven is ready. If the light is orange, the oven is heating up. If the light is red, the door is open."
BINS = "- Blue bin: paper and cardboard, emptied every second week\n- Yellow bin: packaging and cans, emptied every week\n- Brown bin: kitchen waste, emptied every week"
MAP = "Colours on the map: Green stands for public gardens. Grey stands for industrial land. Blue stands for lakes and canals."
ZIMMER = "Zuständigkeiten:\n- Zimmer Nord: Bauanträge, Grundbuch (Telefon 31)\n- Zimmer Süd: Ausweise, Meldewesen (Telefon 44)\n- Zimmer West: Gewerbe, Gaststätten (Telefon 52)"
OFICINAS = "Contactos:\n- Oficina Norte: pasaportes, visados (extensión 12)\n- Oficina Sur: matrículas, permisos (extensión 15)"


@pytest.mark.parametrize(
    ("question", "context", "right", "wrong"),
    [
        ("", OFFICES, "Sick notes go to the payroll office.", "Leave requests go to the payroll office."),
        ("", OFFICES, "The team leader decides on leave; for overtime it is the works council.", "The works council decides on leave; for overtime it is the team leader."),
        ("Who deals with sick notes?", OFFICES, "That is the payroll office.", "That is the works council."),
        ("", ROOMS, "Rooms are booked at the front desk, catering is ordered from the canteen manager.", "Rooms are booked through the canteen manager, catering at the front desk."),
        ("", PUMP, "If it flashes blue, the inlet is blocked.", "If it flashes blue, the motor is too hot."),
        ("What does flashing blue mean?", PUMP, "Something blocks the inlet.", "The motor has become too hot."),
        ("", OVEN, "Orange: it is still heating up.", "Green: it is still heating up."),
        ("", BINS, "Packaging belongs in the yellow bin, which is emptied every week.", "Packaging and cans belong in the brown bin, which is emptied every week."),
        ("", MAP, "Public gardens are shown in green.", "Public gardens are shown in grey."),
        ("", MAP, "Lakes and canals are blue on the map.", "Lakes and canals are green on the map."),
        ("", ZIMMER, "Um Ausweise kümmert sich das Zimmer Süd.", "Um Ausweise und das Meldewesen kümmert sich das Zimmer West."),
        ("", ZIMMER, "Das Grundbuch und Bauanträge sind Sache von Zimmer Nord.", "Das Grundbuch und Bauanträge sind Sache von Zimmer Süd."),
        ("", OFICINAS, "Los permisos y matrículas los tramita la Oficina Sur.", "Los permisos y matrículas los tramita la Oficina Norte."),
    ],
)  # fmt: skip
def test_the_value_of_another_item_is_contradicted(question: str, context: str, right: str, wrong: str) -> None:
    assert not verdicts_on(question, context, right) & {"contradicted", "unsupported"}
    assert "contradicted" in verdicts_on(question, context, wrong)


@pytest.mark.parametrize(
    ("context", "claim"),
    [
        (OFFICES, "Leave requests and sick notes go to different people: the team leader and the payroll office."),
        (OFFICES, "The payroll office does not decide on leave requests."),
        (BINS, "Kitchen waste goes in the brown bin rather than the blue one for paper and cardboard."),
        ("Name: Ida Roth\nDepartment: Sales support\nPhone: 4711\nOffice: Tower building", "Contact Ida Roth by phone on 4711."),
        ("Name: Ida Roth\nDepartment: Sales support\nPhone: 4711\nOffice: Tower building", "The phone number of sales support is 4711."),
        ("Strengths: quick setup, clear manual. Weaknesses: noisy fan, clear plastic lid.", "One of its strengths is that despite a noisy fan the setup is quick."),
        ("- Standard ticket: entry to the museum\n- Group ticket: everything in the standard ticket, guided tour", "A standard ticket gives entry to the museum."),
        ("Monday: closed for cleaning. Tuesday: guided tours at noon. Wednesday: guided tours for schools.", "On Monday the house is closed for cleaning."),
    ],
)  # fmt: skip
def test_records_and_claims_on_several_items_are_left_open(context: str, claim: str) -> None:
    assert "contradicted" not in verdicts_on("", context, claim)
