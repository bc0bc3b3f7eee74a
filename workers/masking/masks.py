"""Replace personal data and secrets by their kind and a keyed digest.

``jane@example.org`` becomes ``{mail:kqvdhwzbra}``. The same value of the same tenant always becomes the same
mask, so that equal values can still be joined and a claim still agrees with its source. Without the key, masks cannot
be reversed by trying values. The digest has only letters: figures in it could be read as numbers of the answer or
masked again. Masks have braces, because brackets would be read as references (``[mail:…]:``) and angle brackets as
links.

Masking precedes all other steps, so that offsets of claims and citations refer to the masked text. Offsets that came
with the answer are moved.
"""

import hmac
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain, count
from typing import Any

from pydantic_core import from_json, to_json

from schemas.topics import TOPICS
from workers.masking.personal_data import Found, MaskRules

MASK = re.compile(r"\{[a-z][a-z0-9_]{0,19}:[a-z]{10}\}")
"""A mask in a text."""

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_LENGTH = 10
"""Number of letters of a digest, 47 bits: among a million values of a tenant two are equal with a probability of 1 in
280.
"""

_INSTANT = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_CARD_DIGITS = 12
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9][0-9.eE+\-]*', re.DOTALL)
"""A string or number of a text that is JSON."""
_PIECE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[0-9a-fA-F]{4}|\\u[0-9a-fA-F]{4}|\\.|[^\\]+", re.DOTALL)
"""An escape in a string of JSON, of which two can be one character, or characters without one."""

KEPT = frozenset(
    {
        "schema_version",
        "answer_id",
        "tenant",
        "feedback_id",
        "review_id",
        "event_id",
        "retry.original_answer_id",
        "retry.retry_answer_id",
        "trace.traceparent",
        "trace.trace_id",
    }
)
"""Paths in an event whose values are identifiers and not text; everything else is masked."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Describe a replacement of ``text[start:end]`` of the original by ``mask``, with its kind."""

    start: int
    end: int
    kind: str
    mask: str


@dataclass(frozen=True, slots=True)
class Masked:
    """Hold a masked text.

    Attributes:
        text: the text with masks.
        edits: replacements from left to right, in offsets of the original.
    """

    text: str
    edits: tuple[Edit, ...] = ()

    def moved(self, offset: int) -> int:
        """Map an offset of the original to the masked text; an offset within a mask maps to its start."""
        shift = 0
        for edit in self.edits:
            if offset < edit.end:
                return min(offset, edit.start) + shift
            shift += len(edit.mask) - (edit.end - edit.start)
        return offset + shift


@dataclass(slots=True)
class Masker:
    """Mask values for one tenant.

    Attributes:
        tenant: its name is part of every digest, so that tenants cannot be joined.
        rules: masking rules.
        key: key of the digests.
        counts: number of values masked in events so far, by kind.
    """

    tenant: str
    rules: MaskRules
    key: bytes
    counts: Counter[str] = field(default_factory=Counter)

    def text(self, text: str) -> Masked:
        """Mask a text; existing masks stay unchanged."""
        edits: list[Edit] = []
        # Repeat until nothing is found: the text between two masks may have been part of a longer text before, and a
        # second masking would find it.
        while found := list(self._find(text, edits)):
            edits = sorted([*edits, *found], key=lambda edit: edit.start)
        return _replaced(text, edits)

    def content(self, text: str) -> Masked:
        """Mask a text of a field; one that is JSON stays JSON, to the letter beside the masks.

        A mask in place of a bare number gets quotes. An escape in a string hides its neighbours, so such a string is
        read first.
        """
        masked = self.text(text)
        if text.lstrip()[:1] not in ("{", "[") or not (masked.edits or "\\" in text) or not _is_json(text):
            return masked
        edits: list[Edit] = []
        rest = list(reversed(masked.edits))
        for token in _TOKEN.finditer(text):
            over: list[Edit] = []
            while rest and rest[-1].start < token.end():
                (over if rest[-1].end > token.start() else edits).append(rest.pop())
            if over or "\\" in token.group():
                edits += self._token(token.group(), token.start(), over)
        return _replaced(text, _apart([*edits, *rest]))

    def counted(self, text: str) -> Masked:
        """Mask a text and count the masked values."""
        masked = self.content(text)
        self.counts.update(edit.kind for edit in masked.edits)
        return masked

    def event(self, event: dict[str, Any]) -> dict[str, Any]:
        """Mask an event read from JSON: every text in it, including names of free fields."""
        masked: dict[str, Any] = self._value(event, "")
        _move_citations(event, masked, self)
        return masked

    def digest(self, kind: str, value: str) -> str:
        """Return the mask of a value."""
        content = f"{self.tenant}\x1f{kind}\x1f{value}".encode("utf-8", "surrogatepass")
        number = int.from_bytes(hmac.digest(self.key, content, "sha256"))
        letters = []
        for _ in range(_LENGTH):
            number, letter = divmod(number, len(_LETTERS))
            letters.append(_LETTERS[letter])
        return f"{{{kind}:{''.join(letters)}}}"

    def _find(self, text: str, edits: list[Edit]) -> Iterator[Edit]:
        taken = sorted(edits, key=lambda edit: edit.start)
        for kind, detector in self.rules.detectors:
            new = [self._edit(kind, each, start) for start, gap in _gaps(text, taken) for each in detector(gap)]
            taken = sorted([*taken, *new], key=lambda edit: edit.start) if new else taken
            yield from new

    def _edit(self, kind: str, found: Found, shift: int) -> Edit:
        return Edit(found.start + shift, found.end + shift, kind, self.digest(kind, found.value))

    def _token(self, raw: str, start: int, over: list[Edit]) -> list[Edit]:
        """Return the edits of a number or string of JSON at an offset, which edits of the text lie over."""
        end = start + len(raw)
        within = [edit for edit in over if edit.start >= start and edit.end <= end]
        if len(within) < len(over):
            return over  # an own pattern of several values
        if raw[0] != '"':
            parts = [replace(edit, start=edit.start - start, end=edit.end - start) for edit in over]
            return [Edit(start, end, over[0].kind, f'"{_replaced(raw, parts).text}"')]
        text, places = _unescaped(raw, start)
        if _is_plain(text):
            return []
        if "\\" not in raw:
            return over
        found = [
            Edit(places[edit.start], places[edit.end], edit.kind, to_json(edit.mask).decode()[1:-1])
            for edit in self.content(text).edits
        ]
        # A name beside the string can make it a secret.
        return _apart(found, [edit for edit in over if edit.start in places and edit.end in places])

    def _value(self, value: Any, path: str) -> Any:
        if isinstance(value, str):
            return value if path in KEPT or _is_plain(value) else self.counted(value).text
        if isinstance(value, dict):
            below = f"{path}." if path else ""
            masked: dict[str, Any] = {}
            for name, item in value.items():
                # An own pattern may match the names of fields of events, without which no event can be read.
                shown = name if name in _field_names() else _free(self.counted(name).text, masked)
                masked[shown] = self._value(item, below + name)
            return masked
        if isinstance(value, list):
            return [self._value(item, f"{path}[]") for item in value]
        if isinstance(value, int) and abs(value) >= 10 ** (_CARD_DIGITS - 1):
            shown = self.counted(str(value))
            return shown.text if shown.edits else value
        return value


