"""Append the scores of each answer to a file of JSON lines, one file a day."""

import json
import os
from collections.abc import Callable
from pathlib import Path

from schemas.enriched import EnrichedAnswer
from workers.agents.export.event_exporter import event_exporter
from workers.settings import Settings

FOLDER = "READING_EASE_FOLDER"
"""Environment variable that names the folder."""


def open_folder(_: Settings) -> Callable[[EnrichedAnswer], None]:
    """Return the function that writes one answer.

    Raises:
        ValueError: the environment names no folder.
    """
    if not os.environ.get(FOLDER):
        raise ValueError(f"{FOLDER} is not set; set it to a folder")
    folder = Path(os.environ[FOLDER])
    folder.mkdir(parents=True, exist_ok=True)

    def write(enriched: EnrichedAnswer) -> None:
        path = folder / f"{enriched.enriched_at:%Y-%m-%d}.jsonl"
        # One write call, so that lines of two threads do not mix.
        with path.open("ab", buffering=0) as file:
            file.write(json.dumps(line(enriched)).encode() + b"\n")

    return write


def line(enriched: EnrichedAnswer) -> dict[str, object]:
    """Return what a line holds: identifiers, the decision and all scores, and no text of the answer."""
    return {
        "answer_id": enriched.answer_id,
        "tenant": enriched.tenant,
        "decision": enriched.decision.state,
        "gate": enriched.evaluation.score,
        **{name: report.score for name, report in enriched.evaluations.items()},
    }


SCORES_FILE = event_exporter("scores-file", EnrichedAnswer, open_folder)
