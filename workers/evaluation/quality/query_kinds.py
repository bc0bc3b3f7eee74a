"""Classify queries by the kind of answer that they ask for: a fact, an explanation or an action.

Only a query that names an explanation ("explain", "compare", "in detail") asks for length. One sentence may fully answer
"why" and "how did". A known class of the router (``query_type``) decides; otherwise the form of the query does. Completeness and
actionability depend on the kind: a date as the answer needs neither three hundred characters nor steps.
"""

import re
from typing import Literal

from workers.evaluation.facts.addresses import read_addresses

QueryForm = Literal["factual", "explanation", "action", "open"]

_TYPES: dict[str, QueryForm] = {
    **dict.fromkeys(("howto", "procedure", "procedural", "instruction", "instructions"), "action"),
    **dict.fromkeys(("troubleshooting", "troubleshoot", "debugging", "incident", "runbook", "setup"), "action"),
    **dict.fromkeys(("factual", "fact", "factoid", "lookup", "definition", "metric", "yesno"), "factual"),
    **dict.fromkeys(("explanation", "conceptual", "analysis", "comparison", "summary", "summarization"), "explanation"),
}

_ACTION = re.compile(
    r"""\bhow\s+(?:to|(?:do|can|should|could|would|must)\s+(?:i|we|you|one))\b
    | \b(?:what|which)\s+(?:steps|commands?)\b | \bsteps\s+to\b | \bstep[\s-]by[\s-]step\b
    | \bwhat\s+(?:should|can|must|do)\s+(?:i|we)\s+do\b
    | ^\W*(?:please\s+|help\s+me\s+(?:to\s+)?)?(?:fix|resolve|troubleshoot|debug|configure|install|set\s+up|restart
      |deploy|enable|disable|migrate|upgrade|connect|repair|reset)\b
    | \bwie\s+(?:kann|soll|muss|k[öo]nnen|sollen|m[üu]ssen)\s+(?:ich|wir|man)\b
    | \bwas\s+(?:soll|kann|muss)\s+ich\s+tun\b
    | \bcomment\s+(?:faire|puis-je|peut-on|dois-je|pouvons-nous)\b
    | \bc[óo]mo\s+(?:puedo|podemos|se\s+puede|debo|hago)\b
    | \bcome\s+(?:posso|si\s+fa|devo|faccio)\b | \bcomo\s+(?:posso|devo|faço|fazer)\b
    | \bhoe\s+(?:kan|moet|kunnen)\s+(?:ik|we|wij|men)\b | \bjak\s+(?:mogę|można|mam|zrobić)\b
    | (?:^|\W)как\s+(?:мне|можно|нужно|сделать|настроить|исправить)\b
    | (?:怎么办|怎样才能|如何(?:才能)?(?:设置|配置|安装|修复|更换)) | (?:方法|手順|やり方)""",
    re.IGNORECASE | re.VERBOSE,
)
_EXPLANATION = re.compile(
    r"""\b(?:explain|describe|compare|summari[sz]e|elaborate|discuss|outline)\b | \bdifferences?\s+between\b
    | \bhow\s+(?:does|do|did)\b.*\bwork\b | \bin\s+detail\b
    | \b(?:erkl[äa]re?n?|beschreibe?n?|vergleiche?n?)\b | \bwie\s+funktioniert\b
    | \b(?:expliquez?|d[ée]cri(?:s|vez)|comparez?)\b | \b(?:explica|describe|compara)\b
    | \b(?:spiega|leg\s+uit|wyjaśnij|объясни(?:те)?|сравни(?:те)?)\b
    | (?:解释|說明|说明|比较|説明|比較)""",
    re.IGNORECASE | re.VERBOSE,
)
_FACTUAL = re.compile(
    r"""^\W*(?!por\s+qu[ée]\b)(?:(?:and|so|please\s+tell\s+me|tell\s+me)\s+)?
      (?:(?:in|at|on|from|to|by|for|of|with|since|until|under|over|during|after|before|about|within
      |im|am|an|auf|aus|bei|bis|für|mit|nach|seit|um|von|vor|zu|ab|à|au|de|des|depuis|dans|en|par|pour|sur
      |a|con|da|del|desde|hasta|per|por|para|di|su|op|van|met|naar|do|na|od|przez|w|we|z|ze|до|за|из|к|на|от|по|с|со|у|в|во)\s+)?
      (?:who|whom|whose|when|where|which|what(?:'s)?
      |how\s+(?:many|much|long|old|far|often|tall|big|high|large|fast|deep|wide|heavy|late|early)
      |is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|must
      |wer|wen|wem|wessen|wann|wo|was\s+(?:ist|sind|war|kostet)|welche[rsnm]?
      |wie\s+(?:viele?|lange|alt|hoch|gro(?:ß|ss)|oft|weit|hei(?:ß|ss)t|teuer|schwer)
      |ist|sind|war|hat|haben|darf|d[üu]rfen|kann|muss|gibt\s+es
      |qui|quand|o[ùu]|combien|quel(?:le)?s?|est-ce|faut-il
      |qui[ée]n(?:es)?|cu[áa]ndo|d[óo]nde|cu[áa]nt[oa]s?|cu[áa]l(?:es)?|qu[ée]|es|est[áa]
      |chi|quando|dov[e']|quant[oaie]|qual[ei]?|(?:è|sono)|quem|onde|quant[oa]s?|quais
      |wie\s+is|wanneer|waar|hoeveel|hoe\s+(?:lang|oud|hoog|groot|vaak|ver)|welke?|wat|mag|mogen|heeft|zijn
      |vem|när|vilke[nt]|vilka|hur\s+(?:mycket|många|länge|lång|hög|stor|ofta|gammal)
      |kim|kaç|nerede|ne\s+(?:zaman|kadar)
      |kto|kiedy|gdzie|ile|jak[ai]e?|czy|kt[óo]r[aeym]{1,2}
      |кто|когда|где|сколько|скольких|как(?:ой|ая|ое|ие|ов|ова|ого|ом|им)|что|есть\s+ли|можно\s+ли|является\s+ли
      |хто|коли|де|скільки|як(?:ий|а|е|і)|кой|коя|кога|къде|колко
      |من|متى|أين|كم|ما|هل|چند|چه|کی|کجا)(?!\w)
    | [,:]\s[^,?]{1,60}\s(?:or|oder|ou|o|of|czy|или)\s[^,?]{1,60}\?\s*$
    | (?:谁|誰|哪[里裡儿个個年一天位些]|什么|甚麼|什麼|多少|几[个個年天岁点]|何时|吗[?？]?\s*$|是否|是不是)
    | (?:どこ|いつ|何[年月日時人個歳]|いくつ|いくら|どの|どれ|ですか|ますか)
    | (?:누구|어디|언제|몇|무엇|얼마|입니까|인가요|나요)
    | (?:कितन[ेाी]|कब|कहाँ|कौन|क्या) | (?:چند|چه\s|کجا) | (?:กี่|เมื่อไร|ใคร|ที่ไหน|เท่าไร)""",
    re.IGNORECASE | re.VERBOSE,
)


