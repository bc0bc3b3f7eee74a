"""What the verifier learns from: pairs that are right, windows that serving would choose, nothing told by the claim."""

import json
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.answers import ContextChunk, GeneratedAnswer
from training.answers import marked_in
from training.bias import claim_only_probabilities, weights
from training.generated import generated, made_wrong, paraphrased, with_addition
from training.pairs import CONTRADICTED, SUPPORTED, UNSUPPORTED, Pair, RawPair, read_pairs, write_pairs
from training.prepare import balanced
from training.records import written_records
from training.windows import windowed
from workers.evaluation.grounding.grounding_evaluator import checked_claims, similarities
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.grounding.sources.verifier_evidence import CLAIM, verifier_pairs
from workers.measurement.classification_metrics import auroc

REPORT = (
    "In March 2024, the harbour authority of Port Ellery closed 12 berths for repairs. "
    "The northern quay (built in 1931) was declared unsafe by the inspector. "
    "Most fishing boats moved to Carrow, which increased traffic there. "
    "Ferries to Lindow Island started again on Monday after a pause of nine days. "
    "Repairs cost 4,500,000 pounds and were paid by the county. "
    "Mayor Ashford thanked Harbour Master Quill for the plan."
)
OTHER = "The kiln was heated slowly, because sudden heat cracks the glaze of thin bowls. Wood ash was added to the mix."


def answer_with(text: str, *contents: str) -> GeneratedAnswer:
    contexts = [ContextChunk(chunk_id=str(number), content=each) for number, each in enumerate(contents, 1)]
    return GeneratedAnswer(
        answer_id="a", query="?", answer=text, contexts=contexts, completed_at=datetime(2026, 3, 1, tzinfo=UTC)
    )


def test_pairs_come_back_from_their_file(tmp_path: Path) -> None:
    pairs = [
        Pair("a-1", "a", "d", "evidence", "claim", SUPPORTED, False, spans=()),
        Pair("a-2", "a", "d", "ünïcode", "claim", UNSUPPORTED, True, spans=((0, 3), (4, 5)), weight=0.5),
        Pair("a-3", "a", "d", "", "claim", CONTRADICTED, True),
    ]
    write_pairs(tmp_path / "new" / "pairs.jsonl.gz", pairs)
    assert list(read_pairs(tmp_path / "new" / "pairs.jsonl.gz")) == pairs


def test_from_one_sentence_come_claims_as_alike_as_can_be() -> None:
    made = list(generated("made", [(REPORT,), (OTHER,)], seed=3, limit=100))
    assert {pair.label for pair in made} == {SUPPORTED, CONTRADICTED, UNSUPPORTED}
    for pair in made:
        assert pair.spans is not None
        assert all(0 <= start < end <= len(pair.claim) for start, end in pair.spans)
        assert bool(pair.spans) == (pair.label != SUPPORTED)
        if pair.id.endswith("-gone"):
            twin = next(each for each in made if each.id == pair.id.replace("-gone", "-s"))
            assert twin.claim == pair.claim
            assert twin.contexts != pair.contexts
    assert made == list(generated("made", [(REPORT,), (OTHER,)], seed=3, limit=100)), "a seed decides on everything"


@pytest.mark.parametrize("seed", range(40))
def test_what_is_made_wrong_is_marked_and_nothing_else_is(seed: int) -> None:
    rng = random.Random(seed)
    for sentence in REPORT.split(". "):
        claim = sentence.rstrip(".") + "."
        changed = made_wrong(claim, REPORT, rng)
        assert changed is not None
        assert changed.text != claim
        ((start, end),) = changed.spans
        assert changed.text[:start] == claim[:start]
        assert claim.endswith(changed.text[end:])


@pytest.mark.parametrize(
    ("claim", "swapped"),
    [
        ("In 2019 the firm Norwell acquired Tarbury for cash.", "In 2019 the firm Tarbury acquired Norwell for cash."),
        ("Norwell acquired the mill of Tarbury.", "Tarbury acquired the mill of Norwell."),
        ("The surgeon informed the visitor in the evening.", "The visitor informed the surgeon in the evening."),
        ("Later the surgeon was informed by a visitor.", "Later the visitor was informed by a surgeon."),
    ],
)
def test_names_and_nouns_around_a_verb_change_places(claim: str, swapped: str) -> None:
    made = {changed.text for seed in range(60) if (changed := made_wrong(claim, claim, random.Random(seed)))}
    assert swapped in made


@pytest.mark.parametrize(
    "claim",
    [
        "It was near Norwell and Tarbury.",
        "They spoke of Norwell in Tarbury.",
        "They visited Norwell, Tarbury and Selby.",
        "This arrived by way of Norwell.",
        "The surgeon informed the local press.",
    ],
)
def test_names_and_nouns_stay_where_that_might_say_the_same_or_nothing(claim: str) -> None:
    made = [changed.how for seed in range(60) if (changed := made_wrong(claim, claim, random.Random(seed)))]
    assert "roles" not in made


def test_an_addition_is_of_another_document() -> None:
    rng = random.Random(1)
    claim = "Repairs were paid by the county."
    added = with_addition(claim, ["The kiln was heated slowly because sudden heat cracks thin bowls."], REPORT, rng)
    assert added is not None
    ((start, end),) = added.spans
    assert added.text[start:end].strip(" ,.") not in REPORT
    assert added.text[:start] == claim[:-1]


