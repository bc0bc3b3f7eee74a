"""Detect seven failure signals in the text of an answer.

Method: the patterns of the packs (`pattern_packs`) are searched on folded text, all at once
and in linear time. A match is a signal only if its sentence fits: not in code or quotations, which are not
the answer's own words; for some rules only at the opening; not in a condition, a question or the statement of a source.
The packs depend on the language of the answer; the English pack is always used, since models fall back to English.

Pure; time is linear in the length of the answer.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from schemas.quality import FailureSignal, RecommendedAction, SignalType
from schemas.reports import Span
from workers.evaluation.quality.error_texts import is_error_text
from workers.evaluation.text.empty_texts import says_nothing
from workers.evaluation.text.languages.language import likely_languages
from workers.evaluation.text.pattern_packs import ALWAYS, LANGUAGES, CompiledPack, CompiledRule, PatternPack, matching
from workers.evaluation.text.structure.attributed_text import Folded, Said, Speech, fold, fold_native
from workers.evaluation.text.structure.truncation import is_cut_off
from workers.evaluation.text.words import reading_length
from workers.evaluation.thresholds import QualityThresholds

WEIGHTS: dict[SignalType, float] = {
    "confusion": 0.6,
    "refusal": 0.75,
    "low_confidence": 0.4,
    "empty_response": 0.8,
    "tool_failure": 0.9,
    "incomplete_reasoning": 0.5,
    "hallucination_risk": 0.85,
}
"""Default weights. A rule of a pack may weigh less: a lone "probably" 0.28 (score 0.72), and an "etc." at the end of a
list 0.25.
"""

ACTIONS: dict[SignalType, RecommendedAction] = {
    "confusion": "ask_back",
    "refusal": "human_queue",
    "low_confidence": "other_model",
    "empty_response": "retry_with_backoff",
    "tool_failure": "retry_with_backoff",
    "incomplete_reasoning": "other_model",
    "hallucination_risk": "other_model",
}
"""Recommended action for each signal."""

MAX_SIGNALS_PER_TYPE = 20
"""Maximum number of reported signals of one type; the score reaches its minimum before."""
MAX_MATCHES_PER_RULE = 200
"""Maximum number of matches of one rule to check; it bounds the cost of long quotations with many matches."""
OPENING_SENTENCES = 3
"""Number of first sentences in which an answer refuses: an apology, an acknowledgement, the refusal."""
BRIEF_ANSWER = 300
"""Maximum length in code points of an answer that only reports a failed call."""
CONTEXT_MARGIN = 60
"""Length of text shown before and after a match, code points."""
MAX_EVIDENCE = 300
"""Maximum length of shown evidence, code points."""
ENDING_SHOWN = 60
"""Length shown of a truncated ending, code points."""

TRUNCATED = frozenset(("length", "max_tokens", "max_output_tokens", "model_length", "incomplete"))
FILTERED = frozenset(("content_filter", "content_filtered", "safety", "refusal", "blocklist", "prohibited_content"))
"""Finish reasons of models for truncated or withheld answers."""


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
        is_fact: the query asks for a single fact, so that a short answer is complete ("Paris.").

    Returns:
        One signal for each type and place, in the order of the text; an empty response first.
        The heaviest of each type is ``counted``.
    """
    empty = list(_empty_response(text, thresholds, is_fact=is_fact))
    if not text.strip():
        return empty
    packs = [pack.compiled for pack in _packs(text, thresholds)]
    matches = [*_error_text(text), *_pattern_matches(text, packs), *_custom_matches(text, thresholds)]
    if not empty and is_cut_off(text):
        end = len(text.rstrip())
        matches.append(_Match("incomplete_reasoning", max(0, end - ENDING_SHOWN), end, WEIGHTS["incomplete_reasoning"]))
    return count_each_type_once([*empty, *_signals(text, matches)])


def stated_failure(
    text: str, thresholds: QualityThresholds, *, first: int | None = None
) -> Literal["tool_failure", "refusal"] | None:
    """Return the failure that `find_signals` would find in an answer; faster, because no other signal is searched for.

    A failed call comes before a refusal: "I cannot answer, the search timed out" is the call's fault.

    Args:
        text: the raw answer.
        thresholds: as for `find_signals`.
        first: search for patterns only in that many first code points; the form of an error is looked for in all.
    """
    if not text.strip():
        return None
    if is_error_text(text):
        return "tool_failure"
    text = text[:first]
    matches = [*_pattern_matches(text, [pack.failures for pack in _packs(text, thresholds)])]
    found = {match.type for match in (*matches, *_custom_matches(text, thresholds))}
    return "tool_failure" if "tool_failure" in found else "refusal" if "refusal" in found else None


def reported_signals(status: str, error: str | None, finish_reason: str | None) -> list[FailureSignal]:
    """Return the signals that the gateway reports: a failed call, a truncated or a withheld answer."""
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
    """Return true if the signals show that the answer declines to answer."""
    return any(signal.type == "refusal" for signal in signals)


def is_tool_failure(signals: Sequence[FailureSignal]) -> bool:
    """Return true if the signals show that the answer reports a failed tool call of its own."""
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
    if (0 if says_nothing(text) else reading_length(text)) < least:
        signal = _reported("empty_response", text.strip())
        yield signal.model_copy(update={"span": Span(start=0, end=len(text))})


