"""Examine the place of conversational memory."""

import os
import shutil
from pathlib import Path
from tempfile import TemporaryFile

from workers.doctor.findings import Finding, failure, ok, warning
from workers.settings import Settings

MIN_FREE_BYTES = 1_000_000_000

REMEDY = "correct TOUCHSTONE_MEMORY__URI, or the credentials or rights of this user"


async def examine_memory(settings: Settings) -> list[Finding]:
    """Open the memory, and check that a folder can be written; nothing stays there."""
    uri = settings.memory_uri
    if "://" not in uri:
        return _folder(Path(uri))
    # Deferred: importing LanceDB takes a second.
    from lancedb import connect_async

    try:
        tables = await (await connect_async(uri)).table_names()
    except (OSError, RuntimeError, ValueError) as error:
        return [failure("memory", f"{uri} cannot be opened ({type(error).__name__})", REMEDY)]
    return [ok("memory", f"{uri} has {len(tables)} tables")]


def _folder(path: Path) -> list[Finding]:
    try:
        # A folder above that this user may not enter is an error here.
        there = next(each for each in (path.absolute(), *path.absolute().parents) if each.exists())
        if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
            raise PermissionError
        with TemporaryFile(dir=there):
            free = shutil.disk_usage(there).free
    except OSError as error:
        return [failure("memory", f"{path} cannot be written ({type(error).__name__})", REMEDY)]
    if free < MIN_FREE_BYTES:
        text = f"{path} has {free // 1_000_000} MB left"
        return [warning("memory", text, "give the disk more room, or set TOUCHSTONE_MEMORY__URI to another place")]
    return [ok("memory", f"{path} can be written")]
