"""Filters, cursors and rows of the review queue."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from schemas.base import RiskLevel

QueueState = Literal["open", "decided", "second"]


@dataclass(frozen=True, slots=True)
class QueueFilters:
    """Filter on the review queue. ``None`` filters nothing.

    Attributes:
        tenants: tenants of the requests; all if empty.
        model: model that wrote the answer.
        signal: a failure signal among those of the answer.
        reason: a reason of the decision.
        queue: name of the queue.
        min_risk: the lowest level.
        max_score: the highest gate score; a score that is not known counts as below.
        state: open, decided, or waiting for a second review.
        assignee: person to whom the requests are assigned; ``NOBODY`` for unassigned ones.
        reviewed_by: person who decided the requests or reviewed them independently; not for open requests.
        q: words that question or answer of open requests hold, all of them, without regard to case and accents.
        not_of: leaves out requests that are assigned to one of these people, each with a tenant; empty for all tenants.
    """

    tenants: tuple[str, ...] = ()
    model: str | None = None
    signal: str | None = None
    reason: str | None = None
    queue: str | None = None
    min_risk: RiskLevel | None = None
    max_score: float | None = None
    state: QueueState = "open"
    assignee: str | None = None
    reviewed_by: str | None = None
    not_of: tuple[tuple[str, str], ...] = ()
    q: str | None = None


@dataclass(frozen=True, slots=True)
class QueueCursor:
    """End of a page of the queue, which is ordered by priority, then age."""

    priority: float
    requested_at: datetime
    review_id: str


@dataclass(frozen=True, slots=True)
class DecidedCursor:
    """End of a page of decided requests, ordered by the time of the decision (1970 if there is none)."""

    decided_at: datetime
    review_id: str


@dataclass(frozen=True, slots=True)
class QueueTotals:
    """Totals of the requests that match some filters.

    Attributes:
        number: number of requests.
        held: requests whose readers are waiting; ``None`` unless the requests are open.
        oldest_at: when the oldest one was requested; ``None`` unless the requests are open, and without any.
    """

    number: int
    held: int | None = None
    oldest_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class QueueFigures:
    """Figures of the review queue.

    Attributes:
        open: number of requests without a decision.
        held: open requests whose readers are waiting.
        oldest_at: when the oldest open one was requested.
        decided: decisions of people since the time asked for.
        by_policy: decisions of deadlines since then.
        median_seconds: median time of active review since then; ``None`` without any.
    """

    open: int
    held: int
    oldest_at: datetime | None
    decided: int
    by_policy: int
    median_seconds: float | None
