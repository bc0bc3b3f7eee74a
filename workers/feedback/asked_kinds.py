"""Tell what kind of thing a query asks for: a price, a time, a person, a way to do something.

Two queries that ask for different kinds are different questions. Two that ask for the same kind may be one question in
other words, although their vectors lie further apart.
"""

import re

from workers.evaluation.text.words import word_set

MEASURES = {
    "price": word_set(
        "cost costs price prices fee fees tariff expensive kostet kosten preis preise gebühr teuer tarif prix coûte"
        " coûtent coût cuesta cuestan precio precios coste tarifa costa costano prezzo prezzi tariffa preço preços custa"
        " custam prijs kost"
    ),
    "weight": word_set(
        "weigh weighs heavy weight wiegt wiegen schwer gewicht pèse pèsent poids lourd pesa pesan peso pesano"
    ),
    "duration": word_set(
        "duration period dauer dauert gültigkeitsdauer laufzeit durée dure duración dura durata duração duur"
    ),
    "speed": word_set("fast speed schnell geschwindigkeit vite vitesse rápido velocidad veloce velocità velocidade"),
    "count": word_set("number anzahl nombre número numero population población popolazione população effectif aantal"),
    "height": word_set("tall high height hoch höhe haut hauteur alto altura alta altezza hoog hoogte"),
    "depth": word_set("deep depth tief tiefe profond profondeur profundidad profondo profondità profundidade"),
}
"""Words that name a kind; they are interchangeable in a query."""
MEASURE_WORDS = frozenset[str]().union(*MEASURES.values())

_PHRASES = {
    "price": r"how much (?:is|are|was|for|do (?:i|we) (?:have to )?pay)\b|wie viel (?:\w+ )?(?:zahle|zahlen|bezahle)",
    "duration": r"how long\b|how many (?:days|weeks|months|years|hours|minutes)\b|wie lange\b|combien de (?:temps|jours|mois)"
    r"|cuánto (?:tiempo|dura)|quanto (?:tempo|dura)|hoe lang\b",
    "count": r"how many\b|wie viele\b|combien de\b|cuánt[oa]s\b|quant[ie]\b|quant[oa]s\b|hoeveel\b",
    "when": r"when\b|(?:what|which) (?:time|hour|year|date|day)\b|deadline\b|wann\b|wie viel uhr\b|welche[mns]? (?:jahr|tag)\b"
    r"|quand\b|quelle (?:heure|année|date)\b|cuándo\b|qué (?:hora|año|fecha|día)\b|quando\b|che (?:ora|anno|giorno)\b"
    r"|que (?:horas?|ano|dia)\b|wanneer\b|hoe laat\b",
    "who": r"who\b|whom\b|whose\b|wer\b|wen\b|wem\b|wessen\b|qui (?:est|a|sont|dirige)\b|quién(?:es)?\b|chi\b|quem\b",
    "where": r"where\b|wo\b|wohin\b|woher\b|où\b|dónde\b|dove\b|onde\b|waar\b",
    "why": r"why\b|(?:the|what) reason\b|warum\b|wieso\b|weshalb\b|pourquoi\b|por qué\b|perché\b|waarom\b",
    "how_to": r"how (?:do|can|should|could|does|must) (?:i|we|you|one|that|it)\b|how to\b|(?:procedure|way|steps) (?:to|for)\b"
    r"|(?:do )?i have to do\b|wie \w+ (?:ich|wir|man)\b|muss ich tun\b|comment\b|cómo\b|come (?:posso|si)\b|como (?:posso|faço)\b"
    r"|hoe (?:kan|moet) ik\b",
}
_KINDS = {kind: re.compile(rf"(?<!\w)(?:{phrase})", re.IGNORECASE) for kind, phrase in _PHRASES.items()}
_YES_NO = re.compile(
    r"^\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|may|will|would|should|must|am|ist|sind|war|hat|haben|darf"
    r"|dürfen|kann|können|gibt es|muss|est-ce|peut-on|puis-je|y a-t-il)\b|, (?:may|can|darf|kann) (?:i|we|ich|wir)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+")
_LOOSE = frozenset(("how_to", "yes_no"))
"""Kinds that do not exclude others: "Can I cancel?" may ask how."""


def asked_kinds(text: str) -> frozenset[str]:
    """Return the kinds of things that a query asks for; empty for a query that names none."""
    words = {word.lower() for word in _WORD.findall(text)}
    kinds = {kind for kind, names in MEASURES.items() if words & names}
    kinds |= {kind for kind, pattern in _KINDS.items() if pattern.search(text)}
    if "duration" in kinds:
        kinds.discard("count")
    return frozenset(kinds or ({"yes_no"} if _YES_NO.search(text) else ()))


def ask_for_others(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return true if two queries ask for different kinds of things."""
    return bool(one - _LOOSE and other - _LOOSE and not one & other)


def ask_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return true if two queries ask for the same kind of thing, or both for no known kind."""
    return bool(one & other) or not (one or other)
