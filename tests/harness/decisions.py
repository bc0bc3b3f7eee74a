"""Decisions of a console, as they stand on their topic."""

import time
from collections.abc import Callable
from typing import TypeVar

from schemas.review import ReviewDecision
from schemas.topics import REVIEW_DECISIONS, Topic

T = TypeVar("T")
Values = Callable[[Topic, str], list[bytes]]
"""Values of a topic that have a key."""


def waited_for(find: Callable[[], list[T]], what: str, seconds: float = 300.0) -> list[T]:
    """Wait until something is found, and return it."""
    deadline = time.monotonic() + seconds
    while not (found := find()):
        assert time.monotonic() < deadline, f"{what}: not within {seconds:g} s"
        time.sleep(0.1)
    return found


def decisions_on(values: Values, answer_id: str) -> list[ReviewDecision]:
    """The decisions on an answer; one that was sent on to the answer's own partition is one."""
    found = waited_for(lambda: values(REVIEW_DECISIONS, answer_id), f"a decision on {answer_id}")
    return list({decision.feedback_id: decision for decision in map(ReviewDecision.from_bytes, found)}.values())
