"""Events from the console as records."""

from collections.abc import Iterable

from schemas.base import Event
from schemas.headers import event_headers
from schemas.topics import Topic
from workers.console.resources import ConsoleResources
from workers.delivery.records import Output

AGENT = "console"


def event_outputs(
    resources: ConsoleResources, topic: Topic, events: Iterable[tuple[str, str, Event, bytes]]
) -> list[Output]:
    """Records with their CloudEvents headers.

    Args:
        resources: clock and version.
        topic: where to.
        events: key, identifier, event and its bytes.
    """
    now = resources.now()
    return [
        Output(
            topic,
            key.encode(),
            value,
            event_headers(
                event_id=identifier,
                event_type=type(event).__name__,
                time=now,
                pipeline_version=resources.pipeline_version,
                agent=AGENT,
            ),
        )
        for key, identifier, event, value in events
    ]
