"""Hold who did what to whom, and what begins and ends when, against the two fields of a row that say so.

``{"from": "Brill", "to": "Oster"}`` names two sides. "Oster sent it to Brill" gives each the other side. A claim shows
the side of a name by a preposition ("from", "to"), by a verb before or behind it ("sent", "was bought by") or by the
noun of the field ("the landlord is"). For times of day the nearest verb or preposition before them does ("ends at 14:00").
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workers.evaluation.budget import spend
from workers.evaluation.facts.dates import read_dates
from workers.evaluation.text.words import word_set
from workers.evaluation.tools.results.tool_results import CLOCK, Mention, ToolResults, dates_in
from workers.evaluation.tools.results.tool_tables import Cell
from workers.evaluation.tools.tool_figures import key_words

REACH = 60
"""Most code points between a time of day and the word that tells its side."""


@dataclass(frozen=True, slots=True)
class _Family:
    """Describe two opposite sides: keys of both, and the verbs of which each is the subject."""

    keys: tuple[frozenset[str], frozenset[str]]
    verbs: tuple[frozenset[str], frozenset[str]]
    prepositions: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
    is_mutual: bool = True


def _family(keys: str, verbs: str, prepositions: str = "|", *, is_mutual: bool = True) -> _Family:
    parts = [tuple(word_set(side) for side in text.split("|")) for text in (keys, verbs, prepositions)]
    (one, two), (first, second), (before, behind) = parts
    return _Family((one, two), (first, second), (before, behind), is_mutual)


_FAMILIES = (
    _family(
        "from sender payer origin source donor remitter departure | to recipient receiver payee destination beneficiary addressee arrival",
        "send sends sent sending transfers transferred transfer pays paid pay wrote writes emailed emails mailed forwarded wired shipped"
        " donated gave gives lent invoiced billed messaged | receives received receive got gets obtained",
        "from | to towards into",
    ),
    _family("caller | callee called", "called calls phoned phones rang rings dialled dialed telephoned | answered"),
    _family(
        "buyer purchaser acquirer acquiror bidder | seller target vendor acquired",
        "bought buys purchased purchases acquired acquires took takes | sold sells",
    ),
    _family(
        "winner victor champion | loser runnerup runner defeated",
        "beat beats defeated defeats won wins overcame outplayed | lost loses",
    ),
    _family(
        "lender creditor landlord lessor | borrower debtor tenant lessee",
        "lent lends leases lets | borrowed borrows owes owed rents rented",
    ),
    _family(
        "employer manager supervisor boss mentor | employee subordinate mentee trainee",
        "employs employed hired hires manages managed supervises supervised mentors leads | reports works",
    ),
    _family(
        "author writer creator committer requester reporter | reviewer approver checker",
        "wrote written writes authored created drafted requested reported | reviewed reviews approved approves checked",
        is_mutual=False,
    ),
    _family(
        "opened raised reported requester reporter creator created filed | assigned assignee owner handler agent",
        "opened raised reported filed requested created | handles handled handling handle owns",
        is_mutual=False,
    ),
    _family(
        "teacher doctor host plaintiff claimant | student patient guest defendant",
        "teaches taught treats treated hosts hosted sued sues accuses | attends visits visited",
    ),
)
_TIMES = _family(
    "start starts begin begins opens open opening departure departs from checkin | end ends finish close closes closing arrival arrives until to"
    " checkout",
    "start starts started begin begins began opens opened open depart departs departed departing leaves left opening | end ends ended finish"
    " finishes finished close closes closed arrive arrives arrived arriving closing",
    "from | until till to",
)
_IS = frozenset(("was", "were", "is", "are", "been", "being", "be", "got"))
_ARTICLES = frozenset(("the", "a", "an", "mr", "mrs", "ms", "dr"))
_TOKEN = re.compile(r"[^\W_]+(?:[’'][^\W_]+)?")


def has_wrong_role(claim: str, mentions: Sequence[Mention], results: ToolResults) -> bool:
    """Return true if a claim exchanges the two sides of a row, and no other row has the sides as the claim has them.

    Args:
        claim: plain text.
        mentions: names of rows in the claim.
        results: the results of the answer's tools.
    """
    spend(len(claim) + sum(map(len, results.names_in_rows)))
    found = [fits for family in _FAMILIES for fits in _fits(claim, family, results)]
    named = frozenset.intersection(*(each.rows for each in mentions)) if mentions else frozenset()
    rows = [results.tables[place].rows[row] for place, row in sorted(named)] or results.first_rows
    times = list(_timed(claim, rows))
    return (bool(found) and not any(found)) or (bool(times) and not any(times))


def _fits(claim: str, family: _Family, results: ToolResults) -> Iterator[bool]:
    """Yield for each row with both sides whether the claim has them so; nothing where the claim does not tell."""
    for cells in results.names_in_rows:
        sides = [[cell for cell, words in cells if not keys.isdisjoint(words)] for keys in family.keys]
        if not all(sides):
            continue
        one, two = (_place(claim, side[0].text, other[0].text) for side, other in (sides, sides[::-1]))
        if one is None and two is None:
            continue
        spend(len(claim))
        told = [
            _side(claim, place, (one, two)[1 - side], family) == side
            for side, place in enumerate((one, two))
            if place is not None and _side(claim, place, (one, two)[1 - side], family) is not None
        ]
        if told:
            yield any(told)


def _place(claim: str, name: str, other: str) -> tuple[int, int] | None:
    """Return where a claim has a name, or a word of it that the other name has not."""
    lowered, theirs = claim.casefold(), set(_TOKEN.findall(other.casefold()))
    for part in (name.casefold(), *(word for word in _TOKEN.findall(name.casefold()) if len(word) > 2)):
        if part in theirs:
            continue
        if match := re.search(rf"(?<!\w){re.escape(part)}(?!\w)", lowered):
            return match.span()
    return None


def _side(claim: str, place: tuple[int, int], other: tuple[int, int] | None, family: _Family) -> int | None:
    """Return the side that a claim gives to the name at a place; ``None`` if it does not tell."""
    before = [match[0].casefold() for match in _TOKEN.finditer(claim, 0, place[0])]
    while before and before[-1] in _ARTICLES:
        before.pop()
    if before:
        for side, words in enumerate(family.prepositions):
            if before[-1] in words:
                return side
        if before[-1] == "by":
            verbs = [side for word in before[-6:] for side in (0, 1) if word in family.verbs[side]]
            return verbs[-1] if verbs else None
        noun = [side for side in (0, 1) for word in before[-3:-1] if word in family.keys[side]]
        if before[-1] in _IS and noun:
            return noun[-1]
    end = other[0] if other is not None and other[0] > place[1] else len(claim)
    behind = [match[0].casefold() for match in _TOKEN.finditer(claim, place[1], end)]
    if (found := _as_subject(behind, family)) is not None:
        return found
    direct = [side for side in (0, 1) if before and before[-1] in family.verbs[side]]
    return 1 - direct[0] if direct and family.is_mutual else None


def _as_subject(behind: Sequence[str], family: _Family) -> int | None:
    """Return the side of the subject of the first verb behind a name; in the passive it is the other one."""
    for index, word in enumerate(behind[:6]):
        for side in (0, 1):
            if word in family.verbs[side]:
                is_passive = bool(_IS & set(behind[max(0, index - 2) : index])) and "by" in behind[index:]
                return (1 - side if family.is_mutual else None) if is_passive else side
        for side in (0, 1):
            if word in family.keys[side] and _IS & set(behind[:index]) and len(word) > 4:
                return side
    return None


def _timed(claim: str, rows: Sequence[Sequence[Cell]]) -> Iterator[bool]:
    """Yield for each time of day of a claim whether a row has it on the side that the claim tells."""
    places = [(match, read_dates(match[0])[0]) for match in CLOCK.finditer(claim)]
    times = [(match, dates[0].minute) for match, dates in places if dates and dates[0].minute is not None]
    for match, minute in times[:10]:
        side = _time_side(claim[max(0, match.start() - REACH) : match.start()])
        if side is None:
            continue
        own, opposite = (any(_has_time(cells, keys, minute) for cells in rows) for keys in _TIMES.keys)
        if own != opposite:
            yield own == (side == 0)


def _has_time(cells: Sequence[Cell], keys: frozenset[str], minute: int | None) -> bool:
    named = (cell for cell in cells if keys & set(key_words(cell.path)) and len(cell.text) <= 40)
    return any(date.minute == minute for cell in named for date in dates_in(cell.text))


def _time_side(before: str) -> int | None:
    words = [match[0].casefold() for match in _TOKEN.finditer(before)][-5:]
    for index, word in enumerate(reversed(words)):
        for side in (0, 1):
            if word in _TIMES.verbs[side] or (not index and word in _TIMES.prepositions[side]):
                return side
    return None
