"""The seven failure signals of seed 003, found in the text of an answer.

Method: the patterns of the packs (`pattern_packs`) are searched on folded text, all at once
and in linear time. Where one matches, the sentence around it decides: who speaks (code,
quotations and quoted blocks are not the answer's own words), where (a refusal in other than
plain words is said at the opening), and how (a condition, a question or what a source says is
no failure). Which languages' packs are asked depends on the language of the answer; English
always is, since models fall back to it.

Pure; time is linear in the length of the answer.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from schemas.quality import FailureSignal, RecommendedAction, SignalType
from schemas.reports import Span
from workers.steps.endings import is_cut_off
from workers.steps.language import likely_languages
from workers.steps.pattern_packs import LANGUAGES, CompiledPack, CompiledRule, PatternPack, matching
from workers.steps.speech import Said, Speech, fold
from workers.steps.thresholds import QualityThresholds

WEIGHTS: dict[SignalType, float] = {
    "confusion": 0.6,
    "refusal": 0.75,
    "low_confidence": 0.4,
    "empty_response": 0.8,
    "tool_failure": 0.9,
    "incomplete_reasoning": 0.5,
    "hallucination_risk": 0.85,
}
"""Default weights of seed 003. A rule of a pack may weigh less: a lone "probably" 0.28, which is
the seed's own example (score 0.72), and an "etc." at the end of a list 0.25."""

ACTIONS: dict[SignalType, RecommendedAction] = {
    "confusion": "ask_back",
    "refusal": "human_queue",
    "low_confidence": "other_model",
    "empty_response": "retry_with_backoff",
    "tool_failure": "retry_with_backoff",
    "incomplete_reasoning": "other_model",
    "hallucination_risk": "other_model",
}
"""What to do about each signal, after the actions of seed 003's examples."""

MAX_SIGNALS_PER_TYPE = 20
"""Most signals of one type that are reported; a score has reached its floor long before."""
MAX_MATCHES_PER_RULE = 200
"""Most matches of one rule that are looked at: bounds the cost of a flood that is all quoted."""
OPENING_SENTENCES = 3
"""Sentences in which an answer says that it refuses: an apology, an acknowledgement, the refusal."""
BRIEF_ANSWER = 300
"""Longest answer, code points, that can be nothing but the report of a failed call."""
CONTEXT_MARGIN = 60
"""Text shown on either side of a match, code points."""
MAX_EVIDENCE = 300
"""Longest evidence shown, code points."""
ENDING_SHOWN = 60
"""How much of a truncated ending is shown, code points."""

TRUNCATED = frozenset(("length", "max_tokens", "max_output_tokens", "model_length", "incomplete"))
FILTERED = frozenset(("content_filter", "content_filtered", "safety", "refusal", "blocklist", "prohibited_content"))
"""Finish reasons of the gateways' models that say that an answer was cut off, or withheld."""


class _Match(NamedTuple):
    type: SignalType
    start: int
    end: int
    weight: float


def find_signals(text: str, thresholds: QualityThresholds, *, is_fact: bool = False) -> list[FailureSignal]:
    """Find the failure signals of an answer.

    Args:
        text: the raw answer; offsets are code points of it.
        thresholds: ``min_length``, packs and custom patterns.
        is_fact: the query asks for a single fact, so that a short answer is whole ("Paris.").

    Returns:
        One signal for each type and place, in the order of the text; an empty response first.
        The heaviest of each type is ``counted``.
    """
    empty = list(_empty_response(text, thresholds, is_fact=is_fact))
    if not text.strip():
        return empty
    packs = [pack.compiled for pack in _packs(text, thresholds)]
    matches = [*_pattern_matches(text, packs), *_custom_matches(text, thresholds)]
    if not empty and is_cut_off(text):
        end = len(text.rstrip())
        matches.append(_Match("incomplete_reasoning", max(0, end - ENDING_SHOWN), end, WEIGHTS["incomplete_reasoning"]))
    return count_each_type_once([*empty, *_signals(text, matches)])


