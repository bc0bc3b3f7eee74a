"""Compare denials that an exception, a condition or a contrast makes.

"Not unless invited" is "only if invited", and neither is "even without an invitation"; "in adults but not in infants" is
not "in infants but not in adults".
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workers.evaluation.contradictions.antonyms import without_privative
from workers.evaluation.contradictions.values.rankings import denies_order
from workers.evaluation.facts.units import NUMBER_WORDS
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import content_words, kept_for_sentences, stem

MIN_SHARED = 2
"""Least number of words that a question shares with a contrast that answers it."""

_WORD = re.compile(r"[^\W_]+")
_NOT = r"\b(?:not|no|never|nobody|none|nothing|cannot|neither|nor|without|\w+n['’]t)\b"
_EXCEPTED = re.compile(
    rf"{_NOT}[^.;]{{0,150}}?\b(?:unless|except|until|without|before|other than|if not)\b"
    r"|\b(?:nobody|no one|none|nothing) but\b",
    re.IGNORECASE,
)
_WITHOUT = re.compile(r"(?<!\beven )\bwithout\b", re.IGNORECASE)
_REFUSED = re.compile(
    rf"{_NOT}|\b(?:refus(?:es?|ed)|reject(?:s|ed)?|den(?:y|ies|ied)|declin(?:es?|ed)|forbidden|prohibited|banned|impossible|invalid|void"
    r"|excluded|unavailable|turned away|sent back|returned to sender)\b",
    re.IGNORECASE,
)
_REFUSED_UNLESS = PrefilteredPattern(
    r"\b(?:refused|rejected|denied|forbidden|prohibited|banned|impossible|invalid|void|excluded|unavailable)\b[^.;]{0,150}?\b(?:unless|except|until|without|before|if not)\b",
    re.IGNORECASE,
)
_ONLY_WHERE = re.compile(r"\bonly\b[^.;]{0,60}?\b(?:if|when|with|once|after|where|by|for)\b", re.IGNORECASE)
_RESTRICTED = re.compile(
    r"\b(?:only|solely|exclusively|unless|except|provided|as long as|must|needs?|requires?|required|once|after|on condition)\b",
    re.IGNORECASE,
)
DENIED = re.compile(_NOT, re.IGNORECASE)
"""Words that deny."""
_CONTRAST = re.compile(r"[,;]?\s(?:but|while|whereas|though|although|yet)\s|;\s|,\s(?=not\s)", re.IGNORECASE)
_CONDITION = PrefilteredPattern(
    r"\b(?:only\s+(?:if|when|with|after|once|by|on|where)|unless|once|provided|as long as|so long as|until|on condition|must|requires?)\b",
    re.IGNORECASE,
)
_REGARDLESS = re.compile(
    r"\b(?:regardless of|irrespective of|no matter|whatever|whichever|whether or not|without|even (?:if|without|before|when|after|though))\b",
    re.IGNORECASE,
)
_EXCEPT_IF = re.compile(r"\b(?:unless|except (?:if|when))\b", re.IGNORECASE)
_ONLY_IF = re.compile(
    r"\b(?:only (?:if|when|after|with)|provided(?: that)?|as long as|so long as|on condition that)\b", re.IGNORECASE
)
_IN_ANY_CASE = re.compile(
    r"\b(?:regardless of|irrespective of|no matter|whether or not|even (?:if|when|after|though)(?![^.;,]{0,80}?(?:\bnot\b|n['’]t\b)))",
    re.IGNORECASE,
)
_ALSO_WITHOUT = re.compile(
    r"\b(?:regardless of|irrespective of|no matter|whether or not|even (?:without|before)"
    r"|even (?:if|when|though)\b(?=[^.;,]{0,80}?(?:\bnot\b|n['’]t\b)))",
    re.IGNORECASE,
)
_IF_NOT = re.compile(r"\b(?:if|when)\b[^,.;]{0,60}?(?:\bnot\b|n['’]t\b|\bnever\b)", re.IGNORECASE)
_EITHER_WAY = re.compile(r"\b(?:with (?:and|or) without|without (?:and|or) with|(?:even|also) with)\b", re.IGNORECASE)
_NON = re.compile(r"\bnon[-\s]?(?P<root>[a-z]{3,}?(?:iv|abl|ibl))[a-z]*", re.IGNORECASE)
_OUTSIDERS = re.compile(r"\bnon-(?P<who>[a-z]{2,})", re.IGNORECASE)
_FOR_MEMBERS = r"\b(?:only|(?:reserved|open) (?:only )?(?:for|to)|(?:restricted|limited) to)\b[^.;]{{0,20}}?\b{who}"
_EXCLUSION = PrefilteredPattern(
    r",?\s(?:except(?: for)?|excluding|apart from|with the exception of)\s(?!when|if|where|that|on|in)", re.IGNORECASE
)
_ALL_BUT = re.compile(
    r"\b(?:all|every|everyone|everybody|any|no|none|nobody)\b[^.;]{0,60}?\b(?:but|except|excluding|save|other than|apart from)\b",
    re.IGNORECASE,
)
_NOT_GONE = re.compile(
    r"(?:\b(?:the|his|her|its|their|my|your|our|an?|on|far|upper|lower|top|bottom|front|rear|turn\w*|is|are|was|were|be|been|remains?)"
    r"|\b(?:has|have|had|there (?:is|are|was|were))\s(?:(?:only|just|still|about)\s)?"
    rf"(?:\d|(?:{'|'.join(NUMBER_WORDS)}|no|some|few|a|several|little|any|much|many|plenty|enough|more)\b)[^,;.]{{0,40}})\s*$",
    re.IGNORECASE,
)
"""Words before "left" where it means a side, or what remains."""
_COMPARES = re.compile(r"\b(?:than|unlike|compared (?:to|with))\b", re.IGNORECASE)
_NONE = re.compile(r"\b(?:no|none)\b[^,;.]*$", re.IGNORECASE)
_STILL = re.compile(r"\b(?:still|currently|remains?|continues? to)\b", re.IGNORECASE)
_ENDED = re.compile(
    r"\b(?:left|quit|resigned|retired|stepped down|moved away|moved out|no longer|ceased|ended|expired|lapsed|dissolved"
    r"|discontinued|abolished|demolished|shut down|closed (?:down|permanently|for good)|(?:was|were) (?:sold|replaced|scrapped|withdrawn))\b",
    re.IGNORECASE,
)
_PREMISE = re.compile(
    r"\b(?:only(?: if| when)?|provided(?: that)?|as long as|on condition that|must|if)\b", re.IGNORECASE
)
_MODAL = re.compile(
    r"\W*(?:may|can|could|is it (?:possible|allowed)|(?:is|are) (?:\w+ ){1,4}(?:allowed|permitted|accepted))\b",
    re.IGNORECASE,
)
_MEMBER = re.compile(r",\s(?:and\s|or\s)?|\s(?:and|or)\s", re.IGNORECASE)
TO_BE_DONE = re.compile(
    r"\b(?:ha(?:s|ve|d) (?:still )?to|needs? to|must|should|ought to|(?:is|are|was|were) (?:still |yet )?to)\s(?:still\s)?(?:be\s)?(?P<verb>[^\W\d_]{3,})",
    re.IGNORECASE,
)
"""Words for something that is still to be done; the group ``verb`` holds its verb."""
_NOT_DONE = re.compile(
    r"\b(?:not|never|\w+n['’]t)\s(?:yet\s)?(?:been\s|to have been\s)?(?P<verb>[^\W\d_]{3,})", re.IGNORECASE
)
_LATER = re.compile(r"\s(?:and|but) (?:now|then|since)\b|;\s|(?<=\w{4})\.\s", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[,;.]\s|[.;]$")


def is_exception_of(claim: str, evidence: str) -> bool:
    """Return true if one text denies with an exception what the other allows with a restriction.

    Such a pair is no contradiction by its negation: "may not enter unless invited" and "may enter only if invited". The
    same holds for an exclusion ("everyone except visitors" and "visitors may not") and a denied order ("does not cost
    more than plan B" and a price). "Unless it is" is "if it is not", and "with and without" holds in both cases.
    """
    if denies_order(claim, evidence) or _holds_either_way(claim, evidence):
        return True
    return is_refused_unless(claim, evidence) or any(
        (_EXCEPTED.search(one) and _RESTRICTED.search(two) and not _EXCEPTED.search(two))
        or (refuses_without(one) and _RESTRICTED.search(two) and not DENIED.search(two))
        or _excludes_denied(one, two)
        or _is_unless_written_out(one, two)
        for one, two in ((claim, evidence), (evidence, claim))
    )


def is_refused_unless(claim: str, evidence: str) -> bool:
    """Return true for "is covered only with the module" and "is excluded unless the module has been bought"."""
    return any(
        _REFUSED_UNLESS.search(one) and _ONLY_WHERE.search(two) and not DENIED.search(two)
        for one, two in ((claim, evidence), (evidence, claim))
    )


def _excludes_denied(excluding: str, denying: str) -> bool:
    """Return true if one text excludes from all the very thing that the other denies."""
    match = _ALL_BUT.search(excluding)
    if not match or DENIED.match(match[0]) or len(DENIED.findall(denying)) != 1:
        return False
    # "Everyone except visitors may enter": what is excluded stands before the verb of the others.
    excluded = next(filter(None, map(content_words, _WORD.findall(excluding[match.end() :]))), frozenset[str]())
    return bool(excluded) and excluded <= content_words(DENIED.split(denying)[0])


def _is_unless_written_out(excepting: str, denying: str) -> bool:
    """Return true for "spoils unless it is cooled" and "spoils if it is not cooled"."""
    return (
        bool(_EXCEPT_IF.search(excepting) and _IF_NOT.search(denying))
        and len(DENIED.findall(excepting)) + 1 == len(DENIED.findall(denying))
    )  # fmt: skip


def _holds_either_way(claim: str, evidence: str) -> bool:
    """Return true if one text says that something holds with a thing, and the other with or without it."""
    if any(match[0].lower() != "without" for text in (claim, evidence) for match in DENIED.finditer(text)):
        return False
    return any(
        _EITHER_WAY.search(one) and not _RESTRICTED.search(two) for one, two in ((claim, evidence), (evidence, claim))
    )


def refuses_without(text: str) -> bool:
    """Return true if a text denies something without a condition: "entry without a ticket is not possible"."""
    return bool(_WITHOUT.search(text)) and len(_REFUSED.findall(_WITHOUT.sub(" ", text))) % 2 == 1


def drops_condition(claim: str, evidence: str) -> bool:
    """Return true if a claim holds without a condition of the evidence: "even before the fee is paid" for "once it is paid"."""
    stated = _CONDITION.search(evidence)
    waived = _REGARDLESS.search(claim)
    if not stated or not waived or _REGARDLESS.search(evidence) or refuses_without(claim):
        return False
    if _is_of_other_side(content_words(claim[: waived.start()]), evidence, stated.start()):
        return False
    condition = content_words(_CLAUSE_END.split(evidence[stated.end() :])[0])
    told = content_words(_CLAUSE_END.split(claim[waived.end() :])[0])
    return bool(condition & told) and len(condition & told) * 2 >= len(told)


def _is_of_other_side(told: frozenset[str], evidence: str, place: int) -> bool:
    """Return true if a claim's words are those of another side of a contrast than the one at a place."""
    sides, start = dict[bool, int](), 0
    for side in _CONTRAST.split(evidence):
        end = evidence.find(side, start) + len(side)
        is_own = start <= place < end
        sides[is_own] = max(sides.get(is_own, 0), len(told & content_words(side)))
        start = end
    return sides.get(False, 0) > sides.get(True, 0)


def adds_condition(claim: str, evidence: str) -> bool:
    """Return true if a claim has a condition that the evidence waives: "unless it is cooled" for "even if it is cooled"."""
    for conditional, waiving in ((_EXCEPT_IF, _IN_ANY_CASE), (_ONLY_IF, _ALSO_WITHOUT)):
        stated, waived = conditional.search(claim), waiving.search(evidence)
        if not stated or not waived or conditional.search(evidence):
            continue
        condition = content_words(_CLAUSE_END.split(claim[stated.end() :])[0])
        told = content_words(_CLAUSE_END.split(evidence[waived.end() :])[0])
        main, other = claim[: stated.start()], evidence[: waived.start()]
        if (
            2 * len(condition & told) >= max(1, len(condition))
            and content_words(main) & content_words(other)
            and len(DENIED.findall(main)) == len(DENIED.findall(other))
        ):
            return True
    return False


def crosses_non(claim: str, evidence: str, others: Sequence[str] = ()) -> bool:
    """Return true for "exclusively" over "on a non-exclusive basis", and the reverse.

    Args:
        claim: plain text of the claim.
        evidence: plain text of the best evidence.
        others: further evidence; a word that stands there as in the claim is none of another form.
    """
    if DENIED.search(claim) or DENIED.search(evidence):
        return False
    for root in {match["root"].lower() for text in (claim, evidence) for match in _NON.finditer(text)}:
        own, theirs, further = (_forms(root, text) for text in (claim, evidence, " ".join(others)))
        rest = frozenset(word for word in content_words(claim) if root not in word)
        if (
            len(own) == len(theirs) == 1
            and own != theirs
            and not own & further
            and (common := rest & content_words(evidence))
            and 2 * len(common) >= len(rest)
        ):
            return True
    return False


def denies_outsiders(claim: str, evidence: str) -> bool:
    """Return true for "non-members may not borrow tools" over "only members may borrow tools"."""
    return bool(DENIED.search(claim)) and _outsiders_shut_out(claim, evidence)


def admits_outsiders(claim: str, evidence: str) -> bool:
    """Return true for "non-members may borrow tools" over "only members may borrow tools"."""
    return not DENIED.search(claim) and _outsiders_shut_out(claim, evidence)


def _outsiders_shut_out(claim: str, evidence: str) -> bool:
    return any(
        re.search(_FOR_MEMBERS.format(who=re.escape(match["who"])), evidence, re.IGNORECASE)
        for match in _OUTSIDERS.finditer(claim)
    ) and not DENIED.search(evidence)


def _forms(root: str, text: str) -> frozenset[bool]:
    """Return whether a text has a word with "non", without it, or both."""
    return frozenset(bool(match[1]) for match in re.finditer(rf"\b(non[-\s]?)?{root}", text, re.IGNORECASE))


def crosses_contrast(claim: str, evidence: str) -> bool:
    """Return true if a claim denies the affirmed side of a contrast of the evidence, and affirms the denied one."""
    own, theirs = _read_contrast(claim), _read_contrast(evidence)
    if own is None or theirs is None:
        return False
    crossed = own.affirmed & theirs.denied and own.denied & theirs.affirmed
    return bool(crossed) and not (own.affirmed & theirs.affirmed or own.denied & theirs.denied)


def answer_by_denial(question: str, sentences: Sequence[str]) -> bool | None:
    """Return the answer that a contrast, a condition or an end gives to a question for yes or no; ``None`` without one."""
    for answer in (answer_by_contrast, answer_by_condition, answer_by_ending):
        if (found := answer(question, sentences)) is not None:
            return found
    return None


def answer_by_contrast(question: str, sentences: Iterable[str]) -> bool | None:
    """Return the answer to a question for yes or no about one side of a contrast; ``None`` if it is about neither.

    "Dogs are welcome in the garden but not in the dining room" answers no to "Are dogs allowed in the dining room?".
    """
    if DENIED.search(question):
        return None
    asked = content_words(question)
    found = set()
    for contrast in filter(None, map(_read_contrast, sentences)):
        if len(asked & (contrast.affirmed | contrast.denied)) < MIN_SHARED:
            continue
        if any(member <= asked for member in contrast.members if member):
            found.add(False)
        elif contrast.affirmed_last in asked and not contrast.denied & asked:
            found.add(True)
    return found.pop() if len(found) == 1 else None


def answer_by_ending(question: str, sentences: Iterable[str]) -> bool | None:
    """Return false if the evidence says that what a question asks with "still" has ended: "left the clinic in March"."""
    if not _STILL.search(question) or DENIED.search(question):
        return None
    return False if any(has_ended(question, sentence) for sentence in sentences) else None


def has_ended(claim: str, evidence: str) -> bool:
    """Return true if a claim says that something still is so, and the evidence that it has ended."""
    if not _STILL.search(claim) or DENIED.search(claim) or _STILL.search(evidence):
        return False
    # A later clause may say what came after: "left the clinic and now practises in Leeds".
    told = next((part for part in _LATER.split(evidence) if _says_end(part)), "")
    return len(content_words(_ENDED.sub(" ", told)) & content_words(claim)) >= 1 and not (
        content_words(claim) & content_words(evidence) - content_words(told)
    )


def _says_end(text: str) -> bool:
    return any(
        match[0].lower() != "left" or _NONE.search(text[: match.start()]) or not _NOT_GONE.search(text[: match.start()])
        for match in _ENDED.finditer(text)
    )


def answer_by_condition(question: str, sentences: Iterable[str]) -> bool | None:
    """Return the answer to whether something is permitted, if the evidence demands one of two opposite properties.

    "Items can be returned provided they are unused" answers no to "Can I return a used item?".
    """
    if not _MODAL.match(question) or DENIED.search(question):
        return None
    asked = _words(question)
    found = set()
    for sentence in sentences:
        stated = _PREMISE.search(sentence)
        if not stated or _EXCEPTED.search(sentence) or not content_words(question) & content_words(sentence):
            continue
        demanded = _words(_CLAUSE_END.split(sentence[stated.end() :])[0])
        if any(_bare(one) & two for one, two in ((demanded - asked, asked), (asked - demanded, demanded))):
            found.add(False)
        elif _bare(demanded & asked) and not _bare(demanded & asked) & asked:
            found.add(True)
    return found.pop() if len(found) == 1 else None


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text))


