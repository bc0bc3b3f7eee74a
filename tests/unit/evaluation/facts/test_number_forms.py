"""Signs, letters of scale and numbers in words are read as people write them, and range, bytes and names stay apart."""

from datetime import UTC, datetime
from functools import partial

import pytest

from schemas.answers import ContextChunk, GeneratedAnswer
from tests.harness.linear_time import check_linear, repeated
from workers.evaluation.facts.quantities import read_quantities
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
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
    ("text", "value", "dimension"),
    [
        *(("The fee is 2000 euros.", 2000.0, "eur"), ("a dose of 2000 mg", 2.0, "gram"), ("1 234,56 €", 1234.56, "eur")),
        *(("₹1,50,000", 150000.0, "inr"), ("12,50,000 rupees", 1.25e6, "inr"), ("½ cup", 0.5, "cup")),
        *(("1½ cups", 1.5, "cup"), (".5%", 0.5, "percent"), (".125 %", 0.125, "percent")),
        *(("2015 hours", 2015 * 3600.0, "time"), ("1,299 km", 1.299e6, "metre"), ("2000 kWh", 2e6, "watthour")),
        *(("the plant has 1950 employees", 1950.0, "noun:employe"), ("1950 Mitarbeiter", 1950.0, "noun:mitarbeit")),
        *(("It delivered 2024 vans.", 2024.0, "noun:van"), ("It is 2000 years old.", 24000.0, "month")),
        *(("It is 2,000 years old.", 24000.0, "month"), ("a total of 2010 new homes", 2010.0, "noun:new")),
    ],
)  # fmt: skip
def test_an_amount_is_read_however_it_is_written(text: str, value: float, dimension: str) -> None:
    details = read_details(text)
    assert [(each.values, each.dimension) for each in details.quantities] == [((value,), dimension)]
    assert details.dates == ()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        *(("in 2000", (2000, None, None, None)), ("paid in 2020 dollars", (2020, None, None, None))),
        *(("the 2008 second quarter", (2008, None, None, None)), ("at 5.30 pm", (None, None, None, 1050))),
        *(("the 2023 results", (2023, None, None, None)), ("has 2024 models", (2024, None, None, None))),
        *(("in 2019 employees left", (2019, None, None, None)), ("Since 2015 users pay", (2015, None, None, None))),
        *(("2024 was warm", (2024, None, None, None)), ("at 5 pm", (None, None, None, 1020))),
    ],
)
def test_a_year_and_a_time_of_day_stay_dates(text: str, parts: tuple[int | None, ...]) -> None:
    assert [each.parts for each in read_details(text).dates] == [parts]


@pytest.mark.parametrize(
    ("source", "right", "wrong"),
    [
        ("The fee is €2,000.", "The fee is 2000 euros.", "The fee is 2010 euros."),
        ("The plant has 1,950 employees.", "The plant has 1950 employees.", "The plant has 1980 employees."),
        ("The plant has 1950 employees.", "The plant has 1,950 employees.", "The plant has 1,980 employees."),
        ("The firm delivered 2,024 cars.", "The firm delivered 2024 cars.", "The firm delivered 2042 cars."),
        ("The sales of 2023 fell by a tenth.", "The 2023 sales fell by a tenth.", "The 2022 sales fell by a tenth."),
        ("The surcharge is 0.5 %.", "The surcharge is .5%.", "The surcharge is .7%."),
        ("The deposit is 1,234.56 euros.", "The deposit is 1 234,56 €.", "The deposit is 1 234,65 €."),
        ("The deposit is 150,000 rupees.", "The deposit is ₹1,50,000.", "The deposit is ₹15,00,000."),
        ("The shop closes at 17:30.", "The shop closes at 5.30 pm.", "The shop closes at 6.30 pm."),
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
    "piece",
    [
        "minus 5 ",
        " –5",
        "twenty-one ",
        "$1.5B ",
        "one hundred and one ",
        "thousand and ",
        "70B ",
        "1,50,",
        "1 234",
        ".5",
        "1½ ",
    ],
)
def test_time_stays_linear_whatever_the_form(piece: str) -> None:
    check_linear(lambda text: partial(read_quantities, text), repeated(piece), repr(piece))
