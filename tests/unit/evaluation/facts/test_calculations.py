"""A figure that stands in no source comes with the calculation that leads to it."""

import pytest
from hypothesis import given, settings

from schemas.grounding import Calculation
from tests.unit.decision.test_reference_list import RENDERED
from tests.unit.evaluation.facts.test_arithmetic import TEXTS
from workers.decision.reader_text.reference_list import format_interactive, format_references
from workers.evaluation.facts.calculation.arithmetic import MAX_INPUTS, derive
from workers.evaluation.facts.calculation.calculations import derived_figures, expression
from workers.evaluation.facts.quantities import read_quantities

COST = Calculation.model_validate(
    {
        "operation": "product",
        "result": "$2,350",
        "expression": "rate usd per hour: 3000 × 47 minutes = $2,350",
        "inputs": [
            {"text": "rate usd per hour: 3000", "number": 2, "chunk_id": "c2", "span": {"start": 0, "end": 23}},
            {"text": "47 minutes", "number": 1, "chunk_id": "c1", "span": {"start": 0, "end": 10}},
        ],
    }
)


@pytest.mark.parametrize(
    ("claim", "evidence", "expected"),
    [
        (
            "The 47 minutes of downtime cost $2,350.",
            ["asset: grinder-5; downtime minutes: 47", "rate usd per hour: 3000"],
            "rate usd per hour: 3000 × downtime minutes: 47 = $2,350",
        ),
        (
            "Grinder 5 was down for 60 minutes in total.",
            ["It was down for 25 minutes on Monday.", "On Tuesday it was down for 35 minutes."],
            "25 minutes + 35 minutes = 60 minutes",
        ),
        ("It lasted 15 minutes longer.", ["The first took 47 minutes.", "The second took 32 minutes."],
         "47 minutes − 32 minutes = 15 minutes"),
        ("The pass rate was 75 %.", ["Of 80 tests 60 tests passed."], "60 tests / 80 tests × 100 % = 75 %"),
        ("Output rose by 50 %.", ["Output was 400 units in March and 600 units in April."],
         "(600 units − 400 units) / 400 units × 100 % = 50 %"),
        ("With the discount it costs $90.", ["The price is $100.", "A discount of 10 % is given."], "$100 × (1 − 10 %) = $90"),
        ("The mean was $300.", ["They cost $200, $300 and $400."], None),
        ("On average they took 40 minutes.", ["They took 20 minutes, 30 minutes and 70 minutes."],
         "(20 minutes + 30 minutes + 70 minutes) / 3 = 40 minutes"),
        ("A year costs $600.", ["The plan costs $50 a month.", "The contract runs for 12 months."], "$50 a month × 12 months = $600"),
        ("Two hours of downtime cost $6,000.", ["Cost rate: $3,000 per hour."], "Cost rate: $3,000 per hour × Two hours = $6,000"),
        ("It has 47 replicas.", ["It has 12 replicas."], None),
        ("It is slow.", ["It took 47 minutes."], None),
    ],
)  # fmt: skip
def test_a_derived_figure_states_its_calculation(claim: str, evidence: list[str], expected: str | None) -> None:
    assert [expression(figure) for figure in derived_figures(claim, evidence)] == ([expected] if expected else [])


def test_each_input_names_the_text_it_stands_in_or_the_claim_itself() -> None:
    (figure,) = derived_figures("Two hours of downtime cost $6,000.", ["It broke.", "Cost rate: $3,000 per hour."])
    assert [(place, number.written) for place, number in figure.inputs] == [
        (1, "Cost rate: $3,000 per hour"),
        (None, "Two hours"),
    ]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(TEXTS, TEXTS)
def test_a_stated_calculation_gives_its_result(claim: str, evidence: str) -> None:
    inputs = read_quantities(evidence)[:MAX_INPUTS]
    for figure in read_quantities(claim):
        derivation = derive(figure, inputs)
        if derivation is None or derivation.operation in ("product", "ratio"):
            continue  # these convert units of time; the table above has them
        values = [inputs[place].values[0] for place in derivation.inputs]
        first, last = values[0], values[-1]
        result = {
            "sum": sum(values),
            "mean": sum(values) / len(values),
            "difference": first - last,
            "share": 100 * first / last if last else None,
            "change": 100 * abs(last - first) / first if first else None,
            "part": first * last / 100,
            "increase": first * (1 + last / 100),
            "decrease": first * (1 - last / 100),
        }[derivation.operation]
        assert any(result == pytest.approx(value, rel=0.03) for value in figure.values)


def test_readers_see_the_calculation_below_the_sources() -> None:
    assert format_references([], calculations=[COST]) == (
        "\n\n## References\n\n"
        "*Calculation*: rate usd per hour: 3000 × 47 minutes = \\$2,350 (from source 1, source 2)\n"
    )
    (shown,) = format_interactive([], calculations=[COST])
    assert (shown["type"], shown["url"], shown["displayText"]) == (
        "calculation",
        None,
        f"Calculation: {COST.expression}",
    )
    assert [each["number"] for each in shown["metadata"]["inputs"]] == [2, 1]


def test_a_calculation_cannot_forge_markdown() -> None:
    hostile = COST.model_copy(update={"expression": "[1](https://bad.example) <b>\n# x × 2 = 3"})
    text = format_references([], calculations=[hostile], style="compact")
    page = RENDERED.render(text)
    assert "<a" not in page and "<b>" not in page and "<h1>" not in page
