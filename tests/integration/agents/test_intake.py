"""Topics of gateways: what is in them becomes answers once, what is not of the format is a dead letter."""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from schemas.answers import GeneratedAnswer
from schemas.dead_letters import read_dead_letter
from schemas.feedback import FeedbackEvent
from schemas.identifiers import answer_digest, person_digest
from schemas.privacy import Erasure
from schemas.topics import ANSWERS_GENERATED, DEAD_LETTERS, FEEDBACK_EVENTS, PRIVACY_ERASURES
from tests.clients.model_server import DOCUMENT
from tests.console.test_intake_routes import exports_of
from tests.harness.deployment import Deployment, until
from tests.harness.distributions import write_distribution
from tests.harness.keys import name_of
from tests.harness.paths import DATA, ROOT
from workers.delivery.topics.topic_administration import TopicsNotReady
from workers.runtime.agent_choice import UnknownAgent, chosen_agents
from workers.runtime.worker import Worker
from workers.settings import GatewaySettings, GatewayTopic, PrivacySettings, Settings
from workers.settings.addresses import Addresses

GOLDEN = DATA / "gateways"


DESK_FORMAT = """
from workers.gateways.adapted import Draft, finished
from workers.gateways.formats import Format

DESK = Format("desk", "The desk", lambda record, at: [finished(Draft(answer=record["said"]), "desk", record, at)])
"""


def golden(name: str) -> list[Any]:
    return list(json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))["cases"])


@pytest.fixture
async def deployment(addresses: Addresses, tmp_path: Path) -> AsyncIterator[Deployment]:
    deployment = Deployment(addresses, tmp_path)
    await deployment.prepare()
    yield deployment
    await deployment.close()


class Site:
    """Topics of a gateway of its own, and a worker that reads them and nothing else."""

    def __init__(self, deployment: Deployment, formats: dict[str, str]) -> None:
        self.deployment = deployment
        self.names = {form: f"{uuid.uuid4().hex}-{form}" for form in formats}
        self.settings = deployment.settings
        self.settings.gateways = GatewaySettings(
            topics={self.names[form]: GatewayTopic(format=formats[form]) for form in formats}
        )
        self.worker: Worker | None = None

    async def create(self) -> None:
        admin = AIOKafkaAdminClient(bootstrap_servers=self.deployment.addresses.kafka)
        await admin.start()
        await admin.create_topics(
            [NewTopic(name=name, num_partitions=2, replication_factor=1) for name in self.names.values()]
        )
        await admin.close()

    async def start(self) -> Worker:
        await self.create()
        self.worker = Worker(self.settings, self.deployment.addresses, ["intake"])
        await self.worker.start()
        return self.worker

    async def send(self, form: str, *values: Any, headers: list[tuple[str, bytes]] | None = None) -> None:
        producer = AIOKafkaProducer(bootstrap_servers=self.deployment.addresses.kafka)
        await producer.start()
        sent = []
        for value in values:
            content = value if isinstance(value, bytes) else json.dumps(value).encode()
            sent.append(await producer.send(self.names[form], content, headers=headers or []))
        await asyncio.gather(*sent)
        await producer.stop()

    async def until_read(self) -> None:
        assert self.worker is not None

        async def caught_up() -> bool:
            return self.worker is not None and self.worker.caught_up() and await self.worker.lag() == {"intake": 0}

        await until(caught_up, "all records are read", 60)


async def read(deployment: Deployment, count: int) -> list[Any]:
    """All answers, once there are so many."""
    found: list[Any] = []

    async def there() -> bool:
        found[:] = await deployment.read(ANSWERS_GENERATED)
        return len(found) >= count

    await until(there, f"{count} answers", 90)
    return found


