"""Pairs about whose a value is: marked in evidence and claim, balanced, and readable by the model."""

import random
from collections import Counter

import torch

from training.marking import SUBJECT, VALUE, mark, ownerships
from training.model import encode, padded
from training.ownership import write_ownership
from training.ownership_model import OwnershipReader, own_probabilities
from training.ownership_texts import ownership_of_texts
from training.pairs import Pair

ANN_AND_BOB = ["Ann was born in 1815.", "Bob was born in 1791."]


def pairs(count: int, *, held_out: bool = False) -> list[Pair]:
    return list(write_ownership(count, 1, held_out=held_out))


def test_each_written_pair_has_both_markers_in_evidence_and_claim() -> None:
    for pair in pairs(400):
        assert SUBJECT in pair.evidence.lower()
        assert VALUE in pair.evidence.lower()
        assert SUBJECT in pair.claim.lower()
        assert VALUE in pair.claim.lower()


def test_about_half_of_the_written_pairs_are_supported() -> None:
    labels = Counter(pair.is_supported for pair in pairs(2_000))
    assert 0.4 < labels[True] / labels.total() < 0.6


def test_a_claim_alone_does_not_tell_the_verdict() -> None:
    by_claim: dict[str, set[bool]] = {}
    for pair in pairs(4_000):
        by_claim.setdefault(pair.claim, set()).add(pair.is_supported)
    assert sum(len(verdicts) == 2 for verdicts in by_claim.values()) > 0.8 * len(by_claim)


def test_relations_that_are_kept_back_are_not_trained_on() -> None:
    trained = {pair.claim for pair in pairs(4_000)}
    kept = [pair.claim for pair in pairs(400, held_out=True)]
    # Some relations share a wording ("costs"), no more.
    assert sum(claim in trained for claim in kept) < 0.25 * len(kept)


def test_the_same_seed_writes_the_same_pairs() -> None:
    assert pairs(50) == pairs(50)


def test_subject_and_value_are_marked_in_claim_and_evidence() -> None:
    pair = mark("Bob was born in 1815.", "Bob", "1815", ANN_AND_BOB)
    assert pair is not None
    assert pair.claim == "alpha was born in omega."
    assert pair.evidence == "Ann was born in omega. alpha was born in 1791."


def test_a_figure_is_not_marked_within_another() -> None:
    assert mark("Bob has 18.", "Bob", "18", ANN_AND_BOB) is None


def test_the_sentence_before_a_pronoun_is_shown() -> None:
    sentences = ["Bob Lind painted.", "He was born in 1815.", "Rain fell."]
    pair = mark("Bob Lind was born in 1815.", "Bob Lind", "1815", sentences)
    assert pair is not None
    assert pair.evidence == "alpha painted. He was born in omega."


def test_other_values_of_a_kind_compete_with_that_of_the_claim() -> None:
    (found,) = ownerships("Bob was born in 1815.", "", ANN_AND_BOB)
    assert found.stated.evidence == "Ann was born in omega. alpha was born in 1791."
    assert [rival.evidence for rival in found.rivals] == ["alpha was born in omega."]
    assert found.rivals[0].claim == found.stated.claim


def test_a_figure_with_another_unit_does_not_compete() -> None:
    assert ownerships("The tower is 40 m tall.", "", ["The tower is 40 m tall.", "The hall has 12 doors."]) == []


def test_pairs_from_texts_exchange_subject_or_value_within_the_document() -> None:
    text = "Norex bought a mill in 1997. Veltra opened a plant in 2004. Brunn closed its office in 2011."
    made = list(ownership_of_texts([text], random.Random(1)))
    assert {pair.is_supported for pair in made} == {True, False}
    for pair in made:
        assert SUBJECT in pair.claim
        assert VALUE in pair.evidence


def test_the_model_reads_only_the_marked_places_of_a_pair_whatever_its_padding() -> None:
    torch.manual_seed(1)
    model = OwnershipReader()
    some = pairs(6)
    together = own_probabilities(model, some)
    alone = [own_probabilities(model, [pair])[0] for pair in some]
    assert together.shape == (6,)
    assert abs(together - alone).max() < 1e-4
    ids, mask, types, _ = padded(encode(some))
    assert model(ids, mask, types).shape == (6, 2)
