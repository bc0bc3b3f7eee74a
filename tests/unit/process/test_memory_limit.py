"""The memory limit of a container, from the files of both versions of control groups."""

from pathlib import Path

import pytest

from workers.process.memory_limit import memory_limit


@pytest.mark.parametrize(
    ("contents", "limit"),
    [
        (["1073741824\n"], 1_073_741_824),
        ([None, "3221225472\n"], 3_221_225_472),
        (["max\n"], None),
        ([None, "9223372036854771712\n"], None),
        ([None, None], None),
    ],
)
def test_the_limit_is_that_of_the_control_group(tmp_path: Path, contents: list[str | None], limit: int | None) -> None:
    files = [tmp_path / str(number) for number in range(len(contents))]
    for file, content in zip(files, contents, strict=True):
        if content is not None:
            file.write_text(content)
    assert memory_limit(files) == limit
