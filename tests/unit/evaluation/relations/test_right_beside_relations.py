"""Right answers that stand beside changes, kinds of figures, orders, sides and roles are supported."""

import pytest

from tests.harness.whole_answers import verdicts_on


@pytest.mark.parametrize(
    ("question", "context", "claim"),
    [
        ("How did sales develop?", "Sales rose by 5 % to 840 units. Online sales rose to 5 % of the total.", "Online sales rose to 5 % of the total."),
        ("", "The fee was raised to 30 euros in 2020 and by 3 euros in 2022.", "The fee was raised by 3 euros in 2022."),
        ("", "Rainfall fell by 20 mm to 60 mm in May, then rose by 60 mm in June.", "Rainfall rose by 60 mm in June."),
        ("", "The tax rate will rise from 19 % to 21 %, an increase of 2 points.", "The tax rate will rise by 2 points to 21 %."),
        ("", "The office is on the left of the corridor, the kitchen on the right.", "The kitchen is on the right of the corridor."),
        ("Where does the river flow?", "The river rises north of Karl and flows south of Brin to the sea.", "It flows south of Brin."),
        ("", "The planned opening is in May; the estimated cost is 4 million euros, of which 3 million have been spent.", "3 million euros have been spent."),
        ("", "The net weight is 500 g and the gross weight 550 g.", "The gross weight is 550 g."),
        ("", "The forecast was 3 %. Growth came in at 3 %, as forecast.", "Growth was 3 %."),
        ("", "The estimated wait is 20 minutes. We measured a wait of 20 minutes on Friday.", "The measured wait on Friday was 20 minutes."),
        ("", "Before the show there is a talk; after the show there is a reception.", "After the show there is a reception."),
        ("", "Turn off the power before opening the case. Close the case before turning on the power.", "Turn on the power after closing the case."),
        ("What happens first?", "First the dough is kneaded, then it rests, and finally it is baked.", "The dough is kneaded first."),
        ("", "The church was built in 1450 and its tower was added in 1520.", "The tower was added after the church was built."),
        ("Which is newer?", "The east wing opened in 1990. The west wing opened in 2010.", "The west wing."),
        ("Who is the coach?", "The coach of the first team is Ida Moor. Lena Voss coaches the youth team.", "Ida Moor."),
        ("", "The capital is Lund. Vik was the capital before 1900.", "Vik was the capital before 1900."),
        ("Who is the director?", "The director, Ana Ruiz, and her co-director, Leo Park, signed the letter.", "Ana Ruiz."),
        ("", "The main language is Malan. The second language is Tirish.", "The second language is Tirish."),
        ("", "The pump must be switched off before the filter is changed.", "Change the filter after switching off the pump."),
        ("", "Guests check in after 3 pm and check out before 11 am.", "Guests check out before 11 am."),
        ("", "After the fire of 1900 the hall was rebuilt; after the flood of 1950 it was rebuilt again.", "After the flood of 1950 the hall was rebuilt again."),
        ("", "Sign the form, then send it by post. The office calls you after it has received the form.", "The office calls after it has received the form."),
        ("", "Mix the paint before use and after every break.", "Mix the paint after every break."),
        ("", "The minister resigned after the vote, which followed weeks of protests.", "The vote came after weeks of protests."),
        ("", "The king, Olav, opened the session. The prime minister is Ane Dahl.", "The prime minister is Ane Dahl."),
        ("", "The gross income is 40,000 euros, the net income 29,000 euros.", "Net income is 29,000 euros."),
        ("", "Net sales were 5 million. Gross sales were 5 million as well.", "Gross sales were 5 million."),
        ("", "The maximum fine is 500 euros. The average fine is 120 euros.", "The average fine is 120 euros."),
        ("", "The temperature fell by 5 degrees to 12 degrees overnight.", "Overnight it fell to 12 degrees."),
        ("", "Profits jumped 40 % to $2.1 billion.", "Profits rose to $2.1 billion, up 40 %."),
        ("", "Profits jumped 40 % to $2.1 billion.", "Profits rose by 40 %."),
        ("", "The fort stands on the east bank, upstream of the ferry.", "The fort stands upstream of the ferry."),
        ("Is the lake below the village?", "The village lies above the lake.", "Yes, the lake lies below the village."),
        ("", "Version 2 was released in 2018. Version 3, released in 2020, replaced it.", "Version 3 was released after version 2."),
    ],
)  # fmt: skip
def test_right_answers_beside_other_relations_are_supported(question: str, context: str, claim: str) -> None:
    assert verdicts_on(question, context, claim) == {"supported"}
