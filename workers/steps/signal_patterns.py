"""The patterns of the failure signals (seed 003), as data: this file grows, the rules do not.

All patterns run on lines whose code and quotations are blanked and whose apostrophes are
straight. Gaps between words are bounded, so that time stays linear in the answer.
"""

import re

from schemas.quality import SignalType

WEIGHTS: dict[SignalType, float] = {
    "confusion": 0.6,
    "refusal": 0.75,
    "low_confidence": 0.4,
    "empty_response": 0.8,
    "tool_failure": 0.9,
    "incomplete_reasoning": 0.5,
    "hallucination_risk": 0.85,
}
"""Default weights of seed 003."""


def _any_of(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), re.IGNORECASE)


ANYWHERE: dict[SignalType, re.Pattern[str]] = {
    # The request or the speaker must be what is unclear: an ambiguous contract is a finding.
    "confusion": _any_of(
        r"\bI(?:'m| am) (?:\w+ )?(?:not (?:\w+ )?(?:sure|certain|clear)|unsure|unclear|uncertain|confused)\b",
        r"\b(?:could|can|would|please) (?:you )?(?:please )?clarify\b",
        r"\b(?:your|the|this) (?:question|request|query|prompt|wording|instructions?)\b[^.!?]{0,20}"
        r"\b(?:is|are|seems?|remains?|sounds?) (?:\w+ )?(?:unclear|ambiguous|confusing|vague)\b",
        r"\b(?:unclear|not clear|confusing|ambiguous) (?:\w+ ){0,2}(?:what|which|whether|how) (?:exactly )?you\b",
        r"\bI (?:do not|don't) (?:quite |really |fully )?understand\b",
        r"\bIch bin (?:mir )?(?:nicht|un)\s?sicher\b",
        r"\bJe ne suis pas (?:tout à fait |vraiment )?s[ûu]re?\b",
        r"\bNo estoy (?:del todo |completamente )?segur[oa]\b",
    ),
    "low_confidence": _any_of(
        r"\b(?:might|may|could) (?:well )?be wrong\b",
        r"\bbest guess\b",
        r"\bprobably\b",
        r"\bpossibly\b",
        r"\bseems like\b",
        r"\bnot (?:entirely|completely|totally|fully) (?:sure|certain)\b",
        r"\b(?:wahrscheinlich|vermutlich)\b",
        r"\bprobablement\b",
        r"\bprobablemente\b",
    ),
    # A path (/etc, .etc) is no abbreviation; "and so on Monday we" no ellipsis.
    "incomplete_reasoning": _any_of(
        r"\band so on\b(?!\s+(?:the|a|an|this|that|these|those|my|our|your|(?-i:[A-Z])))",
        r"(?<![\w/\\.~$-])etc\b(?![\w/\\:-])(?!\.\w)",
        r"\bto be continued\b",
        r"\bI(?:'ll| will) (?:skip|omit|leave out) the (?:\w+ )?(?:details|rest|steps)\b",
        r"\bund so weiter\b|\busw\.",
        r"\bet ainsi de suite\b",
        r"\by así sucesivamente\b",
    ),
    "hallucination_risk": _any_of(r"\bI(?:'ll| will) (?:just )?assume\b", r"\bhypothetically\b"),
}
"""Signals that may stand in any sentence that the answer speaks itself."""

_UNABLE = r"(?:cannot|can not|can't|won't|will not|am unable to|'m unable to|am not able to|'m not able to)"
_DECLINED = (
    r"(?:help|assist|answer|provide|process|comply|fulfil+|complete|respond|share|discuss|generate|create|write"
    r"|produce|perform|execute|engage|participate|continue|support|do (?:that|this|so))"
)
_REQUEST = r"(?:your|this|that|the|such an?) (?:\w+ )?(?:request|question|query)"

OPENING_REFUSAL = _any_of(
    rf"\bI ?{_UNABLE} (?:\w+ ){{0,2}}{_DECLINED}\b(?! (?:an? |the |any )?(?:exact|precise|definit))",
    rf"\bwe (?:cannot|can't|are unable to|are not able to) (?:\w+ )?(?:help|assist|answer|process|fulfil+|complete) "
    rf"{_REQUEST}",
    rf"^\W*(?:(?:I'm )?sorry\W+(?:but )?|unfortunately\W+)?unable to (?:help\b|assist\b|comply\b|answer\b|(?:process"
    rf"|fulfil+|complete) {_REQUEST})",
    r"\bI (?:refuse|decline)\b|\bI (?:must|have to|need to) (?:\w+ )?decline\b",
    r"\b(?:outside|beyond)(?: of)? (?:my|the scope of my) (?:\w+ )?(?:capabilit\w+|abilit\w+|scope|expertise|remit)\b",
    r"\bagainst my (?:\w+ )?(?:polic\w+|guidelines|programming|principles)\b",
    r"\bI (?:do not|don't) have (?:enough|sufficient|the necessary|any) (?:information|context|data|details)\b",
    r"\bI (?:do not|don't) have (?:the )?(?:ability|capability|permission) to\b",
    # German, French, Spanish.
    r"\b(?:kann ich|ich kann)\b[^.!?]{0,60}\bnicht (?:\w+ ){0,2}(?:helfen|weiterhelfen|beantworten|bearbeiten"
    r"|erfüllen|unterstützen|bereitstellen)\b",
    r"\bich bin nicht in der Lage\b",
    r"\bje ne (?:peux|puis) pas (?:\w+ )?(?:aider|répondre|fournir|traiter|effectuer|faire cela|satisfaire)\b",
    r"\bje ne peux pas (?:vous|t)\W?\w* ?(?:aider|répondre|fournir)\b",
    r"\bje ne suis pas en mesure d",
    r"\bno (?:puedo|me es posible) (?:\w+ )?(?:ayudar\w*|responder\w*|proporcionar\w*|procesar|realizar|cumplir)\b",
)
"""Refusals in the first sentences: the speaker declines what was asked."""

