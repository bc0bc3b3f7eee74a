"""Simulate the gain of a router that considers the query: three models with different strengths.

    python -m benchmarks.topic_simulation --plot docs/reference/feedback_topics.png

People, rewards and delays are those of ``feedback_simulation``; the queries are real texts on
three topics, embedded by the packaged model. Nobody tells the router of topics: one router sees
the vectors, one does not, and a third is told the topic as a query type, for comparison.
"""

import argparse
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import product
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from benchmarks.feedback_simulation import (
    HALF_LIFE_DAYS,
    PUBLISH_EVERY,
    RATING_DELAY,
    START,
    Answer,
    given_answer,
    judge,
    plot_regret,
)
from schemas.feedback import LINEAR_TERMS, ModelPosterior
from workers.feedback.beta_posterior import WeightedRewards, model_posterior
from workers.feedback.contextual_reward import WeightedMoments, linear_posterior, query_features, terms
from workers.feedback.model_choice import RoutingContext, choose_model
from workers.inference.backends import PACKAGED_MODEL, SentenceTransformerBackend

TOPICS = {
    "operations": (
        "pods that restart in the cluster", "a full disk on the database host", "Loki dropping log lines",
        "a deployment that is stuck", "latency of the API gateway", "an expired certificate on the ingress",
    ),
    "finance": (
        "revenue of the last quarter by region", "refunds booked in October", "invoices that are overdue",
        "the margin of the new product line", "tax on services sold abroad", "the forecast of cash flow",
    ),
    "writing": (
        "an apology to a customer", "a shorter version of this paragraph", "a slogan for a bakery",
        "a summary of the meeting", "a polite refusal of an invitation", "a poem about autumn leaves",
    ),
}  # fmt: skip
WORDINGS = (
    "What about {}?", "Please help me with {}.", "How do I deal with {}?", "{}", "Tell me more about {}",
    "I need something on {} until tomorrow",
)  # fmt: skip
QUALITY = {
    "small": {"operations": 0.90, "finance": 0.50, "writing": 0.50},
    "medium": {"operations": 0.50, "finance": 0.90, "writing": 0.50},
    "large": {"operations": 0.70, "finance": 0.70, "writing": 0.80},
}
"""Share of good answers; on the whole the large model is the best, for most topics it is not."""

ROUTERS = ("blind", "query vector", "told the topic")


@dataclass(frozen=True, slots=True)
class Query:
    """Describe a query as input of a router."""

    topic: str
    vector: NDArray[np.float32]
    features: list[float]


@dataclass(slots=True)
class Learned:
    """Hold what one model's answers have shown for one query type.

    Attributes:
        rows: time in seconds, reward and terms of each answer.
        places: its row, by its number.
    """

    rows: NDArray[np.float64]
    places: dict[int, int] = field(default_factory=dict)

    def note(self, number: int, at: datetime, reward: float, features: Sequence[float]) -> None:
        """Add a reward, or its revision."""
        place = self.places.setdefault(number, len(self.places))
        self.rows[place] = [(at - START).total_seconds(), reward, *terms(features)]

    def posterior(self, model: str, query_type: str, now: datetime) -> ModelPosterior:
        """Return the posterior as the elected worker publishes it."""
        known = self.rows[: len(self.places)]
        ages, rewards, rows = (now - START).total_seconds() - known[:, 0], known[:, 1], known[:, 2:]
        weights, difference = 0.5 ** (ages / 86_400 / HALF_LIFE_DAYS), rewards - 0.5
        moments = WeightedMoments(
            "default", model, query_type, (rows.T * weights @ rows)[np.triu_indices(LINEAR_TERMS)],
            rows.T * weights @ difference, float(weights @ difference**2), float(weights.sum()),
        )  # fmt: skip
        sums = WeightedRewards("default", model, query_type, float(weights @ rewards), float(weights @ (1 - rewards)))
        return model_posterior(sums, now, linear=linear_posterior(moments))


def embedded_queries() -> list[Query]:
    """Return the embedded wordings of all topics."""
    asked = [
        (topic, wording.format(about)) for topic, texts in TOPICS.items() for about, wording in product(texts, WORDINGS)
    ]
    vectors = SentenceTransformerBackend(PACKAGED_MODEL).encode([text for _, text in asked])
    return [Query(topic, vector, query_features(vector)) for (topic, _), vector in zip(asked, vectors, strict=True)]


def simulate(router: str, queries: Sequence[Query], answers: int, seed: int) -> list[float]:
    """Return the regret after each answer: good answers lost by not choosing the topic's best model."""
    people, chance = random.Random(seed), random.Random(seed + 1)
    learned: dict[tuple[str, str], Learned] = {}
    posteriors: list[ModelPosterior] = []
    given: list[tuple[Answer, Query]] = []
    regret: list[float] = []

    def note(number: int) -> None:
        answer, query = given[number]
        judge(answer, "70/30")
        if answer.reward is not None:
            key = (answer.model, query.topic if router == "told the topic" else "")
            of = learned.get(key) or learned.setdefault(key, Learned(np.empty((answers, 2 + LINEAR_TERMS))))
            of.note(number, answer.at, answer.reward, query.features)

    for number in range(answers):
        query = people.choice(queries)
        context = RoutingContext(
            models=list(QUALITY),
            query_type=query.topic if router == "told the topic" else None,
            query_vector=query.vector if router == "query vector" else None,
        )
        model = choose_model(posteriors, context, chance)
        given.append((given_answer(number, model, QUALITY[model][query.topic], people, query.features), query))
        note(number)
        late = number - RATING_DELAY
        if late >= 0 and (rating := given[late][0].rating) is not None:
            given[late][0].events.append(rating)
            note(late)
        best = max(quality[query.topic] for quality in QUALITY.values())
        regret.append((regret[-1] if regret else 0.0) + best - QUALITY[model][query.topic])
        if number % PUBLISH_EVERY == 0:
            now = given[number][0].at
            posteriors = [of.posterior(model, topic, now) for (model, topic), of in learned.items()]
    return regret


def main() -> None:
    """Run the simulation, print a table and draw the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--seeds", type=int, default=5, help="runs of each router (default 5)")
    parser.add_argument("--plot", type=Path, help="draw the regret into a file")
    options = parser.parse_args()
    queries = embedded_queries()
    runs = {
        router: [simulate(router, queries, options.answers, 100 * seed) for seed in range(options.seeds)]
        for router in ROUTERS
    }
    print("| router | regret after 1,000 | after all | in the last tenth, per 1,000 | least and most of all runs |")
    print("|---|---|---|---|---|")
    for router, repeated in runs.items():
        print(_row(router, repeated))
    if options.plot:
        plot_regret(runs, options.plot)


def _row(router: str, runs: Sequence[Sequence[float]]) -> str:
    last = len(runs[0]) // 10
    early = fmean(run[min(999, len(run) - 1)] for run in runs)
    late = fmean(1000 * (run[-1] - run[-last - 1]) / last for run in runs)
    whole = [run[-1] for run in runs]
    return f"| {router} | {early:.0f} | {fmean(whole):.0f} | {late:.1f} | {min(whole):.0f} to {max(whole):.0f} |"


if __name__ == "__main__":
    main()
