"""Read a follow-up or a correction in a language other than English together with the question before it.

"¿Y la torre sur?" after "¿Cuánto mide la torre norte?" is "¿Cuánto mide la torre sur?": the phrase replaces the most
similar words of the previous question. Without a common word it is put behind the question. A question without a name of its own
("Когда она родилась?") is about the name that the answer before it has brought up.
"""

import re
from collections.abc import Mapping, Sequence

from workers.evaluation.conversation.joints import put_in

MAX_WORDS = 7
"""Most words of a phrase; in scripts without spaces twice as many characters."""

_SORRY = (
    r"^\W*(?:(?:nein|sorry|entschuldigung|ach|halt|non|pardon|désolée?|no|perdón|disculpe|não|desculpe|scus[ai]|nee|nie|przepraszam|нет|извините|простите)"
    r"[\s,.!–—-]+)*"
)
_CORRECTIONS: Mapping[str, str] = {
    "de": r"(?:ich\s(?:meinte|meine|wollte|spreche\svon|sprach\svon)|gemeint\s(?:war|ist)|nicht\s[^,]{1,40},\ssondern)",
    "fr": r"(?:je\s(?:parlais|parle)\sd(?:e|u|es|['’])|je\svoulais\sdire|je\spensais\s(?:à|au|aux))",
    "es": r"(?:(?:yo\s)?quer[ií]a\sdecir|me\srefer[ií]a\sa(?:l)?|me\srefiero\sa(?:l)?|hablaba\sde(?:l)?|preguntaba\spor(?:\sel)?)",
    "pt": r"(?:(?:eu\s)?qu(?:is|eria)\sdizer|(?:eu\s)?me\sreferia\s(?:a|ao|à)|referia-me\s(?:a|ao|à)|(?:eu\s)?(?:estava\sfalando|falava)\sd[eoa])",
    "it": r"(?:intendevo|volevo\sdire|mi\sriferivo\s(?:a|al|alla|all['’])|parlavo\sd(?:i|el|ella|ell['’]))",
    "nl": r"(?:ik\s(?:bedoelde|bedoel|had\shet\sover))",
    "pl": r"(?:chodziło\smi\so|chodzi\smi\so|mia[łl][ea]m\sna\smyśli|pyta[łl][ea]m\so)",
    "ru": r"(?:(?:я\s)?имела?\sв\sвиду|(?:я\s)?спрашивала?\s(?:про|о|об)|(?:я\s)?говорила?\s(?:про|о|об))",
}
_LEADS: Mapping[str, str] = {
    "de": r"(?:und(?:\s(?:was\sist\smit|wie\sist\ses\s(?:mit|bei|in)|für))?|was\sist\smit|wie\ssieht\ses\s(?:mit|bei))",
    "fr": r"(?:et(?:\spour)?|qu['’]en\sest-il\sd(?:e|u|es|['’]))",
    "es": r"¿?\s?(?:y(?:\spara|\squé\shay\sde(?:l)?)?|qué\shay\sde(?:l)?)",
    "pt": r"(?:e(?:\s(?:quanto\s(?:a|ao|à)|para))?)",
    "it": r"(?:e(?:\s(?:per|invece))?|ed)",
    "nl": r"(?:en(?:\s(?:hoe\szit\shet\smet|voor))?|hoe\szit\shet\smet)",
    "pl": r"(?:a(?:\sco\sz(?:e)?)?|i)",
    "ru": r"(?:а(?:\s(?:что\s(?:насчёт|насчет|с)|как\s(?:насчёт|насчет)))?|и)",
}
LED = frozenset(_LEADS)
"""Languages with spaces between words that are resolved."""
_UNSPACED: Mapping[str, Sequence[re.Pattern[str]]] = {
    "ja": (
        re.compile(
            r"^(?:いいえ|いや|違います|すみません)[、,。]?(?P<phrase>[^、。]{1,14}?)の(?:こと|方|ほう)(?:です|でした)?。?$"
        ),
        re.compile(
            r"^(?:では|じゃあ|それでは|それなら)?[、,]?(?P<phrase>[^、。?？]{1,14}?)(?:は|では)(?:どう(?:です)?か?)?[?？。]?$"
        ),
    ),
    "zh": (
        re.compile(
            r"^(?:不是?|抱歉|对不起)[，,。]?\s*我(?:是说|说的是|指的是|问的是|想问的是)(?P<phrase>[^，。]{1,14}?)[。.]?$"
        ),
        re.compile(r"^(?:那么?|而)?(?P<phrase>[^，。?？]{1,14}?)(?:呢|怎么样)[?？]?$"),
    ),
}
_QUESTION_WORDS = re.compile(
    r"^(?:w(?:er|as|ann|o|ie|elche\w*|arum)|qui|quand|où|combien|quel\w*|pourquoi|comment|quién\w*|cuándo|dónde|cuánt\w*|cuál\w*|qué|cómo|por\squé"
    r"|quem|quando|onde|quant\w*|qual|quais|como|chi|dove|perché|wie|wanneer|waar|hoe\w*|waarom|kto|kiedy|gdzie|ile|jak\w*|dlaczego|кто|когда|где"
    r"|сколько|как\w*|почему)\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"(?<![\w-])(?:er|sie|es|ihn|ihm|il|elle|lui|él|ella|ele|ela|lei|hij|zij|ze|on|ona|ono|он|она|оно)(?!\w)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")


def local_phrase(asked: str, language: str) -> str:
    """Return the phrase of a correction or a follow-up; empty for any other query."""
    if language in _UNSPACED:
        found = next((match for each in _UNSPACED[language] if (match := each.match(asked.strip()))), None)
        return found["phrase"].strip() if found else ""
    if language not in _LEADS:
        return ""
    for start in (rf"{_SORRY}{_CORRECTIONS[language]}", rf"^\W*{_LEADS[language]}"):
        found = re.match(rf"{start}\s*(?P<phrase>[^?!.]{{1,80}})[?!.\s]*$", asked.strip(), re.IGNORECASE)
        phrase = found["phrase"].strip(" ,") if found else ""
        if phrase and len(phrase.split()) <= MAX_WORDS and not _QUESTION_WORDS.match(phrase):
            return phrase.removesuffix(" aus")
    return ""


def laid_on(phrase: str, base: str) -> str:
    """Return a question with a phrase in the place of the words that it is most like."""
    told, question = list(_WORD.finditer(phrase)), list(_WORD.finditer(base))
    if len(told) == 1 and len(question) <= 1:
        return _laid_on_characters(phrase, base)
    keys = [match[0].lower() for match in question]
    for place in reversed(range(len(told))):
        if (key := told[place][0].lower()) not in keys:
            continue
        first = keys.index(key) - place
        last = first + len(told) - 1
        if first >= 0 and last < len(question):
            return put_in(phrase, base, question[first].start(), question[last].end())
    return f"{base.rstrip(' ?!.')} {phrase}?"


def _laid_on_characters(phrase: str, base: str) -> str:
    """Do the same in a script without spaces: "南馆" takes the place of "北馆"."""
    for place in reversed(range(len(phrase))):
        found = base.find(phrase[place])
        if found >= place and found + len(phrase) - place <= len(base):
            return base[: found - place] + phrase + base[found - place + len(phrase) :]
    return f"{phrase}、{base}"


def brought_up(said: str, before: str) -> str:
    """Return the name or number that an answer brings up and its question has not; empty without one."""
    known = {word.lower() for word in _WORD.findall(before)}
    words = list(_WORD.finditer(said))
    best: list[str] = []
    run: list[str] = []
    for place, match in enumerate(words):
        word = match[0]
        is_new = word.lower() not in known
        if is_new and ((place and word[0].isupper()) or word[0].isdigit()):
            previous = words[place - 1][0] if place else ""
            if word[0].isdigit() and not run and previous and previous.lower() not in known:
                run = [previous]
            run.append(word)
            best = run if len(run) > len(best) else best
        else:
            run = []
    return " ".join(best)


def about(asked: str, name: str) -> str | None:
    """Return a question with a name in the place of its pronoun, or behind it; ``None`` if it names something itself."""
    words = asked.split()
    if not name or any(word[:1].isupper() or word[:1].isdigit() for word in words[1:]):
        return None
    if match := _PRONOUN.search(asked):
        return f"{asked[: match.start()]}{name}{asked[match.end() :]}"
    return f"{asked.rstrip(' ?!.')} ({name})?" if len(words) <= MAX_WORDS else None
