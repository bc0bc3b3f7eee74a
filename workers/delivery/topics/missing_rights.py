"""Name a right that the broker refuses, and its remedy."""

from aiokafka.errors import GroupAuthorizationFailedError, TopicAuthorizationFailedError

REMEDY = "grant the rights that `touchstone topics acls` prints"


def refused_reading(error: BaseException) -> str | None:
    """Return the right that a reader lacks with the remedy, or ``None`` if the error has another cause."""
    # The broker names one topic or group, or aiokafka a set of topics.
    named = error.args[0] if error.args else ""
    names = named if isinstance(named, str) else ", ".join(sorted(map(str, named)))
    if isinstance(error, TopicAuthorizationFailedError):
        return f"this user may not read {names or 'a topic'}; {REMEDY}"
    if isinstance(error, GroupAuthorizationFailedError):
        return f"this user may not join the group {names or 'of the agent'}; {REMEDY}"
    return None
