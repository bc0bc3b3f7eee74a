from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.harness.linear_time import check_linear, repeated
from workers.evaluation.contradictions.contradiction_checks import compare, on_one_matter
from workers.evaluation.facts.dates import read_dates
from workers.evaluation.facts.evidence_facts import KnownFacts, MissingDetails, missing_details
from workers.evaluation.facts.quantities import read_quantities
from workers.evaluation.facts.text_details import read_details


def missing(claim: str, *evidence: str) -> MissingDetails:
    texts = [read_details(text) for text in evidence]
    return missing_details(read_details(claim), KnownFacts(texts), texts)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Grinder 5 was down for 47 minutes.", "Grinder 5 had a downtime of 47 minutes."),
        ("Grinder 5 was down for 0.8 hours.", "Grinder 5 had a downtime of 47 minutes."),
        ("Grinder 5 was down for 47 minutes.", "asset id: grinder-5; downtime minutes: 47"),
        ("Revenue rose to $3.2M.", "Revenue rose to $3,200,000."),
        ("There were 3k users.", "There were 3,000 users."),
        ("Der Umsatz betrug 3.000,50 €.", "Revenue was €3,000.50."),
        ("Revenue rose by 12,5 %.", "Revenue rose by 12.5 percent."),
        ("It restarted three times.", "It restarted 3 times."),
        ("It took about 2 hours.", "It took 125 minutes."),
        ("The limit is 2 GiB.", "The limit is 2048 MiB."),
        ("It was on 3 March 2026.", "It happened on 2026-03-03."),
        ("It was on March 3.", "It happened on 3. März 2026."),
        ("It fell at 2:03 pm.", "It fell at 14:03."),
        ("It was built in the 1960s.", "It was built in 4 seconds in 1964."),
        ("INC-4711 was closed.", "Incident INC-4711 was closed by Anna."),
        ("The service was not restarted.", "Nobody noticed. The service was not restarted."),
        ("Not only the pod failed.", "The pod failed."),
        ("Costs were about $2,350 for 47 minutes.", "downtime minutes: 47; rate usd per hour: 3000"),
        ("It has two time outs.", "It takes 10 seconds."),
        ("It has a $1,000 deductible for $150 a month.", "It comes with a $1,000 deductible."),
        ("It ran less than two hours before the import and reaches back 14 days.", "It reaches back 14 days."),
        ("She led it from 2010 to 2012.", "She became its head in 2010."),
        ("Avoid overheating the pump.", "Do not overheat the pump."),
        ("The pump failed.", "Nobody was hurt."),
        ("", ""),
    ],
)
def test_what_agrees_or_is_another_matter_is_no_mismatch(claim: str, evidence: str) -> None:
    assert compare(claim, evidence) == ()


@pytest.mark.parametrize(
    ("claim", "evidence", "kind"),
    [
        ("Grinder 5 was down for 74 minutes.", "Grinder 5 had a downtime of 47 minutes.", "number"),
        ("Grinder 5 was down for 2 hours.", "asset id: grinder-5; downtime minutes: 47", "number"),
        ("Revenue rose to $3.4M.", "Revenue rose to $3,200,000.", "number"),
        ("Revenue rose by 30 %.", "Revenue rose by 40 percent.", "number"),
        ("It restarted five times.", "It restarted 3 times.", "number"),
        ("It was -5 °C cold.", "It was 5 °C.", "number"),
        ("It was on 4 March 2026.", "It happened on 2026-03-03.", "date"),
        ("It was in 2024.", "It was in 2025.", "date"),
        ("It fell at 15:03.", "It fell at 14:03.", "date"),
        ("INC-4711 was closed.", "INC-4712 was closed.", "name"),
        ("Grinder 3 had a downtime.", "Grinder 5 had a downtime.", "name"),
        ("Grinder 3 had a downtime.", "asset id: grinder-5; downtime: long", "name"),
        ("Anna Schmidt approved the budget.", "The budget was approved by Peter Meier.", "name"),
        ("The service was not restarted.", "The service was restarted at noon.", "negation"),
        ("The service was restarted.", "The service wasn't restarted.", "negation"),
        ("No customers were affected.", "Customers were affected.", "negation"),
        ("Der Dienst wurde neu gestartet.", "Der Dienst wurde nicht neu gestartet.", "negation"),
        ("Es gab keinen Ausfall der Anlage.", "Es gab einen Ausfall der Anlage.", "negation"),
        ("Le service n'a pas redémarré.", "Le service a redémarré.", "negation"),
    ],
)
def test_what_differs_in_kind_is_named(claim: str, evidence: str, kind: str) -> None:
    assert kind in compare(claim, evidence)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The run took 1h 30m.", "The run took 90 minutes."),
        ("It took an hour and a half.", "It took 90 minutes."),
        ("The bag weighs half a kilogram.", "Weight: 500 g."),
        ("Two hundred and fifty people came.", "250 people came."),
        ("The oven reaches 250 degrees Celsius.", "Maximum oven temperature: 250 °C."),
        ("Revenue was 4.2 million euros.", "Revenue amounted to EUR 4,200,000."),
        ("One in five devices failed.", "20 % of the devices failed."),
        ("The tank holds at least 500 litres.", "The tank holds 650 litres."),
        ("She lived to be 77.", "She was born in 1920 and died in 1997."),
        ("The treaty dates from the 17th century.", "The treaty was signed in 1648."),
        ("The books date from the 1st century.", "They were in use by the end of the first century."),
        ("The release came in Q3 2025.", "The release came in August 2025."),
        ("The outage lasted 45 minutes.", "The outage began at 14:00 and ended at 14:45."),
        ("It opens at 9 am on Mondays.", "hours monday: 9:0-17:0"),
    ],
)
def test_a_figure_in_another_form_is_the_same(claim: str, evidence: str) -> None:
    assert compare(claim, evidence) == ()
    assert missing(claim, evidence) == MissingDetails()


