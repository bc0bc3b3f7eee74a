"""A thing keeps the rank that the evidence gives it."""

import pytest

from tests.harness.whole_answers import verdicts_on

FLAGGED = {"contradicted", "unsupported"}


@pytest.mark.parametrize(
    ("question", "context", "right", "wrong"),
    [
        ("", "Leeds is the second-largest city of the region.", "Leeds is the second-largest city of the region.", "Leeds is the largest city of the region."),
        ("", "Leeds is one of the largest cities of the region.", "Leeds is among the largest cities of the region.", "Leeds is the largest city of the region."),
        ("", "Leeds is the third most populous city of the region.", "Leeds is the third most populous city in the region.", "Leeds is the most populous city of the region."),
        ("What is the second largest city of the region?", "Leeds is the second-largest city of the region.", "The second largest city is Leeds.", "The largest city of the region is Leeds."),
        ("Is Brazil the largest producer of soy?", "Brazil is the second largest producer of soy, after the United States.", "No, it is the second largest producer.", "Yes, Brazil is the largest producer of soy."),
        ("", "Anna Berg finished third in the marathon.", "Anna Berg came third in the marathon.", "Anna Berg finished second in the marathon."),
        ("", "The model X2 is our second cheapest printer.", "The X2 is the second-cheapest printer.", "The X2 is the cheapest printer."),
        ("", "Acme is among the five biggest suppliers of bearings in Europe.", "Acme is one of the five biggest suppliers of bearings in Europe.", "Acme is the biggest supplier of bearings in Europe."),
        ("How does the port rank?", "The port is the country's fourth-busiest.", "It is the fourth-busiest port of the country.", "It is the third-busiest port of the country."),
        ("", "Heart disease is the leading cause of death in the country; cancer is the second leading cause.", "Cancer is the second leading cause of death in the country.", "Cancer is the leading cause of death in the country."),
        ("", "The tower is the tallest building in the city and the second tallest in the country.", "The tower is the second tallest building in the country.", "The tower is the tallest building in the country."),
        ("", "Kim won the silver medal and Ito the gold medal in the final.", "Ito won the gold medal.", "Kim won the gold medal."),
        ("", "The lake is the largest in the county.", "The lake is the largest in the county.", "The lake is the second largest in the county."),
        ("", "The bank is one of the oldest in Switzerland, founded in 1755.", "The bank is one of Switzerland's oldest.", "The bank is the oldest in Switzerland."),
    ],
)  # fmt: skip
def test_ranks_of_the_evidence_are_kept(question: str, context: str, right: str, wrong: str) -> None:
    assert not verdicts_on(question, context, right) & FLAGGED
    assert verdicts_on(question, context, wrong) & FLAGGED


@pytest.mark.parametrize(
    ("question", "context", "right", "wrong"),
    [
        ("", "With 2.1 million residents, Porto Vale is the country's third largest metropolitan area.", "Porto Vale is the third-largest metropolitan area in the country.", "Porto Vale is the country's largest metropolitan area."),
        ("What place did the Falcons finish in?", "The Falcons finished the season in fifth place.", "They finished fifth.", "They finished in second place."),
        ("", "Diabetes is among the leading causes of blindness.", "Diabetes is one of the leading causes of blindness.", "Diabetes is the leading cause of blindness."),
        ("", "Norhaven operates the second-oldest tram network in Europe.", "Norhaven has the second-oldest tram network in Europe.", "Norhaven operates the oldest tram network in Europe."),
        ("Is the Karel Bridge the longest in the country?", "At 1,204 metres, the Karel Bridge is the fourth-longest bridge in the country.", "No, it is the fourth-longest bridge.", "Yes, the Karel Bridge is the longest in the country."),
        ("", "Only London has a larger airport; Milford is the second-busiest airport of the kingdom.", "Milford is the second-busiest airport of the kingdom.", "The busiest airport of the kingdom is Milford."),
        ("", "Team Orion took bronze in the relay.", "Team Orion won the bronze medal in the relay.", "Team Orion won the gold medal in the relay."),
        ("", "The Model S is one of our three quietest dishwashers.", "The Model S is among our quietest dishwashers.", "The Model S is our quietest dishwasher."),
        ("", "The fund is the country's largest pension fund.", "The largest pension fund of the country is the fund.", "The fund is the country's third-largest pension fund."),
        ("", "Rye is the second most widely grown cereal in the district.", "Rye is the second most widely grown cereal in the district.", "Rye is the most widely grown cereal in the district."),
        ("", "Hollis & Co is a leading maker of hearing aids.", "Hollis & Co is a leading maker of hearing aids.", "Hollis & Co is the leading maker of hearing aids."),
        ("Who won the race?", "Maria Voss finished second in the race behind Lena Kurz.", "Lena Kurz finished ahead of Maria Voss.", "Maria Voss won the race."),
    ],
)  # fmt: skip
def test_further_ranks_are_kept(question: str, context: str, right: str, wrong: str) -> None:
    assert not verdicts_on(question, context, right) & FLAGGED
    assert verdicts_on(question, context, wrong) & FLAGGED


@pytest.mark.parametrize(
    ("question", "context", "claim"),
    [
        ("", "York is the second-largest city, after Leeds.", "Leeds is the largest city."),
        ("", "After London, Leeds is the second-largest city.", "London is the largest city."),
        ("", "Duisburg is the third-largest port in Germany and the largest inland port in the world.", "Duisburg is the largest inland port in the world."),
        ("", "Leeds was the third largest city in 1950 and the second largest in 2020.", "Leeds was the second largest city in 2020."),
        ("", "Leeds is the second largest city by area and the third by population.", "Leeds is the third largest city by population."),
        ("", "The plant is the second-largest in the world and the largest in Asia.", "The plant is the largest in Asia."),
        ("Which is the largest city of the region?", "Leeds is the second-largest city of the region. York is the largest city of the region.", "York is the largest city of the region."),
        ("Which is the largest city of the region?", "Leeds is the second-largest city of the region. York is the largest city of the region.", "York."),
        ("", "Acme is one of the biggest suppliers in Europe and the biggest in Norway.", "Acme is the biggest supplier in Norway."),
        ("", "The first test failed and the second test passed.", "The second test passed."),
        ("", "Bolt won the race; Blake came second.", "Blake came second and Bolt won the race."),
        ("", "Mount Kenya is the second-highest mountain in Africa, behind Kilimanjaro.", "Kilimanjaro is the highest mountain in Africa."),
        ("", "The library is one of the oldest buildings in town. It is the tallest building in town.", "The library is the tallest building in town."),
        ("", "Until 1990 the mine was the largest in the country; today it is the third largest.", "Until 1990 the mine was the largest in the country."),
        ("", "Until 1990 the mine was the largest in the country; today it is the third largest.", "Today the mine is the third largest in the country."),
        ("", "The cheapest plan costs 5 euros and the second cheapest 9 euros.", "The cheapest plan costs 5 euros."),
        ("How much is the cheapest plan?", "The cheapest plan costs 5 euros and the second cheapest 9 euros.", "The cheapest plan costs 5 euros and the second cheapest costs 9 euros."),
        ("", "Ann Lee took silver in the sprint and gold in the relay.", "Ann Lee won gold in the relay."),
        ("", "Tesla is the world's most valuable carmaker and the fourth-largest by sales.", "Tesla is the most valuable carmaker in the world."),
    ],
)  # fmt: skip
def test_right_statements_beside_ranks_are_not_flagged(question: str, context: str, claim: str) -> None:
    assert not verdicts_on(question, context, claim) & FLAGGED
