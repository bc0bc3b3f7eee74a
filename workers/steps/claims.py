"""Claims: the statements of an answer, each with its kind (seeds 000 and 004).

| kind | what it is | checked |
|---|---|---|
| factual | states something, hedged or not | yes |
| recommendation | tells the reader to do something | yes |
| inference | the answer owns to concluding it itself | no |
| question | asks | no |
| code | fenced code | no |
| meta | greets, refuses, talks about the documents, introduces a list | no |

The rule of each kind with examples: docs/reference/claims.md. Headings and the title row of a
table state nothing by themselves and are no claims, unless a heading is a whole sentence. Lists
of references are meta. Sentences and table rows that join several statements are split where
these can be told apart (``clauses``), unless the answer has more claims than are listed.

Mends of seed 000: sentences come from the segmentation instead of ``split('. ')``; commands
are kept (as recommendations) where the seed drops those that begin with four verbs.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from schemas.grounding import MAX_CLAIMS, ClaimKind
from workers.steps.clauses import Part, has_verb, row_cells, split_row, split_sentence
from workers.steps.markers import Marker, with_markers, without_markers
from workers.steps.segmentation import Sentence
from workers.steps.sources import labelled
from workers.steps.wording import (
    BULLET_LABEL,
    DOCUMENT_LEAD,
    HEDGE,
    INFERENCE_LABEL,
    META,
    RECOMMENDATION,
    REFERENCE_HEADING,
    TURN,
    plain_text,
)

CHECKED_KINDS: frozenset[ClaimKind] = frozenset(("factual", "recommendation"))
"""Kinds that need grounding."""
MAX_ANTECEDENT = 500
"""Longest text that a claim leans on, code points; of a chain of pronouns the start is kept."""
FRAGMENT_WORDS = 12
"""A list item of at most so many words and without a verb completes the line that leads to its list."""

_PRONOUN = re.compile(
    r"(?:(?:and|but|so|then|also|however|afterwards),?\s+)?"
    r"(?:it|its|they|their|them|this|these|those|he|she|his|her|both|such|the (?:former|latter|same)"
    r"|es|sie|dies|dieser|diese|il|elle|ils|elles|ello|esto)\b",
    re.IGNORECASE,
)
_CONNECTIVE = re.compile(
    r"(?:and|but|or|also|then|which|because|since|due to|at|on|in|for|by|with|after|before|until|from|twice|once|only"
    r"|again|und|aber|weil|et|mais)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")
_LEAD = re.compile(
    r"\b(?:here(?:['’]s| is| are)|the following|as follows|hier (?:ist|sind)|folgende[nrs]?|wie folgt|voici|siguientes?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ExtractedClaim:
    """A statement of an answer, before it is judged.

    Attributes:
        start: offset in the raw answer, code points.
        end: offset behind it.
        text: ``answer[start:end]``.
        plain: what it says, for the models: no markers, no Markdown, a row with its titles, the
            subject that it shares with the statement before.
        kind: the kind of statement.
        hedged: weakened by words such as "probably".
        leans_on: what must be read before it: the statement before where it begins with a pronoun
            or is a fragment, the line that leads to its list; empty otherwise.
        cited_numbers: contexts cited by number in it, from 1.
        markers: the citation markers that stand for it.
    """

    start: int
    end: int
    text: str
    plain: str
    kind: ClaimKind
    hedged: bool = False
    leans_on: str = ""
    cited_numbers: tuple[int, ...] = ()
    markers: tuple[Marker, ...] = ()

    @property
    def needs_grounding(self) -> bool:
        """Whether it is checked against evidence."""
        return self.kind in CHECKED_KINDS


@dataclass(slots=True)
class _Place:
    """What has been said so far: the heading, the line that leads to a list, the statement before."""

    heading: str = ""
    lead: str = ""
    before: str = ""
    in_references: bool = field(default=False)


def extract_claims(text: str, sentences: Sequence[Sentence], markers: Sequence[Marker] = ()) -> list[ExtractedClaim]:
    """Extract the claims of an answer.

    Args:
        text: the raw answer.
        sentences: its segmentation.
        markers: its citation markers, in order.

    Returns:
        Claims in order and without overlap.
    """
    claims = list(_extract(text, sentences, markers, split=True))
    # What is not listed counts as unverified: a large table must not fail for being taken apart.
    return claims if len(claims) <= MAX_CLAIMS else list(_extract(text, sentences, markers, split=False))


def _extract(
    text: str, sentences: Sequence[Sentence], markers: Sequence[Marker], *, split: bool
) -> Iterator[ExtractedClaim]:
    place = _Place()
    for index, (sentence, own) in enumerate(with_markers(sentences, markers)):
        plain = plain_text(without_markers(sentence.text, sentence.start, own))
        if sentence.block == "heading":
            place = _Place(heading=plain, in_references=bool(REFERENCE_HEADING.match(plain)))
            if not _states_something(plain):
                continue
        if sentence.is_header:
            continue
        following = sentences[index + 1].block if index + 1 < len(sentences) else None
        kind: ClaimKind = "meta" if place.in_references else classify(sentence, plain, own, following)
        if sentence.block not in ("list_item", "table_row"):
            place.lead = ""
        for claim in _claims(text, sentence, kind, own, place, split=split):
            if claim.needs_grounding:
                place.before = claim.plain if not claim.leans_on else _chained(claim)
            yield claim
        if plain.endswith((":", "：")) and following in ("list_item", "table_row"):
            place.lead = plain


def classify(sentence: Sentence, plain: str, markers: Sequence[Marker] = (), following: str | None = None) -> ClaimKind:
    """The kind of one sentence.

    Args:
        sentence: the sentence as it stands.
        plain: its text without markers and Markdown.
        markers: its own markers.
        following: the block of the sentence behind it.
    """
    if sentence.block == "code":
        return "code"
    if any(marker.form == "inference" for marker in markers) or INFERENCE_LABEL.match(plain):
        return "inference"
    if not _WORD.search(plain) or _is_definition(sentence.text):
        return "meta"
    if plain.rstrip("\"'”’»)* ").endswith(("?", "？", "؟")):
        return "question"
    if (META.search(plain) and not TURN.search(plain)) or _introduces(plain, following):
        return "meta"
    if RECOMMENDATION.match(BULLET_LABEL.sub("", plain)):
        return "recommendation"
    return "factual"


def _is_definition(text: str) -> bool:
    return bool(re.match(r"\[\^?[^\[\]]{1,80}\]:", text))


def _states_something(heading: str) -> bool:
    return heading.endswith((".", "!", "。")) and len(_WORD.findall(heading)) >= 4


def _introduces(plain: str, following: str | None) -> bool:
    """Whether it leads to a list ("Here are the steps:"); a sentence with figures states something all the same."""
    if not plain.endswith((":", "：")) or any(character.isdigit() for character in plain):
        return False
    leads = following in ("list_item", "code", "table_row") or _LEAD.search(plain)
    return bool(leads) or len(_WORD.findall(plain)) <= 3


def _claims(
    text: str, sentence: Sentence, kind: ClaimKind, own: list[Marker], place: _Place, *, split: bool
) -> Iterator[ExtractedClaim]:
    """The claims of one sentence or row."""
    if sentence.block == "table_row" and kind in CHECKED_KINDS:
        yield from _row_claims(text, sentence, kind, own, place, split=split)
        return
    parts = split_sentence(sentence.text) if split and kind in CHECKED_KINDS else [Part(0, len(sentence.text))]
    spans = [(sentence.start + part.start, sentence.start + part.end) for part in parts]
    cited = _markers_of(spans, own, sentence)
    for part, (start, end), markers in zip(parts, spans, cited, strict=True):
        plain = DOCUMENT_LEAD.sub("", plain_text(without_markers(text[start:end], start, own))).strip()
        part_kind = _part_kind(plain, part, kind) if len(parts) > 1 else kind
        leans = _antecedent(plain, sentence, place) if part_kind in CHECKED_KINDS and not part.subject else ""
        plain = f"{part.subject} {plain}" if part.subject else plain
        yield _claim(text, (start, end), plain, part_kind, leans, markers)


def _part_kind(plain: str, part: Part, whole: ClaimKind) -> ClaimKind:
    """The kind of a part of a sentence that is checked."""
    if META.search(plain):
        return "meta"
    is_advice = RECOMMENDATION.match(BULLET_LABEL.sub("", plain)) or (part.subject and whole == "recommendation")
    return "recommendation" if is_advice else "factual"


def _row_claims(
    text: str, row: Sentence, kind: ClaimKind, own: list[Marker], place: _Place, *, split: bool
) -> Iterator[ExtractedClaim]:
    """One claim for each value of a row, or the row as a whole.

    A marker stands for the value in whose cell it is; one in the cell of the name, or in a cell
    of its own, stands for the row.
    """
    cells = [(row.start + start, row.start + end) for start, end in row_cells(row.text)]
    contents = [without_markers(text[start:end], start, own).strip() for start, end in cells]
    columns = split_row(row.text, row.header) if split else []
    if not columns:
        plain = plain_text(labelled(row.header, contents))
        yield _claim(text, (row.start, row.end), plain, kind, place.lead, tuple(own))
        return
    valued = {indices[-1] for indices in columns if _WORD.search(contents[indices[-1]])}
    homes = [next((i for i, (start, end) in enumerate(cells) if start <= marker.start < end), -1) for marker in own]
    titles = (*row.header, *[""] * len(cells))
    for position, indices in enumerate(columns):
        value = indices[-1]
        if value not in valued:
            continue
        markers = tuple(marker for marker, home in zip(own, homes, strict=True) if home == value or home not in valued)
        said = plain_text(labelled(tuple(titles[i] for i in indices), [contents[i] for i in indices]))
        # The name belongs to the first value, so that spans do not overlap.
        start = row.start if position == 0 else cells[value][0]
        yield _claim(text, (start, cells[value][1]), said, kind, place.lead, markers)


def _markers_of(
    spans: Sequence[tuple[int, int]], own: Sequence[Marker], sentence: Sentence
) -> list[tuple[Marker, ...]]:
    """The markers that stand for each part of a sentence.

    A marker stands for the part that it is in and for those before it back to the last marker;
    one that leads the sentence ("According to [1], …") stands for all of it.
    """
    if len(spans) == 1 or not own:
        return [tuple(own)] * len(spans)
    starts = [marker.start for marker in own]
    inside = [tuple(own[bisect_left(starts, start) : bisect_left(starts, end)]) for start, end in spans]
    first = own[0]
    before = _WORD.findall(sentence.text[: first.start - sentence.start])
    behind = _WORD.findall(sentence.text[first.end - sentence.start : spans[0][1] - sentence.start])
    leading = (first,) if len(before) <= 3 <= len(behind) and first.start < spans[0][1] else ()
    found: list[tuple[Marker, ...]] = []
    following: tuple[Marker, ...] = ()
    for markers in reversed(inside):
        following = markers or following
        found.append((*leading, *(marker for marker in following if marker not in leading)))
    return found[::-1]


def _antecedent(plain: str, sentence: Sentence, place: _Place) -> str:
    """What a statement leans on, if it cannot be understood alone."""
    if _PRONOUN.match(plain):
        return place.before or place.heading
    if has_verb(plain):
        return ""
    words = len(_WORD.findall(plain))
    if sentence.block == "list_item" and words <= FRAGMENT_WORDS:
        return place.lead or place.heading
    if words <= FRAGMENT_WORDS and _CONNECTIVE.match(plain):
        return place.before
    return ""


def _chained(claim: ExtractedClaim) -> str:
    """A statement with what it leans on itself, so that a chain of pronouns keeps its subject."""
    chain = f"{claim.leans_on} {claim.plain}"
    return chain if len(chain) <= MAX_ANTECEDENT else claim.leans_on[:MAX_ANTECEDENT]


def _claim(
    text: str, span: tuple[int, int], plain: str, kind: ClaimKind, leans_on: str, markers: tuple[Marker, ...]
) -> ExtractedClaim:
    start, end = span
    cited = sorted({number for marker in markers for number in marker.numbers})
    hedged = bool(HEDGE.search(plain))
    return ExtractedClaim(start, end, text[start:end], plain, kind, hedged, leans_on, tuple(cited), markers)
