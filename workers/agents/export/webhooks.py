"""Run the exporters alert-webhook and review-webhook: post events to a signed webhook, or to Slack.

alert-webhook reads alerts.raised, review-webhook review.requests. Each is a separate agent with a separate receiver, and
is off without an address.
"""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack

from schemas.release import Alert
from schemas.review import ReviewRequest
from schemas.topics import ALERTS_RAISED, REVIEW_REQUESTS
from workers.agents.base import AgentContext, AgentDefinition, Handler
from workers.delivery.records import Record
from workers.exporters.export_selection import PerRecordExporter
from workers.exporters.receiver import Receiver
from workers.exporters.slack_messages import slack_message
from workers.exporters.webhook_messages import SEVERITIES, Notice, alert_notice, review_notice, signature_headers
from workers.settings import WebhookSettings


async def _webhook(
    agent: str,
    context: AgentContext,
    stack: AsyncExitStack,
    webhook: WebhookSettings,
    notice_of: Callable[[Record], Notice | None],
) -> Handler:
    assert webhook.url is not None
    session = await stack.enter_async_context(context.services.http())
    receiver = Receiver(agent, session, webhook.url.get_secret_value(), {"Content-Type": "application/json"})

    async def send(record: Record) -> str:
        # A request contains the answer with its contexts: parse it in a thread.
        notice = await asyncio.get_running_loop().run_in_executor(context.steps_pool, notice_of, record)
        if notice is None:
            return "below_severity"
        body = slack_message(notice) if webhook.format == "slack" else notice.body()
        headers: dict[str, str] = {}
        if webhook.secret is not None:
            headers = signature_headers(notice.identifier, context.now(), body, webhook.secret.get_secret_value())
        await receiver.post(body, headers)
        return "sent"

    return PerRecordExporter(agent, send, context.settings.exports.max_age_hours, context.now).handle


async def _alerts(context: AgentContext, stack: AsyncExitStack) -> Handler:
    settings = context.settings
    least = SEVERITIES.index(settings.alert_webhook.least_severity)

    def notice_of(record: Record) -> Notice | None:
        alert = Alert.from_bytes(record.value)
        told = SEVERITIES.index(alert.severity) >= least
        return alert_notice(alert, settings.exports.console_url) if told else None

    return await _webhook(ALERT_WEBHOOK.name, context, stack, settings.alert_webhook, notice_of)


async def _reviews(context: AgentContext, stack: AsyncExitStack) -> Handler:
    settings = context.settings

    def notice_of(record: Record) -> Notice:
        return review_notice(ReviewRequest.from_bytes(record.value), settings.exports.console_url)

    return await _webhook(REVIEW_WEBHOOK.name, context, stack, settings.review_webhook, notice_of)


ALERT_WEBHOOK = AgentDefinition(
    "alert-webhook",
    (ALERTS_RAISED,),
    _alerts,
    switched_on=lambda settings: settings.alert_webhook.url is not None,
)
REVIEW_WEBHOOK = AgentDefinition(
    "review-webhook",
    (REVIEW_REQUESTS,),
    _reviews,
    switched_on=lambda settings: settings.review_webhook.url is not None,
)
