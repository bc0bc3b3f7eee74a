"""Files of lines: plain or gzip, with a bound on a line; damaged ones are named."""

import gzip
import io
import tracemalloc
from pathlib import Path
from types import SimpleNamespace

import pytest

from workers.errors import TouchstoneError
from workers.gateways.answer_files import read_events
from workers.process.line_files import LineFile, LongLine

CONTENT = b'{"answer": "Paris."}\n' * 100
PACKED = gzip.compress(CONTENT, mtime=0)
MEMBERS = gzip.compress(CONTENT[:1010], mtime=0) + gzip.compress(CONTENT[1010:], mtime=0)
STORED = pytest.mark.parametrize("stored", [CONTENT, PACKED, MEMBERS], ids=["plain", "gzip", "two members"])


def lines(file: Path, limit: int = 1_000) -> list[bytes]:
    with LineFile(str(file), limit) as source:
        return list(source.lines())


@STORED
def test_a_file_is_read_plain_or_compressed(stored: bytes, tmp_path: Path) -> None:
    (tmp_path / "answers").write_bytes(stored)
    assert lines(tmp_path / "answers") == CONTENT.splitlines(keepends=True)


@STORED
@pytest.mark.parametrize("limit", [len(CONTENT) - 1, len(CONTENT)])
def test_lines_can_be_read_after_the_document(stored: bytes, limit: int, tmp_path: Path) -> None:
    (tmp_path / "answers").write_bytes(stored)
    with LineFile(str(tmp_path / "answers"), limit) as source:
        assert source.document() == (CONTENT if limit == len(CONTENT) else None)
        assert list(source.lines()) == CONTENT.splitlines(keepends=True)
        assert source.position == source.size


@STORED
def test_standard_input_is_read_plain_or_compressed(stored: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(stored))))
    with LineFile("-", 1_000) as source:
        assert list(source.lines()) == CONTENT.splitlines(keepends=True)
        assert (source.position, source.size) == (0, None)


@pytest.mark.parametrize("content", [b"", b"x", b"\x1f", b"\n"])
def test_files_shorter_than_the_mark_of_gzip_are_plain(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "short").write_bytes(content)
    assert b"".join(lines(tmp_path / "short")) == content


@pytest.mark.parametrize(
    "stored",
    [PACKED[:-9], PACKED[:10] + b"\xff" * 20, PACKED[:-8] + bytes(8), PACKED[:3], PACKED + b"rubbish"],
    ids=["cut off", "damaged", "of another checksum", "only a mark", "with rubbish behind it"],
)
def test_a_damaged_file_is_named(stored: bytes, tmp_path: Path) -> None:
    (tmp_path / "answers.gz").write_bytes(stored)
    with pytest.raises(TouchstoneError, match=r"answers\.gz cannot be read: damaged \(\w"):
        lines(tmp_path / "answers.gz")
    with pytest.raises(TouchstoneError, match=r"answers\.gz cannot be read: damaged \(\w"):
        list(read_events(str(tmp_path / "answers.gz")))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(TouchstoneError, match="answers cannot be read: No such file"):
        LineFile(str(tmp_path / "answers"))


def test_a_line_beyond_the_bound_is_told_by_file_line_and_setting_and_the_next_ones_can_be_read(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_bytes(b"first\n" + b"x" * 1_000 + b"\n" + b"y" * 100_000 + b"\n" + b"z" * 999 + b"\nlast")
    with pytest.raises(LongLine, match=r"answers\.jsonl, line 2: longer than 1000 bytes .*TOUCHSTONE_FILES__MAX_LINE"):
        lines(file)
    with LineFile(str(file), 1_000) as source:
        found = [(number, line and len(line)) for number, line in source.numbered_lines()]
    assert found == [(1, 6), (2, None), (3, None), (4, 1_000), (5, 4)]


def test_one_compressed_line_of_100_megabytes_takes_no_memory_beyond_the_bound(tmp_path: Path) -> None:
    file = tmp_path / "bomb.gz"
    with gzip.open(file, "wb", compresslevel=1) as packed:
        for _ in range(100):
            packed.write(b" " * 1_000_000)
    tracemalloc.start()
    try:
        with pytest.raises(LongLine, match=r"bomb\.gz, line 1: longer than 1000000 bytes"):
            list(read_events(str(file), 1_000_000))
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()
