"""The excerpt of a long piece of evidence holds the fact that the claim is held against."""

import pytest

from schemas.answers import GeneratedAnswer
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
    assert excerpt_for(text, claim, 300).rstrip(CUT) == text[:298].strip() or excerpt_for(text, claim, 300) == text


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
