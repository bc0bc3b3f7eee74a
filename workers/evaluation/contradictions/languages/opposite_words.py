"""Define words of the ten most used languages beside English that deny, exclude each other, or set limits and conditions.

Each row of opposites has two sides; what one side says of a thing, the other one denies. Endings vary.
"""

import re
from collections.abc import Mapping

_ROWS = r"""
offen|geöffnet|öffnet|aufgemacht|ouvert\w*|ouvre\w*|abiert\w*|abren?|apert\w*|aprono|abert[oa]s?|open|opent|otwart\w*|открыт\w*|открыва\w*|開館|開い|営業|开门|开放|营业 @ geschlossen|schließt|zu(?=\s*(?:$|[.,;]))|fermée?s?|ferment?|cerrad\w*|cierran?|chius\w*|chiud\w*|fechad\w*|fecham?|gesloten|dicht|sluit|zamknięt\w*|закрыт\w*|закрыва\w*|閉館|閉ま|休館|定休|休業|关门|关闭|停业|休息
erlaubt|gestattet|zulässig|dürfen|darf|autorisée?s?|permise?s?|admise?s?|peut|peuvent|peut-on|permitid\w*|pueden?|puedo|permess\w*|consentit\w*|ammess\w*|può|possono|posso|toegestaan|mogen|mag|kan|dozwolon\w*|wolno|można|mogą|może|podem?|разреш\w*|можно|может|могут|可以|允许|准许|(?<![功性智节可技])能(?!力|源|量|耗)|許可|できま|できる|可能|かまいません|差し支え|よい|いいですか @ verboten|untersagt|unzulässig|interdite?s?|défendue?s?|prohibid\w*|vietat\w*|proibit\w*|proibid\w*|vedad\w*|verboden|zabronion\w*|zakazan\w*|запрещ\w*|нельзя|禁止|禁じ|不可(?!欠)|厳禁|严禁|避けて
enthalten|inbegriffen|inklusive|comprise?s?|incluse?s?|incluid\w*|incluye\w*|inclus\w*|compres\w*|inbegrepen|inclusief|wliczon\w*|zawart\w*|включ\w*|входит|含まれ|込み|包括|包含|含 @ ausgeschlossen|exklusive|pag\w+ a ?parte|factur\w+ en (?:plus|supplément)|gesondert berechnet|apart betaald|оплачива\w+ отдельно|exclue?s?|excluid\w*|esclus\w*|exclusief|wyłączon\w*|исключ\w*|別料金|不含|除外
kostenlos|kostenfrei|gratis|gratuit\w*|gratuiti|frei|bezpłatn\w*|darmow\w*|бесплатн\w*|無料|免费 @ (?:送料|料金?|費用)[がは]かか|kostenpflichtig|payante?s?|bezahlen|zahlen|pagamento|pago|pagar|betaald|betalen|płatn\w*|płacić|платн\w*|платить|有料|收费|付费
möglich|possible|posible|possibile|possível|mogelijk|możliw\w*|возможн\w* @ unmöglich|impossible|imposible|impossibile|impossível|onmogelijk|niemożliw\w*|невозможн\w*
gültig\w*|valables?|válid\w*|valid[oaie]|geldig\w*|ważn\w*|действител\w*|действует|有効|有效 @ ungültig\w*|abgelaufen|expirée?s?|périmée?s?|caducad\w*|inválid\w*|invalid[oaie]|scadut\w*|vencid\w*|ongeldig\w*|verlopen|nieważn\w*|недействител\w*|истек\w*|истёк|無効|期限切|无效|过期|失效
gewonnen|gewann|gewinnt|gagnée?s?|gagne|ganaron|ganó|vinto|vinse|ganhou|venceu|won|wygra\w*|выигра\w*|победи\w*|勝|赢|获胜 @ verloren|verlor|verliert|perdue?s?|perd|perdieron|perdió|perso|perse|perdeu|przegra\w*|проигра\w*|負け|敗|输
gestiegen|stieg|stiegen|steigt|steigen|erhöh\w*|angehoben|Anstieg\w*|augment\w*|hauss\w*|hausse|subió|subieron|subirá|subida|subir|aument\w*|aumentó|salit\w*|salgono|rialz\w*|subiu|elev\w*|gestegen|steeg|stegen|stijgt|stijging|verhoogd|wzrosł\w*|wzrósł|wzrost\w*|podwyż\w*|podnies\w*|выросл\w*|вырос|увелич\w*|повыс\w*|повыш\w*|рост\w{0,2}|增加|上升|上涨|上调|提高|増加|増え|上が|引き上げ|値上げ @ gesunken|sank|sanken|sinkt|sinken|fiel|fielen|gefallen|verringer\w*|gesenkt|senkt\w*|Rückgang\w*|baiss\w*|abaiss\w*|rédui\w*|diminu\w*|bajó|bajaron|bajará|baje|bajada|disminu\w*|redujo|reduci\w*|sces\w*|calat\w*|ridott\w*|ribass\w*|caiu|caíram|desceu|reduz\w*|gedaald|daalde\w*|daalt|daling|verlaagd|spadł\w*|spad(?:ek|ku)|zmniejsz\w*|obniż\w*|сниз\w*|сниж\w*|упал\w*|уменьш\w*|сократ\w*|减少|下降|下跌|下调|降低|減少|減り|下が|引き下げ|値下げ
genehmigt\w*|angenommen|gebilligt|stattgegeben|bewilligt\w*|stimmte\w*|zugestimmt|approuv\w*|acceptée?s?|aprob\w*|aprobó|acept\w*|estim(?:ó|ad\w+)|approvat\w*|accettat\w*|accolt\w*|accol(?:se|to)|approvò|aprovad\w*|aprovou|aceit\w*|deferi\w*|goedgekeurd|keurde|aangenomen|toegewezen|gegrond|zatwierdz\w*|przyję\w*|uwzględni\w*|одобр\w*|утверд\w*|принял\w*|удовлетвор\w*|批准|通过|接受|支持|承認|可決|認め(?!ら?れ?な)|受け入れ|賛成 @ abgelehnt\w*|lehnte\w*|zurückgewiesen|abgewiesen|verworfen|verwarf|rejet\w*|refus\w*|rechaz\w*|desestim\w*|respint\w*|respinse|rifiut\w*|rigett\w*|rejeit\w*|recus\w*|indeferi\w*|afgewezen|verworpen|geweigerd|ongegrond|odrzuc\w*|oddali\w*|отклон\w*|отверг\w*|отказа\w*|拒绝|否决|反对|驳回|否決|却下|棄却|拒否|退け|反対
unterzeichnet\w*|unterschrieben|unterschrieb|schloss|signée?s?|signa|signent|firmó|firmad\w*|firmaron|firmat\w*|firmò|assinou|assinad\w*|ondertekend\w*|tekende|podpisa\w*|подписа\w*|签署|签订|签了|署名|締結|調印 @ gekündigt|kündigte|storniert\w*|aufgelöst|résili\w*|annul\w*|cancel\w*|rescindi\w*|rescis\w*|disdett\w*|opgezegd|geannuleerd|zegde|wypowiedz\w*|anulowa\w*|расторг\w*|отмени\w*|取消|解除|终止|解約|破棄
verlänger\w*|erneuer\w*|prolong\w*|renouvel\w*|prorrog\w*|renov\w*|prorogat\w*|rinnov\w*|verlengd\w*|vernieuw\w*|przedłuż\w*|продл\w*|更新|延長|续签|续约|延长 @ beendet\w*|gekündigt|aufgehoben|résili\w*|rescindi\w*|disdett\w*|opgezegd|beëindigd|zakończ\w*|прекра[тщ]\w*|расторг\w*|終了|解除|打ち切|终止|解约
bestätigt\w*|bestätigte\w*|confirm\w*|conferm\w*|bevestigd\w*|bekrachtigd|potwierdz\w*|utrzyma\w*|подтверд\w*|维持 @ aufgehoben|widerrufen|annul\w*|anul\w*|revoc\w*|revog\w*|vernietigd|herroepen|uchyli\w*|отмен[иеё]\w*|撤销|取り消
gekauft|kaufte|erwarb|erworben|achet\w*|acquis\w*|compr\w*|adquiri\w*|gekocht|kocht|kupił\w*|купил\w*|приобр\w*|购买|收购|买|購入|買 @ verkauft|verkaufte|veräußert|vend\w*|vent\w*|verkocht|sprzeda\w*|прода\w*|出售|卖|売却|売
mit|avec|con|com|met|с|со @ ohne|sans|sin|senza|sem|zonder|bez|без
vor|avant|antes|prima|voor|przed|zanim|перед|до|前 @ nach|après|después|despues|dopo|depois|na|po|после|後|之后
alle|jede[rsnm]?|sämtliche|tous|toutes|todos|todas|tutti|tutte|alle|iedereen|wszys\w*|все|всех|每个|所有|全部|すべて|全て|全員 @ einige|manche|wenige|certains|certaines|quelques|algunos|algunas|alcuni|alcune|alguns|sommige|enkele|niektór\w*|некотор\w*|有些|部分|一部
immer|stets|toujours|siempre|sempre|altijd|zawsze|всегда|总是|いつも|常に @ manchmal|selten|parfois|rarement|a veces|rara|talvolta|raramente|às vezes|soms|zelden|czasem|rzadko|иногда|редко|有时|很少|時々|まれに
eröffne\w*|gegründet|inaugur\w*|fond\w*|abriu|abrió|abrieron|opgericht|heropend|założ\w*|otworzy\w*|основа\w*|成立|設立|創設 @ aufgegeben|schloss|geschlossen|fermé\w*|cerró|cerraron|chiuso|fechou|dissous|disolvi\w*|disuelt\w*|sciolt\w*|opgeheven|rozwiąza\w*|zamkn\w*|распуст\w*|解散
begann\w*|begonnen|beginnt|commenc\w*|comenz\w*|empez\w*|inizi\w*|começ\w*|begon|begint|gestart|rozpocz\w*|zaczę\w*|начал\w*|начина\w*|開始|始ま|开始 @ ende[nt]\w*|beendet|termin\w*|finaliz\w*|finisc\w*|finit\w*|acab\w*|eindigt|geëindigd|zakończ\w*|skończ\w*|законч\w*|заверш\w*|終了|終わ|结束
höher|größer|länger|älter|schneller|schwerer|plus grande?s?|mayor|maggiore|maior|groter|hoger|większ\w*|wyżs\w*|больше|выше @ niedriger|kleiner|kürzer|jünger|langsamer|leichter|plus petite?s?|menor|minore|kleiner|lager|mniejsz\w*|niżs\w*|меньше|ниже
gut|bien|bene|bem|goed|dobrze|хорошо @ schlecht|mal|male|slecht|źle|плохо
höchstens|maximal|max|maximum|maximaal|hoogstens|máxim[oa]|massim[oa]|maksymaln\w*|maksimum|najwyżej|максимум|最多|最高|最大|不超过|以内|以下|まで @ mindestens|wenigstens|minimal|minimum|minimaal|minstens|mínim[oa]|minim[oa]|minimaln\w*|co najmniej|przynajmniej|минимум|至少|最少|最低|少なくとも|以上
spätestens|plus tard|más tardar|più tardi|mais tardar|uiterlijk|najpóźniej|позднее|最迟 @ frühestens|plus tôt|vroegst|najwcześniej|раньше|最早
obligatorisch|verpflichtend\w*|vorgeschrieben|erforderlich|notwendig|nötig|Pflicht|obligatoires?|nécessaires?|requise?s?|exigée?s?|obligatori[oa]s?|necesari[oa]s?|obbligatori[oae]?|necessari[oae]|requerid[oa]s?|obligad[oa]s?|obrigatóri[oa]s?|necessári[oa]s?|verplicht|noodzakelijk|nodig|vereist|obowiązkow\w*|obowiąz\w*|konieczn\w*|wymagan\w*|niezbędn\w*|обяза[тн]\w*|необходим\w*|требуется|必要|必須|必须|必需|义务|義務|须 @ freiwillig\w*|fakultativ|optional\w*|auf Wunsch|empfohlen|facultati\w*|volontaires?|optionnel\w*|recommandée?s?|opcional\w*|voluntari[oa]s?|recomendad\w*|facoltativ\w*|volontari[oa]|consigliat\w*|discrezione|optioneel|vrijwillig|vrijblijvend|aanbevolen|dobrowoln\w*|opcjonaln\w*|zalecan\w*|по желанию|усмотрению|добровольн\w*|необязат\w*|рекоменд\w*|任意|自由|自愿|可选|不要|建议|推荐|推奨
erstatte\w*|zurückgezahlt|devuelv\w*|reembols\w*|rembours\w*|rimbors\w*|restitui\w*|devolv\w*|terugbetaald|zwraca\w*|zwrot\w*|возвраща\w*|払い戻\w*|退还|退款 @ verfällt|verfallen|einbehalten|pierd\w*|perdue?s?|perd|perde|perdono|perdem|conservée?s?|retenue?s?|trattenut\w*|vervalt|ingehouden|przepada\w*|сгора\w*
"""
_MODAL = r"""
muss|müssen|doit|doivent|deben?|devono|deve|devem|moet|moeten|musi|muszą|долж\w*|обяза[нт]\w*|obligatori\w*|verpflichtet|tenut[oaie]|必须|なければ|必要 @ darf|dürfen|kann|können|peut|peuvent|pueden?|può|possono|podem?|mag|mogen|kan|kunnen|może|mogą|может|могут|вправе|可以|てもよい|できま
alle|jede[rsnm]?|beide[nr]?|tous|toutes|todos|todas|amb[oa]s|tutti|tutte|entramb[ie]|iedereen|wszys\w*|każd\w*|оба|обе|все|всех|всем|каждо\w*|所有|全員|誰でも|任何人 @ nur|lediglich|ausschließlich|seulement|uniquement|sólo|solo|únicamente|solamente|soltanto|soli|só|somente|apenas|alleen|slechts|uitsluitend|tylko|wyłącznie|только|лишь|исключительно|只有|仅|のみ|だけ|限り
"""
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


