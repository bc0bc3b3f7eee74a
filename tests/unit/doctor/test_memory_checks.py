"""A folder of memory that cannot even be looked for is a finding, and no end of the examination."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from workers.doctor.memory_checks import examine_memory
from workers.settings import MemorySettings, Settings

NOBODY = 65_534


@contextmanager
def as_a_user() -> Iterator[None]:
    """Give up the rights of an administrator, who may look into every folder."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(user)


@pytest.mark.parametrize("name", ["x" * 300, "closed/memory"])
async def test_a_place_that_cannot_be_looked_at_is_a_failure(tmp_path: Path, name: str) -> None:
    (tmp_path / "closed").mkdir(mode=0o000)
    settings = Settings(_env_file=None, memory=MemorySettings(uri=str(tmp_path / name)))
    with as_a_user():
        (found,) = await examine_memory(settings)
    assert found.status == "failure"
    assert "cannot be written" in found.text
