"""Check yes and no that records, repeated questions, roles and inclusions in the evidence decide."""

import pytest

from tests.harness.whole_answers import is_warned_of, verdicts_on
from workers.evaluation.claims.short_answers import consents, plain_question
from workers.evaluation.clauses.kinds.asked_before import answer_by_asked
from workers.evaluation.clauses.kinds.dated_records import answer_by_dates
from workers.evaluation.clauses.kinds.marked_fields import answer_by_mark
from workers.evaluation.clauses.kinds.opening_days import answer_by_days
from workers.evaluation.clauses.kinds.permissions import answer_by_inclusion
from workers.evaluation.relations.named_roles import answer_by_holder, is_role_of_other

PLANS = (
    '{"plan": "Solo", "seats": 1, "api_access": false, "sla": true}',
    '{"plan": "Crew", "seats": 10, "api_access": true, "sla": false}',
)
MODELS = ("| Model | Waterproof | Warranty |\n|---|---|---|\n| Lark 2 | ✗ | 2 years |\n| Lark 5 | ✓ | none |",)
POOLS = (
    "| Pool | Monday | Sunday |\n|---|---|---|\n| Riverside | closed | 08:00-12:00 |\n| Hillside | 10:00-20:00 | closed |",
)
CAMP = (
    "Campsite Fjellro\nDogs: allowed on a lead\nOpen fires: forbidden\nWi-Fi: none\nSauna: available, 8 euros an hour",
)
PASSES = (
    "Q: Can I use the pass on night buses?\nA: Yes. It is valid on all lines.\n\nQ: Is the pass transferable?\nA: No, it is personal.\n\n"
    "Q: Do I have to take the card out of its sleeve at the gate?\nA: No. The reader works through the sleeve.",
)
DELIVERY = (
    "**Do I have to be at home for the delivery?**\nNo. The driver leaves the parcel with a neighbour if you are out.\n\n**Do you ship to islands?**\nYes.",
)
COUPLE = (
    "Jon Arve\nBorn: 1850\nDied: 1912\nSpouse: Marit Arve",
    "Marit Arve\nBorn: 1855\nDied: 1931\nSpouse: Jon Arve",
)
FILTER = "Q: Do I need to remove the filter?\nA: No. The filter stays in the tank."
CHILDREN = "| Name | Died | Children |\n|---|---|---|\n| Ann | 1912 | three |\n| Bo | 1931 | five |"
HALLS = ("| Hall | Opened |\n|---|---|\n| North hall | 12 May 1998 |\n| South hall | 3 March 2004 |",)


@pytest.mark.parametrize(
    ("question", "contexts", "right", "wrong"),
    [
        ("Does the Solo plan include API access?", PLANS, "No, it doesn't.", "It does: users get API access."),
        ("Does the Solo plan include API access?", PLANS, "It doesn't.", "Yes."),
        ("Does the Crew plan have API access?", PLANS, "It does.", "No, the Crew plan comes without API access."),
        ("Does the Solo plan come with a service level agreement?", PLANS, "Yes.", "It doesn't."),
        ("Does the Crew plan come with a service-level agreement?", PLANS, "No.", "Yes, it does."),
        ("Is the Lark 2 waterproof?", MODELS, "No, it isn't.", "Yes, the Lark 2 is waterproof."),
        ("Is the Lark 5 waterproof?", MODELS, "Yes.", "No."),
        ("Does the Lark 5 come with a warranty?", MODELS, "No.", "Yes."),
        ("Does the Lark 2 come with a warranty?", MODELS, "Yes, two years.", "No."),
        (
            "Is the Riverside pool open on Mondays?",
            POOLS,
            "No, the pool stays shut on Mondays.",
            "Yes, it opens at 10:00.",
        ),
        ("Is the Hillside pool open on Mondays?", POOLS, "Yes, from 10 am to 8 pm.", "No, it's closed on Mondays."),
        ("Is the Hillside pool closed on Sundays?", POOLS, "Yes, it is.", "No."),
        ("Are open fires allowed at Fjellro?", CAMP, "No, they are forbidden.", "Yes, they are allowed."),
        ("Does the campsite have a sauna?", CAMP, "Yes, for 8 euros an hour.", "No."),
        ("Is there Wi-Fi at the campsite?", CAMP, "No, there is no Wi-Fi.", "Yes, there is."),
        ("Can the pass be transferred?", PASSES, "No, it's personal.", "Yes."),
        ("Can I use my pass on the night bus?", PASSES, "Yes, you can use it on all lines.", "No, you can't."),
        ("Must I remove the card from the sleeve at the gate?", PASSES, "No.", "Yes."),
        ("Do I need to be home for the delivery?", DELIVERY, "No, you don't.", "Yes, you need to be at home."),
        ("Do you deliver to islands?", DELIVERY, "Yes.", "No, you don't ship to islands."),
        ("Did Jon Arve outlive his wife?", COUPLE, "No, she outlived him.", "Yes, he did."),
        ("Did Marit Arve die after her husband?", COUPLE, "Yes, she did.", "No."),
        ("Was Marit Arve born before Jon Arve?", COUPLE, "No.", "Yes."),
        ("Was the north hall opened before the south hall?", HALLS, "Yes, it was.", "No, the south hall opened first."),
    ],
)
def test_a_field_a_repeated_question_or_two_dates_decide(
    question: str, contexts: tuple[str, ...], right: str, wrong: str
) -> None:
    assert [is_warned_of(answer, question, *contexts) for answer in (right, wrong)] == [False, True]


