"""Compare what two texts affirm and deny, in languages other than English.

Two texts on one matter exclude each other if one of them is denied ("nicht", "не", "ません"), or if they have the two
sides of a row of opposites ("geöffnet" and "geschlossen"). The clause of the evidence that has most words of the claim
is compared; where several have as many and do not agree, there is no result.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from workers.evaluation.facts.parallel_clauses import cut_clauses, is_small, stems_of
from workers.evaluation.text.words import KEPT_TEXTS

ON_ONE_MATTER = 0.6
"""Least share of the claim's other words that a clause has to have."""
SUBJECT = 3
"""Number of words at the beginning of a sentence that its other clauses may leave out."""
KEY = 5
"""Letters by which words are compared, since endings vary: "закрыт" and "закрыта"."""

_DENIED = re.compile(
    r"\b(?:nicht|kein(?:e[nmrs]?)?|nie|niemals|pas|jamais|aucune?|no|nunca|jamás|ningun\w*|tampoco|non|mai|nessun\w*"
    r"|n(?:e\s|['’])(?:\w+\s+){1,3}?(?:plus|rien|guère|personne)"  # "ne" alone is Italian for "of it"
    r"|não|nenhum\w*|niet|geen|nooit|nigdy|żad\w*|inte|ikke|не|нет|никогда|нельзя|ні)\b"
    r"|不(?!仅|但|过|同|少|管)|没(?!有?问题)|未(?!来)|無く|なく(?!な)|ません|ない(?!と|しは)|なかっ|않|없|아니",
    re.IGNORECASE,
)
_ASKED = re.compile(r"能不能|是不是|有没有|可不可以|会不会|ませんか|없나요|않나요")
"""Forms of questions that hold a denial and deny nothing."""
_FREE = re.compile(
    r"\b(?:muss|müssen|braucht|brauchen) (?:[^.,;]{0,40} )?(?:nicht|kein\w*)\b|\b(?:hoeft|hoeven)\b|\bnie (?:musi|muszą)\b",
    re.IGNORECASE,
)

