"""Callback and guardrail in a real proxy of LiteLLM, started from the configuration of the page."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from aiokafka import AIOKafkaConsumer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from tests.clients.model_server import DOCUMENT, QUESTION, Kept, model_server
from tests.console.test_gateway_docs import blocks
from tests.harness.client_environment import client_environment
from tests.harness.console import ConsoleThread, secret
from tests.harness.paths import ROOT
from workers.decision.reader_text.reader_texts import ENGLISH
from workers.gateways.adapted import Received
from workers.gateways.formats import format_named
from workers.gateways.reading.lenient_reading import time as read_time
from workers.inference.backends import SentenceTransformerBackend
from workers.local.ports import free_port
from workers.settings.addresses import Addresses

LITELLM = "litellm[proxy]==1.83.0"
PAGE = "gateways-litellm.md"
RIGHT = "The warranty lasts 24 months from delivery [1]."
WRONG = "The warranty lasts 36 months from delivery [1]."
START_SECONDS = 120.0
HELD = "This answer has not been verified and cannot be shown."


@pytest.fixture(scope="module")
def console(
    addresses: Addresses, tmp_path_factory: pytest.TempPathFactory, backend: SentenceTransformerBackend
) -> Iterator[ConsoleThread]:
    console = ConsoleThread(addresses, tmp_path_factory.mktemp("console"), backend)
    console.start()
    yield console
    console.stop()


class Proxy:
    """A proxy and the model behind it."""

    def __init__(self, url: str, kept: Kept, log: Path) -> None:
        self.url = url
        self.kept = kept
        self.log = log

    def ask(self, answer: str, path: str = "/v1/chat/completions", **fields: Any) -> httpx.Response:
        self.kept.answer = answer
        body = {
            "model": "fast",
            "messages": [{"role": "user", "content": QUESTION}],
            "metadata": {"contexts": [{"id": "terms-4", "text": DOCUMENT}], "session_id": "session-1"},
        }
        reply = httpx.post(self.url + path, json=body | fields, timeout=60)
        assert reply.status_code == 200, reply.text + self.log.read_text()[-3_000:]
        return reply

    def said(self, answer: str, **fields: Any) -> tuple[str, str]:
        (choice,) = self.ask(answer, **fields).json()["choices"]
        return choice["message"]["content"], choice["finish_reason"]

    def streamed(self, answer: str, **fields: Any) -> tuple[list[str], list[str]]:
        """Return the texts of the chunks and the reasons of the end."""
        lines = self.ask(answer, stream=True, **fields).text.splitlines()
        assert lines[-2 if lines[-1] == "" else -1] == "data: [DONE]"
        chunks = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
        assert not any("error" in chunk for chunk in chunks), chunks
        choices = [choice for chunk in chunks for choice in chunk["choices"]]
        return (
            [text for choice in choices if (text := choice["delta"].get("content"))],
            [reason for choice in choices if (reason := choice.get("finish_reason"))],
        )


def configuration(**changes: Any) -> dict[str, Any]:
    """Return the configuration of the page: its callback and its guardrail."""
    found: dict[str, Any] = {}
    for block in blocks(PAGE, "yaml"):
        found |= yaml.safe_load(block)
    found["guardrails"][0]["litellm_params"] |= {"deadline_ms": 20_000} | changes
    return found


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Proxy]]:
    """Starts a proxy with a configuration in an environment of its own."""
    programs = client_environment(LITELLM, "aiokafka>=0.12,<1")
    with ExitStack() as stack:

        def begun(config: dict[str, Any], **environment: str) -> Proxy:
            folder = tmp_path_factory.mktemp("proxy")
            for name in ("callback", "guardrail"):
                shutil.copy(ROOT / "workers" / "gateways" / f"{name}.py", folder / f"touchstone_{name}.py")
            (folder / "config.yaml").write_text(yaml.safe_dump(config))
            base, kept = stack.enter_context(model_server())
            port = free_port()
            settings = {
                **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
                "OPENAI_BASE_URL": f"{base}/v1",
                "OPENAI_API_KEY": "none",
                "LITELLM_LOCAL_MODEL_COST_MAP": "True",
                **environment,
            }
            log = (folder / "proxy.log").open("wb")
            stack.callback(log.close)
            process = subprocess.Popen(
                [programs / "litellm", "--config", "config.yaml", "--host", "127.0.0.1", "--port", str(port)],
                cwd=folder, env=settings, stdout=log, stderr=subprocess.STDOUT,
            )  # fmt: skip
            stack.callback(process.wait, 30)
            stack.callback(process.terminate)
            proxy = Proxy(f"http://127.0.0.1:{port}", kept, folder / "proxy.log")
            until = time.monotonic() + START_SECONDS
            while time.monotonic() < until:
                try:
                    httpx.get(f"{proxy.url}/health/liveliness")
                    return proxy
                except httpx.TransportError:
                    assert process.poll() is None, proxy.log.read_text()[-3_000:]
                    time.sleep(0.1)
            raise AssertionError("the proxy does not listen")

        yield begun


@pytest.fixture(scope="module")
def topic(addresses: Addresses, console: ConsoleThread) -> str:
    name = f"{console.settings.kafka.topic_prefix}litellm"

    async def create() -> None:
        admin = AIOKafkaAdminClient(bootstrap_servers=addresses.kafka)
        await admin.start()
        await admin.create_topics([NewTopic(name=name, num_partitions=1, replication_factor=1)])
        await admin.close()

    console.call(create())
    return name


@pytest.fixture(scope="module")
def proxy(start: Callable[..., Proxy], console: ConsoleThread, addresses: Addresses, topic: str) -> Proxy:
    """The proxy of the page, with callback and guardrail."""
    return start(
        configuration(),
        LITELLM_TOUCHSTONE_URL=console.url,
        LITELLM_TOUCHSTONE_TOKEN=secret("ingest"),
        LITELLM_TOUCHSTONE_KAFKA=addresses.kafka,
        LITELLM_TOUCHSTONE_TOPIC=topic,
    )


def test_a_right_answer_is_shown_and_a_wrong_one_is_not(proxy: Proxy) -> None:
    text, reason = proxy.said(RIGHT)
    assert (text.startswith(RIGHT[:-5]), reason) == (True, "stop")
    text, reason = proxy.said(WRONG)
    assert (text in (HELD, ENGLISH.fallback), reason) == (True, "content_filter")


def test_an_answer_for_a_program_is_not_formatted(proxy: Proxy) -> None:
    answer = '{"months": 24}'
    assert proxy.said(answer, response_format={"type": "json_object"})[0] == answer


def test_a_response_that_asks_for_a_tool_passes(proxy: Proxy) -> None:
    tool = {"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}
    (choice,) = proxy.ask(RIGHT, tools=[tool]).json()["choices"]
    assert choice["message"]["tool_calls"][0]["function"]["name"] == "search"


def test_a_stream_shows_what_is_right(proxy: Proxy) -> None:
    answer = f"{RIGHT} It begins with the date of delivery [1]. That is all."
    texts, reasons = proxy.streamed(answer)
    assert ("".join(texts), reasons) == (answer, ["stop"])
    assert len(texts) > 5, "word by word, as the model wrote"


def test_a_stream_ends_before_the_sentence_that_is_wrong(proxy: Proxy) -> None:
    proxy.kept.pause = 0.05
    try:
        texts, reasons = proxy.streamed(f"The period begins with delivery [1]. {WRONG} That is all you need to know.")
    finally:
        proxy.kept.pause = 0.0
    shown = "".join(texts)
    assert "36" not in shown
    assert shown.endswith((HELD, ENGLISH.fallback))
    assert reasons == ["content_filter"]


def test_the_log_keeps_the_answer_of_the_model(
    proxy: Proxy, console: ConsoleThread, addresses: Addresses, topic: str
) -> None:
    answer = "The warranty lasts 48 months from delivery [1]."
    identifiers = {proxy.ask(answer).json()["id"]}
    proxy.streamed(answer.replace("48", "50"))

    async def records() -> list[Any]:
        consumer = AIOKafkaConsumer(topic, bootstrap_servers=addresses.kafka, auto_offset_reset="earliest")
        await consumer.start()
        found: list[Any] = []
        try:
            while len(found) < 2:
                value = (await consumer.getone()).value or b""
                if b"months from delivery" in value and (b" 48 " in value or b" 50 " in value):
                    found += format_named("litellm").answers(value, Received(read_time("2026-11-03T00:00:00Z")))
        finally:
            await consumer.stop()
        return [each.answer for each in found]

    first, second = console.call(records(), 60)
    assert first.answer == answer
    assert first.answer_id in identifiers
    assert second.answer == answer.replace("48", "50")
    assert [chunk.content for chunk in first.contexts] == [DOCUMENT]


@pytest.mark.parametrize("path", ["/v1/responses", "/v1/messages"])
def test_other_apis_are_checked_after_the_call(proxy: Proxy, path: str) -> None:
    asked: dict[str, Any] = {"input": QUESTION} if path == "/v1/responses" else {"max_tokens": 100}
    reply = proxy.ask(WRONG, path, **asked).json()
    text = json.dumps(reply, ensure_ascii=False)
    assert "36 months" not in text
    assert HELD in text or ENGLISH.fallback in text


def events_of(proxy: Proxy, path: str, answer: str) -> list[dict[str, Any]]:
    """Return the events of a stream of another API."""
    asked: dict[str, Any] = {"input": QUESTION} if path == "/v1/responses" else {"max_tokens": 100}
    lines = proxy.ask(answer, path, stream=True, **asked).text.splitlines()
    found = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
    assert not any("error" in event for event in found), found
    return found


def text_of(events: list[dict[str, Any]]) -> str:
    deltas = [
        event["delta"] for event in events if event["type"] in ("response.output_text.delta", "content_block_delta")
    ]
    return "".join(delta if isinstance(delta, str) else delta["text"] for delta in deltas)


@pytest.mark.parametrize("path", ["/v1/responses", "/v1/messages"])
def test_a_stream_of_another_api_shows_what_is_right(proxy: Proxy, path: str) -> None:
    answer = f"{RIGHT} It begins with the date of delivery [1]. That is all."
    events = events_of(proxy, path, answer)
    assert text_of(events) == answer
    assert events[-1]["type"] in ("response.completed", "message_stop")
    assert len(events) > 8, "word by word, as the model wrote"


@pytest.mark.parametrize("path", ["/v1/responses", "/v1/messages"])
def test_a_stream_of_another_api_ends_before_the_sentence_that_is_wrong(proxy: Proxy, path: str) -> None:
    proxy.kept.pause = 0.05
    right = "The period begins with delivery [1]."
    try:
        events = events_of(proxy, path, f"{right} {WRONG} That is all you need to know.")
    finally:
        proxy.kept.pause = 0.0
    assert "36 months" not in json.dumps(events), "neither as it comes, nor where the last events repeat it"
    assert text_of(events).endswith((HELD, ENGLISH.fallback))
    if path == "/v1/messages":
        kinds = [event["type"] for event in events]
        assert kinds[-3:] == ["content_block_stop", "message_delta", "message_stop"]
        assert events[-2]["delta"]["stop_reason"] == "refusal"
    else:
        (item,) = events[-1]["response"]["output"]
        assert item["content"][0]["text"] == text_of(events), "the last event has the text that was shown"


def test_a_finding_that_stops_a_stream_ends_it_for_an_observer_as_well(
    start: Callable[..., Proxy], console: ConsoleThread
) -> None:
    config = configuration(risk_mode="observer", stop_on="contradicted_figure") | {"litellm_settings": {}}
    observer = start(config, LITELLM_TOUCHSTONE_URL=console.url, LITELLM_TOUCHSTONE_TOKEN=secret("ingest"))
    observer.kept.pause = 0.05
    for path in ("/v1/messages", "/v1/responses"):
        events = events_of(
            observer, path, f"The period begins with delivery [1]. {WRONG} That is all you need to know."
        )
        assert text_of(events).endswith(HELD)
        assert "36 months" not in json.dumps(events)
    texts, reasons = observer.streamed(f"The period begins with delivery [1]. {WRONG} That is all you need to know.")
    assert ("".join(texts).endswith(HELD), reasons) == (True, ["content_filter"])
    assert observer.streamed(f"{RIGHT} {RIGHT}")[1] == ["stop"]


@pytest.fixture(scope="module")
def lonely(start: Callable[..., Proxy]) -> Proxy:
    """A proxy with two guardrails whose console is away."""
    config = configuration()
    (guardrail,) = config["guardrails"]
    config["litellm_settings"] = {}
    guardrail["litellm_params"] |= {"default_on": False, "deadline_ms": 300}
    opened = json.loads(json.dumps(guardrail)) | {"guardrail_name": "open"}
    opened["litellm_params"]["unreachable_fallback"] = "fail_open"
    config["guardrails"].append(opened)
    return start(config, LITELLM_TOUCHSTONE_URL="http://127.0.0.1:9", LITELLM_TOUCHSTONE_TOKEN="none-0123456789")


@pytest.mark.parametrize(
    ("guardrail", "text", "reason"), [("touchstone", HELD, "content_filter"), ("open", RIGHT, "stop")]
)
def test_without_the_console_an_answer_is_held_or_shown_as_configured(
    lonely: Proxy, guardrail: str, text: str, reason: str
) -> None:
    assert lonely.said(RIGHT, guardrails=[guardrail]) == (text, reason)
    texts, reasons = lonely.streamed(RIGHT, guardrails=[guardrail])
    assert ("".join(texts), reasons) == (text, [reason])
    assert lonely.said(WRONG)[0] == WRONG, "not asked for"
