"""Which context a citation marker names."""

import re
from collections.abc import Sequence
from functools import cached_property

from schemas.answers import ContextChunk
from schemas.citations import InvalidReason
from workers.steps.markers import Marker

_LEADING = re.compile(r"[\w./:#-]+")
_FRAGMENT = re.compile(r"[#?].*$", re.DOTALL)
MAX_SEARCHES = 200
"""Most different names that are searched for in the texts of an answer's contexts; the rest of
so many is unknown. It bounds the time: contexts may hold megabytes, answers thousands of markers."""


class SourceIndex:
    """Contexts by everything that a citation may call them; built once for each answer."""

    def __init__(self, contexts: Sequence[ContextChunk]) -> None:
        self._contents = [chunk.content.casefold() for chunk in contexts]
        self._raw = [chunk.content for chunk in contexts]
        self._chunks: dict[str, int] = {}
        self._searched: dict[str, int | None] = {}
        self._keys: dict[str, int] = {}
        self._paths: dict[str, int] = {}
        self._tables: dict[str, list[int]] = {}
        self._records: dict[str, list[tuple[str, int]]] = {}
        for number, chunk in enumerate(contexts, 1):
            self._add(chunk, number)

    def _add(self, chunk: ContextChunk, number: int) -> None:
        self._chunks.setdefault(chunk.chunk_id, number)
        table = _key(chunk.source_table or "")
        record = _key(chunk.record_id or "")
        names = [chunk.chunk_id, chunk.source_path, chunk.source_name, record, f"{table}/{record}" if record else ""]
        for name in names:
            # The first chunk keeps a name that several have: retrievers rank the best first.
            if _key(name):
                self._keys.setdefault(_key(name), number)
        if chunk.source_path:
            self._paths.setdefault(_address(chunk.source_path), number)
        if table:
            self._tables.setdefault(table, []).append(number)
        if record:
            self._records.setdefault(record, []).append((table, number))

    def __len__(self) -> int:
        return len(self._raw)

    def chunk(self, identifier: str) -> int | None:
        """The context of exactly this identifier."""
        return self._chunks.get(identifier)

    def quoted(self, passage: str) -> int | None:
        """The first context with this passage, white space apart."""
        return next((number for number, text in enumerate(self._flat, 1) if passage in text), None)

    @cached_property
    def _flat(self) -> list[str]:
        return [" ".join(text.split()) for text in self._raw]

    def record(self, target: str) -> int | None:
        """The context that ``table/record`` and the like name.

        In this order: the whole target is a name of a chunk; table and record stand among its
        segments; a record alone does (not of another table); its first word is a name or the
        only chunk's table.
        """
        whole = _key(target)
        if whole in self._keys:
            return self._keys[whole]
        segments = [segment for segment in whole.split("/") if segment]
        named = [segment for segment in segments if segment in self._tables]
        tails = ["/".join(segments[index:]) for index in range(min(len(segments), 20))]
        for candidate in (*tails, *segments):
            for table, number in self._records.get(candidate, ()):
                if not named or table in named:
                    return number
        first = _LEADING.match(whole)
        if not first:
            return None
        name = first[0].rstrip(":.#")
        for key in (name, _FRAGMENT.sub("", name)):
            if key in self._keys:
                return self._keys[key]
        numbers = self._tables.get(name, [])
        return numbers[0] if len(numbers) == 1 else None

    def evidence(self, target: str) -> int | None:
        """The context of ``metric at timestamp``: as ``record``, else the first that has the metric's name."""
        found = self.record(target)
        if found:
            return found
        metric = re.split(r"\s+(?:at|@|on|from)\s+|\s*@\s*", _key(target), maxsplit=1)[0].strip()
        if len(metric) < 3:
            return None
        for spelling in dict.fromkeys((metric, metric.replace("_", " "), metric.replace(" ", "_"))):
            number = self._search(spelling)
            if number:
                return number
        return None

    def memory(self, target: str) -> int | None:
        """The context of a memory: as ``record``, also by the tail of an identifier (``mem-id-abc123``)."""
        found = self.record(target)
        if found:
            return found
        for segment in _key(target).split("/"):
            parts = segment.split("-")[:20]
            for index in range(1, len(parts)):
                entries = self._records.get("-".join(parts[index:]))
                if entries:
                    return entries[0][1]
        return None

    def address(self, target: str) -> int | None:
        """The context with this path or URL; anchors and trailing slashes do not matter."""
        address = _address(target)
        return self._paths.get(address) or self._paths.get(_FRAGMENT.sub("", address).rstrip("/"))

    def mentions(self, target: str) -> bool:
        """Whether a context's text contains the address, so that the answer did not invent it."""
        return self._search(target.casefold().rstrip("/")) is not None

    def _search(self, wanted: str) -> int | None:
        """The first context whose text has these words, from 1; at most ``MAX_SEARCHES`` are looked for."""
        if wanted not in self._searched:
            if len(self._searched) >= MAX_SEARCHES:
                return None
            numbered = enumerate(self._contents, 1)
            self._searched[wanted] = next((number for number, text in numbered if _has_words(text, wanted)), None)
        return self._searched[wanted]


def resolve(marker: Marker, index: SourceIndex) -> tuple[tuple[int, ...], InvalidReason | None]:
    """The contexts that a marker cites, from 1, and what is wrong with it if anything is."""
    if marker.form == "inference":
        return (), None
    if marker.form == "numeric" or marker.numbers or (marker.out_of_range and marker.form != "link"):
        return marker.numbers, "out_of_range" if marker.out_of_range else None
    if marker.form == "link":
        return _resolve_link(marker, index)
    look_up = {"evidence": index.evidence, "memory": index.memory}.get(marker.form, index.record)
    # "[Source: a/1; b/2]" names two records, unless a name contains the separator itself.
    targets = [part.strip() for part in re.split(r"[;,]", marker.target) if part.strip()][:20]
    found = [look_up(target) for target in targets]
    if not all(found):
        whole = look_up(marker.target)
        found = [whole] if whole and not any(found[1:]) else found
    numbers = tuple(sorted({number for number in found if number}))
    return numbers, None if numbers and all(found) else "unknown_record"


def _resolve_link(marker: Marker, index: SourceIndex) -> tuple[tuple[int, ...], InvalidReason | None]:
    number = index.address(marker.target)
    if number:
        return (number,), None
    # An address that stands by itself, an anchor or a mail address claims no source; one that
    # a context mentions was not made up.
    is_link = marker.text.startswith("[") and re.match(r"https?://|/|\.{0,2}/|[\w-]+/", marker.target)
    if not is_link or index.mentions(marker.target):
        return (), None
    return (), "unknown_link"


def _has_words(text: str, wanted: str) -> bool:
    """Whether a text contains these words and not just letters of longer ones."""
    start = text.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        if not (text[max(0, start - 1) : start].isalnum() or text[end : end + 1].isalnum()):
            return True
        start = text.find(wanted, end)
    return False


def _key(name: str) -> str:
    return " ".join(name.casefold().split()).strip("/")


def _address(path: str) -> str:
    return re.sub(r"^https?://(?:www\.)?", "", path.strip().casefold()).rstrip("/").lstrip("/")
