"""Provide ``touchstone console``, which serves the HTTP API and the pages."""

import asyncio
import secrets
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer
import uvloop
from pydantic import SecretStr

from workers.cli.output import console, read_settings
from workers.errors import TouchstoneError
from workers.observability.logs import safe_text
from workers.process.private_files import open_private
from workers.runtime.health import HealthServer
from workers.settings import AccessToken, Settings
from workers.settings.addresses import Addresses, apply_local_defaults, find_addresses
from workers.settings.sections.scopes import Scope

if TYPE_CHECKING:
    from workers.console.resources import ConsoleResources
    from workers.runtime.worker import Worker

TOKEN_FILE = "console-token"  # noqa: S105 -- a file's name
LOCAL_NAME = "local"


@dataclass(frozen=True, slots=True)
class RunningConsole:
    """A running console.

    Attributes:
        url: address of the console.
        link: address that logs in, if the token belongs to this machine; else that of the page for a configured token.
        resources: resources of the console.
    """

    url: str
    link: str
    resources: "ConsoleResources"

    async def wait_failed(self) -> Exception:
        """Wait until the console can no longer record accesses or review decisions.

        Returns:
            The error.
        """
        failures = [self.resources.accesses.failure]
        if self.resources.review is not None:
            failures.append(self.resources.review.failure)
        done, _ = await asyncio.wait(failures, return_when=asyncio.FIRST_COMPLETED)
        return next(iter(done)).result()


def console_command() -> None:
    """Serve the HTTP API and the pages, until SIGTERM.

    With local services it creates a token and prints a link that logs in. Otherwise it reads access
    tokens from a file.

    Examples:
      touchstone console
      TOUCHSTONE_CONSOLE__PORT=8080 touchstone console
      TOUCHSTONE_CONSOLE__TOKENS_FILE=/run/secrets/tokens.json touchstone console
    """
    settings = read_settings()
    addresses = find_addresses(settings)
    raise typer.Exit(uvloop.run(_run(apply_local_defaults(settings, addresses), addresses)))


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
        # With configured tokens this is the address that clients use.
        console.print(f"ready: console on {running.link.removesuffix('/login')}", highlight=False, soft_wrap=True)
        stopped = asyncio.ensure_future(stop.wait())
        failed = asyncio.ensure_future(running.wait_failed())
        await asyncio.wait([stopped, failed], return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if failed.done():
            raise TouchstoneError(f"the console stopped: {safe_text(failed.result())}")
        failed.cancel()
    return 0


@asynccontextmanager
async def served_console(
    settings: Settings, addresses: Addresses, worker: "Worker | None" = None
) -> AsyncIterator[RunningConsole]:
    """Serve the console until the context ends.

    Args:
        settings: all settings.
        addresses: addresses of broker and stores.
        worker: a worker in this process, whose model and memory are shared.

    Raises:
        TouchstoneError: no token is configured, the port is taken, or a service does not respond.
    """
    from workers.console.app import create_app
    from workers.console.http.server import ConsoleServer
    from workers.console.opening import opened_resources

    settings, secret = with_tokens(settings, addresses)
    shared = (None, None) if worker is None else (worker.services, worker.lag)
    async with opened_resources(settings, addresses, *shared) as resources:
        server = ConsoleServer(create_app(resources), settings.console)
        url = await server.start()
        try:
            yield RunningConsole(url, f"{url}/login#token={secret}" if secret else f"{url}/login", resources)
        finally:
            await server.stop()


def with_tokens(settings: Settings, addresses: Addresses) -> tuple[Settings, str]:
    """Return the settings with an access token: the configured tokens, else in local mode a token of this machine.

    Returns:
        Settings, and the secret of the token of this machine; empty if tokens are configured.

    Raises:
        TouchstoneError: no token is configured, and external services are used.
    """
    if settings.console.tokens:
        return settings, ""
    if not addresses.local:
        raise TouchstoneError(
            "no access tokens are configured; write a JSON list of objects with name, token and scopes to a file "
            "and set TOUCHSTONE_CONSOLE__TOKENS_FILE to its path"
        )
    secret = local_secret(settings.state_dir)
    token = AccessToken(name=LOCAL_NAME, token=SecretStr(secret), scopes=frozenset(Scope))
    return settings.model_copy(update={"console": settings.console.model_copy(update={"tokens": (token,)})}), secret


def remove_unknown_token(settings: Settings) -> None:
    """Remove the token file of an earlier start if tokens are configured: the console would refuse its token."""
    if settings.console.tokens:
        (settings.state_dir / TOKEN_FILE).unlink(missing_ok=True)


def local_secret(state_dir: Path) -> str:
    """Return the secret of this machine's token, created once and readable for its owner only."""
    path = state_dir / TOKEN_FILE
    try:
        if path.exists() and (secret := path.read_text(encoding="ascii").strip()):
            return secret
        state_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        secret = secrets.token_urlsafe(32)
        with open_private(path) as file:
            file.write(secret.encode() + b"\n")
    except (OSError, UnicodeDecodeError) as error:
        raise TouchstoneError(
            f"{path} cannot be used ({type(error).__name__}); remove it or set console.tokens_file"
        ) from error
    return secret
