"""Parameters of tests of which some are left to `make test-long`."""

from collections.abc import Container, Iterable
from typing import Any

import pytest


def variants(values: Iterable[Any], *, in_every_run: Container[Any]) -> list[Any]:
    """Return parameters of which those that are not for every run have the marker `long`; a tuple is one value a name.

    docs/testing.md names every test that calls this, and what its long variants show beyond the others.
    """
    return [
        value if value in in_every_run else pytest.param(*_parts(value), marks=pytest.mark.long) for value in values
    ]


def _parts(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)
