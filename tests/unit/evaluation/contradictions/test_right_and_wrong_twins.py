"""Right claims that a rule took for contradictions, each beside the wrong twin that it must still find."""

from datetime import UTC, datetime

import pytest

from schemas.answers import GeneratedAnswer
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.thresholds import GroundingThresholds


def verdicts_on(claim: str, context: str) -> list[str]:
    answer = GeneratedAnswer.model_validate(
        {
            "answer_id": "a",
            "answer": claim,
            "contexts": [{"chunk_id": "c1", "content": context}],
            "completed_at": datetime(2026, 11, 2, tzinfo=UTC),
        }
    )
    return [each.verdict for each in evaluate_grounding(prepare_grounding(answer), GroundingThresholds()).claims]


RIGHT = [
    ("Plan A is more expenſive than plan B.", "Plan A costs $20. Plan B costs $10."),
    ("100.0% of the invoices were paid.", "All invoices were paid."),
    ("50.0% of the users are active.", "Half of the users are active."),
    ("5.0% of the users are active.", "Few users are active."),
    ("Few of the users are active.", "5.0% of the users are active."),
    ("62.5% of the tickets were closed.", "Most tickets were closed."),
    ("The target was passed.", "1,000% of the target"),
    ("Plan A includes at least 5 users.", "Plan A includes 5 users and Plan B includes 3 users."),
    ("Plan A costs at most $10.", "Plan A costs $10. Plan B costs $20."),
    ("Plan B costs at most $20.", "Plan B costs $20. Plan A costs $10."),
    ("Plan B costs no more than $20.", "Plan B costs $20. Plan A costs $10."),
    ("The dinner had more than 20 guests.", "The dinner had 25 guests. The concert had 40 guests."),
    ("The concert had more guests.", "The dinner had 25 guests. The concert had 40 guests."),
    ("Route A takes longer than 30 minutes.", "Route A takes 45 minutes. Route B takes 60 minutes."),
    ("The lease ends in May 2025 at the latest.", "The lease ends in May 2025. The loan ends in June 2026."),
    (
        "The hotel was later renovated.",
        "The hotel was built in 1990. The station was built in 2000. The hotel was renovated.",
    ),
    (
        "The hotel opened in 1990 and was later renovated.",
        "The hotel was opened in 1990 and renovated. The station was opened in 2000.",
    ),
    ("Tower A is higher than 80 m.", "Tower A is 90 m high. Tower B is 120 m high."),
    ("Room A holds up to 30 people at the most.", "Room A holds 30 people. Room B holds 50 people."),
    ("The tour of Rome takes at least 3 hours.", "The tour of Rome takes 3 hours. The tour of Pisa takes 5 hours."),
    ("Plan A does not cost more than Plan B.", "Plan A costs $10. Plan B costs $20."),
    ("Plan B costs more than Plan A and is not refundable.", "Plan A costs $10. Plan B costs $20."),
    (
        "Engine B is older than engine A and has not been restored.",
        "Engine A was built in 1998 and has not been restored. Engine B was built in 1990 and has not been restored.",
    ),
    ("Plan A is not the most expensive plan.", "Plan A costs $10. Plan B costs $20."),
    ("600 of 2,400 flights were delayed (25%).", "Of 2,400 flights, 600 were delayed."),
    ("1,500 of 3,000 invoices (50%) were paid.", "1,500 of 3,000 invoices were paid."),
    ("1.5 of 3 million euros (50%) were spent.", "1.5 of 3 million euros were spent."),
    ("12 of 24 sites passed in 2023, up from 10 of 40 (25%).", "12 of 24 sites passed in 2023, up from 10 of 40."),
    ("Without a receipt, refunds are refused.", "Refunds are given only with a receipt."),
    ("Entry without a ticket is not possible.", "Entry requires a ticket."),
    ("You cannot return goods without a receipt.", "Returns require a receipt."),
    ("You cannot return goods without a receipt.", "Goods can be returned only with a receipt."),
    ("Shipments without a label are refused.", "Shipments require a label."),
    ("Visitors cannot enter without a pass.", "Visitors need a pass to enter."),
    ("Visitors need a pass to enter.", "Visitors cannot enter without a pass."),
    ("Bob sings while Ann plays the piano.", "Ann plays the piano while Bob sings."),
    ("Costs fell whereas sales rose.", "Sales rose whereas costs fell."),
    ("Neither Bob nor Ann attended.", "Neither Ann nor Bob attended."),
    ("Bob as well as Ann attended the meeting.", "Ann as well as Bob attended the meeting."),
    ("Bob along with Ann attended the meeting.", "Ann along with Bob attended the meeting."),
    ("Dinner plus breakfast is included.", "Breakfast plus dinner is included."),
    ("Northwind merged with Contoso.", "Contoso merged with Northwind."),
    ("Aspirin interacts with warfarin.", "Warfarin interacts with aspirin."),
    ("Northwind competes with Contoso.", "Contoso competes with Northwind."),
    ("When the door opens, the alarm sounds.", "The alarm sounds when the door opens."),
    ("Northwind cooperates with Contoso.", "Contoso cooperates with Northwind."),
    ("Two seats are still available.", "Two seats are left."),
    ("She still has five vacation days.", "She has five vacation days left."),
    ("The patient still has pain in the arm.", "The patient has pain in the left arm."),
    ("The valve is still open.", "The valve on the left is open."),
    ("The number of falls went from 12 in 2021 to 30 in 2022.", "There were 12 falls in 2021 and 30 falls in 2022."),
    ("Everyone except visitors may enter the lab.", "Visitors may not enter the lab."),
    ("Nobody but staff may enter the lab.", "Only staff may enter the lab."),
    ("Nobody but staff may enter.", "Only staff may enter."),
    ("Most tickets were not closed.", "30% of the tickets were closed."),
    ("Most tickets were closed.", "70% of the tickets were closed."),
    (
        "You must give twelve weeks' notice.",
        "For tenants, twelve weeks' notice is required. Landlords must give six months' notice.",
    ),
    (
        "Applicants must submit two references.",
        "From applicants, two references are needed. Schools must submit three reports.",
    ),
    (
        "The buyer has to pay a deposit of 500 euros.",
        "For the buyer, a deposit of 500 euros is required. The seller has to pay a fee of 80 euros.",
    ),
    (
        "Lena Ortiz was sentenced to three years in prison.",
        "Lena Ortiz was given three years in prison. Tom Rask was sentenced to five years in prison.",
    ),
    ("The dock works even with the bridge adapter.", "The dock works with and without the bridge adapter."),
    (
        "The charger works even with the bridge adapter.",
        "The charger works without an adapter. With the bridge adapter it works as well.",
    ),
    ("The game can be played without a controller.", "The game can be played with or without a controller."),
    ("The bread rises without yeast.", "The bread rises both with and without yeast."),
    ("Delivery takes 3–5 days.", "Delivery takes 3 to 5 days."),
    ("The model has 70B parameters.", "The model has 70 billion parameters."),
    ("Orca has 70B parameters.", "Orca has 70 billion parameters."),
    ("The course lasts 8–10 weeks.", "The course lasts 8 to 10 weeks."),
    ("The archive holds 40M photos.", "The archive holds 40 million photos."),
    ("The hall seats 300–400 guests.", "The hall seats 300 to 400 guests."),
    ("The milk spoils if it is not put back in the fridge.", "The milk spoils unless put back in the fridge."),
    ("The alarm sounds if the code isn't entered.", "The alarm sounds unless the code is entered."),
    ("The offer lapses unless it is accepted by Friday.", "The offer lapses if it is not accepted by Friday."),
    ("Works on paper can be shown at 40 lux.", "Light on works on paper must not exceed 50 lux."),
    ("A bag of 18 kg may be checked in.", "Checked bags must not exceed 23 kg."),
    ("The lift can carry up to 600 kg.", "The lift can carry at most 600 kg."),
    (
        "The licence for photos is non-exclusive.",
        "The licence for texts is exclusive. The licence for photos is non-exclusive.",
    ),
    ("The ticket is not refundable.", "Guests hold a non-refundable ticket for the show."),
    (
        "Members have to bring a partner for the tango class.",
        "For the tango class, a partner is required of members. Teachers have to bring two assistants.",
    ),
    (
        "The pilot needs 40 hours of flight.",
        "From the pilot, 40 hours of flight are required. The trainer must log 400 hours.",
    ),
    (
        "Eva Holm got ten months on probation.",
        "Eva Holm was given ten months on probation. Nils Berg got two years in prison.",
    ),
    ("The printer prints without the cloud account.", "The printer prints with and without the cloud account."),
    ("The plant grows even without direct sun.", "The plant grows with or without direct sun."),
    ("The lens can be used with a filter.", "The lens can be used both without and with a filter."),
    ("The repair lasts 2–3 hours.", "The repair lasts 2 to 3 hours."),
    ("The town has 25K inhabitants.", "The town has 25 thousand inhabitants."),
    ("Falcon handles 12M requests.", "Falcon handles 12 million requests."),
    ("Bookings are cancelled if they are not confirmed by phone.", "Bookings are cancelled unless confirmed by phone."),
    ("Seedlings die if they aren't watered daily.", "Seedlings die unless watered daily."),
    (
        "Bookings are cancelled unless confirmed by phone.",
        "Bookings are cancelled unless confirmed by phone, even if a deposit was paid.",
    ),
    ("Parcels of 12 kg can be dropped off.", "Parcels must not exceed 20 kg."),
    ("The trailer may weigh up to 750 kg.", "The trailer may weigh no more than 750 kg."),
    ("The voucher cannot be transferred.", "Each guest gets a non-transferable voucher."),
    ("Checked bags may weigh up to 23 kg.", "Checked bags must not exceed 23 kg."),
    ("Checked bags must not exceed 23 kg.", "Checked bags may weigh up to 23 kg."),
    ("Checked bags cannot weigh more than 23 kg.", "Checked bags may weigh at most 23 kg."),
    (
        "The tram carries no more than 120 people.",
        "The tram carries 120 people at most and the bus carries 60 people at most.",
    ),
    (
        "The bus carries no more than 60 people.",
        "The tram carries no more than 120 people and the bus carries no more than 60 people.",
    ),
    ("The museum does not open before 2024.", "The museum opens in 2024 and the library opens in 2026."),
    ("The library will not open before 2026.", "The museum opens in 2024 and the library opens in 2026."),
    ("The museum opens no later than 2024.", "The museum opens in 2024 and the library opens in 2026."),
    (
        "The bridge was not finished before 1931.",
        "The tunnel was finished in 1904 and the bridge was finished in 1931.",
    ),
    ("The bridge was not finished in 1904.", "The tunnel was finished in 1904 and the bridge was finished in 1931."),
    ("Anna did not win in 2019.", "Anna won in 2018 and Carla won in 2019."),
    ("The flat does not cost 900 euros.", "The flat costs 700 euros and the house costs 900 euros."),
    ("The flat costs no more than 900 euros.", "The flat costs 700 euros and the house costs 900 euros."),
    ("The house costs at least 700 euros.", "The flat costs 700 euros and the house costs 900 euros."),
    ("The flat costs less than 900 euros.", "The flat costs 700 euros. The house costs 900 euros."),
    ("The permit is not valid before 2024.", "The permit is valid from 2024. The visa is valid from 2023."),
    ("By 2010 the tower was finished.", "The tower was finished in 2008. The dome was finished in 2010."),
    ("The tower was finished before 2010.", "The tower was finished in 2008. The dome was finished in 2010."),
    ("Neither Ann nor Bob was born in 1990; Carl was.", "Ann was born in 1988, Bob in 1989 and Carl in 1990."),
    ("Bob was born before 1990.", "Ann was born in 1988, Bob in 1989 and Carl in 1990."),
    ("Bob, not Ann, was born in 1989.", "Ann was born in 1988, Bob in 1989 and Carl in 1990."),
    ("Room B holds no more than 80 people.", "Room A holds 40 people and room B holds 80 people."),
    ("Room A does not hold 80 people.", "Room A holds 40 people and room B holds 80 people."),
    ("Room A holds fewer than 80 people.", "Room A holds 40 people and room B holds 80 people."),
    ("The novel was written after 1920.", "The poem was written in 1920 and the novel was written in 1925."),
    ("The poem was not written after 1920.", "The poem was written in 1920 and the novel was written in 1925."),
    ("Peru did not join in 2004.", "Chile joined in 2004. Peru joined in 2009."),
    ("Peru joined no earlier than 2004.", "Chile joined in 2004. Peru joined in 2009."),
    ("Peru joined after 2004.", "Chile joined in 2004. Peru joined in 2009."),
    ("The north wing was never used in 1950.", "The north wing was used in 1940 and the south wing was used in 1950."),
    ("The black tea needs at least 3 minutes.", "The green tea needs 3 minutes and the black tea needs 5 minutes."),
]
WRONG = [
    ("The tour of Rome takes no longer than 2 hours.", "The tour of Rome takes 3 hours."),
    ("Plan A is more expenſive than plan B.", "Plan A costs $10. Plan B costs $20."),
    ("10.0% of the invoices were paid.", "All invoices were paid."),
    ("No tickets were closed.", "100.0% of the tickets were closed."),
    ("Plan B costs less than plan A.", "Plan B costs $20. Plan A costs $10."),
    ("Plan A costs the most.", "Plan A costs $10. Plan B costs $20."),
    ("The dinner had more guests than the concert.", "The dinner had 25 guests. The concert had 40 guests."),
    ("The dinner had more guests.", "The dinner had 25 guests. The concert had 40 guests."),
    ("Route A takes longer than route B.", "Route A takes 45 minutes. Route B takes 60 minutes."),
    ("The hotel was built later than the station.", "The hotel was built in 1990. The station was built in 2000."),
    ("The hotel was built later.", "The hotel was built in 1990. The station was built in 2000."),
    ("Tower A is higher than tower B.", "Tower A is 90 m high. Tower B is 120 m high."),
    ("Plan A does not cost more than Plan B.", "Plan A costs $20. Plan B costs $10."),
    ("Engine B is not older than engine A.", "Engine A was built in 1998. Engine B was built in 1990."),
    ("Plan A is not the cheapest plan.", "Plan A costs $10. Plan B costs $20."),
    ("600 of 2,400 flights were delayed (35%).", "Of 2,400 flights, 600 were delayed."),
    ("1,500 of 3,000 invoices (60%) were paid.", "1,500 of 3,000 invoices were paid."),
    ("12 of 24 sites passed in 2023, up from 10 of 40 (35%).", "12 of 24 sites passed in 2023, up from 10 of 40."),
    ("60 of the 80 pupils passed, which is 80%.", "60 of the 80 pupils passed."),
    ("Refunds are given even without a receipt.", "Refunds are given only with a receipt."),
    ("Refunds are given without a receipt.", "Refunds are given only with a receipt."),
    ("Entry is possible without a ticket.", "Entry requires a ticket."),
    ("You can return goods without a receipt.", "Goods can be returned only with a receipt."),
    ("Shipments without a label are accepted.", "Shipments require a label."),
    ("Visitors can enter without a pass.", "Visitors need a pass to enter."),
    ("Visitors need a pass to enter.", "Visitors can enter without a pass."),
    ("Northwind merged into Contoso.", "Contoso merged into Northwind."),
    ("Northwind sued Contoso.", "Contoso sued Northwind."),
    ("Northwind replaced Contoso.", "Contoso replaced Northwind."),
    ("Bob helped Ann with the move.", "Ann helped Bob with the move."),
    ("Dr. Weber still works at the clinic.", "Dr. Weber left the clinic in March."),
    ("Ann is still in the club.", "Ann quit the club."),
    ("Maria is still with the company.", "Maria left the company in 2020."),
    ("Visitors may enter the lab.", "Visitors may not enter the lab."),
    ("Everyone may enter the lab.", "Visitors may not enter the lab."),
    ("Most tickets were not closed.", "70% of the tickets were closed."),
    ("Most tickets were closed.", "30% of the tickets were closed."),
    (
        "You must give six months' notice as a tenant.",
        "For tenants, twelve weeks' notice is required. Landlords must give six months' notice.",
    ),
    (
        "Lena Ortiz was sentenced to five years in prison.",
        "Lena Ortiz was given three years in prison. Tom Rask was sentenced to five years in prison.",
    ),
    ("The dock works even with the bridge adapter.", "The dock does not work with the bridge adapter."),
    ("The game can be played without a controller.", "The game can be played only with a controller."),
    ("The bread rises without yeast.", "The bread does not rise without yeast."),
    ("The course lasts 8–10 weeks.", "The course lasts 11 to 12 weeks."),
    ("The archive holds 40M photos.", "The archive holds 4 million photos."),
    ("The model has 70B parameters.", "The model has 70 million parameters."),
    ("The milk spoils unless put back in the fridge.", "The milk spoils even if put back in the fridge."),
    (
        "Discard rice after two hours unless put back in the fridge.",
        "Discard rice after two hours, even if put back in the fridge.",
    ),
    ("The alarm sounds unless the code is entered.", "The alarm sounds even if the code is entered."),
    (
        "The warranty is void unless the seal is intact.",
        "The warranty is void regardless of whether the seal is intact.",
    ),
    ("The app syncs only if it is open.", "The app syncs even if it is not open."),
    ("Works on paper may be lit with up to 200 lux.", "Works on paper may be lit with at most 50 lux."),
    ("The lift can carry up to 900 kg.", "The lift can carry at most 600 kg."),
    ("You must be at least 12 years old to enter.", "You must be at least 16 years old to enter."),
    ("A bag of 28 kg may be checked in.", "Checked bags must not exceed 23 kg."),
    (
        "The company has exclusively licensed the patent to Brill.",
        "The company has licensed the patent to Brill on a non-exclusive basis.",
    ),
    ("The licence is non-exclusive.", "Brill holds the exclusive licence for the patent."),
    ("The ticket is refundable.", "Guests hold a non-refundable ticket for the show."),
    (
        "Eva Holm got two years in prison.",
        "Eva Holm was given ten months on probation. Nils Berg got two years in prison.",
    ),
    ("The printer prints without the cloud account.", "The printer prints only with the cloud account."),
    ("The plant grows without direct sun.", "The plant does not grow without direct sun."),
    ("Falcon handles 12M requests.", "Falcon handles 20 million requests."),
    ("Bookings are cancelled unless confirmed by phone.", "Bookings are cancelled even if confirmed by phone."),
    ("The gate opens only when the guard is present.", "The gate opens even when the guard is not present."),
    ("Seedlings die unless watered daily.", "Seedlings die no matter whether they are watered daily."),
    ("The trailer may weigh up to 3,500 kg.", "The trailer may weigh at most 750 kg."),
    ("Candidates must have at least 2 years of practice.", "Candidates must have at least 5 years of practice."),
    ("Parcels of 25 kg can be dropped off.", "Parcels must not exceed 20 kg."),
    ("The voucher is transferable.", "Each guest gets a non-transferable voucher."),
    ("Rolf signed a non-exclusive contract with the label.", "The label has Rolf under an exclusive contract."),
    ("Checked bags may weigh 28 kg.", "Checked bags must not exceed 23 kg."),
    (
        "Tom Rask was given three years in prison.",
        "Lena Ortiz was given three years in prison. Tom Rask was sentenced to five years in prison.",
    ),
    ("Checked bags must exceed 23 kg.", "Checked bags must not exceed 23 kg."),
    (
        "The bus carries no more than 120 people.",
        "The tram carries no more than 120 people and the bus carries no more than 60 people.",
    ),
    ("The bridge was finished in 1904.", "The tunnel was finished in 1904 and the bridge was finished in 1931."),
    ("Anna won in 2019.", "Anna won in 2018 and Carla won in 2019."),
    ("The flat costs 900 euros.", "The flat costs 700 euros and the house costs 900 euros."),
    ("The house costs less than 700 euros.", "The flat costs 700 euros. The house costs 900 euros."),
    ("The tower was finished after 2010.", "The tower was finished in 2008. The dome was finished in 2010."),
    ("Room A holds 80 people.", "Room A holds 40 people and room B holds 80 people."),
    ("Room A holds more than 80 people.", "Room A holds 40 people and room B holds 80 people."),
    ("The poem was written after 1925.", "The poem was written in 1920 and the novel was written in 1925."),
    ("Peru joined in 2004.", "Chile joined in 2004. Peru joined in 2009."),
    ("Peru did not join in 2009.", "Chile joined in 2004. Peru joined in 2009."),
    ("Chile joined after 2009.", "Chile joined in 2004. Peru joined in 2009."),
    ("The north wing was not used in 1940.", "The north wing was used in 1940 and the south wing was used in 1950."),
    ("The green tea needs at least 5 minutes.", "The green tea needs 3 minutes and the black tea needs 5 minutes."),
    ("Peru did not join in 2009.", "Peru joined in 2009."),
    ("The tunnel was not finished in 2009.", "The dome was finished in 2004. The tunnel was finished in 2009."),
    ("Room A does not hold 40 people.", "Room A holds 40 people and room B holds 80 people."),
    ("The plan does not cost 20 euros.", "The plan costs 20 euros."),
    ("The plan does not cost less than 30 euros.", "The plan costs 20 euros."),
    ("The tunnel was not opened before 2010.", "The tunnel was opened in 2009."),
]


