"""Compare values with those that follow from a stated difference: "12,400 in 2020, 800 more than in 2010"."""

import re
from collections.abc import Iterator, Sequence

from workers.evaluation.facts.calculation.arithmetic import same_dimension
from workers.evaluation.facts.text_details import read_details
from workers.evaluation.text.prefilter import PrefilteredPattern
from workers.evaluation.text.words import content_words, kept_for_sentences, key_of

MAX_TEXT = 300
"""Longest claim, question and sentence that are read, code points."""

_FIGURE = r"[$€£]?\d[\d.,]*\d|[$€£]?\d"
_DIFFERENCE = PrefilteredPattern(
    rf"(?P<value>{_FIGURE})(?P<between>[^.;\d]{{0,40}}?(?:\bin (?:1\d{{3}}|20\d\d)\b)?[^.;\d]{{0,20}}?)[,(]\s?(?:which is |that is |about )?"
    rf"(?P<difference>{_FIGURE})(?P<unit>[^.;\d]{{0,20}}?)\s(?P<side>more|fewer|less|higher|lower) than (?P<other>(?:in |on |at |the |a |last )[^.;,]{{2,30}})",
    re.IGNORECASE,
)
_LESS = frozenset(("fewer", "less", "lower"))


def is_value_before_right(claim: str, question: str, sentences: Sequence[str]) -> bool | None:
    """Return whether a claim has the value from which the evidence states the difference.

    Args:
        claim: the claim, or the short answer.
        question: the question, if the claim answers it; else an empty text.
        sentences: the evidence.

    Returns:
        ``None`` unless the claim names the time or thing that the evidence compares with and has one figure.
    """
    told = content_words(claim[:MAX_TEXT]) | content_words(question[:MAX_TEXT])
    figures = [figure.values[0] for figure in read_details(claim[:MAX_TEXT]).quantities]
    if len(figures) != 1:
        return None
    for sentence in sentences:
        for other, here, value, right, wrong in _read(sentence):
            if other <= told and not here & told and figures[0] in (value, right, wrong):
                return figures[0] == right
    return None


@kept_for_sentences
def _read(sentence: str) -> tuple[tuple[frozenset[str], frozenset[str], float, float, float], ...]:
    return tuple(_differences(sentence[:MAX_TEXT]))


def _differences(sentence: str) -> Iterator[tuple[frozenset[str], frozenset[str], float, float, float]]:
    """Yield what is compared with, the times of the value itself, the value, and the right and wrong other values."""
    for match in _DIFFERENCE.finditer(sentence):
        values = read_details(match["value"] + match["between"].split(" in ")[0]).quantities
        differences = read_details(match["difference"] + match["unit"]).quantities
        if len(values) != 1 or len(differences) != 1 or differences[0].dimension == "percent":
            continue
        if differences[0].is_unit and not same_dimension(values[0].dimension, differences[0].dimension):
            continue
        value, difference = values[0].values[0], differences[0].values[0]
        sign = 1.0 if key_of(match["side"]) in _LESS else -1.0
        other = content_words(match["other"])
        here = frozenset(re.findall(r"\b(?:1\d{3}|20\d\d)\b", sentence[: match.start("difference")])) - other
        yield other, here, value, value + sign * difference, value - sign * difference
