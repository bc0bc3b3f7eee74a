"""The vectors that workers share, where the settings say so."""

from workers.settings import Settings
from workers.stores.vectors import SharedVectors
from workers.versions import vectors_version


def open_shared_vectors(settings: Settings, redis_url: str) -> SharedVectors | None:
    """Shared vectors of the model of the settings, ``None`` if they are off.

    Args:
        settings: model, precision, prefix and how long a vector stays.
        redis_url: redis(s)://[user:password@]host:port/database.
    """
    seconds = settings.inference.shared_cache_seconds
    if not seconds:
        return None
    return SharedVectors(redis_url, settings.redis.key_prefix, vectors_version(settings), seconds)
