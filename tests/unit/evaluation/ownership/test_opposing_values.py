"""A passage gives another value of a claim only for the claim's subject, attribute and condition."""

import pytest

from workers.evaluation.ownership.opposing_values import gives_other_value

CASES = [
    ("The main beach is guarded from June to August.", "The main beach is not guarded at any time of the year.", True),
    ("The main beach is guarded from June to August.", "The beach behind the lighthouse is not guarded.", False),
    ("Since version 4 compress is on by default.", "In version 4 compress is off by default.", True),
    ("Since version 4 compress is on by default.", "In version 3 compress was off by default.", False),
    ("An hour of tennis in the Rowan hall costs 24 euros.", "In the Rowan hall you pay 29 euros for an hour of tennis.", True),
    ("An hour of tennis in the Rowan hall costs 24 euros.", "In the Rowan hall you pay 15 euros for badminton.", False),
    ("Grenholt Shipping has its headquarters in Esbjerg.", "Grenholt Shipping, which has its headquarters in Bremerhaven, owns ships.", True),
    ("Grenholt Shipping has its headquarters in Esbjerg.", "Grenholt Shipping has its headquarters in Esbjerg and a yard in Kiel.", False),
    ("Lorne Hall has a capacity of 420.", "Lorne Hall has room for 360 people.", True),
    ("Lorne Hall has a capacity of 420.", "Lorne Hall has 12 dressing rooms.", False),
    ("The drill carries a warranty of 36 months.", "The battery of the drill carries a warranty of 12 months.", False),
    ("The A100 has 80 GB of memory.", "The V100 has 32 GB of memory.", False),
    ("Rain on Sunday amounted to 61 mm.", "Rain on Monday amounted to 18 mm.", False),
    ("The festival cost 90,000 euros in 2020.", "The festival cost 70,000 euros in 2019.", False),
    ("Audit logging is enabled by default.", "Audit logging is disabled by default.", True),
    ("Audit logging is enabled by default.", "Debug logging is disabled by default.", False),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "passage", "expected"), CASES)
def test_another_value_is_noticed_for_the_same_subject_alone(claim: str, passage: str, expected: bool) -> None:
    assert gives_other_value(claim, passage) is expected


def test_a_claim_never_opposes_itself() -> None:
    assert not any(gives_other_value(claim, claim) for claim, _, _ in CASES)
