"""Compare rules and verifier on the hand-written claims, by phenomenon.

    python -m training.phenomena --verifier builtin
    python -m training.phenomena --verifier build/verifier/verifier.int8.onnx --combination build/verifier/verifier.json

A claim is right where its verdict is "supported" exactly if a careful reader's is. The claims and their verdicts are
those of ``tests/data``: the rules were made with those of the first file in view, and with none of the second's.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from schemas.answers import ContextChunk, GeneratedAnswer
from workers.inference.opening import open_backend
from workers.pipeline.local_pipeline import LocalPipeline
from workers.settings import Settings

DATA = Path(__file__).parents[1] / "tests" / "data"
FILES = ("claim_cases.jsonl", "claim_cases_heldout.jsonl")
COMPLETED = datetime(2026, 11, 2, tzinfo=UTC)


@dataclass(slots=True)
class Tally:
    """Count the claims of one phenomenon that are evaluated as a reader does.

    Attributes:
        cases: all of them.
        rules: right by the rules alone.
        both: right with the verifier.
        gained: wrong by the rules and right with the verifier.
        lost: the other way round.
    """

    cases: int = 0
    rules: int = 0
    both: int = 0
    gained: int = 0
    lost: int = 0

    def count(self, rules: bool, both: bool) -> None:
        """Count one more claim and which evaluations of it are right."""
        self.cases += 1
        self.rules += rules
        self.both += both
        self.gained += both and not rules
        self.lost += rules and not both


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--verifier", default="builtin", help="as grounding.verifier takes it (default builtin)")
    parser.add_argument("--combination", type=Path, help="how it joins the rules, if it is not the packaged one")
    parser.add_argument("--json", type=Path, help="write the figures to a file, too")
    options = parser.parse_args(arguments)
    settings = Settings(_env_file=None)
    backend = open_backend(settings)
    named = {"verifier": options.verifier, "verifier_combination": options.combination}
    with_verifier = settings.model_copy(update={"grounding": settings.grounding.model_copy(update=named)})
    rules, both = LocalPipeline(settings, backend), LocalPipeline(with_verifier, backend)
    tallies: dict[str, Tally] = {}
    console = Console()
    for name in FILES:
        cases = [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]
        for case in track(cases, name, console=Console(stderr=True), transient=True):
            right = is_right(rules, case), is_right(both, case)
            for key in (case["phenomenon"], name):
                tallies.setdefault(key, Tally()).count(*right)
    console.print(_table(tallies))
    if options.json:
        document = {name: {field: getattr(each, field) for field in Tally.__slots__} for name, each in tallies.items()}
        options.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def is_right(pipeline: LocalPipeline, case: Mapping[str, Any]) -> bool:
    """Return true if an evaluation supports exactly the supported claims; of several claims all must be supported."""
    before = case.get("before", "")
    answer = GeneratedAnswer(
        answer_id=case["id"], answer=f"{before} {case['claim']}".strip(), completed_at=COMPLETED,
        contexts=[ContextChunk(chunk_id="c", content=case["context"])],
    )  # fmt: skip
    report = pipeline.evaluate(answer).grounding
    start = len(answer.answer) - len(case["claim"])
    verdicts = [claim.verdict for claim in report.claims if claim.span.end > start] if report else []
    return (bool(verdicts) and set(verdicts) == {"supported"}) == (case["verdict"] == "supported")


def _table(tallies: Mapping[str, Tally]) -> Table:
    table = Table("phenomenon", "cases", "rules", "with verifier", "gained", "lost")
    for name, each in sorted(tallies.items(), key=lambda item: (item[0] in FILES, -item[1].cases)):
        table.add_row(name, *map(str, (each.cases, each.rules, each.both, each.gained, each.lost)))
    return table


if __name__ == "__main__":
    main()