@pytest.mark.parametrize(
    ("claim", "evidence", "kind"),
    [
        ("The bond paid €1,050.", "The bond paid $1,050.", "number"),
        ("The warranty runs for 24 weeks.", "The warranty runs for 24 months.", "number"),
        ("The tank holds at least 700 litres.", "The tank holds 650 litres.", "number"),
        ("At most 3 retries are allowed.", "At least 3 retries are required.", "number"),
        ("Plant used 3.2 kWh.", "Plant used 3.2 MWh.", "number"),
        ("A third of the orders were late.", "25 % of the orders were late.", "number"),
        ("Margin rose 3 percent.", "Margin rose by 3 percentage points, from 12 % to 15 %.", "number"),
        ("60 of the 80 tests passed, which is 80 %.", "Of 80 tests, 60 passed.", "number"),
        ("Output tripled from March to April.", "Output was 400 units in March and 800 units in April.", "number"),
        ("Stock grew by 15 units from May to June.", "Stock was 47 units in May and 32 units in June.", "number"),
        ("The mill was built in the 1980s.", "The mill was built in 1994.", "date"),
        ("The mill was built in the 18th century.", "The mill was built in 1856.", "date"),
        ("The meeting is on Tuesday.", "The meeting is on Thursday.", "date"),
        ("The outage lasted 55 minutes.", "The outage began at 14:00 and ended at 14:45.", "number"),
        ("Port 8081 must be open.", "Clients connect on port 8080.", "name"),
        ("Plan A includes backups.", "Plan B includes backups.", "name"),
    ],
)
def test_another_figure_date_or_member_of_a_series_is_named(claim: str, evidence: str, kind: str) -> None:
    assert kind in compare(claim, evidence)


@pytest.mark.parametrize(
    ("claim", "evidence", "others"),
    [
        ("Grinder 5 cost $600.", "Asset: Grinder 5; Cost: $2,350", ["Asset: Grinder 3; Cost: $600"]),
        ("Order A1 is worth $180.", "order: A2; total usd: 180", ["order: A1; total usd: 120"]),
        ("The north sold 55 units.", "region: south; units: 55", ["region: north; units: 40"]),
    ],
)
def test_the_figure_of_another_row_is_no_support(claim: str, evidence: str, others: list[str]) -> None:
    assert "number" in compare(claim, evidence, others)


def test_a_sum_over_rows_is_no_mismatch() -> None:
    rows = ["order: A1; total usd: 120", "order: A2; total usd: 180"]
    assert compare("Together the orders are worth $300.", rows[0], rows[1:]) == ()


def test_the_hours_of_another_day_are_no_support() -> None:
    claim, others = "It closes at 10 pm on Mondays.", ["hours tuesday: 9:0-22:0"]
    assert compare(claim, "hours monday: 9:0-17:0", others) == ("date",)


def test_a_code_before_a_verb_is_no_missing_number() -> None:
    assert missing("Grinder 5 was down for 47 minutes.", "asset: grinder-5; downtime minutes: 47") == MissingDetails()
    assert missing("Ticket INC-4711 has been closed.", "INC-4711: closed.") == MissingDetails()


def test_an_assumed_duration_is_no_missing_number() -> None:
    assert missing("Two hours of downtime cost $6,000.", "Cost rate: $3,000 per hour.") == MissingDetails()


