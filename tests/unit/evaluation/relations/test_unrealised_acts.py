"""A stated act is contradicted by evidence that it did not come about, and its denial is supported."""

from collections.abc import Sequence

import pytest

from tests.harness.whole_answers import verdicts_on
from workers.evaluation.relations.unrealised_acts import is_act_done


@pytest.mark.parametrize(
    ("question", "context", "right", "wrong"),
    [
        ("", "Norway almost won the final.", "Norway did not win the final.", "Norway won the final."),
        ("Who won the final?", "Norway nearly won the final but lost to Spain in the last minute.", "Spain won the final.", "Norway won the final."),
        ("", "The technician was unable to repair the boiler on Monday.", "The technician could not repair the boiler on Monday.", "The technician repaired the boiler on Monday."),
        ("Did the company meet its target?", "The company failed to meet its sales target in 2023.", "No, the company did not meet its sales target in 2023.", "Yes, the company met its sales target in 2023."),
        ("", "The bridge would have collapsed without the steel supports.", "The bridge did not collapse.", "The bridge collapsed."),
        ("", "The council had planned to build a new library, but the money ran out.", "The new library was not built.", "The council built a new library."),
        ("", "The owners considered selling the hotel in 2020.", "The owners thought about selling the hotel in 2020.", "The owners sold the hotel in 2020."),
        ("", "The airline was about to cancel the flight when the storm passed.", "The flight was not cancelled.", "The airline cancelled the flight."),
        ("", "The update failed to install on 40 devices.", "The update could not be installed on 40 devices.", "The update was installed on 40 devices."),
        ("", "Rescuers were unable to reach the village before dark.", "Rescuers did not reach the village before dark.", "Rescuers reached the village before dark."),
        ("Did the patient recover?", "The patient almost died of the infection.", "The patient did not die of the infection.", "The patient died of the infection."),
        ("", "She narrowly missed qualifying for the Olympics.", "She did not qualify for the Olympics.", "She qualified for the Olympics."),
        ("", "The merger between Alba and Corvin fell through in May.", "Alba and Corvin did not merge.", "Alba and Corvin merged in May."),
        ("", "Kessler tried to open the safe without success.", "Kessler could not open the safe.", "Kessler opened the safe."),
        ("", "The company intended to open a plant in Leeds but abandoned the idea.", "The company did not open a plant in Leeds.", "The company opened a plant in Leeds."),
        ("", "The ministry stopped short of banning the pesticide.", "The ministry did not ban the pesticide.", "The ministry banned the pesticide."),
        ("", "Negotiators were close to signing the treaty when talks broke down.", "The treaty was not signed.", "Negotiators signed the treaty."),
        ("", "He could have won the race if he had not fallen.", "He did not win the race.", "He won the race."),
        ("", "The drug did not manage to lower blood pressure in the second group.", "The drug did not lower blood pressure in the second group.", "The drug lowered blood pressure in the second group."),
        ("", "Marta refused to sign the contract.", "Marta did not sign the contract.", "Marta signed the contract."),
        ("", "The printer was unable to connect to the network after the update.", "The printer could not connect to the network after the update.", "The printer connected to the network after the update."),
        ("", "Investigators failed to identify the source of the leak.", "Investigators did not identify the source of the leak.", "Investigators identified the source of the leak."),
        ("", "The tenants would have received a refund if they had cancelled by 1 June.", "The tenants did not receive a refund.", "The tenants received a refund."),
        ("", "The board considered closing the Lyon office.", "The board considered closing the Lyon office.", "The board closed the Lyon office."),
        ("", "The bank was on the brink of filing for bankruptcy in 2009.", "The bank did not file for bankruptcy in 2009.", "The bank filed for bankruptcy in 2009."),
        ("", "Hikers were forced to turn back and never managed to reach the summit.", "The hikers did not reach the summit.", "The hikers reached the summit."),
        ("", "The museum had hoped to buy the painting, but a private collector paid more.", "The museum did not buy the painting.", "The museum bought the painting."),
        ("", "The attempt to raise the wreck failed in bad weather.", "The wreck was not raised.", "The wreck was raised."),
        ("", "The senator came close to losing her seat in 2018.", "The senator did not lose her seat in 2018.", "The senator lost her seat in 2018."),
        ("", "The court declined to hear the appeal.", "The court did not hear the appeal.", "The court heard the appeal."),
        ("Who discovered the comet?", "Lena Voss almost discovered the comet in 1983.", "Lena Voss did not discover the comet.", "Lena Voss."),
        ("", "The child narrowly avoided being hit by the tram.", "The child was not hit by the tram.", "The child was hit by the tram."),
        ("", "Kessler tried to open the safe, but failed.", "Kessler did not open the safe.", "Kessler opened the safe."),
    ],
)  # fmt: skip
def test_an_act_that_did_not_come_about_is_not_supported(question: str, context: str, right: str, wrong: str) -> None:
    assert verdicts_on(question, context, right) == {"supported"}
    assert not verdicts_on(question, context, wrong) & {"supported"}


