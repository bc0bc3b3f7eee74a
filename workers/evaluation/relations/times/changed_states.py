"""Compare claims about the present with changes that the evidence reports: "is in the cellar" over "moved to the attic".

A sentence that tells a change has all words of what was before it. A claim in the present that has the earlier state,
and nothing of the later one, is wrong.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.facts.units import MONTHS, WEEKDAYS
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import content_words, stem, word_set

MAX_TEXT = 300
"""Longest claim, question and sentence that are read, code points."""

_WHEN = r"(?=[,;.]| (?:in|on|at|by|since|after|during|for|when|because|last|this|early|late|as of)\b|$)"
_AUX = r"(?:(?:was|were|is|are|has been|have been|had been|got)(?: \w+ly)? )?"
_THING = r"^(?:.{0,60}?,\s)?(?P<thing>[^,;]{2,80}?)"
_CHANGES: tuple[PrefilteredPattern, ...] = tuple(
    PrefilteredPattern(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_THING} {_AUX}(?:moved?|relocated?|shifted|transferred|switched|changed|migrated|rescheduled|postponed|converted|brought forward)"
        rf"(?P<more> [^,;.]{{0,40}}?)? from (?P<old>[^,;.]{{2,60}}?) (?:in)?to (?P<new>[^,;.]{{2,60}}?){_WHEN}",
        rf"{_THING},? (?:(?:originally|initially|first) )?(?:scheduled|planned|booked|set|arranged|due) (?:for|on|at) (?P<old>[^,;.]{{2,40}}?),? {_AUX}"
        rf"(?:moved|shifted|changed|rescheduled|postponed|brought forward|put off)(?P<more>) (?:to|until|till) (?P<new>[^,;.]{{2,60}}?){_WHEN}",
        rf"{_THING} {_AUX}(?:renamed|rebranded|re-named)(?P<more>) (?:as |to |into )?(?P<new>[^,;.]{{2,60}}?){_WHEN}",
        rf"{_THING} {_AUX}changed its name (?:from [^,;.]+? )?to(?P<more>) (?P<new>[^,;.]{{2,60}}?){_WHEN}",
        rf"^(?:.{{0,60}}?,\s)?(?P<old>[^,;]{{2,60}}?) (?:was|were|has been|have been) (?:\w+ly )?(?:replaced|superseded|succeeded)(?P<thing>) (?:by|with) (?P<new>[^,;.]{{2,60}}?){_WHEN}(?P<more>[^,;.]{{0,60}})",
        r"\bfrom (?P<old>[^,;.]{2,60}?) to (?P<new>[^,;.]{2,60}?) (?:was|were) (?:complete|completed|finished)(?P<thing>)(?P<more>)",
        r"^(?:until|till|up to|before) [^,;.]{2,30}?,? (?P<old>[^;.]{4,120}?)(?P<thing>)(?P<more>)[;,.]? (?:and |but )?(?:since then|since|from then on|now|today|afterwards|thereafter),? (?P<new>[^;.]{4,120})",
        r"^(?P<old>[^;.]{4,120}?)(?P<thing>)(?P<more>) (?:until|till) [^,;.]{2,30}?[;,.] ?(?:and |but )?(?:since then|since|from then on|now|today|afterwards|thereafter),? (?P<new>[^;.]{4,120})",
    )
)  # fmt: skip
_PAST = re.compile(
    r"\b(?:was|were|had|did|been|until|till|before|formerly|former|previously|previous|once|originally|original|earlier|old|initially|at first|used to"
    r"|last|ago|(?:1\d|20)\d\d|from|moved?|replac\w+|renam\w+|switch\w*|chang\w+|than|predecessor)\b|\b\w{3,}ed to\b",
    re.IGNORECASE,
)
"""Words of a text about the past, or about a change."""
_PRESENT = re.compile(
    r"\b(?:is|are|has|have|does|do|uses?|runs?|stands?|lies?|sits?|lives?|works?|leads?|heads?|manages?|coaches|teaches|owns?|serves?|sells?|offers?"
    r"|takes?|meets?|opens?|can|must|'s)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][^\W\d_]+")
_GENERAL = frozenset(map(stem, word_set("use uses have has called name named stand stands currently today present still locate located find found hold held place takes")))  # fmt: skip
_DATES = frozenset(map(stem, (*MONTHS, *WEEKDAYS)))
_UNTOLD = _GENERAL | frozenset(
    map(stem, word_set("last next year month week spring summer autumn winter the day new old"))
)


@dataclass(frozen=True, slots=True)
class _Change:
    """Hold a change by the stems of what changed, of its earlier and of its later state, and of its sentence."""

    thing: frozenset[str]
    old: frozenset[str]
    new: frozenset[str]
    context: frozenset[str]


def is_state_present(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return false if a claim about the present states what a change in the evidence has ended.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence.

    Returns:
        ``None`` if the evidence reports no change of it.
    """
    claim, question = claim[:MAX_TEXT], question[:MAX_TEXT]
    is_fragment = not _PRESENT.search(claim) and len(claim.split()) <= 6
    text = f"{question} {claim}" if is_fragment else claim
    if _PAST.search(text) or not _PRESENT.search(text) or DENIED.search(claim):
        return None
    own = content_words(claim) - _UNTOLD
    told = content_words(f"{question} {claim}")
    read = [
        (place, change)
        for place, sentence in enumerate(sentences)
        for change in _changes(sentence, sentences[place - 1] if place else "")
    ]
    for place, change in read:
        others = (each for other, each in enumerate(sentences) if other != place)
        if (
            change.old <= own
            and not change.new & own
            and (not change.thing or change.thing & told)
            and not any(change.old <= later.new for _, later in read)
            and not any(content_words(claim) - _GENERAL <= content_words(other) for other in others)
            and own - change.old <= change.context | content_words(question)
        ):
            return False
    return None


def _changes(sentence: str, before: str) -> Iterator[_Change]:
    sentence = sentence[:MAX_TEXT].strip()
    for pattern in _CHANGES:
        if not (match := pattern.search(sentence)):
            continue
        parts = match.groupdict(default="")
        is_renamed = "old" not in parts
        old, new = parts.get("old", parts["thing"]), parts["new"]
        names = [frozenset(stem(name.lower()) for name in _NAME.findall(f"x {each}")) for each in (old, new)]
        stems = [content_words(each) - _UNTOLD for each in (old, new)]
        # Of two sentences on one office the persons differ.
        if not is_renamed and all(names):
            stems = [each & name for each, name in zip(stems, names, strict=True)]
        was, becomes = stems[0] - stems[1], stems[1] - stems[0]
        if not was or not becomes or DENIED.search(match[0]):
            return
        thing = (
            frozenset[str]() if is_renamed else content_words(parts["thing"] + parts["more"]) - was - _UNTOLD - _DATES
        )
        yield _Change(thing, was, becomes, content_words(f"{before} {sentence}"))
        return