def _bare(words: frozenset[str]) -> frozenset[str]:
    """Return what the words deny by a prefix: "used" for "unused"."""
    return frozenset(filter(None, map(without_privative, words)))


def affirms_denied(claim: str, evidence: str) -> bool:
    """Return true if a claim affirms the denied side of a contrast: "dogs may come inside" for "welcome, but not inside"."""
    contrast = _read_contrast(evidence)
    if contrast is None or not contrast.denied or DENIED.search(claim) or _read_contrast(claim) is not None:
        return False
    if _ALL_BUT.search(claim) or _COMPARES.search(claim):
        return False
    own = content_words(claim)
    return any(member <= own for member in contrast.members) and bool(own & contrast.affirmed)


@dataclass(frozen=True, slots=True)
class _Contrast:
    """Hold the two sides of a contrast.

    Attributes:
        affirmed: stems of the affirmed side only.
        denied: those of the denied side only.
        affirmed_last: the last of the affirmed side.
        members: what the denied side names, each by its stems.
    """

    affirmed: frozenset[str]
    denied: frozenset[str]
    affirmed_last: str
    members: tuple[frozenset[str], ...]


@kept_for_sentences
def _read_contrast(text: str) -> _Contrast | None:
    excluding = _EXCLUSION.split(text)
    if len(excluding) == 2:
        return _read_exclusion(excluding[0], _CLAUSE_END.split(excluding[1])[0])
    sides = [side for side in _CONTRAST.split(text) if content_words(side)]
    if len(sides) != 2:
        return None
    one, two = map(content_words, sides)
    denied = [
        bool(DENIED.search(side)) or any(without_privative(word) in other for word in words)
        for side, words, other in zip(sides, (one, two), (two, one), strict=True)
    ]
    if denied[0] == denied[1]:
        return None
    affirmed, other, text = (one, two, sides[0]) if denied[1] else (two, one, sides[1])
    other = frozenset(word for word in other if without_privative(word) not in affirmed)
    told = [stem(word.lower()) for word in _WORD.findall(text)]
    last = next((word for word in reversed(told) if word in affirmed - other), "")
    return _Contrast(affirmed - other, other - affirmed, last, (other - affirmed,))


def _read_exclusion(told: str, excluded: str) -> _Contrast | None:
    """Return the two sides of "vouchers are valid for the whole range except sale items"."""
    one, two = content_words(told), content_words(excluded)
    if not one or not two:
        return None
    members = (content_words(part) - one for part in _MEMBER.split(excluded))
    return None if DENIED.search(told) else _Contrast(one - two, two - one, "", tuple(filter(None, members)))


def is_due(claim: str, evidence: str) -> bool:
    """Return true if a claim says that something is still to be done, and the evidence that it has not been done."""
    due = {stem(match["verb"].lower()) for match in TO_BE_DONE.finditer(claim)}
    return bool(due & {stem(match["verb"].lower()) for match in _NOT_DONE.finditer(evidence)})
