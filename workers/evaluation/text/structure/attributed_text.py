"""Find the sentences of an answer that are its own words, apart from code, quotations and headings.

Markdown is parsed roughly, by lines, and only if a pattern matched: full segmentation takes longer than all patterns
together. Offsets are code points.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from workers.evaluation.text.structure.segmentation import code_spans

BlockKind = Literal["paragraph", "list_item", "table_row", "code", "quote", "heading"]
Folded = bytes | str
"""A text for pattern matching, as long as the original: bytes of Latin letters, or characters of any script."""
OWN: frozenset[BlockKind] = frozenset(("paragraph", "list_item", "table_row"))
"""Kinds of blocks that contain the answer's own words."""
LABEL_LINE = 60
"""Length below which a line ends its sentence if the next line begins with a capital."""


def _fold_table() -> bytes:
    special = {0x01: "?", ord("?"): "~", 0xDF: "s", 0xE6: "a", 0xC6: "a", 0xF8: "o", 0xD8: "o"}
    table = bytearray()
    for code in range(256):
        base = special.get(code) or unicodedata.normalize("NFD", chr(code))[0].lower()
        if code in (9, 10, 11, 12, 13, 0xA0):
            base = " "
        elif not base.isascii() or ord(base) < 32:
            base = "~"
        table += base.encode("ascii")
    return bytes(table)


_FOLD = _fold_table()
_ALIKE = (("’", "'"), ("‘", "'"), ("œ", "o"), ("–", "-"), ("—", "-"), ("：", ":"))


def fold(text: str) -> bytes:
    """Normalise a text for pattern matching: lower case, no accents, line ends as spaces.

    Each code point becomes one byte, so that offsets stay the same. Characters outside of Latin-1 become ``~``.
    """
    if not text.isascii():
        for character, base in _ALIKE:
            text = text.replace(character, base)
    # Characters outside of Latin-1 are encoded as "?", so real question marks are replaced before.
    return text.replace("?", "\x01").encode("latin-1", "replace").translate(_FOLD)


def fold_native(text: str) -> str:
    """Normalise a text for pattern matching in its own script: lower case, compatibility forms, line ends as spaces.

    One code point for each code point, so that offsets are those of the text.
    """
    return "".join(map(_native, text))


@lru_cache(maxsize=4_096)
def _native(character: str) -> str:
    if character.isspace():
        return " "
    for form in (unicodedata.normalize("NFKC", character).lower(), character.lower()):
        if len(form) == 1:
            return form
    return character


@dataclass(frozen=True, slots=True)
class Said:
    """Describe a sentence in the answer's own words.

    Attributes:
        start, end: its offsets.
        text: folded.
        following: the next own sentence of the block, folded; empty if there is none.
        is_item: of a list or table.
        is_question: it ends with a question mark.
    """

    start: int
    end: int
    text: Folded
    following: Folded
    is_item: bool
    is_question: bool


@dataclass(frozen=True, slots=True)
class _Block:
    start: int
    end: int
    kind: BlockKind


_LINE = re.compile(r"[^\n]*\n?")
_FENCE = re.compile(r" {0,3}(?:> ?)*(`{3,}|~{3,})")
_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\d{1,9}[.)])[ \t]")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_QUOTATION = re.compile(
    r'(?<!\w)"[^"]{1,400}+"(?!\w)|“[^“”„]{1,400}+”|„[^“”„]{1,400}+[“”]|«[^«»]{1,400}+»|»[^«»]{1,400}+«|「[^「」]{1,400}+」'
    r"|(?<!\w)'(?:[^'\n]|(?<=\w)'(?=\w)){2,200}+'(?!\w)|‘[^‘’\n]{2,200}+’(?!\w)"
)
_STOP = re.compile(r"[.!?…。！？]+[\"'”’»)\]*_~]*(?:[ \t]*\[[^\[\]\n]{1,80}\])*(?=\s|$)|[。！？]")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[])(?:e\.g|i\.e|z\.\s?B|d\.\s?h|u\.\s?a|p\.\s?ex|approx|ca|vs|cf|Dr|Mr|Mrs|Ms|Prof|St|No|Nr|Fig|Sr|Sra|art"
    r"|núm|pág|bzw|ggf|inkl)\.$"
)


