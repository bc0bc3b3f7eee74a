"""Find claims that drop a condition or an exception of the evidence, in languages other than English.

"Even if the tank is not full" drops the condition of "provided the tank is full", and "on all floors, also in the
basement" the exception of "on all floors except the basement".
"""

import re
from collections.abc import Iterable

from workers.evaluation.contradictions.languages.opposite_words import EXCEPTION, denial_pattern
from workers.evaluation.contradictions.parallel_clauses import is_small, stems_of

KEY = 5
"""Letters by which words are compared, since endings vary."""

_CONDITION = re.compile(
    r"\b(?:nur|sofern|vorausgesetzt|unter\sder\s(?:Bedingung|Voraussetzung)|erst|wenn|à\scondition|pourvu\sque|seulement|uniquement|sous\sréserve|si"
    r"|s['’]ils?|sólo|solo|únicamente|siempre\s(?:que|y\scuando)|a\scondición|desde\sque|contanto\sque|apenas|somente|só|se|purché|a\scondizione|a\spatto"
    r"|soltanto|mits|op\svoorwaarde|alleen|slechts|pas|als|tylko|wyłącznie|pod\swarunkiem|o\sile|dopiero|jeśli|только|лишь|при\sусловии|если|при)\b"
    r"|場合|限り|のみ|だけ|たら|必要|须|须|只有|必须|前提|如果|仅",
    re.IGNORECASE,
)
_WAIVED = re.compile(
    r"\b(?:(?:auch|selbst|sogar|noch)\s(?:wenn|ohne|nach|vor|am|bei)|egal|unabhängig\svon|ungeachtet|même\s(?:si|sans|après|avant|le)|quel(?:le)?s?\sque"
    r"|peu\simporte|indépendamment|aunque(?!\ss[oó]lo)|incluso\s(?:si|sin|después|el)|sin\simportar|independientemente|mesmo\s(?:que|se|sem|depois|no)|ainda\sque"
    r"|independentemente|anche\s(?:se|senza|dopo|in\sassenza)|indipendentemente|a\sprescindere|ook\s(?:als|zonder|na|op)|zelfs|ongeacht|nawet|także\s(?:bez|po|przy|w)"
    r"|również\s(?:bez|po|przy)|niezależnie|jeszcze\szanim|даже|независимо|вне\sзависимости|также\s(?:без|после))\b"
    r"|なくても|でも構いません|にかかわらず|であっても|即使|无论|不管|不论|哪怕|就算",
    re.IGNORECASE,
)
_INCLUDED = re.compile(
    r"\b(?:auch|selbst|sogar|einschließlich|inklusive|même|y\scompris|incluso|inclu(?:id[oa]s?|siv[eo])|también|inclusive|também|até|anche|compres[oaie]"
    r"|perfino|ook|zelfs|inclusief|nawet|także|również|włącznie|łącznie|даже|включая|также|в\sтом\sчисле)\b|含め|包括|包含|连",
    re.IGNORECASE,
)
_END = re.compile(r"[,;:.](?:\s|$)|[，；。、]")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


def drops_local_condition(claim: str, sentences: Iterable[str], language: str) -> bool:
    """Return true if a claim holds in spite of what a sentence makes a condition, or for what it excepts."""
    waived, included = _after(_WAIVED, claim), _after(_INCLUDED, claim)
    if not waived and not included:
        return False
    is_denied = bool(denial_pattern(language).search(_WAIVED.split(claim)[0]))
    for sentence in sentences:
        if waived and not is_denied and not _WAIVED.search(sentence):
            condition = _after(_CONDITION, sentence)
            if condition and 2 * len(condition & waived) >= len(waived):
                return True
        if included and not is_denied and not EXCEPTION.search(claim):
            excepted = _after(EXCEPTION, sentence)
            if excepted & included and not included - excepted - _keys(sentence):
                return True
    return False


def _after(marker: re.Pattern[str], text: str) -> frozenset[str]:
    """Return the words of a clause behind a marker; without spaces between words those of its whole clause."""
    match = marker.search(text)
    if match is None:
        return frozenset()
    if _CJK.search(text):
        return next((_keys(part) for part in _END.split(text) if match[0] in part), frozenset())
    return _keys(_END.split(text[match.end() :])[0])


def _keys(text: str) -> frozenset[str]:
    return frozenset(word[:KEY] for word in stems_of(text) if not is_small(word))