def _pattern(words: str) -> re.Pattern[str]:
    parts = words.strip().split("|")
    spaced = "|".join(word for word in parts if not _CJK.search(word))
    other = "|".join(word for word in parts if _CJK.search(word))
    return re.compile("|".join(filter(None, (rf"\b(?:{spaced})\b" if spaced else "", other))), re.IGNORECASE)


Row = tuple[re.Pattern[str], re.Pattern[str]]


def _table(rows: str) -> tuple[Row, ...]:
    sides = (row.split("@") for row in rows.strip().splitlines())
    return tuple((_pattern(one), _pattern(two)) for one, two in sides)


OPPOSITES = _table(_ROWS)
"""Opposites in statements and questions."""
DENYING = frozenset((OPPOSITES[1], OPPOSITES[2], OPPOSITES[4], OPPOSITES[8]))
"""Rows whose second side denies a statement that has neither: forbidden, excluded, impossible, refused."""
CONVERSE = frozenset((OPPOSITES[6], OPPOSITES[12]))
"""Rows whose sides say the same of two parties: who buys from a seller, and who sells to a buyer."""
MODALITY = _table(_MODAL)
"""Opposites in statements alone: what must be done is no contrary of a question for what may be done."""

_DENIALS: Mapping[str, str] = {
    "de": r"nicht|kein(?:e[nmrs]?)?|nie|niemals|weder",
    "fr": r"pas|jamais|aucune?|ni|n(?:e\s|['’])(?:\w+\s+){1,3}?(?:plus|rien|guère|personne)",
    "es": r"no|nunca|jamás|ningun\w*|ningún|tampoco",
    "it": r"no|non|mai|nessun\w*",
    "pt": r"não|nunca|jamais|nenhum\w*",
    "nl": r"niet|geen|nooit",
    "pl": r"nie|nigdy|żad\w*",
    "ru": r"не|нет|никогда|нельзя|ні",
    "ar": r"لا|ليس\w*|لم|لن|غير|دون|ممنوع",
    "sv": r"inte|ikke",
}
_DENIED_CJK = r"不(?!仅|但|过|同|少|管)|没(?!有?问题)|未(?!来)|無く|なく(?!な)|ず(?=[、に。]|$)|ません|ない(?!と|しは)|なかっ|않|없|아니"


