"""Resolve a citation marker to a context and check that the context concerns the same subject as the claim.

A record cannot be the source of a claim about another machine or day, even if its name resolves: "Grinder 3 was
down for 12 minutes [Source: daily_summaries/grinder-5]". The comparison uses members of one series ("Grinder 3",
"grinder-5") and dates that both sides name.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from pydantic_core import to_json

from schemas.answers import ContextChunk, ToolCall
from schemas.citations import InvalidReason
from workers.evaluation.facts.dates import Date, read_dates
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.text.structure.markers import Marker

_LEADING = re.compile(r"[\w./:#-]+")
_FRAGMENT = re.compile(r"[#?].*$", re.DOTALL)
_PUBLIC = re.compile(r"(?:https?://)?(?:[\w-]+\.)+[^\W\d_]{2,}(?::\d{1,5})?(?:[/?#][^{}$]*)?", re.IGNORECASE)
"""Address of a named host. An example of a setting has another one: `http://localhost:3000`, `https://{host}/`."""
_OTHER_HOST = re.compile(r"[\w.@-]$")
_OTHER_PAGE = re.compile(r"[\w@-]|\.\w")
"""Characters around an address that make it another one; a path may go on behind it."""
_LINKED = re.compile(r"https?://|/|\.{0,2}/|[\w-]+/")
_TIME_BEFORE = re.compile(r"\s+(?:at|@|on|from)\s+|\s*@\s*")
_WORDS = re.compile(r"[^\W_]+")
MAX_READ = 2_000
"""Number of code points of a record that are searched for series members and dates."""
MAX_SEARCHES = 200
"""Maximum number of different names to search for in the contexts of an answer; further names are unknown. The limit
bounds the time, because contexts may contain megabytes and answers thousands of markers.
"""


@dataclass(frozen=True, slots=True)
class Said:
    """Hold the series members ("grinder", "5") and the dates that a statement names."""

    codes: frozenset[tuple[str, str]]
    dates: tuple[Date, ...]


class SourceIndex:
    """Index contexts by every name that a citation may use; build one index for each answer.

    Args:
        contexts: sources of the answer.
        known: the question and other texts whose addresses the answer may repeat.
    """

    def __init__(self, contexts: Sequence[ContextChunk], known: Sequence[str] = ()) -> None:
        self._contexts = contexts
        self._known = known
        self._contents = [chunk.content.casefold() for chunk in contexts]
        self._raw = [chunk.content for chunk in contexts]
        self._chunks: dict[str, int] = {}
        self._searched: dict[str, list[int]] = {}
        self._mentioned: dict[str, bool] = {}
        self._abouts: dict[int, tuple[frozenset[tuple[str, str]], list[Date]]] = {}
        self._dates: dict[int, list[Date]] = {}
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
        call = chunk.tool or ToolCall()
        names = [chunk.chunk_id, call.id or "", chunk.source_path, chunk.source_name, record]
        names += [f"{table}/{record}" if record else "", call.name, f"{call.name}/{call.id}" if call.id else ""]
        names.append(_FRAGMENT.sub("", chunk.source_path).rpartition("/")[2])
        for name in names:
            # Several chunks can have one name: keep the first, because retrievers rank the best first.
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

    def named(self, name: str) -> int | None:
        """Return the context with exactly this identifier, otherwise the one with this path, title or record."""
        return self._chunks.get(name) or self._keys.get(_key(name)) or self.address(name)

    def has_passage(self, number: int, passage: str) -> bool:
        """Return true if a context (numbered from 1) contains this passage; white space is ignored."""
        return passage in self._flat[number - 1]

    def quoted(self, passage: str) -> int | None:
        """Return the first context that contains this passage; white space is ignored."""
        return next((number for number, text in enumerate(self._flat, 1) if passage in text), None)

    @cached_property
    def _flat(self) -> list[str]:
        return [" ".join(text.split()) for text in self._raw]

    def record(self, target: str) -> int | None:
        """Return the context that a reference such as ``table/record`` names.

        The first match is used, in this order: a chunk whose name is the whole target; a chunk whose name
        contains table and record as segments; a chunk whose name contains the record and no other table; a
        chunk whose name or table is the first word of the target. A table must have one chunk only.
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
        """Return the context of ``metric at timestamp``: as ``record``, otherwise one that contains the metric's name.

        If several contain the metric, the first with the timestamp's date is used, otherwise the first.
        """
        found = self.record(target)
        if found:
            return found
        metric = _TIME_BEFORE.split(_key(target), maxsplit=1)[0].strip()
        if len(metric) < 3:
            return None
        dates, _ = read_dates(target)
        for spelling in dict.fromkeys((metric, metric.replace("_", " "), metric.replace(" ", "_"))):
            numbers = self._search(spelling)
            if numbers:
                dated = (number for number in numbers if dates and self._knows(number, dates))
                return next(dated, numbers[0])
        return None

    def mismatch(self, number: int, said: Said) -> InvalidReason | None:
        """Return the reason why a context (numbered from 1) cannot be the source of a statement; ``None`` if it can."""
        about, dates = self._about(number)
        if said.codes and about:
            series = {name for name, _ in about}
            rivals = {code for code in said.codes if code[0] in series}
            if rivals and not rivals & about and not rivals & read_codes(self._raw[number - 1]):
                return "other_entity"
        if said.dates and dates and not self._knows(number, said.dates):
            return "other_time"
        return None

    def _about(self, number: int) -> tuple[frozenset[tuple[str, str]], list[Date]]:
        """Return the series members and the dates in a record's own name."""
        if number not in self._abouts:
            chunk = self._contexts[number - 1]
            name = f"{chunk.entity or ''} {chunk.record_id or ''} {chunk.source_table or ''}"
            dates, _ = read_dates((chunk.record_id or "").replace("/", " ").replace("_", " "))
            self._abouts[number] = (read_codes(name), dates)
        return self._abouts[number]

    def _knows(self, number: int, dates: Sequence[Date]) -> bool:
        """Return true if one of the dates agrees with the record's date or occurs in the record's text."""
        if number not in self._dates:
            self._dates[number] = read_dates(self._raw[number - 1][:MAX_READ])[0]
        known = [*self._about(number)[1], *self._dates[number]]
        return any(_agree(date, other) for date in dates for other in known)

    def memory(self, target: str) -> int | None:
        """Return the context of a memory: as ``record``, or by the tail of an identifier (``mem-id-abc123``)."""
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
        """Return the context with this path or URL; anchors and trailing slashes are ignored."""
        address = _address(target)
        return self._paths.get(address) or self._paths.get(_FRAGMENT.sub("", address).rstrip("/"))

    def mentions(self, target: str) -> bool:
        """Return true if a source or another known text contains the address; its scheme and anchor are ignored.

        Return false for a new address once ``MAX_SEARCHES`` is reached.
        """
        address = _address(target.partition("#")[0])
        if address not in self._mentioned:
            if len(self._mentioned) >= MAX_SEARCHES:
                return False
            self._mentioned[address] = not address or _has_address(self._addresses, address)
        return self._mentioned[address]

    @cached_property
    def _addresses(self) -> str:
        """Return all texts that may contain an address, in the form that `_address` gives to one."""
        texts = [*self._known, *self._raw]
        for chunk in self._contexts:
            texts += [chunk.source_path, to_json(chunk.metadata, inf_nan_mode="null").decode()]
        return "\n".join(texts).replace("\\/", "/").replace("&amp;", "&").casefold().replace("www.", "")

    def _search(self, wanted: str) -> list[int]:
        """Return the contexts that contain these words, numbered from 1; run at most ``MAX_SEARCHES`` searches."""
        if wanted not in self._searched:
            if len(self._searched) >= MAX_SEARCHES:
                return []
            numbered = enumerate(self._contents, 1)
            self._searched[wanted] = [number for number, text in numbered if _has_words(text, wanted)]
        return self._searched[wanted]


