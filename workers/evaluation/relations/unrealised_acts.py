"""Compare stated acts with evidence that they did not come about: "won the final" over "almost won the final"."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.facts.verb_forms import is_past_form, is_verb, verb_stem
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import STOP_WORDS, kept_for_sentences, key_of, word_set

MAX_TEXT = 300
"""Longest claim, question and sentence that are read, code points."""
MAX_ANSWER = 6
"""Most words of an answer without the verb of its question."""

_END = (
    r"(?=[.;:()!?]|,\s|$|\s(?:but|so|which|who|yet|although|though|while|whereas|until)\b"
    r"|\sand\s(?:\w+ly\s|then\s|later\s)?(?:it|they|he|she|we|\w{3,}ed|was|were|is|are|had|has)\b)"
)
_ACT = rf"(?P<act>[^.;:()]{{2,120}}?){_END}"
_BE = r"(?:was|were|is|are|been|be|being)"
_AT_ALL = r"(?:\w+ly\s|still\s|again\s|even\s|also\s)?"
_BUT = r"[^.;]{0,160}?,?\s(?:but|however|yet|until)\b"
_CAME_TO_NOTHING = (
    r"(?:fail(?:s|ed)?|fell through|came to nothing|(?:was|were|has been|have been)\s(?:unsuccessful|in vain|fruitless|abandoned|dropped|shelved|scrapped"
    r"|called off|aborted|thwarted|blocked))"
)
_UNREALISED: tuple[PrefilteredPattern, ...] = tuple(
    PrefilteredPattern(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:almost|nearly)\s{_ACT}",
        rf"\b(?:{_BE}\s{_AT_ALL}(?:unable|powerless)|fail(?:s|ed)?|neglect(?:s|ed)?|refus(?:es|ed)|declin(?:es|ed)|omitted|forgot"
        rf"|(?:did|does|do|could)(?:\snot|n['’]t)\smanage|never managed|(?:was|were)(?:\snot|n['’]t)\sable)\sto\s{_ACT}",
        rf"\b(?:{_BE}\s{_AT_ALL}about|(?:tried|attempted)\s(?:in vain|unsuccessfully|without success)|(?:unsuccessfully|vainly)\s(?:tried|attempted))\sto\s{_ACT}",
        r"\b(?:tried|attempted)\sto\s(?P<act>[^.;:,()]{2,100}?),?\s(?:without success|in vain|but failed|unsuccessfully)\b",
        rf"\b(?:stop(?:s|ped) short of|(?:{_BE}|came|come)\s{_AT_ALL}close to|on the (?:verge|brink|point) of|(?:narrowly|just) (?:missed|avoided|escaped)(?:\sout on)?"
        rf"|{_BE}\s(?:prevented|stopped|kept|barred)\sfrom|refrain(?:s|ed) from)\s(?P<act>\w+ing\b[^.;:()]{{0,100}}?){_END}",
        rf"\b(?:consider(?:ed|s)?|contemplat(?:ed|es)|thought about|toyed with(?: the idea of)?)\s(?P<act>\w+ing\b[^.;:()]{{0,100}}?){_END}",
        rf"\bwould(?:\snot)?\s{_AT_ALL}have\s{_ACT}",
        rf"\bcould\s{_AT_ALL}have\s(?P<act>[^.;:,()]{{2,100}}?)\sif\s",
        rf"\b(?:planned|intended|hoped|wanted|meant|(?:was|were)\s(?:planned|supposed|set|scheduled|expected))\sto\s(?=[^.;]{{2,160}}?,?\s(?:but|however|yet)\b){_ACT}",
        rf"\b(?:attempts?|efforts?|bids?|plans?|proposals?|tries)\s(?:by\s[^.;,]{{2,40}}?\s)?to\s(?P<act>[^.;:()]{{2,100}}?),?\s{_CAME_TO_NOTHING}\b",
    )
)  # fmt: skip
"""Patterns of an act that did not come about, in its group ``act``, which begins with the verb."""
_THING = PrefilteredPattern(
    r"^(?:.{0,40}?,\s)?(?P<thing>[^,;:()]{3,100}?)\s(?:fell through|never (?:took place|happened|came about)|came to nothing|did not (?:take place|go ahead|come about)"
    r"|(?:was|were|has been|have been)\s(?:called off|aborted|averted|prevented))\b",
    re.IGNORECASE,
)
"""A thing that did not take place: its noun may have the stem of a verb ("merger", "merged")."""
_APPROXIMATE = re.compile(r"(?:doubl|tripl|trebl|quadrupl|halv)\w+|hundred|un\w+|need\w*|indeed", re.IGNORECASE)
"""Words after "almost" that it makes less exact: "nearly doubled" is close to "doubled"."""
_LATER = re.compile(
    r"\b(?:at first|initially|originally|first (?:attempt|try|time)|eventually|finally|in the end|later|afterwards|at last|succeeded|(?<!never )(?<!not )managed|second (?:attempt|try)|again)\b",
    re.IGNORECASE,
)
"""Words of what came about after all."""
_OPEN = re.compile(
    r"\b(?:if|whether|unless|in case|when|would|might|(?-i:may)|should|must|will|shall|to be|plan\w*|intend\w*|hop(?:e|es|ed)|want\w*|expect\w*|suppos\w*|attempt\w*|tr(?:y|ies|ied)"
    r"|almost|nearly|narrowly|unable|fail\w*|refus\w*|declin\w*|consider\w*|about to|close to|verge|brink|short of|(?:fell|falls) through|chance|could have)\b",
    re.IGNORECASE,
)
"""Words of a claim that does not state an act as done."""
_CONDITION = re.compile(r"\b(?:if|whether|unless|in case|when(?:ever)?|should)\b[^,;.]*$", re.IGNORECASE)
_DENIED_BEFORE = re.compile(
    r"(?:\bnot|n['’]t|\bnever|\bno|\bwithout|\bdenie[sd]|\bhardly)\s(?:\w+\s){0,2}$", re.IGNORECASE
)
_PIECE = re.compile(
    r"[.;:,]\s|\s(?:but|and|while|whereas|although|though|so|because|when|after|before|until|which|who|that|then)\s",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"\b(?:it|they|he|she|we|i|you|this|these|that|those|both|which|who|one)\b", re.IGNORECASE)
_ASKS_FOR = re.compile(r"\W*(?:who|which|what)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+(?:['’]t)?|\d+")
_MONTH = re.compile(r"\bMay\b")
"""The month, which in lower case is a modal verb."""
_MODALS = word_set("to would could can might may should will must shall cannot")
_TO_BE = word_set("is are was were been be being got")
_BEFORE_VERB = _TO_BE | word_set("not also even then again have had")
_NO_VERB = STOP_WORDS - {"die"}
_DO = word_set("did does do")
_NOUN_BEFORE = word_set("the a an his her its their our my your this these those that of no any some every each")


@dataclass(frozen=True, slots=True)
class _Act:
    """Hold an act that did not come about.

    Attributes:
        verb: the stem of its verb.
        subject: stems of the words before it.
        objects: stems of the words behind the verb.
        is_open: whether a pronoun stands for its subject.
        place: place of its sentence.
        is_noun: whether the evidence has a noun instead of the verb; the other words are then among the objects.
    """

    verb: str
    subject: frozenset[str]
    objects: frozenset[str]
    is_open: bool
    place: int = 0
    is_noun: bool = False


@dataclass(frozen=True, slots=True)
class _Statement:
    """Hold a verb of a text.

    Attributes:
        subject: stems of the words before it.
        objects: stems of the words behind it.
        is_passive: whether it is in the passive voice.
        is_done: whether its form states the act; else it is an infinitive, a noun or what may be.
    """

    subject: frozenset[str]
    objects: frozenset[str]
    is_passive: bool
    is_done: bool


def is_act_done(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return false if a claim states an act that the evidence says did not come about, true if it denies that act.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence.

    Returns:
        ``None`` if the claim says something else, or the act came about after all.
    """
    acts = list(_acts(sentences))
    if not acts:
        return None
    claim, question = claim[:MAX_TEXT].rstrip(" .!?"), question[:MAX_TEXT].rstrip(" .!?")
    if len(claim.split()) <= MAX_ANSWER and (asked := _ASKS_FOR.match(question)) and not _has_verb(claim, acts):
        claim = f"{claim} {question[asked.end() :]}"
    denials = len(DENIED.findall(claim))
    if denials > 1 or (not denials and _OPEN.search(claim)):
        return None
    told = _stems(question)
    for act in acts:
        own = _statement(claim, act)
        if own is None or not (denials or own.is_done):
            continue
        if _is_of(own, act, told) and not _came_about(own, act, sentences):
            return bool(denials)
    return None


