"""Check answers that are little more than a value: how often, how old, a phone number, a size, LaTeX."""

import pytest

from tests.harness.whole_answers import verdicts_on
from workers.evaluation.quality.query_kinds import accepts_short_answer
from workers.evaluation.text.languages.language import guess_language, known_language
from workers.evaluation.text.structure.truncation import is_cut_off

UPKEEP = (
    "A backup is made every 24 hours. Logs are rotated once a week, and the certificate is renewed every three months."
)
CARE = (
    "Take one tablet every eight hours. The dressing is changed every other day, and blood is tested twice a year."
    " The clinic sends a reminder each month."
)
DRYER = "The dryer weighs 2.5 kg and draws 1,800 watts. The warranty lasts 24 months; the hose is 1.2 m long. The discount is 15 %."
PHONES = "Write to service@example.com or call +49 30 1234567. In emergencies dial 0800 7654321."
LUGGAGE = "Each passenger may bring two pieces of luggage. A piece may measure no more than 80 x 60 x 40 cm and weigh no more than 25 kg."
ADULTS = "Renters must be at least twenty-one years old. The van seats twenty-three people."
LOGS = (
    "Logs of staging take 3 GB, those of production 5 GB. The report for May costs 40 euros, the one for June 55 euros."
)

PAIRS = [
    ("How often is the backup made?", UPKEEP, ["Daily", "Once a day.", "The backup runs daily."], ["Weekly", "Hourly.", "Every 12 hours"]),
    ("How often are logs rotated?", UPKEEP, ["Weekly", "Every 7 days"], ["Daily", "Twice a week", "Logs are rotated every two weeks."]),
    ("How often is the certificate renewed?", UPKEEP, ["Quarterly", "Four times a year."], ["Monthly", "Twice a year.", "Yearly"]),
    ("How often do I take a tablet?", CARE, ["Three times a day", "Every 8 hours"], ["Twice a day", "Every six hours"]),
    ("How often is the dressing changed?", CARE, ["Every two days", "Every second day."], ["Daily"]),
    ("How often is blood tested?", CARE, ["Every six months", "Half-yearly."], ["Once a year", "Quarterly"]),
    ("How often does the clinic send a reminder?", CARE, ["Monthly", "Twelve times a year."], ["Weekly"]),
    ("How long is the warranty?", DRYER, [r"\boxed{24 \text{ months}}", r"$\boxed{24}$ months"], [r"\boxed{36 \text{ months}}"]),
    (
        "How heavy are three?",
        DRYER,
        [r"Three dryers weigh \( 3 \times 2.5\ \mathrm{kg} = 7.5\ \mathrm{kg} \)."],
        [r"Three dryers weigh \( 3 \cdot 2.5\ \mathrm{kg} = 6.5\ \mathrm{kg} \)."],
    ),
    ("How big is the discount?", DRYER, [r"$15\%$", r"The discount is \(15\%\)."], [r"\(25\%\)"]),
    ("How long is the hose?", DRYER, [r"$1.2\,\mathrm{m}$", r"\textbf{1.2 m}"], [r"$2.1\,\mathrm{m}$"]),
    ("What does it draw?", DRYER, [r"\boxed{1800\ \text{W}}", r"\(1{,}800\) watts"], [r"\boxed{1600\ \text{W}}"]),
    ("What is the phone number?", PHONES, ["+49 30 1234567", "030 1234567"], ["030 1234568"]),
    ("What is the emergency number?", PHONES, ["0800 7654321"], ["+49 30 1234567"]),
    ("How big may a piece be?", LUGGAGE, ["80 × 60 × 40 cm", "Up to 80×60×40 cm."], ["90 × 60 × 40 cm"]),
    ("How old must I be?", ADULTS, ["21", "You must be at least 21.", "At least 21."], ["22"]),
    ("How many people fit?", ADULTS, ["23"], ["32"]),
    ("How much do production logs take?", LOGS, ["Production logs take 5 GB."], ["Production logs take 3 GB."]),
    ("How much is the June report?", LOGS, ["The report for June costs 55 euros."], ["The report for June costs 40 euros."]),
]  # fmt: skip
WRONG = frozenset(("contradicted", "unsupported"))


@pytest.mark.parametrize(("question", "source", "right", "wrong"), PAIRS, ids=[question for question, *_ in PAIRS])
def test_a_value_in_another_form_is_right_and_another_value_is_noticed(
    question: str, source: str, right: list[str], wrong: list[str]
) -> None:
    assert [each for each in right if verdicts_on(question, source, each) & WRONG] == []
    assert [each for each in wrong if not verdicts_on(question, source, each) & WRONG] == []


def test_parts_of_addresses_are_no_words_of_a_language() -> None:
    assert guess_language("The test environment is at test.shop.example.com, com.example.com") == "en"
    assert known_language("Write to us@firma.de or der.die@das.de") != "de"
    assert not is_cut_off("service@example.com")
    assert is_cut_off("Conte com")


def test_a_command_answers_how_to_do_something() -> None:
    assert accepts_short_answer("How do I deploy the project, and why?", None, "Run deploy.sh.")
    assert not accepts_short_answer("Explain how I deploy the project.", None, "Run it.")
