"""Reduce the forms of verbs to one stem and tell verbs from other words, as far as a word list carries."""

import re
from collections.abc import Iterable, Sequence

from workers.evaluation.budget import spend
from workers.evaluation.text.words import stem, word_set

_IRREGULAR_ROWS = """
write writes wrote written writing|take takes took taken taking|give gives gave given giving|go goes went gone going
come comes came come coming|begin begins began begun beginning|win wins won winning|lose loses lost losing
buy buys bought buying|sell sells sold selling|pay pays paid paying|build builds built building
find finds found finding|lead leads led leading|leave leaves left leaving|hold holds held holding
keep keeps kept keeping|make makes made making|meet meets met meeting|rise rises rose risen rising
fall falls fell fallen falling|grow grows grew grown growing|run runs ran running|see sees saw seen seeing
send sends sent sending|spend spends spent spending|stand stands stood standing|teach teaches taught teaching
think thinks thought thinking|tell tells told telling|bring brings brought bringing|catch catches caught catching
choose chooses chose chosen choosing|draw draws drew drawn drawing|drive drives drove driven driving
eat eats ate eaten eating|break breaks broke broken breaking|know knows knew known knowing|say says said saying
get gets got gotten getting|become becomes became becoming|speak speaks spoke spoken speaking
throw throws threw thrown throwing|wear wears wore worn wearing|cut cuts cutting|set sets setting|put puts putting
weigh weighs weighed weighing|cost costs costing|reach reaches reached reaching|need needs needed needing
have has had having|do does did done doing
"""
_FURTHER_ROWS = """
fly flies flew flown flying|fight fights fought fighting
sink sinks sank sunk sinking|swim swims swam swum swimming|steal steals stole stolen stealing
strike strikes struck striking|hit hits hitting|shut shuts shutting|beat beats beaten beating|feel feels felt feeling
shoot shoots shot shooting|hide hides hid hidden hiding|ride rides rode ridden riding
freeze freezes froze frozen freezing|forget forgets forgot forgotten forgetting|hear hears heard hearing
lend lends lent lending|feed feeds fed feeding|seek seeks sought seeking|tear tears tore torn tearing
shake shakes shook shaken shaking|shrink shrinks shrank shrunk shrinking|split splits splitting|quit quits quitting
withdraw withdraws withdrew withdrawn withdrawing|overtake overtakes overtook overtaken overtaking
undergo undergoes underwent undergone undergoing|dies died dying|ties tied tying|uses used using|owes owed owing
lowers lowered lowering|show shows showed shown showing|sing sings sang sung singing|sleep sleeps slept sleeping
"""
"""Verbs of which a form is a noun as well ("strike", "ride"), so that it does not tell a verb."""
_PAST_FORMS = frozenset(
    form
    for row in (_IRREGULAR_ROWS + _FURTHER_ROWS).split("\n")
    for _, *forms in map(str.split, filter(None, row.split("|")))
    for form in forms
    if not form.endswith(("s", "ing"))
) | word_set("cut set put hit shut split quit beat cost")
_FORMS = frozenset(_IRREGULAR_ROWS.replace("|", " ").split())
_STEMS = {
    form: stem(forms.split()[0])
    for row in (_IRREGULAR_ROWS + _FURTHER_ROWS).split("\n")
    for forms in filter(None, row.split("|"))
    for form in forms.split()
} | dict.fromkeys(("summer", "summers"), "summer")  # whose stem is that of a sum
_AUXILIARIES = word_set("have do")
_WORD = re.compile(r"[^\W\d_]+")
_VERBS = word_set(
    """
    is are was were be been am has have had do does did will would can could may might must shall should
    ist sind war waren wird wurde wurden hat haben hatte kann darf muss soll est sont était a ont fut es son era tiene
    mide measures earns scored scores supplied supplies covers covered lasts lasted opens opened closes closed
    boils freezes melts contains includes requires offers employs produces receives reports serves uses joined
    moved became died died born stays lies stands shows means ranks falls belongs comes goes gets takes needs
    """
)


def verb_stem(word: str) -> str:
    """Return the stem of a word in lower case, the same for all forms of an irregular verb."""
    return _STEMS.get(word) or stem(word)


def all_forms(words: Iterable[str]) -> frozenset[str]:
    """Return the stems of all forms of the irregular verbs among words in lower case: also "spent" for "spend"."""
    verbs = {_STEMS[word] for word in words if word in _STEMS}
    return frozenset(stem(form) for form, verb in _STEMS.items() if verb in verbs) if verbs else frozenset()


def has_verb_forms(text: str, others: Sequence[str]) -> bool:
    """Return true if other texts have an irregular verb of a text in another form: "win" and "won"."""
    irregular = {_STEMS[word] for word in _WORD.findall(text.lower()) if word in _STEMS} - _AUXILIARIES
    if not irregular:
        return False
    spend(sum(map(len, others)))
    return any(_STEMS.get(word) in irregular for other in others for word in _WORD.findall(other.lower()))


def is_verb(word: str) -> bool:
    """Return true if a word in lower case is known as a verb."""
    return word in _VERBS or word in _FORMS or (len(word) > 4 and word.endswith("ed"))


def is_past_form(word: str) -> bool:
    """Return true if a word in lower case has the form of a past tense or past participle."""
    return word in _PAST_FORMS or (len(word) > 3 and word.endswith("ed"))
