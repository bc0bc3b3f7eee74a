"""Open the vectors that workers share, if the settings enable them."""

from workers.pipeline.versions import vectors_version
from workers.settings import Settings
from workers.stores.redis.shared_vector_store import SharedVectors


def open_shared_vectors(settings: Settings, redis_url: str) -> SharedVectors | None:
    """Return the shared vectors of the configured model; ``None`` if they are off.

    Args:
        settings: model, precision, prefix and lifetime of a vector.
        redis_url: address of Redis.
    """
    seconds = settings.inference.shared_cache_seconds
    if not seconds:
        return None
    return SharedVectors(redis_url, settings.redis, vectors_version(settings), seconds)