def _denial(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{words})\b|{_DENIED_CJK}", re.IGNORECASE)


_DENIAL_PATTERNS: Mapping[str, re.Pattern[str]] = {language: _denial(words) for language, words in _DENIALS.items()}
_ANY_DENIAL = _denial("|".join(_DENIALS.values()))


def denial_pattern(language: str) -> re.Pattern[str]:
    """Return the words by which a language denies; "no" is Spanish, and Portuguese for "in the"."""
    return _DENIAL_PATTERNS.get(language, _ANY_DENIAL)


_SAME: tuple[tuple[str, str], ...] = (
    (r"能不能|是不是|有没有|可不可以|会不会|ませんか|없나요|않나요", " "),  # questions that deny nothing
    (r"\bnicht\smehr\sals\b", "höchstens"), (r"\bnicht\sweniger\sals\b", "mindestens"),
    (r"\bpas\splus\sd[e'’]", "maximum de"), (r"\bpas\smoins\sd[e'’]", "minimum de"),
    (r"\bau\splus(?!\stard)\b", "maximum"), (r"\bau\smoins\b", "minimum"),
    (r"\bno\smás\sde\b", "máximo"), (r"\bno\smenos\sde\b|\bal\smenos\b|\bpor\slo\smenos\b", "mínimo"),
    (r"\bnon\spiù\sdi\b|\bal\spiù\b", "massimo"), (r"\bnon\smeno\sdi\b|\balmeno\b", "minimo"),
    (r"\bnão\smais\s(?:de|que)\b", "máximo"), (r"\bpelo\smenos\b|\bao\smenos\b", "mínimo"),
    (r"\bniet\smeer\sdan\b", "maximaal"), (r"\btenminste\b|\bten\sminste\b|\bniet\sminder\sdan\b", "minimaal"),
    (r"\bnie\swięcej\sniż\b", "maksymalnie"), (r"\bnie\smniej\sniż\b", "minimalnie"), (r"\bnie\spóźniej\sniż\b", "najpóźniej"),
    (r"\bне\s(?:более|больше|свыше)\b", "максимум"), (r"\bне\s(?:менее|меньше)\b|\bкак\sминимум\b", "минимум"),
    (r"ないで(?:ください|下さい)", "禁止"), (r"请勿|切勿|不要在|不得(?![超少])", "禁止"),
    (r"不得?超过|不多于", "最多"), (r"不得?少于|不低于", "至少"), (r"を?超えない", "以下"),
    (r"\bnicht\s(?:nur|allein)\b|\bpas\s(?:seulement|que)\b|\bno\ssol[oa](?:mente)?\b|\bnon\ssol[oa]\b|\bnão\s(?:só|apenas)\b|\bniet\salleen\b"
     r"|\bnie\stylko\b|\bне\sтолько\b", " "),
    (r"\b(?:muss|müssen|braucht|brauchen|brauche) (?:[^.,;]{0,40} )?(?:nicht|kein\w*)\b", "freiwillig"),
    (r"\b(?:nicht|keine?)\s(?:\w+\s)?(?:obligatorisch|verpflichtend|vorgeschrieben|erforderlich|notwendig|nötig|Pflicht)\b", "freiwillig"),
    (r"\bhoe(?:f|ft|ven)\s(?:[^.,;]{0,40}\s)?(?:niet|geen)\b|\bhoeven\b|\b(?:niet|geen)\s(?:verplicht|noodzakelijk|nodig|vereist)\b", "optioneel"),
    (r"\bnie\s(?:musi|muszą|muszę|trzeba|potrzeba)\b|\bnie\s(?:jest|są)\s(?:wymagan\w*|konieczn\w*|obowiązkow\w*|potrzebn\w*|niezbędn\w*)", "opcjonalnie"),
    (r"\bне\s(?:обязательн\w*|обязан\w*|нужн\w*|требуется|требуются|необходим\w*|надо)\b|\bне\sявля\w+\sобязательн\w*", "необязательно"),
    (r"\bn['’](?:est|était|a)\spas\s(?:obligatoire|nécessaire|requis\w*|besoin|exigé\w*)|\bpas\sbesoin\b", "facultatif"),
    (r"\bno\s(?:es|son|hace)\s(?:obligatori\w+|necesari\w+|falta)|\bno\sse\s(?:requiere|necesita|exige)\w*|\bsin\snecesidad\b", "opcional"),
    (r"\bnon\s(?:è|sono)\s(?:obbligatori\w+|necessari\w+|richiest\w+)|\bnon\s(?:occorre|occorrono|serve|servono)\b", "facoltativo"),
    (r"\bnão\s(?:é|são)\s(?:obrigatóri\w+|necessári\w+|preciso)|\bnão\s(?:precisa|precisam)\b", "opcional"),
    (r"\bno\s(?:se\s)?pag(?:a|an|ará|arán)(?:\snada)?(?=\s*(?:[.,;]|$))|\bnon\spag(?:a|ano)(?:\snulla)?(?=\s*(?:[.,;]|$))", "gratis"),
    (r"\bnão\spag(?:a|am)(?:\snada)?(?=\s*(?:[.,;]|$))|\bne\s(?:paie|paient|paye|payent)\s(?:rien|pas)(?=\s*(?:[.,;]|$))", "gratuit"),
    (r"\b(?:be)?zahl(?:t|en)\snichts\b|\bbetaalt?(?:en)?\sniets\b", "gratis"), (r"\bnie\spłac[ią](?=\s*(?:[.,;]|$))", "bezpłatnie"),
    (r"\bне\sплат[ия]т(?=\s*(?:[.,;]|$))", "бесплатно"),
    (r"必要(?:は|が)?(?:ありません|ない)|なくても(?:よい|いい|かまいません)|不用|不必|无需|無需|不需要|不是必须|无须", "任意"),
)  # fmt: skip
"""Phrases whose words mean something else together: limits, and what need not be done."""
_SAME_PATTERNS = tuple((re.compile(pattern, re.IGNORECASE), plain) for pattern, plain in _SAME)


def plain_phrases(text: str) -> str:
    """Return a text in which "not more than" is "at most", and "not required" is "optional"."""
    for pattern, plain in _SAME_PATTERNS:
        text = pattern.sub(plain, text)
    return text


EXCEPTION = re.compile(
    r"\b(?:außer|ausgenommen|mit\sAusnahme|bis\sauf|sauf|excepté|hormis|à\sl['’]exception|salvo|excepto|con\sexcepción|a\sexcepción|menos\slos"
    r"|tranne|eccetto|ad\seccezione|exceto|com\sexceção|à\sexceção|behalve|uitgezonderd|met\suitzondering|oprócz|poza|z\swyjątkiem|за\sисключением"
    r"|кроме)\b|除|を除|以外",
    re.IGNORECASE,
)
"""Words before what a statement does not hold for."""
EXISTENCE = re.compile(
    r"\b(?:есть|имеется|имеются|hay|il\sy\sa|c['’]è|ci\ssono|gibt\ses|es\sgibt|há|jest|znajduje\ssię|er\sis|is\ser)\b|有|あります|いる",
    re.IGNORECASE,
)
"""Words that say that something is there, which a denial may leave out."""
