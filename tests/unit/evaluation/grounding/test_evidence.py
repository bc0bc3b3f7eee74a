"""Check how evidence is ranked for a claim: by words, independently of other claims and sources."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.answers import ContextChunk
from workers.evaluation.clauses import clause_reader
from workers.evaluation.clauses.clause_reader import read_clauses, read_together
from workers.evaluation.grounding.sources.evidence import TOP, EvidenceUnit, collect_evidence, nearest, word_cosines
from workers.evaluation.text.words import content_words

WORDS = ("rotor", "bearing", "cover", "seal", "pump", "valve", "shaft", "hose", "47", "12")
Texts = st.lists(st.frozensets(st.sampled_from(WORDS), max_size=6), min_size=1, max_size=6)


def units_of(*sources: str) -> tuple[EvidenceUnit, ...]:
    chunks = [ContextChunk(chunk_id=str(number), content=source) for number, source in enumerate(sources, 1)]
    return collect_evidence(chunks, frozenset())


def best_texts(claim: str, *sources: str) -> list[str]:
    units = units_of(*sources)
    claims, words = [content_words(claim)], [unit.words for unit in units]
    (row,) = nearest(word_cosines(claims, words), claims, words)
    return [units[place].text for place in row.tolist()]


@given(Texts, Texts, Texts)
def test_a_further_claim_or_source_changes_no_cosine(
    claims: list[frozenset[str]], units: list[frozenset[str]], further: list[frozenset[str]]
) -> None:
    alone = word_cosines(claims, units)
    assert np.array_equal(word_cosines([*claims, *further], units)[: len(claims)], alone)
    assert np.array_equal(word_cosines(claims, [*units, *further])[:, : len(units)], alone)
    assert alone.shape == (len(claims), len(units))
    assert ((alone >= 0.0) & (alone <= 1.0)).all()


@given(Texts, Texts, Texts)
def test_a_further_claim_changes_no_choice_of_units(
    claims: list[frozenset[str]], units: list[frozenset[str]], further: list[frozenset[str]]
) -> None:
    chosen = nearest(word_cosines(claims, units), claims, units)
    together = [*claims, *further]
    assert np.array_equal(nearest(word_cosines(together, units), together, units)[: len(claims)], chosen)
    assert chosen.shape == (len(claims), min(TOP, len(units)))
    assert all(len(set(row)) == len(row) for row in chosen.tolist())


def test_the_same_words_have_the_cosine_1_and_other_words_0() -> None:
    claim = content_words("The relief valve opens at nine bar.")
    same, other = word_cosines([claim], [claim, content_words("The paint is grey.")])[0]
    assert same == pytest.approx(1.0)
    assert other == 0.0


def test_figures_are_alike_though_they_differ_so_that_parts_of_a_sum_are_near() -> None:
    claim = content_words("Together they are worth 300.")
    with_figure, without = word_cosines([claim], [content_words("total: 120"), content_words("state: open")])[0]
    assert with_figure > without == 0.0


def test_the_next_unit_has_the_words_that_the_first_lacks() -> None:
    source = (
        "The relief valve of the pump opens at nine bar. The relief valve of the pump opens. "
        "The relief valve of the pump is new. The cover is grey."
    )
    chosen = best_texts("The relief valve of the pump opens at nine bar and the cover is grey.", source)
    assert chosen[:2] == ["The relief valve of the pump opens at nine bar.", "The cover is grey."]


def test_a_unit_is_not_preferred_for_being_short() -> None:
    claim = frozenset(f"own{number}" for number in range(6))
    short = frozenset({"own0"})
    long = frozenset({"own1", "own2", *(f"other{number}" for number in range(18))})
    (row,) = nearest(word_cosines([claim], [short, long]), [claim], [short, long])
    assert row.tolist() == [1, 0]


def test_sentences_parsed_together_have_the_clauses_of_each_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["Lena Vogt founded Norex.", "It has 40 employees.", "The hall was closed, because it rained.", ""]
    monkeypatch.setattr(clause_reader, "_KEPT", {})
    alone = {}
    for text in texts:
        alone[text] = read_clauses(text)
        clause_reader._KEPT.clear()
    assert read_together(texts) == alone
    assert alone["Lena Vogt founded Norex."] and alone[""] == ()


def test_clauses_of_the_texts_that_were_read_last_are_kept_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clause_reader, "_KEPT", {})
    monkeypatch.setattr(clause_reader, "KEPT_TEXTS", 2)
    for text in ("It rains.", "It snows.", "It rains.", "It hails."):
        read_clauses(text)
    assert list(clause_reader._KEPT) == ["It rains.", "It hails."]
