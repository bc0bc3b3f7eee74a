"""Choose the sentences of the evidence whose clauses are compared with those of a claim."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby

from schemas.grounding import Mismatch
from workers.evaluation.budget import spend
from workers.evaluation.claims.claim_extraction import ExtractedClaim
from workers.evaluation.claims.clauses import has_verb
from workers.evaluation.claims.short_answers import (
    consents,
    depends_on_question,
    needs_question,
    stated_by,
    without_opening,
)
from workers.evaluation.clauses.asked_items import is_item_asked
from workers.evaluation.clauses.clause_comparison import (
    are_confirmed,
    are_opposed,
    clause_mismatches,
    have_own_figures,
    is_doer_named_otherwise,
)
from workers.evaluation.clauses.clause_reader import Clause, is_instruction, read_clauses
from workers.evaluation.clauses.exchanged_parts import has_exchanged_part
from workers.evaluation.clauses.kinds.added_items import adds_item
from workers.evaluation.clauses.kinds.asked_before import answer_by_asked
from workers.evaluation.clauses.kinds.charges import answer_by_charge, is_charged_rightly
from workers.evaluation.clauses.kinds.closed_lists import answer_by_list
from workers.evaluation.clauses.kinds.contests import is_contest_right
from workers.evaluation.clauses.kinds.dated_records import answer_by_dates
from workers.evaluation.clauses.kinds.frequencies import is_frequency_right, says_only_frequency, without_frequency
from workers.evaluation.clauses.kinds.kept_limits import is_limit_kept
from workers.evaluation.clauses.kinds.keyed_values import is_keyed_value_right
from workers.evaluation.clauses.kinds.limits import answer_by_figure, needs_no_more
from workers.evaluation.clauses.kinds.made_up_parts import has_made_up_part
from workers.evaluation.clauses.kinds.marked_fields import answer_by_mark
from workers.evaluation.clauses.kinds.obligations import answer_by_obligation, denies_condition
from workers.evaluation.clauses.kinds.opening_days import answer_by_days, is_day_asked, is_day_right
from workers.evaluation.clauses.kinds.permissions import answer_by_inclusion, answer_of
from workers.evaluation.clauses.paraphrases import with_paraphrases
from workers.evaluation.clauses.placed_answers import is_answer_placed
from workers.evaluation.clauses.question_clauses import answered_clauses, polar_clauses, with_asked_parts
from workers.evaluation.contradictions.cases import is_same_case
from workers.evaluation.contradictions.denials import answer_by_denial, is_due, is_exception_of
from workers.evaluation.contradictions.languages.local_conditions import drops_local_condition
from workers.evaluation.contradictions.languages.local_days import opens_otherwise
from workers.evaluation.contradictions.languages.opposite_words import denial_pattern
from workers.evaluation.contradictions.languages.polarity import is_contrary
from workers.evaluation.contradictions.needless import are_both_needless
from workers.evaluation.contradictions.parallel_clauses import Parallel, cut_clauses, read_parallels, stems_of
from workers.evaluation.contradictions.universals import is_said_by_opposites, says_same_of_all
from workers.evaluation.contradictions.values.claimed_limits import (
    denies_other_figure,
    is_limited,
    keeps_own_figure,
    keeps_side,
    side_of,
)
from workers.evaluation.contradictions.values.dated_values import answer_by_course
from workers.evaluation.contradictions.values.listed_values import belongs_to_other
from workers.evaluation.contradictions.values.qualified_values import is_of_other_case
from workers.evaluation.contradictions.values.time_sides import says_same_side
from workers.evaluation.facts.calculation.time_spans import YEAR
from workers.evaluation.facts.text_tables import ENTRY
from workers.evaluation.facts.verb_forms import has_verb_forms
from workers.evaluation.grounding.sources.evidence import EvidenceUnit
from workers.evaluation.ownership.labelled_lines import takes_value_of_other_item
from workers.evaluation.relations.comparison import (
    answer_by_relation,
    is_end_kept,
    keeps_maximum,
    relation_mismatch,
    value_mismatch,
)
from workers.evaluation.relations.contraries import contrary_mismatch
from workers.evaluation.relations.figures.case_figures import is_case_figure_right
from workers.evaluation.relations.figures.parties import is_party_right
from workers.evaluation.relations.figures.table_cells import is_row_right
from workers.evaluation.relations.named_roles import answer_by_holder, is_role_of_other
from workers.evaluation.relations.permissions.exclusive_acts import is_act_of_others
from workers.evaluation.relations.permissions.forbidden_sides import keeps_allowed_side
from workers.evaluation.relations.permissions.refused_acts import is_act_refused
from workers.evaluation.relations.permissions.unneeded_things import demands
from workers.evaluation.relations.places_beside import is_side_right, without_side
from workers.evaluation.relations.times.ages import is_age_right, without_age
from workers.evaluation.text.languages.language import FUNCTION_WORDS, known_language
from workers.evaluation.text.languages.local_words import LOCAL_LANGUAGES, content_words

MAX_SENTENCES = 8
"""Most sentences that a claim is compared with; parsing is the cost of this check."""

MAX_PARALLEL = 12
"""Most sentences among which parallel clauses are looked for."""
_CASE = re.compile(r"\b(?:while|when|whenever|if|during|after|before|without)\b(?P<case>.*)", re.IGNORECASE)
_CONTRASTED = re.compile(r";\s|,?\s(?:but|while|whereas)\s(?=[^.;]*\b(?:may|can|must|is|are)\b)", re.IGNORECASE)
_ASKS_WHO = re.compile(r"\W*(?:who|which)\b", re.IGNORECASE)
MAX_DATED = 8
"""Most words of a reply with a year that is compared though the evidence may put its verb otherwise."""
MAX_WHOLE = 24
"""Most sentences of evidence that is read whole by rules without a parser."""

MAX_ROWS = 60
"""Most units of evidence whose rows are read whole."""

MAX_WORDS = 20
"""Most words of a claim that is compared; longer ones say several things, which a parse often joins wrongly."""

FEW_WORDS = 4
"""Number of words up to which an answer is read with its question."""
ENGLISH = FUNCTION_WORDS["en"]
OF_VALUES: frozenset[Mismatch] = frozenset(("subject", "number", "date", "role"))
"""Mismatches of a value with its subject."""

OF_ANSWER: frozenset[Mismatch] = frozenset(("negation", "antonym"))
"""Mismatches of yes with no."""

MAX_LETTERS = 40
"""The same for a language without spaces, whose characters count as words."""

_YES_BUT_ONLY = re.compile(
    r"\W*\w+\W+(?:(?:ma|però|mais|mas|pero|aber|allerdings|jedoch|maar)\s)?"
    r"(?:solo|sólo|soltanto|solamente|unicamente|únicamente|seulement|uniquement|só|somente|apenas|nur|lediglich|alleen|enkel)\b",
    re.IGNORECASE,
)
"""A yes that is bound to a case, which a source that speaks of all cases does not deny: "Sì, ma soltanto la domenica"."""
KEPT_JOINED = 256
"""Number of joined texts whose language is kept: a claim and its sentences are asked for by several rules."""

LEAST_WORDS = 3
"""Fewest words of a clause that states something by itself."""

_REPORTED = re.compile(
    r"^\W*(?:it|they|the (?:\w+ )?\w+) (?:found|finds|says|said|states?d?|shows?|showed|concluded|concludes|reports?|reported|notes?d?) that\s",
    re.IGNORECASE,
)
"""The opening of a claim that reports what a source says; what follows is compared."""
_LABELLED = re.compile(r"\W*([^\W\d_][\w /-]{1,40}): ([^:]{1,200})")
_WORDS = re.compile(r"\w+")
_SEVERAL_STEPS = re.compile(r"\bthen\b|\b(?:before|after) \w+ing\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ClauseFindings:
    """Hold the result of comparing clauses.

    Attributes:
        mismatches: what the evidence says otherwise.
        is_confirmed: whether the evidence says what a short answer makes of its question.
        is_whole: whether that is all that the answer says; else what it says beside is not compared.
        keeps_values: whether the claim keeps to one of two parallel clauses, so that its values are those of its subject.
        is_decisive: whether mismatches of values contradict the claim, because the evidence has another value instead.
        is_answer_right: whether the evidence decides the question and the claim's yes or no agrees.
    """

    mismatches: tuple[Mismatch, ...] = ()
    is_confirmed: bool = False
    is_whole: bool = False
    keeps_values: bool = False
    is_decisive: bool = False
    is_answer_right: bool = False


def compare_clauses(
    claim: ExtractedClaim, units: Sequence[EvidenceUnit], *, is_covered: bool, is_calculated: bool = False
) -> ClauseFindings:
    """Compare the yes or no of a claim with the answer that the evidence gives, and what the claim says beside.

    Args:
        claim: the claim.
        units: the evidence.
        is_covered: whether the evidence has most words of the claim; else only a short answer is compared.
        is_calculated: whether the figures of the claim follow from others, which therefore differ from them.
    """
    says = consents(claim.asked, claim.reply or claim.plain) if claim.asked and claim.language == "en" else None
    answer = None if says is None else _answer_by_source(claim.asked, units)
    if answer is None and says is not None and is_role_of_other(claim.asked, [unit.text for unit in units]):
        if says:
            return ClauseFindings(("name",))
        answer = False
    if answer is None:
        return _compare_statement(claim, units, is_covered=is_covered, is_calculated=is_calculated)
    if answer is not says:
        return ClauseFindings(("negation",))
    found = _compare_statement(claim, units, is_covered=is_covered, is_calculated=is_calculated)
    kept = tuple(each for each in found.mismatches if each not in OF_ANSWER)
    return replace(found, mismatches=kept, is_confirmed=True, is_answer_right=True)


def _answer_by_source(question: str, units: Sequence[EvidenceUnit]) -> bool | None:
    """Return the answer that records, repeated questions or roles in the evidence give to a question for yes or no."""
    rows = [*(unit.text for unit in units if unit.of_record), *_labelled_records(units)]
    texts = [unit.text for unit in units if not unit.of_record]
    spend(len(units))
    found = {
        answer_by_mark(question, rows, texts) if rows else None,
        answer_by_dates(question, rows) if rows else None,
        answer_by_asked(question, texts),
        answer_by_holder(question, texts),
        answer_by_inclusion(question, texts),
    } - {None}
    return found.pop() if len(found) == 1 else None


def _labelled_records(units: Sequence[EvidenceUnit]) -> Iterator[str]:
    """Yield sources that are a title with labelled lines, each as one record."""
    for _, group in groupby(units, key=lambda unit: unit.number):
        title, *lines = [unit.text for unit in group if not unit.of_record][:MAX_WHOLE] or [""]
        fields = [match for line in lines if (match := _LABELLED.fullmatch(line))]
        if len(fields) > 1 and len(fields) == len(lines) and len(title.split()) <= FEW_WORDS * 2 and ":" not in title:
            values = (f"{match[1].lower()}: {match[2].replace(';', ',')}" for match in fields)
            yield "; ".join((f"{ENTRY}: {title.strip(' .#*')}", *values))


def _compare_statement(
    claim: ExtractedClaim, units: Sequence[EvidenceUnit], *, is_covered: bool, is_calculated: bool
) -> ClauseFindings:
    """Compare the clauses of a claim with the sentences that share most of its words.

    Only English is parsed. A claim that a sentence has word for word is not compared.

    Args:
        claim: the claim.
        units: the evidence.
        is_covered: whether the evidence has most words of the claim; else only a short answer is compared.
        is_calculated: whether the figures of the claim follow from others, which therefore differ from them.
    """
    texts = [unit.text for unit in units]
    if is_of_other_case(claim.plain, texts):
        return ClauseFindings(("subject",))
    if _is_of_other_item(claim, units):
        return ClauseFindings(("subject",))
    if _is_refused(claim, units):
        return ClauseFindings(("negation",))
    if claim.language == "en" and is_said_by_opposites(claim.plain, texts):
        return ClauseFindings(is_confirmed=True, is_whole=True)
    row = is_row_right(claim.reply or claim.plain, texts)
    if row is not None:
        return (
            ClauseFindings(is_confirmed=True, is_whole=True) if row else ClauseFindings(("number",), is_decisive=True)
        )
    if is_keyed_value_right(claim.reply or claim.plain, claim.asked or claim.antecedent, texts) is False:
        return ClauseFindings(("number",), is_decisive=True)
    has_forms = has_verb_forms(claim.plain, texts)
    is_covered = is_covered or (has_forms and len(claim.plain.split()) <= MAX_DATED)
    is_near = is_covered or has_forms or bool(claim.asked) or demands(claim.plain)
    near = _chosen(claim, units, has_borders=True) if is_near else []
    if claim.asked and says_only_frequency(reply := claim.reply or claim.plain):
        is_as_often = is_frequency_right(reply, near, claim.asked)
        if is_as_often is not None:
            return ClauseFindings(() if is_as_often else ("number",), is_as_often, is_whole=is_as_often)
    if (valued := _compare_item(claim, near, units) or _compare_value(claim, near, units)) is not None:
        return valued
    if is_near:
        related = _compare_contraries(claim, near) or _compare_relations(claim, near, units)
        if related is not None:
            return related
    if claim.language in LOCAL_LANGUAGES and _opens_otherwise(claim, units):
        return ClauseFindings(("negation",))
    is_placed = _is_placed(claim, units)
    parallel = "mixed" if is_placed is False else _read_parallels(claim, units)
    if parallel == "mixed" and not is_placed:
        return ClauseFindings(("subject",))
    found = _compare(claim, units, is_covered=is_covered or _is_dated_reply(claim))
    if is_calculated:
        found = replace(found, mismatches=tuple(each for each in found.mismatches if each != "number"))
    if "negation" in found.mismatches and is_party_right(
        claim.plain, claim.asked, _chosen(claim, units, has_borders=True), claim.language
    ):
        # Tenant and landlord are opposites, and what both have is no contradiction.
        found = replace(found, mismatches=tuple(each for each in found.mismatches if each != "negation"))
    if parallel != "kept" and not is_placed:
        return found
    mismatches = tuple(each for each in found.mismatches if each not in OF_VALUES)
    if parallel != "kept":
        return replace(found, mismatches=mismatches)
    is_short = claim.reply != claim.plain or bool(claim.question)
    return ClauseFindings(mismatches, found.is_confirmed or (is_short and not mismatches), keeps_values=True)


def is_exchanged(claim: ExtractedClaim, units: Sequence[EvidenceUnit]) -> bool:
    """Return true if an English claim repeats a sentence with another noun of its source in the place of one part."""
    reply = claim.reply or claim.plain
    if claim.language != "en":
        return False
    sources: dict[int, list[str]] = {}
    for unit in units:
        sources.setdefault(unit.number, []).extend([] if unit.of_record else [unit.text])
    stated = reply if not claim.asked or consents(claim.asked, reply) is None else without_opening(reply)
    return is_english(stated) and has_exchanged_part(stated, list(sources.values()))


def adds_reason_or_step(claim: ExtractedClaim, units: Sequence[EvidenceUnit]) -> bool:
    """Return true if an English claim has a reason or a step of which nothing stands in the evidence."""
    if claim.language != "en" or not units:
        return False
    reply = claim.reply or claim.plain
    stated = reply if not claim.asked or consents(claim.asked, reply) is None else without_opening(reply)
    words = (unit.words for unit in units)
    return has_made_up_part(stated, claim.asked, [unit.text for unit in units], words) and is_english(stated)


def _is_dated_reply(claim: ExtractedClaim) -> bool:
    """Return true for a few words with a year that stand for their question: "It opened in 1994."."""
    return (
        bool(claim.asked)
        and depends_on_question(claim.asked, claim.reply or claim.plain)
        and len(claim.plain.split()) <= MAX_DATED
        and YEAR.search(claim.plain) is not None
    )


def _is_refused(claim: ExtractedClaim, units: Sequence[EvidenceUnit]) -> bool:
    """Return true if the evidence refuses what an English claim permits, also in a sentence without its words."""
    reply = claim.reply or claim.plain
    if claim.language != "en" or all(unit.of_record for unit in units):
        return False
    sentences = list(_passages(units, range(len(units))))
    says = consents(claim.asked, reply) if claim.asked else None
    if says is False:
        return False
    stated = reply if says is None else without_opening(reply)
    topic = claim.asked or claim.antecedent
    return is_act_refused(stated, topic, sentences) or is_act_of_others(stated, sentences)


def _is_of_other_item(claim: ExtractedClaim, units: Sequence[EvidenceUnit]) -> bool:
    """Return true if a claim gives one item of a list what stands at another one."""
    reply = claim.reply or claim.plain
    says = consents(claim.asked, reply) if claim.asked else None
    if says is False:
        return False
    sources: dict[int, list[str]] = {}
    for unit in units:
        sources.setdefault(unit.number, []).extend([] if unit.of_record else [unit.text])
    stated = claim.plain if says is None else without_opening(reply)
    topic = claim.asked or claim.antecedent
    return takes_value_of_other_item(stated, topic, list(sources.values()), denial_pattern(claim.language))


def _opens_otherwise(claim: ExtractedClaim, units: Sequence[EvidenceUnit]) -> bool:
    reply = claim.reply or claim.plain
    stated = claim.plain if not claim.asked or consents(claim.asked, reply) is None else without_opening(reply)
    return opens_otherwise(stated, [unit.text for unit in units], content_words(stated, claim.language))


def _compare(claim: ExtractedClaim, units: Sequence[EvidenceUnit], *, is_covered: bool) -> ClauseFindings:
    sentences = _chosen(claim, units) if is_covered or claim.asked else []
    if not sentences:
        return ClauseFindings()
    if not is_english(" ".join((claim.asked, claim.plain, *sentences))):
        return _compare_polarity(claim, sentences)
    sentences = with_paraphrases(_of_case(claim.asked, sentences))
    decided, agrees = _compare_answer(claim, sentences)
    if decided is not None:
        return decided
    short = answered_clauses(claim.asked, claim.reply) if claim.asked else ()
    if short:
        mismatches, is_confirmed = _of_short(claim, short, sentences), are_confirmed(short, sentences)
        if agrees:
            return ClauseFindings(tuple(each for each in mismatches if each != "negation"), is_confirmed)
        says = consents(claim.asked, claim.reply)
        if says is None or is_confirmed or mismatches or (answer := answer_of(claim.asked, sentences)) is None:
            return ClauseFindings(mismatches, is_confirmed)
        is_bare = needs_question(claim.asked, claim.reply)
        return ClauseFindings(is_confirmed=is_bare) if answer is says else ClauseFindings(("negation",))
    if not is_covered or not _is_compared(claim, sentences):
        return ClauseFindings()
    main = [clause for clause in read_clauses(_REPORTED.sub("", claim.plain)) if clause.is_main]
    main = list(with_asked_parts(main, claim.asked))
    mismatches = clause_mismatches(main, sentences)
    if not mismatches and _ASKS_WHO.match(claim.asked) and is_doer_named_otherwise(main, sentences):
        mismatches = ("subject",)
    if "subject" in mismatches and keeps_own_figure(claim.plain, sentences):
        mismatches = tuple(each for each in mismatches if each != "subject")
    if "negation" in mismatches and (
        denies_other_figure(claim.plain, sentences)
        or any(
            same(claim.plain, sentence)
            for same in (
                is_exception_of,
                is_due,
                are_both_needless,
                says_same_side,
                is_same_case,
                says_same_of_all,
                keeps_allowed_side,
            )
            for sentence in sentences
        )
    ):
        mismatches = tuple(each for each in mismatches if each != "negation")
    is_own = not mismatches and _is_dated_reply(claim) and have_own_figures(main, sentences)
    return ClauseFindings(mismatches, keeps_values=is_own)


def _compare_contraries(claim: ExtractedClaim, sentences: Sequence[str]) -> ClauseFindings | None:
    """Compare what the evidence excludes; ``None`` if it excludes nothing of the claim."""
    reply = claim.reply or claim.plain
    says = consents(claim.asked, reply) if claim.asked else None
    stated = claim.plain if says is None else without_opening(reply)
    mismatch = contrary_mismatch(stated, claim.asked, sentences, claim.language)
    if mismatch is None and says and needs_question(claim.asked, reply):
        mismatch = contrary_mismatch(claim.asked, "", sentences, claim.language)
    return None if mismatch is None else ClauseFindings((mismatch,), is_decisive=mismatch == "number")


def _compare_value(
    claim: ExtractedClaim, sentences: Sequence[str], units: Sequence[EvidenceUnit]
) -> ClauseFindings | None:
    """Compare a share, or the value of a time, of a claim that states nothing else; ``None`` if that decides nothing."""
    reply = claim.reply or claim.plain
    whole = _whole(sentences, units)
    says = consents(claim.asked, reply) if claim.asked else None
    mismatch, is_right = value_mismatch(reply if says is None else without_opening(reply), claim.asked, whole)
    if (mismatch is None and not is_right) or not is_english(" ".join((claim.asked, reply, *(sentences or whole)))):
        return None
    if mismatch is not None:
        return ClauseFindings((mismatch,), is_decisive=True)
    return ClauseFindings(is_confirmed=True, is_whole=True) if says is None else None


def _compare_item(
    claim: ExtractedClaim, sentences: Sequence[str], units: Sequence[EvidenceUnit]
) -> ClauseFindings | None:
    """Compare a short answer with the item, step or code that its question names; ``None`` if that decides nothing."""
    reply = claim.reply or claim.plain
    if not claim.asked or consents(claim.asked, reply) is not None:
        return None
    whole = _whole(sentences, units)
    rows = [unit.text for unit in units if unit.of_record] if len(units) <= MAX_ROWS else []
    is_asked = is_item_asked(reply, claim.asked, [*whole, *rows])
    is_asked = is_day_asked(reply, claim.asked, whole) if is_asked is None else is_asked
    if is_asked is None or not is_english(" ".join((claim.asked, reply, *whole))):
        return None
    if not is_asked:
        return ClauseFindings(("subject",))
    return ClauseFindings(
        is_confirmed=True, is_whole=needs_no_more(claim.asked, reply, [*whole, *rows]), keeps_values=True
    )


def _whole(sentences: Sequence[str], units: Sequence[EvidenceUnit]) -> list[str]:
    """Return all sentences of short evidence, or the nearest ones."""
    return list(_passages(units, range(len(units)))) if len(units) <= MAX_WHOLE else list(sentences)


def _compare_relations(
    claim: ExtractedClaim, sentences: Sequence[str], units: Sequence[EvidenceUnit]
) -> ClauseFindings | None:
    """Compare orders, changes, references, exceptions, days and lists; ``None`` if they decide nothing."""
    reply = claim.reply or claim.plain
    whole = _whole(sentences, units)
    is_of_case = is_case_figure_right(reply, whole)
    if is_of_case is False:
        return ClauseFindings(("number",))
    if not whole or not is_english(" ".join((claim.asked, reply, *(sentences or whole)))):
        return ClauseFindings(keeps_values=True) if is_of_case else None
    says = consents(claim.asked, reply) if claim.asked else None
    stated = reply if says is None else without_opening(reply)
    mismatch, is_right = relation_mismatch(stated, claim.asked, sentences, whole)
    if mismatch is None and is_day_right(stated, sentences) is False:
        mismatch = "date"
    if mismatch is None and adds_item(stated, sentences, (unit.words for unit in units)):
        mismatch = "name"
    if mismatch is not None:
        return ClauseFindings((mismatch,))
    if says is None and is_right and is_end_kept(stated, claim.asked, sentences):
        return ClauseFindings(is_confirmed=True, is_whole=True)
    if says is None and (is_of_case or keeps_maximum(stated, whole)):
        return ClauseFindings(keeps_values=True)
    if says is not None:
        answer = answer_by_relation(claim.asked, sentences)
        if answer is not None and answer is not says:
            return ClauseFindings(("negation",))
        is_right = answer is not None
    is_of_age = says is None and is_age_right(stated, claim.asked, whole)
    told = without_side(reply) if is_right and is_side_right(stated, claim.asked, sentences) else reply
    told = without_age(told) if is_of_age else told
    if is_right and needs_no_more(claim.asked, told, sentences):
        return ClauseFindings(is_confirmed=True, is_whole=True)
    return ClauseFindings(keeps_values=True) if is_of_age else None


def _of_short(claim: ExtractedClaim, short: Sequence[Clause], sentences: Sequence[str]) -> tuple[Mismatch, ...]:
    """Compare a short answer; one that states something itself is compared by that.

    The evidence then contradicts its yes or no only if it says the contrary of it with all parts of the question.
    """
    polar = polar_clauses(claim.asked, claim.reply)
    if polar is None or not polar[1] or not has_verb(without_opening(claim.reply)):
        return clause_mismatches(short, sentences, claim.asked)
    affirmed, told = polar
    mismatches = clause_mismatches(told, sentences, claim.asked)
    contrary = [replace(clause, is_negated=not clause.is_negated) for clause in affirmed]
    is_contrary_said = are_confirmed(contrary, sentences) or are_opposed(affirmed, sentences)
    is_contrary_said = is_contrary_said and "negation" not in mismatches
    return (*mismatches, "negation") if is_contrary_said else mismatches


def _of_case(question: str, sentences: Sequence[str]) -> Sequence[str]:
    """Return the parts of sentences on the case that a question names, or all sentences if none is on it.

    "It must not be taken during pregnancy, but it may be used while breastfeeding" answers for each case apart.
    """
    if not (case := _CASE.search(question)):
        return sentences
    words = content_words(case["case"], "en")
    parts = [part for sentence in sentences for part in _CONTRASTED.split(sentence)]
    return [part for part in parts if words & content_words(part, "en")] or sentences


def _compare_answer(claim: ExtractedClaim, sentences: Sequence[str]) -> tuple[ClauseFindings | None, bool]:
    """Compare a claim with the limits, figures and contrasts that decide it.

    Returns:
        The findings, ``None`` if nothing decides the whole claim, and whether its yes or no is right for certain.
    """
    reply = claim.reply or claim.plain
    says = consents(claim.asked, reply) if claim.asked else None
    holds = None
    if says is not None:
        deciding = (
            is_frequency_right,
            answer_by_obligation,
            answer_by_figure,
            answer_by_days,
            answer_by_course,
            answer_by_list,
            answer_by_charge,
        )
        answers = (answer(claim.asked, sentences) for answer in deciding)
        answer = next((each for each in answers if each is not None), None)
        holds = None if answer is None else answer is says
    if holds is None and says is not None and needs_question(claim.asked, reply):
        answer = answer_by_denial(claim.asked, sentences)
        if answer is not None and answer is not says:
            return ClauseFindings(("negation",)), False
        holds = None if answer is None else True
    stated = claim.plain if says is None else without_opening(reply)
    if answer_by_obligation(stated, sentences) is False or denies_condition(
        stated, claim.antecedent or claim.asked, sentences
    ):
        return ClauseFindings(("negation",)), False
    is_as_often = is_frequency_right(stated, sentences, claim.asked)
    if is_as_often is False:
        return ClauseFindings(("number",)), False
    if is_charged_rightly(stated, sentences) is False:
        return ClauseFindings(("negation",)), False
    if says is None and holds is None:
        is_won = is_contest_right(reply, claim.asked, sentences)
        if is_won is False:
            return ClauseFindings(("role",)), False
        holds = is_limit_kept(reply, claim.asked, sentences) if is_won is None else True
    if holds is None:
        return None, False
    if not holds:
        return ClauseFindings(("number",) if says is not None else ("comparative",)), False
    is_all = needs_no_more(claim.asked, without_frequency(reply) if is_as_often else reply, sentences)
    return (ClauseFindings(is_confirmed=True, is_whole=True) if is_all else None), says is not None


def parsed_texts(claim: ExtractedClaim, units: Sequence[EvidenceUnit]) -> list[str]:
    """Return the texts that ``compare_clauses`` parses for a claim that is no short answer and is covered."""
    sentences = [] if claim.asked else _chosen(claim, units)
    is_parsed = sentences and is_english(" ".join((claim.plain, *sentences))) and _is_compared(claim, sentences)
    return [claim.plain, *sentences] if is_parsed else []


def _is_compared(claim: ExtractedClaim, sentences: Sequence[str]) -> bool:
    words = _WORDS.findall(claim.plain.lower())
    plain = " ".join(words)
    return len(words) <= MAX_WORDS and not any(plain in " ".join(_WORDS.findall(text.lower())) for text in sentences)


def _read_parallels(claim: ExtractedClaim, units: Sequence[EvidenceUnit]) -> Parallel:
    """Compare a claim with parallel clauses; a claim that depends on its question is read with it."""
    text, topic = claim.reply or claim.plain, ""
    if _SEVERAL_STEPS.search(text) and is_english(text) and is_instruction(text):
        return ""  # it takes its words from as many steps of the source
    if claim.asked and (claim.question or needs_question(claim.asked, text) or len(text.split()) <= FEW_WORDS):
        if (rest := stated_by(claim.asked, text)) is None:
            return ""
        text, topic = rest or claim.asked, claim.asked
    asked = stems_of(topic)
    # "It leaves from platform 9." to "Where does the Milan train leave?" states the platform alone.
    words = tuple(word for word in stems_of(text) if word not in asked) or stems_of(text)
    if not words or len(words) + len(asked) > MAX_LETTERS:
        return ""
    sources: dict[int, list[str]] = {}
    near = set(_nearest(content_words(f"{topic} {text}", claim.language), units, MAX_PARALLEL))
    for place, unit in enumerate(units) if near else ():
        sources.setdefault(unit.number, []).append(unit.text if place in near else "")
    side = side_of(text)

    def keeps(own: Collection[str], told: Collection[str], sentence: str) -> bool:
        # A bound that the evidence has itself is compared as a figure.
        return not is_limited(sentence) and keeps_side(side, own, told)

    return read_parallels(words, asked, list(sources.values()), None if side is None else keeps)


def _is_placed(claim: ExtractedClaim, units: Sequence[EvidenceUnit]) -> bool | None:
    reply = claim.reply or claim.plain
    if not claim.asked or not depends_on_question(claim.asked, reply):
        return None
    near = _nearest(content_words(f"{claim.asked} {reply}", claim.language), units, MAX_SENTENCES)
    # "Anything above must be signed off by the director" goes on with the sentence before, and shares no word with it.
    places = sorted({*near, *(place + 1 for place in near if place + 1 < len(units))})
    sentences = list(_passages(units, places))
    if not is_english(" ".join((claim.asked, reply, *sentences))):
        return None
    return is_answer_placed(claim.asked, reply, sentences)


@lru_cache(maxsize=KEPT_JOINED)
def is_english(text: str) -> bool:
    """Return true for English; a text without any of its small words and with letters beyond ASCII is none."""
    # A short text may have one word only that tells, and that of several languages: "no more than", "per hour".
    return known_language(text) in (None, "en") and (
        text.isascii() or bool(ENGLISH & set(_WORDS.findall(text.lower())))
    )


def _compare_polarity(claim: ExtractedClaim, sentences: Sequence[str]) -> ClauseFindings:
    """Compare what a claim and the evidence affirm and deny, without a parser."""
    reply = claim.reply or claim.plain
    says = consents(claim.asked, reply) if claim.asked else None
    if says and _YES_BUT_ONLY.match(reply):
        return ClauseFindings()
    is_fragment = says is None and bool(claim.asked) and needs_question(claim.asked, reply)
    if is_fragment and belongs_to_other(claim.asked, reply, sentences):
        return ClauseFindings(("subject",))
    stated = claim.plain if says is None else without_opening(reply)
    if drops_local_condition(stated, sentences, claim.language):
        return ClauseFindings(("negation",))
    told = _is_contrary_stated(stated, sentences, claim.language)
    if says is None or not needs_question(claim.asked, reply):
        return ClauseFindings(("negation",) if told else ())
    contrary = is_contrary(claim.asked, sentences, claim.language, is_question=True)
    if contrary is None:
        return ClauseFindings(("negation",) if told else ())
    if contrary is not says:
        return ClauseFindings(is_confirmed=not told)
    return ClauseFindings(("negation",) if told is not False else ())


def _is_contrary_stated(text: str, sentences: Sequence[str], language: str) -> bool | None:
    """Return true if the evidence says the contrary of a clause of a statement, false if it says all of them."""
    denial, clauses = denial_pattern(language), list[str]()
    for part in cut_clauses(text):
        # What follows a denial may be denied with it: "not at night, between 22:00 and 7:00".
        is_told = denial.search(part) or not any(map(denial.search, clauses))
        clauses += [part] if is_told and len(stems_of(part)) >= LEAST_WORDS else []
    if not clauses or len(stems_of(text)) > MAX_LETTERS:
        return None
    found = [is_contrary(clause, sentences, language) for clause in clauses]
    return True if True in found else None if None in found else False


def _chosen(claim: ExtractedClaim, units: Sequence[EvidenceUnit], *, has_borders: bool = False) -> list[str]:
    """Return the sentences nearest to a claim, in order; with borders, an empty one where others or sources lie between."""
    topic = claim.asked if claim.question or claim.reply != claim.plain else ""
    words = content_words(f"{topic} {claim.plain}", claim.language)
    places = _nearest(words, units, MAX_SENTENCES)
    near = list(_passages(units, places)) if has_borders else [units[place].text for place in places]
    if near or not (claim.asked and needs_question(claim.asked, claim.reply)):
        return near
    # "Yes." to "Can adults attend?" shares no word with "Nobody under 18 is admitted."
    sentences = [unit.text for unit in units if not unit.of_record]
    return sentences if len(sentences) <= MAX_SENTENCES else []


def _passages(units: Sequence[EvidenceUnit], places: Sequence[int]) -> Iterator[str]:
    """Yield sentences of sources, with an empty one before each that does not follow the one before it."""
    last: int | None = None
    for place in places:
        if last is not None and (place > last + 1 or units[place].number != units[last].number):
            yield ""
        if not units[place].of_record:
            yield units[place].text
        last = place


def _nearest(words: frozenset[str], units: Sequence[EvidenceUnit], count: int) -> list[int]:
    """Return the places of the sentences that share most words, in order."""
    shared = [(len(unit.words & words), -place) for place, unit in enumerate(units) if not unit.of_record]
    return sorted(-place for _, place in sorted((each for each in shared if each[0]), reverse=True)[:count])