def _has_verb(text: str, acts: Sequence[_Act]) -> bool:
    return any(_statement(text, act) for act in acts)


def _acts(sentences: Sequence[str]) -> Iterator[_Act]:
    """Yield the acts that the sentences say did not come about."""
    for place, sentence in enumerate(sentences):
        if acts := _acts_of(sentence[:MAX_TEXT].rstrip(" .!")):
            yield from (replace(act, place=place) for act in acts)


@kept_for_sentences
def _acts_of(sentence: str) -> tuple[_Act, ...]:
    """Return the acts of a sentence, without its place."""
    return () if _LATER.search(sentence) else tuple(_read(sentence))


def _read(sentence: str) -> Iterator[_Act]:
    for pattern in _UNREALISED:
        for match in pattern.finditer(sentence):
            before, verb = sentence[: match.start()], _verb_of(match["act"])
            if verb and _is_unrealised(match[0], verb, before):
                near = _PIECE.split(before)[-1]
                near = near if _stems(near) or _PRONOUN.search(near) else before
                objects = _stems(match["act"]) - {verb_stem(verb)}
                yield _Act(verb_stem(verb), _stems(near), objects, bool(_PRONOUN.search(near)))
    thing = _THING.search(sentence)
    if thing and not _CONDITION.search(thing["thing"]):
        nouns = _stems(" ".join(word for word in _WORD.findall(thing["thing"]) if not is_past_form(key_of(word))))
        for noun in sorted(nouns):
            yield _Act(noun, frozenset(), _stems(sentence) - {noun}, is_open=False, is_noun=True)


