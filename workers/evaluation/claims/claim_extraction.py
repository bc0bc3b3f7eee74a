"""Extract the claims of an answer, each with its kind.

| kind | what it is | checked |
|---|---|---|
| factual | states something, hedged or not | yes |
| recommendation | asks the reader to do something | yes |
| inference | the answer says that it draws this conclusion itself | no |
| question | asks | no |
| code | fenced code | no |
| meta | greets, refuses, talks about the documents, introduces a list | no |

The rule of each kind with examples: docs/reference/claims.md. Title rows of tables are not claims. Headings are claims
only if they are whole sentences or give a figure ("Dose: 500 mg"). Lists of references are meta. Sentences and table rows with several statements are
split by ``clauses``, unless the answer has more claims than are listed.

Sentences come from the segmentation; commands are kept as recommendations.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from schemas.grounding import MAX_CLAIMS, ClaimKind
from workers.evaluation.claims.assertions import (
    asserts,
    asserts_among_references,
    gives_value,
    has_figure,
    presupposes,
    statements_in_code,
    without_question,
)
from workers.evaluation.claims.clauses import Part, has_verb, row_cells, split_row, split_sentence
from workers.evaluation.claims.courtesies import COURTESY_LEAD, states_beside_courtesy, without_courtesy
from workers.evaluation.claims.labels import is_label
from workers.evaluation.claims.short_answers import (
    MAX_QUESTION,
    depends_on_question,
    plain_question,
    repeats_answer,
    resolve_short_answer,
    without_nothing,
    yields_to_correction,
)
from workers.evaluation.facts.evidence_units import labelled
from workers.evaluation.facts.forms.gapped_clauses import restore_gapped
from workers.evaluation.facts.forms.left_out_words import restore_left_out, with_asked_unit
from workers.evaluation.facts.forms.refuted_statements import (
    LABEL,
    begins_line,
    calls_items_untrue,
    read_ruled_row,
    restore_refuted,
)
from workers.evaluation.text.languages.language import known_language
from workers.evaluation.text.languages.local_forms import local_forms
from workers.evaluation.text.structure.markers import Marker, with_markers, without_markers
from workers.evaluation.text.structure.segmentation import Sentence
from workers.evaluation.text.wording import (
    BULLET_LABEL,
    DEPENDS,
    DOCUMENT_LEAD,
    HEDGE,
    INFERENCE_LABEL,
    META,
    RECOMMENDATION,
    REFERENCE_HEADING,
    REMARK,
    plain_text,
)

CHECKED_KINDS: frozenset[ClaimKind] = frozenset(("factual", "recommendation"))
"""Kinds that need grounding."""
MAX_ANTECEDENT = 500
"""Maximum length of an antecedent, code points; in a chain of pronouns the start is kept."""
MAX_CLAIM = 800
"""Maximum length of a claim, code points; a longer statement is cut, because models and rules read 1,000."""
FRAGMENT_WORDS = 12
"""Maximum number of words of a list item without a verb that completes the line before the list."""

SHORT = 60
"""Length of an answer in code points up to which its language is read from the question as well."""

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
_CONTRAST_LEAD = re.compile(r"(?:unlike|in contrast to|as opposed to)\s[^,.;:]{1,60},\s(?=\w)", re.IGNORECASE)
"""A thing of which a statement does not speak: "Unlike the hall, the studio has no curtains"."""
_WORD = re.compile(r"[^\W_]+")
_QUESTION_MARKS = ("?", "？", "؟")
_POINTER = re.compile(r"\W*(?:see(?: also)?|cf|compare|sources?|references?)(?:\W+(?:and|or))*\W*", re.IGNORECASE)
"""Words that lead to a source and state nothing: "See also [1] and [2]" without its markers."""
_DEFINITION = re.compile(r"^\[\^?[^\[\]]{1,80}\]:")
_LEAD = re.compile(
    r"\b(?:here(?:['’]s| is| are)|the following|as follows|hier (?:ist|sind)|folgende[nrs]?|wie folgt|voici|siguientes?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ExtractedClaim:
    """Describe a statement of an answer before its evaluation.

    Attributes:
        start: offset in the raw answer, code points.
        end: offset after its last character.
        text: ``answer[start:end]``.
        plain: text for the models: without markers and Markdown, a row with its column titles, and with the
            subject that it shares with the previous statement.
        kind: the kind of statement.
        hedged: weakened by words such as "probably".
        antecedent: the text to read before it: the previous statement if it begins with a pronoun or is a
            fragment, or the line before its list; empty otherwise.
        cited_numbers: contexts cited by number in it, from 1.
        markers: its citation markers.
        question: the question, if the statement answers it without saying what it is about; empty otherwise.
        asked: the question, for the statement that answers it: the first one; empty for others.
        reply: that statement as the answer has it, before it is resolved against the question.
        language: language of the answer, ISO 639-1.
        worked: its figures that calculations of the answer bear out (``written_calculations``).
    """

    start: int
    end: int
    text: str
    plain: str
    kind: ClaimKind
    hedged: bool = False
    antecedent: str = ""
    cited_numbers: tuple[int, ...] = ()
    markers: tuple[Marker, ...] = ()
    question: str = ""
    asked: str = ""
    reply: str = ""
    language: str = "en"
    worked: frozenset[float] = frozenset()

    @property
    def needs_grounding(self) -> bool:
        """Return true if the claim is checked against evidence."""
        return self.kind in CHECKED_KINDS


@dataclass(slots=True)
class _Place:
    """Track the preceding text: the heading, the line that introduces a list, the previous statement.

    Items of a list may be called untrue by its heading or by the line before it.
    """

    heading: str = ""
    lead: str = ""
    before: str = ""
    in_references: bool = field(default=False)
    is_untrue: bool = field(default=False)


def extract_claims(
    text: str, sentences: Sequence[Sentence], markers: Sequence[Marker] = (), query: str = "", background: str = ""
) -> list[ExtractedClaim]:
    """Extract the claims of an answer.

    Args:
        text: the raw answer.
        sentences: its segmentation.
        markers: its citation markers, in order.
        query: the question, against which a short answer at the beginning is resolved.
        background: a text whose language the answer has if neither it nor the question shows any.

    Returns:
        Claims in order and without overlap.
    """
    claims = list(_extract(text, sentences, markers, split=True))
    # Claims beyond the limit count as unverified, so do not split the rows of a large table.
    if len(claims) > MAX_CLAIMS:
        claims = list(_extract(text, sentences, markers, split=False))
    own = (len(text) > SHORT and known_language(text)) or known_language(f"{text}\n{query}")
    language = own or known_language(background) or "en"
    claims = [_localized(claim, language) for claim in claims]
    query = local_forms(query, language) if language != "en" else plain_question(local_forms(query, language))
    first = next((place for place, claim in enumerate(claims) if claim.needs_grounding), None)
    if first is not None and first + 1 < len(claims) and _is_said_again(claims[first], claims[first + 1], query):
        claims[first] = replace(claims[first], kind="meta")
        first += 1
    if query and first is not None:
        short = replace(claims[first], plain=with_asked_unit(query, without_nothing(query, claims[first].plain)))
        question = query[-MAX_QUESTION:] if depends_on_question(query, short.plain) and not short.antecedent else ""
        claims[first] = replace(
            short,
            plain=resolve_short_answer(query, short.plain),
            question=question,
            asked="" if short.antecedent else query[-MAX_QUESTION:],
            reply=short.plain,
        )
    return claims


def _is_said_again(opening: ExtractedClaim, following: ExtractedClaim, query: str) -> bool:
    """Return true if an opening says nothing beside the statement behind it: "Yes." before the statement that was asked for."""
    if not following.needs_grounding:
        return False
    return yields_to_correction(query, opening.plain) or repeats_answer(query, opening.plain, following.plain)


def _localized(claim: ExtractedClaim, language: str) -> ExtractedClaim:
    """Return a claim with its figures in the form in which they are compared."""
    plain, antecedent = restore_left_out(local_forms(claim.plain, language)), local_forms(claim.antecedent, language)
    if language == "en":
        row = read_ruled_row(plain)
        plain = f"{row.stated}. {row.rest}" if row and row.stated else restore_gapped(restore_refuted(plain))
    return replace(claim, plain=plain, antecedent=antecedent, language=language)


def _extract(
    text: str, sentences: Sequence[Sentence], markers: Sequence[Marker], *, split: bool
) -> Iterator[ExtractedClaim]:
    place = _Place()
    for index, (sentence, own) in enumerate(with_markers(sentences, markers)):
        plain = plain_text(without_markers(sentence.text, sentence.start, own))
        if sentence.block == "heading":
            is_untrue = calls_items_untrue(plain, is_heading=True)
            place = _Place(heading=plain, in_references=bool(REFERENCE_HEADING.match(plain)), is_untrue=is_untrue)
            if not (_states_something(plain) or asserts(plain) or gives_value(plain)):
                continue
        if sentence.is_header and not asserts(plain):
            continue
        following = sentences[index + 1].block if index + 1 < len(sentences) else None
        kind = classify(sentence, plain, own, following)
        if place.in_references and not asserts_among_references(plain):
            kind = "meta"
        if sentence.block not in ("list_item", "table_row"):
            place.lead = ""
        if sentence.block not in ("list_item", "heading"):
            place.is_untrue = calls_items_untrue(plain, is_heading=False)
        for claim in _claims(text, sentence, kind, own, place, split=split):
            if claim.needs_grounding:
                place.before = claim.plain if not claim.antecedent else _chained(claim)
            yield claim
        if plain.endswith((":", "：")) and following in ("list_item", "table_row"):
            place.lead = plain


def classify(sentence: Sentence, plain: str, markers: Sequence[Marker] = (), following: str | None = None) -> ClaimKind:
    """Classify one sentence.

    Args:
        sentence: the sentence as written.
        plain: its text without markers and Markdown.
        markers: its own markers.
        following: the block of the sentence behind it.
    """
    if sentence.block == "code":
        return "code"
    if any(marker.form == "inference" for marker in markers) or INFERENCE_LABEL.match(plain):
        # The mark makes no difference to a figure, which the sources have or have not.
        return "factual" if has_figure(plain) else "inference"
    if not _WORD.search(plain) or _POINTER.fullmatch(plain) or is_label(plain, is_last=following is None):
        return "meta"
    if definition := _DEFINITION.match(sentence.text):
        return "factual" if asserts_among_references(sentence.text[definition.end() :].strip()) else "meta"
    if plain.rstrip("\"'”’»)* ").endswith(_QUESTION_MARKS):
        return "factual" if presupposes(plain) else "question"
    if REMARK.fullmatch(plain) or (following is not None and DEPENDS.fullmatch(plain)):
        return "meta"
    bare = COURTESY_LEAD.sub("", plain)
    if not _WORD.search(bare) or META.search(plain) or META.search(bare):
        return "factual" if states_beside_courtesy(plain) else "meta"
    if _introduces(plain, following):
        return "meta"
    if RECOMMENDATION.match(BULLET_LABEL.sub("", plain)):
        return "recommendation"
    return "factual"


def _states_something(heading: str) -> bool:
    return heading.endswith((".", "!", "。")) and len(_WORD.findall(heading)) >= 4


def _introduces(plain: str, following: str | None) -> bool:
    """Return true if a sentence introduces a list ("Here are the steps:"); a sentence with figures never does."""
    if not plain.endswith((":", "：")) or any(character.isdigit() for character in plain):
        return False
    leads = following in ("list_item", "code", "table_row") or _LEAD.search(plain)
    return bool(leads) or len(_WORD.findall(plain)) <= 3


def _claims(
    text: str, sentence: Sentence, kind: ClaimKind, own: list[Marker], place: _Place, *, split: bool
) -> Iterator[ExtractedClaim]:
    """Yield the claims of one sentence, table row or code block."""
    if sentence.block == "code":
        yield from _code_claims(text, sentence)
        return
    if sentence.block == "table_row" and kind in CHECKED_KINDS:
        yield from _row_claims(text, sentence, kind, own, place, split=split)
        return
    parts = split_sentence(sentence.text) if split and kind in CHECKED_KINDS else [Part(0, len(sentence.text))]
    if kind in CHECKED_KINDS:
        parts = [piece for part in parts for piece in _pieces(sentence.text, part)]
    spans = [(sentence.start + part.start, sentence.start + part.end) for part in parts]
    cited = _markers_of(spans, own, sentence)
    for part, (start, end), markers in zip(parts, spans, cited, strict=True):
        raw = _DEFINITION.sub("", without_markers(text[start:end], start, own), count=1)
        plain = DOCUMENT_LEAD.sub("", plain_text(raw)).strip()
        if kind in CHECKED_KINDS:
            plain = _CONTRAST_LEAD.sub("", without_courtesy(plain), count=1)
        if plain.endswith(_QUESTION_MARKS):
            plain = without_question(plain)
        part_kind = _part_kind(plain, part, kind) if len(parts) > 1 else kind
        leans = _antecedent(plain, sentence, place) if part_kind in CHECKED_KINDS and not part.subject else ""
        plain = f"{part.subject} {plain}" if part.subject else plain
        if place.is_untrue and sentence.block == "list_item" and begins_line(text, sentence.start):
            plain = f"{LABEL}{plain}"
        yield _claim(text, (start, end), plain, part_kind, leans, markers)


def _pieces(text: str, part: Part) -> Iterator[Part]:
    """Cut a part that is longer than the evaluation reads, so that nothing stands where it is not read."""
    start = part.start
    while part.end - start > MAX_CLAIM:
        cut = max(text.rfind(mark, start + MAX_CLAIM // 2, start + MAX_CLAIM) for mark in (" ", "、", "，")) + 1
        end = cut or start + MAX_CLAIM
        yield Part(start, end, part.subject if start == part.start else "")
        start = end
    yield Part(start, part.end, part.subject if start == part.start else "")


def _code_claims(text: str, block: Sentence) -> Iterator[ExtractedClaim]:
    """Yield the statements of a code block, or the block as one claim that is not checked."""
    found = [(block.start + start, block.start + end) for start, end in statements_in_code(block.text)]
    for start, end in found:
        for piece in _pieces(text, Part(start, end)):
            yield _claim(text, (piece.start, piece.end), plain_text(text[piece.start : piece.end]), "factual", "", ())
    if not found:
        yield _claim(text, (block.start, block.end), plain_text(block.text), "code", "", ())


def _part_kind(plain: str, part: Part, whole: ClaimKind) -> ClaimKind:
    """Classify a part of a sentence that is checked."""
    if META.search(plain):
        return "meta"
    is_advice = RECOMMENDATION.match(BULLET_LABEL.sub("", plain)) or (part.subject and whole == "recommendation")
    return "recommendation" if is_advice else "factual"


def _row_claims(
    text: str, row: Sentence, kind: ClaimKind, own: list[Marker], place: _Place, *, split: bool
) -> Iterator[ExtractedClaim]:
    """Yield one claim for each value of a table row, or the row as one claim.

    A marker belongs to the value in its cell. A marker in the cell of the name, or in a separate cell,
    belongs to the row.
    """
    cells = [(row.start + start, row.start + end) for start, end in row_cells(row.text)]
    contents = [without_markers(text[start:end], start, own).strip() for start, end in cells]
    columns = split_row(row.text, row.header) if split else []
    if not columns:
        plain = plain_text(labelled(row.header, contents))
        yield from _cut_cells(text, (row.start, row.end), plain, kind, place.lead, tuple(own))
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
        yield from _cut_cells(text, (start, cells[value][1]), said, kind, place.lead, markers)


def _cut_cells(
    text: str, span: tuple[int, int], said: str, kind: ClaimKind, lead: str, markers: tuple[Marker, ...]
) -> Iterator[ExtractedClaim]:
    """Yield the claim of cells, or pieces of their text if that is longer than the evaluation reads."""
    if len(said) <= MAX_CLAIM:
        yield _claim(text, span, said, kind, lead, markers)
        return
    for piece in _pieces(text, Part(*span)):
        own = tuple(marker for marker in markers if piece.start <= marker.start < piece.end) or markers
        plain = plain_text(without_markers(text[piece.start : piece.end], piece.start, own)).strip(" |")
        yield _claim(text, (piece.start, piece.end), plain, kind, lead, own)


def _markers_of(
    spans: Sequence[tuple[int, int]], own: Sequence[Marker], sentence: Sentence
) -> list[tuple[Marker, ...]]:
    """Assign the markers of a sentence to its parts.

    A marker belongs to its part and to the parts before it, back to the previous marker. A marker at the
    start of the sentence ("According to [1], …") belongs to all parts.
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


def opens_with_pronoun(plain: str) -> bool:
    """Return true if a statement begins with a pronoun, so that the text before it says what it is about."""
    return bool(_PRONOUN.match(plain))


def _antecedent(plain: str, sentence: Sentence, place: _Place) -> str:
    """Return the antecedent of a statement that cannot be understood alone; otherwise an empty text."""
    if opens_with_pronoun(plain):
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
    """Prefix a statement with its own antecedent, so that a chain of pronouns keeps its subject."""
    chain = f"{claim.antecedent} {claim.plain}"
    return chain if len(chain) <= MAX_ANTECEDENT else claim.antecedent[:MAX_ANTECEDENT]


def _claim(
    text: str, span: tuple[int, int], plain: str, kind: ClaimKind, antecedent: str, markers: tuple[Marker, ...]
) -> ExtractedClaim:
    start, end = span
    cited = sorted({number for marker in markers for number in marker.numbers})
    hedged = bool(HEDGE.search(plain))
    return ExtractedClaim(start, end, text[start:end], plain, kind, hedged, antecedent, tuple(cited), markers)
