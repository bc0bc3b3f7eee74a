"""Decompress record batches with a bound on the result.

aiokafka decompresses a batch as a whole, whatever its size is then: 18 kB of zstd can contain 600 MB. This module
replaces the decoders in aiokafka's modules. A batch beyond the bound is never decompressed further.
"""

import gzip
import io
import mmap
import struct
from collections.abc import Callable
from types import ModuleType
from typing import Any

import aiokafka.record.default_records
import aiokafka.record.legacy_records
import cramjam

DEFAULT_MAX_BYTES = 32_000_000
"""Bound that is used where no setting says otherwise."""

XERIAL_HEADER = b"\x82SNAPPY\x00"
"""First bytes of snappy in blocks, as the Java client and aiokafka write it."""

XERIAL_HEADER_BYTES = 16

_BlockSize = struct.Struct(">i")

_NO_ROOM = "failed to write whole buffer"
"""Message of cramjam when the result does not fit into the given buffer."""


class BatchTooLarge(Exception):
    """Report that a batch has more bytes after decompression than the bound allows."""


class BoundedDecoders:
    """Decode the compressed content of batches up to a bound.

    Args:
        max_bytes: maximum size of a batch after decompression.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes

    def gzip(self, content: Any) -> bytes:
        """Decode gzip, also of several members."""
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as packed:
            plain = packed.read(self.max_bytes + 1)
        if len(plain) > self.max_bytes:
            raise BatchTooLarge
        return plain

    def lz4(self, content: Any) -> bytes:
        """Decode frames of lz4."""
        return self._into_buffer(cramjam.lz4.decompress_into, content)

    def zstd(self, content: Any) -> bytes:
        """Decode frames of zstd."""
        return self._into_buffer(cramjam.zstd.decompress_into, content)

    def snappy(self, content: Any) -> bytes:
        """Decode snappy, raw or in blocks. A block claims its size, and the decoder accepts no other."""
        blocks = _snappy_blocks(bytes(content))
        if sum(cramjam.snappy.decompress_raw_len(block) for block in blocks) > self.max_bytes:
            raise BatchTooLarge
        return b"".join(bytes(cramjam.snappy.decompress_raw(block)) for block in blocks)

    def _into_buffer(self, decode: Callable[[Any, Any], int], content: Any) -> bytes:
        # The system provides a page of the map only once it is written, so a small batch takes little memory.
        with mmap.mmap(-1, self.max_bytes) as room:
            try:
                return room[: decode(bytes(content), room)]
            except cramjam.DecompressionError as error:
                if str(error) == _NO_ROOM:
                    raise BatchTooLarge from None
                raise


def install(max_bytes: int) -> None:
    """Replace aiokafka's decoders in this process. Repeated calls are safe; the last bound applies."""
    decoders = BoundedDecoders(max_bytes)
    for module in _modules():
        for codec in ("gzip", "lz4", "snappy", "zstd"):
            if hasattr(module, f"{codec}_decode"):
                setattr(module, f"{codec}_decode", getattr(decoders, codec))


def _modules() -> list[ModuleType]:
    modules = [aiokafka.record.default_records, aiokafka.record.legacy_records]
    try:
        from aiokafka.record._crecords import default_records, legacy_records
    except ImportError:  # pragma: no cover  # aiokafka without its compiled modules
        return modules
    return [*modules, default_records, legacy_records]


def _snappy_blocks(content: bytes) -> list[bytes]:
    if not content.startswith(XERIAL_HEADER):
        return [content]
    blocks, position = [], XERIAL_HEADER_BYTES
    while position < len(content):
        (size,) = _BlockSize.unpack_from(content, position)
        position += _BlockSize.size
        if size < 0:
            raise ValueError("a block of snappy has a negative size")
        blocks.append(content[position : position + size])
        position += size
    return blocks