def _verb_of(act: str) -> str:
    """Return the verb with which an act begins, in lower case."""
    words = [key_of(word) for word in _WORD.findall(act)]
    return next((word for word in words if word not in _BEFORE_VERB and not word.endswith("ly")), "")


def _is_unrealised(cue: str, verb: str, before: str) -> bool:
    if _CONDITION.search(before) or _DENIED_BEFORE.search(before) or verb in _NO_VERB:
        return False
    if not cue.lower().startswith(("almost", "nearly", "would", "could")):
        return True
    return (is_verb(verb) or is_past_form(verb)) and not _APPROXIMATE.fullmatch(verb)


def _statement(text: str, act: _Act) -> _Statement | None:
    """Return the verb of an act as a text has it; ``None`` if it lacks the verb."""
    words = [key_of(word) for word in _WORD.findall(_MONTH.sub(" ", text))]
    for place, word in enumerate(words):
        if verb_stem(word) != act.verb:
            continue
        before = [each for each in words[:place] if not each.endswith("ly")]
        near = before[-3:]
        is_passive = bool(_TO_BE & set(near)) and not word.endswith("ing")
        is_noun = bool(before) and before[-1] in _NOUN_BEFORE and not is_passive
        is_finite = is_past_form(word) or (not act.is_noun and word.endswith("s")) or is_passive or _DO & set(before)
        is_done = bool(is_finite or (word.endswith("ing") and _TO_BE & set(near))) and not _MODALS & set(near)
        return _Statement(
            _stems(" ".join(words[:place])), _stems(" ".join(words[place + 1 :])), is_passive, is_done and not is_noun
        )
    return None


def _is_of(own: _Statement, act: _Act, told: frozenset[str]) -> bool:
    """Return true if a statement has no words beside those of an act, and its subject or object."""
    if not own.subject | own.objects <= act.subject | act.objects | told:
        return False
    if act.is_noun or own.is_passive:
        return not own.subject or bool(own.subject & (act.objects | act.subject))
    is_subject = act.is_open or not own.subject or bool(own.subject & act.subject)
    return is_subject and (not act.objects or not own.objects or bool(own.objects & act.objects))


def _came_about(own: _Statement, act: _Act, sentences: Sequence[str]) -> bool:
    """Return true if a piece of the evidence may state an act as done, or a later sentence says that it came about."""
    after = sentences[act.place + 1 : act.place + 2]
    if any(_LATER.search(sentence) for sentence in after):
        return True
    for sentence in sentences:
        for piece in _PIECE.split(sentence[:MAX_TEXT]):
            other = None if DENIED.search(piece) or _OPEN.search(piece) else _statement(piece, act)
            if other is None or not other.is_done:
                continue
            is_same = not other.subject or bool(_PRONOUN.search(piece)) or bool(other.subject & own.subject)
            is_same = is_same or (
                other.is_passive != own.is_passive and bool(other.subject & own.objects or other.objects & own.subject)
            )
            is_other = own.objects and other.objects and not own.objects & other.objects
            if is_same and not is_other:
                return True
    return False


def _stems(text: str) -> frozenset[str]:
    """Return the stems of the content words without denials, the same for all forms of a verb."""
    words = (key_of(word) for word in _WORD.findall(text) if not DENIED.fullmatch(word))
    return frozenset(verb_stem(word) for word in words if word not in STOP_WORDS)
