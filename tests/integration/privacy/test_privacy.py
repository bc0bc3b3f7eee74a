"""Masked at the door: no topic, table, key, memory or log line of ours holds what was to be masked."""

import base64
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import redis.asyncio
from clickhouse_connect.driver.asyncclient import AsyncClient

from schemas.answers import GeneratedAnswer
from schemas.export import example
from schemas.feedback import AnalyticsRow
from schemas.identifiers import person_digest
from schemas.topics import FEEDBACK_EVENTS, PRIVACY_ERASURES, REVIEW_DECISIONS, TOPICS
from tests.harness.deployment import Deployment, until
from workers.delivery.followers.erasure_follower import ErasureRegister
from workers.delivery.records import Record
from workers.gateways.adapted import Draft, Received, finished
from workers.intake.intake_outputs import outputs_of
from workers.masking.personal_data import KINDS
from workers.privacy.erasure import forget
from workers.privacy.record_masking import Privacy
from workers.settings import PrivacySettings
from workers.settings.addresses import Addresses
from workers.stores.clickhouse.analytics_store import AnalyticsStore
from workers.stores.lancedb.memory_store import MemoryStore

SECRETS = (
    "jane@example.org", "DE89370400440532013000", "4111111111111111", "+4930901820", "10.20.30.40",
    "sk-proj-Ab1Cd2Ef3Gh4Ij5Kl6Mn", "B-12345", "erika@example.org",
)  # fmt: skip
OF_THE_OTHER = ("otto@example.org", "GB29NWBK60161331926819", "5500005555555559")
"""The same kinds for a tenant without masking: where they are found, the others would be found."""
ALL = f"Write to {', '.join(SECRETS)} for help."
OURS = b"touchstone."
"""How types of records begin that we write."""

POLICY = {
    "TOUCHSTONE_PRIVACY__MASK": json.dumps(KINDS),
    "TOUCHSTONE_PRIVACY__PATTERNS": '{"badge": "B-[0-9]{5}"}',
    "TOUCHSTONE_PRIVACY__TENANTS": '{"open": {}}',
    "TOUCHSTONE_DELIVERY__JOIN_DEADLINE_SECONDS": "600",
}


def answer(name: str, tenant: str, secrets: Sequence[str] = SECRETS, **fields: Any) -> tuple[bytes, bytes]:
    mail, everything = secrets[0], f"Write to {', '.join(secrets)} for help."
    event = {
        "answer_id": name, "tenant": tenant, "session_id": f"s-{mail}", "user_id": mail, "query": f"Who is {mail}?",
        "answer": f"{everything} The pump runs at 4.2 bar [1].", "error": everything, "note": everything,
        "contexts": [{"chunk_id": "c-1", "content": f"{everything} The pump runs at 4.2 bar.", "metadata": {"by": mail}}],
        "metadata": {mail: [everything], "card": int(secrets[2])}, "completed_at": "2026-11-20T10:15:00Z",
    }  # fmt: skip
    return name.encode(), json.dumps(event | fields).encode()


def feedback(name: str) -> tuple[bytes, bytes]:
    event = {
        "answer_id": name, "tenant": "acme", "user_id": SECRETS[0], "kind": "explicit",
        "explicit": {"rating": 2, "comment": ALL}, "occurred_at": "2026-11-20T10:16:00Z",
    }  # fmt: skip
    return name.encode(), json.dumps(event).encode()


def decision(name: str) -> tuple[bytes, bytes]:
    event = {
        "feedback_id": f"decision-{name}", "review_id": f"review-{name}", "answer_id": name, "tenant": "acme",
        "timestamp": "2026-11-20T10:17:00Z", "query": ALL, "original_answer": ALL, "user_action": "correct",
        "corrected_answer": ALL, "user_comment": ALL, "user_profile": {"mail": SECRETS[7]},
    }  # fmt: skip
    return name.encode(), json.dumps(event).encode()


@pytest.fixture
async def deployment(addresses: Addresses, tmp_path: Path, int8_folder: Path) -> AsyncIterator[Deployment]:
    key = tmp_path / "key"
    key.write_text("0123456789abcdef0123456789abcdef\n")
    environment = POLICY | {"TOUCHSTONE_PRIVACY__KEY_FILE": str(key)}
    deployment = Deployment(addresses, tmp_path, environment=environment, int8=int8_folder)
    await deployment.prepare()
    yield deployment
    await deployment.close()


