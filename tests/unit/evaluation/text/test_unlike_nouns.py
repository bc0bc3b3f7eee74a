"""Nouns are told apart only where neither may stand for the other."""

import pytest

from workers.evaluation.text.unlike_nouns import are_alike, are_unlike

UNLIKE = [
    "chapel/garden",
    "coffee/tea",
    "oak/pine",
    "violin/piano",
    "brake/engine",
    "elbow/knee",
    "butter/oil",
    "nurses/teachers",
    "lakes/rivers",
    "trams/ferries",
    "sugar/salt",
    "lungs/kidneys",
    "guitar/drum",
    "sheep/goats",
]
ALIKE = [
    "ship/boat",
    "hats/caps",
    "car/vehicles",
    "painting/picture",
    "fridge/refrigerator",
    "prison/jail",
    "wood/timber",
    "cherry/fruit",
    "hand/arm",
    "sofa/couch",
    "doctor/physician",
    "trout/fish",
    "roof/building",
]
UNKNOWN = ["decision/ruling", "driver/suspect", "rise/increase", "approach/method", "zorble/garden", "victim/neighbour"]


@pytest.mark.parametrize("pair", UNLIKE)
def test_things_of_different_kinds_are_unlike(pair: str) -> None:
    one, two = pair.split("/")
    assert are_unlike(one, two) and are_unlike(two, one)
    assert not are_alike(one, two)


@pytest.mark.parametrize("pair", ALIKE)
def test_synonyms_broader_nouns_and_parts_are_alike(pair: str) -> None:
    one, two = pair.split("/")
    assert are_alike(one, two) and are_alike(two, one)
    assert not are_unlike(one, two)


@pytest.mark.parametrize("pair", UNKNOWN)
def test_abstract_nouns_roles_of_people_and_unknown_words_are_unlike_none(pair: str) -> None:
    assert not are_unlike(*pair.split("/"))