def is_refused(text: str, thresholds: QualityThresholds) -> bool:
    """Whether `find_signals` would find a refusal; in a part of its time, since it looks for nothing else."""
    if not text.strip():
        return False
    packs = [pack.refusals for pack in _packs(text, thresholds)]
    found = any(True for _ in _pattern_matches(text, packs))
    return found or any(match.type == "refusal" for match in _custom_matches(text, thresholds))


def reported_signals(status: str, error: str | None, finish_reason: str | None) -> list[FailureSignal]:
    """The signals that the gateway reports beside the text: a failed call, an answer cut off or withheld."""
    found: list[FailureSignal] = []
    if status == "error":
        found.append(_reported("tool_failure", error or "status: error"))
    reason = (finish_reason or "").strip().casefold()
    if reason in TRUNCATED:
        found.append(_reported("incomplete_reasoning", f"finish_reason: {reason}"))
    if reason in FILTERED:
        found.append(_reported("refusal", f"finish_reason: {reason}"))
    return found


def count_each_type_once(signals: Sequence[FailureSignal]) -> list[FailureSignal]:
    """Mark the heaviest signal of each type, the first of equals, as counted in the score."""
    heaviest: dict[SignalType, int] = {}
    for number, signal in enumerate(signals):
        known = heaviest.get(signal.type)
        if known is None or signal.weight > signals[known].weight:
            heaviest[signal.type] = number
    counted = set(heaviest.values())
    return [signal.model_copy(update={"counted": number in counted}) for number, signal in enumerate(signals)]


def is_refusal(signals: Sequence[FailureSignal]) -> bool:
    """Whether the answer declines to answer."""
    return any(signal.type == "refusal" for signal in signals)


def is_tool_failure(signals: Sequence[FailureSignal]) -> bool:
    """Whether the answer reports a failed call of its own."""
    return any(signal.type == "tool_failure" for signal in signals)


def _reported(signal_type: SignalType, evidence: str) -> FailureSignal:
    return FailureSignal(
        type=signal_type,
        evidence=evidence[:MAX_EVIDENCE],
        weight=WEIGHTS[signal_type],
        action=ACTIONS[signal_type],
    )


def _empty_response(text: str, thresholds: QualityThresholds, *, is_fact: bool) -> Iterator[FailureSignal]:
    least = min(1, thresholds.min_length) if is_fact else thresholds.min_length
    if len(text.strip()) < least:
        signal = _reported("empty_response", text.strip())
        yield signal.model_copy(update={"span": Span(start=0, end=len(text))})


def _packs(text: str, thresholds: QualityThresholds) -> list[PatternPack]:
    languages = dict.fromkeys(("en", *likely_languages(text)))
    return [*(LANGUAGES[code] for code in languages if code in LANGUAGES), *thresholds.packs]


def _pattern_matches(text: str, packs: Sequence[CompiledPack]) -> Iterator[_Match]:
    folded = fold(text)
    # Read by blocks and sentences only if it comes to it.
    speech: Speech | None = None
    brief = len(text.strip()) <= BRIEF_ANSWER
    head = Speech(text[:OPENING_TEXT], folded[:OPENING_TEXT])
    # A fourth sentence is asked for, so that a brief answer can be told.
    opening = head.opening(OPENING_SENTENCES + 1)
    for pack in packs:
        for rule in matching(pack.anywhere, pack.anywhere_set, folded):
            speech = speech or Speech(text, folded)
            yield from _anywhere(pack, rule, folded, speech)
        for index, said in enumerate(opening[:OPENING_SENTENCES]):
            if said.is_item and index:
                continue
            for rule in matching(pack.opening, pack.opening_set, said.text):
                if _is_within(rule, index, brief=brief and len(opening) <= OPENING_SENTENCES):
                    yield from _in_sentence(pack, rule, head, said)


OPENING_TEXT = 2_000
"""Text in which the first sentences are looked for, code points."""


