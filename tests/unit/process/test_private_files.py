"""Files with texts of answers are for their owner alone, and appear under their names once they are complete."""

import os
import stat
import threading
from pathlib import Path

import pytest

from workers.process.private_files import complete_file, open_private


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "texts.jsonl"


@pytest.mark.parametrize("exists", [False, True])
def test_a_file_that_others_could_read_is_closed_to_them(file: Path, exists: bool) -> None:
    if exists:
        file.write_text("old and longer\n")
        file.chmod(0o644)
    with open_private(file) as out:
        assert (mode(file), file.read_bytes()) == (0o600, b"")
        out.write(b"new\n")
    assert (mode(file), file.read_bytes()) == (0o600, b"new\n")


@pytest.mark.parametrize("exists", [False, True])
def test_a_file_is_replaced_as_a_whole(file: Path, exists: bool) -> None:
    if exists:
        file.write_text("old\n")
        file.chmod(0o644)
    with complete_file(file) as out:
        out.write(b"new\n")
        out.flush()
        assert file.exists() == exists, "it appears too early"
    assert (mode(file), file.read_bytes()) == (0o600, b"new\n")
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize("exists", [False, True])
def test_a_failure_leaves_the_earlier_file_and_nothing_else(file: Path, exists: bool) -> None:
    if exists:
        file.write_text("old\n")
    with pytest.raises(KeyboardInterrupt), complete_file(file) as out:
        out.write(b"half of")
        raise KeyboardInterrupt
    assert [each.read_text() for each in file.parent.iterdir()] == ["old\n"] * exists


@pytest.mark.parametrize("opened", [open_private, complete_file])
def test_a_pipe_is_written_directly_and_keeps_its_rights(file: Path, opened: type) -> None:
    os.mkfifo(file, 0o644)
    file.chmod(0o644)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(file.read_bytes()))
    reader.start()
    with opened(file) as out:
        out.write(b"new\n")
    reader.join()
    assert (read, mode(file)) == ([b"new\n"], 0o644)


def test_a_link_stays_a_link(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(file)
    with complete_file(link) as out:
        out.write(b"new\n")
    assert link.is_symlink()
    assert file.read_bytes() == b"new\n"
