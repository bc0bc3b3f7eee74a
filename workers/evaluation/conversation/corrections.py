"""Read what an English query corrects itself to ("No, I meant the York office."), and the topic that a turn announces."""

import re

_START = r"^\W*(?:(?:no|nope|sorry|oh|ah|wait|oops|actually|hm+|well|pardon|my\s+(?:mistake|bad)|but)[\s,.!–—-]+)*"
_END = r"(?P<phrase>(?!(?:that|to|what|how|whether|if|when|where|why|you|it|this)\b)[^,;.?!]{2,60}?)"
_OTHER = r"(?:[\s,–—-]+(?:not|instead|rather|rather\s+than|and\s+not|please)\b[^?!.]{0,60})?[.?!\s]*$"
_CORRECTIONS = tuple(
    re.compile(f"{_START}{said}{_END}{_OTHER}", re.IGNORECASE)
    for said in (
        r"I\s+(?:actually\s+|really\s+)?(?:meant|mean|wanted|said|asked\s+(?:about|for)|was\s+(?:asking|talking)\s+about)\s+",
        r"(?:not|I\s+did(?:n['’]t|\s+not)\s+mean)\s+[^,;.?!]{1,40}[,;.]\s*(?:but\s+|I\s+meant\s+)?",
        r"make\s+that\s+",
    )
)
_TOPIC = re.compile(
    r"(?:something\s+else|(?:another|a\s+different|different|next|new)\s+(?:question|topic|thing)|(?:^|[.!?]\s+)(?:(?:and|now|so|what)\s+)*(?:about|regarding|as\s+for|on\s+to))\s*[:,–—-]?\s*"
    r"(?P<phrase>(?:the|my|our|your)\s[^.?!:,]{2,40})[.?!:\s]*$",
    re.IGNORECASE,
)
_VERB = re.compile(r"\b(?:is|are|was|were|has|have|had|does|do|did|can|will|would|costs?|works?)\b", re.IGNORECASE)


def corrected(asked: str) -> str:
    """Return the phrase that a correction puts in the place of an earlier one; empty for any other query."""
    found = next((match for pattern in _CORRECTIONS if (match := pattern.match(asked))), None)
    return "" if found is None or _VERB.search(found["phrase"]) else found["phrase"].strip()


def announced(said: str) -> str:
    """Return the topic that a turn announces or corrects to ("Something else: the pool."); empty without one."""
    if phrase := corrected(said):
        return phrase
    found = _TOPIC.search(said)
    return "" if found is None or _VERB.search(found["phrase"]) else found["phrase"].strip()
