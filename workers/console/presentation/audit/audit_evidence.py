"""Say on what evidence a record of the audit rests: scores, minima, and the verdicts of the evaluation and of people."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic_core import from_json, to_json

from workers.console.presentation.evaluated_texts import doubtful
from workers.stores.clickhouse.row_reading import Row

MEASURED = ("hallucination_risk", "grounding_score", "grounding_minimum", "gate_score", "gate_minimum")
"""Columns of an answer that its records of the audit have as well."""
COUNTED = ("supported", "contradicted", "unsupported")
"""Verdicts of the evaluation whose claims are counted."""
COUNTED_OF_REVIEWER = (*COUNTED, "cannot_tell")
"""Verdicts of a reviewer whose claims are counted."""


def text_at(texts: Sequence[Row], at: datetime, key: int = 0) -> Row | None:
    """Return the text of an answer that stood at a time: the last one until then, or the first one.

    Args:
        texts: evaluated texts of the answer, the first one first.
        at: the time.
        key: hash of the text that was decided on; 0 if it is not known.
    """
    of_key = [text for text in texts if text["text_key"] == key] or texts
    return next((text for text in reversed(of_key) if text["since"] <= at), of_key[0] if of_key else None)


def evidence_of(row: Row, texts: Sequence[Row], contradicted: Collection[str], key: int) -> dict[str, Any]:
    """Return the evidence of a record.

    Args:
        row: the record.
        texts: evaluated texts of the answer, the first one first; empty if it is no longer stored.
        contradicted: identifiers of the claims of the last text that the evaluation found contradicted.
        key: hash of the text that was decided on; 0 if it is not known.
    """
    verdicts = verdicts_of(row["verdicts"])
    text = text_at(texts, row["decided_at"] or row["undone_at"], key if row["ruling"] == "final" else 0)
    approved = row["ruling"] == "final" and row["action"] == "approve"
    number = len(against(contradicted, verdicts))
    evaluated = text is not None and text["claims_contradicted"] is not None
    if text and evaluated and text["text_key"] != texts[-1]["text_key"]:
        number = doubtful(text["claims_contradicted"], verdicts.values())
    counts = Counter(verdicts.values())
    return {
        **{name: text[name] if text else None for name in MEASURED},
        **{f"claims_{name}_by_evaluation": text[f"claims_{name}"] if text else None for name in COUNTED},
        **{f"claims_{name}_by_reviewer": counts[name] if verdicts else None for name in COUNTED_OF_REVIEWER},
        "claim_verdicts": to_json(verdicts).decode() if verdicts else "",
        "contradicted_approved": number if approved and evaluated else None,
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
