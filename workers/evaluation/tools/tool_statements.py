"""Hold statements without figures against the fields of results: the value of a field, its denial, a name."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from babel import Locale

from schemas.grounding import Mismatch
from workers.evaluation.budget import spend
from workers.evaluation.contradictions.antonyms import POLES
from workers.evaluation.contradictions.denials import TO_BE_DONE
from workers.evaluation.text.words import content_words
from workers.evaluation.tools.results.tool_details import NEGATION
from workers.evaluation.tools.results.tool_results import PREFIX, TOKEN, Mention, ToolResults
from workers.evaluation.tools.results.tool_tables import Cell
from workers.evaluation.tools.tool_figures import key_words
from workers.evaluation.tools.tool_rows import REACH, rows_by_place

_COPULA = re.compile(r"\b(?:is|are|was|were)\b|:|=")
_COMPLEMENT = re.compile(r"[\s*_`\"“]*(?:(?:now|currently|still|listed as|set to|shown as)\s+)?([^.,;:()\n]{2,60})")
_DENIAL = re.compile(r"\b(?:not|never|no longer)\b|n['’]t\b", re.IGNORECASE)
MAX_COPIES = 3
"""Most rows with the names of a claim that count as one record, which several calls returned."""
AIRPORT = 3
"""Length of the code of an airport, which often begins the name of its city."""
_YES, _NO = frozenset(("true", "yes")), frozenset(("false", "no"))
_OUT_OF = re.compile(r"\bout of\b", re.IGNORECASE)
_EXCEPTED = re.compile(
    r"\b(?:except|apart from|other than|but not|unlike)(?: for)? [^,;.]*?(?=[,;.]|\b(?:is|are|was|were|has|have|can)\b|$)",
    re.IGNORECASE,
)
"""Rows of which a claim says the opposite: "all except D. Kim are open to remote work"."""
_SHORT_FORMS = {"y": "yes", "1": "yes", "n": "no", "0": "no"}
"""Values that say yes or no where a claim has the name of their field as its predicate; elsewhere they are figures."""


def conflict_of(claim: str, question: str, mentions: Sequence[Mention], results: ToolResults) -> Mismatch | None:
    """Return how a statement conflicts with the fields of results; ``None`` if it does not.

    There are these conflicts. ``name``: "the carrier is UPS" where the field ``carrier`` has another value, and nothing
    else names UPS. ``negation``: "has not been shipped" where a field says ``shipped``, and "the account is active"
    where the field ``active`` says no, or "is closed" where ``open`` says yes. ``antonym``: "low priority" where the
    field ``priority`` says ``high``, and "has passed" where the field ``result`` says ``failed``.

    Args:
        claim: plain text.
        question: the question that it answers, or an empty text.
        mentions: names of rows in the claim.
        results: the results of the answer's tools.
    """
    left_out = [(match.start(), match.end()) for match in _EXCEPTED.finditer(claim)]
    is_exception = any(start <= each.start < end for each in mentions for start, end in left_out)
    cells = [] if is_exception else list(_cells_told(mentions, results))
    spend(len(cells))
    if _names_other_value(claim, question, results):
        return "name"
    claim = TO_BE_DONE.sub(" ", claim)
    denied = {word for match in _DENIAL.finditer(claim) for word in _next_words(claim[match.end() :])}
    tokens = [token.casefold() for token in TOKEN.findall(claim)]
    told = set(tokens)
    if results.log and _tells_other_end(results, told - denied):
        return "antonym"
    if _denies_answer(claim, question, results):
        return "negation"
    found = (
        _conflict_with(cell, tokens, told, denied, results) or _is_denied(claim, cell, told, denied) for cell in cells
    )
    return next((each for each in found if each), None)


def _is_denied(claim: str, cell: Cell, told: set[str], denied: set[str]) -> Mismatch | None:
    """Return ``negation`` if a claim denies the value of a cell, or tells the opposite of a field that says yes or no."""
    value, words = cell.text.casefold(), _key(cell)
    if value in _SHORT_FORMS and _is_predicate(claim, cell, told):
        value = _SHORT_FORMS[value]
    if value not in _YES | _NO:
        return "negation" if cell.number is None and value in denied and len(value) > 3 else None
    if words and all(word in told for word in words):
        # "Your email has not been verified" denies the last word of ``email_verified``.
        is_denied = words[-1] in denied if value in _YES else not (NEGATION.search(claim) or _OUT_OF.search(claim))
        return "negation" if is_denied else None
    is_opposite = value in _YES and any(
        _are_opposites(word, key)
        for key in words[-1:]
        if key in POLES
        for word in told - denied
        if not word.endswith("s")
    )
    return "negation" if is_opposite else None


def confirms_field(claim: str, results: ToolResults) -> bool:
    """Return true if a claim affirms what a field of several words of the only record says: "a rollback is available"."""
    if _DENIAL.search(claim) or NEGATION.search(claim):
        return False
    told = {token.casefold() for token in TOKEN.findall(claim)}
    return any(
        cell.text.casefold() in _YES and len(_key(cell)) > 1 and told.issuperset(_key(cell))
        for cell in _cells_told((), results)
    )


def is_of_unknown(claim: str, mentions: Sequence[Mention], results: ToolResults) -> bool:
    """Return true if a claim affirms a field whose value is null or empty: "is verified" where ``verified`` is null.

    A time or person that is missing tells of an act that did not happen: "was shipped" where ``shipped_at`` is null.
    """
    if _DENIAL.search(claim) or NEGATION.search(claim):
        return False
    told = {token.casefold() for token in TOKEN.findall(claim)}
    cells = list(_cells_told(mentions, results))
    values = {cell.text.casefold() for cell in cells}
    return any(
        not cell.text
        and (
            _is_predicate(claim, cell, told)
            or ((act := _act_of(cell)) and act not in values and _tells_act(claim, act))
        )
        for cell in cells
    )


def _act_of(cell: Cell) -> str:
    """Return the participle in the key of a time or person: "shipped" of ``shipped_at``; empty for other keys."""
    words = key_words(cell.path[-1:])
    if words[-1:] == ("assignee",):
        return "assigned"
    is_act = len(words) > 1 and words[-1] in _ACT_ENDS and (words[-2].endswith("ed") or words[-2] in _IRREGULAR)
    return words[-2] if is_act else ""


def _tells_act(claim: str, act: str) -> bool:
    return re.search(rf"{_HAPPENED}{act}\b", claim, re.IGNORECASE) is not None


_ACT_ENDS = frozenset(("at", "on", "by", "to", "date", "time"))
_IRREGULAR = frozenset(("paid", "sent", "sold", "built", "done", "begun", "won", "lost"))
_HAPPENED = (
    r"(?<!will )(?<!can )(?<!may )(?<!could )(?<!should )(?<!must )(?<!would )(?<!might )\b(?:is|are|was|were|has|have|had|(?<!to )be)"
    r"(?: been| already| now| currently| just| successfully| also){0,3} "
)
"""Auxiliary verbs of an act that has happened, without those of the future."""


def _is_predicate(claim: str, cell: Cell, told: set[str]) -> bool:
    """Return true if a claim says of something that it is, or is not, what the key of a cell names, without a figure."""
    words, keys = _key(cell), key_words(cell.path[-1:])
    if not words or words[-1] != keys[-1] or not all(word in told for word in words):
        return False
    predicate = re.search(rf"{_BEING}(?:an? )?{re.escape(words[-1])}\b(?! (?:\d|once|twice))", claim, re.IGNORECASE)
    return predicate is not None


_BEING = (
    r"(?:\b(?:is|are|was|were|be|been|remains?)(?: not|n['’]t)?|\bain['’]t) "
    r"(?:(?:not|never|no longer|now|currently|already|yet|still|also|fully|successfully) ){0,2}"
)


def _conflict_with(
    cell: Cell, tokens: Sequence[str], told: set[str], denied: set[str], results: ToolResults
) -> Mismatch | None:
    """Return ``antonym`` if a claim tells the opposite of the value of a cell."""
    value, words = cell.text.casefold(), _key(cell)
    if value in _YES | _NO:
        return None
    if _STATES & set(key_words(cell.path[-1:])) and _has_other_outcome(value, told - denied, results):
        return "antonym"
    has_opposite = bool(words) and value in POLES
    beside = has_opposite and any(_are_opposites(before, value) and key == words[0] for before, key in pairwise(tokens))
    return "antonym" if beside else None


def _key(cell: Cell) -> list[str]:
    return [word for word in key_words(cell.path[-1:]) if len(word) > 3]


_NO_ERRORS = re.compile(r"\b(?:0|no|zero) (?:errors?|failures?|failed)\b", re.IGNORECASE)
_YES_NO = re.compile(
    r"(?:is|are|was|were|do|does|did|has|have|can|could|will|would)\b(?!.*\b(?:not|or)\b)", re.IGNORECASE
)
_REPLY = re.compile(r"(yes|no)\b", re.IGNORECASE)


def _denies_answer(claim: str, question: str, results: ToolResults) -> bool:
    """Return true if a claim says no where a program that was asked the question returned yes, or the reverse."""
    answer = results.only_answer
    asked = {word[:PREFIX] for word in content_words(question)}
    if answer is None or not _YES_NO.match(question) or not asked & results.argument_words:
        return False
    reply = _REPLY.match(claim)
    if reply is None and 2 * len(asked & {word[:PREFIX] for word in content_words(claim)}) < len(asked):
        return False
    says_yes = reply[1].lower() == "yes" if reply else not NEGATION.search(claim)
    return says_yes != answer


def _tells_other_end(results: ToolResults, told: set[str]) -> bool:
    """Return true if the lines of a log tell of success alone and a claim of failure alone, or the reverse."""
    own = {token.casefold() for token in TOKEN.findall(_NO_ERRORS.sub("", " ".join(results.log)))}
    return any(
        own & one and not own & two and told & two and not told & one for one, two in ((_GOOD, _BAD), (_BAD, _GOOD))
    )


def _has_other_outcome(value: str, told: set[str], results: ToolResults) -> bool:
    """Return true if a status is a success and a claim tells a failure, or the reverse.

    Words of the results, such as those of a key ``rows_rejected``, tell of another thing than the status.
    """
    own = {token.casefold() for token in TOKEN.findall(value)}
    told = {word for word in told if word in own or word[:PREFIX] not in results.keys}
    for one, two in ((_GOOD, _BAD), (_BAD, _GOOD)):
        if own & one and not own & two and told & two and not told & one:
            return True
    return any(_are_opposites(word, each) for each in own for word in told) and not own & told


_STATES = frozenset(("status", "state", "result", "outcome", "conclusion", "phase", "health", "decision", "verdict"))
_GOOD = frozenset(
    ("passed", "pass", "succeeded", "success", "successful", "finished", "completed", "complete", "done", "ok", "healthy", "approved",
     "accepted", "online", "up", "confirmed", "running", "delivered", "paid", "resolved")
)  # fmt: skip
_BAD = frozenset(
    ("failed", "fail", "failure", "error", "errored", "aborted", "cancelled", "canceled", "rejected", "declined", "denied", "offline",
     "down", "unhealthy", "crashed", "killed", "pending", "refused", "unpaid", "unresolved", "returned")
)  # fmt: skip


def _are_opposites(one: str, two: str) -> bool:
    return any((row, -side) in POLES.get(two, ()) for row, side in POLES.get(one, ()))


def _cells_told(mentions: Sequence[Mention], results: ToolResults) -> Iterator[Cell]:
    """Yield the cells of the one row that a claim tells of: the named one and its copies, or that of results with one row each."""
    rows = frozenset.intersection(*rows_by_place(mentions)) if mentions else None
    if rows is not None and len(rows) <= MAX_COPIES:
        for place, row in sorted(rows):
            yield from results.tables[place].rows[row]
    elif not mentions:
        for table in results.tables:
            if len(table.rows) == 1:
                yield from table.rows[0]


def _next_words(text: str) -> list[str]:
    return [token.casefold() for token in TOKEN.findall(text)[:REACH]]


def _names_other_value(claim: str, question: str, results: ToolResults) -> bool:
    asked = {word[:PREFIX] for word in content_words(question)}
    for match in _COPULA.finditer(claim):
        complement = _COMPLEMENT.match(claim, match.end())
        if complement is None or any(character.isdigit() for character in complement[1]):
            continue
        if _COUNTING.search(claim[: match.start()]):
            continue  # "one train is on time" gives no field "train" a value
        subject = {token.casefold()[:PREFIX] for token in TOKEN.findall(claim[: match.start()])}
        stated = {word[:PREFIX] for word in content_words(complement[1])}
        if (
            stated
            and any(key and subject.issuperset(key) for key in results.text_keys)
            and not stated & (results.prefixes | asked | subject)
            and not any(is_written_out(token, results) for token in TOKEN.findall(complement[1]))
        ):
            return True
    return False


_COUNTING = re.compile(
    r"(?<![\w-])(?:one|two|three|four|five|six|seven|eight|nine|ten|no|all|\d+)(?: of (?:the|them|\w+))?(?: \w+){0,2}\s*$",
    re.IGNORECASE,
)


def has_rival_name(claim: str, results: ToolResults) -> bool:
    """Return true if a field has a name that a claim does not tell, or if the only place of the arguments is one."""
    told = {token.casefold() for token in TOKEN.findall(claim)}
    places = results.places_asked
    return any(not name & told for name in results.proper_names) or (
        len(places) == 1 and not next(iter(places)) & told and _IN.search(claim) is not None
    )


_IN = re.compile(r"\b(?:in|near|around)\s[A-Z]")


def is_written_out(name: str, results: ToolResults) -> bool:
    """Return true if a name has its code as a value of a result: a country, language, currency, or an airport ("DUB")."""
    lowered = name.casefold()
    known = _codes()
    if known.get(lowered, frozenset()) & results.codes:
        return True
    code = lowered[:AIRPORT]
    # "Euromart" is not written out by the currency EUR.
    return code in results.codes and not any(code in codes for codes in known.values())


@lru_cache(maxsize=1)
def _codes() -> dict[str, frozenset[str]]:
    locale = Locale("en")
    found: dict[str, set[str]] = {}
    for names in (locale.territories, locale.languages, locale.currencies):
        for code, name in names.items():
            # "Dollar" stands for "US Dollar", and "of" for nothing.
            for part in {name, *(word for word in name.split() if len(word) > 3)}:
                found.setdefault(part.casefold(), set()).add(code.casefold())
    return {name: frozenset(codes) for name, codes in found.items()}