class Speech:
    """Read an answer by blocks and sentences, each on first use.

    Args:
        text: the raw answer.
        folded: the same, from `fold` or `fold_native`.
    """

    def __init__(self, text: str, folded: Folded) -> None:
        self.text = text
        self.folded = folded
        self._blocks = list(_blocks(text))
        self._starts = [block.start for block in self._blocks]
        self._sentences: dict[int, list[Said]] = {}
        self._masks: dict[int, list[tuple[int, int]]] = {}

    def said_at(self, start: int, end: int) -> Said | None:
        """Return the own sentence that contains a span; ``None`` in code, quotations and headings."""
        number = bisect_right(self._starts, start) - 1
        if number < 0 or self._blocks[number].kind not in OWN or end > self._blocks[number].end:
            return None
        # A text that contains a whole quotation is not quoted itself: {"error": …}.
        if any(left <= start < right or left < end <= right for left, right in self._masked(number)):
            return None
        return next((said for said in self._said(number) if said.start <= start < said.end), None)

    def opening(self, count: int) -> list[Said]:
        """Return the first own sentences of the answer; that after a block's last is the first of the next block."""
        found: list[Said] = []
        for number, block in enumerate(self._blocks):
            said = self._said(number) if block.kind in OWN else []
            if found and said:
                found[-1] = replace(found[-1], following=said[0].text)
            found += said
            if len(found) >= count:
                break
        return found[:count]

    def _said(self, number: int) -> list[Said]:
        if number not in self._sentences:
            self._sentences[number] = list(self._split(number))
        return self._sentences[number]

    def _split(self, number: int) -> Iterator[Said]:
        block = self._blocks[number]
        spans = list(_sentences(self.text, block.start, block.end))
        for index, (start, end) in enumerate(spans):
            following = (
                self.folded[spans[index + 1][0] : spans[index + 1][1]] if index + 1 < len(spans) else self.folded[:0]
            )
            yield Said(
                start, end, self.folded[start:end], following, block.kind != "paragraph",
                self.text[start:end].rstrip("\"'”’»)*_ ").endswith(("?", "？")),
            )  # fmt: skip

    def _masked(self, number: int) -> list[tuple[int, int]]:
        if number not in self._masks:
            block = self._blocks[number]
            part = self.text[block.start : block.end]
            masks = code_spans(self.text, block.start, block.end) if "`" in part else []
            whole = len(self.text.strip())
            # Some gateways put the whole answer in quotation marks, which is not a quotation.
            masks += [
                (block.start + match.start(), block.start + match.end())
                for match in _QUOTATION.finditer(part)
                if len(match[0]) != whole
            ]
            self._masks[number] = masks
        return self._masks[number]


def _blocks(text: str) -> Iterator[_Block]:
    """Yield blocks by lines, in order; blank lines belong to no block."""
    current: _Block | None = None
    fence = ""
    in_list = False
    blank = True
    position = 0
    for line in text.splitlines(keepends=True):
        start, position = position, position + len(line)
        stripped = line.strip()
        mark = _FENCE.match(line) if "``" in line or "~~~" in line else None
        if fence:
            kind: BlockKind | None = "code"
            if mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
                fence = ""
        elif mark:
            fence, kind = mark[1], "code"
        elif not stripped:
            kind = None
        else:
            kind = _kind(line, stripped, after_blank=blank, in_list=in_list)
            in_list = kind == "list_item" or (in_list and line[0] in " \t")
        continues = current and kind == current.kind and kind != "table_row" and not blank and not _begins(line, kind)
        lazy = current and kind == "paragraph" and not blank and current.kind in ("list_item", "quote")
        if current and (continues or lazy):
            current = _Block(current.start, position, current.kind)
        else:
            if current:
                yield current
            current = _Block(start, position, kind) if kind else None
        blank = kind is None
    if current:
        yield current


def _begins(line: str, kind: BlockKind | None) -> bool:
    return kind == "heading" or (kind == "list_item" and bool(_ITEM.match(line)))


def _kind(line: str, stripped: str, *, after_blank: bool, in_list: bool) -> BlockKind:
    first = stripped[0]
    if first == ">":
        return "quote"
    if first == "#" and _HEADING.match(line):
        return "heading"
    if first == "|":
        return "table_row"
    if after_blank and not in_list and line.startswith(("    ", "\t")):
        return "code"
    return "list_item" if _ITEM.match(line) else "paragraph"


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the sentences of a block, split at full stops and at short lines before a capital."""
    cuts = []
    for match in _STOP.finditer(text, start, end):
        if match[0].startswith(".") and _ABBREVIATION.search(text[max(start, match.end() - 12) : match.start() + 1]):
            continue
        after = text[match.end() : match.end() + 2].lstrip()
        if match[0][0] == "." and after[:1].islower():
            continue
        cuts.append(match.end())
    line_start = start
    while (line_end := text.find("\n", line_start, end)) >= 0:
        after = text[line_end + 1 : min(end, line_end + 40)].lstrip(" \t>*_\"'“„")
        if line_end - line_start < LABEL_LINE and (after[:1].isupper() or after[:1].isdigit()):
            cuts.append(line_end)
        line_start = line_end + 1
    left = start
    for cut in [*sorted(set(cuts)), end]:
        part = text[left:cut]
        stripped = part.strip()
        if stripped:
            offset = left + len(part) - len(part.lstrip())
            yield offset, offset + len(stripped)
        left = cut
