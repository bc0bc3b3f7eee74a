"""Folders that tests read; a test file may move without a change to them."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The repository."""

DATA = ROOT / "tests" / "data"
"""Inputs and expected outputs of tests."""
