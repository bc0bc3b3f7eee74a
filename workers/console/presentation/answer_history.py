"""Build the history of an answer: its events with their times, worded consistently with the final decision."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from pydantic import BaseModel, Field
from pydantic_core import from_json

from schemas.feedback import FeedbackEvent
from workers.console.presentation.evaluated_texts import (
    EvaluatedText,
    doubtful,
    end_of_evaluations,
    evaluated_texts,
    shown_since,
    texts_before,
)
from workers.console.presentation.outcome import (
    Recorded,
    SeenBefore,
    ShownText,
    outcome_words,
    seen_after,
    seen_as,
    time_words,
)
from workers.console.presentation.words import review_event_words, words_of
from workers.decision.finality import state_after
from workers.feedback.observed_events import is_of_reviewer
from workers.stores.clickhouse.row_reading import Row
from workers.stores.queries.answer_queries import StoredAnswer

_KINDS = {
    "final": "decided",
    "second": "second opinion",
    "vote": "vote",
    "late": "decision without effect",
    "withdrawal": "decision withdrawn",
}
_AGAINST = {
    decided: {
        (ruling, action) for ruling in ("second", "late") for action in ("approve", "reject", "correct") if action != decided
    } | {("vote", "upvote" if decided == "reject" else "downvote")}
    for decided in ("approve", "reject", "correct")
}  # fmt: skip
"""Rulings and actions that speak against a final decision, by its action."""
_FEEDBACK = {"execution": "end of the call reported by the gateway", "retry": "question asked again"}
"""Words for the kinds of feedback that no reader gives."""
_LOCKS = ("assigned", "unassigned")


class Happening(BaseModel):
    """Describe an event in the history of an answer."""

    at: datetime
    what: str
    detail: str = Field(default="", description="Words about it.")


def history_of(stored: StoredAnswer) -> list[Happening]:
    """Return what happened to an answer, the first one first."""
    every = [*_evaluated(stored), *_events(stored), *_decided(stored), *_given(stored)]
    return sorted(every, key=lambda happening: happening.at)


def contrary_words(stored: StoredAnswer) -> list[str]:
    """Return sentences about what speaks against the state of an answer: other opinions, claims, or an open review."""
    final = next((row for row in stored.decisions if row["ruling"] == "final"), None)
    texts = evaluated_texts(stored)
    later = [*_later(texts, stored)]
    if any(row["ruling"] == "withdrawal" for row in stored.decisions):
        return [*later, *(_contradicted(stored, final, texts) if final else [])]
    if final is None:
        if stored.blind or not any(review["state"] == "open" for review in stored.reviews):
            return []
        return [
            "A review was requested, and nothing is decided yet.",
            *_undone(stored),
            *_escalation(stored, waits=True),
        ]
    others = [row for row in stored.decisions if (row["ruling"], row["action"]) in _AGAINST[final["action"]]]
    return [
        *later,
        *_contradicted(stored, final, texts),
        *_escalation(stored, waits=False),
        *(outcome_words(_recorded(row)) for row in others),
    ]


def version_words(shown: Sequence[ShownText], at: datetime, *, withdrawn: bool) -> str:
    """Return the version of an answer at a time: its number and state among the texts that readers were shown.

    Args:
        shown: those texts, the first one first; empty if they are hidden.
        at: the time.
        withdrawn: the last text is that of a withdrawal.
    """
    if not shown:
        return "hidden"
    numbers = [number for number, text in enumerate(shown, 1) if text.since <= at]
    # Rows of answers from before the table of texts have the last evaluation alone.
    if not numbers:
        return "an earlier evaluation"
    last = numbers[-1]
    return f"{last}: {'withdrawn' if withdrawn and last == len(shown) else shown[last - 1].state}"


def _escalation(stored: StoredAnswer, *, waits: bool) -> Iterator[str]:
    """Yield a sentence on the last escalation that was not undone, with its deadline if the request waits, UTC."""
    moved = [event for event in stored.review_events if event["kind"] == "escalated" or _undoes_escalation(event)]
    if not moved or moved[-1]["kind"] != "escalated":
        return
    last = moved[-1]
    why = f": {words_of(last['reason'])}" if last["reason"] else ""
    ends = f" Its deadline is {time_words(last['deadline_at'])}." if waits and last["deadline_at"] else ""
    yield f"Escalated by {last['reviewer']} on {time_words(last['occurred_at'])} to the queue “{last['queue']}”{why}.{ends}"


def _undone(stored: StoredAnswer) -> Iterator[str]:
    """Yield a sentence on each decision on a waiting request that was undone."""
    for event in stored.review_events:
        if event["kind"] == "undone":
            yield outcome_words(_event_record(event))


def _undoes_escalation(event: Row) -> bool:
    """Return true for the event of an undone escalation; that of an undone skip names no queue."""
    return event["kind"] == "resumed" and bool(event["queue"])


def _later(texts: Sequence[EvaluatedText], stored: StoredAnswer) -> Iterator[str]:
    """Yield a sentence on a text that was evaluated after a decision or withdrawal."""
    in_force = texts_before(texts, end_of_evaluations(stored.decisions))[-1]
    if texts[-1].key != in_force.key:
        yield (
            f"Another text was evaluated under this identifier on {time_words(texts[-1].since)}, after the answer was decided."
            " Readers did not get it; claims and scores are those of this later text."
        )


def _contradicted(stored: StoredAnswer, final: Row, texts: Sequence[EvaluatedText]) -> Iterator[str]:
    """Yield a sentence on contradicted claims of an approved answer that the reviewer did not find supported."""
    found = {each["claim_id"]: each["verdict"] for each in from_json(final["decision"]).get("claim_verdicts", [])}
    claims = [claim["claim_id"] for claim in stored.claims if claim["verdict"] == "contradicted"]
    number, total = sum(found.get(claim) != "supported" for claim in claims), len(stored.claims)
    before = texts_before(texts, shown_since(final))
    decided = next((text for text in texts if text.key == final["text_key"]), before[-1])
    if decided.key != texts[-1].key:
        number, total = doubtful(decided.contradicted, found.values()), decided.claims
    if final["action"] == "approve" and number:
        yield f"Approved although the sources contradict {number} claim{'s' * (number > 1)} of {total}."


def latest_feedback(rows: Sequence[Row]) -> list[FeedbackEvent]:
    """Return the latest revision of each feedback event."""
    latest: dict[str, FeedbackEvent] = {}
    for row in rows:
        event = FeedbackEvent.model_validate_json(row["event"])
        latest[event.feedback_id] = event
    return list(latest.values())


def _evaluated(stored: StoredAnswer) -> Iterator[Happening]:
    row = stored.answer
    if row["requested_at"]:
        yield Happening(at=row["requested_at"], what="asked")
    model = "a model without a name" if row["model_id"] == "unknown" else row["model_id"]
    yield Happening(at=row["completed_at"], what="answered", detail=f"by {model}{_failure(row)}")
    texts = evaluated_texts(stored)
    got = texts_before(texts, end_of_evaluations(stored.decisions))
    for text in texts:
        reasons = ", ".join(map(words_of, text.reasons)) or "nothing against it"
        seen = seen_as(text.state, empty=text.empty) if text in got else "readers did not get it"
        yield Happening(at=text.since, what="evaluated", detail=f"{text.state}: {reasons}; {seen}")
    for alert in stored.alerts:
        yield Happening(at=alert["raised_at"], what="alert", detail=alert["message"])
    # The row of the queue is that of the decision once there is one; the request stays.
    kept = [from_json(row["request"]) for row in stored.requests if row["request"]]
    for request in kept or stored.reviews:
        if request["reasons"]:
            asked = ", ".join(map(words_of, request["reasons"]))
            yield Happening(at=request["requested_at"], what="review requested", detail=asked)


def _failure(row: Row) -> str:
    """Return what the gateway said of a failed call; empty for others."""
    if row["status"] != "error":
        return ""
    return f"; the call failed: {row['error']}" if row["error"] else "; the call failed"


def _events(stored: StoredAnswer) -> Iterator[Happening]:
    for event in stored.review_events:
        kind, at, by = event["kind"], event["occurred_at"], event["reviewer"]
        if kind in _LOCKS:
            yield Happening(at=at, what=review_event_words(kind), detail=f"by {by}")
            continue
        undone = from_json(event["undone"] or "{}")
        record = _event_record(event)
        steps = {"undone": "decision undone", "given": "review assigned"}
        what = review_event_words(kind) if kind.startswith("opinion_") else steps.get(kind, f"review {kind}")
        corrected = undone.get("corrected_answer")
        said = _said(undone.get("reason") or event["reason"], undone.get("comment"))
        yield Happening(
            at=at,
            what=what,
            detail=f"{outcome_words(record)}{said}" + (f" Its correction was: {corrected}" if corrected else ""),
        )


def _event_record(event: Row) -> Recorded:
    """Return a stored step of a review as a record."""
    undone = from_json(event["undone"] or "{}")
    return Recorded(
        event["kind"], undone.get("action", ""), "", event["reviewer"], event["occurred_at"],
        undone.get("with_warning", False), event["assignee"] or event["queue"],
        made=datetime.fromisoformat(undone["decided_at"]) if undone else None,
    )  # fmt: skip


def _decided(stored: StoredAnswer) -> Iterator[Happening]:
    last = texts_before(evaluated_texts(stored), end_of_evaluations(stored.decisions))[-1]
    empty = last.empty
    before = SeenBefore(last.state, last.since, empty)
    decided = next((_recorded(row) for row in stored.decisions if row["ruling"] == "final"), None)
    withdrawn = next((row["decided_at"] for row in stored.decisions if row["ruling"] == "withdrawal"), None)
    for row in stored.decisions:
        decision = from_json(row["decision"])
        said = _said(row["reason"], decision.get("user_comment"))
        earlier = (
            seen_after(before, decided.action, decided.state, decided.since)
            if decided and row["ruling"] == "withdrawal"
            else before
        )
        yield Happening(
            at=row["decided_at"],
            what=_KINDS.get(row["ruling"], row["ruling"]),
            detail=f"{outcome_words(_recorded(row)._replace(withdrawn=withdrawn, empty=empty), earlier)}{said}",
        )


def _recorded(row: Row) -> Recorded:
    """Return a stored decision as a record."""
    decision = from_json(row["decision"])
    warned = decision.get("with_warning", False)
    published = decision.get("published_at")
    state = state_after(row["action"], with_warning=warned) if row["ruling"] in ("final", "withdrawal") else ""
    return Recorded(
        row["ruling"], row["action"], state, row["decided_by"], row["decided_at"], warned,
        shown=datetime.fromisoformat(published) if published else None,
    )  # fmt: skip


def _given(stored: StoredAnswer) -> Iterator[Happening]:
    """Yield feedback of readers; that of reviewers repeats their decisions."""
    for event in latest_feedback(stored.feedback):
        if not is_of_reviewer(event):
            what = _FEEDBACK.get(event.kind, "feedback")
            yield Happening(at=event.occurred_at, what=what, detail=_summary(event))


def _summary(event: FeedbackEvent) -> str:
    """Summarize feedback in a few words."""
    part = event.explicit or event.behaviour
    given = part.model_dump(mode="json") if part else {}
    said = [
        f"{words_of(name)} {value}"
        for name, value in given.items()
        if value not in (None, [], "") and name != "comment"
    ]
    if event.execution is not None:
        said = ["with an error" if event.execution.status == "error" else "without an error"]
    return ", ".join(said) or words_of(event.kind)


def _said(reason: str | None, comment: str | None) -> str:
    why = f" Because of: {words_of(reason)}." if reason else ""
    return f"{why} “{comment}”" if comment else why
