from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.grounding import GroundingFindings, Verdict
from workers.evaluation.grounding.attribution import MAX_CITED, MAX_PAIRS, MAX_SOURCES, Attribution, attribute
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.grounding.sources.evidence import EvidenceUnit
from workers.evaluation.thresholds import GroundingThresholds
from workers.inference.backends import SentenceTransformerBackend


@dataclass(frozen=True)
class Said:
    """What a source says, in place of the judgement itself."""

    score: float
    verdict: Verdict
    unit: int | None = 0
    similarity: float = 0.5


YES, BETTER, NO, AGAINST = (
    Said(0.8, "supported"),
    Said(0.9, "supported"),
    Said(0.3, "unsupported"),
    Said(0.1, "contradicted"),
)


def attributed(said: Mapping[int, Said], cited: Sequence[int] = (), whole: Said | None = None) -> Attribution:
    """One claim over sources of one unit each."""
    numbers = sorted(said)
    units = [EvidenceUnit(number, f"c{number}", 0, 1, f"Text {number}.", frozenset("x")) for number in numbers]
    best = max(range(len(numbers)), key=lambda index: said[numbers[index]].score)
    together = whole or Said(said[numbers[best]].score, said[numbers[best]].verdict, best)
    similarity = np.full((1, len(units)), 0.5, dtype=np.float32)
    return attribute(
        ["Claim."], [cited], [together], units, similarity, lambda _, indices: [said[units[indices[0]].number]]
    )[0]


def test_the_best_source_is_primary_and_the_others_redundant() -> None:
    found = attributed({1: YES, 2: BETTER, 3: NO})
    assert (found.primary, found.redundant) == (2, (1,))
    assert [source.number for source in found.sources] == [2, 1, 3]


def test_of_equal_sources_the_cited_one_is_primary() -> None:
    assert attributed({1: YES, 2: YES}, cited=[2]).primary == 2
    assert attributed({1: YES, 2: YES}).primary == 1


def test_a_supported_claim_without_citation_is_proposed_its_primary_source() -> None:
    assert attributed({1: NO, 2: YES}).proposed == (2,)
    assert attributed({1: NO, 2: YES}, cited=[2]).proposed == ()
    assert attributed({1: NO, 2: NO}).proposed == ()


def test_a_citation_that_does_not_support_its_claim_is_flagged_with_the_better_source() -> None:
    found = attributed({1: NO, 2: YES}, cited=[1])
    assert (found.cited_unsupported, found.better, found.proposed) == ((1,), 2, (2,))
    alone = attributed({1: NO, 2: NO}, cited=[1])
    assert (alone.cited_unsupported, alone.better) == ((1,), None)


def test_beside_a_sound_citation_no_better_source_is_named() -> None:
    found = attributed({1: NO, 2: YES, 3: BETTER}, cited=[1, 2])
    assert (found.cited_unsupported, found.better) == ((1,), None)


def test_a_cited_context_without_any_text_supports_nothing() -> None:
    assert attributed({1: YES, 2: NO}, cited=[3]).cited_unsupported == (3,)


def test_sources_that_disagree_are_named() -> None:
    found = attributed({1: YES, 2: AGAINST})
    assert found.conflict is not None
    assert [source.number for source in found.conflict] == [1, 2]
    assert attributed({1: NO, 2: AGAINST}).conflict is None


def test_what_sources_support_only_together_rests_on_the_best_evidence() -> None:
    together = Said(0.85, "supported", unit=1)
    assert attributed({1: NO, 2: NO}, whole=together).proposed == (2,)
    assert attributed({1: NO, 2: NO}, cited=[2], whole=together).cited_unsupported == ()


def test_without_evidence_every_citation_is_unsupported() -> None:
    found = attribute(["Claim."], [[1]], [NO], [], np.zeros((1, 0), dtype=np.float32), lambda *_: [NO])
    assert found == [Attribution(cited_unsupported=(1,))]


def test_a_source_is_read_once_for_all_claims_that_are_held_against_it() -> None:
    units = [EvidenceUnit(number, f"c{number}", 0, 1, "x", frozenset("x")) for number in (1, 1, 2, 3)]
    asked: list[tuple[list[int], list[int]]] = []

    def judge(claims: Sequence[int], indices: Sequence[int]) -> list[Said]:
        asked.append((list(claims), list(indices)))
        # Each claim is supported by the source of its own number.
        return [YES if claim + 1 == units[indices[0]].number else NO for claim in claims]

    similarity = np.full((3, 4), 0.5, dtype=np.float32)
    found = attribute(["Claim."] * 3, [[], [3], []], [YES, NO, NO], units, similarity, judge)
    assert asked == [([0, 1, 2], [0, 1]), ([0, 1, 2], [2]), ([0, 1, 2], [3])]
    assert [each.primary for each in found] == [1, 2, 3]
    assert [each.cited_unsupported for each in found] == [(), (3,), ()]