async def test_sources_of_a_trace_are_joined_in_whichever_order_its_records_come(deployment: Deployment) -> None:
    site = Site(deployment, {"otlp": "otlp"})
    site.settings.gateways.trace_wait_seconds = 60.0
    worker = await site.start()
    try:
        first, second = exports_of("openinference-llamaindex")
        for resource in second["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                scope["spans"] = [span for span in scope["spans"] if span.get("parentSpanId")]  # the root comes later
        await site.send("otlp", *[second, exports_of("openinference-langchain")[0]])
        await read(deployment, 1)  # the trace that is complete does not wait
        assert await worker.lag() != {"intake": 0}, "the other one is not acknowledged while it waits"
        await site.send("otlp", first)
        answers = [GeneratedAnswer.from_bytes(each.value) for each in await read(deployment, 2)]
        await site.until_read()
    finally:
        await worker.stop()
    assert [[chunk.content for chunk in answer.contexts or ()] for answer in answers] == [[DOCUMENT]] * 2


async def test_a_trace_whose_sources_do_not_come_waits_no_longer_than_it_may(deployment: Deployment) -> None:
    site = Site(deployment, {"otlp": "otlp"})
    site.settings.gateways.trace_wait_seconds = 0.5
    worker = await site.start()
    try:
        await site.send("otlp", exports_of("openinference-llamaindex")[1])
        (record,) = await read(deployment, 1)
        await site.until_read()
    finally:
        await worker.stop()
    assert GeneratedAnswer.from_bytes(record.value).contexts is None


async def test_records_of_gateways_become_answers_and_feedback_once_whatever_comes_twice(
    deployment: Deployment,
) -> None:
    site = Site(deployment, {"litellm": "litellm", "otlp": "otlp", "events": "openai"})
    await site.start()
    try:
        good, failed = golden("litellm")[:2]
        await site.send("litellm", good["record"], failed["record"], good["record"])
        await site.send("litellm", {"hello": "world"}, b"\xff")
        await site.send("litellm", good["record"] | {"call_type": "aembedding"})
        await site.send("otlp", golden("otlp")[0]["record"])
        pair = golden("openai")[2]["record"]
        binary = [
            ("ce_specversion", b"1.0"),
            ("ce_id", b"17"),
            ("ce_source", b"/app"),
            ("ce_type", b"x"),
            ("content-type", b"application/json"),
        ]
        unnamed = {**pair, "response": {**pair["response"], "id": None}}
        await site.send("events", unnamed, headers=binary)
        structured = {
            "specversion": "1.0",
            "id": "18",
            "source": "/app",
            "type": "x",
            "time": "2026-11-02T08:00:00Z",
            "data": unnamed,
        }
        await site.send("events", structured, headers=[("content-type", b"application/cloudevents+json")])
        records = await read(deployment, 6)
        answers = {name_of(record): GeneratedAnswer.from_bytes(record.value) for record in records}
        assert len(records) == 6, "the repeat is sent again, under the same name"
        (trace,) = golden("otlp")[0]["answers"]
        assert set(answers) == {"chatcmpl-9f1c", "req-2", trace["answer_id"], "/app/17", "/app/18"}
        assert len({record.value for record in records if name_of(record) == "chatcmpl-9f1c"}) == 1
        headers = dict(next(record.headers for record in records if name_of(record) == trace["answer_id"]))
        assert headers["ce_type"] == b"touchstone.GeneratedAnswer"
        assert headers["traceparent"].decode() == trace["trace"]["traceparent"]
        await site.until_read()
    finally:
        assert site.worker is not None
        await site.worker.stop()
    events = [FeedbackEvent.from_bytes(record.value) for record in await deployment.read(FEEDBACK_EVENTS)]
    assert len({event.feedback_id for event in events}) == 3
    assert {
        event.execution.error_type for event in events if event.execution and event.execution.status == "error"
    } == {"RateLimitError"}
    letters = [read_dead_letter(each.key, each.value, each.headers) for each in await deployment.read(DEAD_LETTERS)]
    assert {(letter.topic, letter.error_class, letter.agent) for letter in letters} == {
        (site.names["litellm"], "UnadaptableRecord", "intake")
    }
    assert sorted(letter.value or b"" for letter in letters) == [b'{"hello": "world"}', b"\xff"]


async def test_a_topic_in_the_format_of_a_plugin_becomes_answers_and_its_errors_dead_letters(
    deployment: Deployment, tmp_path: Path
) -> None:
    write_distribution(
        tmp_path / "plugins", "desk-format", {"touchstone.formats": {"desk": "desk_format:DESK"}},
        {"desk_format.py": DESK_FORMAT},
    )  # fmt: skip
    site = Site(deployment, {"desk": "touchstone"})
    await site.create()
    environment = {
        "TOUCHSTONE_GATEWAYS__TOPICS": json.dumps({site.names["desk"]: {"format": "desk"}}),
        "PYTHONPATH": f"{ROOT}:{tmp_path / 'plugins'}",
    }
    try:
        await deployment.start_worker(["intake"], environment=environment)
        await site.send("desk", {"said": "At nine."}, {"other": "secret"}, {"said": "At ten."})
        records = await read(deployment, 2)
        letters: list[Any] = []

        async def told() -> bool:
            letters[:] = await deployment.read(DEAD_LETTERS)
            return bool(letters)

        await until(told, "the record that the plug-in cannot read is a dead letter", 60)
    finally:
        await deployment.stop()
    answers = [GeneratedAnswer.from_bytes(record.value) for record in records]
    assert {answer.answer for answer in answers} == {"At nine.", "At ten."}
    (letter,) = (read_dead_letter(each.key, each.value, each.headers) for each in letters)
    assert (letter.error_class, letter.agent) == ("UnadaptableRecord", "intake")
    assert "the format desk of desk-format 1.0 raised KeyError" in letter.error


async def test_with_masking_neither_an_answer_nor_a_dead_letter_holds_what_a_gateway_wrote(
    deployment: Deployment,
) -> None:
    site = Site(deployment, {"events": "openai"})
    site.settings.privacy = PrivacySettings(mask=("mail",), key="a-key-of-sixteen-and-more")
    await site.start()
    try:
        pair = golden("openai")[0]["record"]
        await site.send("events", {"broken": "jane@example.org"}, pair | {"contexts": ["Write to jane@example.org."]})
        (record,) = await read(deployment, 1)
        await site.until_read()
    finally:
        assert site.worker is not None
        await site.worker.stop()
    assert b"jane@example.org" not in record.value
    assert b"Write to" in record.value
    (letter,) = await deployment.read(DEAD_LETTERS)
    assert letter.value is None


async def test_nothing_is_lost_when_the_worker_is_killed_among_records(deployment: Deployment) -> None:
    site = Site(deployment, {"litellm": "litellm"})
    await site.create()
    record = golden("litellm")[0]["record"]
    names = {f"call-{number}" for number in range(400)}
    environment = {"TOUCHSTONE_GATEWAYS__TOPICS": json.dumps({site.names["litellm"]: {"format": "litellm"}})}
    try:
        worker = await deployment.start_worker(["intake"], environment=environment)
        await site.send("litellm", *(record | {"id": name} for name in sorted(names)))
        await read(deployment, 1)
        await worker.kill()
        await deployment.start_worker(["intake"], environment=environment)

        async def all_there() -> bool:
            return {name_of(each) for each in await deployment.read(ANSWERS_GENERATED)} == names

        await until(all_there, "every record is an answer", 90)
        assert await deployment.read(DEAD_LETTERS) == []
    finally:
        await deployment.stop()


async def test_what_a_gateway_says_of_an_erased_person_does_not_come_back(deployment: Deployment) -> None:
    site = Site(deployment, {"events": "openai"})
    pair = golden("openai")[0]["record"] | {"completed_at": "2026-11-02T08:14:06Z"}
    erasure = Erasure(digest=person_digest("acme", "user-17"), requested_at=datetime(2026, 11, 5, tzinfo=UTC))
    await deployment.send([(erasure.digest.encode(), erasure.to_bytes())], PRIVACY_ERASURES)
    await site.start()
    try:
        request = pair["request"] | {"user": "user-18"}
        await site.send("events", pair | {"id": "theirs"}, pair | {"id": "of-another", "request": request})
        (record,) = await read(deployment, 1)
        await site.until_read()
        assert name_of(record) == "of-another"
        assert len(await deployment.read(ANSWERS_GENERATED)) == 1
    finally:
        assert site.worker is not None
        await site.worker.stop()
    told = [Erasure.from_bytes(each.value).answers for each in await deployment.read(PRIVACY_ERASURES)]
    assert sorted(told) == [[], [answer_digest("acme", "theirs")]], "late feedback on it is dropped as well"


async def test_a_topic_that_is_not_there_is_told_before_anything_starts(deployment: Deployment) -> None:
    settings = deployment.settings
    settings.gateways = GatewaySettings(topics={"nobody-made-this": GatewayTopic(format="litellm")})
    worker = Worker(settings, deployment.addresses, ["intake"])
    with pytest.raises(TopicsNotReady, match="nobody-made-this: is missing"):
        await worker.start()
    await worker.stop()


def test_without_topics_there_is_no_such_agent() -> None:
    with pytest.raises(UnknownAgent, match="TOUCHSTONE_GATEWAYS__TOPICS"):
        chosen_agents(["intake"], Settings(_env_file=None))
    assert "intake" not in [agent.name for agent in chosen_agents(None, Settings(_env_file=None))]


@pytest.mark.parametrize(
    ("topics", "told"),
    [
        ({"a": {"format": "helicone"}}, "no format 'helicone'.*installed: touchstone, litellm"),
        ({"a b": {"format": "litellm"}}, "is not a valid topic name"),
        ({"answers.generated": {"format": "touchstone"}}, "answers.generated is a topic of Touchstone"),
        ({"a": {"format": "litellm", "tenants": []}}, "tenants"),
    ],
)
def test_wrong_settings_are_told(topics: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Settings(_env_file=None, gateways={"topics": topics})
