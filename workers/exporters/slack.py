"""Notices as messages for Slack's incoming webhooks.

A text for notifications, and blocks for the channel. What others chose, such as the names of tenants, is
escaped as Slack asks, so that nobody can call a channel together by the name of an answer.
"""

from typing import Any

import orjson

from workers.exporters.webhooks import Notice

MAX_FACT = 300
"""Longest value of a fact, code points; Slack takes 2,000 a field."""
MAX_FACTS = 10
"""Most fields of a section that Slack takes."""
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
    """The body for an incoming webhook."""
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