@pytest.mark.parametrize(
    ("question", "context", "claim"),
    [
        ("", "Norway almost won the final in Oslo.", "The final was in Oslo."),
        ("", "Nearly 300 visitors came to the fair.", "300 visitors came to the fair."),
        ("", "Nearly 300 visitors came to the fair.", "Nearly 300 visitors came to the fair."),
        ("", "Almost all members voted for the plan.", "Almost all members voted for the plan."),
        ("", "The firm failed to meet its sales target but cut its costs by 8 percent.", "The firm cut its costs by 8 percent."),
        ("", "The technician was unable to repair the boiler, so he replaced it on Tuesday.", "The technician replaced the boiler on Tuesday."),
        ("", "After the first attempt failed, the team was able to restart the pump.", "The team restarted the pump."),
        ("", "The owners considered selling the hotel and finally sold it in 2021.", "The owners sold the hotel in 2021."),
        ("", "The company had planned to open the plant in May but opened it in June.", "The company opened the plant in June."),
        ("", "Kessler failed to open the safe at first. On the third try he opened it.", "Kessler opened the safe on the third try."),
        ("", "Anna almost missed the train, but she caught it.", "Anna caught the train."),
        ("", "If the update fails to install, restart the device.", "Restart the device if the update fails to install."),
        ("", "He is unable to work because he broke his leg.", "He broke his leg."),
        ("", "The shop sold nearly 4,000 bicycles last year.", "The shop sold nearly 4,000 bicycles last year."),
        ("", "The ministry considered a ban on pesticides.", "The ministry considered a ban on pesticides."),
        ("", "The goalkeeper failed to stop the penalty and Norway won the final.", "Norway won the final."),
        ("", "The tower is almost finished and will open in May.", "The tower will open in May."),
        ("", "The ferry nearly sank off the coast of Malta in 2011.", "The ferry nearly sank in 2011."),
        ("", "The printer was unable to connect to the network, so Tom connected it by cable.", "Tom connected the printer by cable."),
        ("", "The museum had hoped to buy the painting, but a private collector paid more.", "A private collector paid more."),
        ("", "Investigators failed to identify the source of the leak but found two corroded valves.", "Investigators found two corroded valves."),
        ("", "It took almost three hours to repair the pump.", "It took almost three hours to repair the pump."),
        ("", "Revenue nearly doubled to 40 million euros.", "Revenue nearly doubled to 40 million euros."),
        ("", "The board considered closing the Lyon office and the Turin office. In June it closed the Turin office.", "The Turin office was closed in June."),
        ("", "The court declined to hear the appeal in 2019 but heard it in 2021.", "The court heard the appeal in 2021."),
        ("", "Bolt was unable to start in the heats. He started in the relay and won it.", "Bolt won the relay."),
        ("", "The senator came close to losing her seat in 2018 and lost it in 2022.", "The senator lost her seat in 2022."),
        ("", "Staff who fail to complete the course must repeat it. 40 of 45 completed the course.", "40 of 45 staff completed the course."),
        ("", "Nearly half of the patients recovered within a week.", "Nearly half of the patients recovered within a week."),
        ("", "The company refused to pay the fine, appealed and lost.", "The company lost the appeal."),
        ("", "The driver failed to stop at the red light and hit a cyclist.", "The driver hit a cyclist."),
        ("", "The customer's order of the lamp was cancelled.", "The customer ordered the lamp."),
        ("", "Under the new plan customers would have to pay for parking. Parking is used to fund the park.", "Parking is used to fund the park."),
        ("", "The delay was due to snow but the bus came.", "The bus came."),
        ("", "If the launch was called off, the fee is refunded.", "The fee is refunded if the launch was called off."),
        ("", "The villa would have a garden. The villa has a pool.", "The villa has a pool."),
        ("", "The guests almost always leave by noon.", "The guests almost always leave by noon."),
        ("", "The city refused to renew the lease and sold the hall in 2020.", "The city sold the hall in 2020."),
        ("", "The pilot was unable to land in Cork, so the plane landed in Shannon.", "The plane landed in Shannon."),
        ("", "The team considered using steel but used wood.", "The team used wood."),
        ("", "The bank was close to failing in 2008; it was bought by a rival.", "The bank was bought by a rival."),
    ],
)  # fmt: skip
def test_what_stands_beside_such_an_act_is_supported(question: str, context: str, claim: str) -> None:
    assert verdicts_on(question, context, claim) == {"supported"}


@pytest.mark.parametrize(
    ("claim", "question", "sentences", "expected"),
    [
        ("Norway won the final.", "", ["Norway almost won the final."], False),
        ("Norway.", "Who won the final?", ["Norway almost won the final."], False),
        ("In May Norway won the final.", "", ["In May Norway almost won the final."], False),
        ("The start was called off.", "", ["The start was called off."], None),
        ("Norway never won the final.", "", ["Norway almost won the final."], True),
        ("Norway tried to win the final.", "", ["Norway almost won the final."], None),
        ("Spain won the final.", "", ["Norway almost won the final."], None),
        ("Norway won the semi-final.", "", ["Norway almost won the final."], None),
        ("Sales doubled.", "", ["Sales nearly doubled."], None),
        ("Hundred people came.", "", ["Almost hundred people came."], None),
        ("The device starts.", "", ["If the device fails to start, charge it."], None),
        ("The team met the target.", "", ["The team never failed to meet the target."], None),
        ("The pump started.", "", ["The pump failed to start at first."], None),
        ("The pump started.", "", ["The pump failed to start.", "Finally it ran."], None),
        ("The pump started.", "", ["The pump failed to start.", "On Tuesday the pump started."], None),
        ("Anna opened the safe.", "", ["Tom was unable to open the safe and Anna opened it."], None),
        ("The flight was cancelled.", "", ["The airline almost cancelled the flight.", "On Friday the airline cancelled the flight."], None),
        ("The repair took a day.", "", ["Tom was unable to repair the pump in a day."], None),
        ("The launch was planned.", "", ["The planned launch was called off."], None),
        ("The rocket was launched.", "", ["The launch of the rocket was called off."], False),
    ],
)  # fmt: skip
def test_an_act_is_compared_with_its_own_statement(
    claim: str, question: str, sentences: Sequence[str], expected: bool | None
) -> None:
    assert is_act_done(claim, question, sentences) is expected
