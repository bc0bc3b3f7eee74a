"""The embedding model without a memory: here it is the subject."""

import pytest

from workers.inference.backends import PACKAGED_MODEL, SentenceTransformerBackend


@pytest.fixture(scope="session")
def backend() -> SentenceTransformerBackend:
    """The packaged embedding model, which runs for each text each time."""
    return SentenceTransformerBackend(PACKAGED_MODEL, threads=1)
