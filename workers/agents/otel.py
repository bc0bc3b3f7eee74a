"""otel: answers.enriched → events gen_ai.evaluation.result → an OpenTelemetry collector. Off without an endpoint."""

import asyncio

from schemas.enriched import EnrichedAnswer
from schemas.identifiers import LIVE_RUN
from schemas.topics import ANSWERS_ENRICHED
from workers.agents.base import AgentDefinition, Handler, Resources
from workers.delivery.errors import ReceiverUnavailable, RefusedByReceiver
from workers.delivery.records import Record
from workers.exporters.otlp import CONTENT_TYPE, OtlpEvents, parsed_headers
from workers.exporters.receiver import Receiver
from workers.exporters.records import OneByOne

AGENT = "otel"


def _handler(resources: Resources) -> Handler:
    settings = resources.settings
    assert resources.http is not None and settings.otel.endpoint is not None
    headers = parsed_headers(settings.otel.headers.get_secret_value()) if settings.otel.headers else {}
    receiver = Receiver(AGENT, resources.http, settings.otel.endpoint, {**headers, "Content-Type": CONTENT_TYPE})
    events = OtlpEvents(settings.tracing.service_name, resources.pipeline_version)

    def request(record: Record) -> bytes | None:
        enriched = EnrichedAnswer.from_bytes(record.value)
        return events.request(enriched) if enriched.run == LIVE_RUN else None

    async def send(record: Record) -> str:
        # Enriched answers are the largest records there are: reading them is not for the loop.
        body = await asyncio.get_running_loop().run_in_executor(resources.steps_pool, request, record)
        if body is None:
            return "replay"
        try:
            rejected = events.rejected(await receiver.post(body, {}))
        except ValueError:
            raise ReceiverUnavailable(
                f"the receiver of {AGENT} confirms nothing; is its endpoint that of logs?"
            ) from None
        if rejected:
            raise RefusedByReceiver(f"the receiver of {AGENT} rejects {rejected} events of this answer")
        return "sent"

    return OneByOne(AGENT, send, settings.exports.max_age_hours, resources.now).handle


OTEL = AgentDefinition(
    AGENT,
    (ANSWERS_ENRICHED,),
    _handler,
    needs=("http",),
    switched_on=lambda settings: settings.otel.endpoint is not None,
)
