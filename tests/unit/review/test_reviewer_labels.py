"""What reviewers say becomes labels only where it is about facts."""

from typing import Any

import pytest

from schemas.reports import Span
from schemas.review import POLICY, ClaimVerdict
from tests.harness.reviews import AT, review_request
from workers.review.decision_events import decided
from workers.review.reviewer_labels import claim_rows, label_row

REQUEST = review_request(1)


def verdict(said: Any) -> ClaimVerdict:
    return ClaimVerdict(claim_id=REQUEST.claims[0].claim_id, verdict=said, span=Span(start=0, end=17))


@pytest.mark.parametrize(
    ("action", "verdicts", "expected"),
    [
        ("approve", [], (0, None)),
        ("approve", ["supported"], (0, None)),
        ("approve", ["unsupported"], (1, [[0, 17]])),
        ("reject", ["contradicted"], (1, [[0, 17]])),
        ("correct", ["contradicted"], (1, [[0, 17]])),
        ("reject", [], "no verdict"),
        ("correct", ["supported"], "no verdict"),
        ("approve", ["cannot_tell"], "no verdict"),
    ],
)
def test_a_label_is_what_was_said_of_facts(action: Any, verdicts: list[str], expected: Any) -> None:
    decision = decided(
        REQUEST, by="first", profile={}, at=AT, action=action, corrected_answer="Other.",
        claim_verdicts=[verdict(each) for each in verdicts],
    )  # fmt: skip
    row = label_row(decision, REQUEST)
    assert (row if isinstance(row, str) else (row["label"], row["spans"])) == expected


def test_an_approval_with_a_warning_vouches_for_nothing() -> None:
    decision = decided(REQUEST, by="first", profile={}, at=AT, action="approve", with_warning=True)
    assert label_row(decision, REQUEST) == "no verdict"


def test_neither_deadlines_nor_answers_without_their_evidence_make_labels() -> None:
    said = {"profile": {}, "at": AT, "action": "approve"}
    assert label_row(decided(REQUEST, by=POLICY, **said), REQUEST) == "by a deadline"  # type: ignore[arg-type]
    part = REQUEST.model_copy(update={"contexts_total": 2})
    assert label_row(decided(part, by="first", **said), part) == "evidence not whole"  # type: ignore[arg-type]


def test_answers_on_one_source_stand_on_one_side_of_the_split() -> None:
    def split(number: int, content: str) -> str:
        request = review_request(number, contexts=[{"number": 1, "chunk_id": "c", "content": content}])
        row = label_row(decided(request, by="first", profile={}, at=AT, action="approve"), request)
        assert isinstance(row, dict)
        return str(row["split"])

    assert len({split(number, "Loki needs 2 GiB.") for number in range(20)}) == 1
    sides = [split(1, f"Source {number}.") for number in range(200)]
    assert 20 <= sides.count("test") <= 60


def test_a_judged_claim_is_a_row_of_its_own() -> None:
    decision = decided(
        REQUEST, by="first", profile={}, at=AT, action="reject",
        claim_verdicts=[verdict("contradicted"), verdict("supported"), verdict("cannot_tell")],
    )  # fmt: skip
    rows = [(row["id"], row["answer"], row["label"]) for row in claim_rows(decision, REQUEST)]
    assert rows == [('["acme","a-1"]#c0', "Loki needs 16 GiB", 1), ('["acme","a-1"]#c1', "Loki needs 16 GiB", 0)]
