"""Reach what exporters and tracing send to: a connection is opened, and nothing is sent."""

import asyncio
import ssl
from urllib.parse import urlsplit

from workers.doctor.findings import Finding, ok, warning
from workers.settings import Settings
from workers.settings.network import check_address

TIMEOUT_SECONDS = 5.0


async def examine_receivers(settings: Settings) -> list[Finding]:
    """Connect to each configured receiver."""
    webhooks = {"alert webhook": settings.alert_webhook.url, "review webhook": settings.review_webhook.url}
    addresses = {
        "opentelemetry": settings.otel.endpoint,
        "langfuse": settings.langfuse.url,
        "tracing": settings.tracing.endpoint,
        **{name: url.get_secret_value() if url else None for name, url in webhooks.items()},
    }
    return list(await asyncio.gather(*(_reach(name, url) for name, url in addresses.items() if url)))


async def _reach(name: str, url: str) -> Finding:
    try:
        check_address(url)
    except ValueError as error:
        return warning(name, f"its address {error}", "correct the address; records wait until the receiver responds")
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    # The path of a webhook is a secret; host and port are not.
    port = parts.port or (443 if secure else 80)
    place = f"{parts.hostname}:{port}"
    context = ssl.create_default_context() if secure else None
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            _, writer = await asyncio.open_connection(parts.hostname, port, ssl=context)
    except (OSError, TimeoutError) as error:
        remedy = "start it, correct its address, or let the network pass; records wait until it responds"
        return warning(name, f"{place} cannot be reached ({type(error).__name__})", remedy)
    writer.close()
    return ok(name, f"{place} accepts connections")
