"""Claims: the statements of an answer, each with its kind (seeds 000 and 004).

| kind | what it is | example | checked |
|---|---|---|---|
| factual | states something, hedged or not | "Loki probably fell over at 14:03." | yes |
| recommendation | tells the reader to do something | "Raise the limit to 4 GiB." | yes |
| inference | the answer owns to concluding it itself | "… [AI Inference - pattern]" | no |
| question | asks | "Shall I restart it?" | no |
| code | fenced code | | no |
| meta | greets, refuses, talks about the documents, introduces a list | "Here are the steps:" | no |

Headings and the title row of a table state nothing by themselves and are no claims, unless a
heading is a whole sentence. Lists of references are meta. A sentence is split at ";" where
both sides can stand alone. One table row is one claim, read with its column titles.

Mends of seed 000: sentences come from the segmentation instead of ``split('. ')``; commands
are kept (as recommendations) where the seed drops those that begin with four verbs.
"""

import itertools
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from schemas.grounding import ClaimKind
from workers.steps.markers import Marker, without_markers
from workers.steps.segmentation import Sentence
from workers.steps.sources import render_row
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
_PRONOUN = re.compile(
    r"(?:it|its|they|their|this|these|those|he|she|his|her|es|sie|dies|dieser|diese|il|elle|ils|elles|ello|esto)\b",
    re.IGNORECASE,
)
_SEMICOLON = re.compile(r";\s+")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class ExtractedClaim:
    """A statement of an answer, before it is judged.

    Attributes:
        start: offset in the raw answer, code points.
        end: offset behind it.
        text: ``answer[start:end]``.
        plain: what it says, for the models: no markers, no Markdown, a row with its titles.
        kind: the kind of statement.
        hedged: weakened by words such as "probably".
        leans_on: the sentence before, if the claim begins with a pronoun; empty otherwise.
        cited_numbers: contexts cited by number in it, from 1.
    """

    start: int
    end: int
    text: str
    plain: str
    kind: ClaimKind
    hedged: bool = False
    leans_on: str = ""
    cited_numbers: tuple[int, ...] = ()

    @property
    def needs_grounding(self) -> bool:
        """Whether it is checked against evidence."""
        return self.kind in CHECKED_KINDS


def extract_claims(text: str, sentences: Sequence[Sentence], markers: Sequence[Marker] = ()) -> list[ExtractedClaim]:
    """Extract the claims of an answer.

    Args:
        text: the raw answer.
        sentences: its segmentation.
        markers: its citation markers, in order.

    Returns:
        Claims in order and without overlap.
    """
    claims: list[ExtractedClaim] = []
    in_references = False
    first_marker = 0
    for index, sentence in enumerate(sentences):
        while first_marker < len(markers) and markers[first_marker].end <= sentence.start:
            first_marker += 1
        own = markers_within(markers, first_marker, sentence.end)
        plain = plain_text(without_markers(sentence.text, sentence.start, own))
        if sentence.block == "heading":
            in_references = bool(REFERENCE_HEADING.match(plain))
            if not _states_something(plain):
                continue
        if sentence.is_header:
            continue
        following = sentences[index + 1].block if index + 1 < len(sentences) else None
        kind = "meta" if in_references else classify(sentence, plain, own, following)
        before = claims[-1] if claims and claims[-1].needs_grounding else None
        for start, end in _parts(sentence, kind):
            claims.append(_claim(text, sentence, (start, end), kind, own, before.plain if before else ""))
    return claims


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


def markers_within(markers: Sequence[Marker], first: int, end: int) -> list[Marker]:
    """The markers from index ``first`` that start before an offset."""
    last = first
    while last < len(markers) and markers[last].start < end:
        last += 1
    return list(markers[first:last])


def _is_definition(text: str) -> bool:
    return bool(re.match(r"\[\^?[^\[\]]{1,80}\]:", text))


def _states_something(heading: str) -> bool:
    return heading.endswith((".", "!", "。")) and len(_WORD.findall(heading)) >= 4


def _introduces(plain: str, following: str | None) -> bool:
    """Whether it leads to a list ("Here are the steps:"); a sentence with figures states something all the same."""
    if not plain.endswith((":", "：")) or any(character.isdigit() for character in plain):
        return False
    return following in ("list_item", "code", "table_row") or len(_WORD.findall(plain)) <= 3


def _parts(sentence: Sentence, kind: ClaimKind) -> Iterator[tuple[int, int]]:
    """Spans in the answer of the statements that a sentence joins by semicolons."""
    whole = (sentence.start, sentence.end)
    cuts = [match.end() for match in _SEMICOLON.finditer(sentence.text)] if sentence.block != "table_row" else []
    if kind not in CHECKED_KINDS or not cuts:
        yield whole
        return
    edges = [0, *cuts, len(sentence.text)]
    pieces = [sentence.text[left:right] for left, right in itertools.pairwise(edges)]
    # Brackets, code and enumerations ("red; green; blue") stay whole.
    separable = all(
        len(_WORD.findall(piece)) >= 4
        and all(piece.count(left) == piece.count(right) for left, right in ("()", "[]", "“”"))
        and piece.count("`") % 2 == 0
        for piece in pieces
    )
    if not separable:
        yield whole
        return
    for left, piece in zip(edges, pieces, strict=False):
        start = sentence.start + left
        yield start, start + len(piece.rstrip().rstrip(";"))


def _claim(
    text: str, sentence: Sentence, span: tuple[int, int], kind: ClaimKind, markers: list[Marker], before: str
) -> ExtractedClaim:
    start, end = span
    raw = text[start:end]
    first = bisect_left(markers, start, key=lambda marker: marker.start)
    inside = markers_within(markers, first, end)
    if sentence.block == "table_row":
        plain = plain_text(render_row(sentence.header, without_markers(raw, start, inside)))
    else:
        plain = plain_text(without_markers(raw, start, inside))
    plain = DOCUMENT_LEAD.sub("", plain).strip()
    own = inside or markers
    cited = sorted({number for marker in own for number in marker.numbers})
    leans = before if _PRONOUN.match(plain) else ""
    return ExtractedClaim(start, end, raw, plain, kind, bool(HEDGE.search(plain)), leans, tuple(cited))
