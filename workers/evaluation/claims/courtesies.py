"""Find the statement beside a courtesy, a refusal or a remark about the documents.

"I'm sorry, I cannot help with that." states nothing. "I'm sorry, your contract cannot be cancelled." does: a sentence is
read piece by piece, and a piece that speaks neither of the assistant nor of the question or the documents is a statement.
"""

import re
from collections.abc import Iterator

from workers.evaluation.claims.assertions import MAX_LENGTH, has_figure
from workers.evaluation.claims.clauses import has_verb
from workers.evaluation.claims.short_answers import refuses_request
from workers.evaluation.text.wording import ABOUT_DOCUMENTS, META, TURN

_WORD = re.compile(r"[^\W_]+")
_JOINT = re.compile(
    r"[,;:!]\s+|\s*[–—]\s*|\s-\s|[，；：！、]\s*"
    r"|\s(?=(?:and|but|while|whereas|although|though|because|since|as|so|und|aber|denn|weil|et|mais|car)\s)",
    re.IGNORECASE,
)
_JOINED = re.compile(
    r"(?:(?:and|but|so|however|while|whereas|although|though|und|aber|jedoch|denn|et|mais|car|maar)\b[\s,]*){1,3}",
    re.IGNORECASE,
)
_REASON = re.compile(r"(?:because|since|as|weil|da|parce qu[e'’])\s+", re.IGNORECASE)
_POINTS_BACK = re.compile(r"(?:it|this|that|these|those|they|such|doing|es|das|dies|cela|ça|ce|c['’])\b", re.IGNORECASE)
_EMBEDS = re.compile(
    r"(?:what|how|why|when|where|who|whom|whose|which|that(?!['’]s|\s(?:is|was|will|would|can|cannot|does|has)\b)|whether|if|unless|until|or|nor|was|wie|warum|wann|wo|wer|ob|dass|wenn"
    r"|welche[rsnm]?|oder|comment|pourquoi|quand|si|qu[ei]|ou|où)\b",
    re.IGNORECASE,
)
"""Words that begin what is asked, or what depends on another clause."""
_EMBEDDED = re.compile(rf"\b{_EMBEDS.pattern}", re.IGNORECASE)
_OPENS = re.compile(
    r"(?:the|your|our|their|its|his|her|this|these|those|there|it|they|we|you|he|she|all|every|each|no|none|nobody|only|any|some|both|most"
    r"|der|die|das|den|dem|ein|eine|ihr|ihre|ihren|dein|deine|unser|unsere|es|sie|kein|keine|alle|diese[rs]?"
    r"|le|la|les|un|une|votre|vos|notre|nos|leurs?|ce|cet|cette|ces|il|elle|ils|elles|aucune?|tous|toutes|l['’]|de|het|een|er|uw|dit|deze|geen)\b",
    re.IGNORECASE,
)
"""Words that begin a subject; the form of a verb such as "ends" does not show that it is one."""
_SELF = re.compile(
    r"\b(?:i|i['’](?:m|d|ve|ll)|me|my|myself|ich|mir|mich|mein\w*|je|j['’]\w+|moi|mon|mes)\b"
    r"|\b(?:questions?|requests?|queries|query|documents?|documentation|contexts?|passages?|sources?|information|guidelines?|scope"
    r"|fragen?|anfragen?|dokumente?n?|quellen?|informationen|unterlagen|demandes?|sources|informations?)\b"
    r"|\bnot\s(?:\w+\s)?(?:stated|mentioned|given|specified|provided|available|known|clear|sure)\b|\bunknown\b|\bunclear\b",
    re.IGNORECASE,
)
"""Speaks of the assistant, the question or the documents."""
_OFFERS = re.compile(
    r"(?:let|please|just|ask|contact|reach|call|e-?mail|write|try|feel|don['’]t|do not|thanks?|thank|welcome|sorry|hello|hi|dear|yours|kind"
    r"|best|bitte|danke|vielen|gern\w*|veuillez|merci|n['’]hésitez|you(?:['’]re| are) (?:very |most )?welcome"
    r"|you (?:can|may|could|might)(?: always| also)? (?:ask|contact|reach|call|e-?mail|write|try)"
    r"|(?:we|our (?:\w+ ){0,3}(?:team|staff|agents?|desk|support))\b[^.]{0,40}?\b(?:help|assist|answer|hope|happy|glad|pleased|here|apologi[sz]e"
    r"|understand|appreciate|look forward|sorry|regret|provide|find|tell|say|know|wünschen|helfen|beantworten|aider)"
    r"|(?:we|our)\b[^.]{0,20}\b(?:thank|value))\b",
    re.IGNORECASE,
)
_SAYING = re.compile(
    r"^(?P<lead>[^.;:]{0,60}?)\b(?:say|tell you|inform you|report|announce|confirm|advise you|let you know|mitteilen zu müssen|mitteilen"
    r"|bestätigen|sagen|vous informer|vous annoncer|vous dire|confirmer)\b,?\s+(?:that\s+|dass\s+|qu(?:e\s+|['’]))?",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"not\b|n['’]t\b|\b(?:unable|never|nicht|kein\w*|ne|pas)\b", re.IGNORECASE)
