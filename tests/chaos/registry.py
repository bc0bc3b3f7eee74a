"""The scenarios by name."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tests.chaos.run import Run


@dataclass(frozen=True, slots=True)
class Scenario:
    """One kind of trouble.

    Attributes:
        name: for the command line.
        faults: what is done, in words.
        play: does it.
    """

    name: str
    faults: str
    play: Callable[[Run], Awaitable[None]]


SCENARIOS: dict[str, Scenario] = {}


def scenario(name: str, faults: str) -> Callable[[Callable[[Run], Awaitable[None]]], Callable[[Run], Awaitable[None]]]:
    def register(play: Callable[[Run], Awaitable[None]]) -> Callable[[Run], Awaitable[None]]:
        SCENARIOS[name] = Scenario(name, faults, play)
        return play

    return register
