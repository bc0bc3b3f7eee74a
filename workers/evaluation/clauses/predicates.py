"""Relate verbs: those that mean nearly the same, and those that permit, require or forbid another act."""

from collections.abc import Iterator
from dataclasses import replace

from workers.evaluation.clauses.clause_reader import Clause, Modality
from workers.evaluation.contradictions.antonyms import are_sides
from workers.evaluation.text.words import stem, word_set

_SYNONYM_ROWS = """
acquire buy purchase take obtain
found establish create start launch set begin open
lead head run manage direct chair oversee
build construct erect make produce manufacture complete finish
write author compose pen
increase rise grow climb raise gain surge jump go improve
decrease fall drop decline reduce lower shrink sink go cut
cost amount total price charge
weigh measure reach
earn make receive get
score get make win achieve
win take gain receive earn
hold keep have own possess
include contain comprise cover feature
need require
permit allow let welcome admit
forbid prohibit ban
cancel terminate revoke annul end withdraw
sign conclude agree
approve accept authorise authorize endorse pass
reject refuse decline deny
hire employ recruit appoint engage
dismiss fire lay
sell vend
deliver supply provide ship send
give provide offer grant supply
offer provide give have
live reside stay inhabit dwell
bear born
die decease pass
move relocate transfer shift go
use employ apply utilise utilize
show display present reveal indicate find demonstrate suggest
find discover detect identify show observe
open begin start launch inaugurate
close end shut finish
start begin commence launch
end finish conclude expire stop
help assist support aid
teach instruct train
study learn examine investigate
pay spend remit
travel go journey drive fly
arrive come reach
leave depart go exit
become turn be
call name title term
join enter
work serve act function operate
appear feature star play
play perform
marry wed
invent develop devise create design
develop create build design
publish release issue print
release publish issue launch
announce declare report state
protect guard shield
repair fix mend resolve solve correct
replace substitute exchange
send mail ship
return send bring
return refund
store keep save
remove delete take
add include append
change alter modify amend
locate situate lie sit stand be find
border adjoin
last take run continue
meet encounter
occur happen hold
treat cure
cause lead trigger produce result
prevent stop avoid
consume use eat
put place set lay position fit refit insert stand
add pour tip
press push tap hit click
attach fasten mount install fit fix
bring take carry
submit file lodge send hand deliver
check verify confirm examine inspect review
book reserve schedule arrange
request ask apply order
contact call phone ring email reach
clean wipe wash rinse
enter type input
choose select pick
collect fetch get
preserve keep retain save
erase delete wipe remove
block lock suspend freeze
bill charge invoice
deduct subtract withhold
reimburse refund repay cover
inform tell notify report
extend prolong lengthen renew
lose forfeit
raise lift increase
heat warm preheat
mix stir combine blend
cut slice chop
empty drain
fill top refill
view see look
plan intend
destroy ruin demolish
attack assault
defeat beat overcome
"""
_GROUPS: dict[str, frozenset[int]] = {}
for _number, _row in enumerate(_SYNONYM_ROWS.strip().splitlines()):
    for _word in _row.split():
        _GROUPS[_word] = _GROUPS.get(_word, frozenset()) | {_number}

_ALLOWING = word_set("allow permit authorise authorize entitle possible welcome admit")
_REQUIRING = word_set("require oblige need force mandatory required compulsory necessary obligatory")
_ADVISING = word_set("recommend advise suggest advisable recommended")
_FORBIDDING = word_set("forbid prohibit ban impossible forbidden prohibited banned")

_CONVERSES: dict[str, tuple[str, dict[str, str]]] = {
    **dict.fromkeys(("teach", "instruct"), ("learn", {"object": "subject", "subject": "from"})),
    "learn": ("teach", {"from": "subject", "subject": "object"}),
    "lend": ("borrow", {"to": "subject", "subject": "from"}),
    "borrow": ("lend", {"from": "subject", "subject": "to"}),
    **dict.fromkeys(("let", "lease"), ("rent", {"to": "subject", "subject": "from"})),
    "rent": ("lease", {"from": "subject", "subject": "to"}),
    "inherit": ("leave", {"from": "subject", "subject": "to"}),
    "sue": ("defend", {"object": "subject", "subject": "against"}),
}
"""By verb the verb of the other side, with the new roles of the phrases: who learns from Ann is taught by her."""

_GIVING = word_set("lend let lease")
"""Verbs whose receiver goes without saying."""


def predicate_stem(word: str) -> str:
    """Return a stem that a verb and its noun have in common: "cancel" and "cancellation"."""
    return stem(word)[:6]


def are_related(one: str, two: str) -> bool:
    """Return true if two verbs are one, or mean nearly the same."""
    return (
        one == two
        or predicate_stem(one) == predicate_stem(two)
        or bool(_GROUPS.get(one, frozenset()) & _GROUPS.get(two, frozenset()))
    )


def are_opposite(one: str, two: str) -> bool:
    """Return true if two words exclude each other: "open" and "close"."""
    return one != two and are_sides(one, two)


def permission(clause: Clause) -> Iterator[Clause]:
    """Yield what a clause permits, requires or forbids: "Smoking is not allowed" is "may not smoke"."""
    said = {clause.predicate} | {phrase.head for phrase in clause.phrases if phrase.role == "attribute"}
    modality: Modality
    negated = clause.is_negated
    if said & _ALLOWING:
        modality = "may"
    elif said & _FORBIDDING:
        modality, negated = "may", not negated
    elif said & _REQUIRING:
        modality = "must"
    elif said & _ADVISING:
        modality = "should"
    else:
        return
    for place, phrase in enumerate(clause.phrases):
        if phrase.role in ("subject", "object") and not phrase.names and not phrase.is_pronoun:
            rest = tuple(own for other, own in enumerate(clause.phrases) if other != place and own.role != "attribute")
            yield replace(clause, predicate=phrase.head, phrases=rest, is_negated=negated, modality=modality)


def converses(clause: Clause) -> Iterator[Clause]:
    """Yield what a clause says of its other side: "Aminata learned it from Lamine" is "Lamine taught Aminata"."""
    predicate, roles = _CONVERSES.get(clause.predicate, ("", {}))
    kept = tuple(replace(each, role=roles[each.role]) for each in clause.phrases if each.role in roles)
    # "The library lends films for a week" does not say who borrows them.
    if roles and (
        {"subject"} < {each.role for each in clause.phrases if each.role in roles} or clause.predicate in _GIVING
    ):
        others = tuple(each for each in clause.phrases if each.role not in roles)
        yield replace(clause, predicate=predicate, phrases=(*kept, *others))