_ROWS = r"""
offen|geöffnet|öffnet|aufgemacht|ouvert\w*|ouvre\w*|abiert\w*|abren?|apert\w*|aprono|abert[oa]s?|open|opent|otwart\w*|открыт\w*|открыва\w*|開館|開い|営業|开门|开放|营业 @ geschlossen|schließt|zu|fermée?s?|ferment?|cerrad\w*|cierran?|chius\w*|chiud\w*|fechad\w*|fecham?|gesloten|dicht|sluit|zamknięt\w*|закрыт\w*|закрыва\w*|閉館|閉ま|休館|定休|休業|关门|关闭|停业|休息
erlaubt|gestattet|zulässig|dürfen|darf|autorisée?s?|permise?s?|admise?s?|peut|peuvent|peut-on|permitid\w*|pueden?|puedo|permess\w*|consentit\w*|ammess\w*|può|possono|posso|toegestaan|mogen|mag|kan|dozwolon\w*|wolno|można|mogą|może|podem?|разреш\w*|можно|может|могут|可以|允许|准许|能|許可|できま|可能|よい|いいですか @ verboten|untersagt|unzulässig|interdite?s?|défendue?s?|prohibid\w*|vietat\w*|proibit\w*|proibid\w*|verboden|zabronion\w*|zakazan\w*|запрещ\w*|нельзя|禁止|禁じ|不可|厳禁|严禁
enthalten|inbegriffen|inklusive|comprise?s?|incluse?s?|incluid\w*|incluye\w*|inclus\w*|compres\w*|inbegrepen|inclusief|wliczon\w*|zawart\w*|включ\w*|входит|含まれ|込み|包括|包含|含 @ ausgeschlossen|exklusive|exclue?s?|excluid\w*|esclus\w*|exclusief|wyłączon\w*|исключ\w*|別料金|不含|除外
kostenlos|kostenfrei|gratis|gratuit\w*|gratuiti|frei|bezpłatn\w*|darmow\w*|бесплатн\w*|無料|免费 @ kostenpflichtig|payante?s?|bezahlen|zahlen|pagamento|pago|pagar|betaald|betalen|płatn\w*|płacić|платн\w*|платить|有料|收费|付费
möglich|possible|posible|possibile|possível|mogelijk|możliw\w*|возможн\w* @ unmöglich|impossible|imposible|impossibile|impossível|onmogelijk|niemożliw\w*|невозможн\w*
gültig\w*|valables?|válid\w*|valid[oaie]|geldig\w*|ważn\w*|действител\w*|действует|有効|有效 @ ungültig\w*|abgelaufen|expirée?s?|périmée?s?|caducad\w*|inválid\w*|invalid[oaie]|scadut\w*|vencid\w*|ongeldig\w*|verlopen|nieważn\w*|недействител\w*|истек\w*|истёк|無効|期限切|无效|过期|失效
gewonnen|gewann|gewinnt|gagnée?s?|gagne|ganaron|ganó|vinto|vinse|ganhou|venceu|won|wygra\w*|выигра\w*|победи\w*|勝|赢|获胜 @ verloren|verlor|verliert|perdue?s?|perd|perdieron|perdió|perso|perse|perdeu|przegra\w*|проигра\w*|負け|敗|输
gestiegen|stieg|stiegen|steigt|erhöht\w*|augment\w*|haussé?|subió|subieron|aument\w*|salit\w*|subiu|gestegen|steeg|stijgt|wzrosł\w*|wzrósł|выросл\w*|вырос|увелич\w*|повыс\w*|增加|上升|上涨|増加|上が @ gesunken|sank|sanken|sinkt|fiel|gefallen|verringert|gesenkt|baissé?e?|diminu\w*|bajó|bajaron|disminu\w*|redujo|sces\w*|calat\w*|caiu|desceu|reduz\w*|gedaald|daalde|daalt|spadł\w*|zmniejsz\w*|сниз\w*|упал\w*|уменьш\w*|减少|下降|下跌|減少|下が
genehmigt\w*|angenommen|gebilligt|stattgegeben|approuv\w*|acceptée?s?|aprob\w*|acept\w*|approvat\w*|accettat\w*|approvò|aprovad\w*|aprovou|aceit\w*|goedgekeurd|keurde|aangenomen|toegewezen|zatwierdz\w*|przyję\w*|одобр\w*|утверд\w*|принял\w*|批准|通过|接受|支持|承認|可決|受け入れ|賛成 @ abgelehnt\w*|lehnte|zurückgewiesen|abgewiesen|rejet\w*|refus\w*|rechaz\w*|respint\w*|respinse|rifiut\w*|rejeit\w*|recus\w*|afgewezen|verworpen|geweigerd|odrzuc\w*|отклон\w*|отверг\w*|отказа\w*|拒绝|否决|反对|驳回|否決|却下|拒否|反対
unterzeichnet\w*|unterschrieben|unterschrieb|schloss|signée?s?|signa|signent|firmó|firmad\w*|firmaron|firmat\w*|firmò|assinou|assinad\w*|ondertekend\w*|tekende|podpisa\w*|подписа\w*|签署|签订|签了|署名|締結|調印 @ gekündigt|kündigte|storniert\w*|aufgelöst|résili\w*|annul\w*|cancel\w*|rescindi\w*|rescis\w*|disdett\w*|opgezegd|geannuleerd|zegde|wypowiedz\w*|anulowa\w*|расторг\w*|отмени\w*|取消|解除|终止|解約|破棄
gekauft|kaufte|erwarb|erworben|achet\w*|acquis\w*|compr\w*|adquiri\w*|gekocht|kocht|kupił\w*|купил\w*|приобр\w*|购买|收购|买|購入|買 @ verkauft|verkaufte|veräußert|vend\w*|vent\w*|verkocht|sprzeda\w*|прода\w*|出售|卖|売却|売
mit|avec|con|com|met|с|со @ ohne|sans|sin|senza|sem|zonder|bez|без
vor|avant|antes|prima|voor|przed|перед|до @ nach|après|después|despues|dopo|depois|na|po|после
alle|jede[rsnm]?|sämtliche|tous|toutes|todos|todas|tutti|tutte|alle|iedereen|wszys\w*|все|всех|每个|所有|全部|すべて|全て|全員 @ einige|manche|wenige|certains|certaines|quelques|algunos|algunas|alcuni|alcune|alguns|sommige|enkele|niektór\w*|некотор\w*|有些|部分|一部
immer|stets|toujours|siempre|sempre|altijd|zawsze|всегда|总是|いつも|常に @ manchmal|selten|parfois|rarement|a veces|rara|talvolta|raramente|às vezes|soms|zelden|czasem|rzadko|иногда|редко|有时|很少|時々|まれに
eröffnet\w*|gegründet|inaugur\w*|fond\w*|opgericht|założ\w*|основа\w*|成立|設立|創設 @ aufgegeben|dissous|disolvi\w*|disuelt\w*|sciolt\w*|opgeheven|rozwiąza\w*|распуст\w*|解散
höher|größer|länger|älter|schneller|schwerer|plus grande?s?|mayor|maggiore|maior|groter|hoger|większ\w*|wyżs\w*|больше|выше @ niedriger|kleiner|kürzer|jünger|langsamer|leichter|plus petite?s?|menor|minore|kleiner|lager|mniejsz\w*|niżs\w*|меньше|ниже
gut|bien|bene|bem|goed|dobrze|хорошо @ schlecht|mal|male|slecht|źle|плохо
"""
_MODAL = r"""
muss|müssen|doit|doivent|deben?|devono|deve|devem|moet|moeten|musi|muszą|долж\w*|обязан\w*|必须|なければ @ darf|dürfen|kann|können|peut|peuvent|pueden?|può|possono|podem?|mag|mogen|kan|kunnen|może|mogą|может|могут|可以|てもよい|できま
"""
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


