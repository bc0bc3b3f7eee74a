"""Tell calls of tools that failed or found nothing, and claims that admit it.

A call failed if its status says so, or if its result is an error: an HTTP status from 400, ``"error": …``, an exception.
A result is empty if it holds no row. What a failed call returns is no evidence, but may be quoted ("the consent expired").
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from schemas.answers import ContextChunk
from workers.evaluation.tools.results.tool_tables import read_tables

MAX_REASON = 200
"""Maximum length of a shown reason, code points."""

_ERROR_TEXT = re.compile(
    r"Traceback \(most recent call last\)|(?:\w+\.)*\w*(?:Error|Exception)\b:|(?:fatal |internal |server )?error\b\s*[:\d(]"
    r"|HTTP(?:/\d(?:\.\d)?)?[ :]*[45]\d\d\b|[45]\d\d [A-Z][a-z]+ ?[A-Za-z]*\s*$|<error\b|command not found|permission denied"
    r"|connection (?:refused|reset|timed out)|(?:request |operation )?timed out",
    re.IGNORECASE,
)
_EMPTY_TEXT = re.compile(
    r"\W*(?:null|none|nil|no (?:results?|rows|records|matches|data)(?: found| returned)?\.?|not found\.?|empty set.*"
    r"|0 (?:rows|results|records).*)?\W*",
    re.IGNORECASE | re.DOTALL,
)
_ZERO_ROWS = re.compile(
    r"(?m)^\s*\(?0 rows(?: in set)?\b|^Empty set\b|\[0 rows x \d+ columns\]|^Empty DataFrame", re.IGNORECASE
)
_COUNTS = frozenset(("count", "total", "row_count", "rowcount", "total_count", "num_results", "size", "hits", "found"))
_FAILED_WORDS = frozenset(("error", "failed", "failure", "exception", "timeout", "denied", "rejected", "fatal"))
_ADMITTED = re.compile(
    r"\b(?:could(?:n['’]t| not)|can(?:not|['’]t)|can not|(?:was|were|am|are|is|['’]m)(?:n['’]t| not) able|unable|fail(?:ed|s|ure|ing)?"
    r"|errors?|denied|refused|rejected|declined|unavailable|unreachable|inaccessible|timed? ?out|expired|forbidden|unauthori[sz]ed"
    r"|down\b|outage|(?:did|does|do|has|have|was|were|is|are)(?:n['’]t| not)\W+(?:\w+\W+){0,3}?(?:go|gone|find|found|get|got|reach\w*|load\w*"
    r"|return\w*|respond\w*|complete\w*|retrieve\w*|work\w*|succeed\w*|recogni[sz]ed|available|sent|booked|made|possible|processed|created"
    r"|exist\w*|any|place[d]?|saved|updated|deleted|run|execute\w*|compute\w*|show\w*|list\w*|contain\w*|through|known|accepted)"
    r"|no\W+(?:[\w-]+\W+){0,5}?(?:available|found|returned|exists?|to show|to report|response|access|values?|results?|data|records?|report"
    r"|answer|alternatives?|match(?:es)?|entries|rows)|nothing\W+(?:was\W+)?(?:found|returned|booked|sent|came)"
    r"|konnte\w*\W+(?:\w+\W+){0,6}?nicht|nicht (?:möglich|gefunden|verfügbar|erreichbar)|fehlgeschlagen|fehler|keine\w*"
    r"|(?:n['’]ai|n['’]a|n['’]ont) pas pu|impossible|échou\w+|erreur|aucun\w*|no (?:pude|se pudo|encontr\w+|hay)|fall[óo]|error\w*|ningun\w*)\b",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"\b(?:no|none|zero|nothing|nobody|empty|not|never|without|\w+n['’]t|0|keine?\w*|nichts|aucun\w*|rien|ningun\w*|nada)\b",
    re.IGNORECASE,
)
_FAULT = re.compile(r"fail|error|fehler|erreur", re.IGNORECASE)
_DENIED = re.compile(
    r"(?:\b(?:no|not|without|never|zero|ohne|keine?n?|sans|sin)|n['’]t)\s+(?:[\w-]{1,20}\s+)?$", re.IGNORECASE
)
"""Words that deny the fault named behind them: "without errors", "did not fail"."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Describe a call that brought nothing.

    Attributes:
        number: position of its context, from 1.
        kind: an error, or an empty result.
        name: name of the tool.
        reason: what the call returned, shortened.
    """

    number: int
    kind: Literal["error", "empty"]
    name: str
    reason: str


def failures_of(contexts: Sequence[ContextChunk]) -> list[Failure]:
    """Return the calls among the contexts that failed or found nothing, and that no later call of the tool made good."""
    found: list[Failure] = []
    for number, chunk in enumerate(contexts, 1):
        if chunk.source_type != "tool":
            continue
        name = chunk.tool.name if chunk.tool else ""
        kind = failure_kind(chunk)
        if kind is not None:
            error = chunk.tool.error if chunk.tool else None
            found.append(Failure(number, kind, name or chunk.chunk_id, (error or chunk.content).strip()[:MAX_REASON]))
        elif name:
            same = chunk.tool.arguments if chunk.tool else None
            found = [each for each in found if not _is_retry(each, name, same, contexts)]
    return found


def _is_retry(failure: Failure, name: str, arguments: Any, contexts: Sequence[ContextChunk]) -> bool:
    """Return true if a later call of the same tool, with the same arguments, succeeded."""
    call = contexts[failure.number - 1].tool
    return call is not None and call.name == name and call.arguments == arguments


def failure_kind(chunk: ContextChunk) -> Literal["error", "empty"] | None:
    """Return how a call failed; ``None`` if it brought a result."""
    if chunk.tool is not None and chunk.tool.status == "error":
        return "error"
    content = chunk.content.strip()
    if _EMPTY_TEXT.fullmatch(content[: MAX_REASON * 2]) and len(content) < MAX_REASON:
        return "empty"
    try:
        value = json.loads(content) if content[:1] in "{[" else None
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return "error" if _is_error(value) else "empty" if _is_empty(value) else None
    if _ERROR_TEXT.match(content):
        return "error"
    return "empty" if _ZERO_ROWS.search(content) and not read_tables(content) else None


def _is_error(value: Mapping[str, Any]) -> bool:
    if any(value.get(name) for name in ("error", "errors", "exception", "fault", "isError", "is_error")):
        return True
    if any(value.get(name) is False for name in ("ok", "success")):
        return True
    status = value.get("status", value.get("statusCode", value.get("status_code")))
    if isinstance(status, int) and not isinstance(status, bool):
        return 400 <= status < 600
    return isinstance(status, str) and len(value) <= 6 and status.lower() in _FAILED_WORDS


def _is_empty(value: Mapping[str, Any]) -> bool:
    lists = [
        each
        for name, each in value.items()
        if isinstance(each, list) and name not in ("columns", "messages", "warnings")
    ]
    counts = [each for name, each in value.items() if name.lower() in _COUNTS and isinstance(each, int)]
    if lists and not any(lists) and (not counts or not any(counts)):
        others = [each for each in value.values() if not isinstance(each, list)]
        return bool(counts) or (not any(isinstance(each, dict) for each in others) and len(others) <= 4)
    return (
        bool(counts)
        and not any(counts)
        and not any(isinstance(each, dict) for each in value.values())
        and not any(lists)
    )


def admitting_words(text: str, kind: Literal["error", "empty"], question: str = "") -> list[str]:
    """Return the words of a text that say that a call failed, or that it found nothing.

    Args:
        text: the answer, or a claim.
        kind: how the call failed.
        question: the question; words that it has already ("Which tests failed?") admit nothing.
    """
    asked = question.casefold()
    found = [
        match[0]
        for match in _ADMITTED.finditer(text)
        if match[0].casefold() not in asked and not (_FAULT.match(match[0]) and _DENIED.search(text[: match.start()]))
    ]
    return found or ([match[0] for match in _NOTHING.finditer(text)] if kind == "empty" else [])