BEAR = "The largest predator of the park is the brown bear. Wolves and lynx live in the north."
CAPITAL = "The capital of Odria is Lesk. Varn is its largest port."
GOAT = "Although it has the horns of a goat, its closest living relative is the yak."


@pytest.mark.parametrize(
    ("question", "context", "right", "wrong"),
    [
        ("Is the wolf the largest predator of the park?", BEAR, "No, the brown bear is.", "Yes, it is."),
        ("Is Varn the capital of Odria?", CAPITAL, "No, the capital is Lesk.", "Yes."),
        ("Is Lesk the capital of Odria?", CAPITAL, "Yes, it is.", "No, Varn is."),
        ("Is the goat the closest living relative of the takin?", GOAT, "No.", "Yes, and the horns reflect that."),
        ("Aren't interns exempt from the training?", "All staff, including interns, must finish the training.", "No.", "Right, they don't have to do it."),
        ("Volunteers are exempt from the fee, aren't they?", "Every member, volunteers included, pays the fee.", "No, they aren't.", "Yes, they are."),
        ("Isn't the museum closed on Mondays?", "The museum is open from Tuesday to Sunday.", "Yes, it is.", "No, it's open."),
        ("Can't I pay in cash?", "Payment is possible in cash or by card.", "You can.", "No, you can't."),
    ],
)  # fmt: skip
def test_a_role_or_an_inclusion_decides(question: str, context: str, right: str, wrong: str) -> None:
    assert [is_warned_of(answer, question, context) for answer in (right, wrong)] == [False, True]


@pytest.mark.parametrize(
    ("question", "context", "text"),
    [
        ("Is the kettle dishwasher-safe?", "Q: Can I put the kettle in the dishwasher?\nA: No. Wipe it.", "No."),
        ("¿Se puede cambiar el billete gratis la víspera?", "El billete se puede cambiar gratis hasta 48 horas antes de la salida. Después no se devuelve el importe.", "No, para entonces el plazo de 48 horas ya ha vencido y se pierde el importe."),
        ("Was Ida Holt the first chair of the club?", "The first chair of the club was Ruth Bloom. Ida Holt joined the board in 1987.", "No, it was Ruth Bloom."),
        ("Is quartz the hardest mineral in the show?", "The hardest mineral in the show is topaz. Quartz comes next.", "No."),
    ],
)  # fmt: skip
def test_a_right_answer_is_not_contradicted(question: str, context: str, text: str) -> None:
    assert "contradicted" not in verdicts_on(question, context, text)


@pytest.mark.parametrize(
    ("question", "context", "text"),
    [
        ("Can the pass be transferred?", PASSES[0], "No, but a new one costs 5 euros."),
        ("Do I need to remove the filter?", FILTER, "No, but you must empty the tank first."),
        ("Did Ann die before Bo?", CHILDREN, "Yes, Ann had five children."),
        ("Does the Crew plan have API access?", PLANS[1], "Yes, with 12 seats."),
        ("Did Jon Arve outlive his wife?", "\n\n".join(COUPLE), "No, she died 12 years later."),
        ("Are interns exempt from the training?", "All 40 staff, including interns, must finish the training.", "No, all 90 staff must finish it."),
    ],
)  # fmt: skip
def test_a_right_yes_or_no_does_not_support_what_stands_behind_it(question: str, context: str, text: str) -> None:
    assert not verdicts_on(question, context, text) & {"supported", "not_checked"}


def test_a_holder_of_a_role_who_may_be_the_same_is_not_supported_and_not_contradicted() -> None:
    text = "The hardest mineral in the show is topaz. Quartz comes next."
    assert verdicts_on("Is quartz the hardest mineral in the show?", text, "Yes.") == {"unsupported"}


def test_a_question_of_the_evidence_supports_no_answer() -> None:
    asked = "Q: Is the kettle safe for the dishwasher?\nA: See page 4."
    assert verdicts_on("Is the kettle safe for the dishwasher?", asked, "Yes.") == {"unsupported"}


ROWS = ["plan: Solo; sso: false; pets: yes, except on Fridays", "plan: Crew; sso: true; pets: yes"]


