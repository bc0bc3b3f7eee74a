"""Comparisons are found for exactly the text and the request that they were made for."""

from dataclasses import replace
from datetime import timedelta

import pytest

from schemas.review import CorrectionComparison
from tests.harness.reviews import AT, review_request
from workers.review import correction_comparisons
from workers.review.correction_comparisons import KeptComparisons, comparison_of
from workers.review.queue.shared_state import SharedState
from workers.stores.clickhouse.rows.review_rows import review_rows

_, PLACE = review_rows(review_request(1))


def found() -> CorrectionComparison:
    return comparison_of([], review_request(1), AT, "v")


async def test_without_redis_a_process_finds_its_own_comparisons() -> None:
    kept = KeptComparisons(SharedState(None, "t:"))
    await kept.keep(PLACE, "A text.", found())
    assert await kept.find(PLACE, "A text.") == found()
    assert await kept.find(PLACE, "A text. ") is None
    later = replace(PLACE, requested_at=PLACE.requested_at + timedelta(seconds=1))
    assert await kept.find(later, "A text.") is None, "another text of the answer may have other sources"
    assert await kept.find(replace(PLACE, review_id="other"), "A text.") is None


async def test_the_oldest_comparison_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(correction_comparisons, "MOST_KEPT", 2)
    kept = KeptComparisons(SharedState(None, "t:"))
    for text in ("a", "b", "a", "c"):
        await kept.keep(PLACE, text, found())
    assert [await kept.find(PLACE, text) is not None for text in ("a", "b", "c")] == [True, False, True]
