"""Convert events of the console to records."""

from collections.abc import Iterable

from schemas.answers import GeneratedAnswer
from schemas.feedback import FeedbackEvent
from schemas.headers import event_headers
from schemas.identifiers import record_key
from schemas.topics import Topic
from workers.console.resources import ConsoleResources
from workers.delivery.records import Output
from workers.privacy.record_masking import Privacy

AGENT = "console"


def event_outputs(
    resources: ConsoleResources, topic: Topic, events: Iterable[tuple[str, GeneratedAnswer | FeedbackEvent, bytes]]
) -> list[Output]:
    """Build masked records with CloudEvents headers.

    Args:
        resources: provide clock, version and privacy settings.
        topic: target topic.
        events: tuples of event identifier, event and serialized event.
    """
    now = resources.now()
    privacy = Privacy(resources.settings.privacy, resources.settings.kafka.max_input_bytes)
    return [
        Output(
            topic,
            record_key(event.tenant, event.answer_id).encode(),
            privacy.value(value),
            event_headers(
                event_id=identifier,
                event_type=type(event).__name__,
                time=now,
                pipeline_version=resources.pipeline_version,
                agent=AGENT,
            ),
        )
        for identifier, event, value in events
    ]
