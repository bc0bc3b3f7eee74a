"""Define the settings of the quality evaluator."""

from pathlib import Path
from typing import Any

from pydantic import (
    field_validator,
)

from workers.evaluation.text.pattern_packs import SHIPPED, parse_pack
from workers.evaluation.thresholds import QualityThresholds


class QualitySettings(QualityThresholds):
    """Define thresholds of quality; pattern packs are given by name or path and are read once."""

    @field_validator("packs", mode="before")
    @classmethod
    def _read_packs(cls, packs: object) -> object:
        return tuple(_pack(pack) for pack in packs) if isinstance(packs, list | tuple) else packs


MAX_PACK_BYTES = 1_000_000
"""Maximum size of a pattern pack's file, bytes."""


def _pack(pack: Any) -> Any:
    """Load a shipped pack by its name, or a pack from a file.

    Raises:
        ValueError: neither exists; the message names the pack.
    """
    if not isinstance(pack, str):
        return pack
    if pack in SHIPPED:
        return SHIPPED[pack]
    try:
        content = Path(pack).read_bytes()
    except OSError as error:
        raise ValueError(f"{pack}: {error.strerror}; use a path or a shipped pack: {', '.join(SHIPPED)}") from None
    if len(content) > MAX_PACK_BYTES:
        raise ValueError(f"{pack}: a pattern pack must have at most {MAX_PACK_BYTES} bytes")
    return parse_pack(content, pack)
