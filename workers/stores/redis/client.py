"""Open the client of Redis or Valkey: one server, servers behind Sentinel, or a cluster.

The scheme of ``REDIS_URL`` names the form, with as many hosts as there are:

- ``redis://user:password@host:6379/0``
- ``redis+sentinel://user:password@host1:26379,host2:26379/service/0``
- ``redis+cluster://user:password@host1:6379,host2:6379``

``rediss`` instead of ``redis`` encrypts. In a cluster, one script may only use keys of one hash slot, so that keys that
a script uses together have the same part in braces.
"""

from collections.abc import Sequence
from typing import Any, cast
from urllib.parse import SplitResult, unquote, urlsplit

from redis.asyncio import Redis
from redis.asyncio.cluster import ClusterNode, RedisCluster
from redis.asyncio.connection import UnixDomainSocketConnection, parse_url
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import Sentinel, SentinelConnectionPool
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisClusterException, RedisError

from workers.errors import TouchstoneError
from workers.settings import RedisSettings

RedisClient = Redis | RedisCluster

REDIS_ERRORS = (RedisError, RedisClusterException, OSError)
"""All errors of a client whose servers do not respond or refuse. That of a cluster is no ``RedisError``."""

Host = tuple[str, int]


class InvalidRedisUrl(TouchstoneError):
    """Report that ``REDIS_URL`` is not valid, without its content, which may hold a password."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"REDIS_URL is not valid: {reason}")


def open_redis(url: str, settings: RedisSettings, timeout_seconds: float | None = None, **options: Any) -> RedisClient:
    """Return a client. It connects with its first command.

    Args:
        url: address in one of the forms above; its query may hold further options of the client.
        settings: certificates, login at Sentinel and timeout.
        timeout_seconds: timeout of each step of a command; by default that of the settings.
        options: further options of the client.

    Raises:
        InvalidRedisUrl: the address is not valid.
    """
    parts = urlsplit(url)
    scheme, _, form = parts.scheme.partition("+")
    if scheme not in ("redis", "rediss", "unix") or form not in ("", "sentinel", "cluster"):
        raise InvalidRedisUrl("the scheme is none of redis, redis+sentinel, redis+cluster, with rediss for TLS")
    hosts = _hosts(parts, 26379 if form == "sentinel" else 6379)
    if not form and len(hosts) > 1:
        raise InvalidRedisUrl("several hosts need the scheme redis+sentinel or redis+cluster")
    seconds = timeout_seconds or settings.timeout_seconds
    connection = {
        "socket_timeout": seconds,
        "socket_connect_timeout": seconds,
        # Repeat once without delay: a restart or a failover may have closed a connection of the pool.
        "retry": Retry(NoBackoff(), 1, supported_errors=(RedisConnectionError,)),
        **_encryption(scheme, settings),
    }
    path, database = _service(parts) if form == "sentinel" else (parts.path, parts.path)
    login, _, _ = parts.netloc.rpartition("@")
    single = parts._replace(scheme=scheme, netloc=f"{login}@" if login else "", path=database)
    try:
        given = {**connection, **parse_url(single.geturl()), **options}
    except ValueError as error:
        raise InvalidRedisUrl("the query holds a value that the client does not take") from error
    if given.pop("connection_class", None) is UnixDomainSocketConnection:
        return Redis(unix_socket_path=given.pop("path"), **given)
    if form == "cluster":
        return RedisCluster(startup_nodes=[ClusterNode(host, port) for host, port in hosts], **given)
    if form == "sentinel":
        return _behind_sentinel(hosts, path, given, {**connection, **_sentinel_login(settings)})
    ((host, port),) = hosts
    return Redis(host=host, port=port, **given)


async def read_many(client: RedisClient, keys: Sequence[str]) -> list[bytes | None]:
    """Return the values of keys, ``None`` for those that are missing. In a cluster they may be on several nodes."""
    if isinstance(client, RedisCluster):
        return cast("list[bytes | None]", await client.mget_nonatomic(keys))
    return cast("list[bytes | None]", await client.mget(keys))


class _PoolWithSentinels(SentinelConnectionPool):
    """Connections to the primary, closed together with those to the sentinels."""

    async def aclose(self) -> None:
        await super().aclose()
        for sentinel in self.sentinel_manager.sentinels:
            await sentinel.aclose()


def _behind_sentinel(
    hosts: Sequence[Host], service: str, options: dict[str, Any], sentinel_options: dict[str, Any]
) -> Redis:
    sentinels = Sentinel(hosts, sentinel_kwargs=sentinel_options, **options)  # type: ignore[no-untyped-call]
    return cast("Redis", sentinels.master_for(service, connection_pool_class=_PoolWithSentinels))


def _encryption(scheme: str, settings: RedisSettings) -> dict[str, Any]:
    if scheme != "rediss":
        return {}
    files = {
        "ssl_ca_certs": settings.ssl_cafile,
        "ssl_certfile": settings.ssl_certfile,
        "ssl_keyfile": settings.ssl_keyfile,
    }
    return {"ssl": True, **{name: str(file) for name, file in files.items() if file is not None}}


def _sentinel_login(settings: RedisSettings) -> dict[str, Any]:
    password = settings.sentinel_password
    return {"username": settings.sentinel_username, "password": password and password.get_secret_value()}


def _service(parts: SplitResult) -> tuple[str, str]:
    service, _, database = parts.path.strip("/").partition("/")
    if not service:
        raise InvalidRedisUrl(
            "the address of Sentinel lacks the name of the service: redis+sentinel://host:26379/service/0"
        )
    return unquote(service), f"/{database}"


def _hosts(parts: SplitResult, port: int) -> list[Host]:
    names = parts.netloc.rpartition("@")[2].split(",")
    found = [urlsplit(f"//{name.strip()}") for name in names]
    try:
        return [(unquote(each.hostname or "localhost"), each.port or port) for each in found]
    except ValueError:
        raise InvalidRedisUrl("a port is not a number from 1 to 65535") from None
