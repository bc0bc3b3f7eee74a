"""Build the agent of an exporter that is one function, as plug-ins declare it.

An exporter of another distribution::

    def open_file(settings: Settings) -> Callable[[EnrichedAnswer], None]:
        path = Path(os.environ["SCORES_FILE"])

        def write(answer: EnrichedAnswer) -> None:
            with path.open("a") as file:
                print(answer.answer_id, file=file)

        return write

    SCORES_FILE = event_exporter("scores-file", EnrichedAnswer, open_file)

Its entry point in the group ``touchstone.exporters`` names ``SCORES_FILE``.
"""

from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import TypeVar

from schemas.base import Event
from schemas.enriched import EnrichedAnswer
from schemas.identifiers import LIVE_RUN
from schemas.topics import TOPICS, Topic
from workers.agents.base import AgentContext, AgentDefinition, Handler
from workers.delivery.records import Record
from workers.errors import ReceiverUnavailable
from workers.exporters.export_selection import PerRecordExporter
from workers.pipeline.isolation import IsolatedThreads, PluginSuspended, PluginTimeout
from workers.process.plugins import PluginError
from workers.settings import Settings

E = TypeVar("E", bound=Event)


def event_exporter(
    name: str, events: type[E], open_sender: Callable[[Settings], Callable[[E], None]]
) -> AgentDefinition:
    """Return the agent of an exporter that sends one event at a time.

    Args:
        name: name of its entry point, and the end of the consumer group.
        events: model of the events; they are read from the topic of this model.
        open_sender: called once when the worker starts; returns the function that sends one event. That function
            runs in two separate threads, for at most ``exports.timeout_seconds``. It returns once the
            receiver has the event. ``RefusedByReceiver`` writes a dead letter; ``ReceiverUnavailable``, ``OSError``
            or a timeout is retried until the receiver has the event; any other exception is retried a few times and
            then writes a dead letter.

    Raises:
        ValueError: no topic, or several, hold events of this model.
    """

    async def open_agent(context: AgentContext, _: AsyncExitStack) -> Handler:
        settings = context.settings
        try:
            send_event = open_sender(settings)
        except Exception as error:
            raise PluginError(f"the exporter {name} cannot be started: {type(error).__name__}: {error}") from error
        threads = IsolatedThreads(name, settings.exports.timeout_seconds)

        async def send(record: Record) -> str:
            def call() -> str:
                event = events.from_bytes(record.value)
                if isinstance(event, EnrichedAnswer) and event.run != LIVE_RUN:
                    return "replay"
                send_event(event)
                return "sent"

            try:
                return await threads.run(call)
            except (PluginTimeout, PluginSuspended) as error:
                raise ReceiverUnavailable(str(error)) from None
            except OSError as error:
                raise ReceiverUnavailable(
                    f"the export target of {name} is unavailable ({type(error).__name__})"
                ) from error

        return PerRecordExporter(name, send, settings.exports.max_age_hours, context.now).handle

    return AgentDefinition(name, (_topic_of(events),), open_agent)


def _topic_of(events: type[Event]) -> Topic:
    topics = [topic for topic in TOPICS if topic.model is events]
    if len(topics) != 1:
        models = ", ".join(sorted({topic.model.__name__ for topic in TOPICS}))
        raise ValueError(
            f"{len(topics)} topics have events of {events.__name__}; an exporter must read one of {models}"
        )
    return topics[0]
