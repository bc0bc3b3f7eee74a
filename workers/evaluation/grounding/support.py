"""Compute the support of a claim by its evidence: a calibrated confidence and a verdict.

``claim_features`` measures claims, and ``calibration`` weights the measures. The verdict:

- *contradicted*: a field of a record contradicts the claim, or a number, date, name or negation differs from evidence
  that clearly concerns the same subject;
- *supported*: confidence at or above ``grounding_minimum``, without a mismatch and without a figure that no source has
  or gives; at least 0.6 is needed if no source has a number, date or name of the claim, or if a verifier doubts it;
- *not_checked*: nothing differs, but the claim says it in other words than the evidence, or in another language, and
  the claim is not in English: only exact details could be compared;
- *unsupported*: the rest.

For claims that the rules leave open, the confidence combines the probabilities of rules and verifier
(``verifier_combination``). A contradiction found by the rules always decides.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np

from schemas.grounding import Mismatch, Verdict
from workers.evaluation.budget import spend
from workers.evaluation.claims.claim_extraction import ExtractedClaim, opens_with_pronoun
from workers.evaluation.claims.clauses import has_verb
from workers.evaluation.claims.short_answers import (
    asks_for_value,
    consents,
    needs_question,
    says_only_polarity,
    without_opening,
)
from workers.evaluation.clauses.clause_reader import is_instruction, read_together
from workers.evaluation.clauses.ranked_subjects import is_ranked_rightly, says_only_order
from workers.evaluation.contradictions.contradiction_checks import compare, has_unknown_day, on_one_matter
from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.contradictions.json_evidence import RecordFacts
from workers.evaluation.contradictions.values.comparisons import wrong_change
from workers.evaluation.facts.addresses import is_other_address, read_addresses
from workers.evaluation.facts.calculation.arithmetic import same_dimension, satisfies
from workers.evaluation.facts.forms.referred_amounts import referred_amounts
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.grounding.added_words import adds_nothing, is_of_small_words
from workers.evaluation.grounding.calibration import CONFIDENCE_AT_CUT, UNSUPPORTED_FEATURES, GroundingCalibration
from workers.evaluation.grounding.claim_features import (
    FEATURES,
    EvidenceIndex,
    content_sequence,
    measure_claim,
)
from workers.evaluation.grounding.claim_memory import current_memory
from workers.evaluation.grounding.sources.clause_evidence import (
    OF_ANSWER,
    OF_VALUES,
    ClauseFindings,
    adds_reason_or_step,
    compare_clauses,
    is_english,
    is_exchanged,
    parsed_texts,
)
from workers.evaluation.grounding.sources.evidence import TOP, EvidenceUnit, Matrix, joined_units, nearest
from workers.evaluation.grounding.sources.other_things import sources_on_others
from workers.evaluation.grounding.verifier_combination import Flags, VerifierCombination
from workers.evaluation.ownership.placement_model import shipped_placement
from workers.evaluation.ownership.value_owners import OwnedValues, combines_values, gives_numbers, has_other_owner
from workers.evaluation.ownership.value_placement import MAX_EVIDENCE
from workers.evaluation.text.languages.local_words import LOCAL_LANGUAGES, content_words
from workers.evaluation.trees import Floats

CONTRADICTION_AGREEMENT = 0.5
"""Agreement below which evidence concerns another subject and cannot contradict."""
CONTRADICTION_SIMILARITY = 0.45
"""The same for the cosine of claim and evidence."""
CONTRADICTED_SCORE = 0.2
"""Maximum score of a contradicted claim."""
MISSING = [FEATURES.index(name) for name in ("missing_numbers", "missing_dates", "missing_names")]
"""Features that count the details of a claim that no evidence has."""
DOUBTED_BY_VERIFIER = 0.5
"""Probability of support below which a verifier doubts a claim."""
DOUBTED_SHARE = 0.75
"""Maximum score, as a share of the minimum, of a claim that is in doubt: one with a mismatch whose evidence is not close
enough to contradict it, or one between the minimum and the fitted cutoff. Such a claim is never supported.
"""


LEAST_REPEATED = 12
"""Fewest code points of a sentence that says by itself what it is about."""
MAX_UNSEEN = 1 / 3
"""Maximum share of a claim's words that no evidence has, from which on clauses are not compared: it is put otherwise."""
_TIME_BEFORE = re.compile(r"\W*after\s[^,.]{0,20}\d[^,.]{0,30},\s", re.IGNORECASE)
_DOER = re.compile(
    r"^\W*(?:you|we|one|people|everyone|anyone)\s(?:can|may|must|should|could|will|have to|need to|are allowed to)\s"
    r"(?:also\s|only\s)?[a-z]{3,}\s(?=(?:an?|the|your|any)\s|[a-z]{3,}\s)",
    re.IGNORECASE,
)
"""A doer who may be anybody, with the verb, in front of a thing."""
DECISIVE: frozenset[Mismatch] = frozenset(("subject", "role", "negation"))
"""Mismatches of clauses that contradict a claim; others leave it without support."""


