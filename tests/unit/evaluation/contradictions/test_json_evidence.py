"""Claims against the fields of JSON records."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workers.evaluation.contradictions.json_evidence import RecordVerdict, check_record, read_record

PLACE = {
    "name": "Harbour Grill",
    "address": "12 State Street",
    "attributes": {
        "BusinessParking": {"garage": False, "street": True, "valet": False},
        "RestaurantsTakeOut": True,
        "RestaurantsReservations": False,
        "OutdoorSeating": False,
        "WiFi": "free",
        "Music": None,
        "Ambience": {"romantic": False, "casual": True},
    },
    "hours": {"Monday": "9:0-17:0", "Tuesday": "9:0-17:0", "Wednesday": "9:0-17:0", "Friday": "11:30-22:0"},
}


def verdict(claim: str, *records: object) -> RecordVerdict:
    facts = [read_record(json.dumps(record)) for record in records or (PLACE,)]
    return check_record(claim, [each for each in facts if each is not None])


@pytest.mark.parametrize(
    "claim",
    [
        "It offers take-out.",
        "Takeout is available, and the WiFi is free.",
        "There is street parking.",
        "The restaurant does not accept reservations.",
        "It has no outdoor seating and no garage parking.",
        "Valet parking is not offered.",
        "The place is casual.",
        "It is open from 9 AM to 5 PM on Mondays and Tuesdays.",
        "It is closed on Sundays.",
        "On Friday it opens from 11:30 to 22:00.",
        "It closes at 5 pm on Mondays.",
        "On Fridays it opens at 11:30 am and closes at 10 pm.",
        "On Friday, it stays open until 10 PM.",
        "Wi-Fi is free.",
    ],
)
def test_what_the_fields_say_agrees(claim: str) -> None:
    found = verdict(claim)
    assert found.agreed > 0 and (found.denied, found.unknown) == (0, 0)


@pytest.mark.parametrize(
    "claim",
    [
        "Reservations are accepted.",
        "It has outdoor seating.",
        "It does not offer take-out.",
        "The atmosphere is romantic.",
        "It has valet parking.",
        "It is open seven days a week.",
        "It is open from 9 AM to 6 PM on Mondays.",
        "It is closed on Mondays.",
        "It closes at 10 pm on Mondays.",
        "It opens at 10 am on Mondays.",
        "On Fridays it opens at 11:30 am and closes at 11 pm.",
        "It opens at 7 am.",
        "There is no WiFi.",
    ],
)
def test_what_the_fields_deny_is_denied(claim: str) -> None:
    assert verdict(claim).denied > 0


def test_a_field_without_a_value_supports_nothing() -> None:
    assert verdict("There is live music.") == RecordVerdict(unknown=1)
    assert verdict("It is open every day.", {"name": "Bar", "hours": None}) == RecordVerdict(unknown=1)


@pytest.mark.parametrize(
    "claim",
    ["The record does not say whether there is music.", "There is no information about reservations."],
)
def test_to_say_that_nothing_is_known_is_no_claim_on_a_field(claim: str) -> None:
    assert verdict(claim) == RecordVerdict()


@pytest.mark.parametrize("claim", ["It lies on State Street.", "The soup was good.", "Hours vary by season."])
def test_what_names_no_field_is_not_judged(claim: str) -> None:
    found = verdict(claim)
    assert (found.denied, found.unknown) == (0, 0)


@pytest.mark.parametrize("claim", ["It has free WiFi.", "Wi-Fi is offered."])
def test_a_key_of_two_short_words_is_a_field(claim: str) -> None:
    assert verdict(claim, {"name": "Bar", "WiFi": "no"}).denied == 1
    assert verdict(claim, {"name": "Bar", "WiFi": "free"}) == RecordVerdict(agreed=1)


@pytest.mark.parametrize("claim", ["The happy hour on Mondays starts at 4 pm.", "The kitchen closes soon on Mondays."])
def test_other_times_are_no_opening_hours(claim: str) -> None:
    assert verdict(claim) == RecordVerdict()


def test_one_record_that_agrees_is_enough() -> None:
    other = {"name": "Quay Café", "OutdoorSeating": True}
    assert verdict("It has outdoor seating.", PLACE, other).denied == 0


def test_prose_is_no_record() -> None:
    assert read_record("The grill has outdoor seating.") is None
    assert read_record("[not json") is None


@settings(max_examples=200, deadline=None)
@given(
    st.text(max_size=120),
    st.recursive(
        st.none() | st.booleans() | st.text(max_size=12), lambda c: st.dictionaries(st.text(max_size=12), c, max_size=4)
    ),
)
def test_no_claim_and_no_record_breaks_it(claim: str, value: object) -> None:
    facts = read_record(json.dumps([value]))
    check_record(claim, [facts] if facts else [])


@pytest.mark.parametrize(
    "claim",
    [
        "The happy hours until 7 pm are popular.",
        "The chain opens at 5 new locations.",
        "The gallery opens at 10 Main Street.",
        "Booking opens at 12 euros.",
        "The kitchen closes at 9 pm.",
        "It opens at 99.",
    ],
)
def test_what_only_looks_like_one_end_of_the_hours_denies_nothing(claim: str) -> None:
    assert verdict(claim, {"hours": {"Monday": "9:0-22:0", "Tuesday": "9:0-22:0"}}).denied == 0


@pytest.mark.parametrize("claim", ["It opens at 10.", "It closes at 9 on Mondays.", "The shop is open until 11 pm."])
def test_one_end_of_the_hours_is_held_against_the_record(claim: str) -> None:
    assert verdict(claim, {"hours": {"Monday": "9:0-22:0", "Tuesday": "9:0-22:0"}}).denied == 1


@pytest.mark.parametrize("key", ["to_go", "up_to", "id"])
def test_keys_of_small_words_alone_name_nothing(key: str) -> None:
    assert verdict("The staff is always ready to go the extra mile, up to 5 km.", {key: False}).denied == 0
