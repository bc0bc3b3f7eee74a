"""Read pages and logs that tools return as rows of cells: HTML tables and lists, and lines that begin with a time."""

import re
from collections.abc import Sequence
from html.parser import HTMLParser

Rows = list[list[tuple[str, str]]]
"""Rows of named texts."""

MESSAGE = "message"
"""Column of the text of a line of a log."""

_IS_PAGE = re.compile(r"<(?:table|tr|ul|ol|dl|li)\b", re.IGNORECASE)
_LINE = re.compile(
    r"\[?(?P<time>(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d(?::\d\d)?)(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?\s+"
    r"(?:\[?(?P<level>TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\]?:?\s+)?(?P<message>\S.*)",
    re.IGNORECASE,
)
_LABELLED = re.compile(r"([^:]{1,60}):\s+(.+)", re.DOTALL)
_CELLS = frozenset(("td", "th", "li", "dt", "dd"))
_BLOCKS = frozenset(("table", "ul", "ol", "dl"))


class _PageReader(HTMLParser):
    """Collect the rows of the tables and lists of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[Rows] = []
        self._rows: list[list[str]] = []
        self._list: Rows = []
        self._texts: list[str] = []
        self._open = ""
        self._term = ""

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        if tag in _BLOCKS:
            self.close_block()
        elif tag in _CELLS or tag == "tr":
            self._close_cell()  # pages seldom close their cells
            self._open = tag if tag in _CELLS else ""
        if tag == "tr":
            self._rows.append([])

    def handle_data(self, data: str) -> None:
        self._texts.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag in _BLOCKS:
            self.close_block()
        elif tag in _CELLS or tag == "tr":
            self._close_cell()

    def _close_cell(self) -> None:
        text, tag = " ".join("".join(self._texts).split()), self._open
        self._texts, self._open = [], ""
        if tag in ("td", "th") and self._rows:
            self._rows[-1].append(text)
        elif tag == "dt":
            self._term = text
        elif tag == "dd":
            self._list.append([("name", self._term), ("value", text)])
        elif tag == "li" and text:
            labelled = _LABELLED.fullmatch(text)
            self._list.append([("name", labelled[1]), ("value", labelled[2])] if labelled else [("item", text)])

    def close_block(self) -> None:
        """End the table or list that is being read."""
        self._close_cell()
        header, *body = self._rows or [[]]
        rows = [list(zip(header, row, strict=True)) for row in body if len(row) == len(header)]
        if rows and all(header):
            self.tables.append(rows)
        if self._list:
            self.tables.append(self._list)
        self._rows, self._list = [], []


def page_rows(text: str) -> list[Rows]:
    """Return the tables and lists of a page; empty for a text without any."""
    if not text.lstrip().startswith("<") or not _IS_PAGE.search(text):
        return []
    reader = _PageReader()
    # The parser is not closed, so that an unfinished tag or comment hides the rest of the page, as in a browser: closing
    # it tries each further "<" up to the end. The line end ends a last reference ("AT&T").
    reader.feed(text + "\n")
    reader.close_block()
    return reader.tables


def log_rows(text: str) -> Rows:
    """Return the lines of a log as rows of time, level and message; empty unless most lines begin with a time."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    found = [match for line in lines if (match := _LINE.fullmatch(line))]
    if len(found) < max(2, 0.6 * len(lines)):
        return []
    return [[(name, part) for name, part in match.groupdict().items() if part] for match in found]
