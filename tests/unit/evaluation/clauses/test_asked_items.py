"""A short answer is compared with the item, step, code, tier, row or day that its question names."""

import pytest

from tests.harness.whole_answers import is_warned_of, verdicts_on
from workers.evaluation.clauses.asked_items import is_item_asked
from workers.evaluation.clauses.kinds.opening_days import is_day_asked
from workers.evaluation.relations.figures.asked_limits import is_limit_of_answer

BUSES = (
    "Buses from the station: 8:15 Pisa, stand A; 8:30 Lucca, stand C; 8:50 Siena, stand B. Tickets are sold on board."
)
TALKS = "Programme: 13:00 Soil, hall 2; 14:00 Bees, hall 5; 15:00 Wasps, hall 1. Coffee is served in hall 3."
SATURDAY = "Saturday: 10:00 opening speech, main hall; 11:30 guided tour, courtyard; 14:00 concert, chapel."
LIBRARY = (
    "Library hours: Monday to Wednesday 10:00-17:00, Thursday 10:00-20:00, Friday 10:00-15:00. Closed at weekends."
)
BREAD = (
    "Farmhouse bread: Mix flour and water and leave for 40 minutes. Add salt and yeast, knead for 8 minutes"
    " and let the dough rise for 90 minutes. Bake at 230 °C for 45 minutes."
)
RICE = "Soak the rice for 20 minutes and drain. Simmer in stock for 14 minutes. Cover and leave to rest for 5 minutes."
RELAY = "The mail relay uses TCP port 2525. Its status page is served on port 9100."
PURCHASES = (
    "Purchases up to 500 euros are approved by the shift leader, those above 500 and up to 5,000 euros by the plant"
    " manager. Anything above 5,000 euros needs the approval of the board."
)
CONTRACTS = "- Up to $10,000: head of unit\n- $10,001 to $50,000: managing director\n- Over $50,000: supervisory board"
SHIPPING = "Shipping: up to 2 kg 4.90 euros, up to 10 kg 7.90 euros, up to 30 kg 14.90 euros."
TICKETS = "Children under 6 travel free. Children from 6 to 14 need a half-price ticket, and everyone older needs a full ticket."
VISITORS = "Visitors from 12 to 64 pay 14 euros, and visitors of 65 and over pay 9 euros."
TARIFFS = "Tariff A: up to 1,500 kWh a year. Tariff B: 1,501 to 4,000 kWh. Tariff C: more than 4,000 kWh."
BARBER = "Barber Finn. Tuesday to Saturday, 9:00 to 18:00. Sundays and Mondays we rest."
CAFE = "Café Lund: coffee and cake Monday through Friday, 8 am to 5 pm, Saturdays from 9 am. Sunday is our day off."
MARKET = "The market is held from Thursday through Tuesday. On Wednesdays there is no market."
SHOP = "Bike shop: Monday to Friday 10:00-18:00, Saturday 10:00-14:00. The café next door is also open on Sundays."
HALLS = "| Hall | Seats | Stage (m²) |\n|---|---|---|\n| Amber | 420 | 90 |\n| Coral | 380 | 110 |"
CRATERS = "| Crater | Diameter (km) | Depth (m) |\n|---|---|---|\n| Aron | 12 | 800 |\n| Beltz | 31 | 610 |\n| Cyra | 20 | 940 |"
MODELS = "| Model | Range (km) | Charging time (min) |\n|---|---|---|\n| S1 | 320 | 45 |\n| S2 | 410 | 38 |"
BOTTLES = "| Bottle | Gas | Litres |\n|---|---|---|\n| blue | nitrogen | 50 |\n| green | argon | 20 |\n| brown | helium | 10 |"
COURSES = "| Course | Title | Start |\n|---|---|---|\n| 203 | Welding | 4 May |\n| 204 | Milling | 11 May |"
GROUPS = "Group 1: library, 9:00\nGroup 2: canteen, 9:30\nGroup 3: gym, 10:00"
PLANS = (
    "- Free: 1 project, community support\n- Team: 10 projects, e-mail support\n- Scale: 99 projects, priority support"
)
RELEASES = "1.8: new icons and sounds\n1.9: fixed a memory leak in the viewer\n2.0: new plug-in interface"
BUTTONS = "B1 opens the windows, B2 locks the doors, and B3 starts the fan."
FLAGS = "-i FILE  input file\n-o DIR   output folder\n-f       overwrite existing files"
CASES = [
    ("Which gas is in the blue bottle?", BOTTLES, "Nitrogen", "Argon"),
    ("How many litres does the green bottle hold?", BOTTLES, "20 litres", "50"),
    ("When does course 204 start?", COURSES, "11 May", "On 4 May."),
    ("Where does group 3 meet?", GROUPS, "In the gym.", "In the canteen."),
    ("When does group 2 meet?", GROUPS, "At half past nine.", "10:00"),
    ("Which plan includes priority support?", PLANS, "Scale", "The Team plan"),
    ("Which release fixed the memory leak?", RELEASES, "1.9", "2.0"),
    ("Which button locks the doors?", BUTTONS, "B2", "B3"),
    ("Which option sets the output folder?", FLAGS, "-o", "-f"),
    ("Where does the bus to Lucca stop?", BUSES, "Stand C", "At stand B."),
    ("Where is the talk on bees?", TALKS, "Hall 5", "In hall 1."),
    ("Where is the talk on bees?", TALKS, "In hall 5.", "Hall 3"),
    ("At what time is the guided tour?", SATURDAY, "At half past eleven.", "At 14:00."),
    ("Where is the concert?", SATURDAY, "In the chapel.", "In the courtyard."),
    ("On which day is the library open until 8 pm?", LIBRARY, "On Thursdays.", "Friday"),
    ("How long is the bread baked?", BREAD, "For 45 minutes.", "40 minutes"),
    ("How long is the dough kneaded?", BREAD, "8 minutes", "For 45 minutes."),
    ("How long is the rice simmered?", RICE, "For 14 minutes.", "20 minutes"),
    ("Which port does the mail relay use?", RELAY, "2525", "9100"),
    ("Who approves a purchase of 7,500 euros?", PURCHASES, "The board.", "The plant manager"),
    ("Who approves a purchase of 3,000 euros?", PURCHASES, "The plant manager.", "The shift leader"),
    ("Who signs a contract worth 40,000 dollars?", CONTRACTS, "The managing director", "The supervisory board"),
    ("What does shipping cost for a parcel of 8 kg?", SHIPPING, "7.90 euros", "14.90 euros"),
    ("Which ticket does a child of 7 need?", TICKETS, "A half-price ticket", "A full ticket"),
    ("What does a visitor of 67 pay?", VISITORS, "9 euros", "14 euros"),
    ("Which tariff applies to a household that uses 3,200 kWh?", TARIFFS, "Tariff B", "Tariff A"),
    ("On which day is the barber closed?", BARBER, "On Sundays and Mondays.", "Saturday"),
    ("When is the café shut?", CAFE, "Sunday", "On Saturdays"),
    ("Which day is the market not held?", MARKET, "Wednesday.", "Thursday"),
    ("When is the bike shop closed?", SHOP, "On Sundays", "Saturday"),
    ("Which hall has fewer seats?", HALLS, "Coral", "Amber"),
    ("Which crater is the deepest?", CRATERS, "Cyra", "Beltz"),
    ("Which model has the shorter charging time, the S1 or the S2?", MODELS, "The S2", "S1"),
]


