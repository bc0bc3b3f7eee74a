"""The seven failure signals of seed 003, found in the text of an answer.

Method: sentences that the answer speaks itself are searched, with code, quotations and
quoted blocks blanked. Who speaks and where decides, not the word alone: a refusal is said
by "I" in the first sentences, a failed call is the speaker's own, "unclear" is the question
and not the contract. A sentence in the condition ("if the tool failed") or a question is
no failure.

Pure; time is linear in the length of the answer.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from schemas.quality import FailureSignal, SignalType
from schemas.reports import Span
from workers.steps import signal_patterns as patterns
from workers.steps.segmentation import Sentence, code_ranges
from workers.steps.thresholds import QualityThresholds

MAX_SIGNALS_PER_TYPE = 20
"""Most signals of one type that are reported; a score has reached its floor long before."""
OPENING_SENTENCES = 3
"""Sentences in which an answer says that it refuses: an apology, an acknowledgement, the refusal."""
BRIEF_ANSWER = 300
"""Longest answer, code points, that can be nothing but the report of a failed call."""
CONTEXT_MARGIN = 60
"""Text shown on either side of a match, code points."""
MAX_EVIDENCE = 300
"""Longest evidence shown, code points."""

_QUOTATION = re.compile(r'"[^"\n]*+"|“[^“”„\n]*+”|„[^“”„\n]*+[“”]|«[^«»\n]*+»|»[^«»\n]*+«|「[^「」\n]*+」')
_Match = tuple[SignalType, int, int]


@dataclass(frozen=True, slots=True)
class _Spoken:
    """A sentence in the answer's own voice: ``text`` has the length of the raw sentence."""

    start: int
    text: str
    index: int
    is_item: bool


def find_signals(text: str, sentences: Sequence[Sentence], thresholds: QualityThresholds) -> list[FailureSignal]:
    """Find the failure signals of an answer.

    Args:
        text: the raw answer.
        sentences: its segmentation; offsets are code points of ``text``.
        thresholds: ``min_length`` decides what is an empty response.

    Returns:
        One signal for each type and place, in the order of the text; an empty response first.
    """
    spoken = _spoken(text, sentences)
    brief = len(text.strip()) <= BRIEF_ANSWER and len(spoken) <= OPENING_SENTENCES
    matches = [*_anywhere(spoken), *_refusals(spoken), *_tool_failures(text, spoken, brief), *_unfounded(spoken)]
    return [*_empty_response(text, thresholds), *_signals(text, matches)]


def is_refusal(signals: Sequence[FailureSignal]) -> bool:
    """Whether the answer declines to answer."""
    return any(signal.type == "refusal" for signal in signals)


def is_tool_failure(signals: Sequence[FailureSignal]) -> bool:
    """Whether the answer reports a failed call of its own."""
    return any(signal.type == "tool_failure" for signal in signals)


def failed_call(error: str | None) -> FailureSignal:
    """The signal for a call that ended with status error, whatever text it left."""
    return FailureSignal(
        type="tool_failure", evidence=(error or "status: error")[:MAX_EVIDENCE], weight=patterns.WEIGHTS["tool_failure"]
    )


def _empty_response(text: str, thresholds: QualityThresholds) -> Iterator[FailureSignal]:
    if len(text.strip()) < thresholds.min_length:
        yield FailureSignal(
            type="empty_response",
            evidence=text.strip()[:MAX_EVIDENCE],
            weight=patterns.WEIGHTS["empty_response"],
            span=Span(start=0, end=len(text)),
        )


def _spoken(text: str, sentences: Sequence[Sentence]) -> list[_Spoken]:
    masked = _mask(text, sentences)
    own = [sentence for sentence in sentences if sentence.block in ("paragraph", "list_item", "table_row")]
    return [
        _Spoken(sentence.start, masked[sentence.start : sentence.end], index, sentence.block != "paragraph")
        for index, sentence in enumerate(own)
    ]


def _mask(text: str, sentences: Sequence[Sentence]) -> str:
    """The answer with code and quotations blanked and straight apostrophes; the same length."""
    parts, position = [], 0
    for start, end in code_ranges(text, list(sentences)):
        parts += [text[position:start], "`" * (end - start)]
        position = end
    masked = "".join([*parts, text[position:]]).replace("’", "'")
    # Some gateways deliver the whole answer in quotation marks: that is no quotation.
    whole = len(text.strip())
    masked = _QUOTATION.sub(lambda match: match[0] if len(match[0]) == whole else "~" * len(match[0]), masked)
    # Line ends inside a sentence are spaces to the patterns.
    return re.sub(r"\s", " ", masked)


