"""The rows of the example answers travel in few records."""

from collections.abc import Mapping
from typing import Any

from schemas.enriched import EnrichedAnswer
from schemas.reports import Findings
from schemas.topics import FEEDBACK_ANALYTICS
from tests.contract.test_steps_on_examples import NOW, enriched_of, reports_of
from tests.contract.test_steps_on_examples import findings as findings
from tests.contract.test_steps_on_examples import prepared as prepared
from tests.contract.test_steps_on_examples import vectors as vectors
from workers.agents.base import event_output
from workers.decision.release_events import alerts, review_request
from workers.evaluation.thresholds import GroundingThresholds
from workers.stores.clickhouse.rows.clickhouse_rows import alert_row, enriched_rows
from workers.stores.clickhouse.rows.review_rows import review_rows
from workers.stores.tables.packed_rows import PACKED_BYTES, packed, unpacked
from workers.stores.tables.table_row import TableRow


def rows_by_agent(enriched: EnrichedAnswer) -> list[list[TableRow]]:
    """Return the rows of assembly and those of release."""
    request = review_request(enriched, NOW, deadline_hours=24)
    released: list[TableRow] = list(review_rows(request)) if request is not None else []
    released += [alert_row(alert, enriched) for alert in alerts(enriched, NOW, GroundingThresholds())]
    return [list(enriched_rows(enriched)), released]


def size(event: Any, enriched: EnrichedAnswer) -> int:
    """Return the bytes of a record with its key and headers."""
    output = event_output(
        FEEDBACK_ANALYTICS, event, key=enriched.answer_id, event_id=enriched.answer_id, agent="assembly", time=NOW,
        pipeline_version="0.1.0+0123456789ab",
    )  # fmt: skip
    headers = sum(len(name) + len(value or b"") for name, value in output.headers)
    return len(output.key or b"") + len(output.value or b"") + headers


def test_an_answer_has_one_record_of_rows_for_each_agent(findings: Mapping[str, dict[str, Findings]]) -> None:
    singly = together = rows = records = answers = 0
    for name, found in findings.items():
        enriched = enriched_of(name, reports_of(name, found))
        for of_agent in rows_by_agent(enriched):
            made = packed(of_agent)
            each_alone = sum(size(row.record(), enriched) for row in of_agent)
            assert sorted(table for each in made for table, _ in unpacked(each)) == sorted(
                row.table for row in of_agent
            )
            if each_alone > PACKED_BYTES:
                continue  # an answer of 60,000 characters
            assert len(made) == bool(of_agent), name
            rows, records, singly = rows + len(of_agent), records + len(made), singly + each_alone
            together += sum(size(each, enriched) for each in made)
        answers += 1
    assert records < 0.2 * rows
    assert together < 0.75 * singly
