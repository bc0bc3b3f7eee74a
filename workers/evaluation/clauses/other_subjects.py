"""Find values and acts of a claim that the evidence gives to another subject, figure or act."""

from collections.abc import Sequence
from dataclasses import replace

from workers.evaluation.clauses.clause_matches import LINKING, Match, all_words, fits
from workers.evaluation.clauses.clause_reader import Clause, Phrase
from workers.evaluation.clauses.phrase_relations import Relation, have_other_traits, relation
from workers.evaluation.clauses.predicates import predicate_stem
from workers.evaluation.text.words import word_set

_UNTOLD = word_set(
    "be have do make say state note mention describe list show report explain according use include"
    " serve allow cause help refer derive base locate call know consider characterize become remain need want try keep"
    " seem appear take get give go come contain require ensure exceed"
)
"""Verbs that say little: another verb in their place changes nothing."""
_ALIKE_BODIES = tuple(
    map(
        word_set,
        (
            "school university college academy institute",
            "city town municipality borough",
            "county district province region",
            "state country government kingdom parliament",
            "council board committee panel commission",
            "ministry department agency authority office administration",
            "court tribunal",
            "police army navy",
            "church parish diocese",
            "bank insurer",
            "company firm manufacturer business factory",
            "union association society foundation charity party club team",
            "museum library theatre gallery",
            "hospital clinic",
        ),
    )
)
"""Nouns for bodies, in sets that may name one of them."""
_BODIES = frozenset().union(*_ALIKE_BODIES)
_OFFICES = word_set(
    "mayor president minister governor king queen judge director manager chairman chairwoman chair secretary treasurer captain coach"
    " teacher professor doctor nurse engineer architect lawyer driver pilot author artist owner landlord tenant customer client"
    " patient buyer seller applicant employee employer student pupil parent mother father inspector auditor"
)
"""Nouns for persons, none of whom is a body."""
_ASKING = word_set("what who which that")
_PERSON = frozenset({"he", "she"})
"""Pronouns that stand for one of two persons whom a claim names, where the other one stands beside it."""


def is_taken(own: Clause, matches: Sequence[Match], sentences: Sequence[Sequence[Clause]]) -> bool:
    """Return true if the evidence says the claim of another subject, and nothing of it of the claim's own.

    Args:
        own: the claim's clause.
        matches: its matches with the clauses of the evidence.
        sentences: the clauses of each sentence of the evidence.
    """
    return any(
        _is_of_others(own, place, matches, sentences)
        for place, phrase in enumerate(own.phrases)
        if phrase.role in ("subject", "object") and not phrase.is_pronoun and not phrase.numbers
    )


def _is_of_others(own: Clause, place: int, matches: Sequence[Match], sentences: Sequence[Sequence[Clause]]) -> bool:
    subject = own.phrases[place]
    rest = [
        index
        for index, phrase in enumerate(own.phrases)
        if index != place and not phrase.is_pronoun and not any(phrase.words < other.words for other in own.phrases)
    ]
    if not rest:
        return _is_said_of_another(own, subject, matches)
    speaking = [
        each for each in matches if _speaks_of(own, subject, rest, each) or _is_carried_on(own, place, rest, each)
    ]
    if any(each.same_predicate for each in speaking):
        return False
    contrasted = any(each.relations[place] is Relation.SAME and each.same_predicate for each in matches)
    taken = [
        each for each in matches if _is_of_another(own, place, rest, each, matches, sentences, contrasted=contrasted)
    ]
    # "Who submits invoices" may be another word for who checks them, unless the sentence says who checks them.
    return any(not speaking or _has_two_doers(subject, each.clause, sentences) for each in taken)


def _is_said_of_another(own: Clause, subject: Phrase, matches: Sequence[Match]) -> bool:
    """Return true for "breakfast is charged separately" over "breakfast is included. Dinner is charged separately."."""
    if subject.is_pronoun or subject.names:
        return False
    alike = [each for each in matches if each.same_predicate and each.is_negated == own.is_negated]
    owners = [
        phrase
        for each in alike
        for phrase in each.clause.phrases
        if phrase.role == subject.role
        and ((own.adverbs and each.clause.adverbs == own.adverbs) or phrase.head == subject.head)
    ]
    return (
        bool(owners)
        and not any(how >= Relation.POSSIBLE for each in alike for how in each.relations)
        and not any(owner.is_pronoun or _is_called(subject, owner, matches) for owner in owners)
        and any(relation(subject, phrase) is Relation.SAME for each in matches for phrase in each.clause.phrases)
    )


