"""Measure how long consumer groups take to join on the light broker and on Apache Kafka.

Run: ``KAFKA_HOME=/opt/kafka python -m benchmarks.joins``. Groups of one topic with the session timeout of a worker:

* the first join of a new group;
* a second member: until both have their partitions;
* a member in the place of one that has just left.

The brokers take turns, each figure is the median of the rounds.
"""

import argparse
import asyncio
import tempfile
import time
import uuid
from collections.abc import Awaitable
from pathlib import Path

import numpy as np
from aiokafka import AIOKafkaConsumer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from workers.local.services import LocalServices
from workers.settings import KafkaSettings

TOPIC = "joins"
PARTITIONS = 8
LIMIT_SECONDS = 120.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    for broker, found in asyncio.run(measure(arguments.rounds)).items():
        print(f"{broker}: " + ", ".join(f"{name} {np.median(taken):.1f} s" for name, taken in found.items()))


async def measure(rounds: int) -> dict[str, dict[str, list[float]]]:
    """Return the seconds of each kind of join by broker."""
    found: dict[str, dict[str, list[float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        brokers = {
            name: LocalServices(
                Path(folder) / name, kafka=True, redis=False, clickhouse=False, light_broker=name == "light"
            )
            for name in ("light", "kafka")
        }
        try:
            servers = {name: (await each.start()).kafka_bootstrap_servers or "" for name, each in brokers.items()}
            for address in servers.values():
                await create(address)
            for _ in range(rounds):
                for name, address in servers.items():
                    for kind, taken in (await joins(address)).items():
                        found.setdefault(name, {}).setdefault(kind, []).append(taken)
        finally:
            for each in brokers.values():
                await each.stop()
    return found


async def create(servers: str) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=servers)
    await admin.start()
    await admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)])
    await admin.close()


async def joins(servers: str) -> dict[str, float]:
    """Return the seconds of each kind of join of one new group."""
    group = uuid.uuid4().hex
    first = member(servers, group)
    found = {"first join": await timed(first.start(), first)}
    second = member(servers, group)
    found["second member"] = await timed(second.start(), first, second)
    await second.stop()
    third = member(servers, group)
    found["in the place of one that left"] = await timed(third.start(), first, third)
    for each in (first, third):
        await each.stop()
    return found


def member(servers: str, group: str) -> AIOKafkaConsumer:
    session = KafkaSettings().session_timeout_seconds
    return AIOKafkaConsumer(
        TOPIC,
        bootstrap_servers=servers,
        group_id=group,
        session_timeout_ms=int(session * 1000),
        heartbeat_interval_ms=int(session * 250),
    )


async def timed(start: Awaitable[None], *members: AIOKafkaConsumer) -> float:
    """Return the seconds until all partitions belong to these members, each of which has some."""
    begun = time.perf_counter()
    await start
    while not balanced(members):
        await asyncio.sleep(0.01)
        if time.perf_counter() - begun > LIMIT_SECONDS:
            return LIMIT_SECONDS
    return time.perf_counter() - begun


def balanced(members: tuple[AIOKafkaConsumer, ...]) -> bool:
    held = [each.assignment() for each in members]
    return all(held) and sum(len(each) for each in held) == PARTITIONS


if __name__ == "__main__":
    main()
