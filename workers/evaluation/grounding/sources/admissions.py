"""Tell which failed calls an answer admits, and what it may add to an admission.

A clause admits a failure if it says that a call failed or found nothing, and if the rest of it is about that call: the
assistant speaks of itself, or most other words are those of the call or the question. "The order was rejected by the
seller" says nothing of a refund service that did not respond. Reasons behind a colon or "because" belong to the
admission.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from schemas.answers import ContextChunk
from workers.evaluation.budget import spend
from workers.evaluation.claims.clauses import has_verb
from workers.evaluation.text.words import content_words, stem, word_set
from workers.evaluation.tools.results.tool_failures import Failure, admitting_words

Kind = Literal["error", "empty"]
KINDS: tuple[Kind, ...] = get_args(Kind)
KNOWN = 0.5
"""Least share of the words of a clause that are those of a call, if the clause is about the call."""

_CUT = re.compile(
    r"[;,]\s+|\s+(?:so|and|but|while|although|though|und|aber|obwohl|et|mais|donc|y|pero)\s+", re.IGNORECASE
)
_REASON = re.compile(
    r":\s|\s[–—-]\s|[\s,(]+(?:because|since|as|due to|weil|da|parce que|car|porque|ya que)\s", re.IGNORECASE
)
_LEADS_ON = re.compile(
    r"\W*(?:(?:probably |likely |perhaps )?(?:because|since|as|due to|weil|da|parce que|car|porque|ya que)\s"
    r"|(?:this|that|it) (?:\w+ ){0,3}?(?:because|due to|means?|happens?|caused|indicates?|suggests?)\b"
    r"|the (?:likely |probable )?(?:reason|cause) (?:is|was|may|might|could)\b)",
    re.IGNORECASE,
)
"""A clause that gives the reason of the failure."""
_SPEAKER = re.compile(
    r"\b(?:i|we|my|our|me|us|ich|wir|mir|uns|je|j|nous|yo|pude|pudimos|encontr[éa]\w*)\b|['’]m\b", re.IGNORECASE
)
_STATE = re.compile(r"(?:denied|refused|rejected|declined|expired|forbidden|unauthori[sz]ed)\b", re.IGNORECASE)
"""States of the matter itself: a call says them of its own request, or in what it returned."""
_TECHNICAL = re.compile(
    r"\b(?:service|server|system|api|tool|call|request|query|lookup|search|connection|database|endpoint|dienst|abfrage|aufruf"
    r"|appel|requête|servicio|llamada|consulta)s?\b",
    re.IGNORECASE,
)
_UNREACHED = re.compile(
    r"reach|respon[ds]|available|timed? ?out|down|outage|load|complete|unreachable|inaccessible|verfügbar|erreichbar",
    re.IGNORECASE,
)
"""Words for failures of calls and services. With a word for a call, the subject may have any name."""
_ADVICE = re.compile(
    r"\b(?:i|we)(?:['’](?:ll|d)| can| could| will| would| may| might| shall)\b|\b(?:let|tell|ask|send|give) (?:me|us)\b"
    r"|^\W*(?:if|once|unless|in case)\b|\b(?:when|after) you\b|\byou(?:['’](?:ll|d)| can| could| may| might| should| need| must| have to)\b"
    r"|\b(?:might|may|could|would|should) (?:also )?(?:work|help|solve|fix|do|be worth)\b|\bwould you\b|\bplease\b"
    r"|\b(?:bitte|ich kann|wir können|sie können|sie sollten|veuillez|je peux|vous pouvez|puedo|puede usted|por favor)\b",
    re.IGNORECASE,
)
"""Offers and advice. They state nothing of what the call would have brought."""
_ASSERTS = re.compile(
    r"\b(?:is|are|was|were|has|have|had|ist|sind|war|wurde|hat|est|sont|été|a été|fue|está|ha)\b", re.IGNORECASE
)
_OF_CALLS = frozenset(
    map(
        stem,
        word_set(
            "call request tool service server system api query lookup search connection database endpoint response access"
            " result results row rows record records data entry entries error errors failure return returned occur"
            " occurred happen happened moment time currently unfortunately sorry try attempt complete completed load"
            " respond responded reach reached process step command go gone come came make made get got find found offline"
            " anfrage abfrage dienst aufruf suche fehler leider momentan service appel requête servicio llamada consulta"
        ),
    )
)
"""Words for any call and its outcome."""
_DIGITS = re.compile(r"\d+")
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d[\w-]*|[^\W_A-Za-z]+")


@dataclass(frozen=True, slots=True)
class FailedCalls:
    """Hold the failed calls of an answer with their words.

    Attributes:
        question: the question of the answer.
        failures: the calls that failed or found nothing.
        own: stems of the name, arguments and result of each failed call.
        distinct: those of name and arguments that no other call of the answer has or returned.
        subjects: those of them that are part of the name.
        returned: stems of what the failed calls returned.
        figures: runs of digits of the question and of all failed calls.
    """

    question: str = ""
    failures: tuple[Failure, ...] = ()
    own: tuple[frozenset[str], ...] = ()
    distinct: tuple[frozenset[str], ...] = ()
    subjects: frozenset[str] = frozenset()
    returned: frozenset[str] = frozenset()
    figures: frozenset[str] = frozenset()

    def admitted(self, text: str, numbers: frozenset[int] | None = None) -> tuple[Failure, ...]:
        """Return the failures that a sentence admits.

        Args:
            text: the sentence.
            numbers: the contexts whose failures count; all if absent.
        """
        found = {each for clause in _clauses(text) for each in self._admitted(clause)}
        return tuple(each for each in self.failures if each in found and (numbers is None or each.number in numbers))

    def says_no_more(self, text: str) -> bool:
        """Return true if a sentence quotes what failed calls returned, or each of its clauses admits, advises or quotes.

        That nothing was done follows from a failure: "The order has not been cancelled."
        """
        return self.quotes(text) or all(
            _LEADS_ON.match(clause) or self._denies(clause) or is_advice(clause) or self.quotes(clause)
            for clause in _clauses(text)
        )

    def quotes(self, text: str) -> bool:
        """Return true if failed calls returned at least half of what a statement says beside the question, and its figures."""
        if not self.figures.issuperset(_DIGITS.findall(text)):
            return False
        words = content_words(text) - content_words(self.question) - _OF_CALLS
        return bool(words) and len(words & self.returned) >= KNOWN * len(words)

    def is_subject(self, text: str) -> bool:
        """Return true if a text has a word of the name of a failed call that no other call has or returned."""
        return not self.subjects.isdisjoint(content_words(text))

    def named(self, text: str) -> frozenset[Failure]:
        """Return the failures whose calls alone have a word of a text."""
        words = content_words(text)
        return frozenset(each for each, own in zip(self.failures, self.distinct, strict=True) if words & own)

    def _denies(self, clause: str) -> bool:
        return any(self._about(clause, kind, self.own) for kind in KINDS)

    def _admitted(self, clause: str) -> tuple[Failure, ...]:
        named = self.named(clause) or frozenset(self.failures)
        found = list[Failure]()
        for kind in KINDS:
            places = [place for place, each in enumerate(self.failures) if each.kind == kind and each in named]
            about = self._about(clause, kind, [self.own[place] for place in places]) if places else []
            found += [self.failures[places[place]] for place in about]
        return tuple(found)

    def _about(self, clause: str, kind: Kind, calls: Sequence[frozenset[str]]) -> list[int]:
        """Return the places of the calls, by their words, that a clause tells of, as one that failed in this way."""
        spend(len(clause) + len(calls))
        main = clause[: reason.start()] if (reason := _REASON.search(clause)) else clause
        found = admitting_words(main, kind, self.question)
        if not found:
            return []
        if _SPEAKER.search(main) or (_TECHNICAL.search(main) and _UNREACHED.search(main)):
            return list(range(len(calls)))
        words, asked = content_words(main), content_words(self.question)
        rest = words - _OF_CALLS - frozenset().union(*map(content_words, found))
        # A call says a state of its own request, or returned it.
        states = [content_words(word) for word in found if _STATE.match(word)] if words.isdisjoint(_OF_CALLS) else []
        return [
            place
            for place, own in enumerate(calls)
            if len(rest & (own | asked)) >= KNOWN * len(rest) and all(state & (own | asked) for state in states)
        ]


def read_failed_calls(question: str, contexts: Sequence[ContextChunk], failures: Sequence[Failure]) -> FailedCalls:
    """Return the failed calls of an answer with their words.

    Args:
        question: the question of the answer.
        contexts: its contexts.
        failures: the calls among them that failed or found nothing.
    """
    calls = {number: _call_words(chunk) for number, chunk in enumerate(contexts, 1) if chunk.source_type == "tool"}
    returned = {each.number: _stems(f"{contexts[each.number - 1].content} {each.reason}") for each in failures}
    failed = [contexts[number - 1] for number in returned]
    texts = [f"{chunk.content} {chunk.tool.arguments or '' if chunk.tool else ''}" for chunk in failed]
    others = Counter(word for words in calls.values() for word in words)
    others.update(
        word for number in calls.keys() - returned.keys() for word in _stems(contexts[number - 1].content) for _ in "12"
    )
    distinct = tuple(frozenset(word for word in calls[each.number] if others[word] == 1) for each in failures)
    return FailedCalls(
        question=question,
        failures=tuple(failures),
        own=tuple(calls[each.number] | returned[each.number] for each in failures),
        distinct=distinct,
        subjects=frozenset().union(*distinct)
        & frozenset().union(*(_stems(each.name) for each in failures)) - _OF_CALLS,
        returned=frozenset().union(*returned.values()),
        figures=frozenset(_DIGITS.findall(" ".join((question, *texts)))),
    )


def is_advice(text: str) -> bool:
    """Return true if a clause offers or advises something, and states nothing beside it."""
    advice = _ADVICE.search(text)
    return advice is not None and not _ASSERTS.search(text[: advice.start()])


def _clauses(text: str) -> Iterator[str]:
    """Yield the clauses of a sentence; a piece without a verb belongs to the one before it."""
    start, last = 0, 0
    for cut in _CUT.finditer(text):
        if has_verb(text[last : cut.start()]) and has_verb(text[cut.end() :]):
            yield text[start : cut.start()]
            start = cut.end()
        last = cut.end()
    yield text[start:]


def _call_words(chunk: ContextChunk) -> frozenset[str]:
    return _stems(f"{chunk.tool.name} {chunk.tool.arguments or ''}" if chunk.tool else "")


def _stems(text: str) -> frozenset[str]:
    """Return the stems of a text with those of the parts of its identifiers: "delete_draft", "getOrder"."""
    return content_words(text) | content_words(" ".join(_PARTS.findall(text)))
