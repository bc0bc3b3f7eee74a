"""List the texts that were evaluated under the identifier of an answer, and choose those that readers got."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from pydantic_core import from_json

from workers.evaluation.text.empty_texts import is_blank
from workers.stores.clickhouse.row_reading import Row
from workers.stores.queries.answer_queries import StoredAnswer


class EvaluatedText(NamedTuple):
    """Hold a text of an answer with its evaluation.

    Attributes:
        since: time of the evaluation, UTC.
        state: state that the evaluation gave it.
        content: Markdown for readers.
        reasons: reasons of that state.
        key: hash of the text of the model.
        empty: the model gave no text.
        claims: number of its claims.
        contradicted: number of claims that the sources contradict.
    """

    since: datetime
    state: str
    content: str
    reasons: Sequence[str]
    key: int
    empty: bool
    claims: int
    contradicted: int


def evaluated_texts(stored: StoredAnswer) -> list[EvaluatedText]:
    """Return the texts of an answer that were released or held, the first one first.

    A repeated evaluation with the same result is one text, and a less complete one after a complete one was not released.
    """
    found: list[EvaluatedText] = []
    rank = 0
    for row in stored.texts or [stored.answer | {"text_key": 0}]:
        if row["rank"] < rank:
            continue
        rank = row["rank"]
        text = EvaluatedText(
            row["enriched_at"], row["state"], row["content"], row["reasons"], row["text_key"],
            "empty_answer" in row["reasons"], row["claims_total"], row["claims_contradicted"],
        )  # fmt: skip
        if not found or (text.state, text.content) != (found[-1].state, found[-1].content):
            found.append(text)
    # An empty text that was an error, or that a rule of its own let pass, has no such reason.
    found[-1] = found[-1]._replace(empty=is_empty(stored.answer["answer"], found[-1].reasons))
    return found


def is_empty(answer: str, reasons: Collection[str]) -> bool:
    """Return true if the model gave no text.

    Args:
        answer: the text of the model; a text that the gateway did not send is not empty.
        reasons: reasons of the decision.
    """
    return "empty_answer" in reasons or (is_blank(answer) and "text_not_sent" not in reasons)


def texts_before(texts: Sequence[EvaluatedText], end: datetime | None) -> list[EvaluatedText]:
    """Return the texts that readers got by the evaluation alone: none after a decision or withdrawal.

    Args:
        texts: texts of the answer, at least one.
        end: time from which readers had the first decision or withdrawal; null without one.
    """
    return [text for text in texts if end is None or text.since < end] or [texts[0]]


def end_of_evaluations(decisions: Iterable[Row]) -> datetime | None:
    """Return the time from which readers had the first decision or withdrawal; null without one.

    Args:
        decisions: rows of the decisions.
    """
    return min(
        (shown_since(row) for row in decisions if row["ruling"] in ("final", "withdrawal")),
        default=None,
    )


def doubtful(contradicted: int, verdicts: Iterable[str]) -> int:
    """Return how many contradicted claims a reviewer left so, where the claims are no longer stored.

    Args:
        contradicted: number of claims that the sources contradict.
        verdicts: verdicts of the reviewer on claims.
    """
    return max(0, contradicted - sum(verdict == "supported" for verdict in verdicts))


def shown_since(row: Row) -> datetime:
    """Return the time from which readers had the result of a stored decision: the end of its undo window."""
    published = from_json(row["decision"]).get("published_at")
    time: datetime = datetime.fromisoformat(published) if published else row["decided_at"]
    return time
