"""Which decided requests a reviewer may still review: the statements find what a plain reading of all records does."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

import pytest

from schemas.review import OPINIONS, POLICY, ReviewEventKind, ReviewRequest, UserAction
from tests.harness.reviews import AT, review_request, store_requests
from workers.decision.finality import Ruling
from workers.review.decision_events import decided, review_event
from workers.settings import Settings
from workers.stores.clickhouse.analytics_store import AnalyticsStore
from workers.stores.clickhouse.rows.review_rows import closing_row, decision_row, review_event_row
from workers.stores.queries.answer_queries import AnswerStore
from workers.stores.queries.reviews.blind_reviews import EVERY_TENANT, Sample
from workers.stores.queries.reviews.review_queries import ReviewStore
from workers.stores.queries.reviews.review_queue_rows import QueueFilters
from workers.stores.tables.table_row import TableRow

PEOPLE = ("anna", "ben", "cleo", "dora")
SINCE = AT - timedelta(days=7)
OTHERS: tuple[Ruling, ...] = ("second", "second", "late")
SECOND = QueueFilters(state="second")
TARGETS: tuple[dict[str, tuple[float, int]], ...] = (
    {EVERY_TENANT: (0.1, 2)}, {EVERY_TENANT: (0.0, 2)}, {EVERY_TENANT: (1.0, 2)}, {EVERY_TENANT: (1 - 2**-40, 3)},
    {EVERY_TENANT: (0.0, 2), "t1": (1.0, 3), "t2": (0.3, 2)}, {EVERY_TENANT: (0.5, 4), "t3": (0.0, 2)},
)  # fmt: skip


@dataclass
class Known:
    """A request with the decisions on it (ruling, person, time) and the requests for opinions (kind, by, of whom, time)."""

    request: ReviewRequest
    said: list[tuple[Ruling, str, datetime]] = field(default_factory=list)
    asked: list[tuple[ReviewEventKind, str, str, datetime]] = field(default_factory=list)

    def is_asked_of(self, who: str) -> bool:
        answered = max((at for ruling, _, at in self.said if ruling == "second"), default=SINCE)
        for person in ("", who):
            events = sorted((each for each in self.asked if each[2] == person), key=lambda each: each[3])
            if not events or events[-1][0] != "opinion_asked" or who in {each[1] for each in events}:
                continue
            if events[-1][3] > (SINCE if person else max(SINCE, answered)):
                return True
        return False

    def may_be_reviewed(self, who: str, targets: dict[str, tuple[float, int]], *, asked: bool = False) -> bool:
        finals = [(by, at) for ruling, by, at in self.said if ruling == "final"]
        if not finals or finals[0][0] == POLICY or who in {by for _, by, _ in self.said}:
            return False
        share, number = targets.get(self.request.tenant, targets[EVERY_TENANT])
        others = {by for ruling, by, _ in self.said if ruling == "second"}
        is_drawn = int(self.request.review_id[:8], 16) < share * 2**32
        is_sampled = is_drawn and finals[0][1] > SINCE and len(others) + 1 < number
        return self.is_asked_of(who) or (is_sampled and not asked)


def drawn(count: int) -> list[Known]:
    rng = random.Random(11)

    def ago(most: int) -> timedelta:
        return timedelta(hours=rng.randrange(1, most), seconds=rng.randrange(3_000))

    found = []
    for number in range(count):
        name = str(UUID(int=rng.getrandbits(128)))
        known = Known(review_request(number, tenant=rng.choice(("t1", "t2", "t3")), review_id=name))
        found.append(known)
        if rng.random() < 0.1:
            continue
        first, at = rng.choice((*PEOPLE, POLICY)), AT - ago(400)
        known.said.append(("final", first, at))
        for person in PEOPLE:
            if person != first and rng.random() < 0.2:
                known.said.append((rng.choice(OTHERS), person, at + ago(200)))
            if rng.random() < 0.07:
                known.said.append(("vote", person, at - ago(200)))
        for _ in range(rng.choice((0, 0, 1, 2, 3))):
            kind = rng.choice((*OPINIONS, OPINIONS[0]))
            known.asked.append((kind, rng.choice(PEOPLE), rng.choice((*PEOPLE, "", "")), AT - ago(260)))
    return found


async def stored(rows: AnalyticsStore, known: Sequence[Known]) -> None:
    await store_requests(rows, [each.request for each in known])
    found: list[TableRow] = []
    for each in known:
        for ruling, by, at in each.said:
            action: UserAction = "upvote" if ruling == "vote" else "approve"
            decision = decided(each.request, by=by, profile={}, at=at, action=action, second_review=ruling == "second")
            found += [decision_row(decision, ruling), *([closing_row(decision)] if ruling == "final" else [])]
        for kind, by, person, at in each.asked:
            request = each.request
            event = review_event(
                kind, request.review_id, request.answer_id, request.tenant, by=by, at=at, assignee=person
            )
            found.append(review_event_row(event))
    await rows.store(found)


@pytest.mark.parametrize("who", [*PEOPLE, "eve"])
async def test_what_may_still_be_reviewed_is_what_all_records_say(
    rows: AnalyticsStore, settings: Settings, who: str
) -> None:
    known = drawn(300)
    await stored(rows, known)
    database = settings.clickhouse.database
    store, answers = ReviewStore(rows, database), AnswerStore(rows, database)
    of_some = known[:40]
    for targets in TARGETS:
        sample = Sample(who, targets, SINCE)
        wanted = {each.request.review_id for each in known if each.may_be_reviewed(who, targets)}
        found = await store.for_second_review(SECOND, sample, limit=1_000)
        assert {place.review_id for place in found} == wanted
        assert await store.count(SECOND, sample) == len(wanted)
        closed = sum(bool(each.said) for each in known)
        assert await store.count(QueueFilters(state="decided"), sample) == closed - len(wanted)
        asked = await store.for_second_review(SECOND, sample, limit=1_000, asked=True)
        assert {place.review_id for place in asked} == {
            each.request.review_id for each in known if each.may_be_reviewed(who, targets, asked=True)
        }
        chosen = await store.for_second_review(
            SECOND, sample, limit=1_000, review_ids=[each.request.review_id for each in of_some]
        )
        assert {place.review_id for place in chosen} == wanted & {each.request.review_id for each in of_some}
    assert await answers.hidden([(each.request.tenant, each.request.answer_id) for each in of_some], None) == set()