def resolve(marker: Marker, index: SourceIndex) -> tuple[tuple[int, ...], InvalidReason | None]:
    """Return the contexts that a marker cites, numbered from 1, and the reason if the marker is invalid."""
    if marker.form == "inference":
        return (), None
    if marker.form == "numeric" and marker.target and (named := index.record(marker.target)):
        return (named,), None
    is_list = marker.form in ("source", "evidence", "memory") and not marker.target.isdigit()
    if is_list and (marker.numbers or marker.out_of_range) and (named := index.named(marker.target)):
        return (named,), None  # "1-2" may be the name of a record as well
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
    # An anchor or a mail address is no citation, and an address that was given is not invented.
    is_link = _PUBLIC.fullmatch(marker.target) if marker.is_bare else _LINKED.match(marker.target)
    return (), None if not is_link or index.mentions(marker.target) else "unknown_link"


def read_said(text: str) -> Said:
    """Read the series members and dates of a statement, which can be compared with those of a record."""
    return Said(read_codes(text), tuple(read_dates(text[:MAX_READ])[0]))


def read_codes(text: str) -> frozenset[tuple[str, str]]:
    """Read members of series as ``contradiction_checks`` does, also from names such as ``asset-grinder-5``."""
    text = text[:MAX_READ]
    # Keep capitals, which distinguish a series ("Grinder 5") from words such as "in 5".
    spelled = " ".join(word.capitalize() for word in _WORDS.findall(text))
    return read_details(text).codes | read_details(spelled).codes


def _agree(one: Date, two: Date) -> bool:
    pairs = [(a, b) for a, b in zip(one.parts, two.parts, strict=True) if a is not None and b is not None]
    return bool(pairs) and all(a == b for a, b in pairs)


def _has_words(text: str, wanted: str) -> bool:
    """Return true if a text contains these words as whole words, not as letters of longer words."""
    start = text.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        if not (text[max(0, start - 1) : start].isalnum() or text[end : end + 1].isalnum()):
            return True
        start = text.find(wanted, end)
    return False


def _has_address(text: str, wanted: str) -> bool:
    """Return true if a text contains this address, not only as part of the name of another host or page."""
    start = text.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        if not _OTHER_HOST.search(text[max(0, start - 1) : start]) and not _OTHER_PAGE.match(text[end : end + 2]):
            return True
        start = text.find(wanted, end)
    return False


def _key(name: str) -> str:
    return " ".join(name.casefold().split()).strip("/")


def _address(path: str) -> str:
    return re.sub(r"^(?:https?://)?(?:www\.)?", "", path.strip().casefold()).rstrip("/").lstrip("/")
