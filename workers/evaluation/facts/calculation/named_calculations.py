"""Confirm figures of a claim by the calculation that the claim and its question name.

The unit of the result, its words ("in all", "on average", "per", "fell by") and the counts of claim and question decide
which calculation is meant. "Three adults and two children pay 59.50 euros" is three times the price beside "adults" and
two times the price beside "children"; no other combination of the prices is tried. ``arithmetic`` has the calculations
without such a name.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, islice
from itertools import product as all_of

from workers.evaluation.budget import spend
from workers.evaluation.facts.amounts_of_each import amounts_of_each, is_form
from workers.evaluation.facts.calculation.arithmetic import DEGREES, LEAST_BARE, same_dimension
from workers.evaluation.facts.calculation.mean_words import MEAN
from workers.evaluation.facts.calculation.operands import Operand, read_operands
from workers.evaluation.facts.numbers.number_words import cardinal
from workers.evaluation.facts.numbers.quantity import Quantity
from workers.evaluation.facts.numbers.ranges import range_ends
from workers.evaluation.facts.quantities import undated_quantities
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.facts.units import UNITS
from workers.evaluation.facts.verb_forms import all_forms
from workers.evaluation.text.words import KEPT_TEXTS, content_words, key_of, stem, word_set

MAX_FIGURES = 4
"""Maximum number of figures of a claim that are looked for."""
MAX_COUNTS = 4
"""Maximum number of counts of a claim and its question."""
MAX_MATCHES = 3
"""Maximum number of prices that are tried for a count."""
MAX_GIVEN = 6
"""Maximum number of quantities of the source that take the place of a count."""
MAX_PAIRED = 12
"""Maximum number of operands of which pairs are tried."""
ROUNDED = 0.003
"""Accepted relative difference of a calculated figure."""
ABOUT = 0.03
"""The same for a figure that is called approximate."""

_TOTAL = re.compile(
    r"\b(?:in all|in total|totals?|total(?:l?ed|ling)|all|altogether|together|combined|sum|whole|entire|overall|full year|over the \w+|for the \w+ as a whole|annual(?:ly)?|in the \w+ (?:months|quarters|years|weeks|days)"
    r"|insgesamt|zusammen|gesamt\w*|ganze[nrs]?|au total|en tout|en total|totale|totaal|(?:first|second) half|how many|how much|wie viele?)\b",
    re.IGNORECASE,
)
_DIFFERENCE = re.compile(
    r"\b(?:by|difference|gap|margin|ahead|behind|more|fewer|less|left|still|free|available|vacant|unsold|remain\w*|ke(?:pt|eps?)|save[ds]?|saving|cheaper|\w{3,12}er than|how (?:much|many) \w{3,12}er|los[est]\w*|gain\w*|profit|surplus|deficit|balance|net|rest"
    r"|cost(?:s|ed)? more|mehr|weniger|um|gewinn|differenz|überschuss|de plus|de moins|bénéfice|más|menos|beneficio)\b",
    re.IGNORECASE,
)
_BALANCE = re.compile(
    r"\b(?:profit|loss|surplus|deficit|balance|gewinn|verlust|überschuss|bénéfice|beneficio)\b", re.IGNORECASE
)
_UP = re.compile(
    r"\b(?:r[ioa]se|risen|rising|grew|grown?|growth|increas\w+|went up|go(?:ne)? up|goes up|gain\w*|climb\w*|jump\w*|more expensive|dearer|higher|up by"
    r"|stieg|gestiegen|wuchs|zunahme|zugenommen|augment\w+|aument\w+|subi\w+)\b",
    re.IGNORECASE,
)
_DOWN = re.compile(
    r"\b(?:f[ea]ll|fallen|falling|fell|dropp?\w*|declin\w+|decreas\w+|went down|go(?:ne)? down|los(?:e|es|t|ing)|lower|cheaper|cut|reduc\w+|discount\w*|shrank|shrunk|sank|sunk|down by"
    r"|sank|gesunken|fiel|gefallen|abnahme|verlor\w*|baiss\w+|diminu\w+|bajó|cay\w+)\b",
    re.IGNORECASE,
)
_SHARE = re.compile(
    r"(?:%|percent|prozent|pour cent|por ciento)\s(?:of|der|des|von|de)\b|\b(?:share|proportion|fraction|percentage of|anteil)\b",
    re.IGNORECASE,
)
_OTHERS = re.compile(r"\b(?:not|no|never|without|rest|remain\w*|other|others|left)\b|n['’]t\b", re.IGNORECASE)
_PIECE = re.compile(r"[,;:]\s|\s(?:and|but|while)\s")
_DIGITS = re.compile(r"[\d.,]+\s?(?:%|per ?cent)", re.IGNORECASE)
_WITH = re.compile(r"\b(?:gross|plus|with|incl\w*|total|brutto|inkl\w*|samt)\b", re.IGNORECASE)
_WITHOUT = re.compile(r"\b(?:discount\w*|off|less|without|net|after|members?|netto|rabatt)\b", re.IGNORECASE)
_HALF = re.compile(r"\b(first|second) half\b", re.IGNORECASE)
_AGE = re.compile(
    r"\bhow old\b|\bat what age\b|\bwie alt\b|\bquel âge\b|\bquelle? âge\b|\bcuántos años\b", re.IGNORECASE
)
_SPAN = re.compile(
    r"\bhow long\b|\bin (?:days|hours|minutes|seconds|weeks|months|years)\b|\bhow many (?:seconds|minutes|hours|days|weeks|months|years)\b|\b(?:lasts?|lasted|duration|took)\b",
    re.IGNORECASE,
)
_EACH = re.compile(
    r"\b(?:an?|one|each|every|per|single|apiece|je|pro|eine?|par|un|une|una|por)\s+(?:single )?((?:(?:square|cubic) )?[^\W\d_]{2,15})\b",
    re.IGNORECASE,
)
_SPEED = 3.6
"""Kilometres per hour in a metre per second."""
CALCULATION_WORDS = frozenset(
    stem(word)
    for word in word_set(
        "total totals totalled totaled altogether together combined sum whole entire overall average averages averaged averaging mean each per"
        " apiece single difference differ differs amount amounts amounted come comes came equal equals equivalent corresponds convert converts converted"
        " roughly approximately nearly almost exactly around works worked percent percentage share rate speed cost costs pay pays paid"
        " price increase increased rise rose risen grew grown fell fallen drop dropped decrease decreased decline declined lost gained change changed"
        " profit save saves saved saving more less fewer older younger longer shorter taller higher lower heavier"
        " cheaper ahead behind lead leads margin last lasts lasted take takes took old age aged years died first full year year-long measure measures"
        " spend spends spent went go goes gone down daily makes make live lived lives become became reached add adds added up amounting summing weigh weighs long tall high deep heavy hold holds sold sell made earn earned employ employs people attended run runs"
        " kept keep keeps left remain remains remained remaining retain retained away ride trip journey flight tour far late early need needs uses used use square cubic over both gross net tax vat included including starts ends begins arrives arrive leaves area size distance c f celsius fahrenheit degree degrees insgesamt zusammen gesamt durchschnitt durchschnittlich kostet kosten kostete pro je etwa rund ungefähr"
    )
)
"""Stems of words that tell a calculation, or the kind of a figure, and need no source."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """Hold what a claim and its question say about a calculation."""

    text: str
    counts: tuple[Quantity, ...]
    units: tuple[Quantity, ...]
    is_total: bool
    is_mean: bool
    is_difference: bool
    is_balance: bool
    is_age: bool
    is_span: bool
    direction: int


def named_figures(
    claim: str, topic: str, figures: Sequence[Quantity], sources: Sequence[tuple[str, ...]]
) -> frozenset[Quantity]:
    """Return the figures of a claim that the calculation named by the claim or its question gives.

    Args:
        claim: plain text.
        topic: the question that it answers, or an empty text.
        figures: figures of the claim that no source states.
        sources: texts of the sentences and rows of the nearest sources, in order.
    """
    asked = _read(claim, topic)
    operands = [read_operands(texts) for texts in sources]
    ends = range_ends(claim)
    return frozenset(
        figure
        for figure in figures[:MAX_FIGURES]
        if figure.face not in ends
        and (
            any(_gives(each, _as_age(figure, asked), asked) for each in operands)
            or (asked.is_total and any(_is_of_all(figure, texts) for texts in sources))
        )
    )


def names_calculation(text: str) -> bool:
    """Return true if a text has a word for a total, a mean, a difference, a change, a share or a part."""
    return bool(_TOTAL.search(text) or MEAN.search(text)) or names_difference(text)


def names_difference(text: str) -> bool:
    """Return true if a text has a word for a difference, a change, a share, or a part that is left out or added."""
    words = (_DIFFERENCE, _UP, _DOWN, _SHARE, _WITH, _WITHOUT)
    return any(word.search(text) for word in words)


def _is_of_all(figure: Quantity, texts: tuple[str, ...]) -> bool:
    """Return true for what all things have together where the sentences say what each has, and how many there are."""
    of_each = ((each, amount_in(each.amount, figure)) for each in amounts_of_each(texts))
    return any(value is not None and _equals(figure, value * each.count) for each, value in of_each)


def has_wrong_change(claim: str, figures: Sequence[Quantity], text: str) -> bool:
    """Return true if a sentence has two figures of one kind alone, and a claim tells another change in percent.

    The change that a claim calls a rise is measured from the lower figure, that of a fall from the higher one.

    Args:
        claim: plain text.
        figures: figures of the claim that no source states.
        text: the nearest sentence.
    """
    direction = bool(_UP.search(claim)) - bool(_DOWN.search(claim))
    shares = [figure for figure in figures if figure.dimension == "percent"]
    if not direction or len(shares) != 1 or _SHARE.search(claim):
        return False
    operands = [each for each in read_operands((text,)) if not each.is_derived]
    if len(operands) != 2:
        return False
    changes = list(_percentages(operands, direction, is_share=False))
    return bool(changes) and not any(_equals(shares[0], change) for change in changes)


def has_wrong_share(claim: str, topic: str, figures: Sequence[Quantity], texts: tuple[str, ...]) -> bool:
    """Return true if claim and question name the two amounts of one sentence whose share the claim tells otherwise.

    Args:
        claim: plain text.
        topic: the question that it answers, or an empty text.
        figures: figures of the claim.
        texts: the nearest sentences.
    """
    shares = [figure for figure in figures if figure.dimension == "percent" and not figure.bound]
    asked = f"{topic} {claim}"
    if not shares or not (_SHARE.search(asked) or not _DIGITS.fullmatch(shares[0].written)):
        return False
    told = (each.quantity for text in texts for each in read_operands((text,)))
    if any(each.dimension == "percent" and _equals(share, each.values[0]) for each in told for share in shares):
        return False
    for text in texts:
        named = [each for part in _PIECE.split(text) for each in _of_part(part, content_words(asked))]
        sizes = [abs(amount_in(each.quantity, named[0].quantity) or 0.0) for each in named]
        if len(sizes) == 2 and all(sizes):
            part = 100.0 * min(sizes) / max(sizes)
            rest = 100.0 - part if _OTHERS.search(asked) else part
            return not any(_equals(share, each) for share in shares for each in (part, rest))
    return False


def _of_part(part: str, words: frozenset[str]) -> list[Operand]:
    """Return the only amount of a part of a sentence that has one of the words."""
    found = [each for each in read_operands((part,)) if not each.is_derived]
    is_named = len(found) == 1 and found[0].quantity.dimension != "percent" and bool(content_words(part) & words)
    return found if is_named else []


@lru_cache(maxsize=KEPT_TEXTS)
def _read(claim: str, topic: str) -> _Asked:
    text = f"{topic} {claim}" if topic else claim
    counts = [*read_details(claim).quantities, *(read_details(topic).quantities if topic else ())]
    each = (_one(match[1]) for match in islice(_EACH.finditer(text), MAX_COUNTS))
    up, down = bool(_UP.search(text)), bool(_DOWN.search(text))
    return _Asked(
        text,
        tuple(dict.fromkeys(counts)),
        tuple(dict.fromkeys(each)),
        bool(_TOTAL.search(text)),
        bool(MEAN.search(text)),
        up or down or bool(_DIFFERENCE.search(text)),
        bool(_BALANCE.search(text)) and not (up or down),
        bool(_AGE.search(text)),
        bool(_SPAN.search(text)),
        up - down,
    )


def _one(word: str) -> Quantity:
    """Return one of a unit or thing, as in "per kilo" and "one bottle"."""
    return next(iter(undated_quantities(f"1 {word}")), Quantity((1.0,), "", False, False, 0.0))


def _as_age(figure: Quantity, asked: _Asked) -> Quantity:
    if figure.is_unit or not asked.is_age:
        return figure
    return Quantity((12.0 * figure.face,), "month", True, figure.approximate, 6.0, 0, figure.face)


def _gives(operands: Sequence[Operand], figure: Quantity, asked: _Asked) -> bool:
    results = _results(operands, figure, asked)
    return any(_equals(figure, value) for value in results)


def _equals(figure: Quantity, value: float) -> bool:
    slack = max(figure.step, (ABOUT if figure.approximate else ROUNDED) * abs(value))
    return any(abs(target - value) <= slack * (1.0 + 1e-9) for target in figure.values)


def _results(operands: Sequence[Operand], figure: Quantity, asked: _Asked) -> Iterator[float]:
    if figure.dimension == "points":
        shares = [each.quantity.values[0] for each in operands if each.quantity.dimension == "percent"]
        yield from (abs(one - two) for one, two in combinations(shares[:MAX_PAIRED], 2))
    if figure.dimension == "percent":
        yield from _percentages(operands, asked.direction, is_share=bool(_SHARE.search(asked.text)))
        return
    if asked.is_age:
        yield from (
            each.quantity.values[0] for each in operands if each.is_derived and each.quantity.dimension == "month"
        )
    amounts = [(each, value) for each in operands if (value := amount_in(each.quantity, figure)) is not None]
    yield from (
        value for each, value in amounts if each.quantity.dimension != figure.dimension and each.quantity.is_unit
    )
    if asked.is_span:
        yield from (value for each, _ in amounts if each.is_derived for value in each.quantity.values)
        yield from _durations(operands, figure)
    yield from _by_frequency(operands, amounts, figure)
    if asked.is_difference and not asked.is_balance:
        yield from (abs(one - two) for one, two in _pairs(amounts))
    if figure.dimension in DEGREES:
        return
    yield from _of_two(operands, figure)
    yield from _of_percent(operands, amounts, asked)
    yield from (value * each.times for each, value in amounts if each.times != 1.0)
    yield from _scaled(operands, amounts, figure, asked)
    if asked.is_total and not figure.is_unit:
        amounts = [
            each for each in amounts if _is_keyed(each[0]) or each[0].quantity.dimension in ("", figure.dimension)
        ]
    for group in _groups(amounts, asked):
        if len(group) > 2 and asked.is_total and not _is_keyed(group[0][0]):
            most = max(value for _, value in group)
            yield 2.0 * most - sum(value for _, value in group)
        if len(group) > 1 and (asked.is_total or asked.is_mean):
            total = sum(value * each.times for each, value in group)
            yield from (total,) if asked.is_total else ()
            yield from (total / len(group),) if asked.is_mean else ()
    if asked.is_balance and (balances := _balances(amounts, asked)):
        yield from balances


def amount_in(number: Quantity, like: Quantity) -> float | None:
    """Return a number in the base unit of another one; ``None`` if they measure different things."""
    value = number.values[0]
    if not number.is_unit or not like.is_unit:
        return value if number.is_unit == like.is_unit else None
    if number.dimension == like.dimension:
        return value
    factor = _FACTORS.get((number.dimension, like.dimension))
    if factor is not None:
        return value * factor
    if number.dimension == "fahrenheit" and like.dimension == "celsius":
        return (value - 32.0) / 1.8
    if number.dimension == "celsius" and like.dimension == "fahrenheit":
        return value * 1.8 + 32.0
    return value if same_dimension(number.dimension, like.dimension) else None


_FACTORS = {("gram", "pound"): 1 / 453.592, ("pound", "gram"): 453.592, ("gbp", "pound"): 1.0, ("pound", "gbp"): 1.0}
"""Factors between dimensions; "pounds" are a weight or money."""

Amount = tuple[Operand, float]


_FREQUENCY = re.compile(
    r"\b(?:(?P<once>once|daily)|(?P<twice>twice)|(?P<count>[\w-]{1,12}) times)(?: (?:an?|per|each|every) (?P<unit>day|week|month|year|hour)| daily)?\b",
    re.IGNORECASE,
)


def _by_frequency(operands: Sequence[Operand], amounts: Sequence[Amount], figure: Quantity) -> Iterator[float]:
    """Yield what an amount comes to a day or the like, and in all: "two tablets twice a day for seven days"."""
    spend(len(operands) + len(amounts))
    for match in (
        match for text in dict.fromkeys(each.text for each in operands) if (match := _FREQUENCY.search(text))
    ):
        count = 1.0 if match["once"] else 2.0 if match["twice"] else cardinal(match["count"].lower())
        unit = UNITS.get(key_of(match["unit"] or "day"), ("", 0.0))
        own = [
            value
            for each, value in amounts
            if each.text == match.string and not is_form("time", _noun_of(each.quantity))
        ]
        spans = [each.quantity for each in operands if each.quantity.dimension == unit[0] and unit[1]]
        for value in own[:MAX_MATCHES] if count else ():
            yield value * count
            yield from (
                value * count * span.values[0] / unit[1]
                for span in spans[:MAX_MATCHES]
                if span.dimension != figure.dimension
            )


def _durations(operands: Sequence[Operand], figure: Quantity) -> Iterator[float]:
    """Yield how long amounts last or take at the rates of the source: 600 MB at 20 MB per second."""
    rates = [each.quantity for each in operands if each.quantity.per and each.quantity.per[0] == figure.dimension]
    for rate in rates[:MAX_MATCHES]:
        for each in operands:
            value = amount_in(each.quantity, rate)
            if value and rate.per and rate.values[0] and each.quantity != rate and not each.quantity.per:
                yield value / rate.values[0] * rate.per[1]


def _of_two(operands: Sequence[Operand], figure: Quantity) -> Iterator[float]:
    """Yield the speeds and areas that two figures of one sentence give."""
    if figure.dimension not in ("km/h", "area"):
        return
    for one, two in combinations(operands[:MAX_PAIRED], 2):
        pair = {one.quantity.dimension: one.quantity.values[0], two.quantity.dimension: two.quantity.values[0]}
        if one.text != two.text:
            continue
        if figure.dimension == "km/h" and pair.keys() == {"metre", "time"} and pair["time"]:
            yield _SPEED * pair["metre"] / pair["time"]
        elif figure.dimension == "area" and pair.keys() == {"metre"}:
            yield one.quantity.values[0] * two.quantity.values[0]


def _of_percent(operands: Sequence[Operand], amounts: Sequence[Amount], asked: _Asked) -> Iterator[float]:
    """Yield parts of amounts, and the amounts with or without them where the claim or its question says so.

    A part is taken of an amount that stands beside the percentage, or if the claim has a word beside it: any other
    figure is near some percentage of some amount.
    """
    words = frozenset(map(stem, re.findall(r"[^\W_]+", asked.text.lower())))
    shares = [each for each in operands if each.quantity.dimension == "percent"]
    for (amount, value), each in islice(all_of(amounts, shares), MAX_PAIRED):
        share = each.quantity.values[0] / 100
        if each.text == amount.text or each.near & words:
            yield value * share
        if asked.direction > 0 or _WITH.search(asked.text):
            yield value * (1 + share)
        if asked.direction < 0 or _WITHOUT.search(asked.text):
            yield value * (1 - share)


def _scaled(operands: Sequence[Operand], amounts: Sequence[Amount], figure: Quantity, asked: _Asked) -> Iterator[float]:
    """Yield amounts for the counts of claim and question, each alone and all together."""
    counts = [count for count in asked.counts if count != figure and count.dimension != figure.dimension][:MAX_COUNTS]
    results = [list(islice(_for_count(count, operands, amounts), MAX_MATCHES)) for count in counts]
    given = [
        each.quantity for each in operands if each.quantity.is_unit and each.quantity.dimension != figure.dimension
    ]
    for count in given[:MAX_GIVEN]:
        yield from islice(_by_rule_of_three(count, operands, amounts), MAX_MATCHES)
    for found in results:
        yield from found
    several = [found for found in results if found]
    units = [one for one in asked.units if one.dimension != figure.dimension]
    # "140 dollars a month" is the price of one thing, and no further item.
    are_items = [not one.is_unit for one in units]
    singles = [list(islice(_for_count(one, operands, amounts), MAX_MATCHES)) for one in units]
    for found in singles:
        yield from found
    items = [found for found, is_item in zip(singles, are_items, strict=True) if found and is_item]
    for group in (several, [*several, *items]):
        if 2 <= len(group) <= MAX_COUNTS:
            yield from (sum(chosen) for chosen in all_of(*group))


def _for_count(count: Quantity, operands: Sequence[Operand], amounts: Sequence[Amount]) -> Iterator[float]:
    yield from _by_rule_of_three(count, operands, amounts)
    noun = "" if _noun_of(count) in CALCULATION_WORDS else _noun_of(count)
    if count.is_unit:
        return
    named = [each for each, _ in amounts if noun and any(is_form(noun, word) for word in each.near)]
    if len({each.place for each in named}) == count.values[0] > 1:
        return  # "The two stops" are the two that have an amount each.
    for operand, value in amounts:
        is_price = _PER_PERSON.search(operand.text) if not noun or noun in _PEOPLE else None
        if is_price or operand in named:
            yield value * count.values[0]


def _by_rule_of_three(count: Quantity, operands: Sequence[Operand], amounts: Sequence[Amount]) -> Iterator[float]:
    """Yield amounts for a count where their sentence gives them for another one: 27 euros for twelve bottles."""
    spend(len(operands) + len(amounts))
    bases: dict[str, list[Quantity]] = {}
    for other in operands:
        if other.quantity != count and _is_alike(count, other.quantity):
            bases.setdefault(other.text, []).append(other.quantity)
    for operand, value in amounts:
        per = operand.quantity.per
        if per and per[0] == count.dimension:
            yield value * count.values[0] / per[1]
            continue
        for base in bases.get(operand.text, ()):
            if base != operand.quantity:
                yield from (value * count.values[0] / base.values[0],) if base.values[0] else ()


_PER_PERSON = re.compile(
    r"\b(?:per|each|a|an|pro|par|por) (?:person|head|guest|participant|visitor|kopf|personne|persona)\b|\beach\b",
    re.IGNORECASE,
)
_PEOPLE = frozenset(
    map(
        stem,
        word_set(
            "person persons people guest guests participant participants visitor visitors friend friends personen personnes"
        ),
    )
)


def _is_alike(one: Quantity, two: Quantity) -> bool:
    if one.is_unit or two.is_unit:
        return one.is_unit and two.is_unit and one.dimension == two.dimension
    return bool(_noun_of(one)) and is_form(_noun_of(one), _noun_of(two))


def _noun_of(number: Quantity) -> str:
    return number.dimension.removeprefix("noun:")


def _groups(amounts: Sequence[Amount], asked: _Asked) -> Iterator[list[Amount]]:
    """Yield the amounts of each sentence and of each column, without totals; also those alone that are asked for."""
    groups: dict[tuple[str, object], list[Amount]] = {}
    words = frozenset(map(stem, asked_words := re.findall(r"[^\W_]+", asked.text.lower()))) | all_forms(asked_words)
    columns = _asked_columns(amounts, words)
    for each, value in amounts:
        if each.words & _TOTALS:
            continue
        groups.setdefault(("text", each.place), []).append((each, value))
        if each.quantity.is_unit and not each.is_derived and not _is_keyed(each):
            groups.setdefault(("source", ""), []).append((each, value))
        if each.column and (not columns or each.column in columns):
            groups.setdefault(("column", each.column), []).append((each, value))
    for group in groups.values():
        yield group
        if half := _HALF.search(asked.text):
            middle = len(group) // 2
            yield group[:middle] if half[1].lower() == "first" else group[middle:]
        named = [each for each in group if each[0].words & words - _shared(group)]
        if 1 < len(named) < len(group):
            yield named


def _is_keyed(operand: Operand) -> bool:
    """Return true for a number of a column with a name."""
    return bool(operand.column) and not operand.column.isdecimal()


def _asked_columns(amounts: Sequence[Amount], words: frozenset[str]) -> frozenset[str]:
    """Return the columns that the claim and its question tell from the others by a word of their names."""
    names = {each.column: content_words(each.column) for each, _ in amounts if each.column}
    common = frozenset.intersection(*names.values()) if names else frozenset()
    return frozenset(column for column, own in names.items() if words & own - common)


def _shared(group: Sequence[Amount]) -> frozenset[str]:
    """Return the words that all operands of a group have."""
    return frozenset.intersection(*(each.words for each, _ in group))


_TOTALS = frozenset(map(stem, ("total", "sum", "altogether", "gesamt", "summe", "insgesamt", "totale")))


def _pairs(amounts: Sequence[Amount]) -> Iterator[tuple[float, float]]:
    """Yield the pairs of amounts that stand in one text or one column, in order; also the only two of a source."""
    is_only_pair = sum(not each.is_derived for each, _ in amounts) == 2
    for (one, first), (two, second) in combinations(amounts[:MAX_PAIRED], 2):
        if _are_beside(one, two) or (is_only_pair and not one.is_derived and not two.is_derived):
            yield first, second


def _are_beside(one: Operand, two: Operand) -> bool:
    return one.text == two.text or (bool(one.column) and one.column == two.column)


def _balances(amounts: Sequence[Amount], asked: _Asked) -> list[float]:
    """Return incomes minus expenses of one row or column; only of the one that claim or question names, if any."""
    rows: dict[tuple[str, object], dict[bool, float]] = {}
    for each, value in amounts[:MAX_PAIRED]:
        of_column = content_words(each.column)
        kinds, place = (of_column, ("row", each.place)) if of_column & _MONEY_FLOWS else (each.words, ("", each.column))
        if bool(kinds & _INCOMES) != bool(kinds & _EXPENSES):
            rows.setdefault(place, {}).setdefault(bool(kinds & _INCOMES), value)
    text = frozenset(re.findall(r"\w+", asked.text.lower()))
    names = {place: _name(place, amounts) & text for place in rows}
    most = max(map(len, names.values()), default=0)
    return [abs(two[True] - two[False]) for place, two in rows.items() if len(two) == 2 and len(names[place]) == most]


def _name(place: tuple[str, object], amounts: Sequence[Amount]) -> frozenset[str]:
    """Return the words that name a row or a column."""
    texts = (each.text for each, _ in amounts if each.place == place[1]) if place[0] else iter((str(place[1]),))
    return frozenset(re.findall(r"\w+", next(texts, "").lower()))


_INCOMES = frozenset(
    map(
        stem,
        word_set(
            "revenue revenues income sales turnover takings proceeds receipts earnings umsatz erlöse einnahmen ertrag recettes ingresos"
        ),
    )
)
_EXPENSES = frozenset(
    map(
        stem,
        word_set(
            "cost costs expense expenses expenditure spending outlay outgoings kosten ausgaben aufwand dépenses gastos"
        ),
    )
)
_MONEY_FLOWS = _INCOMES | _EXPENSES


def _leaves_out_unit(one: Quantity, two: Quantity) -> bool:
    """Return true if one of two numbers has a unit, and the other a scale or three digits alone: "240 million"."""
    bare, other = (one, two) if two.is_unit else (two, one)
    return other.is_unit and not bare.is_unit and not bare.dimension and abs(bare.values[0]) >= LEAST_BARE


def _percentages(operands: Sequence[Operand], direction: int, *, is_share: bool) -> Iterator[float]:
    """Yield the changes in a direction, in both if there is none, and the shares if a share is asked for."""
    is_only_pair = sum(not each.is_derived for each in operands) == 2
    for one, two in combinations(operands[:MAX_PAIRED], 2):
        is_pair = _are_beside(one, two) or (is_only_pair and not one.is_derived and not two.is_derived)
        second = amount_in(two.quantity, one.quantity) if is_pair else None
        if second is None and one.text == two.text and _leaves_out_unit(one.quantity, two.quantity):
            second = two.quantity.values[0]
        first = one.quantity.values[0]
        if second is None or not first or not second or one.quantity.dimension == "percent":
            continue
        low, high = sorted((first, second))
        if direction >= 0:
            yield 100.0 * (high - low) / abs(low)
        if direction <= 0:
            yield 100.0 * (high - low) / abs(high)
        if is_share:
            yield 100.0 * low / high