@pytest.mark.parametrize(("question", "context", "right", "wrong"), CASES)
def test_a_short_answer_of_another_item_is_not_supported(question: str, context: str, right: str, wrong: str) -> None:
    assert verdicts_on(question, context, right) == {"supported"}
    assert "supported" not in verdicts_on(question, context, wrong)


CABINS = (
    '{"cabin":"Lakeside cabin","sleeps":6,"price_per_night_eur":140}',
    '{"cabin":"Forest cabin","sleeps":4,"price_per_night_eur":95}',
)
CLUBS = (
    '{"club":"Chess club","leader":"Ida Moor","day":"Tuesday"}',
    '{"club":"Film club","leader":"Ben Ost","day":"Friday"}',
)


@pytest.mark.parametrize(
    ("question", "contexts", "right", "wrong"),
    [
        ("What does the forest cabin cost per night?", CABINS, "95 euros", "140 euros"),
        ("Who runs the chess club?", CLUBS, "Ida Moor", "Ben Ost"),
        ("On which day does the film club meet?", CLUBS, "On Fridays.", "Tuesday"),
    ],
)
def test_records_of_several_sources_are_compared(
    question: str, contexts: tuple[str, str], right: str, wrong: str
) -> None:
    assert not is_warned_of(right, question, *contexts)
    assert is_warned_of(wrong, question, *contexts)


