"""Compare statements with evidence that leaves them open: "zinc shortens colds" over "no evidence that zinc shortens colds"."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.facts.verb_forms import verb_stem
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import STOP_WORDS, kept_for_sentences, key_of, word_set

MAX_TEXT = 300
"""Longest claim, question and sentence that are read, code points."""
SHARED = 0.5
"""Share of the words of an open statement that a claim or its question must have."""

_NO = r"(?:no|little|hardly any|scant|insufficient|(?:not|n['’]t)(?:\s(?:found|find|have|see|seen))?\s(?:any|enough|sufficient))"
_PROOF = r"(?:evidence|proof|signs?|indications?|hints?|confirmation|support|data|reason to (?:believe|think|assume))"
_SHOWN = r"(?:shown|proven|proved|established|confirmed|demonstrated|verified|determined|known|decided|settled|found)"
_UNSURE = rf"(?:unknown|unclear|uncertain|unproven|unconfirmed|undecided|open|doubtful|questionable|disputed|unlikely|not (?:yet )?(?:\w+ly )?(?:{_SHOWN}|clear|certain|sure))"
_UNTRUE = r"(?:a (?:common |widespread |popular )?(?:myth|misconception|rumou?r|fallacy)|false|untrue|incorrect|wrong|not (?:true|correct|the case))"
_IT = r"(?:it|this)\s(?:(?:is|was|remains?|remained)|has\s(?:not|never|n['’]t)\s(?:yet\s)?been)"
_THAT = r"\s(?:that|whether|if)\s"
_END = r"(?=[.;:()!?]|,?\s(?:but|and it|although|though|while|whereas|however|because|which)\b|\sand\s(?:\w{3,}ed|found|is|are|was|were|has|have)\b|,\s|$)"
_STATEMENT = rf"(?P<statement>[^.;:()]{{4,160}}?){_END}"
_OPEN: tuple[PrefilteredPattern, ...] = tuple(
    PrefilteredPattern(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_NO}\s(?:[\w-]+\s){{0,2}}?{_PROOF}(?P<case>\s(?:in|for|among|on|from)\s[^.;,]{{2,40}}?)?(?:\s(?:to\s)?(?:suggest|show|indicat|support|prov|confirm)(?:s|e|es|ing)?)?"
        rf"(?:\s(?:for\s)?the\s(?:claim|idea|view|theory|notion|assumption|allegation|belief))?{_THAT}{_STATEMENT}",
        rf"\b{_NO}\s(?:[\w-]+\s){{0,2}}?(?:evidence|proof|signs?|indications?|traces?)\sof\s{_STATEMENT}",
        rf"\b{_NO}\s(?:\w+\s)?evidence\ssupports\sthe\s\w+\sthat\s{_STATEMENT}",
        rf"\b{_IT}\s(?:{_UNSURE}|{_SHOWN}){_THAT}{_STATEMENT}",
        rf"\b{_IT}\s{_UNTRUE}\sthat\s{_STATEMENT}",
        rf"(?:^|[.;]\s)whether\s(?P<statement>[^.;:()]{{4,160}}?)\s(?:(?:is|was|remains?)\s{_UNSURE}|(?:has|had|have)\s(?:not|n['’]t)\s(?:yet\s)?been\s{_SHOWN})\b",
        rf"\b(?:doubt(?:s|ed)?|question(?:s|ed)?|dispute[sd]?|den(?:y|ies|ied)|reject(?:s|ed)?\sthe\s\w+){_THAT}{_STATEMENT}",
        rf"\bden(?:y|ies|ied)\s(?P<statement>\w{{2,}}ing\b[^.;:()]{{2,120}}?){_END}",
        rf"\b(?:do|does|did)(?:\snot|n['’]t)\sknow\s(?:whether|if)\s{_STATEMENT}",
        rf"\bno\s(?:[\w-]+\s)?(?:study|trial|test|research|review|experiment|survey|investigation|scientist|researcher|one)\s(?:has\s|have\s)?(?:ever\s|yet\s|so far\s)?(?:shown|showed|proved|proven|found|demonstrated|confirmed)\sthat\s{_STATEMENT}",
        rf"(?:\bnot|n['’]t|\bnever|\bcannot|\bunable to|\bfailed to)\s(?:yet\s|been able to\s|able to\s)?(?:show|shown|prove|proven|proved|confirm|confirmed|demonstrate|demonstrated|establish|established|find|found|determine|determined|verify|verified|decide|decided|agreed)\s(?:that|whether)\s{_STATEMENT}",
    )
)  # fmt: skip
"""Patterns of what leaves open the statement in the group ``statement``."""
_CLAIM_OPEN = re.compile(
    r"\b(?:whether|if|may|might|could|would|should|perhaps|possibly|probably|likely|claim\w*|believ\w*|alleg\w*|accus\w*|suspect\w*|report\w*|sa(?:y|ys|id)"
    r"|according|evidence|proof|prove[nd]?|signs?|indication\w*|doubt\w*|unclear|unknown|uncertain|unproven|myth|false|question\w*|studied|tested|investigat\w*|den(?:y|ies|ied))\b",
    re.IGNORECASE,
)
"""Words of a claim that does not state a thing as a fact."""
_NOT_SO = re.compile(
    r"(?:\bno|\bnot|n['’]t|\bnever|\bnobody|\bnone|\bwithout|\bhardly)\s(?:\w+\s){0,2}$|\b(?:if|unless|when|whenever|in case)\b[^,]*$",
    re.IGNORECASE,
)
"""Words before a doubt that is denied or on a condition."""
_CASE = re.compile(r"^\W*(?:in|for|among|with|without|at|on)\s(?P<case>.+?)\W*(?:\bthere\b.*)?$", re.IGNORECASE)
_PIECE = re.compile(r"[.;:,]\s|\s(?:but|while|whereas|although|though|so|because|however|which|who)\s", re.IGNORECASE)
_PRONOUN = re.compile(r"\b(?:it|they|he|she|this|these)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")
_SMALL = word_set("never ever yet still really actually indeed yes exist exists existed there")


@dataclass(frozen=True, slots=True)
class _Open:
    """Hold an open statement by its stems.

    Attributes:
        words: those of the statement.
        case: those of the case to which it is limited.
        beside: those before it, one of which a pronoun or a form with "-ing" leaves as its subject.
    """

    words: frozenset[str]
    case: frozenset[str]
    beside: frozenset[str]


def is_statement_proven(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return false if a claim states as a fact what the evidence leaves open, doubts or calls untrue.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence.

    Returns:
        ``None`` if the claim states no such thing, or another sentence states it.
    """
    claim = claim[:MAX_TEXT]
    if DENIED.search(claim) or _CLAIM_OPEN.search(claim):
        return None
    read = [_read(sentence[:MAX_TEXT]) for sentence in sentences]
    statements = [statement for found, _ in read for statement in found]
    if not statements:
        return None
    own, asked = _stems(claim), _stems(question[:MAX_TEXT])
    for statement in statements:
        told = own | asked
        if (
            own
            and own <= statement.words | statement.case | statement.beside | asked
            and own & statement.words
            and len(told & statement.words) >= SHARED * len(statement.words)
            and statement.case <= told
            and not any(_states(own, rest) for _, rest in read)
        ):
            return False
    return None


