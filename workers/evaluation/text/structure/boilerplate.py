"""Remove courtesies that open or close an answer and state nothing.

Courtesies are not measured, so that "I hope this helps!" does not make an answer longer, clearer or more complete.
"""

import re
from collections.abc import Sequence

from workers.evaluation.text.structure.segmentation import Sentence

MAX_COURTESY = 200
"""Length in code points above which a sentence is not a courtesy."""

_COURTESY = re.compile(
    r"^(?:sure|certainly|of course|absolutely|great question|good question|thanks?|thank you|hello|hi|hey|happy to help"
    r"|glad to help|no problem|you'?re welcome"
    r"|here(?:'s| is| are)\b.{0,80}\b(?:answer|summary|overview|response|information|explanation|steps?)"
    r"|below (?:is|are|you(?:'ll| will))\b"
    r"|(?:i )?hope (?:this|that|it)\b|(?:please )?(?:do )?let me know|feel free|(?:please )?do(?: not|n't) hesitate"
    r"|if you (?:have|need|want|would like) (?:any )?(?:more|further|other|additional|questions?|help)"
    r"|is there anything else|i(?:'m| am) (?:happy|glad|here) to (?:help|assist)|have a (?:nice|great|good)"
    r"|gerne|natürlich|selbstverständlich|danke|ich hoffe, (?:das|dies)|bei (?:weiteren )?fragen|melden sie sich"
    r"|bien sûr|merci|j'espère que|n'hésitez pas|si vous avez (?:d'autres )?questions"
    r"|claro|por supuesto|gracias|espero que|no dude|si tiene (?:más|alguna)"
    r"|com certeza|obrigad[oa]|fico à disposição|não hesite|se tiver"
    r"|certo|certamente|grazie|spero che|non esiti|se ha (?:altre|bisogno))\b",
    re.IGNORECASE,
)


def substance(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return the sentences without courtesies at either end; all sentences if only courtesies are present."""
    first, last = 0, len(sentences)
    while first < last and is_courtesy(sentences[first].text):
        first += 1
    while last > first and is_courtesy(sentences[last - 1].text):
        last -= 1
    return list(sentences[first:last]) or list(sentences)


def is_courtesy(text: str) -> bool:
    """Return true if a sentence is only a courtesy."""
    plain = text.replace("’", "'").lstrip("*_ ")
    return len(plain) <= MAX_COURTESY and bool(_COURTESY.match(plain)) and not any(c.isdigit() for c in plain)
