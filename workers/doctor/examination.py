"""Run every check, one after the other."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator

from workers.doctor.clickhouse_checks import examine_clickhouse
from workers.doctor.findings import Finding, ok
from workers.doctor.kafka_checks import examine_kafka
from workers.doctor.memory_checks import examine_memory
from workers.doctor.receiver_checks import examine_receivers
from workers.doctor.redis_checks import examine_redis
from workers.doctor.scope import Scope
from workers.settings import Settings
from workers.settings.addresses import Addresses

PAUSE_SECONDS = 2.0
"""Pause between two examinations of a deployment that is not ready yet."""

Part = tuple[str, Callable[[], Awaitable[list[Finding]]]]
"""Name of a server, and the function that examines it."""


async def examine(
    settings: Settings, addresses: Addresses, scope: Scope, progress: Callable[[str], None]
) -> list[Finding]:
    """Examine settings and servers; change nothing.

    Args:
        settings: all settings.
        addresses: addresses of broker and stores.
        scope: what to examine.
        progress: called with the name of each server before it is examined.
    """
    agents = [agent.name for agent in scope.agents] + (["console"] if scope.console else [])
    findings = [ok("settings", f"valid for {', '.join(agents)}")]
    for name, run in _parts(settings, addresses, scope):
        progress(name)
        findings += await run()
    return findings


async def examine_until_ready(
    run: Callable[[], Awaitable[list[Finding]]], wait_seconds: float, tell: Callable[[list[Finding]], None]
) -> list[Finding]:
    """Repeat an examination until it finds no failure, or the time is over.

    Args:
        run: examines once.
        wait_seconds: longest wait; 0 to examine once.
        tell: called with the failures when they change.

    Returns:
        The findings of the last examination.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + wait_seconds
    told: list[Finding] = []
    while True:
        findings = await run()
        failures = [each for each in findings if each.status == "failure"]
        if not failures or loop.time() >= until:
            return findings
        if failures != told:
            tell(failures)
            told = failures
        await asyncio.sleep(PAUSE_SECONDS)


def _parts(settings: Settings, addresses: Addresses, scope: Scope) -> Iterator[Part]:
    yield "Kafka", lambda: examine_kafka(settings, addresses.kafka, scope)
    if scope.clickhouse:
        yield "ClickHouse", lambda: examine_clickhouse(settings, addresses.clickhouse)
    if scope.redis:
        yield "Redis", lambda: examine_redis(settings, addresses.redis)
    if scope.memory:
        yield "memory", lambda: examine_memory(settings)
    if scope.agents:
        yield "export targets", lambda: examine_receivers(settings)