def _anywhere(pack: CompiledPack, rule: CompiledRule, folded: bytes, speech: Speech) -> Iterator[_Match]:
    for number, match in enumerate(rule.match.finditer(folded)):
        if number >= MAX_MATCHES_PER_RULE:
            return
        start, end = match.span()
        # A pattern may begin with the space before its first word.
        start += len(folded[start:end]) - len(folded[start:end].lstrip())
        said = speech.said_at(start, end)
        if said is not None and _counts(pack, rule, said, start - said.start, end - said.start):
            yield _match(rule, start, end)


def _is_within(rule: CompiledRule, index: int, *, brief: bool) -> bool:
    """Whether a rule looks at the sentence of that number in an opening."""
    return {"first": index == 0, "brief": brief}.get(rule.rule.within, True)


def _in_sentence(pack: CompiledPack, rule: CompiledRule, head: Speech, said: Said) -> Iterator[_Match]:
    for match in rule.match.finditer(said.text):
        start, end = said.start + match.start(), said.start + match.end()
        if head.said_at(start, end) is not None and _counts(pack, rule, said, *match.span()):
            yield _match(rule, start, end)


def _counts(pack: CompiledPack, rule: CompiledRule, said: Said, start: int, end: int) -> bool:
    """Whether a match in an own sentence is a signal: its place, its guards, its condition."""
    before, after = said.text[:start], said.text[end:]
    # What counts at the start only may hold the condition itself: "If the tool fails".
    case = said.text[:end] if rule.rule.at_start else before
    if rule.rule.at_start and not _is_start(pack, before):
        return False
    if (said.is_question and not rule.rule.questions) or _finds(pack.condition, case):
        return False
    if _finds(rule.unless_before, before) or _finds(rule.unless_after, after):
        return False
    if _finds(rule.unless_sentence, said.text):
        return False
    rest = after + b" " + said.following
    if rule.followed_by is not None and not _finds(rule.followed_by, rest):
        return False
    return not _finds(rule.unless_followed_by, rest)


def _is_start(pack: CompiledPack, before: bytes) -> bool:
    return not before.strip(b" *_~\"'>#-") or (pack.lead_in is not None and bool(pack.lead_in.fullmatch(before)))


def _finds(pattern: Any, text: bytes) -> bool:
    return pattern is not None and pattern.search(text) is not None


def _match(rule: CompiledRule, start: int, end: int) -> _Match:
    return _Match(rule.rule.signal, start, end, rule.rule.weight or WEIGHTS[rule.rule.signal])


def _custom_matches(text: str, thresholds: QualityThresholds) -> Iterator[_Match]:
    """Matches of the operator's own patterns, on the raw text and wherever they are."""
    for signal_type, pattern in thresholds.custom_compiled:
        for match in pattern.finditer(text):
            if match.end() > match.start():
                yield _Match(signal_type, match.start(), match.end(), WEIGHTS[signal_type])


def _signals(text: str, matches: Sequence[_Match]) -> list[FailureSignal]:
    """Signals in the order of the text, without overlap within a type, bounded for each type."""
    reached: dict[SignalType, int] = {}
    counts: dict[SignalType, int] = {}
    signals: list[FailureSignal] = []
    for match in sorted(matches, key=lambda match: (match.start, match.type, -match.weight, -match.end)):
        if match.start < reached.get(match.type, 0) or counts.get(match.type, 0) >= MAX_SIGNALS_PER_TYPE:
            continue
        reached[match.type] = match.end
        counts[match.type] = counts.get(match.type, 0) + 1
        start, end = match.start, match.end
        signals.append(
            FailureSignal(
                type=match.type,
                evidence=text[start:end][:MAX_EVIDENCE],
                weight=match.weight,
                action=ACTIONS[match.type],
                span=Span(start=start, end=end),
                context=text[max(0, start - CONTEXT_MARGIN) : min(end, start + MAX_EVIDENCE) + CONTEXT_MARGIN],
            )
        )
    return signals
