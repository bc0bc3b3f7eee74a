"""Say on what evidence a record of the audit rests: scores, minima, and the verdicts of the evaluation and of people."""

from collections.abc import Collection, Mapping
from typing import Any

from pydantic_core import from_json, to_json

from workers.stores.clickhouse.row_reading import Row

MEASURED = (
    "hallucination_risk", "grounding_score", "grounding_minimum", "gate_score", "gate_minimum", "claims_supported",
    "claims_contradicted", "claims_unsupported",
)  # fmt: skip
"""Columns of an answer that its records of the audit have as well."""


def evidence_of(row: Row, answer: Row | None, contradicted: Collection[str]) -> dict[str, Any]:
    """Return the evidence of a record.

    Args:
        row: the record.
        answer: the answer; null if it is no longer stored.
        contradicted: identifiers of the claims that the evaluation found contradicted.
    """
    verdicts = verdicts_of(row["verdicts"])
    approved = row["ruling"] == "final" and row["action"] == "approve"
    return {name: answer[name] if answer else None for name in MEASURED} | {
        "claim_verdicts": to_json(verdicts).decode() if verdicts else "",
        "contradicted_approved": len(against(contradicted, verdicts)) if approved and answer else None,
    }


def verdicts_of(text: str) -> dict[str, str]:
    """Return the verdicts of a reviewer by claim, from the JSON of a decision or of an event."""
    found = from_json(text) if text else {}
    return found if isinstance(found, dict) else {each["claim_id"]: each["verdict"] for each in found}


def against(contradicted: Collection[str], verdicts: Mapping[str, str]) -> set[str]:
    """Return the claims that the evaluation or the reviewer found contradicted, unless the reviewer found them supported."""
    doubted = {claim for claim, verdict in verdicts.items() if verdict == "contradicted"}
    return doubted | {claim for claim in contradicted if verdicts.get(claim) != "supported"}


def contrary_words(number: int) -> str:
    """Return a sentence on the contradicted claims of an approved answer."""
    return f"Approved although {number} claim{'s are' if number > 1 else ' is'} contradicted."
