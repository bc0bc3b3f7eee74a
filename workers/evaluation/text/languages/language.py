"""Guess the language of a text to choose abbreviations and word lists."""

import re
from collections.abc import Mapping, Sequence

from workers.evaluation.text.words import kept_for_sentences, word_set

FUNCTION_WORDS = {
    "en": word_set("the of and to is in that it for was with are on as be this not have by from"),
    "de": word_set("der die das und ist nicht ein eine den dem mit auf für von zu im wurde werden sich auch"),
    "fr": word_set("le la les des et est une du dans pour que pas sur au avec par sont ce il elle"),
    "es": word_set("el la los las y es una del en para que no con por se su al son fue como"),
    "it": word_set("il lo gli e è una di che non per con del della sono nel si al ha da più"),
    "pt": word_set("o os as e é uma do da em para que não com por se no na são foi mais"),
    "pl": word_set("się nie jest że przez oraz który która które jak ale są dla czy być tego tym został była było"),
    "nl": word_set("de het een en is van niet op te dat in voor met zijn aan er werd door ook bij"),
}
_LANGUAGES_OF_WORD: dict[str, list[str]] = {}
for _code, _words in FUNCTION_WORDS.items():
    for _word in _words:
        _LANGUAGES_OF_WORD.setdefault(_word, []).append(_code)
_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("zh", re.compile("[\u3400-\u9fff]")),
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
)
_WORD = re.compile(r"[^\W\d_]+")
_ADDRESS = re.compile(r"[\w+-]*(?:@|(?<=\w)\.(?=[^\W_]{2}))[\w@./+-]*")
"""An address of mail, a host or a file: its "com" and "de" are no words."""
_SAMPLE = 2_000


@kept_for_sentences
def guess_language(text: str) -> str:
    """Guess the language of a text from its script and function words.

    Only the first 2,000 code points count. The guess decides on abbreviations, ordinals
    ("Am 3. März") and what capitals mean, so a wrong one costs little.

    Returns:
        An ISO 639-1 code; ``en`` without evidence of another language.
    """
    sample = text[:_SAMPLE]
    for code, script in () if sample.isascii() else _SCRIPTS:
        if len(script.findall(sample)) > len(sample) * 0.15:
            return code
    scores = _scores(_words_of(sample))
    best = max(scores, key=lambda code: scores[code])
    return best if scores[best] > scores["en"] else "en"


_MORE_WORDS = {
    "sv": word_set("och att det som en på är av för inte har med till den kan om ett men var jag när efter"),
    "tr": word_set("ve bir bu için ile ne da de kimi olarak değil hangi"),
    "en": word_set(
        "a at an or if you your can will which has have but their per until after before were its been do does i we you my what how when who get no only all there they he she"
    ),
    "de": word_set(
        "um uhr ab bei bis nach aus oder wird sind sie er es kann können nur ab pro dass als wie noch an beim zum zur was wer wo wie welche wann wurde hat kostet"
    ),
    "fr": word_set(
        "un en à ou aux ces cette qui ne se vous votre peut jusqu mais plus être sans après avant leur quel quelle quels quelles où combien comment a"
    ),
    "es": word_set(
        "de un a lo o más pero sin sobre hasta desde puede son sus este esta hay si está ser ha tras qué cuánto cuál dónde quién cuándo sí"
    ),
    "it": word_set(
        "la le i a o dal dalla dei delle nella ma può si anche fino dopo prima ogni sua suo questo essere quale quanto quando dove chi come"
    ),
    "pt": word_set("de um a ao aos às das dos pelo pela até pode ser seu sua você mas ou sem foram é nos nas quem já"),
    "pl": word_set("w z na i do o po od za a lub można tylko jego jej przed bez pod ze we ma mogą jeśli są to"),
    "nl": word_set("u je ze of om aan uit kan worden naar maar per na tot deze dit geen hij zij bent heeft hebt wordt"),
}
_LANGUAGES_OF_MORE: dict[str, list[str]] = {word: list(codes) for word, codes in _LANGUAGES_OF_WORD.items()}
for _code, _words in _MORE_WORDS.items():
    for _word in _words:
        _LANGUAGES_OF_MORE.setdefault(_word, []).append(_code)