async def tables(deployment: Deployment, client: AsyncClient) -> dict[str, str]:
    """Every row of every table, as text; of dead letters also what their base64 holds."""
    database, contents = deployment.name, await deployment.table_texts(client)
    letters = await client.query(f"SELECT key_base64, value_base64, headers FROM {database}.dead_letters")
    for key, value, headers in letters.result_rows:
        parts = [key, value, *(header[1] for header in json.loads(headers))]
        contents["dead_letters"] += repr([base64.b64decode(part) for part in parts if part])
    return contents


async def topics(deployment: Deployment) -> dict[str, str]:
    """Every record on a topic that we have written."""
    contents = {}
    for topic in TOPICS:
        records = await deployment.read(topic)
        ours = [r for r in records if topic.direction != "in" or dict(r.headers).get("ce_type", b"").startswith(OURS)]
        contents[topic.name] = repr([(r.key, r.value, r.headers) for r in ours])
    return contents


async def settled(deployment: Deployment, client: AsyncClient) -> bool:
    async def count(sql: str) -> int:
        return int((await deployment.query(client, sql))[0])

    worker = deployment.workers[0]
    return (
        await count("SELECT count() FROM {db}.answers FINAL") == 2
        and await count("SELECT count() FROM {db}.dead_letters FINAL") == 3
        and await count("SELECT count() FROM {db}.rewards FINAL") == 1
        and await count("SELECT count() FROM {db}.feedback WHERE kind = 'explicit'") >= 2
        and await worker.metric("touchstone_consumer_lag_records") == 0
        and await worker.metric("touchstone_records_in_flight") == 0
    )


async def everywhere(deployment: Deployment, client: AsyncClient) -> dict[str, str]:
    """All that is kept, as text, by where it is."""
    places = {f"topic {name}": text for name, text in (await topics(deployment)).items()}
    places |= {f"table {name}": text for name, text in (await tables(deployment, client)).items()}
    memory = MemoryStore(deployment.settings.memory_uri, 384)
    await memory.open()
    places["memory"] = repr(await memory.turns())
    await memory.close()
    async with redis.asyncio.Redis.from_url(deployment.addresses.redis) as store:
        keys = [key async for key in store.scan_iter(f"{deployment.name}:*")]
        places["redis"] = repr([(key, await store.get(key)) for key in keys if await store.type(key) == b"string"])
    return places | {"log": deployment.workers[0].log.read_text()}


async def test_nothing_that_is_masked_is_left_anywhere_and_another_tenant_is_untouched(
    deployment: Deployment, client: AsyncClient
) -> None:
    worker = await deployment.start_worker()
    poison = [
        (b"p-1", f"not JSON {ALL}".encode()),
        answer("p-2", "acme", completed_at=ALL),
        answer("p-3", "acme", padding="x" * 400_000),
    ]
    await deployment.send([answer("a-1", "acme"), answer("b-1", "open", OF_THE_OTHER), *poison])
    await deployment.send([feedback("a-1")], FEEDBACK_EVENTS)
    await deployment.send([decision("a-1")], REVIEW_DECISIONS)
    await until(lambda: settled(deployment, client), "everything settled")
    assert await worker.metric("touchstone_masked_values_total", agent="assembly", kind="mail") > 0
    assert await worker.terminate() == 0

    places = await everywhere(deployment, client)
    assert [(name, each) for name, text in places.items() for each in SECRETS if each in text] == []
    found = {name for name, text in places.items() if OF_THE_OTHER[0] in text}
    expected = ("answers.enriched", "answers.released", "feedback.analytics", "memory.turns", "feedback.events")
    assert found >= {*(f"topic {name}" for name in expected), "table answers", "table sources", "memory"}
    masked = {name for name, text in places.items() if "{mail:" in text}
    assert masked >= {
        *(f"topic {name}" for name in (*expected, "dead-letters")),
        "table feedback",
        "table dead_letters",
    }


