"""Find the answers among the spans of an export: one for each question, with the calls that were steps to it.

A framework records a question as a span (of an agent, a chain, a query engine) around the calls of models that it
makes. The outermost such span is the question's root, and what it puts out is the answer. Calls outside of any such
span are answers themselves, unless

* they call tools,
* a later call of the same trace was asked with their text (a rewritten question, a draft), or
* they are the same call, recorded by a second instrumentation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workers.gateways.traces.otlp_calls import ModelCall
from workers.gateways.traces.otlp_spans import ExportedSpan
from workers.gateways.traces.otlp_values import answer_in, earlier_in, is_stream, query_in

MAX_DEPTH = 200
"""Maximum number of ancestors to look at."""
MIN_STEP_CHARACTERS = 12
"""Minimum length of a text that is looked for in the question of a later call; shorter ones occur by chance."""
_Key = tuple[str, str]


@dataclass(slots=True)
class FoundAnswer:
    """A call whose text is the answer, its root span, and the other calls of the same question.

    Attributes:
        call: the call that made the answer.
        root: the span around it, ``None`` for a call of its own.
        steps: other calls of the same question, in order.
        inner: identifiers of the spans within the root.
    """

    call: ModelCall
    root: ExportedSpan | None = None
    steps: list[ModelCall] = field(default_factory=list)
    inner: frozenset[str] = frozenset()

    @property
    def failed(self) -> bool:
        """Return whether the question failed: its root, or its call if the root tells no answer."""
        if self.root is not None and (self.root.failed or answer_in(self.root.output) is not None):
            return self.root.failed
        return self.call.span.failed

    @property
    def said(self) -> str | None:
        """Return the root's output if it is a text, else the text of the call."""
        made = answer_in(self.root.output) if self.root is not None else None
        return made if made is not None else self.call.said

    @property
    def query(self) -> str | None:
        """Return the root's input if it is a text, else the query of the call."""
        asked = query_in(self.root.input) if self.root is not None else None
        return asked if asked is not None else self.call.asked.query

    @property
    def earlier(self) -> list[dict[str, Any]]:
        """Return the turns before the query: of the root's input, else of the call's."""
        return (earlier_in(self.root.input) if self.root is not None else []) or self.call.asked.earlier


def answers_of(calls: Sequence[ModelCall], spans: Sequence[ExportedSpan]) -> list[FoundAnswer]:
    """Return one answer for each question; questions of which only tools were called have none.

    Args:
        calls: calls of models, in the order of the export.
        spans: all spans of the export.
    """
    known = {(span.trace_id, span.span_id): span for span in spans if span.trace_id and span.span_id}
    groups: dict[tuple[str, str] | int, tuple[ExportedSpan | None, list[ModelCall]]] = {}
    for place, call in enumerate(calls):
        above = ancestors(call.span, known)
        if any(span.is_check for span in above):
            continue  # the result of another evaluator is no answer
        root = _root(above)
        key = (root.trace_id, root.span_id) if root is not None else _outer_call(call, above) or place
        groups.setdefault(key, (root, []))[1].append(call)
    found = [answer for root, members in groups.values() if (answer := _answer(root, members, known)) is not None]
    within = _spans_within({answer.root.span_id for answer in found if answer.root}, spans, known)
    for answer in found:
        answer.inner = frozenset(within.get(answer.root.span_id, ())) if answer.root else frozenset()
    return _without_steps(found)


def _spans_within(
    roots: set[str], spans: Sequence[ExportedSpan], known: Mapping[_Key, ExportedSpan]
) -> dict[str, set[str]]:
    within: dict[str, set[str]] = {}
    for span in spans if roots else ():
        for above in ancestors(span, known):
            if above.span_id in roots:
                within.setdefault(above.span_id, set()).add(span.span_id)
    return within


