"""Attribution: which sources a claim rests on, which of them it should cite, which disagree.

Every groundable claim is judged against its nearest sources one by one, by the same judgement as
the whole (``judge``, a function of units of evidence), and gets for each the sentence it rests on.
The claims that are held against one source are judged together, so that it is read for all of them once.

- **Primary**: the supporting source with the highest score; of equals the one that the claim
  cites, then the first. The other supporting sources are redundant.
- **Proposed**: the primary source of a supported claim that cites nothing valid.
- **Cited but unsupported**: a cited source that does not support the claim. Where another one
  does, that is the better source.
- **Conflict**: one source supports the claim and another contradicts it. Both passages are named.

Method: post-hoc attribution as in RARR (Gao et al., 2023) without its rewriting, with the cross
reference validation and the primary source of seed 004.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from schemas.grounding import Verdict
from workers.steps.evidence import EvidenceUnit, Matrix

MAX_SOURCES = 4
"""Sources that a claim is judged against, beside those that it cites: the nearest."""
MAX_CITED = 8
"""Cited sources that a claim is judged against; "[1-200]" names more than anyone reads."""
MAX_JUDGED = 1_000
"""Pairs of claim and source that are judged for one answer; claims beyond are not attributed. It
bounds the time: 400 claims with twelve sources each would be 4,800."""


class Judged(Protocol):
    """What the judgement of a claim says; ``workers.steps.support.Support`` is one."""

    @property
    def score(self) -> float:
        """Support, 0..1."""

    @property
    def verdict(self) -> Verdict:
        """What follows from it."""

    @property
    def unit(self) -> int | None:
        """Index of the best evidence among the units that were given."""

    @property
    def similarity(self) -> float:
        """Cosine of the claim with it."""


Judge = Callable[[Sequence[int], Sequence[int]], Sequence[Judged]]
"""Judges the claims of these indices, in their order, against the units of those."""


@dataclass(frozen=True, slots=True)
class SourceSupport:
    """What one source says on a claim.

    Attributes:
        number: the source's position among the contexts, from 1.
        unit: index of its best evidence.
        score: support, 0..1.
        verdict: what follows from it.
        similarity: cosine of the claim with the evidence.
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
    """What a claim rests on.

    Attributes:
        sources: what its nearest and its cited sources say, the best first.
        primary: the source that supports it best, from 1; ``None`` if none does.
        redundant: further sources that support it.
        proposed: sources that it should cite and does not.
        cited_unsupported: sources that it cites and that do not support it.
        better: the source to cite in place of those.
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
    cited: Sequence[Sequence[int]],
    whole: Sequence[Judged],
    units: Sequence[EvidenceUnit],
    similarity: Matrix,
    judge: Judge,
) -> list[Attribution]:
    """Attribute claims to sources.

    Args:
        cited: for each of n claims the contexts that it validly cites, from 1.
        whole: the judgement of each claim by all sources together.
        units: m units of evidence.
        similarity: cosine of claims and units, shape [n, m], or less where they were not compared.
        judge: see ``Judge``.

    Returns:
        One attribution for each claim, in order.
    """
    if not units:
        return [Attribution(cited_unsupported=tuple(numbers[:MAX_CITED])) for numbers in cited]
    of_source: dict[int, list[int]] = {}
    for index, unit in enumerate(units):
        of_source.setdefault(unit.number, []).append(index)
    joint = [_joint(each, units) for each in whole]
    chosen = _chosen(cited, joint, units, similarity, of_source)
    # One source alone was judged already.
    said = _judged(chosen, of_source, judge) if len(of_source) > 1 else {}
    found = []
    for claim, own in enumerate(cited):
        if not chosen[claim]:
            found.append(Attribution())
            continue
        own = own[:MAX_CITED]
        supports = [_support(said.get((claim, n), whole[claim]), n, of_source[n], n in own) for n in chosen[claim]]
        # A cited context without a unit (an empty text) supports nothing.
        silent = [number for number in own if number not in of_source]
        found.append(_attribution([each for each in supports if each], silent, joint[claim]))
    return found


def _chosen(
    cited: Sequence[Sequence[int]],
    joint: Sequence[int | None],
    units: Sequence[EvidenceUnit],
    similarity: Matrix,
    of_source: Mapping[int, Sequence[int]],
) -> list[list[int]]:
    """The sources that each claim is judged against, ascending; none where that would be too many for the answer."""
    numbers = np.array([unit.number for unit in units])
    chosen: list[list[int]] = []
    judged = 0
    for claim, own in enumerate(cited):
        sources = _candidates(own[:MAX_CITED], numbers, similarity[claim], of_source)
        if (best := joint[claim]) is not None:
            sources.add(best)
        if judged + len(sources) > MAX_JUDGED:
            sources.clear()
        judged += len(sources)
        chosen.append(sorted(sources))
    return chosen


def _judged(
    chosen: Sequence[Sequence[int]], of_source: Mapping[int, Sequence[int]], judge: Judge
) -> dict[tuple[int, int], Judged]:
    """What is said on claims by each of their sources, by claim and source."""
    claims: dict[int, list[int]] = {}
    for claim, sources in enumerate(chosen):
        for number in sources:
            claims.setdefault(number, []).append(claim)
    return {
        (claim, number): judged
        for number, asked in claims.items()
        for claim, judged in zip(asked, judge(asked, of_source[number]), strict=True)
    }


def _candidates(
    own: Sequence[int],
    numbers: "np.ndarray[tuple[int], np.dtype[np.int64]]",
    row: Matrix,
    known: Mapping[int, Sequence[int]],
) -> set[int]:
    """The cited sources and the nearest ones."""
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


def _support(judged: Judged, number: int, indices: Sequence[int], cited: bool) -> SourceSupport | None:
    if judged.unit is None:
        return None
    return SourceSupport(number, indices[judged.unit], judged.score, judged.verdict, judged.similarity, cited)


def _joint(whole: Judged, units: Sequence[EvidenceUnit]) -> int | None:
    """The source of the best evidence of a claim that the sources support together."""
    return units[whole.unit].number if whole.verdict == "supported" and whole.unit is not None else None


def _attribution(supports: Sequence[SourceSupport], silent: Sequence[int], joint: int | None) -> Attribution:
    ranked = sorted(supports, key=lambda each: (each.verdict != "supported", -each.score, not each.cited, each.number))
    supporting = [each for each in ranked if each.verdict == "supported"]
    against = [each for each in ranked if each.verdict == "contradicted"]
    # What several sources support only together rests first on the one with the best evidence.
    primary = supporting[0].number if supporting else joint
    failing = {each.number for each in ranked if each.cited and each.verdict != "supported"} | set(silent)
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
        conflict=(supporting[0], max(against, key=lambda each: each.similarity)) if supporting and against else None,
    )