def _anywhere(spoken: Sequence[_Spoken]) -> Iterator[_Match]:
    for sentence in spoken:
        for signal_type, pattern in patterns.ANYWHERE.items():
            for match in pattern.finditer(sentence.text):
                yield signal_type, sentence.start + match.start(), sentence.start + match.end()


def _is_hypothetical(sentence: _Spoken, condition: re.Match[str] | None, position: int) -> bool:
    """A question, or a condition (the first of the sentence) before the match."""
    return sentence.text.endswith("?") or (condition is not None and condition.end() <= position)


def _refusals(spoken: Sequence[_Spoken]) -> Iterator[_Match]:
    for sentence in spoken[:OPENING_SENTENCES]:
        if sentence.is_item and sentence.index:
            continue
        found = list(patterns.OPENING_REFUSAL.finditer(sentence.text))
        if not found and sentence.index == 0:
            plain = patterns.PLAIN_REFUSAL.search(sentence.text)
            if plain and not patterns.REMEDY.search(sentence.text, plain.end()):
                found = [plain]
        condition = patterns.CONDITION.search(sentence.text) if found else None
        for match in found:
            if not _is_hypothetical(sentence, condition, match.start()):
                yield "refusal", sentence.start + match.start(), sentence.start + match.end()


def _tool_failures(text: str, spoken: Sequence[_Spoken], brief: bool) -> Iterator[_Match]:
    error_object = patterns.FAILURE_OBJECT.match(text)
    if error_object:
        yield "tool_failure", error_object.start(), error_object.end()
    for sentence in spoken:
        match = _tool_failure(sentence, brief)
        condition = patterns.CONDITION.search(sentence.text) if match else None
        if match and not _is_hypothetical(sentence, condition, match.start()):
            yield "tool_failure", sentence.start + match.start(), sentence.start + match.end()


def _tool_failure(sentence: _Spoken, brief: bool) -> re.Match[str] | None:
    own = patterns.OWN_FAILURE.search(sentence.text)
    if own or patterns.EXPLAINED.search(sentence.text):
        return own
    label = patterns.FAILURE_LABEL.match(sentence.text) if sentence.index == 0 else None
    if label or not brief or patterns.CITED.search(sentence.text):
        return label
    return patterns.BRIEF_FAILURE.match(sentence.text)


def _unfounded(spoken: Sequence[_Spoken]) -> Iterator[_Match]:
    """No access to a source, and a claim all the same, in this sentence or the next."""
    for position, sentence in enumerate(spoken):
        match = patterns.NO_ACCESS.search(sentence.text)
        if not match:
            continue
        end = match.end()
        rest = sentence.text[end:]
        following = spoken[position + 1].text if position + 1 < len(spoken) else ""
        turn = patterns.NEVERTHELESS.search(rest) or patterns.NEVERTHELESS.match(following)
        helped = patterns.REMEDY.search(rest) or patterns.REMEDY.match(following)
        if turn and not helped:
            yield "hallucination_risk", sentence.start + match.start(), sentence.start + end


def _signals(text: str, matches: Sequence[_Match]) -> list[FailureSignal]:
    """Signals in the order of the text, without overlap within a type, bounded for each type."""
    reached: dict[SignalType, int] = {}
    counts: dict[SignalType, int] = {}
    signals: list[FailureSignal] = []
    for signal_type, start, end in sorted(matches, key=lambda match: (match[1], match[0], -match[2])):
        if start < reached.get(signal_type, 0) or counts.get(signal_type, 0) >= MAX_SIGNALS_PER_TYPE:
            continue
        reached[signal_type] = end
        counts[signal_type] = counts.get(signal_type, 0) + 1
        signals.append(
            FailureSignal(
                type=signal_type,
                evidence=text[start:end][:MAX_EVIDENCE],
                weight=patterns.WEIGHTS[signal_type],
                span=Span(start=start, end=end),
                context=text[max(0, start - CONTEXT_MARGIN) : min(end, start + MAX_EVIDENCE) + CONTEXT_MARGIN],
            )
        )
    return signals
