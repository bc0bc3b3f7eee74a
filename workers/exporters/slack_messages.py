"""Format notices as messages for Slack's incoming webhooks.

A message holds a text for notifications and blocks for the channel. Values from outside, such as tenant names, are
escaped as Slack requires, so that an answer's name cannot notify a whole channel.
"""

from typing import Any

import orjson

from workers.exporters.webhook_messages import Notice

MAX_FACT = 300
"""Maximum length of a field's value, code points; Slack accepts 2,000 characters."""
MAX_FACTS = 10
"""Maximum number of fields that Slack accepts in a section."""
HEADLINES = {
    "alert.raised": "{severity} alert: {message}",
    "review.requested": "Review requested by tenant {tenant}, priority {priority}",
}
FACTS = {
    "alert.raised": ("alert_type", "severity", "tenant", "answer_id"),
    "review.requested": (
        "tenant", "answer_id", "held", "reasons", "hallucination_risk", "grounding_score", "gate_score", "deadline_at",
    ),
}  # fmt: skip


def slack_message(notice: Notice) -> bytes:
    """Return the JSON body for an incoming webhook."""
    told = {name: _escaped(_words(value)) for name, value in notice.data.items()}
    headline = HEADLINES[notice.kind].format(**told)
    facts = [(name, told[name]) for name in FACTS[notice.kind] if told.get(name)]
    blocks: list[dict[str, Any]] = [
        {"type": "section", "text": _markdown(f"*{headline}*")},
        {
            "type": "section",
            "fields": [_markdown(f"*{name.replace('_', ' ')}*\n{value}") for name, value in facts[:MAX_FACTS]],
        },
    ]
    if notice.link:
        blocks.append({"type": "section", "text": _markdown(f"<{_escaped(notice.link)}|Open in Touchstone>")})
    return orjson.dumps({"text": headline, "blocks": blocks})


def _markdown(text: str) -> dict[str, str]:
    return {"type": "mrkdwn", "text": text}


def _words(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.2f}"
    words = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return words if len(words) <= MAX_FACT else words[: MAX_FACT - 1] + "…"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
