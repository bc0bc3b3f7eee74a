"""Which units of evidence the meaning of a claim is compared with."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from schemas.answers import ContextChunk, GeneratedAnswer
from workers.evaluation.claims.claim_extraction import ExtractedClaim
from workers.evaluation.grounding.evidence import UNCOMPARED, EvidenceUnit, collect_evidence
from workers.evaluation.grounding.evidence_prefilter import PROMISING, select_evidence
from workers.evaluation.grounding.grounding_evaluator import (
    checked_claims,
    evaluate_grounding,
    prepare_grounding,
    score_with_rules,
    similarities,
)
from workers.evaluation.grounding.verifier_evidence import verifier_pairs
from workers.evaluation.text.words import content_words
from workers.evaluation.thresholds import GroundingThresholds

VALVES = (
    "The relief valve opens at nine bar. "
    "The drain valve stays closed during operation. "
    "The relief valve was replaced in spring. "
    "The paint is grey. "
    "The relief line leads to the roof. "
    "The gauge shows the pressure in bar."
)
CLAIM = "The relief valve opens at nine bar."
WORDS = ("rotor", "bearing", "cover", "seal", "pump", "valve", "shaft", "hose")


def units_of(*sources: str) -> tuple[EvidenceUnit, ...]:
    chunks = [ContextChunk(chunk_id=str(number), content=source) for number, source in enumerate(sources, 1)]
    return collect_evidence(chunks, frozenset())


def chosen_texts(claim: str, *sources: str) -> list[str]:
    units = units_of(*sources)
    (row,) = select_evidence([content_words(claim)], units)
    return [unit.text for unit, is_chosen in zip(units, row, strict=True) if is_chosen]


def test_the_units_with_most_of_the_words_come_into_question_and_of_equals_the_first() -> None:
    assert chosen_texts(CLAIM, VALVES) == [
        "The relief valve opens at nine bar.",
        "The drain valve stays closed during operation.",
        "The relief valve was replaced in spring.",
    ]


def test_every_source_has_units_of_its_own() -> None:
    other = "Nobody was hurt. The hall was empty. Doors were open. The alarm rang twice."
    assert chosen_texts(CLAIM, other, VALVES) == [*chosen_texts(CLAIM, other), *chosen_texts(CLAIM, VALVES)]


def test_a_source_without_any_of_the_words_is_compared_as_a_whole() -> None:
    """A paraphrase through and through shares none."""
    assert chosen_texts("Physicians advise rest.", VALVES) == [unit.text for unit in units_of(VALVES)]


def test_a_source_with_few_of_the_words_is_compared_as_a_whole() -> None:
    """One stray word in common must not hide the sentence that says it in other words."""
    source = (
        "Opening hours are listed below. The roof is green. Parking is free of charge. "
        "After surgery, doctors recommend staying in bed. For patients the car park has two places."
    )
    claim = "Physicians advise patients to rest following an operation."
    assert chosen_texts(claim, source) == [unit.text for unit in units_of(source)]


def test_fields_of_a_record_need_not_share_more_than_one() -> None:
    record = '{"name": "Pump 4", "pressure": "nine bar", "colour": "grey", "site": "roof", "built": "spring"}'
    assert "site: roof" not in chosen_texts("Its pressure is high.", record)


def test_a_text_with_a_table_in_it_is_read_as_a_text_is() -> None:
    source = (
        "| part | state |\n|---|---|\n| roof | green |\n| car park | for patients |\n\n"
        "Opening hours are listed below. After surgery, doctors recommend staying in bed."
    )
    claim = "Physicians advise patients to rest following an operation."
    assert units_of(source)[0].of_record
    assert chosen_texts(claim, source) == [unit.text for unit in units_of(source)]


def test_sentences_of_a_field_whose_escapes_hide_their_places_are_chosen_among_as_others_are() -> None:
    sentences = [f"Part {number} was checked on day {number}." for number in range(1, 21)]
    chosen = chosen_texts("Part 7 was checked on day 7.", json.dumps({"id": 7, "body": "\n".join(sentences)}))
    assert len(chosen) < 8
    assert "Part 7 was checked on day 7." in " ".join(chosen)


def test_a_short_source_is_compared_as_a_whole() -> None:
    short = "The paint is grey. The relief valve opens at nine bar. Doors were open."
    assert len(units_of(short)) == PROMISING
    assert chosen_texts(CLAIM, short) == [unit.text for unit in units_of(short)]


def test_the_whole_of_a_record_comes_into_question_beside_its_fields() -> None:
    record = '{"name": "Pump 4", "pressure": "nine bar", "colour": "grey", "site": "roof", "built": "spring"}'
    units = units_of(record)
    whole = max(units, key=lambda unit: unit.end - unit.start)
    chosen = chosen_texts("It holds nine bar of pressure.", record)
    assert whole.text in chosen
    assert PROMISING <= len(chosen) - 1 < len(units) - 1


Sources = st.lists(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), min_size=1, max_size=7), min_size=1, max_size=4
)
Claims = st.lists(st.frozensets(st.sampled_from(WORDS), max_size=4), min_size=1, max_size=5)


def written(sources: Sequence[Sequence[Sequence[str]]]) -> tuple[EvidenceUnit, ...]:
    return units_of(*(" ".join(f"The {' '.join(words)} turned." for words in source) for source in sources))


@given(Sources, Claims, Claims)
def test_neither_a_further_source_nor_a_further_claim_takes_a_unit_away(
    sources: list[list[list[str]]], claims: list[frozenset[str]], further: list[frozenset[str]]
) -> None:
    units, before = written(sources), written(sources[:-1])
    alone, together = select_evidence(claims, units), select_evidence([*claims, *further], units)
    assert np.array_equal(together[: len(claims)], alone)
    assert np.array_equal(alone[:, : len(before)], select_evidence(claims, before))


@given(Sources, Claims)
def test_every_claim_has_a_unit_of_every_source_and_never_fewer_than_are_asked(
    sources: list[list[list[str]]], claims: list[frozenset[str]]
) -> None:
    units = written(sources)
    chosen = select_evidence(claims, units)
    numbers = np.array([unit.number for unit in units])
    for number in set(numbers.tolist()):
        of_source = chosen[:, numbers == number]
        assert (of_source.sum(axis=1) >= min(PROMISING, of_source.shape[1])).all()


# ---------------------------------------------------------------- in the step


def answer(text: str, *sources: str) -> GeneratedAnswer:
    return GeneratedAnswer(
        answer_id="a", query="What does the manual say?", answer=text, model={"id": "m"},
        contexts=[ContextChunk(chunk_id=str(number), content=source) for number, source in enumerate(sources, 1)],
        completed_at=datetime(2026, 1, 1, tzinfo=UTC),
    )  # fmt: skip


def vector_of(text: str) -> NDArray[np.float32]:
    vector = np.random.default_rng(sum(map(ord, text))).standard_normal(32).astype(np.float32)
    return vector / np.linalg.norm(vector)


def test_what_does_not_come_into_question_is_not_embedded() -> None:
    prepared = prepare_grounding(answer(CLAIM, VALVES))
    assert set(prepared.texts) == {CLAIM, *chosen_texts(CLAIM, VALVES)}
    vectors = {text: vector_of(text) for text in prepared.texts}
    alone, leaning = similarities(checked_claims(prepared), prepared.units, vectors)
    missing = [unit.text not in vectors for unit in prepared.units]
    assert sum(missing) == 3
    for matrix in (alone, leaning):
        assert np.array_equal(matrix[0] == UNCOMPARED, missing)
    findings = evaluate_grounding(prepared, vectors, GroundingThresholds())
    assert findings.claims[0].evidence is not None
    assert findings.claims[0].evidence.excerpt == CLAIM
    assert findings.claims[0].evidence.similarity == pytest.approx(1.0)


def test_the_words_of_what_is_not_embedded_are_known_all_the_same() -> None:
    claim = "The grey relief valve opens at nine bar."
    scores = []
    for source in (VALVES, VALVES.replace("The paint is grey.", "The paint is blue.")):
        prepared = prepare_grounding(answer(claim, source))
        assert not [text for text in prepared.texts if text.startswith("The paint")]
        vectors = {text: vector_of(text) for text in prepared.texts}
        scores.append(evaluate_grounding(prepared, vectors, GroundingThresholds()).claims[0].score or 0.0)
    assert scores[0] > scores[1]


@pytest.mark.parametrize("opposite", [False, True])
def test_a_claim_rests_on_no_unit_that_it_was_not_compared_with(*, opposite: bool) -> None:
    """Also where all that it was compared with is as unlike as can be and others have more of its rare words."""
    prepared = prepare_grounding(answer(CLAIM, VALVES))
    claim = vector_of(CLAIM)
    vectors = {text: claim if text == CLAIM else -claim if opposite else vector_of(text) for text in prepared.texts}
    (measured,) = score_with_rules(prepared, vectors).measured
    assert measured.compared
    assert {prepared.units[place].text for place in measured.compared} <= set(prepared.texts)
    assert -1.0 <= measured.similarity <= measured.best <= 1.0 + 1e-6


def test_a_verifier_reads_a_unit_that_was_not_compared_for_words_that_the_others_lack() -> None:
    units = units_of(VALVES)
    claims = [ExtractedClaim(0, len(CLAIM), CLAIM, "The relief valve opens at nine bar beside grey paint.", "factual")]
    close = np.full((1, len(units)), UNCOMPARED, dtype=np.float32)
    close[0, :3] = 0.5
    (pair,) = verifier_pairs(claims, units, close, close)
    assert "The paint is grey." in pair.evidence


def test_a_claim_is_not_compared_with_what_is_embedded_for_another() -> None:
    """Otherwise a further claim could bring evidence to one that has little, and lower the risk."""
    other = "The paint is grey and the gauge shows the pressure in bar."
    prepared = prepare_grounding(answer(f"{CLAIM} {other}", VALVES))
    alone, _ = similarities(
        checked_claims(prepared), prepared.units, {text: vector_of(text) for text in prepared.texts}
    )
    places = [unit.text for unit in prepared.units]
    assert alone[0, places.index("The paint is grey.")] == UNCOMPARED
    assert alone[1, places.index("The paint is grey.")] > UNCOMPARED


def test_a_missing_vector_of_a_unit_that_comes_into_question_is_an_error() -> None:
    prepared = prepare_grounding(answer(CLAIM, VALVES))
    vectors = {text: vector_of(text) for text in prepared.texts if not text.startswith("The drain")}
    with pytest.raises(KeyError, match="The drain"):
        evaluate_grounding(prepared, vectors, GroundingThresholds())
