"""``touchstone services`` and ``touchstone up``: everything on one machine."""

import asyncio
import signal
from contextlib import AsyncExitStack
from typing import Annotated, Any

import typer
import uvloop

from workers.addresses import Addresses, adapted
from workers.commands.console import served_console
from workers.commands.output import console, read_settings
from workers.delivery.errors import TouchstoneError
from workers.local.errors import LocalServiceError
from workers.local.services import LocalServices, ServicePorts
from workers.local.state import ServiceAddresses
from workers.logs import safe_text
from workers.settings import Settings
from workers.topics import TopicAdministration

KafkaPort = Annotated[int | None, typer.Option(help="Port of the broker; a free one by default.")]
RedisPort = Annotated[int | None, typer.Option(help="Port of Valkey; a free one by default.")]
ClickHousePort = Annotated[int | None, typer.Option(help="Port of ClickHouse; a free one by default.")]


def services(
    kafka_port: KafkaPort = None, redis_port: RedisPort = None, clickhouse_port: ClickHousePort = None
) -> None:
    """Start broker, Valkey and ClickHouse on loopback, until SIGTERM; other commands find them.

    The broker's log lives in memory and ends with it; ClickHouse and Valkey keep theirs.

    Example: touchstone services &  touchstone worker --agents grounding
    """
    settings = read_settings()
    ports = ServicePorts(kafka=kafka_port, redis=redis_port, clickhouse=clickhouse_port)
    raise typer.Exit(uvloop.run(_serve(settings, ports, with_worker=False)))


def up(kafka_port: KafkaPort = None, redis_port: RedisPort = None, clickhouse_port: ClickHousePort = None) -> None:
    """Start the services, all agents and the console on this machine, until SIGTERM.

    Prints a link that logs in to the console; what earlier runs have stored is there as well.

    Example: touchstone up
    """
    settings = read_settings()
    ports = ServicePorts(kafka=kafka_port, redis=redis_port, clickhouse=clickhouse_port)
    raise typer.Exit(uvloop.run(_serve(settings, ports, with_worker=True)))


def local_addresses(found: ServiceAddresses) -> Addresses:
    """Addresses of services that this process has started."""
    return Addresses(found.kafka_bootstrap_servers or "", found.redis_url or "", found.clickhouse_url or "", local=True)


async def create_topics(settings: Settings, addresses: Addresses) -> None:
    """Create what is missing; on one machine there is nobody else to do it."""
    async with TopicAdministration(settings, addresses.kafka) as administration:
        await administration.create()


async def _serve(settings: Settings, ports: ServicePorts, *, with_worker: bool) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with AsyncExitStack() as stack:
        local = await stack.enter_async_context(LocalServices(settings.state_dir, ports=ports))
        addresses = local_addresses(local.addresses)
        settings = adapted(settings, addresses)
        await create_topics(settings, addresses)
        console.print(
            f"broker      {addresses.kafka}\nvalkey      {addresses.redis}\nclickhouse  {addresses.clickhouse}",
            highlight=False,
        )
        waits: list[asyncio.Future[Any]] = [
            asyncio.ensure_future(stop.wait()),
            asyncio.ensure_future(local.wait_for_failure()),
        ]
        if with_worker:
            from workers.app import Worker

            worker = Worker(settings, addresses)
            stack.push_async_callback(worker.stop)
            await worker.start()
            console.print(f"metrics     http://{settings.http.host}:{worker.metrics_port}/metrics", highlight=False)
            waits.append(asyncio.ensure_future(worker.wait_failed()))
            running = await stack.enter_async_context(served_console(settings, addresses, worker))
            console.print(f"console     {running.link}", highlight=False, soft_wrap=True)
            waits.append(asyncio.ensure_future(running.wait_failed()))
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