@dataclass(frozen=True, slots=True)
class Support:
    """Hold the evaluation of one claim.

    Attributes:
        score: support, 0..1.
        verdict: verdict for this score.
        mismatches: mismatches with the evidence.
        unit: index of the best evidence, ``None`` without any.
        similarity: cosine of its words with those of the unit.
        best_similarity: highest cosine with any unit, also after its antecedent.
        log_odds: log-odds that it is unsupported, before the verdict; see ``calibration``.
        unsupported_share: share of it that is not in the sources, 0..1; see ``calibration``.
        words: distinct content words of it, at least 1.
        compared: indices of the units that it was compared with, the best first.
        verified: verifier's probability that it is supported; ``None`` if the verifier did not read it.
        unknown_figures: number of its figures that no evidence has or gives.
    """

    score: float
    verdict: Verdict
    mismatches: tuple[Mismatch, ...]
    unit: int | None
    similarity: float
    best_similarity: float
    log_odds: float
    unsupported_share: float
    words: int
    compared: tuple[int, ...] = ()
    verified: float | None = None
    unknown_figures: int = 0


Reading = Literal["compared", "other_words", "other_language"]
"""State how far the words of a claim can be compared: always in English; in other languages where the evidence has them; never
across languages."""

MAX_OTHER_WORDS = 0.9
"""Share of a claim's words that no evidence has, from which on it is not the same thing in other words."""


@dataclass(frozen=True, slots=True)
class MeasuredClaim:
    """Hold the measures of a claim before its evaluation.

    Attributes:
        values: features, shape (len(FEATURES),).
        words: distinct content words, at least 1.
        mismatches: mismatches with the evidence.
        compared: indices of the units that it was compared with, the best first.
        similarity: cosine of its words with those of the best of them.
        best: highest cosine with any unit, also after its antecedent.
        contradicts: True if the mismatched evidence clearly concerns the same subject.
        denied: True if a field of a record contradicts the claim.
        unknown_figures: number of its figures that no evidence has or gives.
        reading: whether its words can be compared with those of the evidence; see ``Reading``.
        is_open: True for yes and no whose question is none for yes or no, or that no clause of the evidence decides.
    """

    values: Floats
    words: int
    mismatches: tuple[Mismatch, ...]
    compared: tuple[int, ...]
    similarity: float
    best: float
    contradicts: bool
    denied: bool
    unknown_figures: int = 0
    reading: Reading = "compared"
    is_open: bool = False

    @property
    def contradicted(self) -> bool:
        """Return true if the rules alone decide, because the claim contradicts the evidence."""
        return self.denied or self.contradicts


@dataclass(frozen=True, slots=True)
class VerifierScores:
    """Hold a verifier's scores of n claims.

    Attributes:
        combination: combination of the scores with the rules.
        supported: probability that each is supported, shape (n,); NaN for claims that the verifier did not read.
        of_records: True for claims whose best unit is part of a record, shape (n,).
    """

    combination: VerifierCombination
    supported: Floats
    of_records: Flags

    def on(self, claims: Sequence[int]) -> "VerifierScores":
        """Return the scores of the given claims, in their order."""
        return VerifierScores(self.combination, self.supported[claims], self.of_records[claims])


