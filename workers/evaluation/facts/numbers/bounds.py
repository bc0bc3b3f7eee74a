"""Read the words before a number that make it approximate, a lower or an upper bound."""

import re

_APPROXIMATE = re.compile(
    r"(?:(?:~|≈)|(?<![^\W\d_])(?:about|around|approximately|approx\.?|roughly|nearly|almost|some|over|under|ca\.?|circa|etwa|rund|fast|environ"
    r"|more than|less than|at least|up to|at most|above|below|fewer than|no more than|no less than|(?:minimum|maximum) of))"
    r"\s*[$€£]?$",
    re.IGNORECASE,
)
_AT_LEAST = re.compile(
    r"(?<![^\W\d_])(?:over(?: the)?|(?<!no )more than|(?:deep|tall|long|heavi|high|larg|great|old|bigg|hott|fast|wid|thick|warm)er than|above|at least|exceed(?:s|ed|ing)?|no (?:less|fewer) than|(?:a )?minimum of|mindestens|über|plus de|au moins)"
    r"\s*[$€£]?$",
    re.IGNORECASE,
)
_AT_MOST = re.compile(
    r"(?<![^\W\d_])(?:under(?: the)?|(?<!no )less than|(?<!no )fewer than|(?:short|small|low|light|young|cheap|slow|cold|shallow|thinn|narrow)er than|below|at most|up to|no more than|(?:a )?maximum of|höchstens|unter|moins de|au plus|(?:limited|restricted|capped) (?:to|at)|(?:begrenzt|beschränkt|limitiert) auf|(?:limité|limitée|limités|limitées|limitado|limitada|limitados|limitadas|limitato|limitata) (?:à|a)|bis zu|jusqu['’]à|hasta|até|fino a)"
    r"\s*[$€£]?$",
    re.IGNORECASE,
)
_CAPPED = re.compile(r"[\d.,]+\s(?:[^\W\d_]+\s){0,2}(?:begrenzt|beschränkt|limitiert|gedeckelt)\b", re.IGNORECASE)
"""A number after "auf" that is a maximum: "auf 6 Bücher begrenzt"."""
_RESULT = re.compile(r"\b(?:add(?:s|ed|ing)?|com(?:e|es|ing)|came) up to\s*[$€£]?$", re.IGNORECASE)
"""Words of a sum, which "up to" does not limit: "they add up to 35 km"."""
_SPAN = re.compile(r"[\w-]+ (?:second|minute|hour|day|night|week|month|quarter|year)s\b", re.IGNORECASE)
"""A number of days or the like that a total is taken over: "over the three months"."""
_DENIED = re.compile(
    r"(?:\b(?:not|never|cannot)|n['’]t)\s(?:(?:(?!(?:for|in|since|because|only|just)\b)[^\W\d_]+\s){0,2}?(?:exceed(?:ed|ing)?|(?:more|less|fewer|[^\W\d_]{3,}er) than)"
    r"|(?:be )?(?:over|above|under|below))\s*[$€£]?$",
    re.IGNORECASE,
)
"""Words that turn a bound round: "must not exceed", "cannot weigh less than"."""

_FORBIDS = r"\b(?:(?:never|do not|don['’]t|avoid|mustn['’]t|shouldn['’]t|(?:must|may|shall|should) (?:not|never))\s(?!need|have|worry|pay|exceed))"
_OF_CASE = r"\b(?:if|when|while|where|once|whenever|as long as)\s[^.;:!?,]{1,60}$"
_FORBIDDEN_CASE = re.compile(rf"{_FORBIDS}[^.;:!?]{{1,80}}{_OF_CASE}", re.IGNORECASE)
_CASE = re.compile(_OF_CASE, re.IGNORECASE)
_IS_FORBIDDEN = re.compile(rf"[^.;:!?,]{{0,40}},\s[^.;:!?,]{{0,20}}{_FORBIDS}", re.IGNORECASE)
MAX_CASE = 200
"""Code points before a number in which the instruction may stand that forbids something in its case."""


def is_approximate(before: str) -> bool:
    """Return true if "about" or the like, or a word of a bound, ends the text before a number."""
    return bool(_APPROXIMATE.search(before)) and not _RESULT.search(before)


def bound_of(text: str, start: int) -> int:
    """Return 1 if the words before a place in a text make a number there a minimum, -1 for a maximum, else 0.

    A limit beyond which something is forbidden bounds nothing: "Never switch while the lag exceeds 16 MB" is followed by
    those who keep the lag below 16 MB.
    """
    side = _side(text, start)
    return 0 if side and _is_of_forbidden_case(text, start) else side


def forbidden_side(text: str, start: int) -> int:
    """Return 1 if an instruction forbids something above the number at a place in a text, -1 for below, else 0."""
    side = _side(text, start)
    return side if side and _is_of_forbidden_case(text, start) else 0


def _side(text: str, start: int) -> int:
    before = text[max(0, start - 40) : start].rstrip() + " "
    if _RESULT.search(before) or (before.endswith("ver the ") and _SPAN.match(text, start)):
        return 0
    side = 1 if _AT_LEAST.search(before) else -1 if _AT_MOST.search(before) else 0
    if not side and before.endswith("auf ") and _CAPPED.match(text, start):
        side = -1
    return -side if side and _DENIED.search(before) else side


def _is_of_forbidden_case(text: str, start: int) -> bool:
    before = text[max(0, start - MAX_CASE) : start]
    return bool(_FORBIDDEN_CASE.search(before)) or (
        bool(_CASE.search(before)) and bool(_IS_FORBIDDEN.match(text, start))
    )