def test_a_paraphrase_keeps_numbers_and_names() -> None:
    for seed in range(30):
        text = paraphrased("In March 2024, the harbour of Port Ellery also closed 12 berths.", "", random.Random(seed))
        assert all(detail in text for detail in ("March 2024", "Port Ellery", "12"))
        assert paraphrased("They sailed to Carrow.", "", random.Random(seed)) == "They sailed to Carrow."


def test_written_records_say_what_their_labels_claim() -> None:
    looked_at = 0
    for pair in written_records(5, 200):
        record: dict[str, Any] = json.loads(pair.contexts[0])
        attributes = record["attributes"]
        is_single = " and " not in pair.claim
        if is_single and pair.claim.endswith((" takes reservations.", " does not take reservations.")):
            value = attributes.get("RestaurantsReservations", attributes.get("takes_reservations"))
            so = str(value) == str("not" not in pair.claim)
            assert pair.label == (UNSUPPORTED if value is None else SUPPORTED if so else CONTRADICTED)
            looked_at += 1
        if is_single and "is rated" in pair.claim:
            stars = float(pair.claim.split("is rated ")[1].split(" ")[0])
            assert (pair.label == SUPPORTED) == (stars == record["business_stars"])
            looked_at += 1
        assert bool(pair.spans) == (pair.label != SUPPORTED)
    assert looked_at > 10


def test_a_mark_in_an_answer_is_found_in_the_plain_text_of_its_claim() -> None:
    text = "The **north quay** has 12 berths [1]."
    (claim,) = checked_claims(prepare_grounding(answer_with(text, REPORT)))
    assert claim.plain == "The north quay has 12 berths."
    (number,) = marked_in(text, claim, [(text.index("12"), text.index("12") + 9)])
    assert claim.plain[slice(*number)] == "12 berths"
    assert marked_in(text, claim, [(0, 14)]) == ((0, len(claim.plain)),), "not found, so all of it is marked"
    assert marked_in(text, claim, [(len(text), len(text) + 9)]) == ()


def test_training_reads_the_window_that_serving_reads() -> None:
    text = "The county paid 4,500,000 pounds for repairs. It was thanked by Mayor Ashford."
    contexts = (f"{REPORT} {OTHER}", OTHER)
    prepared = prepare_grounding(answer_with(text, *contexts))
    claims = checked_claims(prepared)
    served = verifier_pairs(claims, prepared.units, *similarities(claims, prepared.units))
    raw = [
        RawPair(str(n), "s", contexts, each.plain, SUPPORTED, False, each.antecedent) for n, each in enumerate(claims)
    ]
    assert any(pair.antecedent for pair in raw)
    trained = list(windowed(raw))
    assert [(pair.evidence, pair.claim) for pair in trained] == [(pair.evidence, pair.claim) for pair in served]


def test_marks_move_with_what_a_claim_leans_on() -> None:
    raw = RawPair("1", "s", (REPORT,), "It has 12 berths.", UNSUPPORTED, False, "The quay is old. " * 30, ((7, 9),))
    (pair,) = windowed([raw])
    assert pair.spans is not None
    ((start, end),) = pair.spans
    assert len(pair.claim) == CLAIM
    assert pair.claim[start:end] == "12"


@given(st.integers(2, 40), st.integers(2, 40), st.integers(2, 30))
def test_a_balanced_set_has_as_many_of_either_verdict(right: int, wrong: int, most: int) -> None:
    raw = [
        RawPair(str(number), "s", ("c",), "claim", SUPPORTED if number < right else UNSUPPORTED, False)
        for number in range(right + wrong)
    ]
    chosen = balanced(raw, most, random.Random(0))
    assert len(chosen) == 2 * min(right, wrong, most // 2)
    assert sum(pair.label == SUPPORTED for pair in chosen) * 2 == len(chosen)


def test_weights_take_from_a_claim_what_it_gives_away() -> None:
    """ "not" stands in most wrong claims: a model of the claims alone sees it, and under the weights it does not."""
    rng = random.Random(2)
    claims, labels = [], []
    for _ in range(600):
        supported = rng.random() < 0.5
        denied = rng.random() < (0.2 if supported else 0.8)
        claims.append(f"The {rng.choice(['quay', 'ferry', 'kiln'])} is {'not ' if denied else ''}open.")
        labels.append(supported)
    supported_claims = np.array(labels)
    guesses = claim_only_probabilities(claims, supported_claims, [str(number // 2) for number in range(600)])
    own = weights(guesses, supported_claims)
    assert (auroc(guesses, supported_claims) or 0.0) > 0.75
    denied_share = [
        float(
            own[(supported_claims == each) & np.array(["not" in claim for claim in claims])].sum()
            / own[supported_claims == each].sum()
        )
        for each in (True, False)
    ]
    assert abs(denied_share[0] - denied_share[1]) < 0.05


def test_a_claim_that_gives_nothing_away_keeps_its_weight() -> None:
    claims = [f"The quay number {number} is open." for number in range(200)]
    labels = np.array([number % 2 == 0 for number in range(200)])
    guesses = claim_only_probabilities(claims, labels, [str(number) for number in range(200)])
    assert np.ptp(weights(1.0 - labels, labels)) == 0.0
    assert weights(guesses, labels).mean() == pytest.approx(1.0)