def test_claims_beyond_what_is_judged_are_not_attributed_and_those_before_are() -> None:
    sources = MAX_SOURCES + MAX_CITED
    units = [EvidenceUnit(number, f"c{number}", 0, 1, "x", frozenset("x")) for number in range(1, sources + 1)]
    claims = MAX_PAIRS // sources + 5
    similarity = np.full((claims, sources), 0.5, dtype=np.float32)
    judged: list[int] = []

    def judge(asked: Sequence[int], indices: Sequence[int]) -> list[Said]:
        judged.extend(asked)
        return [YES] * len(asked)

    cited = [list(range(1, MAX_CITED + 1))] * claims
    found = attribute(["Claim."] * claims, cited, [YES] * claims, units, similarity, judge)
    assert len(judged) <= MAX_PAIRS
    assert [each == Attribution() for each in found] == [claim >= MAX_PAIRS // sources for claim in range(claims)]


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(st.integers(1, 9), st.sampled_from([YES, BETTER, NO, AGAINST]), min_size=1, max_size=9),
    st.lists(st.integers(1, 9), unique=True, max_size=4).map(sorted),
)
def test_what_is_said_of_sources_agrees(said: dict[int, Said], cited: list[int]) -> None:
    found = attributed(said, cited)
    supporting = {source.number for source in found.sources if source.verdict == "supported"}
    assert set(found.redundant) | ({found.primary} - {None}) == supporting
    assert set(found.cited_unsupported) <= set(cited)
    assert set(found.proposed) <= supporting - set(cited)
    assert not set(found.cited_unsupported) & supporting
    assert (found.better is None) or (found.better in supporting and found.cited_unsupported)


def judged(text: str, *contents: str) -> GroundingFindings:
    answer = GeneratedAnswer(
        answer_id="a1",
        answer=text,
        contexts=[ContextChunk(chunk_id=f"c{n}", content=content) for n, content in enumerate(contents, 1)],
        completed_at=datetime(2026, 11, 2, tzinfo=UTC),
    )
    return evaluate_grounding(prepare_grounding(answer), GroundingThresholds())


LOKI = "Loki restarts because the ingester exceeds its memory limit of 2 GiB."
PUMP = "The pump of line 4 is serviced every March by the night shift."


@pytest.fixture(scope="module")
def wrongly_cited(backend: SentenceTransformerBackend) -> GroundingFindings:
    return judged(f"{LOKI[:-1]} [2].", LOKI, PUMP)


def test_a_report_names_the_passage_with_its_place(wrongly_cited: GroundingFindings) -> None:
    claim = wrongly_cited.claims[0]
    assert (claim.cited_numbers, claim.cited_unsupported, claim.better_number) == ([2], [2], 1)
    best = claim.sources[0]
    assert (best.number, LOKI[best.span.start : best.span.end], best.verdict) == (1, LOKI, "supported")


def test_the_evidence_of_a_supported_claim_is_that_of_its_primary_source() -> None:
    # The nearest sentence of both sources is in the second, which says of the two something else.
    found = judged(
        "The main difference between tartrate and succinate is the duration of action in the body.",
        "Medication duration: Succinate is the long acting form of metoprolol, tartrate is the shorter acting form.",
        "The key difference between tartrate and succinate is that succinate is derived from the succinic acid and tartrate is derived from the tartaric acid.",
    )
    (claim,) = found.claims
    assert claim.evidence is not None
    assert claim.verdict == "supported"
    assert claim.evidence.number == claim.primary_number == claim.sources[0].number


def test_sources_that_contradict_each_other_are_reported_with_both_passages(
    backend: SentenceTransformerBackend,
) -> None:
    other = LOKI.replace("2 GiB", "8 GiB")
    found = judged(LOKI, LOKI, other)
    assert [(c.supporting.excerpt, c.contradicting.excerpt) for c in found.conflicts] == [(LOKI, other)]
    assert found.conflicts[0].claim_id == found.claims[0].claim_id


def test_an_uncited_claim_is_proposed_its_source() -> None:
    assert [claim.proposed_numbers for claim in judged(LOKI, PUMP, LOKI).claims] == [[2]]
