"""Examine Redis or Valkey: reach, version, clock, rights.

Without Redis agents and console work with less; the agent streams does not work.
"""

import time
from typing import Any

from redis.exceptions import AuthenticationError, NoPermissionError

from workers.doctor.clocks import compare_clocks
from workers.doctor.findings import Finding, ok, warning
from workers.doctor.supported_versions import compare
from workers.settings import Settings
from workers.stores.redis.client import REDIS_ERRORS, InvalidRedisUrl, open_redis

TIMEOUT_SECONDS = 5.0

WITHOUT = (
    "retries are not found, reviewers' locks, undo and log-outs are lost with a console, and chunks of answers (agent "
    "streams) wait on their topic"
)
"""Features that are missing without Redis."""


async def examine_redis(settings: Settings, url: str) -> list[Finding]:
    """Examine Redis.

    Args:
        settings: prefix of the keys and connection.
        url: address of Redis; it may hold a password.
    """
    try:
        client: Any = open_redis(url, settings.redis, TIMEOUT_SECONDS, decode_responses=True)
    except InvalidRedisUrl as error:
        return [warning("redis", f"{error}: {WITHOUT}", "set it to redis(s)://:password@host:port/0")]
    try:
        await client.ping()
        return [ok("redis", "responds"), *await _version_and_clock(client), await _rights(client, settings)]
    except REDIS_ERRORS as error:
        # Over a Unix socket the client wraps the refusal.
        if isinstance(error, AuthenticationError) or isinstance(error.__cause__, AuthenticationError):
            text = f"the server refuses the user or the password: {WITHOUT}"
            return [warning("redis", text, "correct the password in REDIS_URL")]
        text = f"no server responds ({type(error).__name__}): {WITHOUT}"
        return [warning("redis", text, "start one, or correct REDIS_URL")]
    finally:
        await client.aclose()


async def _version_and_clock(client: Any) -> list[Finding]:
    findings = []
    try:
        server = await client.info("server")
        version, valkey = str(server["redis_version"]), server.get("valkey_version")
        findings.append(compare("redis version", "Redis", version, f"Valkey {valkey}" if valkey else None))
        before = time.time()
        seconds, microseconds = await client.time()
        findings.append(compare_clocks("redis clock", before, int(seconds) + int(microseconds) / 1e6, time.time()))
    except NoPermissionError:
        findings.append(ok("redis version", "this user may not ask for version and clock"))
    return findings


async def _rights(client: Any, settings: Settings) -> Finding:
    """Do what agents and console do, with a key of its own that expires."""
    keys = [f"{settings.redis.key_prefix}{{doctor}}:{number}" for number in (1, 2)]
    try:
        script = "redis.call('SET', KEYS[1], '1', 'PX', 1000); redis.call('ZADD', KEYS[2], 1, 'a'); "
        await client.eval(f"{script} return redis.call('DEL', KEYS[1], KEYS[2])", 2, *keys)
    except NoPermissionError as error:
        text = f"this user may not do what agents do ({error})"
        return warning("redis rights", text, f"allow reading, writing and scripts on keys {settings.redis.key_prefix}*")
    return ok("redis rights", f"this user may write keys {settings.redis.key_prefix}*")
