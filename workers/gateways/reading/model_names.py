"""Give a model one name, whatever way a call took: through a proxy, a router, an instrumentation or directly.

Gateways write a provider before the name (``openai/gpt-4o-mini``), services of a cloud have notations of their own
(``eu.anthropic.claude-sonnet-4-5-20250929-v1:0``), and answers name the dated version of what was requested
(``gpt-4o-mini-2024-07-18``), or nothing where a call failed. The requested name is stable, so rewards and figures of a
model are kept under it. A version that the request names stays: its callers compare versions.
"""

import re

from workers.gateways.reading.provider_names import PREFIXES

MAX_NAME = 1_000
"""Maximum length of a name that is read, code points; an answer holds fewer."""
_BEFORE = re.compile(
    r"""
    (?:.*/)?models/                                       # models/x, projects/…/publishers/google/models/x, accounts/…/models/x
    | arn:[\w-]+:bedrock:[^/]*/(?=(?:[a-z-]+\.)?[a-z0-9]+\.)  # an ARN of a model or of a region's profile
    | (?:us|eu|apac|us-gov|global|jp|au|ca)\.(?=[a-z0-9]+\.)  # a region's profile
    | (?:anthropic|amazon|meta|mistral|cohere|ai21|openai|qwen|writer|google|nvidia|minimax|moonshot|zai)\.(?=[a-z])
    | (?:global|global-standard|eu|us|converse|converse_like|invoke|responses|chat|[a-z]{2}(?:-[a-z]+)+-\d)/(?=.)
    """,
    re.VERBOSE,
)
"""Parts before a name: paths, ARNs, regions, makers, and routes of LiteLLM such as ``bedrock/eu-west-1/…``."""
_AFTER = re.compile(r"-v?\d+:\d+(?::\d+k)?$|[:@](?:latest|default)$|:(?:free|nitro|floor|exacto)$")
"""Revisions of Bedrock, and suffixes that ask for no version or only choose among services of one model."""
_VERSION = re.compile(r"-(?:20\d{2}-\d{2}-\d{2}|20\d{6}|\d{3,4}|v\d+)")
_ANSWERED_VERSION = re.compile(r"-(?:20\d{2}-\d{2}-\d{2}|20\d{6}|00\d)$")
"""A date or a revision in full. Four digits may be a release of its own (``mistral-large-2411``)."""


def model_name(requested: str | None, answered: str | None) -> str | None:
    """Return the name of a model in lower case, without providers, paths and regions.

    Args:
        requested: name in the request.
        answered: name in the response; it counts without its version if the request named none, or an alias.
    """
    asked, said = plain_name(requested), plain_name(answered)
    if said is None or said == asked:
        return asked
    is_version = asked is not None and said.startswith(asked) and _VERSION.fullmatch(said[len(asked) :]) is not None
    return asked if is_version else _ANSWERED_VERSION.sub("", said)


def plain_name(name: str | None) -> str | None:
    """Return a name in lower case without what stands before and after it; its version stays.

    Args:
        name: name of a model as a client or a service writes it.
    """
    rest = (name or "")[:MAX_NAME].strip().lower()
    if not rest.startswith("ft:"):  # a tuned model is one of its own
        rest = _AFTER.sub("", _without_prefixes(rest))
    rest = re.sub(r"@(20\d{6})$", r"-\1", rest)
    if rest.startswith("deepseek."):
        rest = rest.replace(".", "-", 1)
    if rest.startswith("claude-"):  # routers write claude-sonnet-4.5
        rest = re.sub(r"(?<=\d)\.(?=\d)", "-", rest)
    return rest or None


def _without_prefixes(name: str) -> str:
    while True:
        first, _, rest = name.partition("/")
        found = _BEFORE.match(name)
        if rest and first in PREFIXES:
            name = rest
        elif found and name[found.end() :]:
            name = name[found.end() :]
        else:
            return name
