"""Find the sentences of a growing text whose ends no further text will move.

Usually a sentence is finished when the next one has begun. Four kinds of ends wait for more text:

1. After a single letter or a number of one or two digits ("O. Brekke", "am 3. Mai", "the U.S. Army") the end counts when
   another sentence has ended: the stop may belong to an initial, an abbreviation or an ordinal.
2. An open bracket may become a citation of the sentence before it ("It is blue. [2]").
3. The header of a table is read as such with its first row only, and a row although its header lies before the offset.
4. A heading, or a sentence with a colon ("These are open:"), states nothing alone; it is finished with what is below it.
"""

import re

from workers.evaluation.text.languages.language import guess_language
from workers.evaluation.text.structure.segmentation import segment

_UNSURE_STOP = re.compile(r"(?<![^\s(*_])(?:\d{1,2}|(?<!\d )(?:[^\W\d_]\.)*[^\W\d_])\.[*_]*[^\S\n]+\S")
_OPEN_BRACKET = re.compile(r"\s*[\[【][^\]】\n]*$")
_TABLE_HEADER = "|a|\n|-|"
"""Lines before a row of a table, which make a table of this row and the next ones."""


def finished_ends(text: str, start: int) -> list[int]:
    """Return the ends of the finished sentences behind an offset, in order.

    Args:
        text: the text so far.
        start: end of a finished sentence, or 0.
    """
    in_table = text[text.rfind("\n", 0, start) + 1 : start].lstrip().startswith("|")
    before = _TABLE_HEADER if in_table else ""
    ends = [
        end
        for sentence in segment(before + text[start:], guess_language(text))[:-1]
        if (end := start - len(before) + sentence.end) > start
        and not (sentence.block == "heading" or sentence.is_header)
        and not sentence.text.rstrip("*_").endswith((":", "："))
    ]
    if ends and _OPEN_BRACKET.match(text, ends[-1]):
        ends.pop()
    while ends and _is_unsure(text, ends[-1]):
        ends.pop()
    return ends


def _is_unsure(text: str, end: int) -> bool:
    """Return true if the stop at an end may belong to an initial, an abbreviation or an ordinal."""
    begin = max(0, end - 12)
    return any(
        begin + match.end() > end > begin + match.start() for match in _UNSURE_STOP.finditer(text[begin : end + 4])
    )
