"""A person is forgotten everywhere, and nobody else is."""

import base64
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from clickhouse_connect.driver.asyncclient import AsyncClient

from schemas.export import example
from schemas.feedback import AnalyticsRow, FeedbackEvent
from schemas.identifiers import answer_digest, fact_id, person_digest, record_key
from schemas.memory import ConversationTurn
from schemas.privacy import Erasure
from schemas.review import ReviewDecision, ReviewRequest
from schemas.topics import (
    ANSWERS_ENRICHED,
    ANSWERS_RELEASED,
    FEEDBACK_REWARDS,
    PRIVACY_ERASURES,
    SHADOWED,
    TOPICS,
    shadow,
)
from tests.harness.clickhouse_rights import granted, needed, recorded
from tests.harness.deployment import Deployment
from tests.harness.named_queries import ask_named
from workers.delivery.topics.topic_administration import TopicAdministration
from workers.errors import TouchstoneError
from workers.feedback.retry_detection import AskedQuery
from workers.local.services import LocalServices
from workers.privacy.erasure import earlier_tombstones, forget
from workers.settings import Settings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore
from workers.stores.clickhouse.clickhouse_roles import ERASER, role_statements
from workers.stores.clickhouse.rows.review_rows import decision_row, review_rows
from workers.stores.lancedb.memory_store import MemoryStore, TurnFeedback
from workers.stores.queries.feedback_store import FeedbackStore
from workers.stores.queries.person_queries import BY_ANSWER, PersonStore
from workers.stores.redis.client import open_redis
from workers.stores.redis.query_history import PersonQuery, QueryHistory

NOW = datetime(2026, 11, 20, tzinfo=UTC)
ROW: dict[str, Any] = AnalyticsRow.model_validate(example(AnalyticsRow)).columns
PEOPLE = {"mine": ("acme", "o'brien"), "same name": ("other", "o'brien"), "neighbour": ("acme", "user-18")}


@pytest.fixture
async def deployment(addresses: Addresses, tmp_path: Path) -> AsyncIterator[Deployment]:
    deployment = Deployment(addresses, tmp_path)
    await deployment.prepare()
    yield deployment
    await deployment.close()


def feedback(name: str, answer_id: str, tenant: str, user: str, kind: str = "execution") -> FeedbackEvent:
    part = {"status": "success"} if kind == "execution" else {"rating": 2, "comment": "private words"}
    return FeedbackEvent.model_validate(
        {"feedback_id": name, "answer_id": answer_id, "tenant": tenant, "user_id": user, "kind": kind, kind: part,
         "occurred_at": NOW}
    )  # fmt: skip


def letter(name: str, tenant: str, user: str) -> dict[str, Any]:
    value = base64.b64encode(json.dumps({"answer_id": name, "tenant": tenant, "user_id": user}).encode()).decode()
    return {
        "dead_letter_id": name, "topic": "answers.generated", "partition": 0, "offset": 1, "agent": "assembly",
        "error_class": "E", "error": "e", "attempts": 1, "failed_at": NOW.isoformat(), "pipeline_version": "v",
        "value_base64": value, "headers": "[]",
    }  # fmt: skip