def _speaks_of(own: Clause, subject: Phrase, rest: Sequence[int], match: Match) -> bool:
    """Return true if a clause has the claim's subject and what it says of it."""
    phrases = match.clause.phrases
    dated = [index for index in rest if own.phrases[index].numbers]
    if dated and not match.same_predicate and not any(match.relations[index] is Relation.SAME for index in dated):
        return False  # She founded the bakery in 1982; who sold it in 2019 is another matter.
    named = [phrase for phrase in phrases if relation(subject, phrase) is Relation.SAME]
    if match.same_predicate:
        named = [phrase for phrase in named if fits(own, subject, match.clause, phrase)]
    return bool(named) and any(
        relation(own.phrases[index], phrase) is Relation.SAME
        and not (phrase.role in ("subject", "attribute") and relation(subject, phrase) is Relation.SAME)
        for index in rest
        if own.phrases[index].role in ("object", "attribute", "any") or len(rest) == 1
        for phrase in phrases
    )


def _is_carried_on(own: Clause, place: int, rest: Sequence[int], match: Match) -> bool:
    """Return true for "fishers got them, too": the claim's subject and verb, with a pronoun for what it says of it."""
    pronouns = {phrase.role for phrase in match.clause.phrases if phrase.is_pronoun}
    return (
        match.same_predicate
        and match.is_negated == own.is_negated
        and match.relations[place] is Relation.SAME
        and any(own.phrases[index].role in pronouns and own.phrases[index].role == "object" for index in rest)
    )


def _is_of_another(
    own: Clause,
    place: int,
    rest: Sequence[int],
    match: Match,
    matches: Sequence[Match],
    sentences: Sequence[Sequence[Clause]],
    *,
    contrasted: bool,
) -> bool:
    """Return true if a clause says all that the claim says, of a subject that is another one for certain."""
    if not match.same_predicate or match.is_negated != own.is_negated:
        return False
    roles = {phrase.role for phrase in match.clause.phrases}
    for index in rest:
        role, how = own.phrases[index].role, match.relations[index]
        stands_for = role == "object" and any(each.role == role and each.is_pronoun for each in match.clause.phrases)
        if how is not Relation.SAME and not stands_for and (role in ("object", "attribute", "any") or role in roles):
            return False
    if not any(
        match.relations[index] is Relation.SAME and relation(own.phrases[index], each) is Relation.SAME
        for index in rest
        for each in match.clause.phrases
    ):
        return False
    subject = own.phrases[place]
    if any(
        relation(subject, each) is Relation.SAME and fits(own, subject, match.clause, each)
        for each in match.clause.phrases
    ):
        return False  # "Tighten the bolts" of "Bolts M12: tighten crosswise", whose bolts are read as a subject
    owners = _owners(match.clause, own, place, rest)
    if not owners or any(owner.is_pronoun or _is_called(subject, owner, matches) for owner in owners):
        return False
    said = [relation(subject, owner) for owner in owners]
    if any(each is Relation.SAME for each in said):
        return False
    if any(
        each.role == "subject" and relation(each, owner) is Relation.SAME
        for each in own.phrases
        if each is not subject
        for owner in owners
    ):
        return False
    is_certain = all(each.is_definite or each.names or each.numbers for each in map(own.phrases.__getitem__, rest))
    if is_certain and _has_two_doers(subject, match.clause, sentences):
        return True
    if any(
        each is Relation.POSSIBLE and (subject.names or owner.names) for each, owner in zip(said, owners, strict=True)
    ):
        return False  # "The employer" may be the university, also where both are named.
    if subject.role == "object":
        # Somebody may do one thing to several: "removes the door panel" does not deny that of the wiring.
        return all(_are_told_apart(subject, owner) for owner in owners)
    return contrasted or any(each is Relation.DIFFERENT for each in said)


def is_named_otherwise(own: Clause, matches: Sequence[Match]) -> bool:
    """Return true if the evidence names who did the act of a claim, and has the claim's doer for another act alone.

    To "Who painted the wall?" an answer gives the name, so that "the school" is not Rosa Klein.
    """
    subject = own.subject
    if subject is None or subject.is_pronoun or subject.names or own.predicate in LINKING:
        return False
    rest = [place for place, phrase in enumerate(own.phrases) if phrase is not subject]
    alike = [
        each
        for each in matches
        if each.same_predicate
        and each.is_negated == own.is_negated
        and rest
        and all(each.relations[place] is Relation.SAME for place in rest)
    ]
    named = [each.clause.subject for each in alike if each.clause.subject is not None]
    return (
        bool(named)
        and all(owner.names and relation(subject, owner) is not Relation.SAME for owner in named)
        and not any(_is_called(subject, owner, matches) for owner in named)
        and any(
            each.clause.subject is not None
            and each.clause.subject.head == subject.head
            and each.clause.predicate not in LINKING
            for each in matches
        )
    )


