"""Write files with texts of answers, which only their owner can read."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import BinaryIO, cast


def open_private(path: Path) -> BinaryIO:
    """Open an empty file that only its owner can read, also if it existed with other rights.

    Pipes and devices keep their rights.

    Raises:
        OSError: the file cannot be written, or belongs to another user.
    """
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        if stat.S_ISREG(os.fstat(handle).st_mode):
            os.fchmod(handle, 0o600)
        return os.fdopen(handle, "wb")
    except BaseException:
        os.close(handle)
        raise


@contextmanager
def complete_file(path: Path) -> Iterator[BinaryIO]:
    """Write a file that only its owner can read, beside its place; move it there once it is complete.

    A failure leaves the place as it was. Pipes and devices are written directly.

    Raises:
        OSError: the folder or the file cannot be written.
    """
    if path.exists() and not path.is_file():
        with open_private(path) as target:
            yield target
        return
    path = path.resolve()
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name[:100]}.", delete=False) as beside:
        try:
            yield cast(BinaryIO, beside)
            beside.close()
            Path(beside.name).replace(path)
        except BaseException:
            Path(beside.name).unlink()
            raise