def evaluate_claims(
    claims: Sequence[ExtractedClaim],
    units: Sequence[EvidenceUnit],
    similarity: Matrix,
    leaning: Matrix,
    records: Mapping[int, RecordFacts],
    calibration: GroundingCalibration,
    minimum: float,
    opinion: VerifierScores | None = None,
) -> list[Support]:
    """Evaluate claims against the evidence.

    Args:
        claims: n claims that need grounding.
        units: m units of evidence; without any, nothing is supported.
        similarity: cosines of the words of claims and units, shape [n, m].
        leaning: the same for claims after their antecedents, shape [n, m].
        records: facts of the records among the contexts, by number of the context.
        calibration: calibration that weights the measures.
        minimum: confidence from which a claim is supported.
        opinion: the verifier's scores of the claims.
    """
    measured = measure_claims(claims, units, similarity, leaning, records, calibration)
    return evaluate_measured_claims(measured, calibration, minimum, opinion, has_evidence=bool(units))


def evaluate_measured_claims(
    measured: Sequence[MeasuredClaim],
    calibration: GroundingCalibration,
    minimum: float,
    opinion: VerifierScores | None,
    *,
    has_evidence: bool,
) -> list[Support]:
    """Evaluate measured claims; for the other arguments see :func:`evaluate_claims`.

    Args:
        measured: n claims.
        calibration: calibration that weights the measures.
        minimum: confidence from which a claim is supported.
        opinion: the verifier's scores of the claims.
        has_evidence: True if there is any unit of evidence.
    """
    if opinion is None:
        odds = rule_odds(measured, calibration)
        confidences = calibration.confidences(odds)
        said: list[float | None] = [None] * len(measured)
    else:
        margins = rule_margins(measured, calibration)
        odds = opinion.combination.log_odds(margins, opinion.supported, opinion.of_records)
        confidences = opinion.combination.confidences(odds)
        said = [None if np.isnan(each) else float(each) for each in opinion.supported]
    return [
        _verdict(each, float(odd), float(confidence), minimum, verified, has_evidence=has_evidence)
        for each, odd, confidence, verified in zip(measured, odds, confidences, said, strict=True)
    ]


def rule_odds(measured: Sequence[MeasuredClaim], calibration: GroundingCalibration) -> Floats:
    """Return the log-odds that n claims are unsupported, by the rules alone, shape (n,)."""
    return calibration.log_odds(_features(measured))


def rule_margins(measured: Sequence[MeasuredClaim], calibration: GroundingCalibration) -> Floats:
    """Return the rules' log-odds minus the verdict's cutoff, the input of a verifier combination, shape (n,)."""
    return calibration.margins(_features(measured))


def _features(measured: Sequence[MeasuredClaim]) -> Floats:
    return np.array([each.values for each in measured], dtype=np.float64).reshape(-1, len(FEATURES))


def measure_claims(
    claims: Sequence[ExtractedClaim],
    units: Sequence[EvidenceUnit],
    similarity: Matrix,
    leaning: Matrix,
    records: Mapping[int, RecordFacts],
    calibration: GroundingCalibration,
) -> list[MeasuredClaim]:
    """Measure claims; the arguments are those of :func:`evaluate_claims`.

    The words of all claims are looked up together. The agreement of a claim can therefore include a word of another
    claim of the answer (the 5 in "5.5" and in "5 rooms").
    """
    others = sources_on_others(claims, units)
    if (memory := current_memory()) is None:
        return _measure_by_thing(claims, units, similarity, leaning, records, calibration, others)

    def measure(rows: list[int]) -> list[MeasuredClaim]:
        chosen = [claims[row] for row in rows]
        left_out = [others[row] for row in rows]
        return _measure_by_thing(chosen, units, similarity[rows], leaning[rows], records, calibration, left_out)

    return memory.complete(claims, tuple(units), measure)