@pytest.mark.parametrize("name", ["jane@example.org", "3bcf288e-6c7d-4d76-b048-23229db14e7d"])
async def test_a_person_known_by_a_mask_is_forgotten_by_the_name(
    deployment: Deployment, client: AsyncClient, name: str
) -> None:
    """The second one has figures of a phone number, which no record is masked for."""
    settings = deployment.settings
    settings.privacy = PrivacySettings.model_validate(
        {"mask": KINDS, "phone_regions": ["DE"], "key": "0123456789abcdef0123456789abcdef", "tenants": {}}
    )
    user = str(Privacy(settings.privacy, 1_000).masker("acme").event({"user_id": name})["user_id"])
    row = AnalyticsRow.model_validate(example(AnalyticsRow)).columns
    store = AnalyticsStore(client, deployment.name)
    await store.insert("answers", [row | {"tenant": "acme", "user_id": user, "answer_id": "a-1"}])
    done = await forget(settings, deployment.addresses, "acme", name, lambda: datetime.now(UTC))
    assert (done.answers, done.digest) == (1, person_digest("acme", user))


@pytest.mark.parametrize("masks", [[], KINDS], ids=["unmasked", "masked"])
@pytest.mark.parametrize("long", ["user", "tenant"])
async def test_a_person_with_a_long_identifier_is_forgotten_by_it(
    deployment: Deployment, client: AsyncClient, masks: list[str], long: str
) -> None:
    """The intake stores the digest of an identifier of more than 200 characters; letters hold it as it came."""
    given = {"user": "jane@example.org", "tenant": "acme"} | {long: "jane@example.org " * 20}
    settings = deployment.settings
    settings.privacy = PrivacySettings.model_validate(
        {"mask": masks, "key": "0123456789abcdef0123456789abcdef", "tenants": {}}
    )
    privacy = Privacy(settings.privacy, 100_000)
    draft = Draft(identifier="a-1", tenant=given["tenant"], user_id=given["user"], query="Why?", answer="So.")
    adapted = finished(draft, "litellm", {}, Received(at=datetime.now(UTC)))
    (sent, *_) = outputs_of(adapted, privacy, 100_000, agent="intake", pipeline_version="v")
    stored = GeneratedAnswer.from_bytes(sent.value or b"")
    row = AnalyticsRow.model_validate(example(AnalyticsRow)).columns
    store = AnalyticsStore(client, deployment.name)
    await store.insert("answers", [
        row | {"tenant": stored.tenant, "user_id": stored.user_id, "answer_id": "a-1"},
        row | {"tenant": stored.tenant, "user_id": "neighbour", "answer_id": "a-2"},
    ])  # fmt: skip
    refused = privacy.value(json.dumps({"tenant": given["tenant"], "user_id": given["user"]}).encode())
    await store.insert("dead_letters", [{
        "dead_letter_id": "l", "topic": "answers.generated", "partition": 0, "offset": 1, "agent": "assembly",
        "error_class": "E", "error": "e", "attempts": 1, "failed_at": datetime.now(UTC).isoformat(),
        "pipeline_version": "v", "value_base64": base64.b64encode(refused).decode(), "headers": "[]",
    }])  # fmt: skip
    done = await forget(settings, deployment.addresses, given["tenant"], given["user"], lambda: datetime.now(UTC))
    assert (done.answers, done.digest) == (1, person_digest(stored.tenant, stored.user_id or ""))
    assert (done.rows["answers"], done.rows["dead_letters"]) == (1, 1)
    register = ErasureRegister()
    for record in await deployment.read(PRIVACY_ERASURES):
        register.note_value(record.value, 0, record.offset)
    again = Record("answers.generated", 0, 2, None, refused)
    assert register.covers(again)
    neighbour = privacy.value(json.dumps({"tenant": given["tenant"], "user_id": "neighbour"}).encode())
    assert not register.covers(replace(again, value=neighbour))
    unknown = register.unknown_answer(replace(again, key=b"a-3", value=refused[:-1] + b',"answer_id":"a-3"}'))
    assert (unknown is None) == (long == "tenant")
    if unknown is not None:
        register.note_value(unknown.to_bytes(), 0, 0)
        assert register.knows(given["tenant"], "a-3")