def _packs(text: str, thresholds: QualityThresholds) -> list[PatternPack]:
    languages = dict.fromkeys(("en", *likely_languages(text)))
    return [*(LANGUAGES[code] for code in languages if code in LANGUAGES), *ALWAYS, *thresholds.packs]


def _error_text(text: str) -> Iterator[_Match]:
    if is_error_text(text):
        start = len(text) - len(text.lstrip())
        yield _Match("tool_failure", start, start + len(text[start:].partition("\n")[0]), WEIGHTS["tool_failure"])


def _pattern_matches(text: str, packs: Sequence[CompiledPack]) -> Iterator[_Match]:
    yield from _matches_in(text, fold(text), [pack for pack in packs if pack.script == "latin"])
    if native := [pack for pack in packs if pack.script == "native"]:
        yield from _matches_in(text, fold_native(text), native)


def _matches_in(text: str, folded: Folded, packs: Sequence[CompiledPack]) -> Iterator[_Match]:
    # Read by blocks and sentences only if it comes to it.
    speech: Speech | None = None
    brief = len(text.strip()) <= BRIEF_ANSWER
    head = Speech(text[:OPENING_TEXT], folded[:OPENING_TEXT])
    # A fourth sentence decides whether the answer is brief.
    opening = head.opening(OPENING_SENTENCES + 1)
    for pack in packs:
        for rule in matching(pack.anywhere, pack.anywhere_set, folded):
            speech = speech or Speech(text, folded)
            yield from _anywhere(pack, rule, folded, speech)
        told = [said for said in opening if not _is_start(pack, said.text)]
        for index, said in enumerate(told[:OPENING_SENTENCES]):
            if said.is_item and index:
                continue
            for rule in matching(pack.opening, pack.opening_set, said.text):
                if _is_within(rule, index, brief=brief and len(opening) <= OPENING_SENTENCES):
                    yield from _in_sentence(pack, rule, head, said)


OPENING_TEXT = 2_000
"""Number of code points that are searched for the first sentences."""


def _anywhere(pack: CompiledPack, rule: CompiledRule, folded: Folded, speech: Speech) -> Iterator[_Match]:
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
    """Return true if a rule applies to the sentence of that number in an opening."""
    return {"first": index == 0, "brief": brief, "sole": brief and index == 0}.get(rule.rule.within, True)


def _in_sentence(pack: CompiledPack, rule: CompiledRule, head: Speech, said: Said) -> Iterator[_Match]:
    for match in rule.match.finditer(said.text):
        start, end = said.start + match.start(), said.start + match.end()
        if head.said_at(start, end) is not None and _counts(pack, rule, said, *match.span()):
            yield _match(rule, start, end)


def _counts(pack: CompiledPack, rule: CompiledRule, said: Said, start: int, end: int) -> bool:
    """Return true if a match in an own sentence is a signal by its place, its guards and its condition."""
    before, after = said.text[:start], said.text[end:]
    # A match that counts only at the start may contain the condition itself: "If the tool fails".
    case = said.text[:end] if rule.rule.at_start else before
    if rule.rule.at_start and not _is_start(pack, before):
        return False
    if (said.is_question and not rule.rule.questions) or _finds(pack.condition, case):
        return False
    if _finds(rule.unless_before, before) or _finds(rule.unless_after, after):
        return False
    if _finds(rule.unless_sentence, _without_lead_in(pack, said.text)):
        return False
    rest = _joined(after, said.following)
    if rule.followed_by is not None and not _finds(rule.followed_by, rest):
        return False
    return not _finds(rule.unless_followed_by, rest)


def _is_start(pack: CompiledPack, before: Folded) -> bool:
    bare = before.strip(b" *_~\"'>#-") if isinstance(before, bytes) else before.strip(" *_~\"'>#-")
    return not bare or (pack.lead_in is not None and bool(pack.lead_in.fullmatch(before)))


def _without_lead_in(pack: CompiledPack, sentence: Folded) -> Folded:
    """Return a sentence without its opening: the "but" of "I am sorry, but …" is part of the apology."""
    found = pack.lead_in.match(sentence) if pack.lead_in is not None else None
    return sentence[found.end() :] if found else sentence


def _joined(first: Folded, second: Folded) -> Folded:
    if isinstance(first, bytes) and isinstance(second, bytes):
        return first + b" " + second
    return f"{first!s} {second!s}"


def _finds(pattern: Any, text: Folded) -> bool:
    return pattern is not None and pattern.search(text) is not None


def _match(rule: CompiledRule, start: int, end: int) -> _Match:
    return _Match(rule.rule.signal, start, end, rule.rule.weight or WEIGHTS[rule.rule.signal])


def _custom_matches(text: str, thresholds: QualityThresholds) -> Iterator[_Match]:
    """Yield matches of the operator's own patterns in the raw text."""
    for signal_type, pattern in thresholds.custom_compiled:
        for match in pattern.finditer(text):
            if match.end() > match.start():
                yield _Match(signal_type, match.start(), match.end(), WEIGHTS[signal_type])


def _signals(text: str, matches: Sequence[_Match]) -> list[FailureSignal]:
    """Return signals in the order of the text, without overlap within a type and with a limit for each type."""
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
