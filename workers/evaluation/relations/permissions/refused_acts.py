"""Compare what a claim permits with what the evidence refuses in other words, or of a subject named elsewhere.

"You may combine it with ibuprofen" is refused by "Do not take Cardolin together with ibuprofen", and "Dogs are allowed"
by "Animals are not permitted". A refusal is cut at its prepositions. The claim must have a word of each part, itself or
in its question, and no word of its own that the refusal does not cover.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workers.evaluation.contradictions.denials import DENIED
from workers.evaluation.facts.verb_forms import verb_stem
from workers.evaluation.text.words import STOP_WORDS, key_of, word_set

MAX_TEXT = 300
"""Longest claim, question and sentence that are read, code points."""

_NOT_ALLOWED = r"(?:(?:\w+ly )?(?:forbidden|prohibited|banned|barred)|not (?:\w+ly )?(?:permitted|allowed)|(?:is|are)n['’]t (?:permitted|allowed))"
_MODAL = r"(?:(?:must|may|can|shall|should)(?: not| never)|cannot|can['’]t|(?:must|should)n['’]t|(?:is|are) (?:never|not) to)"
_REFUSES = re.compile(rf"\b(?:{_MODAL}|{_NOT_ALLOWED}|do not|don['’]t|never|no)\b", re.IGNORECASE)
"""Words without which a sentence refuses nothing."""
_BANS: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^(?P<who>.{{0,100}}?)\b{_MODAL} (?:ever )?(?:be )?(?P<act>.{{3,160}})$",
        rf"^(?P<who>.{{2,100}}?) (?:is |are )?{_NOT_ALLOWED} (?:to|from) (?:be )?(?P<act>.{{3,160}})$",
        rf"^(?P<who>)(?:it is )?{_NOT_ALLOWED} to (?P<act>.{{3,160}})$",
        r"^(?P<who>)(?:please )?(?:do not|don['’]t|never) (?P<act>.{3,160})$",
    )
)
_BANNED_NOUN: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^(?P<act>.{{3,80}}?) (?:is |are )?{_NOT_ALLOWED}(?! (?:to|from)\b)(?P<more>.{{0,120}})$",
        r"^no (?P<act>[\w-]+(?: (?!(?:is|are|allowed|permitted|in|on|at)\b)[\w-]+)?)(?: (?:is |are )?(?:allowed|permitted))?(?P<more>(?: (?:in|on|at|inside)\b.{0,60})?)$",
    )
)
_PERMITS = re.compile(
    r"\b(?:(?:may|can|could)(?! not\b)|(?:is|are) (?:also |even )?(?:\w+ly )?(?:allowed|permitted|welcome|free to|entitled|safe|fine|okay|ok|possible|no problem))\b",
    re.IGNORECASE,
)
_LIMITED = re.compile(
    r"\b(?:only|unless|except|excepting|if|when|while|without|before|after|until|once|other than|apart from|provided|alone|more|less|longer|later"
    r"|earlier|over|exceed\w*|at least|at most|beyond|all of|yet|too|not necessarily)\b",
    re.IGNORECASE,
)
"""Words of a case, a limit or an exception: what is refused there is allowed elsewhere."""
_CASE = re.compile(
    r",?\s\b(?:as long as|so long as|provided(?: that)?|if|when|while|once|on condition that|unless)\b", re.I
)
_ONLY = re.compile(r"\bonly\b", re.IGNORECASE)
_REASON = re.compile(
    r",?\s(?:because|due to|owing to|since|so that|in order to|as (?:it|they|this|the)|for reasons of)\b.*$", re.I
)
_PIECE = re.compile(
    r"[;:]\s|,?\s(?:but|and)\s(?=(?:must|may|can|cannot|is|are|do|never|should)\b)"
    r"|,?\s(?:but|while|whereas)\s(?=(?:[\w'’-]+\s){1,9}(?:must|may|can|cannot|is|are|do|does|should)\b)",
    re.IGNORECASE,
)
_PART = re.compile(
    r"\b(?:together with|with|in|on|at|during|near|inside|into|onto|to|for|from|by|under|through|outside)\b"
)
_EVERYWHERE = re.compile(
    r"\b(?:throughout [^,;.]*|at all times|at any time|anywhere\b[^,;.]*|on (?:the|these|our) premises)", re.IGNORECASE
)
_EXEMPT = re.compile(
    r"^(?P<who>.{3,80}?) (?:(?:is|are) (?:exempt\w*|excepted|excluded|allowed|permitted|welcome)|may|can)\b|\b(?:except(?: for)?|exception of|exceptions? (?:is|are)|apart from)\s(?P<other>[^.;]{3,80})",
    re.IGNORECASE,
)
_ALTERNATIVE = re.compile(r",\s|\s(?:and|or)\s", re.IGNORECASE)
_PHRASES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), word)
    for pattern, word in (
        (r"\b(?:(?:held |kept |placed |put |dipped )?(?:under|in|into)[ -]?(?:the )?water|underwater|immers\w+|submers\w+|submerg\w+)\b", "submerge"),
        (r"\b(?:(?:tak\w+|mak\w+|shoot\w*) )(?:\w+ )?(?:photos?|photographs?|pictures?)\b|\bphotograph\w*\b", "photo"),
        (r"\b(?:combin\w+|mix(?:ed|ing|es)?|us(?:e|es|ed|ing)|tak(?:e|es|en|ing)|consum\w+|eat(?:en|ing)?|drink(?:ing)?|drunk) (?=.*\bwith\b|together)", "usewith "),
        (r"\b(?:chang|swap|exchang)(?:e|es|ed|ing|ped|ping)\b", "replace"),
        (r"\b(?:bath(?:e|ing)|swim(?:s|ming)?)\b", "swim"),
        (r"\b(?:brought|bring(?:s|ing)?|carry|carried|carrying) (?:along |in )?", "bring "),
        (r"\b(?:access|go into|come into|entered|entering|entry)\b", "enter"),
        (r"\b(?:cook(?:ed|ing)?|heat(?:ed|ing)?(?: up)?|warm(?:ed|ing)? up|microwav\w+)\b", "heat"),
        (r"\b(?:wash(?:ed|ing)?|clean(?:ed|ing)?)\b", "wash"),
        (r"\b(?:lend|lent|lending|shar(?:e|ed|ing)|pass(?:ed|ing)? on)\b", "share"),
        (r"\b(?:copy|copied|copying|duplicat\w+|reproduc\w+)\b", "copy"),
    )
)  # fmt: skip
"""Other words for one act."""
_KINDS: tuple[tuple[frozenset[str], frozenset[str]], ...] = tuple(
    (frozenset(map(verb_stem, word_set(kind))), frozenset(map(verb_stem, word_set(members))))
    for kind, members in (
        ("animals pets", "dogs dog cats cat birds rabbits hamsters horses pets puppies ponies"),
        ("vehicles vehicle", "cars car bicycles bikes bike motorbikes motorcycles scooters lorries trucks vans mopeds"),
        ("food foods meals", "snacks sandwiches fruit pizza meals cake popcorn"),
        ("drinks beverages liquids", "coffee tea water juice beer wine soda"),
        ("alcohol", "beer wine whisky vodka spirits cocktails champagne"),
        ("phones devices", "smartphones mobiles laptops tablets cameras phones"),
        ("luggage bags baggage", "rucksacks backpacks suitcases handbags bags"),
        ("weapons", "knives guns pistols pocketknives"),
        ("minors children", "toddlers babies infants teenagers children"),
    )
)
"""Kinds of things with their members."""
_TIMES = frozenset(
    map(
        verb_stem,
        word_set(
            "summer winter spring autumn weekend weekends weekday weekdays evening evenings morning mornings night nights noon today"
            " tomorrow monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays"
            " sundays holidays day days daytime january february march april june july august september october november december always"
        ),
    )
)
_PEOPLE = frozenset(
    map(
        verb_stem,
        word_set(
            "you one we i everyone everybody anyone people person users user customers customer guests guest visitors visitor passengers"
            " passenger tenants tenant patients patient owners owner residents yourself themselves"
        ),
    )
)
_UNTOLD = (
    frozenset(
        map(
            verb_stem,
            word_set(
                "may can could must shall should cannot allowed permitted forbidden prohibited banned barred welcome free safe fine okay ok"
                " possible problem entitled also even ever never not strictly please well then yes together simply still generally kind"
                " other any all use used take taken do done go bring have get work works operated"
            ),
        )
    )
    | _PEOPLE
)
_PRONOUN = re.compile(r"^\W*(?:it|they|this|these|those|he|she)\b", re.IGNORECASE)
_REFERS = re.compile(r"\b(?:it|them|this|these|they)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class _Ban:
    """Hold a refusal: its parts, of each of which a claim has a word, and all words that it covers."""

    parts: tuple[frozenset[str], ...]
    covers: frozenset[str]


def is_act_refused(claim: str, question: str, sentences: Sequence[str]) -> bool:
    """Return true if a claim permits an act that a sentence of the evidence refuses.

    Args:
        claim: the claim without an opening yes.
        question: the question or statement before it, which names what the claim does not; else an empty text.
        sentences: the evidence in order, with an empty text between two sources.
    """
    claim, question = claim[:MAX_TEXT], question[:MAX_TEXT]
    if DENIED.search(claim) or _ONLY.search(claim) or not _PERMITS.search(claim):
        return False
    if not any(map(_REFUSES.search, sentences)):
        return False
    case = _CASE.search(claim)
    own, condition = (claim[: case.start()], claim[case.end() :]) if case else (claim, "")
    words = _words(own)
    core = words - _UNTOLD
    if not core or any(_words(condition) & _words(sentence) - _UNTOLD for sentence in sentences if condition):
        return False
    if _LIMITED.search(own) or _is_exempt(core, sentences):
        return False
    told = words | _words(question)
    refers = bool(_REFERS.search(own))
    for place, sentence in enumerate(sentences):
        before = sentences[place - 1] if place else ""
        for ban in _bans(sentence[:MAX_TEXT], before[:MAX_TEXT]):
            if _is_covered(core, ban) and _has_parts(told, core, ban, refers=refers):
                return True
    return False


def _is_covered(core: frozenset[str], ban: _Ban) -> bool:
    """Return true if a refusal covers all words of a claim; a time is covered by one that names none."""
    has_time = bool(ban.covers & _TIMES)
    return all(word in ban.covers or _kinds_of(word) & ban.covers or (word in _TIMES and not has_time) for word in core)


def _has_parts(told: frozenset[str], core: frozenset[str], ban: _Ban, *, refers: bool) -> bool:
    """Return true if a claim has a word of each part of a refusal; a pronoun stands for one part at most."""
    general = told | frozenset(kind for word in told for kind in _kinds_of(word))
    missing = [part for part in ban.parts if not part & general]
    has_own = any(part & (core | frozenset(kind for word in core for kind in _kinds_of(word))) for part in ban.parts)
    return has_own and len(missing) <= int(refers) and len(missing) < len(ban.parts)


def _kinds_of(word: str) -> frozenset[str]:
    return frozenset().union(*(kind for kind, members in _KINDS if word in members))


def _bans(sentence: str, before: str) -> Iterator[_Ban]:
    if not _REFUSES.search(sentence):
        return
    told = before
    for piece in _PIECE.split(sentence):
        text = _REASON.sub("", piece.strip(" .!"))
        if not _LIMITED.search(text):
            yield from _read(text, told)
        told = piece if not _PRONOUN.match(piece) else told


def _read(text: str, before: str) -> Iterator[_Ban]:
    for pattern in _BANS:
        if not (match := pattern.search(text)):
            continue
        pronoun = _PRONOUN.match(match["who"]) or not match["who"].strip()
        who = frozenset[str]() if pronoun else _words(match["who"]) - _UNTOLD
        head, *adjuncts = _PART.split(_plain(match["act"]))
        act = head.split()
        if act:
            verb, rest = _words(act[0]), _words(" ".join(act[1:])) - _UNTOLD
            covers = _words(text) | (_words(before) if pronoun else frozenset())
            parts = [verb, who, rest, *(_words(each) - _UNTOLD for each in adjuncts)]
            yield _Ban(tuple(part for part in parts if part), covers)
        return
    for pattern in _BANNED_NOUN:
        if match := pattern.search(text):
            head, *inner = _PART.split(_plain(match["act"]))
            adjuncts = [*inner, *_PART.split(_plain(match["more"]))]
            parts = [_words(each) - _UNTOLD for each in (head, *adjuncts)]
            if parts[0]:
                yield _Ban(tuple(part for part in parts if part), _words(text))
            return


def _plain(text: str) -> str:
    """Write an act in common words, without that it is refused everywhere."""
    text = _EVERYWHERE.sub(" ", text)
    for pattern, word in _PHRASES:
        text = pattern.sub(word, text)
    return text


def _is_exempt(core: frozenset[str], sentences: Sequence[str]) -> bool:
    """Return true if a sentence exempts all of a claim's subject, or permits what the claim permits."""
    for sentence in sentences:
        for match in _EXEMPT.finditer(sentence[:MAX_TEXT]):
            if match["who"] and _REFUSES.search(sentence):
                continue
            for each in _ALTERNATIVE.split(match["who"] or match["other"]):
                if (words := _words(each) - _UNTOLD) and words <= core:
                    return True
    return False


def _words(text: str) -> frozenset[str]:
    return frozenset(verb_stem(word) for word in _WORD.findall(key_of(_plain(text))) if word not in STOP_WORDS)
