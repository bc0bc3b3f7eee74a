"""Group the requests that are left once a reviewer is offered none."""

from workers.review.queue.remaining import Remaining, remaining
from workers.stores.tables.review_tables import QueueRow


def place(name: str) -> QueueRow:
    return QueueRow(
        review_id=name, answer_id=name, tenant="t", rank=1, state="open", title=name, held=True, risk_mode="gatekeeper"
    )


def test_each_request_is_left_for_one_reason() -> None:
    places = [place(name) for name in ("skipped", "escalated", "given", "held", "mine", "free")]
    left = remaining(
        places, "anna",
        skipped={("t", "skipped")}, escalated={("t", "skipped"), ("t", "escalated")},
        assignees={("t", "given"): "ben", ("t", "mine"): "anna"},
        holders={"held": "carl", "given": "carl", "mine": "anna"}, others=2,
    )  # fmt: skip
    assert [each.review_id for each in left.skipped] == ["skipped"]
    assert [each.review_id for each in left.escalated] == ["escalated"]
    assert (left.assigned, left.opened, left.others) == ({"ben": 1}, {"carl": 1}, 2)
    assert not left.is_empty


def test_nothing_is_left_of_an_empty_queue() -> None:
    left = remaining([], "anna", skipped=set(), escalated=set(), assignees={}, holders={})
    assert left == Remaining([], [], {}, {})
    assert left.is_empty
