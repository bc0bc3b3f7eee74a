"""Choose what the list of references quotes of a source: the passages on which the answer rests, with marks where it is cut."""

from collections.abc import Sequence

from schemas.answers import ContextChunk
from schemas.citations import Citation
from schemas.grounding import ClaimSource, GroundingReport
from workers.evaluation.grounding.sources.excerpts import CUT

MAX_PASSAGES = 3
"""Maximum number of passages that are quoted of one source."""


def quoted(
    citations: Sequence[Citation], grounding: GroundingReport | None, contexts: Sequence[ContextChunk] = ()
) -> list[Citation]:
    """Return citations whose excerpts have the passages of the claims that cite them.

    The excerpt of a citation is the beginning of its source. It stays if it has all passages, and of a source that no
    claim was compared with.

    Args:
        citations: citations of an answer.
        grounding: verdicts on its claims; ``None`` if they are not known.
        contexts: the sources, which tell where a quotation is cut.
    """
    passages = _passages(grounding) if grounding is not None else {}
    return [
        each.model_copy(update={"excerpt": _joined(passages[each.number], _content(contexts, each.number))})
        if any(_lacks(each.excerpt, passage.excerpt) for passage in passages.get(each.number, ()))
        else each
        for each in citations
    ]


def _passages(grounding: GroundingReport) -> dict[int, list[ClaimSource]]:
    """Return the passages of each source by its number, in the order of the claims for which it is cited.

    An empty span has no text of the source: it says that a call failed.
    """
    found: dict[int, list[ClaimSource]] = {}
    for claim in grounding.claims:
        for source in claim.sources:
            is_cited = source.number in (*claim.cited_numbers, *claim.proposed_numbers)
            if is_cited and source.excerpt.strip() and source.span.start < source.span.end:
                found.setdefault(source.number, []).append(source)
    return found


def _content(contexts: Sequence[ContextChunk], number: int) -> str:
    return contexts[number - 1].content if number <= len(contexts) else ""


def _joined(passages: Sequence[ClaimSource], content: str) -> str:
    """Return passages in the order of their source, with an ellipsis wherever something is left out."""
    distinct = list({(each.span.start, each.span.end): each for each in passages}.values())[:MAX_PASSAGES]
    text, place = "", 0
    for each in sorted(distinct, key=lambda source: source.span.start):
        said = each.excerpt.strip()
        if text and said in text:
            continue
        between = content[place : each.span.start].strip() or (text and not content)
        gap = f"{CUT} " if between and not (text.endswith(CUT) or said.startswith(CUT)) else ""
        text = f"{text} {gap}{said}".strip()
        place = max(place, each.span.end)
    return f"{text} {CUT}" if content[place:].strip() and not text.endswith(CUT) else text


def _lacks(excerpt: str, passage: str) -> bool:
    """Return true if an excerpt does not hold a passage; what was cut of either does not count."""
    return _plain(passage) not in _plain(excerpt)


def _plain(text: str) -> str:
    return " ".join(text.replace(CUT, " ").split())
