"""Decompress HTTP request bodies, with a bound on the decompressed size."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable
from typing import Protocol, cast

import lz4.frame

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_CHUNK_BYTES = 4 * 1024 * 1024


class UnknownEncodingError(ValueError):
    """The body has a Content-Encoding other than lz4, zstd, gzip or deflate."""


class DamagedBodyError(ValueError):
    """The body does not match its Content-Encoding, or is incomplete."""


class TooLargeError(ValueError):
    """The decompressed body exceeds the limit."""


class _Decompressor(Protocol):
    """The common interface of lz4's and zstd's decompressors."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes | None: ...
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


class _Zlib:
    """zlib's decompressor with the interface of the other two."""

    def __init__(self, window_bits: int) -> None:
        self._inner = zlib.decompressobj(window_bits)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max(max_length, 0))


_DECOMPRESSORS: dict[str, Callable[[], _Decompressor]] = {
    "lz4": lambda: cast(_Decompressor, lz4.frame.LZ4FrameDecompressor()),
    "zstd": lambda: cast(_Decompressor, zstd.ZstdDecompressor()),
    "gzip": lambda: _Zlib(31),
    "deflate": lambda: _Zlib(15),
}


def decoded(body: bytes, encoding: str | None, limit_bytes: int) -> bytes:
    """Return the body without its Content-Encoding.

    A client may compress each block separately, so the body may contain several frames.

    Raises:
        UnknownEncodingError: the encoding is not supported.
        DamagedBodyError: the body does not match its encoding, or is incomplete.
        TooLargeError: the decompressed body exceeds the limit.
    """
    name = (encoding or "identity").strip().lower()
    if name == "identity" or not body:
        if len(body) > limit_bytes:
            raise TooLargeError
        return body
    make = _DECOMPRESSORS.get(name)
    if make is None:
        raise UnknownEncodingError(name)
    plain = bytearray()
    rest: bytes = body
    try:
        while rest:
            rest = _decode_frame(make(), rest, plain, limit_bytes)
    except (zlib.error, zstd.ZstdError, RuntimeError, EOFError) as error:
        raise DamagedBodyError(str(error)) from error
    return bytes(plain)


def _decode_frame(decompressor: _Decompressor, data: bytes, plain: bytearray, limit_bytes: int) -> bytes:
    """Append one frame's content to `plain` and return the bytes after the frame.

    Raises:
        DamagedBodyError: the frame is incomplete.
        TooLargeError: the content exceeds `limit_bytes`.
    """
    while not decompressor.eof:
        chunk = decompressor.decompress(data, max_length=_CHUNK_BYTES)
        plain += chunk
        if len(plain) > limit_bytes:
            raise TooLargeError
        data = b""
        if not chunk and not decompressor.eof and decompressor.needs_input:
            raise DamagedBodyError("the last frame is cut short")
    return decompressor.unused_data or b""
