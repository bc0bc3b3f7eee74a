"""Compare on which days claim and evidence say that something is open or closed, in languages other than English.

"開館時間：月曜日から金曜日 9:00～20:00。日曜日は休館。" opens on Monday. A claim that it is closed then has all its words there.
The texts have the names of their days in English already (``text/local_forms``).
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from workers.evaluation.text.languages.calendar_names import DAYS

MAX_PARTS = 60
"""Maximum number of parts of the evidence with days that are read."""
HOLIDAY = len(DAYS)
"""Number of public holidays, which follow the days of the week."""

_HOURS = re.compile(
    r"(?:開館|営業|開店|开放|营业|開放|營業|开馆)(?:時間|时间)|(?:운영|영업|개관|관람)\s?시간|Öffnungszeiten|heures?\sd['’]ouverture"
    r"|horarios?(?:\sde\s\w+)?|orari[oi]?(?:\sdi\sapertura)?|openings(?:tijden|uren)|godziny\s(?:otwarcia|pracy)|часы\sработы|режим\sработы"
    r"|(?:ساعات|أوقات|مواعيد)\s(?:العمل|الدوام)",
    re.IGNORECASE,
)
_CLOSED = (
    r"休館|休業|定休|閉館|閉店|休み|休診|闭馆|休馆|休息|关闭|关门|不开放|不营业|停业|휴관|휴무|휴업|휴점|쉽니다|쉬는|쉰다|닫|문을\s닫"
    r"|geschlossen|Ruhetag|cerrad[oa]s?|cierra|fermée?s?|chius[oaie]|fechad[oa]s?|gesloten|zamknięt\w+|nieczynn\w+"
    r"|закрыт\w*|выходн\w+|не\sработает|مغلقة?|تغلق|يغلق|غير\sمفتوحة?"
)
_OPEN = (
    r"開館|開いて|営業|開店|开放|营业|开门|开馆|열(?:어|린|립|려)|문을\s엽|엽니다|운영|영업|개관|geöffnet|offen|öffnet|abiert[oa]s?|abre|ouverte?s?|ouvre|apert[oaie]|apre"
    r"|abert[oa]s?|geopend|open|otwart\w+|czynn\w+|открыт\w*|работает|مفتوحة?|تفتح|يفتح"
)
_HOLIDAYS = (
    r"祝日|節假日|节假日|公休日|공휴일|праздни\w+|العطل|Feiertag\w*|festivos|fériés|feriados|festivi|feestdagen|święta"
)
_TOKEN = re.compile(
    rf"(?P<day>\b(?:{'|'.join(DAYS)})\b)|(?P<holiday>{_HOLIDAYS})|(?P<closed>{_CLOSED})|(?P<open>{_OPEN})|(?P<time>\d{{1,2}}:\d\d)",
    re.IGNORECASE,
)
_PART = re.compile(r"[.。!！?？;；؛\n](?!\d)")
_DENIED = re.compile(
    r"ません|なく|ない|않|아니|아닙|没有|未|\b(?:nicht|kein\w*|no|ne|n['’]|pas|non|não|niet|geen|nie|не|нет|лиш\w+|только|لا|ليست?|nur|solo|seulement|sauf|außer|excepto|кроме|behalve|oprócz|إلا|tranne|exceto)\b"
    r"|のみ|だけ|只|除|만\s|제외|以外|を除"
)
"""Words that deny, limit or except; parts with them are left to other rules."""


class State(NamedTuple):
    """Hold that something is open, or closed, on a day: 0 to 6, or ``HOLIDAY``."""

    day: int
    is_open: bool


def opens_otherwise(claim: str, sentences: Sequence[str], words: frozenset[str]) -> bool:
    """Return true if a claim says closed for a day on which the evidence opens, or the reverse.

    Where the evidence says something twice for one day, it is of several things; then only the parts that share most
    words with the claim count.

    Args:
        claim: plain text of the claim.
        sentences: the evidence.
        words: content words of the claim in lower case.
    """
    claimed = frozenset(state for part in _PART.split(claim) for state in _states(part))
    if not claimed:
        return False
    parts = [part for text in sentences for part in dict.fromkeys(_PART.split(text)) if _TOKEN.search(part)][:MAX_PARTS]
    told = [(part, frozenset(_states(part))) for part in dict.fromkeys(parts)]
    days = [day for _, states in told for day in {state.day for state in states}]
    if len(days) > len(set(days)):
        own = {word for word in words if not _TOKEN.fullmatch(word)}
        shared = [sum(word in part.lower() for word in own) for part, _ in told]
        told = [each for each, count in zip(told, shared, strict=True) if count == max(shared)]
    known = frozenset[State]().union(*(states for _, states in told))
    return any(State(day, not is_open) in known and State(day, is_open) not in known for day, is_open in claimed)


def _states(part: str) -> Iterator[State]:
    """Yield what a part of a sentence says of days; a time of day behind days says that something is open."""
    text = _HOURS.sub(" ", part)
    if _DENIED.search(re.sub(_CLOSED, " ", text)):
        return
    days: list[int] = []
    leading: bool | None = None
    for match in _TOKEN.finditer(text):
        if match["day"] or match["holiday"]:
            days.append(HOLIDAY if match["holiday"] else DAYS.index(match[0].lower()))
            continue
        is_open = not match["closed"]
        if days:
            # "Closed on Sunday, open on Saturday": a word before its days goes with them.
            yield from (State(day, is_open if leading is None or match["time"] else leading) for day in days)
            leading, days = None if match["time"] or leading is None else is_open, []
        elif not match["time"]:
            leading = is_open
    if leading is not None:
        yield from (State(day, leading) for day in days)