def reveal(text: str, original: str, masker: Masker) -> str:
    """Restore the values of an original in a masked text; the caller needs the original and the key.

    Args:
        text: text with masks, such as the content of a released answer.
        original: the answer as sent.
        masker: masker of its tenant.

    Returns:
        The text. Masks of values that the original does not contain stay.
    """
    values = {
        edit.mask.strip('"'): original[edit.start : edit.end] for edit in reversed(masker.content(original).edits)
    }
    return MASK.sub(lambda match: values.get(match.group(), match.group()), text)


def _replaced(text: str, edits: Sequence[Edit]) -> Masked:
    """Apply edits that stand from left to right."""
    parts, end = [], 0
    for edit in edits:
        parts += [text[end : edit.start], edit.mask]
        end = edit.end
    return Masked("".join([*parts, text[end:]]), tuple(edits))


def _apart(edits: Sequence[Edit], others: Sequence[Edit] = ()) -> list[Edit]:
    """Return edits from left to right, with those of others that overlap none of them."""
    kept: list[Edit] = []
    for edit in sorted([*edits, *others], key=lambda edit: edit.start):
        if not kept or edit.start >= kept[-1].end:
            kept.append(edit)
        elif kept[-1] in others and edit in edits:
            kept[-1] = edit
    return kept


@cache
def _field_names() -> frozenset[str]:
    """Return the names of all fields of events and of their parts."""
    names = set[str]()
    for topic in TOPICS:
        document = topic.model.model_json_schema()
        for part in (document, *document.get("$defs", {}).values()):
            names.update(part.get("properties", ()))
    return frozenset(names)


def _is_json(text: str) -> bool:
    try:
        from_json(text)
    except ValueError:
        return False
    return True


def _unescaped(raw: str, start: int) -> tuple[str, list[int]]:
    """Return the text of a string of JSON, and for each character and the end its offset."""
    parts: list[str] = []
    places: list[int] = []
    for piece in _PIECE.finditer(raw, 1, len(raw) - 1):
        is_escape = piece.group()[0] == "\\"
        parts.append(from_json(f'"{piece.group()}"') if is_escape else piece.group())
        places += [start + piece.start()] if is_escape else range(start + piece.start(), start + piece.end())
    return "".join(parts), [*places, start + len(raw) - 1]


def _free(name: str, taken: Mapping[str, Any]) -> str:
    """Return a name that is not taken: two names can have one mask, such as JANE@ and jane@."""
    return next(each for each in chain([name], (f"{name} {number}" for number in count(2))) if each not in taken)


def _gaps(text: str, edits: list[Edit]) -> Iterator[tuple[int, str]]:
    """Yield the text between edits and earlier masks, with its offset."""
    end = 0
    for start, after in [*((edit.start, edit.end) for edit in edits), (len(text), len(text))]:
        if "{" in (gap := text[end:start]):
            begin = 0
            for match in MASK.finditer(gap):
                yield end + begin, gap[begin : match.start()]
                begin = match.end()
            yield end + begin, gap[begin:]
        elif gap:
            yield end, gap
        end = after


def _is_plain(text: str) -> bool:
    """Return true for times and UUIDs, whose digits resemble other data."""
    return _INSTANT.fullmatch(text) is not None or _UUID.fullmatch(text) is not None


def _move_citations(event: Mapping[str, Any], masked: dict[str, Any], masker: Masker) -> None:
    """Move the offsets of citations that arrived with an answer."""
    answer, citations = event.get("answer"), masked.get("citations")
    if not isinstance(answer, str) or not isinstance(citations, list) or masked.get("answer") == answer:
        return
    moved = masker.content(answer)
    for citation in citations:
        if isinstance(citation, dict):
            for name in ("start", "end"):
                if type(offset := citation.get(name)) is int and 0 <= offset <= len(answer):
                    citation[name] = moved.moved(offset)