def _measure_by_thing(
    claims: Sequence[ExtractedClaim],
    units: Sequence[EvidenceUnit],
    similarity: Matrix,
    leaning: Matrix,
    records: Mapping[int, RecordFacts],
    calibration: GroundingCalibration,
    others: Sequence[frozenset[int]],
) -> list[MeasuredClaim]:
    """Measure claims, each without the sources on other things than its own."""
    if not any(others):
        return _measure_all(claims, units, similarity, leaning, records, calibration)
    found: dict[int, MeasuredClaim] = {}
    for left_out in dict.fromkeys(others):
        rows = [row for row, each in enumerate(others) if each == left_out]
        kept = [place for place, unit in enumerate(units) if unit.number not in left_out]
        part = np.ix_(rows, kept)
        own, near = [claims[row] for row in rows], [units[place] for place in kept]
        measured = _measure_all(own, near, similarity[part], leaning[part], records, calibration)
        for row, each in zip(rows, measured, strict=True):
            found[row] = replace(each, compared=tuple(kept[place] for place in each.compared))
    return [found[row] for row in range(len(claims))]


def _measure_all(
    claims: Sequence[ExtractedClaim],
    units: Sequence[EvidenceUnit],
    similarity: Matrix,
    leaning: Matrix,
    records: Mapping[int, RecordFacts],
    calibration: GroundingCalibration,
) -> list[MeasuredClaim]:
    if not claims:
        return []
    spend(sum(len(unit.text) for unit in units))
    sequences = [content_sequence(claim.plain, claim.language) for claim in claims]
    vocabulary = frozenset(
        word for words in sequences for word in (*words, *(one + two for one, two in pairwise(words)))
    )
    numbers = dict.fromkeys(unit.number for unit in units)
    index = EvidenceIndex(units, vocabulary, [records[number] for number in numbers if number in records])
    if not units:
        no_similarity = np.zeros(0, dtype=np.float32)
        return [
            _measure(claim, (), "", index, no_similarity, no_similarity, frozenset(), calibration, ())
            for claim in claims
        ]
    words = [content_words(claim.plain, claim.language) for claim in claims]
    # Parse what the claims need in one batch; compare_clauses finds the clauses in the cache.
    covered = [
        row for row, own in enumerate(words) if sum(not index.has(word) for word in own) <= MAX_UNSEEN * len(own)
    ]
    read_together(text for row in covered for text in parsed_texts(claims[row], units))
    close = np.maximum(similarity, leaning)
    ranked = nearest(close, words, [unit.words for unit in units])
    short = short_evidence(units)
    return [
        _measure(claim, units, short, index, close[row], similarity[row], words[row], calibration, ranked[row].tolist())
        for row, claim in enumerate(claims)
    ]


def short_evidence(units: Sequence[EvidenceUnit]) -> str:
    """Return English evidence that is short enough for ``value_placement``; else an empty text."""
    if sum(len(unit.text) for unit in units) > 2 * MAX_EVIDENCE:
        return ""  # a record is there twice: whole and by its fields
    text = joined_units(units)
    return text if len(text) <= MAX_EVIDENCE and is_english(text) else ""


def is_misplaced(claim: ExtractedClaim, evidence: str) -> bool:
    """Return true if the value of a claim stands with another subject in short evidence; see ``value_placement``."""
    text = claim.reply or claim.plain
    if not evidence or consents(claim.asked, text) is not None:
        return False
    if claim.asked and needs_question(claim.asked, text):
        return shipped_placement().is_misplaced(text, claim.asked, evidence)
    return shipped_placement().is_misplaced(claim.plain, claim.question, evidence)


def _without_time_before(claim: ExtractedClaim) -> str:
    """Return a step without the time after which it follows the step before: "After 17 minutes, pour out the water."."""
    match = _TIME_BEFORE.match(claim.plain)
    is_step = match is not None and claim.language == "en" and is_instruction(claim.plain)
    return claim.plain[match.end() :] if match is not None and is_step else claim.plain