PLAIN_REFUSAL = _any_of(
    r"\bI (?:cannot|can not|can't|am unable to|am not able to)\b(?! (?:\w+ )?(?:stress|emphasi[sz]e|overstate"
    r"|recommend|wait|believe|help but|say for))(?! [^.!?]{0,30}\b(?:exact|precise|definit))",
    r"\bI'm (?:unable|not able) to\b",
)
"""Inability of any kind: a refusal only as the very first thing said and with no remedy."""

REMEDY = _any_of(
    r"\b(?:but|however|though|instead)\b\W+(?:\w+\W+){0,2}?(?:you|I|we|here|here's|let|this|if|try|run|check|these)\b"
)
"""After an inability: the answer goes on to help all the same."""

CONDITION = _any_of(r"\b(?:if|when|whenever|unless|in case|suppose|wenn|falls|si|cuando)\b")
"""Before a match: it speaks of a case, not of itself."""

FAILURE_LABEL = re.compile(
    r"^[\s*_]*+(?:(?:tool|api|network|http|server|system|internal|execution|runtime|database|connection|request"
    r"|timeout|fatal|call)\s+)*(?:error|exception|failure|fehler|erreur)\b[\s*_]*+(?:\(?\d{3}\)?)?\s*+[:：]"
    r"|^[\s*_]*+(?-i:[\w.]{0,80}(?:Error|Exception|Timeout)):\s"
    r"|^\s*Traceback \(most recent call last\)",
    re.IGNORECASE,
)
"""The answer opens as an error message."""

FAILURE_OBJECT = re.compile(r'\s*\{\s*"(?:error|exception)"\s*:')
"""The answer is an error object of an API."""

EXPLAINED = _any_of(
    r"\b(?:means?|indicates?|occurs?|happens?|usually|typically|often|because|caused|appears?|refers?|bedeutet)\b"
)
"""The sentence explains an error, so that it is the subject and not the speaker's state."""

OWN_FAILURE = _any_of(
    r"\bI (?:\w+ ){0,3}?(?:encountered|ran into|hit|got|received|experienced|am (?:getting|having|experiencing)) "
    r"(?:an? |some |several )?(?:\w+ ){0,3}?(?:error|exception|timeout|failure|technical "
    r"(?:issue|problem|difficult\w+))s?\b(?! (?:rate|budget|margin))",
    r"\bmy (?:\w+ ){0,2}?(?:calls?|search|query|request|lookup|tools?|attempts?|connection)\b[^.!?]{0,60}?"
    r"\b(?:failed|timed out|errored|returned an? (?:\w+ )?(?:error|timeout))\b",
    r"\bI (?:tried|attempted)\b[^.!?]{0,120}?\b(?:but|however)\b[^.!?]{0,60}?"
    r"\b(?:failed|timed out|errored|an error|did not respond|unavailable)\b",
    r"\bI (?:could not|couldn't|cannot|can't|was unable to|was not able to|wasn't able to) (?:reach|connect|contact"
    r"|access|retrieve|fetch|query|load|call|complete|execute|run)\b[^.!?]{0,80}?"
    r"\b(?:error|timeout|timed out|failed|unavailable|unreachable)\b",
    r"\berror (?:has )?occurred (?:while|when|during) (?:I |we )?(?:was |were )?(?:processing|generating|handling"
    r"|fulfil+ing|answering) (?:your|this|the) (?:request|question|query|response|answer)\b",
)
"""The speaker says that its own call failed."""

BRIEF_FAILURE = re.compile(
    r"^[\s*_]*(?:(?:I'm )?sorry\W+(?:but )?|unfortunately\W+|oops\W+|apologies\W+)?(?:(?:the|an?|your) )?(?:"
    r"(?:\w+ )?(?:tool|function|plugin|api|network|http|search|database|server|upstream|backend|gateway|retrieval)"
    r" (?:(?:call|request|query|lookup|connection|execution|response) )?(?:has )?"
    r"(?:failed|timed out|errored|timeout|error|returned an? (?:\w+ ){0,2}?(?:error|timeout))\b"
    r"(?! (?:rate|message|code|log|budget|handling))"
    r"|(?:\w+ )?(?:error|exception|timeout) (?:has )?occurred\b|something went wrong\b"
    r"|request (?:has )?(?:timed out|failed)\b|connection (?:has )?(?:refused|timed out|failed|reset)\b"
    r"|(?:status|http)?\W{0,2}(?:5\d\d|429)\b[^.!?]{0,40})",
    re.IGNORECASE,
)
"""A sentence that states a failed call; it counts only where the answer says hardly more."""

CITED = re.compile(r"\[(?:\d|source|evidence|memory)", re.IGNORECASE)
"""A citation: what is cited is found out, not suffered."""

NO_ACCESS = _any_of(
    r"\bI (?:do not|don't) have (?:\w+ )?(?:access|real-?time|live|current|up-to-date|recent)\b",
    r"\bnot in my knowledge\b",
    r"\bmy (?:knowledge|training)(?: data)? (?:cutoff|ends|only goes|does not (?:include|cover))\b",
)
"""The speaker lacks the source ..."""

NEVERTHELESS = _any_of(r"\b(?:but|however|nevertheless|still)\b")
"""... and goes on to claim all the same."""
