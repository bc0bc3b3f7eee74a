"""Find patterns in bad answers and trends of satisfaction.

Method: rated answers with an explicit reward of at most one half are bad. Candidates are the values of each facet
    (model, prompt version, source, query type) and topics. Topics are clusters of the embeddings of bad answers. An
    answer belongs to a topic by its similarity to the cluster's centre; for a bad answer the centre is computed without
    it. Each candidate is tested against the rest (Fisher's exact test, one-sided), and p-values are corrected for the
    number of candidates (Bonferroni). The most significant candidate becomes a pattern and its answers are removed. The
    other candidates are tested again on the remaining answers, so that a candidate which only shares answers with a
    pattern is not reported.

The functions are pure: the same answers give the same patterns.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log, sqrt
from statistics import fmean, variance
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from workers.evaluation.text.words import content_words

BAD_REWARD = 0.5
"""Highest explicit reward of a bad answer: two stars and a correction are, three stars are not."""

SIGNIFICANCE = 0.01
"""Probability of reporting any pattern by chance, after correction."""

LEAST_SAMPLE = 20
"""Minimum number of rated answers with a value, and of those without it, to test the value."""

LEAST_BAD = 5
"""Minimum number of bad answers of a pattern."""

TOPIC_DISTANCE = 0.55
"""Maximum average cosine distance of bad answers of one topic."""

TOPIC_SIMILARITY = 0.5
"""Minimum cosine of an answer of a topic to the topic's centre."""

MAX_CLUSTERED = 2_000
"""Maximum number of bad answers to cluster; the pairwise distances of more do not fit into the memory of a small
machine.
"""

COMMON = 0.8
"""Share of a pattern's bad answers from which a common property is reported."""

Z95 = 1.959964
TERMS = 4

FeedbackType = Literal["quality_issue", "factual_error", "relevance_problem", "other"]
Kind = Literal["model", "prompt version", "source", "query type", "topic"]
Judges = Literal["readers", "reviewers"]


@dataclass(frozen=True, slots=True)
class RatedAnswer:
    """Describe an answer with a rating.

    Attributes:
        answer_id: identifier of the answer.
        reward: explicit reward.
        text: query and answer.
        facets: values by kind; several for sources.
        signals: failure signals, issues, and doubts about grounding or relevance.
        by: people whose reward it is: readers, who rate, or reviewers, who decide and vote.
    """

    answer_id: str
    reward: float
    text: str
    facets: Mapping[Kind, tuple[str, ...]] = field(default_factory=dict)
    signals: frozenset[str] = frozenset()
    by: Judges = "readers"

    @property
    def is_bad(self) -> bool:
        """Return true if the reward is at most ``BAD_REWARD``."""
        return self.reward <= BAD_REWARD


@dataclass(frozen=True, slots=True)
class Pattern:
    """Describe a group of answers that are bad more often than others.

    Attributes:
        kind: facet or topic.
        name: value of the facet, or the topic's distinctive terms.
        total: number of rated answers.
        bad: number of bad answers.
        rate: share of bad answers.
        rate_elsewhere: share of bad answers among the rest.
        difference: 95 % interval of the difference of the rates (Newcombe's hybrid score method).
        p_value: p-value, corrected for the number of candidates.
        impact: share of all bad answers that would not be bad at the rate of the rest.
        in_common: other properties of at least four in five of its bad answers, with the number of these answers.
        feedback_type: main finding in its bad answers.
        answers: identifiers of bad answers, as examples.
    """

    kind: Kind
    name: str
    total: int
    bad: int
    rate: float
    rate_elsewhere: float
    difference: tuple[float, float]
    p_value: float
    impact: float
    in_common: Mapping[str, int]
    feedback_type: FeedbackType
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Candidate:
    kind: Kind
    name: str
    members: frozenset[int]


def find_patterns(answers: Sequence[RatedAnswer], vectors: NDArray[np.float32]) -> list[Pattern]:
    """Find patterns in bad answers, the clearest first.

    Args:
        answers: rated answers.
        vectors: L2-normalised embedding of each one's text, shape (answers, dimensions).
    """
    candidates = [*_facets(answers), *_topics(answers, vectors)]
    left = frozenset(range(len(answers)))
    patterns: list[Pattern] = []
    while tested := [found for each in candidates if (found := _tested(each, left, answers, len(candidates)))]:
        p_value, best = min(tested, key=lambda pair: (pair[0], -len(pair[1].members), pair[1].kind, pair[1].name))
        patterns.append(_pattern(best, p_value, left, answers))
        left -= best.members
        candidates = [each for each in candidates if each is not best]
    return patterns


