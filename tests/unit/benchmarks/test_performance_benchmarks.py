"""What the benchmarks of performance work out and draw, without what they measure."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from benchmarks.growth import SENTENCES, Size, exponent, made, measure_growth
from benchmarks.pipeline import answer_id_of
from benchmarks.plot import draw, panels, ratios
from schemas.export import example
from schemas.topics import ANSWERS_ENRICHED, ANSWERS_GENERATED, Topic
from workers.evaluation.grounding.grounding_evaluator import checked_claims
from workers.evaluation.grounding.prepared_grounding import prepare_grounding

SVG = "{http://www.w3.org/2000/svg}"
ROOT = Path("/repository")
STEP, EVENT = "/repository/workers/evaluation/claims/claim_extraction.py", "/repository/schemas/answers.py"
PYDANTIC = "/repository/.venv/lib/python3.11/site-packages/pydantic/main.py"
TYPING = "/repository/.venv/lib/python3.11/site-packages/typing_extensions.py"

# ---------------------------------------------------------------- pipeline


@pytest.mark.parametrize("topic", [ANSWERS_GENERATED, ANSWERS_ENRICHED])
def test_an_answer_is_found_by_its_identifier_whatever_the_key_of_its_record(topic: Topic) -> None:
    value = topic.model.model_validate(example(topic.model)).to_bytes()
    assert answer_id_of(SimpleNamespace(key=b'["a","b"]', value=value)) == example(topic.model)["answer_id"]


# ---------------------------------------------------------------- growth


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0])
def test_the_exponent_of_a_power_is_that_power(power: float) -> None:
    sizes = [2**step for step in range(7)]
    assert exponent(sizes, [3.0 * size**power for size in sizes]) == pytest.approx(power, abs=1e-9)


def test_what_small_sizes_cost_anyway_does_not_hide_the_square() -> None:
    sizes = [2**step for step in range(7)]
    costs = [100.0 + size**2 for size in sizes]
    assert exponent(sizes, costs) > 1.5
    # Over all sizes the same costs would look as if they hardly grew.
    assert exponent(sizes[:4], costs[:4]) < 0.6


@pytest.mark.parametrize(("distinct", "units"), [(True, 8 * SENTENCES), (False, SENTENCES)])
def test_answers_have_the_claims_and_the_distinct_evidence_that_they_are_made_with(distinct: bool, units: int) -> None:
    (answer,) = made(Size(chunks=8, claims=16), distinct=distinct, edition=1)
    prepared = prepare_grounding(answer)
    assert len(checked_claims(prepared)) == 16
    assert len({claim.plain for claim in checked_claims(prepared)}) == 16
    assert len(prepared.units) == 8 * SENTENCES
    assert len({unit.text for unit in prepared.units}) == units


def test_distinct_answers_share_no_evidence_and_another_edition_shares_no_text() -> None:
    def texts(distinct: bool, edition: int) -> list[set[str]]:
        prepared = map(prepare_grounding, made(Size(answers=3), distinct=distinct, edition=edition))
        return [{each.plain for each in one.claims} | {unit.text for unit in one.units} for one in prepared]

    first, second, third = texts(True, 1)
    assert not first & second and not second & third and not first & third
    assert texts(False, 1)[0] & texts(False, 1)[1]
    assert not set.union(*texts(True, 1)) & set.union(*texts(True, 2))


def test_two_sizes_are_too_few_for_an_exponent() -> None:
    with pytest.raises(SystemExit, match="three sizes"):
        measure_growth("int8", 2, 1)


# ---------------------------------------------------------------- the plot

DOCUMENTS: list[tuple[str, dict[str, Any]]] = [
    (
        "pipeline",
        {"latency": {name: [{"share": 0.5, "p50": 0.1, "p95": 0.2, "p99": 0.4}] for name in ("repeated", "apart")}},
    ),
    ("seed & others", {"distinct": {"seed": 2.0, "ours": 10.0}, "repeated": {"seed": 3.0, "ours": 30.0}}),
    ("limit", {"tokens_per_second": {"ideal": 18_000.0, "int8": 15_000.0}}),
    (
        "scale",
        {
            "cores": 2,
            "workers": [{"workers": 1, "answers_per_second": 10.0}, {"workers": 2, "answers_per_second": 15.0}],
            "growth": [
                {"along": along, "evidence": evidence, "sizes": [1, 2, 4], "cpu_ms": {"all": [1.0, 2.0, 4.0]},
                 "exponents": {"all": 1.0}}
                for along in ("chunks", "claims") for evidence in ("distinct", "repeated")
            ],
        },
    ),
]  # fmt: skip


def test_the_ratio_to_the_seed_is_ours_over_its() -> None:
    assert ratios(DOCUMENTS[1][1]) == {"distinct": 5.0, "repeated": 10.0}


def test_each_document_gives_its_panels_and_what_is_not_given_is_not_drawn() -> None:
    assert [panel.title for panel in panels(DOCUMENTS)] == [
        "Answers a second, against the baseline detector",
        "Latency by share of the highest rate, repeated",
        "Latency by share of the highest rate, apart",
        "Tokens a second by backend",
        "Answers a second by workers, 2 cores",
        "CPU of judgement by chunks",
        "CPU of judgement by claims",
    ]
    assert len(list(panels(DOCUMENTS[2:3]))) == 1


def test_a_document_of_something_else_is_named() -> None:
    with pytest.raises(SystemExit, match="notes: not written by the benchmarks"):
        list(panels([("notes", {"text": 1})]))


def test_the_plot_is_well_formed_and_the_same_twice(tmp_path: Path) -> None:
    seeds = [DOCUMENTS[1], ("seed <2>", DOCUMENTS[1][1])]
    documents = json.loads(json.dumps([*DOCUMENTS, *seeds[1:]]))
    for name in ("first.svg", "second.svg"):
        draw(list(panels(documents)), tmp_path / name)
    first = (tmp_path / "first.svg").read_bytes()
    picture = ElementTree.fromstring(first)
    assert picture.tag == f"{SVG}svg"
    assert len([group for group in picture.iter(f"{SVG}g") if group.get("id", "").startswith("axes_")]) == 7
    assert first == (tmp_path / "second.svg").read_bytes()
