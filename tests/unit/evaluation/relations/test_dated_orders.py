"""Dates of the evidence tell which of two things came first."""

from collections.abc import Sequence

import pytest

from tests.harness.whole_answers import verdicts_on
from workers.evaluation.relations.times.dated_orders import is_dated_order_right

BRIDGE = ["The bridge was finished in 1887.", "The tower was built in 1903."]


@pytest.mark.parametrize(
    ("question", "context", "right", "wrong"),
    [
        ("Which is older, the mill or the chapel?", "The mill dates from 1540. The chapel was built in 1612.", "The mill.", "The chapel."),
        ("", "The bridge was completed in 1887. The tower was completed in 1903.", "The bridge is older than the tower.", "The tower is older than the bridge."),
        ("", "The bridge was finished in 1887, and the tower was built in 1903.", "The tower was built after the bridge.", "The bridge was built after the tower."),
        ("", "The bridge was finished in 1887 and the tower in 1903.", "The bridge was finished 16 years before the tower.", "The bridge was finished 16 years after the tower."),
        ("", "The day ticket costs 9 euros. The evening ticket costs 6 euros.", "The evening ticket is cheaper than the day ticket.", "The day ticket is cheaper than the evening ticket."),
        ("", "Mount Asla is 2,140 m high; Mount Berk reaches 1,980 m.", "Mount Asla is taller than Mount Berk.", "Mount Berk is taller than Mount Asla."),
        ("", "Maria is 34 years old and Jonas is 41.", "Jonas is older than Maria.", "Maria is older than Jonas."),
        ("", "The museum opened in 1921, the library in 1934.", "The library opened after the museum.", "The library opened before the museum."),
        ("", "Olsen was born in 1962. Dahl was born in 1958.", "Dahl was born before Olsen.", "Olsen is older than Dahl."),
        ("Which came first?", "The printed edition appeared in March 2014. The audio book followed in September 2014.", "The printed edition came first.", "The audio book came first."),
        ("", "The north line opened in 1998 and the south line opened in 2006.", "The north line opened eight years before the south line.", "The south line opened eight years before the north line."),
        ("", "The spruce is 31 metres tall. The oak measures 24 metres.", "The oak is shorter than the spruce.", "The oak is taller than the spruce."),
        ("", "Firm Kade was founded in 1975. Its rival Lumo was founded in 1969.", "Lumo was founded earlier than Kade.", "Kade is the older company."),
        ("Which flight leaves earlier?", "The flight to Oslo leaves at 9:40. The flight to Riga leaves at 11:15.", "The flight to Oslo.", "The flight to Riga."),
        ("", "The town hall was erected in 1905 and the theatre in 1911.", "The theatre was erected after the town hall.", "The town hall was erected after the theatre."),
        ("Which opened first, the zoo or the aquarium?", "The zoo opened in 1958. The aquarium was founded in 1972.", "The zoo.", "The aquarium."),
        ("", "Kessel was founded in 1982. Its partner Darro was established in 1990.", "Darro was founded later than Kessel.", "Kessel was founded later than Darro."),
        ("", "The canal opened in 1840, the railway in 1861.", "The canal opened 21 years before the railway.", "The canal opened 21 years after the railway."),
        ("", "The day pass is 15 euros and the week pass 60 euros.", "The week pass is dearer than the day pass.", "The day pass is dearer than the week pass."),
        ("", "Her first novel appeared in 1999 and the film in 2006.", "The film appeared after her first novel.", "The film appeared before her first novel."),
        ("Who was born later?", "Anna Rask was born in 1971. Per Lind was born in 1968.", "Anna Rask.", "Per Lind."),
    ],
)  # fmt: skip
def test_the_other_order_of_two_dates_is_contradicted(question: str, context: str, right: str, wrong: str) -> None:
    assert verdicts_on(question, context, right) == {"supported"}
    assert verdicts_on(question, context, wrong) == {"contradicted"}


@pytest.mark.parametrize(
    ("question", "context", "claim"),
    [
        ("", "The bridge was begun in 1880 and finished in 1887. The tower was begun in 1885.", "The bridge was finished after the tower was begun."),
        ("", "The bridge was finished in 1887 and the tower in 1903. The bridge was closed in 1950.", "The bridge was closed after the tower was built."),
        ("", "The museum opened in 1921 and was rebuilt in 1950, the library in 1934.", "The museum opened before the library."),
        ("", "The old church burned down in 1710. The new church was built in 1725.", "The new church was built after the old church burned down."),
        ("", "The first line opened in 1998, the second in 2006, the third in 2011.", "The second line opened after the first line."),
        ("", "The contract was signed in June 2020. Work started in September 2020.", "Work started after the contract was signed."),
        ("Which came first, the play or the film?", "The play opened in 1990. The film came out in 1996.", "The play came first."),
        ("", "Smith joined in 2001. Jones joined in 1999 and left in 2003.", "Smith joined before Jones left."),
        ("", "The park opened in 1890. The statue in the park was put up in 1902.", "The park opened before the statue was put up."),
        ("", "The king died in 1422. The king's son was born in 1421.", "The king's son was born before the king died."),
        ("", "The law was passed in March 2015 and came into force in January 2016.", "The law came into force after it was passed."),
        ("Which opened last?", "Line A opened in 1970, line B in 1985.", "Line B opened last."),
        ("", "The plant opened in 2004. The school next to the plant opened in 2002.", "The school opened before the plant."),
        ("", "The first edition appeared in 1950; the second edition appeared in 1962.", "The second edition appeared 12 years after the first edition."),
        ("Who founded the club first?", "The club was founded in 1910 by Lars Holm. In 1955 Eva Moe reopened it.", "Lars Holm."),
    ],
)  # fmt: skip
def test_right_orders_of_dates_are_supported(question: str, context: str, claim: str) -> None:
    assert verdicts_on(question, context, claim) == {"supported"}


@pytest.mark.parametrize(
    ("claim", "question", "sentences"),
    [
        ("The bridge was built before the tower.", "", BRIDGE),
        ("The bridge was not built after the tower.", "", BRIDGE),
        ("The bridge was closed after the tower.", "", BRIDGE),
        ("The bridge was built after the mill.", "", BRIDGE),
        ("The bridge was finished after the tower.", "", ["The bridge was begun in 1880.", "The bridge was finished in 1887.", "The tower was built in 1885."]),
        ("The bridge was built after the tower.", "", ["The bridge was built in 1903.", "The tower was built in March 1903."]),
        ("The mill.", "Which is older, the mill or the bridge?", BRIDGE),
        ("The bridge.", "Which came first?", [*BRIDGE, "The gate was built in 1910."]),
        ("Bela Nim.", "Who was the first president of the club?", ["Adam Kole was born in 1900.", "Bela Nim took office in 1920."]),
        ("The bridge.", "What did Eva build after the tower?", BRIDGE),
    ],
)  # fmt: skip
def test_things_without_one_date_each_are_left_open(claim: str, question: str, sentences: Sequence[str]) -> None:
    assert is_dated_order_right(claim, question, sentences) is None