def _facets(answers: Sequence[RatedAnswer]) -> list[_Candidate]:
    members: dict[tuple[Kind, str], set[int]] = defaultdict(set)
    for number, answer in enumerate(answers):
        for kind, values in answer.facets.items():
            for value in values:
                if value:
                    members[kind, value].add(number)
    return [_Candidate(kind, name, frozenset(numbers)) for (kind, name), numbers in sorted(members.items())]


def _topics(answers: Sequence[RatedAnswer], vectors: NDArray[np.float32]) -> list[_Candidate]:
    bad = [number for number, answer in enumerate(answers) if answer.is_bad][:MAX_CLUSTERED]
    if len(bad) < LEAST_BAD:
        return []
    # Deferred: workers import this module for its constants, and the import takes more than a second.
    from sklearn.cluster import AgglomerativeClustering

    clustering = AgglomerativeClustering(
        n_clusters=None, distance_threshold=TOPIC_DISTANCE, metric="cosine", linkage="average"
    )
    labels = clustering.fit_predict(vectors[bad])
    topics = []
    for label in sorted(set(labels)):
        cluster = [number for number, own in zip(bad, labels, strict=True) if own == label]
        if len(cluster) >= LEAST_BAD:
            members = _belonging(cluster, vectors)
            topics.append(_Candidate("topic", _terms(members, answers), members))
    return topics


def _belonging(cluster: Sequence[int], vectors: NDArray[np.float32]) -> frozenset[int]:
    """Return the answers near the centre of a cluster; for its own members, use the centre of the others."""
    total = vectors[cluster].sum(axis=0)
    centres = np.broadcast_to(total, vectors.shape).copy()
    centres[cluster] -= vectors[cluster]
    lengths = np.linalg.norm(centres, axis=1)
    similarity = np.einsum("ij,ij->i", vectors, centres) / np.where(lengths > 0, lengths, 1.0)
    return frozenset(int(number) for number in np.flatnonzero(similarity >= TOPIC_SIMILARITY))


def _terms(members: Iterable[int], answers: Sequence[RatedAnswer]) -> str:
    """Return the stems that distinguish these answers: log odds with a prior of one half."""
    inside, chosen = Counter[str](), frozenset(members)
    outside = Counter[str]()
    for number, answer in enumerate(answers):
        (inside if number in chosen else outside).update(content_words(answer.text))
    others = len(answers) - len(chosen)

    def odds(term: str) -> float:
        within = (inside[term] + 0.5) / (len(chosen) - inside[term] + 0.5)
        without = (outside[term] + 0.5) / (others - outside[term] + 0.5)
        return log(within / without)

    common = [term for term in inside if inside[term] >= len(chosen) / 4 and not term.isdigit()]
    return ", ".join(sorted(common, key=lambda term: (-odds(term), term))[:TERMS]) or "no common words"


def _counts(candidate: _Candidate, left: frozenset[int], answers: Sequence[RatedAnswer]) -> tuple[int, int, int, int]:
    """Return bad and all answers of a candidate, then bad and all of the rest."""
    inside, outside = candidate.members & left, left - candidate.members
    bad = sum(answers[number].is_bad for number in inside)
    return bad, len(inside), sum(answers[number].is_bad for number in outside), len(outside)


def _tested(
    candidate: _Candidate, left: frozenset[int], answers: Sequence[RatedAnswer], number: int
) -> tuple[float, _Candidate] | None:
    bad, total, bad_rest, rest = _counts(candidate, left, answers)
    if bad < LEAST_BAD or min(total, rest) < LEAST_SAMPLE:
        return None
    # Deferred: workers import this module for its constants, and the import takes more than a second.
    from scipy.stats import fisher_exact

    p_value = float(fisher_exact([[bad, total - bad], [bad_rest, rest - bad_rest]], alternative="greater").pvalue)
    corrected = min(1.0, p_value * number)
    return (corrected, candidate) if corrected <= SIGNIFICANCE else None


def _pattern(candidate: _Candidate, p_value: float, left: frozenset[int], answers: Sequence[RatedAnswer]) -> Pattern:
    bad, total, bad_rest, rest = _counts(candidate, left, answers)
    guilty = [answers[number] for number in sorted(candidate.members & left) if answers[number].is_bad]
    all_bad = sum(answer.is_bad for answer in answers)
    return Pattern(
        kind=candidate.kind,
        name=candidate.name,
        total=total,
        bad=bad,
        rate=bad / total,
        rate_elsewhere=bad_rest / rest,
        difference=difference_interval(bad, total, bad_rest, rest),
        p_value=p_value,
        impact=max(0.0, (bad - total * bad_rest / rest) / all_bad),
        in_common=_in_common(candidate, guilty),
        feedback_type=_feedback_type(guilty),
        answers=tuple(answer.answer_id for answer in guilty),
    )


