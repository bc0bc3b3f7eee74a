"""Reduce the content words of a text in any language to stems for comparison.

Languages with inflected words use Snowball's stemmers. Chinese and Japanese have no spaces: their ideographs are
compared one by one, katakana word by word, and hiragana, which mainly carries grammar, not at all. Korean words lose
their particles.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache

import Stemmer

from workers.evaluation.text.languages.local_forms import ENGLISH_FORMS
from workers.evaluation.text.words import KEPT_LENGTH, KEPT_TEXTS, STOP_WORDS, stem, word_set
from workers.evaluation.text.words import content_words as english_words

_ALGORITHMS: Mapping[str, str] = {
    "de": "german",
    "fr": "french",
    "es": "spanish",
    "pt": "portuguese",
    "it": "italian",
    "nl": "dutch",
    "pl": "polish",
    "ru": "russian",
    "ar": "arabic",
}
LOCAL_LANGUAGES = frozenset((*_ALGORITHMS, "ja", "zh", "ko"))
"""Languages whose words this module reduces; the words of others are reduced as English ones."""

SMALL_WORDS: Mapping[str, frozenset[str]] = {
    "de": word_set(
        "sein seine seiner seinen seinem ihre ihrer ihren ihrem dieser diese dieses diesem diesen dort dann so nur noch schon sowie man kann können soll muss wer was wo wann wie welche welcher welches beim ins ans am vom es sie diejenigen jeweils bis ab um"
    ),
    "fr": word_set(
        "d l n s j qu c m t à ses son sa leur leurs cet où comment quand quel quelle quels quelles donc alors ainsi être avoir fait y lors dont ont a ai si tout toute tous toutes"
    ),
    "es": word_set(
        "a ha han está están ser sido lo le les este esta estos estas ese esa cuál cuándo dónde cómo cuánto cuánta cuántos cuántas qué quién muy más también ya e u si tras unos unas sobre entre desde hasta"
    ),
    "pt": word_set(
        "o a os as um uma uns umas de do da dos das em no na nos nas ao aos à às por pelo pela pelos pelas para com que se e ou mas é são foi foram ser está estão tem têm seu sua seus suas este esta isso isto qual quais quando onde como quanto quantos quem já também mais ele ela você"
    ),
    "it": word_set(
        "il lo la i gli le un uno una di del dello della dei degli delle a al allo alla ai agli alle da dal dallo dalla dai dagli dalle in nel nello nella nei negli nelle su sul sulla con per che e ed o ma è sono era stato stata ha hanno si ci ne suo sua suoi sue questo questa quale quali quando dove come quanto quanti chi anche più già l d all dell nell un"
    ),
    "nl": word_set(
        "de het een en of maar is zijn was waren wordt worden werd werden heeft hebben had van voor met op in te tot aan bij uit om door naar dat die dit deze er ook nog al hij zij ze je u uw hun haar wat wie waar wanneer hoe welke kan kunnen zal moet dan als"
    ),
    "pl": word_set(
        "w we z ze na do od za po o u i a oraz lub albo ale że się jest są był była było były być to ten ta te tego tej tym jego jej ich który która które których co kto gdzie kiedy jak ile czy już też także dla przez przy pod nad przed jako"
    ),
    "ru": word_set(
        "в во на с со к ко о об от до за по из у и а но или что как это этот эта эти был была было были быть есть его её ее их который которая которые где когда кто сколько какой какая какие ли же бы для при над под через так также уже г"
    ),
    "ar": word_set("في من إلى على عن مع أن إن هذا هذه ذلك التي الذي ما متى أين كم هل و أو ثم قد كان كانت هو هي"),
}
_WORD = re.compile(r"\d+\.\d+(?![.\d])|[^\W_]+")
_PIECE = re.compile(
    "[a-z0-9._]+(?:[.,:]\\d+)*|[\u30a0-\u30ff]+|[\u3400-\u9fff]|[\uac00-\ud7af]+|[^\\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
)
_SMALL_IDEOGRAPHS = frozenset(
    "的了是在和也都就吗呢吧及与或之其而于以为将被把着过这那有会可能要请您你我他她它们个個中上下次位名者等於"
)
_PARTICLES = re.compile(
    "(?<=[\uac00-\ud7af])(?:으로부터|에서부터|에게서|까지만|이라고|입니다|습니다|합니다|됩니다|하면|하고|하는|하여|해서|했다|됐다|된다|한다|이며|이고|인가요|나요|에서는|에는|으로|에서|에게|까지|부터|마다|처럼|보다|라고|이나|에도|은|는|이|가|을|를|의|에|로|와|과|도|만|다|요)$"
)


def content_words(text: str, language: str = "en") -> frozenset[str]:
    """Return the stems of the content words of a text, numbers included."""
    if language not in LOCAL_LANGUAGES:
        return english_words(text)
    return frozenset(local_sequence(text, language))


def local_sequence(text: str, language: str) -> tuple[str, ...]:
    """Return the stems of the content words of a text in a language of ``LOCAL_LANGUAGES``, in order."""
    return _kept(text, language) if len(text) <= KEPT_LENGTH else _sequence(text, language)


def _sequence(text: str, language: str) -> tuple[str, ...]:
    lowered = text.lower()
    if language in _ALGORITHMS:
        small = SMALL_WORDS[language] | STOP_WORDS
        words = [word for word in _WORD.findall(lowered) if word not in small]
        stems = _stemmer(language)(words)
        return tuple(stem(word) if word in ENGLISH_FORMS else own for word, own in zip(words, stems, strict=True))
    return tuple(filter(None, (_part(piece) for piece in _PIECE.findall(lowered) if piece not in _SMALL_IDEOGRAPHS)))


_kept = lru_cache(maxsize=KEPT_TEXTS)(_sequence)


def _part(piece: str) -> str:
    if "\uac00" <= piece[0] <= "\ud7af":
        return _PARTICLES.sub("", piece)
    return stem(piece) if piece in ENGLISH_FORMS else piece


@cache
def _stemmer(language: str) -> Callable[[list[str]], list[str]]:
    stems: Callable[[list[str]], list[str]] = Stemmer.Stemmer(_ALGORITHMS[language]).stemWords
    return stems
