"""Check a figure that a claim gives to a field by its name ("a mean of 34.5") against that field."""

import re
from collections.abc import Iterator, Sequence

from workers.evaluation.text.words import stem
from workers.evaluation.tools.results.tool_results import Located, ToolResults
from workers.evaluation.tools.tool_figures import KEY_UNITS, Figure, has_value, key_words

_ALIASES = {
    ("50%",): ("median",), ("p50",): ("median",), ("25%",): ("first quartile", "lower quartile"), ("75%",): ("third quartile", "upper quartile"),
    ("std",): ("standard deviation",), ("min",): ("minimum", "lowest value"), ("max",): ("maximum", "highest value"),
    ("avg",): ("average", "mean"), ("mean",): ("average", "mean"), ("count",): ("count",),
}  # fmt: skip
"""Names of fields that programs abbreviate."""

_LINK = re.compile(
    r"(?:^|[^\w])(?P<name>[\w-]+(?:\s[\w-]+)?)\s(?:of|is|was|are|were|at|stands at)\s(?:only\s|just\s|exactly\s|about\s|around\s)?[$€£]?$",
    re.IGNORECASE,
)


def has_another_key(claim: str, figures: Sequence[Located], results: ToolResults) -> bool:
    """Return true if a figure stands in another field than the one whose name stands before it.

    Args:
        claim: plain text.
        figures: figures of the claim.
        results: the results of the answer's tools; only records that stand alone count, not rows of a list.
    """
    single = [each for each in results.stated if len(results.tables[next(iter(each.rows))[0]].rows) == 1]
    for each in figures:
        link = _LINK.search(claim[: each.start])
        if link is None or not any(source in single for source in each.sources if source.operation == "stated"):
            continue
        meant = list(_named(link["name"], single))
        if meant and not any(has_value(field, each.quantity) for field in meant):
            return True
    return False


def _named(words: str, fields: Sequence[Figure]) -> Iterator[Figure]:
    """Yield the fields whose name, or whose name's last word, stands at the end of some words."""
    told = [stem(word) for word in re.findall(r"\w+", words.casefold())]
    for field in fields:
        names = _ALIASES.get((field.path[-1].casefold(),)) if field.path else None
        keys = (
            [name.split() for name in names]
            if names
            else [[word for word in key_words(field.path[-1:]) if word not in KEY_UNITS]]
        )
        if told and any(key and stem(key[-1]) == told[-1] for key in keys):
            yield field
