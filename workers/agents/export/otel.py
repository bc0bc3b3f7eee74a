"""Run the exporter otel: send gen_ai.evaluation.result events to an OpenTelemetry collector. Off without an endpoint.

It reads answers.enriched.
"""

import asyncio
from contextlib import AsyncExitStack

from schemas.enriched import EnrichedAnswer
from schemas.identifiers import LIVE_RUN
from schemas.topics import ANSWERS_ENRICHED
from workers.agents.base import AgentContext, AgentDefinition, Handler
from workers.delivery.records import Record
from workers.errors import ReceiverUnavailable, RefusedByReceiver
from workers.exporters.export_selection import PerRecordExporter
from workers.exporters.otlp_events import CONTENT_TYPE, OtlpEvents, parsed_headers
from workers.exporters.receiver import Receiver

AGENT = "otel"


async def _open(context: AgentContext, stack: AsyncExitStack) -> Handler:
    settings = context.settings
    assert settings.otel.endpoint is not None
    session = await stack.enter_async_context(context.services.http())
    headers = parsed_headers(settings.otel.headers.get_secret_value()) if settings.otel.headers else {}
    receiver = Receiver(AGENT, session, settings.otel.endpoint, {**headers, "Content-Type": CONTENT_TYPE})
    events = OtlpEvents(settings.tracing.service_name, context.pipeline_version)

    def request(record: Record) -> bytes | None:
        enriched = EnrichedAnswer.from_bytes(record.value)
        return events.request(enriched) if enriched.run == LIVE_RUN else None

    async def send(record: Record) -> str:
        # Enriched answers are the largest records: parse them in a thread.
        body = await asyncio.get_running_loop().run_in_executor(context.steps_pool, request, record)
        if body is None:
            return "replay"
        try:
            rejected = events.rejected(await receiver.post(body, {}))
        except ValueError:
            raise ReceiverUnavailable(
                f"the export target of {AGENT} returned no confirmation; check that its endpoint accepts logs"
            ) from None
        if rejected:
            raise RefusedByReceiver(f"the export target of {AGENT} rejected {rejected} events of this answer")
        return "sent"

    return PerRecordExporter(AGENT, send, settings.exports.max_age_hours, context.now).handle


OTEL = AgentDefinition(
    AGENT,
    (ANSWERS_ENRICHED,),
    _open,
    switched_on=lambda settings: settings.otel.endpoint is not None,
)
