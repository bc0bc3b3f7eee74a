"""Provide ``touchstone services`` and ``touchstone up``, which run everything on one machine."""

import asyncio
import signal
from contextlib import AsyncExitStack, suppress
from enum import Enum
from typing import Annotated, Any

import typer
import uvloop

from schemas.topics import foreign_topic
from workers.cli.operation.console_command import remove_unknown_token, served_console
from workers.cli.output import console, read_settings
from workers.delivery.topics.topic_administration import TopicAdministration
from workers.errors import TouchstoneError
from workers.local.errors import LocalServiceError
from workers.local.passwords import passwords_file
from workers.local.services import LocalServices, ServicePorts
from workers.observability.logs import safe_text
from workers.process.ending import run_service
from workers.runtime.evaluation_process import spawned_processes
from workers.settings import Settings
from workers.settings.addresses import Addresses, apply_local_defaults, local_addresses

KafkaPort = Annotated[int | None, typer.Option(help="Port of the broker; a free one by default.")]
RedisPort = Annotated[int | None, typer.Option(help="Port of Valkey; by default it has a Unix socket.")]
ClickHousePort = Annotated[int | None, typer.Option(help="Port of ClickHouse; a free one by default.")]


class Broker(Enum):
    """Name the brokers that can be started."""

    LIGHT = "light"
    KAFKA = "kafka"


BrokerChoice = Annotated[
    Broker, typer.Option(help="light: in memory, starts at once; kafka: Apache Kafka from the jars in KAFKA_HOME.")
]


def services(
    kafka_port: KafkaPort = None,
    redis_port: RedisPort = None,
    clickhouse_port: ClickHousePort = None,
    broker: BrokerChoice = Broker.LIGHT,
) -> None:
    """Start broker, Valkey and ClickHouse on loopback, until SIGTERM; other commands find them.

    The log of the light broker is in memory and is lost at the end; other data are kept. Apache Kafka
    needs Java 17 and KAFKA_HOME, the folder of an unpacked release.

    Examples:
      touchstone services &  touchstone worker --agents grounding
      KAFKA_HOME=/opt/kafka touchstone services --broker kafka
    """
    settings = read_settings()
    ports = ServicePorts(kafka=kafka_port, redis=redis_port, clickhouse=clickhouse_port)
    raise typer.Exit(uvloop.run(_serve(settings, ports, broker, with_worker=False)))


def up(
    kafka_port: KafkaPort = None,
    redis_port: RedisPort = None,
    clickhouse_port: ClickHousePort = None,
    broker: BrokerChoice = Broker.LIGHT,
) -> None:
    """Start the services, all agents and the console on this machine, until SIGTERM.

    It prints a link that logs in to the console. The console also shows results of earlier runs.

    Examples:
      touchstone up
      KAFKA_HOME=/opt/kafka touchstone up --broker kafka
    """
    settings = read_settings()
    ports = ServicePorts(kafka=kafka_port, redis=redis_port, clickhouse=clickhouse_port)
    # Here a signal still ends the process at once; each of the two takes seconds.
    import workers.runtime.worker  # noqa: F401
    from workers.pipeline.versions import rules_digest

    rules_digest()

    run_service(_serve(settings, ports, broker, with_worker=True))


async def create_topics(settings: Settings, addresses: Addresses) -> None:
    """Create missing topics, also those of gateways; local mode has no administrator who creates them."""
    async with TopicAdministration(settings, addresses.kafka) as administration:
        await administration.create()
        await administration.create_foreign(foreign_topic(name) for name in settings.gateways.topics)


async def _serve(settings: Settings, ports: ServicePorts, broker: Broker, *, with_worker: bool) -> int:
    """Start everything and wait until it is stopped; a signal ends the start, too."""
    stop, ready = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    running = asyncio.ensure_future(_run(settings, ports, broker, stop, ready, with_worker=with_worker))
    waits = [asyncio.ensure_future(event.wait()) for event in (stop, ready)]
    await asyncio.wait([running, *waits], return_when=asyncio.FIRST_COMPLETED)
    for wait in waits:
        wait.cancel()
    if stop.is_set() and not ready.is_set() and not running.done():
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        return 0
    return await running


async def _run(
    settings: Settings,
    ports: ServicePorts,
    broker: Broker,
    stop: asyncio.Event,
    ready: asyncio.Event,
    *,
    with_worker: bool,
) -> int:
    async with AsyncExitStack() as stack:
        evaluation = await stack.enter_async_context(spawned_processes(settings)) if with_worker else []
        local = await stack.enter_async_context(
            LocalServices(settings.state_dir, ports=ports, light_broker=broker is Broker.LIGHT)
        )
        addresses = local_addresses(local.addresses)
        settings = apply_local_defaults(settings, addresses)
        await create_topics(settings, addresses)
        shown = local.addresses.without_passwords()
        console.print(
            f"broker      {shown.kafka_bootstrap_servers}\nvalkey      {shown.redis_url}\n"
            f"clickhouse  {shown.clickhouse_url}\npasswords   {passwords_file(settings.state_dir)}",
            highlight=False,
        )
        waits: list[asyncio.Future[Any]] = [
            asyncio.ensure_future(stop.wait()),
            asyncio.ensure_future(local.wait_for_failure()),
        ]
        if with_worker:
            from workers.runtime.worker import complete_worker

            worker = complete_worker(settings, addresses, evaluation)
            stack.push_async_callback(worker.stop)
            await worker.start()
            console.print(f"metrics     http://{settings.http.host}:{worker.metrics_port}/metrics", highlight=False)
            waits.append(asyncio.ensure_future(worker.wait_failed()))
            remove_unknown_token(settings)
            running = await stack.enter_async_context(served_console(settings, addresses, worker))
            console.print(f"console     {running.link}", highlight=False, soft_wrap=True)
            waits.append(asyncio.ensure_future(running.wait_failed()))
        ready.set()
        console.print("[green]ready[/]; stop with Ctrl-C")
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        failures = [wait.result() for wait in waits[1:] if wait.done()]
        for wait in waits:
            wait.cancel()
    reasons = [
        str(failure) if isinstance(failure, LocalServiceError) else safe_text(failure)
        for failure in failures
        if isinstance(failure, Exception)
    ]
    if reasons and not stop.is_set():
        raise TouchstoneError("; ".join(reasons))
    return 0
