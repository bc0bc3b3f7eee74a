"""Check claims that forbid what evidence says is no longer forbidden."""

from collections.abc import Sequence

import pytest

from tests.harness.whole_answers import verdicts_on
from workers.evaluation.relations.permissions.lifted_bans import is_ban_current


@pytest.mark.parametrize(
    ("question", "context", "right", "wrong"),
    [
        ("Is fishing allowed in the lake?", "The ban on fishing in the lake was lifted in 2019.", "Yes, fishing is allowed again.", "No, fishing is banned in the lake."),
        ("", "The ban on fishing in the lake was lifted in 2019.", "Fishing is allowed again in the lake.", "Fishing is banned in the lake."),
        ("", "The ban on fishing in the lake was lifted in 2019.", "The ban on fishing in the lake was lifted in 2019.", "Fishing is not allowed in the lake."),
        ("", "The council abolished the prohibition of barbecues in the park.", "Barbecues are permitted in the park.", "Barbecues are prohibited in the park."),
        ("", "The embargo on oil exports ended in December 2015.", "Oil exports are no longer under an embargo.", "There is an embargo on oil exports."),
        ("", "The travel ban for staff was revoked last week.", "The travel ban for staff is no longer in force.", "Staff are banned from travelling."),
        ("", "Since April, dogs are no longer prohibited on the beach.", "Dogs are allowed on the beach.", "Dogs are prohibited on the beach."),
        ("", "The hosepipe ban in Kent has ended.", "The hosepipe ban in Kent is over.", "There is a hosepipe ban in Kent."),
        ("", "Parliament repealed the law that prohibited Sunday trading.", "The law that prohibited Sunday trading was repealed.", "Sunday trading is prohibited."),
        ("", "The court overturned the ban on the drug.", "The ban on the drug was overturned.", "The drug is banned."),
        ("", "The suspension of flights to Osaka was lifted on Monday.", "Flights to Osaka are operating again.", "Flights to Osaka are suspended."),
        ("", "Restrictions on visits to the ward were lifted in June.", "There are no more restrictions on visits to the ward.", "Visits to the ward are restricted."),
        ("Are e-scooters banned on trains?", "The operator withdrew its ban on e-scooters on trains.", "No, the ban was withdrawn.", "Yes, e-scooters are banned on trains."),
        ("", "The curfew in the city centre was scrapped in May.", "The curfew in the city centre no longer applies.", "There is a curfew in the city centre."),
        ("", "The export ban on wheat expired at the end of 2022.", "The export ban on wheat expired in 2022.", "The export of wheat is banned."),
        ("", "The school has dropped its ban on mobile phones.", "Mobile phones are allowed at the school again.", "Mobile phones are banned at the school."),
        ("", "The ban on smoking in the courtyard was removed in January.", "Smoking is allowed in the courtyard.", "Smoking is banned in the courtyard."),
        ("", "The import restrictions on steel were lifted last year.", "The import restrictions on steel no longer apply.", "There are import restrictions on steel."),
        ("May we film in the archive?", "The archive revoked its ban on filming in 2021.", "Yes, filming is allowed.", "No, filming is prohibited."),
        ("", "The moratorium on new wells ended in April.", "The moratorium on new wells is over.", "New wells are banned."),
        ("", "The mayor lifted the ban on street music.", "Street music is allowed again.", "Street music is prohibited."),
        ("", "Photography is no longer prohibited in the temple.", "Photography is allowed in the temple.", "Photography is prohibited in the temple."),
        ("", "The sanctions against the bank were lifted in 2016.", "There are no more sanctions against the bank.", "There are sanctions against the bank."),
        ("", "The night-time speed restriction on the ring road has been scrapped.", "The night-time speed restriction was scrapped.", "There is a night-time speed restriction on the ring road."),
    ],
)  # fmt: skip
def test_a_lifted_ban_is_not_supported_as_a_present_one(question: str, context: str, right: str, wrong: str) -> None:
    assert verdicts_on(question, context, right) == {"supported"}
    assert "supported" not in verdicts_on(question, context, wrong)


