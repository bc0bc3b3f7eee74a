"""Attribute claims to sources: supporting, proposed, cited without support and conflicting ones.

Every groundable claim is evaluated against each of its nearest sources, with the same function as against all sources
together (``evaluate``). The result for a source contains the best sentence. All claims for one source are evaluated
together, so that each source is read once.

- **Primary**: the supporting source with the highest score; of equals the one that the claim
  cites, then the first. The other supporting sources are redundant.
- **Proposed**: the primary source of a claim that cites nothing valid and that the sources together do not contradict.
- **Cited but unsupported**: a cited source that does not support the claim. Where another one
  does, that is the better source.
- **Conflict**: one source supports the claim, another contradicts it, and their passages give different values of one
  attribute of one subject (``source_conflicts``). Both passages are named.

Method: post-hoc attribution as in RARR (Gao et al., 2023) without its rewriting, with the cross
reference validation and a primary source.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from schemas.grounding import Verdict
from workers.evaluation.grounding.sources.evidence import EvidenceUnit, Matrix
from workers.evaluation.grounding.sources.source_conflicts import denies_another, disagree
from workers.evaluation.ownership.opposing_values import gives_other_value, is_of_another

MAX_SOURCES = 4
"""Number of nearest sources that a claim is evaluated against, in addition to its cited sources."""
MAX_CITED = 8
"""Maximum number of cited sources that a claim is evaluated against; "[1-200]" names more than a reader follows."""
MAX_PAIRS = 1_000
"""Maximum number of pairs of claim and source for one answer; further claims are not attributed. The limit bounds the
time: 400 claims with twelve sources each are 4,800 pairs.
"""


class EvaluatedClaim(Protocol):
    """Describe the evaluation of one claim; ``workers.evaluation.grounding.support.Support`` implements it."""

    @property
    def score(self) -> float:
        """Return the support score, 0..1."""

    @property
    def verdict(self) -> Verdict:
        """Return the verdict that follows from the score."""

    @property
    def unit(self) -> int | None:
        """Return the index of the best evidence among the given units."""

    @property
    def similarity(self) -> float:
        """Return the cosine of the words of the claim and its best evidence."""


EvaluateSubset = Callable[[Sequence[int], Sequence[int]], Sequence[EvaluatedClaim]]
"""Function that evaluates the claims of the given indices, in order, against the given units."""


@dataclass(frozen=True, slots=True)
class SourceSupport:
    """Describe the support that one source gives a claim.

    Attributes:
        number: the source's position among the contexts, from 1.
        unit: index of its best evidence.
        score: support, 0..1.
        verdict: verdict for this score.
        similarity: cosine of the words of claim and evidence.
        cited: whether the claim cites the source.
    """

    number: int
    unit: int
    score: float
    verdict: Verdict
    similarity: float
    cited: bool


@dataclass(frozen=True, slots=True)
class Attribution:
    """Describe the sources that support or contradict a claim.

    Attributes:
        sources: support by its nearest and its cited sources, the best first.
        primary: the source that supports it best, from 1; ``None`` if none does.
        redundant: further sources that support it.
        proposed: sources that it should cite and does not.
        cited_unsupported: sources that it cites and that do not support it.
        better: the source to cite instead.
        conflict: a supporting and a contradicting source.
    """

    sources: tuple[SourceSupport, ...] = ()
    primary: int | None = None
    redundant: tuple[int, ...] = ()
    proposed: tuple[int, ...] = ()
    cited_unsupported: tuple[int, ...] = ()
    better: int | None = None
    conflict: tuple[SourceSupport, SourceSupport] | None = None


def attribute(
    claims: Sequence[str],
    cited: Sequence[Sequence[int]],
    whole: Sequence[EvaluatedClaim],
    units: Sequence[EvidenceUnit],
    similarity: Matrix,
    evaluate: EvaluateSubset,
    others: Sequence[frozenset[int]] = (),
) -> list[Attribution]:
    """Attribute claims to sources.

    Args:
        claims: plain texts of n claims.
        cited: for each of them the contexts that it validly cites, from 1.
        whole: evaluation of each claim against all sources together.
        units: m units of evidence.
        similarity: cosines of the words of claims and units, shape [n, m].
        evaluate: see ``EvaluateSubset``.
        others: for each claim the sources about other things than its own, which neither support nor contradict it.

    Returns:
        One attribution for each claim, in order.
    """
    if not units:
        return [Attribution(cited_unsupported=tuple(numbers[:MAX_CITED])) for numbers in cited]
    of_source: dict[int, list[int]] = {}
    for index, unit in enumerate(units):
        of_source.setdefault(unit.number, []).append(index)
    joint = [_joint(each, units) for each in whole]
    others = others or [frozenset()] * len(claims)
    chosen = [
        [number for number in sources if number not in left_out]
        for sources, left_out in zip(_chosen(cited, joint, units, similarity, of_source), others, strict=True)
    ]
    # The evaluation against all sources covers the case of one source.
    by_source = _by_source(chosen, of_source, evaluate) if len(of_source) > 1 else {}
    found = []
    for claim, own in enumerate(cited):
        own = own[:MAX_CITED]
        if not chosen[claim]:
            found.append(Attribution())
            continue
        supports = [_support(by_source.get((claim, n), whole[claim]), n, of_source[n], n in own) for n in chosen[claim]]
        # A cited context without a unit (an empty text) gives no support.
        silent = [number for number in own if number not in of_source or number in others[claim]]
        attribution = _attribution(claims[claim], [each for each in supports if each], silent, joint[claim], units)
        if whole[claim].verdict == "contradicted":
            # A citation would read as a confirmation of what the sources contradict.
            attribution = replace(attribution, proposed=(), better=None)
        found.append(attribution)
    return found


def _chosen(
    cited: Sequence[Sequence[int]],
    joint: Sequence[int | None],
    units: Sequence[EvidenceUnit],
    similarity: Matrix,
    of_source: Mapping[int, Sequence[int]],
) -> list[list[int]]:
    """Return the sources to evaluate for each claim, ascending; none beyond the limit of pairs for the answer."""
    numbers = np.array([unit.number for unit in units])
    chosen: list[list[int]] = []
    pairs = 0
    for claim, own in enumerate(cited):
        sources = _candidates(own[:MAX_CITED], numbers, similarity[claim], of_source)
        if (best := joint[claim]) is not None:
            sources.add(best)
        if pairs + len(sources) > MAX_PAIRS:
            sources.clear()
        pairs += len(sources)
        chosen.append(sorted(sources))
    return chosen


def _by_source(
    chosen: Sequence[Sequence[int]], of_source: Mapping[int, Sequence[int]], evaluate: EvaluateSubset
) -> dict[tuple[int, int], EvaluatedClaim]:
    """Evaluate claims against each of their sources; return the results by claim and source."""
    claims: dict[int, list[int]] = {}
    for claim, sources in enumerate(chosen):
        for number in sources:
            claims.setdefault(number, []).append(claim)
    return {
        (claim, number): result
        for number, indices in claims.items()
        for claim, result in zip(indices, evaluate(indices, of_source[number]), strict=True)
    }


def _candidates(
    own: Sequence[int],
    numbers: "np.ndarray[tuple[int], np.dtype[np.int64]]",
    row: Matrix,
    known: Mapping[int, Sequence[int]],
) -> set[int]:
    """Return the cited sources and the nearest ones."""
    chosen = {number for number in own if number in known}
    nearest = 0
    # A stable sort prefers earlier units: retrievers rank the best first.
    for index in np.argsort(-row, kind="stable").tolist():
        if nearest >= MAX_SOURCES:
            break
        number = int(numbers[index])
        if number not in chosen:
            chosen.add(number)
            nearest += 1
    return chosen


def _support(result: EvaluatedClaim, number: int, indices: Sequence[int], cited: bool) -> SourceSupport | None:
    if result.unit is None:
        return None
    return SourceSupport(number, indices[result.unit], result.score, result.verdict, result.similarity, cited)


def _joint(whole: EvaluatedClaim, units: Sequence[EvidenceUnit]) -> int | None:
    """Return the source of the best evidence for a claim that the sources support together."""
    return units[whole.unit].number if whole.verdict == "supported" and whole.unit is not None else None


def _attribution(
    claim: str,
    supports: Sequence[SourceSupport],
    silent: Sequence[int],
    joint: int | None,
    units: Sequence[EvidenceUnit],
) -> Attribution:
    ranked = sorted(supports, key=lambda each: (each.verdict != "supported", -each.score, not each.cited, each.number))
    supporting = [each for each in ranked if each.verdict == "supported"]
    against = [each for each in ranked if supporting and _is_against(claim, supporting[0], each, units)]
    # If only several sources together support the claim, use the one with the best evidence.
    primary = supporting[0].number if supporting else joint
    unread = ("supported", "not_checked")
    failing = {each.number for each in ranked if each.cited and each.verdict not in unread} | set(silent)
    if not supporting and joint is not None:
        failing.discard(joint)
    sound = any(each.cited and each.number not in failing for each in ranked)
    return Attribution(
        sources=tuple(ranked),
        primary=primary,
        redundant=tuple(each.number for each in supporting[1:]),
        proposed=(primary,) if primary is not None and not sound else (),
        cited_unsupported=tuple(sorted(failing)),
        better=primary if failing and not sound else None,
        conflict=(supporting[0], max(against, key=lambda each: each.similarity)) if against else None,
    )


def _is_against(claim: str, first: SourceSupport, other: SourceSupport, units: Sequence[EvidenceUnit]) -> bool:
    """Return true if another source gives a different value of what a claim and its best source say."""
    if other.number == first.number:
        return False
    best, passage = units[first.unit].text, units[other.unit].text
    if best in passage or passage in best:
        return False  # what one source says in one sentence another says within a longer one
    if gives_other_value(claim, passage):
        return not denies_another(best, passage)
    return other.verdict == "contradicted" and not is_of_another(claim, passage) and disagree(best, passage)
