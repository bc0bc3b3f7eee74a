"""Two sources conflict only on one attribute of one subject."""

import pytest

from workers.evaluation.grounding.sources.source_conflicts import disagree

TWO_THINGS = [
    ("Ada Lovelace was born in 1815.", "Ada Lovelace died in 1852."),
    ("The library opens at 9 am.", "The library closes at 6 pm."),
    ("The A100 has 80 GB of memory.", "The V100 has 32 GB of memory."),
    ("The northern gate is open to trucks.", "The southern gate is closed to trucks because of works."),
    ("The pump needs 3 litres of oil.", "The housing of the pump needs 5 litres of oil."),
    ("On Sunday 61 mm of rain fell.", "On Monday 18 mm of rain fell."),
    ("In April the shop sold 310 bicycles.", "In October the shop sold 275 bicycles."),
    ("Der Kurs beginnt am Dienstag um 18 Uhr.", "Der Kurs endet am Dienstag um 20 Uhr."),
    ("The limit for guests is 2 GB.", "The limit for members is 50 GB."),
    ("Caching is on by default since version 4.", "In version 3 caching was off by default."),
    ("Le musée ouvre à 10 heures.", "Le musée ferme à 18 heures."),
    ("date: 2026-11-04; asset id: grinder-3; downtime: 12", "date: 2026-11-04; asset id: grinder-5; downtime: 52"),
    ("name: Ann; points: 12", "name: Bob; points: 15"),
    ("Line 4 stops at Castle Street at 8:10.", "At 9:40 the tram of line 7 gets to Castle Street."),
    ("The fee for students is 20 euros.", "The fee for visitors is 35 euros."),
    ("On the first night the fee is 80 euros.", "From the second night on the fee is 60 euros."),
    ("Before the upgrade it took 12 s.", "After the upgrade it took 7 s."),
    ("The max speed of the X20 is 90 km/h.", "With its new engine the X30 gets to 110 km/h at best."),
    ("Margin 1.85 % over 3-month EURIBOR.", "Gross margin 37.4 % (36.1 %)."),
    ("Revenue €48.6m, Q3 2025: €44.1m, growth 10.2 %.", "The outlook for 2026 is unchanged: revenue €190m to €195m."),
    (
        "A planned switchover takes about 20 seconds, an unplanned failover 30 to 60 seconds.",
        "04:39 Patroni promotes orders-db-2; the failover takes 44 seconds.",
    ),
    (
        "Grinder 5: coolant pump pressure fell below 2.1 bar on 2026-10-27, about 40 minutes into the second shift.",
        "date: 2026-11-04; asset id: grinder-5; downtime min: 52; downtime reason: coolant pump pressure low; units good: 1286",
    ),
    (
        "Step 5: Click on the Edge browser entry to reveal Choose an app, and then click Google Chrome to set it as default browser.",
        "To set Mozilla Firefox as your default Windows browser, take the following steps.",
    ),
    (
        "Replace the spindle grease every 2,000 operating hours or every 6 months, whichever comes first.",
        "Guides were greased, not replaced.",
    ),
    (
        "Choose Factory Reset by pressing the Volume button and the Power key.",
        "From the menu choose Recovery Mode by using Volume and Power key.",
    ),
    ("The lowest monthly average temperature in December is 50 degrees.", "The January low is 43."),
    ("Open the drain valve and wait for the tank to empty.", "Open the inlet valve and wait for the tank to fill."),
    ("Clean the filter of the pump with water.", "The belt was cleaned with water, not oiled."),
    ("Install Python for the client.", "Install Java for the client."),
    ("Tighten the cover with the wrench.", "The bearings were tightened with the wrench, not changed."),
    ("In March the hall had 210 visitors.", "The hall counted 340 visitors in August."),
    (
        "To export the list as PDF, open the menu and choose Print.",
        "To export the list as Excel, open the menu and choose Save.",
    ),
    (
        "Press 2: ram guide wear measured at 0.18 mm on 2026-09-17, limit 0.25 mm. Guides were greased, not replaced.",
        "Lining wear 41 mm of 70 mm allowed; the relining is planned for 18 January 2027.",
    ),
]
ONE_THING = [
    ("The library opens at 9 am.", "The library opens at 10 am."),
    ("Ada Lovelace was born in 1815.", "Ada Lovelace was born in 1816."),
    ("The A100 has 80 GB of memory.", "The A100 comes with 40 GB of memory."),
    ("The northern gate is open to trucks.", "The northern gate is closed to trucks because of works."),
    ("The pump needs three litres of oil.", "Five litres of oil go into the pump."),
    ("On Sunday 61 mm of rain fell.", "The station recorded 18 mm of rain on Sunday."),
    ("The meeting is on Tuesday.", "The meeting is on Thursday."),
    ("The contract was signed on 3 May 2024.", "The contract was signed on 5 June 2024."),
    ("The race was won by Cork.", "The race was won by Galway."),
    ("Der Kurs beginnt am Dienstag um 18 Uhr.", "Der Kurs beginnt am Dienstag um 20 Uhr."),
    ("name: Ann; points: 12; team: red", "name: Ann; points: 15; team: blue"),
    ("The option was added in version 4.", "The option was added in version 5."),
    ("The mayor is Eva Brandt.", "The mayor is Otto Stein."),
    ("The tank holds 500 litres.", "The tank contains 600 litres."),
    ("The limit for guests is 2 GB.", "According to the handbook, the limit for guests is 5 GB."),
    ("Smoking is allowed in the yard.", "Smoking is not allowed in the yard."),
    ("Replace the guides every 2,000 hours.", "The guides must not be replaced."),
    (
        "Cook the bratwurst on the grill for 10 to 14 minutes.",
        "Cook the bratwurst on the grill, turning once, 5 to 8 minutes.",
    ),
    (
        "4 Cook bratwurst on preheated grill for 10 to 14 minutes, turning occasionally.",
        "3 Cook the bratwurst on the preheated grill, turning once, 5 to 10 minutes.",
    ),
    ("Keep the door of the oven open.", "Keep the door of the oven closed."),
    ("Open the drain valve before the test.", "Do not open the drain valve before the test."),
    ("Preheat the oven to 350 degrees.", "Preheat your oven to 325 degrees for the roast."),
    ("In March the hall had 210 visitors.", "The hall had 340 visitors in March."),
    ("The guides were greased, not replaced.", "The guides were replaced."),
    ("Step 3: Set the pressure to 4 bar.", "Step 3: Set the pressure to 6 bar."),
    ("The filter was cleaned with water.", "The filter was not cleaned with water."),
]


@pytest.mark.parametrize(("supporting", "contradicting"), TWO_THINGS)
def test_values_of_two_things_do_not_conflict(supporting: str, contradicting: str) -> None:
    assert not disagree(supporting, contradicting)
    assert not disagree(contradicting, supporting)


@pytest.mark.parametrize(("supporting", "contradicting"), ONE_THING)
def test_two_values_of_one_thing_conflict(supporting: str, contradicting: str) -> None:
    assert disagree(supporting, contradicting)
    assert disagree(contradicting, supporting)
