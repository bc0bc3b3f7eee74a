"""Restore what a later clause leaves out behind its auxiliary: "School groups need a reservation; individual visitors do not".

Verb-phrase ellipsis (Quirk et al., A Comprehensive Grammar of the English Language, 12.60). The verb and its object stand
in the clause before. The text is compared and never shown.
"""

import re

from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import key_of, word_set

_VERBS = (
    "need require have want use pay cost take get receive include contain cover support offer accept allow work run sell serve eat"
    " drink speak know own live play drive open close apply cause help grow produce provide carry show fit like visit"
)
_VERB = rf"(?P<verb>{'|'.join(sorted(_VERBS.split(), key=len, reverse=True))})"
_FIRST = r"(?:^|[.;] )[^.;,!?]{2,60}? "
"""The clause before, up to its verb."""
_CUT = r"(?:[;,] (?:(?:and|but|while|whereas) )?|\. (?:But )?| (?:but|while|whereas) )"
_WHO = r"(?P<who>[^.;,!?]{2,50}?)"
_WHAT = r"(?P<what>[^.;,!?]{2,80}?)"
_END = r"(?=\s*(?:[.;!?]|$)|,\s)"
_NOT = r"(?: not|n['’]t)"
_DO = "(?:do|does|did)"
_BE = "(?:is|are|was|were)"
_MODAL = "(?:can|may|must|should|will|could)"
_PRONOUNS = word_set("it they he she we you i this that these those")

_PATTERNS = tuple(
    PrefilteredPattern(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_FIRST}{_VERB}s? {_WHAT}{_CUT}{_WHO} {_DO}{_NOT}{_END}",
        rf"{_FIRST}{_DO}{_NOT} (?P<verb>[a-z]{{2,12}}) {_WHAT}{_CUT}{_WHO} {_DO}{_END}",
        rf"{_FIRST}{_MODAL} (?!not\b)(?P<verb>[a-z]{{2,12}}) {_WHAT}{_CUT}{_WHO} (?:{_MODAL}{_NOT}|cannot){_END}",
        rf"{_FIRST}(?:{_MODAL}{_NOT}|cannot) (?P<verb>[a-z]{{2,12}}) {_WHAT}{_CUT}{_WHO} {_MODAL}{_END}",
        rf"{_FIRST}{_BE} (?!not\b)(?P<verb>){_WHAT}{_CUT}{_WHO} {_BE}{_NOT}{_END}",
        rf"{_FIRST}{_BE}{_NOT} (?P<verb>){_WHAT}{_CUT}{_WHO} {_BE}{_END}",
    )
)


def restore_left_out_verbs(text: str) -> str:
    """Return a text whose clauses have the verb and object that they share with the clause before."""
    for pattern in _PATTERNS:
        text = pattern.sub(_with_verb, text)
    return text


def _with_verb(match: re.Match[str]) -> str:
    if key_of(match["who"].split()[-1]) in _PRONOUNS:
        return match[0]  # "The shop is open on Sunday; on Monday it is not."
    return f"{match[0]} {match['verb'].lower()} {match['what']}".replace("  ", " ")
