"""docs/testing.md names every long test, every scenario, and a shorter test of each."""

import ast
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


def with_long_variants() -> set[str]:
    """Every function of which some variants have the marker, by file."""
    found = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        if "import variants" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and "variants(" in " ".join(
                map(ast.unparse, node.decorator_list)
            ):
                found.add(f"{path.relative_to(ROOT)}::{node.name}")
    return found


def is_test(place: str) -> bool:
    path, _, name = place.partition("::")
    return Path(ROOT / path).is_file() and f"def {name}(" in (ROOT / path).read_text(encoding="utf-8")


def test_the_table_names_every_long_test_and_a_shorter_one() -> None:
    table = rows("| long test |")
    assert {row[0] for row in table} == marked_long() != set()
    assert [row[2] for row in table if not is_test(row[2]) or row[2] in marked_long()] == []


def test_the_table_names_every_test_with_long_variants() -> None:
    assert sorted(row[0] for row in rows("| test with long variants |")) == sorted(with_long_variants())


def test_the_table_names_every_file_with_details_of_pages_and_what_every_run_has_of_it() -> None:
    table = {row[0]: row[1] for row in rows("| file of pages |")}
    texts = {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")
    }
    files = {name: text for name, text in texts.items() if "\n@detail_of_a_page\n" in text}
    assert table.keys() == files.keys()
    detail = re.compile(r"^@detail_of_a_page\n(?:(?!def ).*\n)*?def (test_\w+)", re.M)
    assert [name for name, test in table.items() if f"def {test}(" not in files[name]] == []
    assert [name for name, test in table.items() if test in detail.findall(files[name])] == []


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