@pytest.mark.parametrize(
    ("claim", "evidence", "expected"),
    [
        ("The bearing weighs 5 kg.", "Bearing weight: 500 g.", True),
        ("Grinder 5 is stopped.", "asset: grinder-5; status: running", True),
        ("Profit improved in May.", "Profit worsened in May.", True),
        ("Two thirds of the seats were sold.", "45 % of the seats were sold.", True),
        ("The contract runs for 24 weeks.", "The museum was closed for 24 months.", False),
        ("Revenue rose by 5 % in March.", "Rainfall rose by 7 % in March.", False),
    ],
)
def test_one_matter_does_not_depend_on_figures_and_opposites(claim: str, evidence: str, expected: bool) -> None:
    assert on_one_matter(claim, evidence) == expected


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        (
            "President Carter travels to Geneva for the climate summit, where he may meet the minister.",
            "The President is to travel to Geneva for the climate summit, reports the Northern Post, and may meet the minister.",
        ),
        (
            "During Half-Tone's concert Dale keeps watch.",
            "Later Dale keeps watch over Half - Tone 's concert with the Band.",
        ),
        (
            "The trial led to a Ph.D. programme in the U.S. army.",
            "The trial led to a PhD programme in the US army of Ohio.",
        ),
        ("Graduates have high debts and few job prospects.", "Graduates have high debts and no job prospects."),
        ("Not all of the passengers got the best value.", "Some of the passengers did not get the best value."),
        ("It was not until May that the song was printed.", "The song was printed in May."),
    ],
)
def test_what_differs_in_words_only_is_no_mismatch(claim: str, evidence: str) -> None:
    assert compare(claim, evidence) == ()


def test_a_detail_in_other_evidence_is_no_mismatch() -> None:
    claim, evidence = "The limit is 4 GiB.", "The limit was 2 GiB."
    assert compare(claim, evidence) == ("number",)
    assert compare(claim, evidence, ["Since May the limit is 4 GiB."]) == ()


def test_missing_details_are_counted_by_kind() -> None:
    assert missing("Loki uses 4 GiB since 2026-01-04.", "It uses 4 GiB.") == MissingDetails(dates=1, figures=1)
    assert missing("Grinder 5 lost 3 rods in Q3 2025.", "It lost 2 rods in May 2025.") == MissingDetails(1, 1, 1)
    assert missing("It is slow.") == MissingDetails()


def test_identifiers_versions_and_addresses_are_no_numbers() -> None:
    assert read_quantities("INC-4711 on 192.168.1.1 runs v1.2.3 since 2026-01-04") == []


def test_impossible_dates_are_no_dates() -> None:
    assert read_dates("2026-13-45 and 25:99")[0] == []


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=150), st.text(alphabet="0123456789.,:-/ $€%kMnotJanpm'", max_size=60))
def test_any_text_can_be_compared_and_agrees_with_itself(text: str, figures: str) -> None:
    missing(figures, text)
    assert missing(figures, figures).dates == 0
    compare(text, figures)
    assert "number" not in compare(figures, figures)


@pytest.mark.parametrize(
    "piece",
    ["1,", "1", "1.1.", "March ", "1 ", "two ", "$", "not ", "A1 ", "12:34 ", "than ", "a: b; ", "half of ", "1h 2m "],
)
def test_time_stays_linear_on_hostile_sentences(piece: str) -> None:
    check_linear(lambda text: partial(compare, text, text), repeated(piece), repr(piece))


@pytest.mark.parametrize(
    ("evidence", "right", "wrong"),
    [
        (("Team A scored 92 points.", "Team B scored 85 points."), "Team A won by 7 points.", "Team A won by 9 points."),
        (("3 nights at 80 euros each.", "Breakfast: 10 euros per day."), "3 nights cost 270 euros.", "3 nights cost 290 euros."),
        (("8 adults at $15, 4 children at $10.",), "They pay $160.", "They pay $180."),
        (("The train leaves at 14:20 and arrives at 16:05.",), "It takes 105 minutes.", "It takes 125 minutes."),
        (("We ordered two dozen roses.",), "24 roses were ordered.", "20 roses were ordered."),
        (("The budget is 500,000 euros, of which 320,000 are spent.",), "180,000 euros are left.", "200,000 euros are left."),
        (("The record fell from 2:05:10 to 2:03:40.",), "It was improved by 90 seconds.", "It was improved by 70 seconds."),
        (("The bridge opened in 1932.", "It was closed in 1982."), "It was open for 50 years.", "It was open for 40 years."),
        (("The tank holds 60 litres and uses 6 litres per 100 km.",), "It lasts for 1,000 km.", "It lasts for 1,200 km."),
        (("Tom is 42 and his sister is 37.",), "Tom is 5 years older.", "Tom is 7 years older."),
        (("The concert lasts from 19:30 to 22:00.",), "It lasts two and a half hours.", "It lasts three and a half hours."),
        (("A quarter of the 80 students failed.",), "20 students failed.", "25 students failed."),
    ],
)  # fmt: skip
def test_a_right_calculation_is_told_from_a_wrong_one(evidence: tuple[str, ...], right: str, wrong: str) -> None:
    def errs(claim: str) -> bool:
        return "number" in compare(claim, evidence[0], evidence[1:]) or missing(claim, *evidence).numbers > 0

    assert not errs(right)
    assert errs(wrong)
