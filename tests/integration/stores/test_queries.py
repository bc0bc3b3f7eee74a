"""Named questions on planted rows whose answers are known, whatever comes twice, late or in a replay."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from clickhouse_connect.driver.asyncclient import AsyncClient

from schemas.export import example
from schemas.feedback import AnalyticsRow
from tests.harness.migrated import make_tables, return_tables
from tests.harness.named_queries import DEFAULTS, ask_named
from workers.settings import ClickHouseSettings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore, connect
from workers.stores.clickhouse.named_queries import (
    PARAMETERS,
    UnknownQuery,
    named_query,
    read_queries,
)
from workers.stores.clickhouse.rollups import refresh_rollups
from workers.stores.queries.runs.run_queries import RunStore

DAY = {"from": datetime(2026, 11, 2), "to": datetime(2026, 11, 3)}
ACME = DAY | {"tenant": "acme"}
ROW: dict[str, Any] = AnalyticsRow.model_validate(example(AnalyticsRow)).columns | {
    "signals": [], "issues": [], "reasons": [], "claims_total": 0, "claims_supported": 0, "claims_contradicted": 0,
    "claims_unsupported": 0, "review": False, "degraded": False, "missing": [], "status": "ok", "validation_score": 1.0,
    "citations_total": 0, "citations_seconds": 0.001, "grounding_seconds": 0.02, "quality_seconds": 0.01,
    "prompt_version": "p1", "latency_seconds": 2.0, "risk_score": 0.1, "passes_validation": True, "run": "live",
}  # fmt: skip
"""An answer of which only what matters is changed."""


def time_of(clock: str) -> str:
    return f"2026-11-02T{clock}:00Z"


def answer(answer_id: str, clock: str, tenant: str = "acme", **changes: Any) -> dict[str, Any]:
    return ROW | {"tenant": tenant, "answer_id": answer_id, "rank": 4, "completed_at": time_of(clock)} | changes


def sources(**named: tuple[int, int, int, int]) -> dict[str, Any]:
    """Citations and claims (supported, contradicted, unsupported) by source."""
    columns = ("source_citations", "source_supported", "source_contradicted", "source_unsupported")
    figures = zip(*named.values(), strict=True) if named else ([], [], [], [])
    return {"source_names": list(named), **{name: list(of) for name, of in zip(columns, figures, strict=True)}}


SMALL = {"model_id": "small", "query_type": "ops"}
LARGE = {"model_id": "large", "query_type": "code", "prompt_version": "p2"}
GOOD = answer(
    "good", "10:05", **SMALL, state="released", hallucination_risk="low", grounding_score=0.9, quality_score=0.8,
    gate_score=0.9, citation_coverage=1.0, citations_valid=True, citations_total=1, claims_total=2, claims_supported=2,
    **sources(Handbook=(1, 2, 0, 0)),
)  # fmt: skip
BAD = answer(
    "bad", "10:40", **SMALL, state="held", review=True, hallucination_risk="high", grounding_score=0.3,
    quality_score=0.4, gate_score=0.5, validation_score=0.5, passes_validation=False, citation_coverage=0.5,
    citations_valid=False, citations_total=1, invalid_references=["out_of_range", "out_of_range"], risk_score=0.8,
    claims_total=2, claims_contradicted=1, claims_unsupported=1, signals=["refusal"], issues=["unverified_facts"],
    reasons=["refusal"], **sources(Handbook=(1, 0, 1, 0), Wiki=(0, 0, 0, 1)),
)  # fmt: skip
FAIR = answer(
    "fair", "11:10", **LARGE, state="warned", hallucination_risk="medium", grounding_score=0.7, quality_score=0.6,
    gate_score=0.7, citation_coverage=None, citations_valid=True, citations_total=2, latency_seconds=40.0,
    **sources(Wiki=(2, 1, 0, 0)),
)  # fmt: skip
BARE = answer(
    "bare", "12:00", **LARGE, state="released", hallucination_risk=None, grounding_score=None, quality_score=None,
    gate_score=None, validation_score=None, passes_validation=None, citation_coverage=None, citations_valid=None,
    risk_score=None, status="error", **sources(),
)  # fmt: skip
OTHERS = answer(
    "others", "10:30", "globex", **SMALL, state="released", hallucination_risk="low", grounding_score=1.0,
    quality_score=1.0, gate_score=1.0, citation_coverage=1.0, citations_valid=True, **sources(Handbook=(1, 1, 0, 0)),
)  # fmt: skip
BEFORE = answer("before", "10:00", **SMALL, grounding_score=0.1, **sources()) | {"completed_at": "2026-11-01T23:59:59Z"}
ANSWERS = [GOOD, BAD, FAIR, BARE, OTHERS, BEFORE]
LESS = [one | {"rank": 1, "degraded": True, "state": "fallback", "grounding_score": 0.0} for one in ANSWERS]
"""Degraded results of the same answers, which never count beside the complete ones."""
REPLAYED = [one | {"run": "replay-1", "grounding_score": 0.5, "state": "released"} for one in ANSWERS]


def reward(answer_id: str, value: float, revision: int = 1, **changes: Any) -> dict[str, Any]:
    return {
        "reward_id": f"r-{answer_id}", "answer_id": answer_id, "tenant": "acme", "model_id": "small", "reward": value,
        "explicit_reward": None, "implicit_reward": value, "satisfaction": None, "error_occurred": False,
        "retry_detected": False, "latency_seconds": 2.0, "latency_tolerance": "high", "revision": revision,
        "answered_at": time_of("10:05"), "computed_at": time_of("23:00"), "elsewhere": [],
    } | changes  # fmt: skip


REWARDS = [
    # A rating came before its answer: first it counted under the default tenant and another hour.
    reward("good", 0.4, tenant="default", answered_at=time_of("13:00"), model_id="unknown"),
    reward("good", 0.94, 2, explicit_reward=1.0, implicit_reward=0.8, elsewhere=[
        {"tenant": tenant, "answered_at": time_of(clock)}
        for tenant, clock in (("acme", "13:00"), ("default", "10:00"), ("default", "13:00"))
    ]),
    reward("bad", 0.3, retry_detected=True, satisfaction=0.2),
    reward("fair", 0.5, model_id="large", answered_at=time_of("11:10"), latency_tolerance="low"),
]  # fmt: skip


def request(answer_id: str, clock: str, **changes: Any) -> dict[str, Any]:
    return {
        "tenant": "acme", "review_id": f"review-{answer_id}", "answer_id": answer_id, "pipeline_version": "v",
        "rank": 4, "state": "open", "held": False, "risk_mode": "observer", "reasons": [], "priority": 0.5,
        "model_id": "small", "query": "q", "answer": "a", "completed_at": time_of(clock), "requested_at": time_of(clock),
    } | changes  # fmt: skip


REQUESTS = [request("bad", "10:40", held=True), request("fair", "11:10"), request("bare", "12:00")]


def decided(answer_id: str, reviewer: str, action: str, clock: str, seconds: float = 30.0, **of: Any) -> dict[str, Any]:
    return {
        "tenant": "acme", "decision_id": f"{answer_id}-{reviewer}", "review_id": f"review-{answer_id}",
        "answer_id": answer_id, "decided_at": time_of(clock), "decided_by": reviewer, "action": action, "reason": "",
        "review_duration": seconds, "model_id": "small", "ruling": "final", "decision": "{}",
    } | of  # fmt: skip


DECISIONS = [
    decided("bad", "one", "reject", "11:40", 90.0),
    decided("bad", "two", "reject", "13:00", ruling="second"),
    decided("fair", "one", "approve", "14:10", model_id="large"),
    decided("fair", "two", "correct", "15:10", 60.0, model_id="large", ruling="second"),
    decided("bare", "policy", "approve", "18:00", 0.0),
]
ALERTS = [
    {
        "tenant": "acme", "alert_id": f"alert-{name}", "answer_id": name, "rank": 4, "alert_type": kind,
        "severity": "warning", "message": f"Response {name}", "metadata": '{"score":0.3}', "completed_at": time_of(clock),
        "raised_at": time_of(clock),
    }
    for name, kind, clock in (("bad", "low_grounding_score", "10:40"), ("bare", "degraded_result", "12:00"))
]  # fmt: skip


def log_of(one: dict[str, Any]) -> dict[str, Any]:
    return {
        "tenant": one["tenant"], "response_id": one["answer_id"], "run": one["run"], "pipeline_version": "v",
        "rank": one["rank"], "user_id": "user-1", "session_id": "s", "query_text": "Why?", "response_text": "So.",
        "citations": "[]", "citation_count": one["citations_total"], "invalid_references": "[]",
        "grounding_score": one["grounding_score"], "recommendation_coverage": None, "ungrounded_claims": '["So."]',
        "state": one["state"], "response_seconds": 2.0, "grounding_seconds": 0.02, "completed_at": one["completed_at"],
        "validated_at": one["completed_at"], "created_at": one["completed_at"],
    }  # fmt: skip


PLANTED: dict[str, list[dict[str, Any]]] = {
    "answers": [*ANSWERS, *LESS, *REPLAYED],
    "citation_logs": [log_of(one) for one in (*ANSWERS, *LESS, *REPLAYED)],
    "rewards": REWARDS,
    "reviews": REQUESTS,
    "review_decisions": DECISIONS,
    "alerts": ALERTS,
}


async def plant(client: AsyncClient, database: str, seed: int) -> None:
    """Insert everything, in some order and in several inserts."""
    store = AnalyticsStore(client, database)
    chooser = random.Random(seed)
    for table, rows in PLANTED.items():
        shuffled = chooser.sample(rows, len(rows))
        for start in range(0, len(shuffled), 4):
            await store.insert(table, shuffled[start : start + 4])


@pytest.fixture(scope="module")
def planted(addresses: Addresses) -> Iterator[str]:
    """A database with the rows, each inserted twice in another order, and figures refreshed in between."""
    name = f"q{uuid4().hex[:10]}"

    async def connected(work: Callable[[AsyncClient], Awaitable[None]]) -> None:
        client = await connect(ClickHouseSettings(database=name), addresses.clickhouse)
        try:
            await work(client)
        finally:
            await client.close()

    async def fill(client: AsyncClient) -> None:
        await make_tables(client, name)
        for seed in (1, 2):
            await plant(client, name, seed)
            await refresh_rollups(client, name)

    async def drop(client: AsyncClient) -> None:
        await return_tables(client, name)

    asyncio.run(connected(fill))
    yield name
    asyncio.run(connected(drop))


@pytest.fixture
async def client(planted: str, addresses: Addresses) -> AsyncIterator[AsyncClient]:
    opened = await connect(ClickHouseSettings(database=planted), addresses.clickhouse)
    yield opened
    await opened.close()


def rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 4)
    return value.strftime("%H:%M") if isinstance(value, datetime) else value


HOURLY = ACME | {"interval": 3_600}
EXPECTED: dict[str, tuple[dict[str, Any], list[tuple[Any, ...]]]] = {
    # time, answers, released, warned, held, fallback, sent to review, degraded, failed
    "answers_over_time": (
        HOURLY,
        [("10:00", 2, 1, 0, 1, 0, 1, 0, 0), ("11:00", 1, 0, 1, 0, 0, 0, 0, 0), ("12:00", 1, 1, 0, 0, 0, 0, 0, 1)],
    ),
    # time, name, answers, quality, grounding, gate, risk, high risk
    "quality_over_time": (
        ACME | {"interval": 86_400, "by": "prompt_version"},
        [("00:00", "p1", 2, 0.6, 0.6, 0.7, 0.45, 0.5), ("00:00", "p2", 2, 0.6, 0.7, 0.7, 0.1, 0.0)],
    ),
    # name, answers, quality, grounding, gate, validation, passed, high risk, sent to review
    "quality_by": (
        ACME,
        [("small", 2, 0.6, 0.6, 0.7, 0.75, 0.5, 0.5, 0.5), ("large", 2, 0.6, 0.7, 0.7, 1.0, 1.0, 0.0, 0.0)],
    ),
    # time, source, answers, quality, grounding, high risk
    "quality_by_source": (
        ACME | {"interval": 86_400},
        [("00:00", "Handbook", 2, 0.6, 0.6, 0.5), ("00:00", "Wiki", 2, 0.5, 0.5, 0.5)],
    ),
    # time, low, medium, high, not judged
    "risk_over_time": (HOURLY, [("10:00", 1, 0, 1, 0), ("11:00", 0, 1, 0, 0), ("12:00", 0, 0, 0, 1)]),
    "grounding_distribution": (
        ACME,
        [(at / 10, (at + 1) / 10, {3: 1, 7: 1, 9: 1}.get(at, 0)) for at in range(10)],
    ),
    # source, answers, citations, supported, contradicted, unsupported, share contradicted
    "contradicted_by_source": (ACME, [("Handbook", 2, 2, 2, 1, 0, 0.3333), ("Wiki", 2, 2, 1, 0, 1, 0.0)]),
    # time, judged, valid, coverage, citations
    "citation_validity": (HOURLY, [("10:00", 2, 0.5, 0.75, 2), ("11:00", 1, 1.0, None, 2)]),
    "invalid_references": (ACME, [("out_of_range", 2)]),
    "failure_signals": (
        ACME,
        [("issue", "unverified_facts", 1, 0.25), ("reason", "refusal", 1, 0.25), ("signal", "refusal", 1, 0.25)],
    ),
    # time, answers, asked again, failed, satisfaction, explicit, too slow
    "retry_and_satisfaction": (
        HOURLY,
        [("10:00", 2, 0.5, 0.0, 0.2, 1.0, 0.0), ("11:00", 1, 0.0, 0.0, None, None, 1.0)],
    ),
    # model, answers, reward, half interval, low, high, explicit, implicit, asked again
    "reward_by_model": (
        ACME,
        [
            ("small", 2, 0.62, 0.4435, 0.1765, 1.0, 1.0, 0.55, 0.5),
            ("large", 1, 0.5, 0.0, 0.5, 0.5, None, 0.5, 0.0),
        ],
    ),
    "reward_over_time": (HOURLY, [("10:00", "small", 2, 0.62), ("11:00", "large", 1, 0.5)]),
    # reviewer, decisions, approved, corrected, rejected, active seconds, median
    "reviewer_workload": (
        ACME,
        [("one", 2, 1, 0, 1, 120.0, 90.0), ("two", 2, 0, 1, 1, 90.0, 60.0), ("policy", 1, 1, 0, 0, 0.0, 0.0)],
    ),
    # pairs, agreement, kappa: by chance 1/2 * 0 + 0 * 1/2 + 1/2 * 1/2 agree
    "review_agreement": (ACME, [(2, 0.5, 0.3333)]),
    # model, reviewed, approved, corrected, rejected, needed
    "review_outcomes": (ACME, [("small", 1, 0, 0, 1, 1.0), ("large", 1, 1, 0, 0, 0.0)]),
    # time, decisions, median hours, p95
    "time_to_decision": (
        HOURLY,
        [("11:00", 1, 1.0, 1.0), ("14:00", 1, 3.0, 3.0), ("18:00", 1, 6.0, 6.0)],
    ),
    # time, requested, held, open
    "review_backlog": (HOURLY | {"to": datetime(2026, 11, 2, 12)}, [("10:00", 1, 1, 0), ("11:00", 1, 0, 0)]),
    # time, decisions, active hours, cost, cost of a finding
    "review_cost": (
        ACME | {"interval": 86_400, "hourly_cost": 60.0},
        [("00:00", 4, 0.0583, 3.5, 1.1667)],
    ),
    "worst_answers": (
        ACME,
        [
            ("bad", "acme", "10:40", "small", "p1", "held", "high", 0.3, 0.4, 1, 1),
            ("fair", "acme", "11:10", "large", "p2", "warned", "medium", 0.7, 0.6, 0, 0),
            ("good", "acme", "10:05", "small", "p1", "released", "low", 0.9, 0.8, 0, 0),
        ],
    ),
    "system_alerts": (
        ACME,
        [
            ("alert-bare", "degraded_result", "warning", "Response bare", '{"score":0.3}', "bare", "acme", "12:00"),
            ("alert-bad", "low_grounding_score", "warning", "Response bad", '{"score":0.3}', "bad", "acme", "10:40"),
        ],
    ),
    "citation_audit": (
        ACME | {"below": 0.6},
        [
            ("bad", "user-1", "s", "Why?", "So.", "[]", 1, "[]", 0.3, '["So."]', "held", 2.0, 0.02, "10:40", "10:40"),
        ],
    ),
}  # fmt: skip


async def answered(client: AsyncClient, database: str, name: str, given: dict[str, Any]) -> list[tuple[Any, ...]]:
    rows = await ask_named(client, database, name, given)
    return [tuple(rounded(value) for value in row.values()) for row in rows]


@pytest.mark.parametrize("name", EXPECTED)
async def test_a_question_on_planted_rows_is_answered_as_counted_by_hand(
    client: AsyncClient, planted: str, name: str
) -> None:
    given, expected = EXPECTED[name]
    assert await answered(client, planted, name, given) == expected


@pytest.mark.parametrize(("name", "column"), [("slowest_stages", 0), ("stages_over_time", 1)])
async def test_stages_are_told_within_two_percent(client: AsyncClient, planted: str, name: str, column: int) -> None:
    rows = await answered(client, planted, name, ACME | {"interval": 86_400})
    by_stage = {row[column]: row for row in rows}
    assert set(by_stage) == {"model", "citations", "grounding", "quality"}
    if name == "slowest_stages":
        assert rows[0][:3] == ("model", 4, 11.5)
        assert by_stage["model"][-1] == 40.0
        assert by_stage["grounding"][3] == pytest.approx(0.02, rel=0.025)
    else:
        assert by_stage["quality"][-1] == pytest.approx(0.01, rel=0.025)


async def test_an_empty_tenant_means_all_and_a_run_stands_for_itself(client: AsyncClient, planted: str) -> None:
    everyone = await answered(client, planted, "answers_over_time", DAY | {"interval": 86_400})
    assert everyone == [("00:00", 5, 3, 1, 1, 0, 1, 0, 1)]
    replayed = await answered(client, planted, "quality_by", ACME | {"run": "replay-1"})
    assert [(row[0], row[1], row[3]) for row in replayed] == [("large", 2, 0.5), ("small", 2, 0.5)]


async def test_a_promoted_run_counts_where_it_has_judged_every_answer_and_else_live(
    client: AsyncClient, planted: str
) -> None:
    store = AnalyticsStore(client, planted)
    runs = RunStore(store, planted)
    live = [
        answer(f"promoted-{number}", "10:00", "promoted", grounding_score=0.9, **sources())
        | {"completed_at": f"2026-10-20T{10 + number // 2}:00:00Z"}
        for number in range(4)
    ]
    await store.insert("answers", live)
    await store.insert("answers", [one | {"run": "again", "grounding_score": 0.5} for one in live[:3]])
    await refresh_rollups(client, planted)
    when = {"from": datetime(2026, 10, 20), "to": datetime(2026, 10, 21), "tenant": "promoted"}

    async def grounding(**given: str) -> dict[str, float]:
        rows = await answered(client, planted, "quality_over_time", when | {"interval": 3_600} | given)
        return {row[0]: row[4] for row in rows}

    assert await grounding() == await grounding(run="live") == {"10:00": 0.9, "11:00": 0.9}
    both = await answered(client, planted, "runs_over_time", when | {"interval": 86_400})
    assert [row[1:3] for row in both] == [("again", 3), ("live", 4)]
    await runs.set_promoted("again", True, datetime(2026, 10, 21, tzinfo=UTC))
    # Of the second hour it has judged one answer of two.
    assert await grounding() == {"10:00": 0.5, "11:00": 0.9}
    assert [(each.run, each.hours) for each in await runs.promoted()] == [("again", 1)]
    assert await grounding(run="live") == {"10:00": 0.9, "11:00": 0.9}
    # An answer comes in late, judged by nobody else: its hour is live's again.
    await store.insert("answers", [live[0] | {"answer_id": "promoted-late"}])
    await runs.set_promoted("again", True, datetime(2026, 10, 22, tzinfo=UTC))
    assert await grounding() == {"10:00": 0.9, "11:00": 0.9}
    await store.insert("answers", [live[0] | {"answer_id": "promoted-late", "run": "again", "grounding_score": 0.5}])
    await runs.set_promoted("again", True, datetime(2026, 10, 23, tzinfo=UTC))
    assert await grounding() == {"10:00": 0.5, "11:00": 0.9}
    # An answer of the live run is erased, before another replay: the sums by hour still hold it.
    await client.command(
        f"ALTER TABLE {planted}.answer_facts DELETE WHERE answer_id = 'promoted-3' SETTINGS mutations_sync = 2"
    )
    await runs.set_promoted("again", True, datetime(2026, 10, 23, 1, tzinfo=UTC))
    assert await grounding() == {"10:00": 0.5, "11:00": 0.5}
    # As many answers as the live run has, and not the same ones.
    swap = [live[0] | {"answer_id": "promoted-other", "run": "again"}, live[0] | {"answer_id": "promoted-swap"}]
    await store.insert("answers", swap)
    await runs.set_promoted("again", True, datetime(2026, 10, 23, 2, tzinfo=UTC))
    assert (await grounding())["10:00"] == 0.9
    await runs.set_promoted("again", False, datetime(2026, 10, 24, tzinfo=UTC))
    assert await grounding(run="live") == await grounding() and await runs.promoted() == []
    removed = await runs.remove("again", datetime(2026, 10, 25, tzinfo=UTC))
    assert removed["answers"] >= 4
    assert await grounding(run="again") == {}


async def test_promotions_and_demotions_stay_on_record_with_time_and_user(client: AsyncClient, planted: str) -> None:
    store = AnalyticsStore(client, planted)
    runs = RunStore(store, planted)
    days = [datetime(2026, 11, day, tzinfo=UTC) for day in range(1, 6)]

    async def recorded(run: str) -> list[tuple[bool, datetime, str]]:
        return [(each.promoted, each.at, each.by) for each in await runs.changes() if each.run == run]

    # An earlier version of the command kept the last change, without its user.
    await client.command(
        f"INSERT INTO {planted}.promotions (run, active, changed_at) VALUES ('of-old', true, '2026-11-01 00:00:00')"
    )
    assert await recorded("of-old") == [(True, days[0], "")]
    for at, active, by in ((days[1], False, "mona"), (days[2], True, "leo")):
        await runs.set_promoted("of-old", active, at, by)
    await runs.set_promoted("other", True, days[3], "mona")
    kept = [(True, days[0], ""), (False, days[1], "mona"), (True, days[2], "leo")]
    assert await recorded("of-old") == kept
    assert await recorded("other") == [(True, days[3], "mona")]
    # A removal demotes the run first, and what people saw of it stays on record.
    await runs.remove("of-old", days[4], "ada")
    assert await recorded("of-old") == [*kept, (False, days[4], "ada")]
    assert [each.run for each in await runs.promoted()] == ["other"]
    await runs.remove("never-promoted", days[4], "ada")
    assert await recorded("never-promoted") == []
    await runs.remove("other", days[4], "ada")


async def test_drift_is_seen_against_the_week_before(client: AsyncClient, planted: str) -> None:
    """A thousand and more on each side: equal distributions have no distance, disjoint ones all of it."""
    store = AnalyticsStore(client, planted)
    rows = [
        answer(f"{tenant}-{day}-{number}", "10:00", tenant, grounding_score=score, quality_score=0.75, **sources())
        | {"completed_at": f"2026-10-0{day}T10:00:00Z"}
        for tenant, day, score in (("moved", 1, 0.95), ("moved", 5, 0.25), ("same", 1, 0.95), ("same", 5, 0.95))
        for number in range(1_000)
    ]
    await store.insert("answers", rows)
    await refresh_rollups(client, planted)
    when = {"from": datetime(2026, 10, 5), "to": datetime(2026, 10, 6)}
    moved = await answered(client, planted, "drift", when | {"tenant": "moved"})
    assert moved == [
        ("grounding", 1_000, 1_000, 1.0, True),
        ("quality", 1_000, 1_000, 0.0, False),
        ("risk", 1_000, 1_000, 0.0, False),
    ]
    same = await answered(client, planted, "drift", when | {"tenant": "same"})
    assert [row[3:] for row in same] == [(0.0, False)] * 3


async def test_only_final_decisions_decide_and_only_reviews_agree(client: AsyncClient, planted: str) -> None:
    """Votes, late decisions and withdrawals are rows of the same table."""
    store = AnalyticsStore(client, planted)
    tenant = {"tenant": "ruled"}
    await store.insert("reviews", [request(name, "10:00", held=True) | tenant for name in ("voted", "taken", "ended")])
    await store.insert(
        "review_decisions",
        [
            one | tenant
            for one in (
                decided("voted", "one", "upvote", "11:00", ruling="vote"),
                decided("voted", "two", "approve", "11:00", ruling="second"),
                decided("taken", "one", "approve", "11:00"),
                decided("taken", "auditor", "reject", "12:00", ruling="withdrawal"),
                decided("taken", "two", "reject", "13:00", ruling="late"),
                decided("ended", "two", "reject", "13:00", ruling="late"),
            )
        ],
    )
    given, later = HOURLY | tenant, HOURLY | tenant | {"from": datetime(2026, 11, 2, 11, 30)}
    assert await answered(client, planted, "review_backlog", given) == [("10:00", 3, 3, 1)]
    assert [row[0] for row in await answered(client, planted, "review_agreement", given)] == [0]
    assert await answered(client, planted, "review_outcomes", given) == [("small", 1, 1, 0, 0, 0.0)]
    assert [row[:2] for row in await answered(client, planted, "time_to_decision", given)] == [("11:00", 1)]
    workload = await answered(client, planted, "reviewer_workload", given)
    assert [row[:5] for row in workload] == [("one", 1, 1, 0, 0), ("two", 1, 1, 0, 0)]
    assert [row[:2] for row in await answered(client, planted, "review_cost", given)] == [("11:00", 2)]
    for name in ("review_outcomes", "time_to_decision"):
        assert await answered(client, planted, name, later) == []


async def test_the_audit_of_a_time_ends_at_its_bounds_and_limit(client: AsyncClient, planted: str) -> None:
    """The search begins at the hour that has enough; none of them may be missed for it."""
    everything = await answered(client, planted, "citation_audit", DAY)
    assert [row[0] for row in everything] == ["bare", "fair", "bad", "others", "good"]
    for limit in range(1, 6):
        some = await answered(client, planted, "citation_audit", DAY | {"limit": limit})
        assert some == everything[:limit]
    # Answers of the last hour that come after the end do not count.
    until = {"to": datetime(2026, 11, 2, 10, 35), "tenant": "", "limit": 2}
    assert [row[0] for row in await answered(client, planted, "citation_audit", DAY | until)] == ["others", "good"]
    before = answer("earlier", "09:00", **SMALL, grounding_score=0.9, **sources())
    log = await client.query(f"SELECT * FROM {planted}.citation_logs FINAL WHERE response_id = 'good' AND run = 'live'")
    (row,) = log.named_results()
    earlier = row | {"response_id": "earlier", "completed_at": time_of("09:00"), "created_at": time_of("09:00")}
    earlier["validated_at"] = time_of("09:00")
    store = AnalyticsStore(client, planted)
    await store.insert("answers", [before])
    await store.insert("citation_logs", [earlier])
    await refresh_rollups(client, planted)
    until["limit"] = 3
    found = await answered(client, planted, "citation_audit", DAY | until)
    assert [row[0] for row in found] == ["others", "good", "earlier"]


# --- the files themselves --------------------------------------------------------------------


def test_every_question_is_tested_here() -> None:
    assert set(read_queries()) == {*EXPECTED, "slowest_stages", "stages_over_time", "drift", "runs_over_time"}


def test_every_question_says_what_it_answers_and_uses_known_parameters() -> None:
    for query in read_queries().values():
        assert query.question.endswith(("?", ")")), query.name
        assert query.description.endswith("."), query.name
        assert set(query.parameters) <= set(PARAMETERS), query.name
        assert {"database", "from", "to", "tenant"} <= set(query.parameters), query.name
        assert set(query.parameters) - {"database", "from", "to"} <= set(DEFAULTS)


def test_a_question_that_does_not_exist_is_named() -> None:
    with pytest.raises(UnknownQuery, match="unknown query quality; choose one of answers_over_time"):
        named_query("quality")
