"""Signs, letters of scale and numbers in words are read as people write them, and range, bytes and names stay apart."""

from datetime import UTC, datetime
from functools import partial

import pytest

from schemas.answers import ContextChunk, GeneratedAnswer
from tests.harness.linear_time import check_linear, repeated
from workers.evaluation.facts.quantities import read_quantities
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding, prepare_grounding
from workers.evaluation.thresholds import GroundingThresholds

DONE = datetime(2026, 11, 2, tzinfo=UTC)


def verdicts(claim: str, source: str) -> list[str]:
    context = ContextChunk(chunk_id="c", content=source, source_type="document")
    answer = GeneratedAnswer(answer_id="a", answer=claim, contexts=[context], completed_at=DONE)
    found = evaluate_grounding(prepare_grounding(answer), GroundingThresholds())
    return [claim.verdict for claim in found.claims]


@pytest.mark.parametrize(
    ("text", "values", "dimension"),
    [
        ("It raised $1.5B.", (1.5e9,), "usd"),
        ("It is worth $2.8T.", (2.8e12,), "usd"),
        ("It costs €3b a year.", (3e9,), "eur"),
        ("4.5B USD", (4.5e9,), "usd"),
        ("70B parameters", (70e9,), "noun:paramet"),
        ("revenue of 1.2B", (1.2e9,), ""),
        ("The file has 512B.", (512.0,), "bytes"),
        ("a 64B packet", (64.0,), "bytes"),
        ("12T of cargo", (12e6,), "gram"),
        ("a 5T crane", (5e6,), "gram"),
        ("5 GB of memory", (5e9,), "bytes"),
        ("twenty-one days", (21 * 86400.0,), "time"),
        ("thirty-one percent", (31.0,), "percent"),
        ("a hundred and twenty-one people", (121.0,), "noun:person"),
        ("a thousand and one nights", (1001.0,), "noun:night"),
        ("one million customers", (1e6,), "noun:custom"),
        ("one thousand euros", (1000.0,), "eur"),
        ("one hundred people", (100.0,), "noun:person"),
        ("minus 5 °C", (-5.0,), "celsius"),
        ("minus two degrees", (-2.0,), "degree"),
        ("It is –5 °C.", (-5.0,), "celsius"),
        ("It is −5 °C.", (-5.0,), "celsius"),
        ("(–5 %)", (-5.0,), "percent"),
        ("| –5 % |", (-5.0,), "percent"),
        ("a change of -$50.00", (-50.0,), "usd"),
        ("a change of minus $50", (-50.0,), "usd"),
    ],
)
def test_a_figure_is_read_with_its_sign_and_scale(text: str, values: tuple[float, ...], dimension: str) -> None:
    assert [(each.values, each.dimension) for each in read_quantities(text)] == [(values, dimension)]


@pytest.mark.parametrize(
    ("text", "faces"),
    [
        *(("from 3–5 days", [3, 5]), ("from 3 –5 days", [3, 5]), ("3 – 5 days", [3, 5]), ("$3–$5", [3, 5])),
        *(
            ("10 minus 5 is", [10, 5]),
            ("ten minus two", [10, 2]),
            ("from 5 °C –10 °C", [5, 10]),
            ("on May 3–5 at", [5]),
        ),
        *(("twenty one-bedroom flats", [20]), ("one of the thousand islands", []), ("– 5 apples", [5])),
    ],
)
def test_a_dash_behind_a_figure_is_no_sign(text: str, faces: list[float]) -> None:
    assert sorted(each.face for each in read_quantities(text)) == sorted(faces)


@pytest.mark.parametrize(
    ("source", "right", "wrong"),
    [
        ("The fund raised 1.5 billion dollars.", "The fund raised $1.5B.", "The fund raised $2.5B."),
        ("The company is worth $2.8 trillion.", "The company is worth $2.8T.", "The company is worth $2.8B."),
        ("It was trained with 70 billion parameters.", "It was trained with 70B parameters.", "It was trained with 7B parameters."),
        ("Returns are taken for 21 days.", "Returns are taken for twenty-one days.", "Returns are taken for twenty-two days."),
        ("The service has 3 million customers.", "The service has three million customers.", "The service has one million customers."),
        ("The fee is 1,000 euros.", "The fee is one thousand euros.", "The fee is two thousand euros."),
        ("The cellar was at -5 °C at night.", "The cellar was at minus 5 °C at night.", "The cellar was at 5 °C at night."),
        ("The cellar was at -5 °C at night.", "The cellar was at –5 °C at night.", "The cellar was at –8 °C at night."),
        ("The cellar was at 5 °C at night.", "The cellar was at 5 °C at night.", "The cellar was at –5 °C at night."),
        ("Returns are possible for 3 to 5 days.", "Returns are possible for 3–5 days.", "Returns are possible for 3–9 days."),
    ],
)  # fmt: skip
def test_such_a_figure_is_compared_by_its_value(source: str, right: str, wrong: str) -> None:
    assert verdicts(right, source) == ["supported"]
    assert "supported" not in verdicts(wrong, source)


@pytest.mark.parametrize(
    "piece", ["minus 5 ", " –5", "twenty-one ", "$1.5B ", "one hundred and one ", "thousand and ", "70B "]
)
def test_time_stays_linear_whatever_the_form(piece: str) -> None:
    check_linear(lambda text: partial(read_quantities, text), repeated(piece), repr(piece))
