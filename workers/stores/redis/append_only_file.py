"""Rewrite the append-only file of the local server, which holds every written value until it is rewritten."""

import asyncio

from redis.exceptions import ResponseError

from workers.settings import RedisSettings
from workers.stores.redis.client import RedisClient, open_redis

POLL_SECONDS = 0.05
REWRITE_SECONDS = 60.0
"""Maximum time of a rewrite; the local server holds at most 256 MB."""


async def rewrite_append_only_file(url: str, settings: RedisSettings) -> None:
    """Rewrite the append-only file, so that it holds no more than the server does; do nothing without such a file.

    Raises:
        redis.exceptions.RedisError: the server does not respond, or the rewrite failed.
        TimeoutError: the rewrite takes too long.
    """
    client = open_redis(url, settings, decode_responses=True)
    try:
        async with asyncio.timeout(REWRITE_SECONDS):
            if not (await _ended(client))["aof_enabled"]:
                return
            # A rewrite that has begun before this call may hold what was removed meanwhile, so it does not count.
            await client.execute_command("BGREWRITEAOF")
            if (await _ended(client))["aof_last_bgrewrite_status"] != "ok":
                raise ResponseError("the append-only file could not be rewritten")
    finally:
        await client.aclose()


async def _ended(client: RedisClient) -> dict[str, object]:
    """Return the state of the file once no rewrite is at work or scheduled."""
    while True:
        state: dict[str, object] = await client.info("persistence")
        if not (state["aof_rewrite_in_progress"] or state["aof_rewrite_scheduled"]):
            return state
        await asyncio.sleep(POLL_SECONDS)
