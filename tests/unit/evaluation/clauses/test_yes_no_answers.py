"""Yes and no that days, courses, lists, exceptions, conditions and ends decide, and answers that give their reason."""

import pytest

from tests.harness.whole_answers import is_warned_of
from workers.evaluation.clauses.kinds.closed_lists import answer_by_list
from workers.evaluation.clauses.kinds.opening_days import answer_by_days
from workers.evaluation.contradictions.denials import affirms_denied, answer_by_denial, has_ended
from workers.evaluation.contradictions.values.dated_values import answer_by_course, is_course_wrong
from workers.evaluation.facts.dates import read_weekdays

HOURS = ["Opening hours: Tuesday to Sunday, 10:00-18:00.", "Last entry at 17:15."]
REVENUE = ["Revenue was 4.1 million in 2022 and 3.8 million in 2023."]
SYSTEMS = ["Supported systems: Windows 11, macOS 13 or later, Ubuntu 22.04."]
RETURNS = ["Items can be returned within 30 days provided they are unused and in their original packaging."]
VOUCHERS = ["Vouchers are valid for the whole range except sale items and gift cards."]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("Tuesday to Sunday", {1, 2, 3, 4, 5, 6}),
        ("Mon-Fri", {0, 1, 2, 3, 4}),
        ("Friday through Monday", {4, 5, 6, 0}),
        ("weekdays and Sundays", {0, 1, 2, 3, 4, 6}),
        ("Tuesday and Sunday", {1, 6}),
        ("Mon–Fri 8:30–18:30, Sat 9:00–13:00", {0, 1, 2, 3, 4, 5}),
        ("Mon-Sun 10 am to 6 pm", set(range(7))),
        ("The cat sat. The sun was out.", set()),
        ("a working day", {0, 1, 2, 3, 4}),
    ],
)
def test_a_range_of_days_has_the_days_between(text: str, days: set[int]) -> None:
    assert read_weekdays(text) == days


@pytest.mark.parametrize(
    ("question", "evidence", "answer"),
    [
        ("Is the museum open on Mondays?", HOURS, False),
        ("Is the museum open on Thursdays?", HOURS, True),
        ("Is the clinic closed on Wednesday?", ["The clinic is open Monday to Saturday."], False),
        ("Is the clinic open on Sunday?", ["The clinic is closed on Sundays and public holidays."], False),
        ("Is the clinic open on Monday?", ["The clinic is closed on Sundays and public holidays."], None),
        (
            "Does the bus run on Sundays?",
            ["Bus 14 runs hourly on Saturdays.", "On Sundays the bus does not run."],
            False,
        ),
        ("Is the pharmacy open on Saturday?", ["Open Mon–Fri 8:30–18:30, Sat 9:00–13:00."], True),
        ("Is the gym open on Sunday?", ["The gym is open daily except Sunday."], False),
        ("Is the gym open on Monday?", ["The gym is open daily except Sunday."], True),
        ("Is the gym open at weekends?", ["The gym is open daily except Sunday."], None),
        ("Is the library open on Monday?", ["The library is open every day except 25 December."], None),
        ("Is the shop open on Monday?", ["The concert takes place on Friday."], None),
        ("Is the shop open?", HOURS, None),
    ],
)
def test_the_days_of_the_evidence_answer(question: str, evidence: list[str], answer: bool | None) -> None:
    assert answer_by_days(question, evidence) is answer


@pytest.mark.parametrize(
    ("question", "evidence", "answer"),
    [
        ("Did revenue grow in 2023?", REVENUE, False),
        ("Did revenue fall in 2023?", REVENUE, True),
        ("Did revenue grow in 2022?", REVENUE, None),
        ("Did sales rise in March?", ["Sales were 120 units in February and 150 units in March."], True),
        ("Has the fee gone up?", ["The fee was 29 euros until June; since July it has been 27 euros."], False),
        ("Did revenue grow in 2023?", ["Revenue was 4.1 million."], None),
        ("Was revenue stable in 2023?", REVENUE, None),
    ],
)
def test_the_values_of_two_times_answer(question: str, evidence: list[str], answer: bool | None) -> None:
    assert answer_by_course(question, evidence) is answer


@pytest.mark.parametrize(
    ("claim", "wrong"),
    [
        ("Revenue grew from 3.8 million to 4.1 million.", True),
        ("Revenue fell from 4.1 million to 3.8 million.", False),
        ("Revenue fell from 3.8 million to 4.1 million.", True),
        ("Revenue went from 4.1 million to 3.8 million.", False),
        ("The office moved from Lyon to Metz.", False),
    ],
)
def test_a_course_keeps_the_order_of_its_years(claim: str, wrong: bool) -> None:
    assert is_course_wrong(claim, REVENUE) is wrong


@pytest.mark.parametrize(
    ("question", "evidence", "answer"),
    [
        ("Is Windows 10 supported?", SYSTEMS, False),
        ("Is Windows 11 supported?", SYSTEMS, True),
        ("Is Windows 10 supported?", ["Supported systems: Windows 11, Ubuntu 22.04 and others."], None),
        ("Is Windows 10 supported?", [*SYSTEMS, "Windows 10 is supported until October."], None),
        ("Is the printer supported?", ["Printers: A100, B200."], None),
        ("Is Portuguese a supported language?", ["Supported languages: English, German and Spanish."], False),
        ("Which systems are supported?", SYSTEMS, None),
    ],
)
def test_a_list_answers_for_its_members_and_denies_others_only_if_it_is_complete(
    question: str, evidence: list[str], answer: bool | None
) -> None:
    assert answer_by_list(question, evidence) is answer


