"""Restate what a text calls untrue as its denial: "Myth: Bleach removes rust." reads "Bleach does not remove rust."

A statement that a source rejects stands in it word for word, so that it would support an answer that repeats it. Five
forms are read: "it is a myth that …", "the claim that … is false", a label ("Myth: …"), a mark behind ("… (false)"), and
fields of a row ("Claim: …; Verdict: false"). Items under a line or heading that calls them untrue get the label. The text
is compared and never shown.

Only English is read. The denial stands at the verb that the parser finds. Where no single verb carries the statement
("only", "because", "most"), words before it deny the whole.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from workers.evaluation.budget import spend
from workers.evaluation.text.parser import parse
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import kept_for_sentences, word_set

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

MAX_TEXT = 300
"""Longest text that is read, code points."""
PARSED = 8
"""Operations of a parse for each code point."""
MIN_WORDS = 4
"""Least number of words of a statement behind "myth" that is denied although no verb is found in it."""
LABEL: Final = "Myth: "
"""Label of an item under a line that calls its items untrue."""

_OFTEN_SAID = r"(?:common|popular|widespread|persistent|frequent|famous|typical|old|dangerous|long-standing|well-known)"
_MYTH = r"(?:myth|misconception|misbelief|misunderstanding|fallacy|urban legend|old wives['’] tale)"
_ADJECTIVE = r"(?:false|untrue|incorrect|wrong|mistaken|erroneous|inaccurate|unfounded|baseless|bogus)"
_IS_MYTH = rf"(?:an?\s)?(?:{_OFTEN_SAID}\s)?{_MYTH}|not\s(?:\w+ly\s)?(?:true|correct|right|the case|so)"
_BE = r"(?:is|was|['’]s|remains|has\s(?:always\s|long\s)?been)\s(?:still\s|simply\s|just\s|also\s|therefore\s)?"
_LEAD = r"^(?P<lead>(?:[^,.;:]{1,60},\s|(?:but|and|yet)\s)?)"
_BELIEVED = (
    r"(?:many|most|some|few|other)?\s?(?:people|users|patients|customers|beginners|they|it is)\s(?:often\s|still\s|widely\s)*"
    r"(?:(?:wrongly|mistakenly|falsely|incorrectly)\s(?:believe[ds]?|thinks?|assume[ds]?|claim(?:ed|s)?|thought)"
    r"|(?:believe|think|assume|claim)\s(?:wrongly|mistakenly|falsely|incorrectly))"
)
_REFUTED_THAT = PrefilteredPattern(
    rf"{_LEAD}(?:it\s?{_BE}(?:{_IS_MYTH}|(?:\w+ly\s)?(?:false|untrue|incorrect))|contrary to the (?:claim|belief|myth)|{_BELIEVED})\sthat\s(?P<statement>[^.;:?!]+)",
    re.IGNORECASE,
)
_THAT_REFUTED = PrefilteredPattern(
    rf"{_LEAD}(?:the\s(?:\w+\s){{0,2}}?(?:claim|idea|belief|notion|statement|assertion|assumption|view|theory|myth|misconception)\s)?"
    rf"that\s(?P<statement>[^.;:?!]+?),?\s{_BE}(?:{_IS_MYTH}|(?:\w+ly\s)?{_ADJECTIVE})(?=\s*[.,;!]|\s*$)",
    re.IGNORECASE,
)
_LABELLED = PrefilteredPattern(
    rf"^\W*(?:(?:{_OFTEN_SAID}\s)?{_MYTH}|fiction|(?:untrue|incorrect|wrong|not true)(?:\s(?:answer|statement|claim))?|false\s(?:answer|statement|claim))"
    r"(?:\s?(?:no\.?\s?|#\s?)?\d{1,2})?(?::|\s[–—-])\s+[\"“'‘]?(?P<statement>\S.*?)[\"”'’]?$",
    re.IGNORECASE,
)
_LOCAL_LABEL = re.compile(
    r"^\W*(?:(?:häufiger |verbreiteter )?(?:mythos|irrtum|irrglaube|vorurteil)|mythe|id[ée]e re[çc]ue|id[ée]e fausse|mito|bulo"
    r"|idea falsa|falsa creenza|luogo comune|fabel|misverstand|equívoco)(?:\s?(?:nr\.?\s?|n[º°]\s?|#\s?)?\d{1,2})?\s?(?::|\s[–—-])\s",
    re.IGNORECASE,
)
_LETTER = re.compile(r"[^\W\d_]")
_MYTHS = re.compile(rf"\W*(?:{_OFTEN_SAID}\s)?{_MYTH}\b", re.IGNORECASE)
_MARKED = PrefilteredPattern(
    rf"^[\"“'‘]?(?P<statement>[^;()\[\]]+?)[.!]?[\"”'’]?\s[(\[](?:(?:this|that)\s?(?:is|['’]s)\s)?(?:{_ADJECTIVE}|not true|(?:a )?myth)[)\]]\W*$",
    re.IGNORECASE,
)
_FIELD = re.compile(
    r"(?:^|(?<=; ))(?P<name>claim|statement|myth|assertion|belief|misconception|fiction)(?:\s[^:;]{0,30})?: (?P<statement>[^;]+)",
    re.IGNORECASE,
)
_NAMES_UNTRUE = word_set("myth misconception fiction")
_VERDICT = re.compile(
    r"; (?:[\w ]{0,20}\b(?:verdict|rating|ruling|result|assessment|conclusion|finding)|(?:is (?:it|this) )?(?:true|correct)(?:\s?(?:or|/)\s?(?:false|incorrect))?\??"
    rf"|true/false|answer): (?:(?P<untrue>(?:mostly )?{_ADJECTIVE}|myth|no|not true|debunked)|true|correct|right|yes|confirmed)\s*(?=;|\.?$)",
    re.IGNORECASE,
)
_FACT = re.compile(r"; (?:fact|truth|reality|correct(?:ion)?|explanation)s?\b[^:;]{0,20}: ", re.IGNORECASE)
_HEADING = re.compile(
    rf"^\W*(?:(?:the|some|most|our|other|\d+|two|three|four|five|six|seven|eight|nine|ten)\s){{0,2}}(?:{_OFTEN_SAID}\s(?:myths|fallacies)|(?:{_OFTEN_SAID}\s)?misconceptions"
    r"|myths(?=\s(?:about|on|around))|(?:false|wrong|incorrect)\s(?:statements|answers|claims|beliefs))(?:\s(?:about|on|around|regarding)\s[^.:?!]{1,80})?\W*$",
    re.IGNORECASE,
)
_BEFORE_LIST = re.compile(
    rf"(?:\b(?:following|these)\b[^.!?:]{{0,60}}\bare\s(?:all\s|simply\s|just\s|{_OFTEN_SAID}\s)*"
    rf"(?:{_ADJECTIVE}|not true|not correct|myths|misconceptions|fallacies)|^\W*(?:not true|untrue|incorrect|wrong|myths|misconceptions))\s*:\W*$",
    re.IGNORECASE,
)
_OPEN_LINE = re.compile(
    r"\b(?:if|when|unless|whether|which|what|any of|one of|none of|where|until|mark|select|choose|decide)\b",
    re.IGNORECASE,
)
_NEEDED = word_set("must need")
_ALL = word_set("all every each everyone everybody everything both")
_UNDENIED = word_set(
    "only most many some few several often usually sometimes mostly mainly should because since either neither nor"
    " none nobody nothing hardly rarely unless except"
)
"""Words of statements of which the denial is not that of the verb."""
_CONTRACTED = {"ca": "can", "wo": "will", "sha": "shall"}
_PLURAL = word_set("i you we they these those")


@dataclass(frozen=True, slots=True)
class RuledRow:
    """Hold a row in which a statement is called true or untrue.

    Attributes:
        field: the field with the statement, as it stands alone.
        stated: the statement, or its denial; empty for an untrue one that is no sentence and says nothing.
        rest: the other fields.
    """

    field: str
    stated: str
    rest: str


def calls_items_untrue(line: str, *, is_heading: bool) -> bool:
    """Return true if a heading, or a line before a list, calls what stands under it untrue."""
    if len(line) > MAX_TEXT or _OPEN_LINE.search(line):
        return False
    return (bool(_HEADING.match(line)) and (is_heading or line.rstrip().endswith(":"))) or bool(
        _BEFORE_LIST.search(line)
    )


def restore_refuted(text: str) -> str:
    """Return an English text in which a statement that it calls untrue is denied instead; other texts as they are.

    Raises:
        BudgetExceeded: the evaluation has spent its operations.
    """
    if len(text) > MAX_TEXT:
        return text
    restored, is_parsed = _restore(text)
    spend(len(text) * PARSED if is_parsed else 0)
    return restored


@kept_for_sentences
def _restore(text: str) -> tuple[str, bool]:
    """Return a text with its denial, and whether it was parsed."""
    if match := _REFUTED_THAT.search(text) or _THAT_REFUTED.search(text):
        denied = _denied(match["statement"])
        if denied and not match["lead"]:
            denied = denied[0].upper() + denied[1:]
        return match["lead"] + denied + text[match.end() :] if denied else text, True
    if match := _LABELLED.search(text) or _MARKED.search(text):
        return _denied(match["statement"], is_certain=bool(_MYTHS.match(text))) or text, True
    return text, False


def read_ruled_row(text: str) -> RuledRow | None:
    """Read a row in which another field calls a statement true or untrue, or in which a myth stands beside the facts.

    Raises:
        BudgetExceeded: the evaluation has spent its operations.
    """
    field = _FIELD.search(text) if len(text) <= MAX_TEXT else None
    if field is None:
        return None
    others = text[: field.start()] + text[field.end() :]
    verdict = _VERDICT.search(others)
    if not verdict and not (field["name"].lower() in _NAMES_UNTRUE and _FACT.match(others)):
        return None
    stated = field["statement"].rstrip(" .")
    if not verdict or verdict["untrue"]:
        spend(len(stated) * PARSED)
        stated = _denied(stated)
    return RuledRow(field[0], stated, _VERDICT.sub("", others).strip(" ;."))


def is_labelled_untrue(text: str) -> bool:
    """Return true for a sentence of another language than English behind a label that calls it untrue."""
    return bool(_LOCAL_LABEL.match(text))


def begins_line(text: str, start: int) -> bool:
    """Return true if only marks of a list stand before a place in its line."""
    return not _LETTER.search(text, text.rfind("\n", 0, start) + 1, start)


def _denied(statement: str, *, is_certain: bool = False) -> str:
    """Return the denial of a statement; empty if it is no sentence, unless several words are certainly one."""
    doc = parse(statement)
    root = next((token for token in doc if token.dep_ == "ROOT"), None)
    if root is not None and root.tag_ == "VB" and root.i == 0 and not _subject(root):
        return f"Do not {_lowered(doc)}"
    if root is None or root.pos_ not in ("VERB", "AUX") or not _subject(root):
        return f"It is not true that {_lowered(doc)}" if is_certain and len(doc) >= MIN_WORDS else ""
    if any(token.lower_ in _UNDENIED for token in doc) or any(child.dep_ == "conj" for child in root.children):
        return f"It is not true that {_lowered(doc)}"
    if any(token.lower_ in _ALL for token in _subject(root)):
        return f"Not {_lowered(doc)}"
    return _with_verb(doc, root)


def _subject(root: "Token") -> "list[Token]":
    """Return the words of the subject of a verb."""
    return [
        token
        for child in root.children
        if child.dep_ in ("nsubj", "nsubjpass", "csubj", "expl")
        for token in child.subtree
    ]


def _lowered(doc: "Doc") -> str:
    """Return a statement as a part of a sentence."""
    text = str(doc.text)
    return text if doc[0].pos_ == "PROPN" or text[:2].isupper() else text[:1].lower() + text[1:]


def _with_verb(doc: "Doc", root: "Token") -> str:
    """Return a statement with its verb denied, or without its denial."""
    auxiliaries = [child for child in root.children if child.dep_ in ("aux", "auxpass") and child.i < root.i]
    if denials := {token.i: "" for token in doc if token.dep_ == "neg"}:
        return _joined(doc, denials)
    if negatives := {token.i: "some" for token in doc if token.lower_ == "no" and token.dep_ == "det"}:
        return _joined(doc, negatives)
    first = auxiliaries[0] if auxiliaries else root
    if first.lower_ in _NEEDED and first.tag_ == "MD":
        return _joined(doc, {first.i: f"{_do(root)} not have to"})
    if auxiliaries and first.lower_ != "to":
        return _joined(doc, {first.i: "cannot" if first.lower_ == "can" else f"{first.text} not"})
    if root.lemma_ == "be":
        return _joined(doc, {root.i: f"{root.text} not"})
    do = {"VBD": "did", "VBZ": "does", "VBP": "do"}.get(root.tag_, _do(root))
    before = root.i
    while before > 0 and doc[before - 1].dep_ == "advmod" and doc[before - 1].head == root:
        before -= 1
    words = {root.i: root.lemma_}
    words[before] = f"{do} not {words.get(before, doc[before].text)}"
    return _joined(doc, words)


def _do(root: "Token") -> str:
    """Return the form of "do" for the subject of a verb."""
    heads = [child for child in root.children if child.dep_ in ("nsubj", "nsubjpass", "expl")]
    plural = any(
        head.tag_ in ("NNS", "NNPS") or head.lower_ in _PLURAL or any(child.dep_ == "conj" for child in head.children)
        for head in heads
    )
    return "do" if plural else "does"


def _joined(doc: "Doc", words: dict[int, str]) -> str:
    """Return a text with other words at some places."""
    return "".join(_pieces(doc, words)).replace("  ", " ")


def _pieces(doc: "Doc", words: dict[int, str]) -> Iterator[str]:
    for token in doc:
        word = words.get(token.i, token.text)
        is_cut = (
            token.i + 1 < len(doc) and not words.get(token.i + 1, " ") and doc[token.i + 1].lower_ in ("n't", "n’t")
        )
        yield (_CONTRACTED.get(word.lower(), word) + " ") if is_cut else word + token.whitespace_
