"""Measure tricks that hide a false statement from the evaluation, each beside an honest twin of the same form.

    python -m benchmarks.evasions
    python -m benchmarks.evasions --write docs/reference/evasions.md

The cases stand in tests/data/evasions.jsonl. Each trick and each twin goes through the local pipeline, and is decided on
for an observer and for a gatekeeper. A trick is caught if its state is not ``released``; a twin is flagged in the same case.
The settings decide about models: TOUCHSTONE_GROUNDING__VERIFIER=builtin measures with the packaged verifier.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.base import RiskMode
from schemas.enriched import EnrichedAnswer
from workers.decision.decision import decide
from workers.pipeline.local_pipeline import LocalPipeline
from workers.settings import Settings

CASES = Path(__file__).resolve().parent.parent / "tests" / "data" / "evasions.jsonl"
ANSWERED_AT = datetime(2026, 1, 1, tzinfo=UTC)
"""A fixed time, since the evaluation must not depend on the clock."""
MODES: tuple[RiskMode, ...] = ("observer", "gatekeeper")
BEGIN, END = "<!-- table: python -m benchmarks.evasions --write -->", "<!-- end of the table -->"


class Evasion(BaseModel):
    """One trick and its honest twin, which have one form and one source."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    kind: str
    language: str = Field(pattern="^[a-z]{2}$")
    query: str
    contexts: list[str]
    trick: str
    honest: str
    filler: str = Field(default="", description="True text that stands before both, as often as ``times`` says.")
    times: int = 0

    def answer(self, text: str) -> GeneratedAnswer:
        """Return an answer with one of the two texts."""
        chunks = [ContextChunk(chunk_id=f"c{number}", content=content) for number, content in enumerate(self.contexts)]
        return GeneratedAnswer(
            answer_id=self.id,
            answer=self.filler * self.times + text,
            query=self.query,
            contexts=chunks,
            completed_at=ANSWERED_AT,
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """Hold for each mode whether a trick was caught and whether its twin was flagged."""

    case: Evasion
    caught: Mapping[RiskMode, bool]
    flagged: Mapping[RiskMode, bool]


def read_evasions() -> list[Evasion]:
    """Return all cases."""
    return [Evasion.model_validate_json(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


def measure(case: Evasion, pipeline: LocalPipeline, settings: Settings) -> Outcome:
    """Evaluate a trick and its twin, and decide on each in both modes."""

    def noticed(text: str) -> dict[RiskMode, bool]:
        found = pipeline.evaluate(case.answer(text))
        return {mode: _state(found, mode, settings) != "released" for mode in MODES}

    return Outcome(case, noticed(case.trick), noticed(case.honest))


def _state(found: EnrichedAnswer, mode: RiskMode, settings: Settings) -> str:
    return decide(
        found.answer, mode, found.citations, found.grounding, found.quality, found.evaluation, found.degraded,
        settings.gate, settings.grounding, policy=settings.decision,
    ).state  # fmt: skip


def table(outcomes: Sequence[Outcome]) -> str:
    """Return the table of tricks and modes, with the totals."""
    heads = [f"{mode}: {column}" for mode in MODES for column in ("caught", "twin flagged")]
    lines = [f"| trick | language | {' | '.join(heads)} |", "|---|---" + "|---" * len(heads) + "|"]
    for outcome in outcomes:
        cells = [_cell(found[mode]) for mode in MODES for found in (outcome.caught, outcome.flagged)]
        lines.append(f"| {outcome.case.id} | {outcome.case.language} | {' | '.join(cells)} |")
    sums = [sum(found(each)[mode] for each in outcomes) for mode in MODES for found in (_caught, _flagged)]
    lines.append(f"| all | | {' | '.join(f'{count} of {len(outcomes)}' for count in sums)} |")
    return "\n".join(lines)


def _caught(outcome: Outcome) -> Mapping[RiskMode, bool]:
    return outcome.caught


def _flagged(outcome: Outcome) -> Mapping[RiskMode, bool]:
    return outcome.flagged


def _cell(applies: bool) -> str:
    return "yes" if applies else "–"


def main(arguments: list[str] | None = None) -> None:
    """Measure all tricks and print the table, or write it into a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, help="page whose table is replaced")
    options = parser.parse_args(arguments)
    settings = Settings()
    pipeline = LocalPipeline(settings)
    told = table([measure(case, pipeline, settings) for case in read_evasions()])
    if options.write is None:
        print(told)
        return
    before, _, rest = options.write.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    options.write.write_text(f"{before}{BEGIN}\n{told}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
