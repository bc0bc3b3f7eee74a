"""Say in plain words what the evidence puts otherwise: "lacks a jack" is "does not have a jack".

Clauses are compared by their verbs and nouns. The phrases here deny or require something without a word of denial or
duty that a comparison knows, so that each is written out as a further sentence of the evidence.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import kept_for_sentences

MAX_TEXT = 400
"""Longest sentence that is read, code points."""
OF_AGE = 18
"""Age in years from which a person is an adult."""
MAX_AGE = 25
"""Highest age that a text sets as a limit for persons rather than for something else."""

_NOUN = r"(?:an?\s|the\s|any\s)?(?P<noun>[\w-]+(?:\s[\w-]+)?)"
_Rewrite = str | Callable[[re.Match[str]], str | None]


def _of_age(match: re.Match[str]) -> str | None:
    """Return who is shut out by a limit of age: at 16 some minors may enter, at 21 some adults may not."""
    age = int(match["age"])
    if not OF_AGE <= age <= MAX_AGE:
        return None
    out = [f"{who} are not {what}" for who in ("Minors", "Children", "Teenagers") for what in ("admitted", "allowed")]
    return ". ".join((*out, *(("Adults are admitted", "Adults are allowed") if age == OF_AGE else ())))


def _unsuitable(match: re.Match[str]) -> str:
    """Return what cannot be done: "not suitable for freezing" is "cannot freeze it"."""
    verb = _infinitive(match["verb"])
    return f"You cannot {verb} {match['before'].lower()}. You should not {verb} {match['before'].lower()}"


def _barred(match: re.Match[str]) -> str:
    """Return what must not be done: "are prohibited from opening it" is "must not open it"."""
    return f"{match['before']} must not {_infinitive(match['verb'])}{match['rest']}"


def _infinitive(stem: str) -> str:
    """Return the verb of a form with "-ing", without which it is given."""
    return stem + ("e" if re.search(r"(?:[zvcsg]|[aeiou]k|at|is|ur)$", stem) else "")


_ROWS: tuple[tuple[PrefilteredPattern, _Rewrite], ...] = tuple(
    (PrefilteredPattern(pattern, re.IGNORECASE), rewrite)
    for pattern, rewrite in (
        (r"^(?P<before>.*?)\b(?:both )?(?:with (?:and|or) without|without (?:and|or) with)\s(?P<after>.+)$", r"\g<before>with \g<after>. \g<before>without \g<after>"),
        (r"\bit is (?:\w+ly )?(?:forbidden|prohibited|not (?:allowed|permitted)) to (?P<act>.+)$", r"You must not \g<act>. Nobody may \g<act>"),
        (r"^(?P<before>.+?)\s(?:is|are) (?:\w+ly )?(?:forbidden|prohibited|barred|banned) from (?P<verb>\w{2,12})ing\b(?P<rest>.*)$", _barred),
        (r"^(?P<before>.*?)\blacks?\s(?P<after>.+)$", r"\g<before>does not have \g<after>"),
        (r"^(?P<before>.*?)\b(?:is|are) missing (?P<after>an?\s.+)$", r"\g<before>does not have \g<after>"),
        (r"^(?P<before>.*?)\babstain(?:ed|s)? (?:from|in|on) (?:(?:the|a) vote (?:on|about|for) )?(?P<what>[\w ,-]+?)(?=[;.]|$)", r"\g<before>did not vote for \g<what>. \g<before>did not vote against \g<what>"),
        (r"^(?P<what>[^.;]+?)\s(?:is|are) (?:not refundable|non-?refundable|not refunded)\b", r"You cannot get your money back for \g<what>. You cannot get a refund for \g<what>. \g<what> cannot be refunded"),
        (r"^(?P<before>.*?)\b(?:is|are) free (?:of|from) (?P<after>(?!charge)[\w ,-]+?)(?=[;.]|$)", r"\g<before>does not contain \g<after>. \g<before>has no \g<after>"),
        (r"^(?P<what>[^.;]+?)\s(?:is|are) (?:excluded|exempt|exempted) from (?:all |any )?(?:refunds?|reimbursement)\b", r"\g<what> cannot be refunded. \g<what> are not refundable. There is no refund for \g<what>"),
        (r"^(?P<what>[^.;]+?)\s(?:is|are) (?:exempt|exempted|free) from (?:paying )?the (?P<charge>charge|fee|toll|tax|fare|duty|levy|rent)\b", r"\g<what> do not have to pay the \g<charge>. \g<what> do not pay the \g<charge>. There is no \g<charge> for \g<what>"),
        (r"^(?P<thing>[^.;,]{2,40}?)\s(?:is|are) (?:only available|available only) (?:on|in|with|for) (?P<where>[^.;,]{2,40})(?=[.;,]|$)", r"Only \g<where> has \g<thing>"),
        (r"^(?P<thing>[^.;,]{2,40}?)\s(?:is|are) available (?:on|in|with|for) (?P<where>[^.;,]{2,40}?) only\b", r"Only \g<where> has \g<thing>"),
        (r"^unlike (?P<other>[^,;.]{2,40}), [^,;.]{2,40}?\s(?:has|have) no (?P<what>[^,;.]+)", r"\g<other> has a \g<what>"),
        (r"^unlike (?P<other>[^,;.]{2,40}), [^,;.]{2,40}?\s(?:has|have) (?!no\s|not\s)(?P<what>[^,;.]+)", r"\g<other> does not have \g<what>"),
        (r"^unlike (?P<other>[^,;.]{2,40}), [^,;.]{2,40}?\s(?:is|are) not (?P<what>[^,;.]+)", r"\g<other> is \g<what>"),
        (r"^unlike (?P<other>[^,;.]{2,40}), [^,;.]{2,40}?\s(?:is|are) (?!not\s)(?P<what>[^,;.]+)", r"\g<other> is not \g<what>"),
        (r"^(?P<before>.*?)\bcomes? without (?P<after>.+)$", r"\g<before>does not have \g<after>"),
        (r"^(?P<before>.*?)\b(?:turned|turns?) down (?P<after>.+)$", r"\g<before>did not accept \g<after>"),
        (r"^(?P<before>.*?)\b(?:declined|rejected|refused) (?P<after>(?:the|an?|his|her|their)\s.+)$", r"\g<before>did not accept \g<after>. \g<before>did not agree to \g<after>. \g<before>did not approve \g<after>"),
        (r"^(?P<before>.*?)\b(?:landed|arrived|departed|left|started|came|finished|was|were) (?P<late>[^.;,]{0,30}?\blate)\b", r"\g<before>was \g<late>. \g<before>was not on time. \g<before>was not punctual"),
        (r"^(?P<before>.*?)\bno (?P<what>[\w ]{3,30}?) (?P<be>were|was|have been|has been) (?:received|reported|found|recorded|made|filed|registered|detected|observed)\b", r"\g<before>There were no \g<what>"),
        (r"\bno (?:significant |measurable )?difference between (?P<one>[^.;,]+?) and (?P<two>[^.;,]+)", r"\g<one> does not help. \g<one> is not better than \g<two>"),
        (r"^(?P<before>.+?)\s(?:is|are) (?:not suitable|unsuitable|not fit|unfit) for (?P<verb>\w{2,12})ing\b", _unsuitable),
        (r"^(?P<what>.+?)\s(?:is|are) (?:[\w-]+ and )?(?:non-transferable|not transferable)\b", r"Someone else cannot use \g<what>. Nobody else can use \g<what>. \g<what> cannot be transferred"),
        (r"^(?P<before>.*?)\bfailed to (?P<after>.+)$", r"\g<before>did not \g<after>"),
        (r"^(?P<what>[^.;]*?)\s(?:(?:is|are) (?:\w+ly )?(?:excluded|exempt)(?: from \w+(?: \w+)?)?)\b", r"\g<what> is not covered. \g<what> is not insured. \g<what> is not included"),
        (r"^(?P<before>.*?)\b(?:post|report|record|made|make|suffer|incur)\w*\s(?:a\s|an\s)?(?:\w+\s)?(?:loss|deficit)\b", r"\g<before>did not make a profit. \g<before>did not have a surplus"),
        (r"\bno (?:link|connection|association|correlation|relationship|relation) between (?P<one>[^.;,]+?) and (?P<two>[^.;,]+)", r"\g<one> does not cause \g<two>. \g<one> is not linked to \g<two>"),
        (rf"\bwithout {_NOUN}\s(?:is|are|will be|may be)\s(?:\w+ )?(?:turned away|refused|rejected|denied|not (?:admitted|allowed|accepted))", r"A \g<noun> is required. You need a \g<noun>"),
        (r"\b(?:for |of )?(?:up to )?(?P<span>\d+ \w+) without (?:an?\s)?(?P<noun>visa|permit|licen[cs]e|passport|prescription|permission|reservation|appointment|booking)\b", r"A \g<noun> is not needed for up to \g<span>"),
        (r"\b(?:nobody|no one|no-one|no person|not) (?:under|below|younger than) (?:the age of )?(?P<age>\d\d)\b[^.;]{0,20}?\b(?:admitted|allowed|permitted|may|can)\b", _of_age),
        (r"\b(?:admission|entry|access|open|admitted)\b[^.;\d]{0,12}\b(?:only )?(?:from|over|for over|for|to) (?:the age of |ages )?(?P<age>\d\d)(?: years|\+| and over| only)", _of_age),
        (r"^(?P<what>.+?)\s(?:has|have) (?:not|never) been (?:reported|observed|seen)\b", r"\g<what> is not a side effect. It does not cause \g<what>"),
        (r"^(?P<before>.*?)\b(?P<who>nobody|no one) was (?:injured|hurt|wounded)\b", r"Nobody was hurt. People were not hurt. People were not injured"),
    )
)  # fmt: skip
_BY = PrefilteredPattern(r"\b(?P<what>damage|loss|injury|failure) (?:by|from|due to|caused by|through) (?P<causes>\w+(?:, \w+)*(?:,? (?:or|and) [\w ]{3,20}?)?)(?=\s(?:is|are)\b|[.,;])", re.IGNORECASE)  # fmt: skip


def with_paraphrases(sentences: Sequence[str]) -> list[str]:
    """Return sentences with what their phrases mean in plain words after each of them."""
    return [text for sentence in sentences for text in (sentence, *_paraphrases(sentence[:MAX_TEXT]))]


@kept_for_sentences
def _paraphrases(sentence: str) -> tuple[str, ...]:
    return tuple(_written_out(sentence))


def _written_out(sentence: str) -> Iterator[str]:
    written = _BY.sub(_compounds, sentence)
    if written != sentence:
        yield written
    for pattern, rewrite in _ROWS:
        if match := pattern.search(written):
            told = rewrite(match) if callable(rewrite) else match.expand(rewrite)
            if told:
                yield from (part.strip(" .") + "." for part in told.split(". "))


def _compounds(match: re.Match[str]) -> str:
    """Return "water damage, fire damage" for "damage by water or fire"."""
    causes = re.split(r",\s(?:or\s|and\s)?|\s(?:or|and)\s", match["causes"])
    return " and ".join(f"{cause} {match['what'].lower()}" for cause in causes if cause)
