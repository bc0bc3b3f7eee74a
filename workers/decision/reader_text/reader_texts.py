"""Choose the texts that readers get beside an answer or in its place: by its language, unless settings replace them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, NamedTuple

from pydantic import AfterValidator

from schemas.base import RiskLevel
from schemas.review import ReaderNotices
from workers.decision.reader_text.texts_by_language import TEXTS
from workers.evaluation.text.languages.language import known_language

EVERY_LANGUAGE = "*"
"""Key of the texts of settings for all languages."""
MAX_TEXT = 2_000
"""Maximum length of a text of the settings, code points."""
REPLACEABLE = ("note", "warning", "fallback", "held", "rejected", "withdrawn", "said_before")
"""Names of the texts that settings may replace; the others have places for values."""
SHORT = 20
"""Answers of fewer code points show too little of their language; that of the question counts."""


class ReaderTexts(NamedTuple):
    """Hold the texts of one language.

    Attributes:
        note: disclaimer of an answer with a warning and no high risk.
        warning: disclaimer of an answer with a high risk.
        fallback: text in place of an answer without evidence.
        held: text in place of an answer that waits for a reviewer, where a gateway must show one.
        rejected: text in place of a rejected answer.
        withdrawn: text in place of a withdrawn answer.
        disagree: note on two sources, with ``one`` and ``other``.
        says: a source with ``number`` and ``text``.
        otherwise: note on an earlier answer, with its ``text``.
        said_before: note on statements that only an earlier turn has.
        dangling: note on references without a source, with their ``markers``.
    """

    note: str
    warning: str
    fallback: str
    held: str
    rejected: str
    withdrawn: str
    disagree: str
    says: str
    otherwise: str
    said_before: str
    dangling: str

    def disclaimer(self, risk: RiskLevel | None) -> str:
        """Return the disclaimer of a risk level as a quotation below an answer; empty at low and unknown risk."""
        text = {"medium": self.note, "high": self.warning}.get(risk or "", "")
        return as_note(text) if text else ""

    def notices(self, risk: RiskLevel | None) -> ReaderNotices:
        """Return the texts that a decision on an answer of this risk may show."""
        warning = self.disclaimer("high" if risk == "high" else "medium")
        return ReaderNotices(warning=warning, rejected=self.rejected, withdrawn=self.withdrawn)


ENGLISH = ReaderTexts(**TEXTS["en"])
NO_CHANGES: Mapping[str, Mapping[str, str]] = MappingProxyType({})


def as_note(text: str) -> str:
    """Return a text as a quotation that is a paragraph of its own."""
    return f"\n\n> {text}\n"


def checked_texts(texts: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """Return the texts of settings by language and name.

    Raises:
        ValueError: a language or name is unknown, or a text is empty, too long or has several lines.
    """
    for language, named in texts.items():
        if language not in (*TEXTS, EVERY_LANGUAGE):
            known = ", ".join(TEXTS)
            raise ValueError(f"language {language!r} is unknown; use one of {known}, or * for all languages")
        for name, text in named.items():
            if name not in REPLACEABLE:
                raise ValueError(
                    f"text {name!r} of language {language!r} is unknown; use one of {', '.join(REPLACEABLE)}"
                )
            if not text.strip() or len(text) > MAX_TEXT or "\n" in text:
                raise ValueError(
                    f"text {name!r} of language {language!r} must be one line of 1 to {MAX_TEXT} characters"
                )
    return texts


TextsByLanguage = Annotated[dict[str, dict[str, str]], AfterValidator(checked_texts)]


def texts_for(answer: str, query: str = "", changes: Mapping[str, Mapping[str, str]] = NO_CHANGES) -> ReaderTexts:
    """Return the texts in the language of an answer; English for a language without texts.

    Args:
        answer: the answer.
        query: its question, which decides if the answer is too short to show a language.
        changes: texts of the settings by language and name; those of ``*`` hold for languages without their own.
    """
    return texts_of(known_language(answer if len(answer.strip()) >= SHORT else f"{answer} {query}"), changes)


def texts_of(language: str | None, changes: Mapping[str, Mapping[str, str]] = NO_CHANGES) -> ReaderTexts:
    """Return the texts of a language with the changes of the settings."""
    code = language if language is not None and language in TEXTS else "en"
    return ReaderTexts(**{**TEXTS[code], **changes.get(EVERY_LANGUAGE, {}), **changes.get(code, {})})
