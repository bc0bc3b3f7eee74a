"""Check claims that give somebody a role that evidence says has ended."""

from collections.abc import Sequence

import pytest

from tests.harness.whole_answers import verdicts_on
from workers.evaluation.relations.times.former_roles import is_role_current


@pytest.mark.parametrize(
    ("question", "context", "right", "wrong"),
    [
        ("", "Ms Berg, the former director, spoke at the opening.", "Ms Berg was once director.", "Ms Berg is the director."),
        ("Who is the director?", "Ms Berg was director until 2019.", "Ms Berg was director until 2019.", "Ms Berg is the director."),
        ("", "Tom Hale was chief executive until 2021, when Rita Moss took over.", "Rita Moss took over in 2021.", "Tom Hale is chief executive."),
        ("", "The ex-mayor, Paul Orsini, opened the exhibition.", "Paul Orsini used to be mayor.", "Paul Orsini is the mayor."),
        ("", "Former captain Lea Brandt now coaches the team.", "Lea Brandt was once captain.", "Lea Brandt is the captain."),
        ("", "Karin Holm, formerly head of sales, joined Bexa in June.", "Karin Holm was head of sales.", "Karin Holm is head of sales."),
        ("", "Dr Sato stepped down as chair of the board in March.", "Dr Sato is no longer chair of the board.", "Dr Sato is chair of the board."),
        ("", "Mr Lind used to be the treasurer of the club.", "Mr Lind was the treasurer of the club.", "Mr Lind is the treasurer of the club."),
        ("", "Anna Weiss served as ambassador from 2010 to 2014.", "Anna Weiss was ambassador from 2010 to 2014.", "Anna Weiss is ambassador."),
        ("", "The actor Jon Vale is the ex-husband of Mia Torr.", "Jon Vale was once married to Mia Torr.", "Jon Vale is the husband of Mia Torr."),
        ("", "Bonn is the former capital of West Germany.", "Bonn was the capital of West Germany.", "Bonn is the capital of West Germany."),
        ("", "Sam Obi, previously editor of the Gazette, writes novels.", "Sam Obi was editor of the Gazette.", "Sam Obi is editor of the Gazette."),
        ("", "Ms Cole resigned as finance minister on Friday.", "Ms Cole was finance minister until Friday.", "Ms Cole is finance minister."),
        ("Who is the head of research?", "Igor Pell, who was head of research until May, founded a company.", "Igor Pell was head of research until May.", "Igor Pell is the head of research."),
        ("", "The hall is a former church.", "The hall was once a church.", "The hall is a church."),
        ("", "Olga Reyes, the former head coach, moved to Porto.", "Olga Reyes was head coach.", "Olga Reyes is the head coach."),
        ("", "Peter Lamm was president of the society until 2016.", "Peter Lamm is no longer president of the society.", "Peter Lamm is president of the society."),
        ("Who is the CEO?", "Nina Falk, the former CEO, left for health reasons.", "Nina Falk is no longer CEO.", "Nina Falk."),
        ("", "Ex-chancellor Otto Brehm published his memoirs.", "Otto Brehm was once chancellor.", "Otto Brehm is the chancellor."),
        ("", "Mr Ito retired as principal in 2020.", "Mr Ito was principal until 2020.", "Mr Ito is the principal."),
        ("", "Dana Cruz, once a member of the council, runs a bakery.", "Dana Cruz was a member of the council.", "Dana Cruz is a member of the council."),
        ("", "Kyoto is the former capital of Japan.", "Kyoto used to be the capital of Japan.", "Kyoto is the capital of Japan."),
        ("", "Helen Ross was voted out as party leader in May.", "Helen Ross is no longer party leader.", "Helen Ross is party leader."),
        ("", "Ben Ade used to be the goalkeeper of the team.", "Ben Ade was the goalkeeper of the team.", "Ben Ade is the goalkeeper of the team."),
        ("", "Ivy Chen acted as secretary from March to June 2022.", "Ivy Chen was secretary from March to June 2022.", "Ivy Chen is secretary."),
        ("", "The building was a prison until 1995.", "The building was once a prison.", "The building is a prison."),
    ],
)  # fmt: skip
def test_an_ended_role_is_not_supported_as_a_present_one(question: str, context: str, right: str, wrong: str) -> None:
    assert verdicts_on(question, context, right) == {"supported"}
    assert "supported" not in verdicts_on(question, context, wrong)


