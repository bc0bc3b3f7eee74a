"""Keep the measures of claims while the text of one answer grows.

Each evaluation of a growing answer contains the claims of the evaluations before it. With a memory, a claim is measured
once for each set of evidence and not again with each further sentence. An evaluation without a memory measures all
claims, so the verdict on the whole answer does not depend on how its text arrived.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

C = TypeVar("C", bound=Hashable)
M = TypeVar("M")


class ClaimMemory:
    """Hold the measures of the claims of one answer; its contexts and the calibration must stay the same."""

    def __init__(self) -> None:
        self._measures: dict[Hashable, dict[Any, Any]] = {}

    def complete(self, claims: Sequence[C], evidence: Hashable, measure: Callable[[list[int]], Sequence[M]]) -> list[M]:
        """Return the measures of claims; measure only those that are not yet known.

        Args:
            claims: n claims.
            evidence: the evidence with which they are compared.
            measure: measures the claims in the given rows.
        """
        known: dict[C, M] = self._measures.setdefault(evidence, {})
        rows = [row for row, claim in enumerate(claims) if claim not in known]
        if rows:
            known.update(zip((claims[row] for row in rows), measure(rows), strict=True))
        return [known[claim] for claim in claims]


_current: ContextVar[ClaimMemory | None] = ContextVar("claim_memory", default=None)


@contextmanager
def remembering(memory: ClaimMemory | None) -> Iterator[None]:
    """Use a memory for the evaluations within the block; ``None`` for no memory."""
    token = _current.set(memory)
    try:
        yield
    finally:
        _current.reset(token)


def current_memory() -> ClaimMemory | None:
    """Return the memory of the evaluation, if it has one."""
    return _current.get()
