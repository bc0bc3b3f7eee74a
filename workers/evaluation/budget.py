"""Bound the work of one evaluation by a budget of operations.

Operations are counted from the texts that are read or compared, about one for each code point, and not from time or
from what a cache holds. A replay of the answer therefore spends the same, and fails or succeeds as the first run did.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from workers.errors import BudgetExceeded

MAX_OPERATIONS = 3_000_000
"""Maximum operations of one evaluation of one answer, ten to fourteen seconds of CPU. A report of 60,000 code points over a
hundred sources spends half of it.
"""


@dataclass(slots=True)
class Budget:
    """The operations of one evaluation.

    Attributes:
        limit: maximum number of operations.
        spent: operations so far.
    """

    limit: int = MAX_OPERATIONS
    spent: int = 0


_current: ContextVar[Budget | None] = ContextVar("budget", default=None)


@contextmanager
def spending(budget: Budget) -> Iterator[None]:
    """Count the operations within the block on a budget; without one, ``spend`` does nothing."""
    token = _current.set(budget)
    try:
        yield
    finally:
        _current.reset(token)


def spend(operations: int) -> None:
    """Count operations before they are done.

    Raises:
        BudgetExceeded: the budget does not suffice.
    """
    budget = _current.get()
    if budget is None:
        return
    budget.spent += operations
    if budget.spent > budget.limit:
        raise BudgetExceeded(f"budget: the evaluation needs more than {budget.limit} operations")