@pytest.mark.parametrize(
    ("question", "context", "claim"),
    [
        ("", "Ms Berg, the former director, is the president of the foundation.", "Ms Berg is the president of the foundation."),
        ("", "Ms Berg was director until 2019. She returned in 2023 and is the director again.", "Ms Berg is the director again."),
        ("", "Former captain Lea Brandt now coaches the team.", "Lea Brandt coaches the team."),
        ("", "Tom Hale was chief executive until 2021. Rita Moss is chief executive.", "Rita Moss is chief executive."),
        ("", "The former director, Ms Berg, wrote to the current director, Mr Ohm.", "Mr Ohm is the current director."),
        ("", "Ms Berg was deputy director until 2019; since then she is the director.", "Ms Berg is the director."),
        ("", "Bonn is the former capital of West Germany and a city on the Rhine.", "Bonn is a city on the Rhine."),
        ("", "The hall is a former church in Leeds.", "The hall is in Leeds."),
        ("", "Karin Holm, formerly head of sales, is head of marketing.", "Karin Holm is head of marketing."),
        ("", "Anna Weiss was ambassador from 2010 to 2014 and has been minister since 2020.", "Anna Weiss has been minister since 2020."),
        ("", "Dr Sato stepped down as chair of the board but remains a member of the board.", "Dr Sato is a member of the board."),
        ("", "Ms Cole resigned as finance minister on Friday; her successor is Mr Dunn.", "Her successor is Mr Dunn."),
        ("", "Ms Berg, the former director, is 70 years old.", "Ms Berg is 70 years old."),
        ("", "Ms Berg, the former director, lives in Ulm.", "The former director lives in Ulm."),
        ("", "The ex-mayor, Paul Orsini, is a lawyer.", "Paul Orsini is a lawyer."),
        ("", "Olga Reyes, the former head coach, is assistant coach.", "Olga Reyes is assistant coach."),
        ("", "Peter Lamm was president of the society until 2016 and is its honorary president.", "Peter Lamm is honorary president of the society."),
        ("", "Former CEO Nina Falk was followed by Ali Sen, who is CEO today.", "Ali Sen is CEO today."),
        ("", "Mr Ito retired as principal in 2020 and is chair of the parents' association.", "Mr Ito is chair of the parents' association."),
        ("", "Kyoto is the former capital of Japan and the capital of the prefecture.", "Kyoto is the capital of the prefecture."),
        ("", "The shop was open until 8 pm. The shop is open on Sundays.", "The shop is open on Sundays."),
        ("", "Dana Cruz, once a member of the council, runs a bakery.", "Dana Cruz runs a bakery."),
        ("", "The building was a prison until 1995 and is a hotel.", "The building is a hotel."),
        ("", "Ivy Chen acted as secretary from March to June 2022. Since 2023 she is secretary again.", "Ivy Chen is secretary again."),
        ("", "The former treasurer is Tom Reed; the treasurer is Una Bell.", "Una Bell is the treasurer."),
        ("", "Ben Ade used to be the goalkeeper of the team. His brother is the goalkeeper of the team.", "His brother is the goalkeeper of the team."),
    ],
)  # fmt: skip
def test_what_stands_beside_an_ended_role_is_supported(question: str, context: str, claim: str) -> None:
    assert verdicts_on(question, context, claim) == {"supported"}


@pytest.mark.parametrize(
    ("claim", "question", "sentences", "expected"),
    [
        ("Ms Berg is the director.", "", ["Ms Berg, the former director, spoke."], False),
        ("Ms Berg.", "Who is the director?", ["Ms Berg, the former director, spoke."], False),
        ("She is the director.", "What does Ms Berg do?", ["Ms Berg, the former director, spoke."], False),
        ("Ms Berg is no longer director.", "", ["Ms Berg was director until 2019."], True),
        ("Ms Berg is not director.", "", ["Ms Berg was director until 2019."], None),
        ("Ms Berg was director.", "", ["Ms Berg, the former director, spoke."], None),
        ("Mr Ohm is the director.", "", ["Ms Berg, the former director, spoke."], None),
        ("Ms Berg is the director.", "", ["Ms Berg was deputy director until 2019."], None),
        ("Ms Berg is the director of the zoo.", "", ["Ms Berg, the former director, spoke."], None),
        ("Ms Berg is director.", "", ["Ms Berg was director until 2019.", "Since 2023 Ms Berg is director again."], None),
        ("The shop is open.", "", ["The shop was open until 8 pm."], None),
        ("Ann Lee is head of sales.", "", ["The former head of research and current head of sales, Ann Lee, left."], None),
    ],
)  # fmt: skip
def test_a_role_is_compared_with_its_own_end(
    claim: str, question: str, sentences: Sequence[str], expected: bool | None
) -> None:
    assert is_role_current(claim, question, sentences) is expected