def query_form(query: str, query_type: str | None) -> QueryForm:
    """Classify a query; a query that fits no form, such as a keyword search, is ``open``.

    If several forms match, the one with the longest expected answer is used: "which sensors failed? Explain." is an
    explanation.
    """
    known = _TYPES.get(re.sub(r"[\s_-]", "", query_type or "").casefold())
    if known is not None:
        return known
    if _ACTION.search(query):
        return "action"
    if _EXPLANATION.search(query):
        return "explanation"
    return "factual" if _FACTUAL.search(query) else "open"


_REASON = re.compile(
    r"""\b(?:why|how|warum|wieso|weshalb|wie|pourquoi|comment|por\s+qu[ée]|c[óo]mo|perch[ée]|come|porque|waarom|hoe
      |dlaczego|jak|varför|hur|neden|niçin|nasıl|почему|зачем|как|чому|чого|як)\b
    | 为什么 | 為什麼 | 怎 | 如何 | なぜ | どうして | どのよう | 왜 | 어떻게 | لماذا | كيف | چرا | क्यों | कैसे""",
    re.IGNORECASE | re.VERBOSE,
)
_QUESTION = re.compile(r"[?？؟]\s*$|か[。\s]*$")

MAX_ADDRESSED = 100
"""Longest answer that is complete because of its address, code points."""


def accepts_short_answer(query: str, query_type: str | None, answer: str = "") -> bool:
    """Return true if one word may answer a query: it asks for a fact, or it is a question that asks for no reason.

    A short answer with an address or a command answers any query: "Run deploy.sh."

    The forms of questions for yes or no are many ("¿Cubre la póliza …?", "A garantia cobre …?"), those for a reason few.
    """
    form = query_form(query, query_type)
    if len(answer) <= MAX_ADDRESSED and read_addresses(answer):
        return True
    return form == "factual" or (form == "open" and bool(_QUESTION.search(query.strip())) and not _REASON.search(query))


_PART_BOUNDARY = re.compile(
    r"[?？;\n]+|\b(?:and|und|et|y)\s+(?=(?:how|what|why|when|where|who|which|wie|was|warum|wann|wo|wer|comment"
    r"|pourquoi|quand|qui|cómo|cuándo|dónde|quién)\b)",
    re.IGNORECASE,
)


def query_parts(query: str) -> list[str]:
    """Split a query into single questions: 'What failed, and why?' has two."""
    return [part.strip() for part in _PART_BOUNDARY.split(query) if part.strip(" ,.!")]