def agreement(similarity: float, words: frozenset[str], near: frozenset[str], everything: frozenset[str]) -> float:
    """Average similarity, words in the nearest units and words in any unit, 0..1; a high value means one subject."""
    if not words:
        return similarity
    count = len(words)
    return (similarity + len(words & near) / count + len(words & everything) / count) / 3


def _measure(
    claim: ExtractedClaim,
    units: Sequence[EvidenceUnit],
    short: str,
    index: EvidenceIndex,
    close: Matrix,
    alone: Matrix,
    words: frozenset[str],
    calibration: GroundingCalibration,
    top: Sequence[int],
) -> MeasuredClaim:
    texts = [units[place].text for place in top]
    best = float(close.max()) if len(close) else 0.0
    # The claim is compared with the nearest units word by word, and with the values of all units.
    spend(len(claim.plain) + sum(map(len, texts)) + len(units))
    if (same := repeated_sentence(claim, texts)) is not None:
        # Its source says it, whatever other sentences say of other things.
        top = (top[same], *top[:same], *top[same + 1 :])
        return MeasuredClaim(
            np.zeros(len(FEATURES)), max(1, len(words)), (), top, float(alone[top[0]]), best, False, False
        )
    before = ((units[place].text, _text_before(units, place)) for place in top)
    mismatches = _compared(claim, [*texts, *referred_amounts(claim.plain, before)]) if texts else ()
    topic = claim.antecedent or claim.question
    untimed = _without_time_before(claim)
    misplaced = bool(texts) and (
        has_other_owner(untimed, topic, index.owned)
        # "You can keep a film for four weeks" gives the weeks to the film.
        or ((thing := _DOER.sub("", untimed)) != untimed and has_other_owner(thing, topic, index.owned))
    )
    if "number" in mismatches and gives_numbers(claim.plain, topic, index.owned):
        mismatches = tuple(each for each in mismatches if each != "number")
    if misplaced:
        mismatches = (*mismatches, "subject")
    ranked = _ranked(claim, index.owned) if texts else None
    if ranked is False:
        mismatches = (*mismatches, "comparative")
    elif ranked:
        mismatches = tuple(each for each in mismatches if each != "comparative")
    if claim.language in LOCAL_LANGUAGES and "date" not in mismatches and has_unknown_day(_stated(claim), texts):
        mismatches = (*mismatches, "date")
    measures = measure_claim(
        claim.plain, best, index, top, calibration.words, claim.asked, claim.language, claim.worked
    )
    if measures.unknown_figures and (own := _stated(claim)) != claim.plain:
        # "No, it is not suitable for children under 12." does not state the ten years of its question.
        stated = measure_claim(own, best, index, top, calibration.words, claim.asked, claim.language, claim.worked)
        measures = measures if stated.unknown_figures else stated
    if texts and any(is_other_address(each, texts[0], claim.plain) for each in measures.unknown_addresses):
        mismatches = (*mismatches, "name")
    if measures.is_calculated and not wrong_change(claim.plain, texts[0]):
        mismatches = tuple(each for each in mismatches if each != "number")
    unseen = float(measures.values[FEATURES.index("unseen_share")])
    clauses = ClauseFindings()
    if texts:
        clauses = compare_clauses(claim, units, is_covered=unseen <= MAX_UNSEEN, is_calculated=measures.is_calculated)
    # Clauses are compared by words, and an address is none.
    has_address = bool(read_addresses(claim.plain))
    keeps_values = clauses.keeps_values and not has_address
    if keeps_values:
        misplaced = False
        mismatches = tuple(each for each in mismatches if each not in OF_VALUES)
    if texts and combines_values(claim.plain, topic, index.owned):
        mismatches = (*mismatches, "number")
    if clauses.is_answer_right:
        mismatches = tuple(each for each in mismatches if each not in OF_ANSWER)
    compared = mismatches
    mismatches = tuple(dict.fromkeys((*mismatches, *clauses.mismatches)))
    near = frozenset().union(*(units[place].words for place in top[:TOP]))
    everywhere = frozenset(word for word in words if index.has(word)) | near
    # A right yes does not make right what stands behind it: "Yes, five hikers." over three.
    is_refuted = (has_address and misplaced) or (clauses.is_answer_right and not OF_VALUES.isdisjoint(mismatches))
    is_answered = (
        clauses.is_confirmed and not is_refuted and (clauses.is_whole or adds_nothing(claim, units, index, top))
    ) or (
        ranked is True
        and not mismatches
        and not measures.unknown_figures
        and says_only_order(without_opening(claim.reply or claim.plain), [claim.asked, *texts])
    )
    exchanged = not mismatches and not keeps_values and is_exchanged(claim, units)
    is_made_up = not mismatches and not exchanged and adds_reason_or_step(claim, units)
    if (is_answered and not exchanged and not is_made_up) or (measures.is_confirmed and not mismatches):
        return MeasuredClaim(
            np.zeros(len(FEATURES)), max(1, len(words)), (), tuple(top), float(alone[top[0]]), best, False, False
        )
    has_question = bool(claim.asked or claim.antecedent)
    is_of_question = (
        bool(texts) and texts[0].rstrip().endswith("?") and bool(claim.reply) and says_only_polarity(claim.reply)
    )
    is_open = (has_question and says_only_polarity(claim.plain)) or is_of_question or is_of_small_words(claim, texts)
    is_unread = is_open and claim.language in LOCAL_LANGUAGES
    if not mismatches and not keeps_values and (exchanged or is_misplaced(claim, short)):
        mismatches = ("subject",)
    elif is_made_up:
        mismatches = ("predicate",)
    return MeasuredClaim(
        measures.values,
        max(1, len(set(content_sequence(claim.plain, claim.language)))),
        mismatches,
        tuple(top),
        float(alone[top[0]]) if top else 0.0,
        best,
        misplaced
        or ranked is False
        or clauses.is_decisive
        or bool(DECISIVE.intersection(clauses.mismatches))
        or (
            bool(compared)
            and (
                on_one_matter(claim.plain, texts[0])
                or (
                    agreement(best, words, near, everywhere) >= CONTRADICTION_AGREEMENT
                    and float(alone[top[0]]) >= CONTRADICTION_SIMILARITY
                )
            )
        ),
        bool(measures.record.denied) and not clauses.is_answer_right,
        0 if keeps_values else measures.unknown_figures,
        "other_language" if is_unread else _reading(claim, [units[place] for place in top], unseen),
        is_open and not is_unread,
    )


