"""A reason or step of which nothing stands in the evidence has no support."""

import pytest

from tests.harness.whole_answers import verdicts_on
from workers.evaluation.clauses.kinds.made_up_parts import has_made_up_part
from workers.evaluation.text.words import content_words

BRIDGE = "The bridge over the Sarn was closed on Tuesday evening. No reason was given."
POOL = "The swimming pool is closed on 4 and 5 May. The sauna stays open."
TANK = "To drain the tank, open the valve at the bottom. Then tilt the machine forwards."
HEADSET = "To pair the headset, hold the power key for five seconds."


@pytest.mark.parametrize(
    ("context", "right", "wrong"),
    [
        (POOL, "The swimming pool is closed on 4 and 5 May.", "The swimming pool is closed on 4 and 5 May because the heating system has failed."),
        (BRIDGE, "The bridge was closed on Tuesday evening.", "The bridge was closed on Tuesday evening because of cracks in a pillar."),
        ("The minister resigned on Friday. He had been criticised for months.", "The minister resigned on Friday.", "The minister resigned on Friday due to serious health trouble."),
        ("Train 14 to Vik was cancelled on Sunday. Passengers took a later train.", "Train 14 to Vik was cancelled on Sunday.", "Train 14 to Vik was cancelled on Sunday owing to a strike by signal staff."),
        ("A storm hit the coast on Sunday night. Train 14 to Vik was cancelled.", "Train 14 to Vik was cancelled because of the storm.", "Train 14 to Vik was cancelled owing to missing crew members."),
        ("Sales of the X2 rose by 12 percent in March. The price was unchanged.", "Sales of the X2 rose by 12 percent in March.", "Sales of the X2 rose by 12 percent in March because of a television campaign."),
        ("The clinic moved to Hafen Street in 2019. Parking is free.", "The clinic moved to Hafen Street in 2019.", "The clinic moved to Hafen Street in 2019 because its former premises were too small."),
        (TANK, "Open the valve at the bottom, then tilt the machine forwards.", "Disconnect the mains cable first, then open the valve at the bottom and tilt the machine forwards."),
        (TANK, "Open the valve at the bottom, then tilt the machine forwards.", "Open the valve at the bottom, tilt the machine forwards and then rinse everything with hot vinegar."),
        (HEADSET, "Keep the power key pressed for five seconds to pair the headset.", "Delete all previous Bluetooth connections first, then hold the power key for five seconds."),
    ],
)  # fmt: skip
def test_a_made_up_reason_or_step_is_unsupported(context: str, right: str, wrong: str) -> None:
    assert verdicts_on("", context, right) == {"supported"}
    assert verdicts_on("", context, wrong) == {"unsupported"}


@pytest.mark.parametrize(
    ("sentences", "claim"),
    [
        (["The bridge was closed on Tuesday because cracks had been found in a pillar."], "The bridge was closed on Tuesday because of damage to its supports."),
        (["The lamp may not be used outdoors: it is not waterproof."], "The lamp may not be used outdoors because rain would harm it."),
        (["Cracks in a pillar led to the closure of the bridge on Tuesday."], "The bridge saw its closure on Tuesday because of structural damage."),
        (["The old rooms had become too small.", "The clinic moved to Hafen Street in 2019."], "The clinic moved to Hafen Street in 2019 because the old rooms were too small."),
        (["The road is closed.", "This is due to flooding."], "The road is closed because of high water levels."),
        (["Sprinkle the dough with flour.", "Knead it for ten minutes."], "Dust the dough first, then knead it for ten minutes."),
        (["The committee met and voted.", "The plan was adopted."], "The delegates argued bitterly first, then the committee voted."),
    ],
)  # fmt: skip
def test_causes_in_other_words_and_reports_are_left_open(sentences: list[str], claim: str) -> None:
    assert not has_made_up_part(claim, "", sentences, map(content_words, sentences))
