"""``touchstone console``: the HTTP API and the pages."""

import asyncio
import os
import secrets
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
import uvloop
from pydantic import SecretStr

from workers.addresses import Addresses, adapted, find_addresses
from workers.commands.output import console, read_settings
from workers.console.scopes import Scope
from workers.delivery.errors import TouchstoneError
from workers.health import HealthServer
from workers.logs import safe_text
from workers.settings import AccessToken, Settings

if TYPE_CHECKING:
    from workers.app import Worker
    from workers.console.resources import ConsoleResources

TOKEN_FILE = "console-token"  # noqa: S105 -- a file's name
LOCAL_NAME = "local"


@dataclass(frozen=True, slots=True)
class RunningConsole:
    """A console that answers.

    Attributes:
        url: its address.
        link: the address that logs in, where the token is the one of this machine.
        resources: what it works on.
    """

    url: str
    link: str
    resources: "ConsoleResources"

    async def wait_failed(self) -> Exception:
        """Wait until the console cannot keep its promise.

        Returns:
            Why.
        """
        failures = [self.resources.accesses.failure]
        if self.resources.review is not None:
            failures.append(self.resources.review.failure)
        done, _ = await asyncio.wait(failures, return_when=asyncio.FIRST_COMPLETED)
        return next(iter(done)).result()


def console_command() -> None:
    """Serve the HTTP API and the pages, until SIGTERM.

    On one machine it makes a token of its own and prints a link that logs in; elsewhere it
    needs access tokens, which it reads from a file.

    Examples:
      touchstone console
      TOUCHSTONE_CONSOLE__PORT=8080 touchstone console
      TOUCHSTONE_CONSOLE__TOKENS_FILE=/run/secrets/tokens.json touchstone console
    """
    settings = read_settings()
    addresses = find_addresses(settings)
    raise typer.Exit(uvloop.run(_run(adapted(settings, addresses), addresses)))


async def _run(settings: Settings, addresses: Addresses) -> int:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with AsyncExitStack() as stack:
        health = HealthServer(settings.http.host, settings.http.metrics_port, lambda: {"console": None})
        port = await health.start()
        stack.push_async_callback(health.stop)
        running = await stack.enter_async_context(served_console(settings, addresses))
        console.print(f"metrics on http://{settings.http.host}:{port}/metrics", highlight=False)
        console.print(f"ready: console on {running.link}", highlight=False, soft_wrap=True)
        stopped = asyncio.ensure_future(stop.wait())
        failed = asyncio.ensure_future(running.wait_failed())
        await asyncio.wait([stopped, failed], return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if failed.done():
            raise TouchstoneError(f"the console cannot go on: {safe_text(failed.result())}")
        failed.cancel()
    return 0


@asynccontextmanager
async def served_console(
    settings: Settings, addresses: Addresses, worker: "Worker | None" = None
) -> AsyncIterator[RunningConsole]:
    """The console, served until the context ends.

    Args:
        settings: all settings.
        addresses: of broker and stores.
        worker: one in this process, whose model and memory are shared.

    Raises:
        TouchstoneError: no token is there, the port is taken, or something does not answer.
    """
    from workers.console.app import create_app
    from workers.console.opening import WorkerParts, opened_resources
    from workers.console.server import ConsoleServer

    settings, secret = with_tokens(settings, addresses)
    parts: Any = None
    if worker is not None and worker.embedding is not None and worker.memory is not None:
        parts = WorkerParts(worker.embedding, worker.memory, worker.lag, worker.verifier)
    async with opened_resources(settings, addresses, parts) as resources:
        server = ConsoleServer(create_app(resources), settings.console)
        url = await server.start()
        try:
            yield RunningConsole(url, f"{url}/login#token={secret}" if secret else url, resources)
        finally:
            await server.stop()


def with_tokens(settings: Settings, addresses: Addresses) -> tuple[Settings, str]:
    """The settings with a token: those given, else on one machine one of its own.

    Returns:
        Settings, and the secret of the token of this machine; empty where others are given.

    Raises:
        TouchstoneError: there is none, and services elsewhere are used.
    """
    if settings.console.tokens:
        return settings, ""
    if not addresses.local:
        raise TouchstoneError(
            "no access tokens are set; write a JSON list of objects with name, token and scopes into a file and set "
            "TOUCHSTONE_CONSOLE__TOKENS_FILE to it"
        )
    secret = local_secret(settings.state_dir)
    token = AccessToken(name=LOCAL_NAME, token=SecretStr(secret), scopes=frozenset(Scope))
    return settings.model_copy(update={"console": settings.console.model_copy(update={"tokens": (token,)})}), secret


def local_secret(state_dir: Path) -> str:
    """The secret of this machine's token, made once, readable for its owner alone."""
    path = state_dir / TOKEN_FILE
    try:
        if path.exists() and (secret := path.read_text(encoding="ascii").strip()):
            return secret
        state_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        secret = secrets.token_urlsafe(32)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
            file.write(secret + "\n")
    except (OSError, UnicodeDecodeError) as error:
        raise TouchstoneError(
            f"{path} cannot be used ({type(error).__name__}); remove it or set console.tokens_file"
        ) from error
    return secret
