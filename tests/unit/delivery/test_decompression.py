"""Batches of records are decompressed up to a bound, with every codec."""

import gzip
import os
import zlib
from collections.abc import Callable
from pathlib import Path

import cramjam
import pytest
from aiokafka.codec import gzip_encode, lz4_encode, snappy_encode, zstd_encode
from aiokafka.record._crecords.legacy_records import LegacyRecordBatchBuilder

from tests.harness.raw_records import CODECS, batch
from workers.delivery.consumption import decompression
from workers.delivery.consumption.decompression import BatchTooLarge, BoundedDecoders
from workers.delivery.consumption.fetching import TolerantRecords, install, refusal_of

LIMIT = 1_000_000
ENCODE = {
    "gzip": gzip_encode,
    "lz4": lz4_encode,
    "zstd": zstd_encode,
    "snappy": snappy_encode,
    "snappy raw": lambda content: snappy_encode(content, xerial_compatible=False),
}
CODEC = pytest.mark.parametrize("codec", ENCODE)


@pytest.fixture(autouse=True)
def low_bound() -> object:
    install(LIMIT)
    yield
    install(decompression.DEFAULT_MAX_BYTES)


def decode(codec: str, content: bytes) -> bytes:
    return getattr(BoundedDecoders(LIMIT), codec.split()[0])(content)


@CODEC
@pytest.mark.parametrize("size", [0, 1, 40_000, LIMIT])
def test_content_within_the_bound_is_decoded(codec: str, size: int) -> None:
    plain = os.urandom(size // 2) + bytes(size - size // 2)
    assert decode(codec, ENCODE[codec](plain)) == plain


@CODEC
@pytest.mark.parametrize("size", [LIMIT + 1, 50 * LIMIT])
def test_content_beyond_the_bound_is_not_decoded(codec: str, size: int) -> None:
    with pytest.raises(BatchTooLarge):
        decode(codec, ENCODE[codec](bytes(size)))


@CODEC
def test_damaged_content_is_damaged_and_not_large(codec: str) -> None:
    packed = bytes(ENCODE[codec](os.urandom(5_000)))
    for damaged in (packed[:-100], packed[:3], b"rubbish" * 5):
        with pytest.raises((cramjam.DecompressionError, OSError, EOFError, zlib.error, ValueError)):
            decode(codec, damaged)


def test_several_members_count_together() -> None:
    member = gzip.compress(bytes(LIMIT // 2))
    assert decode("gzip", member * 2) == bytes(LIMIT)
    with pytest.raises(BatchTooLarge):
        decode("gzip", member * 2 + gzip.compress(b"x"))


def peak_growth(action: Callable[[], object]) -> int:
    """Bytes by which the resident memory of this process exceeds, at its peak, what it was before."""

    def resident(name: str) -> int:
        status = Path("/proc/self/status").read_text()
        return 1024 * int(next(line.split()[1] for line in status.splitlines() if line.startswith(name)))

    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from now on
    before = resident("VmRSS")
    action()
    return resident("VmHWM") - before


def test_a_bomb_takes_no_more_memory_than_the_bound() -> None:
    bomb = batch([(bytes(300_000_000), [])], "zstd")
    assert len(bomb) < 20_000
    assert peak_growth(lambda: list(TolerantRecords(bomb).next_batch())) < 10 * LIMIT


def test_a_small_batch_takes_little_memory_however_high_the_bound_is() -> None:
    packed = zstd_encode(bytes(10_000))
    decoders = BoundedDecoders(500_000_000)
    assert peak_growth(lambda: [decoders.zstd(packed) for _ in range(20)]) < 20_000_000


@pytest.mark.parametrize("codec", [codec for codec in CODECS if codec != "none"])
def test_a_batch_beyond_the_bound_is_one_record_that_says_so_and_the_next_one_is_read(codec: str) -> None:
    large = batch([(b"first", []), (bytes(LIMIT), []), (b"third", [])], codec)
    records = TolerantRecords(large + batch([(b"after", [])], codec))
    [refused] = list(records.next_batch())
    assert (refused.offset, refused.key, refused.value) == (2, None, None)
    reason = refusal_of(refused.headers)
    assert reason is not None
    assert f"the batch of offsets 0 to 2 has {len(large)} bytes and more than 1000000 after decompression" in reason
    assert "TOUCHSTONE_KAFKA__MAX_BATCH_BYTES" in reason
    assert [record.value for record in records.next_batch()] == [b"after"]


@pytest.mark.parametrize(("magic", "codec"), [(0, "gzip"), (0, "snappy"), (1, "gzip"), (1, "snappy"), (1, "lz4")])
def test_a_batch_of_an_earlier_format_is_bounded_too(magic: int, codec: str) -> None:
    builder = LegacyRecordBatchBuilder(magic, CODECS[codec], 10 * LIMIT)
    builder.append(0, timestamp=1, key=None, value=bytes(LIMIT))
    [refused] = list(TolerantRecords(bytes(builder.build())).next_batch())
    assert refusal_of(refused.headers) is not None


def test_no_header_of_a_record_can_say_it() -> None:
    [record] = list(TolerantRecords(batch([(b"x", [(b"the batch of offsets", b"")])])).next_batch())
    assert refusal_of(record.headers) is None
