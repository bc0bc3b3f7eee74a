"""docs/testing.md names every long test, every scenario, and a shorter test of each."""

import re
from pathlib import Path

from tests.chaos.driver import SCENARIOS
from tests.chaos.test_scenarios import ANSWERS
from tests.harness.paths import ROOT

PAGE = ROOT / "docs" / "testing.md"
LONG = re.compile(r"^@pytest\.mark\.long\n(?:@.*\n)*(?:async )?def (test_\w+)", re.M)


def rows(header: str) -> list[list[str]]:
    """The rows of the table whose header line begins so, as cells."""
    table = PAGE.read_text(encoding="utf-8").partition(f"\n{header}")[2].partition("\n\n")[0]
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def marked_long() -> set[str]:
    """Every function with the marker, by file."""
    return {
        f"{path.relative_to(ROOT)}::{name}"
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in LONG.findall(path.read_text(encoding="utf-8"))
    }


def is_test(place: str) -> bool:
    path, _, name = place.partition("::")
    return Path(ROOT / path).is_file() and f"def {name}(" in (ROOT / path).read_text(encoding="utf-8")


def test_the_table_names_every_long_test_and_a_shorter_one() -> None:
    table = rows("| long test |")
    assert {row[0] for row in table} == marked_long() != set()
    assert [row[2] for row in table if not is_test(row[2]) or row[2] in marked_long()] == []


def test_the_marker_stands_above_functions_only() -> None:
    """Carry the marker that the search above finds."""
    uses = sum(path.read_text(encoding="utf-8").count("mark.long\n") for path in (ROOT / "tests").rglob("test_*.py"))
    assert uses == len(marked_long())


def test_every_scenario_runs_or_another_stands_for_it() -> None:
    table = rows("| scenario in every run |")
    assert [row[0] for row in table] != []
    assert sorted(row[0] for row in table) == sorted(ANSWERS)
    others = [name for row in table for name in row[1].split(", ") if name]
    assert sorted([*ANSWERS, *others]) == sorted(SCENARIOS)
