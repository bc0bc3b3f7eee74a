"""A wrong side of a thing and a wrong limit contradict, also in other languages."""

import pytest

from tests.harness.whole_answers import verdicts_on


@pytest.mark.parametrize(
    ("source", "right", "wrong"),
    [
        (
            "Hand luggage may measure at most 56 x 45 x 25 cm and weigh 10 kg.",
            "It may measure at most 56 x 45 x 25 cm.",
            "It may measure at most 66 x 45 x 25 cm.",
        ),
        (
            "Hand luggage may measure up to 56 x 45 x 25 cm.",
            "Hand luggage of up to 25 x 56 x 45 cm is allowed.",
            "Hand luggage of up to 35 x 56 x 45 cm is allowed.",
        ),
        (
            "The crate must not exceed 80 x 60 x 40 cm.",
            "The crate may be at most 80 cm long.",
            "The crate may be at most 90 cm long.",
        ),
        (
            "Prams up to 100x60x40 cm are carried free of charge.",
            "Prams up to 100 x 60 x 40 cm are free.",
            "Prams up to 120 x 60 x 40 cm are free.",
        ),
        (
            "The photo must be 35 x 45 mm.",
            "The photo must be 35 mm wide and 45 mm high.",
            "The photo must be 35 x 55 mm.",
        ),
        ("The poster measures 50 by 70 cm.", "The poster measures 50 x 70 cm.", "The poster measures 60 x 70 cm."),
        ("The relay is 4 x 100 m.", "The relay is 4 x 100 m.", "The relay is 4 x 150 m."),
        (
            "Das Handgepäck darf höchstens 55 x 40 x 20 cm groß sein.",
            "Das Handgepäck darf höchstens 55 x 40 x 20 cm groß sein.",
            "Das Handgepäck darf höchstens 65 x 40 x 20 cm groß sein.",
        ),
        (
            "Das Paket darf höchstens 10 kg wiegen.",
            "Das Paket darf nicht mehr als 10 kg wiegen.",
            "Das Paket darf höchstens 12 kg wiegen.",
        ),
        (
            "Le colis peut peser jusqu'à 10 kg.",
            "Le colis peut peser jusqu'à 10 kg.",
            "Le colis peut peser jusqu'à 12 kg.",
        ),
        (
            "Los perros de hasta 8 kg pueden viajar.",
            "Los perros de hasta 8 kg pueden viajar.",
            "Los perros de hasta 15 kg pueden viajar.",
        ),
        (
            "Die Reise muss mindestens 14 Tage vorher abgesagt werden.",
            "Die Reise muss mindestens 14 Tage vorher abgesagt werden.",
            "Die Reise muss mindestens 7 Tage vorher abgesagt werden.",
        ),
    ],
)
def test_another_side_or_limit_is_contradicted(source: str, right: str, wrong: str) -> None:
    assert verdicts_on("", source, right) == {"supported"}
    assert verdicts_on("", source, wrong) == {"contradicted"}