@kept_for_sentences
def _read(sentence: str) -> tuple[tuple[_Open, ...], str]:
    """Return the open statements of a sentence, and the rest of it."""
    found, rest = list[_Open](), sentence
    for pattern in _OPEN:
        for match in pattern.finditer(sentence):
            before = _PIECE.split(sentence[: match.start()])[-1]
            if _NOT_SO.search(sentence[: match.start()]) or DENIED.search(match["statement"]):
                continue
            limited = _CASE.match(before)
            case = _stems(f"{limited['case'] if limited else ''} {match.groupdict().get('case') or ''}")
            if words := _stems(match["statement"]):
                is_of_before = _PRONOUN.match(match["statement"]) or match["statement"].split()[0].endswith("ing")
                found.append(_Open(words, case, _stems(before) if is_of_before else frozenset()))
                rest = rest.replace(match[0], ". ")
    return tuple(found), rest


def _states(own: frozenset[str], text: str) -> bool:
    """Return true if a piece of a text has all words of a claim; a pronoun may stand for one."""
    for piece in _pieces(text):
        missing = own - _stems(piece)
        if not missing or (len(missing) == 1 < len(own) and _PRONOUN.search(piece)):
            return True
    return False


def _pieces(text: str) -> Iterator[str]:
    return (piece for piece in _PIECE.split(text) if not DENIED.search(piece))


def _stems(text: str) -> frozenset[str]:
    """Return the stems of the content words, the same for all forms of a verb."""
    words = map(key_of, _WORD.findall(text))
    return frozenset(verb_stem(word) for word in words if word not in STOP_WORDS and word not in _SMALL)
