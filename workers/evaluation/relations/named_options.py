"""Compare what is said of an option, setting or code with the sentences on it: "--dry-run" is not "--force"."""

import re
from collections.abc import Sequence

from workers.evaluation.text.words import content_words

MAX_TEXT = 300
"""Longest claim, question and sentence that are read, code points."""

_NAME = re.compile(r"(?<![\w-])(?:--?[a-z][\w-]+|[A-Za-z]+(?:_[A-Za-z0-9]+)+|[a-z]\w*\(\))")
"""Options of commands, names with underscores and functions."""

_GOES_ON = re.compile(r"\W*(?:it|its|they|their|this|these|that|those)\b", re.IGNORECASE)
_ASKS_MORE = re.compile(r"\band\s|;|\?.*\?", re.IGNORECASE | re.DOTALL)
"""A question that asks for something beside the option."""


def is_option_right(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return false if a claim on one option has words of the sentence on another one, and none that only its own has.

    Args:
        claim: the claim, or the short answer.
        question: the question, which may name the option.
        sentences: the evidence, those of one source in order.
    """
    claim, question = claim[:MAX_TEXT], question[:MAX_TEXT]
    named = set(_NAME.findall(claim))
    if not named and not _ASKS_MORE.search(question):
        named = set(_NAME.findall(question))
    if len(named) != 1:
        return None
    words = content_words(_NAME.sub(" ", claim)) - content_words(question)
    own, others, last = set[str](), set[str](), set[str]()
    for sentence in sentences:
        # A sentence that begins with a pronoun goes on with the one before it.
        last = set(_NAME.findall(sentence[:MAX_TEXT])) or (last if _GOES_ON.match(sentence) else set())
        if last:
            (own if named <= last else others).update(content_words(_NAME.sub(" ", sentence[:MAX_TEXT])))
    return False if own and words & (others - own) and not words & (own - others) else None
