"""Write the outputs of answers, to compare them to the byte before and after a change of the code.

    python -m benchmarks.evaluation_outputs before.jsonl
    (change the code)
    python -m benchmarks.evaluation_outputs after.jsonl && cmp before.jsonl after.jsonl

Versions, identifiers made of versions, and durations are left out: they may differ.
"""

import argparse
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from schemas.answers import GeneratedAnswer
from workers.decision.release_events import released_answer
from workers.gateways.answer_files import read_events
from workers.pipeline.local_pipeline import LocalPipeline
from workers.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples" / "answers.jsonl"
CHANGING = frozenset({"pipeline_version", "versions", "judgement_id", "duration_seconds", "grounding_seconds"})
"""Fields that differ between versions and runs."""
RELEASED_AT = datetime(2026, 1, 1, tzinfo=UTC)
"""A fixed time of the release, since the outputs must not depend on the clock."""


def without_changing_fields(value: Any) -> Any:
    """Return a JSON value without the fields that differ between versions and runs."""
    if isinstance(value, dict):
        return {name: without_changing_fields(each) for name, each in value.items() if name not in CHANGING}
    if isinstance(value, list):
        return [without_changing_fields(each) for each in value]
    return value


def outputs(answers: Iterable[GeneratedAnswer], pipeline: LocalPipeline) -> Iterable[str]:
    """Yield one line of JSON for each answer: the enriched and the released answer."""
    for answer in answers:
        enriched = pipeline.evaluate(answer)
        events = {"enriched": enriched, "released": released_answer(enriched, RELEASED_AT)}
        found = {name: json.loads(event.model_dump_json()) for name, event in events.items()}
        yield json.dumps(without_changing_fields(found), sort_keys=True, ensure_ascii=False)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("output", type=Path, help="file to write, one line an answer")
    parser.add_argument("--answers", default=str(EXAMPLES), help="answers as JSON lines; the examples by default")
    given = parser.parse_args(arguments)
    answers = (event for event in read_events(given.answers) if isinstance(event, GeneratedAnswer))
    lines = list(outputs(answers, LocalPipeline(Settings())))
    given.output.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    print(f"{len(lines)} answers written to {given.output}")


if __name__ == "__main__":
    main()