def repeated_sentence(claim: ExtractedClaim, texts: Sequence[str]) -> int | None:
    """Return the index of the text that a claim repeats word for word, if the claim says itself what it is about.

    Args:
        claim: the claim.
        texts: the nearest units of the evidence.
    """
    own = _bare(claim.plain)
    if claim.antecedent or claim.question or opens_with_pronoun(claim.plain) or len(own) < LEAST_REPEATED:
        return None
    return next((place for place, text in enumerate(texts) if own == _bare(text)), None)


def _bare(sentence: str) -> str:
    """Return a sentence in lower case, without the marks around it."""
    return " ".join(sentence.lower().split()).strip(" .!。！*_\"'“”„«»")


def _text_before(units: Sequence[EvidenceUnit], place: int) -> str:
    """Return the text before a unit in its source, or an empty text."""
    return units[place - 1].text if place and units[place - 1].number == units[place].number else ""


def _compared(claim: ExtractedClaim, texts: Sequence[str]) -> tuple[Mismatch, ...]:
    """Compare a claim with texts; what "no" denies of its question is no value that it states."""
    found = compare(claim.plain, texts[0], texts[1:])
    if texts[0].rstrip().endswith("?"):
        # A question of the evidence affirms nothing.
        found = tuple(each for each in found if each not in OF_ANSWER)
    if "negation" in found and claim.antecedent and DENIED.search(claim.antecedent) and not has_verb(claim.plain):
        # "The limit does not apply to:" denies the items of the list below it.
        joined = f"{claim.antecedent.rstrip(' :：')} {claim.plain}"
        if "negation" not in compare(joined, texts[0], texts[1:]):
            found = tuple(each for each in found if each != "negation")
    if "number" in found and (rest := _without_asked_figures(claim, texts)) != claim.plain:
        kept = compare(rest, texts[0], texts[1:])
        found = tuple(each for each in found if each != "number" or each in kept)
    valued = OF_VALUES.union(("name", "antonym")).intersection(found)
    if not valued or (own := _stated(claim)) == claim.plain:
        return found
    stated = compare(own, texts[0], texts[1:])
    return tuple(each for each in found if each not in valued or each in stated)


