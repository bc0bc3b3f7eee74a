"""Split a sentence at its joints and read the values, words and subject of each part."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from workers.evaluation.facts.addresses import Address, read_addresses, without_addresses
from workers.evaluation.facts.dates import Date
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.facts.units import MONTHS, NUMBER_WORDS, WEEKDAYS
from workers.evaluation.facts.verb_forms import is_verb, verb_stem
from workers.evaluation.text.languages.language import guess_language
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import STOP_WORDS, kept_for_sentences, stem, word_set

MAX_PIECES = 24
"""Maximum number of pieces of one sentence; the rest stays in the last piece."""
MAX_SUBJECT = 8
"""Maximum number of words of a subject."""
MAX_VALUES = 24
"""Maximum number of values of one part that are read."""

_JOINT = re.compile(
    r"\s*;\s+|,\s+(?!\d{4}\b)(?:(?P<joint>and|but|or|while|whereas|und|aber|während|et|mais|tandis que|y|pero|mientras que)\s+(?!\d))?"
    r"|\s+(?P<word>while|whereas|but|and|versus|vs\.?|compared (?:with|to)|während|aber|und|mais|et|pero|y)\s+(?!\d)"
    r"|\s[–—-]\s|\s*(?:\((?!\))|(?<!\()\))\s*",
    re.IGNORECASE,
)
_OTHERS = PrefilteredPattern(
    r"\b(?:ahead of|rather than|more than|less than|than|behind|unlike|compared (?:with|to)|in contrast to|instead of)\s+(?!\d).*",
    re.IGNORECASE,
)
"""A comparison; the words after it belong to another subject."""
_RELATIVE = re.compile(r"(?:who|which|that|whose|der|die|das|qui|que)\b", re.IGNORECASE)
_DEPENDENT = re.compile(
    r"(?:and |but |or )?(?:(?:who|which|that|whose|where|when|after|before|until|since|because|if|with|by|for|to|of|at|in|on|from|as|through|including|also|then|later|now|about)\b|\w+(?:ing|ed)\b)",
    re.IGNORECASE,
)
"""Openings of a piece without a subject of its own."""
_GERMAN_VERB = re.compile(r"[a-zäöü][a-zäöüß]+t\s")
"""A verb that only its ending tells, at the start of a piece: "zählt etwa 3000 Einwohner". Attributes end otherwise."""
_PRONOUN = re.compile(
    r"\W*(?:i|we|you|it|he|she|they|this|these|those|its|his|her|their|both|er|sie|es|dies\w*|il|elle|ils|elles|sein\w?|ihre?\w?|su|sus|son|sa|ses)\b",
    re.IGNORECASE,
)
_DEFINITE = re.compile(r"\W*(?:the|that|such|der|die|das|dem|den|le|la|les|el|los|las)\b", re.IGNORECASE)
_VALUE_FIRST = re.compile(rf"\W*(?:\d|(?:{'|'.join(NUMBER_WORDS)})\b)", re.IGNORECASE)
_RESPECTIVELY = re.compile(
    r"\b(?:respectively|jeweils|beziehungsweise|respectivement|respectivamente)\b", re.IGNORECASE
)
_ITEMS = re.compile(r",\s+(?:and\s+)?|\s+and\s+", re.IGNORECASE)
_ARTICLES = word_set("a an the each every its their his her our your no")
_LABEL = re.compile(r"[^:,;\d]{2,60}:\s")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_DIGIT = re.compile(r"\d")
_VAN = re.compile(r"(?:(?<=\ba )|(?<=\bthe )|(?<=\bper )|(?<=\beach )|(?<=\bthis )|(?<=\bour ))van\b", re.IGNORECASE)
"""The vehicle: the word alone is left out, because it is a preposition in Dutch."""

NAMED_MONTH = "named month"
"""Kind of the name of a month; "month" is the dimension of durations and ages."""
_CLASS_ROWS = (
    (NAMED_MONTH, " ".join(MONTHS)),
    ("weekday", " ".join(WEEKDAYS)),
    (
        "colour",
        "red green blue yellow orange purple violet black white grey gray brown pink rot grün blau gelb schwarz weiß",
    ),
    ("medal", "gold silver bronze"),
)
CLASSES = {
    stem(word): kind
    for kind, words in _CLASS_ROWS
    for word in words.split()
    if word not in ("mar", "may", "mai", "mon")
}
"""Kind of the words that are values: of two different ones of a kind only one can be right."""
CLASS_KINDS = frozenset(CLASSES.values())


_LEADS = word_set(
    "address addresses go located please use uses used using via setting variable path host url option options"
)
LEADS = {
    "mail": _LEADS
    | word_set(
        "call contact contacts email emails e mail mails reach send sends sent write writes written"
        " Adresse schreiben senden schicken gehen adresse écrire écrivez dirección escribir escriba"
    ),
    "file": _LEADS | word_set("call called file files named run runs script"),
    "code": _LEADS | word_set("call calls function method parameter field set"),
    "option": _LEADS | word_set("flag run runs switch"),
}
"""Words that lead to an address and do not tell whose it is."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Describe a part of a sentence between two joints.

    Attributes:
        text: the part as written.
        words: stems of its words without values and their nouns.
        subject: those before its verb.
        names: stems of its words with a capital that a sentence's start does not explain.
        quantities: its numbers.
        dates: its dates and times.
        classes: its values that are words ("silver"), by stem.
        addresses: its addresses.
        opens: "relative" or "dependent" if it has no subject of its own, "pronoun", "definite" or "".
    """

    text: str
    words: frozenset[str]
    subject: frozenset[str]
    names: frozenset[str]
    quantities: tuple[Quantity, ...]
    dates: tuple[Date, ...]
    classes: frozenset[str]
    addresses: frozenset[Address]
    opens: str


AGGREGATES = frozenset(
    map(
        verb_stem,
        word_set(
            "total together combined average sum difference altogether both each every all between overall respectively"
            " mean more less fewer increase decrease rise growth change"
        ),
    )
)
"""Words of claims about several subjects or about a calculated value."""

Value = Quantity | Date | Address | str


def kind_of(value: Value) -> str:
    """Return the kind of a value; only values of one kind are compared."""
    if isinstance(value, str):
        return CLASSES[value]
    if isinstance(value, Address):
        return value.form
    if isinstance(value, Quantity):
        return value.dimension if value.is_unit else "count"
    if value.minute is not None:
        return "clock"
    return "year" if value.month is None else "date"


@kept_for_sentences
def read_pieces(text: str) -> tuple[Piece, ...]:
    """Split a sentence at its joints and read the values of each part."""
    names = _names(text)
    if _RESPECTIVELY.search(text) and (parts := _distributed(text, names)):
        return parts
    pieces: list[Piece] = []
    joint, position = "", 0
    for match in [*_JOINT.finditer(text)][: MAX_PIECES - 1]:
        if piece := _piece(text[position : match.start()], joint, names):
            pieces.append(piece)
        joint, position = (match["joint"] or match["word"] or match[0]).strip().lower(), match.end()
    if piece := _piece(text[position:], joint, names):
        pieces.append(piece)
    verbs = [place for place, piece in enumerate(pieces) if place and _GERMAN_VERB.match(piece.text)]
    if verbs and guess_language(text) == "de":
        pieces = [replace(each, opens="dependent") if place in verbs else each for place, each in enumerate(pieces)]
    if len(pieces) > 1 and (label := _LABEL.match(text)) and not has_known_verb(label[0]):
        # "Warranty: frame 5 years, motor 3 years": the label holds for each part.
        shared = told_stems(label[0])
        pieces = [replace(each, words=each.words | shared, subject=each.subject - shared) for each in pieces]
    return _with_units(pieces)


def _piece(text: str, joint: str, names: frozenset[str]) -> Piece | None:
    if not _WORD.search(text):
        return None
    details = read_details(text)
    quantities = details.quantities[:MAX_VALUES]
    addresses = read_addresses(text)
    leads = frozenset[str]().union(*(LEADS.get(each.form, _LEADS) for each in addresses))
    kept = _OTHERS.sub("", without_addresses(text) if addresses else text)
    tokens = [match[0].lower() for match in _WORD.finditer(_VAN.sub("vans", _without_amounts(kept, quantities)))]
    classes = frozenset(stem(token) for token in tokens if stem(token) in CLASSES)
    words = [token for token in tokens if _tells(token) and stem(token) not in classes and token not in leads]
    verb = next(
        (
            place
            for place, token in enumerate(tokens)
            if is_verb(token)
            and token not in _ARTICLES  # "a" is a verb in French
            and (place or joint)
            and not (place and tokens[place - 1] in _ARTICLES)
        ),
        len(tokens),
    )
    head = [token for token in tokens[:verb] if token in words][:MAX_SUBJECT]
    starts_with_verb = bool(tokens) and tokens[0] not in _ARTICLES and is_verb(tokens[0])
    starts_with_value = _VALUE_FIRST.match(text) or (tokens and stem(tokens[0]) in CLASSES)
    if _RELATIVE.match(text):
        opens = "relative"
    elif _PRONOUN.match(text):
        opens = "pronoun"
    elif _DEPENDENT.match(text) or starts_with_verb or starts_with_value:
        opens = "dependent"
    else:
        opens = "definite" if _DEFINITE.match(text) else ""
    codes = frozenset(f"{series} {number}" for series, number in details.codes)
    stems = frozenset(map(verb_stem, words)) | codes
    subject = frozenset(map(verb_stem, head)) | codes
    return Piece(
        text, stems, subject, (names & stems) | codes, quantities, details.dates[:MAX_VALUES], classes, addresses, opens
    )


def _without_amounts(text: str, quantities: Sequence[Quantity]) -> str:
    """Remove amounts with what they are amounts of: "eight hours of sun", "17 goals"."""
    for quantity in quantities:
        amount = quantity.written.rpartition(": ")[2]
        if amount:
            text = re.sub(re.escape(amount) + r"(?:\s+of\s+(?!the\b|all\b)\w+)?", " ", text, count=1)
    return text


def _tells(token: str) -> bool:
    return token not in STOP_WORDS and token not in _EMPTY and not token.isdecimal() and not token[0].isdigit()


_EMPTY = word_set(
    "already only about just almost nearly around roughly approximately also then even still again more less than"
    " many much long old which one respectively usually normally once twice year years last next old per cent percent amounts amounted total"
    # Function words of languages whose words are not left out otherwise; those that are words of English are not here.
    " worden wordt werd geworden werden wird wurde wurden dann"
    " de het een van niet op te dat voor met zijn aan er ook bij u je ze om uit kan naar maar na tot deze dit geen hij zij"
    " bent heeft hebt wie wat nu wel dan nog als terwijl daarvoor eerst wordt gaat"
    " il lo gli una di che non con del della sono nel al ha da più le o dal dalla dei delle nella ma può anche fino dopo prima"
    " ogni sua suo questo quale quanto dove chi un uma do em para que não com por se na são foi mais um ao aos das dos pelo"
    " pela até seu sua você ou sem nos nas quem já"
)


@kept_for_sentences
def told_stems(text: str) -> frozenset[str]:
    """Return the stems of the words of a text that tell something."""
    words = (match[0].lower() for match in _WORD.finditer(_VAN.sub("vans", text)))
    return frozenset(verb_stem(word) for word in words if _tells(word))


def _names(text: str) -> frozenset[str]:
    """Return stems of the words with a capital inside a sentence, and at its start before another one."""
    words = [match[0] for match in _WORD.finditer(text)]
    inner = [word for word in words[1:] if word.isalpha() and len(word) > 2]
    if sum(word[0].isupper() for word in inner) > max(2.0, 0.6 * len(inner)):
        return frozenset()
    found = set()
    for place, word in enumerate(words):
        lowered = word.lower()
        if not word[0].isupper() or lowered in STOP_WORDS or lowered in MONTHS or lowered in WEEKDAYS:
            continue
        follows = (
            place + 1 < len(words) and words[place + 1][0].isupper() and words[place + 1].lower() not in STOP_WORDS
        )
        if place or follows:
            found.add(verb_stem(lowered))
    return frozenset(found)


def _with_units(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """Give numbers without a unit that of the number before them in the sentence, else of the one after them."""
    placed = [(piece, quantity) for piece in pieces for quantity in piece.quantities]
    numbers = [quantity for _, quantity in placed]
    if not any(quantity.dimension for quantity in numbers):
        return tuple(pieces)
    lent: list[Quantity] = []
    for place, (piece, quantity) in enumerate(placed):
        if not quantity.dimension and _follows_verb(piece.text, quantity):
            before = next((each for each in reversed(numbers[:place]) if each.dimension), None)
            other = before or next(each for each in numbers[place:] if each.dimension)
            factor = other.values[0] / other.face if other.face and other.is_unit else 1.0
            quantity = replace(
                quantity,
                values=tuple(value * factor for value in quantity.values),
                dimension=other.dimension,
                is_unit=other.is_unit,
                step=quantity.step * factor,
            )
        lent.append(quantity)
    supply = iter(lent)
    return tuple(replace(piece, quantities=tuple(next(supply) for _ in piece.quantities)) for piece in pieces)


def _follows_verb(text: str, quantity: Quantity) -> bool:
    """Return true if a number stands after a verb or a preposition; after a noun it numbers something ("season 10")."""
    before = _WORD.findall(text.partition(quantity.written)[0].lower())[-1:]
    return not before or not _tells(before[0]) or is_verb(before[0]) or before[0] in CLASSES


def _distributed(text: str, names: frozenset[str]) -> tuple[Piece, ...]:
    """Return one piece for each item of "A and B have 1 and 2 respectively"; empty if the numbers do not match."""
    words = list(_WORD.finditer(text))
    verb = next((match for match in words[1:] if is_verb(match[0].lower())), None)
    if verb is None:
        return ()
    items = [item for item in _ITEMS.split(text[: verb.start()]) if _WORD.search(item)]
    rest = _piece(text[verb.start() :].partition(";")[0], "and", names)
    if rest is None or not 2 <= len(items) == len(rest.quantities):
        return ()
    (rest,) = _with_units([rest])
    found = []
    for item, quantity in zip(items, rest.quantities, strict=True):
        subject = told_stems(item)
        words_of = subject | rest.words
        found.append(
            Piece(item, words_of, subject, names & words_of, (quantity,), rest.dates, frozenset(), frozenset(), "")
        )
    return tuple(found)


def values_of(piece: Piece, kind: str) -> tuple[Value, ...]:
    """Return the values of one kind in a piece."""
    return tuple(value for value in _values(piece) if kind_of(value) == kind)


def _values(piece: Piece) -> tuple[Value, ...]:
    return (*piece.quantities, *piece.dates, *sorted(piece.classes), *sorted(piece.addresses))


def kinds_of(pieces: Sequence[Piece]) -> list[str]:
    """Return the kinds of the values of a sentence, each once."""
    return list(dict.fromkeys(kind_of(value) for piece in pieces for value in _values(piece)))


def has_known_verb(text: str) -> bool:
    """Return true if a text has a word that is known as a verb."""
    return any(is_verb(word.lower()) for word in _WORD.findall(text))


def last_phrase(piece: Piece) -> frozenset[str]:
    """Return the stems of the words at the end of a piece to which a relative clause belongs."""
    words = [match[0] for match in _WORD.finditer(piece.text)][-4:]
    capital = [word for word in words if word[0].isupper()]
    return frozenset(verb_stem(word.lower()) for word in (capital or words[-2:]) if _tells(word.lower()))