@pytest.mark.parametrize(("claim", "context"), RIGHT)
def test_what_the_evidence_says_in_other_words_is_no_contradiction(claim: str, context: str) -> None:
    assert "contradicted" not in verdicts_on(claim, context)


@pytest.mark.parametrize(("claim", "context"), WRONG)
def test_its_wrong_twin_is_contradicted(claim: str, context: str) -> None:
    assert "contradicted" in verdicts_on(claim, context)


LIMITS = [
    ("Work from abroad is limited to 20 days a year.", "You can work from abroad for up to {} days a year.", "20", "30"),
    ("Parking is limited to 2 hours.", "You can park for up to {} hours.", "2", "4"),
    ("Uploads are capped at 25 MB.", "You can upload files of up to {} MB.", "25", "50"),
    ("Cabin bags must not exceed 8 kg.", "Cabin bags may weigh up to {} kg.", "8", "12"),
    ("Students are limited to two loans at a time; teachers to five.", "Teachers can have up to {} loans at a time.", "five", "seven"),
    ("Vans are capped at 80 km/h, private cars at 120.", "Private cars may drive up to {} km/h.", "120", "150"),
    ("Each class is restricted to 14 pupils.", "Each class has up to {} pupils.", "14", "18"),
    ("La exportación a PDF se eliminó en la versión {}.", "La exportación a PDF se eliminó en la versión {}.", "5.0", "5.1"),
    ("A exportação em PDF foi removida na versão 7.2.", "A exportação em PDF foi removida na versão {}.", "7.2", "7.3"),
    ("PDF出力はバージョン5.0で廃止されました。", "PDF出力はバージョン{}で廃止されました。", "5.0", "5.1"),
    ("PDF导出在版本5.0中被移除。", "PDF导出在版本{}中被移除。", "5.0", "5.1"),
    ("Экспорт в PDF удалён в версии 5.0.", "Экспорт в PDF удалён в версии {}.", "5.0", "5.1"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "claim", "right", "wrong"), LIMITS)
def test_limits_and_versions_are_compared_in_each_wording_and_language(
    source: str, claim: str, right: str, wrong: str
) -> None:
    source = source.format(right)
    assert verdicts_on(claim.format(right), source) == ["supported"]
    assert verdicts_on(claim.format(wrong), source)[0] in ("contradicted", "unsupported")
