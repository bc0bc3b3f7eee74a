"""Compressed request bodies come out whole, bounded, or not at all."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

import lz4.frame
import pytest
from backports import zstd

from workers.local.bodies import DamagedBodyError, TooLargeError, UnknownEncodingError, decoded

LIMIT = 1024 * 1024
COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "zstd": zstd.compress,
    "lz4": lz4.frame.compress,
}
encodings = pytest.mark.parametrize("encoding", COMPRESSORS)


@encodings
def test_frames_that_follow_one_another_are_joined(encoding: str) -> None:
    compress = COMPRESSORS[encoding]
    parts = [b"first " * 1000, b"", b"second " * 1000]
    body = b"".join(compress(part) for part in parts)
    assert decoded(body, encoding, LIMIT) == b"".join(parts)


@encodings
def test_small_body_that_grows_beyond_the_limit_is_refused(encoding: str) -> None:
    body = COMPRESSORS[encoding](bytes(64 * LIMIT))
    assert len(body) < LIMIT
    with pytest.raises(TooLargeError):
        decoded(body, encoding, LIMIT)


@encodings
def test_content_of_exactly_the_limit_is_accepted(encoding: str) -> None:
    assert len(decoded(COMPRESSORS[encoding](bytes(LIMIT)), encoding, LIMIT)) == LIMIT


@encodings
def test_body_cut_short_is_refused_rather_than_taken_in_part(encoding: str) -> None:
    body = COMPRESSORS[encoding](bytes(range(256)) * 1000)
    with pytest.raises(DamagedBodyError):
        decoded(body[:-5], encoding, LIMIT)


@encodings
def test_garbage_is_refused(encoding: str) -> None:
    with pytest.raises(DamagedBodyError):
        decoded(b"this is not compressed at all", encoding, LIMIT)


@pytest.mark.parametrize("encoding", [None, "", "identity"])
def test_plain_body_is_left_alone_and_bounded(encoding: str | None) -> None:
    assert decoded(b"abc", encoding, LIMIT) == b"abc"
    with pytest.raises(TooLargeError):
        decoded(bytes(LIMIT + 1), encoding, LIMIT)


def test_unknown_encoding_is_named() -> None:
    with pytest.raises(UnknownEncodingError, match="br"):
        decoded(b"abc", "br", LIMIT)
