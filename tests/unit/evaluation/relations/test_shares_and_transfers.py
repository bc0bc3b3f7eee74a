"""A share of them is not all of them, who gets a thing does not give it, and what may be done need not be."""

import pytest

from tests.harness.whole_answers import verdicts_on


@pytest.mark.parametrize(
    ("context", "right", "wrong"),
    [
        ("The hall has 40 desks. Some of them have a lamp for reading at night.", "Some of the 40 desks have a lamp for reading.", "All 40 desks have a lamp for reading."),
        ("The garden holds 80 kinds of fern, most of which grow nowhere else.", "Most of the ferns grow nowhere else.", "None of the ferns grows anywhere else."),
        ("The library owns 90 maps, several of which were drawn by hand.", "Several of the maps were drawn by hand.", "All of the maps were drawn by hand."),
        ("The camp has 25 tents. Two of them are heated in winter.", "Two of the tents are heated in winter.", "All the tents are heated in winter."),
        ("The camp has 25 tents. Two of them are heated in winter. All tents have a wooden floor.", "All the tents have a wooden floor.", "No tents are heated in winter."),
        ("The hotel has 30 rooms. Half of them face the sea. They are cleaned daily.", "All 30 rooms are cleaned daily.", "All 30 rooms face the sea."),
        ("Ten volunteers took part. Five of them were given a placebo.", "Five volunteers were given a placebo.", "All volunteers were given a placebo."),
        ("Ten volunteers took part. None of them fell ill. Two of them left early.", "None of the volunteers fell ill.", "None of the volunteers left early."),
        ("The firm has 12 vans, some of which run on gas.", "Some vans run on gas.", "Each van runs on gas."),
        ("The valley has 14 villages. Several of them are without a shop.", "Several villages are without a shop.", "All 14 villages are without a shop."),
        ("We offer nine courses, two of which are held in Spanish.", "Two of the courses are held in Spanish.", "Every course is held in Spanish."),
        ("The fleet counts 50 trams. Many of them have air conditioning.", "Many of the trams have air conditioning.", "All trams have air conditioning."),
        ("The fleet counts 50 trams. Many of them have air conditioning. The depot lies in Nord.", "Many trams are air-conditioned.", "None of the trams has air conditioning."),
        ("Six players were tested. One of them had a broken finger.", "One of the players had a broken finger.", "All the players had a broken finger."),
        ("The park has 200 oaks, some of which are older than the town.", "Some of the oaks are older than the town.", "Every oak is older than the town."),
        ("The store sells 60 cheeses. Most of them come from the region. No cheese contains additives.", "No cheese contains additives.", "All cheeses come from the region."),
        ("Guests register at the desk. They may deposit their valuables in the hotel safe.", "Guests may deposit their valuables in the hotel safe.", "Guests must place their valuables in the hotel safe."),
        ("Pupils eat at noon. They may bring their own lunch to the canteen.", "Pupils may bring their own lunch to the canteen.", "Pupils have to take their own lunch to the canteen."),
        ("Employees may use the gym in the basement at lunchtime.", "Employees may use the gym in the basement.", "Employees have to visit the gym in the basement."),
        ("Tenants may keep small pets in their flats.", "Tenants may keep small pets in their flats.", "Tenants must keep small pets in their flats."),
        ("Participants may record the lecture with their phones. They must ask the speaker first.", "Participants may record the lecture.", "Participants must record the lecture on their phones."),
    ],
)  # fmt: skip
def test_all_over_some_of_them_and_a_duty_over_a_choice_are_flagged(context: str, right: str, wrong: str) -> None:
    assert verdicts_on("", context, right) == {"supported"}
    assert verdicts_on("", context, wrong) & {"unsupported", "contradicted"}


