"""Two things lie on opposite sides of each other: the converse is right, and the exchange is wrong."""

from collections.abc import Sequence

import pytest

from tests.harness.whole_answers import verdicts_on
from workers.evaluation.relations.places_beside import is_side_right


@pytest.mark.parametrize(
    ("question", "context", "right", "wrong"),
    [
        ("", "The church is north of the mill.", "The mill is south of the church.", "The mill is north of the church."),
        ("", "The church is north of the mill.", "The church lies to the north of the mill.", "The church lies south of the mill."),
        ("", "The village lies upstream of the dam.", "The dam is downstream of the village.", "The dam is upstream of the village."),
        ("", "The fuse box is to the left of the door.", "The door is to the right of the fuse box.", "The fuse box is to the right of the door."),
        ("", "The fuse box is to the left of the door.", "The fuse box is left of the door.", "The door is to the left of the fuse box."),
        ("Where is the station?", "The station is situated east of the old town.", "East of the old town.", "West of the old town."),
        ("", "Lake Orna lies west of the town of Birk.", "Birk lies east of Lake Orna.", "Birk lies west of Lake Orna."),
        ("", "The control panel is above the tank.", "The tank is below the control panel.", "The tank is above the control panel."),
        ("", "Mount the filter in front of the pump.", "The filter goes in front of the pump.", "Mount the pump in front of the filter."),
        ("", "The hotel stands 2 km south-east of the airport.", "The airport is 2 km north-west of the hotel.", "The hotel stands 2 km north-west of the airport."),
        ("", "The kitchen is to the right of the stairs.", "To the right of the stairs is the kitchen.", "The stairs are to the right of the kitchen."),
        ("", "The ferry port is 5 km north of the castle.", "The castle is 5 km south of the ferry port.", "The castle is 5 km north of the ferry port."),
        ("Is the mill north of the church?", "The church is north of the mill.", "No, the mill is south of the church.", "Yes, the mill is north of the church."),
        ("", "The shop is behind the station.", "The station is in front of the shop.", "The station is behind the shop."),
        ("", "Die Kirche liegt nördlich der Mühle.", "Die Mühle liegt südlich der Kirche.", "Die Mühle liegt nördlich der Kirche."),
        ("", "The campsite lies 3 km west of the lake.", "The lake lies 3 km east of the campsite.", "The lake lies 3 km west of the campsite."),
        ("", "The reset button is located to the right of the power socket.", "The power socket is to the left of the reset button.", "The power socket is to the right of the reset button."),
        ("Where is the pharmacy?", "The pharmacy is directly behind the town hall.", "It is behind the town hall.", "It is in front of the town hall."),
        ("", "The weir is downstream of the footbridge.", "The footbridge is upstream of the weir.", "The footbridge is downstream of the weir."),
        ("Is the beach east of the hotel?", "The hotel is east of the beach.", "No, the beach is west of the hotel.", "Yes, the beach is east of the hotel."),
        ("", "Tarn is south of Molde, and Kvam is north of it.", "Molde is north of Tarn.", "Molde is south of Tarn."),
        ("", "The exhaust is below the intake grille.", "The intake grille is above the exhaust.", "The intake grille is below the exhaust."),
        ("", "To the left of the altar stands a font from 1610.", "A font stands to the left of the altar.", "The altar is to the left of a font."),
        ("", "The airport lies about 12 kilometres north-west of the city centre.", "The city centre lies south-east of the airport.", "The airport lies about 12 kilometres south-east of the city centre."),
        ("Which building is west of the school?", "The library is west of the school; the gym is east of the school.", "The library is west of the school.", "The gym is west of the school."),
    ],
)  # fmt: skip
def test_the_exchange_of_two_places_is_contradicted(question: str, context: str, right: str, wrong: str) -> None:
    assert verdicts_on(question, context, right) == {"supported"}
    assert verdicts_on(question, context, wrong) == {"contradicted"}


@pytest.mark.parametrize(
    ("question", "context", "claim"),
    [
        ("", "The church is north of the mill. The mill is north of the bridge.", "The mill is north of the bridge."),
        ("", "The church is north of the mill and south of the river.", "The church is south of the river."),
        ("", "The shop is left of the station entrance. The bank is right of the station entrance.", "The bank is right of the station entrance."),
        ("Where is the ticket office?", "The ticket office is to the left of the main gate, above the cloakroom.", "To the left of the main gate."),
        ("", "The village lies between the river to the north and the hills to the south.", "The hills are south of the village."),
        ("", "The temperature is above the limit of 40 degrees.", "The temperature is above the limit."),
        ("", "The company is behind the campaign.", "The campaign is backed by the company."),
        ("", "The lamp hangs above the table; below the lamp stands a vase.", "A vase stands below the lamp."),
        ("", "The north of Ruland is colder than the south of Ruland.", "The south of Ruland is warmer than the north of Ruland."),
        ("", "The post office stands opposite the bank, left of the bakery.", "The post office stands left of the bakery."),
        ("", "The old harbour is east of the centre; the new harbour is west of the centre.", "The new harbour is west of the centre."),
        ("", "Park in front of the barn, not behind it.", "Park in front of the barn."),
        ("", "From the road, the barn is left of the house; from the garden it is right of the house.", "From the garden the barn is right of the house."),
        ("", "The filter is upstream of the pump.", "Water passes the filter before the pump."),
    ],
)  # fmt: skip
def test_right_places_are_supported(question: str, context: str, claim: str) -> None:
    assert verdicts_on(question, context, claim) == {"supported"}


@pytest.mark.parametrize(
    ("claim", "sentences"),
    [
        ("The mill is not north of the church.", ["The church is north of the mill."]),
        ("The mill is north of the inn.", ["The church is north of the mill."]),
        ("The mill is east of the church.", ["The church is north of the mill."]),
        ("The mill is south-east of the church.", ["The mill is south of the church."]),
        ("The mill is north of the church.", ["The church is not north of the mill."]),
        ("The mill is north of the church.", ["The church is north of the mill.", "The mill is north of the church."]),
        ("Wait until it is below 50 °C.", ["The lid opens below 50 °C; wait until it is below 50 °C."]),
        ("Stop if the tank is below the mark.", ["The tank is below the mark if the pump runs."]),
        ("Norway lies north of Denmark.", ["Oslo lies in the south of Norway, Skagen in the north of Denmark."]),
    ],
)  # fmt: skip
def test_other_places_are_left_open(claim: str, sentences: Sequence[str]) -> None:
    assert is_side_right(claim, "", sentences) is None


@pytest.mark.parametrize(
    ("claim", "is_right"),
    [
        ("The mill lies due south of the church.", True),
        ("The mill lies due north of the church.", False),
        ("The mill is south-west of the church.", None),
        ("The mill is north-east of the church.", False),
    ],
)
def test_points_between_two_directions_are_compared(claim: str, is_right: bool | None) -> None:
    assert is_side_right(claim, "", ["The church is due north of the mill."]) is is_right