@pytest.mark.parametrize(
    ("answer", "question", "sentences"),
    [
        # The list is one of statements.
        ("To Rome.", "Where did Anna move?", ["Anna left in 1990; she moved to Rome in 1991; Bob stayed until 1995."]),
        # The question names no item, or two.
        ("Hall 2", "Where is the first talk?", [TALKS]),
        ("Room 14", "Where are the exams?", ["Exams: 8:30 Latin, room 14; 8:30 French, room 21; 11:00 Physics, room 14."]),
        # An order or a denial chooses the item, or a line has what others have.
        ("web-2", "Which server has the most memory?", ["web-1: 4 cores, 8 GB memory.", "web-2: 8 cores, 64 GB memory."]),
        ("Team", "Which plan has no support?", ["Free: 1 project, support by the community", "Team: 10 projects, e-mail"]),
        ("Scale", "Which plan has e-mail support?", ["Team: 10 projects, e-mail support", "Scale: everything in Team, 99 projects"]),
        # Two steps have the act, or the step is on another thing.
        ("For 25 minutes.", "How long is the tart baked?", ["Bake at 200 °C for 10 minutes.", "Bake at 160 °C for 25 minutes."]),
        ("35 minutes", "How long is the tart baked?", ["Bake the base for 10 minutes.", "Fill the tart and return for 35 minutes."]),
        ("10 minutes", "How long is the base baked?", ["Blind-bake the base for 10 minutes.", "Bake for 35 minutes."]),
        # A percentage is no code.
        ("15 %", "What percentage applies?", ["The rate is percentage 15 in May.", "A percentage 20 applies in June."]),
    ],
)  # fmt: skip
def test_a_question_that_names_no_single_item_decides_nothing(answer: str, question: str, sentences: list[str]) -> None:
    assert is_item_asked(answer, question, sentences) is None


@pytest.mark.parametrize(
    ("answer", "question", "sentences"),
    [
        ("Sunday", "On which day is the barber closed?", ["Barber Finn. Sundays and Mondays we rest."]),  # one of two
        ("Monday", "When is the pool closed?", ["In winter the pool is closed on Mondays."]),  # a season
        ("Tuesday", "Which day was the meeting?", ["The meeting was on Tuesday."]),
    ],
)
def test_days_of_other_kinds_decide_nothing(answer: str, question: str, sentences: list[str]) -> None:
    assert is_day_asked(answer, question, sentences) is None


@pytest.mark.parametrize(
    ("answer", "question", "sentences"),
    [
        ("The director.", "Who signs an order of 900 euros?", ["Orders up to 500 euros are signed by the clerk.", "The director signs orders."]),
        ("Three.", "How many keys open room 7?", ["Up to 3 people may use the sauna, more than 3 the pool."]),
    ],
)  # fmt: skip
def test_tiers_of_other_things_decide_nothing(answer: str, question: str, sentences: list[str]) -> None:
    assert is_limit_of_answer(answer, question, sentences) is None