_PITY = re.compile(
    r"^(?:i(?:['’]m| am)? )?(?:very |so |really |truly )?sorry\s+(?!to\b|for\b|about\b|if\b|you\b|i\b)(?:that\s+)?",
    re.IGNORECASE,
)
MIN_WORDS, MIN_SUBJECT_WORDS, MIN_FIGURE_WORDS = 3, 4, 2
"""Least number of words of a statement with a verb, with a subject alone, and with a figure."""
_SORRY = r"(?:i(?:['’]m| am) )?(?:very |so |really |truly )?(?:sorry|afraid)"
_COURTESIES = (
    rf"{_SORRY}|(?:i apologi[sz]e|(?:my )?apologies|thank(?:s| you)(?: (?:very|so) much)?)(?: for [^,;:!.\d]{{1,60}})?|unfortunately|sadly"
    r"|(?:hello|hi)(?: there)?|sure|certainly|of course|(?:great|good) question|i hope (?:this|that) (?:helps|answers|clarifies)[^,;:!.\d]{0,40}"
    r"|if you (?:have|need) (?:any )?(?:more |further |other |additional )?(?:questions?|help|assistance)"
    r"|(?:es )?tut mir (?:sehr )?leid|leider|danke|vielen dank|hallo|guten tag|gerne|désolée?|malheureusement|merci|bonjour|bien sûr"
    r"|(?:danke|vielen dank|merci|gracias|obrigad[oa]|grazie|bedankt|dank u|dziękuję|спасибо)"
    r" (?:für|pour|de|d['’]|por|pela|pelo|per|della|voor|za|за) ?[^,;:!.\d]{1,60}"
    r"|lo siento|lamentablemente|gracias|hola|claro|por supuesto|desculpe|infelizmente|obrigad[oa]|olá|mi dispiace|purtroppo|grazie|ciao"
    r"|certo|het spijt me|helaas|bedankt|dank u|natuurlijk|przykro mi|niestety|przepraszam|dziękuję|dzień dobry|oczywiście"
    r"|к сожалению|извините|простите|спасибо|здравствуйте|конечно"
)
_UNSPACED_COURTESIES = (
    r"申し訳(?:ございません|ありません)(?:が)?|すみません(?:が)?|残念ながら|ありがとうございます|很抱歉|抱歉|对不起|遗憾的是|谢谢|您好"
    r"|عذراً|عذرا|للأسف|شكراً|شكرا|مرحباً|مرحبا|죄송합니다만|죄송합니다|죄송하지만|안타깝게도|감사합니다|안녕하세요"
)
COURTESY_LEAD = re.compile(
    rf"^(?:[¡¿]?(?:{_COURTESIES})\s*(?:[,!:;–—]|\s-\s)\s*(?:(?:but|aber|mais|pero|mas|ma|maar|ale|но)\s+)?"
    rf"|{_SORRY} to (?:say|tell you|inform you|report|announce)(?: that)?\s+"
    rf"|(?:{_UNSPACED_COURTESIES})\s*[,，、。،!！.]?\s*){{1,3}}",
    re.IGNORECASE,
)
"""A courtesy before a statement; it has nothing to compare."""
_AGREES = re.compile(r"(?:sure(?: thing)?|certainly|of course|absolutely|gerne)\W*$", re.IGNORECASE)


def without_courtesy(text: str) -> str:
    """Return a checked statement without the courtesy before it; a refusal keeps its own."""
    rest = COURTESY_LEAD.sub("", text)
    return text if not rest or _SELF.search(rest) else rest


def states_beside_courtesy(text: str) -> bool:
    """Return true if a sentence with a courtesy, a refusal or a remark about the documents also states something."""
    text = text[:MAX_LENGTH]
    if refuses_request(text):
        return True  # it says no to what was asked
    if turn := TURN.search(text):
        return not META.match(_JOINED.sub("", text[turn.end() :], count=1))
    said = _said_openly(text)
    if said is not None and _is_statement(said):
        return True
    remark = ABOUT_DOCUMENTS.search(text)
    return any(
        _is_statement(piece) and (remark is None or _stands_apart(text[:start], piece))
        for start, piece in _pieces(text)
    )


def may_state(text: str) -> bool:
    """Return true if a text that is no claim may state something: "I'm sorry your contract has ended.", "Of course!"."""
    if not _WORD.search(text):
        return False
    bare = COURTESY_LEAD.sub("", text)
    if _WORD.search(bare) and not META.search(text) and not META.search(bare):
        return True
    pity = _PITY.match(text)
    return _AGREES.match(text) is not None or (pity is not None and _is_statement(text[pity.end() :]))


def _said_openly(text: str) -> str | None:
    """Return what a sentence says that it says: "I'm sorry to inform you that …"; ``None`` for others."""
    saying = _SAYING.match(text)
    return None if saying is None or _NEGATED.search(saying["lead"]) else text[saying.end() :]


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for joint in _JOINT.finditer(text):
        yield start, text[start : joint.start()]
        start = joint.end()
    yield start, text[start:]


def _stands_apart(before: str, piece: str) -> bool:
    """Return true if a piece is no part of what the documents are said to lack."""
    return has_verb(piece) and not _EMBEDDED.search(piece) and not _EMBEDDED.search(before)


def _is_statement(piece: str) -> bool:
    piece = _JOINED.sub("", piece.strip(), count=1) if _JOINED.match(piece.strip()) else piece.strip()
    if reason := _REASON.match(piece):
        piece = piece[reason.end() :]
        if _POINTS_BACK.match(piece):
            return False
    if _EMBEDS.match(piece) or _OFFERS.match(piece) or _SELF.search(piece) or META.search(piece):
        return False
    words = len(_WORD.findall(piece))
    if words >= MIN_FIGURE_WORDS and has_figure(piece):
        return True
    return words >= MIN_WORDS and (has_verb(piece) or (words >= MIN_SUBJECT_WORDS and bool(_OPENS.match(piece))))
