"""Derive the state of an answer after its review, the texts that its readers were shown, and a sentence about both."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from pydantic import BaseModel, Field
from pydantic_core import from_json

from schemas.enriched import ReleaseState
from schemas.review import POLICY, ReleasableAnswer, ReviewDecision
from workers.console.presentation.evaluated_texts import (
    EvaluatedText,
    end_of_evaluations,
    evaluated_texts,
    is_empty,
    texts_before,
)
from workers.decision.explanation import DecisionView, WithdrawalView
from workers.decision.finality import released_by
from workers.review.queue.deadlines import last_action
from workers.review.reader_outcomes import ReaderOutcome
from workers.review.review_models import ReviewItem
from workers.settings import ReviewSettings
from workers.stores.clickhouse.row_reading import Row
from workers.stores.queries.answer_queries import StoredAnswer

PIPELINE, AUTOMATIC = "pipeline", "automatic"
"""Author of what is shown without a decision, and the kind of its record."""

HELD = "Readers were shown nothing yet. The answer is held for a reviewer."

SEEN_AS: Mapping[str, str] = {
    "released": "readers saw it without a warning",
    "warned": "readers saw it with a warning",
    "replaced": "readers saw the corrected text",
    "rejected": "readers saw a notice in its place",
    "withdrawn": "readers saw a notice in its place",
    "fallback": "readers saw a notice that the sources do not support an answer",
    "held": "readers saw nothing yet",
}
"""Words for what readers saw of an answer, by its state."""
THEN_SEEN: Mapping[str, str] = {
    "released": "the answer without a warning",
    "warned": "the answer with a warning",
    "replaced": "the corrected text",
    "rejected": "a notice in its place",
    "withdrawn": "a notice in its place",
    "fallback": "a notice that the sources do not support an answer",
    "held": "nothing",
}
"""Words for what readers saw in one part of a time, by state."""
EMPTY: Mapping[str, str] = {"released": "an empty answer", "warned": "an empty answer with a warning"}
"""Words for what readers got of an answer without any text, by the states that show the text of the model."""
UNCHANGED = "nothing changed for readers"
_RELEASED = {"released": "Released", "warned": "Released with a warning", "fallback": "Answered with the fallback"}
_DONE = {
    "approve": "Approved", "reject": "Rejected", "correct": "Corrected", "upvote": "Voted up", "downvote": "Voted down",
}  # fmt: skip


class SeenBefore(NamedTuple):
    """Hold the state in which readers saw an answer before a decision.

    Attributes:
        state: state that the pipeline gave the answer.
        since: time of that state, UTC.
        empty: the model gave no text.
    """

    state: str
    since: datetime
    empty: bool = False


class Recorded(NamedTuple):
    """Describe a record of the audit: a decision, a step of a review, or an automatic release.

    Attributes:
        ruling: final, second, vote, late or withdrawal for a decision; automatic for a release without a person; else the kind of
            the event, such as undone or escalated.
        action: what was decided; empty for steps.
        state: state to which it led; empty if it changed nothing.
        by: name of the person; the policy decides what has passed its deadline.
        at: time of the record, UTC.
        with_warning: the decision approved with a warning.
        target: queue of an escalation, or person of an assignment.
        until: time from which readers had the decision that followed an automatic release, UTC; null without one.
        withdrawn: time at which the answer was withdrawn, UTC; null if it was not.
        made: time at which an undone decision was made, UTC; null if it is not known.
        shown: time from which readers had the result, UTC; null if that is the time of the record.
        empty: the model gave no text.
    """

    ruling: str
    action: str
    state: str
    by: str
    at: datetime
    with_warning: bool = False
    target: str = ""
    until: datetime | None = None
    withdrawn: datetime | None = None
    made: datetime | None = None
    shown: datetime | None = None
    empty: bool = False

    @property
    def since(self) -> datetime:
        """Return the time from which readers had the result of this record, UTC."""
        return self.shown or self.at

    @property
    def ended(self) -> datetime | None:
        """Return the time at which what readers saw by this record ended, UTC; null if it did not."""
        later = {AUTOMATIC: (self.until, self.withdrawn), "final": (self.withdrawn,)}.get(self.ruling, ())
        return min((each for each in later if each is not None and each > self.since), default=None)


def outcome_words(record: Recorded, before: SeenBefore | None = None) -> str:
    """Return a sentence about a record: what was done by whom, and what readers saw before and after.

    Args:
        record: the record.
        before: what readers saw before; null if it is not known.
    """
    who = "the policy at the deadline" if record.by == POLICY else record.by
    done = f"{_done(record)} by {who}"
    match record.ruling:
        case "automatic":
            released = _RELEASED.get(record.state, record.state)
            what = "decision" if record.ended == record.until else "withdrawal"
            until = f" until the {what} took effect on {time_words(record.ended)}" if record.ended else ""
            return (
                f"{released} automatically, without a person; "
                f"{seen_as(record.state, empty=record.empty)} from {time_words(record.at)}{until}."
            )
        case "undone":
            made = f" on {time_words(record.made)}" if record.made else ""
            known = f"{done}{made} and undone" if record.action else f"Decided{made} and undone by {who}"
            return f"{known} on {time_words(record.at)}, before it took effect; {UNCHANGED}."
        case "withdrawal":
            return f"Withdrawn by {who}; {_seen(record, before)}."
        case "second":
            return f"{who} would {record.action} it (second opinion); {UNCHANGED}."
        case "late":
            return f"{done} too late, the answer was already final; {UNCHANGED}."
        case "skipped" | "escalated" | "resumed" | "given" | "opinion_asked" | "opinion_ended" | "unassigned":
            return f"{_step(record, who)}; {UNCHANGED}."
    until = f", until it was withdrawn on {time_words(record.ended)}" if record.ended else ""
    return f"{done}; {_seen(record, before)}{until}."


def seen_as(state: str, *, empty: bool) -> str:
    """Return what readers saw of an answer in a state.

    Args:
        state: state of the answer; others than those of a release change nothing.
        empty: the model gave no text.
    """
    return f"readers got {EMPTY[state]}" if empty and state in EMPTY else SEEN_AS.get(state, UNCHANGED)


def _then_seen(state: str, *, empty: bool) -> str:
    return EMPTY[state] if empty and state in EMPTY else THEN_SEEN.get(state, state)


def _done(record: Recorded) -> str:
    return f"{_DONE.get(record.action, record.action)}{' with a warning' * record.with_warning}"


def _step(record: Recorded, who: str) -> str:
    match record.ruling:
        case "skipped":
            return f"Skipped by {who}, left to other reviewers"
        case "escalated":
            return f"Escalated by {who} to the queue “{record.target}”"
        case "resumed":
            return f"{'Escalation' if record.target else 'Skip'} undone by {who}"
        case "opinion_asked":
            return f"Second opinion of {record.target or 'anyone'} asked for by {who}"
        case "opinion_ended":
            return f"Request for a second opinion of {record.target or 'anyone'} taken back by {who}"
        case "unassigned":
            return f"Opened by {who} and closed again without a decision"
    return f"Assigned to {record.target} by {who}" if record.target else f"Assignment ended by {who}"


def _seen(record: Recorded, before: SeenBefore | None) -> str:
    """Return what readers saw before a decision and since."""
    seen = seen_as(record.state, empty=record.empty)
    if before is None or record.since <= before.since or record.state not in SEEN_AS:
        return seen
    if before.state == record.state:
        return f"{seen} from {time_words(before.since)} on"
    then = _then_seen(record.state, empty=record.empty)
    if before.state == "held":
        return f"readers saw nothing until {time_words(record.since)}, then {then}"
    earlier = _then_seen(before.state, empty=before.empty)
    verb = "got" if before.empty and before.state in EMPTY else "saw"
    return f"readers {verb} {earlier} from {time_words(before.since)} to {time_words(record.since)}, then {then}"


def time_words(at: datetime) -> str:
    """Return a time of UTC as the sentences of the audit write it."""
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"


def readers_get(outcome: ReaderOutcome, shown_state: str | None, *, empty: bool) -> str:
    """Return what readers get from a decision, as a part of a sentence.

    Args:
        outcome: state and text that the decision releases.
        shown_state: state that readers see until then; ``None`` if it is unknown.
        empty: the model gave no text.
    """
    if outcome.state == "rejected":
        return f"readers get “{outcome.content}” instead of the answer"
    verb = "keep" if outcome.state == shown_state else "get"
    if empty and outcome.state in EMPTY:
        return f"readers {verb} {EMPTY[outcome.state]}"
    return f"readers {verb} the answer {'with' if outcome.state == 'warned' else 'without'} a warning"


def deadline_words(item: ReviewItem, settings: ReviewSettings, now: datetime) -> str:
    """Return what happens at the deadline of a request without a decision; empty without a deadline."""
    if item.at_deadline is None or item.deadline_at is None:
        return ""
    unless = "If nobody decides by then" if now < item.deadline_at else "Unless somebody decides first"
    then = readers_get(item.outcomes["deadline"], item.shown_state, empty=is_empty(item.answer, item.reasons))
    if item.at_deadline != "escalate":
        return f"{unless}, {then}."
    moved = f"the request goes to the queue “{settings.escalation_queue}” for {settings.escalation_hours:g} h"
    return f"{unless}, {moved}; if nobody decides there, {then}."


def escalation_words(item: ReviewItem, settings: ReviewSettings) -> str:
    """Describe the effect of an escalation: queue, new deadline and result for readers.

    Empty if the request needs no decision.
    """
    if not item.outcomes:
        return ""
    action = last_action(settings, held=item.held, answer=item.answer)
    kept = "warn" if item.shown_state == "warned" else "approve"
    then = readers_get(
        item.outcomes[kept if action == "keep" else action], item.shown_state, empty=is_empty(item.answer, item.reasons)
    )
    return (
        f"Other reviewers find the request in the queue “{settings.escalation_queue}”. Its deadline moves to"
        f" {settings.escalation_hours:g} h from now; if nobody decides by then, {then}. Until then nothing changes for readers."
    )


class ShownText(BaseModel):
    """Describe a text that readers were shown from a point in time."""

    since: datetime
    by: str = Field(description="The pipeline, or the name of the reviewer.")
    state: ReleaseState
    content: str | None = Field(description="Markdown; null if readers were shown nothing.")


class Outcome(BaseModel):
    """Describe the state of an answer after its review."""

    state: ReleaseState
    decision: DecisionView | None
    withdrawal: WithdrawalView | None = None
    shown: list[ShownText]
    words: str = Field(description="Sentence about who decided, and what readers saw before and after.")


def outcome_of(stored: StoredAnswer) -> Outcome:
    """Return the outcome of an answer from its rows.

    The texts of the evaluation come first, then that of the final decision. A held answer was not shown.
    """
    texts = texts_before(evaluated_texts(stored), end_of_evaluations(stored.decisions))
    shown = [
        ShownText(
            since=text.since, by=PIPELINE, state=text.state, content=None if text.state == "held" else text.content
        )
        for text in texts
    ]
    final = next((row for row in stored.decisions if row["ruling"] == "final"), None)
    withdrawn = next((row for row in stored.decisions if row["ruling"] == "withdrawal"), None)
    end = withdrawn["decided_at"] if withdrawn else None
    view: DecisionView | None = None
    last = texts[-1]
    empty = last.empty
    before = SeenBefore(last.state, last.since, empty)
    if final is None:
        record = Recorded("automatic", "", last.state, PIPELINE, last.since, withdrawn=end, empty=empty)
        words = HELD if last.state == "held" else outcome_words(record)
    else:
        decision = _decision(stored, final)
        released = released_by(decision)
        view = _view(decision, released.state)
        shown.append(_shown_by(decision))
        record = Recorded(
            "final", decision.user_action, released.state, decision.decided_by, decision.timestamp,
            decision.with_warning, withdrawn=end, shown=decision.published_at, empty=empty,
        )  # fmt: skip
        words = outcome_words(record, before)
        before = seen_after(before, decision.user_action, released.state, released.released_at)
    words += replaced_words(texts)
    if withdrawn is None:
        return Outcome(state=shown[-1].state, decision=view, shown=shown, words=words)
    taken = _decision(stored, withdrawn)
    shown.append(_shown_by(taken))
    record = Recorded("withdrawal", "reject", shown[-1].state, taken.decided_by, taken.timestamp)
    return Outcome(
        state=shown[-1].state, decision=view, shown=shown, words=f"{outcome_words(record, before)} Before: {words}",
        withdrawal=WithdrawalView(
            by=taken.decided_by, at=taken.timestamp, reason=taken.reason or "", comment=taken.user_comment or ""
        ),
    )  # fmt: skip


def seen_after(before: SeenBefore, action: str, state: str, since: datetime) -> SeenBefore:
    """Return what readers saw after a decision; a decision that confirmed what they saw began nothing.

    Args:
        before: what they saw before.
        action: what was decided.
        state: state to which it led.
        since: time from which they had its result, UTC.
    """
    confirmed = action == "approve" and before.state == state and before.since < since
    return before if confirmed else SeenBefore(state, since, before.empty)


def replaced_words(texts: Sequence[EvaluatedText]) -> str:
    """Return sentences on earlier texts that readers saw, with a blank before each; empty without any.

    Args:
        texts: texts that readers got by the evaluation, the first one first.
    """
    return "".join(
        f" Another text came before it: {seen_as(text.state, empty=text.empty)} from"
        f" {time_words(text.since)} to {time_words(after.since)}."
        for text, after in pairwise(texts)
        if text.state != "held" and text.key != after.key
    )


def _view(decision: ReviewDecision, state: ReleaseState) -> DecisionView:
    return DecisionView(
        action=decision.user_action, state=state, with_warning=decision.with_warning,
        decided_by=decision.decided_by, decided_at=decision.timestamp, reason=decision.reason or "",
        comment=decision.user_comment or "", corrected_answer=decision.corrected_answer,
        comparison=decision.comparison,
        review_duration=decision.review_duration or None,
        verdicts={each.claim_id: each.verdict for each in decision.claim_verdicts},
    )  # fmt: skip


def _shown_by(decision: ReviewDecision) -> ShownText:
    """Return the text that a decision or withdrawal releases."""
    released = released_by(decision)
    return ShownText(since=released.released_at, by=decision.decided_by, state=released.state, content=released.content)


def _decision(stored: StoredAnswer, row: Row) -> ReviewDecision:
    """Return the decision of a row with the parts of its request that the row does not repeat."""
    if row["request"]:
        return ReviewDecision.model_validate(from_json(row["decision"]) | from_json(row["request"]))
    return ReviewDecision.model_validate(
        {"original_answer": stored.answer["answer"]} | from_json(row["decision"]) | {"releasable": _releasable(stored)}
    )


def _releasable(stored: StoredAnswer) -> ReleasableAnswer | None:
    """Return what the request held for a release: rows of earlier workers do not repeat it."""
    for request in stored.requests:
        if request["request"] and (found := from_json(request["request"]).get("releasable")):
            return ReleasableAnswer.model_validate(found)
    return None