@pytest.mark.parametrize(
    ("question", "rows", "answer"),
    [
        ("Does the Solo plan have SSO?", ROWS, False),
        ("Does the Crew plan have single sign-on?", ROWS, True),
        ("Does the Mini plan have SSO?", ROWS, None),
        ("Does the Solo plan have SSO for guests?", ROWS, None),
        ("Does the Solo plan not have SSO?", ROWS, None),
        ("Does Solo or Crew have SSO?", ROWS, None),
        ("Are pets allowed in the Solo plan?", ROWS, None),
        ("Are pets allowed in the Crew plan?", ROWS, True),
        ("Does the plan have SSO?", ROWS, None),
        ("Does it have SSO?", ROWS[:1], False),
        ("Does it have a lift?", ROWS[:1], None),
        ("Is it open on Mondays?", ["shop: Kiosk; monday: closed"], False),
        ("Which plan has SSO?", ROWS, None),
    ],
)
def test_the_field_of_the_named_record_answers(question: str, rows: list[str], answer: bool | None) -> None:
    assert answer_by_mark(question, rows) is answer


def test_a_sentence_on_the_same_field_leaves_the_record_open() -> None:
    assert answer_by_mark("Does the Solo plan have SSO?", ROWS, ["Solo gets SSO in May."]) is None


@pytest.mark.parametrize(
    ("question", "texts", "answer"),
    [
        ("Can I return a dress?", ["Can I return a dress?", "Yes."], True),
        ("Can I return a dress?", ["Can I return a worn dress?", "No."], None),
        ("Can I return a worn dress?", ["Can I return a dress?", "Yes."], None),
        ("Can I return a dress?", ["Can I return a dress?", "Yes, if it is unworn."], None),
        ("Can I return a dress?", ["Can I return a dress?", "It depends on the shop."], None),
        ("Must I return the form?", ["Can I return the form?", "Yes."], None),
        ("Can I change the delivery address?", ["Can I change the delivery address after ordering?", "No."], None),
        ("Can I change the delivery address?", ["Can I change the delivery address of my order?", "Yes."], True),
        ("Do I have to clean the oil filter?", ["Must I clean the oil filter of the mower?", "Yes."], True),
        ("Do I have to clean the oil filter?", ["Must I clean the oil filter in winter?", "No."], None),
    ],
)
def test_the_same_question_is_answered_as_before(question: str, texts: list[str], answer: bool | None) -> None:
    assert answer_by_asked(question, texts) is answer


DATED = ["entry: Ann Low; born: 1850; died: 1912", "entry: Bo Low; born: 1850; died: 1931"]


@pytest.mark.parametrize(
    ("question", "rows", "answer"),
    [
        ("Did Ann die before Bo?", DATED, True),
        ("Did Ann die before her husband?", DATED, True),
        ("Did Ann survive her husband?", DATED, False),
        ("Was Ann born before Bo?", DATED, None),
        ("Did Ann die before the war?", DATED, None),
        ("Did Ann die before her brother?", [*DATED, "entry: Cy Low; died: 1900"], None),
        ("Did Low die before Bo?", DATED, None),
        ("Did Ann marry before Bo?", DATED, None),
        ("Didn't Ann die before Bo?", DATED, None),
    ],
)
def test_two_dates_answer(question: str, rows: list[str], answer: bool | None) -> None:
    assert answer_by_dates(question, rows) is answer


def test_roles_inclusions_and_days_answer_only_what_they_decide() -> None:
    roles = ["The capital of Odria is Lesk.", "Varn is a port."]
    assert answer_by_holder("Is Varn the capital of Odria?", roles) is False
    assert answer_by_holder("Is Lesk the capital of Odria?", roles) is None
    assert is_role_of_other("Is Varn the capital of Odria?", roles[:1])
    assert not is_role_of_other("Is Lesk the capital of Odria?", roles)
    assert not is_role_of_other("Is Varn the capital of Ustra?", roles)
    staff = ["All staff, including interns, must finish the training."]
    assert answer_by_inclusion("Are interns exempt from the training?", staff) is False
    assert answer_by_inclusion("Are guests exempt from the training?", staff) is None
    assert answer_by_inclusion("Are interns exempt from night duty?", staff) is None
    assert answer_by_days("Is the gym closed on Sundays?", ["The gym is open Monday to Friday."]) is True
    assert (
        answer_by_days("Is the gym closed on Friday?", ["Open on Mondays.", "On Fridays it opens at noon."]) is not True
    )


@pytest.mark.parametrize(
    ("query", "plain"),
    [
        ("Aren't they exempt?", "Are they exempt?"),
        ("Can't I pay in cash?", "Can I pay in cash?"),
        ("Thanks. Won't it rain?", "Thanks. Will it rain?"),
        ("They are exempt, aren't they?", "Are They exempt?"),
        ("So dogs may come in, right?", "May dogs come in?"),
        ("It isn't open, is it?", "It isn't open, is it?"),
        ("They are not exempt, right?", "They are not exempt, right?"),
        ("Is it open?", "Is it open?"),
        ("What is right?", "What is right?"),
    ],
)
def test_negative_and_tag_questions_ask_the_plain_question(query: str, plain: str) -> None:
    assert plain_question(query) == plain


def test_a_pronoun_with_its_verb_before_a_colon_says_yes_or_no() -> None:
    assert consents("Does it float?", "It does: wood is light.") is True
    assert consents("Does it float?", "It doesn't: iron is heavy.") is False
    assert consents("Is it open?", "It is, unfortunately, closed.") is None
