"""Compare figures by party: what holds of the landlord is not what holds of the tenant.

A text is cut into parts that each speak of one party. A claim on one party that has figures of another one's part only
is wrong.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workers.evaluation.facts.text_details import read_details
from workers.evaluation.facts.units import NUMBER_WORDS, UNITS
from workers.evaluation.text.languages.local_words import content_words
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import kept_for_sentences, stem

MAX_TEXT = 400
"""Longest claim and sentence that are read, code points."""

_ROWS = r"""
tenants?|renters?|lessees?|Mieter\w*|Mieterin|locataires?|inquilin[oaie]s?|arrendatari[oa]s?|conduttor[ei]|huurders? @ landlords?|lessors?|Vermieter\w*|propriétaires?|bailleurs?|propietari[oa]s?|arrendador\w*|proprietari[oae]?s?|locator[ei]|verhuurders?
buyers?|purchasers?|Käufer\w*|acheteurs?|comprador\w*|acquirent[ei]|compratore|kopers? @ sellers?|vendors?|Verkäufer\w*|vendeurs?|vendedor\w*|venditor[ei]|verkopers?
employees?|workers?|Arbeitnehmer\w*|Angestellte\w*|Beschäftigte\w*|salariée?s?|emplead[oa]s?|trabajador\w*|dipendent[ei]|lavorator\w*|werknemers? @ employers?|Arbeitgeber\w*|employeurs?|emplead(?:or|ores)|datore\sdi\slavoro|werkgevers? @ trainees?|apprentices?|Auszubildende\w*|Lehrlinge?|apprentis?|aprendices?
adults?|grown-ups?|Erwachsene\w*|adultes?|adult[oi]s?|volwassenen? @ child|children|kids?|Kind(?:er|ern)?|enfants?|niñ[oa]s?|bambin[oi]|kinderen
members?|Mitglied(?:er|ern)?|membres?|adhérente?s?|miembros?|soci[oa]s?|soci|leden @ guests?|non-members?|visitors?|Gäste\w*|Nichtmitglied\w*|Besucher\w*|invitée?s?|visiteurs?|invitad[oa]s?|visitantes?|ospiti|gasten
weekdays?|working\sdays|Monday\sto\sFriday|Werktags?|werktags|Wochentags?|jours\souvrables|en\ssemaine|entre\ssemana|días\slaborables|feriali|werkdagen @ weekends?|Saturdays?\sand\sSundays?|Sundays?|Wochenenden?|sonntags|week-ends?|fines?\sde\ssemana|fine\ssettimana @ public\sholidays|Feiertage?n?|jours\sfériés|festivos|festivi
students?|pupils?|Studierende\w*|Schüler\w*|étudiante?s?|estudiantes?|student[ei] @ staff|teachers?|lecturers?|professors?|Lehrer\w*|Lehrkräfte\w*|Mitarbeiter\w*|enseignante?s?|profesor\w*|personale|docent[ei]
consumers?|private\scustomers?|individuals?|Verbraucher\w*|Privatkunden|particuliers?|consommateurs?|consumidor\w*|particulares @ business(?:es)?(?:\scustomers?)?|companies|corporate\scustomers?|Unternehmen|Geschäftskunden|Firmenkunden|entreprises?|professionnels|empresas?|aziende
lenders?|Kreditgeber\w*|prêteurs?|prestamistas? @ borrowers?|Kreditnehmer\w*|emprunteurs?|prestatari[oa]s?
patients?|Patient(?:en|innen|in)? @ doctors?|physicians?|nurses?|Ärzt\w*|Arzt|Pflegekräfte\w*|médecins?
residents?|locals?|Einwohner\w*|Anwohner\w*|résidents?|residentes? @ non-residents?|tourists?|foreigners?|Touristen|Auswärtige|touristes?|turistas?
parties\sto\sthe\strial|plaintiffs?|claimants?|Kläger\w*|demandeurs?|demandantes? @ defendants?|Beklagte\w*|défendeurs?|demandad[oa]s?
"""


def _sides(row: str) -> tuple[PrefilteredPattern, ...]:
    return tuple(
        PrefilteredPattern(rf"(?<![\w-])(?:{words.strip()})(?![\w-])", re.IGNORECASE) for words in row.split("@")
    )


PARTIES = tuple(map(_sides, _ROWS.strip().splitlines()))
"""Parties to one matter, by row, in the ten most used languages of the web as far as they are common there."""
_PIECE = re.compile(
    r"(?<=[.;!?])\s|;\s|,?\s(?:while|whereas|but|and\sfor|während|und\sfür|aber|et\spour|tandis\sque|mais|y\spara|mientras\sque|pero|mentre|e\sper|ma)\s",
    re.IGNORECASE,
)
_COMPARES = re.compile(
    r"\b(?:than|as|more|less|fewer|longer|shorter|twice|half|als|wie|que|both|either|each|beide|jeweils|les deux|ambos|same|everyone|all)\b",
    re.IGNORECASE,
)
"""Words that relate two parties."""

_CONTINUES = re.compile(
    r"\W*(?:for|as for|on|at|with|für|bei|an|am|pour|le|les|para|por|los|per|nei|voor|op)\s", re.IGNORECASE
)
_ONE = re.compile(r"\bone (?=[a-z])(?!of\b|or\b|and\b|more\b|another\b|who\b|that\b)", re.IGNORECASE)
_POSSESSIVE = re.compile(r"(?<=\w)['’]s?\b|(?<=s)['’](?=\s)")
_VARYING = frozenset(stem(word) for word in (*UNITS, *NUMBER_WORDS, "period", "may", "can", "must"))
Value = tuple[str, float]


@dataclass(frozen=True, slots=True)
class _Part:
    """Hold a part of the evidence that speaks of one party, of several, or of none.

    Attributes:
        party: place of the party in its row; ``None`` for none or several.
        values: figures in it.
        words: stems of its content words.
        continues: whether it puts another party in the place of the one before: "For the landlord …".
    """

    party: int | None
    values: frozenset[Value]
    words: frozenset[str]
    continues: bool


def is_party_right(claim: str, question: str, sentences: Sequence[str], language: str) -> bool | None:
    """Return whether a claim on one party has the figures that the evidence tells of it.

    Args:
        claim: the claim.
        question: the question, which names the party of a claim that names none.
        sentences: the evidence, those of one source in order, with an empty text between what does not follow.
        language: language of the claim, ISO 639-1.

    Returns:
        False if they are those of another party; ``None`` if the claim names no party, or if that is not known.
    """
    claim = claim[:MAX_TEXT]
    values = _values(claim)
    if not values:
        return None
    for row in PARTIES:
        party = _party(claim, row)
        if party is None and not any(pattern.search(claim) for pattern in row):
            party = _party(question, row)
        if party is None or (_COMPARES.search(claim) and len(_named(f"{question} {claim}", row)) > 1):
            continue
        parts = list(_parts(sentences, row, language))
        own = [part for part in parts if part.party == party]
        known = frozenset[Value]().union(*(part.values for part in parts if part.party in (party, None)))
        strange = values - known
        theirs = [
            place for place, part in enumerate(parts) if part.party not in (party, None) and strange & part.values
        ]
        if own and values <= frozenset[Value]().union(*(part.values for part in own)):
            return True
        if not strange or not strange <= frozenset[Value]().union(*(parts[place].values for place in theirs)):
            continue
        words = content_words(claim, language) - _words_of(row, claim, language) - _VARYING
        kinds = {kind for kind, _ in strange}
        near = {id(parts[place + step]) for place in theirs for step in (-1, 1) if 0 <= place + step < len(parts)}
        if any(
            kinds & {kind for kind, _ in part.values}
            and (words & part.words or (id(part) in near and (part.continues or _continue(parts, theirs))))
            for part in own
        ):
            return False
    return None


def _continue(parts: Sequence[_Part], places: Sequence[int]) -> bool:
    return any(parts[place].continues for place in places)


def _named(text: str, row: Sequence[PrefilteredPattern]) -> list[int]:
    return [place for place, pattern in enumerate(row) if pattern.search(text)]


def _party(text: str, row: Sequence[PrefilteredPattern]) -> int | None:
    named = _named(text, row)
    return named[0] if len(named) == 1 else None


def _parts(sentences: Sequence[str], row: Sequence[PrefilteredPattern], language: str) -> Iterator[_Part]:
    party: int | None = None
    for sentence in sentences:
        if not sentence:
            party = None
        for piece in _pieces(sentence):
            if named := _named(piece, row):
                party = named[0] if len(named) == 1 else None
            words = content_words(piece, language) - _VARYING
            yield _Part(party, _values(piece), words, _CONTINUES.match(piece) is not None and bool(named))


def _words_of(row: Sequence[PrefilteredPattern], text: str, language: str) -> frozenset[str]:
    return frozenset[str]().union(*(content_words(match[0], language) for each in row for match in each.finditer(text)))


@kept_for_sentences
def _pieces(sentence: str) -> tuple[str, ...]:
    return tuple(filter(None, _PIECE.split(sentence[:MAX_TEXT])))


@kept_for_sentences
def _values(text: str) -> frozenset[Value]:
    details = read_details(_ONE.sub("1 ", _POSSESSIVE.sub("", text)))
    return frozenset(
        [(number.dimension, number.values[0]) for number in details.quantities]
        + [("minute", float(date.minute)) for date in details.dates if date.minute is not None]
    )
