"""Reduce the forms of verbs to one stem and tell verbs from other words, as far as a word list carries."""

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
_STEMS = {
    form: stem(forms.split()[0])
    for row in _IRREGULAR_ROWS.strip().splitlines()
    for forms in row.split("|")
    for form in forms.split()
}
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


def is_verb(word: str) -> bool:
    """Return true if a word in lower case is known as a verb."""
    return word in _VERBS or word in _STEMS or (len(word) > 4 and word.endswith("ed"))
