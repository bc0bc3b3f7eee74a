"""Check that what the evidence sets aside is not taken for what it affirms."""

import pytest

from tests.harness.whole_answers import verdicts_on

FLAGGED = {"contradicted", "unsupported"}


@pytest.mark.parametrize(
    ("question", "context", "right", "wrong"),
    [
        ("", "Steel instead of wood was used for the bridge.", "The bridge is built of steel.", "The bridge is built of wood."),
        ("What is the bridge made of?", "Steel instead of wood was used for the bridge.", "Steel was used.", "Wood was used for the bridge."),
        ("", "The builders used steel instead of wood for the bridge.", "The builders used steel for the bridge.", "The builders used wood for the bridge."),
        ("", "The committee met on Tuesday instead of Monday in March.", "The committee met on Tuesday in March.", "The committee met on Monday in March."),
        ("", "The firm chose Poland rather than Hungary for its new plant.", "The firm chose Poland for its new plant.", "The firm chose Hungary for its new plant."),
        ("", "Use oil instead of butter for the dough.", "Use oil for the dough.", "Use butter for the dough."),
        ("", "The clinic offers online instead of printed forms to its patients.", "The clinic offers online forms to its patients.", "The clinic offers printed forms to its patients."),
        ("", "Payment by card rather than in cash is required at the counter.", "Payment by card is required at the counter.", "Payment in cash is required at the counter."),
        ("", "Rice instead of wheat was planted in the valley.", "Rice was planted in the valley.", "Wheat was planted in the valley."),
        ("", "The city bought trams rather than buses with the grant.", "The city bought trams with the grant.", "The city bought buses with the grant."),
        ("", "Not Monday but Tuesday is the day of the meeting.", "Tuesday is the day of the meeting.", "Monday is the day of the meeting."),
        ("", "The airport train, not the bus, stops at the terminal.", "The airport train stops at the terminal.", "The bus stops at the terminal."),
    ],
)  # fmt: skip
def test_alternatives_of_the_evidence_are_kept(question: str, context: str, right: str, wrong: str) -> None:
    assert not verdicts_on(question, context, right) & FLAGGED
    assert verdicts_on(question, context, wrong) & FLAGGED


@pytest.mark.parametrize(
    ("question", "context", "right", "wrong"),
    [
        ("", "Cork rather than foam was chosen for the insulation.", "Cork was chosen for the insulation.", "Foam was chosen for the insulation."),
        ("", "Gas instead of coal is burnt in the plant.", "Gas is burnt in the plant.", "Coal is burnt in the plant."),
        ("", "The museum uses audio guides instead of leaflets in all rooms.", "The museum uses audio guides in all rooms.", "The museum uses leaflets in all rooms."),
        ("", "They appointed Ms Reed rather than Mr Cole to the board.", "They appointed Ms Reed to the board.", "They appointed Mr Cole to the board."),
        ("", "Tiles instead of slate were laid on the roof.", "Tiles were laid on the roof.", "Slate was laid on the roof."),
        ("", "The recipe calls for honey instead of sugar in the glaze.", "The glaze has honey in it.", "The recipe calls for sugar in the glaze."),
        ("", "Interviews were held by phone instead of in person during the winter.", "Interviews were held by phone during the winter.", "Interviews were held in person during the winter."),
        ("", "Paper rather than plastic will be used for the bags.", "Paper will be used for the bags.", "Plastic will be used for the bags."),
    ],
)  # fmt: skip
def test_further_alternatives_are_kept(question: str, context: str, right: str, wrong: str) -> None:
    assert not verdicts_on(question, context, right) & FLAGGED
    assert verdicts_on(question, context, wrong) & FLAGGED


@pytest.mark.parametrize(
    ("question", "context", "claim"),
    [

    ],
)  # fmt: skip
def test_right_statements_beside_alternatives_are_not_flagged(question: str, context: str, claim: str) -> None:
    assert not verdicts_on(question, context, claim) & FLAGGED