def _pattern(words: str) -> re.Pattern[str]:
    parts = words.strip().split("|")
    spaced = "|".join(word for word in parts if not _CJK.search(word))
    other = "|".join(word for word in parts if _CJK.search(word))
    return re.compile("|".join(filter(None, (rf"\b(?:{spaced})\b" if spaced else "", other))), re.IGNORECASE)


def _table(rows: str) -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    sides = (row.split("@") for row in rows.strip().splitlines())
    return tuple((_pattern(one), _pattern(two)) for one, two in sides)


_OPPOSITES = _table(_ROWS)
_MODALITY = _table(_MODAL)


def is_contrary(claim: str, sentences: Iterable[str], *, is_question: bool = False) -> bool | None:
    """Return true if the evidence says the contrary of a claim, false if it says the same.

    Args:
        claim: a statement, or a question that is answered with yes.
        sentences: the evidence.
        is_question: whether it is a question; what must be done is then no contrary of what may be done.

    Returns:
        ``None`` if nothing in the evidence is clearly on the same matter.
    """
    own = _matter(claim)
    if not own:
        return None
    best, found = 0.0, set[bool]()
    for clause in (part for text in sentences for part in _clauses(text)):
        shared = len(own & _matter(clause)) / len(own)
        if shared < max(best, ON_ONE_MATTER):
            continue
        if shared > best:
            best, found = shared, set()
        if (contrary := _excludes(claim, clause, is_question=is_question)) is not None:
            found.add(contrary)
    return found.pop() if len(found) == 1 else None


@lru_cache(maxsize=KEPT_TEXTS)
def _clauses(text: str) -> tuple[str, ...]:
    first, *others = cut_clauses(text) or [text]
    subject = " ".join(first.split()[:SUBJECT])
    for one, two in _OPPOSITES:
        subject = two.sub("", one.sub("", subject))
    return tuple(dict.fromkeys((first, *(f"{subject} {other}" for other in others), text)))


@lru_cache(maxsize=KEPT_TEXTS)
def _matter(text: str) -> frozenset[str]:
    """Return the words of a text without denials and opposites, cut to their first letters."""
    text = _ASKED.sub(" ", text)
    for one, two in (*_OPPOSITES, *_MODALITY):
        text = two.sub(" ", one.sub(" ", text))
    return frozenset(word[:KEY] for word in stems_of(_DENIED.sub(" ", text)) if not is_small(word))


def _excludes(claim: str, clause: str, *, is_question: bool) -> bool | None:
    turned = _is_denied(claim) != _is_denied(clause)
    for one, two in _OPPOSITES if is_question else (*_OPPOSITES, *_MODALITY):
        mine, theirs = _side(one, two, claim), _side(one, two, clause)
        if mine and not theirs and one.search(clause) and two.search(clause):
            return None  # "opens on Mondays and closes on Tuesdays"
        if mine and theirs and mine != theirs:
            turned = not turned
    return turned


def _is_denied(text: str) -> bool:
    return bool(_DENIED.search(_FREE.sub(" ", _ASKED.sub(" ", text))))


def _side(one: re.Pattern[str], two: re.Pattern[str], text: str) -> int:
    """Return which side of a row a text has: 1 or -1; 0 for none or both."""
    return bool(one.search(two.sub(" ", text))) - bool(two.search(text))