def with_two_doers(own: Clause, match: Match, sentences: Sequence[Sequence[Clause]]) -> Match:
    """Return a match in which a subject that may be another one differs from it, if the evidence speaks of both."""
    relations = tuple(
        Relation.DIFFERENT if how is Relation.POSSIBLE and _has_two_doers(phrase, match.clause, sentences) else how
        for phrase, how in zip(own.phrases, match.relations, strict=True)
    )
    return replace(match, relations=relations)


def _has_two_doers(subject: Phrase, clause: Clause, sentences: Sequence[Sequence[Clause]]) -> bool:
    owners = [phrase for phrase in clause.phrases if phrase.role == "subject"]
    return (
        subject.role == "subject"
        and clause.predicate not in LINKING  # "Ann was director; since then Ben has led it"
        and bool(owners)
        and all(_are_two_doers(subject, owner, sentences) for owner in owners)
    )


def _are_two_doers(subject: Phrase, owner: Phrase, sentences: Sequence[Sequence[Clause]]) -> bool:
    """Return true for the union and the ministry of "the report written by the ministry was criticised by the union".

    A sentence that has both as subjects speaks of two, and a mayor is no club. "Rosa Klein painted the wall, and the artist
    signed it" may speak of one.
    """
    if subject.is_pronoun or owner.is_pronoun or owner.head in _ASKING:
        return False
    one, two = (subject, owner) if owner.names else (owner, subject)
    if {one.head, two.head} <= _BODIES and not (one.names or two.names):
        return one.head != two.head and not any({one.head, two.head} <= alike for alike in _ALIKE_BODIES)
    if any(each.head in _OFFICES for each in (one, two)) and any(each.head in _BODIES for each in (one, two)):
        return not (one.names or two.names)
    if two.names and not one.names and one.head not in _BODIES and not one.head.endswith("s"):
        return False
    return any(_has_both(subject, owner, clauses) for clauses in sentences)


def _has_both(one: Phrase, two: Phrase, clauses: Sequence[Clause]) -> bool:
    """Return true if the clauses of a sentence have two phrases as subjects, neither of them a part of the other."""
    subjects = [phrase for clause in clauses for phrase in clause.phrases if phrase.role == "subject"]
    first, second = (
        [phrase for phrase in subjects if phrase.head == each.head and relation(phrase, each) is Relation.SAME]
        for each in (one, two)
    )
    return any(mine.words.isdisjoint(theirs.words) for mine in first for theirs in second)


def _are_told_apart(one: Phrase, two: Phrase) -> bool:
    """Return true for two names, figures or colours; "a connection with soldiers" and "with men" may be one."""
    values = (one.names and two.names) or (one.numbers and two.numbers)
    return (bool(values) and relation(one, two) is Relation.DIFFERENT) or have_other_traits(one, two)


def _owners(clause: Clause, own: Clause, place: int, rest: Sequence[int]) -> list[Phrase]:
    """Return the phrases of a clause that have the part of the claim's subject."""
    if clause.predicate not in LINKING:
        return [phrase for phrase in clause.phrases if phrase.role == own.phrases[place].role]
    sides = [phrase for phrase in clause.phrases if phrase.role in ("subject", "attribute")]
    values = [own.phrases[index] for index in rest]
    return [side for side in sides if not any(relation(side, value) is Relation.SAME for value in values)]


def _is_called(subject: Phrase, other: Phrase, matches: Sequence[Match]) -> bool:
    """Return true if the evidence says that a phrase is the subject: "Ann Lee, the treasurer,", "Tenacious is a duo"."""
    for match in matches:
        if match.clause.predicate != "be" or match.clause.is_negated:
            continue
        how = [phrase for phrase in match.clause.phrases if phrase.role in ("subject", "attribute")]
        if any(
            relation(one, subject) is Relation.SAME and relation(two, other) is Relation.SAME
            for one in how
            for two in how
            if one is not two
        ):
            return True
    return False


def is_other_figure(own: Clause, matches: Sequence[Match]) -> bool:
    """Return true if every clause with the claim's other parts has another figure."""
    figures = [place for place, phrase in enumerate(own.phrases) if phrase.numbers]
    for place in figures:
        rest = [other for other in range(len(own.phrases)) if other != place]
        same = [
            each
            for each in matches
            if each.same_predicate and rest and all(each.relations[other] >= Relation.POSSIBLE for other in rest)
        ]
        if any(each.relations[place] is Relation.DIFFERENT for each in same) and not any(
            each.relations[place] is Relation.SAME for each in same
        ):
            return True
    return False