@pytest.mark.parametrize(
    ("question", "context", "claim"),
    [
        ("", "The ban on fishing in the lake was lifted in 2019.", "Fishing was banned in the lake until 2019."),
        ("", "The ban on fishing in the lake was lifted in 2019 but reintroduced in 2022.", "Fishing is banned in the lake."),
        ("", "The ban on fishing in the lake was lifted in 2019. Swimming is banned in the lake.", "Swimming is banned in the lake."),
        ("", "The ban on fishing was not lifted.", "Fishing is banned."),
        ("", "The ban on dogs was lifted for guide dogs. Dogs are banned in the building.", "Dogs are banned in the building."),
        ("", "The court refused to lift the ban on the drug.", "The drug is banned."),
        ("", "The hosepipe ban in Kent has ended. In Sussex hosepipes are banned.", "In Sussex hosepipes are banned."),
        ("", "The ban will be lifted in 2030. Until then fishing is banned in the lake.", "Fishing is banned in the lake."),
        ("", "The ban on fishing in the lake was lifted in 2019.", "The ban was lifted in 2019."),
        ("", "The curfew was scrapped in May, but the alcohol ban remains.", "The alcohol ban remains."),
        ("", "If the ban on imports is lifted, prices will fall.", "Prices will fall if the ban on imports is lifted."),
        ("", "The ban on night flights was lifted for cargo planes; passenger planes are banned at night.", "Passenger planes are banned at night."),
        ("", "The school dropped its ban on mobile phones. Smartwatches are banned during exams.", "Smartwatches are banned during exams."),
        ("", "The ban on plastic bags was partly lifted.", "The ban on plastic bags was partly lifted."),
        ("", "Flights to Osaka were suspended in 2020, and the suspension was lifted in 2021.", "Flights to Osaka were suspended in 2020."),
        ("", "The ban on smoking in the courtyard was removed in January. Smoking is banned in the halls.", "Smoking is banned in the halls."),
        ("", "The mayor lifted the ban on street music, but amplifiers are prohibited.", "Amplifiers are prohibited."),
        ("", "The moratorium on new wells ended in April but was renewed in May.", "New wells are banned."),
        ("", "The sanctions against the bank were lifted in 2016. The sanctions against the airline remain.", "The sanctions against the airline remain."),
        ("", "The club dropped the ban on guests. Guests must not use the sauna.", "Guests must not use the sauna."),
        ("", "The archive revoked its ban on filming for students. Other visitors are not allowed to film.", "Other visitors are not allowed to film."),
        ("", "The import restrictions on steel were lifted last year.", "The import restrictions were lifted last year."),
        ("", "The government plans to lift the ban on exports.", "Exports are banned."),
        ("", "The ban on filming was lifted because it was useless.", "The ban on filming was useless."),
    ],
)  # fmt: skip
def test_what_stands_beside_a_lifted_ban_is_supported(question: str, context: str, claim: str) -> None:
    assert verdicts_on(question, context, claim) == {"supported"}


@pytest.mark.parametrize(
    ("claim", "question", "sentences", "expected"),
    [
        ("Fishing is banned in the lake.", "", ["The ban on fishing in the lake was lifted."], False),
        ("Fishing is banned.", "Is fishing in the lake banned?", ["The ban on fishing in the lake was lifted."], False),
        ("Fishing is allowed in the lake.", "", ["The ban on fishing in the lake was lifted."], True),
        ("Fishing is banned in the river.", "", ["The ban on fishing in the lake was lifted."], None),
        ("Fishing was banned in the lake.", "", ["The ban on fishing in the lake was lifted."], None),
        ("Fishing is popular in the lake.", "", ["The ban on fishing in the lake was lifted."], None),
        ("Fishing is banned in the lake.", "", ["The ban on fishing in the lake was partly lifted."], None),
        ("Fishing is banned in the lake.", "", ["The ban on fishing in the lake was lifted for members."], None),
        ("Fishing is banned for members.", "", ["The ban on fishing was lifted for members."], False),
        ("Fishing is banned in the lake.", "", ["The court refused to lift the ban on fishing in the lake."], None),
        ("Fishing is banned.", "", ["The ban on fishing with nets from boats at night was lifted."], None),
        ("Fishing is banned.", "", ["The ban on fishing was lifted.", "Since May fishing is banned."], None),
    ],
)  # fmt: skip
def test_a_ban_is_compared_with_its_own_end(
    claim: str, question: str, sentences: Sequence[str], expected: bool | None
) -> None:
    assert is_ban_current(claim, question, sentences) is expected
