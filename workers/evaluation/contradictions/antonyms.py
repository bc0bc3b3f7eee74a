"""Define words that exclude each other: the two sides of a row cannot both be true of one thing."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from workers.evaluation.text.prefilter import PrefilteredPattern

_VERB_ROWS = """
open | close shut
lock | unlock
increase rise rose risen grow grew grown climb surge soar jump gain raise boost | decrease fall fell fallen drop decline shrink shrank dip plunge reduce lower diminish
raise | lower
improve | worsen deteriorate
enable activate | disable deactivate
approve accept grant | reject refuse deny denied
allow permit authorise authorize | forbid forbade forbidden prohibit ban
pass succeed | fail
pass adopt enact ratify | reject veto
agree | disagree
obey comply | disobey violate breach
praise | criticise criticize condemn
reveal revealed disclose | conceal hide hid hidden
expand | contract
encourage | discourage
appoint appointed | dismiss
qualify | disqualify
merge merged | split
ignite | extinguish
win won | lose lost
start begin began begun run ran running | stop cease halt
start begin began begun commence | finish end
add | remove delete
buy bought purchase | sell sold
include contain cover | exclude
destroy ruin wreck demolish damage | unharmed undamaged unscathed intact survive
love loved | hate hated dislike
support endorse | oppose
import | export
push | pull
lend lent | borrow
strengthen | weaken
tighten | loosen
strengthen intensify worsen | ease abate subside slacken weaken
hire hired | dismiss
heat | cool
fill | empty emptied
freeze froze frozen | melt thaw
lengthen extend | shorten
attach | detach
upload | download
encrypt | decrypt
survive | die died perish
injured wounded | unharmed unhurt uninjured unscathed
confirm | deny denied
remember | forget forgot forgotten
build built construct erect | demolish destroy
uphold upheld allow grant | dismiss overturn overturned
cancel | hold held occur happen
postpone | held
accompany accompanied together jointly | alone unaccompanied
accelerate | decelerate slow
attract | repel
arrive | depart
connect | disconnect
succeed | precede
gain | lose lost
need require | without
win won | draw drew
increase | halve
sit sat seated sitting | stand stood standing
sleep slept asleep | wake woke awake
admit admitted | deny denied
spare spared | ruin ruined destroy destroyed
acquit acquitted | convict convicted
exempt exempted | pay paid owe
retreat withdraw withdrew withdrawn recede | advance
"""

_WORD_ROWS = """
left | right
leftmost | rightmost
top | bottom
upper | lower
front | back rear
before | after
well | poorly badly
slightly marginally | sharply steeply dramatically
advisory | binding
previously | subsequently
cheap inexpensive affordable | expensive costly
high | low
fast quick rapid | slow
hot warm | cold cool chilly
strong | weak
heavy | light
long | short
large big huge | small little tiny
thick | thin
wide broad | narrow
deep | shallow
tall | short
old | new
old elderly | young
rich wealthy | poor
good | bad
safe harmless | dangerous hazardous toxic poisonous
included free | extra
true correct | false wrong
valid | expire expired invalid void
available | unavailable
alive living | deceased
easy simple | difficult complicated complex
same identical | different
positive | negative
public | private confidential secret classified
internal | external
inside indoors | outside outdoors
indoor | outdoor
north | south
east | west
northern | southern
eastern | western
alive | dead
first | last
minimum | maximum
minimal | maximal
mandatory compulsory obligatory required must | optional voluntary
temporary | permanent
major | minor
odd | even
horizontal | vertical
clockwise | counterclockwise anticlockwise
inlet | outlet
entrance | exit
day daytime | night nighttime
morning | evening
summer | winter
buyer | seller
manual manually | automatic automatically
online | offline
ancient | modern
liquid | solid
profit | loss
success | failure
victory | defeat
winner | loser
final definitive | preliminary provisional interim
true real factual | fictional invented imaginary
surplus | deficit
majority | minority
employer | employee
landlord | tenant
lender | borrower
debit | credit
edible | poisonous toxic inedible
domestic | foreign
rural | urban
vacant unoccupied | occupied
raw uncooked | cooked
rare | common
visible | hidden
acidic | alkaline
transparent | opaque
nocturnal | diurnal
legal lawful | illegal unlawful
voluntary | forced
early | late
above | below
guilty | innocent
full | empty
wet | dry
hard | soft
clean | dirty
loud noisy | quiet silent
present | absent
advantage | disadvantage
married | unmarried divorced
male | female
on | off
closed shut | open
running active | stopped
ascending | descending
incoming inbound | outgoing outbound
more | less fewer
most | least fewest
better | worse
best | worst
"""

_SHARE_ROWS = (
    (
        "all",
        "all every each both everyone everybody everything always alle jeder jede jedes immer tous toutes toujours",
    ),
    ("most", "most mostly usually generally meist meistens"),
    ("many", "many often frequently numerous viele oft"),
    ("half", "half"),
    ("some", "some several sometimes occasionally einige manche manchmal"),
    ("few", "few rarely seldom hardly scarcely wenige selten"),
    ("none", "none no neither nobody nothing never kein keine nie niemals"),
)
"""Quantifiers of things and times, from everything to nothing."""

PARTICLE_VERBS = frozenset(
    form
    for verb in ("turn", "switch", "power", "log", "sign")
    for form in (verb, verb + "s", verb + "ed", verb + "ing")
) | {"switches"}
"""Words before "on" and "off" that make them opposites; elsewhere they are prepositions."""

_ON, _WITHOUT_OBJECT = (
    r"(?!\s(?:the|an?|its?|their|his|her|my|your|our|him|them)\b)",
    r"(?=\s*(?:[.,;:!]|$)|\s(?:in|during|by|this|later|again|speed|toward|from|after|on|over|to|tonight|tomorrow|overnight|and|as|at|before|around|slightly)\b)",
)
_VERBS_WITH_PARTICLE = tuple(
    (PrefilteredPattern(rf"\b(?:{pattern})", re.IGNORECASE), verb)
    for pattern, verb in (
        (rf"pick(?:s|ed|ing)?\sup{_WITHOUT_OBJECT}", "strengthen"),
        (rf"(?:die[sd]?|dying)\s(?:down|away)\b|let(?:s|ting)?\sup{_WITHOUT_OBJECT}", "weaken"),
        (r"call(?:s|ed|ing)?\soff\b", "cancelled"),
        (r"(?:takes?|took|taken|taking)\splace\b", "occurred"),
        (r"put(?:s|ting)?\soff\suntil\b", "postponed until"),
        (
            r"turned\sdown\b(?!\s(?:the\s)?(?:heat|volume|temperature|radio|music|lights?|gas|corner|road|street)\b)",
            "rejected",
        ),
        (r"(?:speed(?:s|ed|ing)?|sped)\sup\b", "accelerate"),
        (r"slow(?:s|ed|ing)?\sdown\b", "decelerate"),
        (rf"(?:go|goes|went|gone|going)\sup\b{_ON}", "rose"),
        (rf"(?:go|goes|went|gone|going|comes?|came|coming)\sdown\b{_ON}", "fell"),
        (r"(?:shut(?:s|ting)?|clos(?:es?|ed|ing))\sdown\b", "closed"),
        (r"sold\sout\b|out\sof\sstock\b", "unavailable"),
        (r"in\sstock\b", "available"),
        (r"laid\soff\b", "dismissed"),
    )
)
"""Verbs with a particle, and the verb of a row that says the same: "the wind picks up" over "the wind eases"."""

_PRIVATIVES = ("non-", "non", "un", "dis", "in", "im", "il", "ir")
_NOT_PRIVATIVE = frozenset(
    [
        "invaluable",
        "inflammable",
        "input",
        "inside",
        "income",
        "inform",
        "import",
        "improve",
        "impress",
        "increase",
        "inhabit",
        "infamous",
        "intake",
        "intense",
        "intend",
        "invent",
        "invest",
        "involve",
        "inlaw",
        "illuminate",
        "union",
        "unit",
        "united",
        "unite",
        "until",
        "under",
        "universe",
        "uniform",
        "unique",
        "display",
        "discover",
        "discount",
        "discuss",
        "disease",
        "distance",
        "district",
        "dispose",
        "disclose",
        "discharge",
        "dissolve",
        "distill",
        "disable",
        "disabled",
        "impart",
        "impose",
        "impact",
        "implant",
        "imprint",
        "immigrant",
        "include",
        "included",
        "inclusion",
        "indeed",
        "index",
        "indoor",
        "inner",
        "insert",
        "inset",
        "insight",
        "inspect",
        "install",
        "instance",
        "instant",
        "instead",
        "instruct",
        "insure",
        "inter",
        "internal",
        "interest",
        "into",
        "inter",
        "indent",
    ]
)


def _inflected(verb: str) -> Iterator[str]:
    yield from (verb, verb + "s", verb + "es", verb + "ed", verb + "ing")
    if verb.endswith("e"):
        yield from (verb + "d", verb[:-1] + "ing")
    elif verb.endswith("y"):
        yield from (verb[:-1] + "ies", verb[:-1] + "ied")
    else:
        yield from (verb + verb[-1] + "ed", verb + verb[-1] + "ing")


def _compared(word: str) -> Iterator[str]:
    """Yield the comparative and superlative of a short adjective."""
    base = word[:-1] + "i" if word.endswith("y") else word.removesuffix("e")
    yield from (base + "er", base + "est", base + base[-1] + "er", base + base[-1] + "est")


def _rows(table: str) -> Iterator[tuple[list[str], list[str]]]:
    for row in table.strip().splitlines():
        one, two = row.split("|")
        yield one.split(), two.split()


def _numbered() -> Iterator[tuple[int, bool, int, list[str]]]:
    """Yield the sides of all rows: row number, true for verbs, sign, words."""
    verbs = list(_rows(_VERB_ROWS))
    for number, sides in enumerate([*verbs, *_rows(_WORD_ROWS)]):
        for sign, words in zip((1, -1), sides, strict=True):
            yield number, number < len(verbs), sign, words


def _poles() -> Iterator[tuple[str, tuple[int, int]]]:
    for number, of_verbs, sign, words in _numbered():
        for word in words:
            yield word, (number, sign)
            if of_verbs:
                yield from ((form, (number, sign)) for form in _inflected(word))


def _degrees() -> Iterator[tuple[str, tuple[int, int]]]:
    for number, of_verbs, sign, words in _numbered():
        if of_verbs:
            continue
        for word in words:
            if word in _GRADED:
                yield word, (number, sign)
            elif len(word) <= LONGEST_COMPARED:
                yield from ((form, (number, sign)) for form in _compared(word))


LONGEST_COMPARED = 7
"""Maximum number of letters of adjectives with own comparative forms; longer ones use "more" and "most"."""
_GRADED = frozenset(["more", "less", "fewer", "most", "least", "fewest", "better", "worse", "best", "worst"])


def _collected(pairs: Iterable[tuple[str, tuple[int, int]]]) -> dict[str, frozenset[tuple[int, int]]]:
    found: dict[str, set[tuple[int, int]]] = defaultdict(set)
    for word, pole in pairs:
        found[word].add(pole)
    return {word: frozenset(poles) for word, poles in found.items()}


DEGREES = _collected(_degrees())
"""Map comparatives and superlatives to their rows and sides (1 or -1)."""

POLES = _collected([*_poles(), *_degrees()])
"""Map every word with an opposite to its rows and sides."""

SHARES = {word: level for level, words in _SHARE_ROWS for word in words.split()}
"""Level of a quantifier by word."""


def with_plain_verbs(text: str) -> str:
    """Return a text with single verbs in the place of those with a particle."""
    for pattern, verb in _VERBS_WITH_PARTICLE:
        text = pattern.sub(verb, text)
    return text


def are_sides(one: str, two: str) -> bool:
    """Return true if two words are the two sides of a row: "open" and "closed"."""
    theirs = dict(POLES.get(two, ()))
    return any(theirs.get(row) == -side for row, side in POLES.get(one, ()))


def without_privative(word: str) -> str | None:
    """Return the word that a prefix denies ("calibrated" for "uncalibrated"); ``None`` without such a prefix.

    The result may not be a word ("under" gives "der"). Use it only if the other text contains it.
    """
    if word in _NOT_PRIVATIVE:
        return None
    for prefix in _PRIVATIVES:
        if word.startswith(prefix) and len(word) - len(prefix) >= 4:
            return word[len(prefix) :]
    return None