def _without_asked_figures(claim: ExtractedClaim, texts: Sequence[str]) -> str:
    """Return a claim without the figures of its question that lie within a limit of the evidence.

    "Shipping is free for an order of 120 euros" has the figure from its question, and the evidence says "over 100 euros".
    A question for yes or no has the figure that its answer states.
    """
    plain = claim.plain
    if not asks_for_value(claim.asked):
        return plain
    limits = [figure for text in texts for figure in read_details(text).quantities if figure.bound]
    for figure in read_details(claim.asked).quantities if limits else ():
        if not figure.bound and any(
            same_dimension(figure.dimension, limit.dimension) and satisfies(figure, limit) for limit in limits
        ):
            plain = re.sub(rf"(?<![\w.,]){re.escape(figure.written)}(?!\w)", " ", plain)
    return plain


def _ranked(claim: ExtractedClaim, owned: OwnedValues) -> bool | None:
    """Return whether a claim ranks its subjects as the evidence does; yes and no are read with their question."""
    reply = claim.reply or claim.plain
    is_polar = bool(claim.asked) and consents(claim.asked, reply) is not None
    return is_ranked_rightly(claim.plain if is_polar else reply, "" if is_polar else claim.asked, owned)


def _stated(claim: ExtractedClaim) -> str:
    """Return what a claim states itself, without the question that it denies."""
    is_denial = bool(claim.reply) and consents(claim.asked, claim.reply) is False
    return without_opening(claim.reply) if is_denial else claim.plain


def _reading(claim: ExtractedClaim, near: Sequence[EvidenceUnit], unseen: float) -> Reading:
    if near and all(unit.language != claim.language for unit in near):
        return "other_language"
    return "other_words" if claim.language in LOCAL_LANGUAGES and unseen < MAX_OTHER_WORDS else "compared"


def _verdict(
    each: MeasuredClaim,
    odds: float,
    confidence: float,
    minimum: float,
    verified: float | None,
    *,
    has_evidence: bool,
) -> Support:
    # A right paraphrase has other words than its source, but seldom another figure, date or name. If a verifier has read
    # the claim, it must agree.
    is_doubtful = bool(each.values[MISSING].any()) or (verified is not None and verified < DOUBTED_BY_VERIFIER)
    is_doubted = is_doubtful and minimum <= confidence < CONFIDENCE_AT_CUT
    verdict: Verdict = "supported" if confidence >= minimum and not is_doubted else "unsupported"
    if each.contradicted:
        verdict, confidence = "contradicted", min(confidence, CONTRADICTED_SCORE)
    elif each.mismatches or each.unknown_figures or each.is_open or not has_evidence:
        verdict, confidence = "unsupported", min(confidence, DOUBTED_SHARE * minimum)
    elif each.reading == "other_language" or (each.reading == "other_words" and verdict == "unsupported"):
        verdict = "not_checked"
    elif is_doubted:
        confidence = DOUBTED_SHARE * minimum
    return Support(
        score=confidence if has_evidence else 0.0,
        verdict=verdict,
        mismatches=each.mismatches,
        unit=each.compared[0] if has_evidence else None,
        similarity=each.similarity,
        best_similarity=each.best,
        log_odds=odds,
        unsupported_share=float(each.values[UNSUPPORTED_FEATURES].mean()),
        words=each.words,
        compared=each.compared,
        verified=verified,
        unknown_figures=each.unknown_figures,
    )
