"""Lines that a thread reads for an event loop: from files and pipes, in batches, and without waiting for the next."""

import asyncio
import os
from pathlib import Path

import pytest

from workers.errors import TouchstoneError
from workers.process.line_reader import BATCH_BYTES, BATCH_LINES, LineReader


async def all_batches(file: Path, limit: int = 1_000) -> list[list[tuple[int, bytes | None]]]:
    with LineReader(str(file), limit) as source:
        await source.first_line()
        return [batch async for batch in source.batches()]


@pytest.mark.parametrize("count", [0, 1, BATCH_LINES, 5 * BATCH_LINES + 1])
async def test_every_line_comes_once_in_order_and_in_bounded_batches(tmp_path: Path, count: int) -> None:
    lines = [f"line {number}\n".encode() for number in range(count)]
    (tmp_path / "lines").write_bytes(b"".join(lines))
    batches = await all_batches(tmp_path / "lines")
    assert [line for batch in batches for line in batch] == list(enumerate(lines, start=1))
    assert all(1 <= len(batch) <= BATCH_LINES for batch in batches)


async def test_a_batch_is_bounded_in_bytes(tmp_path: Path) -> None:
    line = b"x" * (BATCH_BYTES // 3) + b"\n"
    (tmp_path / "lines").write_bytes(line * 10)
    batches = await all_batches(tmp_path / "lines", BATCH_BYTES)
    assert sum(map(len, batches)) == 10 and max(map(len, batches)) <= 3


async def test_lines_beyond_the_bound_keep_their_number(tmp_path: Path) -> None:
    (tmp_path / "lines").write_bytes(b"a\n" + b"b" * 20 + b"\nc\n")
    assert await all_batches(tmp_path / "lines", 10) == [[(1, b"a\n"), (2, None), (3, b"c\n")]]


async def test_a_file_that_cannot_be_opened_is_named_before_its_first_line(tmp_path: Path) -> None:
    with LineReader(str(tmp_path / "none"), 10) as source, pytest.raises(TouchstoneError, match="none cannot be read"):
        await source.first_line()


async def test_what_was_read_before_the_damage_is_yielded(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(b"\x1f\x8bno gzip")
    with LineReader(str(tmp_path / "a.gz"), 10) as source, pytest.raises(TouchstoneError, match="damaged"):
        await source.first_line()


async def test_lines_of_a_pipe_do_not_wait_for_later_ones(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with LineReader(str(tmp_path / "pipe"), 1_000) as source:
        writer = await asyncio.to_thread(os.open, tmp_path / "pipe", os.O_WRONLY)
        try:
            batches = source.batches()
            for number in range(1, 4):
                os.write(writer, b"line\n")
                async with asyncio.timeout(60):
                    assert await anext(batches) == [(number, b"line\n")]
            assert (source.position, source.size) == (0, None)
            waiting = asyncio.create_task(anext(batches))  # type: ignore[arg-type]
            await asyncio.sleep(0)
            waiting.cancel()
            assert isinstance((await asyncio.gather(waiting, return_exceptions=True))[0], asyncio.CancelledError)
        finally:
            os.close(writer)
