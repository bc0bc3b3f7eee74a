"""Written scenes of who did what to whom: each claim is as its label says, and nothing but the roles tells it."""

import json
import re
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest

from tests.integration.test_builtin_verifier import SWAPPED
from training import role_words
from training.bias import claim_only_probabilities
from training.pairs import CONTRADICTED, SUPPORTED, UNSUPPORTED, RawPair
from training.roles import kept_apart, role_pairs
from workers.evaluation.metrics import auroc
from workers.steps.verification import WINDOW
from workers.steps.words import content_words

CASES = Path(__file__).parents[1] / "data"
ROLES = ("role_swap", "comparative", "order")


@pytest.fixture(scope="module")
def pairs() -> list[RawPair]:
    return list(role_pairs(1, 640))


def scenes(pairs: list[RawPair]) -> dict[str, list[RawPair]]:
    found: dict[str, list[RawPair]] = defaultdict(list)
    for pair in pairs:
        found[pair.document].append(pair)
    return found


def bag(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text.lower()))


def test_a_seed_decides_on_everything(pairs: list[RawPair]) -> None:
    assert pairs == list(role_pairs(1, 640))
    assert pairs != list(role_pairs(2, 640))
    assert len({pair.id for pair in pairs}) == len(pairs)


def test_what_one_reading_says_the_other_contradicts(pairs: list[RawPair]) -> None:
    for own in scenes(pairs).values():
        first, second = own[:4], own[4:]
        assert [pair.label for pair in first] == [SUPPORTED, CONTRADICTED, SUPPORTED, UNSUPPORTED]
        assert first[0].claim == second[1].claim
        assert first[1].claim == second[0].claim
        assert first[0].contexts == first[3].contexts != second[0].contexts


def test_the_readings_have_the_same_words_but_for_agreement(pairs: list[RawPair]) -> None:
    agreement = {"is", "are", "was", "were"}
    for own in scenes(pairs).values():
        one, other = (bag(pair.contexts[0]) for pair in (own[0], own[4]))
        assert {word for word in one | other if one[word] != other[word]} <= agreement


def test_a_claim_is_not_said_word_by_word_unless_it_is_supported(pairs: list[RawPair]) -> None:
    copied = Counter(pair.label for pair in pairs if pair.claim in pair.contexts[0])
    assert copied[SUPPORTED] > 100, "supported claims are copies at times, as those of answers are"
    assert set(copied) == {SUPPORTED}
    for pair in pairs:
        assert pair.spans == (() if pair.label == SUPPORTED else ((0, len(pair.claim)),))


def test_every_one_of_a_claim_is_in_its_scene(pairs: list[RawPair]) -> None:
    """Else a claim could be known to be wrong by a name that the evidence lacks."""
    nouns = {noun for row in role_words.PEOPLE.values() for noun in row.split("|")}
    nouns |= {noun for row in (role_words.ANIMALS, role_words.EVENTS, role_words.MACHINES) for noun in row.split("|")}
    looked_at = 0
    for pair in pairs:
        for noun in re.findall(r"\b[Tt]he ([a-z]+)", pair.claim):
            if noun in nouns:
                assert f"he {noun}" in pair.contexts[0]
                looked_at += 1
    assert looked_at > len(pairs)


def test_a_claim_alone_tells_nothing(pairs: list[RawPair]) -> None:
    supported = np.array([pair.label == SUPPORTED for pair in pairs])
    guesses = claim_only_probabilities([pair.claim for pair in pairs], supported, [pair.document for pair in pairs])
    assert (auroc(guesses, supported) or 0.0) < 0.55


def test_words_that_are_held_out_are_in_no_scene_of_training(pairs: list[RawPair]) -> None:
    held_out = {
        noun
        for row in (*role_words.PEOPLE.values(), role_words.ANIMALS, role_words.VEHICLES, role_words.EVENTS)
        for noun in kept_apart(row.split("|"), True)
    }
    assert len(held_out) > 40
    said = {True: " ", False: " "}
    for pair in pairs:
        said[pair.held_out] += f"{pair.contexts[0]} {pair.claim} ".lower()
    nouns = {each: set(re.findall(r"\bthe ([a-z]+(?: [a-z]+)?)", said[each])) for each in said}
    assert len(held_out & nouns[True]) > 30
    assert not held_out & nouns[False]
    for shared in (kept_apart(row.split("|"), True) for row in role_words.DOES_TO_PEOPLE.values()):
        assert shared, "of every kind of verbs some are held out"


def test_windows_hold_a_scene_whole(pairs: list[RawPair]) -> None:
    assert max(len(pair.contexts[0]) for pair in pairs) <= WINDOW
    assert {pair.held_out for pair in pairs} == {True, False}
    assert {pair.label for pair in pairs} == {SUPPORTED, CONTRADICTED, UNSUPPORTED}


def test_nothing_of_the_sentences_that_it_is_tested_on_is_in_it(pairs: list[RawPair]) -> None:
    """No two of their content words, verb and noun or two nouns, stand together in a claim or sentence."""
    cases = [
        case
        for name in ("claim_cases.jsonl", "claim_cases_heldout.jsonl")
        for case in map(json.loads, (CASES / name).read_text(encoding="utf-8").splitlines())
        if case["phenomenon"] in ROLES
    ]
    tested = [content_words(text) for case in cases for text in (case["claim"], case["context"])]
    tested += [content_words(text) for case in SWAPPED for text in case]
    assert len(tested) > 50
    made = {sentence for pair in pairs for sentence in (pair.claim, *re.split(r"(?<=\.) ", pair.contexts[0]))}
    for sentence in made:
        own = content_words(sentence)
        assert not any(len(words) > 1 and len(own & words) > min(2, len(words) - 1) for words in tested), sentence
    # The verbs of the three texts of the packaged verifier's tests are in none of the lists.
    verbs = {"sued", "delayed", "praised", "fed", "beat"}
    assert not verbs & {word for sentence in made for word in re.findall(r"\w+", sentence)}
