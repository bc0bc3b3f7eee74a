"""Answers by number: small, all different by identifier, few different texts, so that the model is no bottleneck."""

import json
from collections.abc import Iterator

from schemas.answers import GeneratedAnswer
from schemas.export import example

FACTS = (
    ("The pump of line {n} runs at 4.2 bar.", "Line {n}: the pump runs at 4.2 bar under load."),
    ("Restart the collector on host {n} after the update.", "After an update the collector on host {n} must be restarted."),
    ("Invoice batch {n} was closed on 3 March 2026.", "Invoice batch {n} was closed on 5 March 2026."),
    ("Sensor {n} reported no fault last night.", "Sensor {n} reported a fault at 02:14."),
)  # fmt: skip
VARIANTS = 8


def identifier(number: int, prefix: str = "a") -> str:
    return f"{prefix}-{number:06d}"


def answer(number: int, prefix: str = "a") -> bytes:
    """One answer as the value of a record."""
    statement, source = (text.format(n=number % VARIANTS) for text in FACTS[number % len(FACTS)])
    return json.dumps(
        {
            "answer_id": identifier(number, prefix),
            "tenant": "chaos",
            "session_id": f"s-{number % 50}",
            "query": f"What is known of number {number % VARIANTS}?",
            "answer": f"{statement[:-1]} [1].",
            "contexts": [{"chunk_id": f"c-{number % VARIANTS}-{number % len(FACTS)}", "content": source}],
            "risk_mode": "gatekeeper" if number % 3 == 0 else "observer",
            "completed_at": f"2026-11-{1 + number % 20:02d}T10:00:00Z",
        }
    ).encode()


def records(count: int, prefix: str = "a", start: int = 0) -> Iterator[tuple[bytes, bytes]]:
    """Keys and values of answers."""
    for number in range(start, start + count):
        yield identifier(number, prefix).encode(), answer(number, prefix)


def stubbed_records(count: int, prefix: str = "a", start: int = 0) -> Iterator[tuple[bytes, bytes]]:
    """Keys and values of answers that the constants of ``benchmarks.stubbed_worker`` fit."""
    found_in = example(GeneratedAnswer)
    for number in range(start, start + count):
        name = identifier(number, prefix)
        changes = {
            "answer_id": name,
            "tenant": "chaos",
            "session_id": f"s-{number // 10}",
            "answer": f"{found_in['answer']}\n\nCase {number} was like it.",
            "risk_mode": "gatekeeper" if number % 3 == 0 else "observer",
        }
        yield name.encode(), json.dumps(found_in | changes).encode()