@pytest.mark.parametrize(
    ("context", "right", "wrong"),
    [
        ("A complaint that the shop cannot settle within a week is forwarded to the head office, which writes to the customer.", "The shop forwards the complaint to the head office.", "The head office forwards the complaint to the shop."),
        ("Samples are sent by the ward to the laboratory twice a day.", "The ward sends samples to the laboratory twice a day.", "The laboratory sends samples to the ward twice a day."),
        ("The tenant hands the keys over to the caretaker on the last day.", "The tenant hands the keys over to the caretaker on the last day.", "The caretaker hands the keys over to the tenant on the last day."),
        ("The nurse reports the result to the doctor on duty.", "The nurse reports the result to the doctor on duty.", "The doctor on duty reports the result to the nurse."),
        ("Unsolved cases are escalated by the first level to the second level within an hour.", "The first level escalates unsolved cases to the second level.", "The second level escalates unsolved cases to the first level."),
        ("The deposit is paid by the tenant to the landlord before moving in.", "The tenant pays the deposit to the landlord.", "The landlord pays the deposit to the tenant."),
        ("The inspector sends the report to the owner within two weeks.", "The inspector sends the report to the owner within two weeks.", "The owner sends the report to the inspector within two weeks."),
        ("Returned goods are forwarded by the branch to the central depot.", "The branch forwards returned goods to the central depot.", "The central depot forwards returned goods to the branch."),
        ("The foundation gives the grant to the university, which pays the students.", "The foundation gives the grant to the university.", "The university gives the grant to the foundation."),
        ("The buyer returns the signed form to the seller.", "The buyer returns the signed form to the seller.", "The seller returns the signed form to the buyer."),
        ("Lost luggage is handed over to the airline after five days by the airport.", "After five days the airport hands lost luggage over to the airline.", "After five days the airline hands lost luggage over to the airport."),
        ("The warden reports faults to the town hall. From there they are passed to a contractor.", "The warden reports faults to the town hall.", "The town hall reports faults to the warden."),
        ("The secretary submits the minutes to the board.", "The secretary submits the minutes to the board.", "The board submits the minutes to the secretary."),
    ],
)  # fmt: skip
def test_the_receiver_as_giver_is_contradicted(context: str, right: str, wrong: str) -> None:
    assert verdicts_on("", context, right) == {"supported"}
    assert "contradicted" in verdicts_on("", context, wrong)


@pytest.mark.parametrize(
    ("context", "claim"),
    [
        ("The hotel has 30 rooms. Half of them face the sea. Breakfast is served in every room.", "In every room breakfast is served."),
        ("The hall has 40 desks. Some of them, marked in blue, have a lamp.", "All desks that are marked in blue have a lamp."),
        ("The museum lent the painting to the gallery in Vik. The gallery returned it to the museum in May.", "The gallery returned the painting to the museum in May."),
        ("The clerk passes the form on to the manager. The manager passes it back to the clerk after signing.", "The manager passes the form back to the clerk."),
        ("The park has 200 oaks, some of which are older than the town. All are protected by law.", "All oaks are protected by law."),
        ("The school bought 30 tablets. Three of them were stolen, and all of them are insured.", "All the tablets are insured."),
        ("The course has 20 places. Half of them are reserved for members. Every place costs 40 euros.", "Every place costs 40 euros."),
        ("The pupil presents the project to the class. The class presents its ideas to the pupil.", "The class presents its ideas to the pupil."),
        ("The host hands the parcel to the guest, and the guest hands a receipt to the host.", "The guest hands a receipt to the host."),
        ("The team moved from the annex to the main building in June.", "The team moved to the main building in June."),
        ("Dogs may enter the park on a short lead.", "Dogs must be on a short lead to enter the park."),
        ("Dogs may enter the park on a short lead.", "Dogs have to wear a short lead in the park."),
        ("Visitors may leave bags in the lockers. Large bags must be left in the lockers.", "Visitors must leave large bags in the lockers."),
        ("Readers may borrow five books at a time. Borrowed books must be returned within four weeks.", "Borrowed books have to be returned within four weeks."),
    ],
)  # fmt: skip
def test_what_other_words_limit_or_say_of_all_is_supported(context: str, claim: str) -> None:
    assert verdicts_on("", context, claim) == {"supported"}
