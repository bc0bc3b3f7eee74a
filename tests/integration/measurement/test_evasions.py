"""The table of tricks in docs/reference/evasions.md is what the pipeline does, and most tricks are caught."""

from benchmarks.evasions import BEGIN, END, Outcome, measure, read_evasions, table
from tests.harness.paths import ROOT
from workers.inference.backends import SentenceTransformerBackend
from workers.pipeline.local_pipeline import LocalPipeline
from workers.settings import Settings

PAGE = ROOT / "docs" / "reference" / "evasions.md"
LEAST_CAUGHT = 55 / 60
"""Share of the tricks that must be caught for an observer."""


def test_there_are_sixty_tricks_in_five_languages_and_each_differs_from_its_twin() -> None:
    cases = read_evasions()
    assert len({case.id for case in cases}) == len(cases) >= 60
    assert len({case.language for case in cases}) >= 5
    assert all(case.trick != case.honest for case in cases)


def test_the_table_of_tricks_holds(backend: SentenceTransformerBackend) -> None:
    settings = Settings()
    pipeline = LocalPipeline(settings, backend)
    outcomes: list[Outcome] = [measure(case, pipeline, settings) for case in read_evasions()]
    told = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0].strip()
    assert table(outcomes) == told
    assert sum(outcome.caught["observer"] for outcome in outcomes) >= LEAST_CAUGHT * len(outcomes)
