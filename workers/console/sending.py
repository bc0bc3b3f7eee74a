"""Events from the console as records."""

from collections.abc import Iterable

from schemas.base import Event
from schemas.headers import event_headers
from schemas.topics import Topic
from workers.console.resources import ConsoleResources
from workers.delivery.records import Output
from workers.privacy import Privacy

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
    privacy = Privacy(resources.settings.privacy, resources.settings.kafka.max_input_bytes)
    return [
        Output(
            topic,
            key.encode(),
            privacy.value(value),
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
