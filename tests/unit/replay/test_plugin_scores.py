"""A replay writes the reports of evaluator plug-ins to a shadow topic, and their scores under its own name."""

from datetime import UTC, datetime
from typing import Any

from schemas.enriched import EnrichedAnswer
from schemas.evaluations import EvaluationReport
from schemas.export import example
from workers.delivery.records import Output, Record
from workers.pipeline.pipeline import EvaluatedAnswer
from workers.replay.replay_outputs import ReplayOutputs
from workers.settings import Settings
from workers.stores.queries.runs.replay_records import StoredReplay
from workers.stores.tables.answer_tables import ScoreRow
from workers.stores.tables.table_row import TableRow

NOW = datetime(2026, 11, 2, tzinfo=UTC)
REPORT = EvaluationReport.model_validate(example(EvaluationReport) | {"run": "stricter"})
ENRICHED = EnrichedAnswer.model_validate(
    example(EnrichedAnswer) | {"run": "stricter", "evaluations": {"tone": REPORT}, "missing": []}
)


class Receivers:
    """A broker and a store that keep what they are sent."""

    def __init__(self) -> None:
        self.outputs: list[Output] = []
        self.rows: list[TableRow] = []

    async def send(self, outputs: list[Output], agent: str) -> None:
        self.outputs += outputs

    async def store(self, rows: list[TableRow], about: str) -> None:
        self.rows += rows


async def test_reports_go_to_the_shadow_of_their_topic_and_scores_to_the_run() -> None:
    receivers: Any = Receivers()
    row = StoredReplay("stricter", "2", "{}", "running", NOW, NOW)
    outputs = ReplayOutputs(receivers, receivers, row, Settings(), memory=False)
    value = REPORT.to_bytes()
    record = Record("answers.generated", 0, 0, None, None)
    await outputs.write([EvaluatedAnswer(record, [(REPORT, value)], ENRICHED, ENRICHED.to_bytes())])
    assert [(output.topic.name, output.value) for output in receivers.outputs[:1]] == [
        ("answers.evaluations.shadow.stricter", value)
    ]
    scores = [row for row in receivers.rows if isinstance(row, ScoreRow)]
    assert {(row.run, row.evaluator, row.name, row.value) for row in scores} == {
        ("stricter", "tone", "score", 0.92), ("stricter", "tone", "polite", 1.0), ("stricter", "tone", "sober", 0.84),
    }  # fmt: skip
