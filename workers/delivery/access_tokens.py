"""Give access tokens from a file or a command to Kafka clients (OAUTHBEARER)."""

import asyncio
import base64
import json
import shlex
import subprocess
import threading
import time
from functools import lru_cache
from pathlib import Path

from aiokafka.abc import AbstractTokenProvider
from aiokafka.errors import AuthenticationFailedError

from workers.observability.logs import get_logger
from workers.settings import KafkaSettings

COMMAND_SECONDS = 20.0
"""Maximum time of the command, in seconds."""

RENEWED_AT = 0.8
"""Share of a token's lifetime after which the command runs again."""

OPAQUE_SECONDS = 60.0
"""Time that a token without a readable expiry is kept, in seconds."""

MAX_TOKEN = 100_000
"""Maximum length of a token, in characters."""

log = get_logger(__name__)


class TokenUnavailable(AuthenticationFailedError):  # type: ignore[misc]  # untyped
    """Report that no valid token could be had. Clients of aiokafka then try again, as for a broker that is away."""


class AccessTokens(AbstractTokenProvider):  # type: ignore[misc]  # untyped
    """Provide tokens for all clients of a process.

    A file is read for every connection; the program that writes it renews it. A command runs again before its token expires.

    Args:
        file: file that holds the token.
        command: command that prints the token. It runs without a shell.
    """

    def __init__(self, file: Path | None, command: str | None) -> None:
        self._file = file
        self._command = shlex.split(command or "")
        self._lock = threading.Lock()
        self._token = ""
        self._renewal = self._expiry = 0.0
        self._clock = time.monotonic

    async def token(self) -> str:
        """Return a token that is valid now.

        Raises:
            TokenUnavailable: the file or the command gives none.
        """
        # Clients of several threads ask, each in its own loop.
        return await asyncio.to_thread(self._current)

    def _current(self) -> str:
        if self._file is not None:
            return _from_file(self._file)
        with self._lock:
            if self._clock() >= self._renewal:
                self._renew()
            return self._token

    def _renew(self) -> None:
        asked, monotonic, wall = self._clock(), time.monotonic(), time.time()
        try:
            token = _from_command(self._command)
        except TokenUnavailable as error:
            if asked >= self._expiry:
                raise
            log.warning("token_renewal_failed", error=str(error), expires_in_seconds=round(self._expiry - asked))
            return
        expiry = _expiry(token)
        if expiry is None:
            # Not by wall clock: a step back of that clock would lengthen the life of the token.
            self._clock, asked, self._expiry = time.monotonic, monotonic, monotonic + OPAQUE_SECONDS
        else:
            self._clock, asked, self._expiry = time.time, wall, expiry
        self._renewal = asked + RENEWED_AT * (self._expiry - asked)
        self._token = token


@lru_cache(maxsize=8)
def _shared(file: Path | None, command: str | None) -> AccessTokens:
    return AccessTokens(file, command)


def access_tokens(kafka: KafkaSettings) -> AccessTokens:
    """Return the token provider of these settings; one provider serves the process."""
    return _shared(kafka.sasl_token_file, kafka.sasl_token_command)


def _from_file(file: Path) -> str:
    try:
        with file.open(encoding="utf-8") as stream:
            return _checked(stream.read(MAX_TOKEN + 1), str(file))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not valid UTF-8"
        raise TokenUnavailable(f"{file} cannot be read: {reason}; correct kafka.sasl_token_file") from None


def _from_command(command: list[str]) -> str:
    name = command[0]
    try:
        done = subprocess.run(command, capture_output=True, timeout=COMMAND_SECONDS, check=False)
    except OSError as error:
        raise TokenUnavailable(f"{name} cannot run: {error.strerror}; correct kafka.sasl_token_command") from None
    except subprocess.TimeoutExpired:
        raise TokenUnavailable(f"{name} printed no token within {COMMAND_SECONDS:g} s; run it by hand") from None
    if done.returncode:
        # Its output may hold secrets.
        raise TokenUnavailable(f"{name} ended with {done.returncode} instead of a token; run it by hand")
    return _checked(done.stdout.decode("utf-8", "replace"), name)


def _checked(text: str, source: str) -> str:
    token = text.strip()
    if not token or len(token) > MAX_TOKEN or not token.isascii() or any(c.isspace() or c < " " for c in token):
        raise TokenUnavailable(f"{source} holds no token: one line of ASCII without blanks is needed")
    return token


def _expiry(token: str) -> float | None:
    """Return the time at which a JSON Web Token expires; ``None`` if the token does not tell."""
    parts = token.split(".")
    if len(parts) < 2:
        return None
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
        return float(claims["exp"])
    except (ValueError, KeyError, TypeError):
        return None
