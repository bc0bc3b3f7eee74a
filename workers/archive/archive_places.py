"""Keep the files of an archive in a folder or in an object store.

A file appears whole or not at all: an object store shows an object once its upload is complete; elsewhere a
file is written under a temporary name and then renamed.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.fs as pafs

from workers.errors import TouchstoneError


class ArchiveUnusable(TouchstoneError):
    """Report that the archive cannot be read or written, or belongs to another log; the message names the file or partition."""


class ArchivePlace(Protocol):
    """Place of an archive; paths of files are relative to it, with ``/``. Its text is its address."""

    def exists(self) -> bool:
        """Return whether the place exists.

        Raises:
            OSError: the place cannot be read.
        """

    def files(self) -> Iterator[tuple[str, int]]:
        """Yield the path and size, in bytes, of every file, in any order.

        Raises:
            OSError: the place cannot be read.
        """

    def write(self, path: str, content: pa.Buffer) -> None:
        """Write or replace a file.

        Raises:
            OSError: the file cannot be written.
        """

    def open(self, path: str) -> pa.NativeFile:
        """Open a file for reading.

        Raises:
            OSError: the file cannot be read.
        """


def place_at(address: str | Path) -> ArchivePlace:
    """Return the place of an address.

    Args:
        address: path of a folder; or the address of an object store, as pyarrow reads it: ``s3://bucket/prefix``,
            ``gs://bucket/prefix``, ``abfs://container@account.dfs.core.windows.net/prefix``, or
            ``fsspec+<protocol>://…`` for any file system of fsspec.

    Raises:
        ArchiveUnusable: the kind of address is unknown, it names no bucket, or it contains credentials.
    """
    if re.match(r"[a-z0-9+]{2,}:/(?!/)", str(address)):
        raise ArchiveUnusable(f"{address} has one slash behind its colon; use {str(address).replace(':/', '://', 1)}")
    if "://" not in str(address):
        return LocalFolder(Path(address))
    parts = urlsplit(str(address))
    if parts.password is not None or (parts.scheme == "s3" and parts.username is not None):
        raise ArchiveUnusable(
            f"the address of the archive in {parts.hostname} contains credentials, which would be stored and logged; "
            "give them in the environment (for S3: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile or a role)"
        )
    try:
        system, root = pafs.FileSystem.from_uri(str(address))
    except (pa.ArrowException, OSError, ValueError, ImportError) as error:
        raise ArchiveUnusable(
            f"{address} is no address of an archive ({error}); use a folder, s3://bucket/prefix, gs://, abfs:// "
            "or fsspec+<protocol>://"
        ) from error
    if isinstance(system, pafs.LocalFileSystem):
        return LocalFolder(Path(root))
    if not root.strip("/"):
        raise ArchiveUnusable(f"{address} names no bucket; use {parts.scheme}://bucket/prefix")
    return ObjectStore(str(address), system, root.rstrip("/"))


def absolute_address(address: str) -> str:
    """Return an address that means the same place from every working directory."""
    return address if "://" in address else str(Path(address).absolute())


class LocalFolder:
    """Folder of this machine; only its owner may read it.

    Args:
        folder: path; created with the first file.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __str__(self) -> str:
        return str(self._folder)

    def exists(self) -> bool:
        """See :class:`ArchivePlace`."""
        return self._folder.is_dir()

    def files(self) -> Iterator[tuple[str, int]]:
        """See :class:`ArchivePlace`."""
        for path in self._folder.rglob("*.parquet"):
            yield path.relative_to(self._folder).as_posix(), path.stat().st_size

    def write(self, path: str, content: pa.Buffer) -> None:
        """See :class:`ArchivePlace`."""
        target = self._folder / path
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        beside = target.with_suffix(".tmp")
        with beside.open("wb") as file:
            beside.chmod(0o600)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)

    def open(self, path: str) -> pa.NativeFile:
        """See :class:`ArchivePlace`."""
        return pa.OSFile(str(self._folder / path))


class ObjectStore:
    """Bucket, or a prefix within it, and any file system of fsspec.

    Args:
        address: address as given, for messages.
        system: file system.
        root: bucket and prefix.
    """

    def __init__(self, address: str, system: pafs.FileSystem, root: str) -> None:
        self._address = address
        self._system = system
        self._root = root

    def __str__(self) -> str:
        return self._address.partition("?")[0].rstrip("/")

    def exists(self) -> bool:
        """See :class:`ArchivePlace`."""
        return bool(self._system.get_file_info(self._root).type == pafs.FileType.Directory)

    def files(self) -> Iterator[tuple[str, int]]:
        """See :class:`ArchivePlace`."""
        for info in self._system.get_file_info(pafs.FileSelector(self._root, allow_not_found=True, recursive=True)):
            if info.type == pafs.FileType.File:
                yield info.path.removeprefix(f"{self._root}/"), info.size

    def write(self, path: str, content: pa.Buffer) -> None:
        """See :class:`ArchivePlace`."""
        target = f"{self._root}/{path}"
        # fsspec's systems may show a file while it is written.
        renamed = isinstance(self._system, pafs.PyFileSystem)
        name = f"{target}.tmp" if renamed else target
        if renamed:
            self._system.create_dir(target.rpartition("/")[0], recursive=True)
        with self._system.open_output_stream(name) as stream:
            stream.write(content)
        if renamed:
            self._system.move(name, target)

    def open(self, path: str) -> pa.NativeFile:
        """See :class:`ArchivePlace`."""
        return self._system.open_input_file(f"{self._root}/{path}")
