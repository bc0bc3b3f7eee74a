"""alert-webhook: alerts.raised → a signed webhook, or Slack. review-webhook: review.requests → the same.

Each is an agent of its own, with a receiver of its own, off without an address.
"""

import asyncio
from collections.abc import Callable

from schemas.release import Alert
from schemas.review import ReviewRequest
from schemas.topics import ALERTS_RAISED, REVIEW_REQUESTS
from workers.agents.base import AgentDefinition, Handler, Resources
from workers.delivery.records import Record
from workers.exporters.receiver import Receiver
from workers.exporters.records import OneByOne
from workers.exporters.slack import slack_message
from workers.exporters.webhooks import SEVERITIES, Notice, alert_notice, review_notice, signature_headers
from workers.settings import WebhookSettings


def _webhook(
    agent: str, resources: Resources, webhook: WebhookSettings, notice_of: Callable[[Record], Notice | None]
) -> Handler:
    assert resources.http is not None and webhook.url is not None
    receiver = Receiver(agent, resources.http, webhook.url.get_secret_value(), {"Content-Type": "application/json"})

    async def send(record: Record) -> str:
        # A request holds the answer with its contexts: reading it is not for the loop.
        notice = await asyncio.get_running_loop().run_in_executor(resources.steps_pool, notice_of, record)
        if notice is None:
            return "below_severity"
        body = slack_message(notice) if webhook.format == "slack" else notice.body()
        headers: dict[str, str] = {}
        if webhook.secret is not None:
            headers = signature_headers(notice.identifier, resources.now(), body, webhook.secret.get_secret_value())
        await receiver.post(body, headers)
        return "sent"

    return OneByOne(agent, send, resources.settings.exports.max_age_hours, resources.now).handle


def _alerts(resources: Resources) -> Handler:
    settings = resources.settings
    least = SEVERITIES.index(settings.alert_webhook.least_severity)

    def notice_of(record: Record) -> Notice | None:
        alert = Alert.from_bytes(record.value)
        told = SEVERITIES.index(alert.severity) >= least
        return alert_notice(alert, settings.exports.console_url) if told else None

    return _webhook(ALERT_WEBHOOK.name, resources, settings.alert_webhook, notice_of)


def _reviews(resources: Resources) -> Handler:
    settings = resources.settings

    def notice_of(record: Record) -> Notice:
        return review_notice(ReviewRequest.from_bytes(record.value), settings.exports.console_url)

    return _webhook(REVIEW_WEBHOOK.name, resources, settings.review_webhook, notice_of)


ALERT_WEBHOOK = AgentDefinition(
    "alert-webhook",
    (ALERTS_RAISED,),
    _alerts,
    needs=("http",),
    switched_on=lambda settings: settings.alert_webhook.url is not None,
)
REVIEW_WEBHOOK = AgentDefinition(
    "review-webhook",
    (REVIEW_REQUESTS,),
    _reviews,
    needs=("http",),
    switched_on=lambda settings: settings.review_webhook.url is not None,
)