_LETTERS = (
    ("pl", re.compile("[łżźśćńąęŁŻŹŚĆŃĄĘ]")),
    ("de", re.compile("[ßäÄ]|ü(?!e)|ö")),
    ("pt", re.compile("[ãõÃÕ]|ção|ções")),
    ("es", re.compile("[ñÑ]|ción\\b")),
    ("fr", re.compile("[çœêèÊÈ]|\\b[ldnsjc]['’]")),
    ("it", re.compile("[ìòù]\\b|\\b(?:dell|nell|all|un)['’]")),
)
"""Letters that tell languages apart where function words do not."""


_SISTERS = {"ru": (("uk", re.compile("[іїєґ]")),), "ar": (("fa", re.compile("[پچژگ]")),)}
"""Languages with the script of another and letters of their own."""
LEAST_SIGNS = 2
"""Least number of function words and letters from which a text is known not to be English."""


@kept_for_sentences
def known_language(text: str) -> str | None:
    """Return the language of a text; ``None`` without evidence of any, English included."""
    sample = text[:_SAMPLE]
    for code, script in () if sample.isascii() else _SCRIPTS:
        if len(script.findall(sample)) > len(sample) * 0.15:
            return next((other for other, letters in _SISTERS.get(code, ()) if letters.search(sample)), code)
    words = _words_of(sample)
    scores = _scores(words, _LANGUAGES_OF_MORE)
    if not sample.isascii() or "'" in sample:
        # Words with a capital are often names.
        plain = " ".join(word for word in sample.split() if word[0].islower())
        scores["es"] += 2 * ("¿" in sample)
        for code, letters in _LETTERS:
            scores[code] += len(letters.findall(plain)[:2])
    best = max(scores, key=lambda code: scores[code])
    if best == "en" and scores["en"]:
        return "en" if list(scores.values()).count(scores["en"]) == 1 else None
    is_clear = scores[best] >= LEAST_SIGNS and list(scores.values()).count(scores[best]) == 1
    return best if is_clear else None


FEW_WORDS = 12
"""Number of words below which a text gives too little evidence to exclude languages."""
FEW_SIGNS = 4
"""The same for function words."""
NEAR = 0.5
"""Share of the best language's function words from which another language is possible."""


SCRIPT_SHARE = 0.05
"""Least share of a script's letters by which its languages are possible."""


def likely_languages(text: str) -> list[str]:
    """Return the possible languages of a text, the most likely first.

    Languages with a script of their own come first. A short text returns all languages without an own script.
    """
    sample = text[:_SAMPLE]
    own = [code for code, script in _SCRIPTS if len(script.findall(sample)) > len(sample) * SCRIPT_SHARE]
    return [*own, *_likely_latin(sample)]


def _likely_latin(sample: str) -> list[str]:
    words = _words_of(sample)
    scores = _scores(words)
    order = sorted(scores, key=lambda code: -scores[code])
    if len(words) < FEW_WORDS or scores[order[0]] < FEW_SIGNS:
        return order
    return [code for code in order if scores[code] and scores[code] >= NEAR * scores[order[0]]]


def _words_of(text: str) -> list[str]:
    return _WORD.findall(_ADDRESS.sub(" ", text) if "." in text or "@" in text else text)


def _scores(words: Sequence[str], languages: Mapping[str, Sequence[str]] = _LANGUAGES_OF_WORD) -> dict[str, int]:
    scores = dict.fromkeys(FUNCTION_WORDS if languages is _LANGUAGES_OF_WORD else _MORE_WORDS, 0)
    for word in words:
        if (lowered := word.lower()) in languages:
            for code in languages[lowered]:
                scores[code] += 1
    return scores
