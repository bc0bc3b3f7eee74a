"""The excerpt of a long piece of evidence holds the fact that the claim is held against."""

from collections.abc import Callable

import pytest

from schemas.answers import GeneratedAnswer
from workers.evaluation.grounding import claim_findings
from workers.evaluation.grounding.claim_findings import MAX_EXCERPT
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.grounding.sources.excerpts import CUT, excerpt_for
from workers.evaluation.thresholds import GroundingThresholds

FILLER = "was designed in a workshop with partners from the region and tested under the most different conditions"
FACT = "weighs 47 kg"
PLACES = {
    "end": f"The device, which {', '.join([FILLER] * 4)}, {FACT}.",
    "middle": f"The device, which {', '.join([FILLER] * 3)}, {FACT} and {', '.join([FILLER] * 3)}.",
    "start": f"The device {FACT} and {', '.join([FILLER] * 4)}.",
}


@pytest.mark.parametrize("limit", [60, 200, 300])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("figure", ["47", "470"])
def test_the_fact_stands_in_the_excerpt_wherever_it_is(place: str, figure: str, limit: int) -> None:
    text = PLACES[place]
    found = excerpt_for(text, f"The device weighs {figure} kg.", limit)
    assert FACT in found
    assert len(found) <= limit
    assert found.strip(CUT) in text
    assert (found[0] == CUT, found[-1] == CUT) == (not text.startswith(found[:20]), not text.endswith(found[-20:]))


@pytest.mark.parametrize(
    ("text", "claim"),
    [("Short.", "Anything."), ("x" * 300, "Anything."), ("", ""), (" ".join(["word"] * 200), "Nothing of it.")],
)
def test_without_a_fact_the_excerpt_is_the_start(text: str, claim: str) -> None:
    found = excerpt_for(text, claim, 300).rstrip(CUT)
    assert text.startswith(found)
    assert len(found) >= min(len(text), 290)


@pytest.mark.parametrize("text", ["保証期間は" * 80 + "24か月です。", "7 " * 500, "\U0001f469\u200d\U0001f52c" * 200])
def test_any_text_keeps_within_the_limit(text: str) -> None:
    assert len(excerpt_for(text, "保証期間は24か月です。7", 200)) <= 200


@pytest.mark.parametrize("place", PLACES)
def test_a_report_shows_the_figure_that_a_claim_contradicts(place: str) -> None:
    answer = GeneratedAnswer.model_validate({
        "answer_id": "a", "query": "How heavy is the device?", "answer": "The device weighs 470 kg.",
        "contexts": [{"chunk_id": "c", "content": PLACES[place]}], "completed_at": "2026-11-02T00:00:00Z",
    })  # fmt: skip
    (claim,) = evaluate_grounding(prepare_grounding(answer), GroundingThresholds()).claims
    assert claim.verdict == "contradicted"
    assert claim.evidence is not None
    assert "47 kg" in claim.evidence.excerpt
    assert len(claim.evidence.excerpt) <= MAX_EXCERPT


RECORD = (
    "journal: je-2026-10-3377; entity: UK02; posting date: 2026-10-31; debit account: 6420 consulting; credit account: 2100 accrued"
    " liabilities; amount: 186500.0; currency: GBP; prepared by role: senior accountant; approved by role: group controller; status: posted"
)


@pytest.mark.parametrize(
    ("claim", "fields"),
    [
        (
            "The treasurer approved it on 31 October.",
            ["posting date: 2026-10-31;", "approved by role: group controller;"],
        ),
        ("It is an accrual of £186,500 for consulting in UK02.", ["entity: UK02;", "amount: 186500.0;"]),
        (
            "The senior accountant prepared the journal, which is posted.",
            ["prepared by role: senior accountant;", "status: posted"],
        ),
    ],
)
def test_a_record_is_cut_between_its_fields(claim: str, fields: list[str]) -> None:
    found = excerpt_for(RECORD, claim, 200, of_record=True)
    assert len(found) <= 200
    shown = [f"{field};" for part in found.split(CUT) for field in part.strip(" ;").split("; ") if field]
    assert {field.rstrip(";") + ";" for field in fields} <= set(shown)
    assert set(shown) <= {f"{field};" for field in RECORD.split("; ")}


def test_a_text_is_cut_between_its_words() -> None:
    found = excerpt_for(PLACES["middle"], "The device weighs 47 kg.", 200)
    assert set(found.strip(CUT).split()) <= set(PLACES["middle"].split())


@pytest.mark.parametrize("size", [40, 80])
def test_passages_that_are_read_for_quotations_grow_with_the_claims_and_not_with_their_product(
    monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    # Half of the sentences have the figure "7", which is missing in the sentence that supports a claim.
    source = [f"Part {100 + each} weighs {1000 + each} grams. Hall 7 has part {100 + each}." for each in range(size)]
    sentences = [f"Part {100 + each} of hall 7 weighs {1000 + each} grams." for each in range(size)]
    answer = GeneratedAnswer.model_validate({
        "answer_id": "a", "query": "What do the parts weigh?", "answer": " ".join(sentences),
        "contexts": [{"chunk_id": "c", "content": " ".join(source)}], "completed_at": "2026-11-02T00:00:00Z",
    })  # fmt: skip
    read: list[str] = []

    def counted(function: Callable[..., frozenset[str]]) -> Callable[..., frozenset[str]]:
        def count(*texts: str) -> frozenset[str]:
            read.append(texts[-1])
            return function(*texts)

        return count

    monkeypatch.setattr(claim_findings, "figures_of", counted(claim_findings.figures_of))
    monkeypatch.setattr(claim_findings, "taken", counted(claim_findings.taken))
    claims = evaluate_grounding(prepare_grounding(answer), GroundingThresholds()).claims
    assert [claim.verdict for claim in claims] == ["supported"] * size
    assert len(read) <= 2 * size + size * (3 + claim_findings.MAX_CANDIDATES)