def _root(above: Sequence[ExportedSpan]) -> ExportedSpan | None:
    """Return the outermost frame that tells an answer, else the outermost agent, or question without an answer."""
    frames = [span for span in above if span.is_frame]
    telling = next((span for span in reversed(frames) if answer_in(span.output) is not None), None)
    agent = next((span for span in reversed(frames) if span.is_agent), None)
    if telling is None or agent is None:
        return telling or agent or next(filter(_is_unanswered, reversed(frames)), None)
    return telling if frames.index(telling) >= frames.index(agent) else agent


def _is_unanswered(frame: ExportedSpan) -> bool:
    """Return whether a frame holds a question, and failed or put out a stream."""
    return (frame.failed or is_stream(frame.output)) and query_in(frame.input) is not None


def _outer_call(call: ModelCall, above: Sequence[ExportedSpan]) -> _Key | None:
    outer = next((span for span in reversed(above) if span.is_inference), None)
    span = outer or call.span
    return (span.trace_id, span.span_id) if span.trace_id and span.span_id else None


def _answer(
    root: ExportedSpan | None, members: list[ModelCall], known: Mapping[_Key, ExportedSpan]
) -> FoundAnswer | None:
    inner = [call for call in members if not any(_is_within(other.span, call.span, known) for other in members)]
    # Calls without an answer of their own stand for a failure, or for content that was not sent.
    spoken = [call for call in inner if call.said is not None and not call.calls_tools]
    others = [call for call in inner if not call.calls_tools or call.span.failed]
    told = root is not None and answer_in(root.output) is not None
    chosen = max(spoken or others or (inner if told else []), key=_end, default=None)
    if chosen is None:
        return None
    return FoundAnswer(chosen, root, [call for call in members if call is not chosen])


def _without_steps(found: list[FoundAnswer]) -> list[FoundAnswer]:
    """Return the answers that are neither steps to another answer nor a second record of one."""
    kept: list[FoundAnswer] = []
    for answer in found:
        target = next((other for other in found if other is not answer and _is_step(answer, other)), None)
        if target is None:
            kept.append(answer)
        else:
            target.steps.append(answer.call)
    return kept


def _is_step(answer: FoundAnswer, other: FoundAnswer) -> bool:
    if answer.root is not None:
        return False
    call, later = answer.call, other.call
    said = (call.said or "").strip()
    if len(said) < MIN_STEP_CHARACTERS:
        return False
    if call.span.trace_id and call.span.trace_id == later.span.trace_id and _precedes(call, later):
        return said in (later.asked.query or "")
    return _is_copy(answer, other)


def _is_copy(answer: FoundAnswer, other: FoundAnswer) -> bool:
    """Return whether a call without a parent is recorded within the call of another trace, too."""
    inner, outer = answer.call, other.call
    if inner.span.parent_id or inner.span.trace_id == outer.span.trace_id or inner.said != outer.said:
        return False
    within = _start(outer) <= _start(inner) and _end(inner) <= _end(outer)
    return within and (_start(outer), _end(outer)) != (_start(inner), _end(inner))


def _precedes(call: ModelCall, later: ModelCall) -> bool:
    return _end(call) <= _start(later) and call is not later


def _start(call: ModelCall) -> float:
    return call.span.start.timestamp() if call.span.start else 0.0


def _end(call: ModelCall) -> float:
    return call.span.end.timestamp() if call.span.end else 0.0


def ancestors(span: ExportedSpan, known: Mapping[_Key, ExportedSpan]) -> list[ExportedSpan]:
    """Return the spans around a span, the nearest first."""
    found: list[ExportedSpan] = []
    seen = {span.span_id}
    while len(found) < MAX_DEPTH:
        above = known.get((span.trace_id, span.parent_id)) if span.parent_id else None
        if above is None or above.span_id in seen:
            break
        seen.add(above.span_id)
        found.append(above)
        span = above
    return found


def _is_within(inner: ExportedSpan, outer: ExportedSpan, known: Mapping[_Key, ExportedSpan]) -> bool:
    return inner is not outer and any(span is outer for span in ancestors(inner, known))