def is_other_name(own: Clause, matches: Sequence[Match]) -> bool:
    """Return true if a clause has all other parts of a short answer's clause and another name in its place."""
    for place, phrase in enumerate(own.phrases):
        rest = [other for other in range(len(own.phrases)) if other != place]
        if not phrase.names or not rest:
            continue
        same = [
            each
            for each in matches
            if each.same_predicate
            and each.is_negated == own.is_negated
            and all(each.relations[other] is Relation.SAME for other in rest)
        ]
        if any(each.relations[place] is Relation.DIFFERENT for each in same) and not any(
            each.relations[place] >= Relation.POSSIBLE for each in same
        ):
            return True
    return False


def is_swapped(own: Clause, matches: Sequence[Match]) -> bool:
    """Return true if a clause has subject and object, or subject and recipient, the other way round."""
    subject = own.subject
    others = [phrase for phrase in own.phrases if phrase.role in ("object", "to", "from") and not phrase.is_pronoun]
    if subject is None or subject.is_pronoun or own.predicate in ("be", "meet", "marry", "resemble", "border", "join"):
        return False
    # "To chlorine" of "exposure to chlorine" is a part of the subject.
    others = [phrase for phrase in others if not phrase.words <= subject.words]
    for match in matches:
        theirs = match.clause.subject
        if not match.same_predicate or theirs is None or match.is_negated != own.is_negated:
            continue
        for other in others:
            turned = [
                phrase
                for phrase in match.clause.phrases
                if phrase.role == other.role and relation(phrase, subject) is Relation.SAME
            ]
            stands_for = theirs.head in _PERSON and bool(subject.names and other.names)
            if turned and (stands_for or relation(theirs, other) is Relation.SAME):
                return True
    return False


def is_of_other_act(own: Clause, matches: Sequence[Match]) -> bool:
    """Return true if a date, figure or name belongs to another act, and the claim's act has one of its own.

    "The hall opened in 2011 and was renovated in 2019." says that the hall did not open in 2019.
    """
    for place, value in enumerate(own.phrases):
        if not (value.numbers or value.names) or own.predicate in _UNTOLD:
            continue
        holders = [
            each for each in matches if any(relation(value, other) is Relation.SAME for other in each.clause.phrases)
        ]
        # "Twelve weeks' notice is required" says nothing of another act.
        # "Moved to Bergen" is read as "is in Bergen", too.
        told = [each for each in holders if each.clause.predicate != "be"] or holders
        if not told or any(each.same_predicate or _says_little(each.clause) for each in told):
            continue
        rest = [other for other in range(len(own.phrases)) if other != place and not own.phrases[other].is_pronoun]
        topic = "object" if own.subject is None else "subject"  # "The hall was renovated" has its hall as an object.
        if any(
            own.phrases[other].role != topic and each.relations[other] is Relation.SAME
            for each in holders
            for other in rest
        ):
            continue
        if any(_has_own(own, place, rest, each) for each in matches):
            return True
    return False


def _says_little(clause: Clause) -> bool:
    """Return true for verbs that say little; what somebody becomes is an act of its own."""
    becomes = clause.predicate == "become" and any(phrase.role == "attribute" for phrase in clause.phrases)
    return clause.predicate in _UNTOLD and not becomes


def _has_own(own: Clause, place: int, rest: Sequence[int], match: Match) -> bool:
    """Return true if a clause with the claim's act and its other parts has another value of the same kind."""
    value = own.phrases[place]
    return (
        match.same_predicate
        and match.is_negated == own.is_negated
        # "Arrived at Boston's Logan Airport" has the Boston of the claim.
        and not any(value.names & phrase.words for phrase in match.clause.phrases)
        and all(
            match.relations[other] >= Relation.POSSIBLE
            # "She left the clinic" over "she left for Lagos"
            or (own.phrases[other].role == "object" and not any(each.role == "object" for each in match.clause.phrases))
            for other in rest
        )
        and (not rest or any(match.relations[other] >= Relation.POSSIBLE for other in rest))
        and any(
            bool(value.numbers) == bool(phrase.numbers)
            and bool(value.names) == bool(phrase.names)
            and (
                phrase.role == value.role
                or value.role == "any"
                or not {phrase.role, value.role} & {"subject", "object"}
            )
            for phrase in match.clause.phrases
        )
    )


def is_other_verb(own: Clause, matches: Sequence[Match]) -> bool:
    """Return true if a clause has all that the claim's has but the verb, and no clause has that."""
    if own.is_state or own.predicate in _UNTOLD or not any(phrase.role == "object" for phrase in own.phrases):
        return False
    stem = predicate_stem(own.predicate)
    if any(
        predicate_stem(word) == stem for each in matches for word in (each.clause.predicate, *all_words(each.clause))
    ):
        return False
    return any(
        each.clause.predicate not in _UNTOLD
        and not each.clause.is_state
        and all(how is Relation.SAME for how in each.relations)
        and all(any(relation(phrase, mine) is Relation.SAME for mine in own.phrases) for phrase in each.clause.phrases)
        for each in matches
    )
