"""Build the history of an answer: each happening with its time, in words that agree with the final decision."""

from collections.abc import Iterator, Sequence
from datetime import datetime

import orjson
from pydantic import BaseModel, Field

from schemas.feedback import FeedbackEvent
from workers.console.presentation.outcome import Recorded, SeenBefore, outcome_words
from workers.console.presentation.words import words_of
from workers.decision.finality import state_after
from workers.feedback.observed_events import REVIEWER
from workers.stores.clickhouse.row_reading import Row
from workers.stores.queries.answer_queries import StoredAnswer

_KINDS = {"final": "decided", "second": "second opinion", "vote": "vote", "late": "decision without effect"}
_LOCKS = {"assigned": "opened for review", "unassigned": "closed without a decision"}


class Happening(BaseModel):
    """An event in the history of an answer."""

    at: datetime
    what: str
    detail: str = Field(default="", description="Words about it.")


def history_of(stored: StoredAnswer) -> list[Happening]:
    """Return what happened to an answer, the first one first."""
    every = [*_evaluated(stored), *_events(stored), *_decided(stored), *_given(stored)]
    return sorted(every, key=lambda happening: happening.at)


def latest_feedback(rows: Sequence[Row]) -> list[FeedbackEvent]:
    """Return the latest revision of each feedback event."""
    latest: dict[str, FeedbackEvent] = {}
    for row in rows:
        event = FeedbackEvent.model_validate_json(row["event"])
        latest[event.feedback_id] = event
    return list(latest.values())


def is_of_reviewer(event: FeedbackEvent) -> bool:
    """Return true if feedback comes from a decision or vote of a reviewer."""
    decides = event.explicit is not None and event.explicit.review_action is not None
    return decides or (event.user_id or "").startswith(REVIEWER)


def _evaluated(stored: StoredAnswer) -> Iterator[Happening]:
    row = stored.answer
    if row["requested_at"]:
        yield Happening(at=row["requested_at"], what="asked")
    yield Happening(at=row["completed_at"], what="answered", detail=row["model_id"])
    reasons = ", ".join(map(words_of, row["reasons"])) or "nothing against it"
    yield Happening(at=row["enriched_at"], what="evaluated", detail=f"{row['state']}: {reasons}")
    for alert in stored.alerts:
        yield Happening(at=alert["raised_at"], what="alert", detail=alert["message"])
    for review in stored.reviews:
        if review["reasons"]:
            asked = ", ".join(map(words_of, review["reasons"]))
            yield Happening(at=review["requested_at"], what="review requested", detail=asked)


def _events(stored: StoredAnswer) -> Iterator[Happening]:
    for event in stored.review_events:
        kind, at, by = event["kind"], event["occurred_at"], event["reviewer"]
        if kind in _LOCKS:
            yield Happening(at=at, what=_LOCKS[kind], detail=f"by {by}")
            continue
        undone = orjson.loads(event["undone"] or "{}")
        target = event["assignee"] if kind == "given" else event["queue"]
        record = Recorded(kind, undone.get("action", ""), "", by, at, undone.get("with_warning", False), target)
        what = "decision undone" if kind == "undone" else f"review {'assigned' if kind == 'given' else kind}"
        corrected = undone.get("corrected_answer")
        said = _said(undone.get("reason"), undone.get("comment"))
        yield Happening(
            at=at,
            what=what,
            detail=f"{outcome_words(record)}{said}" + (f" Its correction was: {corrected}" if corrected else ""),
        )


def _decided(stored: StoredAnswer) -> Iterator[Happening]:
    before = SeenBefore(stored.answer["state"], stored.answer["enriched_at"])
    for row in stored.decisions:
        decision = orjson.loads(row["decision"])
        warned = decision.get("with_warning", False)
        state = state_after(row["action"], with_warning=warned) if row["ruling"] == "final" else ""
        record = Recorded(row["ruling"], row["action"], state, row["decided_by"], row["decided_at"], warned)
        said = _said(row["reason"], decision.get("user_comment"))
        yield Happening(
            at=row["decided_at"],
            what=_KINDS.get(row["ruling"], row["ruling"]),
            detail=f"{outcome_words(record, before)}{said}",
        )


def _given(stored: StoredAnswer) -> Iterator[Happening]:
    """Yield feedback of readers; that of reviewers repeats their decisions."""
    for event in latest_feedback(stored.feedback):
        if not is_of_reviewer(event):
            yield Happening(at=event.occurred_at, what="feedback", detail=_summary(event))


def _summary(event: FeedbackEvent) -> str:
    """Summarize feedback in a few words."""
    part = event.explicit or event.behaviour
    given = part.model_dump(mode="json") if part else {}
    said = [
        f"{words_of(name)} {value}"
        for name, value in given.items()
        if value not in (None, [], "") and name != "comment"
    ]
    return ", ".join(said) or str(event.kind)


def _said(reason: str | None, comment: str | None) -> str:
    why = f" Because of: {words_of(reason)}." if reason else ""
    return f"{why} “{comment}”" if comment else why
