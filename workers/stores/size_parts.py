"""Divide values into parts of a bounded size."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def size_parts(values: Iterable[T], size: Callable[[T], int], most: int) -> Iterator[list[T]]:
    """Divide values into parts in their order; a value above the bound is a part of its own.

    Args:
        values: the values.
        size: returns the size of a value.
        most: largest sum of the sizes of a part.
    """
    part: list[T] = []
    total = 0
    for value in values:
        added = size(value)
        if part and total + added > most:
            yield part
            part, total = [], 0
        part.append(value)
        total += added
    if part:
        yield part
