"""Read which texts say that something need not be done, and which say that it must be done."""

import re

NEEDLESS = re.compile(
    r"\b(?:need not|needn['’]t|(?:do|does|did|will)(?: not|n['’]t) (?:have|need) to|(?:is|are|was|were)(?: not|n['’]t) (?:\w+ )?(?:required|obliged|necessary|needed|mandatory|compulsory|obligatory)"
    r"|(?:not|never) (?:required|necessary|needed|mandatory|obliged|compulsory|obligatory)|no need|no obligation|(?:do|does)(?: not|n['’]t) (?:need|require)"
    r"|optional|voluntary|unnecessary|(?:is|are|was|were) exempt(?:ed)? from|(?:needs?|requires?) no)\b"
    r"|\bno (?:[\w-]+ ){1,3}?(?:(?:is|are|was|were) )?(?:required|needed|necessary)\b|\bnothing (?:is|needs to be) (?:required|needed|\w+ed)\b",
    re.IGNORECASE,
)
"""Phrases for what need not be done or shown."""
REQUIRED = re.compile(
    r"\b(?:must(?! not)|shall(?! not)|ha(?:s|ve) to|needs? to|(?:is|are) (?:\w+ly )?(?:required|needed|mandatory|compulsory|obligatory|obliged|necessary)|requires?|needs?)\b",
    re.IGNORECASE,
)
"""Phrases for what must be done or shown."""


_WAIVED = re.compile(
    r"\b(?:no|not need (?:an?|any|the)|n['’]t need (?:an?|any|the)|without (?:an?|any|the)|needs? no|requires? no) (?P<thing>[\w-]+(?: [\w-]+){0,2})",
    re.IGNORECASE,
)


def waive_one_thing(claim: str, evidence: str) -> bool:
    """Return true if a text says that no thing is needed that the other goes without: "no card needed", "without a card"."""
    if not NEEDLESS.search(claim) or REQUIRED.search(NEEDLESS.sub(" ", claim)):
        return False
    own, theirs = ([match["thing"].lower().split() for match in _WAIVED.finditer(text)] for text in (claim, evidence))
    return any(
        mine[:size] == other[:size]
        for mine in own
        for other in theirs
        for size in range(1, len(mine) + 1)
        if mine[size:][:1] in ([], ["is"], ["are"], ["needed"], ["required"], ["necessary"])
    )


def are_both_needless(claim: str, evidence: str) -> bool:
    """Return true if two texts say that something need not be done: "is optional" and "you do not have to"."""
    return bool(NEEDLESS.search(claim) and NEEDLESS.search(evidence)) and not (
        REQUIRED.search(NEEDLESS.sub(" ", claim)) or REQUIRED.search(NEEDLESS.sub(" ", evidence))
    )