def _in_common(candidate: _Candidate, guilty: Sequence[RatedAnswer]) -> dict[str, int]:
    counts = Counter(
        f"{kind} {value}"
        for answer in guilty
        for kind, values in answer.facets.items()
        for value in set(values)
        if value and (kind, value) != (candidate.kind, candidate.name)
    )
    counts.update(f"signal {signal}" for answer in guilty for signal in answer.signals)
    return {name: count for name, count in sorted(counts.items()) if count >= COMMON * len(guilty)}


_TYPES: dict[FeedbackType, frozenset[str]] = {
    "factual_error": frozenset({"ungrounded", "contradicted"}),
    "relevance_problem": frozenset({"irrelevant"}),
    "quality_issue": frozenset({
        "confusion", "refusal", "low_confidence", "empty_response", "tool_failure", "incomplete_reasoning",
        "hallucination_risk", "low_quality",
    }),
}  # fmt: skip


def _feedback_type(guilty: Sequence[RatedAnswer]) -> FeedbackType:
    """Return the finding in most of the bad answers; prefer the graver one."""
    for name, signals in _TYPES.items():
        if sum(not signals.isdisjoint(answer.signals) for answer in guilty) * 2 > len(guilty):
            return name
    return "other"


def difference_interval(bad: int, total: int, bad_rest: int, rest: int) -> tuple[float, float]:
    """Compute the 95 % interval of the difference of two rates.

    Source: Newcombe 1998, hybrid score interval (method 10), from Wilson's intervals.
    """
    one, other = bad / total, bad_rest / rest
    (low, high), (low_rest, high_rest) = wilson_interval(bad, total), wilson_interval(bad_rest, rest)
    difference = one - other
    return (
        difference - sqrt((one - low) ** 2 + (high_rest - other) ** 2),
        difference + sqrt((high - one) ** 2 + (other - low_rest) ** 2),
    )


def wilson_interval(count: int, total: int) -> tuple[float, float]:
    """Compute the 95 % interval of a rate (Wilson 1927)."""
    # Deferred as above.
    from scipy.stats import binomtest

    interval = binomtest(count, total).proportion_ci(method="wilson")
    return float(interval.low), float(interval.high)


@dataclass(frozen=True, slots=True)
class Trend:
    """Describe the change of satisfaction against the previous period.

    Attributes:
        mean: mean satisfaction of the period.
        mean_before: mean satisfaction of the previous period.
        difference: 95 % interval of the difference (Welch).
        total: number of rated answers of the period.
    """

    mean: float
    mean_before: float
    difference: tuple[float, float]
    total: int

    @property
    def moves(self) -> bool:
        """Return true if the interval excludes zero."""
        return self.difference[0] > 0 or self.difference[1] < 0


def trend(rewards: Sequence[float], before: Sequence[float]) -> Trend | None:
    """Compute the change of satisfaction; return ``None`` while either period has too few answers."""
    if min(len(rewards), len(before)) < LEAST_SAMPLE:
        return None
    mean, mean_before = fmean(rewards), fmean(before)
    half = Z95 * sqrt(variance(rewards) / len(rewards) + variance(before) / len(before))
    return Trend(mean, mean_before, (mean - mean_before - half, mean - mean_before + half), len(rewards))


SUGGESTIONS: dict[Kind, Callable[[str], str]] = {
    "model": lambda name: f"Send fewer queries to {name}, or look at what its bad answers have in common",
    "prompt version": lambda name: f"Go back from prompt version {name}, or compare its bad answers with its good ones",
    "source": lambda name: f"Check {name}: is it outdated, or cut badly?",
    "query type": lambda name: f"Give queries of type {name} a prompt, sources or a model of their own",
    "topic": lambda name: f"Look for missing or wrong sources on: {name}",
}
"""Suggested action for a pattern of each kind."""

COMPONENTS: dict[Kind, Literal["Generator", "Orchestrator", "System"]] = {
    "model": "Generator", "prompt version": "Generator", "source": "System", "query type": "Orchestrator",
    "topic": "System",
}  # fmt: skip
"""Component that a pattern concerns."""
