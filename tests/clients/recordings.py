"""Read the recordings of real clients in ``tests/data/clients``, and what arrives of each."""

import json
from datetime import UTC, datetime
from typing import Any

from tests.clients.model_server import ANSWER, DOCUMENT, QUESTION
from tests.harness.paths import DATA
from workers.gateways.adapted import Adapted, Received
from workers.gateways.formats import format_named

FOLDER = DATA / "clients"
RECORDINGS: dict[str, Any] = {
    path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))
}
NOW = datetime(2026, 11, 23, tzinfo=UTC)
COLUMNS = ("answer", "query", "contexts", "tools", "tokens", "model", "provider", "user", "session")


def arrived(recording: dict[str, Any]) -> list[Adapted]:
    """Return the answers of a recording, with all spans of it in one export."""
    if "traces" in recording:
        spans = [each for export in recording["traces"] for each in export["resourceSpans"]]
        return format_named("otlp").answers(json.dumps({"resourceSpans": spans}).encode(), Received(NOW))
    name = recording["format"]
    found = [format_named(name).answers(json.dumps(each).encode(), Received(NOW)) for each in recording["records"]]
    return [each for answers in found for each in answers]


def row(recording: dict[str, Any]) -> dict[str, bool]:
    """Return which fields arrive; the query, contexts and answer count only with their own text."""
    (found,) = arrived(recording)
    answer = found.answer
    return {
        "answer": ANSWER in answer.answer,
        "query": QUESTION in answer.query,
        "contexts": any(DOCUMENT in chunk.content for chunk in answer.contexts or ()),
        "tools": bool(found.answer.steps),
        "tokens": answer.usage is not None and answer.usage.prompt_tokens is not None,
        "model": answer.model.id != "unknown",
        "provider": bool(answer.model.provider),
        "user": bool(answer.user_id),
        "session": bool(answer.session_id),
    }
