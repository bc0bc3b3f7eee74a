"""An archive in an object store holds what one in a folder holds, and says what is wrong with its address."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow.fs as pafs
import pytest

from tests.harness.s3_server import BUCKET, s3_server
from workers.archive.archive_files import Archive, ArchiveUnusable
from workers.archive.archive_places import absolute_address
from workers.delivery.records import Record


@pytest.fixture
def options(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with s3_server(monkeypatch) as options:
        yield options


@pytest.fixture(params=["folder", "s3", "a slash at its end", "fsspec"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param in ("s3", "a slash at its end"):
        slash = "" if request.param == "s3" else "/"
        return f"s3://{BUCKET}/touchstone{slash}{request.getfixturevalue('options')}"
    return f"{'fsspec+file://' if request.param == 'fsspec' else ''}{tmp_path}/kept"


def records(partition: int, offsets: range) -> list[Record]:
    return [
        Record("answers.generated", partition, offset, None, f"answer {offset}".encode(), [("h", b"\xff")], offset / 8)
        for offset in offsets
    ]


def test_files_are_written_read_and_erased_alike(address: str) -> None:
    archive = Archive(address)
    with pytest.raises(
        ArchiveUnusable, match=r"(is not a folder|contains no archive); create an archive with: touchst"
    ):
        archive.files()
    assert archive.ends() == {}
    for partition, offsets in ((0, range(5)), (0, range(5, 9)), (12, range(2, 4))):
        archive.write(records(partition, offsets))
    again = Archive(address)
    assert [(file.partition, file.first, file.last) for file in again.files()] == [(0, 0, 4), (0, 5, 8), (12, 2, 3)]
    assert again.ends() == {("answers.generated", 0): 9, ("answers.generated", 12): 4}
    assert all(file.size > 500 for file in again.files())
    found = [record for file in again.files() for batch in again.read(file) for record in batch]
    assert found == [*records(0, range(9)), *records(12, range(2, 4))]
    erased = [again.erase(file, lambda record: record.offset % 2 == 0) for file in again.files()]
    assert erased == [3, 2, 1]
    left = [record.offset for file in again.files() for batch in again.read(file) for record in batch]
    assert left == [1, 3, 5, 7, 3]
    assert again.ends() == {("answers.generated", 0): 9, ("answers.generated", 12): 4}, "a file keeps its place"


def test_two_archives_of_one_bucket_are_apart(options: str) -> None:
    """The prefix of one is the beginning of the other's name."""
    Archive(f"s3://{BUCKET}/kept{options}").write(records(0, range(2)))
    Archive(f"s3://{BUCKET}/kept-2{options}").write(records(1, range(3)))
    assert [file.partition for file in Archive(f"s3://{BUCKET}/kept{options}").files()] == [0]
    assert [file.partition for file in Archive(f"s3://{BUCKET}/kept-2{options}").files()] == [1]


def test_a_damaged_object_is_named(options: str) -> None:
    archive = Archive(f"s3://{BUCKET}/touchstone{options}")
    path = archive.write(records(0, range(2)))
    system, root = pafs.FileSystem.from_uri(f"s3://{BUCKET}/touchstone{options}")
    with system.open_output_stream(f"{root}/{path}") as stream:
        stream.write(b"rubbish")
    (file,) = archive.files()
    with pytest.raises(
        ArchiveUnusable, match=r"s3://backups/touchstone/topic=answers\.generated/.*0001\.parquet cannot be read"
    ):
        list(archive.read(file))


def test_a_bucket_that_does_not_exist_is_named(options: str) -> None:
    archive = Archive(f"s3://nowhere/touchstone{options}")
    with pytest.raises(ArchiveUnusable, match=r"s3://nowhere/touchstone/topic=.* cannot be written \(.*NO_SUCH_BUCKET"):
        archive.write(records(0, range(2)))
    with pytest.raises(ArchiveUnusable, match="s3://nowhere/touchstone contains no archive"):
        archive.files()


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("s3:/bucket/touchstone", "one slash behind its colon; use s3://bucket/touchstone"),
        ("s3://", "names no bucket; use s3://bucket/prefix"),
        ("s4://bucket/touchstone", r"no address of an archive \(.*; use a folder, s3://bucket/prefix, gs://, abfs://"),
        ("fsspec+nothing://bucket/touchstone", "no address of an archive"),
        ("s3://somebody:a-secret-of-aws@bucket/x", "contains credentials, .* give them in the environment"),
        ("fsspec+sftp://somebody:a-secret-of-aws@host/x", "contains credentials"),
    ],
)
def test_an_address_that_cannot_be_used_says_why(address: str, reason: str) -> None:
    with pytest.raises(ArchiveUnusable, match=reason) as told:
        Archive(address)
    assert "a-secret-of-aws" not in str(told.value)


def test_only_a_folder_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A replay is resumed from another working directory by the address it began with."""
    monkeypatch.chdir(tmp_path)
    assert absolute_address("kept") == str(tmp_path / "kept")
    assert absolute_address("s3://bucket/kept") == "s3://bucket/kept"
