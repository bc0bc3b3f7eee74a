"""Resolve a query against the turns before it, so that claims and relevance are compared with what was asked.

The resolved text is compared and never shown as the query, so that words matter and grammar does not:

- *choice*: "the second one" is the second item of the last list;
- *pronoun*: "it", "she", "them" are replaced by the mention that they stand for (``mentions``);
- *reference*: "that stop" is followed by the earlier sentence with its word;
- *follow-up*: "And over 90 days?" is the question before it with "90 days" in the place of "30 days"
  (``follow_ups``).

Other languages than English have rules of their own, without a parse (``local_follow_ups``). Of each turn at most ``MAX_READ`` code points are read, of at most ``MAX_EARLIER`` turns.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from schemas.answers import GeneratedAnswer, Turn
from workers.evaluation.budget import spend
from workers.evaluation.conversation.corrections import announced, corrected
from workers.evaluation.conversation.follow_ups import follow_up, is_follow_up
from workers.evaluation.conversation.local_follow_ups import LED, about, brought_up, laid_on, local_phrase
from workers.evaluation.conversation.mentions import Mention, antecedent, listed, mentions, phrase_mentions
from workers.evaluation.conversation.possessions import owned, possessions
from workers.evaluation.text.languages.language import FUNCTION_WORDS, guess_language, known_language
from workers.evaluation.text.parser import parse, parse_together
from workers.evaluation.text.wording import plain_text
from workers.evaluation.text.words import key_of, word_set

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

MAX_EARLIER = 8
"""Most turns that are read, the latest ones."""
MAX_READ = 600
"""Most code points of a turn that are read: the start of an answer, the end of a query."""
MAX_QUERY = 500
"""Longest query that is resolved, code points; a longer one is a text with a task of its own."""

MAX_RESOLVED = 2_000
"""Longest query after its resolution, code points: each of many pronouns may stand for a long phrase."""
TOPIC_RANK = 10.0
"""Rank of a topic that the turn before the query announces."""

Status = Literal["self_contained", "resolved", "not_resolved"]


_FORMS = tuple(
    re.compile(rf"\b(?:{forms})\b", re.IGNORECASE)
    for forms in ("it|its", "he|him|his", "she|her|hers", "they|them|their")
)
"""Pronouns by what they stand for."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """Hold a query after the turns before it.

    Attributes:
        status: whether the query needs the earlier turns, and whether they resolve it.
        text: the query to compare with.
        reason: reason why it was not resolved; empty otherwise.
        topics: pronouns of the query, each with the mention that it stands for.
        adds: the follow-up, which asks the question before it about something else.
    """

    status: Status
    text: str
    reason: str = ""
    topics: tuple[tuple[str, str], ...] = ()
    adds: str = ""

    def in_answer(self, text: str) -> str:
        """Return a text of the answer with the same pronouns resolved: it goes on about what was asked."""
        for pronoun, mention in self.topics:
            forms = next((forms for forms in _FORMS if forms.fullmatch(pronoun)), None)
            text = forms.sub(mention.replace("\\", r"\\"), text) if forms else text
        return text


_WORD = re.compile(r"[^\W\d_]{2,}")
_ENGLISH = FUNCTION_WORDS["en"] | word_set(
    "what which who when where why how does do did can could should would will my me you your we our has have had there"
)
_SAID = re.compile(r"^(?:(?:yes|no|sure|certainly|correct|right)\b[\s,.!:–—-]*)+", re.IGNORECASE)
_ORDINALS = {
    "first": 0, "former": 0, "second": 1, "third": 2, "fourth": 3, "last": -1, "latter": -1, "middle": 1, "other": 1,
}  # fmt: skip
_CHOICE = re.compile(
    r"\bthe\s+(?P<which>first|former|second|third|fourth|last|latter|middle)(?:\s+(?:one|option|of\s+(?:them|these|those)))?"
    r"(?=\s*(?:[?.!,;]|$|\b(?:is|are|was|were|has|have|do|does|did|can|could|will|would|cost|costs|for|in|on|with|be)\b))",
    re.IGNORECASE,
)
_ONE = re.compile(r"\b(?:that|this)\s+one\b", re.IGNORECASE)
_PRONOUNS = frozenset(
    ("it", "its", "he", "him", "his", "she", "her", "hers", "they", "them", "their", "theirs", "this", "that", "these",
     "those", "both", "there")
)  # fmt: skip
_POSSESSIVE = frozenset(("its", "his", "her", "their"))
_ASKING = frozenset(("what", "which", "whose", "how", "when", "who"))
_EXPLETIVE = re.compile(
    r"\b(?:is|was|will|would|can|does|has|be)\s+it\s+(?:be\s+|been\s+)?(?:true|possible|worth|raining|snowing|better|necessary|"
    r"too\s+late|safe\s+to|ok|okay|allowed|legal\s+to|time)\b|\bwhat\s+time\s+is\s+it\b|\bit\s+(?:is|['’]s)\s+(?:true|possible)\b",
    re.IGNORECASE,
)


def resolve_query(query: str, turns: Sequence[Turn]) -> Resolution | None:
    """Return a query after the turns before it; ``None`` without a query or earlier turns.

    Args:
        query: the query.
        turns: the earlier turns, the oldest first.
    """
    asked = plain_text(query).strip()
    if not asked or not turns:
        return None
    if len(asked) > MAX_QUERY:
        return Resolution("self_contained", query)
    read = tuple((turn.role, _read(turn)) for turn in turns[-MAX_EARLIER:])
    language = _language(" ".join((*(text for _, text in read), asked)))
    # Operations are counted before the cache is asked, so that a repeat spends the same.
    spend(len(asked) + sum(len(text) for _, text in read))
    if language != "en":
        return _resolved_locally(asked, read, language) or Resolution(
            "not_resolved", query, f"no rule for the language {language} resolves the query"
        )
    found = _resolve(asked, read)
    return found if found.status == "resolved" else replace(found, text=query)


def _resolved_locally(asked: str, read: Sequence[tuple[str, str]], language: str) -> Resolution | None:
    """Resolve a query in a language other than English; ``None`` where no rule fits."""
    questions = [place for place, (role, _) in enumerate(read) if role == "user"]
    if not questions:
        return None
    last = questions[-1]
    if phrase := local_phrase(asked, language):
        before = _resolved_locally(read[last][1], read[:last], language)
        return Resolution("resolved", laid_on(phrase, before.text if before else read[last][1]), adds=asked)
    said = read[last + 1][1] if last + 1 < len(read) else ""
    text = about(asked, brought_up(said, read[last][1])) if language in LED else None
    return Resolution("resolved", text) if text else None


@lru_cache(maxsize=256)
def _resolve(asked: str, read: tuple[tuple[str, str], ...]) -> Resolution:
    *docs, own = parse_together([*(text for _, text in read), asked])
    return _resolved(asked, own, [_Earlier(role, text, doc) for (role, text), doc in zip(read, docs, strict=True)])


def with_resolved_query(answer: GeneratedAnswer, resolution: Resolution | None) -> GeneratedAnswer:
    """Return the answer with its resolved query; the answer itself where nothing was resolved."""
    if resolution is None or resolution.status != "resolved":
        return answer
    return answer.model_copy(update={"query": resolution.text})


def _language(text: str) -> str:
    """Guess the language of a conversation; short questions have few function words, so those of questions count."""
    known = "en" if text.isascii() else known_language(text)
    if known in LED:
        return known
    guessed = guess_language(text)
    if guessed not in FUNCTION_WORDS or guessed == "en":
        return guessed
    words = _WORD.findall(text.lower())
    english = sum(word in _ENGLISH for word in words)
    return "en" if english and english >= sum(word in FUNCTION_WORDS[guessed] for word in words) else guessed


@dataclass(frozen=True, slots=True)
class _Earlier:
    role: str
    text: str
    doc: "Doc"


def _read(turn: Turn) -> str:
    # Marks are removed from a part that is longer than what is read, and not from a whole turn of 60,000 code points.
    if turn.role == "assistant":
        return plain_text(turn.content[: 4 * MAX_READ])[:MAX_READ]
    return plain_text(turn.content[-4 * MAX_READ :])[-MAX_READ:]


def _resolved(asked: str, own: "Doc", earlier: Sequence[_Earlier]) -> Resolution:
    if phrase := corrected(asked):
        own = parse(f"And {phrase}?")
    if phrase or is_follow_up(own):
        before = next((place for place in reversed(range(len(earlier))) if _asks(earlier[place])), None)
        if before is None and (replaced := _replacements(asked, own, earlier)[0]):
            return Resolution("resolved", _replaced(asked, replaced), adds=" ".join(text for _, _, text in replaced))
        if before is None:
            return Resolution("not_resolved", asked, "no earlier turn asks what the query continues")
        base = _resolved(earlier[before].text, earlier[before].doc, earlier[:before]).text
        said = "" if phrase or before + 1 >= len(earlier) else earlier[before + 1].text
        return Resolution("resolved", follow_up(own, base, said), adds=asked)
    replaced, unknown = _replacements(asked, own, earlier)
    if replaced:
        topics = tuple((word, text) for start, end, text in replaced if (word := asked[start:end].lower()) in _PRONOUNS)
        resolved = _replaced(asked, replaced)
        if len(resolved) > MAX_RESOLVED:
            return Resolution("not_resolved", asked, f"the resolved query has more than {MAX_RESOLVED} code points")
        adds = _topic_of(earlier) if any(text == _topic_of(earlier) for _, _, text in replaced) else ""
        return Resolution("resolved", resolved, topics=topics, adds=adds)
    if unknown:
        return Resolution("not_resolved", asked, f"no earlier turn tells what '{unknown}' is")
    return Resolution("self_contained", asked)


def _replaced(asked: str, parts: Sequence[tuple[int, int, str]]) -> str:
    for start, end, text in sorted(parts, reverse=True):
        asked = f"{asked[:start]}{text}{asked[end:]}"
    return asked


def _asks(turn: _Earlier) -> bool:
    return turn.role == "user" and (
        turn.text.rstrip().endswith("?") or any(t.tag_ in ("WP", "WRB", "WDT") for t in turn.doc)
    )


def _topic_of(earlier: Sequence[_Earlier]) -> str:
    """Return the topic that the turn before the query announces; empty without one."""
    return announced(earlier[-1].text) if earlier and earlier[-1].role == "user" else ""


def _replacements(asked: str, own: "Doc", earlier: Sequence[_Earlier]) -> tuple[list[tuple[int, int, str]], str]:
    """Return what to put in the place of which part of the query, and a pronoun that stands for nothing known."""
    found: list[tuple[int, int, str]] = []
    unknown = ""
    choice = _CHOICE.search(asked)
    if choice and (item := _chosen(key_of(choice["which"]), earlier)):
        found.append((choice.start(), choice.end(), item))
    known = [mention for age, turn in enumerate(reversed(earlier)) for mention in mentions(turn.doc, age)]
    if topic := _topic_of(earlier):
        known.append(Mention(topic, TOPIC_RANK, is_plural=False, gender="thing", is_place=False))
    one = _ONE.search(asked)
    if one and (mention := antecedent("it", known)):
        found.append((one.start(), one.end(), mention.text))
    things = possessions(own, [turn.text for turn in earlier if turn.role == "user"])
    for token in own:
        if (thing := owned(token, things)) is not None:
            found.append(thing)
            continue
        if any(start <= token.idx < end for start, end, _ in found):
            continue
        if token.lower_ in ("that", "this", "these", "those") and token.dep_ == "det":
            if told := _told_of(token.head, earlier):
                end = token.head.idx + len(token.head)
                found.append((end, end, f" ({told})"))
            continue
        if not _stands_for_something(token, asked, own):
            continue
        mention = antecedent(token.lower_, known)
        if mention is None:
            unknown = unknown or token.text
            continue
        found.append((token.idx, token.idx + len(token), _in_place_of(token, mention)))
    return found, unknown


def _stands_for_something(token: "Token", asked: str, own: "Doc") -> bool:
    """Return true if a token is a pronoun that nothing in the query itself explains."""
    if token.lower_ not in _PRONOUNS or token.tag_ in ("EX", "IN", "WDT") or token.dep_ in ("expl", "det", "mark"):
        return False
    if token.lower_ == "it" and _EXPLETIVE.search(asked):
        return False
    if token.lower_ in ("this", "that") and len(list(own.sents)) > 1:
        return False  # it stands for the sentence before it
    return not any(_explains(chunk, token) for chunk in own.noun_chunks if chunk.end <= token.i)


def _explains(chunk: "Span", token: "Token") -> bool:
    """Return true if a pronoun may stand for a phrase before it in the query.

    What belongs to one verb is different things ("Does the clinic stock it?"), and "the fee for it" is no antecedent of
    its own pronoun.
    """
    if chunk[0].lower_ in _ASKING or chunk[0].lower_ in _POSSESSIVE or token in chunk.root.subtree:
        return False
    if _verb_of(chunk.root) == _verb_of(token):
        return False
    told = list(phrase_mentions(chunk, 0.0))
    if token.lower_ in ("they", "them", "their", "theirs"):
        told = [mention for mention in told if mention.is_plural]
    return antecedent(token.lower_, told) is not None


def _verb_of(token: "Token") -> int:
    # Positions and not tokens are compared: spaCy returns a new object each time, also for the head that is the token.
    while token.head.i != token.i and token.pos_ not in ("VERB", "AUX"):
        token = token.head
    return int(token.i)


def _in_place_of(token: "Token", mention: Mention) -> str:
    if token.lower_ in _POSSESSIVE and token.tag_ == "PRP$":
        return f"{mention.text}'s"
    return f"in {mention.text}" if token.lower_ == "there" else mention.text


def _chosen(which: str, earlier: Sequence[_Earlier]) -> str:
    """Return the item that an ordinal chooses from the last list."""
    for turn in reversed(earlier):
        items = listed(turn.doc, turn.text)
        place = len(items) // 2 if which == "middle" else _ORDINALS[which]
        if len(items) > 1 and place < len(items):
            return items[place]
    return ""


def _told_of(noun: "Token", earlier: Sequence[_Earlier]) -> str:
    """Return the last earlier sentence with the word of "that stop" or a verb of it."""
    lemma = noun.lemma_.lower()
    for turn in reversed(earlier):
        for sentence in reversed(list(turn.doc.sents)):
            if any(token.lemma_.lower() == lemma for token in sentence) and not sentence.text.rstrip().endswith("?"):
                return _SAID.sub("", str(sentence.text)).strip(" .!,;")[:200]
    return ""
