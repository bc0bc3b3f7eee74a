"""Resolve short answers against the question: "No." to "Is smoking allowed?" states that smoking is not allowed.

The resolved text is only compared with evidence and never shown, so that words and their polarity matter and
grammar does not. Two kinds are resolved:

- *yes/no*: the question is polar, and the answer begins with a word of consent or denial;
- *choice*: the question names two alternatives, and the answer chooses one ("The second one.").

A figure or name ("36 months.", "Paris.") is compared by itself: together with the words of its question a wrong one would
find as much support as the right one. The question then says whose value it is (``facts.value_owners``).
"""

import re
from functools import lru_cache

from workers.evaluation.claims.clauses import has_verb
from workers.evaluation.contradictions.antonyms import POLES
from workers.evaluation.text.words import KEPT_TEXTS, content_words, kept_for_sentences, stem

MAX_QUESTION = 500
"""Longest question that is resolved, code points; a longer one is a text with a task."""
MAX_FRAGMENT = 6
"""Most words of an answer without a verb that is read together with its question."""
MAX_ELLIPSIS = 12
"""Most words of an answer after yes or no that is understood only together with its question."""

_ENDS = r"(?![\w-])"
_ALONE = r"(?=\s*(?:[,.;:!?–—。，、)]|-\s|$))"
"""Behind words that also begin ordinary statements: "Wrong deliveries are refunded", "Da die Frist abgelaufen ist, …"."""
_POINTING = (
    r"(?:(?:(?:i['’]m|i am|we are|we['’]re)\s(?:very\s|really\s)?)?(?:sorry|afraid)|unfortunately|sadly|regrettably|leider|es tut mir leid|tut mir leid|désolée?|malheureusement"
    r"|lo siento|lamentablemente|mi dispiace|purtroppo|infelizmente|desculpe|helaas|het spijt me)?[\s,;:!–—]*(?:but\s|aber\s|mais\s|pero\s|ma\s|mas\s|maar\s|that\s(?=(?:that|this|it)\b))?"
)
"""A courtesy before a pronoun that stands for what was asked."""
_ABLE = r"(?:possible|allowed|permitted|feasible)"
_IMPOSSIBLE = (
    rf"{_POINTING}(?:(?:that|this|it)(?:['’]s|\s(?:is|will be|would be))(?:\s(?:unfortunately|sadly|currently))?\s(?:not\s{_ABLE}|impossible|forbidden|prohibited)"
    rf"|(?:that|this|it)\s(?:isn['’]t|won['’]t be)\s{_ABLE}|(?:that|this|it)\s(?:cannot|can['’]t|can not)\sbe\sdone"
    r"|(?:das|dies|es)\s(?:ist|geht)\s(?:leider\s)?(?:nicht(?:\s(?:möglich|erlaubt|gestattet))?|unmöglich|verboten)|(?:das|dies)\sgeht\sleider\snicht"
    r"|(?:ce|cela|c['’])\s?n['’]est\s(?:malheureusement\s)?pas\s(?:possible|autorisé|permis)|(?:eso\s)?no\s(?:es|está)\s(?:posible|permitido)|non\sè\s(?:possibile|permesso|consentito)"
    r"|(?:isso\s)?não\sé\s(?:possível|permitido)|dat\sis\s(?:helaas\s)?niet\s(?:mogelijk|toegestaan))"
)
"""A sentence that says no to what was asked: "I'm sorry, that is not possible."."""
_POSSIBLE = (
    rf"(?:(?:that|this)(?:['’]s|\sis)\s(?:certainly\s|perfectly\s)?{_ABLE}|das\sist\s(?:möglich|erlaubt|gestattet)|(?:c['’]est|cela\sest)\spossible|(?:eso\s)?es\sposible"
    r"|è\spossibile|(?:isso\s)?é\spossível|dat\sis\smogelijk)"
)
_CONSENT = re.compile(
    rf"\W*(?:(?:yes|yep|yeah|ja|jawohl|oui|sì|sí|sim|tak|はい|是的?|对|네|예|نعم){_ENDS}"
    rf"|(?:correct|exactly|indeed|absolutely|certainly|definitely|of course|right|true|that is (?:right|correct|true)|{_POSSIBLE}|doch|si|да)"
    rf"{_ALONE})[\s,.;:!–—。，、-]*",
    re.IGNORECASE,
)
_DENIAL = re.compile(
    rf"\W*(?:(?:no|nope|nein|non|não|nee|nie|нет|いいえ|不是?|没有|아니요|아니오|لا){_ENDS}"
    rf"|(?:not at all|by no means|definitely not|certainly not|of course not|absolutely not|incorrect|wrong|false|keineswegs|{_IMPOSSIBLE})"
    rf"{_ALONE})[\s,.;:!–—。，、-]*",
    re.IGNORECASE,
)
_APOLOGY = r"(?:i['’]m |i am )?(?:very |so )?sorry(?: (?:about|for) (?:that|this|the (?:mistake|error|confusion)))?|(?:my|i) apolog(?:ies|i[sz]e)|my mistake|my bad"
_YIELDS = re.compile(
    rf"\W*(?:(?:{_APOLOGY})[\s,.;!–—-]+)?you(?:['’]re|\sare)\s(?:absolutely\s|quite\s|of course\s)?(?:right|correct)"
    rf"(?:[\s,.;!–—-]+(?:and\s)?(?:{_APOLOGY}))?\W*",
    re.IGNORECASE,
)
_REFUSAL = re.compile(rf"\W*{_IMPOSSIBLE}\W*", re.IGNORECASE)
_ELLIPSIS = re.compile(
    r"""\W*(?:(?:(?:indeed|certainly|definitely|of\s+course|actually|unfortunately),?\s+)?
      (?:it|he|she|they|you|we|i|this|that|these|those|there)(?:
        (?:\s+(?:certainly|indeed|actually|also))?\s+(?P<verb>is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must)
          (?P<denied>\s+not|n['’]t|not)?
        |\s+(?P<cannot>ca|wo)n['’]t|['’](?P<short>s|re|ll)\s+(?P<shortened>not))
      |(?:(?:das|dies|es|sie|er)\s+)?(?P<german>ist|sind|war|waren|hat|haben|kann|können|darf|dürfen|muss|müssen|soll|sollen|wird|werden)
        (?:\s+(?:es|sie|er|das|man|ich|wir))?(?P<nicht>\s+nicht)?
      |(?:il|elle|ils|elles|ce|cela|on)\s+(?P<ne>(?:ne\s+|n['’]))?(?P<french>(?:l['’]|le\s+)?(?:est|sont|peut|peuvent))(?P<pas>\s+pas)?
      |(?P<romance>(?:lo|o)\s+(?:es|son|está|están|è|sono|é|são))
      |(?:dat|het)\s+(?P<dutch>is|kan|mag|zijn|heeft)(?:\s+het)?(?P<niet>\s+niet)?)\W*""",
    re.IGNORECASE | re.VERBOSE,
)
"""A pronoun with an auxiliary verb, which says yes or no without the word: "It is not", "Das ist sie", "Elle ne l'est pas"."""
_HEAD = re.compile(r"\W*\w+(?:\s\w+(?:['’]t)?){1,3}(?=\s*[:;–—.]\s)|.+", re.DOTALL)
"""Few words before a mark, or the whole text: "It does: users can log in"."""
_DENIED = ("denied", "cannot", "shortened", "nicht", "pas", "niet")
_SAME_VERB = tuple(
    frozenset(words.split())
    for words in (
        "is are am s re isn aren ain",
        "was were wasn weren",
        "do does don doesn",
        "did didn",
        "has have s hasn haven",
        "had hadn",
        "can may cannot ca",
        "could might couldn",
        "will shall ll wo",
        "would should wouldn shouldn",
        "must mustn",
    )
)
"""English auxiliary verbs of one tense and mood; "It was" is no answer to "Is it open?"."""
LEAST_STATED = 3
"""Fewest words behind "nothing" that state something."""
_NOTHING = re.compile(r"\W*(?:nothing(?: at all)?|none(?: at all)?|no one|nobody)\s*[,;:–—]\s*(?=\w)", re.IGNORECASE)
_NO_NOUN = re.compile(
    r"\W*no\s+(?!(?:it|he|she|they|you|we|i|this|that|these|those|there|the|a|an|only|not|but|since|because|as|one)\b)[a-z]",
    re.IGNORECASE,
)
"""The determiner of "No seats are reserved.", which is no answer of its own."""
_POLAR = re.compile(
    r"""\W*(?:(?:and|so|but|please\s+tell\s+me|tell\s+me|do\s+you\s+know)[\s,]+(?:(?:if|whether)\s+)?)?(?:
      (?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must)(?:n['’]t)?
      |if|whether|is\s+it\s+true\s+that
      |ist|sind|war|waren|hat|haben|kann|können|darf|dürfen|muss|müssen|soll|wird|werden|gibt\s+es
      |est-ce\s+que|est-ce\s+qu['’]|es|está|están|son|puede|pueden|tiene|hay|hace
      |è|sono|può|possono|ha|c['’]è|ci\s+sono|é|são|pode|podem|tem|há|mag|mogen|kan|kunnen|heeft|hebben|zijn|moet
      |czy|можно\s+ли|является\s+ли
    )\s+(?P<rest>\S.*)""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_WH = re.compile(
    r"""\W*(?:(?:and|so|but|please|tell\s+me|do\s+you\s+know)[\s,]+)*
    (?:who(?:se|m)?|what(?:['’]s)?|which(?:\s+one)?|when|where|how\s+(?:many|much|long|old|far|often|tall|high|big|large|fast|deep|wide|heavy|late|early)
      |wer|wen|wem|was|welche[rsnm]?|wann|wo|wie\s+(?:viele?|lange|alt|hoch|oft|weit|gro(?:ß|ss))
      |qui|quand|où|combien(?:\s+d[e'])?|quel(?:le)?s?|quién(?:es)?|cuándo|dónde|cuánt[oa]s?|cuál(?:es)?|qué
      |chi|quando|dove|quant[oaie]|qual[ei]?|quem|onde|wanneer|waar|hoeveel|welke?)(?=\W)\s*
    (?:(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|must
      |ist|sind|war|hat|est|sont|es|son|è|sono|é|são)(?=\W)\s*)?(?P<rest>\S.*)""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_ALTERNATIVES = re.compile(
    r"[,:]?\s*(?P<one>[^,:?]{1,80}?),?\s+(?:or|oder|ou|o)\s+(?P<two>[^,?]{1,80})\W*$", re.IGNORECASE
)
_FIRST = re.compile(r"\W*(?:the\s+)?(?:first|former)(?:\s+one|\s+option)?\W*$", re.IGNORECASE)
_SECOND = re.compile(r"\W*(?:the\s+)?(?:second|latter|last)(?:\s+one|\s+option)?\W*$", re.IGNORECASE)
_UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]")
_REPEATED = re.compile(r"(?P<denied>[不没])?(?P<verb>[\u3400-\u9fff]{1,3})[。！!.]?")
_PRONOUN = re.compile(
    r"\W*(?:it|he|she|they|this|that|er|sie|es|il|elle|él|ele|lui|hij|zij|он|она|оно)\b", re.IGNORECASE
)
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_AUXILIARY = r"(?:is|are|was|were|can|could|may|must|will|would|should|has|have|does|do|did)"
_NEGATIVE_LEAD = re.compile(rf"^(\W*(?:(?:and|so|but)\s)?)({_AUXILIARY}|ca|wo)n['’]t\s", re.IGNORECASE)
_TAGGED = re.compile(
    rf"^\W*(?:(?:and|so|but)\s)?(?P<subject>[^,?]{{1,80}}?)(?:\s(?P<verb>{_AUXILIARY})(?=\s)(?P<rest>[^?]{{2,200}}?)|(?P<act>\s[^?]{{2,200}}?)),\s"
    rf"(?:(?P<tag>{_AUXILIARY}|ca|wo)n['’]t\s(?:it|he|she|they|you|we|I|there|that|one)|right|correct|yes)\s*\?*$",
    re.IGNORECASE,
)
_DENYING = re.compile(r"\b(?:not|no|never|nobody|none|cannot|neither|without)\b|n['’]t\b", re.IGNORECASE)
_SHORTENED = {"ca": "can", "wo": "will"}


def plain_question(query: str) -> str:
    """Return an English question without its negation or tag: "Aren't they exempt?" and "They are exempt, right?" ask "Are they exempt?".

    Yes affirms and no denies the same thing to all three. A denied statement with a tag is left as it is: yes to "They
    are not exempt, right?" may mean either.
    """
    last = _last_sentence(query)
    before, asked = query[: len(query.strip()) - len(last)], last
    if lead := _NEGATIVE_LEAD.match(last):
        verb = lead[2].lower()
        asked = f"{lead[1]}{_SHORTENED.get(verb, verb).capitalize()} {last[lead.end() :]}"
    elif (tagged := _TAGGED.match(last)) and not _DENYING.search(
        last[: tagged.end("rest" if tagged["verb"] else "act")]
    ):
        verb = tagged["verb"] or _SHORTENED.get((tagged["tag"] or "").lower(), tagged["tag"]) or "does"
        asked = f"{verb.capitalize()} {tagged['subject']}{tagged['rest'] or tagged['act']}?"
    return f"{before}{asked}"


@lru_cache(maxsize=KEPT_TEXTS)
def depends_on_question(query: str, plain: str) -> bool:
    """Return true if a statement is only understood after its question: a fragment, or one with a pronoun."""
    if not query.strip() or len(query) > MAX_QUESTION:
        return False
    words = _WORD.findall(plain)
    return (len(words) <= MAX_FRAGMENT and (not has_verb(plain) or len(words) <= 2)) or bool(_PRONOUN.match(plain))


def resolve_short_answer(query: str, plain: str) -> str:
    """Return the statement that a short answer makes together with its question.

    Args:
        query: the question.
        plain: first statement of the answer, without markers and Markdown.

    Returns:
        The text to compare with evidence; ``plain`` itself where the answer needs no question to be understood.
    """
    if not plain.strip() or len(query) > MAX_QUESTION:
        return plain
    # The last question counts: what stands before it introduces it.
    question = re.split(r"(?<=[.!?])\s+", query.strip())[-1].rstrip(" ?？.!")
    if polar := _POLAR.match(question):
        return _resolve_polar(question, polar["rest"], plain)
    if (detail := _WH.match(question)) and _is_fragment(plain, question):
        return _chosen(detail["rest"], plain)
    return plain


@lru_cache(maxsize=KEPT_TEXTS)
def needs_question(query: str, plain: str) -> bool:
    """Return true if a whole answer is understood only together with its question: "Yes.", "Paris.", "36 months.".

    Args:
        query: the question.
        plain: the prose of the answer, without markers and Markdown.
    """
    if not query.strip() or not plain.strip() or (size := _size(plain)) > MAX_ELLIPSIS:
        return False
    is_polar = any(opening.match(plain) for opening in (_CONSENT, _DENIAL)) or _short_reply(plain) is not None
    return is_polar or (size <= MAX_FRAGMENT and not has_verb(plain))


def stated_by(query: str, plain: str) -> str | None:
    """Return what a short answer states beside yes; ``None`` if it denies what was asked."""
    says = consents(query, plain)
    if says is False:
        return None
    consent = _CONSENT.match(plain) or (_short_reply(plain) if says else None)
    return _behind(plain, consent) if consent else plain


@kept_for_sentences
def without_opening(plain: str) -> str:
    """Return what an answer states after its yes or no."""
    opening = _DENIAL.match(plain) or _CONSENT.match(plain) or _short_reply(plain)
    return plain if opening is None or _NO_NOUN.match(plain) else _behind(plain, opening)


def without_nothing(query: str, plain: str) -> str:
    """Return the statement behind a "nothing" to a question for a value: "Nothing, students get in for free."."""
    opening = _NOTHING.match(plain)
    rest = plain[opening.end() :] if opening else ""
    return rest if len(rest.split()) >= LEAST_STATED and asks_for_value(query) else plain


def asks_for_value(query: str) -> bool:
    """Return true if a question asks who, what, when or how much, and not for yes or no."""
    question = _last_sentence(query)
    return bool(_WH.match(question)) and not _POLAR.match(question)


def _last_sentence(query: str) -> str:
    return re.split(r"(?<=[.!?])\s+", query.strip())[-1]


@lru_cache(maxsize=KEPT_TEXTS)
def consents(query: str, plain: str) -> bool | None:
    """Return whether an answer says yes or no; ``None`` if it says neither.

    In Chinese the verb of the question is yes, and with "不" before it no: "允许吗?" – "不允许。" To "Who may not …?" the
    first word of "No pueden usar la sauna los menores" is no answer.
    """
    if asks_for_value(query):
        return None
    if _DENIAL.match(plain):
        return False
    if _CONSENT.match(plain):
        return True
    if repeated := _REPEATED.fullmatch(plain.strip()):
        return not repeated["denied"] if repeated["verb"] in query else None
    return _elliptic(_last_sentence(query), plain)


@kept_for_sentences
def says_only_polarity(plain: str) -> bool:
    """Return true for yes, no, or a pronoun with an auxiliary verb, which state nothing without a question for yes or no."""
    return any(pattern.fullmatch(plain) for pattern in (_CONSENT, _DENIAL, _ELLIPSIS))


def repeats_answer(query: str, opening: str, statement: str) -> bool:
    """Return true if yes or no says what the statement behind it says in full: the words that were asked, affirmed or denied alike.

    Args:
        query: the question.
        opening: the sentence that says yes or no.
        statement: the statement behind it.
    """
    question = _last_sentence(query).rstrip(" ?？.!")
    polar = _POLAR.match(question)
    says = consents(query, opening) if polar and says_only_polarity(opening) else None
    if polar is None or says is None or _DENYING.search(polar["rest"]):
        return False
    asked = content_words(polar["rest"])
    if not asked or not asked <= content_words(statement) or statement.rstrip().endswith("?"):
        return False
    return bool(_DENYING.search(statement)) is not says


def yields_to_correction(query: str, opening: str) -> bool:
    """Return true for "You are right, sorry." where nothing is asked that it could affirm."""
    question = _last_sentence(plain_question(query))
    return not _POLAR.match(question) and not question.rstrip().endswith("?") and bool(_YIELDS.fullmatch(opening))


def refuses_request(plain: str) -> bool:
    """Return true if a sentence says only that what was asked is not possible: "I'm sorry, that is not possible."."""
    return _REFUSAL.fullmatch(plain) is not None


def _short_reply(plain: str) -> re.Match[str] | None:
    """Return a pronoun with an auxiliary verb that is the whole answer, or stands before a mark: "It does: …"."""
    head = _HEAD.match(plain)
    return None if head is None else _ELLIPSIS.fullmatch(plain, 0, head.end())


def _behind(plain: str, opening: re.Match[str]) -> str:
    return plain[opening.end() :].lstrip(" ,.;:–—").strip()


def _elliptic(question: str, plain: str) -> bool | None:
    """Return what a pronoun says with the auxiliary verb of its question."""
    found = _short_reply(plain)
    if found is None:
        return None
    says = not any(found[name] for name in _DENIED)
    own = found["verb"] or found["cannot"] or found["short"]
    if own is None:
        return says
    asked = frozenset(re.findall(r"[a-z]+", question.lower()))
    return says if any(own.lower() in verbs and verbs & asked for verbs in _SAME_VERB) else None


def _size(text: str) -> float:
    """Return the number of words; a character of a script without spaces counts half."""
    return sum(max(1.0, len(_UNSPACED.findall(word)) / 2) for word in _WORD.findall(text))


def _resolve_polar(question: str, statement: str, plain: str) -> str:
    says = consents(question, plain)
    opening = _DENIAL.match(plain) or _CONSENT.match(plain) or (None if says is None else _ELLIPSIS.fullmatch(plain))
    if opening is None or (_NO_NOUN.match(plain) and has_verb(plain)):
        return plain
    rest = _behind(plain, opening)
    asked = content_words(statement)
    shared = len(asked & content_words(rest))
    says_it_all = not _PRONOUN.match(rest) and len(content_words(rest)) > 1
    if has_verb(rest) and (says_it_all or shared * 2 >= len(asked)):
        # "No, smoking is not allowed in the lab."
        return rest
    resolved = _denied(statement) if says is False else statement
    return f"{resolved}, {rest}" if rest else f"{resolved}."


def _denied(statement: str) -> str:
    """Return a statement with "not" before the word that it turns round: one with an opposite, else the first."""
    words = list(_WORD.finditer(statement))
    turned = next((match.start() for match in words if stem(match[0].lower()) in POLES), 0)
    return f"{statement[:turned]}not {statement[turned:]}"


def _is_fragment(plain: str, question: str) -> bool:
    """Return true for a figure or a choice in a few words without a verb, most of them not the question's own."""
    own = content_words(plain)
    repeats = len(own & content_words(question)) * 2 >= max(1, len(own))
    tells = any(character.isdigit() for character in plain) or _FIRST.match(plain) or _SECOND.match(plain)
    return bool(tells) and not has_verb(plain) and not repeats and len(_WORD.findall(plain)) <= MAX_FRAGMENT


def _chosen(asked: str, plain: str) -> str:
    """Return the alternative that "the second one" names, after the question; else the answer itself."""
    options = _ALTERNATIVES.search(asked)
    if options and (_FIRST.match(plain) or _SECOND.match(plain)):
        return f"{asked[: options.start()]}: {options['one' if _FIRST.match(plain) else 'two']}"
    return plain
