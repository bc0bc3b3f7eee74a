"""Say which open requests are left once a reviewer is offered none, and why they are not offered."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from workers.stores.tables.review_tables import QueueRow

Key = tuple[str, str]
"""Tenant and review identifier."""


@dataclass(frozen=True, slots=True)
class Remaining:
    """Open requests that match some filters and are not offered to a reviewer.

    Attributes:
        skipped: requests that the reviewer skipped a while ago; they come back to them.
        escalated: requests that the reviewer escalated; others decide.
        assigned: number of requests that are assigned to each other person.
        opened: number of requests that each other reviewer holds.
        others: number of requests beyond those that were looked at.
        outside: number of open requests outside of the filters.
    """

    skipped: Sequence[QueueRow]
    escalated: Sequence[QueueRow]
    assigned: Mapping[str, int]
    opened: Mapping[str, int]
    others: int = 0
    outside: int = 0

    @property
    def is_empty(self) -> bool:
        """Return true if no request is left."""
        return not (self.skipped or self.escalated or self.assigned or self.opened or self.others or self.outside)


def remaining(
    places: Sequence[QueueRow],
    who: str,
    *,
    skipped: Collection[Key],
    escalated: Collection[Key],
    assignees: Mapping[Key, str],
    holders: Mapping[str, str],
    others: int = 0,
    outside: int = 0,
) -> Remaining:
    """Group requests by the reason for which a reviewer is not offered them; each has one reason.

    Args:
        places: requests that are not decided.
        who: name of the reviewer.
        skipped: requests that the reviewer skipped.
        escalated: requests that the reviewer escalated.
        assignees: person of each assigned request.
        holders: person who holds the lock of each request, by review identifier.
        others: number of requests beyond ``places``.
        outside: number of open requests outside of the filters.
    """
    found: dict[str, list[QueueRow]] = {"skipped": [], "escalated": []}
    assigned, opened = Counter[str](), Counter[str]()
    for place in places:
        if place.key in skipped:
            found["skipped"].append(place)
        elif place.key in escalated:
            found["escalated"].append(place)
        elif (person := assignees.get(place.key, who)) != who:
            assigned[person] += 1
        elif (holder := holders.get(place.review_id, who)) != who:
            opened[holder] += 1
    return Remaining(**found, assigned=assigned, opened=opened, others=others, outside=outside)
