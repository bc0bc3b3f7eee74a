"""Claims that the rules were not written for, compared with their contexts by the exact checks alone.

``tests/data/claim_cases_heldout.jsonl`` has the format of ``claim_cases.jsonl``. There is no model
here: the unit of evidence with the most words in common stands first, as it nearly always does with
one. Measured are contradictions that are noticed and false alarms on claims that the context supports.
"""

import json
from typing import Any

import pytest

from tests.harness.paths import DATA
from workers.evaluation.contradictions.contradiction_checks import compare
from workers.evaluation.facts.evidence_units import segment_source
from workers.evaluation.grounding.sources.evidence import TOP
from workers.evaluation.text.words import content_words

CASES: list[dict[str, Any]] = [
    json.loads(line) for line in (DATA / "claim_cases_heldout.jsonl").read_text("utf-8").splitlines()
]
NOTICED = 0.9
"""Share of contradictions that must be noticed."""


def mismatches(case: dict[str, Any]) -> tuple[str, ...]:
    words = content_words(case["claim"])
    texts = [unit.text for unit in segment_source(case["context"])]
    texts.sort(key=lambda text: -len(words & content_words(text)))
    return compare(case["claim"], texts[0], texts[1:TOP])


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["verdict"] != "contradicted"], ids=lambda case: case["id"]
)
def test_a_claim_that_is_not_contradicted_raises_no_alarm(case: dict[str, Any]) -> None:
    assert mismatches(case) == (), case["reason"]


def test_nearly_all_contradictions_are_noticed() -> None:
    contradicted = [case for case in CASES if case["verdict"] == "contradicted"]
    missed = [case["id"] for case in contradicted if not mismatches(case)]
    assert len(contradicted) >= 70
    assert len(missed) <= (1.0 - NOTICED) * len(contradicted), missed