async def fill(client: AsyncClient, deployment: Deployment, settings: Settings) -> None:
    store = AnalyticsStore(client, deployment.name)
    events = FeedbackStore(store, deployment.name)
    memory = MemoryStore(settings.memory_uri, 4)
    await memory.open()
    history = QueryHistory(deployment.addresses.redis, settings.redis, 300)
    vector = np.full(4, 0.5, dtype=np.float16)
    for name, (tenant, user) in PEOPLE.items():
        shared = {
            "tenant": tenant,
            "answer_id": name,
            "completed_at": NOW.isoformat(),
            "pipeline_version": "v",
            "rank": 1,
        }
        await store.insert("answers", [ROW | shared | {"user_id": user}])
        await store.insert("claims", [shared | {
            "claim_id": "c", "start": 0, "end": 1, "text": "x", "kind": "fact", "hedged": False, "verdict": "supported",
        }])  # fmt: skip
        await store.insert("citation_logs", [{
            "tenant": tenant, "response_id": name, "user_id": user, "completed_at": NOW.isoformat(), "rank": 1,
            "pipeline_version": "v", "query_text": "q", "response_text": "r", "citations": "[]", "citation_count": 0,
            "invalid_references": "[]", "ungrounded_claims": "[]", "state": "released", "created_at": NOW.isoformat(),
        }])  # fmt: skip
        await store.insert("dead_letters", [letter(f"letter of {name}", tenant, user)])
        # A letter about an answer names nobody: its key says whose answer it is.
        keyed = {"key_base64": base64.b64encode(name.encode()).decode(), "value_base64": None}
        await store.insert("dead_letters", [letter(f"report on {name}", tenant, user) | keyed])
        await store.insert("rewards", [{
            "reward_id": name, "answer_id": name, "tenant": tenant, "model_id": "m", "reward": 0.5, "error_occurred": False,
            "retry_detected": False, "revision": 1, "answered_at": NOW.isoformat(), "computed_at": NOW.isoformat(),
        }])  # fmt: skip
        await events.note([feedback(f"call {name}", name, tenant, user)])
        turn = ConversationTurn.model_validate(
            example(ConversationTurn)
            | {"turn_id": "turn_" + fact_id(tenant, name, "turn"), "answer_id": name, "tenant": tenant, "user_id": user}
        )
        await memory.remember([(turn, vector.astype(np.float32))])
        await memory.rate([TurnFeedback(tenant, name, 0.5, 1)])
        await history.exchange([PersonQuery(person_digest(tenant, user), AskedQuery(name, 1.0, vector))])
    await events.note([feedback("my opinion", "neighbour", "acme", "o'brien", "explicit")])
    await memory.close()
    await history.close()


async def test_a_person_is_forgotten_everywhere_and_nobody_else_is(deployment: Deployment, client: AsyncClient) -> None:
    settings = deployment.settings
    await fill(client, deployment, settings)
    done = await forget(settings, deployment.addresses, "acme", "o'brien", lambda: NOW, "operator-7" * 21)
    assert (done.answers, done.turns, done.queries, done.tombstones) == (1, 1, 1, 2)
    # The worst answers of an hour are listed when ClickHouse comes by.
    assert {table: count for table, count in done.rows.items() if count and table != "worst_hours"} == {
        "answers": 1, "claims": 1, "citation_logs": 1, "rewards": 1, "feedback": 2, "dead_letters": 2,
        "answer_texts": 1, "answer_facts": 1, "reward_facts": 1, "answer_places": 1,
    }  # fmt: skip
    for table in ("answers", "claims", "citation_logs", "rewards"):
        left = await client.query(f"SELECT {BY_ANSWER[table]} FROM {deployment.name}.{table} ORDER BY 1")
        assert [row[0] for row in left.result_rows] == ["neighbour", "same name"]
    left = await client.query(f"SELECT feedback_id FROM {deployment.name}.feedback ORDER BY feedback_id")
    assert [row[0] for row in left.result_rows] == ["call neighbour", "call same name"]
    memory = MemoryStore(settings.memory_uri, 4)
    await memory.open()
    assert sorted(row["answer_id"] for row in await memory.turns()) == ["neighbour", "same name"]
    await memory.close()
    stones = [record for topic in (ANSWERS_RELEASED, FEEDBACK_REWARDS) for record in await deployment.read(topic)]
    assert [(record.key, record.value) for record in stones] == [(b'["acme","mine"]', None)] * 2
    records = {record.key: record.value for record in await deployment.read(PRIVACY_ERASURES)}
    person = Erasure.from_bytes(records.pop(done.digest.encode()))
    (answers,) = (Erasure.from_bytes(value) for value in records.values())
    assert person.digest == answers.digest == person_digest("acme", "o'brien")
    assert (person.answers, answers.answers) == ([], [answer_digest("acme", "mine")])
    assert b"brien" not in person.to_bytes() + answers.to_bytes(), "the register names nobody"
    assert done.kept_until["answers.generated"] == NOW + timedelta(days=30)
    assert set(done.kept_until) == {topic.name for topic in TOPICS if topic.cleanup == "delete"}
    assert person.by == answers.by == "operator-7" * 20, "a longer name is cut"
    again = await forget(settings, deployment.addresses, "acme", "o'brien", lambda: NOW, "O'Brien")
    records = {record.key: record.value for record in await deployment.read(PRIVACY_ERASURES)}
    assert b"brien" not in b"".join(filter(None, records.values())).lower(), (
        "who runs an erasure may give the same name"
    )
    assert (again.answers, again.turns, again.queries, sum(again.rows.values())) == (0, 0, 0, 0)


