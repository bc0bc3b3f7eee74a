"""Tables and labelled records in plain text: units, spans, and whose value it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.evaluation.facts.evidence_units import segment_source
from workers.evaluation.ownership.value_owners import OwnedValues, has_other_owner

TIMETABLE = "Line | weekdays | Sundays\n12 | every 10 min | every 20 min\n17 | every 15 min | every 30 min"
GRADES = "Grades of the spring term:\nstudent,biology,chemistry\nYusuf,B,A-\nMarta,A,B-\nAll grades are final."
YAML = "worker:\n  cpu: 2\n  memory: 4Gi\napi:\n  cpu: 1\n  memory: 512Mi"
FLATS = "Flat 3A\nRent: £1,150 a month\nDeposit: £1,500\n\nFlat 3B\nRent: £980 a month\nDeposit: £1,200"
STAFF = "name: Duarte Melo, role: analyst, office: Porto\nname: Inês Prado, role: team lead, office: Lisbon"
DATABASES = (
    '{"databases": [{"env": "staging", "host": "db-07", "port": 5544}, {"env": "test", "host": "db-09", "port": 6001}]}'
)
ON_CALL = '{"oncall": {"primary": {"name": "Dana Reyes", "phone": "0142"}, "secondary": {"name": "Lee Park", "phone": "0188"}}}'
HEIGHTS = "Tower | Height (m) | Opened\nNorth | 324 | 1931\nSouth | 282 | 1940"


@pytest.mark.parametrize(
    ("content", "record"),
    [
        (TIMETABLE, "line: 17; weekdays: every 15 min; sundays: every 30 min"),
        (GRADES, "student: Marta; biology: A; chemistry: B-"),
        (YAML, "entry: api; cpu: 1; memory: 512Mi"),
        (FLATS, "entry: Flat 3B; rent: £980 a month; deposit: £1,200"),
        (STAFF, "name: Inês Prado; role: team lead; office: Lisbon"),
        ("services:\n  - name: web\n    replicas: 2\n  - name: api\n    replicas: 5", "name: api; replicas: 5"),
        (DATABASES, "env: test; host: db-09; port: 6001; in: databases"),
        (ON_CALL, "entry: secondary; name: Lee Park; phone: 0188"),
        (HEIGHTS, "tower: North; height: 324 m; opened: 1931"),
    ],
)
def test_a_row_or_record_is_one_unit_with_its_titles(content: str, record: str) -> None:
    units = [unit for unit in segment_source(content) if unit.of_record]
    assert record in [unit.text for unit in units]


@pytest.mark.parametrize(
    "content",
    [
        "Note: this is a text.\nIt has two lines, of which one is short.",
        "Opening hours: 9 to 5\nPhone: 555",
        "Dear Ann,\nthanks for your mail, the parcel, and the flowers.\nBest,\nBob",
        "The bridge, which opened in May, spans the river\nand carries trams, buses, and bicycles to the\nold town, the port, and the station",
        "We bought apples, pears, and plums.\nThey sold lemons, limes, and grapes.\nNobody saw bread, milk, or tea.\nEnd.",
    ],
)
def test_prose_stays_prose(content: str) -> None:
    assert not any(unit.of_record for unit in segment_source(content))


def test_a_list_without_titles_keeps_its_first_line() -> None:
    """ "Anna Lee, manager, Berlin" is an entry: as titles it was no evidence."""
    texts = [
        unit.text
        for unit in segment_source("Contacts:\nAnna Lee, manager, Berlin\nBob Ray, clerk, Paris\nCleo, cook, Rome")
    ]
    assert texts == ["Contacts:", "Anna Lee; manager; Berlin", "Bob Ray; clerk; Paris", "Cleo; cook; Rome"]


def test_the_prose_around_a_table_is_kept() -> None:
    texts = [unit.text for unit in segment_source(GRADES)]
    assert texts[0] == "Grades of the spring term:"
    assert texts[-1] == "All grades are final."


@pytest.mark.parametrize(
    ("content", "right", "wrong"),
    [
        (TIMETABLE, "On Sundays line 17 runs every 30 minutes.", "On Sundays line 17 runs every 20 minutes."),
        (TIMETABLE, "Line 12 runs every 10 minutes on weekdays.", "Line 12 runs every 20 minutes on weekdays."),
        (GRADES, "Yusuf got an A- in chemistry.", "Yusuf got a B- in chemistry."),
        (YAML, "The worker has 4Gi of memory.", "The worker has 512Mi of memory."),
        (FLATS, "The deposit for flat 3A is £1,500.", "The deposit for flat 3A is £1,200."),
        (DATABASES, "The staging database uses port 5544.", "The staging database uses port 6001."),
        (DATABASES, "The test database runs on db-09.", "The test database runs on db-07."),
        (HEIGHTS, "The North tower is 324 m high.", "The North tower is 282 m high."),
    ],
)
def test_a_value_of_another_record_is_noticed(content: str, right: str, wrong: str) -> None:
    evidence = OwnedValues([[unit.text for unit in segment_source(content)]])
    assert not has_other_owner(right, "", evidence)
    assert has_other_owner(wrong, "", evidence)


@given(st.text(alphabet="ab 1:|,;\t\n-.", max_size=200))
def test_spans_lie_in_the_text_and_are_in_order(content: str) -> None:
    units = segment_source(content)
    assert all(0 <= unit.start < unit.end <= len(content) for unit in units)
    assert [unit.start for unit in units] == sorted(unit.start for unit in units)