@pytest.mark.parametrize(
    ("question", "evidence", "answer"),
    [
        ("Can I return a used item?", RETURNS, False),
        ("Can I return an unused item?", RETURNS, True),
        ("Can I use the voucher for sale items?", VOUCHERS, False),
        ("Can I use the voucher for gift cards?", VOUCHERS, False),
        ("Is Dr. Okafor still working at the clinic?", ["Dr. Okafor left the clinic in March."], False),
        ("Is Dr. Okafor still working in Leeds?", ["Dr. Okafor left the clinic and now works in Leeds."], None),
        ("Does Mr. Sato still own the company?", ["Mr. Sato owns the company."], None),
    ],
)
def test_conditions_exceptions_and_ends_answer(question: str, evidence: list[str], answer: bool | None) -> None:
    assert answer_by_denial(question, evidence) is answer


def test_what_a_contrast_or_exception_denies_is_not_affirmed() -> None:
    dogs = "Well-behaved dogs are welcome on the terrace, but not indoors."
    assert affirms_denied("Dogs may come indoors.", dogs)
    assert not affirms_denied("Dogs may sit on the terrace.", dogs)
    assert affirms_denied("Vouchers are valid for gift cards.", VOUCHERS[0])
    assert not affirms_denied("Vouchers are not valid for gift cards.", VOUCHERS[0])
    assert has_ended("She still works at the clinic.", "She left the clinic in March.")
    assert not has_ended("She worked at the clinic.", "She left the clinic in March.")


@pytest.mark.parametrize(
    ("query", "context", "right", "wrong"),
    [
        (
            "Is the museum open on Mondays?",
            " ".join(HOURS),
            "No, it is open Tuesday to Sunday.",
            "Yes, it is open on Mondays from 10:00.",
        ),
        (
            "Did revenue grow in 2023?",
            REVENUE[0],
            "No, it fell from 4.1 to 3.8 million.",
            "Yes, it grew from 3.8 to 4.1 million.",
        ),
        ("Can I return a used item?", RETURNS[0], "No, items must be unused.", "Yes, used items can be returned."),
        ("Is Windows 10 supported?", SYSTEMS[0], "No, only Windows 11 is.", "Yes, Windows 10 is supported."),
        (
            "Do I have to register in advance?",
            "No registration is required for the evening lectures.",
            "No, no registration is required.",
            "Yes, registration is required.",
        ),
        (
            "Are the seats reserved?",
            "All seats on the upper deck are reserved; the lower deck has open seating.",
            "Those on the upper deck are reserved.",
            "No seats are reserved.",
        ),
        (
            "Does the plan include international calls?",
            "The Basic plan includes unlimited domestic calls. International calls are billed at 0.19 per minute.",
            "No, they are billed at 0.19 per minute.",
            "Yes, international calls are included.",
        ),
        (
            "Is breakfast included in the room price?",
            "Room rates at the Harbour Inn cover breakfast and parking. Dinner is charged separately.",
            "Yes, breakfast is included.",
            "No, breakfast is charged separately.",
        ),
        (
            "Are the tickets refundable?",
            "Tickets are non-refundable but may be transferred to another person.",
            "No, but they can be transferred.",
            "Yes, they are fully refundable.",
        ),
        (
            "Is the file encrypted at rest?",
            "Files are encrypted in transit with TLS 1.3 and at rest with AES-256.",
            "Yes, with AES-256.",
            "No.",
        ),
        (
            "Did the jury award a first prize?",
            "The jury awarded two second prizes; no first prize was given.",
            "No, no first prize was given.",
            "Yes, a first prize was given.",
        ),
        (
            "Is the pharmacy open on Saturday?",
            "Open Mon–Fri 8:30–18:30, Sat 9:00–13:00.",
            "Yes, from 9:00 to 13:00.",
            "No, it is closed on Saturdays.",
        ),
        (
            "Kann ich am Montag kommen?",
            "Die Praxis ist von Dienstag bis Freitag geöffnet.",
            "Nein, nur von Dienstag bis Freitag.",
            "Ja, am Montag ist geöffnet.",
        ),
        (
            "Do I need experience?",
            "Previous experience is an advantage but not a requirement.",
            "No, it is only an advantage.",
            "Yes, previous experience is required.",
        ),
    ],
)
def test_an_answer_that_gives_its_reason_is_judged_by_it(query: str, context: str, right: str, wrong: str) -> None:
    assert is_warned_of(wrong, query, context)
    assert not is_warned_of(right, query, context)


TWO_LISTS = [
    "Supported systems: Windows 11, macOS 13, Ubuntu 22.04.",
    "Supported browsers and systems: Windows 10, Firefox.",
]


@pytest.mark.parametrize("sentences", [TWO_LISTS, TWO_LISTS[::-1]])
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Is Windows 10 a supported system?", True),
        ("Is Windows 11 a supported system?", True),
        ("Is Windows 8 a supported system?", None),
    ],
)
def test_the_order_of_the_lists_decides_nothing(question: str, answer: bool | None, sentences: list[str]) -> None:
    assert answer_by_list(question, sentences) is answer


def test_a_single_list_denies_what_it_lacks() -> None:
    assert answer_by_list("Is Windows 8 a supported system?", TWO_LISTS[:1]) is False
