"""Examine receivers with any address, and Redis for the agents that use it."""

import asyncio

import pytest
from pydantic import SecretStr

from workers.agents.streams import streams_agent
from workers.doctor.receiver_checks import examine_receivers
from workers.doctor.redis_checks import examine_redis
from workers.doctor.scope import Scope
from workers.settings import Settings


@pytest.mark.parametrize("url", ["https://host:99999", "https://collector:port/v1", "https://a..b/v1", "https:///v1"])
def test_an_address_that_cannot_be_read_is_a_finding_beside_the_others(url: str) -> None:
    settings = Settings()
    settings.otel.endpoint = "http://127.0.0.1:9/v1/logs"
    settings.tracing.endpoint = url
    settings.alert_webhook.url = SecretStr(url)
    findings = asyncio.run(examine_receivers(settings))
    assert [finding.check for finding in findings] == ["opentelemetry", "tracing", "alert webhook"]
    assert "host or port" in findings[1].text
    assert "cannot be reached" in findings[0].text


def test_redis_is_examined_for_the_agent_of_streams() -> None:
    settings = Settings(streams={"enabled": True})
    streams = streams_agent(settings)
    assert streams is not None
    assert Scope((streams,), console=False).redis
    assert not Scope((), console=False).redis
    (finding,) = asyncio.run(examine_redis(settings, "redis://127.0.0.1:9"))
    assert "chunks of answers" in finding.text