async def test_topics_of_replays_are_named_with_the_end_of_their_retention(deployment: Deployment) -> None:
    """They hold question and answer like the live topics, and no erasure reaches them at once."""
    settings = deployment.settings
    async with TopicAdministration(settings, deployment.addresses.kafka) as topics:
        assert await topics.shadows() == {}
        for run in ("again", "a.shadow.b"):
            await topics.create_beside({each: shadow(each, run) for each in SHADOWED})
        days = settings.model_copy(
            update={"kafka": settings.kafka.model_copy(update={"retention_days": {ANSWERS_ENRICHED.name: 3.0}})}
        )
    async with TopicAdministration(days, deployment.addresses.kafka) as topics:
        await topics.create_beside({ANSWERS_ENRICHED: shadow(ANSWERS_ENRICHED, "short")})
    done = await forget(settings, deployment.addresses, "acme", "o'brien", lambda: NOW)
    named = {name: until - NOW for name, until in done.kept_until.items() if ".shadow." in name}
    assert named.pop("answers.enriched.shadow.short") == timedelta(days=3)
    assert named == {
        f"{topic.name}.shadow.{run}": topic.retention for topic in SHADOWED for run in ("again", "a.shadow.b")
    }


async def test_the_file_of_the_local_redis_server_holds_nothing_that_was_removed(
    deployment: Deployment, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Redis appends each written value to a file, which holds the values of removed keys until it is rewritten."""
    folder = tmp_path_factory.mktemp("r")
    local = LocalServices(folder, kafka=False, clickhouse=False)
    found = await local.start()
    try:
        addresses = replace(deployment.addresses, redis=found.redis_url or "")
        client: Any = open_redis(addresses.redis, deployment.settings.redis)
        await client.set("touchstone:review:pending", "the private words of a question")
        await client.delete("touchstone:review:pending")
        await client.set("touchstone:of-others", "words of others")
        await client.aclose()

        def written() -> bytes:
            return b"".join(path.read_bytes() for path in (folder / "valkey" / "appendonlydir").iterdir())

        assert b"private words" in written()
        settings = deployment.settings.model_copy(update={"redis_url": None})
        assert (await forget(settings, addresses, "acme", "o'brien", lambda: NOW)).rewritten
        assert b"private words" not in written()
        assert b"words of others" in written()
        # The files of a server of somebody else are left as they are.
        own = settings.model_copy(update={"redis_url": addresses.redis})
        assert not (await forget(own, addresses, "acme", "o'brien", lambda: NOW)).rewritten
    finally:
        await local.stop()


@pytest.mark.parametrize(("tenant", "user"), [("acme", ""), ("acme", " \t"), ("", "o'brien"), (" ", "o'brien")])
async def test_no_erasure_begins_without_a_person_and_a_tenant(
    deployment: Deployment, client: AsyncClient, tenant: str, user: str
) -> None:
    """Answers that name no person would be taken for those of the person without a name."""
    nameless = ROW | {"tenant": "acme", "answer_id": "nameless", "user_id": None, "completed_at": NOW.isoformat()}
    await AnalyticsStore(client, deployment.name).insert("answers", [nameless | {"pipeline_version": "v", "rank": 1}])
    with pytest.raises(TouchstoneError, match="must not be empty"):
        await forget(deployment.settings, deployment.addresses, tenant, user, lambda: NOW)
    left = await client.query(f"SELECT answer_id FROM {deployment.name}.answers")
    assert left.result_rows == [("nameless",)]
    assert await deployment.read(PRIVACY_ERASURES) == []


async def test_the_role_of_the_eraser_has_every_right_that_an_erasure_needs(
    deployment: Deployment, client: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = deployment.settings
    await fill(client, deployment, settings)
    statements = recorded(monkeypatch)
    await forget(settings, deployment.addresses, "acme", "o'brien", lambda: NOW)
    database = settings.clickhouse.database
    rights = set().union(*(needed(statement, database) for statement in statements))
    assert {("ALTER DELETE", "answers"), ("SELECT", "dead_letters")} <= rights, "the erasure was not recorded"
    assert rights - granted(role_statements(database, ["acme"]), ERASER) == set()


async def test_every_table_with_rows_of_answers_is_looked_at(deployment: Deployment, client: AsyncClient) -> None:
    names = "'answer_id', 'answer_key', 'query_id', 'response_id', 'user_id', 'session_id'"
    tables = await client.query(
        "SELECT DISTINCT c.table FROM system.columns AS c JOIN system.tables AS t ON t.database = c.database AND t.name = c.table"
        f" WHERE c.database = '{deployment.name}' AND c.name IN ({names}) AND t.engine != 'MaterializedView'"
    )
    assert {row[0] for row in tables.result_rows} == set(BY_ANSWER)


async def test_a_key_of_an_earlier_version_is_ended_only_if_its_last_record_is_of_the_tenant(
    deployment: Deployment,
) -> None:
    """Keys had no tenant then; compaction keeps the last record of a key, whosever it is."""

    def released(tenant: str, name: str) -> tuple[bytes, bytes]:
        return name.encode(), json.dumps({"answer_id": name, "tenant": tenant, "revision": 1, "final": True}).encode()

    names = ("ours", "theirs-last", "ours-last", "ended", "nobody's")
    await deployment.send(
        [
            released("acme", "ours"), released("acme", "theirs-last"), released("other", "theirs-last"),
            released("other", "ours-last"), released("acme", "ours-last"), released("acme", "ended"), (b"ended", None),
        ],
        ANSWERS_RELEASED,
    )  # fmt: skip
    stones = await earlier_tombstones(deployment.settings, deployment.addresses.kafka, "acme", names)
    assert {(each.topic.name, each.key, each.value) for each in stones} == {
        (ANSWERS_RELEASED.name, b"ours", None), (ANSWERS_RELEASED.name, b"ours-last", None),
    }  # fmt: skip
    assert await earlier_tombstones(deployment.settings, deployment.addresses.kafka, "default", names) == []


async def test_answers_are_found_in_every_table_that_names_the_asker(
    deployment: Deployment, client: AsyncClient
) -> None:
    """Tables have retentions of their own: the answer of a decision is gone long before the decision is."""
    store = AnalyticsStore(client, deployment.name)
    persons = PersonStore(store, deployment.name)
    for tenant, user in PEOPLE.values():
        of_person = {"tenant": tenant, "user_id": user}
        await store.insert("citation_logs", [{
            **of_person, "response_id": f"{user} 1", "completed_at": NOW.isoformat(), "rank": 1, "pipeline_version": "v",
            "query_text": "q", "response_text": "r", "citations": "[]", "citation_count": 0, "invalid_references": "[]",
            "ungrounded_claims": "[]", "state": "released", "created_at": NOW.isoformat(),
        }])  # fmt: skip
        decision = example(ReviewDecision) | of_person | {"answer_id": f"{user} 2"}
        await store.store([decision_row(ReviewDecision.model_validate(decision), "final")])
        request = example(ReviewRequest) | of_person | {"answer_id": f"{user} 3", "review_id": f"of {tenant} {user}"}
        await store.store(review_rows(ReviewRequest.model_validate(request)))
    assert await persons.own_answers("acme", "o'brien") == ["o'brien 1", "o'brien 2", "o'brien 3"]
    # An interrupted erasure is repeated: the tables that name the person are emptied after all others.
    assert list(BY_ANSWER)[-5:] == ["feedback", "reviews", "review_decisions", "citation_logs", "answers"]
    removed = await persons.remove("acme", "o'brien", await persons.own_answers("acme", "o'brien"))
    assert removed["citation_logs"] == removed["reviews"] == removed["review_decisions"] == 1
    assert await persons.own_answers("acme", "o'brien") == []
    assert await persons.own_answers("other", "o'brien") == ["o'brien 1", "o'brien 2", "o'brien 3"]


async def test_a_person_with_many_answers_of_long_names_is_forgotten(
    deployment: Deployment, client: AsyncClient
) -> None:
    """ClickHouse refuses values of parameters of 128 KiB and more, as they are sent."""
    store = AnalyticsStore(client, deployment.name)
    names = [f"{number:04} " + "'\\é\"" * 48 for number in range(400)]
    shared = ROW | {"tenant": "acme", "user_id": "o'brien", "completed_at": NOW.isoformat(), "rank": 1}
    await store.insert("answers", [shared | {"answer_id": name} for name in [*names, "last"]])
    keys = [base64.b64encode(record_key("acme", name).encode()).decode() for name in names]
    await store.insert(
        "dead_letters",
        [
            letter(name, "acme", "") | {"key_base64": key, "value_base64": None}
            for name, key in zip(names, keys, strict=True)
        ],
    )
    persons = PersonStore(store, deployment.name)
    assert await persons.own_answers("acme", "o'brien") == [*sorted(names), "last"]
    removed = await persons.remove("acme", "o'brien", [*names, "last"])
    assert (removed["answers"], removed["dead_letters"]) == (401, 400)


async def test_no_earlier_row_of_a_place_in_the_list_of_the_worst_answers_comes_back(
    deployment: Deployment, client: AsyncClient
) -> None:
    store = AnalyticsStore(client, deployment.name)

    def place(number: int, answer_id: str, minute: int) -> dict[str, Any]:
        return {
            "tenant": "acme", "run": "live", "hour": NOW.isoformat(), "place": number, "answer_id": answer_id,
            "computed_at": (NOW + timedelta(minutes=minute)).isoformat(), "completed_at": NOW.isoformat(),
            "model_id": "m", "prompt_version": "", "state": "held", "hallucination_risk": "high",
            "grounding_score": 0.1, "claims_contradicted": 1, "claims_unsupported": 0,
        }  # fmt: skip

    await store.insert("worst_hours", [place(1, "neighbour", 1)])
    await store.insert("worst_hours", [place(1, "mine", 2), place(2, "neighbour", 2)])
    await PersonStore(store, deployment.name).remove("acme", "o'brien", ["mine"])
    rows = await client.query(f"SELECT place, answer_id FROM {deployment.name}.worst_hours FINAL ORDER BY place")
    assert rows.result_rows == [(1, ""), (2, "neighbour")]
    assert (
        await ask_named(
            client,
            deployment.name,
            "worst_answers",
            {"from": NOW.replace(tzinfo=None), "to": NOW.replace(tzinfo=None) + timedelta(hours=1)},
        )
        != []
    )


async def test_dead_letters_that_hold_the_person_deeper_are_removed(
    client: AsyncClient, deployment: Deployment
) -> None:
    store = AnalyticsStore(client, deployment.name)

    def values(tenant: str, user: str) -> dict[str, dict[str, Any]]:
        named = {"tenant": tenant, "user_id": user, "query": "private words"}
        other = {"tenant": tenant, "query": "private words"}
        return {
            "enriched": {"schema_version": "1.0", "answer": named},
            "row": {"table": "answers", "columns": named},
            "shared by rows": {"columns": named, "rows": [{"table": "claims", "columns": ["text"], "values": [["x"]]}]},
            "one of the rows": {
                "columns": other,
                "rows": [
                    {"table": "claims", "columns": ["text"], "values": [["x"], ["y"]]},
                    {"table": "answers", "columns": ["model_id", "user_id"], "values": [["m", None], ["m", user]]},
                ],
            },
        }  # fmt: skip

    people = [("acme", "o'brien"), ("globex", "o'brien"), ("acme", "neighbour")]
    letters = [
        letter(f"{name} of {tenant} {user}", tenant, user)
        | {"value_base64": base64.b64encode(json.dumps(value).encode()).decode()}
        for tenant, user in people
        for name, value in values(tenant, user).items()
    ]
    await store.insert("dead_letters", letters)
    removed = await PersonStore(store, deployment.name).remove("acme", "o'brien", [])
    assert removed["dead_letters"] == 4
    left = await client.query(f"SELECT dead_letter_id FROM {deployment.name}.dead_letters")
    assert len(left.result_rows) == 8
    assert not [name for (name,) in left.result_rows if "acme o'brien" in name]
