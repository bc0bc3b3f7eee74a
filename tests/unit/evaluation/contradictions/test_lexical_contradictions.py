"""Antonyms, comparatives, quantifiers, roles and orders: what excludes what, and what does not."""

import pytest

from workers.evaluation.contradictions.antonyms import without_privative
from workers.evaluation.contradictions.contradiction_checks import compare


@pytest.mark.parametrize(
    ("claim", "evidence", "kind"),
    [
        ("The valve is open.", "The valve is closed.", "antonym"),
        ("Pressure increased after the repair.", "Pressure decreased after the repair.", "antonym"),
        ("Membership is mandatory.", "Membership is optional.", "antonym"),
        ("The compressor is switched on.", "The compressor is switched off.", "antonym"),
        ("Sync is switched on by default.", "Sync is disabled by default.", "antonym"),
        ("The alarm was turned on at night.", "The alarm was deactivated at night.", "antonym"),
        ("The storm will pick up over the hills.", "The storm will weaken over the hills.", "antonym"),
        ("The wind will die down in the afternoon.", "The wind will strengthen in the afternoon.", "antonym"),
        ("The open-air concert took place on Friday.", "The open-air concert was cancelled on Friday.", "antonym"),
        ("The match in Turin was called off.", "The match was held in Turin.", "antonym"),
        ("The council turned down the brewery's offer.", "The council accepted the brewery's offer.", "antonym"),
        ("Rents in the district went up last year.", "Rents in the district fell last year.", "antonym"),
        ("The evening show is available.", "The evening show is sold out.", "antonym"),
        ("The new valve speeds up the flow.", "The new valve slows the flow.", "antonym"),
        ("Employees must use the portal.", "Employees may use the portal but need not.", "antonym"),
        ("Grinder 5 is stopped.", "asset: grinder-5; status: running", "antonym"),
        ("The lid must be removed before cleaning.", "The lid must be removed after cleaning.", "antonym"),
        ("The sensor is calibrated.", "The sensor is uncalibrated.", "negation"),
        ("Demand did not rise in March.", "Demand increased in March.", "negation"),
        ("Grinder 5 is faster than Grinder 3.", "Grinder 5 is slower than Grinder 3.", "comparative"),
        ("Plan A costs more than plan B.", "Plan A costs $10. Plan B costs $20.", "comparative"),
        ("Line 2 made the fewest parts.", "Parts made: line 1 310, line 2 540, line 3 420.", "comparative"),
        ("All nodes were affected.", "Only one of the nodes was affected.", "quantifier"),
        ("None of the nodes was affected.", "Two nodes were affected.", "quantifier"),
        ("Most customers renewed.", "20 % of the customers renewed.", "quantifier"),
        ("The backup always runs at night.", "The backup sometimes runs at night.", "quantifier"),
        ("Only admins can delete projects.", "Any member can delete projects.", "quantifier"),
        ("The kit contains only a hammer.", "The kit contains a hammer, a saw and a file.", "quantifier"),
        ("Contoso sued Northwind.", "Northwind sued Contoso.", "role"),
        ("Service A calls service B before it writes.", "Service B calls service A before it writes.", "role"),
        ("Open the valve, then start the pump.", "Start the pump first, and open the valve afterwards.", "role"),
    ],
)
def test_what_excludes_the_evidence_is_named(claim: str, evidence: str, kind: str) -> None:
    assert kind in compare(claim, evidence)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Demand did not fall in March.", "Demand rose in March."),
        ("Sync is not switched on by default.", "Sync is disabled by default."),
        ("Sync is turned off by default.", "Sync is disabled by default."),
        ("The match took place in Turin.", "The match was held in Turin."),
        ("The blue model is sold out.", "The blue model is unavailable."),
        ("The courier picks up parcels at noon.", "Deliveries ease at noon when the courier picks up parcels."),
        ("The path goes down the hill at noon.", "The path rises to the hill at noon."),
        ("The valve is not open.", "The valve is closed."),
        ("TLS is not supported.", "TLS is unsupported."),
        ("The device works without a network.", "The device does not need a network."),
        ("Prices fell in autumn.", "Prices rose in spring and fell in autumn."),
        ("The lower valve is closed.", "The upper valve is open and the lower valve is closed."),
        ("Route 2 is shorter than route 1.", "Route 1 is longer than route 2."),
        ("The belt is fastened before the engine starts.", "The engine starts after the belt is fastened."),
        ("It lies in New York.", "It lies in the old part of York."),
        ("Plan A costs less than plan B.", "Plan A costs $10. Plan B costs $20."),
        ("Some plans include backups.", "All plans include backups."),
        ("Not all samples were clean.", "Some samples were clean."),
        ("Many pupils passed.", "Most of the pupils passed."),
        ("The red plan is cheap.", "Storage in the cellar is expensive and needs a permit."),
        ("Northwind was sued by Contoso.", "Contoso sued Northwind."),
        ("Anna and Ben visited the plant.", "Ben and Anna visited the plant."),
        ("Add oil, then add salt.", "Add salt to the pot. Add oil, stir, then add salt."),
    ],
)
def test_what_agrees_or_is_said_of_something_else_is_no_opposite(claim: str, evidence: str) -> None:
    assert compare(claim, evidence) == ()


def test_an_opposite_found_as_such_in_other_evidence_is_no_mismatch() -> None:
    claim, evidence = "The gate is open.", "The gate is closed."
    assert compare(claim, evidence) == ("antonym",)
    assert compare(claim, evidence, ["Since noon the gate is open."]) == ()


def test_words_that_only_look_denied_are_not() -> None:
    assert without_privative("uncalibrated") == "calibrated"
    assert without_privative("non-flammable") == "flammable"
    assert without_privative("discover") is None
    assert without_privative("unit") is None
